// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/collectives/data_check.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "workload/collectives/elements.h"

namespace weft::collectives {

void DataCheck::input(const CollectiveData& data, uint32_t position, uint64_t first, uint64_t bytes,
                      std::byte* out) const {
  const DataLayout& layout = data.layout();
  const InputKey key{data.stream(), layout.rank(position), position, layout.members(), reduces(layout.op())};
  context_.source().fill(key, first / layout.element(), bytes / layout.element(), out);
}

const std::vector<std::byte>& DataCheck::combined(const CollectiveData& data) {
  auto& [layout, bytes] = combined_[data.shared_layout().get()];
  if (layout) return bytes;
  layout = data.shared_layout();
  const uint64_t size = layout->plan().request().bytes;
  bytes.resize(size);
  // A stretch at a time, so that not all inputs are in memory at once.
  constexpr uint64_t kStretch = 4096;
  const uint64_t step = kStretch * layout->element();
  std::vector<std::byte> inputs(step * layout->members());
  std::vector<const std::byte*> operands;
  for (uint32_t m = 0; m < layout->members(); ++m) operands.push_back(inputs.data() + m * step);
  for (uint64_t at = 0; at < size; at += step) {
    const uint64_t now = std::min(step, size - at);
    for (uint32_t m = 0; m < layout->members(); ++m) input(data, m, at, now, inputs.data() + m * step);
    combine(context_.type(), context_.op(), operands, now / layout->element(), bytes.data() + at);
  }
  return bytes;
}

std::vector<std::byte> DataCheck::expected(const CollectiveData& data) {
  const DataLayout& layout = data.layout();
  const uint64_t size = layout.plan().request().bytes;
  const uint32_t me = data.position();
  std::vector<std::byte> out(layout.output_bytes(me));
  if (out.empty()) return out;
  switch (layout.op()) {
    case CollectiveOp::all_reduce:
    case CollectiveOp::reduce:
      return combined(data);
    case CollectiveOp::reduce_scatter:
      std::memcpy(out.data(), combined(data).data() + layout.shard_offset(me), out.size());
      break;
    case CollectiveOp::broadcast:
      input(data, layout.position(layout.root_place()), 0, size, out.data());
      break;
    case CollectiveOp::scatter:
      input(data, layout.position(layout.root_place()), layout.shard_offset(me), out.size(), out.data());
      break;
    case CollectiveOp::all_gather:
    case CollectiveOp::gather:
      for (uint32_t m = 0; m < layout.members(); ++m) input(data, m, 0, size, out.data() + m * size);
      break;
    case CollectiveOp::all_to_all: {
      const uint64_t shard = layout.shard_bytes(me);
      for (uint32_t m = 0; m < layout.members(); ++m) {
        input(data, m, layout.shard_offset(me), shard, out.data() + m * shard);
      }
      break;
    }
    case CollectiveOp::barrier:
      break;
  }
  return out;
}

std::string DataCheck::describe(const CollectiveData& data, uint64_t element,
                                const std::string& expected) const {
  const DataLayout& layout = data.layout();
  const uint64_t offset = element * layout.element();
  const uint32_t origin = layout.origin_of(data.position(), offset);
  return fmt::format("rank {}, chunk {}, element {}{}: expected {}, got {}", data.rank(),
                     layout.chunk_of(data.position(), offset), element,
                     origin == ~0u ? std::string{} : fmt::format(" (from rank {})", layout.rank(origin)),
                     expected, element_text(context_.type(), data.output().data() + offset));
}

std::string DataCheck::check(const CollectiveData& data, double tolerance) {
  const std::string defect =
      data.defect().empty() ? std::string{} : fmt::format("rank {}: {}", data.rank(), data.defect());
  if (tolerance != 0 && reduces(data.layout().op())) {
    const std::string loose = compare_loosely(data, tolerance);
    return loose.empty() ? defect : loose;
  }
  const std::vector<std::byte> wanted = expected(data);
  const std::vector<std::byte>& output = data.output();
  const uint32_t size = data.layout().element();
  elements_ += wanted.size() / size;
  if (wanted == output) return defect;
  uint64_t first = ~uint64_t{0};
  uint64_t wrong = 0;
  for (uint64_t k = 0; k < wanted.size() / size; ++k) {
    if (std::memcmp(wanted.data() + k * size, output.data() + k * size, size) == 0) continue;
    if (wrong++ == 0) first = k;
  }
  std::string line = describe(data, first, element_text(context_.type(), wanted.data() + first * size));
  if (wrong > 1) line += fmt::format(" (and {} further elements are wrong)", wrong - 1);
  if (!data.defect().empty()) line += "; " + data.defect();
  return line;
}

std::string DataCheck::compare_loosely(const CollectiveData& data, double tolerance) {
  const DataLayout& layout = data.layout();
  const uint32_t size = layout.element();
  const uint64_t count = data.output().size() / size;
  const uint64_t first =
      layout.op() == CollectiveOp::reduce_scatter ? layout.shard_offset(data.position()) : 0;
  std::vector<double> exact(count, 0.0);
  std::vector<double> magnitude(count, 0.0);
  std::vector<std::byte> one(count * size);
  for (uint32_t m = 0; m < layout.members(); ++m) {
    input(data, m, first, count * size, one.data());
    for (uint64_t k = 0; k < count; ++k) {
      const double x = element_value(context_.type(), one.data() + k * size);
      magnitude[k] += std::abs(x);
      switch (context_.op()) {
        case ReduceOp::max:
          exact[k] = m == 0 ? x : std::max(exact[k], x);
          break;
        case ReduceOp::min:
          exact[k] = m == 0 ? x : std::min(exact[k], x);
          break;
        default:
          exact[k] += x;
          break;
      }
    }
  }
  elements_ += count;
  for (uint64_t k = 0; k < count; ++k) {
    const double got = element_value(context_.type(), data.output().data() + k * size);
    if (std::abs(got - exact[k]) <= tolerance * magnitude[k]) continue;
    return describe(data, k, fmt::format("{} +- {}", exact[k], tolerance * magnitude[k]));
  }
  return {};
}

}  // namespace weft::collectives
