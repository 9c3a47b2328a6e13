// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/blocks/rtl_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tlm_interconnect/border/bytes.h"

namespace weft::cosim {

RtlMemory::RtlMemory(sc_core::sc_module_name module_name, const MemoryContext& context,
                     Parameters& parameters, const BlockClock::Options& defaults)
    : MemoryTarget(module_name, context.figures.capacity, context.sockets, context.probes),
      clock_("clock", read_clock(parameters, defaults)) {}

RtlMemory::~RtlMemory() = default;

void RtlMemory::connect(StreamPins requests, StreamPins answers) {
  uint32_t bits = 12;
  for (const StreamPins* pins : {&requests, &answers}) {
    if (pins->any(StreamSignal::tid) == nullptr)
      throw UserError(ExitCode::usage,
                      fmt::format("{}: a memory needs TID, by which answers are known", pins->name()));
    bits = std::min(bits, pins->bits(StreamSignal::tid));
  }
  open_.resize(size_t{1} << bits);
  StreamMaster::Options padded;
  padded.pad = true;
  requests_ = std::make_unique<StreamMaster>("requests", clock_, std::move(requests), padded);
  answers_ = std::make_unique<StreamSlave>(
      "answers", clock_, std::move(answers),
      [this](StreamFrame frame, Picoseconds, Picoseconds last) { answered(frame, last); });
}

void RtlMemory::before_end_of_elaboration() {
  if (!requests_)
    throw UserError(
        ExitCode::usage,
        fmt::format("{}: the block has no ports; call connect() in its adapter's constructor", name()));
}

void RtlMemory::begin(Ticket ticket, const Access& access, Picoseconds at) {
  const Waiting request{ticket, access, at};
  const auto free = std::find_if(open_.begin(), open_.end(), [](const Open& open) { return !open.used; });
  if (free == open_.end() || !waiting_.empty()) {
    waiting_.push_back(request);
  } else {
    send(static_cast<uint32_t>(free - open_.begin()), request);
  }
}

void RtlMemory::send(uint32_t tag, const Waiting& request) {
  const Picoseconds at = std::max<Picoseconds>(request.at, sc_core::sc_time_stamp().value());
  open_[tag] = {true, request.ticket, at};
  if (opened_++ == 0) began_ = at;
  fabric::ByteWriterOf<uint8_t> bytes;
  bytes.number(uint64_t{request.access.address});
  bytes.number(uint64_t{request.access.length} | static_cast<uint64_t>(request.access.write ? 1 : 0) << 56);
  StreamFrame frame;
  frame.bytes = bytes.take();
  frame.id = tag;
  requests_->send(std::move(frame), at);
}

void RtlMemory::answered(const StreamFrame& frame, Picoseconds last) {
  const auto tag = static_cast<uint32_t>(frame.id);
  if (tag >= open_.size() || !open_[tag].used)
    return faults_.add(last, 0, nullptr, fmt::format("it answers tag {}, of which there is no request", tag));
  const Ticket ticket = open_[tag].ticket;
  open_[tag] = {};
  if (--opened_ == 0 && last > began_) busy_ += last - began_;
  if (!waiting_.empty()) {
    const Waiting next = waiting_.front();
    waiting_.pop_front();
    send(tag, next);
  }
  finish(ticket, last);
}

std::string RtlMemory::stall_text() const {
  if (opened_ == 0 && faults_.count() == 0) return {};
  const std::string text = fmt::format("{}: its RTL has not answered {} accesses, and {} wait for a tag",
                                       name(), opened_, waiting_.size());
  return text + stall_lines(*requests_, *answers_) + faults_.stall_line() + clock_.stall_line() + "\n";
}

void RtlMemory::find_unbalanced(std::vector<std::string>& lines) const {
  faults_.tell(std::string(name()) + ": fault of the RTL", lines);
}

}  // namespace weft::cosim
