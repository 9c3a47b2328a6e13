// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/sweep/range.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "configs/types.h"
#include "sc_main/sweep/quantity.h"
#include "sc_main/sweep/words.h"

namespace weft::sweep {
namespace {

constexpr int kMostPlaces = 15;

[[noreturn]] void fail(const std::string& what) {
  throw UserError(ExitCode::usage, what);
}

/// digits / 10^places
struct Decimal {
  int64_t digits = 0;
  int places = 0;
};

/// value * factor; fails beyond 64 bits.
int64_t times(int64_t value, int64_t factor) {
  int64_t product = 0;
  if (__builtin_mul_overflow(value, factor, &product)) fail("its numbers have too many digits");
  return product;
}

int64_t power_of_ten(int exponent) {
  int64_t power = 1;
  for (int i = 0; i < exponent; ++i) power = times(power, 10);
  return power;
}

Decimal with_places(Decimal d, int places) {
  return {times(d.digits, power_of_ten(places - d.places)), places};
}

/// Without zeros behind the point.
Decimal shortest(Decimal d) {
  while (d.places > 0 && d.digits % 10 == 0) {
    d.digits /= 10;
    --d.places;
  }
  return d;
}

std::string text_of(Decimal d) {
  d = shortest(d);
  const int64_t scale = power_of_ten(d.places);
  const bool negative = d.digits < 0;
  const uint64_t size = negative ? 0 - static_cast<uint64_t>(d.digits) : static_cast<uint64_t>(d.digits);
  std::string text = fmt::format("{}{}", negative ? "-" : "", size / static_cast<uint64_t>(scale));
  if (d.places > 0) text += fmt::format(".{:0{}}", size % static_cast<uint64_t>(scale), d.places);
  return text;
}

/// A number and what stands behind it.
struct Amount {
  Decimal number;
  std::string unit;
};

Amount parse_amount(std::string_view text) {
  Amount amount;
  size_t i = 0;
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) ++i;
  bool point = false;
  size_t digits = 0;
  for (; i < text.size(); ++i) {
    if (text[i] == '.' && !point) {
      point = true;
    } else if (text[i] >= '0' && text[i] <= '9') {
      if (++digits > 18) fail(fmt::format("'{}' has too many digits; at most 18", shortened(text)));
      amount.number.digits = amount.number.digits * 10 + (text[i] - '0');
      if (point) ++amount.number.places;
    } else {
      break;
    }
  }
  if (digits == 0) fail(fmt::format("'{}' does not begin with a number", shortened(text)));
  if (amount.number.places > kMostPlaces)
    fail(fmt::format("'{}' has more than {} decimals", shortened(text), kMostPlaces));
  if (i + 1 < text.size() && (text[i] == 'e' || text[i] == 'E') && text[i + 1] >= '0' && text[i + 1] <= '9') {
    int exponent = 0;
    for (++i; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i)
      exponent = std::min(100, exponent * 10 + (text[i] - '0'));
    const int shift = std::min(exponent, amount.number.places);
    amount.number.places -= shift;
    amount.number.digits = times(amount.number.digits, power_of_ten(exponent - shift));
  }
  if (negative) amount.number.digits = -amount.number.digits;
  amount.unit = std::string(trimmed(text.substr(i)));
  return amount;
}

std::vector<std::string> three(std::string_view arguments, const char* form) {
  std::vector<std::string> parts = split_outside(arguments, ',');
  for (std::string& part : parts) part = std::string(trimmed(part));
  if (parts.size() != 3) fail(fmt::format("it has {} arguments; write {}", parts.size(), form));
  return parts;
}

/// Brings all amounts to the smallest of their units.
void join_units(const std::vector<Amount*>& amounts) {
  const Amount* smallest = amounts.front();
  const bool same =
      std::all_of(amounts.begin(), amounts.end(), [&](const Amount* a) { return a->unit == smallest->unit; });
  if (same) return;
  std::string all;
  for (const Amount* a : amounts) {
    if (a->unit.empty()) fail("give all of its numbers a unit, or none");
    if (!find_unit(a->unit)) fail(fmt::format("'{}' is not a unit", shortened(a->unit)));
    if (find_unit(a->unit)->kind != find_unit(smallest->unit)->kind)
      fail(fmt::format("'{}' and '{}' are units of different kinds", smallest->unit, a->unit));
    if (find_unit(a->unit)->scale < find_unit(smallest->unit)->scale) smallest = a;
  }
  const std::string unit = smallest->unit;
  const double scale = find_unit(unit)->scale;
  for (Amount* a : amounts) {
    const double ratio = find_unit(a->unit)->scale / scale;
    if (ratio != std::floor(ratio) || ratio > 1e18)
      fail(
          fmt::format("'{}' is not a multiple of '{}'; write all of its numbers in one unit", a->unit, unit));
    a->number.digits = times(a->number.digits, static_cast<int64_t>(ratio));
    a->unit = unit;
  }
}

std::string with_unit(Decimal number, const std::string& unit) {
  return unit.empty() ? text_of(number) : text_of(number) + " " + unit;
}

[[noreturn]] void fail_too_many(size_t most) {
  fail(fmt::format("it has more than {} values", most));
}

std::vector<std::string> stepped(Amount first, Amount last, Amount step, size_t most) {
  join_units({&first, &last, &step});
  const int places = std::max({first.number.places, last.number.places, step.number.places});
  const int64_t begin = with_places(first.number, places).digits;
  const int64_t end = with_places(last.number, places).digits;
  const int64_t by = with_places(step.number, places).digits;
  if (by == 0) fail("its step is 0; give another");
  if (by > 0 ? begin > end : begin < end)
    fail(fmt::format("it is empty: {} is {} than {}; swap them, or give a {} step",
                     with_unit(first.number, first.unit), by > 0 ? "more" : "less",
                     with_unit(last.number, last.unit), by > 0 ? "negative" : "positive"));
  std::vector<std::string> values;
  for (int64_t at = begin; by > 0 ? at <= end : at >= end;) {
    if (values.size() == most) fail_too_many(most);
    values.push_back(with_unit({at, places}, first.unit));
    if (__builtin_add_overflow(at, by, &at)) break;
  }
  return values;
}

std::vector<std::string> multiplied(Amount first, Amount last, const Amount& factor, size_t most) {
  join_units({&first, &last});
  const Decimal f = shortest(factor.number);
  const int64_t one = power_of_ten(f.places);
  if (!factor.unit.empty() || f.digits <= 0 || f.digits == one)
    fail("its factor must be a number above 0 and not 1, as in range(1, 64, x2)");
  if (first.number.digits <= 0 || last.number.digits <= 0) fail("with a factor both ends must be above 0");
  const bool up = f.digits > one;
  std::vector<std::string> values;
  Decimal at = first.number;
  const auto beyond = [&] {
    const int places = std::max(at.places, last.number.places);
    const int64_t here = with_places(at, places).digits;
    const int64_t end = with_places(last.number, places).digits;
    return up ? here > end : here < end;
  };
  if (beyond())
    fail(fmt::format("it is empty: {} is {} than {}; swap them", with_unit(first.number, first.unit),
                     up ? "more" : "less", with_unit(last.number, last.unit)));
  while (!beyond()) {
    if (values.size() == most) fail_too_many(most);
    values.push_back(with_unit(at, first.unit));
    at = shortest({times(at.digits, f.digits), at.places + f.places});
    if (at.places > kMostPlaces)
      fail("its factor makes values with too many decimals; use log(first, last, count)");
  }
  return values;
}

}  // namespace

std::vector<std::string> range_values(std::string_view arguments, size_t most) {
  const std::vector<std::string> parts =
      three(arguments, "range(first, last, step) or range(first, last, xFACTOR)");
  const Amount first = parse_amount(parts[0]);
  const Amount last = parse_amount(parts[1]);
  const std::string& step = parts[2];
  if (!step.empty() && (step[0] == 'x' || step[0] == '*'))
    return multiplied(first, last, parse_amount(trimmed(std::string_view(step).substr(1))), most);
  return stepped(first, last, parse_amount(step), most);
}

std::vector<std::string> log_values(std::string_view arguments, size_t most) {
  const std::vector<std::string> parts = three(arguments, "log(first, last, count)");
  Amount first = parse_amount(parts[0]);
  Amount last = parse_amount(parts[1]);
  const Amount count = parse_amount(parts[2]);
  join_units({&first, &last});
  if (!count.unit.empty() || count.number.places != 0 || count.number.digits < 2)
    fail(fmt::format("the count '{}' must be a whole number of 2 or more", parts[2]));
  if (count.number.digits > static_cast<int64_t>(most)) fail_too_many(most);
  const int places = std::max(first.number.places, last.number.places);
  const int64_t begin = with_places(first.number, places).digits;
  const int64_t end = with_places(last.number, places).digits;
  if (begin <= 0 || end <= 0) fail("both ends must be above 0");
  if (std::max(begin, end) > (int64_t{1} << 53)) fail("its numbers have too many digits");
  const int64_t steps = count.number.digits - 1;
  std::vector<std::string> values;
  for (int64_t i = 0; i <= steps; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(steps);
    const double value =
        static_cast<double>(begin) * std::pow(static_cast<double>(end) / static_cast<double>(begin), share);
    const int64_t digits = i == 0 ? begin : i == steps ? end : std::llround(value);
    values.push_back(with_unit({digits, places}, first.unit));
    if (i > 0 && values[values.size() - 2] == values.back())
      fail(fmt::format("two of its values are {}; give fewer values, or write the ends with more decimals",
                       values.back()));
  }
  return values;
}

}  // namespace weft::sweep
