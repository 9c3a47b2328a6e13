// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The nodes that a training step is made of. Private to the generator.

#ifndef WEFT_WORKLOAD_GENERATE_LLM_NODES_H
#define WEFT_WORKLOAD_GENERATE_LLM_NODES_H

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "configs/types.h"
#include "workload/generate/llm_shape.h"
#include "workload/generate/rank_trace_writer.h"
#include "workload/generate/trace_file.h"

namespace weft::generate {

/// Dependencies; kNone among them is none.
using NodeIds = std::vector<NodeId>;

/// Writes the nodes of the rank at `place`.
class LlmNodes : public RankTraceWriter {
 public:
  /// `by_kind`: groups are named by their kinds, as in the programs of a class manifest, not by numbers.
  LlmNodes(const LlmShape& shape, const Place& place, bool by_kind, TraceFile& file);

  const LlmShape& shape() const { return shape_; }
  const Place& place() const { return place_; }
  /// Of matrix multiplications so far.
  Wide flop() const { return flop_; }
  void set_flop(Wide flop) { flop_ = flop; }

  NodeId elementwise(const std::string& name, uint64_t ops, uint64_t bytes, const NodeIds& deps) {
    return compute(name, "ELEMENTWISE", ops, bytes, deps);
  }
  /// (m x k) times (k x n).
  NodeId gemm(const std::string& name, uint64_t m, uint64_t n, uint64_t k, const NodeIds& deps) {
    return gemm_of(name, m, n, k, sum({product({m, k}), product({k, n}), product({m, n})}), deps);
  }
  /// The same; `elements` are read and written. For products of one size after the other, m or k is the sum
  /// of theirs.
  NodeId gemm_of(const std::string& name, uint64_t m, uint64_t n, uint64_t k, uint64_t elements,
                 const NodeIds& deps);
  NodeId norm(const std::string& name, bool is_backward, const NodeIds& deps);
  /// Of residuals.
  NodeId add(const std::string& name, const NodeIds& deps);
  /// Of the MLP, over rows x columns.
  NodeId activation(const std::string& name, uint64_t rows, uint64_t columns, bool is_backward,
                    const NodeIds& deps);

  NodeId collective(const std::string& name, ChakraProtoMsg::CollectiveCommType type, Kind kind,
                    uint64_t bytes, const NodeIds& deps, NodeId after = kNone) {
    return RankTraceWriter::collective(name, type, groups_[kind], bytes, deps, after);
  }
  /// A send waits for the data of `deps`, a receive is posted after them.
  NodeId message(const std::string& name, bool is_send, uint32_t peer, uint64_t tag, uint64_t bytes,
                 const NodeIds& deps);
  /// The rank that is `steps` further on the axis, round it.
  uint32_t neighbour(Axis axis, uint32_t steps) const;

  // Tensor parallel blocks of dense weights.

  /// What enters a block of column-parallel weights, whole.
  NodeId gather(const std::string& name, NodeId value);
  /// The partial sums that leave a block, added up.
  NodeId reduce(const std::string& name, NodeId value);

 private:
  const LlmShape& shape_;
  const Place place_;
  std::array<std::string, kKinds> groups_;
  Wide flop_ = 0;
};

}  // namespace weft::generate

#endif
