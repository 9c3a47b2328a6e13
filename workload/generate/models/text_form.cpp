// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/generate/models/text_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "workload/generate/models/model_sizes.h"

namespace weft::generate {
namespace {

const char* word(CollectiveOp op) {
  switch (op) {
    case CollectiveOp::all_reduce:
      return "ALLREDUCE";
    case CollectiveOp::all_gather:
      return "ALLGATHER";
    case CollectiveOp::reduce_scatter:
      return "REDUCESCATTER";
    case CollectiveOp::all_to_all:
      return "ALLTOALL";
    default:
      throw UserError(ExitCode::usage,
                      fmt::format("weft generate: a text workload has no {}; it has all_reduce, all_gather, "
                                  "reduce_scatter and all_to_all",
                                  weft::to_string(op)));
  }
}

uint64_t load_cycles(uint64_t bytes, const TextTiming& timing) {
  return static_cast<uint64_t>(
      std::floor(static_cast<double>(bytes) * timing.clock_hz / timing.memory_bandwidth + 0.5));
}

uint64_t weight_load(const Model& model, size_t layer, const TextTiming& timing) {
  return load_cycles(model_product({model.layers[layer].weights, model.element_bytes}), timing);
}

uint64_t update_cycles(const Model& model, size_t i, const TextTiming& timing) {
  const ModelLayer& layer = model.layers[i];
  switch (model.update) {
    case UpdateRule::tenth_of_weight_gradient:
      return (pass_cycles(model, i, text::Pass::weight_gradient, timing) + 5) / 10;
    case UpdateRule::bytes_over_1000: {
      uint64_t bytes = 0;
      for (const LayerCommunication& c : layer.communication) bytes = std::max(bytes, c.bytes);
      return (bytes + 500) / 1000;
    }
    case UpdateRule::fixed:
      break;
  }
  return model.update_cycles;
}

const char* parallelism_word(text::Parallelism parallelism) {
  static const char* const names[] = {"DATA", "MODEL", "HYBRID_DATA_MODEL", "HYBRID_MODEL_DATA"};
  return names[static_cast<int>(parallelism)];
}

}  // namespace

uint64_t work_cycles(const LayerWork& work, const TextTiming& timing) {
  if (work.fixed_cycles != 0) return work.fixed_cycles;
  return model_sum(model_product({compute::cycles(timing.array, work.gemm), work.count}),
                   load_cycles(work.other_bytes, timing));
}

uint64_t pass_cycles(const Model& model, size_t i, text::Pass pass, const TextTiming& timing) {
  const uint64_t work = work_cycles(model.layers[i].of(pass), timing);
  if (!model.stalls || work == 0 || model.layers[i].of(pass).fixed_cycles != 0) return work;
  const size_t layers = model.layers.size();
  switch (pass) {
    case text::Pass::forward: {
      const uint64_t next = i + 1 < layers ? weight_load(model, i + 1, timing) : 0;
      return std::max(work, next) + (i == 0 ? weight_load(model, 0, timing) : 0);
    }
    case text::Pass::input_gradient:
      return std::max(work, i > 0 ? weight_load(model, i - 1, timing) : 0);
    case text::Pass::weight_gradient:
      break;
  }
  return work;
}

std::string text_form(const Model& model, const TextTiming& timing) {
  std::string out = text::to_string(model.loop);
  if (model.loop == text::Loop::hybrid_dlrm || model.loop == text::Loop::hybrid_dlrm_enhanced)
    out += fmt::format("\t{}", model.last_bottom_layer);
  out += fmt::format("\n{}\n", model.layers.size());
  for (size_t i = 0; i < model.layers.size(); ++i) {
    const ModelLayer& layer = model.layers[i];
    out += layer.name + "\t-1";
    for (int p = 0; p < text::kPasses; ++p) {
      const auto pass = static_cast<text::Pass>(p);
      const LayerCommunication& c = layer.after(pass);
      out += fmt::format("\t{}\t{}\t{}", pass_cycles(model, i, pass, timing), c.op ? word(*c.op) : "NONE",
                         c.op ? c.bytes : 0);
    }
    out += fmt::format("\t{}", update_cycles(model, i, timing));
    if (model.loop == text::Loop::hybrid_customized && layer.parallelism)
      out += fmt::format("\t{}", parallelism_word(*layer.parallelism));
    out += "\n";
  }
  return out;
}

}  // namespace weft::generate
