// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Numbers as text. Times are exact: they are made of integer picoseconds and never pass through a double.

#ifndef WEFT_SC_MAIN_DECIMAL_H
#define WEFT_SC_MAIN_DECIMAL_H

#include <cstdint>
#include <string>

#include "configs/types.h"

namespace weft::cli {

/// Nanoseconds with the picoseconds as decimals, without trailing zeros: 1234567 -> "1234.567", 1000 -> "1".
std::string nanoseconds(Picoseconds time);
/// The same for a sum that may exceed 64 bits.
std::string nanoseconds(Wide time);
/// sum / count in nanoseconds, rounded to the nearest picosecond; "0" when count is 0.
std::string mean_nanoseconds(Wide sum, uint64_t count);

/// For people: "1.234567 ms", seven digits at most.
std::string readable_time(Picoseconds time);
/// "64 KiB" when exact, else with up to four digits: "1.5 MiB", "1.001 MiB".
std::string readable_size(uint64_t bytes);
/// "12,345,678".
std::string grouped(uint64_t number);

/// A double as a JSON number: the shortest text that reads back equal; 0 when it is not finite.
std::string json_number(double value);

}  // namespace weft::cli

#endif
