// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/paper/definition.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>

#include "configs/document.h"
#include "configs/input_file.h"
#include "configs/keys.h"
#include "configs/types.h"

namespace weft::paper {
namespace {

namespace fs = std::filesystem;
using Kind = DocumentNode::Kind;

[[noreturn]] void fail(const std::string& origin, const std::string& key, const std::string& why) {
  throw UserError(ExitCode::usage, fmt::format("{}: key `{}` {}", origin, key, why));
}

std::string text_of(const DocumentNode& node, const std::string& key) {
  if (node.kind != Kind::scalar)
    fail(node.origin, key, fmt::format("is {}; give a text", describe_node(node)));
  return node.scalar;
}

std::vector<std::string> texts_of(const DocumentNode& node, const std::string& key) {
  if (node.kind == Kind::scalar) return {node.scalar};
  if (node.kind != Kind::sequence)
    fail(node.origin, key, fmt::format("is {}; give a list of texts", describe_node(node)));
  std::vector<std::string> texts;
  for (const DocumentNode& item : node.items) texts.push_back(text_of(item, key));
  return texts;
}

bool truth_of(const DocumentNode& node, const std::string& key) {
  const std::string text = text_of(node, key);
  if (text != "true" && text != "false")
    fail(node.origin, key, fmt::format("is '{}'; give true or false", text));
  return text == "true";
}

void want_map(const DocumentNode& node, const std::string& key) {
  if (node.kind != Kind::map)
    fail(node.origin, key, fmt::format("is {}; give a mapping", describe_node(node)));
}

Named named_of(const DocumentNode& node, const std::string& key) {
  want_map(node, key);
  Named named;
  for (const DocumentEntry& entry : node.entries)
    named.emplace_back(entry.key, text_of(entry.value, key + "." + entry.key));
  return named;
}

std::vector<Variable> variables_of(const DocumentNode& node, const std::string& key) {
  want_map(node, key);
  std::vector<Variable> variables;
  for (const DocumentEntry& entry : node.entries) {
    variables.push_back({entry.key, texts_of(entry.value, key + "." + entry.key)});
    if (variables.back().values.empty())
      fail(entry.origin, key + "." + entry.key, "has no values; give at least one");
  }
  return variables;
}

/// Reads a mapping by a table of its keys.
using Readers = std::map<std::string, std::function<void(const DocumentNode&, const std::string&)>>;

void read_map(const DocumentNode& node, const std::string& where, const Readers& readers) {
  want_map(node, where.empty() ? "the file" : where);
  for (const DocumentEntry& entry : node.entries) {
    const auto found = readers.find(entry.key);
    const std::string key = where.empty() ? entry.key : where + "." + entry.key;
    if (found != readers.end()) {
      found->second(entry.value, key);
      continue;
    }
    std::vector<std::string> names;
    for (const auto& [name, reader] : readers) names.push_back(name);
    const std::string near = nearest_name(entry.key, names);
    fail(entry.origin, key,
         fmt::format("is unknown{}; the keys here are {}",
                     near.empty() ? "" : fmt::format(" (did you mean {}?)", near), fmt::join(names, ", ")));
  }
}

template <typename T>
std::vector<T> list_of(const DocumentNode& node, const std::string& key,
                       T (*read)(const DocumentNode&, const std::string&)) {
  if (node.kind != Kind::sequence)
    fail(node.origin, key, fmt::format("is {}; give a list", describe_node(node)));
  std::vector<T> all;
  for (size_t i = 0; i < node.items.size(); ++i)
    all.push_back(read(node.items[i], fmt::format("{}[{}]", key, i)));
  return all;
}

Table read_table(const DocumentNode& node, const std::string& where) {
  Table table;
  read_map(node, where,
           {{"file", [&](const auto& n, const auto& k) { table.file = text_of(n, k); }},
            {"where", [&](const auto& n, const auto& k) { table.where = named_of(n, k); }},
            {"by", [&](const auto& n, const auto& k) { table.by = text_of(n, k); }}});
  if (table.file.empty()) fail(node.origin, where + ".file", "is missing; name the CSV file");
  if (table.by.empty())
    fail(node.origin, where + ".by", "is missing; name the column whose values name the rows");
  return table;
}

Run read_run(const DocumentNode& node, const std::string& where) {
  Run run;
  run.origin = node.origin;
  read_map(node, where,
           {{"name", [&](const auto& n, const auto& k) { run.name = text_of(n, k); }},
            {"vary", [&](const auto& n, const auto& k) { run.vary = variables_of(n, k); }},
            {"lookup",
             [&](const auto& n, const auto& k) {
               want_map(n, k);
               for (const DocumentEntry& entry : n.entries) {
                 Lookup lookup{entry.key, "", named_of(entry.value, k + "." + entry.key)};
                 const auto by = std::find_if(lookup.values.begin(), lookup.values.end(),
                                              [](const auto& v) { return v.first == "by"; });
                 if (by == lookup.values.end())
                   fail(entry.origin, k + "." + entry.key, "has no `by`; name the variable that decides");
                 lookup.by = by->second;
                 lookup.values.erase(by);
                 run.lookups.push_back(std::move(lookup));
               }
             }},
            {"before", [&](const auto& n, const auto& k) { run.before = list_of(n, k, texts_of); }},
            {"command", [&](const auto& n, const auto& k) { run.command = texts_of(n, k); }},
            {"table", [&](const auto& n, const auto& k) { run.table = read_table(n, k); }},
            {"values", [&](const auto& n, const auto& k) { run.values = named_of(n, k); }}});
  if (run.name.empty()) fail(node.origin, where + ".name", "is missing; name the run");
  if (run.command.empty()) fail(node.origin, where + ".command", "is missing; give the words of a command");
  if (run.values.empty()) fail(node.origin, where + ".values", "is missing; say what to read from the JSON");
  for (const Lookup& lookup : run.lookups) {
    const auto by = std::find_if(run.vary.begin(), run.vary.end(),
                                 [&](const Variable& v) { return v.name == lookup.by; });
    if (by == run.vary.end())
      fail(node.origin, where + ".lookup." + lookup.name,
           fmt::format("is by '{}', which does not vary", lookup.by));
    for (const std::string& value : by->values)
      if (std::none_of(lookup.values.begin(), lookup.values.end(),
                       [&](const auto& v) { return v.first == value; }))
        fail(node.origin, where + ".lookup." + lookup.name, fmt::format("has no entry for '{}'", value));
  }
  return run;
}

Status status_of(const DocumentNode& node, const std::string& key) {
  const std::string word = text_of(node, key);
  for (const Status status : {Status::given, Status::claim, Status::fit, Status::unknown})
    if (word == to_string(status)) return status;
  fail(node.origin, key, fmt::format("is '{}'; one of given, claim, fit, unknown", word));
}

Expectation read_expectation(const DocumentNode& node, const std::string& where) {
  Expectation e;
  e.origin = node.origin;
  bool has_status = false;
  read_map(node, where,
           {{"name", [&](const auto& n, const auto& k) { e.name = text_of(n, k); }},
            {"status",
             [&](const auto& n, const auto& k) {
               e.status = status_of(n, k);
               has_status = true;
             }},
            {"value", [&](const auto& n, const auto& k) { e.value = text_of(n, k); }},
            {"is", [&](const auto& n, const auto& k) { e.is = text_of(n, k); }},
            {"tolerance", [&](const auto& n, const auto& k) { e.tolerance = text_of(n, k); }},
            {"relation", [&](const auto& n, const auto& k) { e.relation = text_of(n, k); }},
            {"each", [&](const auto& n, const auto& k) { e.each = variables_of(n, k); }},
            {"note", [&](const auto& n, const auto& k) { e.note = text_of(n, k); }}});
  if (e.name.empty()) fail(node.origin, where + ".name", "is missing");
  if (!has_status) fail(node.origin, where + ".status", "is missing; one of given, claim, fit, unknown");
  if (e.value.empty() == e.relation.empty()) fail(node.origin, where, "needs either `value` or `relation`");
  const bool checked = e.status == Status::given || e.status == Status::claim;
  if (!e.value.empty() && checked && (e.is.empty() || e.tolerance.empty()))
    fail(node.origin, where, "needs `is` and `tolerance`; or give it the status fit or unknown");
  return e;
}

Plot read_plot(const DocumentNode& node, const std::string& where) {
  Plot plot;
  const auto text = [](std::string& into) {
    return [&into](const DocumentNode& n, const std::string& k) { into = text_of(n, k); };
  };
  read_map(node, where,
           {{"kind", text(plot.kind)},
            {"title", text(plot.title)},
            {"x", text(plot.x)},
            {"series", text(plot.series)},
            {"x_label", text(plot.x_label)},
            {"y_label", text(plot.y_label)},
            {"y", [&](const auto& n, const auto& k) { plot.y = texts_of(n, k); }},
            {"runs", [&](const auto& n, const auto& k) { plot.runs = texts_of(n, k); }},
            {"where", [&](const auto& n, const auto& k) { plot.where = named_of(n, k); }},
            {"log", [&](const auto& n, const auto& k) {
               for (const std::string& axis : texts_of(n, k)) {
                 if (axis != "x" && axis != "y")
                   fail(n.origin, k, fmt::format("is '{}'; x, y or both", axis));
                 (axis == "x" ? plot.log_x : plot.log_y) = true;
               }
             }}});
  if (plot.kind != "lines" && plot.kind != "bars" && plot.kind != "stack")
    fail(node.origin, where + ".kind", fmt::format("is '{}'; one of lines, bars, stack", plot.kind));
  if (plot.x.empty() || plot.y.empty()) fail(node.origin, where, "needs `x` and `y`: names of columns");
  return plot;
}

}  // namespace

const char* to_string(Status status) {
  static const char* const names[] = {"given", "claim", "fit", "unknown"};
  return names[static_cast<int>(status)];
}

Figure read_figure(const std::string& path) {
  const DocumentNode document = read_document(read_input(path, kConfigurationInput), path);
  Figure figure;
  figure.id = fs::path(path).stem().string();
  figure.path = path;
  const auto text = [](std::string& into) {
    return [&into](const DocumentNode& n, const std::string& k) { into = text_of(n, k); };
  };
  const auto texts = [](std::vector<std::string>& into) {
    return [&into](const DocumentNode& n, const std::string& k) { into = texts_of(n, k); };
  };
  read_map(
      document, "",
      {{"paper", text(figure.paper)},
       {"title", text(figure.title)},
       {"about", text(figure.about)},
       {"fast", [&](const auto& n, const auto& k) { figure.fast = truth_of(n, k); }},
       {"given", texts(figure.given)},
       {"fitted", texts(figure.fitted)},
       {"unknown", texts(figure.unknown)},
       {"prepare", [&](const auto& n, const auto& k) { figure.prepare = list_of(n, k, texts_of); }},
       {"runs", [&](const auto& n, const auto& k) { figure.runs = list_of(n, k, read_run); }},
       {"derived", [&](const auto& n, const auto& k) { figure.derived = named_of(n, k); }},
       {"plot",
        [&](const auto& n, const auto& k) {
          if (n.kind == Kind::map)
            figure.plots = {read_plot(n, k)};
          else
            figure.plots = list_of(n, k, read_plot);
        }},
       {"expect", [&](const auto& n, const auto& k) { figure.expect = list_of(n, k, read_expectation); }}});
  if (figure.runs.empty()) fail(document.origin, "runs", "is missing; a figure needs at least one run");
  return figure;
}

std::vector<Figure> read_figures(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".yaml") paths.push_back(entry.path().string());
  if (error)
    throw UserError(ExitCode::usage,
                    fmt::format("{}: cannot be read: {}; name the folder of the figures with --dir", folder,
                                error.message()));
  std::sort(paths.begin(), paths.end());
  std::vector<Figure> figures;
  for (const std::string& path : paths) {
    // The machines of the figures stand in the same folder.
    const DocumentNode document = read_document(read_input(path, kConfigurationInput), path);
    if (document.find("paper") != nullptr) figures.push_back(read_figure(path));
  }
  return figures;
}

}  // namespace weft::paper
