// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/generate/llm_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "workload/generate/rank_trace_writer.h"

namespace weft::generate {
namespace {

namespace pb = ChakraProtoMsg;

/// Adam in mixed precision, per parameter: bytes of an fp32 master weight and two fp32 moments, each read and
/// written (gradient and weight come on top).
constexpr uint64_t kOptimizerStateBytes = 24;

/// The program of one rank, written node by node.
class RankProgram : private RankTraceWriter {
 public:
  struct Groups {
    std::string tp;
    std::string dp;
  };
  RankProgram(const LlmShape& shape, uint32_t t, uint32_t d, uint32_t p, const Groups& groups,
              TraceFile& file)
      : RankTraceWriter(file),
        shape_(shape),
        t_(t),
        d_(d),
        p_(p),
        tp_group_(groups.tp),
        dp_group_(groups.dp),
        outputs_(size_t{shape.virtual_stages} * shape.microbatches, kNone) {
    if (!shape.overlap) serialise();
  }

  void write() {
    for (step_ = 0; step_ < shape_.steps; ++step_) {
      if (shape_.steps > 1) iteration(step_);
      schedule();
      optimizer();
    }
  }

  using RankTraceWriter::nodes;
  /// Of matrix multiplications.
  Wide flop() const { return flop_; }

 private:
  /// 1F1B: some forwards ahead, then one forward and one backward in turn. With virtual stages a unit is one
  /// of them and a microbatch: pp microbatches pass a virtual stage, then the next one.
  void schedule() {
    const uint32_t v = shape_.virtual_stages;
    const uint32_t units = shape_.microbatches * v;
    const uint32_t behind = shape_.pp - 1 - p_;
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
    stage_ = chunk * shape_.pp + p_;
    first_ = stage_ == 0;
    last_ = stage_ + 1 == shape_.pp * v;
    return m;
  }
  /// The rank of the stage before or behind, of which the first and the last are neighbours, too.
  uint32_t neighbour(bool behind) const {
    return shape_.rank(t_, d_, (p_ + (behind ? 1 : shape_.pp - 1)) % shape_.pp);
  }
  NodeId& output(uint32_t m) { return outputs_[size_t{stage_ / shape_.pp} * shape_.microbatches + m]; }

  // ---- nodes
  // -------------------------------------------------------------------------------------------------------

  NodeId elementwise(const std::string& name, uint64_t ops, uint64_t bytes, Deps deps) {
    return compute(name, "ELEMENTWISE", ops, bytes, deps);
  }

  /// (m x k) times (k x n).
  NodeId gemm(const std::string& name, uint64_t m, uint64_t n, uint64_t k, Deps deps) {
    const uint64_t ops = product({2, m, n, k});
    const uint64_t d = shape_.dtype;
    flop_ += ops;
    begin(name, pb::COMP_NODE);
    for (const NodeId dep : deps) data(dep);
    waited();
    control(stream());
    int64("num_ops", ops);
    uint64("tensor_size", sum({product({m, k, d}), product({k, n, d}), product({m, n, d})}));
    attribute("op_type").set_string_val("GEMM");
    uint64("m", m);
    uint64("n", n);
    uint64("k", k);
    return computed();
  }

  /// The scores, the softmax and the weighted sum as one fused operation that keeps the scores on chip.
  NodeId attention(const std::string& name, bool is_backward, Deps deps) {
    const uint64_t width = shape_.hidden / shape_.tp;
    const uint64_t factor = is_backward ? 2 : 1;
    const uint64_t ops = product({factor, 4, shape_.tokens, shape_.seq, width});
    flop_ += ops;
    const uint64_t softmax =
        product({factor, kSoftmaxOps, shape_.tokens, shape_.seq, shape_.heads / shape_.tp});
    return compute(name, "ATTENTION", sum({ops, softmax}),
                   product({factor, 4, shape_.tokens, width, shape_.dtype}), deps);
  }

  NodeId message(const char* name, bool is_send, uint32_t peer, uint64_t tag, NodeId dep) {
    const uint32_t self = shape_.rank(t_, d_, p_);
    begin(name, is_send ? pb::COMM_SEND_NODE : pb::COMM_RECV_NODE);
    if (is_send)
      data(dep);
    else
      control(dep);
    int64("comm_size", shape_.stage_activation);
    int32("comm_src", is_send ? self : peer);
    int32("comm_dst", is_send ? peer : self);
    int32("comm_tag", tag);
    return end();
  }

  // ---- tensor parallel blocks
  // ---------------------------------------------------------------------------------------

  /// What enters a block of column-parallel weights, whole.
  NodeId gather(const std::string& name, NodeId value) {
    if (!shape_.sequence_parallel) return value;
    return collective(name + ".all_gather", pb::ALL_GATHER, tp_group_, shape_.stage_activation, Deps{value});
  }

  /// The partial sums that leave a block, added up.
  NodeId reduce(const std::string& name, NodeId value) {
    if (shape_.tp == 1) return value;
    if (shape_.sequence_parallel)
      return collective(name + ".reduce_scatter", pb::REDUCE_SCATTER, tp_group_, shape_.activation,
                        Deps{value});
    return collective(name + ".all_reduce", pb::ALL_REDUCE, tp_group_, shape_.activation, Deps{value});
  }

  NodeId norm(const std::string& name, bool is_backward, Deps deps) {
    const uint64_t elements = product({shape_.shard_tokens, shape_.hidden});
    const uint64_t factor = is_backward ? 2 : 1;
    return elementwise(name, product({factor, kNormOps, elements}),
                       product({factor + 1, elements, shape_.dtype}), deps);
  }

  NodeId add(const std::string& name, Deps deps) {
    const uint64_t elements = product({shape_.shard_tokens, shape_.hidden});
    return elementwise(name, elements, product({3, elements, shape_.dtype}), deps);
  }

  NodeId activation(const std::string& name, bool is_backward, Deps deps) {
    const uint64_t elements = product({shape_.tokens, shape_.ffn / shape_.tp});
    return elementwise(name, product({kActivationOps, elements}),
                       product({is_backward ? 3u : 2u, elements, shape_.dtype}), deps);
  }

  // ---- weights over the replicas
  // ------------------------------------------------------------------------------------

  /// With zero 3: the weights of a block, gathered while the block before runs.
  NodeId weights(uint64_t parameters) {
    const NodeId after = std::exchange(block_start_, stream());
    if (shape_.zero < 3 || shape_.dp == 1) return kNone;
    return collective("weights.all_gather", pb::ALL_GATHER, dp_group_, weight_shard(parameters), Deps{},
                      after);
  }

  uint64_t weight_shard(uint64_t parameters) const {
    return ceil_div(product({parameters / shape_.tp, shape_.dtype}), shape_.dp);
  }

  /// The gradients of a block's weights are there for microbatch m.
  void gradients(uint32_t m, uint64_t parameters, Deps parts) {
    const bool is_last = m + 1 == shape_.microbatches;
    if (is_last) buckets_.push_back(parameters);
    if (shape_.dp == 1 || (!is_last && shape_.zero < 2)) {
      if (is_last) reduced_.insert(reduced_.end(), parts.begin(), parts.end());
      return;
    }
    ready_.insert(ready_.end(), parts.begin(), parts.end());
    ready_bytes_ = sum({ready_bytes_, product({parameters / shape_.tp, shape_.gradient})});
    if (ready_bytes_ >= shape_.bucket) reduce_gradients();
  }

  /// What is ready, as one bucket.
  void reduce_gradients() {
    if (ready_.empty()) return;
    const bool scatter = shape_.zero > 0;
    reduced_.push_back(collective(scatter ? "gradients.reduce_scatter" : "gradients.all_reduce",
                                  scatter ? pb::REDUCE_SCATTER : pb::ALL_REDUCE, dp_group_, ready_bytes_,
                                  ready_));
    ready_.clear();
    ready_bytes_ = 0;
  }

  // ---- the model
  // ----------------------------------------------------------------------------------------------------

  void forward(uint32_t unit) {
    const uint32_t m = enter(unit, false);
    const uint32_t layer0 = stage_ * shape_.stage_layers;
    prefix(fmt::format("mb{}.forward.", m));
    NodeId x =
        first_ ? embedding() : message("receive", false, neighbour(false), tag(stage_, m, 0), stream());
    for (uint32_t layer = 0; layer < shape_.stage_layers; ++layer) {
      prefix(fmt::format("mb{}.forward.layer{}.", m, layer0 + layer));
      x = layer_forward(x);
    }
    prefix(fmt::format("mb{}.forward.", m));
    if (last_)
      x = loss(x);
    else
      message("send", true, neighbour(true), tag(stage_ + 1, m, 0), x);
    output(m) = x;
  }

  void backward(uint32_t unit) {
    const uint32_t m = enter(unit, true);
    const uint32_t layer0 = stage_ * shape_.stage_layers;
    prefix(fmt::format("mb{}.backward.", m));
    NodeId dy = last_ ? loss_backward(m)
                      : message("receive", false, neighbour(true), tag(stage_ + 1, m, 1), stream());
    NodeId forward_output = last_ ? kNone : output(m);
    for (uint32_t layer = shape_.stage_layers; layer-- > 0;) {
      prefix(fmt::format("mb{}.backward.layer{}.", m, layer0 + layer));
      if (shape_.recompute != LlmConfig::Recompute::none) recompute(dy);
      dy = layer_backward(m, dy, std::exchange(forward_output, kNone));
    }
    prefix(fmt::format("mb{}.backward.", m));
    if (first_)
      embedding_backward(m, dy);
    else
      message("send", true, neighbour(false), tag(stage_, m, 1), dy);
    if (m + 1 == shape_.microbatches || shape_.zero >= 2) reduce_gradients();
  }

  /// The forward pass of the layer again, or its attention, when the gradient has come. It is no FLOP of the
  /// model.
  void recompute(NodeId dy) {
    const Wide flop = flop_;
    const std::string name = prefix();
    prefix(name + "recompute.");
    wait_for(dy);
    if (shape_.recompute == LlmConfig::Recompute::full)
      layer_forward(kNone);
    else
      attention("attention", false, {});
    prefix(name);
    flop_ = flop;
  }

  NodeId embedding() {
    const NodeId w = weights(shape_.vocab_parameters);
    const uint64_t elements = product({shape_.tokens, shape_.hidden});
    const NodeId rows = elementwise("embedding", elements, product({2, elements, shape_.dtype}), {w});
    return reduce("embedding", rows);
  }

  void embedding_backward(uint32_t m, NodeId dy) {
    const uint64_t elements = product({shape_.tokens, shape_.hidden});
    const NodeId g = gather("embedding", dy);
    const NodeId dw =
        elementwise("embedding.weight_gradient", elements, product({3, elements, shape_.dtype}), {g});
    gradients(m, shape_.vocab_parameters, {dw});
  }

  NodeId layer_forward(NodeId x) {
    const uint64_t n = shape_.tokens, h = shape_.hidden, hp = h / shape_.tp, fp = shape_.ffn / shape_.tp;
    const NodeId w = weights(shape_.layer_parameters);
    const NodeId n1 = norm("attention_norm", false, {x});
    const NodeId a = gather("attention", n1);
    const NodeId qkv = gemm("qkv", n, 3 * hp, h, {a, w});
    const NodeId context = attention("attention", false, {qkv});
    const NodeId projected = gemm("projection", n, h, hp, {context});
    const NodeId attended = reduce("attention", projected);
    const NodeId x1 = add("attention_residual", {attended, x});
    const NodeId n2 = norm("mlp_norm", false, {x1});
    const NodeId b = gather("mlp", n2);
    const NodeId up = gemm("mlp_up", n, fp, h, {b});
    const NodeId active = activation("mlp_activation", false, {up});
    const NodeId down = gemm("mlp_down", n, h, fp, {active});
    const NodeId mlp = reduce("mlp", down);
    return add("mlp_residual", {mlp, x1});
  }

  NodeId layer_backward(uint32_t m, NodeId dy, NodeId forward_output) {
    const uint64_t n = shape_.tokens, h = shape_.hidden, hp = h / shape_.tp, fp = shape_.ffn / shape_.tp;
    const NodeId w = weights(shape_.layer_parameters);
    const NodeId g2 = gather("mlp", dy);
    const NodeId d_active = gemm("mlp_down.data_gradient", n, fp, h, {g2, w, forward_output});
    const NodeId w_down = gemm("mlp_down.weight_gradient", fp, h, n, {g2});
    const NodeId d_up = activation("mlp_activation.gradient", true, {d_active});
    const NodeId d_n2 = gemm("mlp_up.data_gradient", n, h, fp, {d_up});
    const NodeId r2 = reduce("mlp", d_n2);  // runs beside the weight gradient
    const NodeId w_up = gemm("mlp_up.weight_gradient", h, fp, n, {d_up});
    const NodeId dx1 = norm("mlp_norm.gradient", true, {r2, dy});
    const NodeId g1 = gather("attention", dx1);
    const NodeId d_context = gemm("projection.data_gradient", n, hp, h, {g1});
    const NodeId w_projection = gemm("projection.weight_gradient", hp, h, n, {g1});
    const NodeId d_qkv = attention("attention.gradient", true, {d_context});
    const NodeId d_n1 = gemm("qkv.data_gradient", n, h, 3 * hp, {d_qkv});
    const NodeId r1 = reduce("attention", d_n1);
    const NodeId w_qkv = gemm("qkv.weight_gradient", h, 3 * hp, n, {d_qkv});
    gradients(m, shape_.layer_parameters, {w_down, w_up, w_projection, w_qkv});
    return norm("attention_norm.gradient", true, {r1, dx1});
  }

  /// The output layer over a cut vocabulary, and the cross entropy: the ranks agree on each token's maximum,
  /// then on its sum of exponentials and the logit of its target, all fp32.
  NodeId loss(NodeId x) {
    const uint64_t n = shape_.tokens, vp = shape_.vocab / shape_.tp;
    const uint64_t logits_bytes = product({n, vp, shape_.dtype});
    const NodeId w = weights(shape_.vocab_parameters);
    const NodeId normed = norm("final_norm", false, {x});
    const NodeId g = gather("output", normed);
    const NodeId logits = gemm("output", n, vp, shape_.hidden, {g, w});
    NodeId maximum = elementwise("loss_maximum", product({n, vp}), logits_bytes, {logits});
    if (shape_.tp > 1)
      maximum =
          collective("loss_maximum.all_reduce", pb::ALL_REDUCE, tp_group_, product({4, n}), Deps{maximum});
    NodeId total =
        elementwise("loss_sum", product({kSoftmaxOps, n, vp}), product({2, logits_bytes}), {maximum});
    if (shape_.tp > 1)
      total = collective("loss_sum.all_reduce", pb::ALL_REDUCE, tp_group_, product({8, n}), Deps{total});
    return total;
  }

  NodeId loss_backward(uint32_t m) {
    const uint64_t n = shape_.tokens, h = shape_.hidden, vp = shape_.vocab / shape_.tp;
    const NodeId w = weights(shape_.vocab_parameters);
    const NodeId d_logits =
        elementwise("loss.gradient", product({2, n, vp}), product({2, n, vp, shape_.dtype}), {output(m)});
    const NodeId d_x = gemm("output.data_gradient", n, h, vp, {d_logits, w});
    const NodeId r = reduce("output", d_x);
    const NodeId dw = gemm("output.weight_gradient", h, vp, n, {d_logits});
    gradients(m, shape_.vocab_parameters, {dw});
    return norm("final_norm.gradient", true, {r});
  }

  void optimizer() {
    prefix("optimizer.");
    uint64_t parameters = 0;
    for (const uint64_t bucket : buckets_) {
      const uint64_t local = bucket / shape_.tp;
      parameters = sum({parameters, shape_.zero > 0 ? ceil_div(local, shape_.dp) : local});
    }
    const NodeId step =
        compute("step", "OPTIMIZER", product({kOptimizerOps, parameters}),
                product({kOptimizerStateBytes + shape_.gradient + shape_.dtype, parameters}), reduced_);
    if (shape_.dp > 1 && (shape_.zero == 1 || shape_.zero == 2))
      for (const uint64_t bucket : buckets_)
        wait_for(
            collective("weights.all_gather", pb::ALL_GATHER, dp_group_, weight_shard(bucket), Deps{step}));
    reduced_.clear();
    buckets_.clear();
  }

  /// Unique in the job: the step, the border between virtual stages (named after the later one), the
  /// microbatch, the direction.
  uint64_t tag(uint32_t border, uint32_t m, uint32_t direction) const {
    const uint64_t borders = uint64_t{shape_.pp} * shape_.virtual_stages + 1;
    return ((step_ * borders + border) * shape_.microbatches + m) * 2 + direction;
  }

  const LlmShape& shape_;
  const uint32_t t_, d_, p_;
  const std::string tp_group_, dp_group_;

  uint64_t step_ = 0;
  uint32_t stage_ = 0;  ///< virtual, of the present unit
  bool first_ = false, last_ = false;

  NodeId block_start_ = kNone;     ///< the last compute node before the present block
  std::vector<NodeId> outputs_;    ///< of each virtual stage's and microbatch's forward
  std::vector<NodeId> ready_;      ///< gradients that no collective has taken yet ..
  uint64_t ready_bytes_ = 0;       ///< .. and their bytes
  std::vector<NodeId> reduced_;    ///< what the optimizer waits for
  std::vector<uint64_t> buckets_;  ///< parameters of each block, in the order of their gradients
  Wide flop_ = 0;
};

}  // namespace

ProgramSize write_program(const LlmShape& shape, uint32_t t, uint32_t d, uint32_t p, TraceFile& file) {
  RankProgram program(shape, t, d, p,
                      {std::to_string(shape.tp_group(d, p)), std::to_string(shape.dp_group(t, p))}, file);
  program.write();
  return {program.nodes(), program.flop()};
}

ProgramSize write_stage_program(const LlmShape& shape, uint32_t p, TraceFile& file) {
  RankProgram program(shape, 0, 0, p, {"tp", "dp"}, file);
  program.write();
  return {program.nodes(), program.flop()};
}

}  // namespace weft::generate
