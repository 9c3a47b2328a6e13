// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The topology notation: `Ring(4)_FullyConnected(8)_Switch(4)`, dimension 0 first; short forms R, FC, SW, M.
// For machines of packages Local, Horizontal and Vertical are rings and Global is a switch. A dimension may
// be a tree of switches (configs/tree_notation.h): `Switch(8)_Clos(hosts=4,leaves=4,spines=2)`.

#ifndef WEFT_CONFIGS_NOTATION_H
#define WEFT_CONFIGS_NOTATION_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "configs/tree_notation.h"
#include "configs/types.h"

namespace weft {

constexpr uint32_t kMaxNpus = 1u << 24;  ///< of one machine
constexpr uint32_t kMaxDimensions = 16;

struct NotationDimension {
  DimensionKind kind = DimensionKind::ring;
  uint32_t size = 1;                                ///< NPUs along the dimension
  std::optional<TreeNotation> tree = std::nullopt;  ///< of a Switch whose lines are trees

  bool operator==(const NotationDimension& o) const {
    return kind == o.kind && size == o.size && tree == o.tree;
  }
};

/// Are the two the same but for the case of their letters?
bool same_word(std::string_view a, std::string_view b);

/// Kind names are read in any case. Errors: UserError(usage) with the notation, the column (from 1) and what
/// is allowed.
std::vector<NotationDimension> parse_notation(std::string_view text);

/// The canonical spelling, with the kinds' long names.
std::string print_notation(const std::vector<NotationDimension>& dimensions);

/// What parse_notation reads, as an ECMAScript regular expression with anchors (sizes' product aside).
/// `trees`: also as dimensions.
std::string notation_pattern(bool trees = true);

}  // namespace weft

#endif
