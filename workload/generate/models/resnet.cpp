// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include <fmt/format.h>

#include <array>

#include "workload/generate/models/model_sizes.h"

namespace weft::generate {
namespace {

struct Stage {
  uint64_t width;
  uint64_t output;  ///< height and width of its images
};
constexpr std::array<Stage, 4> kStages = {{{64, 56}, {128, 28}, {256, 14}, {512, 7}}};

std::array<uint32_t, 4> blocks_of(uint32_t depth) {
  switch (depth) {
    case 50:
      return {3, 4, 6, 3};
    case 101:
      return {3, 4, 23, 3};
    case 152:
      return {3, 8, 36, 3};
    default:
      throw UserError(ExitCode::usage,
                      fmt::format("weft generate: there is no ResNet-{}; 50, 101 and 152 are known", depth));
  }
}

/// The layers of a ResNet, in the order in which they run.
class Builder {
 public:
  Builder(Model& model, bool v15) : model_(model), v15_(v15) {}

  void convolution(const std::string& name, uint64_t pixels, uint64_t inner, uint64_t filters) {
    ModelLayer layer =
        dense_layer(name, model_product({pixels, model_.batch}), inner, filters, model_.element_bytes, true);
    // The batch normalisation behind it: scales and offsets.
    layer.parameters.push_back(filters);
    layer.parameters.push_back(filters);
    model_.layers.push_back(std::move(layer));
  }

  void stage(size_t s, uint32_t blocks) {
    const uint64_t width = kStages[s].width;
    const uint64_t out = kStages[s].output * kStages[s].output;
    const uint64_t side = s == 0 ? kStages[0].output : kStages[s - 1].output;
    for (uint32_t b = 0; b < blocks; ++b) {
      const auto name = [&](int conv) { return fmt::format("layer_{}_{}_conv{}", width, b + 1, conv); };
      // In a stage's first block the projection comes before its three convolutions.
      if (b == 0) convolution(name(4), out, channels_, 4 * width);
      convolution(name(1), b == 0 && v15_ ? side * side : out, channels_, width);
      convolution(name(2), out, 9 * width, width);
      convolution(name(3), out, width, 4 * width);
      channels_ = 4 * width;
    }
  }

 private:
  Model& model_;
  bool v15_;
  uint64_t channels_ = 64;
};

}  // namespace

Model resnet(uint32_t depth, uint64_t batch, uint32_t element_bytes, bool v15) {
  const std::array<uint32_t, 4> blocks = blocks_of(depth);
  Model model;
  model.name = fmt::format("resnet{}", depth);
  model.batch = batch;
  model.element_bytes = element_bytes;
  Builder builder(model, v15);
  builder.convolution("conv1", 112 * 112, 147, 64);
  for (size_t s = 0; s < kStages.size(); ++s) builder.stage(s, blocks[s]);
  ModelLayer last = dense_layer("fc1000", batch, 2048, 1000, element_bytes);
  last.parameters.push_back(1000);
  model.layers.push_back(std::move(last));
  return model;
}

}  // namespace weft::generate
