// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/job/footprint.h"

#include <fmt/format.h>

#include "configs/printable.h"
#include "configs/units.h"

namespace weft {
namespace {

constexpr size_t kLargest = 5;  // tensors that are named

std::string shown_size(uint64_t bytes) {
  constexpr double kKiB = 1024;
  const auto size = static_cast<double>(bytes);
  if (size < kKiB) return fmt::format("{} B", bytes);
  if (size < kKiB * kKiB) return fmt::format("{:.1f} KiB", size / kKiB);
  if (size < kKiB * kKiB * kKiB) return fmt::format("{:.1f} MiB", size / kKiB / kKiB);
  return fmt::format("{:.2f} GiB", size / kKiB / kKiB / kKiB);
}

std::string shown_time(Picoseconds time) {
  return fmt::format("{:.3f} us", static_cast<double>(time) * 1e-6);
}

}  // namespace

std::string over_capacity_text(const std::vector<FootprintRow>& rows) {
  const FootprintRow* worst = nullptr;
  size_t over = 0;
  for (const FootprintRow& row : rows) {
    if (row.over_from == kNever) continue;
    ++over;
    if (worst == nullptr || row.peak_bytes > worst->peak_bytes) worst = &row;
  }
  if (worst == nullptr) return {};
  const FootprintRow& row = *worst;
  std::string text = fmt::format(
      "rank {}: its tensors take up to {} at {}{}, {} more than the {} of `hbm.capacity`; above it from {} "
      "on{}, "
      "for {} in all; largest then:",
      row.rank, shown_size(row.peak_bytes), shown_time(row.peak_at),
      row.estimated ? " (estimated: the trace names no tensors)" : "",
      shown_size(row.peak_bytes - row.capacity), print_size(row.capacity), shown_time(row.over_from),
      row.over_node.empty() ? " (the tensors that are there from the beginning)" : " (" + row.over_node + ")",
      shown_time(row.over_for));
  for (size_t i = 0; i < row.largest.size(); ++i)
    text += fmt::format("{} `{}` {}", i == 0 ? "" : ",", printable(row.largest[i].name),
                        shown_size(row.largest[i].bytes));
  if (over > 1)
    text += fmt::format("; {} more rank{} (footprint.csv)", over - 1,
                        over == 2 ? " is above it" : "s are above it");
  return text;
}

Footprint::Footprint(const TensorPlan& plan, const trace::TraceIndex& index, uint64_t capacity)
    : plan_(plan), index_(index), capacity_(capacity), is_resident_(plan.tensors().size()) {
  const std::vector<TensorPlan::Tensor>& tensors = plan.tensors();
  left_.reserve(tensors.size());
  for (uint32_t t = 0; t < tensors.size(); ++t) {
    left_.push_back(tensors[t].nodes);
    if (tensors[t].initial) add(t);
  }
  settle(0, trace::kNoNode);
}

void Footprint::on_change(std::function<void(Picoseconds, uint64_t)> call) {
  changed_ = std::move(call);
  changed_(0, bytes_);
}

void Footprint::add(uint32_t tensor) {
  if (is_resident_[tensor]) return;
  is_resident_[tensor] = true;
  const uint64_t bytes = plan_.tensors()[tensor].bytes;
  resident_.emplace(bytes, tensor);
  bytes_ += bytes;
}

void Footprint::node_started(trace::NodeIndex node, Picoseconds now) {
  plan_.for_each_use(node, [&](const TensorPlan::Use& use) {
    if (use.output) add(use.tensor);
  });
  settle(now, node);
}

void Footprint::node_finished(trace::NodeIndex node, Picoseconds now) {
  node_started(node, now);  // a node that takes no time
  plan_.for_each_use(node, [&](const TensorPlan::Use& use) {
    const TensorPlan::Tensor& tensor = plan_.tensors()[use.tensor];
    if (--left_[use.tensor] != 0 || tensor.initial || !tensor.read || !is_resident_[use.tensor]) return;
    if (at_peak_) {
      largest_ = largest_now();
      at_peak_ = false;
    }
    is_resident_[use.tensor] = false;
    resident_.erase({tensor.bytes, use.tensor});
    bytes_ -= tensor.bytes;
  });
  settle(now, node);
}

std::vector<uint32_t> Footprint::largest_now() const {
  std::vector<uint32_t> largest;
  for (auto it = resident_.rbegin(); it != resident_.rend() && largest.size() < kLargest; ++it)
    largest.push_back(it->second);
  return largest;
}

void Footprint::settle(Picoseconds now, trace::NodeIndex cause) {
  if (bytes_ > peak_) {
    peak_ = bytes_;
    peak_at_ = now;
    at_peak_ = true;
  }
  const bool over = capacity_ != 0 && bytes_ > capacity_;
  if (over && over_since_ == kNever) {
    over_since_ = now;
    if (over_from_ == kNever) {
      over_from_ = now;
      over_node_ = cause;
    }
  } else if (!over && over_since_ != kNever) {
    over_for_ += now - over_since_;
    over_since_ = kNever;
  }
  if (changed_ && bytes_ != told_) changed_(now, bytes_);
  told_ = bytes_;
}

FootprintRow Footprint::row(Picoseconds end) const {
  FootprintRow row;
  row.rank = index_.rank();
  row.estimated = plan_.estimated();
  row.tensors = plan_.tensors().size();
  row.initial_bytes = plan_.initial_bytes();
  row.peak_bytes = peak_;
  row.peak_at = peak_at_;
  row.capacity = capacity_;
  row.over_from = over_from_;
  row.over_for = over_for_ + (over_since_ != kNever ? end - over_since_ : 0);
  if (over_node_ != trace::kNoNode) {
    trace::NodeCache cache = index_.open_cache(1 << 20);
    row.over_node =
        fmt::format("node {} `{}`", index_.id(over_node_), printable(index_.node_name(cache, over_node_)));
  }
  for (const uint32_t tensor : at_peak_ ? largest_now() : largest_)
    row.largest.push_back({plan_.name(index_, tensor), plan_.tensors()[tensor].bytes});
  return row;
}

}  // namespace weft
