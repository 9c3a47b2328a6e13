// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// How a machine is built in which few NPUs stand for many (docs/folding.md).

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

#include "configs/blueprint/carrier.h"
#include "sc_models/machine.h"

namespace weft {

void Machine::build_mirrors(uint32_t d, const std::vector<uint32_t>& built) {
  if (!folded_) return;
  const Carrier carrier = carrier_of(config_.fabric_dimensions()[d]);
  if (carrier == Carrier::neighbours) return mirror_neighbours(d, built);
  for (const uint32_t r : mirrored_) {
    if (carrier != Carrier::direct)
      throw std::logic_error("only analytical dimensions and Rings have mirrors");
    auto& mirror = own(std::make_unique<fabric::MirrorFabric>(fmt::format("mirror{}_{}", d, r).c_str(), r,
                                                              mirrors_[d], images_, pool_));
    fabric::join(*nmus_[r]->end({d}).initiator, mirror.socket);
  }
}

/// Both NPUs are simulated for themselves: the link between them is theirs.
bool Machine::joined_here(uint32_t place, uint32_t next) const {
  const auto whole = [this](uint32_t r) { return std::binary_search(whole_.begin(), whole_.end(), r); };
  return !folded_ || (whole(place) && whole(next));
}

/// What stands at the links of `ranks` along a Ring that lead to NPUs which are not joined to them.
void Machine::mirror_neighbours(uint32_t d, const std::vector<uint32_t>& ranks) {
  const Shape shape = geometry_.shape(d);
  if (!shape.wraps()) throw std::logic_error("the ends of a Mesh differ: it has no mirrors");
  for (const uint32_t r : ranks) {
    const uint32_t c = geometry_.coordinate(r, d);
    const auto neighbour = [&](uint32_t link) {
      return geometry_.with_coordinate(r, d, shape.peer(c, link));
    };
    const fabric::NeighbourMirror::Sides sides{!joined_here(r, neighbour(Shape::kUp)),
                                               !joined_here(neighbour(Shape::kDown), r)};
    if (!sides.above && !sides.below) continue;
    const bool stands_for_others = std::binary_search(mirrored_.begin(), mirrored_.end(), r);
    auto& mirror = own(std::make_unique<fabric::NeighbourMirror>(
        fmt::format("mirror{}_{}", d, r).c_str(), r, sides,
        stands_for_others ? &neighbour_mirrors_[d] : nullptr, images_, pool_));
    if (sides.above) fabric::join(*nmus_[r]->end({d, false}).initiator, mirror.above());
    if (sides.below) fabric::join(mirror.below(), *nmus_[r]->end({d, true}).target);
  }
}

/// The outputs of a Switch dimension's switches that lead to the NPUs that are built.
void Machine::build_folded_switch(uint32_t d, const std::vector<uint32_t>& built) {
  const DimensionConfig& dimension = config_.fabric_dimensions()[d];
  const auto ways = std::make_shared<const FoldedWays>(geometry_, d, built, name());
  SwitchContext context{std::vector<SwitchContext::PortContext>(built.size(), {&link_types_[d], false}), ways,
                        dimension.switching, pool_, wheel_};
  context.link_place = LinkPlace::crossbars;
  auto& module = own(std::make_unique<FoldedCrossbar>(
      fmt::format("folded_switch{}", d).c_str(), std::move(context), ways, images_,
      [this](uint32_t rank) { return std::binary_search(mirrored_.begin(), mirrored_.end(), rank); }));
  components_.push_back(&module);
  folded_switches_.push_back(&module);
  for (uint32_t i = 0; i < built.size(); ++i)
    fabric::join(*nmus_[built[i]]->end({d}).initiator, *module.ports()[i].target);
}

}  // namespace weft
