// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Where a head may go next. Kernel-free, without state of its own: a policy lists every permitted output with
// the VCs allowed there; the selection policy then takes one. That separation lets the same policy be checked
// for cycles of channel dependencies before a run.

#ifndef WEFT_TLM_INTERCONNECT_POLICIES_ROUTING_ROUTING_POLICY_H
#define WEFT_TLM_INTERCONNECT_POLICIES_ROUTING_ROUTING_POLICY_H

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "configs/named_registry.h"
#include "tlm_interconnect/packet/packet_config.h"
#include "tlm_interconnect/packet/topology.h"

namespace weft::packet {

struct RouteQuery {
  uint32_t router;
  uint32_t in_port;
  uint32_t in_vc;
  uint32_t source;
  uint32_t destination;
  uint32_t virtual_network;
};

struct RouteCandidate {
  uint32_t port;
  VcMask vc_mask;
  bool escape;          ///< to be taken only when no candidate without this mark has a free VC
  bool bubble = false;  ///< enters a ring: only where room for one more packet is left
};

/// How the VCs of a port are divided: virtual networks, and in each of them classes.
class VcLayout {
 public:
  VcLayout(uint32_t vcs, uint32_t virtual_networks, uint32_t classes)
      : vcs_(vcs), virtual_networks_(virtual_networks), classes_(classes) {}

  VcMask all(uint32_t virtual_network) const { return low_vcs(vcs_) << (virtual_network * vcs_); }
  /// VCs of one class: equal shares, the last class takes what is over.
  VcMask of_class(uint32_t virtual_network, uint32_t vc_class) const {
    const uint32_t share = vcs_ / classes_;
    const uint32_t first = vc_class * share;
    const uint32_t count = vc_class + 1 == classes_ ? vcs_ - first : share;
    return low_vcs(count) << (virtual_network * vcs_ + first);
  }
  uint32_t class_of(uint32_t vc) const {
    const uint32_t c = vc % vcs_ / (vcs_ / classes_);
    return c < classes_ ? c : classes_ - 1;
  }
  uint32_t vcs() const { return vcs_; }
  uint32_t classes() const { return classes_; }
  uint32_t virtual_networks() const { return virtual_networks_; }

 private:
  uint32_t vcs_;
  uint32_t virtual_networks_;
  uint32_t classes_;
};

class RoutingPolicy {
 public:
  virtual ~RoutingPolicy() = default;
  /// Appends every permitted output, at least one. The order is fixed for a given query.
  virtual void route(const RouteQuery& query, std::vector<RouteCandidate>& candidates) const = 0;
  /// True: the choice looks at credits and is made anew in every cycle in which a head could go on.
  virtual bool adaptive() const { return false; }
  /// True: at this router there is one candidate, which depends on destination and virtual network alone, so
  /// that it may be remembered. Not where `bubble` matters.
  virtual bool by_destination(uint32_t router) const {
    (void)router;
    return false;
  }
};

/// Of several outputs a packet that was just injected takes the one its lane is for, if that is among them.
inline void prefer_lane(const PacketTopology& topology, const RouteQuery& query,
                        std::vector<RouteCandidate>& candidates) {
  const TopologyRouter& router = topology.routers[query.router];
  if (router.lanes.empty() || !router.ports[query.in_port].ni || candidates.size() < 2) return;
  for (const RouteCandidate& c : candidates) {
    if (!topology.lane_of(router, query.in_port, c.port)) continue;
    candidates = {RouteCandidate(c)};
    return;
  }
}

/// By name from the registry table; throws UserError for an unknown name, a topology the policy cannot route,
/// or too few VCs for the classes it needs. `topology` must outlive the policy.
std::unique_ptr<RoutingPolicy> make_routing_policy(const std::string& name, const PacketTopology& topology,
                                                   const PacketConfig& config);
/// The fewest VCs of a virtual network with which the policy `name` routes `topology`; `config.vcs` is not
/// read. Where none is enough, as many as a port can have: make_routing_policy() then says what is wrong.
uint32_t fewest_vcs(const std::string& name, const PacketTopology& topology, PacketConfig config);
std::vector<std::string> routing_policy_names();

/// `topology` and `config` outlive what is made.
using RoutingPolicyMaker =
    std::function<std::unique_ptr<RoutingPolicy>(const PacketTopology& topology, const PacketConfig& config)>;
const NamedRegistry<RoutingPolicyMaker>& routing_policy_registry();
/// `source`: the plugin's file. Errors: UserError(usage) for a name that there is.
void add_routing_policy(const std::string& name, const std::string& description, const std::string& source,
                        RoutingPolicyMaker maker);

}  // namespace weft::packet

#endif
