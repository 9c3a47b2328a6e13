// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/calibrate/result_times.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "configs/input_file.h"
#include "configs/units.h"
#include "sc_main/report/csv_table.h"

namespace weft::calibrate {
namespace {

using Json = nlohmann::ordered_json;

const InputKind kResultInput{"result", ExitCode::usage,
                             "name a folder of results, or the output of `weft collective`",
                             uint64_t{256} << 20};

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw UserError(ExitCode::usage, fmt::format("{}: {}", path, what));
}

/// Times by size, as nccl-tests counts sizes.
struct Times {
  struct At {
    std::vector<double> us;
    std::string algorithm, protocol;
    uint32_t channels = 0;
  };
  std::map<uint64_t, At> sizes;
};

/// comm_size, as Weft's results have it, as nccl-tests counts it.
uint64_t nccl_size(CollectiveOp op, uint64_t bytes, uint32_t ranks, const std::string& path) {
  if (!counts_all_ranks(op)) return bytes;
  if (ranks == 0)
    fail(path, fmt::format(
                   "sizes of {} depend on the ranks, which the measurement does not name; add `ranks` to it, "
                   "or compare the output of --format nccl-tests",
                   to_string(op)));
  return bytes * ranks;
}

Times from_csv(const std::string& path, const Measurement& table) {
  const report::CsvTable csv(path, read_input(path, kResultInput));
  const CollectiveOp op = *table.operation;
  const size_t bytes = csv.column("bytes");
  const auto op_column = csv.find("op"), ranks = csv.find("ranks");
  const auto ns = csv.find("time_ns"), us = csv.find("time_us");
  if (!ns && !us) fail(path, "it has neither a column `time_ns` nor `time_us`");
  const auto word = [&](size_t row, const char* name) {
    const auto column = csv.find(name);
    return column ? std::string(csv.text(row, *column)) : std::string();
  };
  Times times;
  for (size_t row = 0; row < csv.rows(); ++row) {
    if (op_column && csv.text(row, *op_column) != to_string(op)) continue;
    const auto time = csv.number_if_any(row, ns ? *ns : *us);
    if (!time) continue;  // it did not finish
    const uint32_t n = ranks ? static_cast<uint32_t>(csv.whole(row, *ranks)) : table.ranks;
    if (table.ranks > 0 && n != table.ranks) continue;
    Times::At& at = times.sizes[nccl_size(op, csv.whole(row, bytes), n, path)];
    at.us.push_back(ns ? *time / 1000 : *time);
    at.algorithm = word(row, "algo");
    at.protocol = word(row, "proto");
    if (const auto channels = csv.find("channels"))
      at.channels = static_cast<uint32_t>(csv.number_if_any(row, *channels).value_or(0));
  }
  return times;
}

Times from_json(const Json& file, const std::string& path, const Measurement& table) {
  const bool calibrated = file.contains("plan");
  Times times;
  if (file.contains("operation") && file["operation"] != to_string(*table.operation))
    fail(path, fmt::format("it has {}, and the measurements are of {}", file["operation"].dump(),
                           to_string(*table.operation)));
  if (file.contains("ranks") && table.ranks > 0 && file["ranks"] != table.ranks)
    fail(path,
         fmt::format("it has {} ranks, and the measurements have {}", file["ranks"].dump(), table.ranks));
  for (const Json& row : calibrated ? file["plan"] : file["results"]) {
    const char* const time = calibrated ? "sim_us" : "time_ns";
    if (!row.is_object() || !row.contains("bytes") || !row["bytes"].is_number_unsigned() ||
        !row.contains(time) || !row[time].is_number())
      fail(path, fmt::format("a row has no `bytes` or no `{}`: {}", time, row.dump()));
    if (row.contains("operation") && row["operation"] != to_string(*table.operation)) continue;
    const auto bytes = row["bytes"].get<uint64_t>();
    Times::At& at = times.sizes[calibrated ? bytes : nccl_size(*table.operation, bytes, table.ranks, path)];
    at.us.push_back(row[time].get<double>() / (calibrated ? 1 : 1000));
    const auto word = [&](const char* key) {
      return row.contains(key) && row[key].is_string() ? row[key].get<std::string>() : std::string();
    };
    at.algorithm = word(calibrated ? "algorithm" : "algo");
    at.protocol = word(calibrated ? "protocol" : "proto");
    if (row.contains("channels") && row["channels"].is_number_unsigned())
      at.channels = row["channels"].get<uint32_t>();
  }
  return times;
}

Times from_measurement(const std::string& path, const Measurement& table) {
  ReadOptions options;
  options.operation = table.operation;
  Times times;
  for (const Measurement& other : read_measurements(path, options)) {
    if (other.named && other.named != table.operation) continue;
    if (other.ranks != 0 && table.ranks != 0 && other.ranks != table.ranks) continue;
    for (const MeasuredRow& row : other.rows) times.sizes[row.bytes].us.push_back(row.us);
  }
  return times;
}

Times times_of(const std::string& result, const Measurement& table) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::is_directory(result, ignored))
    return from_csv((fs::path(result) / "collectives.csv").string(), table);
  if (result.size() > 4 && result.compare(result.size() - 4, 4, ".csv") == 0) return from_csv(result, table);
  const std::string text = read_input(result, kResultInput);
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first != text.npos && text[first] == '{') {
    Json file;
    try {
      file = Json::parse(text);
    } catch (const Json::exception& e) {
      fail(result, fmt::format("the file is no JSON, or is cut: {}; write it again", e.what()));
    }
    for (const char* key : {"plan", "results"})
      if (file.contains(key) && file[key].is_array()) return from_json(file, result, table);
  }
  return from_measurement(result, table);
}

double median(std::vector<double> values) {
  return percentile(std::move(values), 0.5);
}

}  // namespace

Curve compare_with(const std::string& result, const Measurement& table, std::vector<std::string>& remarks) {
  const Times times = times_of(result, table);
  Curve curve;
  curve.operation = *table.operation;
  curve.file = table.file;
  std::vector<std::string> missing;
  for (const MeasuredRow& row : table.rows) {
    const auto found = times.sizes.find(row.bytes);
    if (found == times.sizes.end()) {
      missing.push_back(print_size(row.bytes));
      continue;
    }
    const Times::At& at = found->second;
    const double us = median(at.us);
    if (!(us > 0))
      fail(result, fmt::format("{} of {} took no time", to_string(curve.operation), print_size(row.bytes)));
    Prediction prediction;
    prediction.times = {row.bytes, row.us, us};
    prediction.algorithm = at.algorithm;
    prediction.protocol = at.protocol;
    prediction.channels = at.channels;
    curve.rows.push_back(std::move(prediction));
  }
  if (curve.rows.empty())
    fail(result, fmt::format("it has no {} of a size that {} has{}; simulate the same sizes",
                             to_string(curve.operation), table.file,
                             table.ranks > 0 ? fmt::format(" on {} ranks", table.ranks) : ""));
  if (!missing.empty())
    remarks.push_back(fmt::format("{}: {} measured sizes are missing: {}", result, missing.size(),
                                  fmt::join(missing, ", ")));
  return curve;
}

}  // namespace weft::calibrate
