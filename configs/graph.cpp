// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>
#include <set>
#include <utility>

#include "configs/graph_routing.h"

namespace weft {
namespace {

[[noreturn]] void fail(const std::string& message) {
  throw UserError(ExitCode::usage, message);
}

bool slower(Rate a, Rate b) {
  return static_cast<Wide>(a.bytes_per_second) * b.divisor <
         static_cast<Wide>(b.bytes_per_second) * a.divisor;
}

/// A few names of a set, with the number of those left out.
std::string some(const Graph& graph, const std::vector<uint32_t>& nodes) {
  constexpr size_t kShown = 8;
  std::string out;
  for (size_t i = 0; i < nodes.size() && i < kShown; ++i) out += (i == 0 ? "" : ", ") + graph.name(nodes[i]);
  if (nodes.size() > kShown) out += fmt::format(" and {} more", nodes.size() - kShown);
  return "{" + out + "}";
}

}  // namespace

Graph::Graph(GraphSpec spec) : spec_(std::move(spec)) {
  check_links();
  number_ports();
  check_connected();
  find_routes();
}

std::string Graph::name(uint32_t node) const {
  return is_npu(node) ? fmt::format("npu{}", node) : spec_.switches[node - spec_.npus];
}

void Graph::check_links() const {
  if (spec_.npus == 0) fail("the graph has no NPUs; give it at least 1");
  if (uint64_t{spec_.npus} + spec_.switches.size() > kMaxGraphNodes)
    fail(fmt::format("{} NPUs and {} switches are more than {} nodes", spec_.npus, spec_.switches.size(),
                     kMaxGraphNodes));
  if (spec_.links.size() > kMaxGraphLinks) fail(fmt::format("more than {} links", kMaxGraphLinks));
  std::set<std::string> names;
  for (const std::string& s : spec_.switches)
    if (!names.insert(s).second) fail(fmt::format("two switches are called `{}`; rename one", s));
  for (const GraphLink& link : spec_.links) {
    if (link.from >= nodes() || link.to >= nodes())
      fail(fmt::format("a link joins node {}, but there are only {} nodes", std::max(link.from, link.to),
                       nodes()));
    if (link.from == link.to) fail(fmt::format("a link joins {} to itself; remove it", name(link.from)));
    if (link.bandwidth.bytes_per_second == 0 || link.count == 0 || link.bandwidth.divisor == 0)
      fail(fmt::format("the link from {} to {} has no bandwidth", name(link.from), name(link.to)));
    if (link.bandwidth.bytes_per_second > std::numeric_limits<uint64_t>::max() / link.count)
      fail(fmt::format("the bandwidth of the {} links from {} to {} is too large", link.count,
                       name(link.from), name(link.to)));
  }
  for (const GraphRoute& route : spec_.routes) {
    if (route.at >= nodes() || route.via >= nodes() ||
        (route.to != GraphRoute::kAnywhere && route.to >= spec_.npus))
      fail("a route names a node that does not exist, or a destination that is no NPU");
  }
}

void Graph::number_ports() {
  ports_.resize(nodes());
  for (uint32_t l = 0; l < spec_.links.size(); ++l) {
    const GraphLink& link = spec_.links[l];
    Port from{l, link.to, static_cast<uint16_t>(ports_[link.to].size()), true, true};
    Port to{l, link.from, static_cast<uint16_t>(ports_[link.from].size()), false, link.bidirectional};
    ports_[link.from].push_back(from);
    ports_[link.to].push_back(to);
  }
  for (uint32_t node = 0; node < nodes(); ++node) {
    const uint32_t most = is_npu(node) ? kMaxNpuPorts : kMaxSwitchPorts;
    if (ports_[node].size() > most)
      fail(fmt::format(
          "{} has {} links, more than {}; put a switch between, or gang parallel links with `count`",
          name(node), ports_[node].size(), most));
  }
}

void Graph::check_connected() const {
  std::vector<std::vector<uint32_t>> parts;
  std::vector<bool> seen(nodes(), false);
  for (uint32_t start = 0; start < nodes(); ++start) {
    if (seen[start]) continue;
    std::vector<uint32_t> part{start};
    seen[start] = true;
    for (size_t i = 0; i < part.size(); ++i) {
      for (const Port& port : ports_[part[i]]) {
        if (seen[port.peer]) continue;
        seen[port.peer] = true;
        part.push_back(port.peer);
      }
    }
    std::sort(part.begin(), part.end());
    parts.push_back(part);
  }
  if (parts.size() == 1) return;
  constexpr size_t kShown = 4;
  std::string named;
  for (size_t i = 0; i < parts.size() && i < kShown; ++i)
    named += fmt::format("{}{}", i == 0 ? "" : " and ", some(*this, parts[i]));
  if (parts.size() > kShown) named += fmt::format(" and {} more", parts.size() - kShown);
  fail(fmt::format("the graph is not connected: it has {} parts without a link between them, {}; add links",
                   parts.size(), named));
}

void Graph::find_routes() {
  const GraphRouting* policy = find_graph_routing(spec_.routing);
  if (policy == nullptr) fail(fmt::format("there is no routing `{}`", spec_.routing));
  const uint32_t n = nodes();
  const bool explicit_table = std::string_view(spec_.routing) == "table";
  const RouteIndex routes(*this);
  NextPorts ports;
  offsets_.push_back(0);
  for (uint32_t destination = 0; destination < spec_.npus; ++destination) {
    ports.assign(n, {});
    policy->next_ports(*this, routes, destination, ports);
    // From every NPU every way must end at the destination. 0: not looked at, 1: on the way, 2: good.
    std::vector<uint8_t> state(n, 0);
    state[destination] = 2;
    struct Step {
      uint32_t node;
      size_t next;
    };
    for (uint32_t source = 0; source < spec_.npus; ++source) {
      if (state[source] == 2) continue;
      std::vector<Step> way{{source, 0}};
      state[source] = 1;
      while (!way.empty()) {
        Step& step = way.back();
        const auto& choices = ports[step.node];
        if (choices.empty()) {
          if (explicit_table)
            fail(
                fmt::format("the routing table has no next hop at {} for {} (on the way from {}); add "
                            "`{{at: {}, to: {}, via: ...}}` with a node that {} has a link to",
                            name(step.node), name(destination), name(source), name(step.node),
                            name(destination), name(step.node)));
          fail(fmt::format("{} cannot reach {}: {}", name(source), name(destination),
                           spec_.npus_forward
                               ? "links of one direction lead nowhere; add links"
                               : "no way leads there without passing through an NPU; add links, "
                                 "or allow `npus_forward: true`"));
        }
        if (step.next == choices.size()) {
          state[step.node] = 2;
          way.pop_back();
          continue;
        }
        const uint32_t peer = ports_[step.node][choices[step.next++]].peer;
        if (state[peer] == 1) {
          std::string loop;
          const auto start =
              std::find_if(way.begin(), way.end(), [&](const Step& s) { return s.node == peer; });
          for (auto it = start; it != way.end(); ++it) loop += name(it->node) + " -> ";
          fail(fmt::format("the route from {} to {} loops: {}{}; mend the routing table", name(source),
                           name(destination), loop, name(peer)));
        }
        if (peer != destination && is_npu(peer) && !spec_.npus_forward)
          fail(fmt::format("the route from {} to {} passes through {}, and `npus_forward` is false",
                           name(source), name(destination), name(peer)));
        if (state[peer] == 0) {
          state[peer] = 1;
          way.push_back({peer, 0});
        }
      }
    }
    for (const auto& choices : ports) {
      per_flow_ = per_flow_ || choices.size() > 1;
      next_.insert(next_.end(), choices.begin(), choices.end());
      offsets_.push_back(static_cast<uint32_t>(next_.size()));
    }
  }
  if (per_flow_) {
    next_.shrink_to_fit();
    return;
  }
  // One port each: no offsets needed.
  std::vector<uint16_t> dense(static_cast<size_t>(n) * spec_.npus, 0);
  for (size_t i = 0; i < dense.size(); ++i)
    if (offsets_[i + 1] != offsets_[i]) dense[i] = next_[offsets_[i]];
  next_ = std::move(dense);
  offsets_ = {};
}

Graph::Path Graph::path(uint32_t source, uint32_t destination, uint64_t message_flow) const {
  Path path;
  for (uint32_t node = source; node != destination;) {
    const uint32_t number = next_port(node, destination, message_flow);
    const Port& port = ports_[node][number];
    const GraphLink& crossed = link(port);
    if (path.hops == 0) path.first_port = number;
    if (path.hops == 0 || slower(crossed.rate(), path.slowest)) path.slowest = crossed.rate();
    ++path.hops;
    path.latency += crossed.latency;
    path.last_port = port.peer_port;
    node = port.peer;
  }
  return path;
}

std::vector<Picoseconds> Graph::latencies_from(uint32_t node) const {
  std::vector<Picoseconds> best(nodes(), kNever);
  using Entry = std::pair<Picoseconds, uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  best[node] = 0;
  open.push({0, node});
  while (!open.empty()) {
    const auto [latency, at] = open.top();
    open.pop();
    if (latency > best[at]) continue;
    for (const Port& port : ports_[at]) {
      if (!port.sends) continue;
      const Picoseconds there = latency + link(port).latency;
      if (there >= best[port.peer]) continue;
      best[port.peer] = there;
      open.push({there, port.peer});
    }
  }
  return best;
}

double Graph::out_rate(uint32_t node) const {
  double rate = 0;
  for (const Port& port : ports_[node])
    if (port.sends) rate += link(port).rate().value();
  return rate;
}

double Graph::in_rate(uint32_t node) const {
  double rate = 0;
  for (const Port& port : ports_[node])
    if (ports_[port.peer][port.peer_port].sends) rate += link(port).rate().value();
  return rate;
}

}  // namespace weft
