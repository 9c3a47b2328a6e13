// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Values with units, exactly: `200 GB/s`, `0.5 us`, `1 GiB`, `234 TFLOPS`, `200/7 GiB/s`.
//
// A value is a decimal number (or a fraction of two), an optional blank and a unit. Every unit is a product
// of powers of ten and two, so that a value is an exact rational until it becomes an integer (ps, bytes), a
// Rate or, where the model computes in floating point (FLOP/s), the nearest double. All parsers throw
// UserError(ExitCode::usage) whose message names the value and what is allowed; they refuse negative values,
// NaN, infinity and whatever does not fit. Zero is a value: whether it is allowed is the caller's range.

#ifndef WEFT_CONFIGS_UNITS_H
#define WEFT_CONFIGS_UNITS_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "configs/types.h"

namespace weft {

enum class UnitKind : uint8_t { bandwidth, size, time, compute };

/// B/s .. PB/s, KiB/s .. PiB/s, b/s .. Tb/s (or bps .. Tbps). Exact if a Rate holds it, else the nearest
/// value with up to nine decimals of a byte per second: print_bandwidth() says which.
Rate parse_bandwidth(std::string_view text);
uint64_t parse_size(std::string_view text);     ///< bytes: B, kB (or KB) .. PB, KiB .. PiB; whole bytes only
Picoseconds parse_time(std::string_view text);  ///< ps, ns, us, ms, s; whole picoseconds only
double parse_compute(
    std::string_view text);  ///< FLOP/s: FLOPS .. EFLOPS (or FLOP/s .. EFLOP/s), nearest double
double parse_bandwidth_value(std::string_view text);  ///< as parse_bandwidth, in B/s as the nearest double
double parse_clock(std::string_view text);      ///< Hz: Hz, kHz, MHz, GHz; 1 Hz to 1000 GHz, nearest double
uint64_t parse_integer(std::string_view text);  ///< a whole number without a unit
double parse_number(std::string_view text);     ///< a number without a unit, nearest double

/// The shortest text that the parser of the same kind reads back to exactly the same value.
std::string print_bandwidth(Rate rate);
std::string print_size(uint64_t bytes);
std::string print_time(Picoseconds time);
std::string print_compute(double flops);
std::string print_bandwidth_value(double bytes_per_second);
std::string print_number(double number);

/// The units of a kind, as a user may write them, smallest first.
std::vector<std::string> unit_names(UnitKind kind);

/// The number in front of a unit as an ECMAScript regular expression without anchors (for the JSON Schema).
std::string number_pattern(bool fraction_allowed);

/// The rate in lowest terms: what the parsers return, so that equal rates are equal field by field.
Rate lowest_terms(Rate rate);

/// rate / divisor in lowest terms, rounded as parse_bandwidth() does. The divisor must not be 0.
Rate divided(Rate rate, uint64_t divisor);

}  // namespace weft

#endif
