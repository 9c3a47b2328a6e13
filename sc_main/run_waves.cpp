// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/run_waves.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <systemc>

#include "sc_main/decimal.h"
#include "sc_main/near_signals.h"

namespace weft::cli {
namespace {

/// As an architect reads: what the ranks do, then each kind of module, folded.
std::vector<vcd::ViewSection> sections() {
  constexpr size_t kRanksOnTop = 32;
  return {{"ranks", "*.npu*.state", false, kRanksOnTop},
          {"NPUs", "*.npu*", true},
          {"memory", "*.{hbm,remote,group,host,nvme,pool}*", true},
          {"collective units", "*.unit.*", true},
          {"routers", "*.packet*", true},
          {"links", "*.*.{busy,bytes,flow,rate,stall}", true},
          {"NMUs", "*.nmu*", true},
          {"switches", "*.switch*", true}};
}

}  // namespace

std::unique_ptr<vcd::Waves> make_waves(const Config& config, const OutputFolder& folder, bool every_flit,
                                       vcd::ProbeHub& probes) {
  vcd::WavesOptions options;
  options.writer.every_step = every_flit;
  options.selection = config.output.waves;
  options.writer.path = folder.file("waves.vcd");
  options.unfinished_suffix = kPartSuffix;
  options.optional_scope = "job.";
  options.sections = sections();
  options.writer.window.from = config.output.waves_from;
  if (config.output.waves_to != 0) options.writer.window.to = config.output.waves_to;
  options.writer.max_bytes = config.output.waves_budget;
  options.writer.clock = [] { return sc_core::sc_time_stamp().value(); };
  if (config.output.waves.empty()) return std::make_unique<vcd::Waves>();
  auto waves = std::make_unique<vcd::Waves>(options);
  waves->listen(probes);
  return waves;
}

void check_selection(const vcd::Waves& waves, const vcd::ProbeHub& probes) {
  const std::vector<std::string> unmatched = waves.unmatched();
  if (unmatched.empty()) return;
  std::error_code ignored;
  std::filesystem::remove(waves.writer()->options().path, ignored);
  std::string text;
  for (const std::string& pattern : unmatched)
    text += fmt::format("{}the pattern '{}' matches no signal", text.empty() ? "" : "; ", pattern);
  const std::vector<std::string> near = near_signals(unmatched.front(), probes.examples());
  throw UserError(ExitCode::usage, fmt::format("--waves: {}; near it: {} (numbers stand for any)", text,
                                               fmt::join(near, ", ")));
}

void close_waves(vcd::Waves& waves, Picoseconds end, bool finished, std::vector<std::string>& warnings) {
  const vcd::VcdWriter* writer = waves.writer();
  // What is on its way at the end of the job (a credit, a resume) may have moved time beyond it.
  if (finished && end < writer->options().window.to)
    end = std::max(end, std::min(writer->counted_until(), writer->options().window.to));
  waves.close(std::max({end, Picoseconds{writer->now()}, Picoseconds{sc_core::sc_time_stamp().value()}}));
  if (writer->failure()) throw *writer->failure();
  const vcd::Window& window = writer->options().window;
  if (end < window.from)
    warnings.push_back(
        fmt::format("waves.vcd has no values: the run ended at {}, and --waves-window begins at {}",
                    readable_time(end), readable_time(window.from)));
  if (writer->truncated())
    warnings.push_back(
        fmt::format("waves.vcd reached its budget of {} and ends at {}; select fewer signals, or "
                    "a window (--waves-window), or raise --waves-budget",
                    readable_size(writer->options().max_bytes), readable_time(writer->truncated_at())));
}

}  // namespace weft::cli
