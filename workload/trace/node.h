// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A trace node as the execution engine sees it: Chakra's attributes already read, whatever kind the producer
// gave them.

#ifndef WEFT_WORKLOAD_TRACE_NODE_H
#define WEFT_WORKLOAD_TRACE_NODE_H

#include <cstdint>
#include <string>
#include <vector>

#include "configs/types.h"

namespace weft::trace {

enum class NodeType : uint8_t {
  invalid = 0,
  metadata = 1,
  mem_load = 2,
  mem_store = 3,
  comp = 4,
  comm_send = 5,
  comm_recv = 6,
  comm_coll = 7
};

const char* to_string(NodeType type);  ///< Chakra's word: "COMP", "COMM_COLL", ...

/// Position of a node in its file's index; what travels between the rooms instead of a pointer.
using NodeIndex = uint32_t;
constexpr NodeIndex kNoNode = ~NodeIndex{0};

/// Where the tensor of a MEM_LOAD or MEM_STORE is: the attribute `tensor_loc`, as a number or as a word.
enum class Location : uint8_t {
  local = 0,   ///< the NPU's HBM
  remote = 1,  ///< the memory pool, or the NPU's remote memory
  host = 2,    ///< `memory.host`
  nvme = 3     ///< `memory.nvme`
};
constexpr int kLocations = 4;

const char* to_string(Location location);  ///< "local", "remote", "host", "nvme"

/// How a collective is put among those issued before, by ASTRA-sim 1.0: the attribute `comm_order`.
enum class IssueOrder : uint8_t {
  none,     ///< no such attribute: by the machine's scheduling
  system,   ///< first or last, as the machine's `collectives.scheduling` says
  lifo,     ///< before all of them, but for `highest`
  fifo,     ///< after all of them
  highest,  ///< before all others, whenever they are issued
};
constexpr int kIssueOrders = 5;

const char* to_string(IssueOrder order);  ///< "none", "system", "lifo", "fifo", "highest"

struct Node {
  NodeIndex index = 0;
  uint64_t id = 0;  ///< Chakra's id
  std::string name;
  NodeType type = NodeType::invalid;
  bool is_cpu_op = false;
  bool has_duration = false;
  bool has_stream = false;  ///< runs alone on `stream`, in place of a compute slot
  uint32_t stream = 0;
  Picoseconds duration = 0;             ///< recorded (duration_micros, or exactly in duration_ps)
  Picoseconds delay = 0;                ///< of METADATA: passes without a slot (delay_ps)
  uint64_t num_ops = 0;                 ///< FLOP
  uint64_t tensor_size = 0;             ///< bytes
  uint64_t gemm[3] = {0, 0, 0};         ///< m, k, n of a matrix product; 0: it is none
  uint64_t delay_cycles = 0;            ///< `delay`: of other work, after a matrix product
  Location location = Location::local;  ///< of a MEM_LOAD's or MEM_STORE's tensor
  bool in_switch = false;               ///< .. with the pool's switches: gather_load, scatter_store
  bool has_iteration = false;
  uint64_t iteration = 0;  ///< the attribute; a name may hold one, too (graph/fidelity_rules.h)

  // COMM_COLL
  bool has_comm_type = false;  ///< PyTorch's CPU-side wrappers have none: they take no time
  CollectiveOp op = CollectiveOp::all_reduce;
  uint64_t comm_size = 0;               ///< bytes, per collectives.md (AG: the shard)
  std::vector<bool> involved_dim;       ///< empty: all
  std::string pg_name;                  ///< communicator group; "" or "0": all ranks
  int32_t priority = 0;                 ///< comm_priority
  IssueOrder order = IssueOrder::none;  ///< comm_order
  uint32_t root = 0;  ///< rank in the job, for rooted collectives (default: first of the group)
  bool has_root = false;
  std::string algorithm;  ///< the node's own choice, as written; empty: none
  uint32_t ordinal = 0;   ///< n-th collective of its group in this rank, ascending node id: the match key

  // COMM_SEND, COMM_RECV
  uint32_t peer = 0;  ///< comm_dst of a send, comm_src of a receive
  uint32_t tag = 0;
  bool has_own_end =
      false;  ///< it says which rank it runs on itself: comm_src of a send, comm_dst of a receive
  uint32_t own_end = 0;
};

}  // namespace weft::trace

#endif
