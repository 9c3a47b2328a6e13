// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Parameters of the packet-level fabric: resolved, in cycles, flits and ticks. Nothing here reads a
// file.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_PACKET_CONFIG_H
#define WEFT_TLM_INTERCONNECT_PACKET_PACKET_CONFIG_H

#include <cstdint>
#include <string>

#include "configs/ticks.h"

namespace weft::packet {

constexpr uint32_t kMostVcs = 64;              ///< of a port, in all its virtual networks
constexpr uint32_t kMostVirtualNetworks = 32;  ///< their masks have 32 bits

/// Virtual channels of a port.
using VcMask = uint64_t;

constexpr VcMask vc_bit(uint32_t vc) {
  return VcMask{1} << vc;
}

/// The lowest of a mask that is not empty.
inline uint32_t lowest_vc(VcMask mask) {
  return static_cast<uint32_t>(__builtin_ctzll(mask));
}

/// A mask of the first n virtual channels.
constexpr VcMask low_vcs(uint32_t n) {
  return n >= 64 ? ~VcMask{0} : vc_bit(n) - 1;
}

/// A mask of the first n virtual networks.
constexpr uint32_t low_networks(uint32_t n) {
  return n >= 32 ? ~0u : (1u << n) - 1;
}

/// Whether a packet keeps its path through a crossbar while its flits come (InfiniBand, Ethernet and NVLink
/// within a VC), or every flit is arbitrated anew.
enum class FlitSwitching : uint8_t { packet_held, flit_interleaved };

/// The stages of a router, in cycles. The defaults are the `classic` preset: a head takes vc_alloc +
/// switch_alloc + traversal + link from router input to router input.
struct PipelineConfig {
  uint32_t route = 0;  ///< 0: look-ahead routing
  uint32_t vc_alloc = 1;
  uint32_t switch_alloc = 1;
  uint32_t traversal = 1;
  uint32_t credit = 1;  ///< processing of a credit that came back
};

/// In Packet::id_high, above the handle of the packet's message: it is the last one.
constexpr uint64_t kLastPacket = uint64_t{1} << 32;

/// ECN marking at the outputs of routers, with the marking curve of DCQCN (Zhu et al., "Congestion Control
/// for Large-Scale RDMA Deployments", SIGCOMM 2015).
struct EcnConfig {
  bool enabled = false;
  uint64_t k_min = 5000;    ///< bytes queued for an output up to which nothing is marked
  uint64_t k_max = 200000;  ///< .. above which everything is
  double p_max = 0.01;      ///< share that is marked at k_max
  // Of the network, which sets them:
  uint32_t flit_bytes = 16;
  uint32_t ranks = ~uint32_t{0};  ///< what others (collective units) send or receive is not marked
};

/// Rates of senders after DCQCN (the same paper). Rates in bits a second, on the wire.
struct DcqcnConfig {
  bool enabled = false;
  Ticks cnp_interval = ticks(50000000);  ///< of a receiver's notifications to one sender, at least
  Ticks alpha_timer = ticks(55000000);   ///< without a notification for this long alpha decays
  Ticks rate_timer = ticks(55000000);    ///< a rate increase each
  uint64_t byte_counter = 10000000;      ///< .. and one for these bytes
  uint32_t fast_recovery = 5;            ///< increases of either kind before the additive ones
  double g = 0x1.0p-8;                   ///< weight of a notification in alpha
  uint64_t rate_ai = 40000000;
  uint64_t rate_hai = 400000000;
  uint64_t min_rate = 5000000;
};

/// Priority flow control on the links that have it (LinkTiming::pfc). A virtual network is a priority: its
/// VCs at one input are counted together and paused together.
struct PfcConfig {
  static constexpr uint32_t kAuto = ~0u;
  uint32_t networks = ~0u;  ///< virtual networks that are paused, as a bit mask; the others go by credits
  uint32_t xoff = kAuto;    ///< flits at which the sender is paused; auto: what leaves the headroom
  uint32_t xon = kAuto;     ///< .. and at which it resumes; auto: a packet below xoff
  Ticks delay = 0;          ///< of a pause or resume on its way, besides that of a credit
};

struct PacketConfig {
  Ticks cycle = ticks(1000);  ///< clock of routers and network interfaces, a picosecond or more
  PipelineConfig pipeline;
  uint32_t vcs = 4;  ///< per virtual network
  uint32_t virtual_networks = 1;
  bool strict_priority = false;  ///< of virtual networks, the highest number first; otherwise they take turns
  uint32_t buffer_flits = 16;    ///< per VC
  FlitSwitching switching = FlitSwitching::packet_held;
  bool strict_cut_through = false;  ///< a head moves only with credit for its whole packet
  bool release_on_credit = false;   ///< an output VC is free again only when all its credits are back
  uint32_t quantum = 0;             ///< longest burst in flits; 0: unlimited (flit_interleaved implies 1)
  uint32_t allocator_iterations = 1;
  std::string switch_allocator = "islip";
  std::string vc_allocator = "islip";
  std::string routing;                  ///< empty: what the topology is made for
  std::string selection;                ///< among equal routes; empty: what the routing is made for
  std::string vc_classes = "dateline";  ///< dateline | switched_dateline | bubble | none
  PfcConfig pfc;
  bool interleave_messages = false;  ///< messages that wait at an interface take turns, packet by packet
  EcnConfig ecn;
  DcqcnConfig dcqcn;
  bool trains = true;  ///< long messages without contention as packet trains: same results, less work
  uint64_t seed = 1;
  uint64_t shuffle = 0;  ///< test aid: not 0 delays process activations by random delta cycles

  uint32_t total_vcs() const { return vcs * virtual_networks; }
};

}  // namespace weft::packet

#endif
