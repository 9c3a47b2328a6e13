// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/sweep/quantity.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <map>

#include "sc_main/sweep/words.h"

namespace weft::sweep {
namespace {

double scale_of(UnitKind kind, const std::string& unit) {
  // A thousand, because one bit per second is an eighth of a byte per second.
  const std::string thousand = "1000 " + unit;
  switch (kind) {
    case UnitKind::size:
      return static_cast<double>(parse_size("1 " + unit));
    case UnitKind::time:
      return static_cast<double>(parse_time("1 " + unit)) / 1000;
    case UnitKind::bandwidth:
      return parse_bandwidth_value(thousand) / 1000;
    case UnitKind::compute:
      return parse_compute(thousand) / 1000;
  }
  return 0;
}

const std::map<std::string, Unit, std::less<>>& units() {
  static const std::map<std::string, Unit, std::less<>> all = [] {
    std::map<std::string, Unit, std::less<>> made;
    for (const UnitKind kind : {UnitKind::bandwidth, UnitKind::size, UnitKind::time, UnitKind::compute})
      for (const std::string& name : unit_names(kind)) made.emplace(name, Unit{kind, scale_of(kind, name)});
    return made;
  }();
  return all;
}

}  // namespace

std::optional<Unit> find_unit(std::string_view name) {
  const auto it = units().find(name);
  return it == units().end() ? std::nullopt : std::optional<Unit>(it->second);
}

std::string_view unit_at(std::string_view text) {
  std::string_view longest;
  const auto in_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  };
  for (const auto& [name, unit] : units()) {
    if (name.size() <= longest.size() || text.substr(0, name.size()) != name) continue;
    if (text.size() == name.size() || !in_name(text[name.size()])) longest = text.substr(0, name.size());
  }
  return longest;
}

std::optional<double> quantity(std::string_view text) {
  text = trimmed(text);
  if (text == "true") return 1;
  if (text == "false") return 0;
  if (text.empty() || text.size() > 400) return std::nullopt;
  const std::string copy(text);
  // Hexadecimal numbers, `inf` and `nan` are no numbers here.
  if (copy.find_first_of("0123456789") > (copy[0] == '-' || copy[0] == '.' ? 1 : 0) ||
      copy.find_first_of("xX") != copy.npos)
    return std::nullopt;
  char* end = nullptr;
  const double number = std::strtod(copy.c_str(), &end);
  if (end == copy.c_str() || !std::isfinite(number)) return std::nullopt;
  const std::string_view rest = trimmed(std::string_view(end));
  if (rest.empty()) return number;
  const std::optional<Unit> unit = find_unit(rest);
  if (!unit) return std::nullopt;
  return number * unit->scale;
}

std::string number_text(double value) {
  if (value == 0) return "0";  // not "-0"
  const double whole = std::nearbyint(value);
  if (whole == value && std::fabs(value) < 1e15) return fmt::format("{:.0f}", value);
  return fmt::format("{}", value);
}

}  // namespace weft::sweep
