// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/command_generate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <set>
#include <string>

#include "configs/notation.h"
#include "configs/units.h"
#include "sc_main/console.h"
#include "sc_main/decimal.h"
#include "sc_main/generate_models.h"
#include "sc_main/generate_moe.h"
#include "sc_main/text_options.h"
#include "workload/generate/collective.h"
#include "workload/generate/llm.h"

namespace weft::cli {
namespace {

struct LlmOptions {
  generate::LlmConfig config;
  std::string out;
  std::string name = "llm";
  std::string preset, bucket = "layer", recompute = "none";
  bool no_overlap = false, describe = false;
  std::set<std::string> given;  ///< of the options that a preset has values for
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
  if (!given("--heads") && !given("--hidden") && c.tp != 0 && published.heads % c.tp == 0)
    c.heads = published.heads;
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
  c.overlap = !options.no_overlap;
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
  std::string root = "0";
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
  try {
    program.root = static_cast<uint32_t>(std::min<uint64_t>(parse_integer(options.root), ~uint32_t{0}));
  } catch (const UserError& e) {
    throw UserError(ExitCode::usage, fmt::format("--root: {}", e.what()));
  }
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
  CLI::App* command = generate->add_subcommand(
      "llm", "One training step of a transformer under tensor, data and pipeline parallelism");
  const auto add = [command](const char* name, auto& value, const std::string& text) {
    return command->add_option(name, value, text)->capture_default_str();
  };
  add("--tp", c.tp, "Tensor parallel ranks");
  add("--dp", c.dp, "Data parallel replicas");
  add("--pp", c.pp, "Pipeline stages");
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
  command->add_flag("--describe", options->describe, "Print the model's figures by formula; write nothing");
  add("--order", c.order, "Coordinates of a rank, fastest first");
  command->add_flag("--classes", c.classes,
                    "One program a stage and DIR/NAME.classes.json, in place of a trace a rank");
  command->add_option("--out", options->out, "Folder of the traces; it is created")->type_name("DIR");
  add("--name", options->name, "Files are DIR/NAME.<rank>.et and DIR/NAME.groups.json");
  command->footer(
      "Examples:\n"
      "  weft generate llm --tp 2 --dp 2 --pp 2 --layers 4 --hidden 1024 --seq 512 --batch 8 --microbatches "
      "4 --out trace\n"
      "  weft generate llm --tp 8 --dp 16 --layers 32 --hidden 4096 --batch 128 --zero 3 --sequence-parallel "
      "--out trace");
  command->callback([options, command, &action] {
    for (const char* name : {"--layers", "--hidden", "--heads", "--seq", "--vocab"})
      if (command->count(name) != 0) options->given.insert(name);
    action = [options] { return llm(*options); };
  });
}

}  // namespace weft::cli
