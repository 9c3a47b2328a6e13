// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/generate/llm_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "workload/generate/llm_attention.h"
#include "workload/generate/llm_experts.h"
#include "workload/generate/llm_nodes.h"
#include "workload/generate/llm_replicas.h"

namespace weft::generate {
namespace {

namespace pb = ChakraProtoMsg;

/// The program of one rank, written node by node.
class RankProgram {
 public:
  RankProgram(const LlmShape& shape, LlmNodes& nodes)
      : shape_(shape),
        nodes_(nodes),
        attention_(nodes),
        experts_(nodes),
        replicas_(nodes),
        outputs_(size_t{shape.virtual_stages} * shape.microbatches, kNone) {}

  void write() {
    for (step_ = 0; step_ < shape_.steps; ++step_) {
      if (shape_.steps > 1) nodes_.iteration(step_);
      schedule();
      replicas_.optimizer();
    }
  }

 private:
  /// 1F1B: some forwards ahead, then one forward and one backward in turn. With virtual stages a unit is one
  /// of them and a microbatch: pp microbatches pass a virtual stage, then the next one.
  void schedule() {
    const uint32_t v = shape_.virtual_stages;
    const uint32_t units = shape_.microbatches * v;
    const uint32_t behind = shape_.pp - 1 - nodes_.place()[kPp];
    const uint32_t warmup = std::min(v == 1 ? behind : 2 * behind + (v - 1) * shape_.pp, units);
    for (uint32_t u = 0; u < warmup; ++u) forward(u);
    for (uint32_t u = warmup; u < units; ++u) {
      forward(u);
      backward(u - warmup);
    }
    for (uint32_t u = units - warmup; u < units; ++u) backward(u);
  }

  /// Goes to a unit of the schedule.
  uint32_t enter(uint32_t unit, bool backwards) {
    const uint32_t v = shape_.virtual_stages;
    uint32_t chunk = 0;
    uint32_t m = unit;
    if (v > 1) {
      chunk = unit % (shape_.pp * v) / shape_.pp;
      m = unit / (shape_.pp * v) * shape_.pp + unit % shape_.pp;
    }
    if (backwards) chunk = v - 1 - chunk;
    stage_ = chunk * shape_.pp + nodes_.place()[kPp];
    first_ = stage_ == 0;
    last_ = stage_ + 1 == shape_.pp * v;
    return m;
  }
  NodeId& output(uint32_t m) { return outputs_[size_t{stage_ / shape_.pp} * shape_.microbatches + m]; }
  bool is_last(uint32_t m) const { return m + 1 == shape_.microbatches; }

  // ---- the way of a microbatch
  // ---------------------------------------------------------------------------------------

  /// From or to the stage before or behind, of which the first and the last are neighbours, too.
  NodeId message(bool is_send, bool behind, uint32_t border, uint32_t m, uint32_t direction, NodeId dep) {
    return nodes_.message(is_send ? "send" : "receive", is_send,
                          nodes_.neighbour(kPp, behind ? 1 : shape_.pp - 1), tag(border, m, direction),
                          shape_.stage_activation, {dep});
  }

  void forward(uint32_t unit) {
    const uint32_t m = enter(unit, false);
    nodes_.prefix(fmt::format("mb{}.forward.", m));
    NodeId x = first_ ? embedding() : message(false, false, stage_, m, 0, nodes_.stream());
    for (uint32_t i = 0; i < shape_.stage_layers; ++i) {
      const uint32_t layer = stage_ * shape_.stage_layers + i;
      nodes_.prefix(fmt::format("mb{}.forward.layer{}.", m, layer));
      NodeIds w;
      if (shape_.begins_unit(i)) w = replicas_.use(shape_.unit_weights(stage_, i), false);
      x = layer_forward(layer, x, w);
    }
    nodes_.prefix(fmt::format("mb{}.forward.", m));
    if (last_)
      x = loss(x);
    else
      message(true, true, stage_ + 1, m, 0, x);
    output(m) = x;
  }

  void backward(uint32_t unit) {
    const uint32_t m = enter(unit, true);
    nodes_.prefix(fmt::format("mb{}.backward.", m));
    NodeId dy = last_ ? loss_backward(m) : message(false, true, stage_ + 1, m, 1, nodes_.stream());
    NodeId forward_output = last_ ? kNone : output(m);
    for (uint32_t i = shape_.stage_layers; i-- > 0;) {
      nodes_.prefix(fmt::format("mb{}.backward.layer{}.", m, stage_ * shape_.stage_layers + i));
      dy = layer_backward(m, i, dy, std::exchange(forward_output, kNone));
    }
    nodes_.prefix(fmt::format("mb{}.backward.", m));
    if (first_)
      embedding_backward(m, dy);
    else
      message(true, false, stage_, m, 1, dy);
    if (is_last(m) || shape_.zero >= 2) replicas_.drain(is_last(m));
  }

  // ---- layers
  // -------------------------------------------------------------------------------------------------------

  /// The forward pass of the layer again, or its attention, when the gradient has come. It is no FLOP of the
  /// model.
  void recompute(uint32_t layer, NodeId dy, const NodeIds& w) {
    if (shape_.recompute == LlmConfig::Recompute::none) return;
    const Wide flop = nodes_.flop();
    const std::string name = nodes_.prefix();
    nodes_.prefix(name + "recompute.");
    nodes_.wait_for(dy);
    if (shape_.recompute == LlmConfig::Recompute::full)
      layer_forward(layer, kNone, w);
    else
      attention_.core({});
    nodes_.prefix(name);
    nodes_.set_flop(flop);
  }

  NodeId layer_forward(uint32_t layer, NodeId x, const NodeIds& w) {
    const uint64_t n = shape_.tokens, h = shape_.hidden, hp = h / shape_.tp;
    const NodeId n1 = nodes_.norm("attention_norm", false, {x});
    const NodeId a = nodes_.gather("attention", n1);
    const NodeId qkv = nodes_.gemm("qkv", n, 3 * hp, h, with(w, {a}));
    const NodeId context = attention_.forward(qkv);
    const NodeId projected = nodes_.gemm("projection", n, h, hp, {context});
    const NodeId attended = nodes_.reduce("attention", projected);
    const NodeId x1 = nodes_.add("attention_residual", {attended, x});
    const NodeId n2 = nodes_.norm("mlp_norm", false, {x1});
    const NodeId mlp = shape_.is_moe(layer) ? experts_.forward(n2) : mlp_forward(n2);
    return nodes_.add("mlp_residual", {mlp, x1});
  }

  NodeId mlp_forward(NodeId x) {
    const uint64_t n = shape_.tokens, h = shape_.hidden, fp = shape_.ffn / shape_.tp;
    const NodeId b = nodes_.gather("mlp", x);
    const NodeId up = nodes_.gemm("mlp_up", n, fp, h, {b});
    const NodeId active = nodes_.activation("mlp_activation", n, fp, false, {up});
    const NodeId down = nodes_.gemm("mlp_down", n, h, fp, {active});
    return nodes_.reduce("mlp", down);
  }

  LlmExperts::Gradients mlp_backward(NodeId dy, const NodeIds& w) {
    const uint64_t n = shape_.tokens, h = shape_.hidden, fp = shape_.ffn / shape_.tp;
    const NodeId g2 = nodes_.gather("mlp", dy);
    const NodeId d_active = nodes_.gemm("mlp_down.data_gradient", n, fp, h, with(w, {g2}));
    const NodeId w_down = nodes_.gemm("mlp_down.weight_gradient", fp, h, n, {g2});
    const NodeId d_up = nodes_.activation("mlp_activation.gradient", n, fp, true, {d_active});
    const NodeId d_n2 = nodes_.gemm("mlp_up.data_gradient", n, h, fp, {d_up});
    const NodeId r2 = nodes_.reduce("mlp", d_n2);  // runs beside the weight gradient
    const NodeId w_up = nodes_.gemm("mlp_up.weight_gradient", h, fp, n, {d_up});
    return {r2, {w_down, w_up}, {}};
  }

  /// `index`: of the layer in its virtual stage.
  NodeId layer_backward(uint32_t m, uint32_t index, NodeId dy, NodeId forward_output) {
    const uint32_t layer = stage_ * shape_.stage_layers + index;
    const uint64_t n = shape_.tokens, h = shape_.hidden, hp = h / shape_.tp;
    NodeIds w;
    if (shape_.ends_unit(index)) w = replicas_.use(shape_.unit_weights(stage_, index), true);
    recompute(layer, dy, w);
    w.push_back(forward_output);
    LlmExperts::Gradients mlp = shape_.is_moe(layer) ? experts_.backward(dy, w) : mlp_backward(dy, w);
    const NodeId dx1 = nodes_.norm("mlp_norm.gradient", true, {mlp.input, dy});
    const NodeId g1 = nodes_.gather("attention", dx1);
    const NodeId d_context = nodes_.gemm("projection.data_gradient", n, hp, h, {g1});
    const NodeId w_projection = nodes_.gemm("projection.weight_gradient", hp, h, n, {g1});
    const NodeIds d_qkv = attention_.backward(d_context);
    const NodeId d_n1 = nodes_.gemm("qkv.data_gradient", n, h, 3 * hp, d_qkv);
    const NodeId r1 = nodes_.reduce("attention", d_n1);
    const NodeId w_qkv = nodes_.gemm("qkv.weight_gradient", h, 3 * hp, n, d_qkv);
    NodeIds dense = with(mlp.dense, {});
    dense.insert(dense.end(), {w_projection, w_qkv});
    if (shape_.ep == 1) dense.insert(dense.end(), mlp.expert.begin(), mlp.expert.end());
    replicas_.gradients(shape_.layer_weights(layer), dense, shape_.ep == 1 ? NodeIds{} : mlp.expert,
                        is_last(m), shape_.begins_unit(index));
    return nodes_.norm("attention_norm.gradient", true, {r1, dx1});
  }

  // ---- the ends of the model
  // ----------------------------------------------------------------------------------------

  NodeId embedding() {
    const NodeIds w = replicas_.use(shape_.vocab_weights(), false);
    const uint64_t elements = product({shape_.tokens, shape_.hidden});
    const NodeId rows = nodes_.elementwise("embedding", elements, product({2, elements, shape_.dtype}), w);
    return nodes_.reduce("embedding", rows);
  }

  void embedding_backward(uint32_t m, NodeId dy) {
    const uint64_t elements = product({shape_.tokens, shape_.hidden});
    const NodeId g = nodes_.gather("embedding", dy);
    const NodeId dw =
        nodes_.elementwise("embedding.weight_gradient", elements, product({3, elements, shape_.dtype}), {g});
    replicas_.gradients(shape_.vocab_weights(), {dw}, {}, is_last(m), true);
  }

  /// The output layer over a cut vocabulary, and the cross entropy: the ranks agree on each token's maximum,
  /// then on its sum of exponentials and the logit of its target, all fp32.
  NodeId loss(NodeId x) {
    const uint64_t n = shape_.tokens, vp = shape_.vocab / shape_.tp;
    const uint64_t logits_bytes = product({n, vp, shape_.dtype});
    const NodeIds w = replicas_.use(shape_.vocab_weights(), false);
    const NodeId normed = nodes_.norm("final_norm", false, {x});
    const NodeId g = nodes_.gather("output", normed);
    const NodeId logits = nodes_.gemm("output", n, vp, shape_.hidden, with(w, {g}));
    NodeId maximum = nodes_.elementwise("loss_maximum", product({n, vp}), logits_bytes, {logits});
    if (shape_.tp > 1)
      maximum =
          nodes_.collective("loss_maximum.all_reduce", pb::ALL_REDUCE, kTensor, product({4, n}), {maximum});
    NodeId total =
        nodes_.elementwise("loss_sum", product({kSoftmaxOps, n, vp}), product({2, logits_bytes}), {maximum});
    if (shape_.tp > 1)
      total = nodes_.collective("loss_sum.all_reduce", pb::ALL_REDUCE, kTensor, product({8, n}), {total});
    return total;
  }

  NodeId loss_backward(uint32_t m) {
    const uint64_t n = shape_.tokens, h = shape_.hidden, vp = shape_.vocab / shape_.tp;
    const NodeIds w = replicas_.use(shape_.vocab_weights(), true);
    const NodeId d_logits = nodes_.elementwise("loss.gradient", product({2, n, vp}),
                                               product({2, n, vp, shape_.dtype}), {output(m)});
    const NodeId d_x = nodes_.gemm("output.data_gradient", n, h, vp, with(w, {d_logits}));
    const NodeId r = nodes_.reduce("output", d_x);
    const NodeId dw = nodes_.gemm("output.weight_gradient", h, vp, n, {d_logits});
    replicas_.gradients(shape_.vocab_weights(), {dw}, {}, is_last(m), true);
    return nodes_.norm("final_norm.gradient", true, {r});
  }

  /// `values`, then `weights`.
  static NodeIds with(const NodeIds& weights, NodeIds values) {
    values.insert(values.end(), weights.begin(), weights.end());
    return values;
  }

  /// The step, the border between virtual stages (named after the later one), the microbatch, the direction.
  uint64_t tag(uint32_t border, uint32_t m, uint32_t direction) const {
    const uint64_t borders = uint64_t{shape_.pp} * shape_.virtual_stages + 1;
    return ((step_ * borders + border) * shape_.microbatches + m) * 2 + direction;
  }

  const LlmShape& shape_;
  LlmNodes& nodes_;
  LlmAttention attention_;
  LlmExperts experts_;
  LlmReplicas replicas_;

  uint64_t step_ = 0;
  uint32_t stage_ = 0;  ///< virtual, of the present unit
  bool first_ = false, last_ = false;
  NodeIds outputs_;  ///< of each virtual stage's and microbatch's forward
};

ProgramSize write(const LlmShape& shape, const Place& place, bool by_kind, TraceFile& file,
                  uint64_t slowness) {
  LlmNodes nodes(shape, place, by_kind, file);
  nodes.slow_down(slowness);
  RankProgram(shape, nodes).write();
  return {nodes.nodes(), nodes.flop()};
}

}  // namespace

ProgramSize write_program(const LlmShape& shape, const Place& place, TraceFile& file, uint64_t slowness) {
  return write(shape, place, false, file, slowness);
}

ProgramSize write_stage_program(const LlmShape& shape, uint32_t p, TraceFile& file) {
  Place place{};
  place[kPp] = p;
  return write(shape, place, true, file, trace::kFullSpeed);
}

}  // namespace weft::generate
