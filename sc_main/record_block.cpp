// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/record_block.h"

#include <fmt/format.h>

#include "configs/units.h"
#include "sc_main/console.h"
#include "sc_main/decimal.h"

namespace weft::cli {

void add_record_options(TextOptions& add, RecordOptions& options) {
  add("--record", options.block, "BLOCK",
      "Record what crosses the boundary of this block: nmu3 (or npu[3].nmu), switch0_1, packet0_0.router5, "
      "hbm3, npu3; for `weft replay`");
  add("--record-file", options.file, "FILE",
      "File of the recording (default: BLOCK.rec in the results' folder)");
}

std::unique_ptr<cosim::BlockRecorder> make_recorder(const RecordOptions& options, const Config& config,
                                                    const std::string& folder) {
  if (options.block.empty()) {
    if (!options.file.empty())
      throw UserError(ExitCode::usage,
                      "--record-file: --record says which block is to be recorded; it is "
                      "missing");
    return nullptr;
  }
  const std::string file = (folder.empty() ? "" : folder + "/") + cosim::block_name(options.block) + ".rec";
  return std::make_unique<cosim::BlockRecorder>(options.block, options.file.empty() ? file : options.file,
                                                config, WEFT_VERSION);
}

void end_recording(cosim::BlockRecorder* recorder, const std::vector<CollectiveRow>& collectives) {
  if (recorder == nullptr) return;
  std::vector<cosim::RecordedCollective> names;
  for (const CollectiveRow& row : collectives)
    names.push_back(
        {row.stream, fmt::format("{} of {} B{}", to_string(row.op), row.bytes,
                                 row.name.empty() ? "" : fmt::format(", node '{}'", row.name.str()))});
  recorder->end(names);
  note(fmt::format("weft: recorded {}: {} events, {} in {}", recorder->block(), grouped(recorder->events()),
                   readable_size(recorder->bytes()), recorder->file()));
}

}  // namespace weft::cli
