// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/generate/moe.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <vector>

#include "configs/file_set.h"
#include "configs/types.h"
#include "workload/generate/parameter_checks.h"
#include "workload/generate/rank_trace_writer.h"
#include "workload/generate/trace_file.h"

namespace weft::generate {
namespace {

namespace pb = ChakraProtoMsg;

constexpr uint64_t kMaxRanks = 1u << 20;
constexpr uint64_t kMaxLayers = 10'000;

const ParameterChecks kChecks("moe");

uint64_t fitting(Wide value) {
  if (value > static_cast<Wide>(std::numeric_limits<int64_t>::max()))
    kChecks.refuse(
        "the model is too large: an operation's FLOP or bytes do not fit 63 bits. Lower hidden, ffn or "
        "tokens.");
  return static_cast<uint64_t>(value);
}

/// Everything that follows from the parameters.
struct Shape {
  explicit Shape(const MoeConfig& c)
      : config(c),
        ranks(c.expert_parallel * c.slices),
        ffn(c.ffn != 0 ? c.ffn : 4 * c.hidden),
        moe_layers(c.layers / c.moe_every),
        expert_layer(fitting(Wide{2} * c.hidden * ffn * (c.experts / c.expert_parallel) / c.slices)),
        attention(fitting(Wide{4} * c.hidden * c.hidden)),
        dense_ffn(fitting(Wide{2} * c.hidden * ffn)),
        routed(static_cast<uint64_t>(std::ceil(static_cast<double>(c.tokens) * c.top_k * c.capacity))),
        activation(fitting(Wide{c.tokens} * c.hidden * c.dtype_bytes)),
        exchanged(fitting(Wide{routed} * c.hidden * c.dtype_bytes)) {}

  /// Blocks are numbered from 0; every moe_every-th has experts.
  bool is_moe(uint32_t layer) const { return (layer + 1) % config.moe_every == 0; }
  uint64_t dense_layer(uint32_t layer) const { return attention + (is_moe(layer) ? 0 : dense_ffn); }
  uint64_t bytes(uint64_t parameters) const { return fitting(Wide{parameters} * config.dtype_bytes); }
  uint64_t flop(Wide parameters, uint64_t of_tokens) const { return fitting(2 * parameters * of_tokens); }

  const MoeConfig& config;
  uint32_t ranks;
  uint64_t ffn;
  uint32_t moe_layers;
  uint64_t expert_layer;  ///< parameters of a rank's experts in one block
  uint64_t attention;     ///< parameters of a block
  uint64_t dense_ffn;     ///< parameters of a block without experts
  uint64_t routed;        ///< tokens that a rank sends to experts, and gets
  uint64_t activation;    ///< bytes of a rank's tokens
  uint64_t exchanged;     ///< bytes of an all-to-all
};

/// The program of one rank.
class RankProgram : private RankTraceWriter {
 public:
  RankProgram(const Shape& shape, uint32_t rank, TraceFile& file)
      : RankTraceWriter(file),
        shape_(shape),
        experts_(std::to_string(1 + rank % shape.config.slices)),
        dense_(std::to_string(1 + shape.config.slices + rank % shape.config.dense_shards)) {}

  void write() {
    const uint32_t layers = shape_.config.layers;
    NodeId x = kNone;
    for (uint32_t layer = 0; layer < layers; ++layer) x = forward(layer, x);
    for (uint32_t layer = layers; layer-- > 0;) x = backward(layer, x);
    optimizer(x);
  }
  using RankTraceWriter::nodes;

 private:
  /// The weights of a rank's experts in a block, for the next use. The load waits for the end of the use
  /// `prefetch` before it.
  NodeId load(const char* name, uint64_t bytes) {
    const size_t ahead = shape_.config.prefetch;
    const NodeId after = uses_.size() >= ahead ? uses_[uses_.size() - ahead] : kNone;
    return memory(name, false, shape_.config.location, bytes, {}, after);
  }

  NodeId exchange(const char* name, NodeId after) {
    if (shape_.config.expert_parallel == 1) return after;
    return collective(name, pb::ALL_TO_ALL, experts_, shape_.exchanged, Deps{after});
  }

  /// `work`: of a forward pass.
  NodeId expert(const char* name, uint64_t work, NodeId x, NodeId weights) {
    // A slice sees the tokens of all slices of its expert, and has 1 / slices of the weights.
    const uint64_t ops = fitting(Wide{work} * 4 * shape_.routed * shape_.config.hidden * shape_.ffn);
    const uint64_t bytes =
        fitting(Wide{work} * (shape_.bytes(shape_.expert_layer) + 2 * Wide{shape_.exchanged}));
    return compute(name, "GEMM", ops, bytes, Deps{x, weights});
  }

  NodeId dense(const char* name, uint64_t work, uint64_t parameters, NodeId x) {
    return compute(name, "GEMM", fitting(Wide{work} * shape_.flop(parameters, shape_.config.tokens)),
                   fitting(Wide{work} * (Wide{shape_.bytes(parameters)} + 2 * Wide{shape_.activation})),
                   Deps{x});
  }

  /// Attention, and the FFN of a block without experts.
  NodeId attention(const char* name, uint64_t work, uint32_t layer, NodeId x) {
    return dense(name, work, shape_.dense_layer(layer), x);
  }

  NodeId experts_forward(NodeId x, NodeId weights) {
    const NodeId there = exchange("dispatch.all_to_all", x);
    const NodeId done = expert("experts", 1, there, weights);
    return exchange("combine.all_to_all", done);
  }

  NodeId forward(uint32_t layer, NodeId x) {
    prefix(fmt::format("forward.layer{}.", layer));
    const bool moe = shape_.is_moe(layer);
    const NodeId weights = moe ? load("experts.load", shape_.bytes(shape_.expert_layer)) : kNone;
    x = attention(moe ? "attention" : "dense", 1, layer, x);
    if (!moe) return x;
    x = experts_forward(x, weights);
    uses_.push_back(stream());
    return x;
  }

  NodeId backward(uint32_t layer, NodeId dy) {
    prefix(fmt::format("backward.layer{}.", layer));
    if (shape_.is_moe(layer)) {
      const uint64_t bytes = shape_.bytes(shape_.expert_layer);
      const NodeId weights = load("experts.load", bytes);
      if (shape_.config.recompute) {
        prefix(fmt::format("backward.layer{}.recompute.", layer));
        dy = experts_forward(dy, weights);
        prefix(fmt::format("backward.layer{}.", layer));
      }
      const NodeId there = exchange("dispatch.all_to_all", dy);
      const NodeId done = expert("experts.gradient", 2, there, weights);
      uses_.push_back(done);
      stores_.push_back(memory("experts.store", true, shape_.config.location, bytes, {done}));
      dy = exchange("combine.all_to_all", done);
    }
    const uint64_t parameters = shape_.dense_layer(layer);
    dy = attention(shape_.is_moe(layer) ? "attention.gradient" : "dense.gradient",
                   shape_.config.recompute ? 3 : 2, layer, dy);
    const uint64_t shard = shape_.bytes(parameters) / shape_.config.dense_shards;
    if (shape_.ranks > shape_.config.dense_shards && shard != 0)
      reduced_.push_back(collective("gradients.all_reduce", pb::ALL_REDUCE, dense_, shard, Deps{dy}));
    return dy;
  }

  void optimizer(NodeId last) {
    prefix("optimizer.");
    const uint64_t dense_parameters =
        fitting((Wide{shape_.config.layers} * shape_.attention +
                 Wide{shape_.config.layers - shape_.moe_layers} * shape_.dense_ffn) /
                shape_.config.dense_shards);
    reduced_.push_back(last);
    compute("dense", "OPTIMIZER", fitting(Wide{kOptimizerOps} * dense_parameters),
            fitting(Wide{shape_.config.optimizer_bytes} * 2 * dense_parameters), reduced_);
    const uint64_t bytes = fitting(Wide{shape_.config.optimizer_bytes} * shape_.expert_layer);
    // In the order in which the gradients were stored.
    size_t store = 0;
    for (uint32_t layer = shape_.config.layers; layer-- > 0;) {
      if (!shape_.is_moe(layer)) continue;
      prefix(fmt::format("optimizer.layer{}.", layer));
      const size_t ahead = shape_.config.prefetch;
      const NodeId state =
          memory("experts.load", false, shape_.config.location, bytes, {stores_[store++], last},
                 updates_.size() >= ahead ? updates_[updates_.size() - ahead] : kNone);
      const NodeId step =
          compute("experts.step", "OPTIMIZER", fitting(Wide{kOptimizerOps} * shape_.expert_layer),
                  fitting(Wide{2} * bytes), Deps{state});
      updates_.push_back(step);
      memory("experts.store", true, shape_.config.location, bytes, {step});
    }
  }

  const Shape& shape_;
  const std::string experts_, dense_;  // groups
  std::vector<NodeId> uses_;           ///< of loaded experts, in order
  std::vector<NodeId> stores_;         ///< of gradients, in order
  std::vector<NodeId> updates_;
  std::vector<NodeId> reduced_;
};

std::string groups_text(const Shape& shape) {
  std::string text = "{";
  const auto add = [&](uint32_t name, uint32_t first, uint32_t step) {
    text += fmt::format("{}\n  \"{}\": [", text.size() > 1 ? "," : "", name);
    for (uint32_t r = first; r < shape.ranks; r += step)
      text += fmt::format("{}{}", r == first ? "" : ", ", r);
    text += "]";
  };
  for (uint32_t s = 0; s < shape.config.slices; ++s) add(1 + s, s, shape.config.slices);
  for (uint32_t d = 0; d < shape.config.dense_shards && d < shape.ranks; ++d)
    add(1 + shape.config.slices + d, d, shape.config.dense_shards);
  return text + "\n}\n";
}

MoeSummary summary_of(const Shape& shape) {
  const MoeConfig& c = shape.config;
  MoeSummary summary;
  summary.ranks = shape.ranks;
  summary.groups = uint64_t{c.slices} + std::min(c.dense_shards, shape.ranks);
  summary.expert_parameters = fitting(Wide{shape.expert_layer} * shape.moe_layers);
  summary.dense_parameters =
      fitting(Wide{c.layers} * shape.attention + Wide{c.layers - shape.moe_layers} * shape.dense_ffn);
  summary.parameters = fitting(Wide{summary.expert_parameters} * shape.ranks + summary.dense_parameters);
  summary.expert_load_bytes = shape.bytes(shape.expert_layer);
  const Wide state = Wide{c.optimizer_bytes} * summary.expert_parameters;
  summary.loaded_bytes = fitting(2 * Wide{shape.moe_layers} * summary.expert_load_bytes + state);
  summary.stored_bytes = fitting(Wide{shape.moe_layers} * summary.expert_load_bytes + state);
  summary.all_to_all_bytes = shape.exchanged;
  summary.all_to_alls = c.expert_parallel == 1 ? 0 : uint64_t{shape.moe_layers} * (c.recompute ? 6 : 4);
  return summary;
}

}  // namespace

void validate(const MoeConfig& c) {
  kChecks.range("ep", c.expert_parallel, 1, kMaxRanks);
  kChecks.range("slices", c.slices, 1, kMaxRanks);
  kChecks.range("ep x slices (ranks)", uint64_t{c.expert_parallel} * c.slices, 1, kMaxRanks);
  kChecks.range("layers", c.layers, 1, kMaxLayers);
  kChecks.experts_somewhere("moe-every", c.moe_every, c.layers);
  kChecks.range("experts", c.experts, 1, kMaxRanks);
  kChecks.multiple("experts", c.experts, "ep", c.expert_parallel);
  kChecks.range("hidden", c.hidden, 1, uint64_t{1} << 30);
  kChecks.range("ffn", c.ffn, 0, uint64_t{1} << 32);
  kChecks.multiple("the FFN's width", c.ffn != 0 ? c.ffn : 4 * c.hidden, "slices", c.slices);
  kChecks.range("top-k", c.top_k, 1, c.experts);
  if (!(c.capacity > 0 && c.capacity <= 1000))
    kChecks.refuse(fmt::format("capacity is {}; it must be above 0 and at most 1000", c.capacity));
  kChecks.range("tokens", c.tokens, 1, uint64_t{1} << 40);
  kChecks.range("dtype-bytes", c.dtype_bytes, 1, 8);
  kChecks.range("prefetch", c.prefetch, 1, kMaxLayers);
  kChecks.range("optimizer-bytes", c.optimizer_bytes, 1, 64);
  kChecks.range("dense-shards", c.dense_shards, 1, kMaxRanks);
  const uint64_t ranks = uint64_t{c.expert_parallel} * c.slices;
  if (ranks > c.dense_shards) kChecks.multiple("ep x slices (ranks)", ranks, "dense-shards", c.dense_shards);
}

MoeSummary describe_moe(const MoeConfig& config) {
  validate(config);
  return summary_of(Shape(config));
}

MoeSummary generate_moe(const MoeConfig& config, const std::string& out, const std::string& name) {
  validate(config);
  const Shape shape(config);
  MoeSummary summary = summary_of(shape);
  summary.prefix = trace_prefix("moe", out, name, shape.ranks);
  summary.groups_file = summary.prefix + ".groups.json";
  FileSet files;  // they appear together
  for (uint32_t r = 0; r < shape.ranks; ++r) {
    TraceFile file(files.add(fmt::format("{}.{}.et", summary.prefix, r)));
    RankProgram program(shape, r, file);
    program.write();
    summary.nodes += program.nodes();
    summary.bytes += file.bytes();
    file.close();
  }
  OutputFile groups(files.add(summary.groups_file));
  groups.write(groups_text(shape));
  groups.close();
  files.finish();
  return summary;
}

}  // namespace weft::generate
