// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/units.h"

#include <fmt/format.h>

#include <cstdlib>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

namespace weft {
namespace {

/// One unit is 10^exp10 * 2^exp2 of the kind's base (B/s, B, ps, FLOP/s).
struct Unit {
  const char* name;
  UnitKind kind;
  int exp10;
  int exp2;
  bool preferred;  ///< printed; the others are only read
};

constexpr Unit kUnits[] = {
    {"B/s", UnitKind::bandwidth, 0, 0, true},
    {"kB/s", UnitKind::bandwidth, 3, 0, true},
    {"MB/s", UnitKind::bandwidth, 6, 0, true},
    {"GB/s", UnitKind::bandwidth, 9, 0, true},
    {"TB/s", UnitKind::bandwidth, 12, 0, true},
    {"PB/s", UnitKind::bandwidth, 15, 0, true},
    {"KiB/s", UnitKind::bandwidth, 0, 10, true},
    {"MiB/s", UnitKind::bandwidth, 0, 20, true},
    {"GiB/s", UnitKind::bandwidth, 0, 30, true},
    {"TiB/s", UnitKind::bandwidth, 0, 40, true},
    {"PiB/s", UnitKind::bandwidth, 0, 50, true},
    {"KB/s", UnitKind::bandwidth, 3, 0, false},
    {"b/s", UnitKind::bandwidth, 0, -3, false},
    {"kb/s", UnitKind::bandwidth, 3, -3, false},
    {"Mb/s", UnitKind::bandwidth, 6, -3, false},
    {"Gb/s", UnitKind::bandwidth, 9, -3, false},
    {"Tb/s", UnitKind::bandwidth, 12, -3, false},
    {"bps", UnitKind::bandwidth, 0, -3, false},
    {"kbps", UnitKind::bandwidth, 3, -3, false},
    {"Mbps", UnitKind::bandwidth, 6, -3, false},
    {"Gbps", UnitKind::bandwidth, 9, -3, false},
    {"Tbps", UnitKind::bandwidth, 12, -3, false},
    {"B", UnitKind::size, 0, 0, true},
    {"kB", UnitKind::size, 3, 0, true},
    {"MB", UnitKind::size, 6, 0, true},
    {"GB", UnitKind::size, 9, 0, true},
    {"TB", UnitKind::size, 12, 0, true},
    {"PB", UnitKind::size, 15, 0, true},
    {"KiB", UnitKind::size, 0, 10, true},
    {"MiB", UnitKind::size, 0, 20, true},
    {"GiB", UnitKind::size, 0, 30, true},
    {"TiB", UnitKind::size, 0, 40, true},
    {"PiB", UnitKind::size, 0, 50, true},
    {"KB", UnitKind::size, 3, 0, false},
    {"ps", UnitKind::time, 0, 0, true},
    {"ns", UnitKind::time, 3, 0, true},
    {"us", UnitKind::time, 6, 0, true},
    {"ms", UnitKind::time, 9, 0, true},
    {"s", UnitKind::time, 12, 0, true},
    {"FLOPS", UnitKind::compute, 0, 0, true},
    {"kFLOPS", UnitKind::compute, 3, 0, true},
    {"MFLOPS", UnitKind::compute, 6, 0, true},
    {"GFLOPS", UnitKind::compute, 9, 0, true},
    {"TFLOPS", UnitKind::compute, 12, 0, true},
    {"PFLOPS", UnitKind::compute, 15, 0, true},
    {"EFLOPS", UnitKind::compute, 18, 0, true},
    {"FLOP/s", UnitKind::compute, 0, 0, false},
    {"kFLOP/s", UnitKind::compute, 3, 0, false},
    {"MFLOP/s", UnitKind::compute, 6, 0, false},
    {"GFLOP/s", UnitKind::compute, 9, 0, false},
    {"TFLOP/s", UnitKind::compute, 12, 0, false},
    {"PFLOP/s", UnitKind::compute, 15, 0, false},
    {"EFLOP/s", UnitKind::compute, 18, 0, false},
};

constexpr int kMaxDigits = 30;    // of the number itself: 10^30 < 2^100 leaves room for the units in 128 bits
constexpr int kMaxExponent = 40;  // of an `e` in the number

const char* kind_name(UnitKind kind) {
  static const char* const names[] = {"a bandwidth", "a size", "a time", "a compute rate"};
  return names[static_cast<int>(kind)];
}

const char* kind_example(UnitKind kind) {
  static const char* const names[] = {"100 GB/s", "64 MiB", "500 ns", "234 TFLOPS"};
  return names[static_cast<int>(kind)];
}

std::string allowed_units(UnitKind kind) {
  return fmt::format("allowed: a number and one of the units {}, for example `{}`",
                     fmt::join(unit_names(kind), ", "), kind_example(kind));
}

[[noreturn]] void fail(const std::string& message) {
  throw UserError(ExitCode::usage, message);
}

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

/// For messages: a very long value is cut.
std::string shown(std::string_view text) {
  constexpr size_t kMax = 60;
  return text.size() <= kMax ? std::string(text) : std::string(text.substr(0, kMax)) + "...";
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// The number as written: digits * 10^exp10 / divisor, digits without a point.
struct Written {
  std::string digits;
  int exp10 = 0;
  uint64_t divisor = 1;
};

/// What stands after the number is left in `text`. `want` ends every message.
/// `rounds`: digits beyond kMaxDigits may go.
Written take_number(std::string_view whole, std::string_view& text, const std::string& want,
                    bool rounds = false) {
  Written out;
  if (text.empty()) fail(fmt::format("the value is empty; {}", want));
  if (text.front() == '-') fail(fmt::format("'{}' is negative; {}", shown(whole), want));
  if (text.front() == '+') text.remove_prefix(1);
  bool any = false;
  bool point = false;
  while (!text.empty()) {
    if (is_digit(text.front())) {
      any = true;
      out.digits += text.front();
      if (point) --out.exp10;
    } else if (text.front() == '.' && !point && text.size() > 1 && is_digit(text[1])) {
      point = true;
    } else {
      break;
    }
    text.remove_prefix(1);
  }
  if (!any) fail(fmt::format("'{}' does not start with a number; {}", shown(whole), want));
  // An exponent: `e` must be followed by digits, so that no unit is mistaken for one.
  if (text.size() > 1 && (text.front() == 'e' || text.front() == 'E')) {
    size_t i = 1;
    const bool negative = text[i] == '-';
    if (text[i] == '-' || text[i] == '+') ++i;
    size_t end = i;
    while (end < text.size() && is_digit(text[end])) ++end;
    if (end > i) {
      int exponent = 0;
      const auto result = std::from_chars(text.data() + i, text.data() + end, exponent);
      if (result.ec != std::errc() || exponent > kMaxExponent)
        fail(fmt::format("'{}' has an exponent beyond {}; {}", shown(whole), kMaxExponent, want));
      out.exp10 += negative ? -exponent : exponent;
      text.remove_prefix(end);
    }
  }
  if (text.size() > 1 && text.front() == '/' && is_digit(text[1])) {
    size_t end = 1;
    while (end < text.size() && is_digit(text[end])) ++end;
    const auto result = std::from_chars(text.data() + 1, text.data() + end, out.divisor);
    if (result.ec != std::errc() || out.divisor == 0)
      fail(fmt::format("'{}' divides by zero or by a number that is too large; {}", shown(whole), want));
    text.remove_prefix(end);
  }
  // Zeros at either end carry no information; what is left must be exact.
  const size_t first = out.digits.find_first_not_of('0');
  out.digits = first == std::string::npos ? "0" : out.digits.substr(first);
  while (out.exp10 < 0 && out.digits.size() > 1 && out.digits.back() == '0') {
    out.digits.pop_back();
    ++out.exp10;
  }
  if (out.digits == "0") out.exp10 = 0;
  while (rounds && out.exp10 < 0 && out.digits.size() > static_cast<size_t>(kMaxDigits)) {
    out.digits.pop_back();
    ++out.exp10;
  }
  if (out.digits.size() > static_cast<size_t>(kMaxDigits))
    fail(fmt::format("'{}' has more than {} digits; {}", shown(whole), kMaxDigits, want));
  return out;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

const Unit& find_unit(std::string_view whole, std::string_view name, UnitKind kind) {
  if (name.empty()) fail(fmt::format("'{}' has no unit; {}", shown(whole), allowed_units(kind)));
  const Unit* elsewhere = nullptr;
  std::vector<std::string> alike;
  const std::string folded = lower(name);
  for (const Unit& unit : kUnits) {
    if (name == unit.name) {
      if (unit.kind == kind) return unit;
      elsewhere = &unit;
    } else if (unit.kind == kind && lower(unit.name) == folded) {
      alike.push_back(fmt::format("`{}`", unit.name));
    }
  }
  if (elsewhere != nullptr)
    fail(fmt::format("'{}' is {}, but {} is wanted here; {}", shown(whole), kind_name(elsewhere->kind),
                     kind_name(kind), allowed_units(kind)));
  const std::string hint = alike.empty() ? "" : fmt::format(" (did you mean {}?)", fmt::join(alike, " or "));
  fail(fmt::format("'{}' has the unknown unit '{}'{}; {}", shown(whole), shown(name), hint,
                   allowed_units(kind)));
}

Wide gcd(Wide a, Wide b) {
  while (b != 0) {
    const Wide rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/// numerator / denominator in lowest terms; both fit 128 bits or the construction fails.
class Rational {
 public:
  Rational(Wide numerator, Wide denominator) : numerator_(numerator), denominator_(denominator) {
    const Wide g = gcd(numerator_, denominator_);
    if (g > 1) {
      numerator_ /= g;
      denominator_ /= g;
    }
  }

  Wide numerator() const { return numerator_; }
  Wide denominator() const { return denominator_; }

  /// False when the product does not fit.
  bool multiply(uint64_t factor) { return scale(numerator_, denominator_, factor); }
  bool divide(uint64_t factor) { return numerator_ == 0 || scale(denominator_, numerator_, factor); }
  bool scale_by(int exp10, int exp2) {
    for (int i = 0; i < std::abs(exp10); ++i)
      if (!(exp10 > 0 ? multiply(10) : divide(10))) return false;
    for (int i = 0; i < std::abs(exp2); ++i)
      if (!(exp2 > 0 ? multiply(2) : divide(2))) return false;
    return true;
  }

 private:
  static bool scale(Wide& up, Wide& down, uint64_t factor) {
    const Wide g = gcd(down, factor);
    down /= g;
    const Wide rest = factor / g;
    if (up != 0 && rest > ~Wide{0} / up) return false;
    up *= rest;
    return true;
  }

  Wide numerator_;
  Wide denominator_;
};

Wide to_wide(const std::string& digits) {
  Wide value = 0;
  for (char c : digits) value = value * 10 + static_cast<unsigned>(c - '0');
  return value;
}

std::string to_text(Wide value) {
  if (value == 0) return "0";
  std::string out;
  for (; value != 0; value /= 10) out += static_cast<char>('0' + static_cast<int>(value % 10));
  std::reverse(out.begin(), out.end());
  return out;
}

Rational exact(std::string_view whole, const Written& written, int exp10, int exp2, const std::string& want) {
  Rational value(to_wide(written.digits), written.divisor);
  if (!value.scale_by(written.exp10 + exp10, exp2))
    fail(fmt::format("'{}' is too large or has too many digits to be held exactly; {}", shown(whole), want));
  return value;
}

struct Parsed {
  Written written;
  const Unit* unit;
};

Parsed parse(std::string_view whole, UnitKind kind, bool rounds = false) {
  std::string_view text = trimmed(whole);
  const std::string want = allowed_units(kind);
  Parsed out;
  out.written = take_number(whole, text, want, rounds);
  out.unit = &find_unit(whole, trimmed(text), kind);
  return out;
}

/// The value itself if a Rate holds it, else the nearest one with up to nine decimals of a byte per second,
/// as many as fit. Nothing if it is too large for a Rate.
std::optional<Rate> nearest_rate(const Rational& value) {
  constexpr uint64_t kMostBytes = std::numeric_limits<uint64_t>::max();
  Wide numerator = value.numerator();
  Wide denominator = value.denominator();
  if (numerator <= kMostBytes && denominator <= std::numeric_limits<uint32_t>::max())
    return Rate{static_cast<uint64_t>(numerator), static_cast<uint32_t>(denominator)};
  for (; (denominator >> 90) != 0; denominator >>= 1) numerator >>= 1;  // room for the decimals
  const Wide whole = numerator / denominator;
  const Wide rest = numerator % denominator;
  if (whole > kMostBytes) return std::nullopt;
  for (uint32_t scale = 1000000000; scale != 0; scale /= 10) {
    const Wide scaled = whole * scale + (rest * scale + denominator / 2) / denominator;
    if (scaled <= kMostBytes) return lowest_terms({static_cast<uint64_t>(scaled), scale});
  }
  return std::nullopt;
}

uint64_t parse_whole(std::string_view whole, UnitKind kind, const char* base, const char* base_name) {
  const Parsed parsed = parse(whole, kind);
  const Rational value =
      exact(whole, parsed.written, parsed.unit->exp10, parsed.unit->exp2, allowed_units(kind));
  const Wide nearest = value.numerator() / value.denominator();
  if (nearest > std::numeric_limits<uint64_t>::max())
    fail(fmt::format("'{}' is too large; at most {} {} fit; {}", shown(whole),
                     std::numeric_limits<uint64_t>::max(), base, allowed_units(kind)));
  if (value.denominator() != 1)
    fail(fmt::format("'{}' is not a whole number of {}; the next smaller one is `{} {}`; {}", shown(whole),
                     base_name, to_text(nearest), base, allowed_units(kind)));
  return static_cast<uint64_t>(nearest);
}

double to_double(std::string_view whole, const Written& written, int exp10, int exp2,
                 const std::string& want) {
  if (written.divisor != 1)
    fail(fmt::format("'{}' is a fraction; write a decimal number; {}", shown(whole), want));
  const std::string text = fmt::format("{}e{}", written.digits, written.exp10 + exp10);
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return std::ldexp(value, exp2);  // exact: only the binary exponent changes
}

/// The value as an exact decimal with at most `kMaxDecimals` places, or as decimal/divisor; nothing when too
/// long.
constexpr int kMaxDecimals = 15;

std::optional<std::string> decimal(Rational value) {
  // Split the denominator into 2^a 5^b and the rest, which stays a divisor.
  Wide rest = value.denominator();
  int twos = 0;
  int fives = 0;
  for (; rest % 2 == 0; rest /= 2) ++twos;
  for (; rest % 5 == 0; rest /= 5) ++fives;
  const int places = std::max(twos, fives);
  if (places > kMaxDecimals) return std::nullopt;
  Rational scaled(value.numerator(), value.denominator() / rest);
  if (!scaled.scale_by(places, 0)) return std::nullopt;
  std::string digits = to_text(scaled.numerator());
  if (digits.size() > static_cast<size_t>(kMaxDigits)) return std::nullopt;
  if (places > 0) {
    if (digits.size() <= static_cast<size_t>(places))
      digits.insert(0, static_cast<size_t>(places) + 1 - digits.size(), '0');
    digits.insert(digits.size() - static_cast<size_t>(places), ".");
  }
  return rest == 1 ? digits : digits + "/" + to_text(rest);
}

/// Tries every preferred unit and keeps the shortest text; the base unit always works (as a plain fraction at
/// worst).
std::string print(Wide numerator, Wide denominator, UnitKind kind) {
  std::string best;
  const Rational value(numerator, denominator);
  for (const Unit& unit : kUnits) {
    if (unit.kind != kind || !unit.preferred) continue;
    const bool base = unit.exp10 == 0 && unit.exp2 == 0;
    Rational in_unit = value;
    if (!in_unit.scale_by(-unit.exp10, -unit.exp2)) continue;
    if (!base && in_unit.numerator() < in_unit.denominator()) continue;  // no `0.1 us` for 100 ns
    std::optional<std::string> number = decimal(in_unit);
    if (!number && base) number = to_text(value.numerator()) + "/" + to_text(value.denominator());
    if (!number) continue;
    const std::string text = *number + " " + unit.name;
    // Of equally short ones the larger decimal unit: 3.35 TB/s, not 3350 GB/s.
    if (best.empty() || text.size() < best.size() || (text.size() == best.size() && unit.exp2 == 0))
      best = text;
  }
  return best;
}

std::string print_real(double value, UnitKind kind) {
  // Whole numbers below 2^64 are exact integers; others (programs may set them) are printed as they are.
  if (value >= 0 && value < 18446744073709551616.0 && value == std::floor(value))
    return print(static_cast<uint64_t>(value), 1, kind);
  return print_number(value) + (kind == UnitKind::bandwidth ? " B/s" : " FLOPS");
}

const char* const kWantInteger = "allowed: a whole number without a unit, for example `4`";
const char* const kWantNumber = "allowed: a number without a unit, for example `0.9`";

}  // namespace

Rate parse_bandwidth(std::string_view text) {
  const Parsed parsed = parse(text, UnitKind::bandwidth, true);
  Written written = parsed.written;
  for (;; written.digits.pop_back(), ++written.exp10) {
    Rational value(to_wide(written.digits), written.divisor);
    if (value.scale_by(written.exp10 + parsed.unit->exp10, parsed.unit->exp2)) {
      if (const std::optional<Rate> rate = nearest_rate(value)) return *rate;
      break;
    }
    // More than 128 bits hold: without the last digits, of which none can show in the result.
    if (written.digits.size() <= 22) break;
  }
  fail(fmt::format("'{}' is too large; {}", shown(text), allowed_units(UnitKind::bandwidth)));
}

uint64_t parse_size(std::string_view text) {
  return parse_whole(text, UnitKind::size, "B", "bytes");
}

Picoseconds parse_time(std::string_view text) {
  return parse_whole(text, UnitKind::time, "ps", "picoseconds");
}

double parse_compute(std::string_view text) {
  const Parsed parsed = parse(text, UnitKind::compute);
  return to_double(text, parsed.written, parsed.unit->exp10, parsed.unit->exp2,
                   allowed_units(UnitKind::compute));
}

double parse_bandwidth_value(std::string_view text) {
  const Parsed parsed = parse(text, UnitKind::bandwidth);
  return to_double(text, parsed.written, parsed.unit->exp10, parsed.unit->exp2,
                   allowed_units(UnitKind::bandwidth));
}

double parse_clock(std::string_view text) {
  const std::string whole(text);
  char* end = nullptr;
  const double value = std::strtod(whole.c_str(), &end);
  std::string unit(end);
  unit.erase(0, std::min(unit.find_first_not_of(' '), unit.size()));
  const double factor = unit == "Hz"    ? 1
                        : unit == "kHz" ? 1e3
                        : unit == "MHz" ? 1e6
                        : unit == "GHz" ? 1e9
                                        : 0;
  const double hz = value * factor;
  if (end == whole.c_str() || factor == 0 || !(hz >= 1) || hz > 1e12)
    throw UserError(ExitCode::usage,
                    fmt::format("`{}` is no clock; give a number with Hz, kHz, MHz or GHz, from 1 Hz to 1000 "
                                "GHz, for example \"1 GHz\"",
                                whole));
  return hz;
}

uint64_t parse_integer(std::string_view whole) {
  std::string_view text = trimmed(whole);
  const Written written = take_number(whole, text, kWantInteger);
  if (!trimmed(text).empty()) fail(fmt::format("'{}' is not a whole number; {}", shown(whole), kWantInteger));
  const Rational value = exact(whole, written, 0, 0, kWantInteger);
  if (value.denominator() != 1)
    fail(fmt::format("'{}' is not a whole number; {}", shown(whole), kWantInteger));
  if (value.numerator() > std::numeric_limits<uint64_t>::max())
    fail(fmt::format("'{}' is too large; at most {} fits; {}", shown(whole),
                     std::numeric_limits<uint64_t>::max(), kWantInteger));
  return static_cast<uint64_t>(value.numerator());
}

double parse_number(std::string_view whole) {
  std::string_view text = trimmed(whole);
  const Written written = take_number(whole, text, kWantNumber);
  if (!trimmed(text).empty()) fail(fmt::format("'{}' is not a plain number; {}", shown(whole), kWantNumber));
  return to_double(whole, written, 0, 0, kWantNumber);
}

std::string print_bandwidth(Rate rate) {
  return print(rate.bytes_per_second, rate.divisor == 0 ? 1 : rate.divisor, UnitKind::bandwidth);
}

std::string print_size(uint64_t bytes) {
  return print(bytes, 1, UnitKind::size);
}

std::string print_time(Picoseconds time) {
  return print(time, 1, UnitKind::time);
}

std::string print_compute(double flops) {
  return print_real(flops, UnitKind::compute);
}

std::string print_bandwidth_value(double bytes_per_second) {
  return print_real(bytes_per_second, UnitKind::bandwidth);
}

std::string print_number(double number) {
  std::array<char, 64> buffer;
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  return {buffer.data(), result.ptr};
}

std::vector<std::string> unit_names(UnitKind kind) {
  std::vector<std::string> names;
  for (const Unit& unit : kUnits)
    if (unit.kind == kind) names.emplace_back(unit.name);
  return names;
}

std::string number_pattern(bool fraction_allowed) {
  return std::string(R"(\+?([0-9]+(\.[0-9]+)?|\.[0-9]+)([eE][-+]?[0-9]+)?)") +
         (fraction_allowed ? "(/[0-9]+)?" : "");
}

Rate lowest_terms(Rate rate) {
  const uint64_t g = std::gcd(rate.bytes_per_second, static_cast<uint64_t>(rate.divisor));
  return g <= 1 ? rate : Rate{rate.bytes_per_second / g, static_cast<uint32_t>(rate.divisor / g)};
}

Rate divided(Rate rate, uint64_t divisor) {
  Rational value(rate.bytes_per_second, rate.divisor);
  value.divide(divisor);  // at most 96 bits
  return *nearest_rate(value);
}

}  // namespace weft
