// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A machine as an explicit graph: NPUs, switches and links of any shape, with the way of every message
// through it. Immutable once made; shared by all that look at one configuration.
//
// Nodes are numbered: NPUs 0 .. npus-1 (named npu0, npu1, ..), then the switches. A link is full duplex or
// one way. Each end of a link is a port of its node; ports of a node are numbered in the order of the links.

#ifndef WEFT_CONFIGS_GRAPH_H
#define WEFT_CONFIGS_GRAPH_H

#include <cstdint>
#include <string>
#include <vector>

#include "configs/hash64.h"
#include "configs/types.h"

namespace weft {

constexpr uint32_t kMaxGraphNodes = 8192;     ///< NPUs and switches
constexpr uint32_t kMaxGraphLinks = 1 << 20;  ///< after ranges are written out
constexpr uint32_t kMaxNpuPorts = 240;        ///< links at one NPU of a graph
constexpr uint32_t kMaxSwitchPorts = 65534;

struct GraphLink {
  uint32_t from = 0;  ///< node
  uint32_t to = 0;    ///< node
  Rate bandwidth;     ///< per direction, of one of `count`
  Picoseconds latency = 0;
  uint32_t count = 1;         ///< links ganged into this one: they multiply `bandwidth`
  bool bidirectional = true;  ///< false: from `from` to `to` only
  // At packet fidelity:
  Picoseconds credit_latency = 0;  ///< 0: as `latency`
  double flit_error_rate = 0;
  Picoseconds replay = 0;  ///< 0: a round trip of the link

  Rate rate() const { return {bandwidth.bytes_per_second * count, bandwidth.divisor}; }
};

/// One line of an explicit routing table: what is at node `at` and goes to NPU `to` leaves for node `via`.
struct GraphRoute {
  static constexpr uint32_t kAnywhere = ~0u;
  uint32_t at = 0;
  uint32_t to = kAnywhere;  ///< kAnywhere: every NPU without a line of its own
  uint32_t via = 0;
};

/// What a graph is made from.
struct GraphSpec {
  uint32_t npus = 1;
  std::vector<std::string> switches;
  std::vector<GraphLink> links;
  Fidelity fidelity = Fidelity::message;
  Switching switching = Switching::cut_through;
  bool npus_forward = true;                 ///< messages may pass through NPUs
  std::string routing = "shortest_path";    ///< a row of graph_routings()
  std::vector<GraphRoute> routes;           ///< of `table`
  std::string implementation = "crossbar";  ///< of the switches, at message fidelity
};

class Graph {
 public:
  /// Errors: UserError(usage) when the graph has no links it needs: a part that is not joined to the rest
  /// (named), an NPU that another one cannot reach, too many links at an NPU; a route that is missing or
  /// loops; an unknown node number or a link from a node to itself.
  explicit Graph(GraphSpec spec);

  const GraphSpec& spec() const { return spec_; }
  uint32_t npus() const { return spec_.npus; }
  uint32_t nodes() const { return spec_.npus + static_cast<uint32_t>(spec_.switches.size()); }
  bool is_npu(uint32_t node) const { return node < spec_.npus; }
  std::string name(uint32_t node) const;

  /// One end of a link.
  struct Port {
    uint32_t link = 0;
    uint32_t peer = 0;       ///< node at the other end
    uint16_t peer_port = 0;  ///< number of this link's port there
    bool at_from = false;    ///< this is the link's `from` end
    bool sends = true;       ///< false: the receiving end of a one-way link
  };
  const std::vector<Port>& ports(uint32_t node) const { return ports_[node]; }
  const GraphLink& link(const Port& port) const { return spec_.links[port.link]; }

  /// What names a message's flow where several ways are equally good.
  static uint64_t flow(uint32_t source, uint32_t destination, uint64_t message) {
    return hash64(message ^ hash64(static_cast<uint64_t>(source) << 32 | destination));
  }
  /// The port by which a message leaves `node` for NPU `destination` (another node).
  uint32_t next_port(uint32_t node, uint32_t destination, uint64_t message_flow) const {
    const size_t at = static_cast<size_t>(destination) * nodes() + node;
    if (!per_flow_) return next_[at];
    const uint32_t first = offsets_[at];
    const uint32_t choices = offsets_[at + 1] - first;
    if (choices == 1) return next_[first];
    return next_[first + static_cast<uint32_t>(hash64(message_flow + node) % choices)];
  }
  /// Calls f(port) for all ports that are equally good.
  template <typename F>
  void for_each_next_port(uint32_t node, uint32_t destination, F&& f) const {
    const size_t at = static_cast<size_t>(destination) * nodes() + node;
    if (!per_flow_) {
      f(next_[at]);
    } else {
      for (uint32_t i = offsets_[at]; i < offsets_[at + 1]; ++i) f(next_[i]);
    }
  }
  /// .. and appends them.
  void next_ports(uint32_t node, uint32_t destination, std::vector<uint16_t>& ports) const {
    for_each_next_port(node, destination, [&](uint16_t port) { ports.push_back(port); });
  }
  /// The next port depends on the flow.
  bool per_flow() const { return per_flow_; }

  /// A message's whole way.
  struct Path {
    uint32_t hops = 0;
    Picoseconds latency = 0;
    Rate slowest;             ///< of its links
    uint32_t first_port = 0;  ///< of the source
    uint32_t last_port = 0;   ///< of the destination
  };
  Path path(uint32_t source, uint32_t destination, uint64_t message_flow) const;

  /// Least latency from a node to every node over any way, whatever the routes; kNever where there is none.
  std::vector<Picoseconds> latencies_from(uint32_t node) const;

  /// Bytes per second that leave (enter) a node over all its links.
  double out_rate(uint32_t node) const;
  double in_rate(uint32_t node) const;

 private:
  void check_links() const;
  void number_ports();
  void check_connected() const;
  void find_routes();

  GraphSpec spec_;
  std::vector<std::vector<Port>> ports_;
  // By destination, then node. One port each, or, per flow, the range offsets_[i] .. offsets_[i + 1].
  std::vector<uint16_t> next_;
  std::vector<uint32_t> offsets_;
  bool per_flow_ = false;
};

}  // namespace weft

#endif
