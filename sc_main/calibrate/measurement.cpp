// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/calibrate/measurement.h"

#include <fmt/format.h>

#include <algorithm>

#include "configs/input_file.h"
#include "sc_main/calibrate/measured_json.h"
#include "sc_main/calibrate/nccl_log.h"

namespace weft::calibrate {
namespace {

const InputKind kMeasuredInput{"measurement", ExitCode::usage,
                               "name a log of nccl-tests or rccl-tests, or a table in JSON",
                               uint64_t{64} << 20};

constexpr double kOutlier = 3;  ///< times as long as both neighbours

void merge_equal_sizes(Measurement& table) {
  std::vector<MeasuredRow> merged;
  for (size_t i = 0; i < table.rows.size();) {
    size_t end = i;
    std::vector<double> times;
    while (end < table.rows.size() && table.rows[end].bytes == table.rows[i].bytes)
      times.push_back(table.rows[end++].us);
    std::sort(times.begin(), times.end());
    MeasuredRow row = table.rows[i];
    const size_t middle = times.size() / 2;
    row.us = times.size() % 2 == 1 ? times[middle] : (times[middle - 1] + times[middle]) / 2;
    merged.push_back(row);
    if (times.size() > 1)
      table.remarks.push_back(
          fmt::format("{} rows of {} bytes: their median is used", times.size(), row.bytes));
    i = end;
  }
  // Numbers are those of sizes: they tell which rows are fitted and which are predicted.
  if (merged.size() != table.rows.size())
    for (size_t i = 0; i < merged.size(); ++i) merged[i].number = static_cast<uint32_t>(i + 1);
  table.rows = std::move(merged);
}

bool is_outlier(const std::vector<MeasuredRow>& rows, size_t i) {
  if (rows.size() < 3) return false;
  const double us = rows[i].us;
  if (i > 0) {
    double before = rows[i - 1].us;
    if (i + 1 == rows.size())
      before *=
          static_cast<double>(rows[i].bytes) / static_cast<double>(std::max<uint64_t>(1, rows[i - 1].bytes));
    if (us <= kOutlier * before) return false;
  }
  return i + 1 == rows.size() || us > kOutlier * rows[i + 1].us;
}

}  // namespace

void clean(Measurement& table) {
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [](const MeasuredRow& a, const MeasuredRow& b) { return a.bytes < b.bytes; });
  merge_equal_sizes(table);
  std::vector<MeasuredRow> kept;
  for (size_t i = 0; i < table.rows.size(); ++i) {
    const MeasuredRow& row = table.rows[i];
    if (is_outlier(table.rows, i))
      table.remarks.push_back(fmt::format(
          "the row of {} bytes is dropped: {:.2f} us are more than three times what the sizes beside it take",
          row.bytes, row.us));
    else
      kept.push_back(row);
  }
  table.rows = std::move(kept);
}

std::vector<Measurement> read_measurements(const std::string& path, const ReadOptions& options) {
  const std::string text = read_input(path, kMeasuredInput);
  const size_t first = text.find_first_not_of(" \t\r\n");
  const bool json = first != text.npos && text[first] == '{';
  std::vector<Measurement> tables =
      json ? parse_measured_json(text, path, options) : parse_nccl_log(text, path, options);
  for (Measurement& table : tables) {
    clean(table);
    if (table.rows.empty())
      throw UserError(ExitCode::usage,
                      fmt::format("{}: no row is left that can be used ({}); measure again", path,
                                  table.remarks.empty() ? "the table is empty" : table.remarks.front()));
  }
  return tables;
}

bool counts_all_ranks(CollectiveOp op) {
  return op == CollectiveOp::all_gather || op == CollectiveOp::gather;
}

double bus_factor(CollectiveOp op, uint32_t ranks) {
  const double n = std::max(1u, ranks);
  switch (op) {
    case CollectiveOp::all_reduce:
      return 2 * (n - 1) / n;
    case CollectiveOp::all_gather:
    case CollectiveOp::reduce_scatter:
    case CollectiveOp::all_to_all:
    case CollectiveOp::gather:
    case CollectiveOp::scatter:
      return (n - 1) / n;
    default:
      return 1;
  }
}

}  // namespace weft::calibrate
