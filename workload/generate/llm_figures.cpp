// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What a training step of a transformer needs, by formula (docs/guide/generators.md), and published models.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "configs/types.h"
#include "workload/generate/llm_shape.h"

namespace weft::generate {
namespace {

struct Preset {
  uint32_t layers;
  uint64_t hidden, heads, seq, vocab;
};

const std::map<std::string, Preset>& presets() {
  // The first two: ASTRA-sim 2.0's models with the sizes of GPT-3 175B and of a model of 1 T parameters as
  // they were trained on GPUs; the others are GPT-2's and GPT-3's published sizes.
  static const std::map<std::string, Preset> all = {
      {"gpt3", {96, 12288, 96, 2048, 51200}},     {"t-1t", {128, 25600, 160, 2048, 51200}},
      {"gpt2-xl", {48, 1600, 25, 1024, 50304}},   {"gpt3-1.3b", {24, 2048, 16, 2048, 51200}},
      {"gpt3-6.7b", {32, 4096, 32, 2048, 51200}}, {"gpt3-13b", {40, 5120, 40, 2048, 51200}}};
  return all;
}

/// What a rank of a stage gives to each kind of operation, a step.
struct StageBytes {
  uint64_t tensor = 0, data = 0, context = 0, ulysses = 0, experts = 0;
};

class StageFigures {
 public:
  StageFigures(const LlmShape& shape, uint32_t stage) : shape_(shape), stage_(stage) {}

  Weights weights() const {
    Weights all;
    if (first()) all += shape_.vocab_weights();
    if (last()) all += shape_.vocab_weights();
    each_layer([&](uint32_t layer) { all += shape_.layer_weights(layer); });
    return all;
  }
  StageBytes bytes() const {
    StageBytes b;
    const uint64_t m = shape_.microbatches;
    b.tensor = product({m, tensor()});
    b.data = data();
    uint64_t layers = 0, moe = 0;
    each_layer([&](uint32_t layer) { ++layers, moe += shape_.is_moe(layer); });
    b.context = product({m, layers, context()});
    const uint64_t again = shape_.recompute == LlmConfig::Recompute::full ? 1 : 0;
    if (shape_.ulysses > 1) b.ulysses = product({m, layers, 8 + 4 * again, shape_.heads_activation});
    if (shape_.ep > 1) b.experts = product({m, moe, 4 + 2 * again, shape_.routed});
    return b;
  }

 private:
  bool first() const { return stage_ == 0; }
  bool last() const { return stage_ + 1 == shape_.pp; }
  template <class Visit>
  void each_layer(Visit visit) const {
    for (uint32_t v = 0; v < shape_.virtual_stages; ++v)
      for (uint32_t i = 0; i < shape_.stage_layers; ++i)
        visit((v * shape_.pp + stage_) * shape_.stage_layers + i);
  }

  /// Tensor parallel, a microbatch.
  uint64_t tensor() const {
    if (shape_.tp == 1) return 0;
    // An all-reduce of the activations, or a reduce-scatter of them and an all-gather of a shard.
    const bool cut = shape_.sequence_parallel;
    const uint64_t one = cut ? sum({shape_.activation, shape_.stage_activation}) : shape_.activation;
    const uint64_t of_experts = cut ? product({shape_.tp + 1, shape_.routed}) : one;
    const uint64_t passes = shape_.recompute == LlmConfig::Recompute::full ? 3 : 2;
    uint64_t all = 0;
    each_layer([&](uint32_t layer) {
      all = sum({all, product({passes, sum({one, shape_.is_moe(layer) ? of_experts : one})})});
    });
    // Embedding: forward its partial sums; backward what it needs whole.
    if (first()) all = sum({all, one});
    // Forward the maximum, then the sum and the target's logit of each token, fp32; backward the activations.
    if (last()) all = sum({all, product({12, shape_.tokens}), one});
    return all;
  }

  /// Context parallel, a layer and microbatch.
  uint64_t context() const {
    const uint64_t c = shape_.cp, kv = shape_.keys_values;
    if (c == 1) return 0;
    const uint64_t again = shape_.recompute == LlmConfig::Recompute::none ? 0 : 1;
    // Forward and backward keys and values, and backward their gradients.
    return shape_.ring ? product({sum({product({2 + again, c - 1}), c}), kv}) : product({2 + again + c, kv});
  }

  /// Gradients and weights, a step.
  uint64_t data() const {
    const uint64_t m = shape_.microbatches;
    const Weights all = weights();
    uint64_t bytes = 0;
    for (const bool expert : {false, true}) {
      const uint64_t parameters = expert ? all.expert : all.dense;
      if (shape_.members(shape_.shard_kind(expert)) == 1) continue;
      bytes = sum({bytes, product({shape_.zero >= 2 ? m : 1, parameters, shape_.gradient})});
      if (shape_.zero == 1 || shape_.zero == 2) bytes = sum({bytes, updated(expert)});
      if (shape_.zero == 3) bytes = sum({bytes, product({m, gathered(expert)})});
    }
    return sum({bytes, copies()});
  }
  uint64_t shard(const Weights& w, bool expert) const {
    return shape_.weight_shard(expert ? w.expert : w.dense, expert);
  }
  /// Weights after the optimizer.
  uint64_t updated(bool expert) const {
    uint64_t bytes = (first() ? shard(shape_.vocab_weights(), expert) : 0) +
                     (last() ? shard(shape_.vocab_weights(), expert) : 0);
    each_layer([&](uint32_t layer) { bytes = sum({bytes, shard(shape_.layer_weights(layer), expert)}); });
    return bytes;
  }
  /// Weights before each use, a microbatch. The backward pass of the embedding uses none.
  uint64_t gathered(bool expert) const {
    const uint64_t uses = shape_.keep_weights ? 1 : 2;
    uint64_t bytes = (first() ? shard(shape_.vocab_weights(), expert) : 0) +
                     (last() ? product({uses, shard(shape_.vocab_weights(), expert)}) : 0);
    for (uint32_t v = 0; v < shape_.virtual_stages; ++v)
      for (uint32_t i = 0; i < shape_.stage_layers; i += shape_.fsdp_unit)
        bytes = sum({bytes, product({uses, shard(shape_.unit_weights(v * shape_.pp + stage_, i), expert)})});
    return bytes;
  }
  /// The shards that copies of them add up, a bucket after the other.
  uint64_t copies() const {
    if (!shape_.hybrid) return 0;
    uint64_t bytes = 0, bucket = 0;
    const auto reduce = [&] {
      bytes = sum({bytes, ceil_div(bucket, shape_.members(kShard))});
      bucket = 0;
    };
    const auto block = [&](const Weights& w, bool may_close) {
      bucket = sum({bucket, product({w.dense, shape_.gradient})});
      if (may_close && bucket >= shape_.bucket) reduce();
    };
    for (uint32_t v = shape_.virtual_stages; v-- > 0;) {
      if (last() && v + 1 == shape_.virtual_stages) block(shape_.vocab_weights(), true);
      for (uint32_t i = shape_.stage_layers; i-- > 0;)
        block(shape_.layer_weights((v * shape_.pp + stage_) * shape_.stage_layers + i),
              shape_.begins_unit(i));
      if (first() && v == 0) block(shape_.vocab_weights(), true);
      reduce();
    }
    return bytes;
  }

  const LlmShape& shape_;
  const uint32_t stage_;
};

/// Matrix multiplications of a forward pass, of all microbatches and ranks. Experts work on their capacity.
struct ForwardFlop {
  double layers = 0, attention = 0, output = 0;
};
ForwardFlop forward_flop(const LlmShape& shape, const LlmConfig& c) {
  const double tokens = static_cast<double>(c.batch) * static_cast<double>(c.seq);
  const double senders = double{1} * shape.microbatches * shape.dp * shape.cp * shape.ulysses *
                         (shape.sequence_parallel ? shape.tp : 1);
  const double rows = senders * static_cast<double>(shape.routed_rows);
  const auto mlp = static_cast<double>(shape.mlp_parameters);
  const double moe = shape.moe_layers();
  ForwardFlop f;
  f.attention = 4 * tokens * static_cast<double>(c.seq) * static_cast<double>(c.hidden) * c.layers;
  f.layers = 2 * tokens * static_cast<double>(shape.attention_parameters) * c.layers +
             2 * tokens * mlp * (c.layers - moe) + 2 * rows * mlp * moe + f.attention;
  f.output = 2 * tokens * static_cast<double>(shape.vocab_parameters);
  return f;
}

/// Published for two bytes an element and dense layers; others in proportion. With experts the MLP's part is
/// that of the rows that go to them.
double kept_activations(const LlmShape& shape) {
  const double sbh = static_cast<double>(shape.tokens) * static_cast<double>(shape.hidden) *
                     static_cast<double>(shape.dtype) / 2;
  const double t = shape.tp;
  const double scores = shape.recompute == LlmConfig::Recompute::none
                            ? 5.0 * static_cast<double>(shape.heads) * static_cast<double>(shape.seq) /
                                  static_cast<double>(shape.hidden)
                            : 0;
  if (shape.recompute == LlmConfig::Recompute::full) return 2 * sbh;
  const double share = shape.experts == 0
                           ? 1
                           : static_cast<double>(shape.routed_rows) / static_cast<double>(shape.shard_tokens);
  // Of the whole: 8 of attention and 16 of the MLP are cut by heads and columns; the MLP's input is 2.
  const double whole = 8 + 2 * share, cut = 8 + 16 * share + scores;
  if (shape.sequence_parallel) return sbh * (whole + cut) / t;
  return sbh * (whole + cut / t);
}

/// Bytes of weights, gradients and optimizer state.
double state_bytes(const LlmShape& shape, const Weights& w) {
  double bytes = 0;
  for (const bool expert : {false, true}) {
    const double d = shape.members(shape.shard_kind(expert));
    bytes += static_cast<double>(expert ? w.expert : w.dense) *
             (2.0 / (shape.zero == 3 ? d : 1) + 2.0 / (shape.zero >= 2 ? d : 1) +
              12.0 / (shape.zero >= 1 ? d : 1));
  }
  return bytes;
}

}  // namespace

void apply_preset(LlmConfig& config, const std::string& name) {
  const auto found = presets().find(name);
  if (found == presets().end())
    usage(fmt::format("there is no preset '{}'; one of {}", name, fmt::join(llm_presets(), ", ")));
  const Preset& p = found->second;
  config.layers = p.layers;
  config.hidden = p.hidden;
  config.heads = p.heads;
  config.seq = p.seq;
  config.vocab = p.vocab;
}

std::vector<std::string> llm_presets() {
  std::vector<std::string> names;
  for (const auto& [name, preset] : presets()) names.push_back(name);
  return names;
}

LlmFigures describe_llm(const LlmConfig& c) {
  validate(c);
  const LlmShape shape(c);
  LlmFigures f;
  f.parameters = shape.model_parameters();
  const ForwardFlop forward = forward_flop(shape, c);
  f.model_flop = 3 * (forward.layers + forward.output);
  f.hardware_flop = f.model_flop + (c.recompute == LlmConfig::Recompute::full        ? forward.layers
                                    : c.recompute == LlmConfig::Recompute::selective ? forward.attention
                                                                                     : 0);
  f.activation_bytes = kept_activations(shape);
  f.bubble = static_cast<double>(c.pp - 1) / (double{1} * c.virtual_stages * c.microbatches);
  for (uint32_t stage = 0; stage < c.pp; ++stage) {
    const StageFigures figures(shape, stage);
    const Weights weights = figures.weights();
    const StageBytes bytes = figures.bytes();
    f.rank_parameters = std::max(f.rank_parameters, sum({weights.dense, weights.expert}));
    f.state_bytes = std::max(f.state_bytes, state_bytes(shape, weights));
    f.tensor_parallel_bytes = std::max(f.tensor_parallel_bytes, bytes.tensor);
    f.data_parallel_bytes = std::max(f.data_parallel_bytes, bytes.data);
    f.context_parallel_bytes = std::max(f.context_parallel_bytes, bytes.context);
    f.ulysses_bytes = std::max(f.ulysses_bytes, bytes.ulysses);
    f.expert_parallel_bytes = std::max(f.expert_parallel_bytes, bytes.experts);
    // Forward to the next and backward to the last stage; with virtual stages the ring closes.
    const uint64_t borders =
        uint64_t{c.virtual_stages} * 2 - (stage == 0 ? 1 : 0) - (stage + 1 == c.pp ? 1 : 0);
    f.pipeline_bytes = std::max(f.pipeline_bytes,
                                c.pp == 1 ? 0 : product({borders, c.microbatches, shape.stage_activation}));
  }
  return f;
}

}  // namespace weft::generate
