// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/critical_path.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <map>

#include "configs/units.h"
#include "sc_main/decimal.h"
#include "sc_main/json_text.h"
#include "sc_main/table.h"
#include "workload/graph/layers.h"

namespace weft::cli {

using insight::Piece;
using insight::Term;

namespace {

constexpr uint64_t kDefaultLog = 2ull << 30;
constexpr uint64_t kLeastLog = 1ull << 20;
/// How much faster the levers of `what_if` are.
constexpr uint32_t kPercent = 10;
/// Paths that the critical one may give way to: so many ends of NPUs, and so many joins of nodes.
constexpr size_t kRivals = 32;
constexpr size_t kTextLines = 5;

using Times = std::array<Picoseconds, insight::kTerms>;

Picoseconds& of(Times& times, Term term) {
  return times[static_cast<uint32_t>(term)];
}

struct Sum {
  Times times{};
  Picoseconds all = 0;
  void add(const Piece& piece) {
    of(times, piece.term) += piece.time();
    all += piece.time();
  }
};

/// By some name, the longest first.
using Sums = std::vector<std::pair<std::string, Sum>>;

class SumsByName {
 public:
  void add(const std::string& name, const Piece& piece) { sums_[name].add(piece); }
  Sums sorted() const {
    Sums list(sums_.begin(), sums_.end());
    std::stable_sort(list.begin(), list.end(),
                     [](const auto& a, const auto& b) { return a.second.all > b.second.all; });
    return list;
  }

 private:
  std::map<std::string, Sum> sums_;
};

bool of_node(Term term) {
  return term == Term::compute || term == Term::local_memory || term == Term::remote_memory;
}

/// It is in the time of a node, whose NPU and index `activity` has: computing, or in a memory.
bool of_node(const Piece& piece, const insight::Activity* activity) {
  if (of_node(piece.term)) return true;
  return activity != nullptr && activity->of_kind() == insight::ActivityKind::access &&
         activity->foreign == 0 && insight::of_link(piece.term);
}

/// Who or what a piece belongs to, in words.
class Labels {
 public:
  Labels(const insight::CausalLog& log, const PathNames& names) : log_(log), names_(names) {}

  std::string place(const Piece& piece) const {
    return insight::of_link(piece.term) ? log_.link(piece.place).name : fmt::format("npu{}", piece.place);
  }
  bool is_of_node(const Piece& piece) const { return of_node(piece, log_.find(piece.activity)); }
  /// Empty: it is of no collective.
  std::string collective(const Piece& piece) {
    if (piece.stream == 0 || is_of_node(piece)) return "";
    if (piece.stream == insight::kPointToPoint) return "point to point";
    const PathCollective& own = known(piece.stream - 1);
    return fmt::format("{}{} {}{}", own.job.empty() ? "" : own.job + " ", own.operation, own.number,
                       own.name.empty() ? "" : " " + own.name);
  }
  PathNode node(const Piece& piece) {
    const insight::Activity* const activity = log_.find(piece.activity);
    if (activity == nullptr || !of_node(piece, activity)) return {};
    const auto [at, fresh] = nodes_.try_emplace({activity->where, activity->what});
    if (fresh) at->second = names_.node(activity->where, activity->what);
    return at->second;
  }
  /// Empty: the trace names none.
  std::string layer(const Piece& piece) {
    std::string name;
    if (is_of_node(piece)) {
      name = node(piece).name;
    } else if (piece.stream != 0 && piece.stream != insight::kPointToPoint) {
      name = known(piece.stream - 1).name;
    }
    if (name.empty()) return "";
    const graph::LayerName layer = graph::layer_of(name);
    return layer.iteration.empty() ? layer.layer : layer.layer + " of " + layer.iteration;
  }

 private:
  const PathCollective& known(uint32_t stream) {
    const auto [at, fresh] = collectives_.try_emplace(stream);
    if (fresh) at->second = names_.collective(stream);
    return at->second;
  }

  const insight::CausalLog& log_;
  const PathNames& names_;
  std::map<uint32_t, PathCollective> collectives_;
  std::map<std::pair<uint32_t, uint32_t>, PathNode> nodes_;  ///< by NPU and index
};

struct Breakdown {
  Sum all;
  Sums links, collectives, nodes, layers;
};

std::string node_text(const PathNode& node) {
  return fmt::format("{}rank {} node {} {}", node.job.empty() ? "" : node.job + " ", node.rank, node.id,
                     node.name);
}

Breakdown break_down(const insight::CausalLog& log, const PathNames& names, const PathReport& report) {
  Breakdown result;
  Labels labels(log, names);
  SumsByName links, collectives, nodes, layers;
  for (const Piece& piece : report.pieces) {
    result.all.add(piece);
    if (insight::of_link(piece.term)) links.add(labels.place(piece), piece);
    const std::string collective = labels.collective(piece);
    if (!collective.empty()) collectives.add(collective, piece);
    if (labels.is_of_node(piece)) nodes.add(node_text(labels.node(piece)), piece);
    const std::string layer = labels.layer(piece);
    if (!layer.empty()) layers.add(layer, piece);
  }
  result.links = links.sorted();
  result.collectives = collectives.sorted();
  result.nodes = nodes.sorted();
  result.layers = layers.sorted();
  return result;
}

void add_times(JsonText& json, const Sum& sum) {
  for (uint32_t t = 0; t < insight::kTerms; ++t)
    json.key(fmt::format("{}_ps", to_string(static_cast<Term>(t)))).number(sum.times[t]);
}

void add_sums(JsonText& json, const char* key, const Sums& sums) {
  json.key(key).begin_array();
  for (const auto& [name, sum] : sums) {
    json.begin_object();
    json.key("name").text(name);
    json.key("time_ps").number(sum.all);
    add_times(json, sum);
    json.end_object();
  }
  json.end_array();
}

void add_what_if(JsonText& json, const PathReport& report) {
  json.key("what_if").begin_object();
  json.key("percent").number(uint64_t{kPercent});
  json.key("levers").begin_array();
  for (uint32_t l = 0; l < report.levers.size(); ++l) {
    const insight::Outcome outcome = insight::what_if(report.paths, l, kPercent);
    json.begin_object();
    json.key("lever").text(report.levers[l].name());
    json.key("on_path_ps").number(outcome.on_path);
    json.key("falls_ps").number(outcome.falls);
    json.key("alone_ps").number(outcome.alone);
    json.key("time_ps").number(report.paths[0].length - outcome.falls);
    json.key("limited_by").text(outcome.limited_by == 0 ? "" : report.paths[outcome.limited_by].name);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void add_report(JsonText& json, const insight::CausalLog& log, const PathNames& names,
                const PathReport& report) {
  const Breakdown sums = break_down(log, names, report);
  json.begin_object();
  json.key("what").text(report.what);
  json.key("from_ps").number(report.from);
  json.key("time_ps").number(report.to - report.from);
  json.key("ends_at_npu").number(uint64_t{report.npu});
  json.key("pieces").number(static_cast<uint64_t>(report.pieces.size()));
  json.key("terms").begin_object();
  add_times(json, sums.all);
  json.end_object();
  add_sums(json, "links", sums.links);
  add_sums(json, "collectives", sums.collectives);
  add_sums(json, "nodes", sums.nodes);
  add_sums(json, "layers", sums.layers);
  json.key("other_paths").begin_array();
  for (size_t p = 1; p < report.paths.size(); ++p) {
    json.begin_object();
    json.key("name").text(report.paths[p].name);
    json.key("to_spare_ps").number(report.paths[0].length - report.paths[p].length);
    json.end_object();
  }
  json.end_array();
  add_what_if(json, report);
  json.end_object();
}

/// The paths that end at other NPUs.
void add_ends(const insight::CausalLog& log, PathReport& report) {
  struct Rival {
    Picoseconds at = 0;
    uint32_t npu = 0;
  };
  std::vector<Rival> rivals;
  for (uint32_t npu = 0; npu < log.ends().size(); ++npu)
    if (log.ends()[npu].any && npu != report.npu) rivals.push_back({log.ends()[npu].at, npu});
  std::sort(rivals.begin(), rivals.end(),
            [](const Rival& a, const Rival& b) { return a.at != b.at ? a.at > b.at : a.npu < b.npu; });
  if (rivals.size() > kRivals) rivals.resize(kRivals);
  for (const Rival& rival : rivals) {
    const auto pieces = critical_path(log, log.ends()[rival.npu].last, report.from, rival.at);
    report.paths.push_back(measure(log, report.levers, pieces));
    report.paths.back().name = fmt::format("the end of npu{}", rival.npu);
  }
}

/// The paths that join the critical one where a node has waited for several others.
void add_joins(const insight::CausalLog& log, const PathNames& names, PathReport& report) {
  struct Rival {
    Picoseconds spare = 0;
    insight::ActivityId activity = insight::kNoActivity;
    size_t piece = 0;
  };
  std::vector<Rival> rivals;
  for (size_t p = 0; p < report.pieces.size(); ++p) {
    const Piece& piece = report.pieces[p];
    const insight::Activity* const own = log.find(piece.activity);
    if (own == nullptr || !of_node(piece, own) || piece.from != own->ready) continue;
    for (const insight::ActivityId id : names.dependencies(own->where, own->what)) {
      const insight::Activity* const other = log.find(id);
      if (other == nullptr || id == own->cause || other->end > piece.from) continue;
      rivals.push_back({piece.from - other->end, id, p});
    }
  }
  std::stable_sort(rivals.begin(), rivals.end(),
                   [](const Rival& a, const Rival& b) { return a.spare < b.spare; });
  if (rivals.size() > kRivals) rivals.resize(kRivals);
  for (const Rival& rival : rivals) {
    const Picoseconds end = log.find(rival.activity)->end;
    std::vector<Piece> pieces = critical_path(log, rival.activity, report.from, end);
    pieces.insert(pieces.end(), report.pieces.begin() + static_cast<std::ptrdiff_t>(rival.piece),
                  report.pieces.end());
    report.paths.push_back(measure(log, report.levers, pieces));
    const insight::Activity& own = *log.find(report.pieces[rival.piece].activity);
    report.paths.back().name =
        fmt::format("what else {} waits for", node_text(names.node(own.where, own.what)));
  }
}

std::string share(Picoseconds part, Picoseconds whole) {
  return fmt::format("{:.1f} %",
                     whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string sums_text(const char* head, const Sums& sums, Picoseconds whole) {
  if (sums.empty()) return "";
  Table table({head, "time", "share"});
  for (size_t i = 0; i < sums.size() && i < kTextLines; ++i)
    table.row({sums[i].first, readable_time(sums[i].second.all), share(sums[i].second.all, whole)});
  std::string text = table.str(2);
  if (sums.size() > kTextLines)
    text += fmt::format("  and {} more in critical_path.json\n", sums.size() - kTextLines);
  return text;
}

}  // namespace

void add_critical_path_options(CLI::App& command, TextOptions& add, CriticalPathOptions& options) {
  command.add_flag(
      "--critical-path", options.on,
      "Find what the end-to-end time is made of: critical_path.json, critical_path.csv and a table");
  add("--critical-path-memory", options.memory, "SIZE",
      "What the log of --critical-path may take (default: 2 GiB); of a longer run the end is kept");
}

std::unique_ptr<insight::CausalLog> make_causal_log(const CriticalPathOptions& options) {
  if (!options.on && !options.memory.empty())
    throw UserError(ExitCode::usage,
                    "--critical-path-memory is of --critical-path, which is missing; add it");
  if (!options.on) return nullptr;
  uint64_t bytes = kDefaultLog;
  if (!options.memory.empty()) {
    try {
      bytes = parse_size(options.memory);
    } catch (const UserError& e) {
      throw UserError(ExitCode::usage, fmt::format("--critical-path-memory: {}", e.what()));
    }
    if (bytes < kLeastLog)
      throw UserError(
          ExitCode::usage,
          fmt::format("--critical-path-memory '{}': the log needs 1 MiB at least", options.memory));
  }
  return std::make_unique<insight::CausalLog>(bytes);
}

void JobPathNames::add(const std::string& name, TraceJob& job, const std::vector<CollectiveRow>& rows) {
  const auto member = static_cast<uint32_t>(jobs_.size());
  jobs_.push_back({name, &job, &rows});
  for (uint32_t rank = 0; rank < job.ranks().ranks(); ++rank) ranks_[job.ranks().npu(rank)] = {member, rank};
}

const JobPathNames::Member* JobPathNames::of_npu(uint32_t npu, uint32_t& rank) const {
  const auto at = ranks_.find(npu);
  if (at == ranks_.end()) return nullptr;
  rank = at->second.second;
  return &jobs_[at->second.first];
}

PathNode JobPathNames::node(uint32_t npu, uint32_t index) const {
  PathNode result;
  const Member* const member = of_npu(npu, result.rank);
  if (member == nullptr) return result;
  const trace::TraceIndex& traces = member->job->traces().index(result.rank);
  trace::NodeCache cache = traces.open_cache(1 << 20);
  trace::Node node;
  traces.decode(cache, index, node);
  result.job = member->name;
  result.id = node.id;
  result.name = node.name;
  result.known = true;
  return result;
}

PathCollective JobPathNames::collective(uint32_t stream) const {
  for (const Member& member : jobs_) {
    for (const CollectiveRow& row : *member.rows)
      if (member.job->first_stream() + row.stream - 1 == stream)
        return {row.name, weft::to_string(row.op), row.stream, member.name};
  }
  return {"", "collective", stream, ""};
}

std::vector<insight::ActivityId> JobPathNames::dependencies(uint32_t npu, uint32_t index) const {
  std::vector<insight::ActivityId> list;
  uint32_t rank = 0;
  const Member* const member = of_npu(npu, rank);
  if (member == nullptr) return list;
  const graph::RankEngine* const engine = member->job->machine().npu(npu).engine();
  if (engine == nullptr || engine->causes() == nullptr) return list;
  const trace::TraceIndex& traces = member->job->traces().index(rank);
  trace::NodeCache cache = traces.open_cache(1 << 20);
  trace::Dependencies dependencies;
  traces.dependencies(cache, index, dependencies);
  traces.for_each_dependency(index, dependencies,
                             [&](trace::NodeIndex p) { list.push_back(engine->causes()->end_of(p)); });
  return list;
}

PathReport make_path_report(const insight::CausalLog& log, const PathNames& names, Picoseconds from,
                            std::string what) {
  PathReport report;
  report.what = std::move(what);
  report.from = report.to = from;
  const insight::PathEnd end = insight::end_of_path(log);
  report.levers = insight::levers_of(log);
  if (end.at != kNever) {
    report.to = std::max(from, end.at);
    report.npu = end.npu;
    report.pieces = insight::critical_path(log, end.last, from, report.to);
  }
  report.paths.push_back(measure(log, report.levers, report.pieces));
  report.paths.front().name = "the critical path";
  add_ends(log, report);
  add_joins(log, names, report);
  return report;
}

void write_critical_path(const OutputFolder& folder, const insight::CausalLog& log, const PathNames& names,
                         const std::vector<PathReport>& reports) {
  JsonText json;
  json.begin_object();
  json.key("weft_critical_path").number(uint64_t{kCriticalPathVersion});
  json.key("activities").number(log.recorded());
  json.key("forgotten").number(log.forgotten());
  json.key("paths").begin_array();
  for (const PathReport& report : reports) add_report(json, log, names, report);
  json.end_array();
  json.end_object();
  folder.write("critical_path.json", json.str());

  ResultFile csv(folder.file("critical_path.csv"));
  csv.append("path,from_ps,to_ps,time_ps,term,place,collective,chunk,phase,rank,node,name,layer\n");
  for (size_t p = 0; p < reports.size(); ++p) {
    Labels labels(log, names);
    for (const Piece& piece : reports[p].pieces) {
      const PathNode node = labels.node(piece);
      const bool in_phase =
          piece.stream != 0 && piece.stream != insight::kPointToPoint && !labels.is_of_node(piece);
      csv.append(fmt::format(
          "{},{},{},{},{},{},{},{},{},{},{},{},{}\n", p, piece.from, piece.to, piece.time(),
          to_string(piece.term), csv_field(labels.place(piece)), csv_field(labels.collective(piece)),
          in_phase ? std::to_string(piece.step >> 8) : "", in_phase ? std::to_string(piece.step & 0xff) : "",
          node.known ? std::to_string(node.rank) : "", node.known ? std::to_string(node.id) : "",
          csv_field(node.name), csv_field(labels.layer(piece))));
    }
  }
  csv.close();
}

std::string critical_path_text(const insight::CausalLog& log, const PathNames& names,
                               const PathReport& report) {
  const Breakdown sums = break_down(log, names, report);
  const Picoseconds whole = report.to - report.from;
  std::string text =
      fmt::format("\ncritical path{}: {}, ends at npu{}\n", report.what.empty() ? "" : " of " + report.what,
                  readable_time(whole), report.npu);
  Table table({"term", "time", "share"});
  for (uint32_t t = 0; t < insight::kTerms; ++t) {
    if (sums.all.times[t] == 0) continue;
    table.row(
        {to_string(static_cast<Term>(t)), readable_time(sums.all.times[t]), share(sums.all.times[t], whole)});
  }
  text += table.str(2);
  text += sums_text("node", sums.nodes, whole) + sums_text("layer", sums.layers, whole) +
          sums_text("collective", sums.collectives, whole) + sums_text("link", sums.links, whole);
  Table levers({fmt::format("{} % faster", kPercent), "the run ends sooner by", "then limited by"});
  bool any = false;
  for (uint32_t l = 0; l < report.levers.size(); ++l) {
    const insight::Outcome outcome = insight::what_if(report.paths, l, kPercent);
    if (outcome.on_path == 0) continue;
    any = true;
    levers.row({report.levers[l].name(),
                fmt::format("{} ({})", readable_time(outcome.falls), share(outcome.falls, whole)),
                outcome.limited_by == 0 ? "-" : report.paths[outcome.limited_by].name});
  }
  if (any) text += levers.str(2);
  if (log.forgotten() != 0)
    text += fmt::format(
        "  the log of causes was full: {} of {} activities are forgotten, and `unrecorded` is what "
        "they took; --critical-path-memory raises the limit\n",
        grouped(log.forgotten()), grouped(log.recorded()));
  return text;
}

}  // namespace weft::cli
