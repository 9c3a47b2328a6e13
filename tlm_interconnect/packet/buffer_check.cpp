// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/packet/buffer_check.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft::packet {
namespace {

LinkTiming resolved(const PacketConfig& config, LinkTiming link) {
  if (link.latency == 0) link.latency = config.cycle;
  if (link.credit_latency == 0) link.credit_latency = link.latency;
  if (link.flit_time == 0) link.flit_time = config.cycle;
  return link;
}

}  // namespace

Ticks credit_round_trip(const PacketConfig& config, const LinkTiming& link) {
  const LinkTiming l = resolved(config, link);
  const PipelineConfig& s = config.pipeline;
  // There: switch allocation, traversal, link. Back: a cycle to make the credit, link, processing.
  return (s.switch_alloc + s.traversal + 1 + s.credit) * config.cycle + l.latency + l.credit_latency +
         (l.flit_time > config.cycle ? l.flit_time - config.cycle : 0);
}

double credit_limited_share(const PacketConfig& config, const LinkTiming& link, uint32_t packet_flits) {
  const double rtt = static_cast<double>(credit_round_trip(config, link)) /
                     static_cast<double>(resolved(config, link).flit_time);
  const uint32_t n = packet_flits;
  const uint32_t buffer = config.buffer_flits;
  double per_packet = std::max(n * rtt / buffer, static_cast<double>(n)) + 1;
  if (config.strict_cut_through && buffer >= n) {
    // A head goes when all but buffer - n of the flits before it are acknowledged.
    per_packet = std::max(n + 1.0, (rtt + n - buffer % n) / (buffer / n));
  }
  if (config.release_on_credit) {
    const double last = (n - 1) / buffer * rtt + (n - 1) % buffer;
    per_packet = std::max(per_packet, rtt + last + 2);
  }
  return std::min(1.0, config.vcs * n / per_packet);
}

std::string buffer_warning(const std::string& name, const PacketConfig& config, const LinkTiming& link,
                           uint32_t packet_flits) {
  const double share = credit_limited_share(config, link, packet_flits);
  // One packet's gap on a single VC is the pipeline's, not the buffer's.
  const double best = std::min(1.0, config.vcs * static_cast<double>(packet_flits) / (packet_flits + 1.0));
  if (share >= best - 1e-9) return {};
  PacketConfig enough = config;
  enough.buffer_flits = 1u << 24;
  const double most = credit_limited_share(enough, link, packet_flits);
  if (most < best - 1e-9) {
    return fmt::format(
        "{}: {} VCs that are free again only when all credits are back (release_on_credit) cannot cover the "
        "credit round trip of {} ns: at most {:.1f} % of the link can be used, {:.1f} % is lost; more VCs or "
        "longer "
        "packets would do, larger buffers alone not",
        name, config.vcs, static_cast<double>(picoseconds(credit_round_trip(config, link))) / 1000,
        100 * share, 100 * (best - share));
  }
  enough.buffer_flits = config.buffer_flits;
  while (credit_limited_share(enough, link, packet_flits) < best - 1e-9 && enough.buffer_flits < (1u << 24)) {
    enough.buffer_flits = std::max(enough.buffer_flits + 1, enough.buffer_flits + enough.buffer_flits / 64);
  }
  return fmt::format(
      "{}: buffers of {} flits in {} VCs cannot cover the credit round trip of {} ns: at most {:.1f} % of "
      "the "
      "link can be used, {:.1f} % is lost; about {} flits per VC would do",
      name, config.buffer_flits, config.vcs,
      static_cast<double>(picoseconds(credit_round_trip(config, link))) / 1000, 100 * share,
      100 * (best - share), enough.buffer_flits);
}

std::string marking_warning(const PacketTopology& topology, const PacketConfig& config, uint64_t flit_bytes) {
  if (!config.ecn.enabled) return {};
  uint64_t inputs = 0;
  for (const TopologyRouter& router : topology.routers)
    inputs = std::max<uint64_t>(inputs, router.ports.size());
  const uint64_t most = inputs * config.vcs * config.buffer_flits * flit_bytes;
  if (most > config.ecn.k_min) return {};
  return fmt::format(
      "{}: no queue can exceed ECN's k_min of {} B: {} inputs with {} VCs of {} flits hold {} B; nothing "
      "will be "
      "marked. Make k_min smaller or the buffers larger",
      topology.name, config.ecn.k_min, inputs, config.vcs, config.buffer_flits, most);
}

uint32_t pfc_headroom(const PacketConfig& config, const LinkTiming& link, bool interface,
                      uint32_t packet_flits) {
  const LinkTiming l = resolved(config, link);
  const PipelineConfig& s = config.pipeline;
  const Ticks cycle = config.cycle;
  // The pause, from the cycle that saw XOFF to the first one in which the sender begins nothing.
  const Ticks back = cycle + l.credit_latency + (interface ? 0 : s.credit * cycle) + config.pfc.delay;
  const Ticks stop = (back + cycle - 1) / cycle * cycle;
  // A flit, from the cycle that sends it to the buffer.
  const Ticks there = interface ? std::max(cycle, l.flit_time) + l.latency
                                : (s.switch_alloc + s.traversal) * cycle + l.latency +
                                      (l.flit_time > cycle ? l.flit_time - cycle : 0);
  // The cycle before saw XOFF - 1 at most. Flits that came later were sent after it - `there`, and before
  // `stop`; then the packet that began last goes on to its end.
  const Ticks grain = l.flit_time % cycle == 0 ? cycle : 1;
  const uint64_t flits = (cycle + there + stop - grain + l.flit_time - 1) / l.flit_time;
  return static_cast<uint32_t>(std::max<uint64_t>(1, flits) - 1 + packet_flits - 1);
}

PfcThresholds pfc_thresholds(const PacketConfig& config, const LinkTiming& link, bool interface,
                             uint32_t packet_flits) {
  const uint32_t headroom = pfc_headroom(config, link, interface, packet_flits);
  PfcThresholds t;
  t.xoff = config.pfc.xoff != PfcConfig::kAuto ? config.pfc.xoff
           : config.buffer_flits > headroom    ? config.buffer_flits - headroom
                                               : 1;
  t.xon = config.pfc.xon != PfcConfig::kAuto ? config.pfc.xon
          : t.xoff > packet_flits            ? t.xoff - packet_flits
                                             : t.xoff / 2;
  return t;
}

std::string pfc_warning(const std::string& name, const PacketConfig& config, const LinkTiming& link,
                        bool interface, uint32_t packet_flits, const std::string& xoff_key,
                        const std::string& buffer_key) {
  const uint32_t needed = pfc_headroom(config, link, interface, packet_flits);
  const uint32_t xoff = pfc_thresholds(config, link, interface, packet_flits).xoff;
  const uint32_t there = config.buffer_flits - std::min(config.buffer_flits, xoff);
  if (there >= needed) return {};
  const std::string remedy =
      config.buffer_flits > needed
          ? fmt::format("{} of {} flits or less, or ", xoff_key, config.buffer_flits - needed)
          : "";
  return fmt::format(
      "{}: priority flow control pauses at {} of {} flits, a headroom of {}, but {} flits can still come: a "
      "lossless link would drop packets where a buffer is full (here they wait for a credit and are counted "
      "as overruns). Give {}{} of {} flits or more",
      name, xoff, config.buffer_flits, there, needed, remedy, buffer_key, xoff + needed);
}

}  // namespace weft::packet
