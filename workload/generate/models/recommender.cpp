// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Networks for recommendation: embeddings of categories and dense layers.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "workload/generate/models/model_sizes.h"

namespace weft::generate {
namespace {

std::map<std::string, DlrmConfig> presets() {
  std::map<std::string, DlrmConfig> all;
  DlrmConfig c;
  all["kaggle"] = c;
  c.bottom = {13, 512, 256, 64};
  c.top = {415, 512, 512, 256, 1};
  c.dimension = 64;
  c.batch = 2048;
  all["terabyte"] = c;
  c.bottom = {13, 512, 256, 128};
  c.top = {479, 1024, 1024, 512, 256, 1};
  c.dimension = 128;
  c.batch = 16384;
  all["mlperf"] = c;
  c.bottom.assign(6, 2048);
  c.bottom.front() = 13;
  c.bottom.back() = 64;
  c.top.assign(11, 2048);
  c.top.front() = 5184;
  c.top.back() = 1;
  c.tables = 80;
  c.dimension = 64;
  c.batch = 128;
  c.element_bytes = 2;
  c.fitted =
      "the layers and tables of the network of 57 M parameters are published nowhere; these have as many";
  all["dlrm-57m"] = c;
  c = DlrmConfig{};
  c.bottom = {13, 512, 512, 512, 16};
  c.top = {1040, 512, 512, 512};
  c.tables = 24;
  c.element_bytes = 2;
  c.biases = false;
  c.as_text_file = true;
  c.embedding_cycles = 300;
  all["astra"] = c;
  return all;
}

void perceptron(Model& model, const DlrmConfig& c, const char* name, const std::vector<uint64_t>& widths) {
  for (size_t i = 0; i + 1 < widths.size(); ++i) {
    ModelLayer layer =
        dense_layer(fmt::format("{}_{}", name, i), c.batch, widths[i], widths[i + 1], c.element_bytes);
    if (c.as_text_file) {
      // The public file times the forward pass as (batch, outputs, inputs), the others accordingly.
      layer.of(text::Pass::forward).gemm = {c.batch, widths[i + 1], widths[i]};
      layer.of(text::Pass::input_gradient).gemm = {c.batch, widths[i], widths[i + 1]};
      layer.of(text::Pass::weight_gradient).gemm = {widths[i + 1], c.batch, widths[i]};
    }
    if (c.biases) {
      layer.parameters.push_back(widths[i + 1]);
      layer.after(text::Pass::weight_gradient).bytes =
          model_product({layer.parameter_count(), c.element_bytes});
    }
    model.layers.push_back(std::move(layer));
  }
}

/// A look-up of rows, which travel to the ranks that want them, and their gradients back.
ModelLayer embedding(const DlrmConfig& c) {
  ModelLayer layer;
  layer.name = "Embedding";
  const uint64_t elements = model_product({c.batch, c.tables, c.dimension});
  const uint64_t bytes = model_product({elements, c.element_bytes});
  layer.outputs = elements;
  for (LayerWork& work : layer.work) {
    work.other_bytes = model_product({2, bytes});
    work.fixed_cycles = c.embedding_cycles;
  }
  layer.after(text::Pass::forward) = {CollectiveOp::all_to_all, bytes};
  layer.after(text::Pass::input_gradient) = {CollectiveOp::all_to_all, bytes};
  return layer;
}

}  // namespace

std::vector<std::string> dlrm_presets() {
  std::vector<std::string> names;
  for (const auto& [name, config] : presets()) names.push_back(name);
  return names;
}

DlrmConfig dlrm_preset(const std::string& name) {
  const auto all = presets();
  const auto found = all.find(name);
  if (found == all.end())
    throw UserError(ExitCode::usage, fmt::format("weft generate dlrm: there is no preset '{}'; one of {}",
                                                 name, fmt::join(dlrm_presets(), ", ")));
  return found->second;
}

Model dlrm(const DlrmConfig& c) {
  for (const auto* widths : {&c.bottom, &c.top})
    if (widths->size() < 2 || std::count(widths->begin(), widths->end(), 0) != 0)
      throw UserError(ExitCode::usage,
                      "weft generate dlrm: a perceptron needs at least two widths, none of them 0, as in "
                      "13-512-256-64");
  Model model;
  model.name = "dlrm";
  model.loop = text::Loop::hybrid_dlrm;
  model.batch = c.batch;
  model.element_bytes = c.element_bytes;
  model.update = UpdateRule::bytes_over_1000;
  model.stalls = false;
  model.fitted = c.fitted;
  model.layers.push_back(embedding(c));
  perceptron(model, c, "MLP_Bottom", c.bottom);
  model.last_bottom_layer = static_cast<uint32_t>(model.layers.size() - 1);
  perceptron(model, c, "MLP_Top", c.top);
  return model;
}

Model deeplight(const DeepLightConfig& c) {
  Model model;
  model.name = "deeplight";
  model.batch = c.batch;
  model.element_bytes = c.element_bytes;
  model.fitted = "the number of rows of the embedding is not published; this one gives 2.26 GB of gradients";
  ModelLayer table;
  table.name = "embedding";
  table.parameters = {model_product({c.rows, c.dimension})};
  table.outputs = model_product({c.batch, c.fields, c.dimension});
  LayerWork work;
  work.other_bytes = model_product({2, table.outputs, c.element_bytes});
  table.of(text::Pass::forward) = work;
  table.of(text::Pass::weight_gradient) = work;
  // The gradient is dense: every row counts.
  table.after(text::Pass::weight_gradient) = {CollectiveOp::all_reduce,
                                              model_product({table.parameters[0], c.element_bytes})};
  model.layers.push_back(std::move(table));
  uint64_t in = model_product({c.fields, c.dimension});
  std::vector<uint64_t> widths = c.hidden;
  widths.push_back(1);
  for (size_t i = 0; i < widths.size(); ++i) {
    ModelLayer layer = dense_layer(fmt::format("dnn_{}", i), c.batch, in, widths[i], c.element_bytes);
    layer.parameters.push_back(widths[i]);
    layer.after(text::Pass::weight_gradient).bytes =
        model_product({layer.parameter_count(), c.element_bytes});
    model.layers.push_back(std::move(layer));
    in = widths[i];
  }
  return model;
}

Model micro(CollectiveOp op, uint64_t bytes, uint64_t cycles) {
  Model model;
  model.name = "micro";
  model.loop = text::Loop::micro;
  model.update = UpdateRule::fixed;
  model.update_cycles = cycles;
  model.stalls = false;
  ModelLayer layer;
  layer.name = "conv1";
  for (LayerWork& work : layer.work) work.fixed_cycles = cycles;
  layer.after(text::Pass::weight_gradient) = {op, bytes};
  model.layers.push_back(std::move(layer));
  return model;
}

}  // namespace weft::generate
