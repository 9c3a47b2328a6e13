// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/report/rank_data.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace weft::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<const char*, 5> kCategories = {"compute_ns", "local_memory_ns", "remote_memory_ns",
                                                    "communication_ns", "idle_ns"};

/// The rows by `weight`, largest first; those that weigh the same in the order of the file.
template <class Weight>
std::vector<size_t> heaviest_first(size_t rows, Weight weight) {
  std::vector<double> weights(rows);
  for (size_t i = 0; i < rows; ++i) weights[i] = weight(i);
  std::vector<size_t> order(rows);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return weights[a] > weights[b]; });
  return order;
}

}  // namespace

Json rank_columns(const CsvTable& table, size_t most_rows) {
  const size_t share = std::max<size_t>(1, (table.rows() + most_rows - 1) / most_rows);
  Json ranks;
  ranks["of"] = table.rows();
  ranks["ranks_a_row"] = share;
  std::vector<uint64_t> first;
  const size_t rank = table.column("rank");
  for (size_t i = 0; i < table.rows(); i += share) first.push_back(table.whole(i, rank));
  ranks["rank"] = first;
  std::vector<const char*> names(kCategories.begin(), kCategories.end());
  if (table.find("communicating_ns")) names.push_back("communicating_ns");
  for (const char* const name : names) {
    const size_t column = table.column(name);
    std::vector<double> means;
    for (size_t i = 0; i < table.rows(); i += share) {
      const size_t end = std::min(table.rows(), i + share);
      double sum = 0;
      for (size_t k = i; k < end; ++k) sum += table.number(k, column);
      means.push_back(sum / static_cast<double>(end - i));
    }
    ranks[name] = std::move(means);
  }
  return ranks;
}

Json layer_columns(const CsvTable& table, size_t most_rows) {
  const std::array<const char*, 10> kSums = {
      "nodes",       "compute_ns", "local_memory_ns",    "remote_memory_ns", "communication_ns",
      "collectives", "bytes",      "collective_time_ns", "queue_ns",         "network_ns"};
  const size_t ranks = table.column("ranks");
  const std::array<size_t, 4> times = {table.column("compute_ns"), table.column("local_memory_ns"),
                                       table.column("remote_memory_ns"), table.column("communication_ns")};
  const std::vector<size_t> order = heaviest_first(table.rows(), [&](size_t row) {
    double sum = 0;
    for (const size_t column : times) sum += table.number(row, column);
    return sum * table.number(row, ranks);
  });
  const size_t shown = std::min(order.size(), most_rows);
  Json layers;
  layers["of"] = table.rows();
  std::vector<std::string> iterations, names;
  std::vector<double> counts;
  for (size_t i = 0; i < shown; ++i) {
    iterations.emplace_back(table.text(order[i], table.column("iteration")));
    names.emplace_back(table.text(order[i], table.column("layer")));
    counts.push_back(table.number(order[i], ranks));
  }
  layers["iteration"] = std::move(iterations);
  layers["layer"] = std::move(names);
  layers["ranks"] = std::move(counts);
  for (const char* const name : kSums) {
    const size_t column = table.column(name);
    std::vector<double> values;
    for (size_t i = 0; i < shown; ++i) values.push_back(table.number(order[i], column));
    layers[name] = std::move(values);
  }
  if (shown == order.size()) return layers;
  // Means over ranks do not add up: the rest is told in time of all its ranks.
  Json rest;
  rest["layers"] = order.size() - shown;
  double time = 0;
  for (size_t i = shown; i < order.size(); ++i)
    for (const size_t column : times) time += table.number(order[i], column) * table.number(order[i], ranks);
  rest["rank_time_ns"] = time;
  layers["rest"] = std::move(rest);
  return layers;
}

Json footprint_columns(const CsvTable& table, size_t most_rows) {
  const size_t peak = table.column("peak_bytes");
  const std::vector<size_t> order =
      heaviest_first(table.rows(), [&](size_t row) { return table.number(row, peak); });
  const size_t shown = std::min(order.size(), most_rows);
  Json footprint;
  footprint["of"] = table.rows();
  for (const char* const name : {"source", "largest"}) {
    std::vector<std::string> values;
    for (size_t i = 0; i < shown; ++i) values.emplace_back(table.text(order[i], table.column(name)));
    footprint[name] = std::move(values);
  }
  for (const char* const name : {"rank", "tensors", "initial_bytes", "peak_bytes", "peak_ns",
                                 "capacity_bytes", "over_from_ns", "over_ns"}) {
    Json values = Json::array();
    for (size_t i = 0; i < shown; ++i) {
      const std::optional<double> value = table.number_if_any(order[i], table.column(name));
      values.push_back(value ? Json(*value) : Json());
    }
    footprint[name] = std::move(values);
  }
  return footprint;
}

}  // namespace weft::report
