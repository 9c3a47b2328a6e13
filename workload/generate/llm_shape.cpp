// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/generate/llm_shape.h"

#include <fmt/format.h>

#include <algorithm>

#include "configs/types.h"
#include "workload/generate/parameter_checks.h"

namespace weft::generate {

void usage(const std::string& message) {
  ParameterChecks("llm").refuse(message);
}

uint64_t product(std::initializer_list<uint64_t> factors) {
  Wide value = 1;
  for (const uint64_t factor : factors) {
    value *= factor;
    if (value > kMaxValue)
      usage(
          "the model is too large: an operation's FLOP or bytes do not fit 63 bits. Lower hidden, seq, "
          "batch, vocab or "
          "ffn, or raise tp, dp, pp or microbatches.");
  }
  return static_cast<uint64_t>(value);
}

uint64_t sum(std::initializer_list<uint64_t> terms) {
  Wide value = 0;
  for (const uint64_t term : terms) value += term;
  if (value > kMaxValue)
    usage(
        "the model is too large: its FLOP or bytes do not fit 63 bits. Lower hidden, seq, batch, vocab or "
        "ffn.");
  return static_cast<uint64_t>(value);
}

std::array<Axis, 3> parse_order(const std::string& text) {
  static const char* const names[] = {"tp", "dp", "pp"};
  std::array<Axis, 3> order{};
  std::array<bool, 3> seen{};
  size_t count = 0;
  size_t begin = 0;
  bool good = true;
  while (good && begin <= text.size()) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    const auto axis = static_cast<size_t>(std::find(names, names + 3, word) - names);
    good = count < 3 && axis < 3 && !seen[axis];
    if (!good) break;
    seen[axis] = true;
    order[count++] = static_cast<Axis>(axis);
    begin = end + 1;
  }
  if (!good || count != 3)
    usage(fmt::format(
        "order is \"{}\"; it must name tp, dp and pp once each, innermost first, as in \"tp,dp,pp\"", text));
  return order;
}

LlmShape::LlmShape(const LlmConfig& c)
    : tp(c.tp),
      dp(c.dp),
      pp(c.pp),
      virtual_stages(c.virtual_stages),
      stage_layers(c.layers / (c.pp * c.virtual_stages)),
      microbatches(c.microbatches),
      zero(c.zero),
      sequence_parallel(c.sequence_parallel && c.tp > 1),
      steps(c.steps),
      recompute(c.recompute),
      overlap(c.overlap),
      bucket(c.bucket),
      dtype(c.dtype_bytes),
      gradient(c.gradient_bytes == 0 ? c.dtype_bytes : c.gradient_bytes),
      hidden(c.hidden),
      ffn(c.ffn == 0 ? product({4, c.hidden}) : c.ffn),
      heads(c.heads),
      seq(c.seq),
      vocab(c.vocab),
      sequences(c.batch / (uint64_t{c.dp} * c.microbatches)) {
  if (heads == 0) heads = hidden % 128 == 0 && hidden / 128 % tp == 0 ? hidden / 128 : tp;
  tokens = product({sequences, seq});
  shard_tokens = sequence_parallel ? tokens / tp : tokens;
  activation = product({tokens, hidden, dtype});
  stage_activation = product({shard_tokens, hidden, dtype});
  layer_parameters = sum({product({4, hidden, hidden}), product({2, hidden, ffn})});
  vocab_parameters = product({vocab, hidden});
  uint64_t stride = 1;
  for (const Axis axis : parse_order(c.order)) {
    strides[axis] = stride;
    stride *= axis == kTp ? tp : axis == kDp ? dp : pp;
  }
}

}  // namespace weft::generate
