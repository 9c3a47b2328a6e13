// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// How a machine is built that is one part of a larger one.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "sc_models/machine.h"

namespace weft {

bool Machine::line_is_cut(uint32_t d, uint32_t base) const {
  if (part_links_ == nullptr) return false;
  for (uint32_t c = 1; c < geometry_.size(d); ++c)
    if (part_of_place(geometry_.with_coordinate(base, d, c)) != part_of_place(base)) return true;
  return false;
}

bool Machine::line_is_here(uint32_t d, uint32_t base) const {
  for (uint32_t c = 0; c < geometry_.size(d); ++c)
    if (!elsewhere(geometry_.with_coordinate(base, d, c))) return true;
  return false;
}

bool Machine::dimension_is_cut(uint32_t d) const {
  for (uint32_t place = 0; place < npus(); ++place)
    if (geometry_.coordinate(place, d) == 0 && line_is_cut(d, place)) return true;
  return false;
}

/// How soon at the earliest a message that leaves by the carrier of the dimension acts in another part. One
/// that leaves by a dimension that is not cut goes on to a later one that is. kNever: none does.
Picoseconds Machine::latency_to_other_parts(uint32_t d) const {
  const Picoseconds own = link_types_[d].latency();
  if (part_links_ == nullptr || dimension_is_cut(d)) return own;
  Picoseconds of_others = kNever;
  for (uint32_t other = d + 1; other < geometry_.dimensions(); ++other)
    if (dimension_is_cut(other)) of_others = std::min(of_others, link_types_[other].latency());
  return of_others == kNever ? kNever : later(of_others, own);
}

/// By node of the graph; empty: the machine is whole. A switch is where its first NPU is; those without NPUs
/// take turns.
std::vector<uint32_t> Machine::parts_of_nodes(const Graph& graph, const GraphLine& line) const {
  std::vector<uint32_t> parts;
  if (part_links_ == nullptr) return parts;
  bool one = true;
  for (uint32_t n = 0; n < graph.npus(); ++n) {
    parts.push_back(part_of_place(line.npu(n)));
    one = one && parts[n] == parts[0];
  }
  for (uint32_t n = graph.npus(); n < graph.nodes(); ++n) {
    uint32_t part = one ? parts[0] : n % part_links_->parts();
    for (const Graph::Port& port : graph.ports(n)) {
      if (!graph.is_npu(port.peer)) continue;
      part = parts[port.peer];
      break;
    }
    parts.push_back(part);
  }
  return parts;
}

fabric::DirectFabric& Machine::make_carrier(const std::string& name, uint32_t units, Picoseconds latency) {
  const auto ranks = static_cast<uint32_t>(whole_.size());
  const bool parted = part_links_ != nullptr && ranks != npus();
  std::vector<uint32_t> slots;
  if (folded_ || parted) {
    slots.resize(npus() + size_t{units}, ranks);
    for (uint32_t i = 0; i < ranks; ++i) slots[geometry_.place(whole_[i])] = i;
    for (uint32_t i = 0; i < units; ++i) slots[npus() + size_t{i}] = ranks + i;
  }
  const uint32_t members = ranks + units + (parted ? 1 : 0);
  auto& direct = own(std::make_unique<fabric::DirectFabric>(name.c_str(), members, std::move(slots)));
  if (parted) far_members_.emplace_back(&direct, latency);
  return direct;
}

/// Of the NPUs that are bound to a carrier, in the order of its members: that of places where all are here,
/// else that of make_carrier(). The places of a folded system are its ranks.
std::vector<uint32_t> Machine::carrier_places() const {
  std::vector<uint32_t> places = whole_;
  if (whole_.size() != npus())
    for (uint32_t& place : places) place = geometry_.place(place);
  return places;
}

/// Members are bound in their order: these last ones when all others are.
void Machine::join_far_members() {
  for (const auto& [direct, latency] : far_members_)
    part_links_->cut_members(
        *direct, [this](uint32_t place) { return geometry_.rank_at(place); }, latency);
}

/// The inputs of a switch's image from all NPUs of its line.
void Machine::join_line_in_parts(uint32_t p, uint32_t d, uint32_t base, SwitchModel& image) {
  const auto next = [this, d, base](const fabric::Packet& packet) {
    return part_of_place(geometry_.with_coordinate(base, d, geometry_.coordinate(packet.destination, d)));
  };
  for (uint32_t c = 0; c < geometry_.size(d); ++c) {
    const uint32_t place = geometry_.with_coordinate(base, d, c);
    part_links_->cut_input(elsewhere(place) ? nullptr : at(place).end({d, false, p}).initiator,
                           image.ports()[c].target.get(), next, link_types_[d].latency());
  }
}

void Machine::for_each_link_at(const std::function<void(const LinkAt&, const LinkReport&)>& visit) const {
  LinkAt at;
  const auto tell = [&](const LinkReport& report) {
    visit(at, report);
    ++at.link;
  };
  for (uint32_t r = 0; r < nmus_.size(); ++r) {
    at = {static_cast<uint32_t>(LinkPlace::nmus), r, 0};
    if (nmus_[r]) nmus_[r]->for_each_link(tell);
  }
  for (const LinkPlace place : kLinkPlaces) {
    uint32_t unnumbered = 0;
    for (const Component* component : components_) {
      if (place == LinkPlace::nmus || component->link_place() != place) continue;
      const auto known = module_numbers_.find(component);
      at = {static_cast<uint32_t>(place), known != module_numbers_.end() ? known->second : unnumbered++, 0};
      component->for_each_link(tell);
    }
  }
}

}  // namespace weft
