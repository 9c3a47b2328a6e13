// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What a run tells people on the console: tables and lines.

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "configs/describe.h"
#include "sc_main/decimal.h"
#include "sc_main/footprint_results.h"
#include "sc_main/interruption.h"
#include "sc_main/result_sums.h"
#include "sc_main/results.h"
#include "sc_main/sampled_results.h"
#include "sc_main/table.h"
#include "sc_main/train_results.h"

namespace weft::cli {
namespace {

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
  const WorkloadConfig& workload = record.config.workload;
  if (!workload.goal.empty())
    text += fmt::format("goal     {} ({} operations)\n", workload.goal, grouped(result.nodes));
  else if (workload.text.file.empty())
    text += fmt::format("trace    {} ({} nodes)\n", workload.trace, grouped(result.nodes));
  else
    text += fmt::format("text     {} ({} passes, {} nodes)\n", workload.text.file, workload.text.passes,
                        grouped(result.nodes));
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
  const std::string trains = trains_text(result.trains);
  if (!trains.empty()) text += "trains   " + trains + "\n";
  const std::string sampling = sampling_text(result.sampled, result.time);
  if (!sampling.empty()) text += "sampled  " + sampling + "\n";
  if (result.folded_collectives != 0) {
    text += fmt::format(
        "folded   {} of {} collectives, told from one rank for all members; {} of {} ranks built\n",
        grouped(result.folded_collectives), grouped(result.collectives.size()),
        grouped(result.simulated_ranks), grouped(result.ranks.size()));
  }
  text += footprint_text(result);
  if (record.parts != nullptr) text += parts_text(*record.parts);
  text += work_text(result, record.wall_s, record.peak_rss_MiB);
  return text;
}

}  // namespace weft::cli
