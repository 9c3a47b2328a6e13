// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sc_main/decimal.h"
#include "sc_main/json_text.h"
#include "sc_main/table.h"

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
    for (const CollectiveRow::Phase& phase : row.phases) {
      sum.queue += phase.queue;
      sum.network += phase.network;
    }
  }
  return sums;
}

struct LinkSums {
  uint64_t bytes = 0;
  Wide busy = 0;
  Picoseconds busiest = 0;
};

LinkSums sum_links(const RunResult& result) {
  LinkSums sums;
  for (const LinkRow& link : result.links) {
    sums.bytes += link.bytes;
    sums.busy += link.busy;
    sums.busiest = std::max(sums.busiest, link.busy);
  }
  return sums;
}

std::string whole(Wide value) {
  return value <= ~uint64_t{0} ? std::to_string(static_cast<uint64_t>(value)) : nanoseconds(value * 1000);
}

std::string csv(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

double fraction(Picoseconds part, Picoseconds total) {
  return total == 0 ? 0 : static_cast<double>(part) / static_cast<double>(total);
}

void write_ranks(const OutputFolder& folder, const RunRecord& record) {
  ResultFile file(folder.file("ranks.csv"));
  file.append("rank,time_ns,compute_ns,local_memory_ns,remote_memory_ns,communication_ns,idle_ns\n");
  for (const RankRow& row : record.result.ranks) {
    std::string line = fmt::format("{},{}", row.rank, nanoseconds(record.result.time));
    for (const Category& c : kCategories) line += "," + nanoseconds(row.time.*c.time);
    file.append(line + "\n");
  }
  file.close();
}

void write_collectives(const OutputFolder& folder, const RunRecord& record) {
  ResultFile file(folder.file("collectives.csv"));
  ResultFile phases(folder.file("phases.csv"));
  file.append(
      "stream,op,group,name,bytes,ranks,chunks,start_ns,end_ns,time_ns,lower_bound_ns,efficiency,algbw_GBps,"
      "busbw_GBps,queue_ns,network_ns,messages,message_bytes,message_queue_ns,message_serialise_ns,"
      "message_latency_ns,message_endpoint_ns,message_reduce_ns,folded_ranks\n");
  phases.append("stream,phase,what,queue_ns,network_ns\n");
  for (const CollectiveRow& row : record.result.collectives) {
    Wide queue = 0;
    Wide network = 0;
    for (size_t i = 0; i < row.phases.size(); ++i) {
      const CollectiveRow::Phase& phase = row.phases[i];
      queue += phase.queue;
      network += phase.network;
      phases.append(fmt::format("{},{},{},{},{}\n", row.stream, i, csv(phase.what), nanoseconds(phase.queue),
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
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", row.stream, to_string(row.op),
        csv(row.group), csv(row.name), row.bytes, row.ranks, row.chunks, times, nanoseconds(row.lower_bound),
        rates, nanoseconds(queue), nanoseconds(network), row.messages, row.message_bytes,
        nanoseconds(row.split.queue), nanoseconds(row.split.serialise), nanoseconds(row.split.latency),
        nanoseconds(row.split.endpoint), nanoseconds(row.split.reduce), row.folded_members));
  }
  file.close();
  phases.close();
}

void write_links(const OutputFolder& folder, const RunRecord& record) {
  ResultFile file(folder.file("links.csv"));
  file.append("name,to,dimension,bytes,messages,busy_ns,busy_fraction,queued_ns,packets\n");
  for (const LinkRow& row : record.result.links)
    file.append(fmt::format("{},{},{},{},{},{},{:.6f},{},{}\n", csv(row.name), csv(row.to), row.dimension,
                            row.bytes, row.messages, nanoseconds(row.busy),
                            fraction(row.busy, record.result.time), nanoseconds(row.queued), row.packets));
  file.close();
}

}  // namespace

bool complete(const CollectiveRow& row) {
  return row.started != kNever && row.members_done == row.ranks;
}

std::string check_lower_bound(const CollectiveRow& row) {
  if (!complete(row) || row.lower_bound <= row.time()) return "";
  return fmt::format("{} of {} bytes{}: took {} ns, less than its lower bound of {} ns", to_string(row.op),
                     row.bytes, row.group.empty() ? "" : fmt::format(" in group \"{}\"", row.group),
                     nanoseconds(row.time()), nanoseconds(row.lower_bound));
}

std::string summary_json(const RunRecord& record) {
  const RunResult& result = record.result;
  JsonText json;
  json.begin_object();
  json.key("weft_summary").number(uint64_t{kSummaryVersion});
  json.key("weft").text(WEFT_VERSION);
  json.key("config").text(record.config.file);
  json.key("notation").text(record.config.notation);
  json.key("npus").number(uint64_t{record.config.npus()});
  json.key("trace").text(record.config.workload.trace);
  json.key("nodes").number(result.nodes);
  json.key("finished").boolean(record.finished);
  json.key("time_ns").number(nanoseconds(result.time));
  json.key("lower_bound_ns").number(nanoseconds(result.lower_bound));
  json.key("upper_bound_ns").number(nanoseconds(result.upper_bound));
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
    json.end_object();
  }
  json.end_object();
  const LinkSums links = sum_links(result);
  json.key("links").begin_object();
  json.key("count").number(uint64_t{result.links.size()});
  json.key("bytes").number(links.bytes);
  json.key("busy_ns").number(nanoseconds(links.busy));
  json.end_object();
  json.key("messages").number(result.messages);
  json.key("events").number(result.events);
  json.key("packet_hops").number(result.packet_hops);
  json.key("flits").number(result.flits);
  json.key("memory_bytes").number(result.memory_bytes);
  json.key("out_of_order_starts").number(result.out_of_order_starts);
  json.key("fidelity").begin_array();
  for (const DimensionConfig& d : record.config.dimensions) json.text(to_string(d.fidelity));
  json.end_array();
  json.key("folded").boolean(result.folded);
  json.key("folding").begin_object();
  json.key("simulated_ranks").number(uint64_t{result.simulated_ranks});
  json.key("collectives").number(result.folded_collectives);
  json.key("of").number(uint64_t{result.collectives.size()});
  json.key("not_folded").begin_object();
  for (const auto& [reason, ranks] : result.unfolded) json.key(reason.c_str()).number(uint64_t{ranks});
  json.end_object();
  json.end_object();
  if (record.config.run.data != "none") {
    json.key("data").begin_object();
    json.key("element").text(record.config.run.element);
    json.key("reduce").text(record.config.run.reduce);
    json.key("collectives_verified").number(result.data_collectives);
    json.key("elements_verified").number(result.data_elements);
    json.end_object();
  }
  if (result.broken_invariants.empty()) {
    json.key("invariants").text("ok");
  } else {
    json.key("invariants").begin_array();
    for (const std::string& line : result.broken_invariants) json.text(line);
    json.end_array();
  }
  json.key("warnings").begin_array();
  for (const std::string& line : record.warnings) json.text(line);
  json.end_array();
  json.key("wall_s").number(fmt::format("{:.3f}", record.wall_s));
  json.key("peak_rss_MiB").number(fmt::format("{:.1f}", record.peak_rss_MiB));
  json.end_object();
  return json.str();
}

void write_results(const OutputFolder& folder, const RunRecord& record) {
  write_ranks(folder, record);
  write_collectives(folder, record);
  write_links(folder, record);
  folder.write("summary.json", summary_json(record));
}

std::string summary_text(const RunRecord& record) {
  const RunResult& result = record.result;
  std::string text =
      fmt::format("machine  {}: {} NPUs\n", record.config.notation, grouped(record.config.npus()));
  text += fmt::format("trace    {} ({} nodes)\n", record.config.workload.trace, grouped(result.nodes));
  text += fmt::format("time     {}{}\n", readable_time(result.time),
                      record.finished ? "" : "  (not finished: see the stall report)");
  text += fmt::format(
      "bounds   {} <= time <= {}  (longest path and each rank's work; everything one after the other)\n\n",
      readable_time(result.lower_bound), readable_time(result.upper_bound));
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
  const LinkSums links = sum_links(result);
  const Wide mean_busy = result.links.empty() ? 0 : links.busy / result.links.size();
  text += fmt::format("links    {}: {}, busy {:.1f} % on average, {:.1f} % the busiest\n",
                      grouped(result.links.size()), readable_size(links.bytes),
                      100 * fraction(static_cast<Picoseconds>(mean_busy), result.time),
                      100 * fraction(links.busiest, result.time));
  if (result.folded_collectives != 0) {
    text += fmt::format(
        "folded   {} of {} collectives, told from one rank for all members; {} of {} ranks built\n",
        grouped(result.folded_collectives), grouped(result.collectives.size()),
        grouped(result.simulated_ranks), grouped(result.ranks.size()));
  }
  text += fmt::format("work     {} messages, {} events; {:.2f} s, {:.0f} MiB\n", grouped(result.messages),
                      grouped(result.events), record.wall_s, record.peak_rss_MiB);
  return text;
}

}  // namespace weft::cli
