// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/generate_moe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "configs/keys.h"
#include "sc_main/console.h"
#include "sc_main/decimal.h"
#include "workload/generate/moe.h"

namespace weft::cli {
namespace {

struct MoeOptions {
  generate::MoeConfig config;
  std::string out;
  std::string name = "moe";
  std::string memory = "remote";
  bool no_recompute = false;
  bool describe = false;
};

trace::Location location_of(const std::string& memory) {
  std::vector<std::string> names;
  for (int i = 0; i < trace::kLocations; ++i) {
    names.emplace_back(trace::to_string(static_cast<trace::Location>(i)));
    if (memory == names.back()) return static_cast<trace::Location>(i);
  }
  const std::string near = nearest_name(memory, names);
  throw UserError(ExitCode::usage, fmt::format("--memory '{}': unknown{}; one of {}", memory,
                                               near.empty() ? "" : fmt::format(" (did you mean {}?)", near),
                                               fmt::join(names, ", ")));
}

ExitCode moe(const MoeOptions& options) {
  generate::MoeConfig config = options.config;
  config.location = location_of(options.memory);
  config.recompute = !options.no_recompute;
  if (!options.describe && options.out.empty())
    throw UserError(ExitCode::usage,
                    "--out is missing: give the folder of the traces, or --describe to see the model only");
  const generate::MoeSummary made = options.describe
                                        ? generate::describe_moe(config)
                                        : generate::generate_moe(config, options.out, options.name);
  if (!options.describe) {
    print(fmt::format("traces   {}.[0-{}].et: {} ranks, {} nodes, {}\n", made.prefix, made.ranks - 1,
                      grouped(made.ranks), grouped(made.nodes), readable_size(made.bytes)));
    print(fmt::format("groups   {}: {}\n", made.groups_file, grouped(made.groups)));
  }
  print(fmt::format("model    {} parameters: {} of experts a rank ({} ranks), {} of the dense part\n",
                    grouped(made.parameters), grouped(made.expert_parameters), grouped(made.ranks),
                    grouped(made.dense_parameters)));
  print(fmt::format("memory   a rank loads {} B and stores {} B a step ({}); {} B for a block of experts\n",
                    grouped(made.loaded_bytes), grouped(made.stored_bytes), options.memory,
                    grouped(made.expert_load_bytes)));
  print(fmt::format("network  {} all-to-alls of {} B a rank\n", grouped(made.all_to_alls),
                    grouped(made.all_to_all_bytes)));
  if (!options.describe)
    print(fmt::format("to run   weft run CONFIG --trace {} --groups {}   (a topology of {} NPUs)\n",
                      made.prefix, made.groups_file, made.ranks));
  return ExitCode::done;
}

}  // namespace

void add_generate_moe(CLI::App& generate, Action& action) {
  auto options = std::make_shared<MoeOptions>();
  generate::MoeConfig& c = options->config;
  CLI::App* command = generate.add_subcommand(
      "moe", "One training step of a mixture of experts whose experts are in remote memory");
  const auto add = [command](const char* name, auto& value, const std::string& text) {
    return command->add_option(name, value, text)->capture_default_str();
  };
  add("--ep", c.expert_parallel, "Ranks that share out the experts of a layer (expert parallel)");
  add("--slices", c.slices, "Ranks that share the weights of an expert; ranks = --ep x --slices");
  add("--layers", c.layers, "Transformer blocks");
  add("--moe-every", c.moe_every, "Every n-th block has experts");
  add("--experts", c.experts, "Experts of such a block, a multiple of --ep");
  add("--hidden", c.hidden, "Width of the model");
  add("--ffn", c.ffn, "Width of an FFN; 0: 4 x hidden");
  add("--top-k", c.top_k, "Experts a token");
  add("--capacity", c.capacity, "Tokens that an expert takes, over the mean");
  add("--tokens", c.tokens, "Tokens of a rank, a step");
  add("--dtype-bytes", c.dtype_bytes, "Bytes of a weight or activation");
  add("--prefetch", c.prefetch, "Loads of experts that run ahead of their use");
  add("--optimizer-bytes", c.optimizer_bytes, "Bytes that the optimizer loads, and stores, for a parameter");
  add("--dense-shards", c.dense_shards, "Ranks that share the gradients of the dense part");
  add("--memory", options->memory, "Where experts and optimizer state are: remote, local, host or nvme");
  command->add_flag("--no-recompute", options->no_recompute,
                    "Keep the activations of experts: 2 all-to-alls in the backward pass, not 4");
  command->add_flag("--describe", options->describe, "Print the model's figures; write nothing");
  command->add_option("--out", options->out, "Folder of the traces; it is created")->type_name("DIR");
  add("--name", options->name, "Files are DIR/NAME.<rank>.et and DIR/NAME.groups.json");
  command->footer(
      "The defaults are the 1 T-parameter model of docs/moe.md on 256 ranks.\n\n"
      "Examples:\n"
      "  weft generate moe --describe\n"
      "  weft generate moe --ep 4 --slices 2 --experts 8 --layers 4 --hidden 1024 --out trace");
  command->callback([options, &action] { action = [options] { return moe(*options); }; });
}

}  // namespace weft::cli
