// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/report/collective_data.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <unordered_map>

namespace weft::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostSizes = 60;     ///< rows of percentiles
constexpr size_t kCurvePoints = 101;  ///< of a distribution

Json percentiles_of(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  Json out;
  out["min"] = values.front();
  for (const int p : {50, 90, 95, 99}) out["p" + std::to_string(p)] = percentile(values, p);
  out["max"] = values.back();
  return out;
}

Json curve_of(const std::vector<double>& sorted) {
  Json points = Json::array();
  for (size_t i = 0; i < kCurvePoints; ++i)
    points.push_back(percentile(sorted, 100.0 * static_cast<double>(i) / (kCurvePoints - 1)));
  return points;
}

}  // namespace

double percentile(const std::vector<double>& sorted, double percent) {
  const double at = std::ceil(percent / 100 * static_cast<double>(sorted.size()));
  const auto rank = static_cast<size_t>(std::max(1.0, at));
  return sorted[std::min(rank, sorted.size()) - 1];
}

Json operation_percentiles(const CsvTable& table) {
  struct Group {
    std::vector<double> times;
    std::vector<double> rates;
    size_t unfinished = 0;
    double total = 0;
  };
  struct Key {
    std::string op;
    double bytes;
    double ranks;
    bool operator<(const Key& o) const {
      return std::tie(op, bytes, ranks) < std::tie(o.op, o.bytes, o.ranks);
    }
  };
  const size_t op = table.column("op"), bytes = table.column("bytes"), ranks = table.column("ranks");
  const size_t time = table.column("time_ns"), rate = table.column("busbw_GBps");
  std::map<Key, Group> groups;
  std::map<std::string, std::vector<double>> by_operation;
  for (size_t row = 0; row < table.rows(); ++row) {
    const std::string name(table.text(row, op));
    Group& group = groups[{name, table.number(row, bytes), table.number(row, ranks)}];
    const std::optional<double> took = table.number_if_any(row, time);
    if (!took) {
      ++group.unfinished;
      continue;
    }
    group.times.push_back(*took);
    group.total += *took;
    by_operation[name].push_back(*took);
    if (const std::optional<double> r = table.number_if_any(row, rate)) group.rates.push_back(*r);
  }
  std::vector<std::pair<const Key*, Group*>> order;
  for (auto& [key, group] : groups) order.emplace_back(&key, &group);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second->total > b.second->total; });
  Json out;
  out["of"] = order.size();
  out["rows"] = Json::array();
  for (size_t i = 0; i < std::min(order.size(), kMostSizes); ++i) {
    const auto& [key, group] = order[i];
    Json row;
    row["op"] = key->op;
    row["bytes"] = key->bytes;
    row["ranks"] = key->ranks;
    row["count"] = group->times.size() + group->unfinished;
    row["unfinished"] = group->unfinished;
    row["total_ns"] = group->total;
    if (!group->times.empty()) row["time_ns"] = percentiles_of(group->times);
    if (!group->rates.empty()) row["busbw_GBps"] = percentiles_of(group->rates);
    out["rows"].push_back(std::move(row));
  }
  out["curves"] = Json::object();
  for (auto& [name, times] : by_operation) {
    std::sort(times.begin(), times.end());
    out["curves"][name] = curve_of(times);
  }
  return out;
}

Json phase_sums(const CsvTable& table) {
  struct Sum {
    size_t count = 0;
    double queue = 0;
    double network = 0;
  };
  // Operation, then phase: P9 before P10.
  std::map<std::tuple<std::string, size_t, std::string, std::string>, Sum> sums;
  const size_t op = table.column("op"), phase = table.column("phase"), what = table.column("what");
  const size_t queue = table.column("queue_ns"), network = table.column("network_ns");
  for (size_t row = 0; row < table.rows(); ++row) {
    const std::string_view name = table.text(row, phase);
    Sum& sum = sums[{std::string(table.text(row, op)), name.size(), std::string(name),
                     std::string(table.text(row, what))}];
    ++sum.count;
    sum.queue += table.number(row, queue);
    sum.network += table.number(row, network);
  }
  Json out = Json::array();
  for (const auto& [key, sum] : sums)
    out.push_back({{"op", std::get<0>(key)},
                   {"phase", std::get<2>(key)},
                   {"what", std::get<3>(key)},
                   {"collectives", sum.count},
                   {"queue_ns", sum.queue},
                   {"network_ns", sum.network}});
  return out;
}

Json longest_collectives(const CsvTable& table, const CsvTable* phases, size_t most_rows) {
  const size_t time = table.column("time_ns");
  std::vector<double> times(table.rows());
  for (size_t row = 0; row < table.rows(); ++row)
    times[row] = table.number_if_any(row, time).value_or(std::numeric_limits<double>::infinity());
  std::vector<size_t> order(table.rows());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return times[a] > times[b]; });
  order.resize(std::min(order.size(), most_rows));
  Json out;
  out["of"] = table.rows();
  for (const char* const name : {"op", "group", "name", "fidelity_rule"}) {
    std::vector<std::string> values;
    for (const size_t row : order) values.emplace_back(table.text(row, table.column(name)));
    out[name] = std::move(values);
  }
  for (const char* const name : {"stream",
                                 "bytes",
                                 "ranks",
                                 "chunks",
                                 "start_ns",
                                 "end_ns",
                                 "time_ns",
                                 "lower_bound_ns",
                                 "efficiency",
                                 "algbw_GBps",
                                 "busbw_GBps",
                                 "queue_ns",
                                 "network_ns",
                                 "messages",
                                 "message_queue_ns",
                                 "message_serialise_ns",
                                 "message_latency_ns",
                                 "message_endpoint_ns",
                                 "message_reduce_ns",
                                 "folded_ranks"}) {
    const size_t column = table.column(name);
    Json values = Json::array();
    for (const size_t row : order) {
      const std::optional<double> value = table.number_if_any(row, column);
      values.push_back(value ? Json(*value) : Json());
    }
    out[name] = std::move(values);
  }
  if (phases == nullptr) return out;
  std::unordered_map<uint64_t, size_t> place;  // of a stream
  for (size_t i = 0; i < order.size(); ++i) place.emplace(table.whole(order[i], table.column("stream")), i);
  std::vector<Json> of_each(order.size(), Json::array());
  const size_t stream = phases->column("stream"), phase = phases->column("phase"),
               what = phases->column("what");
  const size_t queue = phases->column("queue_ns"), network = phases->column("network_ns");
  for (size_t row = 0; row < phases->rows(); ++row) {
    const auto it = place.find(phases->whole(row, stream));
    if (it == place.end()) continue;
    of_each[it->second].push_back({phases->text(row, phase), phases->text(row, what),
                                   phases->number(row, queue), phases->number(row, network)});
  }
  out["phases"] = std::move(of_each);
  return out;
}

}  // namespace weft::report
