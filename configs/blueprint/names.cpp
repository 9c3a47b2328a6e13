// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/blueprint/names.h"

#include <fmt/format.h>

namespace weft {

std::string nmu_name(const Geometry& geometry, uint32_t place) {
  return "nmu" + std::to_string(geometry.rank_at(place));
}

std::string switch_name(const Geometry& geometry, uint32_t dimension, uint32_t place,
                        const std::string& suffix) {
  return fmt::format("switch{}_{}{}", dimension, geometry.line(place, dimension), suffix);
}

std::string switch_name(const Geometry& geometry, uint32_t dimension, uint32_t place,
                        const std::string& suffix, uint32_t node) {
  return switch_name(geometry, dimension, place, suffix) + "_" +
         geometry.shape(dimension).tree()->graph().name(node);
}

std::string link_name(const Geometry& geometry, uint32_t dimension, uint32_t place, uint32_t link,
                      const std::string& suffix) {
  const Shape shape = geometry.shape(dimension);
  const uint32_t peer = shape.peer(geometry.coordinate(place, dimension), link);
  const uint32_t rank =
      peer < shape.size() ? geometry.rank_at(geometry.with_coordinate(place, dimension, peer)) : 0;
  // Every link of the machine comes by here, hence no formatting.
  std::string name = "d" + std::to_string(dimension);
  name += suffix;
  name += shape.link_name(link, rank);
  return name;
}

std::string link_end(const Geometry& geometry, uint32_t dimension, uint32_t place, uint32_t link,
                     const std::string& suffix) {
  const Shape shape = geometry.shape(dimension);
  const uint32_t here = geometry.coordinate(place, dimension);
  if (shape.tree() != nullptr)
    return switch_name(geometry, dimension, place, suffix, shape.tree()->graph().ports(here)[link].peer);
  const uint32_t peer = shape.peer(here, link);
  return peer == Shape::kSwitch ? switch_name(geometry, dimension, place)
                                : nmu_name(geometry, geometry.with_coordinate(place, dimension, peer));
}

std::string parallel_number(const Graph& graph, uint32_t node, uint32_t port) {
  const auto& ports = graph.ports(node);
  uint32_t before = 0;
  for (uint32_t p = 0; p < port; ++p) before += ports[p].peer == ports[port].peer ? 1 : 0;
  return before == 0 ? std::string() : fmt::format("_{}", before);
}

}  // namespace weft
