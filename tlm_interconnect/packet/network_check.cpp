// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/packet/network_check.h"

#include <fmt/format.h>

#include "tlm_interconnect/packet/buffer_check.h"

namespace weft::packet {
namespace {

void check(const PacketConfig& c) {
  const auto fail = [](const std::string& message) { throw UserError(ExitCode::usage, message); };
  if (c.cycle < kTicksPerPicosecond) {
    fail(fmt::format("packet network: a cycle of {}: give at least 1 ps", print_ticks(c.cycle)));
  }
  if (c.vcs == 0 || c.virtual_networks == 0 || c.vcs > kMostVcs ||
      c.virtual_networks > kMostVirtualNetworks || c.total_vcs() > kMostVcs) {
    fail(
        fmt::format("packet network: {} VCs in {} virtual networks: between 1 and {} VCs a port are possible",
                    c.vcs, c.virtual_networks, kMostVcs));
  }
  if (c.buffer_flits == 0 || c.buffer_flits > (1u << 24)) {
    fail(fmt::format("packet network: a buffer of {} flits per VC: between 1 and {} are possible",
                     c.buffer_flits, 1u << 24));
  }
  if (c.pipeline.switch_alloc == 0) fail("packet network: switch allocation takes at least 1 cycle");
  const EcnConfig& e = c.ecn;
  if (e.k_min > e.k_max) {
    fail(fmt::format("packet network: ECN's k_min of {} B is above its k_max of {} B", e.k_min, e.k_max));
  }
  if (!(e.p_max >= 0 && e.p_max <= 1)) {
    fail(fmt::format("packet network: ECN's p_max of {}: from 0 to 1", e.p_max));
  }
  const DcqcnConfig& d = c.dcqcn;
  if (d.enabled && !e.enabled) fail("packet network: DCQCN needs ECN, which marks what it reacts to");
  if (d.alpha_timer == 0 || d.rate_timer == 0 || d.byte_counter == 0 || d.min_rate == 0) {
    fail("packet network: DCQCN's timers, byte counter and smallest rate must be more than 0");
  }
  if (!(d.g > 0 && d.g <= 1)) fail(fmt::format("packet network: DCQCN's g of {}: above 0, up to 1", d.g));
}

void check_pfc(const PacketConfig& config, const PacketTopology& topology, uint32_t packet_flits) {
  if (!topology.has_pfc()) return;
  const auto fail = [](const std::string& message) { throw UserError(ExitCode::usage, message); };
  const PfcConfig& c = config.pfc;
  const uint32_t none = ~low_networks(config.virtual_networks);
  if (c.networks != ~0u && (c.networks & none) != 0) {
    fail(fmt::format(
        "packet network: priority flow control of virtual network {}, but there are {}: name 0 to {}",
        __builtin_ctz(c.networks & none), config.virtual_networks, config.virtual_networks - 1));
  }
  if (c.xoff != PfcConfig::kAuto && (c.xoff == 0 || c.xoff > config.buffer_flits)) {
    fail(
        fmt::format("packet network: priority flow control pauses at {} flits, but a buffer has {}: give an "
                    "XOFF from 1 to {}, or a larger buffer",
                    c.xoff, config.buffer_flits, config.buffer_flits));
  }
  if (c.xon != PfcConfig::kAuto && c.xoff != PfcConfig::kAuto && c.xon >= c.xoff) {
    fail(
        fmt::format("packet network: priority flow control pauses at {} flits and resumes at {}: give an XON "
                    "below XOFF",
                    c.xoff, c.xon));
  }
  if (config.vc_classes == "bubble") {
    fail(
        "packet network: vc_classes bubble keeps a ring moving by the room it leaves free, and a pause stops "
        "packets that have room: use other classes, or credits in place of priority flow control");
  }
  for (const TopologyRouter& router : topology.routers) {
    for (const TopologyPort& port : router.ports) {
      const LinkTiming& link = topology.links[port.link];
      if (!link.pfc) continue;
      const PfcThresholds at = pfc_thresholds(config, link, port.ni, packet_flits);
      if (at.xon < at.xoff) continue;
      fail(
          fmt::format("packet network: priority flow control resumes at {} flits, but with buffers of {} and "
                      "the headroom that a link needs it pauses at {}: give an XON below that, or larger "
                      "buffers",
                      at.xon, config.buffer_flits, at.xoff));
    }
  }
}

}  // namespace

void check_network(const PacketConfig& config, const PacketTopology& topology,
                   const Segmentation& segmentation) {
  check(config);
  topology.check();
  check_pfc(config, topology, segmentation.flits(segmentation.packet_bytes));
  for (const LinkTiming& link : topology.links) {
    if (link.flit_error >= 0 && link.flit_error < 1) continue;
    throw UserError(ExitCode::usage, fmt::format("packet network: a flit error rate of {}: from 0 to below 1",
                                                 link.flit_error));
  }
}

}  // namespace weft::packet
