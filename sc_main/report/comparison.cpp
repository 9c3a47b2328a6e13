// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/report/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "configs/document.h"

namespace weft::report {
namespace {

/// A column of a table that is compared.
struct Column {
  const char* name;
  const char* figure;
  bool time;
};

/// A table, and what names its rows.
struct Sheet {
  const char* kind;
  const char* file;
  std::vector<const char*> names;  ///< columns whose texts together name a row
  std::vector<Column> columns;
};

const std::vector<Sheet>& sheets() {
  static const std::vector<Sheet> all = {
      {"rank",
       "ranks.csv",
       {"rank"},
       {{"time_ns", "time", true},
        {"compute_ns", "compute", true},
        {"local_memory_ns", "exposed local memory", true},
        {"remote_memory_ns", "exposed remote memory", true},
        {"communication_ns", "exposed communication", true},
        {"communicating_ns", "communication, hidden or not", true},
        {"idle_ns", "idle", true}}},
      {"layer",
       "layers.csv",
       {"iteration", "layer"},
       {{"compute_ns", "compute", true},
        {"communication_ns", "exposed communication", true},
        {"collective_time_ns", "collectives", true},
        {"queue_ns", "queue", true},
        {"network_ns", "network", true},
        {"bytes", "bytes", false}}},
      {"collective",
       "collectives.csv",
       {"op", "group", "name"},
       {{"time_ns", "time", true},
        {"start_ns", "start", true},
        {"queue_ns", "queue", true},
        {"network_ns", "network", true},
        {"bytes", "bytes", false},
        {"messages", "messages", false}}},
      {"link",
       "links.csv",
       {"name"},
       {{"busy_ns", "busy", true}, {"queued_ns", "queued", true}, {"bytes", "bytes", false}}},
      {"footprint", "footprint.csv", {"rank"}, {{"peak_bytes", "peak bytes", false}}},
  };
  return all;
}

using Figures = std::vector<std::optional<double>>;

struct Rows {
  std::map<std::string, Figures> rows;  ///< by name; equal names are numbered as they come
  std::vector<bool> columns;  ///< of the sheet's, those that the table has; empty: there is no table
};

Rows read_rows(const ResultFolder& folder, const Sheet& sheet) {
  Rows read;
  std::map<std::string, Figures>& rows = read.rows;
  const std::optional<CsvTable> table = folder.table(sheet.file);
  if (!table) return read;
  std::vector<std::optional<size_t>> columns;
  for (const Column& column : sheet.columns) {
    columns.push_back(table->find(column.name));
    read.columns.push_back(columns.back().has_value());
  }
  std::map<std::string, uint32_t> seen;
  for (size_t row = 0; row < table->rows(); ++row) {
    std::string name;
    for (const char* const part : sheet.names) {
      const std::string_view text = table->text(row, table->column(part));
      if (!text.empty()) name += (name.empty() ? "" : " ") + std::string(text);
    }
    const uint32_t number = ++seen[name];
    if (number > 1) name += fmt::format(" #{}", number);
    Figures figures;
    for (const std::optional<size_t>& column : columns)
      figures.push_back(column ? table->number_if_any(row, *column) : std::nullopt);
    rows.emplace(std::move(name), std::move(figures));
  }
  return read;
}

/// Times before other figures, the largest change first.
void sort(std::vector<Difference>& list) {
  std::stable_sort(list.begin(), list.end(), [](const Difference& a, const Difference& b) {
    if (a.time != b.time) return a.time;
    if (a.time) return std::fabs(a.by()) > std::fabs(b.by());
    // Of the larger value, so that the order of the two results does not matter.
    const auto part = [](const Difference& d) {
      return std::fabs(d.by()) / std::max(std::fabs(d.a), std::fabs(d.b));
    };
    return part(a) > part(b);
  });
}

class Comparer {
 public:
  explicit Comparer(double threshold) : threshold_(threshold) {}

  void add(ComparedRows& rows, Difference difference) const {
    const double by = std::fabs(difference.by());
    if (by == 0)
      ++rows.equal;
    else if (by < threshold_ * std::max(std::fabs(difference.a), std::fabs(difference.b)))
      ++rows.below;
    else
      rows.differences.push_back(std::move(difference));
  }

  ComparedRows sheet(const ResultFolder& a, const ResultFolder& b, const Sheet& sheet) const {
    ComparedRows rows;
    rows.kind = sheet.kind;
    const Rows of_a = read_rows(a, sheet);
    const Rows of_b = read_rows(b, sheet);
    const auto in_both = [&](size_t i) { return of_a.columns[i] && of_b.columns[i]; };
    for (size_t i = 0; !of_b.columns.empty() && i < of_a.columns.size(); ++i)
      if (of_a.columns[i] != of_b.columns[i])
        (of_a.columns[i] ? rows.only_a : rows.only_b)
            .push_back(fmt::format("column {} of {}", sheet.columns[i].name, sheet.file));
    for (const auto& [name, figures] : of_a.rows) {
      const auto other = of_b.rows.find(name);
      if (other == of_b.rows.end()) {
        rows.only_a.push_back(name);
        continue;
      }
      for (size_t i = 0; i < sheet.columns.size(); ++i) {
        if (figures[i] && other->second[i])
          add(rows, {name, sheet.columns[i].figure, sheet.columns[i].time, *figures[i], *other->second[i]});
        else if ((figures[i] || other->second[i]) && in_both(i))
          (figures[i] ? rows.only_a : rows.only_b)
              .push_back(fmt::format("{}: {}", name, sheet.columns[i].figure));
      }
    }
    for (const auto& [name, figures] : of_b.rows)
      if (of_a.rows.count(name) == 0) rows.only_b.push_back(name);
    sort(rows.differences);
    return rows;
  }

  /// The numbers of summary.json but for those that a table above has row by row.
  ComparedRows summary(const ResultFolder& a, const ResultFolder& b) const {
    ComparedRows rows;
    rows.kind = "summary";
    std::map<std::string, double> of_a;
    std::map<std::string, double> of_b;
    flatten(a.summary(), "", of_a);
    flatten(b.summary(), "", of_b);
    for (const auto& [path, value] : of_a) {
      const auto other = of_b.find(path);
      if (other == of_b.end()) {
        rows.only_a.push_back(path);
        continue;
      }
      const bool time = path.size() > 3 && path.compare(path.size() - 3, 3, "_ns") == 0;
      const bool nested = path.find("_ns.") != path.npos;  // "categories.idle_ns.max"
      add(rows, {path, "", time || nested, value, other->second});
    }
    for (const auto& [path, value] : of_b)
      if (of_a.count(path) == 0) rows.only_b.push_back(path);
    sort(rows.differences);
    return rows;
  }

 private:
  static void flatten(const ResultFolder::Json& node, const std::string& path,
                      std::map<std::string, double>& out) {
    if (path == "wall_s" || path == "peak_rss_MiB" || path == "weft_summary" || path == "time_ns") return;
    if (node.is_number()) {
      out.emplace(path, node.get<double>());
    } else if (node.is_object()) {
      for (const auto& [key, value] : node.items())
        flatten(value, path.empty() ? key : path + "." + key, out);
    } else if (node.is_array()) {
      for (size_t i = 0; i < node.size(); ++i) flatten(node[i], fmt::format("{}[{}]", path, i), out);
    }
  }

  double threshold_;
};

void flatten(const DocumentNode& node, const std::string& path, std::map<std::string, std::string>& out) {
  switch (node.kind) {
    case DocumentNode::Kind::null:
      break;
    case DocumentNode::Kind::scalar:
      out.emplace(path, node.scalar);
      break;
    case DocumentNode::Kind::map:
      for (const DocumentEntry& entry : node.entries)
        flatten(entry.value, path.empty() ? entry.key : path + "." + entry.key, out);
      break;
    case DocumentNode::Kind::sequence:
      for (size_t i = 0; i < node.items.size(); ++i)
        flatten(node.items[i], fmt::format("{}[{}]", path, i), out);
      break;
  }
}

std::map<std::string, std::string> configuration(const ResultFolder& folder) {
  std::map<std::string, std::string> keys;
  const std::string text = folder.effective_yaml();
  if (!text.empty()) flatten(read_document(text, folder.file("effective.yaml")), "", keys);
  keys.erase("output.dir");
  return keys;
}

std::vector<ChangedKey> changed_keys(const ResultFolder& a, const ResultFolder& b) {
  const std::map<std::string, std::string> of_a = configuration(a);
  const std::map<std::string, std::string> of_b = configuration(b);
  std::vector<ChangedKey> changed;
  for (const auto& [key, value] : of_a) {
    const auto other = of_b.find(key);
    if (other == of_b.end() || other->second != value)
      changed.push_back({key, value, other == of_b.end() ? "" : other->second});
  }
  for (const auto& [key, value] : of_b)
    if (of_a.count(key) == 0) changed.push_back({key, "", value});
  return changed;
}

/// How far the kind's most different time is apart; other figures come after all times.
double weight(const ComparedRows& rows) {
  return rows.differences.empty() || !rows.differences[0].time ? 0 : std::fabs(rows.differences[0].by());
}

}  // namespace

std::optional<double> Difference::change() const {
  if (a == 0) return std::nullopt;
  return by() / a;
}

bool Comparison::equal() const {
  return time.by() == 0 && configuration.empty() &&
         std::all_of(rows.begin(), rows.end(), [](const ComparedRows& r) {
           return r.differences.empty() && r.below == 0 && r.only_a.empty() && r.only_b.empty();
         });
}

Comparison compare(const ResultFolder& a, const ResultFolder& b, double threshold) {
  Comparison result;
  const auto time = [](const ResultFolder& folder) { return folder.number("/time_ns").value_or(0); };
  result.time = {"run", "time", true, time(a), time(b)};
  result.configuration = changed_keys(a, b);
  const Comparer comparer(threshold);
  for (const Sheet& sheet : sheets()) result.rows.push_back(comparer.sheet(a, b, sheet));
  std::stable_sort(result.rows.begin(), result.rows.end(),
                   [](const ComparedRows& x, const ComparedRows& y) { return weight(x) > weight(y); });
  result.rows.push_back(comparer.summary(a, b));  // sums, which are larger than what they are sums of
  return result;
}

}  // namespace weft::report
