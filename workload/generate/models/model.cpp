// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/generate/models/model.h"

#include <algorithm>
#include <numeric>

#include "workload/generate/models/model_sizes.h"

namespace weft::generate {

uint64_t ModelLayer::parameter_count() const {
  return std::accumulate(parameters.begin(), parameters.end(), uint64_t{0});
}

uint64_t Model::parameters() const {
  uint64_t all = 0;
  for (const ModelLayer& layer : layers) all = model_sum(all, layer.parameter_count());
  return all;
}

uint64_t Model::weights() const {
  uint64_t all = 0;
  for (const ModelLayer& layer : layers) all = model_sum(all, layer.weights);
  return all;
}

uint64_t Model::activations() const {
  uint64_t all = 0;
  for (const ModelLayer& layer : layers) all = model_sum(all, layer.outputs);
  return all;
}

uint64_t Model::macs(text::Pass pass) const {
  uint64_t all = 0;
  for (const ModelLayer& layer : layers) {
    const LayerWork& work = layer.of(pass);
    all = model_sum(all, model_product({work.gemm.m, work.gemm.k, work.gemm.n, work.count}));
  }
  return all;
}

uint64_t Model::flop() const {
  uint64_t all = 0;
  for (int pass = 0; pass < text::kPasses; ++pass)
    all = model_sum(all, model_product({2, macs(static_cast<text::Pass>(pass))}));
  // No loop but the hybrid ones runs the input gradient of the first layer.
  if (!layers.empty() && (loop == text::Loop::data || loop == text::Loop::hybrid_dlrm)) {
    const LayerWork& first = layers[0].of(text::Pass::input_gradient);
    all -= model_product({2, first.gemm.m, first.gemm.k, first.gemm.n, first.count});
  }
  for (const ModelLayer& layer : layers)
    for (const LayerWork& work : layer.work) all = model_sum(all, work.other_ops);
  return all;
}

uint64_t Model::communicated() const {
  uint64_t all = 0;
  for (const ModelLayer& layer : layers)
    for (const LayerCommunication& c : layer.communication)
      if (c.op) all = model_sum(all, c.bytes);
  return all;
}

std::vector<uint64_t> gradient_buckets(const std::vector<uint64_t>& parameters, uint32_t element_bytes,
                                       uint64_t cap) {
  constexpr uint64_t kFirst = uint64_t{1} << 20;
  std::vector<uint64_t> buckets;
  uint64_t open = 0;
  for (auto tensor = parameters.rbegin(); tensor != parameters.rend(); ++tensor) {
    open = model_sum(open, model_product({*tensor, element_bytes}));
    if (open < (buckets.empty() ? std::min(kFirst, cap) : cap)) continue;
    buckets.push_back(open);
    open = 0;
  }
  if (open != 0) buckets.push_back(open);
  return buckets;
}

}  // namespace weft::generate
