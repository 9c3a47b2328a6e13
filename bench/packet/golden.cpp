// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "bench/packet/golden.h"

#include <fmt/format.h>

#include <fstream>
#include <map>

namespace weft::bench {

using packet::FlitSwitching;
using packet::LinkTiming;
using packet::TrafficConfig;

nlohmann::json load_json(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw UserError(ExitCode::usage, "cannot read " + file);
  return nlohmann::json::parse(in);
}

TrafficConfig golden_curve(const nlohmann::json& curve, uint32_t seeds) {
  static const std::map<std::string, std::string> notation = {
      {"ring8", "Ring(8)"},           {"torus4x4x4", "Ring(4)_Ring(4)_Ring(4)"},
      {"mesh8x8", "Mesh(8)_Mesh(8)"}, {"fattree_k4n3", "FatTree(k=4,n=3)"},
      {"switch8", "Switch(8)"},       {"switch64", "Switch(64)"}};
  TrafficConfig c;
  c.topology = packet::make_from_notation(notation.at(curve["topology"]), {}, {});
  c.packet_flits = curve["packet_flits"];
  c.network.vcs = curve["num_vcs"];
  c.network.buffer_flits = curve["vc_buffer_flits"];
  c.network.switching =
      curve["switching"] == "packet-held" ? FlitSwitching::packet_held : FlitSwitching::flit_interleaved;
  c.network.release_on_credit = curve.value("wait_for_tail_credit", 0) != 0;
  const std::string traffic = curve["traffic"];
  c.pattern.self_destinations = true;
  c.pattern.name = traffic == "bitcomp"        ? "bit_complement"
                   : traffic == "incast_node0" ? "all_to_one"
                                               : traffic;
  c.pattern.hotspot_weight = c.topology.nis.size() == 64 ? 8 : 3;
  c.seeds = seeds;
  return c;
}

std::string curve_name(const nlohmann::json& curve) {
  return fmt::format("{} {} N={} V={} B={} {}{}", curve["topology"].get<std::string>(),
                     curve["traffic"].get<std::string>(), curve["packet_flits"].get<int>(),
                     curve["num_vcs"].get<int>(), curve["vc_buffer_flits"].get<int>(),
                     curve["switching"].get<std::string>(),
                     curve.value("wait_for_tail_credit", 0) != 0 ? " tail-credit" : "");
}

TrafficConfig golden_dumbbell(const nlohmann::json& row) {
  TrafficConfig c;
  c.topology.name = "dumbbell";
  c.topology.routing = "shortest_path";
  c.topology.selection = "first";
  const uint32_t ni = c.topology.add_link({});
  LinkTiming timing;
  timing.latency = row["L"].get<uint64_t>() * c.network.cycle;
  const uint32_t link = c.topology.add_link(timing);
  const uint32_t a = c.topology.add_router("a");
  const uint32_t b = c.topology.add_router("b");
  c.topology.attach(a, ni);
  c.topology.attach(b, ni);
  c.topology.connect(a, b, link);
  c.pattern.name = "permutation";
  c.pattern.permutation = {1, 0};
  c.network.vcs = row["V"];
  c.network.buffer_flits = row["B"];
  c.loads = {0.99};
  c.find_saturation = false;
  c.seeds = 1;
  c.measure_cycles = 200000;  // long enough for whole round trips
  return c;
}

}  // namespace weft::bench
