// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include <fmt/format.h>

#include "workload/generate/models/model_sizes.h"

namespace weft::generate {
namespace {

constexpr uint64_t kPositions = 512;
constexpr uint64_t kSegments = 2;

/// The scores and the weighted sum of the values: no weights, so no all-reduce.
ModelLayer attention(const std::string& name, const BertConfig& c) {
  ModelLayer layer;
  layer.name = name;
  const uint64_t width = c.hidden / c.heads;
  LayerWork work;
  // softmax(Q K^T) V: two products of sequence x sequence and the head's width, for each head.
  work.gemm = {c.sequence, width, c.sequence};
  work.count = model_product({2, c.heads, c.batch});
  layer.of(text::Pass::forward) = work;
  work.count = model_product({2, work.count});
  layer.of(text::Pass::input_gradient) = work;
  layer.outputs = model_product({c.batch, c.sequence, c.hidden});
  return layer;
}

ModelLayer embedding(const BertConfig& c) {
  ModelLayer layer;
  layer.name = "embedding";
  const uint64_t h = c.hidden;
  layer.parameters = {model_product({c.vocabulary, h}), kPositions * h, kSegments * h, h, h};
  const uint64_t out = model_product({c.batch, c.sequence, h});
  layer.outputs = out;
  LayerWork work;
  work.other_bytes = model_product({2, out, c.element_bytes});
  layer.of(text::Pass::forward) = work;
  layer.of(text::Pass::weight_gradient) = work;
  layer.after(text::Pass::weight_gradient) = {CollectiveOp::all_reduce,
                                              model_product({layer.parameter_count(), c.element_bytes})};
  return layer;
}

/// A matrix with its bias and, behind it, perhaps a normalisation.
void linear(Model& model, const BertConfig& c, const std::string& name, uint64_t rows, uint64_t in,
            uint64_t out, uint64_t matrices, bool norm) {
  ModelLayer layer = dense_layer(name, rows, in, matrices * out, c.element_bytes);
  layer.parameters.clear();
  for (uint64_t i = 0; i < matrices; ++i) {
    layer.parameters.push_back(model_product({in, out}));
    layer.parameters.push_back(out);
  }
  if (norm) layer.parameters.insert(layer.parameters.end(), {out, out});
  layer.after(text::Pass::weight_gradient).bytes = model_product({layer.parameter_count(), c.element_bytes});
  model.layers.push_back(std::move(layer));
}

}  // namespace

Model bert(const BertConfig& c) {
  if (c.heads == 0 || c.hidden % c.heads != 0)
    throw UserError(
        ExitCode::usage,
        fmt::format("weft generate bert: hidden is {}, no multiple of heads ({})", c.hidden, c.heads));
  if (c.sequence > kPositions)
    throw UserError(ExitCode::usage, fmt::format("weft generate bert: seq is {}; BERT has {} positions",
                                                 c.sequence, kPositions));
  Model model;
  model.name = "bert";
  model.batch = c.batch;
  model.element_bytes = c.element_bytes;
  model.layers.push_back(embedding(c));
  const uint64_t tokens = model_product({c.batch, c.sequence});
  const uint64_t h = c.hidden;
  for (uint32_t i = 0; i < c.layers; ++i) {
    const auto name = [i](const char* part) { return fmt::format("encoder{}_{}", i, part); };
    linear(model, c, name("qkv"), tokens, h, h, 3, false);
    model.layers.push_back(attention(name("attention"), c));
    linear(model, c, name("projection"), tokens, h, h, 1, true);
    linear(model, c, name("mlp_up"), tokens, h, 4 * h, 1, false);
    linear(model, c, name("mlp_down"), tokens, 4 * h, h, 1, true);
  }
  if (c.question_answering)
    linear(model, c, "qa_outputs", tokens, h, 2, 1, false);
  else
    linear(model, c, "pooler", c.batch, h, h, 1, false);
  return model;
}

}  // namespace weft::generate
