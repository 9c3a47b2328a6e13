// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/command_generate.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "sc_main/console.h"
#include "sc_main/decimal.h"
#include "workload/generate/llm.h"

namespace weft::cli {
namespace {

struct LlmOptions {
  generate::LlmConfig config;
  std::string out;
  std::string name = "llm";
};

ExitCode llm(const LlmOptions& options) {
  if (options.name.empty() || options.name.find('/') != std::string::npos)
    throw UserError(
        ExitCode::usage,
        fmt::format("--name '{}': must be a file name without folders; name those with --out", options.name));
  const generate::LlmSummary made = generate::generate_llm(options.config, options.out, options.name);
  print(fmt::format("traces   {}.[0-{}].et: {} ranks, {} nodes, {}\n", made.prefix, made.ranks - 1,
                    grouped(made.ranks), grouped(made.nodes), readable_size(made.bytes)));
  print(fmt::format("groups   {}: {}\n", made.groups_file, grouped(made.groups)));
  print(
      fmt::format("model    {} parameters, {} FLOP a step\n", grouped(made.parameters), grouped(made.flop)));
  print(fmt::format("to run   weft run CONFIG --trace {} --groups {}   (a topology of {} NPUs)\n",
                    made.prefix, made.groups_file, made.ranks));
  return ExitCode::done;
}

}  // namespace

void add_generate_command(CLI::App& app, Action& action) {
  CLI::App* generate = app.add_subcommand("generate", "Generate workloads as Chakra execution traces");
  generate->require_subcommand(1);
  generate->footer("Examples:\n  weft generate llm --tp 2 --dp 2 --pp 2 --out trace");
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
  add("--order", c.order, "Coordinates of a rank, fastest first");
  command->add_option("--out", options->out, "Folder of the traces; it is created")
      ->required()
      ->type_name("DIR");
  add("--name", options->name, "Files are DIR/NAME.<rank>.et and DIR/NAME.groups.json");
  command->footer(
      "Examples:\n"
      "  weft generate llm --tp 2 --dp 2 --pp 2 --layers 4 --hidden 1024 --seq 512 --batch 8 --microbatches "
      "4 --out trace\n"
      "  weft generate llm --tp 8 --dp 16 --layers 32 --hidden 4096 --batch 128 --zero 3 --sequence-parallel "
      "--out trace");
  command->callback([options, &action] { action = [options] { return llm(*options); }; });
}

}  // namespace weft::cli
