// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/import/stat_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <system_error>

#include "configs/input_file.h"
#include "configs/types.h"
#include "sc_main/output_folder.h"

namespace weft::cli::import {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHeader = "row,run,ranks,cycles,compute_cycles,exposed_communication_cycles";

std::string name_of(const StatRow& row) {
  return row.run_name.empty() ? "run" : row.run_name;
}

[[noreturn]] void other_form(const std::string& path, uint64_t line, const std::string& why) {
  throw UserError(ExitCode::usage,
                  fmt::format("{}:{}: {}; it is no file of --stat-row: remove it, or give --path "
                              "another folder",
                              path, line, why));
}

/// Rows by number, without the line's end.
std::map<uint64_t, std::string> rows_of(const std::string& path) {
  std::map<uint64_t, std::string> rows;
  std::error_code none;
  if (!fs::exists(path, none)) return rows;
  const std::string text =
      read_input(path, {"results", ExitCode::usage, "give --path another folder", uint64_t{64} << 20});
  uint64_t number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    if (++number == 1) {
      if (line != kHeader) other_form(path, number, fmt::format("the first line is not `{}`", kHeader));
      continue;
    }
    const std::string digits = line.substr(0, line.find(','));
    if (digits.empty() || digits.size() > 9 || digits.find_first_not_of("0123456789") != std::string::npos)
      other_form(path, number, fmt::format("`{}` does not begin with a row's number", line));
    rows[std::stoull(digits)] = line;
  }
  return rows;
}

}  // namespace

void check_stat_row(const StatRow& row) {
  if (name_of(row).find_first_of("\r\n") != std::string::npos)
    throw UserError(ExitCode::usage,
                    "--run-name has a line end; stat_rows.csv has one line a run: leave it out");
  if (row.row >= row.total)
    throw UserError(ExitCode::usage,
                    fmt::format("--stat-row {} is not below --total-stat-rows {}; rows count from 0", row.row,
                                row.total));
}

std::string default_out(const StatRow& row) {
  if (row.path.empty()) return "out";
  std::string name = name_of(row);
  std::replace(name.begin(), name.end(), '/', '_');
  if (name == "." || name == "..") name = "run";
  return (fs::path(row.path) / name).string();
}

void write_stat_row(const StatRow& row, const RunResult& result) {
  if (row.path.empty()) return;
  const std::string path = (fs::path(row.path) / kStatRowsFile).string();
  std::error_code error;
  fs::create_directories(row.path, error);
  std::map<uint64_t, std::string> rows = rows_of(path);
  rows.erase(rows.lower_bound(row.total), rows.end());
  Picoseconds compute = 0, exposed = 0;
  for (const RankRow& rank : result.ranks) {
    const Picoseconds own = std::min(rank.time.compute, rank.finished);
    compute = std::max(compute, own);
    exposed = std::max(exposed, rank.finished - own);
  }
  rows[row.row] = fmt::format("{},{},{},{},{},{}", row.row, csv_field(name_of(row)), result.ranks.size(),
                              result.time / 1000, compute / 1000, exposed / 1000);
  std::ofstream file(path, std::ios::trunc);
  file << kHeader << '\n';
  for (const auto& [number, text] : rows) file << text << '\n';
  file.close();
  if (!file)
    throw UserError(ExitCode::usage,
                    fmt::format("{}: cannot be written; give --path another folder, or make room", path));
}

}  // namespace weft::cli::import
