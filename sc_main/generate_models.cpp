// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/generate_models.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "configs/file_set.h"
#include "configs/units.h"
#include "sc_main/console.h"
#include "sc_main/decimal.h"
#include "sc_main/text_options.h"
#include "workload/generate/models/model.h"
#include "workload/generate/models/text_form.h"
#include "workload/generate/models/trace_form.h"
#include "workload/generate/trace_file.h"

namespace weft::cli {
namespace {

/// What all networks have in common.
struct CommonOptions {
  generate::TraceForm form;
  uint64_t batch = 0;          ///< 0: the network's
  uint32_t element_bytes = 0;  ///< 0: the network's
  std::string bucket = "25 MiB";
  bool no_overlap = false;
  std::string array = "256x256";
  std::string dataflow = "ws_tpu";
  std::string clock = "1 GHz";
  std::string memory_bandwidth = "2000/3 GB/s";
  std::string cycles;  ///< file of a table
  bool text = false;
  bool describe = false;
  std::string out;
  std::string name;
};

void add_common(CLI::App& command, CommonOptions& o) {
  TextOptions add(command);
  command.add_option("--batch", o.batch, "Samples a rank and step")
      ->type_name("N")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 32));
  command.add_option("--dtype-bytes", o.element_bytes, "Bytes of a weight, gradient or activation")
      ->type_name("N")
      ->check(CLI::Range(1u, 8u));
  command.add_option("--ranks", o.form.ranks, "Data-parallel ranks")->type_name("N")->capture_default_str();
  command.add_option("--steps", o.form.steps, "Training steps; each is an iteration of the trace")
      ->type_name("N")
      ->capture_default_str();
  add("--bucket", o.bucket, "SIZE",
      "Gradients are all-reduced in buckets that are closed at SIZE (default: 25 MiB; the first one at 1 "
      "MiB); "
      "`layer`: one for each layer, `all`: one for all");
  command.add_flag("--no-overlap", o.no_overlap, "Compute waits for every collective");
  command.add_flag("--async", o.form.async,
                   "The update of a step waits for the all-reduces of the step before, not for its own");
  command.add_flag("--in-order", o.form.in_order,
                   "A collective waits for the one before it, as on one stream of NCCL");
  command.add_flag("--text", o.text,
                   "Write a text workload of ASTRA-sim 1.0, DIR/NAME.txt, or without --out to the standard "
                   "output; its cycles are those of a systolic array");
  add("--array", o.array, "RxC", "With --text: rows and columns of the array (default: 256x256)");
  add("--dataflow", o.dataflow, "NAME", "With --text: os, ws, is or ws_tpu (default)");
  add("--clock", o.clock, "CLOCK", "With --text: of the cycles (default: 1 GHz)");
  add("--memory-bandwidth", o.memory_bandwidth, "RATE",
      "With --text: at which weights are loaded one layer ahead (default: 2000/3 GB/s)");
  add("--cycles", o.cycles, "FILE",
      "With --text: cycles of the layers from a table, or from SCALE-sim's compute report");
  command.add_flag("--describe", o.describe, "Print the network's figures; write nothing");
  command.add_option("--out", o.out, "Folder of the files; it is created")->type_name("DIR");
  add("--name", o.name, "NAME",
      "Files are DIR/NAME.<rank>.et, or DIR/NAME.txt (default: the network's name)");
}

uint64_t bucket_of(const std::string& text) {
  if (text == "layer") return generate::TraceForm::kLayer;
  if (text == "all") return generate::TraceForm::kAll;
  try {
    const uint64_t bytes = parse_size(text);
    if (bytes != 0) return bytes;
  } catch (const UserError& e) {
    throw UserError(ExitCode::usage, fmt::format("--bucket: {}, or `layer` or `all`", e.what()));
  }
  throw UserError(ExitCode::usage, "--bucket '0 B': give at least 1 B, or `layer` or `all`");
}

generate::TextTiming timing_of(const CommonOptions& o) {
  generate::TextTiming timing;
  const size_t cross = o.array.find('x');
  if (cross == std::string::npos)
    throw UserError(ExitCode::usage,
                    fmt::format("--array '{}': give rows and columns, for example 256x256", o.array));
  timing.array.rows = parse_whole("--array", o.array.substr(0, cross), 1, 65536);
  timing.array.cols = parse_whole("--array", o.array.substr(cross + 1), 1, 65536);
  timing.array.dataflow = compute::parse_dataflow(o.dataflow, "--dataflow");
  try {
    timing.clock_hz = parse_clock(o.clock);
  } catch (const UserError& e) {
    throw UserError(ExitCode::usage, fmt::format("--clock: {}", e.what()));
  }
  try {
    timing.memory_bandwidth = parse_bandwidth(o.memory_bandwidth).value();
  } catch (const UserError& e) {
    throw UserError(ExitCode::usage, fmt::format("--memory-bandwidth: {}", e.what()));
  }
  if (!(timing.memory_bandwidth > 0))
    throw UserError(ExitCode::usage, "--memory-bandwidth is 0; give a rate above 0");
  return timing;
}

void describe(const generate::Model& model, const generate::TraceForm& form) {
  using text::Pass;
  const uint64_t b = model.element_bytes;
  print(fmt::format("model    {}: {} parameters ({} in matrices, {}), {} layers, batch {} a rank\n",
                    model.name, grouped(model.parameters()), grouped(model.weights()),
                    readable_size(model.parameters() * b), model.layers.size(), grouped(model.batch)));
  print(fmt::format("compute  a rank and step {} FLOP; forward {} MAC\n", grouped(model.flop()),
                    grouped(model.macs(Pass::forward))));
  print(fmt::format("memory   {} elements of activations ({})\n", grouped(model.activations()),
                    readable_size(model.activations() * b)));
  const std::vector<uint64_t> buckets = generate::step_buckets(model, form);
  uint64_t reduced = 0;
  for (const uint64_t bytes : buckets) reduced += bytes;
  if (model.loop == text::Loop::data || model.loop == text::Loop::hybrid_dlrm)
    print(fmt::format("network  a step {} all-reduces of {} B together, the last of {} B\n", buckets.size(),
                      grouped(reduced), grouped(buckets.empty() ? 0 : buckets.back())));
  for (const generate::ModelLayer& layer : model.layers) {
    for (int p = 0; p < text::kPasses; ++p) {
      const generate::LayerCommunication& c = layer.after(static_cast<Pass>(p));
      if (!c.op || (*c.op == CollectiveOp::all_reduce && model.loop != text::Loop::micro)) continue;
      if (model.layers.size() > 16 && model.loop != text::Loop::hybrid_dlrm) continue;
      print(fmt::format("network  {} {}: {} of {} B\n", layer.name, text::to_string(static_cast<Pass>(p)),
                        weft::to_string(*c.op), grouped(c.bytes)));
    }
  }
  if (!model.fitted.empty()) print(fmt::format("fitted   {}\n", model.fitted));
}

ExitCode write_text(const generate::Model& model, const CommonOptions& o, const std::string& name) {
  const std::string text = generate::text_form(model, timing_of(o));
  if (o.out.empty()) {
    print(text);
    return ExitCode::done;
  }
  if (name.find('/') != std::string::npos)
    throw UserError(
        ExitCode::usage,
        fmt::format("--name '{}': must be a file name without folders; name those with --out", name));
  std::error_code error;
  std::filesystem::create_directories(o.out, error);
  FileSet files;
  const std::string path = (std::filesystem::path(o.out) / (name + ".txt")).string();
  generate::OutputFile file(files.add(path));
  file.write(text);
  file.close();
  files.finish();
  print(fmt::format("text     {}: {}, {} layers\n", path, text::to_string(model.loop), model.layers.size()));
  print(fmt::format("to run   weft run CONFIG --text {}\n", path));
  return ExitCode::done;
}

using MakeModel = std::function<generate::Model(const CommonOptions&)>;

ExitCode generate_model(const MakeModel& make, CommonOptions o) {
  if (o.text + o.describe > 1)
    throw UserError(ExitCode::usage, "--text and --describe exclude each other; leave one of them out");
  if (!o.cycles.empty() && !o.text)
    throw UserError(ExitCode::usage,
                    "--cycles is for --text; traces are timed when they run, by the configuration's `npu`");
  o.form.bucket = bucket_of(o.bucket);
  o.form.overlap = !o.no_overlap;
  generate::Model model = make(o);
  const std::string name = o.name.empty() ? model.name : o.name;
  if (o.describe) {
    describe(model, o.form);
    return ExitCode::done;
  }
  if (o.text) {
    if (!o.cycles.empty()) generate::read_cycle_table(o.cycles, model);
    return write_text(model, o, name);
  }
  if (o.out.empty())
    throw UserError(
        ExitCode::usage,
        fmt::format("--out is missing: give the folder of the traces, or --describe to see the network "
                    "only; see `weft generate {} --help`",
                    model.name));
  const generate::WrittenModel made = generate::write_traces(model, o.form, o.out, name);
  print(fmt::format("traces   {}.[0-{}].et: {} ranks, {} nodes, {}\n", made.prefix, o.form.ranks - 1,
                    grouped(o.form.ranks), grouped(made.nodes), readable_size(made.bytes)));
  describe(model, o.form);
  print(fmt::format("to run   weft run CONFIG --trace {}   (a topology of {} NPUs)\n", made.prefix,
                    o.form.ranks));
  return ExitCode::done;
}

/// Adds a network: what it is, and what makes it from the options that all have.
CLI::App* add_model(CLI::App& generate, Action& action, const char* name, const char* what, MakeModel make) {
  auto common = std::make_shared<CommonOptions>();
  CLI::App* command = generate.add_subcommand(name, what);
  add_common(*command, *common);
  command->callback([common, make = std::move(make), &action] {
    action = [common, make] { return generate_model(make, *common); };
  });
  return command;
}

template <typename T>
T chosen(T own, T fallback) {
  return own != 0 ? own : fallback;
}

void add_resnets(CLI::App& generate, Action& action) {
  for (const uint32_t depth : {50u, 101u, 152u}) {
    auto v1 = std::make_shared<bool>(false);
    const std::string name = fmt::format("resnet{}", depth);
    const std::string what = fmt::format("ResNet-{} on images of 224 x 224, data parallel", depth);
    CLI::App* command =
        add_model(generate, action, name.c_str(), what.c_str(), [depth, v1](const CommonOptions& o) {
          return generate::resnet(depth, chosen<uint64_t>(o.batch, 32), chosen(o.element_bytes, 4u), !*v1);
        });
    command->add_flag("--v1", *v1,
                      "Strides of a stage's first block in its first convolution, not in the 3 x 3");
    if (depth == 50)
      command->footer(
          "Examples:\n  weft generate resnet50 --describe\n"
          "  weft generate resnet50 --ranks 8 --steps 2 --out trace\n"
          "  weft generate resnet50 --text --batch 1 --out text");
  }
}

void add_bert(CLI::App& generate, Action& action) {
  auto c = std::make_shared<generate::BertConfig>();
  CLI::App* command = add_model(generate, action, "bert", "BERT (large by default), data parallel",
                                [c](const CommonOptions& o) {
                                  generate::BertConfig config = *c;
                                  config.batch = chosen(o.batch, config.batch);
                                  config.element_bytes = chosen(o.element_bytes, config.element_bytes);
                                  return generate::bert(config);
                                });
  const auto add = [command](const char* name, auto& value, const std::string& text) {
    command->add_option(name, value, text)->capture_default_str()->check(CLI::Range(1u, 1u << 20));
  };
  add("--hidden", c->hidden, "Width of the model");
  add("--layers", c->layers, "Encoder layers");
  add("--heads", c->heads, "Attention heads");
  add("--seq", c->sequence, "Tokens a sequence, at most 512");
  add("--vocab", c->vocabulary, "Tokens of the vocabulary");
  command->add_flag("--qa", c->question_answering, "A head for question answering in place of the pooler");
}

std::vector<uint64_t> widths_of(const char* option, const std::string& text) {
  std::vector<uint64_t> widths;
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t end = std::min(text.find('-', begin), text.size());
    widths.push_back(parse_whole(option, text.substr(begin, end - begin), 1, 1u << 24));
    begin = end + 1;
  }
  return widths;
}

void add_recommenders(CLI::App& generate, Action& action) {
  struct DlrmOptions {
    std::string preset = "kaggle", bottom, top;
    uint64_t tables = 0, dimension = 0;
  };
  auto d = std::make_shared<DlrmOptions>();
  CLI::App* command =
      add_model(generate, action, "dlrm", "A DLRM: embeddings model parallel, perceptrons data parallel",
                [d](const CommonOptions& o) {
                  generate::DlrmConfig c = generate::dlrm_preset(d->preset);
                  if (!d->bottom.empty()) c.bottom = widths_of("--bottom", d->bottom);
                  if (!d->top.empty()) c.top = widths_of("--top", d->top);
                  c.tables = chosen(d->tables, c.tables);
                  c.dimension = chosen(d->dimension, c.dimension);
                  c.batch = chosen(o.batch, c.batch);
                  c.element_bytes = chosen(o.element_bytes, c.element_bytes);
                  return generate::dlrm(c);
                });
  TextOptions add(*command);
  add("--preset", d->preset, "NAME",
      fmt::format("Sizes: {} (default: kaggle). `astra` is the public text file of ASTRA-sim 1.0",
                  fmt::join(generate::dlrm_presets(), ", ")));
  add("--bottom", d->bottom, "WIDTHS", "Widths of the bottom perceptron, as in 13-512-256-64-16");
  add("--top", d->top, "WIDTHS", "Widths of the top perceptron");
  command->add_option("--tables", d->tables, "Embedding tables")->type_name("N");
  command->add_option("--dim", d->dimension, "Width of a row of the embedding")->type_name("N");
  auto l = std::make_shared<generate::DeepLightConfig>();
  command = add_model(generate, action, "deeplight",
                      "DeepLight: click prediction, nearly all of it the dense gradient of an embedding",
                      [l](const CommonOptions& o) {
                        generate::DeepLightConfig c = *l;
                        c.batch = chosen(o.batch, c.batch);
                        c.element_bytes = chosen(o.element_bytes, c.element_bytes);
                        return generate::deeplight(c);
                      });
  command->add_option("--rows", l->rows, "Rows of the embedding (fitted)")->capture_default_str();
}

void add_micro(CLI::App& generate, Action& action) {
  struct MicroOptions {
    std::string op = "all_reduce", size = "1 MiB";
    uint64_t cycles = 5;
  };
  auto m = std::make_shared<MicroOptions>();
  CLI::App* command =
      add_model(generate, action, "micro", "One collective a step", [m](const CommonOptions&) {
        uint64_t bytes = 0;
        try {
          bytes = parse_size(m->size);
        } catch (const UserError& e) {
          throw UserError(ExitCode::usage, fmt::format("--size: {}", e.what()));
        }
        return generate::micro(parse_operation("--op", m->op), bytes, m->cycles);
      });
  TextOptions add(*command);
  add("--op", m->op, "OP", "all_reduce (default), all_gather, reduce_scatter or all_to_all");
  add("--size", m->size, "SIZE", "Bytes, as in a text workload (default: 1 MiB)");
  command->add_option("--compute-cycles", m->cycles, "With --text: cycles of each pass, which never run")
      ->capture_default_str();
}

void add_layers(CLI::App& generate, Action& action) {
  struct LayersOptions {
    std::string mnk, scale_sim, parallelism = "DATA";
    uint64_t packages = 1;
  };
  auto l = std::make_shared<LayersOptions>();
  CLI::App* command =
      add_model(generate, action, "layers", "A network from a table of layers", [l](const CommonOptions& o) {
        if (l->mnk.empty() == l->scale_sim.empty())
          throw UserError(ExitCode::usage, "give one table: --mnk FILE or --scale-sim FILE");
        static const std::pair<const char*, text::Loop> words[] = {
            {"DATA", text::Loop::data},
            {"MODEL", text::Loop::model},
            {"HYBRID_DATA_MODEL", text::Loop::hybrid_data_model},
            {"HYBRID_MODEL_DATA", text::Loop::hybrid_model_data}};
        generate::TableSplit split;
        const auto found = std::find_if(std::begin(words), std::end(words),
                                        [&](const auto& word) { return l->parallelism == word.first; });
        if (found == std::end(words))
          throw UserError(ExitCode::usage,
                          fmt::format("--parallelism '{}': one of DATA, MODEL, HYBRID_DATA_MODEL, "
                                      "HYBRID_MODEL_DATA",
                                      l->parallelism));
        split.loop = found->second;
        split.npus = o.form.ranks;
        split.packages = l->packages;
        split.batch = chosen<uint64_t>(o.batch, 1);
        split.element_bytes = chosen(o.element_bytes, 4u);
        return generate::read_layer_table(l->mnk.empty() ? l->scale_sim : l->mnk, split);
      });
  TextOptions add(*command);
  add("--mnk", l->mnk, "FILE", "CSV with columns layer, m, n, k [, parallelism]");
  add("--scale-sim", l->scale_sim, "FILE", "A topology of SCALE-sim, CSV");
  add("--parallelism", l->parallelism, "WORD", "DATA (default), MODEL, HYBRID_DATA_MODEL, HYBRID_MODEL_DATA");
  command->add_option("--packages", l->packages, "Packages that the ranks stand in, for the hybrid ones")
      ->type_name("N")
      ->capture_default_str();
}

}  // namespace

void add_generate_models(CLI::App& generate, Action& action) {
  add_resnets(generate, action);
  add_bert(generate, action);
  add_recommenders(generate, action);
  add_micro(generate, action);
  add_layers(generate, action);
}

}  // namespace weft::cli
