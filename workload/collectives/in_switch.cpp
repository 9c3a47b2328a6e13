// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/collectives/in_switch.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "configs/algorithms.h"
#include "configs/blueprint/carrier.h"
#include "workload/collectives/algorithm.h"

namespace weft::collectives {
namespace {

class InSwitch final : public Algorithm {
 public:
  const char* name() const override { return "in_switch"; }
  std::string refuses(CollectiveOp op, uint32_t) const override {
    return lacking(*weft::find_algorithm(name()), op);
  }
  bool in_switch() const override { return true; }
  uint32_t rounds(const PhaseShape&) const override { return 1; }
  void round(const PhaseShape&, uint32_t, Round& out) const override { out.clear(); }

  bool expects(const PhaseShape& s, uint32_t r, uint32_t from) const override {
    if (r != 0) return false;
    switch (s.op) {
      case CollectiveOp::broadcast:
      case CollectiveOp::scatter:
        return s.me != s.root && from == s.root;
      case CollectiveOp::reduce:
      case CollectiveOp::gather:
        return s.me == s.root;
      default:
        return true;
    }
  }
};

Wide time_at(uint64_t bytes, Rate rate) {
  return rate.bytes_per_second == 0 ? 0 : any_transfer_time(bytes, rate);
}

}  // namespace

const Algorithm* in_switch_algorithm() {
  static const InSwitch instance;
  return &instance;
}

UnitLayout::UnitLayout(CollectiveOp op, uint32_t n, uint32_t root, const Split& split, uint64_t segment)
    : op_(op), n_(n), root_(root), split_(split) {
  reduces_ = op == CollectiveOp::all_reduce || op == CollectiveOp::barrier || op == CollectiveOp::reduce ||
             op == CollectiveOp::reduce_scatter;
  whole_ = op == CollectiveOp::broadcast || (reduces_ && op != CollectiveOp::reduce_scatter);
  total_ = op == CollectiveOp::barrier ? split.base : split.offset(n - 1) + split.size(n - 1);
  segment_ = std::max<uint64_t>(split.unit, segment / split.unit * split.unit);
  const uint64_t largest = whole_ ? total_ : split.size(0);
  rows_ = std::max<uint64_t>(1, (largest + segment_ - 1) / segment_);
}

UnitLayout UnitLayout::of(const Config& config, const CollectivePlan& plan, uint32_t chunk, uint32_t phase,
                          const Split& split) {
  const PhasePlan& p = plan.phases(chunk)[phase];
  const Axis& axis = plan.axes()[p.axis];
  return {p.op, axis.size, p.root, split, config.dimensions[axis.dimension].collective_unit.segment};
}

bool UnitLayout::used(uint64_t slot) const {
  if (whole_) return true;
  const uint32_t b = block(slot);
  if ((op_ == CollectiveOp::gather || op_ == CollectiveOp::scatter) && b == root_) return false;
  const uint64_t row = slot / n_;
  return row == 0 || row * segment_ < split_.size(b);
}

UnitLayout::Piece UnitLayout::piece(uint64_t slot) const {
  if (whole_) return {slot * segment_, std::min(segment_, total_ - slot * segment_)};
  const uint32_t b = block(slot);
  const uint64_t behind = slot / n_ * segment_;
  return {split_.offset(b) + behind, std::min(segment_, split_.size(b) - behind)};
}

bool UnitLayout::contributes(uint64_t slot, uint32_t member) const {
  if (reduces_) return true;
  switch (op_) {
    case CollectiveOp::broadcast:
    case CollectiveOp::scatter:
      return member == root_;
    default:
      return member == block(slot);
  }
}

bool UnitLayout::receives(uint64_t slot, uint32_t member) const {
  switch (op_) {
    case CollectiveOp::reduce:
    case CollectiveOp::gather:
      return member == root_;
    case CollectiveOp::reduce_scatter:
    case CollectiveOp::scatter:
      return member == block(slot);
    case CollectiveOp::broadcast:
      return member != root_;
    case CollectiveOp::all_gather:
      return member != block(slot);
    default:
      return true;
  }
}

uint64_t UnitLayout::segments(uint32_t block) const {
  return std::max<uint64_t>(1, (split_.size(block) + segment_ - 1) / segment_);
}

uint32_t UnitLayout::results(uint32_t member) const {
  if (whole_) return receives(0, member) ? static_cast<uint32_t>(rows_) : 0;
  uint64_t count = 0;
  for (uint32_t b = 0; b < n_; ++b) count += used(b) && receives(b, member) ? segments(b) : 0;
  return static_cast<uint32_t>(count);
}

UnitLayout::Totals UnitLayout::totals() const {
  uint32_t receivers = 1;
  if (op_ == CollectiveOp::all_reduce || op_ == CollectiveOp::barrier) receivers = n_;
  if (op_ == CollectiveOp::broadcast || op_ == CollectiveOp::all_gather) receivers = n_ - 1;
  uint64_t pieces = whole_ ? rows_ : 0;
  uint64_t bytes = whole_ ? total_ : 0;
  for (uint32_t b = 0; b < n_ && !whole_; ++b) {
    if (!used(b)) continue;
    pieces += segments(b);
    bytes += split_.size(b);
  }
  return {contributors() * pieces, contributors() * bytes, receivers * pieces, receivers * bytes};
}

uint64_t UnitLayout::most_sent() const {
  if (whole_ || op_ == CollectiveOp::reduce_scatter) return total_;
  if (op_ == CollectiveOp::scatter) return total_ - split_.size(root_);
  return split_.size(0);
}

uint64_t UnitLayout::most_received() const {
  if (whole_) return total_;
  if (op_ == CollectiveOp::all_gather) return total_ - split_.size(n_ - 1);
  if (op_ == CollectiveOp::gather) return total_ - split_.size(root_);
  return split_.size(0);
}

Picoseconds unit_time(const DimensionConfig& dimension, const UnitLayout& layout) {
  const UnitLayout::Totals totals = layout.totals();
  const uint64_t most_in = layout.most_sent();
  const uint64_t most_out = layout.most_received();
  const uint64_t first = layout.piece(0).bytes;  // no other one is larger
  const CollectiveUnitConfig& unit = dimension.collective_unit;
  const Rate link = dimension.link_rate();
  const auto enter = [&](uint64_t bytes) {
    return std::max(any_transfer_time(bytes, link), time_at(bytes, unit.ingress_bandwidth));
  };
  const auto reduce = [&](uint64_t bytes) {
    return layout.reduces() ? time_at(bytes, unit.reduction_bandwidth) : Wide{0};
  };
  const uint64_t gathered = layout.contributors() * first;
  const Wide stages[] = {enter(std::max(most_in, first)) - enter(first),
                         reduce(totals.bytes_in) - reduce(gathered),
                         any_transfer_time(std::max(most_out, first), link) - any_transfer_time(first, link)};
  return saturated(static_cast<Wide>(2 * dimension.latency + unit.latency) + enter(first) + reduce(gathered) +
                   any_transfer_time(first, link) + *std::max_element(std::begin(stages), std::end(stages)));
}

Wide unit_serial_time(const DimensionConfig& dimension, const UnitLayout& layout) {
  const CollectiveUnitConfig& unit = dimension.collective_unit;
  const UnitLayout::Totals totals = layout.totals();
  Wide time = static_cast<Wide>(totals.contributions) * unit.latency;
  time += time_at(totals.bytes_in, unit.ingress_bandwidth) + totals.contributions;
  if (layout.reduces()) time += time_at(totals.bytes_in, unit.reduction_bandwidth) + totals.contributions;
  return time;
}

void UnitDirectory::join(uint32_t stream, const std::shared_ptr<const CollectivePlan>& plan) {
  auto& entry = entries_[stream];
  if (entry.plan == nullptr) entry.plan = plan;
}

void UnitDirectory::leave(uint32_t stream) {
  const auto it = entries_.find(stream);
  if (it != entries_.end() && ++it->second.left == it->second.plan->members()) entries_.erase(it);
}

const std::shared_ptr<const CollectivePlan>& UnitDirectory::plan(uint32_t stream) const {
  const auto it = entries_.find(stream);
  if (it == entries_.end()) {
    throw std::logic_error(
        fmt::format("a collective unit got a contribution to collective {}, which no "
                    "member has started",
                    stream));
  }
  return it->second.plan;
}

bool uses_unit(const Config& config, uint32_t d) {
  if (d >= config.dimensions.size() || !Shape(config.dimensions[d]).has_crossbar() ||
      config.dimensions[d].size < 2 || config.remapped()) {
    return false;
  }
  const auto named = [&](const std::vector<std::string>& names) {
    return d < names.size() && names[d] == in_switch_algorithm()->name();
  };
  const CollectivesConfig& c = config.collectives;
  // For the programs of a communication library the switches of a node reduce (NVLS), and with CollNet those
  // between the nodes.
  if (c.library.on()) {
    if (c.library.kind != LibraryKind::nccl || !may_carry_messages(config)) return false;
    if (c.library.collnet && network_dimension(config) == d) return true;
    return d == 0 && (c.library.gpus_per_node == 0 || c.library.gpus_per_node == config.dimensions[0].size);
  }
  return std::any_of(c.algorithms.begin(), c.algorithms.end(), named) ||
         std::any_of(c.rules.begin(), c.rules.end(),
                     [&](const CollectiveRule& rule) { return named(rule.algorithms); });
}

}  // namespace weft::collectives
