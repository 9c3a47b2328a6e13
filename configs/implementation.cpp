// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/implementation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "configs/units.h"

namespace weft {
namespace {

constexpr std::string_view kOfPlugin = "plugin:";
constexpr std::string_view kOfRtl = "rtl:";

bool is_name(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && text.size() <= 64 && letter(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '-'; });
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  throw UserError(ExitCode::usage,
                  fmt::format("'{}' {}; allowed: a model's name, or `name(parameter=value, ..)`",
                              text.substr(0, 120), why));
}

}  // namespace

Implementation parse_implementation(std::string_view text) {
  std::string_view all = trimmed(text);
  Implementation result;
  const auto written = [&all](std::string_view prefix) {
    if (all.substr(0, prefix.size()) != prefix) return false;
    all = trimmed(all.substr(prefix.size()));
    return true;
  };
  result.of_plugin = written(kOfPlugin);
  result.of_rtl = !result.of_plugin && written(kOfRtl);
  const size_t open = all.find('(');
  const std::string_view name = trimmed(all.substr(0, open));
  if (!is_name(name)) refuse(text, "does not begin with a name");
  result.model = std::string(name);
  if (open == std::string_view::npos) return result;
  if (all.back() != ')') refuse(text, "has no closing parenthesis");
  std::string_view rest = all.substr(open + 1, all.size() - open - 2);
  while (!trimmed(rest).empty()) {
    const size_t comma = rest.find(',');
    const std::string_view item = trimmed(rest.substr(0, comma));
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
    const size_t equals = item.find('=');
    const std::string_view key = trimmed(item.substr(0, equals));
    if (equals == std::string_view::npos || !is_name(key))
      refuse(text, fmt::format("has '{}' where `parameter=value` is expected", item));
    const std::string_view value = trimmed(item.substr(equals + 1));
    if (value.empty()) refuse(text, fmt::format("gives the parameter '{}' no value", key));
    for (const auto& [known, ignored] : result.parameters)
      if (known == key) refuse(text, fmt::format("gives the parameter '{}' twice", key));
    result.parameters.emplace_back(key, value);
  }
  return result;
}

std::string print_implementation(const Implementation& implementation) {
  std::vector<std::string> items;
  for (const auto& [key, value] : implementation.parameters) items.push_back(key + "=" + value);
  const std::string_view prefix = implementation.of_plugin ? kOfPlugin
                                  : implementation.of_rtl  ? kOfRtl
                                                           : std::string_view{};
  const std::string name = std::string(prefix) + implementation.model;
  return items.empty() ? name : fmt::format("{}({})", name, fmt::join(items, ", "));
}

Parameters::Parameters(const Implementation& implementation, std::string owner)
    : owner_(std::move(owner)), model_(implementation.model), values_(implementation.parameters) {}

const std::string& Parameters::value(const std::string& name, const std::string& fallback) {
  if (std::find(read_.begin(), read_.end(), name) == read_.end()) read_.push_back(name);
  for (const auto& [key, value] : values_)
    if (key == name) return value;
  return fallback;
}

template <typename F>
auto Parameters::parse(const std::string& name, const std::string& fallback, F&& f) {
  const std::string& text = value(name, fallback);
  try {
    return f(text);
  } catch (const UserError& e) {
    throw UserError(ExitCode::usage,
                    fmt::format("{}: parameter `{}` of {}: {}", owner_, name, model_, e.what()));
  }
}

uint64_t Parameters::integer(const std::string& name, const std::string& fallback) {
  return parse(name, fallback, [](const std::string& text) { return parse_integer(text); });
}

double Parameters::number(const std::string& name, const std::string& fallback) {
  return parse(name, fallback, [](const std::string& text) { return parse_number(text); });
}

uint64_t Parameters::size(const std::string& name, const std::string& fallback) {
  return parse(name, fallback, [](const std::string& text) { return parse_size(text); });
}

Picoseconds Parameters::time(const std::string& name, const std::string& fallback) {
  return parse(name, fallback, [](const std::string& text) { return parse_time(text); });
}

Rate Parameters::bandwidth(const std::string& name, const std::string& fallback) {
  return parse(name, fallback, [](const std::string& text) { return parse_bandwidth(text); });
}

std::string Parameters::text(const std::string& name, const std::string& fallback) {
  return value(name, fallback);
}

void Parameters::refuse(const std::string& name, const std::string& what) const {
  throw UserError(ExitCode::usage, fmt::format("{}: parameter `{}` of {}: {}", owner_, name, model_, what));
}

void Parameters::finish() const {
  for (const auto& [key, value] : values_) {
    if (std::find(read_.begin(), read_.end(), key) != read_.end()) continue;
    throw UserError(ExitCode::usage,
                    fmt::format("{}: {} has no parameter '{}'; {}", owner_, model_, key,
                                read_.empty() ? std::string("it has none")
                                              : fmt::format("it has {}", fmt::join(read_, ", "))));
  }
}

}  // namespace weft
