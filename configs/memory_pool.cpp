// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/memory_pool.h"

#include <fmt/format.h>

#include <cmath>

#include "configs/units.h"

namespace weft {
namespace {

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// A whole number of `least` or more, of at most four digits.
uint32_t number_of(const std::string& text, const std::string& whole, const char* allowed) {
  const std::string word = trimmed(text);
  if (word.empty() || word.size() > 4 || word.find_first_not_of("0123456789") != std::string::npos ||
      std::stoul(word) == 0)
    throw UserError(ExitCode::usage, fmt::format("'{}' holds '{}'; allowed: {}", whole, word, allowed));
  return static_cast<uint32_t>(std::stoul(word));
}

std::string times(uint64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : std::string(what).back() == 'h' ? "es" : "s");
}

}  // namespace

const char* to_string(PoolDesign design) {
  static const char* const names[] = {"hierarchical", "multi_level", "ring", "mesh", "graph"};
  return names[static_cast<size_t>(design)];
}

const char* to_string(PoolSplit split) {
  return split == PoolSplit::fluid ? "fluid" : "whole";
}

const char* to_string(PoolPlacement placement) {
  return placement == PoolPlacement::interleaved ? "interleaved" : "edge";
}

const char* to_string(PoolOperation operation) {
  static const char* const names[] = {"load", "store", "gather_load", "scatter_store"};
  return names[static_cast<size_t>(operation)];
}

Rate MemoryPoolConfig::group_rate() const {
  if (efficiency == 1) return group_bandwidth;
  return lowest_terms({static_cast<uint64_t>(
                           std::llround(static_cast<double>(group_bandwidth.bytes_per_second) * efficiency)),
                       group_bandwidth.divisor});
}

uint32_t MemoryPoolConfig::ways() const {
  uint64_t ways = 1;
  for (const PoolLevel& level : upper) ways *= level.switches;
  return static_cast<uint32_t>(ways);
}

std::vector<PoolLevel> parse_pool_levels(const std::string& text, Rate link) {
  static const char* const allowed =
      "numbers of switches from 1 to 9999 between commas, from the in-node switches up, each with the "
      "bandwidth of a link downwards if it is not `out_node_bandwidth`, such as \"8, 4 x 512 GB/s\"";
  std::vector<PoolLevel> levels;
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    const std::string entry = text.substr(begin, comma - begin);
    const size_t x = entry.find('x');
    PoolLevel level{number_of(entry.substr(0, x), text, allowed), link};
    if (x != std::string::npos) level.bandwidth = parse_bandwidth(trimmed(entry.substr(x + 1)));
    levels.push_back(level);
    begin = comma + 1;
  }
  uint64_t ways = 1;
  for (const PoolLevel& level : levels) {
    ways *= level.switches;
    if (ways > 65536)
      throw UserError(ExitCode::usage,
                      fmt::format("'{}' gives more than 65536 ways through the levels; use fewer", text));
  }
  return levels;
}

void parse_pool_shape(const std::string& text, uint32_t& width, uint32_t& height) {
  static const char* const allowed = "width and height from 1 to 9999, such as 8x4";
  const size_t x = text.find('x');
  if (x == std::string::npos)
    throw UserError(ExitCode::usage, fmt::format("'{}' is no shape; allowed: {}", text, allowed));
  width = number_of(text.substr(0, x), text, allowed);
  height = number_of(text.substr(x + 1), text, allowed);
}

std::string describe_pool(const MemoryPoolConfig& pool, uint32_t npus) {
  std::string out =
      fmt::format("memory pool: {}{}, {} of {}, {} of {}; {} fidelity\n", to_string(pool.design),
                  pool.design != PoolDesign::mesh
                      ? std::string()
                      : fmt::format(" {}x{}, {}", pool.width, pool.height, to_string(pool.placement)),
                  times(pool.nodes, "node"), times(npus / pool.nodes, "NPU"), times(pool.groups, "group"),
                  print_bandwidth(pool.group_bandwidth), to_string(pool.fidelity));
  for (size_t l = 0; l < pool.upper.size(); ++l)
    out += fmt::format(
        "  {:<15} {} a link to a switch below\n",
        fmt::format("{}", times(pool.upper[l].switches,
                                pool.design == PoolDesign::hierarchical ? "out switch" : "switch")),
        print_bandwidth(pool.upper[l].bandwidth));
  if (pool.design == PoolDesign::ring || pool.design == PoolDesign::mesh)
    out += fmt::format("  neighbours      {} a direction\n", print_bandwidth(pool.out_node_bandwidth));
  if (pool.design != PoolDesign::graph)
    out +=
        fmt::format("  NPU             {} a direction{}, {} a hop\n", print_bandwidth(pool.in_node_bandwidth),
                    pool.share ? fmt::format(" (the links of dimension {})", *pool.share) : std::string(),
                    print_time(pool.latency));
  out += fmt::format("  chunks          {}, split {}, striping {}\n", print_size(pool.chunk),
                     to_string(pool.split), pool.striping);
  return out;
}

std::string draw_pool(const MemoryPoolConfig& pool, uint32_t npus, bool full) {
  if (pool.design == PoolDesign::graph) return {};
  std::string out = "  // the memory pool\n  edge [color=\"#555555\"];\n";
  const auto node = [&](const std::string& id, const std::string& label, const char* shape) {
    out += fmt::format("  \"{}\" [label=\"{}\", shape={}];\n", id, label, shape);
  };
  const auto edge = [&](const std::string& a, const std::string& b, const std::string& label) {
    out += fmt::format("  \"{}\" -- \"{}\"{};\n", a, b,
                       label.empty() ? std::string() : fmt::format(" [label=\"{}\"]", label));
  };
  if (!full) {
    node("pool_in", times(pool.nodes, "in-node switch"), "diamond");
    edge("npu", "pool_in", fmt::format("x {}", npus / pool.nodes));
    std::string below = "pool_in";
    for (size_t l = 0; l < pool.upper.size(); ++l) {
      const std::string id = fmt::format("pool_{}", l);
      node(id, times(pool.upper[l].switches, "switch"), "diamond");
      edge(below, id, print_bandwidth(pool.upper[l].bandwidth));
      below = id;
    }
    node("pool_groups",
         fmt::format("{}\\n{}", times(pool.groups, "memory group"), print_bandwidth(pool.group_bandwidth)),
         "cylinder");
    edge(below, "pool_groups", pool.upper.empty() ? to_string(pool.design) : "");
    return out;
  }
  const uint32_t per_node = npus / pool.nodes;
  for (uint32_t n = 0; n < pool.nodes; ++n) {
    node(fmt::format("pool_in{}", n), fmt::format("in switch {}", n), "diamond");
    for (uint32_t i = 0; i < per_node; ++i)
      edge(fmt::format("n{}", n * per_node + i), fmt::format("pool_in{}", n), "");
  }
  for (uint32_t r = 0; r < pool.groups; ++r)
    node(fmt::format("pool_group{}", r), fmt::format("memory group {}", r), "cylinder");
  std::vector<std::string> below;
  for (uint32_t n = 0; n < pool.nodes; ++n) below.push_back(fmt::format("pool_in{}", n));
  for (size_t l = 0; l < pool.upper.size(); ++l) {
    std::vector<std::string> here;
    for (uint32_t s = 0; s < pool.upper[l].switches; ++s) {
      here.push_back(fmt::format("pool_{}_{}", l, s));
      node(here.back(), fmt::format("{} switch {}", l == 0 ? "out" : "upper", s), "diamond");
      for (const std::string& b : below) edge(b, here.back(), "");
    }
    below = here;
  }
  if (!pool.upper.empty()) {
    for (uint32_t r = 0; r < pool.groups; ++r)
      for (const std::string& b : below) edge(b, fmt::format("pool_group{}", r), "");
  } else {
    node("pool_net", fmt::format("{}", to_string(pool.design)), "plaintext");
    for (const std::string& b : below) edge(b, "pool_net", "");
    for (uint32_t r = 0; r < pool.groups; ++r) edge("pool_net", fmt::format("pool_group{}", r), "");
  }
  return out;
}

}  // namespace weft
