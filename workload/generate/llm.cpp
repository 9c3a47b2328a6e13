// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/generate/llm.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "configs/file_set.h"
#include "configs/types.h"
#include "workload/generate/llm_program.h"
#include "workload/generate/llm_shape.h"
#include "workload/generate/parameter_checks.h"
#include "workload/generate/trace_file.h"

namespace weft::generate {
namespace {

constexpr uint64_t kMaxRanks = 1u << 20;
constexpr uint64_t kMaxNodesPerRank = 50'000'000;

const ParameterChecks kChecks("llm");

uint64_t nodes_per_rank(const LlmConfig& c) {
  // 34 nodes a layer and microbatch with everything on, and less than twice that for the ends.
  uint64_t layer = c.recompute == LlmConfig::Recompute::none ? 34 : 50;
  if (c.cp > 1 && c.context_exchange == LlmConfig::ContextExchange::ring) layer += 11 * uint64_t{c.cp};
  if (c.experts > 0) layer += 16;
  if (c.ulysses > 1) layer += 12;
  return product({uint64_t{c.layers / c.pp} + 2 * c.virtual_stages, c.microbatches, layer, c.steps});
}

std::string groups_text(const LlmShape& shape) {
  std::string text = "{";
  for (uint8_t k = 0; k < kKinds; ++k) {
    const GroupKind& kind = shape.kinds[k];
    for (uint64_t name = kind.first; name < kind.first + kind.groups; ++name)
      text += fmt::format("{}\n  \"{}\": [{}]", text.size() > 1 ? "," : "", name,
                          fmt::join(shape.group_members(static_cast<Kind>(k), name), ", "));
  }
  return text + "\n}\n";
}

void validate_experts(const LlmConfig& c) {
  if (c.experts == 0) {
    if (c.ep > 1)
      usage(fmt::format(
          "ep is {}, but the model has no experts; give experts, a multiple of ep, or leave ep out", c.ep));
    if (c.top_k != 1 || c.capacity != 1 || c.moe_every != 1)
      usage("top_k, capacity and moe_every are of layers with experts; give experts, or leave them out");
    return;
  }
  kChecks.range("experts", c.experts, 1, 1'000'000);
  kChecks.range("top_k", c.top_k, 1, c.experts);
  kChecks.experts_somewhere("moe_every", c.moe_every, c.layers);
  kChecks.multiple("dp", c.dp, "ep", c.ep);
  kChecks.multiple("experts", c.experts, "ep", c.ep);
  if (!(c.capacity > 0) || c.capacity > 1e6)
    usage(
        fmt::format("capacity is {}; it must be above 0 and at most 1,000,000 (1: an expert takes the mean)",
                    c.capacity));
}

/// What the replicas share, and when.
void validate_replicas(const LlmConfig& c) {
  kChecks.range("zero", c.zero, 0, 3);
  if (c.shard_group != 0) {
    kChecks.range("shard_group", c.shard_group, 2, kMaxRanks);
    if (c.zero == 0)
      usage("shard_group needs something that is sharded; give zero 1, 2 or 3, or leave it out");
    kChecks.multiple("dp", c.dp, "shard_group", c.shard_group);
    if (c.ep > 1)
      usage("shard_group and ep both cut the data parallel ranks into groups; leave one of them out");
  }
  kChecks.range("fsdp_unit", c.fsdp_unit, 1, c.layers);
  if (c.zero != 3 && (c.fsdp_unit > 1 || c.keep_weights))
    usage(fmt::format("{} is about weights that are gathered before each use; give zero 3, or leave it out",
                      c.keep_weights ? "keep_weights" : "fsdp_unit"));
  if (c.async && !c.overlap)
    usage(
        "async lets compute run ahead of its gradients, and no_overlap makes it wait; leave one of them out");
  if (c.async && c.steps == 1)
    usage("async lets a step's update wait for the gradients of the step before; give steps 2 or more");
}

}  // namespace

void validate(const LlmConfig& c) {
  kChecks.range("tp", c.tp, 1, kMaxRanks);
  kChecks.range("dp", c.dp, 1, kMaxRanks);
  kChecks.range("pp", c.pp, 1, kMaxRanks);
  kChecks.range("cp", c.cp, 1, kMaxRanks);
  kChecks.range("ulysses", c.ulysses, 1, kMaxRanks);
  kChecks.range("ep", c.ep, 1, kMaxRanks);
  const uint64_t ranks = product({product({c.tp, c.dp, c.pp}), c.cp, c.ulysses});
  if (ranks > kMaxRanks)
    usage(
        fmt::format("tp x dp x pp is {} x {} x {}{} = {} ranks, each with a file of its own; at most {} are "
                    "written",
                    c.tp, c.dp, c.pp,
                    c.cp * uint64_t{c.ulysses} > 1 ? fmt::format(", x cp x ulysses {} x {}", c.cp, c.ulysses)
                                                   : std::string(),
                    ranks, kMaxRanks));
  kChecks.range("layers", c.layers, 1, 1'000'000);
  kChecks.range("hidden", c.hidden, 1, uint64_t{1} << 30);
  kChecks.range("ffn", c.ffn, 0, uint64_t{1} << 32);
  kChecks.range("heads", c.heads, 0, c.hidden);
  kChecks.range("seq", c.seq, 1, uint64_t{1} << 40);
  kChecks.range("batch", c.batch, 1, uint64_t{1} << 40);
  kChecks.range("microbatches", c.microbatches, 1, 1'000'000);
  kChecks.range("vocab", c.vocab, 1, uint64_t{1} << 40);
  kChecks.range("dtype_bytes", c.dtype_bytes, 1, 8);
  kChecks.range("gradient_bytes", c.gradient_bytes, 0, 8);
  kChecks.range("steps", c.steps, 1, 100'000);
  kChecks.range("virtual_stages", c.virtual_stages, 1, c.layers);
  if (c.virtual_stages > 1) {
    if (c.pp == 1) usage("virtual_stages is above 1, but there is one stage; raise pp, or leave it out");
    kChecks.multiple("layers", c.layers, "pp x virtual_stages", product({c.pp, c.virtual_stages}));
    kChecks.multiple("microbatches", c.microbatches, "pp, as virtual_stages needs,", c.pp);
  }
  kChecks.multiple("layers", c.layers, "pp", c.pp);
  kChecks.multiple("hidden", c.hidden, "tp", c.tp);
  if (c.ffn != 0) kChecks.multiple("ffn", c.ffn, "tp", c.tp);
  const uint64_t cut = product({c.tp, c.ulysses});
  const char* const cut_name = c.ulysses > 1 ? "tp x ulysses" : "tp";
  if (c.heads != 0) {
    kChecks.multiple("heads", c.heads, cut_name, cut);
    kChecks.multiple("hidden", c.hidden, "heads", c.heads);
  } else {
    kChecks.multiple("hidden", c.hidden, cut_name, cut);
  }
  const uint64_t sequence_cut = product({c.cp, c.ulysses});
  kChecks.multiple("seq", c.seq, "cp x ulysses", sequence_cut);
  kChecks.multiple("vocab", c.vocab, "tp", c.tp);
  kChecks.multiple("batch", c.batch, "dp x microbatches", product({c.dp, c.microbatches}));
  if (c.sequence_parallel)
    kChecks.multiple(sequence_cut > 1
                         ? "the tokens of a rank in a microbatch (batch / (dp x microbatches) x seq / (cp x "
                           "ulysses))"
                         : "the number of tokens in a microbatch (batch / (dp x microbatches) x seq)",
                     product({c.batch / (uint64_t{c.dp} * c.microbatches), c.seq / sequence_cut}),
                     "tp, as sequence_parallel needs,", c.tp);
  validate_experts(c);
  validate_replicas(c);
  if (nodes_per_rank(c) > kMaxNodesPerRank)
    usage(fmt::format(
        "layers / pp x microbatches gives about {} nodes a rank; at most {} are written. Raise pp or lower "
        "microbatches.",
        nodes_per_rank(c), kMaxNodesPerRank));
  if (product({2, uint64_t{c.pp} * c.virtual_stages + 1, c.microbatches, c.steps}) >
      std::numeric_limits<int32_t>::max())
    usage(
        "pp x microbatches x steps needs more message tags than Chakra's comm_tag (int32) has; lower "
        "microbatches or steps");
  parse_order(c.order);
}

namespace {

/// The traces of all ranks.
void write_ranks(const LlmConfig& config, const LlmShape& shape, FileSet& files, LlmSummary& summary,
                 Wide& flop) {
  for (uint32_t i = 0; i < shape.ranks(); ++i) {
    Place place{};
    uint32_t rest = i;  // tensor parallel coordinates first, stages last
    for (size_t axis = 0; axis < kAxes; ++axis) {
      place[axis] = rest % shape.sizes[axis];
      rest /= shape.sizes[axis];
    }
    TraceFile file(files.add(fmt::format("{}.{}.et", summary.prefix, shape.rank(place))));
    const auto slow = config.slow.find(shape.rank(place));
    const ProgramSize program =
        write_program(shape, place, file, slow == config.slow.end() ? trace::kFullSpeed : slow->second);
    summary.bytes += file.bytes();
    file.close();
    summary.nodes += program.nodes;
    flop += program.flop;
  }
}

/// One program a stage. All ranks' nodes count.
void write_stages(const LlmShape& shape, FileSet& files, LlmSummary& summary, Wide& flop) {
  const uint64_t ranks = shape.ranks() / shape.pp;
  for (uint32_t p = 0; p < shape.pp; ++p) {
    TraceFile file(files.add(fmt::format("{}.stage{}.et", summary.prefix, p)));
    const ProgramSize program = write_stage_program(shape, p, file);
    summary.bytes += file.bytes();
    file.close();
    summary.nodes += program.nodes * ranks;
    flop += program.flop * ranks;
  }
}

std::string manifest_text(const LlmConfig& config, const LlmShape& shape, const std::string& name) {
  // Coordinates that are always 0 are left out, but for tp, dp and pp.
  std::vector<Axis> shown;
  for (uint8_t a = 0; a < kAxes; ++a)
    if (shape.sizes[a] > 1 || a == kTp || a == kDp || a == kPp) shown.push_back(static_cast<Axis>(a));
  std::vector<std::string> axes, groups, classes;
  for (const Axis axis : shown)
    axes.push_back(fmt::format("\n    {{\"name\": \"{}\", \"size\": {}, \"stride\": {}}}",
                               shape.axis_name(axis), shape.sizes[axis], shape.strides[axis]));
  for (const GroupKind& kind : shape.kinds) {
    if (kind.members == 1) continue;
    std::vector<std::string> own, counted;
    for (const Axis axis : shown)
      (std::count(kind.axes.begin(), kind.axes.end(), axis) != 0 ? own : counted)
          .push_back(fmt::format("\"{}\"", shape.axis_name(axis)));
    groups.push_back(fmt::format("\n    \"{}\": {{\"axes\": [{}], \"counted\": [{}], \"first\": {}}}",
                                 kind.name, fmt::join(own, ", "), fmt::join(counted, ", "), kind.first));
  }
  for (uint32_t p = 0; p < shape.pp; ++p)
    classes.push_back(
        fmt::format("\n    {{\"program\": \"{}.stage{}.et\", \"at\": {{\"pp\": {}}}}}", name, p, p));
  std::string slow;
  for (const auto& [rank, slowness] : config.slow)
    slow += fmt::format("{}\n    {{\"rank\": {}, \"compute\": {}}}", slow.empty() ? "" : ",", rank,
                        static_cast<double>(slowness) / static_cast<double>(trace::kFullSpeed));
  if (!slow.empty()) slow = ",\n  \"slow\": [" + slow + "\n  ]";
  return fmt::format(
      "{{\n  \"weft_classes\": 1,\n  \"ranks\": {},\n  \"axes\": [{}\n  ],\n  \"groups\": {{{}\n  }},\n"
      "  \"classes\": [{}\n  ]{}\n}}\n",
      shape.ranks(), fmt::join(axes, ","), fmt::join(groups, ","), fmt::join(classes, ","), slow);
}

/// Files of the other form would be taken for this job's.
void refuse_other_form(const LlmConfig& config, const std::string& prefix) {
  const std::string other = config.classes ? prefix + ".0.et" : prefix + ".classes.json";
  std::error_code error;
  if (std::filesystem::exists(other, error))
    usage(fmt::format("{} is there already, {}; remove the older files, or choose another --out or --name",
                      other,
                      config.classes ? "a trace of one rank, and --classes writes a manifest"
                                     : "a manifest of classes, and this writes a trace a rank"));
}

}  // namespace

LlmSummary generate_llm(const LlmConfig& config, const std::string& out, const std::string& name) {
  validate(config);
  const LlmShape shape(config);
  for (const auto& [rank, slowness] : config.slow)
    if (rank >= shape.ranks())
      usage(fmt::format("slow: rank {} is none of the job's {}; ranks begin at 0", rank, shape.ranks()));

  LlmSummary summary;
  summary.ranks = shape.ranks();
  for (const GroupKind& kind : shape.kinds) summary.groups += kind.groups;
  summary.parameters = shape.model_parameters();
  summary.prefix = trace_prefix("llm", out, name, shape.ranks());
  summary.groups_file = summary.prefix + (config.classes ? ".classes.json" : ".groups.json");
  refuse_other_form(config, summary.prefix);

  Wide flop = 0;
  FileSet files;  // they appear together
  if (config.classes)
    write_stages(shape, files, summary, flop);
  else
    write_ranks(config, shape, files, summary, flop);
  summary.flop = flop > kMaxValue ? kMaxValue : static_cast<uint64_t>(flop);

  OutputFile groups(files.add(summary.groups_file));
  groups.write(config.classes ? manifest_text(config, shape, name) : groups_text(shape));
  groups.close();
  files.finish();
  return summary;
}

}  // namespace weft::generate
