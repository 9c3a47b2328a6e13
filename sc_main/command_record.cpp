// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/command_record.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "configs/units.h"
#include "cosim/record/recording.h"
#include "sc_main/console.h"
#include "sc_main/decimal.h"
#include "sc_main/text_options.h"

namespace weft::cli {
namespace {

struct ShowOptions {
  std::string file;
  std::string limit = "40";
};

std::string ports_text(const cosim::RecordingHeader& header) {
  std::string text;
  for (size_t p = 0; p < header.ports.size(); ++p) {
    const cosim::RecordedPort& port = header.ports[p];
    const std::string terms =
        header.level == "access" || header.level == "node" || port.peer == cosim::kOwnSide
            ? std::string("no link")
        : header.level == "packet"
            ? fmt::format("{} VCs of {} flits, {} ps", port.vcs, port.depth, picoseconds(port.flit_latency))
            : fmt::format("{} B/s, {} ps", port.rate / port.rate_per, port.latency);
    text += fmt::format("port {:<3} {} to {} ({})\n", p, port.name, port.peer, terms);
  }
  return text;
}

ExitCode show(const ShowOptions& options) {
  const uint64_t limit = parse_whole("--limit", options.limit, 0, ~uint64_t{0});
  const cosim::Recording recording = cosim::read_recording(options.file);
  const cosim::RecordingHeader& header = recording.header;
  std::string text = fmt::format("{} {} at {} fidelity, recorded by weft {}, configuration {:016x}\n",
                                 header.kind, header.block, header.level, header.program, header.digest);
  text += ports_text(header);
  uint64_t into = 0;
  for (const cosim::RecordedEvent& event : recording.events) into += event.into ? 1 : 0;
  text += fmt::format("{} events, {} into the block; {} collectives\n", grouped(recording.events.size()),
                      grouped(into), grouped(recording.collectives.size()));
  uint64_t shown = 0;
  for (const cosim::RecordedEvent& event : recording.events) {
    if (shown++ == limit) break;
    text += fmt::format("{:>16} ps  {} port {:<3} ", event.at, event.into ? "in " : "out", event.port);
    if (const auto* access = std::get_if<cosim::RecordedAccess>(&event.what)) {
      text += fmt::format("{} ps  ", access->at);
    } else if (const auto* node = std::get_if<cosim::RecordedNode>(&event.what)) {
      text += fmt::format("{} ps  ", node->at);
    } else if (const auto* message = std::get_if<fabric::Crossing>(&event.what)) {
      text += fmt::format("{} ps + {} ps  ", message->first, message->length);
    } else {
      text += fmt::format("{} ps  ", picoseconds(std::get<fabric::FlitCrossing>(event.what).first));
    }
    text += cosim::describe_event(event, recording.collectives) + "\n";
  }
  if (recording.events.size() > limit)
    text += fmt::format(".. {} more; --limit shows more\n", grouped(recording.events.size() - limit));
  print(text);
  return ExitCode::done;
}

}  // namespace

void add_record_command(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("record", "Look at recordings of blocks, which `weft run --record BLOCK` makes");
  command->require_subcommand(1);
  auto options = std::make_shared<ShowOptions>();
  CLI::App* show_command =
      command->add_subcommand("show", "Print a recording: its block, its ports, its events");
  show_command->add_option("FILE", options->file, "The recording")->required();
  TextOptions add(*show_command);
  add("--limit", options->limit, "N", "Print so many events (default: 40)");
  show_command->footer("Example:\n  weft record show out/switch0_1.rec --limit 100");
  show_command->callback([options, &action] { action = [options] { return show(*options); }; });
}

}  // namespace weft::cli
