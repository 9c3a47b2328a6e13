// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/command_generate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "configs/notation.h"
#include "configs/units.h"
#include "sc_main/console.h"
#include "sc_main/decimal.h"
#include "sc_main/generate_models.h"
#include "sc_main/generate_moe.h"
#include "sc_main/text_options.h"
#include "workload/generate/collective.h"
#include "workload/generate/llm.h"
#include "workload/trace/slowdown.h"

namespace weft::cli {
namespace {

struct LlmOptions {
  generate::LlmConfig config;
  std::string out;
  std::string name = "llm";
  std::string preset, bucket = "layer", recompute = "none", context_exchange = "ring", fsdp_unit = "layer";
  bool no_overlap = false, describe = false;
  std::vector<std::string> slow;  ///< "RANK=FACTOR"
  std::set<std::string> given;    ///< of the options that a preset has values for
};

void print_figures(const generate::LlmConfig& config) {
  const generate::LlmFigures f = generate::describe_llm(config);
  print(fmt::format("model    {} parameters, {} of a rank\n", grouped(f.parameters),
                    grouped(f.rank_parameters)));
  print(fmt::format("compute  {:.4g} FLOP a step of the model, {:.4g} with what is computed again\n",
                    f.model_flop, f.hardware_flop));
  print(fmt::format(
      "memory   a rank keeps {:.4g} B of activations a layer and microbatch, and {:.4g} B of weights, "
      "gradients and optimizer state\n",
      f.activation_bytes, f.state_bytes));
  print(fmt::format(
      "network  a rank and step: tensor parallel {} B, between stages {} B, data parallel {} B\n",
      grouped(f.tensor_parallel_bytes), grouped(f.pipeline_bytes), grouped(f.data_parallel_bytes)));
  std::string more;
  const auto part = [&](bool there, const char* what, uint64_t bytes) {
    if (there) more += fmt::format("{}{} {} B", more.empty() ? "" : ", ", what, grouped(bytes));
  };
  part(config.cp > 1, "context parallel", f.context_parallel_bytes);
  part(config.ulysses > 1, "Ulysses", f.ulysses_bytes);
  part(config.ep > 1, "expert parallel", f.expert_parallel_bytes);
  if (!more.empty()) print(fmt::format("         {}\n", more));
  if (config.pp > 1) print(fmt::format("bubble   {:.4g} of a step without communication\n", f.bubble));
}

/// The preset's sizes where the command line gives none.
void take_preset(generate::LlmConfig& c, const LlmOptions& options) {
  generate::LlmConfig published = c;
  generate::apply_preset(published, options.preset);
  const auto given = [&](const char* name) { return options.given.count(name) != 0; };
  if (!given("--layers")) c.layers = published.layers;
  if (!given("--hidden")) c.hidden = published.hidden;
  if (!given("--seq")) c.seq = published.seq;
  if (!given("--vocab")) c.vocab = published.vocab;
  // With more tensor parallel ranks than heads there are as many heads as ranks.
  const uint64_t cut = uint64_t{c.tp} * c.ulysses;
  if (!given("--heads") && !given("--hidden") && cut != 0 && published.heads % cut == 0)
    c.heads = published.heads;
}

/// "17=1.5": the rank and its slowness.
std::pair<uint32_t, uint64_t> slow_rank(const std::string& text) {
  const size_t middle = text.find('=');
  uint32_t rank = 0;
  double factor = 0;
  const char* const end = text.data() + text.size();
  if (middle != std::string::npos) {
    const char* const equals = text.data() + middle;
    const auto number = std::from_chars(text.data(), equals, rank);
    const auto real = std::from_chars(equals + 1, end, factor);
    if (number.ec == std::errc() && number.ptr == equals && real.ec == std::errc() && real.ptr == end)
      if (const auto slowness = trace::slowness_of(factor)) return {rank, *slowness};
  }
  throw UserError(ExitCode::usage,
                  fmt::format("--slow {}: a rank and the factor of its compute's time is wanted, {}, such as "
                              "--slow 17=1.5",
                              text, trace::kSlownessRange));
}

/// `layer`, a number of layers, or `stage`: all layers of a virtual stage.
uint32_t fsdp_unit(const LlmOptions& options, const generate::LlmConfig& c) {
  if (options.fsdp_unit == "layer") return 1;
  if (options.fsdp_unit == "stage") {
    const uint64_t stages = uint64_t{c.pp} * c.virtual_stages;
    return stages == 0 ? 1 : static_cast<uint32_t>(std::max<uint64_t>(1, c.layers / stages));
  }
  try {
    return static_cast<uint32_t>(std::min<uint64_t>(parse_integer(options.fsdp_unit), ~uint32_t{0}));
  } catch (const UserError& e) {
    throw UserError(ExitCode::usage, fmt::format("--fsdp-unit: {}, or `layer` or `stage`", e.what()));
  }
}

generate::LlmConfig resolved(const LlmOptions& options) {
  generate::LlmConfig c = options.config;
  if (!options.preset.empty()) take_preset(c, options);
  if (options.bucket == "layer") {
    c.bucket = 0;
  } else if (options.bucket == "all") {
    c.bucket = ~uint64_t{0};
  } else {
    try {
      c.bucket = parse_size(options.bucket);
    } catch (const UserError& e) {
      throw UserError(ExitCode::usage, fmt::format("--bucket: {}, or `layer` or `all`", e.what()));
    }
  }
  using Recompute = generate::LlmConfig::Recompute;
  c.recompute = options.recompute == "full"        ? Recompute::full
                : options.recompute == "selective" ? Recompute::selective
                                                   : Recompute::none;
  c.context_exchange = options.context_exchange == "all_gather"
                           ? generate::LlmConfig::ContextExchange::all_gather
                           : generate::LlmConfig::ContextExchange::ring;
  c.fsdp_unit = fsdp_unit(options, c);
  c.overlap = !options.no_overlap;
  for (const std::string& text : options.slow) {
    const auto [rank, slowness] = slow_rank(text);
    if (!c.slow.emplace(rank, slowness).second)
      throw UserError(ExitCode::usage, fmt::format("--slow {}: rank {} is given twice", text, rank));
  }
  return c;
}

ExitCode llm(LlmOptions options) {
  options.config = resolved(options);
  if (options.describe) {
    print_figures(options.config);
    return ExitCode::done;
  }
  if (options.out.empty())
    throw UserError(
        ExitCode::usage,
        "--out is missing: give the folder of the traces, or --describe to see the model only; see `weft "
        "generate llm --help`");
  if (options.name.empty() || options.name.find('/') != std::string::npos)
    throw UserError(
        ExitCode::usage,
        fmt::format("--name '{}': must be a file name without folders; name those with --out", options.name));
  const generate::LlmSummary made = generate::generate_llm(options.config, options.out, options.name);
  const bool classes = options.config.classes;
  if (classes)
    print(fmt::format("programs {}.stage[0-{}].et: {} ranks, {} nodes, {}\n", made.prefix,
                      options.config.pp - 1, grouped(made.ranks), grouped(made.nodes),
                      readable_size(made.bytes)));
  else
    print(fmt::format("traces   {}.[0-{}].et: {} ranks, {} nodes, {}\n", made.prefix, made.ranks - 1,
                      grouped(made.ranks), grouped(made.nodes), readable_size(made.bytes)));
  print(
      fmt::format("{} {}: {}\n", classes ? "classes " : "groups  ", made.groups_file, grouped(made.groups)));
  print(
      fmt::format("model    {} parameters, {} FLOP a step\n", grouped(made.parameters), grouped(made.flop)));
  print(fmt::format("to run   weft run CONFIG --trace {}{}   (a topology of {} NPUs)\n", made.prefix,
                    classes ? std::string() : " --groups " + made.groups_file, made.ranks));
  return ExitCode::done;
}

struct CollectiveOptions {
  std::string algorithm;
  std::string topology;
  std::string op = "all_reduce";
  std::string root;
  std::string out;
  std::string name;
};

/// The members of a notation, or a plain number of them.
uint32_t members_of(const std::string& text) {
  constexpr uint64_t kMost = 4096;  // each has a file, with as many nodes
  uint64_t members = 1;
  try {
    if (!text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      members = parse_integer(text);
    } else {
      for (const NotationDimension& d : parse_notation(text)) members *= d.size;
    }
  } catch (const UserError& e) {
    throw UserError(ExitCode::usage, fmt::format("MEMBERS: {}", e.what()));
  }
  if (members > kMost)
    throw UserError(ExitCode::usage,
                    fmt::format("MEMBERS '{}': {} members are more than the {} that programs are "
                                "written for; name the algorithm in the configuration instead",
                                text, members, kMost));
  return static_cast<uint32_t>(members);
}

ExitCode collective(const CollectiveOptions& options) {
  generate::CollectiveProgram program;
  program.algorithm = options.algorithm;
  program.op = parse_operation("--op", options.op);
  program.members = members_of(options.topology);
  program.root =
      static_cast<uint32_t>(std::min<uint64_t>(parse_root(options.root, program.op), ~uint32_t{0}));
  const std::string name =
      options.name.empty() ? fmt::format("{}_{}", options.algorithm, to_string(program.op)) : options.name;
  const auto made = generate::generate_collective(program, options.out, name);
  print(fmt::format("programs {}.[0-{}].et: {} members, {} nodes, {} of them sends\n", made.prefix,
                    program.members - 1, grouped(program.members), grouped(made.nodes), grouped(made.sends)));
  print(
      fmt::format("to use   weft collective ... --op {} --algorithm \"custom:{}\"   (or `collectives: {{{}: "
                  "custom:PREFIX}}`)\n",
                  to_string(program.op), made.prefix, to_string(program.op)));
  return ExitCode::done;
}

void add_collective(CLI::App& generate, Action& action) {
  auto options = std::make_shared<CollectiveOptions>();
  CLI::App* command = generate.add_subcommand(
      "collective", "A built-in collective algorithm as programs for `custom:PREFIX`, to start from");
  command->add_option("ALGORITHM", options->algorithm, "ring, direct, halving_doubling or double_binary_tree")
      ->required();
  command
      ->add_option(
          "MEMBERS", options->topology,
          "How many members, or the notation of a machine whose NPUs they all are: the programs run the "
          "algorithm on one flat line of them")
      ->required();
  TextOptions add(*command);
  add("--op", options->op, "OP",
      "all_reduce (default), all_gather, reduce_scatter, all_to_all, broadcast, reduce, gather, scatter or "
      "barrier");
  add("--root", options->root, "MEMBER",
      "Index of the root, of broadcast, reduce, gather and scatter (default: 0)");
  command->add_option("--out", options->out, "Folder of the programs; it is created")
      ->required()
      ->type_name("DIR");
  add("--name", options->name, "NAME", "Files are DIR/NAME.<member>.et (default: ALGORITHM_OP)");
  command->footer(
      "The format is described in docs/custom_collectives.md.\n\n"
      "Examples:\n"
      "  weft generate collective ring 8 --out programs\n"
      "  weft generate collective direct \"Ring(4)_Switch(2)\" --op all_gather --out programs --name mine\n"
      "  weft collective --topology \"Ring(4)_Switch(2)\" --bandwidth \"50 GB/s\" --op all_gather --size "
      "1MiB "
      "--algorithm custom:programs/mine --data fp32");
  command->callback([options, &action] { action = [options] { return collective(*options); }; });
}

}  // namespace

void add_generate_command(CLI::App& app, Action& action) {
  CLI::App* generate =
      app.add_subcommand("generate", "Generate workloads and collective programs as Chakra execution traces");
  generate->require_subcommand(1);
  generate->footer(
      "Examples:\n  weft generate llm --tp 2 --dp 2 --pp 2 --out trace\n  weft generate collective ring 8 "
      "--out "
      "programs");
  add_collective(*generate, action);
  add_generate_moe(*generate, action);
  add_generate_models(*generate, action);
  auto options = std::make_shared<LlmOptions>();
  generate::LlmConfig& c = options->config;
  CLI::App* command = generate->add_subcommand("llm",
                                               "Training steps of a transformer under tensor, data, "
                                               "pipeline, context, Ulysses and expert parallelism");
  const auto add = [command](const char* name, auto& value, const std::string& text) {
    return command->add_option(name, value, text)->capture_default_str();
  };
  add("--tp", c.tp, "Tensor parallel ranks");
  add("--dp", c.dp, "Data parallel replicas");
  add("--pp", c.pp, "Pipeline stages");
  add("--cp", c.cp, "Context parallel ranks: each has a part of every sequence");
  add("--cp-exchange", options->context_exchange,
      "How attention gets keys and values of the other context parallel ranks: ring or all_gather")
      ->check(CLI::IsMember({"ring", "all_gather"}));
  add("--ulysses", c.ulysses, "Ranks that share sequences by Ulysses' all-to-alls; --heads is a multiple");
  add("--experts", c.experts, "Experts in place of a layer's MLP; 0: none");
  add("--ep", c.ep, "Data parallel ranks that share out the experts; divides --dp and --experts");
  add("--top-k", c.top_k, "Experts a token");
  add("--capacity", c.capacity, "Tokens that an expert takes, over the mean");
  add("--moe-every", c.moe_every, "The last of so many layers has experts");
  add("--layers", c.layers, "Transformer blocks, a multiple of --pp");
  add("--hidden", c.hidden, "Width of the model");
  add("--ffn", c.ffn, "Width of the MLP; 0: 4 x hidden");
  add("--heads", c.heads, "Attention heads; 0: hidden / 128, or --tp where that does not divide");
  add("--seq", c.seq, "Tokens a sequence");
  add("--batch", c.batch, "Sequences a step of the whole job (global batch)");
  add("--microbatches", c.microbatches, "Microbatches a replica and step");
  add("--vocab", c.vocab, "Tokens of the vocabulary");
  add("--dtype-bytes", c.dtype_bytes, "Bytes of a weight or activation");
  add("--gradient-bytes", c.gradient_bytes, "Bytes of a gradient on the wire; 0: --dtype-bytes");
  command->add_flag(
      "--sequence-parallel", c.sequence_parallel,
      "Cut activations along the sequence: all-gather and reduce-scatter in place of all-reduce");
  add("--zero", c.zero, "ZeRO stage: 0, 1, 2 or 3");
  add("--shard-group", c.shard_group,
      "Data parallel ranks that share ZeRO's shards (hybrid shard); 0: all of them");
  add("--fsdp-unit", options->fsdp_unit,
      "Layers whose weights one collective gathers with --zero 3: `layer`, a number, or `stage`");
  command->add_flag("--keep-weights", c.keep_weights,
                    "With --zero 3: gathered weights stay until the backward pass");
  add("--preset", options->preset,
      fmt::format("Sizes of a published model, which other options replace: {}",
                  fmt::join(generate::llm_presets(), ", ")));
  add("--steps", c.steps, "Training steps; each is an iteration of the trace");
  add("--virtual-stages", c.virtual_stages, "Chunks of layers a stage (interleaved pipeline)");
  add("--recompute", options->recompute, "What the backward pass computes again: none, selective or full")
      ->check(CLI::IsMember({"none", "selective", "full"}));
  add("--bucket", options->bucket,
      "Gradients are reduced when SIZE bytes are there, at each `layer`, or `all` at once");
  command->add_flag("--no-overlap", options->no_overlap,
                    "Collectives wait for the compute before them, and compute waits for them");
  command->add_flag("--async", c.async,
                    "The update of a step waits for the gradients of the step before, not for its own");
  command->add_flag("--describe", options->describe, "Print the model's figures by formula; write nothing");
  add("--order", c.order, "Coordinates of a rank, fastest first");
  command->add_flag("--classes", c.classes,
                    "One program a stage and DIR/NAME.classes.json, in place of a trace a rank");
  command
      ->add_option("--slow", options->slow, "The compute of this rank takes FACTOR of its time; repeatable")
      ->type_name("RANK=FACTOR");
  command->add_option("--out", options->out, "Folder of the traces; it is created")->type_name("DIR");
  add("--name", options->name, "Files are DIR/NAME.<rank>.et and DIR/NAME.groups.json");
  command->footer(
      "Examples:\n"
      "  weft generate llm --tp 2 --dp 2 --pp 2 --layers 4 --hidden 1024 --seq 512 --batch 8 --microbatches "
      "4 --out trace\n"
      "  weft generate llm --tp 8 --dp 16 --layers 32 --hidden 4096 --batch 128 --zero 3 --sequence-parallel "
      "--out trace\n"
      "  weft generate llm --preset gpt3-13b --cp 4 --ep 8 --experts 64 --top-k 2 --dp 8 --batch 64 "
      "--describe");
  command->callback([options, command, &action] {
    for (const char* name : {"--layers", "--hidden", "--heads", "--seq", "--vocab"})
      if (command->count(name) != 0) options->given.insert(name);
    action = [options] { return llm(*options); };
  });
}

}  // namespace weft::cli
