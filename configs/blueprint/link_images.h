// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// How an NPU uses the links of its dimensions, next to another NPU that does the same at the same times.

#ifndef WEFT_CONFIGS_BLUEPRINT_LINK_IMAGES_H
#define WEFT_CONFIGS_BLUEPRINT_LINK_IMAGES_H

#include <cstdint>
#include <vector>

#include "configs/blueprint/shape.h"

namespace weft {

struct LinkImages {
  /// Bit d: the link of FullyConnected dimension d to peer p is used as the other one's to p ^ me ^ other
  /// (coordinates), not as the one to p - me + other.
  uint32_t exchanges = 0;
  /// By dimension, where groups are a part of a FullyConnected: the coordinate that the other one's link
  /// leads to, for each coordinate. Empty, or null: as `exchanges` says.
  const std::vector<std::vector<uint32_t>>* parts = nullptr;

  /// The link of the NPU at coordinate `other` that is used as this link of the one at `me`.
  uint32_t of(const Shape& shape, uint32_t dimension, uint32_t link, uint32_t me, uint32_t other) const {
    if (parts != nullptr && !(*parts)[dimension].empty())
      return shape.link_to(other, (*parts)[dimension][shape.peer(me, link)]);
    return shape.image(link, me, other, (exchanges >> dimension & 1) != 0);
  }
};

}  // namespace weft

#endif
