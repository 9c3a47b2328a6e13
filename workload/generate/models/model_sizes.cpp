// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/generate/models/model_sizes.h"

namespace weft::generate {
namespace {

constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();

[[noreturn]] void too_large() {
  throw UserError(ExitCode::usage,
                  "weft generate: the model is too large: its operations or bytes do not fit 63 bits; lower "
                  "the batch or the widths");
}

}  // namespace

uint64_t model_product(std::initializer_list<uint64_t> factors) {
  Wide value = 1;
  for (const uint64_t factor : factors) {
    if (factor == 0) return 0;
    if (value > kMost / factor) too_large();
    value *= factor;
  }
  return static_cast<uint64_t>(value);
}

uint64_t model_sum(uint64_t a, uint64_t b) {
  if (a > kMost || b > kMost - a) too_large();
  return a + b;
}

ModelLayer dense_layer(const std::string& name, uint64_t rows, uint64_t in, uint64_t out,
                       uint32_t element_bytes, bool input_gradient) {
  ModelLayer layer;
  layer.name = name;
  layer.weights = model_product({in, out});
  layer.parameters = {layer.weights};
  layer.outputs = model_product({rows, out});
  layer.of(text::Pass::forward).gemm = {rows, in, out};
  if (input_gradient) layer.of(text::Pass::input_gradient).gemm = {rows, out, in};
  layer.of(text::Pass::weight_gradient).gemm = {in, rows, out};
  layer.after(text::Pass::weight_gradient) = {CollectiveOp::all_reduce,
                                              model_product({layer.weights, element_bytes})};
  return layer;
}

}  // namespace weft::generate
