// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/generate/llm_nodes.h"

namespace weft::generate {

namespace pb = ChakraProtoMsg;

LlmNodes::LlmNodes(const LlmShape& shape, const Place& place, bool by_kind, TraceFile& file)
    : RankTraceWriter(file), shape_(shape), place_(place) {
  for (uint8_t i = 0; i < kKinds; ++i)
    groups_[i] = by_kind ? shape.kinds[i].name : std::to_string(shape.group(static_cast<Kind>(i), place));
  if (!shape.overlap) serialise();
}

NodeId LlmNodes::gemm_of(const std::string& name, uint64_t m, uint64_t n, uint64_t k, uint64_t elements,
                         const NodeIds& deps) {
  const uint64_t ops = product({2, m, n, k});
  flop_ += ops;
  begin(name, pb::COMP_NODE);
  for (const NodeId dep : deps) data(dep);
  waited();
  control(stream());
  int64("num_ops", slowed(ops));
  uint64("tensor_size", slowed(product({elements, shape_.dtype})));
  attribute("op_type").set_string_val("GEMM");
  uint64("m", slowed(m));
  uint64("n", n);
  uint64("k", k);
  return computed();
}

NodeId LlmNodes::norm(const std::string& name, bool is_backward, const NodeIds& deps) {
  const uint64_t elements = product({shape_.shard_tokens, shape_.hidden});
  const uint64_t factor = is_backward ? 2 : 1;
  return elementwise(name, product({factor, kNormOps, elements}),
                     product({factor + 1, elements, shape_.dtype}), deps);
}

NodeId LlmNodes::add(const std::string& name, const NodeIds& deps) {
  const uint64_t elements = product({shape_.shard_tokens, shape_.hidden});
  return elementwise(name, elements, product({3, elements, shape_.dtype}), deps);
}

NodeId LlmNodes::activation(const std::string& name, uint64_t rows, uint64_t columns, bool is_backward,
                            const NodeIds& deps) {
  const uint64_t elements = product({rows, columns});
  return elementwise(name, product({kActivationOps, elements}),
                     product({is_backward ? 3u : 2u, elements, shape_.dtype}), deps);
}

NodeId LlmNodes::message(const std::string& name, bool is_send, uint32_t peer, uint64_t tag, uint64_t bytes,
                         const NodeIds& deps) {
  const uint32_t self = shape_.rank(place_);
  begin(name, is_send ? pb::COMM_SEND_NODE : pb::COMM_RECV_NODE);
  for (const NodeId dep : deps) {
    if (is_send)
      data(dep);
    else
      control(dep);
  }
  int64("comm_size", bytes);
  int32("comm_src", is_send ? self : peer);
  int32("comm_dst", is_send ? peer : self);
  int32("comm_tag", tag);
  return end();
}

uint32_t LlmNodes::neighbour(Axis axis, uint32_t steps) const {
  Place other = place_;
  other[axis] = (place_[axis] + steps) % shape_.sizes[axis];
  return shape_.rank(other);
}

NodeId LlmNodes::gather(const std::string& name, NodeId value) {
  if (!shape_.sequence_parallel) return value;
  return collective(name + ".all_gather", pb::ALL_GATHER, kTensor, shape_.stage_activation, {value});
}

NodeId LlmNodes::reduce(const std::string& name, NodeId value) {
  if (shape_.tp == 1) return value;
  if (shape_.sequence_parallel)
    return collective(name + ".reduce_scatter", pb::REDUCE_SCATTER, kTensor, shape_.activation, {value});
  return collective(name + ".all_reduce", pb::ALL_REDUCE, kTensor, shape_.activation, {value});
}

}  // namespace weft::generate
