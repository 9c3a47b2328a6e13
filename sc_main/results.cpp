// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "configs/describe.h"
#include "sc_main/decimal.h"
#include "sc_main/footprint_results.h"
#include "sc_main/interruption.h"
#include "sc_main/json_text.h"
#include "sc_main/table.h"
#include "workload/graph/layers.h"

namespace weft::cli {
namespace {

struct Category {
  const char* key;
  const char* words;
  Picoseconds graph::Categories::*time;
};

constexpr std::array<Category, 5> kCategories = {{
    {"compute_ns", "compute", &graph::Categories::compute},
    {"local_memory_ns", "exposed local memory", &graph::Categories::local_memory},
    {"remote_memory_ns", "exposed remote memory", &graph::Categories::remote_memory},
    {"communication_ns", "exposed communication", &graph::Categories::communication},
    {"idle_ns", "idle", &graph::Categories::idle},
}};

/// Sums over the collectives of one operation.
struct Operation {
  uint64_t count = 0;
  uint64_t unfinished = 0;
  Wide bytes = 0;
  Wide time = 0;
  Wide queue = 0;
  Wide network = 0;
  Wide lower_bound = 0;
  double bus_bytes = 0;  ///< bus bandwidth x time
  std::vector<LayerRow::Phase> phases;

  /// Weighted by time: all bytes over all time.
  double algorithm_bandwidth() const { return time == 0 ? 0 : static_cast<double>(bytes) / seconds(); }
  double bus_bandwidth() const { return time == 0 ? 0 : bus_bytes / seconds(); }
  double efficiency() const {
    return time == 0 ? 1 : static_cast<double>(lower_bound) / static_cast<double>(time);
  }
  double seconds() const { return static_cast<double>(time) * 1e-12; }
};

std::array<Operation, kCollectiveOps> by_operation(const RunResult& result) {
  std::array<Operation, kCollectiveOps> sums;
  for (const CollectiveRow& row : result.collectives) {
    Operation& sum = sums[static_cast<size_t>(row.op)];
    ++sum.count;
    if (!complete(row)) {
      ++sum.unfinished;
      continue;
    }
    sum.bytes += row.bytes;
    sum.time += row.time();
    sum.lower_bound += row.lower_bound;
    sum.bus_bytes += row.bus_bandwidth() * static_cast<double>(row.time()) * 1e-12;
    if (sum.phases.size() < row.phases.size()) sum.phases.resize(row.phases.size());
    for (size_t p = 0; p < row.phases.size(); ++p) {
      sum.queue += row.phases[p].queue;
      sum.network += row.phases[p].network;
      sum.phases[p].queue += row.phases[p].queue;
      sum.phases[p].network += row.phases[p].network;
    }
  }
  return sums;
}

struct LinkSums {
  Wide bytes = 0;
  Wide busy = 0;
  Picoseconds busiest = 0;
  uint64_t pauses = 0;
  Wide paused = 0;
  uint64_t overruns = 0;
};

LinkSums sum_links(const RunResult& result) {
  LinkSums sums;
  for (const LinkRow& link : result.links) {
    sums.bytes += link.bytes;
    sums.busy += link.busy;
    sums.busiest = std::max(sums.busiest, link.busy);
    sums.pauses += link.pauses;
    sums.paused += link.paused;
    sums.overruns += link.overruns;
  }
  return sums;
}

std::string whole(Wide value) {
  return value <= ~uint64_t{0} ? std::to_string(static_cast<uint64_t>(value)) : nanoseconds(value * 1000);
}

std::string mean(Wide sum, const LayerRow& row) {
  return mean_nanoseconds(sum, std::max<uint32_t>(1, row.ranks));
}

double fraction(Picoseconds part, Picoseconds total) {
  return total == 0 ? 0 : static_cast<double>(part) / static_cast<double>(total);
}

void write_ranks(const OutputFolder& folder, const RunRecord& record, FileSet* together) {
  ResultFile file(folder.file("ranks.csv"), together);
  file.append("rank,time_ns,compute_ns,local_memory_ns,remote_memory_ns,communication_ns,idle_ns\n");
  for (const RankRow& row : record.result.ranks) {
    std::string line = fmt::format("{},{}", row.rank, nanoseconds(record.result.time));
    for (const Category& c : kCategories) line += "," + nanoseconds(row.time.*c.time);
    file.append(line + "\n");
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

/// The layers with the most exposed communication and compute, or all of them.
std::string layer_table(const RunRecord& record) {
  constexpr size_t kShown = 8;
  std::vector<const LayerRow*> rows;
  for (const LayerRow& row : record.result.layers) rows.push_back(&row);
  if (rows.size() < 2 && !record.per_layer) return "";
  const size_t all = rows.size();
  if (!record.per_layer && all > kShown) {
    const auto total = [](const LayerRow* r) {
      return r->compute + r->local_memory + r->remote_memory + r->communication;
    };
    std::vector<const LayerRow*> most = rows;
    std::stable_sort(most.begin(), most.end(),
                     [&](const LayerRow* a, const LayerRow* b) { return total(a) > total(b); });
    most.resize(kShown);
    rows.erase(std::remove_if(
                   rows.begin(), rows.end(),
                   [&](const LayerRow* r) { return std::find(most.begin(), most.end(), r) == most.end(); }),
               rows.end());
  }
  const auto ps = [](Wide time) {
    return readable_time(time < kNever ? static_cast<Picoseconds>(time) : kNever);
  };
  Table table(
      {"layer, mean of its ranks", "ranks", "compute", "exposed comm.", "collectives", "queue", "network"});
  for (const LayerRow* row : rows) {
    Wide queue = 0;
    Wide network = 0;
    for (const LayerRow::Phase& phase : row->phases) {
      queue += phase.queue;
      network += phase.network;
    }
    const uint64_t n = std::max<uint32_t>(1, row->ranks);
    table.row({(row->iteration.empty() ? "" : row->iteration + "/") + (row->layer.empty() ? "-" : row->layer),
               grouped(row->ranks), ps(row->compute / n), ps(row->communication / n),
               grouped(row->collectives), ps(queue), ps(network)});
  }
  std::string text = table.str();
  if (rows.size() < all)
    text +=
        fmt::format("{} more layers, in layers.csv (--per-layer shows them)\n", grouped(all - rows.size()));
  return text + "\n";
}

}  // namespace

void write_links(const OutputFolder& folder, const RunResult& result, FileSet* together) {
  ResultFile file(folder.file("links.csv"), together);
  file.append(
      "name,to,dimension,bytes,messages,busy_ns,busy_fraction,queued_ns,packets,fidelity,marked,pauses,"
      "paused_ns,"
      "overruns\n");
  for (const LinkRow& row : result.links)
    file.append(fmt::format("{},{},{},{},{},{},{:.6f},{},{},{},{},{},{},{}\n", csv_field(row.name),
                            csv_field(row.to), row.dimension, row.bytes, row.messages, nanoseconds(row.busy),
                            fraction(row.busy, result.time), nanoseconds(row.queued), row.packets,
                            to_string(row.fidelity), row.marked, row.pauses, nanoseconds(row.paused),
                            row.overruns));
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

std::string congestion_text(const Config& config, const Machine::Congestion& congestion) {
  if (!config.packet.ecn.enabled) return "";
  std::string text =
      fmt::format("{} of {} packet-hops marked", grouped(congestion.marked), grouped(congestion.packet_hops));
  if (!config.packet.dcqcn.enabled) return text;
  text += fmt::format("; {} notifications slowed {} flows", grouped(congestion.notifications),
                      grouped(congestion.flows.size()));
  const auto slowest =
      std::min_element(congestion.flows.begin(), congestion.flows.end(),
                       [](const auto& a, const auto& b) { return a.lowest_rate < b.lowest_rate; });
  if (slowest == congestion.flows.end()) return text;
  return text + fmt::format(", {} to {} down to {:.3g} of {:.3g} GB/s", slowest->source, slowest->destination,
                            slowest->lowest_rate / 1e9, slowest->line_rate / 1e9);
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
                     row.bytes, row.group.empty() ? "" : fmt::format(" in group \"{}\"", row.group),
                     nanoseconds(row.time()), nanoseconds(row.lower_bound));
}

void write_collectives(const OutputFolder& folder, const std::vector<CollectiveRow>& rows,
                       FileSet* together) {
  ResultFile file(folder.file("collectives.csv"), together);
  ResultFile phases(folder.file("phases.csv"), together);
  file.append(
      "stream,op,group,name,bytes,ranks,chunks,start_ns,end_ns,time_ns,lower_bound_ns,efficiency,algbw_GBps,"
      "busbw_GBps,queue_ns,network_ns,messages,message_bytes,message_queue_ns,message_serialise_ns,"
      "message_latency_ns,message_endpoint_ns,message_reduce_ns,fidelity_rule,folded_ranks\n");
  phases.append(
      "stream,op,group,name,iteration,layer,phase,what,phase_op,dimension,algorithm,queue_ns,network_ns\n");
  for (const CollectiveRow& row : rows) {
    Wide queue = 0;
    Wide network = 0;
    const graph::LayerName layer = graph::layer_of(row.name);
    for (size_t i = 0; i < row.phases.size(); ++i) {
      const CollectiveRow::Phase& phase = row.phases[i];
      queue += phase.queue;
      network += phase.network;
      phases.append(fmt::format("{},{},{},{},{},{},P{},{},{},{},{},{},{}\n", row.stream, to_string(row.op),
                                csv_field(row.group), csv_field(row.name), csv_field(layer.iteration),
                                csv_field(layer.layer), i, csv_field(phase.what), phase.operation,
                                phase.dimension, phase.algorithm, nanoseconds(phase.queue),
                                nanoseconds(phase.network)));
    }
    std::string times = ",,";
    std::string rates = ",,";
    if (complete(row)) {
      times = fmt::format("{},{},{}", nanoseconds(row.started), nanoseconds(row.finished),
                          nanoseconds(row.time()));
      rates =
          fmt::format("{},{},{}", json_number(row.efficiency()), json_number(row.algorithm_bandwidth() / 1e9),
                      json_number(row.bus_bandwidth() / 1e9));
    } else if (row.started != kNever) {
      times = nanoseconds(row.started) + ",,";
    }
    file.append(fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", row.stream, to_string(row.op),
        csv_field(row.group), csv_field(row.name), row.bytes, row.ranks, row.chunks, times,
        nanoseconds(row.lower_bound), rates, nanoseconds(queue), nanoseconds(network), row.messages,
        whole(row.message_bytes), nanoseconds(row.split.queue), nanoseconds(row.split.serialise),
        nanoseconds(row.split.latency), nanoseconds(row.split.endpoint), nanoseconds(row.split.reduce),
        row.fidelity_rule == graph::FidelityRules::kNone ? "" : std::to_string(row.fidelity_rule),
        row.folded_members));
  }
  file.close();
  phases.close();
}

std::string phase_table(const CollectiveRow& row) {
  Table table({"phase", "queue (us)", "network (us)"});
  for (size_t p = 0; p < row.phases.size(); ++p) {
    const CollectiveRow::Phase& phase = row.phases[p];
    table.row({fmt::format("P{} {}", p, phase.what),
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
  json.key("not_folded").begin_object();
  for (const auto& [reason, ranks] : result.unfolded) json.key(reason.c_str()).number(uint64_t{ranks});
  json.end_object();
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
  }
  json.key("memory_bytes").number(result.memory_bytes);
  json.key("out_of_order_starts").number(result.out_of_order_starts);
  add_fidelity(json, config, result);
  add_folding(json, result);
  add_footprint(json, result);
  add_data(json, config, result);
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
    write_footprint(folder, record.result, &files);
    if (!record.shared) {
      write_links(folder, record.result, &files);
      if (record.config.packet.dcqcn.enabled) write_flows(folder, record.result.congestion, &files);
    }
    folder.write("summary.json", summary_json(record), &files);
  });
}

std::string links_text(const RunResult& result) {
  const LinkSums links = sum_links(result);
  const Wide mean_busy = result.links.empty() ? 0 : links.busy / result.links.size();
  return fmt::format("links    {}: {}, busy {:.1f} % on average, {:.1f} % the busiest\n",
                     grouped(result.links.size()), readable_size(static_cast<uint64_t>(links.bytes)),
                     100 * fraction(static_cast<Picoseconds>(mean_busy), result.time),
                     100 * fraction(links.busiest, result.time));
}

std::string pauses_text(const RunResult& result) {
  const LinkSums links = sum_links(result);
  if (links.pauses == 0 && links.overruns == 0) return "";
  return fmt::format(
      "pauses   {} by priority flow control, {:.1f} % of the time of a link on average; {} overruns\n",
      grouped(links.pauses),
      100 * fraction(static_cast<Picoseconds>(links.paused / result.links.size()), result.time),
      grouped(links.overruns));
}

std::string time_text(Picoseconds time, bool finished) {
  return fmt::format("time     {}{}\n", readable_time(time),
                     finished        ? ""
                     : interrupted() ? "  (not finished: interrupted)"
                                     : "  (not finished: see the stall report)");
}

std::string work_text(const RunResult& result, double wall_s, double peak_rss_MiB) {
  return fmt::format("work     {} messages, {} events; {:.2f} s, {:.0f} MiB\n", grouped(result.messages),
                     grouped(result.events), wall_s, peak_rss_MiB);
}

std::string summary_text(const RunRecord& record) {
  const RunResult& result = record.result;
  std::string text =
      fmt::format("machine  {}: {} NPUs\n", machine_name(record.config), grouped(record.config.npus()));
  text += fmt::format("trace    {} ({} nodes)\n", record.config.workload.trace, grouped(result.nodes));
  text += time_text(result.time, record.finished);
  text += fmt::format(
      "bounds   {} <= time <= {}  (longest path and each rank's work; everything one after the other)\n\n",
      readable_time(result.lower_bound),
      result.upper_bound == kNever ? "none" : readable_time(result.upper_bound));
  if (!result.ranks.empty()) {
    Table table({"time of a rank", "max", "mean", "share"});
    for (const Category& c : kCategories) {
      Picoseconds most = 0;
      Wide sum = 0;
      for (const RankRow& row : result.ranks) {
        most = std::max(most, row.time.*c.time);
        sum += row.time.*c.time;
      }
      const auto mean = static_cast<Picoseconds>(sum / result.ranks.size());
      table.row({c.words, readable_time(most), readable_time(mean),
                 fmt::format("{:.1f} %", 100 * fraction(mean, result.time))});
    }
    text += table.str() + "\n";
  }
  if (!result.collectives.empty()) {
    Table table({"collective", "count", "bytes", "time", "queue", "network", "algbw GB/s", "busbw GB/s",
                 "efficiency"});
    const auto operations = by_operation(result);
    for (int op = 0; op < kCollectiveOps; ++op) {
      const Operation& o = operations[static_cast<size_t>(op)];
      if (o.count == 0) continue;
      const auto ps = [](Wide time) {
        return readable_time(time < kNever ? static_cast<Picoseconds>(time) : kNever);
      };
      table.row({to_string(static_cast<CollectiveOp>(op)), grouped(o.count),
                 readable_size(static_cast<uint64_t>(o.bytes)), ps(o.time), ps(o.queue), ps(o.network),
                 fmt::format("{:.2f}", o.algorithm_bandwidth() / 1e9),
                 fmt::format("{:.2f}", o.bus_bandwidth() / 1e9),
                 fmt::format("{:.1f} %", 100 * o.efficiency())});
    }
    text += table.str() + "\n";
  }
  text += layer_table(record);
  text += links_text(result);
  const std::string congestion = congestion_text(record.config, result.congestion);
  if (!congestion.empty()) text += "ecn      " + congestion + "\n";
  text += pauses_text(result);
  if (result.folded_collectives != 0) {
    text += fmt::format(
        "folded   {} of {} collectives, told from one rank for all members; {} of {} ranks built\n",
        grouped(result.folded_collectives), grouped(result.collectives.size()),
        grouped(result.simulated_ranks), grouped(result.ranks.size()));
  }
  text += footprint_text(result);
  text += work_text(result, record.wall_s, record.peak_rss_MiB);
  return text;
}

}  // namespace weft::cli
