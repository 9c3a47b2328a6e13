// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/generate/llm.h"

#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <string>

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
  // 33 nodes a layer and microbatch with everything on, and less than twice that for the ends.
  const uint64_t again = c.recompute == LlmConfig::Recompute::none ? 0 : 16;
  return product({uint64_t{c.layers / c.pp} + 2 * c.virtual_stages, c.microbatches, 34 + again, c.steps});
}

std::string groups_text(const LlmShape& shape) {
  std::string text = "{";
  const auto add = [&](uint64_t name, const auto& rank_of, uint32_t size) {
    text += fmt::format("{}\n  \"{}\": [", text.size() > 1 ? "," : "", name);
    for (uint32_t i = 0; i < size; ++i) text += fmt::format("{}{}", i > 0 ? ", " : "", rank_of(i));
    text += "]";
  };
  if (shape.tp > 1)
    for (uint32_t p = 0; p < shape.pp; ++p)
      for (uint32_t d = 0; d < shape.dp; ++d)
        add(
            shape.tp_group(d, p), [&](uint32_t t) { return shape.rank(t, d, p); }, shape.tp);
  if (shape.dp > 1)
    for (uint32_t p = 0; p < shape.pp; ++p)
      for (uint32_t t = 0; t < shape.tp; ++t)
        add(
            shape.dp_group(t, p), [&](uint32_t d) { return shape.rank(t, d, p); }, shape.dp);
  return text + "\n}\n";
}

}  // namespace

void validate(const LlmConfig& c) {
  kChecks.range("tp", c.tp, 1, kMaxRanks);
  kChecks.range("dp", c.dp, 1, kMaxRanks);
  kChecks.range("pp", c.pp, 1, kMaxRanks);
  const uint64_t ranks = product({c.tp, c.dp, c.pp});
  if (ranks > kMaxRanks)
    usage(fmt::format(
        "tp x dp x pp is {} x {} x {} = {} ranks, each with a file of its own; at most {} are written", c.tp,
        c.dp, c.pp, ranks, kMaxRanks));
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
  kChecks.range("zero", c.zero, 0, 3);
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
  if (c.heads != 0) {
    kChecks.multiple("heads", c.heads, "tp", c.tp);
    kChecks.multiple("hidden", c.hidden, "heads", c.heads);
  }
  kChecks.multiple("vocab", c.vocab, "tp", c.tp);
  kChecks.multiple("batch", c.batch, "dp x microbatches", product({c.dp, c.microbatches}));
  if (c.sequence_parallel)
    kChecks.multiple("the number of tokens in a microbatch (batch / (dp x microbatches) x seq)",
                     product({c.batch / (uint64_t{c.dp} * c.microbatches), c.seq}),
                     "tp, as sequence_parallel needs,", c.tp);
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
void write_ranks(const LlmShape& shape, FileSet& files, LlmSummary& summary, Wide& flop) {
  for (uint32_t p = 0; p < shape.pp; ++p) {
    for (uint32_t d = 0; d < shape.dp; ++d) {
      for (uint32_t t = 0; t < shape.tp; ++t) {
        TraceFile file(files.add(fmt::format("{}.{}.et", summary.prefix, shape.rank(t, d, p))));
        const ProgramSize program = write_program(shape, t, d, p, file);
        summary.bytes += file.bytes();
        file.close();
        summary.nodes += program.nodes;
        flop += program.flop;
      }
    }
  }
}

/// One program a stage. All ranks' nodes count.
void write_stages(const LlmShape& shape, FileSet& files, LlmSummary& summary, Wide& flop) {
  const uint64_t ranks = uint64_t{shape.tp} * shape.dp;
  for (uint32_t p = 0; p < shape.pp; ++p) {
    TraceFile file(files.add(fmt::format("{}.stage{}.et", summary.prefix, p)));
    const ProgramSize program = write_stage_program(shape, p, file);
    summary.bytes += file.bytes();
    file.close();
    summary.nodes += program.nodes * ranks;
    flop += program.flop * ranks;
  }
}

std::string manifest_text(const LlmShape& shape, const std::string& name) {
  const char* const names[] = {"tp", "dp", "pp"};
  const uint32_t sizes[] = {shape.tp, shape.dp, shape.pp};
  std::string axes;
  for (const Axis axis : {kTp, kDp, kPp})
    axes += fmt::format("{}\n    {{\"name\": \"{}\", \"size\": {}, \"stride\": {}}}", axis == kTp ? "" : ",",
                        names[axis], sizes[axis], shape.strides[axis]);
  std::string groups;
  if (shape.tp > 1)
    groups +=
        fmt::format("\n    \"tp\": {{\"axes\": [\"tp\"], \"counted\": [\"dp\", \"pp\"], \"first\": {}}}",
                    shape.tp_group(0, 0));
  if (shape.dp > 1)
    groups +=
        fmt::format("{}\n    \"dp\": {{\"axes\": [\"dp\"], \"counted\": [\"tp\", \"pp\"], \"first\": {}}}",
                    groups.empty() ? "" : ",", shape.dp_group(0, 0));
  std::string classes;
  for (uint32_t p = 0; p < shape.pp; ++p)
    classes += fmt::format("{}\n    {{\"program\": \"{}.stage{}.et\", \"at\": {{\"pp\": {}}}}}",
                           p == 0 ? "" : ",", name, p, p);
  return fmt::format(
      "{{\n  \"weft_classes\": 1,\n  \"ranks\": {},\n  \"axes\": [{}\n  ],\n  \"groups\": {{{}\n  }},\n"
      "  \"classes\": [{}\n  ]\n}}\n",
      shape.ranks(), axes, groups, classes);
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

  LlmSummary summary;
  summary.ranks = shape.ranks();
  summary.groups = shape.tp_groups() + shape.dp_groups();
  summary.parameters =
      sum({product({config.layers, shape.layer_parameters}), product({2, shape.vocab_parameters})});
  summary.prefix = trace_prefix("llm", out, name, shape.ranks());
  summary.groups_file = summary.prefix + (config.classes ? ".classes.json" : ".groups.json");
  refuse_other_form(config, summary.prefix);

  Wide flop = 0;
  FileSet files;  // they appear together
  if (config.classes)
    write_stages(shape, files, summary, flop);
  else
    write_ranks(shape, files, summary, flop);
  summary.flop = flop > kMaxValue ? kMaxValue : static_cast<uint64_t>(flop);

  OutputFile groups(files.add(summary.groups_file));
  groups.write(config.classes ? manifest_text(shape, name) : groups_text(shape));
  groups.close();
  files.finish();
  return summary;
}

}  // namespace weft::generate
