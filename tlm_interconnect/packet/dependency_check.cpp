// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/packet/dependency_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "tlm_interconnect/policies/routing/routing_policy.h"

namespace weft::packet {
namespace {

bool pauses(const PacketTopology& topology, const PacketConfig& config) {
  return config.pfc.networks != 0 && topology.has_pfc();
}

/// Input buffers of one virtual network, numbered.
class Buffers {
 public:
  Buffers(const PacketTopology& topology, uint32_t vcs) : topology_(topology), vcs_(vcs) {
    uint32_t n = 0;
    for (uint32_t r = 0; r < topology.routers.size(); ++r) {
      first_.push_back(n);
      for (uint32_t p = 0; p < topology.routers[r].ports.size(); ++p) {
        for (uint32_t v = 0; v < vcs; ++v) places_.push_back({r, p, v});
        n += vcs;
      }
    }
  }
  struct Place {
    uint32_t router, port, vc;
  };
  uint32_t id(uint32_t router, uint32_t port, uint32_t vc) const { return first_[router] + port * vcs_ + vc; }
  /// What a packet waits for that wants this buffer. Where there is priority flow control all VCs pause
  /// together, so that they are one: their first stands for them.
  uint32_t node(uint32_t id) const {
    const Place& at = places_[id];
    return paused_together(at) ? id - at.vc : id;
  }
  bool paused_together(const Place& at) const {
    return pfc_ && topology_.links[topology_.routers[at.router].ports[at.port].link].pfc;
  }
  void set_pfc(bool on) { pfc_ = on; }
  const Place& operator[](uint32_t id) const { return places_[id]; }
  uint32_t size() const { return static_cast<uint32_t>(places_.size()); }

 private:
  const PacketTopology& topology_;
  uint32_t vcs_;
  bool pfc_ = false;
  std::vector<uint32_t> first_;
  std::vector<Place> places_;
};

const std::string& routing_of(const PacketTopology& topology, const PacketConfig& config) {
  return config.routing.empty() ? topology.routing : config.routing;
}

/// One virtual network of the configuration, for the routing policy: they are alike and do not mix.
PacketConfig one_network(const PacketConfig& config) {
  PacketConfig one = config;
  one.virtual_networks = 1;
  // A bubble breaks the cycle of a ring by its free space; all else is as with classes.
  if (one.vc_classes == "bubble") {
    one.vc_classes = "dateline";
    one.vcs = std::max(one.vcs, 2u);
  }
  return one;
}

/// For each buffer the buffers that a packet in it may wait for.
class Waits {
 public:
  Waits(const PacketTopology& topology, const PacketConfig& config)
      : topology_(topology),
        pfc_(pauses(topology, config)),
        one_(one_network(config)),
        buffers_(topology, one_.vcs),
        waits_(buffers_.size()),
        escapes_(buffers_.size()),
        is_escape_(buffers_.size(), false) {
    buffers_.set_pfc(pfc_);
    const auto routing = make_routing_policy(routing_of(topology, config), topology, one_);
    std::vector<uint32_t> seen(buffers_.size(), ~0u);
    for (uint32_t destination = 0; destination < topology.ranks(); ++destination)
      follow(destination, *routing, seen);
    // A packet that has chosen its way waits for the end of a pause there, and escapes pause like all others.
    if (has_escape_ && !pfc_) {
      for (uint32_t id = 0; id < buffers_.size(); ++id)
        waits_[id] = is_escape_[id] ? escapes_[id] : std::vector<uint32_t>{};
    }
  }

  /// The buffers of a cycle, from one on; none: empty. Depth first, without recursion.
  std::vector<uint32_t> cycle() const {
    std::vector<uint8_t> colour(buffers_.size(), 0);
    std::vector<std::pair<uint32_t, size_t>> path;
    for (uint32_t start = 0; start < buffers_.size(); ++start) {
      if (colour[start] != 0) continue;
      path.assign(1, {start, 0});
      colour[start] = 1;
      while (!path.empty()) {
        auto& [id, at] = path.back();
        if (at == waits_[id].size()) {
          colour[id] = 2;
          path.pop_back();
          continue;
        }
        const uint32_t next = waits_[id][at++];
        if (colour[next] == 2) continue;
        if (colour[next] == 0) {
          colour[next] = 1;
          path.emplace_back(next, 0);
          continue;
        }
        std::vector<uint32_t> found;
        for (const auto& step : path)
          if (!found.empty() || step.first == next) found.push_back(step.first);
        return found;
      }
    }
    return {};
  }

  const Buffers::Place& operator[](uint32_t id) const { return buffers_[id]; }

 private:
  /// All buffers that a packet to the destination can come to.
  void follow(uint32_t destination, const RoutingPolicy& routing, std::vector<uint32_t>& seen) {
    std::vector<uint32_t> stack;
    for (const NiAttachment& ni : topology_.nis) {
      // A collective unit sends only to the NPUs at its switch, where its packets leave the network.
      if (ni.rank >= topology_.ranks()) continue;
      for (uint32_t v = 0; v < one_.vcs; ++v) {
        const uint32_t id = buffers_.id(ni.router, ni.port, v);
        seen[id] = destination;
        stack.push_back(id);
      }
    }
    std::vector<RouteCandidate> candidates;
    while (!stack.empty()) {
      const uint32_t id = stack.back();
      stack.pop_back();
      const Buffers::Place& at = buffers_[id];
      candidates.clear();
      routing.route({at.router, at.port, at.vc, destination, destination, 0}, candidates);
      for (const RouteCandidate& c : candidates) {
        const TopologyPort& out = topology_.routers[at.router].ports[c.port];
        if (out.ni) continue;
        has_escape_ = has_escape_ || c.escape;
        for (VcMask m = c.vc_mask; m != 0; m &= m - 1) {
          const uint32_t next = buffers_.id(out.peer, out.peer_port, lowest_vc(m));
          wait(id, next, c.escape);
          if (seen[next] == destination) continue;
          seen[next] = destination;
          stack.push_back(next);
        }
      }
    }
  }

  void wait(uint32_t id, uint32_t next, bool escape) {
    const auto add = [](std::vector<uint32_t>& list, uint32_t to) {
      if (std::find(list.begin(), list.end(), to) == list.end()) list.push_back(to);
    };
    add(waits_[buffers_.node(id)], buffers_.node(next));
    if (!escape) return;
    is_escape_[next] = true;
    add(escapes_[id], next);
  }

  const PacketTopology& topology_;
  const bool pfc_;
  const PacketConfig one_;
  Buffers buffers_;
  std::vector<std::vector<uint32_t>> waits_;
  std::vector<std::vector<uint32_t>> escapes_;  ///< among escape VCs
  std::vector<bool> is_escape_;
  bool has_escape_ = false;
};

}  // namespace

std::string find_dependency_cycle(const PacketTopology& topology, const PacketConfig& config) {
  topology.check();
  const Waits waits(topology, config);
  std::vector<uint32_t> cycle = waits.cycle();
  if (cycle.empty()) return {};
  cycle.push_back(cycle.front());
  std::string text =
      fmt::format("{} with routing {} and {} VCs can deadlock: packets can wait for each other round",
                  topology.name, routing_of(topology, config), config.vcs);
  for (size_t i = 0; i < cycle.size(); ++i) {
    const Buffers::Place& b = waits[cycle[i]];
    text += fmt::format(" {} input {} VC {}{}", topology.routers[b.router].name, b.port, b.vc,
                        i + 1 == cycle.size() ? ". " : " ->");
  }
  return text + deadlock_remedy(topology, config);
}

std::string deadlock_remedy(const PacketTopology& topology, const PacketConfig& config, SpellOption option) {
  const std::string& routing = routing_of(topology, config);
  if (topology.one_way())
    return "Give ways without such a cycle (`topology.routes`), or a link the other way.";
  if (pauses(topology, config)) {
    return fmt::format(
        "Priority flow control pauses all VCs of a virtual network together, so that VC classes do not help: "
        "use {}, or credits.",
        option("routing", "up_down"));
  }
  if (topology.dimensions.empty()) return fmt::format("Use {}.", option("routing", "up_down"));
  const std::string classes =
      fmt::format("{} and at least 2 VCs per virtual network", option("vc_classes", "dateline"));
  if (routing == "dimension_order") return fmt::format("Use {}.", classes);
  // Classes are dimension_order's: another routing does not heed them.
  const bool rings = std::any_of(topology.dimensions.begin(), topology.dimensions.end(),
                                 [](const TopologyDimension& d) { return d.shape.circular(); });
  return fmt::format("Use {}{}, or {}.", option("routing", "dimension_order"),
                     rings ? fmt::format(" with {}", classes) : "", option("routing", "up_down"));
}

std::string deadlock_remedy(const PacketTopology& topology, const PacketConfig& config) {
  return deadlock_remedy(
      topology, config, [](const char* key, const char* value) { return fmt::format("{}: {}", key, value); });
}

}  // namespace weft::packet
