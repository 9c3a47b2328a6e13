// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/report/csv_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "configs/stop.h"
#include "configs/types.h"

namespace weft::report {
namespace {

constexpr const char* kRemedy = "copy the folder again, or run again";
constexpr size_t kMostShown = 60;  ///< of a field, in a message

std::string shown(std::string_view field) {
  return field.size() <= kMostShown ? std::string(field) : std::string(field.substr(0, kMostShown)) + "...";
}

}  // namespace

CsvTable::CsvTable(std::string path, std::string text) : path_(std::move(path)), text_(std::move(text)) {
  parse();
}

void CsvTable::fail(uint32_t line, const std::string& what) const {
  throw UserError(ExitCode::usage, fmt::format("{}: line {}: {}; {}", path_, line, what, kRemedy));
}

void CsvTable::parse() {
  if (text_.empty()) throw UserError(ExitCode::usage, fmt::format("{}: is empty; {}", path_, kRemedy));
  size_t at = 0;
  size_t to = 0;  // where the next byte of a field is kept, never beyond `at`
  uint32_t line = 1;
  while (at < text_.size()) {
    check_stop();
    const uint32_t first_line = line;
    const size_t before = fields_.size();
    for (bool more = true; more;) {
      const size_t begin = to;
      bool quoted = at < text_.size() && text_[at] == '"';
      if (quoted) ++at;
      for (;;) {
        if (at == text_.size())
          fail(first_line, quoted ? "the file is cut off: a quote is not closed"
                                  : "the file is cut off: its last line has no end");
        const char c = text_[at++];
        if (quoted && c == '"') {
          if (at < text_.size() && text_[at] == '"') {
            text_[to++] = text_[at++];
          } else {
            quoted = false;
          }
          continue;
        }
        if (!quoted && c == '\r' && at < text_.size() && text_[at] == '\n') continue;
        if (c == '\n') ++line;
        if (!quoted && (c == ',' || c == '\n')) {
          more = c == ',';
          break;
        }
        text_[to++] = c;
      }
      fields_.push_back({begin, to - begin});
    }
    const size_t fields = fields_.size() - before;
    if (columns_.empty()) {
      for (const Field& f : fields_) columns_.push_back(text_.substr(f.begin, f.size));
      fields_.clear();
      to = 0;
      for (size_t i = 0; i < columns_.size(); ++i)
        if (std::find(columns_.begin(), columns_.begin() + static_cast<std::ptrdiff_t>(i), columns_[i]) !=
            columns_.begin() + static_cast<std::ptrdiff_t>(i))
          fail(1, fmt::format("the column `{}` is there twice", shown(columns_[i])));
      continue;
    }
    if (fields != columns_.size())
      fail(first_line, fmt::format("has {} field{}, but the header names {}", fields, fields == 1 ? "" : "s",
                                   columns_.size()));
    lines_.push_back(first_line);
  }
}

std::optional<size_t> CsvTable::find(std::string_view name) const {
  const auto it = std::find(columns_.begin(), columns_.end(), name);
  if (it == columns_.end()) return std::nullopt;
  return static_cast<size_t>(it - columns_.begin());
}

size_t CsvTable::column(std::string_view name) const {
  const std::optional<size_t> found = find(name);
  if (found) return *found;
  throw UserError(ExitCode::usage,
                  fmt::format("{}: has no column `{}`, so another version of Weft wrote it; run again with "
                              "this version",
                              path_, name));
}

std::string_view CsvTable::text(size_t row, size_t column) const {
  const Field& field = fields_[row * columns_.size() + column];
  return std::string_view(text_).substr(field.begin, field.size);
}

void CsvTable::fail_number(size_t row, size_t column, const char* what) const {
  fail(lines_[row], fmt::format("column `{}` has \"{}\", which is no {}", columns_[column],
                                shown(text(row, column)), what));
}

double CsvTable::number(size_t row, size_t column) const {
  const std::string_view field = text(row, column);
  double value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc() || end != field.data() + field.size() || !std::isfinite(value))
    fail_number(row, column, "number");
  return value;
}

std::optional<double> CsvTable::number_if_any(size_t row, size_t column) const {
  if (text(row, column).empty()) return std::nullopt;
  return number(row, column);
}

uint64_t CsvTable::whole(size_t row, size_t column) const {
  const std::string_view field = text(row, column);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc() || end != field.data() + field.size())
    fail_number(row, column, "whole number below 2^64");
  return value;
}

}  // namespace weft::report
