// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/traffic_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>
#include <vector>

#include "configs/ticks.h"
#include "configs/units.h"
#include "sc_main/console.h"
#include "sc_main/decimal.h"
#include "sc_main/interruption.h"
#include "sc_main/json_text.h"
#include "sc_main/table.h"

namespace weft::cli {

using packet::FlitSwitching;
using packet::TrafficConfig;
using packet::TrafficPoint;
using packet::TrafficResult;

void warn_of_traffic(const TrafficResult& result) {
  if (result.overruns != 0)
    warn(
        fmt::format("{} packets found a full buffer without having been paused; a lossless link would have "
                    "dropped them, here they waited: lower --pfc-xoff or enlarge --buffer",
                    grouped(result.overruns)));
  std::vector<std::string> saturated, none, empty;
  for (const TrafficPoint& p : result.points) {
    if (p.saturated) saturated.push_back(json_number(p.load));
    if (p.packets == 0) (p.saturated ? none : empty).push_back(json_number(p.load));
  }
  if (!saturated.empty())
    warn(
        fmt::format("saturated at load {}: the latency there is that of the packets which arrived, and grows "
                    "with --measure",
                    fmt::join(saturated, ", ")));
  if (!none.empty())
    warn(fmt::format(
        "no measured packet arrived at load {}: those from before the measurement were still waiting; "
        "shorten --warmup or lengthen --measure",
        fmt::join(none, ", ")));
  if (!empty.empty())
    warn(
        fmt::format("no packet was measured at load {}: lengthen --measure, or give a pattern in which ranks "
                    "send",
                    fmt::join(empty, ", ")));
}

std::string traffic_json(const TrafficConfig& c, const TrafficResult& result) {
  JsonText json;
  json.begin_object();
  json.key("points").begin_array();
  for (const TrafficPoint& p : result.points) {
    json.begin_object();
    json.key("load").number(p.load);
    for (const auto& [key, cycles] :
         {std::pair<const char*, double>{"avg_latency", p.avg_latency},
          std::pair<const char*, double>{"p50", p.p50}, std::pair<const char*, double>{"p99", p.p99}}) {
      json.key(key);
      if (p.packets == 0) {
        json.null();  // none arrived: no latency, which is not one of 0
      } else {
        json.number(cycles);
      }
    }
    json.key("accepted").number(p.accepted);
    if (c.network.ecn.enabled) {
      json.key("packets_marked").number(p.packets_marked);
      json.key("notifications").number(p.notifications);
      json.key("flows_slowed").number(p.flows_slowed);
    }
    if (c.topology.has_pfc()) {
      json.key("pauses").number(p.pauses);
      json.key("paused_share").number(p.paused_share);
      json.key("overruns").number(p.overruns);
    }
    json.end_object();
  }
  json.end_array();
  json.key("finished").boolean(!interrupted());
  json.key("saturation").number(result.saturation);
  json.key("packet_hops").number(result.packet_hops);
  json.key("wall_s").number(fmt::format("{:.6f}", result.wall_s));
  json.end_object();
  return json.str();
}

std::string traffic_table(const std::string& pattern, const TrafficConfig& c, const TrafficResult& result) {
  std::string text = fmt::format(
      "# {} on {} ({} ranks), routing {}, {}\n"
      "# packets of {} flits, {} VCs of {} flits, {} seed{}; latency in cycles of {}, rates in flits per "
      "node "
      "and cycle\n",
      pattern, c.topology.name, grouped(c.topology.nis.size()),
      c.network.routing.empty() ? c.topology.routing : c.network.routing,
      c.network.switching == FlitSwitching::packet_held ? "packet_held" : "flit_interleaved", c.packet_flits,
      c.network.vcs, c.network.buffer_flits, c.seeds, c.seeds == 1 ? "" : "s",
      c.network.cycle % kTicksPerPicosecond == 0 ? readable_time(picoseconds(c.network.cycle))
                                                 : print_ticks(c.network.cycle));
  const bool ecn = c.network.ecn.enabled;
  const bool pfc = c.topology.has_pfc();
  std::vector<std::string> heads{"# load", "avg latency", "p50", "p99", "accepted"};
  if (ecn) heads.insert(heads.end(), {"marked", "notifications", "flows slowed"});
  if (pfc) heads.insert(heads.end(), {"pauses", "paused", "overruns"});
  heads.emplace_back("");
  Table table(heads);
  for (const TrafficPoint& p : result.points) {
    const auto cycles = [&](double value, int digits) {
      return p.packets == 0 ? std::string("-") : fmt::format("{:.{}f}", value, digits);
    };
    std::vector<std::string> row{json_number(p.load), cycles(p.avg_latency, 2), cycles(p.p50, 1),
                                 cycles(p.p99, 1), fmt::format("{:.4f}", p.accepted)};
    if (ecn)
      row.insert(row.end(), {grouped(p.packets_marked), grouped(p.notifications), grouped(p.flows_slowed)});
    if (pfc)
      row.insert(row.end(),
                 {grouped(p.pauses), fmt::format("{:.2f} %", 100 * p.paused_share), grouped(p.overruns)});
    row.emplace_back(p.saturated ? "saturated" : "");
    table.row(row);
  }
  return text + table.str() +
         fmt::format("# saturation {:.4f} (accepted at load 1); {} packet-hops in {:.2f} s\n",
                     result.saturation, grouped(result.packet_hops), result.wall_s);
}

}  // namespace weft::cli
