// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The network goldens as traffic configurations: for the bench and the golden tests.

#ifndef WEFT_BENCH_PACKET_GOLDEN_H
#define WEFT_BENCH_PACKET_GOLDEN_H

#include <nlohmann/json.hpp>
#include <string>

#include "tlm_interconnect/packet/traffic.h"

namespace weft::bench {

nlohmann::json load_json(const std::string& file);

/// A curve of network_gate.json or network_load_latency.json, without loads and windows.
packet::TrafficConfig golden_curve(const nlohmann::json& curve, uint32_t seeds);
std::string curve_name(const nlohmann::json& curve);

/// A row of credit_round_trip.json: two routers, both ranks send to the other at 0.99.
packet::TrafficConfig golden_dumbbell(const nlohmann::json& row);

}  // namespace weft::bench

#endif
