// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "configs/blueprint/shape.h"
#include "configs/dot_text.h"
#include "configs/graph.h"
#include "configs/graph_reader.h"
#include "configs/loader.h"
#include "configs/npu_list.h"
#include "configs/packet_timing.h"
#include "configs/rules_text.h"
#include "configs/tree.h"
#include "configs/units.h"

namespace weft {
namespace {

/// For reading, not for exact use: four digits.
std::string rounded_bandwidth(double bytes_per_second) {
  static const char* const units[] = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s", "EB/s"};
  int unit = 0;
  while (bytes_per_second >= 1000 && unit < 6) {
    bytes_per_second /= 1000;
    ++unit;
  }
  return fmt::format("{:.4g} {}", bytes_per_second, units[unit]);
}

std::string rounded_size(double bytes) {
  static const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  int unit = 0;
  while (bytes >= 1024 && unit < 6) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.4g} {}", bytes, units[unit]);
}

/// Exact where that is short, else rounded.
std::string shown_bandwidth(Rate rate) {
  const std::string exact = print_bandwidth(rate);
  return exact.size() <= 14 ? exact : rounded_bandwidth(rate.value());
}

std::string plural(uint64_t count, const char* word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

std::string link_label(const DimensionConfig& d) {
  return fmt::format("{}{}, {}", shown_bandwidth(d.bandwidth),
                     d.links_per_npu > 1 ? fmt::format(" x {}", d.links_per_npu) : "", print_time(d.latency));
}

std::string shortened(const std::string& text) {
  return text.size() <= 100 ? text : text.substr(0, 96) + " ..]";
}

const char* colour(size_t dimension) {
  static const char* const colours[] = {"#1b6ca8", "#b5482a", "#2f7d4f", "#7a4ea3", "#8a6d1d", "#3c7a7a"};
  return colours[dimension % 6];
}

/// One line's switches and links; `rank(c)` is the NPU at coordinate c.
template <typename Rank>
void draw_tree(const DimensionConfig& dim, const std::string& prefix, const std::string& label,
               const char* ink, const Rank& rank, std::string& out) {
  const Graph& graph = dim.tree->graph();
  for (uint32_t n = graph.npus(); n < graph.nodes(); ++n)
    out += fmt::format("  \"{}{}\" [label=\"{}{}\", shape=diamond, color=\"{}\"];\n", prefix, n, label,
                       dot_text(graph.name(n)), ink);
  for (size_t i = 0; i < graph.spec().links.size(); ++i) {
    const GraphLink& link = graph.spec().links[i];
    const uint32_t level = dim.tree->level_of_link(static_cast<uint32_t>(i));
    const std::string from =
        level == 0 ? fmt::format("n{}", rank(link.from)) : fmt::format("{}{}", prefix, link.from);
    out += fmt::format("  \"{}\" -- \"{}{}\"{};\n", from, prefix, link.to,
                       level == 0 ? "" : fmt::format(" [label=\"{}\"]", link_label(at_level(dim, level))));
  }
}

/// One line of a dimension: its switches, and an edge for every pair of nodes that links join.
template <typename Rank>
void draw_line(const DimensionConfig& dim, size_t d, uint32_t group, const Rank& rank, std::string& out) {
  const Shape shape(dim);
  if (shape.tree() != nullptr) {
    draw_tree(dim, fmt::format("s{}_{}_", d, group), fmt::format("{}.{} ", d, group), colour(d), rank, out);
    return;
  }
  if (shape.has_switches())
    out += fmt::format("  \"s{0}_{1}\" [label=\"switch {0}.{1}\", shape=diamond, color=\"{2}\"];\n", d, group,
                       colour(d));
  for (uint32_t c = 0; c < shape.size(); ++c) {
    for (uint32_t link = 0; link < shape.links(); ++link) {
      const uint32_t peer = shape.peer(c, link);
      if (peer == Shape::kSwitch) {
        out += fmt::format("  \"n{}\" -- \"s{}_{}\";\n", rank(c), d, group);
      } else if (shape.joins_neighbours()
                     ? link == Shape::kUp && (peer == c + 1 || shape.circular()) && peer != Shape::kNowhere
                     : peer > c) {
        out += fmt::format("  \"n{}\" -- \"n{}\";\n", rank(c), rank(peer));
      }
    }
  }
}

void draw_full(const Config& config, std::string& out) {
  const uint32_t npus = config.npus();
  for (uint32_t r = 0; r < npus; ++r) out += fmt::format("  \"n{}\" [label=\"NPU {}\"];\n", r, r);
  uint64_t inner = 1;
  for (size_t d = 0; d < config.fabric_dimensions().size(); ++d) {
    const DimensionConfig& dim = config.fabric_dimensions()[d];
    const uint64_t size = dim.size;
    out += fmt::format("  // dimension {}: {}, {}\n  edge [color=\"{}\"];\n", d, print_dimension(dim),
                       link_label(dim), colour(d));
    if (size > 1) {
      uint32_t group = 0;
      for (uint64_t first = 0; first < npus; ++first) {
        if ((first / inner) % size != 0) continue;
        const auto rank = [&](uint64_t i) { return first + i * inner; };
        draw_line(dim, d, group, rank, out);
        ++group;
      }
    }
    inner *= size;
  }
}

void draw_summary(const Config& config, std::string& out) {
  out += "  \"npu\" [label=\"NPU\"];\n";
  std::string previous = "npu";
  uint64_t inner = 1;
  for (size_t d = 0; d < config.fabric_dimensions().size(); ++d) {
    const DimensionConfig& dim = config.fabric_dimensions()[d];
    inner *= dim.size;
    out += fmt::format("  \"d{}\" [label=\"dimension {}: {}\\n{}\\n{} in one, {} in all\", color=\"{}\"];\n",
                       d, d, print_dimension(dim), link_label(dim), plural(inner, "NPU"),
                       config.npus() / inner, colour(d));
    out += fmt::format("  \"{}\" -- \"d{}\" [label=\"x {}\"];\n", previous, d, dim.size);
    previous = fmt::format("d{}", d);
  }
}

/// What remaps ranks: one line, or none.
std::string logical_text(const Config& config) {
  if (!config.remapped()) return "";
  std::string planned;
  for (const DimensionConfig& d : config.dimensions)
    planned += (planned.empty() ? "" : "_") + print_dimension(d);
  std::string out = fmt::format("logical topology: {}, which collectives plan on", planned);
  if (!config.mapping.empty())
    out += fmt::format("; ranks are at NPUs {}", shortened(print_npus(config.mapping)));
  return out + "\n";
}

/// A line a rule; nothing without any.
template <typename Rule>
std::string rules_text(const char* title, const std::vector<Rule>& rules, const char* otherwise) {
  if (rules.empty()) return {};
  std::string out = fmt::format("{}: the first that fits holds\n", title);
  for (size_t i = 0; i < rules.size(); ++i) {
    const std::string conditions = conditions_text(rules[i]);
    out += fmt::format("  [{}] {}: {}\n", i, conditions.empty() ? "everything" : conditions,
                       settings_text(rules[i]));
  }
  return out + fmt::format("  what fits none: {}\n", otherwise);
}

void graph_text(const Graph& graph, std::string& out) {
  const GraphSpec& spec = graph.spec();
  uint64_t directed = 0;
  double slowest = 0;
  double fastest = 0;
  Picoseconds shortest = kNever;
  Picoseconds longest = 0;
  for (const GraphLink& link : spec.links) {
    // Analytical: messages that leave a switch have no link of their own.
    const bool all = spec.fidelity != Fidelity::analytical;
    directed += all || graph.is_npu(link.from) ? 1 : 0;
    directed += link.bidirectional && (all || graph.is_npu(link.to)) ? 1 : 0;
    const double rate = link.rate().value();
    slowest = slowest == 0 ? rate : std::min(slowest, rate);
    fastest = std::max(fastest, rate);
    shortest = std::min(shortest, link.latency);
    longest = std::max(longest, link.latency);
  }
  out += fmt::format("graph: {}, {}, {} directed links; {} fidelity, {}, {} routing{}\n",
                     plural(spec.npus, "NPU"),
                     fmt::format("{} switch{}", spec.switches.size(), spec.switches.size() == 1 ? "" : "es"),
                     directed, to_string(spec.fidelity), to_string(spec.switching), spec.routing,
                     spec.npus_forward ? "" : ", NPUs forward nothing");
  if (spec.links.empty()) return;
  out += fmt::format("  link            {}{} a direction, {}{}\n",
                     slowest < fastest ? rounded_bandwidth(slowest) + " to " : "", rounded_bandwidth(fastest),
                     shortest < longest ? print_time(shortest) + " to " : "", print_time(longest));
  double least = graph.out_rate(0);
  double most = least;
  for (uint32_t n = 1; n < graph.npus(); ++n) {
    least = std::min(least, graph.out_rate(n));
    most = std::max(most, graph.out_rate(n));
  }
  out += fmt::format("  bandwidth       {}{} an NPU over all its links\n",
                     least < most ? rounded_bandwidth(least) + " to " : "", rounded_bandwidth(most));
  // All pairs of a large graph take long: look at the ways from some NPUs.
  const uint32_t sources = std::min<uint32_t>(graph.npus(), 64);
  uint32_t hops_most = 0;
  uint64_t hops_all = 0;
  Picoseconds latency_most = 0;
  for (uint32_t s = 0; s < sources; ++s) {
    for (uint32_t d = 0; d < graph.npus(); ++d) {
      if (d == s) continue;
      const Graph::Path path = graph.path(s, d, 0);
      hops_most = std::max(hops_most, path.hops);
      hops_all += path.hops;
      latency_most = std::max(latency_most, path.latency);
    }
  }
  if (graph.npus() > 1)
    out += fmt::format("  ways            {:.4g} hops in the mean, {} at most, {} at most{}\n",
                       static_cast<double>(hops_all) / (static_cast<double>(sources) * (graph.npus() - 1)),
                       hops_most, print_time(latency_most),
                       sources < graph.npus() ? fmt::format(" (from the first {} NPUs)", sources) : "");
}

/// Latencies and the upper levels of a tree.
void tree_text(const DimensionConfig& dim, std::string& out) {
  const Tree& tree = *dim.tree;
  const uint32_t most = tree.height();
  const uint32_t least = dim.size > 1 && !tree.uniform() ? 1 : most;
  const Picoseconds near = tree.latency(dim.latency, least);
  const Picoseconds far = tree.latency(dim.latency, most);
  out += fmt::format("  latency         {} to the leaf switch, {}{} from NPU to NPU\n",
                     print_time(dim.latency), near < far ? print_time(near) + " to " : "", print_time(far));
  for (uint32_t l = 1; l < tree.levels(); ++l) {
    const TreeLevel& level = tree.level(l);
    const double ratio = dim.link_rate().value() * tree.subtree(l) / (level.rate().value() * tree.uplinks(l));
    out += fmt::format("  level {:<9} {} a direction{}, {}{}\n", l, shown_bandwidth(level.bandwidth),
                       level.count > 1 ? fmt::format(" x {} parallel", level.count) : "",
                       print_time(level.latency),
                       ratio > 1 ? fmt::format(", oversubscribed {:.4g} to 1", ratio) : "");
  }
}

void draw_graph(const Config& config, std::string& out) {
  const Graph& graph = *config.graph;
  if (graph.nodes() > kDrawnNpus) {
    out += fmt::format(
        "  \"npus\" [label=\"{}\"];\n  \"fabric\" [label=\"{} switches, {} links\", shape=diamond];\n"
        "  \"npus\" -- \"fabric\";\n",
        plural(graph.npus(), "NPU"), graph.spec().switches.size(), graph.spec().links.size());
    return;
  }
  std::vector<uint32_t> rank(graph.npus());
  for (uint32_t r = 0; r < graph.npus(); ++r) rank[config.mapping.empty() ? r : config.mapping[r]] = r;
  for (uint32_t n = 0; n < graph.nodes(); ++n) {
    if (!graph.is_npu(n))
      out += fmt::format("  \"n{}\" [label=\"{}\", shape=diamond];\n", n, dot_text(graph.name(n)));
    else if (rank[n] == n)
      out += fmt::format("  \"n{}\" [label=\"NPU {}\"];\n", n, n);
    else
      out += fmt::format("  \"n{}\" [label=\"NPU {}\\nrank {}\"];\n", n, n, rank[n]);
  }
  for (const GraphLink& link : graph.spec().links)
    out +=
        fmt::format("  \"n{}\" -- \"n{}\" [label=\"{}{}, {}\"{}];\n", link.from, link.to,
                    shown_bandwidth(link.bandwidth), link.count > 1 ? fmt::format(" x {}", link.count) : "",
                    print_time(link.latency), link.bidirectional ? "" : ", dir=forward");
}

std::string describe_collectives(const CollectivesConfig& collectives) {
  if (collectives.library.on()) return fmt::format("collectives by {}", to_string(collectives.library.kind));
  return fmt::format("collectives in {}, {} order",
                     collectives.chunks == kAutoChunks ? std::string("as many chunks as pay (auto)")
                                                       : plural(collectives.chunks, "chunk"),
                     to_string(collectives.order));
}

}  // namespace

std::string machine_name(const Config& config) {
  return config.graph != nullptr && config.notation.empty() ? "Graph" : config.notation;
}

uint64_t dimension_links(const Config& config, size_t dimension) {
  return directed_links(config.fabric_dimensions()[dimension], config.npus());
}

double dimension_bisection(const Config& config, size_t dimension) {
  const DimensionConfig& d = config.fabric_dimensions()[dimension];
  const uint64_t n = d.size;
  if (n < 2) return 0;
  // With one queue, or where all go one way, messages go round in one direction only.
  const uint32_t queues = d.queues != 0 ? d.queues : config.collectives.queues_per_dimension;
  const uint64_t crossing = Shape(d).crossing_links(queues == 1 || d.direction == RingDirection::one_way);
  double cut = d.link_rate().value() * static_cast<double>(crossing);
  for (uint32_t l = 1; d.tree != nullptr && l < d.tree->height(); ++l)
    cut = std::min(cut, static_cast<double>(n / 2) * d.tree->uplinks(l) / d.tree->subtree(l) *
                            d.tree->level(l).rate().value());
  return cut * static_cast<double>(config.npus() / n);
}

std::string describe_text(const Config& config) {
  std::string out;
  if (config.graph != nullptr) {
    graph_text(*config.graph, out);
  } else {
    out = fmt::format("{}: {} in {}\n", config.notation, plural(config.npus(), "NPU"),
                      plural(config.fabric_dimensions().size(), "dimension"));
  }
  out += logical_text(config);
  uint64_t links = 0;
  double per_npu_total = 0;
  double bisection = 0;
  size_t narrowest = 0;
  for (size_t d = 0; d < config.fabric_dimensions().size(); ++d) {
    const DimensionConfig& dim = config.fabric_dimensions()[d];
    const Shape shape(dim);
    const uint32_t used =
        shape.links_at_once(dim.size, neighbour_links_used(dim, config.collectives.queues_per_dimension));
    const double per_npu = dim.size > 1 ? dim.link_rate().value() * used : 0;
    const double cut = dimension_bisection(config, d);
    out += fmt::format("dimension {}: {}, {} fidelity, {}\n", d, print_dimension(dim),
                       to_string(dim.fidelity), to_string(dim.switching));
    out += fmt::format("  link            {} a direction{}\n", shown_bandwidth(dim.bandwidth),
                       dim.links_per_npu > 1 ? fmt::format(" x {} parallel", dim.links_per_npu) : "");
    if (dim.tree != nullptr) {
      tree_text(dim, out);
    } else {
      out += fmt::format("  latency         {} a hop, {} from NPU to {}NPU\n", print_time(dim.latency),
                         print_time(nearest_latency(dim)), shape.joins_neighbours() ? "neighbour " : "");
    }
    if (dim.nic_latency != 0)
      out += fmt::format("  interfaces      {} at each end of a message\n", print_time(dim.nic_latency));
    if (dim.endpoint_delay != kNever)
      out += fmt::format("  endpoint delay  {}\n", print_time(dim.endpoint_delay));
    if (dim.fidelity == Fidelity::packet &&
        (dim.packet_bytes != 0 || dim.phit_bytes != 0 || dim.header_efficiency != 0)) {
      const PacketFabricConfig own = packet_of(config.packet, dim);
      out += fmt::format(
          "  packets         of {}, phits of {}, header efficiency {:g}\n", print_size(own.packet_bytes),
          print_size(own.phit_bytes == 0 ? own.flit_bytes : own.phit_bytes), own.header_efficiency);
    }
    out += fmt::format("  in flight       {} a link (bandwidth x latency)\n",
                       rounded_size(dim.link_rate().value() * static_cast<double>(dim.latency) * 1e-12));
    out += fmt::format("  bandwidth       {} an NPU\n", rounded_bandwidth(per_npu));
    if (dim.size > 1)
      out += fmt::format("  bisection       {} a direction, whole machine\n", rounded_bandwidth(cut));
    out += fmt::format("  directed links  {}", dimension_links(config, d));
    if (const uint32_t switches = config.npus() / dim.size * shape.switches(); switches != 0) {
      out += fmt::format(", {} switch{}", switches, switches == 1 ? "" : "es");
    }
    out += "\n";
    links += dimension_links(config, d);
    per_npu_total += per_npu;
    if (cut > 0 && (bisection == 0 || cut < bisection)) {
      bisection = cut;
      narrowest = d;
    }
  }
  if (config.graph == nullptr) {
    out += fmt::format("machine: {} directed links, {} an NPU over all dimensions", links,
                       rounded_bandwidth(per_npu_total));
    if (bisection > 0)
      out +=
          fmt::format(", bisection {} a direction (dimension {})", rounded_bandwidth(bisection), narrowest);
    out += "\n";
  }
  out += fmt::format(
      "NPU: peak {}, memory {} for the roofline{}{}\n",
      config.npu.peak_flops > 0 ? print_compute(config.npu.peak_flops) : "none",
      config.npu.memory_bandwidth > 0 ? print_bandwidth_value(config.npu.memory_bandwidth) : "none",
      config.npu.roofline ? " (which replaces recorded durations)" : "",
      config.npu.model == "systolic"
          ? fmt::format("; matrix products on a systolic array of {} x {}, {}, {}", config.npu.rows,
                        config.npu.cols, config.npu.dataflow, config.npu.clock)
          : "");
  out += fmt::format("HBM: {} model, {}, {}, {}\n", config.hbm.model, shown_bandwidth(config.hbm.bandwidth),
                     print_time(config.hbm.latency),
                     config.hbm.capacity > 0 ? print_size(config.hbm.capacity) : "unlimited capacity");
  if (config.remote_memory)
    out += fmt::format("remote memory: {} an NPU, {}\n", shown_bandwidth(config.remote_memory->bandwidth),
                       print_time(config.remote_memory->latency));
  if (config.memory_pool) out += describe_pool(*config.memory_pool, config.npus());
  if (config.host_memory)
    out += describe_tiers(*config.host_memory, config.nvme ? &*config.nvme : nullptr, config.npus());
  out += fmt::format("NMU: endpoint delay {}; {}\n", print_time(config.nmu.endpoint_delay),
                     describe_collectives(config.collectives));
  out += rules_text("rules for collectives", config.collectives.rules, "the general settings");
  out += rules_text("fidelity rules", config.fidelity_rules, "its dimensions' own fidelity");
  return out;
}

std::string describe_dot(const Config& config) {
  const uint32_t npus = config.npus();
  const bool full = (config.graph != nullptr ? config.graph->nodes() : npus) <= kDrawnNpus;
  std::string title = fmt::format("{}: {}", machine_name(config), plural(npus, "NPU"));
  if (!full)
    title += fmt::format("; summarised, as only machines of up to {} {} are drawn in full", kDrawnNpus,
                         config.graph != nullptr ? "nodes" : "NPUs");
  std::string out = fmt::format(
      "graph \"weft\" {{\n  label=\"{}\";\n  labelloc=t;\n  {}node [shape=box, fontname=\"Helvetica\"];\n  "
      "edge "
      "[fontname=\"Helvetica\"];\n",
      dot_text(title), full ? "layout=neato;\n  overlap=false;\n  " : "");
  if (config.graph != nullptr)
    draw_graph(config, out);
  else if (full)
    draw_full(config, out);
  else
    draw_summary(config, out);
  if (config.memory_pool) out += draw_pool(*config.memory_pool, npus, full && config.graph == nullptr);
  if (config.host_memory)
    out += draw_tiers(*config.host_memory, config.nvme ? &*config.nvme : nullptr, npus,
                      full && config.graph == nullptr);
  return out + "}\n";
}

}  // namespace weft
