// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Texts as numbers: what a cell of the results or a value of a configuration counts in expressions.

#ifndef WEFT_SC_MAIN_SWEEP_QUANTITY_H
#define WEFT_SC_MAIN_SWEEP_QUANTITY_H

#include <optional>
#include <string>
#include <string_view>

#include "configs/units.h"

namespace weft::sweep {

struct Unit {
  UnitKind kind;
  double scale;  ///< in B, ns, B/s or FLOP/s
};

/// A unit of configs/units.h. Nothing for any other text.
std::optional<Unit> find_unit(std::string_view name);

/// The longest unit that the text begins with, such that no letter, digit or slash follows it; "" if there is
/// none.
std::string_view unit_at(std::string_view text);

/// A number, or a number with a unit in the base of its kind: bytes, nanoseconds, bytes per second or FLOP
/// per second. "true" and "false" are 1 and 0. Nothing for any other text.
std::optional<double> quantity(std::string_view text);

/// The shortest text that reads back equal: "80", "0.1", "1.5e+20".
std::string number_text(double value);

}  // namespace weft::sweep

#endif
