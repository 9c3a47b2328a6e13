// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/paper/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "configs/input_file.h"
#include "configs/types.h"

namespace weft::paper {
namespace {

/// The fields of the line at `at`, which becomes the place behind it. Quoted fields may have commas and line
/// ends.
std::vector<std::string> fields_of(const std::string& text, size_t& at) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"' && quoted && at + 1 < text.size() && text[at + 1] == '"') {
      fields.back() += '"';
      ++at;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else if (c == '\n' && !quoted) {
      ++at;
      break;
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

}  // namespace

std::map<std::string, std::string> table_values(const Table& table) {
  const std::string text = read_input(
      table.file, {"table", ExitCode::usage, "check `table.file` of the figure", uint64_t{64} << 20});
  size_t at = 0;
  const std::vector<std::string> header = fields_of(text, at);
  const auto column = [&](const std::string& name) {
    const auto found = std::find(header.begin(), header.end(), name);
    if (found == header.end())
      throw UserError(ExitCode::usage, fmt::format("{}: has no column `{}`; its columns are {}", table.file,
                                                   name, fmt::join(header, ", ")));
    return static_cast<size_t>(found - header.begin());
  };
  const size_t by = column(table.by);
  std::vector<std::pair<size_t, std::string>> where;
  for (const auto& [name, value] : table.where) where.emplace_back(column(name), value);
  std::map<std::string, std::string> values;
  for (uint64_t line = 2; at < text.size(); ++line) {
    const std::vector<std::string> fields = fields_of(text, at);
    if (fields.size() != header.size())
      throw UserError(ExitCode::usage, fmt::format("{}: row {} has {} fields, and there are {} columns",
                                                   table.file, line, fields.size(), header.size()));
    if (std::any_of(where.begin(), where.end(), [&](const auto& w) { return fields[w.first] != w.second; }))
      continue;
    for (size_t i = 0; i < fields.size(); ++i)
      if (!values.emplace(fmt::format("table.{}.{}", fields[by], header[i]), fields[i]).second)
        throw UserError(ExitCode::usage,
                        fmt::format("{}: two rows with `{}` in the column `{}`; choose one by `table.where`",
                                    table.file, fields[by], table.by));
  }
  return values;
}

}  // namespace weft::paper
