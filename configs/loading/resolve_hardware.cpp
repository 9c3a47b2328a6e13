// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Relations between the keys of `hbm`, of `packet` and of `npu`.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "configs/dram_spec.h"
#include "configs/loading/resolution.h"
#include "configs/units.h"

namespace weft::loading {
namespace {

/// `buffer` in flits.
void resolve_buffer(Resolution& r) {
  PacketFabricConfig& p = r.config.packet;
  const RawValue* const bytes = r.find("packet.buffer");
  const RawValue* const flits = r.find("packet.buffer_flits");
  if (bytes != nullptr && flits != nullptr) {
    r.complain("packet.buffer",
               fmt::format("given beside `packet.buffer_flits` (at {}); keep one of the two", flits->origin));
  } else if (bytes != nullptr && p.flit_bytes != 0) {
    const uint64_t n = std::get<uint64_t>(bytes->value) / p.flit_bytes;
    const KeySpec* const key = find_key("packet.buffer_flits");
    if (n == 0 || n > std::stoull(key->max)) {
      r.complain("packet.buffer", fmt::format("'{}' is {} flits of {}; allowed: from 1 to {} flits",
                                              print_value(*find_key("packet.buffer"), bytes->value), n,
                                              print_size(p.flit_bytes), key->max));
    } else {
      p.buffer_flits = static_cast<uint32_t>(n);
    }
  }
}

/// Virtual channels and networks.
void check_networks(Resolution& r) {
  const PacketFabricConfig& p = r.config.packet;
  if (p.vcs * p.virtual_networks > 64) {
    r.complain(r.find("packet.virtual_networks") != nullptr ? "packet.virtual_networks" : "packet.vcs",
               fmt::format("{} virtual networks of {} VCs are {} VCs a port; at most 64 are possible",
                           p.virtual_networks, p.vcs, p.vcs * p.virtual_networks));
  }
  for (const auto& [path, network] :
       {std::pair<const char*, uint32_t>{"packet.collectives_network", p.collectives_network},
        std::pair<const char*, uint32_t>{"packet.point_to_point_network", p.point_to_point_network}}) {
    if (network >= p.virtual_networks) {
      r.complain(path, fmt::format("'{}' is no virtual network: `packet.virtual_networks` is {}; allowed: 0 "
                                   "to {}",
                                   network, p.virtual_networks, p.virtual_networks - 1));
    }
  }
}

/// Headers, and what `vc_classes: bubble` needs.
void check_packets(Resolution& r) {
  const PacketFabricConfig& p = r.config.packet;
  if (p.header_bytes != 0 && p.header_efficiency != 1) {
    r.complain("packet.header",
               "given beside `packet.header_efficiency`, which would count headers twice; keep one of the "
               "two");
  }
  if (p.vc_classes == "bubble" && !p.strict_cut_through) {
    r.complain("packet.vc_classes",
               "'bubble' needs `packet.strict_cut_through: true`: a packet must fit where it moves to");
  }
}

/// ECN and DCQCN.
void check_congestion(Resolution& r) {
  const PacketFabricConfig& p = r.config.packet;
  if (p.ecn.k_min > p.ecn.k_max) {
    const bool low = r.find("packet.ecn.k_min") != nullptr;
    r.complain(low ? "packet.ecn.k_min" : "packet.ecn.k_max",
               fmt::format("a `k_min` of {} is above the `k_max` of {}; make {}", print_size(p.ecn.k_min),
                           print_size(p.ecn.k_max),
                           low ? "it smaller, or set `k_max`" : "it larger, or set `k_min`"));
  }
  if (p.dcqcn.enabled && !p.ecn.enabled) {
    r.complain("packet.dcqcn.enabled",
               "DCQCN reacts to packets that routers mark, and none does; add `packet.ecn.enabled: true`");
  }
}

/// Priority flow control.
void check_pfc(Resolution& r) {
  const PacketFabricConfig& p = r.config.packet;
  for (const uint32_t network : p.pfc_networks) {
    if (network >= p.virtual_networks) {
      r.complain("packet.pfc_networks",
                 fmt::format("'{}' is no virtual network: `packet.virtual_networks` is {}; allowed: 0 to {}",
                             network, p.virtual_networks, p.virtual_networks - 1));
    }
  }
  if (p.pfc_xoff != 0 && p.buffer_flits != 0 && p.pfc_xoff > p.buffer_flits) {
    r.complain("packet.pfc_xoff",
               fmt::format("'{}' flits are never reached: a buffer has {}; allowed: from 1 "
                           "to {}",
                           p.pfc_xoff, p.buffer_flits, p.buffer_flits));
  }
  if (p.pfc_xon != 0 && p.pfc_xoff != 0 && p.pfc_xon >= p.pfc_xoff) {
    r.complain(
        "packet.pfc_xon",
        fmt::format("'{}' flits are not below `packet.pfc_xoff` ({}): nothing would ever be paused for "
                    "long; allowed: below {}, or auto",
                    p.pfc_xon, p.pfc_xoff, p.pfc_xoff));
  }
  const std::vector<DimensionConfig>& dimensions = r.config.fabric_dimensions();
  const bool any_pfc = p.flow_control == FlowControl::pfc ||
                       std::any_of(dimensions.begin(), dimensions.end(), [](const DimensionConfig& d) {
                         return d.flow_control == FlowControl::pfc;
                       });
  if (any_pfc && p.vc_classes == "bubble") {
    r.complain("packet.vc_classes",
               "'bubble' keeps a ring moving by the room it leaves free, and a pause stops packets that have "
               "room; use other classes, or `flow_control: credits`");
  }
}

/// `strict_cut_through` needs buffers of a packet.
void check_cut_through(Resolution& r) {
  const PacketFabricConfig& p = r.config.packet;
  const uint64_t least = (p.packet_bytes + p.header_bytes + p.flit_bytes - 1) / p.flit_bytes;
  if (p.strict_cut_through && p.buffer_flits != 0 && p.buffer_flits < least) {
    r.complain(r.find("packet.buffer") != nullptr ? "packet.buffer" : "packet.buffer_flits",
               fmt::format("{} flits do not hold a packet of {}, which `packet.strict_cut_through` needs; "
                           "allowed: {} or more",
                           p.buffer_flits, least, least));
  }
}

}  // namespace

void resolve_hbm(Resolution& r) {
  HbmConfig& h = r.config.hbm;
  if (!h.banked()) {
    for (const char* const path : kDramKeys) {
      if (const RawValue* const raw = r.find(path)) {
        r.errors.add(
            raw->origin, path,
            "is of `hbm.model: banked`, and the model is `bandwidth`; set the model or take the key out");
      }
    }
    return;
  }
  const DramSpec spec = dram_spec(h);
  const Rate bandwidth{static_cast<uint64_t>(std::llround(spec.stack_peak() * h.stacks)), 1};
  const auto follows = [&](const char* path, bool equal, const std::string& value) {
    const RawValue* const raw = r.find(path);
    if (raw == nullptr || equal) return;
    r.errors.add(
        raw->origin, path,
        fmt::format("follows from the device of `hbm.model: banked`: {} of {} give {}; take the key out, or "
                    "change `hbm.preset` or `hbm.stacks`",
                    h.stacks, h.preset, value));
  };
  follows("hbm.bandwidth", h.bandwidth == bandwidth, print_value(*find_key("hbm.bandwidth"), bandwidth));
  follows("hbm.latency", h.latency == spec.least_latency(),
          print_value(*find_key("hbm.latency"), uint64_t{spec.least_latency()}));
  follows("hbm.efficiency", h.efficiency == 1.0, "1 (refresh and rows are simulated)");
  h.bandwidth = bandwidth;
  h.latency = spec.least_latency();
}

void resolve_packet(Resolution& r) {
  resolve_buffer(r);
  check_networks(r);
  check_packets(r);
  check_congestion(r);
  check_pfc(r);
  check_cut_through(r);
}

void check_roofline(Resolution& r) {
  try {
    r.config.npu.clock_hz = parse_clock(r.config.npu.clock);
  } catch (const UserError& e) {
    r.complain("npu.clock", e.what());
  }
  if (r.config.npu.roofline && r.config.npu.peak_flops == 0 && r.config.npu.memory_bandwidth == 0 &&
      r.raw.broken.empty()) {
    r.complain(
        "npu.roofline",
        "'true' with neither `npu.peak` nor `npu.memory_bandwidth`; give at least one of them a value");
  }
}

}  // namespace weft::loading
