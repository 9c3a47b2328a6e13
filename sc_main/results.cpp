// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <tuple>
#include <vector>

#include "configs/describe.h"
#include "configs/printable.h"
#include "sc_main/decimal.h"
#include "sc_main/footprint_results.h"
#include "sc_main/format_in_blocks.h"
#include "sc_main/interruption.h"
#include "sc_main/json_text.h"
#include "sc_main/result_sums.h"
#include "sc_main/sampled_results.h"
#include "sc_main/table.h"
#include "sc_main/train_results.h"
#include "workload/graph/layers.h"

namespace weft::cli {
namespace {

std::string whole(Wide value) {
  return value <= ~uint64_t{0} ? std::to_string(static_cast<uint64_t>(value)) : nanoseconds(value * 1000);
}

/// A line for each row.
template <typename Row, typename Line>
void append_rows(ResultFile& file, const std::vector<Row>& rows, const Line& line) {
  format_in_blocks(
      rows.size(),
      [&](size_t begin, size_t end) {
        std::string lines;
        for (size_t i = begin; i < end; ++i) lines += line(rows[i]);
        return lines;
      },
      [&](const std::string& lines) { file.append(lines); });
}

template <class Row>
std::string mean(Wide sum, const Row& row) {
  return mean_nanoseconds(sum, std::max<uint32_t>(1, row.ranks));
}

void write_ranks(const OutputFolder& folder, const RunRecord& record, FileSet* together) {
  ResultFile file(folder.file("ranks.csv"), together);
  file.append(
      "rank,time_ns,compute_ns,local_memory_ns,remote_memory_ns,communication_ns,idle_ns,communicating_ns,"
      "finished_ns\n");
  const std::string time = nanoseconds(record.result.time);
  append_rows(file, record.result.ranks, [&](const RankRow& row) {
    std::string line = fmt::format("{},{}", row.rank, time);
    for (const Category& c : kCategories) line += "," + nanoseconds(row.time.*c.time);
    return fmt::format("{},{},{}\n", line, nanoseconds(row.communicating), nanoseconds(row.finished));
  });
  file.close();
}

void write_iterations(const OutputFolder& folder, const RunResult& result, FileSet* together) {
  if (result.iterations.empty()) return;
  ResultFile file(folder.file("iterations.csv"), together);
  file.append(
      "iteration,start_ns,end_ns,time_ns,step_ns,ranks,nodes,compute_ns,local_memory_ns,remote_memory_ns,"
      "communication_ns\n");
  Picoseconds before = 0;  // when all earlier iterations had ended
  for (const IterationRow& row : result.iterations) {
    const Picoseconds end = std::max(before, row.finished);
    file.append(fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", row.iteration, nanoseconds(row.started),
                            nanoseconds(row.finished), nanoseconds(row.finished - row.started),
                            nanoseconds(end - before), row.ranks, row.nodes, mean(row.compute, row),
                            mean(row.local_memory, row), mean(row.remote_memory, row),
                            mean(row.communication, row)));
    before = end;
  }
  file.close();
}

void write_layers(const OutputFolder& folder, const RunRecord& record, FileSet* together) {
  size_t phases = 0;
  for (const LayerRow& row : record.result.layers) phases = std::max(phases, row.phases.size());
  ResultFile file(folder.file("layers.csv"), together);
  std::string head =
      "iteration,layer,ranks,nodes,compute_ns,local_memory_ns,remote_memory_ns,communication_ns,collectives,"
      "bytes,collective_time_ns,queue_ns,network_ns";
  for (size_t p = 0; p < phases; ++p) head += fmt::format(",P{0}_queue_ns,P{0}_network_ns", p);
  file.append(head + "\n");
  for (const LayerRow& row : record.result.layers) {
    Wide queue = 0;
    Wide network = 0;
    std::string tail;
    for (size_t p = 0; p < phases; ++p) {
      const LayerRow::Phase phase = p < row.phases.size() ? row.phases[p] : LayerRow::Phase{};
      queue += phase.queue;
      network += phase.network;
      tail += fmt::format(",{},{}", nanoseconds(phase.queue), nanoseconds(phase.network));
    }
    file.append(fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{}{}\n", csv_field(row.iteration), csv_field(row.layer),
        row.ranks, row.nodes, mean(row.compute, row), mean(row.local_memory, row),
        mean(row.remote_memory, row), mean(row.communication, row), row.collectives, whole(row.bytes),
        nanoseconds(row.collective_time), nanoseconds(queue), nanoseconds(network), tail));
  }
  file.close();
}

}  // namespace

void write_links(const OutputFolder& folder, const RunResult& result, FileSet* together) {
  ResultFile file(folder.file("links.csv"), together);
  file.append(
      "name,to,dimension,bytes,messages,busy_ns,busy_fraction,queued_ns,packets,fidelity,marked,pauses,"
      "paused_ns,"
      "overruns\n");
  append_rows(file, result.links, [&](const LinkRow& row) {
    return fmt::format("{},{},{},{},{},{},{:.6f},{},{},{},{},{},{},{}\n", csv_field(row.name),
                       csv_field(row.to), row.dimension, row.bytes, row.messages, nanoseconds(row.busy),
                       fraction(row.busy, result.time), nanoseconds(row.queued), row.packets,
                       to_string(row.fidelity), row.marked, row.pauses, nanoseconds(row.paused),
                       row.overruns);
  });
  file.close();
}

void write_flows(const OutputFolder& folder, const Machine::Congestion& congestion, FileSet* together) {
  ResultFile file(folder.file("flows.csv"), together);
  file.append("interface,source,destination,notifications,lowest_GBps,line_GBps,below_line_ns\n");
  for (const PacketFabric::FlowUse& flow : congestion.flows)
    file.append(fmt::format("{},{},{},{},{},{},{}\n", csv_field(flow.interface), flow.source,
                            flow.destination, flow.notifications, json_number(flow.lowest_rate / 1e9),
                            json_number(flow.line_rate / 1e9), nanoseconds(flow.below_line)));
  file.close();
}

void add_congestion(JsonText& json, const Config& config, const Machine::Congestion& congestion) {
  if (!config.packet.ecn.enabled) return;
  json.key("congestion").begin_object();
  json.key("packets_marked").number(congestion.marked);
  json.key("notifications").number(congestion.notifications);
  json.key("flows_slowed").number(uint64_t{congestion.flows.size()});
  Wide below = 0;
  for (const PacketFabric::FlowUse& flow : congestion.flows) below += flow.below_line;
  json.key("below_line_rate_ns").number(nanoseconds(below));
  json.end_object();
}

bool complete(const CollectiveRow& row) {
  return row.started != kNever && row.members_done == row.ranks;
}

std::string check_lower_bound(const CollectiveRow& row) {
  if (!complete(row) || row.lower_bound <= row.time()) return "";
  return fmt::format("{} of {} bytes{}: took {} ns, less than its lower bound of {} ns", to_string(row.op),
                     row.bytes,
                     row.group.empty() ? "" : fmt::format(" in group \"{}\"", printable(row.group.str())),
                     nanoseconds(row.time()), nanoseconds(row.lower_bound));
}

bool by_library(const CollectiveRow& row) {
  return !row.algorithm.empty();
}

namespace {

/// The lines of a collective but for its number and group, which most of a job's groups have alike.
class RowText {
 public:
  explicit RowText(bool planned) : planned_(planned) {}

  /// In collectives.csv, and in phases.csv what stands between the group and the end of each line.
  const std::string& line() const { return line_; }
  const std::vector<std::string>& phases() const { return phases_; }

  void tell(const CollectiveRow& row) {
    if (told_ != nullptr && alike(*told_, row)) return;
    told_ = &row;
    Wide queue = 0;
    Wide network = 0;
    const graph::LayerName layer = graph::layer_of(row.name.str());
    phases_.clear();
    for (size_t i = 0; i < row.phases.size(); ++i) {
      const CollectiveRow::Phase& phase = row.phases[i];
      queue += phase.queue;
      network += phase.network;
      phases_.push_back(fmt::format(
          "{},{},{},P{},{},{},{},{},{},{}\n", csv_field(row.name), csv_field(layer.iteration),
          csv_field(layer.layer), i, csv_field(phase.what), phase.operation.str(), phase.dimension.str(),
          csv_field(phase.algorithm), nanoseconds(phase.queue), nanoseconds(phase.network)));
    }
    line_ = fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}", csv_field(row.name), row.bytes, row.ranks,
        row.chunks, times(row), nanoseconds(row.lower_bound), rates(row), nanoseconds(queue),
        nanoseconds(network), row.messages, whole(row.message_bytes), nanoseconds(row.split.queue),
        nanoseconds(row.split.serialise), nanoseconds(row.split.latency), nanoseconds(row.split.endpoint),
        nanoseconds(row.split.reduce),
        row.fidelity_rule == graph::FidelityRules::kNone ? "" : std::to_string(row.fidelity_rule),
        row.folded_members);
    line_ +=
        planned_ ? fmt::format(",{},{},{}\n", row.algorithm.str(), row.protocol.str(), row.channels) : "\n";
  }

 private:
  static std::string times(const CollectiveRow& row) {
    if (complete(row))
      return fmt::format("{},{},{}", nanoseconds(row.started), nanoseconds(row.finished),
                         nanoseconds(row.time()));
    return row.started != kNever ? nanoseconds(row.started) + ",," : ",,";
  }
  static std::string rates(const CollectiveRow& row) {
    if (!complete(row)) return ",,";
    return fmt::format("{},{},{}", json_number(row.efficiency()),
                       json_number(row.algorithm_bandwidth() / 1e9), json_number(row.bus_bandwidth() / 1e9));
  }
  static bool alike(const CollectiveRow& a, const CollectiveRow& b) {
    const auto told = [](const CollectiveRow& r) {
      return std::tie(r.op, r.bytes, r.ranks, r.chunks, r.started, r.finished, r.lower_bound, r.messages,
                      r.message_bytes, r.split.queue, r.split.serialise, r.split.latency, r.split.endpoint,
                      r.split.reduce, r.members_done, r.fidelity_rule, r.channels, r.folded_members);
    };
    return told(a) == told(b) && a.name.same(b.name) && a.algorithm.same(b.algorithm) &&
           a.protocol.same(b.protocol) &&
           std::equal(a.phases.begin(), a.phases.end(), b.phases.begin(), b.phases.end(),
                      [](const CollectiveRow::Phase& x, const CollectiveRow::Phase& y) {
                        return x.queue == y.queue && x.network == y.network && x.what.same(y.what) &&
                               x.operation.same(y.operation) && x.dimension.same(y.dimension) &&
                               x.algorithm.same(y.algorithm);
                      });
  }

  const bool planned_;
  const CollectiveRow* told_ = nullptr;
  std::string line_;
  std::vector<std::string> phases_;
};

/// Lines of collectives.csv and phases.csv.
struct CollectiveLines {
  std::string collectives;
  std::string phases;

  void add(const CollectiveRow& row, RowText& text) {
    text.tell(row);
    const std::string which = fmt::format("{},{},{},", row.stream, to_string(row.op), csv_field(row.group));
    for (const std::string& phase : text.phases()) phases.append(which).append(phase);
    collectives.append(which).append(text.line());
  }
};

}  // namespace

void write_collectives(const OutputFolder& folder, const std::vector<CollectiveRow>& rows,
                       FileSet* together) {
  ResultFile file(folder.file("collectives.csv"), together);
  ResultFile phases(folder.file("phases.csv"), together);
  const bool planned = std::any_of(rows.begin(), rows.end(), by_library);
  file.append(
      "stream,op,group,name,bytes,ranks,chunks,start_ns,end_ns,time_ns,lower_bound_ns,efficiency,algbw_GBps,"
      "busbw_GBps,queue_ns,network_ns,messages,message_bytes,message_queue_ns,message_serialise_ns,"
      "message_latency_ns,message_endpoint_ns,message_reduce_ns,fidelity_rule,folded_ranks");
  file.append(planned ? ",algo,proto,channels\n" : "\n");
  phases.append(
      "stream,op,group,name,iteration,layer,phase,what,phase_op,dimension,algorithm,queue_ns,network_ns\n");
  format_in_blocks(
      rows.size(),
      [&](size_t begin, size_t end) {
        CollectiveLines lines;
        RowText text(planned);
        for (size_t i = begin; i < end; ++i) lines.add(rows[i], text);
        return lines;
      },
      [&](const CollectiveLines& lines) {
        phases.append(lines.phases);
        file.append(lines.collectives);
      });
  file.close();
  phases.close();
}

std::string phase_table(const CollectiveRow& row) {
  Table table({"phase", "queue (us)", "network (us)"});
  for (size_t p = 0; p < row.phases.size(); ++p) {
    const CollectiveRow::Phase& phase = row.phases[p];
    table.row({fmt::format("P{} {}", p, phase.what.str()),
               fmt::format("{:.3f}", static_cast<double>(phase.queue) / 1e6),
               fmt::format("{:.3f}", static_cast<double>(phase.network) / 1e6)});
  }
  return table.str(2);
}

namespace {

/// Time by category, of the slowest rank and on average.
void add_categories(JsonText& json, const RunResult& result) {
  json.key("categories").begin_object();
  for (const Category& c : kCategories) {
    Picoseconds most = 0;
    Wide sum = 0;
    for (const RankRow& row : result.ranks) {
      most = std::max(most, row.time.*c.time);
      sum += row.time.*c.time;
    }
    json.key(c.key).begin_object();
    json.key("max").number(nanoseconds(most));
    json.key("mean").number(mean_nanoseconds(sum, result.ranks.size()));
    json.end_object();
  }
  json.end_object();
}

void add_operations(JsonText& json, const RunResult& result) {
  json.key("collectives").begin_object();
  const auto operations = by_operation(result);
  for (int op = 0; op < kCollectiveOps; ++op) {
    const Operation& o = operations[static_cast<size_t>(op)];
    if (o.count == 0) continue;
    json.key(to_string(static_cast<CollectiveOp>(op))).begin_object();
    json.key("count").number(o.count);
    if (o.unfinished != 0) json.key("unfinished").number(o.unfinished);
    json.key("bytes").number(whole(o.bytes));
    json.key("time_ns").number(nanoseconds(o.time));
    json.key("queue_ns").number(nanoseconds(o.queue));
    json.key("network_ns").number(nanoseconds(o.network));
    json.key("algbw_GBps").number(o.algorithm_bandwidth() / 1e9);
    json.key("busbw_GBps").number(o.bus_bandwidth() / 1e9);
    json.key("efficiency").number(o.efficiency());
    json.key("phases").begin_array();
    for (const LayerRow::Phase& phase : o.phases) {
      json.begin_object();
      json.key("queue_ns").number(nanoseconds(phase.queue));
      json.key("network_ns").number(nanoseconds(phase.network));
      json.end_object();
    }
    json.end_array();
    json.end_object();
  }
  json.end_object();
}

/// What each fidelity rule applied to, and the dimensions' own fidelity.
void add_fidelity(JsonText& json, const Config& config, const RunResult& result) {
  if (!result.fidelity_uses.empty()) {
    json.key("fidelity_rules").begin_array();
    for (const FidelityUse& use : result.fidelity_uses) {
      const bool none = use.rule == graph::FidelityRules::kNone;
      json.begin_object();
      if (!none) json.key("rule").number(uint64_t{use.rule});
      json.key("fidelity").text(none ? "default" : to_string(config.fidelity_rules[use.rule].fidelity));
      json.key("collectives").number(use.collectives);
      json.key("messages").number(use.messages);
      json.end_object();
    }
    json.end_array();
  }
  json.key("fidelity").begin_array();
  for (const DimensionConfig& d : config.dimensions) json.text(to_string(d.fidelity));
  json.end_array();
}

void add_folding(JsonText& json, const RunResult& result) {
  json.key("folded").boolean(result.folded);
  json.key("folding").begin_object();
  json.key("simulated_ranks").number(uint64_t{result.simulated_ranks});
  json.key("collectives").number(result.folded_collectives);
  json.key("of").number(uint64_t{result.collectives.size()});
  if (result.repeated_collectives != 0) json.key("repeated").number(result.repeated_collectives);
  json.key("not_folded").begin_object();
  for (const auto& [reason, ranks] : result.unfolded) json.key(reason.c_str()).number(uint64_t{ranks});
  json.end_object();
  if (result.late_ranks != 0) {
    json.key("split").begin_object();
    json.key("ranks").number(result.late_ranks);
    json.key("at_ns").number(nanoseconds(result.split_at));
    json.end_object();
  }
  json.end_object();
}

/// The checks of `run.data: functional`; nothing without it.
void add_data(JsonText& json, const Config& config, const RunResult& result) {
  if (config.run.data == "none") return;
  json.key("data").begin_object();
  json.key("element").text(config.run.element);
  json.key("reduce").text(config.run.reduce);
  json.key("collectives_verified").number(result.data_collectives);
  json.key("elements_verified").number(result.data_elements);
  json.key("messages_verified").number(result.data_messages);
  if (result.data_tensors != 0) {
    json.key("tensors_verified").number(result.data_tensors);
    json.key("tensor_bytes_verified").number(result.data_tensor_bytes);
  }
  json.end_object();
}

void add_texts(JsonText& json, const char* key, const std::vector<std::string>& texts) {
  json.key(key).begin_array();
  for (const std::string& text : texts) json.text(text);
  json.end_array();
}

}  // namespace

void add_links(JsonText& json, const RunResult& result) {
  const LinkSums links = sum_links(result);
  json.key("links").begin_object();
  json.key("count").number(uint64_t{result.links.size()});
  json.key("bytes").number(whole(links.bytes));
  json.key("busy_ns").number(nanoseconds(links.busy));
  json.key("pauses").number(links.pauses);
  json.key("paused_ns").number(nanoseconds(links.paused));
  json.key("overruns").number(links.overruns);
  json.end_object();
}

void add_verdict(JsonText& json, const std::vector<std::string>& broken_invariants,
                 const std::vector<std::string>& warnings, double wall_s, double peak_rss_MiB) {
  if (broken_invariants.empty()) {
    json.key("invariants").text("ok");
  } else {
    add_texts(json, "invariants", broken_invariants);
  }
  add_texts(json, "warnings", warnings);
  json.key("wall_s").number(fmt::format("{:.3f}", wall_s));
  json.key("peak_rss_MiB").number(fmt::format("{:.1f}", peak_rss_MiB));
}

const char* program_version() {
  return WEFT_VERSION;
}

std::string summary_json(const RunRecord& record) {
  const Config& config = record.config;
  const RunResult& result = record.result;
  JsonText json;
  json.begin_object();
  json.key("weft_summary").number(uint64_t{kSummaryVersion});
  json.key("weft").text(program_version());
  json.key("config").text(config.file);
  json.key("notation").text(config.notation);
  json.key("npus").number(uint64_t{config.npus()});
  json.key("trace").text(config.workload.trace);
  if (!config.workload.goal.empty()) json.key("goal").text(config.workload.goal);
  if (!config.workload.text.file.empty()) json.key("text").text(config.workload.text.file);
  json.key("nodes").number(result.nodes);
  json.key("finished").boolean(record.finished);
  json.key("time_ns").number(nanoseconds(result.time));
  json.key("lower_bound_ns").number(nanoseconds(result.lower_bound));
  json.key("upper_bound_ns");
  if (result.upper_bound == kNever) {
    json.null();
  } else {
    json.number(nanoseconds(result.upper_bound));
  }
  add_categories(json, result);
  add_operations(json, result);
  if (!record.shared) add_links(json, result);
  json.key("messages").number(result.messages);
  if (!record.shared) {
    json.key("events").number(result.events);
    json.key("packet_hops").number(result.packet_hops);
    json.key("flits").number(result.flits);
    add_congestion(json, config, result.congestion);
    add_trains(json, result.trains);
    add_sampling(json, result.sampled, result.time);
  }
  json.key("memory_bytes").number(result.memory_bytes);
  json.key("out_of_order_starts").number(result.out_of_order_starts);
  add_fidelity(json, config, result);
  add_folding(json, result);
  add_footprint(json, result);
  add_data(json, config, result);
  if (record.parts != nullptr) add_parts(json, *record.parts);
  add_verdict(json, result.broken_invariants, record.warnings, record.wall_s, record.peak_rss_MiB);
  json.end_object();
  return json.str();
}

void write_together(const std::function<void(FileSet&)>& write) {
  FileSet files;
  try {
    write(files);
  } catch (const Interrupted&) {
    files.finish();  // what is complete
    throw;
  }
  files.finish();
}

void write_results(const OutputFolder& folder, const RunRecord& record) {
  write_together([&](FileSet& files) {
    write_ranks(folder, record, &files);
    write_collectives(folder, record.result.collectives, &files);
    write_layers(folder, record, &files);
    write_iterations(folder, record.result, &files);
    write_footprint(folder, record.result, &files);
    if (!record.shared) {
      write_links(folder, record.result, &files);
      if (record.config.packet.dcqcn.enabled) write_flows(folder, record.result.congestion, &files);
    }
    folder.write("summary.json", summary_json(record), &files);
  });
}

}  // namespace weft::cli
