// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/generate/llm_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

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

std::vector<Axis> parse_order(const std::string& text) {
  static const std::pair<const char*, Axis> words[] = {
      {"tp", kTp}, {"ulysses", kUlysses}, {"cp", kCp}, {"dp", kDp}, {"pp", kPp}};
  std::vector<Axis> order;
  bool good = true;
  for (size_t begin = 0; good && begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const auto* found = std::find_if(std::begin(words), std::end(words), [&](const auto& word) {
      return text.compare(begin, end - begin, word.first) == 0;
    });
    good = found != std::end(words) && std::count(order.begin(), order.end(), found->second) == 0;
    if (good) order.push_back(found->second);
    begin = end + 1;
  }
  for (const Axis axis : {kTp, kDp, kPp}) good = good && std::count(order.begin(), order.end(), axis) == 1;
  if (!good)
    usage(
        fmt::format("order is \"{}\"; it must name tp, dp and pp once each, and may name ulysses and cp, "
                    "innermost first, as in \"tp,dp,pp\"",
                    text));
  for (const Axis axis : {kCp, kUlysses})
    if (std::count(order.begin(), order.end(), axis) == 0)
      order.insert(std::find(order.begin(), order.end(), kTp) + 1, axis);
  return order;
}

Weights& Weights::operator+=(const Weights& other) {
  dense = sum({dense, other.dense});
  expert = sum({expert, other.expert});
  return *this;
}

LlmShape::LlmShape(const LlmConfig& c)
    : tp(c.tp),
      ulysses(c.ulysses),
      cp(c.cp),
      dp(c.dp),
      pp(c.pp),
      ep(c.ep),
      hybrid(c.shard_group > 1 && c.shard_group < c.dp),
      layers(c.layers),
      virtual_stages(c.virtual_stages),
      stage_layers(c.layers / (c.pp * c.virtual_stages)),
      microbatches(c.microbatches),
      zero(c.zero),
      sequence_parallel(c.sequence_parallel && c.tp > 1),
      steps(c.steps),
      recompute(c.recompute),
      overlap(c.overlap),
      async(c.async),
      bucket(c.bucket),
      ring(c.context_exchange == LlmConfig::ContextExchange::ring),
      fsdp_unit(c.fsdp_unit),
      keep_weights(c.keep_weights),
      experts(c.experts),
      moe_every(c.moe_every),
      dtype(c.dtype_bytes),
      gradient(c.gradient_bytes == 0 ? c.dtype_bytes : c.gradient_bytes),
      hidden(c.hidden),
      ffn(c.ffn == 0 ? product({4, c.hidden}) : c.ffn),
      heads(c.heads),
      seq(c.seq),
      vocab(c.vocab),
      sequences(c.batch / (uint64_t{c.dp} * c.microbatches)) {
  set_axes(c.order, hybrid ? c.shard_group : c.ep);
  set_kinds();
  set_sizes(c);
}

void LlmShape::set_axes(const std::string& order, uint32_t inner) {
  sizes = {tp, ulysses, cp, inner, dp / inner, pp};
  uint64_t stride = 1;
  for (const Axis axis : parse_order(order)) {
    if (axis == kDp) {
      strides[kInner] = stride;
      stride *= inner;
    }
    strides[axis] = stride;
    stride *= sizes[axis];
  }
}

void LlmShape::set_kinds() {
  kinds[kTensor] = {"tp", {kTp}};
  if (hybrid) {
    kinds[kShard] = {"shard", {kUlysses, kCp, kInner}};
    kinds[kCopies] = {"copies", {kDp}};
  } else {
    kinds[kData] = {"dp", {kUlysses, kCp, kInner, kDp}};
  }
  if (!ring) kinds[kContext] = {"cp", {kCp}};
  kinds[kHeads] = {"ulysses", {kUlysses}};
  if (ep > 1) {
    kinds[kExperts] = {"ep", {kInner}};
    kinds[kExpertData] = {"expert_dp", {kUlysses, kCp, kDp}};
  }
  uint64_t next = 1;
  for (GroupKind& kind : kinds) {
    for (const Axis axis : kind.axes) kind.members *= sizes[axis];
    if (kind.members == 1) continue;
    kind.groups = ranks() / kind.members;
    kind.first = next;
    next += kind.groups;
  }
}

void LlmShape::set_sizes(const LlmConfig& c) {
  const uint32_t cut = tp * ulysses;  // of the heads
  if (heads == 0) heads = hidden % 128 == 0 && hidden / 128 % cut == 0 ? hidden / 128 : cut;
  tokens = product({sequences, seq / (uint64_t{cp} * ulysses)});
  shard_tokens = sequence_parallel ? tokens / tp : tokens;
  activation = product({tokens, hidden, dtype});
  stage_activation = product({shard_tokens, hidden, dtype});
  heads_activation = product({tokens, hidden / tp, dtype});
  keys_values = product({2, heads_activation});
  attention_parameters = product({4, hidden, hidden});
  mlp_parameters = product({2, hidden, ffn});
  vocab_parameters = product({vocab, hidden});
  routed_rows = 0;
  if (experts > 0) {
    const double mean = static_cast<double>(shard_tokens) * c.top_k * c.capacity / experts;
    if (!(mean < static_cast<double>(kMaxValue / experts)))
      usage("an expert's capacity does not fit 63 bits; lower batch, seq, top_k or capacity");
    // A rounding error of the product must not make a row.
    const double whole = std::round(mean);
    routed_rows = product(
        {experts, static_cast<uint64_t>(std::abs(mean - whole) < 1e-9 * whole ? whole : std::ceil(mean))});
  }
  routed = product({routed_rows, hidden, dtype});
}

uint32_t LlmShape::rank(const Place& place) const {
  uint64_t rank = 0;
  for (size_t axis = 0; axis < kAxes; ++axis) rank += place[axis] * strides[axis];
  return static_cast<uint32_t>(rank);
}

uint32_t LlmShape::ranks() const {
  uint32_t all = 1;
  for (const uint32_t size : sizes) all *= size;
  return all;
}

const char* LlmShape::axis_name(Axis axis) const {
  static const char* const names[] = {"tp", "ulysses", "cp", "shard", "dp", "pp"};
  return axis == kInner && !hybrid ? "ep" : names[axis];
}

uint64_t LlmShape::group(Kind kind, const Place& place) const {
  uint64_t number = 0, factor = 1;
  for (size_t axis = 0; axis < kAxes; ++axis) {
    const auto& axes = kinds[kind].axes;
    if (std::count(axes.begin(), axes.end(), static_cast<Axis>(axis)) != 0) continue;
    number += place[axis] * factor;
    factor *= sizes[axis];
  }
  return kinds[kind].first + number;
}

std::vector<uint32_t> LlmShape::group_members(Kind kind, uint64_t number) const {
  const auto& axes = kinds[kind].axes;
  Place first{};
  number -= kinds[kind].first;
  for (size_t axis = 0; axis < kAxes; ++axis) {
    if (std::count(axes.begin(), axes.end(), static_cast<Axis>(axis)) != 0) continue;
    first[axis] = static_cast<uint32_t>(number % sizes[axis]);
    number /= sizes[axis];
  }
  std::vector<uint32_t> members = {rank(first)};
  for (const Axis axis : axes) {
    const size_t before = members.size();
    for (uint32_t i = 1; i < sizes[axis]; ++i)
      for (size_t k = 0; k < before; ++k)
        members.push_back(members[k] + static_cast<uint32_t>(i * strides[axis]));
  }
  std::sort(members.begin(), members.end());
  return members;
}

Weights LlmShape::layer_weights(uint32_t layer) const {
  if (!is_moe(layer)) return {sum({attention_parameters, mlp_parameters}) / tp, 0};
  // Every tensor parallel rank has the whole router.
  const uint64_t dense = sum({attention_parameters / tp, product({hidden, experts})});
  const uint64_t expert = product({experts / ep, mlp_parameters / tp});
  return ep > 1 ? Weights{dense, expert} : Weights{sum({dense, expert}), 0};
}

uint64_t LlmShape::model_parameters() const {
  const uint64_t experts_of_layer = product({experts, sum({hidden, mlp_parameters})});
  return sum({product({layers, attention_parameters}), product({layers - moe_layers(), mlp_parameters}),
              product({moe_layers(), experts_of_layer}), product({2, vocab_parameters})});
}

Weights LlmShape::unit_weights(uint32_t stage, uint32_t index) const {
  const uint32_t begin = index / fsdp_unit * fsdp_unit;
  Weights all;
  for (uint32_t i = begin; i < std::min(begin + fsdp_unit, stage_layers); ++i)
    all += layer_weights(stage * stage_layers + i);
  return all;
}

uint64_t LlmShape::weight_shard(uint64_t parameters, bool expert) const {
  return ceil_div(product({parameters, dtype}), members(shard_kind(expert)));
}

}  // namespace weft::generate
