// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/footprint_results.h"

#include <fmt/format.h>

#include <algorithm>

#include "sc_main/decimal.h"
#include "sc_main/output_folder.h"

namespace weft::cli {
namespace {

const char* source_of(const FootprintRow& row) {
  return row.estimated ? "estimate" : "trace";
}

/// Null: no rank was followed.
const FootprintRow* largest_of(const RunResult& result) {
  const auto it = std::max_element(
      result.footprint.begin(), result.footprint.end(),
      [](const FootprintRow& a, const FootprintRow& b) { return a.peak_bytes < b.peak_bytes; });
  return it == result.footprint.end() ? nullptr : &*it;
}

/// "name=bytes; .."
std::string list_of(const std::vector<FootprintRow::Large>& tensors) {
  std::string text;
  for (const FootprintRow::Large& tensor : tensors)
    text += fmt::format("{}{}={}", text.empty() ? "" : "; ", tensor.name, tensor.bytes);
  return text;
}

}  // namespace

void write_footprint(const OutputFolder& folder, const RunResult& result, FileSet* together) {
  if (result.footprint.empty()) return;
  ResultFile file(folder.file("footprint.csv"), together);
  file.append(
      "rank,source,tensors,initial_bytes,peak_bytes,peak_ns,capacity_bytes,over_from_ns,over_ns,largest\n");
  for (const FootprintRow& row : result.footprint) {
    file.append(fmt::format("{},{},{},{},{},{},{},{},{},{}\n", row.rank, source_of(row), row.tensors,
                            row.initial_bytes, row.peak_bytes, nanoseconds(row.peak_at),
                            row.capacity != 0 ? std::to_string(row.capacity) : "",
                            row.over_from != kNever ? nanoseconds(row.over_from) : "",
                            nanoseconds(row.over_for), csv_field(list_of(row.largest))));
  }
  file.close();
}

void add_footprint(JsonText& json, const RunResult& result) {
  const FootprintRow* const row = largest_of(result);
  if (row == nullptr) return;
  json.key("footprint").begin_object();
  json.key("source").text(source_of(*row));
  json.key("rank").number(uint64_t{row->rank});
  json.key("initial_bytes").number(row->initial_bytes);
  json.key("peak_bytes").number(row->peak_bytes);
  json.key("peak_ns").number(nanoseconds(row->peak_at));
  json.key("ranks_over_capacity")
      .number(static_cast<uint64_t>(
          std::count_if(result.footprint.begin(), result.footprint.end(),
                        [](const FootprintRow& own) { return own.over_from != kNever; })));
  json.end_object();
}

std::string footprint_text(const RunResult& result) {
  const FootprintRow* const row = largest_of(result);
  if (row == nullptr) return {};
  return fmt::format("tensors  {}{} at most in an HBM (rank {} at {})\n", row->estimated ? "about " : "",
                     readable_size(row->peak_bytes), row->rank, readable_time(row->peak_at));
}

}  // namespace weft::cli
