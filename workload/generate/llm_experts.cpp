// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/generate/llm_experts.h"

namespace weft::generate {

namespace pb = ChakraProtoMsg;

uint64_t LlmExperts::rows() const {
  return product({shape_.routed_rows, shape_.sequence_parallel ? shape_.tp : 1});
}

/// Scores of the experts and their softmax. It is no FLOP of the model, and no GEMM: tensor parallel ranks
/// without sequence parallelism all do the same.
NodeId LlmExperts::router(bool is_backward, const NodeIds& deps) {
  const uint64_t tokens = shape_.shard_tokens;
  const uint64_t factor = is_backward ? 2 : 1;
  const uint64_t ops = sum({product({factor, 2, tokens, shape_.hidden, shape_.experts}),
                            product({factor, kSoftmaxOps, tokens, shape_.experts})});
  const uint64_t elements = sum({product({tokens, shape_.hidden}), product({shape_.hidden, shape_.experts}),
                                 product({tokens, shape_.experts})});
  return nodes_.compute(is_backward ? "router.gradient" : "router", "ROUTER", ops,
                        product({factor, elements, shape_.dtype}), deps);
}

NodeId LlmExperts::exchange(const char* name, NodeId rows) {
  if (shape_.ep == 1) return rows;
  return nodes_.collective(std::string(name) + ".all_to_all", pb::ALL_TO_ALL, kExperts, shape_.routed,
                           {rows});
}

NodeId LlmExperts::gather_rows(const char* name, NodeId rows) {
  if (!shape_.sequence_parallel) return rows;
  return nodes_.collective(std::string(name) + ".all_gather", pb::ALL_GATHER, kTensor, shape_.routed, {rows});
}

NodeId LlmExperts::reduce_rows(const char* name, NodeId rows) {
  if (!shape_.sequence_parallel) return rows;
  return nodes_.collective(std::string(name) + ".reduce_scatter", pb::REDUCE_SCATTER, kTensor,
                           product({shape_.tp, shape_.routed}), {rows});
}

NodeId LlmExperts::product_of(const char* name, uint64_t columns, uint64_t inner, const NodeIds& deps) {
  const uint64_t own = shape_.experts / shape_.ep;
  return nodes_.gemm_of(
      name, rows(), columns, inner,
      sum({product({rows(), inner}), product({own, inner, columns}), product({rows(), columns})}), deps);
}

NodeId LlmExperts::weight_gradient(const char* name, uint64_t height, uint64_t width, const NodeIds& deps) {
  const uint64_t own = shape_.experts / shape_.ep;
  return nodes_.gemm_of(
      name, height, width, rows(),
      sum({product({height, rows()}), product({rows(), width}), product({own, height, width})}), deps);
}

NodeId LlmExperts::forward(NodeId x) {
  const uint64_t h = shape_.hidden, fp = shape_.ffn / shape_.tp;
  const NodeId routed = exchange("dispatch", router(false, {x}));
  const NodeId up = product_of("expert_up", fp, h, {gather_rows("experts", routed)});
  const NodeId active = nodes_.activation("expert_activation", rows(), fp, false, {up});
  const NodeId down = product_of("expert_down", h, fp, {active});
  const NodeId back = exchange("combine", reduce_rows("experts", down));
  const uint64_t elements = product({shape_.routed_rows, h});
  const NodeId added =
      nodes_.elementwise("combine_sum", product({2, elements}),
                         sum({shape_.routed, product({shape_.shard_tokens, h, shape_.dtype})}), {back});
  return shape_.sequence_parallel ? added : nodes_.reduce("experts", added);
}

LlmExperts::Gradients LlmExperts::backward(NodeId dy, const NodeIds& weights) {
  const uint64_t h = shape_.hidden, fp = shape_.ffn / shape_.tp;
  const uint64_t elements = product({shape_.routed_rows, h});
  const NodeId spread =
      nodes_.elementwise("combine_sum.gradient", product({2, elements}),
                         sum({shape_.routed, product({shape_.shard_tokens, h, shape_.dtype})}), {dy});
  const NodeId rows_back = gather_rows("experts", exchange("combine.gradient", spread));
  NodeIds deps = {rows_back};
  deps.insert(deps.end(), weights.begin(), weights.end());
  const NodeId d_active = product_of("expert_down.data_gradient", fp, h, deps);
  const NodeId w_down = weight_gradient("expert_down.weight_gradient", fp, h, {rows_back});
  const NodeId d_up = nodes_.activation("expert_activation.gradient", rows(), fp, true, {d_active});
  const NodeId d_rows = product_of("expert_up.data_gradient", h, fp, {d_up});
  const NodeId returned = exchange("dispatch.gradient", reduce_rows("experts", d_rows));
  const NodeId w_up = weight_gradient("expert_up.weight_gradient", h, fp, {d_up});  // beside the exchange
  const NodeId d_router = router(true, {returned});
  const NodeId input = shape_.sequence_parallel ? d_router : nodes_.reduce("experts", d_router);
  return {input, {d_router}, {w_down, w_up}};
}

}  // namespace weft::generate
