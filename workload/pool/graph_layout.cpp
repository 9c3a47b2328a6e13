// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/pool/graph_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "configs/memory_pool.h"
#include "configs/units.h"

namespace weft::pool {
namespace {

constexpr uint32_t kNone = ~0u;
constexpr uint32_t kFlows = 16;  ///< ways that are told apart where several are equally good

/// `memory` and a number.
bool is_memory(const std::string& name) {
  static const std::string word = "memory";
  return name.size() > word.size() && name.compare(0, word.size(), word) == 0 &&
         name.find_first_not_of("0123456789", word.size()) == std::string::npos;
}

[[noreturn]] void fail(const std::string& what) {
  throw UserError(ExitCode::usage, "key `memory.pool.design`: 'graph': " + what);
}

}  // namespace

GraphLayout::GraphLayout(const Config& config) : PoolLayout(config, false), graph_(*config.graph) {
  add_nodes(config);
  add_links();
  group_hop_ = true;
  all_both_ways_ = true;
  ways_ = graph_.per_flow() ? kFlows : 1;
  find_distances();
  check_ways(config);
  if (config.memory_pool->as_packets()) find_vc_classes();
}

void GraphLayout::add_nodes(const Config& config) {
  from_graph_.assign(graph_.nodes(), kNone);
  const auto add = [&](Kind kind, uint32_t index, const std::string& name, uint32_t at) {
    from_graph_[at] = add_node(kind, index, name);
    to_graph_.push_back(at);
  };
  for (uint32_t u = 0; u < npus_; ++u)
    add(Kind::npu, u, fmt::format("npu{}", u), config.mapping.empty() ? u : config.mapping[u]);
  std::vector<uint32_t> groups;
  uint32_t switches = 0;
  for (uint32_t n = graph_.npus(); n < graph_.nodes(); ++n) {
    if (is_memory(graph_.name(n)))
      groups.push_back(n);
    else
      add(Kind::router, switches++, "at_" + graph_.name(n), n);
  }
  if (groups.empty())
    fail(
        "no switch of `topology.graph` is a memory group; call some `memory0`, `memory1`, .., each with one "
        "link");
  groups_ = static_cast<uint32_t>(groups.size());
  for (uint32_t r = 0; r < groups_; ++r) {
    if (graph_.ports(groups[r]).size() != 1)
      fail(fmt::format("the memory group {} has {} links; give it one, to a switch", graph_.name(groups[r]),
                       graph_.ports(groups[r]).size()));
    add(Kind::group, r, graph_.name(groups[r]), groups[r]);
  }
}

void GraphLayout::add_links() {
  std::map<std::pair<std::string, Picoseconds>, uint32_t> classes;
  ends_.resize(nodes());
  port_here_.resize(graph_.nodes());
  for (uint32_t n = 0; n < graph_.nodes(); ++n) port_here_[n].assign(graph_.ports(n).size(), kNone);
  for (uint32_t n = 0; n < graph_.nodes(); ++n) {
    for (uint32_t p = 0; p < graph_.ports(n).size(); ++p) {
      const Graph::Port& port = graph_.ports(n)[p];
      const GraphLink& link = graph_.link(port);
      const uint32_t a = from_graph_[n];
      const uint32_t b = from_graph_[port.peer];
      // Each link once, from the side of the NPUs; chunks do not go from NPU to NPU, nor by one-way links.
      if (a > b || b < npus_ || !link.bidirectional) continue;
      const std::string rate = print_bandwidth(link.bandwidth);
      const auto key = std::make_pair(rate, link.latency);
      auto it = classes.find(key);
      if (it == classes.end())
        it = classes
                 .emplace(key, add_class(fmt::format("links of {}, {}", rate, print_time(link.latency)),
                                         link.bandwidth, link.latency))
                 .first;
      port_here_[n][p] = static_cast<uint32_t>(ports(a).size());
      port_here_[port.peer][port.peer_port] = static_cast<uint32_t>(ports(b).size());
      join(a, b, it->second, link.count);
      ends_[a].push_back({n, p});
      ends_[b].push_back({port.peer, port.peer_port});
    }
  }
}

void GraphLayout::find_distances() {
  for (uint32_t r = 0; r < groups_; ++r) {
    std::vector<uint32_t> distance(nodes(), kNone);
    std::vector<uint32_t> open{group_node(r)};
    distance[group_node(r)] = 0;
    for (size_t i = 0; i < open.size(); ++i) {
      if (open[i] < npus_) continue;  // no way leads through an NPU
      for (const Port& port : ports(open[i])) {
        if (distance[port.peer] != kNone) continue;
        distance[port.peer] = distance[open[i]] + 1;
        open.push_back(port.peer);
      }
    }
    distance_.push_back(std::move(distance));
  }
}

void GraphLayout::check_ways(const Config& config) const {
  for (uint32_t r = 0; r < groups_; ++r) {
    for (uint32_t u = 0; u < npus_; ++u) {
      if (distance_[r][u] == kNone)
        fail(fmt::format(
            "no way of links in both directions leads from npu{} to {} but through other NPUs; add "
            "links",
            config.mapping.empty() ? u : config.mapping[u], node(group_node(r)).name));
      for (uint32_t way = 0; way < ways_; ++way) {
        for (uint32_t at = group_node(r); at != u;) {
          const uint32_t from = to_graph_[at];
          const uint32_t port =
              port_here_[from][graph_.next_port(from, to_graph_[u], Graph::flow(way, to_graph_[u], 0))];
          if (port == kNone || (at != u && at < npus_))
            fail(fmt::format(
                "the way from {} to npu{} passes through {}, an NPU; write `npus_forward: false` and "
                "join NPUs and groups by switches",
                node(group_node(r)).name, to_graph_[u], graph_.name(from)));
          at = ports(at)[port].peer;
        }
      }
    }
  }
}

uint32_t GraphLayout::turns(uint32_t at, uint32_t destination, uint32_t way) const {
  const auto is_switch = [&](uint32_t n) { return n >= npus_ && n < group_node(0); };
  uint32_t turns = 0;
  bool rises = false;
  bool first = true;
  while (at != destination) {
    const uint32_t to = ports(at)[next(at, destination, way)].peer;
    // No packet waits for a link from an end, and who takes the link to one waits for nothing.
    if (is_switch(at) && is_switch(to)) {
      turns += !first && rises != (to > at) ? 1 : 0;
      rises = to > at;
      first = false;
    }
    at = to;
  }
  return turns;
}

/// Who waits for a link holds the one before it on its way.
bool GraphLayout::ways_close_a_cycle() const {
  std::vector<std::vector<uint32_t>> behind(2 * links().size());
  for (uint32_t r = 0; r < groups_; ++r) {
    for (uint32_t u = 0; u < npus_; ++u) {
      for (uint32_t way = 0; way < 2 * ways_; ++way) {
        const std::vector<uint32_t> path = this->path(r, u, way / 2, way % 2 != 0);
        for (size_t i = 1; i < path.size(); ++i) {
          std::vector<uint32_t>& next = behind[path[i - 1]];
          if (std::find(next.begin(), next.end(), path[i]) == next.end()) next.push_back(path[i]);
        }
      }
    }
  }
  std::vector<uint32_t> before(behind.size(), 0);  // links that are not taken away; what is left is a cycle
  for (const auto& next : behind)
    for (const uint32_t link : next) ++before[link];
  std::vector<uint32_t> free;
  for (uint32_t link = 0; link < before.size(); ++link)
    if (before[link] == 0) free.push_back(link);
  for (size_t i = 0; i < free.size(); ++i)
    for (const uint32_t link : behind[free[i]])
      if (--before[link] == 0) free.push_back(link);
  return free.size() != behind.size();
}

void GraphLayout::find_vc_classes() {
  if (!ways_close_a_cycle()) return;
  for (uint32_t r = 0; r < groups_; ++r) {
    for (uint32_t u = 0; u < npus_; ++u) {
      for (uint32_t way = 0; way < ways_; ++way) {
        const uint32_t most = std::max(turns(u, group_node(r), way), turns(group_node(r), u, way));
        vc_classes_ = std::max(vc_classes_, most + 1);
      }
    }
  }
}

bool GraphLayout::nearer(const std::vector<uint32_t>& distance, uint32_t node, const Port& port) const {
  return port.peer >= npus_ && distance[port.peer] != kNone && distance[port.peer] + 1 == distance[node];
}

uint32_t GraphLayout::next(uint32_t node, uint32_t destination, uint32_t way) const {
  const uint32_t from = to_graph_[node];
  if (destination < npus_) {
    const uint32_t to = to_graph_[destination];
    return port_here_[from][graph_.next_port(from, to, Graph::flow(way, to, 0))];
  }
  const std::vector<uint32_t>& distance = distance_[destination - group_node(0)];
  uint32_t choices = 0;
  for (const Port& port : ports(node)) choices += nearer(distance, node, port) ? 1 : 0;
  uint32_t left = way % choices;
  for (uint32_t p = 0; p < ports(node).size(); ++p)
    if (nearer(distance, node, ports(node)[p]) && left-- == 0) return p;
  throw std::logic_error("a node of the memory pool has no way to a group");
}

/// The ways of stores, backwards: from a node only one leads to the group.
PoolLayout::Tree GraphLayout::make_tree(uint32_t group, uint32_t way,
                                        const std::vector<uint32_t>& npus) const {
  Tree tree;
  tree.children.resize(nodes());
  tree.parent.resize(nodes());
  for (const uint32_t u : npus) {
    uint32_t depth = 0;
    for (uint32_t at = u; at != group_node(group); ++depth) {
      const auto port = static_cast<uint16_t>(next(at, group_node(group), way));
      const Port& end = ports(at)[port];
      const Port& back = ports(end.peer)[end.peer_port];
      tree.parent[at] = port;
      std::vector<uint16_t>& children = tree.children[end.peer];
      if (std::find(children.begin(), children.end(), end.peer_port) == children.end()) {
        children.push_back(end.peer_port);
        if (end.peer != group_node(group)) tree.links.push_back(directed(back));
      }
      at = end.peer;
    }
    tree.depth = std::max(tree.depth, depth);
  }
  return tree;
}

}  // namespace weft::pool
