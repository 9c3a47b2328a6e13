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

/// Bytes that a rank of the stage gives to collectives of its tensor parallel group, a step.
uint64_t tensor_parallel(const LlmShape& shape, const LlmConfig& c, uint32_t stage) {
  if (shape.tp == 1) return 0;
  const uint64_t m = c.microbatches;
  // An all-reduce of the activations, or a reduce-scatter of them and an all-gather of a shard.
  const uint64_t one =
      shape.sequence_parallel ? sum({shape.activation, shape.stage_activation}) : shape.activation;
  uint64_t each = product({c.recompute == LlmConfig::Recompute::full ? 6u : 4u, c.layers / c.pp, one});
  if (stage == 0) {
    // Embedding: forward its partial sums; backward what it needs whole.
    each = sum({each, shape.activation, shape.sequence_parallel ? shape.stage_activation : 0});
  }
  if (stage + 1 == c.pp)
    // Forward the maximum, then the sum and the target's logit of each token, fp32; backward the activations.
    each = sum({each, product({12, shape.tokens}), shape.activation,
                shape.sequence_parallel ? shape.stage_activation : 0});
  return product({m, each});
}

uint64_t stage_parameters(const LlmShape& shape, const LlmConfig& c, uint32_t stage) {
  uint64_t parameters = product({c.layers / c.pp, shape.layer_parameters});
  if (stage == 0) parameters = sum({parameters, shape.vocab_parameters});
  if (stage + 1 == c.pp) parameters = sum({parameters, shape.vocab_parameters});
  return parameters / shape.tp;
}

uint64_t data_parallel(const LlmShape& shape, const LlmConfig& c, uint64_t parameters) {
  if (c.dp == 1) return 0;
  const uint64_t gradients = product({parameters, shape.gradient});
  const uint64_t shard = ceil_div(product({parameters, shape.dtype}), c.dp);
  switch (c.zero) {
    case 0:
      return gradients;
    case 1:
      return sum({gradients, shard});
    case 2:
      return sum({product({c.microbatches, gradients}), shard});
    default:
      // Weights before each use, forward and backward.
      return sum({product({c.microbatches, gradients}), product({2, c.microbatches, shard})});
  }
}

/// Published for two bytes an element; others in proportion.
double kept_activations(const LlmShape& shape, const LlmConfig& c) {
  const double sbh = static_cast<double>(shape.tokens) * static_cast<double>(shape.hidden) *
                     static_cast<double>(c.dtype_bytes) / 2;
  const double t = shape.tp;
  const double scores = c.recompute == LlmConfig::Recompute::none
                            ? 5.0 * static_cast<double>(shape.heads) * static_cast<double>(shape.seq) /
                                  static_cast<double>(shape.hidden)
                            : 0;
  if (c.recompute == LlmConfig::Recompute::full) return 2 * sbh;
  if (shape.sequence_parallel) return sbh * (34 + scores) / t;
  return sbh * (10 + 24 / t + scores / t);
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
  f.parameters = sum({product({c.layers, shape.layer_parameters}), product({2, shape.vocab_parameters})});
  const double tokens = static_cast<double>(c.batch) * static_cast<double>(c.seq);
  const double attention = 4 * tokens * static_cast<double>(c.seq) * static_cast<double>(c.hidden) * c.layers;
  const double layers = 2 * tokens * static_cast<double>(shape.layer_parameters) * c.layers + attention;
  f.model_flop = 3 * (layers + 2 * tokens * static_cast<double>(shape.vocab_parameters));
  f.hardware_flop = f.model_flop + (c.recompute == LlmConfig::Recompute::full        ? layers
                                    : c.recompute == LlmConfig::Recompute::selective ? attention
                                                                                     : 0);
  f.activation_bytes = kept_activations(shape, c);
  f.bubble = static_cast<double>(c.pp - 1) / (double{1} * c.virtual_stages * c.microbatches);
  for (uint32_t stage = 0; stage < c.pp; ++stage) {
    const uint64_t parameters = stage_parameters(shape, c, stage);
    f.rank_parameters = std::max(f.rank_parameters, parameters);
    f.tensor_parallel_bytes = std::max(f.tensor_parallel_bytes, tensor_parallel(shape, c, stage));
    f.data_parallel_bytes = std::max(f.data_parallel_bytes, data_parallel(shape, c, parameters));
    // Forward to the next and backward to the last stage; with virtual stages the ring closes.
    const uint64_t borders =
        uint64_t{c.virtual_stages} * 2 - (stage == 0 ? 1 : 0) - (stage + 1 == c.pp ? 1 : 0);
    f.pipeline_bytes = std::max(f.pipeline_bytes,
                                c.pp == 1 ? 0 : product({borders, c.microbatches, shape.stage_activation}));
  }
  const double p = static_cast<double>(f.rank_parameters);
  const double d = c.dp;
  f.state_bytes =
      p * (2.0 / (c.zero == 3 ? d : 1) + 2.0 / (c.zero >= 2 ? d : 1) + 12.0 / (c.zero >= 1 ? d : 1));
  return f;
}

}  // namespace weft::generate
