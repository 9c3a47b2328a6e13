// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Reads an encoded Chakra Node, whatever numeric kinds its producer chose for the attributes.
//
// Attributes read (any integer, real or bool kind; all others are ignored):
//   stream              of a COMP node: nodes of one stream of a rank run one at a time, in place of compute
//   slots is_cpu_op, num_ops, tensor_size, comm_type, comm_size, comm_src, comm_dst, comm_tag, comm_priority
//   m, k, n             of a COMP node: a matrix product m x k times k x n; delay: cycles of other work
//   involved_dim        list of bool or integers, or one bool
//   pg_name             string, bytes or integer
//   root, comm_root, root_rank   rank of a rooted collective
//   duration_ps         in place of duration_micros, exactly
//   delay_ps            of METADATA: it lasts so long, without a slot
//   comm_order          of a collective: system, lifo, fifo or highest (docs/guide/text_workloads.md)
//   iteration           of the training loop, a whole number
//   tensor_loc          of MEM_LOAD / MEM_STORE: 0 local, 1 remote, 2 host, 3 nvme, or the word as a string
//   is_remote           of such a node without tensor_loc: 0 local, anything else remote memory
//   in_switch           of such a node in remote memory: gather_load, scatter_store (docs/memory_pool.md)
//
// A collective without comm_type, and a CPU-side send or receive with neither peer nor size, is what
// PyTorch's profiler records around the real one: a wrapper, which takes no time.

#ifndef WEFT_WORKLOAD_TRACE_NODE_DECODER_H
#define WEFT_WORKLOAD_TRACE_NODE_DECODER_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workload/trace/node.h"

namespace weft::trace {

/// Where a node comes from, for messages.
struct NodePlace {
  const std::string* path = nullptr;
  uint32_t rank = 0;
  uint64_t number = 0;  ///< 0 is the first node of the file
  uint64_t offset = 0;  ///< bytes
};

/// "llm.3.et: rank 3, node 17 "name" (number 5 of the file, byte 812)".
std::string describe(const NodePlace& place, uint64_t id, std::string_view name);

/// TraceIndex::for_each_dependency() reads either kind.
struct Dependencies {
  std::vector<uint64_t> control;  ///< ids, in file order
  std::vector<uint64_t> data;
  const NodeIndex* nodes = nullptr;  ///< in place of ids, of a DecodedProgram: the nodes themselves
  size_t node_count = 0;
  size_t size() const { return control.size() + data.size() + node_count; }
  /// Drops everything but the memory.
  void clear() {
    control.clear();
    data.clear();
    nodes = nullptr;
    node_count = 0;
  }
};

/// Oddities that are no errors. The reader of a whole file makes warnings of them.
struct DecodeNotes {
  uint64_t unreadable_attributes = 0;
  std::string first_unreadable;
  uint64_t untyped_nodes = 0;
  uint64_t first_untyped = 0;  ///< id
  uint64_t unsized_collectives = 0;
  uint64_t first_unsized = 0;  ///< id
  uint64_t untyped_collectives = 0;
  uint64_t first_untyped_collective = 0;  ///< id
  uint64_t unsized_messages = 0;          ///< sends and receives without comm_size
  uint64_t first_unsized_message = 0;     ///< id
  uint64_t unsized_accesses = 0;          ///< loads and stores without tensor_size and without a duration
  uint64_t first_unsized_access = 0;      ///< id
  uint64_t tensor_lists = 0;              ///< nodes' lists of tensors (tensor_reader.h), no oddity
};

/// Decodes everything Node holds except `index` and `ordinal`. Throws UserError(trace) naming the place on
/// malformed bytes and on values that cannot be: negative sizes and counts, an unknown node or collective
/// type, a send or receive without its peer. `dependencies` and `notes` may be null.
void decode_node(const uint8_t* data, size_t size, const NodePlace& place, Node& node,
                 Dependencies* dependencies, DecodeNotes* notes);

/// Only the dependencies; much faster. The bytes must have passed decode_node before.
void decode_dependencies(const uint8_t* data, size_t size, const NodePlace& place,
                         Dependencies& dependencies);

}  // namespace weft::trace

#endif
