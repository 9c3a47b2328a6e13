// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/command_traffic.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <systemc>
#include <thread>
#include <vector>

#include "configs/input_file.h"
#include "configs/keys.h"
#include "configs/loader.h"
#include "configs/packet_timing.h"
#include "configs/stop.h"
#include "configs/units.h"
#include "sc_main/console.h"
#include "sc_main/decimal.h"
#include "sc_main/interruption.h"
#include "sc_main/load_list.h"
#include "sc_main/memory_check.h"
#include "sc_main/progress.h"
#include "sc_main/simulation.h"
#include "sc_main/size_list.h"
#include "sc_main/text_options.h"
#include "sc_main/traffic_report.h"
#include "sc_main/workload.h"
#include "sc_models/packet_region.h"
#include "tlm_interconnect/packet/buffer_check.h"
#include "tlm_interconnect/packet/config_topology.h"
#include "tlm_interconnect/packet/dependency_check.h"
#include "tlm_interconnect/packet/traffic.h"
#include "tlm_interconnect/policies/routing/routing_policy.h"
#include "tlm_interconnect/policies/selection/selection_policy.h"

namespace weft::cli {
namespace {

using packet::FlitSwitching;
using packet::LinkTiming;
using packet::PacketConfig;
using packet::PacketTopology;
using packet::TopologyDimension;
using packet::TrafficConfig;
using packet::TrafficPattern;
using packet::TrafficPoint;
using packet::TrafficResult;

/// Above this a search for cycles of buffers may take longer than the run.
constexpr uint32_t kMostCheckedRanks = 1024;
constexpr uint64_t kMostCheckedSteps = 500000000;
constexpr uint32_t kMostPacketFlits = 65535;
constexpr uint64_t kMostCycles = 1000000000;  ///< of warm-up and of measurement
constexpr uint64_t kLongWay = 50000;          ///< cycles up to which both always grow with twice the way
constexpr double kMostBursts = 6e6;           ///< .. beyond that while a run at load 1 moves no more of them

struct TrafficOptions {
  std::string config, topology;
  std::vector<std::string> sets;
  std::string flit_size, link_latency;
  std::string pattern = "uniform", load = "0.1:0.9:0.1", injection = "bernoulli";
  std::string hotspot_rank, hotspot_weight;
  // Those that are not given are the configuration's, or the defaults of PacketConfig.
  std::string packet_flits, vcs, buffer, switching, routing, selection, vc_classes, seed;
  std::string pfc_xoff, pfc_xon, pfc_delay;
  bool pfc = false;
  std::string seeds = "3", warmup, measure, jobs;
  bool no_self = false;
  bool force = false;
  bool json = false;
};

[[noreturn]] void fail(const std::string& message) {
  throw UserError(ExitCode::usage, message);
}

uint32_t small(const char* option, const std::string& text, uint32_t least, uint32_t most) {
  return static_cast<uint32_t>(parse_whole(option, text, least, most));
}

/// One of several words.
void check_word(const char* option, const std::string& word, const std::vector<std::string>& words) {
  if (std::find(words.begin(), words.end(), word) != words.end()) return;
  const std::string near = nearest_name(word, words);
  fail(fmt::format("{} '{}': unknown{}; one of {}", option, word,
                   near.empty() ? "" : fmt::format(" (did you mean {}?)", near), fmt::join(words, ", ")));
}

/// Calls the function. A UserError of it gets the option in front of its text.
template <typename Function>
auto through(const std::string& option, const Function& function) {
  try {
    return function();
  } catch (const UserError& e) {
    throw UserError(e.code(), fmt::format("{}: {}", option, e.what()));
  }
}

/// Cycles on links between the ranks farthest apart, or more.
uint64_t longest_way(const PacketTopology& topology, Ticks cycle) {
  Ticks way = 0;
  if (topology.dimensions.empty()) {
    for (const LinkTiming& link : topology.links) way = std::max(way, link.latency);
    uint32_t most = 0;
    for (const uint32_t hops : topology.hops_from(0))
      if (hops != PacketTopology::kUnreached) most = std::max(most, hops);
    way *= 2 * (topology.levels != 0 ? topology.levels : most + 1);
  }
  for (const TopologyDimension& d : topology.dimensions) {
    // In a tree two links of each level.
    way += (d.tree != nullptr ? 2 : d.shape.diameter()) * d.link.latency;
    for (const LinkTiming& level : d.levels) way += 2 * level.latency;
  }
  return way / cycle;
}

void set_pattern(const TrafficOptions& o, TrafficConfig& c) {
  std::vector<std::string> names = TrafficPattern::names();
  names.erase(std::remove(names.begin(), names.end(), "permutation"), names.end());
  c.pattern.self_destinations = !o.no_self;
  if (std::find(names.begin(), names.end(), o.pattern) != names.end()) {
    c.pattern.name = o.pattern;
  } else if (o.pattern.size() > 255 || input_exists(o.pattern)) {
    if (o.no_self)
      fail(fmt::format(
          "--no-self: the file {} says where each rank sends, and a rank that it sends to itself does; "
          "change the file, or leave the option out",
          o.pattern));
    c.pattern.name = "permutation";
    c.pattern.permutation = through("--pattern", [&] { return TrafficPattern::read_permutation(o.pattern); });
  } else {
    const std::string near = nearest_name(o.pattern, names);
    fail(fmt::format(
        "--pattern '{}': neither a pattern{} nor a file that can be read; one of {}, or a file "
        "with one destination a line, rank 0 first",
        o.pattern, near.empty() ? "" : fmt::format(" (did you mean {}?)", near), fmt::join(names, ", ")));
  }
  if (!o.hotspot_rank.empty()) {
    if (c.pattern.name != "hotspot" && c.pattern.name != "all_to_one")
      fail(fmt::format(
          "--hotspot-rank {}: --pattern {} has no such rank; give hotspot or all_to_one, or leave it out",
          o.hotspot_rank, o.pattern));
    c.pattern.hotspot_rank = small("--hotspot-rank", o.hotspot_rank, 0, ~uint32_t{0});
  }
  if (!o.hotspot_weight.empty()) {
    if (c.pattern.name != "hotspot")
      fail(fmt::format(
          "--hotspot-weight {}: --pattern {} draws no rank more often; give hotspot, or leave it out",
          o.hotspot_weight, o.pattern));
    c.pattern.hotspot_weight = through("--hotspot-weight", [&] { return parse_number(o.hotspot_weight); });
  }
  if (o.no_self && c.topology.nis.size() == 1)
    fail("--no-self: there is one rank, which can send to itself only; leave it out, or give more ranks");
  through("--pattern " + o.pattern, [&] { return TrafficPattern(c.pattern, c.topology), 0; });
}

/// The machine of a configuration: its links, and routers and packets as its section `packet` says. False:
/// its buffers are to cover the round trips.
bool take_configuration(const TrafficOptions& o, TrafficConfig& c) {
  const Config config = load_config(o.config, o.sets);
  std::vector<uint32_t> dimensions;
  for (uint32_t d = 0; d < config.fabric_dimensions().size(); ++d)
    if (config.fabric_dimensions()[d].size > 1) dimensions.push_back(d);
  PacketFabricConfig packet = packet_of_network(config, dimensions);
  if (!o.flit_size.empty())
    packet.flit_bytes = through("--flit-size", [&] { return parse_size_option(o.flit_size); });
  if (packet.flit_bytes == 0 || packet.flit_bytes > 65536)
    fail(fmt::format("--flit-size {}: give from 1 B to 64 KiB", o.flit_size));
  c.topology = through(o.config, [&] { return packet::make_topology(config, packet, {}); });
  PacketConfig& n = c.network;
  n = packet_network_config(config, {});
  n.virtual_networks = 1;  // synthetic traffic is of one
  c.flit_bytes = static_cast<uint32_t>(packet.flit_bytes);
  n.strict_priority = false;
  n.pfc.networks = ~0u;
  if (packet.cycle == 0) {  // auto: the time of a flit on the fastest link
    Ticks fastest = kNever;
    for (const LinkTiming& link : c.topology.links)
      if (link.flit_time != 0) fastest = std::min(fastest, link.flit_time);
    if (fastest != kNever) n.cycle = fastest;  // never: one NPU, no link
  }
  const uint64_t flits = packet_flits(packet);
  if (o.packet_flits.empty() && flits > kMostPacketFlits)
    fail(fmt::format("{}: packets of {} flits; at most {} are possible here: give --packet-flits", o.config,
                     flits, kMostPacketFlits));
  c.packet_flits = static_cast<uint32_t>(flits);
  n.buffer_flits = packet.buffer_flits;
  return packet.buffer_flits != 0;
}

/// Bursts that a cycle of load 1 makes in the whole network, about.
double bursts_of_a_cycle(const TrafficConfig& c) {
  double hops = 1;
  for (const TopologyDimension& d : c.topology.dimensions) hops += d.shape.mean_hops();
  if (c.topology.dimensions.empty()) hops = c.topology.levels != 0 ? 2 * c.topology.levels : 3;
  const bool single = c.network.switching == FlitSwitching::flit_interleaved;
  return hops * c.topology.ranks() / (single ? 1 : c.packet_flits);
}

/// Warm-up, measurement and drain, where they are not given. Long links need time to fill; links of very many
/// cycles get it only as far as a run stays short.
void set_cycles(const TrafficOptions& o, TrafficConfig& c) {
  const uint64_t way = longest_way(c.topology, c.network.cycle);
  const double bursts = bursts_of_a_cycle(c);
  uint64_t warmup = 5000 + 2 * way;
  uint64_t measure = 20000 + 2 * way;
  c.drain_cycles += 10 * way;
  const uint64_t affordable =
      std::max<uint64_t>(25000 + 2 * kLongWay, static_cast<uint64_t>(kMostBursts / bursts));
  if (way > kLongWay && warmup + measure > affordable) {
    measure = std::min(measure, std::max<uint64_t>(20000, affordable / 5));
    warmup = std::min(warmup, affordable - measure);
    c.drain_cycles = std::min(c.drain_cycles, 200000 + std::max(2 * way, affordable));
  }
  c.warmup_cycles = o.warmup.empty() ? warmup : parse_whole("--warmup", o.warmup, 0, kMostCycles);
  c.measure_cycles = o.measure.empty() ? measure : parse_whole("--measure", o.measure, 1, kMostCycles);
}

/// The network's topology, of a configuration or of a notation. False: its buffers are to cover the round
/// trips.
bool set_topology(const TrafficOptions& o, TrafficConfig& c) {
  // A notation in the place of a configuration's file is meant as --topology.
  const bool notation = o.config.find('(') != std::string::npos && !input_exists(o.config);
  const std::string given_topology = notation && o.topology.empty() ? o.config : o.topology;
  const std::string given_config = notation ? "" : o.config;
  if (given_config.empty() == given_topology.empty() || (notation && !o.topology.empty()))
    fail(given_config.empty() && given_topology.empty()
             ? "neither a configuration nor --topology is given; give one of them, for example --topology "
               "\"Mesh(8)_Mesh(8)\""
             : "a configuration and --topology were both given; keep one of the two (--set "
               "topology.notation=... changes the configuration's)");
  if (given_topology.empty()) {
    if (!o.link_latency.empty())
      fail(
          fmt::format("--link-latency {}: of --topology; a configuration has latencies of its own (--set "
                      "'topology.dimensions[*].latency=...' changes them)",
                      o.link_latency));
    return take_configuration(o, c);
  }
  if (!o.flit_size.empty())
    fail(
        fmt::format("--flit-size {}: of a configuration; with --topology all links take a flit a cycle, "
                    "whatever its size",
                    o.flit_size));
  if (!o.sets.empty()) fail("--set changes a configuration, but --topology is given; name a configuration");
  LinkTiming link;
  link.latency = (o.link_latency.empty() ? 1 : parse_whole("--link-latency", o.link_latency, 1, 1000000)) *
                 c.network.cycle;
  c.topology = through("--topology", [&] { return packet::make_from_notation(given_topology, link, {}); });
  return true;
}

/// What routers do: the policies, and the sources' injection.
void set_policies(const TrafficOptions& o, TrafficConfig& c) {
  PacketConfig& n = c.network;
  if (!o.switching.empty()) {
    check_word("--switching-mode", o.switching, {"packet_held", "flit_interleaved"});
    n.switching = o.switching == "packet_held" ? FlitSwitching::packet_held : FlitSwitching::flit_interleaved;
  }
  if (!o.vc_classes.empty()) {
    check_word("--vc-classes", o.vc_classes, {"dateline", "switched_dateline", "bubble", "none"});
    n.vc_classes = o.vc_classes;
    if (o.vc_classes == "bubble") n.strict_cut_through = true;  // without which it has no meaning
  }
  if (!o.routing.empty()) {
    check_word("--routing", o.routing, packet::routing_policy_names());
    n.routing = o.routing;
  }
  if (!o.selection.empty()) {
    check_word("--selection", o.selection, packet::selection_policy_names());
    n.selection = o.selection;
  }
  check_word("--injection", o.injection, {"bernoulli", "periodic"});
  c.injection = o.injection;
}

/// Priority flow control.
void set_pfc(const TrafficOptions& o, TrafficConfig& c) {
  PacketConfig& n = c.network;
  if (o.pfc)
    for (LinkTiming& link : c.topology.links) link.pfc = true;
  if (!c.topology.has_pfc() && !(o.pfc_xoff.empty() && o.pfc_xon.empty() && o.pfc_delay.empty()))
    fail("--pfc-xoff, --pfc-xon and --pfc-delay are of priority flow control; give --pfc as well");
  if (!o.pfc_xoff.empty()) n.pfc.xoff = small("--pfc-xoff", o.pfc_xoff, 1, 1u << 24);
  if (!o.pfc_delay.empty()) n.pfc.delay = parse_whole("--pfc-delay", o.pfc_delay, 0, 1000000) * n.cycle;
  if (c.topology.has_pfc() && n.vc_classes == "bubble")
    fail(
        "--vc-classes bubble keeps a ring moving by the room it leaves free, and a pause stops packets that "
        "have room; leave out one of the two");
}

void set_buffers(const TrafficOptions& o, bool sized, TrafficConfig& c) {
  PacketConfig& n = c.network;
  if (!o.buffer.empty()) {
    n.buffer_flits = small("--buffer", o.buffer, 1, 1u << 24);
  } else if (!sized) {
    std::vector<LinkTiming> links;
    for (const LinkTiming& link : c.topology.links)
      if (link.flit_time != 0) links.push_back(link);
    n.buffer_flits = covering_buffer(n, links, c.packet_flits);
  }
  if (n.pfc.xoff != packet::PfcConfig::kAuto && n.pfc.xoff > n.buffer_flits)
    fail(fmt::format("--pfc-xoff {}: a buffer has {} flits; give from 1 to {}, or a larger --buffer",
                     n.pfc.xoff, n.buffer_flits, n.buffer_flits));
  if (!o.pfc_xon.empty()) {
    const uint32_t xoff = n.pfc.xoff == packet::PfcConfig::kAuto ? n.buffer_flits : n.pfc.xoff;
    n.pfc.xon = small("--pfc-xon", o.pfc_xon, 0, xoff - 1);
  }
}

TrafficConfig make_traffic(const TrafficOptions& o) {
  TrafficConfig c;
  PacketConfig& n = c.network;
  const bool sized = set_topology(o, c);
  c.loads = parse_loads(o.load);
  if (!o.packet_flits.empty()) c.packet_flits = small("--packet-flits", o.packet_flits, 1, kMostPacketFlits);
  if (!o.vcs.empty()) n.vcs = o.vcs == "auto" ? 0 : small("--vcs", o.vcs, 1, packet::kMostVcs);
  c.seeds = small("--seeds", o.seeds, 1, 1000);
  if (!o.seed.empty()) n.seed = parse_whole("--seed", o.seed, 0, uint64_t{1} << 62);
  c.jobs =
      o.jobs.empty() ? std::max(1u, std::thread::hardware_concurrency()) : small("--jobs", o.jobs, 1, 1024);
  set_policies(o, c);
  if (n.vcs == 0)
    n.vcs = packet::fewest_vcs(n.routing.empty() ? c.topology.routing : n.routing, c.topology, n);
  set_pfc(o, c);
  set_buffers(o, sized, c);
  set_cycles(o, c);
  set_pattern(o, c);
  return c;
}

uint64_t ports_of(const PacketTopology& topology) {
  uint64_t ports = 0;
  for (const auto& router : topology.routers) ports += router.ports.size();
  return ports;
}

/// Warns of settings that work and are probably not meant.
void warn_beforehand(const TrafficConfig& c) {
  const auto ranks = static_cast<uint32_t>(c.topology.nis.size());
  // Also says, before anything runs, that the routing does not fit the topology or lacks VCs.
  const bool cheap =
      ranks <= kMostCheckedRanks && ports_of(c.topology) * c.network.vcs * ranks <= kMostCheckedSteps;
  if (cheap) {
    const std::string cycle = packet::find_dependency_cycle(c.topology, c.network);
    if (!cycle.empty()) warn(cycle);
  } else {
    note(fmt::format("weft: {} ranks: not checked for cycles of buffers beforehand; a deadlock ends the run",
                     grouped(ranks)));
  }
  const uint64_t way = longest_way(c.topology, c.network.cycle);
  if (c.warmup_cycles < way)
    warn(fmt::format(
        "the warm-up of {} cycles is shorter than the longest way through the links, {} cycles: what "
        "comes from far is not measured; lengthen --warmup and --measure",
        grouped(c.warmup_cycles), grouped(way)));
  const std::string unmarked = packet::marking_warning(c.topology, c.network, c.flit_bytes);
  if (!unmarked.empty()) warn(unmarked);
  for (size_t i = 0; i < c.topology.links.size(); ++i) {
    // Link 0 joins network interfaces to their routers: a cycle, or unused by a single switch.
    if (i == 0) continue;
    const LinkTiming& link = c.topology.links[i];
    // After those of each dimension come those of upper levels of trees, which have no name either.
    const std::string name =
        i > c.topology.dimensions.size()
            ? fmt::format("links with a flit every {} and a latency of {}",
                          print_ticks(link.flit_time == 0 ? c.network.cycle : link.flit_time),
                          print_ticks(link.latency == 0 ? c.network.cycle : link.latency))
            : fmt::format("links of dimension {}", i - 1);
    const std::string warning = packet::buffer_warning(name, c.network, link, c.packet_flits);
    if (!warning.empty()) warn(warning);
  }
  for (size_t i = 0; i < c.topology.links.size(); ++i) {
    if (!c.topology.links[i].pfc) continue;
    bool from_router = false;
    bool used = false;
    for (const packet::TopologyRouter& router : c.topology.routers) {
      for (const packet::TopologyPort& port : router.ports) {
        used = used || port.link == i;
        from_router = from_router || (port.link == i && !port.ni);
      }
    }
    if (!used) continue;
    const std::string name = c.topology.dimensions.empty() ? "links"
                             : i == 0                      ? "links of interfaces"
                                                           : fmt::format("links of dimension {}", i - 1);
    const std::string warning = packet::pfc_warning(name, c.network, c.topology.links[i], !from_router,
                                                    c.packet_flits, "--pfc-xoff", "--buffer");
    if (warning.empty()) continue;
    warn(warning);
    break;
  }
}

TrafficResult run(TrafficConfig config) {
  Progress progress(
      [](std::string_view text) {
        std::fwrite(text.data(), 1, text.size(), stderr);
        std::fflush(stderr);
      },
      isatty(STDERR_FILENO) == 1, "cycles");
  const double begin_s = wall_seconds();
  config.progress = [&](Picoseconds simulated, uint64_t done, uint64_t total) {
    progress.update(wall_seconds() - begin_s, simulated, done, total);
  };
  struct End {  // whatever comes next begins on a line of its own
    Progress& progress;
    ~End() { progress.end(); }
  } end{progress};
  try {
    return packet::run_traffic(config, [](Picoseconds time) {
      advance(sc_core::sc_time::from_value(time));
      if (stop_requested()) leave(interruption_code());  // a process of one point
    });
  } catch (const UserError& e) {
    if (e.code() != ExitCode::stall) throw;
    std::string text = e.what();
    while (!text.empty() && text.back() == '\n') text.pop_back();
    const std::string remedy =
        packet::deadlock_remedy(config.topology, config.network, [](const char* key, const char* value) {
          std::string option = key;
          std::replace(option.begin(), option.end(), '_', '-');
          return fmt::format("--{} {}", option, value);
        });
    throw UserError(
        ExitCode::stall,
        fmt::format("the network of {} hangs: nothing arrives any more.\n{}\n{}{}", config.topology.name,
                    text, config.topology.one_way() ? "In the configuration: " : "As options: ", remedy));
  }
}

/// Every process has a network of its own.
void check_memory(const TrafficOptions& options, const TrafficConfig& config) {
  const auto points = static_cast<double>(config.loads.size()) * config.seeds;
  const double processes = std::min<double>(config.jobs, points);
  const MemoryEstimate estimate =
      network_memory(config.topology, config.network, config.packet_flits, processes);
  MemoryRoom(options.force)
      .check(fmt::format("{} ({} NPUs), {} processes at a time", config.topology.name,
                         grouped(config.topology.ranks()), processes),
             estimate, [] { return std::string("use fewer of --jobs or --vcs, or fewer NPUs"); });
}

ExitCode traffic(const TrafficOptions& options) {
  const TrafficConfig config = make_traffic(options);
  check_memory(options, config);
  warn_beforehand(config);
  set_up_kernel();
  const TrafficResult result = run(config);
  accept_stop();
  const std::string table = traffic_table(options.pattern, config, result);
  if (options.json) {
    note(table);
    print(traffic_json(config, result));
  } else {
    print(table);
  }
  warn_of_traffic(result);
  if (interrupted()) {
    note(fmt::format("weft: error: {}: {} of {} loads are finished", interruption_text(),
                     result.points.size(), config.loads.size()));
    return interruption_code();
  }
  return ExitCode::done;
}

}  // namespace

void add_traffic_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<TrafficOptions>();
  TrafficOptions& o = *options;
  CLI::App* command =
      app.add_subcommand("traffic", "Load-latency curves of synthetic traffic on the packet-level fabric");
  TextOptions add(*command);
  add_config_option(*command, o.config, "The machine: a YAML file, or a notation as --topology takes it",
                    false);
  add_set_option(*command, o.sets, "Set a key of the configuration; repeatable");
  add("--flit-size", o.flit_size, "SIZE",
      "With CONFIG: bytes of a flit (default: its packet.flit_size). A cycle is its time on the fastest "
      "link");
  add("--topology", o.topology, "NOTATION",
      "Links of one flit a cycle: Mesh(8)_Mesh(8), Ring(4)_Switch(8), FatTree(k=4,n=3), "
      "Clos(hosts=4,leaves=8,spines=4), Ring(4)_FatTree(k=4,n=2)");
  add("--link-latency", o.link_latency, "CYCLES", "With --topology: of every link (default: 1)");
  add("--pattern", o.pattern, "NAME",
      "uniform (default), transpose, bit_complement, neighbor, hotspot, all_to_one, or a file with the "
      "destination of each rank on a line");
  add("--hotspot-rank", o.hotspot_rank, "RANK", "Of hotspot and all_to_one (default: 0)");
  add("--hotspot-weight", o.hotspot_weight, "W", "How often it is drawn, others counting 1 (default: 8)");
  command->add_flag("--no-self", o.no_self, "No rank sends to itself");
  add("--load", o.load, "LOADS",
      "Flits per rank and cycle: FIRST:LAST:STEP or a list (default: 0.1:0.9:0.1)");
  add("--injection", o.injection, "NAME", "bernoulli (default) or periodic");
  add("--packet-flits", o.packet_flits, "N", "Flits of a packet (default: 8, or CONFIG's)");
  add("--vcs", o.vcs, "N",
      "Virtual channels of a port, or 'auto': the fewest that the routing allows (default: 4, or CONFIG's)");
  add("--buffer", o.buffer, "FLITS", "Of a virtual channel (default: 16, or CONFIG's)");
  add("--switching-mode", o.switching, "MODE", "packet_held (default, or CONFIG's) or flit_interleaved");
  add("--routing", o.routing, "NAME",
      "dimension_order, minimal_adaptive, nearest_common_ancestor, shortest_path, table or up_down (default: "
      "what "
      "the topology is made for)");
  add("--selection", o.selection, "NAME",
      "Among equal routes: first, random, hash, spray, most_credits (default: by the routing)");
  add("--vc-classes", o.vc_classes, "NAME",
      "Of rings: dateline (default), switched_dateline, bubble, or none, which can deadlock");
  command->add_flag(
      "--pfc", o.pfc,
      "Priority flow control on every link: a receiver whose buffers fill up pauses its sender");
  add("--pfc-xoff", o.pfc_xoff, "FLITS",
      "In the buffers of an input, at which it pauses (default: the buffer less the headroom that is "
      "needed)");
  add("--pfc-xon", o.pfc_xon, "FLITS", "At which it resumes (default: a packet below)");
  add("--pfc-delay", o.pfc_delay, "CYCLES", "Of a pause, besides the time of a credit (default: 0)");
  add("--seeds", o.seeds, "N", "Runs a load; results are their means (default: 3)");
  add("--seed", o.seed, "N", "The first seed (default: 1, or CONFIG's run.seed)");
  add("--warmup", o.warmup, "CYCLES", "Before the measurement (default: 5000 and twice the longest way)");
  add("--measure", o.measure, "CYCLES", "Packets created in it are measured (default: 20000 and the same)");
  add("--jobs", o.jobs, "N", "Processes at a time (default: one a processor)");
  add_force_option(*command, o.force);
  command->add_flag("--json", o.json,
                    "Results as JSON on the standard output, the table on the standard error");
  command->footer(
      "Latency is from the creation of a packet to the arrival of its tail, in cycles; saturation is what "
      "is\n"
      "accepted at load 1.\n\n"
      "Examples:\n"
      "  weft traffic --topology \"Mesh(8)_Mesh(8)\" --pattern uniform --load 0.05:0.4:0.05 --seeds 3\n"
      "  weft traffic --topology \"FatTree(k=4,n=3)\" --pattern hotspot --hotspot-rank 5 --no-self --json\n"
      "  weft traffic \"Switch(8)\" --load 0.2:0.8:0.2 --seeds 5\n"
      "  weft traffic machine.yaml --flit-size \"64 B\" --buffer 256 --load 0.1,0.5");
  command->callback([options, &action] { action = [options] { return traffic(*options); }; });
}

}  // namespace weft::cli
