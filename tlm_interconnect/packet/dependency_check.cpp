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

}  // namespace

std::string find_dependency_cycle(const PacketTopology& topology, const PacketConfig& config) {
  topology.check();
  PacketConfig one = config;  // virtual networks are alike and do not mix
  one.virtual_networks = 1;
  if (one.vc_classes ==
      "bubble") {  // breaks the cycle of a ring by its free space; the rest is as with classes
    one.vc_classes = "dateline";
    one.vcs = std::max(one.vcs, 2u);
  }
  const auto routing =
      make_routing_policy(config.routing.empty() ? topology.routing : config.routing, topology, one);
  Buffers buffers(topology, one.vcs);
  const bool pfc = pauses(topology, config);
  buffers.set_pfc(pfc);
  std::vector<std::vector<uint32_t>> waits(buffers.size());
  std::vector<std::vector<uint32_t>> escapes(buffers.size());
  bool has_escape = false;
  std::vector<uint32_t> seen(buffers.size(), ~0u);
  std::vector<bool> is_escape(buffers.size(), false);
  std::vector<uint32_t> stack;
  std::vector<RouteCandidate> candidates;
  const auto link = [](std::vector<uint32_t>& list, uint32_t to) {
    if (std::find(list.begin(), list.end(), to) == list.end()) list.push_back(to);
  };
  for (uint32_t destination = 0; destination < topology.ranks(); ++destination) {
    stack.clear();
    for (const NiAttachment& ni : topology.nis) {
      // A collective unit sends only to the NPUs at its switch, where its packets leave the network.
      if (ni.rank >= topology.ranks()) continue;
      for (uint32_t v = 0; v < one.vcs; ++v) {
        const uint32_t id = buffers.id(ni.router, ni.port, v);
        seen[id] = destination;
        stack.push_back(id);
      }
    }
    while (!stack.empty()) {
      const uint32_t id = stack.back();
      stack.pop_back();
      const Buffers::Place& at = buffers[id];
      candidates.clear();
      routing->route({at.router, at.port, at.vc, destination, destination, 0}, candidates);
      for (const RouteCandidate& c : candidates) {
        const TopologyPort& out = topology.routers[at.router].ports[c.port];
        if (out.ni) continue;
        has_escape = has_escape || c.escape;
        for (uint32_t m = c.vc_mask; m != 0; m &= m - 1) {
          const uint32_t next = buffers.id(out.peer, out.peer_port, static_cast<uint32_t>(__builtin_ctz(m)));
          link(waits[buffers.node(id)], buffers.node(next));
          if (c.escape) {
            is_escape[next] = true;
            link(escapes[id], next);
          }
          if (seen[next] == destination) continue;
          seen[next] = destination;
          stack.push_back(next);
        }
      }
    }
  }
  // A packet that has chosen its way waits for the end of a pause there, and escapes pause like all others.
  if (has_escape && !pfc) {
    for (uint32_t id = 0; id < buffers.size(); ++id) {
      waits[id] = is_escape[id] ? escapes[id] : std::vector<uint32_t>{};
    }
  }

  // Depth first, without recursion.
  std::vector<uint8_t> colour(buffers.size(), 0);
  std::vector<std::pair<uint32_t, size_t>> path;
  for (uint32_t start = 0; start < buffers.size(); ++start) {
    if (colour[start] != 0) continue;
    path.assign(1, {start, 0});
    colour[start] = 1;
    while (!path.empty()) {
      auto& [id, at] = path.back();
      if (at == waits[id].size()) {
        colour[id] = 2;
        path.pop_back();
        continue;
      }
      const uint32_t next = waits[id][at++];
      if (colour[next] == 2) continue;
      if (colour[next] == 0) {
        colour[next] = 1;
        path.emplace_back(next, 0);
        continue;
      }
      std::string text =
          fmt::format("{} with routing {} and {} VCs can deadlock: packets can wait for each other round",
                      topology.name, config.routing.empty() ? topology.routing : config.routing, config.vcs);
      bool in = false;
      for (const auto& step : path) {
        in = in || step.first == next;
        if (!in) continue;
        const Buffers::Place& b = buffers[step.first];
        text += fmt::format(" {} input {} VC {} ->", topology.routers[b.router].name, b.port, b.vc);
      }
      const Buffers::Place& b = buffers[next];
      text += fmt::format(" {} input {} VC {}. ", topology.routers[b.router].name, b.port, b.vc);
      return text + deadlock_remedy(topology, config);
    }
  }
  return {};
}

std::string deadlock_remedy(const PacketTopology& topology, const PacketConfig& config, SpellOption option) {
  const std::string& routing = config.routing.empty() ? topology.routing : config.routing;
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
