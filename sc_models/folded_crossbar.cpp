// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/folded_crossbar.h"

#include <fmt/format.h>

#include <utility>

#include "configs/blueprint/names.h"
#include "sc_models/switch_ways.h"

namespace weft {

FoldedWays::FoldedWays(const Geometry& geometry, uint32_t dimension, std::vector<uint32_t> built,
                       std::string machine)
    : geometry_(geometry), dimension_(dimension), built_(std::move(built)), machine_(std::move(machine)) {
  for (uint32_t p = 0; p < built_.size(); ++p) ports_[built_[p]] = p;
}

SwitchLink FoldedWays::link_to(uint32_t rank) const {
  const uint32_t base = geometry_.with_coordinate(rank, dimension_, 0);
  SwitchLink link = line_link(geometry_, dimension_, base, geometry_.coordinate(rank, dimension_));
  link.name = fmt::format("{}.{}{}", machine_, switch_name(geometry_, dimension_, base), link.name);
  link.dimension = dimension_;
  return link;
}

void FoldedWays::for_each_rank(const std::function<void(uint32_t)>& visit) const {
  for (uint32_t r = 0; r < geometry_.npus(); ++r) {
    if (geometry_.coordinate(r, dimension_) != 0) continue;
    for (uint32_t c = 0; c < geometry_.size(dimension_); ++c)
      visit(geometry_.with_coordinate(r, dimension_, c));
  }
}

FoldedCrossbar::FoldedCrossbar(sc_core::sc_module_name name, SwitchContext context,
                               std::shared_ptr<const FoldedWays> ways, const fabric::MessageImages& images,
                               std::function<bool(uint32_t)> stands_for_others)
    : Crossbar(name,
               [&] {
                 context.ways = ways;
                 return std::move(context);
               }()),
      folded_ways_(std::move(ways)),
      images_(images),
      stands_for_others_(std::move(stands_for_others)) {}

void FoldedCrossbar::arrive(const Arrival& arrival) {
  fabric::Packet& message = packets()[arrival.packet];
  if (!folded_ways_->leads_to(message.destination) && stands_for_others_(message.source))
    images_.apply(message);
  Crossbar::arrive(arrival);
}

LinkReport FoldedCrossbar::report_as(uint32_t rank, uint32_t built) const {
  LinkReport report = this->report(folded_ways_->port(built));
  SwitchLink link = folded_ways_->link_to(rank);
  report.name = std::move(link.name);
  report.to = std::move(link.to);
  return report;
}

void FoldedCrossbar::for_each_link(const LinkVisitor& visit) const {
  for (uint32_t p = 0; p < ports().size(); ++p) {
    LinkReport report = this->report(p);
    report.name = folded_ways_->link(p).name;
    visit(report);
  }
}

void FoldedCrossbar::for_each_link_as(const std::function<uint32_t(uint32_t)>& built,
                                      const LinkVisitor& visit) const {
  folded_ways_->for_each_rank([&](uint32_t rank) { visit(report_as(rank, built(rank))); });
}

}  // namespace weft
