// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tests/support/golden_collectives.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/paths.h"

namespace weft::test {
namespace {

using nlohmann::json;

DimensionKind kind(const std::string& name) {
  if (name == "Ring") return DimensionKind::ring;
  if (name == "FullyConnected") return DimensionKind::fully_connected;
  return DimensionKind::switch_;
}

CollectiveOp operation(const std::string& name) {
  if (name == "AR") return CollectiveOp::all_reduce;
  if (name == "AG") return CollectiveOp::all_gather;
  if (name == "RS") return CollectiveOp::reduce_scatter;
  return CollectiveOp::all_to_all;
}

/// Bandwidths are GiB/s with a fraction (200/7): kept exact as a multiple of 1/n.
Rate rate(double gib_per_second) {
  for (uint32_t divisor = 1; divisor <= 64; ++divisor) {
    const double scaled = gib_per_second * divisor * 1073741824.0;
    if (std::abs(scaled - std::round(scaled)) < 1e-3)
      return {static_cast<uint64_t>(std::llround(scaled)), divisor};
  }
  return {static_cast<uint64_t>(std::llround(gib_per_second * 1073741824.0)), 1};
}

GoldenCollective read(const json& spec) {
  GoldenCollective g;
  g.id = spec["id"];
  g.op = operation(spec["collective"]);
  g.bytes = spec["bytes"];
  const bool contended = spec["contention"] != "none";
  double steps = 0;
  for (size_t d = 0; d < spec["npus"].size(); ++d) {
    DimensionConfig dimension;
    dimension.kind = kind(spec["topology"][d]);
    dimension.size = spec["npus"][d];
    g.gib_per_second.push_back(spec["bandwidth_GiBps"][d]);
    dimension.bandwidth = rate(g.gib_per_second.back());
    dimension.latency = static_cast<Picoseconds>(std::llround(spec["latency_ns"][d].get<double>() * 1000));
    dimension.fidelity = contended ? Fidelity::message : Fidelity::analytical;
    dimension.switching = Switching::store_and_forward;
    g.config.dimensions.push_back(dimension);
    const double n = dimension.size;
    steps += (g.op == CollectiveOp::all_to_all ? n * (n - 1) / 2 : 2 * (n - 1)) *
             (dimension.kind == DimensionKind::switch_ ? 2 : 1);
  }
  auto& c = g.config.collectives;
  for (const std::string name : spec["algorithm"]) {
    c.algorithms[static_cast<size_t>(g.op)].push_back(name == "halvingDoubling" ? "halving_doubling" : name);
  }
  c.chunks = spec["chunks"];
  c.active_chunks_per_dimension = spec["active_chunks_per_dimension"];
  c.order =
      spec["all_reduce_order"] == "baseline" ? CollectiveOrder::baseline : CollectiveOrder::local_bw_aware;
  g.inter_dimension_scheduling = spec.value("inter_dimension_scheduling", "ascending");
  if (g.inter_dimension_scheduling == "offlineGreedy") c.order = CollectiveOrder::themis;
  if (spec.value("smallest_first", false)) c.dimension_scheduling = DimensionScheduling::smallest_first;
  g.config.nmu.endpoint_delay = spec["endpoint_delay_ns"].get<uint64_t>() * 1000;
  const bool reduces = spec["reduction"] != "none";
  if (reduces) {
    c.reduction = ReductionKind::fixed_bandwidth;
    c.reduction_bandwidth = {1600000000000ull, 1};
  }
  g.scheduler = spec.value("scheduler_binary", "");
  g.time_ns = spec["time_ns"];
  g.tolerance_ns = std::max(g.time_ns * 0.001, c.chunks * steps * (reduces ? 4 : 1));
  return g;
}

}  // namespace

std::vector<GoldenCollective> read_golden_collectives(const std::string& file) {
  const json data = json::parse(std::ifstream(data_dir() + "/golden/" + file));
  std::vector<GoldenCollective> all;
  for (const json& spec : data["cases"]) all.push_back(read(spec));
  return all;
}

}  // namespace weft::test
