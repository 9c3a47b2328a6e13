// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/report/page_data.h"

#include <map>

#include "sc_main/report/collective_data.h"
#include "sc_main/report/link_data.h"
#include "sc_main/report/path_data.h"
#include "sc_main/report/rank_data.h"

namespace weft::report {
namespace {

using Json = nlohmann::ordered_json;

/// Members of summary.json that the page shows as they are.
constexpr const char* kCopied[] = {"weft",           "config",
                                   "notation",       "npus",
                                   "trace",          "nodes",
                                   "finished",       "time_ns",
                                   "lower_bound_ns", "upper_bound_ns",
                                   "categories",     "collectives",
                                   "links",          "jobs",
                                   "messages",       "events",
                                   "packet_hops",    "flits",
                                   "congestion",     "trains",
                                   "memory_bytes",   "out_of_order_starts",
                                   "fidelity",       "fidelity_rules",
                                   "folded",         "folding",
                                   "footprint",      "data",
                                   "invariants",     "warnings",
                                   "wall_s",         "peak_rss_MiB"};

void add_summary(Json& run, const ResultFolder& folder) {
  Json& summary = run["summary"];
  summary = Json::object();
  for (const char* const key : kCopied)
    if (folder.summary().contains(key)) summary[key] = folder.summary()[key];
}

/// Folders of one name are told apart by their paths.
std::vector<std::string> labels_of(const std::vector<ResultFolder>& folders) {
  std::map<std::string, size_t> times;
  for (const ResultFolder& folder : folders) ++times[folder.name()];
  std::vector<std::string> labels;
  for (const ResultFolder& folder : folders)
    labels.push_back(times[folder.name()] == 1 ? folder.name() : folder.path());
  return labels;
}

}  // namespace

Json page_run(const ResultFolder& folder, const std::string& label, const Limits& limits) {
  Json run;
  run["label"] = label;
  run["path"] = folder.path();
  add_summary(run, folder);
  if (const auto ranks = folder.table("ranks.csv"); ranks && ranks->rows() != 0)
    run["ranks"] = rank_columns(*ranks, limits.ranks);
  if (const auto layers = folder.table("layers.csv"); layers && layers->rows() != 0)
    run["layers"] = layer_columns(*layers, limits.layers);
  if (const auto collectives = folder.table("collectives.csv"); collectives && collectives->rows() != 0) {
    const std::optional<CsvTable> phases = folder.table("phases.csv");
    run["percentiles"] = operation_percentiles(*collectives);
    run["longest"] = longest_collectives(*collectives, phases ? &*phases : nullptr, limits.collectives);
    if (phases) run["phases"] = phase_sums(*phases);
  }
  if (const auto links = folder.table("links.csv"); links && links->rows() != 0)
    run["links"] = link_columns(*links, limits.links);
  if (const auto footprint = folder.table("footprint.csv"); footprint && footprint->rows() != 0)
    run["footprint"] = footprint_columns(*footprint, limits.footprints);
  if (folder.has("critical_path.json"))
    run["critical_path"] = path_summary(folder.file("critical_path.json"), limits.path_rows);
  if (const auto pieces = folder.table("critical_path.csv"); pieces && pieces->rows() != 0)
    run["path_pieces"] = path_pieces(*pieces, limits.path_pieces);
  std::string effective = folder.effective_yaml();
  run["effective_bytes"] = effective.size();
  if (effective.size() > limits.config_bytes) effective.resize(limits.config_bytes);
  run["effective"] = std::move(effective);
  return run;
}

Json page_data(const std::vector<std::string>& paths, const std::string& program_version,
               const Limits& limits) {
  std::vector<ResultFolder> folders;
  for (const std::string& path : paths) folders.emplace_back(path);
  const std::vector<std::string> labels = labels_of(folders);
  Json data;
  data["weft_report"] = 1;
  data["weft"] = program_version;
  data["runs"] = Json::array();
  for (size_t i = 0; i < folders.size(); ++i) {
    data["runs"].push_back(page_run(folders[i], labels[i], limits));
    for (const std::string& job : folders[i].jobs()) {
      const ResultFolder own(folders[i].file(job));
      data["runs"].push_back(page_run(own, labels[i] + " / " + job, limits));
      data["runs"].back()["job"] = job;
    }
  }
  return data;
}

std::string script_json(const Json& data) {
  const std::string text = data.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    // Inside of JSON it stands in strings only.
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace weft::report
