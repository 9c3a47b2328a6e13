// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// `memory.pool`: memory groups that all NPUs share, and the switches between the two. docs/memory_pool.md has
// the designs and their formulas.

#ifndef WEFT_CONFIGS_MEMORY_POOL_H
#define WEFT_CONFIGS_MEMORY_POOL_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "configs/types.h"

namespace weft {

enum class PoolDesign : uint8_t { hierarchical, multi_level, ring, mesh, graph };
constexpr int kPoolDesigns = 5;

/// What a chunk is: a share of every NPU that loads, or bytes of one NPU.
enum class PoolSplit : uint8_t { fluid, whole };
constexpr int kPoolSplits = 2;

enum class PoolPlacement : uint8_t { interleaved, edge };
constexpr int kPoolPlacements = 2;

/// What an NPU asks of the pool. gather_load: every NPU gets the shards of all NPUs. scatter_store: the sum
/// of what all NPUs send is stored.
enum class PoolOperation : uint8_t { load, store, gather_load, scatter_store };
constexpr int kPoolOperations = 4;

const char* to_string(PoolDesign design);
const char* to_string(PoolSplit split);
const char* to_string(PoolPlacement placement);
const char* to_string(PoolOperation operation);

constexpr bool stores(PoolOperation op) {
  return op == PoolOperation::store || op == PoolOperation::scatter_store;
}
/// All NPUs do it together, and the switches take part.
constexpr bool in_switch(PoolOperation op) {
  return op == PoolOperation::gather_load || op == PoolOperation::scatter_store;
}

/// One level of switches of a multi_level pool, above the in-node switches.
struct PoolLevel {
  uint32_t switches = 1;
  Rate bandwidth;  ///< of a link down to a switch of the level below
};

struct MemoryPoolConfig {
  PoolDesign design = PoolDesign::hierarchical;
  uint32_t nodes = 1;
  uint32_t out_switches = 1;  ///< hierarchical
  uint32_t groups = 1;
  Rate group_bandwidth;     ///< total of a group; its links share it
  Rate out_node_bandwidth;  ///< of a link between switches (ring, mesh: between neighbours)
  Rate in_node_bandwidth;   ///< of an NPU's link
  Picoseconds latency = 0;  ///< of a hop
  Picoseconds request_latency = 0;
  uint64_t chunk = 64 << 10;
  PoolSplit split = PoolSplit::fluid;
  std::string striping = "latin";     ///< pool::striping_policies()
  uint64_t capacity = 0;              ///< of a group, bytes; 0: unlimited
  std::string group_memory = "auto";  ///< a model of memories; `auto`: none
  double efficiency = 1;              ///< share of group_bandwidth that transfers reach
  uint32_t buffer = 0;                ///< chunks of partial sums in a switch; 0: unlimited
  Fidelity fidelity = Fidelity::message;
  bool as_flows() const { return fidelity == Fidelity::analytical; }
  bool as_packets() const { return fidelity == Fidelity::packet; }
  std::string levels;                                    ///< multi_level, as written
  std::string shape;                                     ///< mesh, as written; empty: the most square one
  PoolPlacement placement = PoolPlacement::interleaved;  ///< mesh
  bool wraparound = false;                               ///< mesh
  std::optional<uint32_t> share;  ///< dimension whose switches are the in-node switches

  // Resolved:
  std::vector<PoolLevel> upper;  ///< levels above the in-node switches, upwards (hierarchical: one)
  uint32_t width = 0;            ///< of a mesh
  uint32_t height = 0;

  /// group_bandwidth that transfers reach.
  Rate group_rate() const;
  /// Ways from the in-node switches to the highest level: the choices of the striping's switch.
  uint32_t ways() const;
};

/// `levels: "8, 4 x 512 GB/s"`: entries from the in-node switches up. `link`: of entries without a bandwidth.
/// Throws UserError(usage) with what is wrong.
std::vector<PoolLevel> parse_pool_levels(const std::string& text, Rate link);

/// `shape: 8x4`. Throws UserError(usage).
void parse_pool_shape(const std::string& text, uint32_t& width, uint32_t& height);

/// Hierarchical, 16 nodes, ..: for `weft describe`.
std::string describe_pool(const MemoryPoolConfig& pool, uint32_t npus);
/// The lines of a drawing (Graphviz, between the braces). `full`: every module.
std::string draw_pool(const MemoryPoolConfig& pool, uint32_t npus, bool full);

}  // namespace weft

#endif
