// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/programs/program_data.h"

#include <fmt/format.h>

#include <cstring>

#include "workload/collectives/elements.h"

namespace weft::library {

using collectives::CollectiveData;
using collectives::kUnwritten;

ProgramData::ProgramData(collectives::DataContext& context, const Program& program,
                         std::shared_ptr<CollectiveData> output)
    : context_(context), program_(program), output_(std::move(output)) {}

ProgramData::ProgramData(collectives::DataContext& context, const Program& program)
    : context_(context), program_(program) {}

void ProgramData::load() {
  const Buffers& buffers = program_.buffers();
  if (output_ == nullptr) {
    work_.assign(buffers.shards.back(), kUnwritten);
    return;
  }
  const collectives::DataLayout& layout = output_->layout();
  const uint32_t position = output_->position();
  work_.assign(buffers.shards.back(), kUnwritten);
  if (buffers.apart) out_.assign(layout.output_bytes(position), kUnwritten);
  const uint64_t bytes = layout.input_bytes(position);
  if (bytes != 0) {
    const collectives::InputKey key{output_->stream(), output_->rank(), position, layout.members(),
                                    collectives::reduces(layout.op())};
    const uint64_t begin = collectives::collects(layout.op()) ? buffers.shards[position] : 0;
    context_.source().fill(key, 0, bytes / buffers.unit, work_.data() + begin);
  }
  if (buffers.apart) keep_own();
}

/// What a member sends to itself.
void ProgramData::keep_own() {
  const std::vector<uint64_t>& shards = program_.buffers().shards;
  const uint32_t position = output_->position();
  const uint64_t bytes = shards[position + 1] - shards[position];
  const CollectiveOp op = program_.buffers().op;
  const uint64_t to = op == CollectiveOp::all_to_all ? position * bytes
                      : op == CollectiveOp::gather   ? shards[position]
                                                     : 0;
  if (bytes != 0 && to + bytes <= out_.size())
    std::memcpy(out_.data() + to, work_.data() + shards[position], bytes);
}

uint32_t ProgramData::gather(const Send& send) {
  const uint32_t handle = context_.payloads().acquire();
  collectives::Payload& payload = context_.payloads()[handle];
  payload.source = send.from;
  payload.bytes.resize(send.bytes);
  if (send.bytes != 0) std::memcpy(payload.bytes.data(), work_.data() + send.source, send.bytes);
  return handle;
}

void ProgramData::apply(const Send& send, uint32_t handle) {
  collectives::PayloadPool& pool = context_.payloads();
  if (!pool.valid(handle)) {
    if (defect_.empty()) defect_ = fmt::format("a message of member {} came without its data", send.from);
    return;
  }
  const std::vector<std::byte>& from = pool[handle].bytes;
  std::vector<std::byte>& to = program_.buffers().apart ? out_ : work_;
  if (from.size() != send.bytes || send.target + send.bytes > to.size()) {
    if (defect_.empty())
      defect_ = fmt::format("{} B of member {} came for {} B from byte {} on", from.size(), send.from,
                            send.bytes, send.target);
  } else if (send.bytes != 0 && send.reduce &&
             (output_ != nullptr || !contributed_.insert(send.target).second)) {
    const std::vector<const std::byte*> operands = {to.data() + send.target, from.data()};
    collectives::combine(context_.type(), context_.op(), operands, send.bytes / program_.buffers().unit,
                         to.data() + send.target);
  } else if (send.bytes != 0) {
    std::memcpy(to.data() + send.target, from.data(), send.bytes);
  }
  pool.release(handle);
}

std::shared_ptr<const CollectiveData> ProgramData::finish() {
  const collectives::DataLayout& layout = output_->layout();
  const uint32_t position = output_->position();
  const uint64_t bytes = layout.output_bytes(position);
  if (!program_.buffers().apart) {
    const uint64_t begin =
        layout.op() == CollectiveOp::reduce_scatter ? program_.buffers().shards[position] : 0;
    out_.assign(work_.begin() + static_cast<std::ptrdiff_t>(begin),
                work_.begin() + static_cast<std::ptrdiff_t>(begin + bytes));
  }
  output_->deliver(std::move(out_), defect_);
  work_.clear();
  return output_;
}

}  // namespace weft::library
