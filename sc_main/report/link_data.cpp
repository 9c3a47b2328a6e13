// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/report/link_data.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>

#include "sc_main/report/collective_data.h"
#include "sc_main/report/link_names.h"

namespace weft::report {
namespace {

using Json = nlohmann::ordered_json;

/// Numbers names in the order in which they come.
class NameList {
 public:
  size_t number(std::string_view name) {
    const auto [it, added] = numbers_.emplace(std::string(name), names_.size());
    if (added) names_.emplace_back(name);
    return it->second;
  }
  std::vector<std::string> take() { return std::move(names_); }

 private:
  std::unordered_map<std::string, size_t> numbers_;
  std::vector<std::string> names_;
};

struct Row {
  size_t from = 0, port = 0, to = 0;
  double dimension = 0;
  double busy = 0, mean_busy = 0, bytes = 0, messages = 0, queued = 0, paused = 0;
  size_t links = 1;
};

/// One row for each node and dimension.
std::vector<Row> merged(const std::vector<Row>& rows) {
  std::map<std::pair<size_t, double>, Row> by_node;
  for (const Row& row : rows) {
    const auto [it, added] = by_node.emplace(std::make_pair(row.from, row.dimension), row);
    if (added) continue;
    Row& sum = it->second;
    if (row.busy > sum.busy) {
      sum.busy = row.busy;
      sum.port = row.port;
      sum.to = row.to;
    }
    sum.mean_busy += row.busy;  // divided below
    sum.bytes += row.bytes;
    sum.messages += row.messages;
    sum.queued += row.queued;
    sum.paused += row.paused;
    ++sum.links;
  }
  std::vector<Row> out;
  for (auto& [key, row] : by_node) {
    row.mean_busy /= static_cast<double>(row.links);
    out.push_back(row);
  }
  return out;
}

Json sums_by_dimension(const std::vector<Row>& rows) {
  struct Sum {
    std::vector<double> busy;
    double bytes = 0, queued = 0, paused = 0;
  };
  std::map<double, Sum> sums;
  for (const Row& row : rows) {
    Sum& sum = sums[row.dimension];
    sum.busy.push_back(row.busy);
    sum.bytes += row.bytes;
    sum.queued += row.queued;
    sum.paused += row.paused;
  }
  Json out = Json::array();
  for (auto& [dimension, sum] : sums) {
    std::sort(sum.busy.begin(), sum.busy.end());
    double all = 0;
    for (const double b : sum.busy) all += b;
    out.push_back({{"dimension", dimension},
                   {"links", sum.busy.size()},
                   {"bytes", sum.bytes},
                   {"busy_mean", all / static_cast<double>(sum.busy.size())},
                   {"busy_p50", percentile(sum.busy, 50)},
                   {"busy_p99", percentile(sum.busy, 99)},
                   {"busy_max", sum.busy.back()},
                   {"queued_ns", sum.queued},
                   {"paused_ns", sum.paused}});
  }
  return out;
}

}  // namespace

Json link_columns(const CsvTable& table, size_t most_rows) {
  const size_t name = table.column("name"), to = table.column("to"), dimension = table.column("dimension");
  const size_t busy = table.column("busy_fraction"), bytes = table.column("bytes");
  const size_t messages = table.column("messages"), queued = table.column("queued_ns");
  const size_t paused = table.column("paused_ns");
  NameList nodes, ports;
  std::vector<Row> rows;
  rows.reserve(table.rows());
  for (size_t i = 0; i < table.rows(); ++i) {
    const LinkSender sender = sender_of(table.text(i, name));
    Row row;
    row.from = nodes.number(sender.node);
    row.port = ports.number(sender.port);
    row.to = nodes.number(place_of(table.text(i, to)));
    row.dimension = table.number(i, dimension);
    row.busy = row.mean_busy = table.number(i, busy);
    row.bytes = table.number(i, bytes);
    row.messages = table.number(i, messages);
    row.queued = table.number(i, queued);
    row.paused = table.number(i, paused);
    rows.push_back(row);
  }
  Json out;
  out["of"] = rows.size();
  out["dimensions"] = sums_by_dimension(rows);
  const bool summed = rows.size() > most_rows;
  out["summed_by_node"] = summed;
  if (summed) rows = merged(rows);
  out["rows_of"] = rows.size();
  if (rows.size() > most_rows) {
    std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.busy > b.busy; });
    rows.resize(most_rows);
  }
  out["nodes"] = nodes.take();
  out["ports"] = ports.take();
  const auto column = [&](const char* key, auto of) {
    Json values = Json::array();
    for (const Row& row : rows) values.push_back(of(row));
    out[key] = std::move(values);
  };
  column("from", [](const Row& r) { return r.from; });
  column("port", [](const Row& r) { return r.port; });
  column("to", [](const Row& r) { return r.to; });
  column("dimension", [](const Row& r) { return r.dimension; });
  column("busy", [](const Row& r) { return r.busy; });
  column("bytes", [](const Row& r) { return r.bytes; });
  column("messages", [](const Row& r) { return r.messages; });
  column("queued_ns", [](const Row& r) { return r.queued; });
  column("paused_ns", [](const Row& r) { return r.paused; });
  if (summed) {
    column("links", [](const Row& r) { return r.links; });
    column("mean_busy", [](const Row& r) { return r.mean_busy; });
  }
  return out;
}

}  // namespace weft::report
