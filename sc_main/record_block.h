// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// `--record BLOCK` of the commands that run a machine: what crosses the block's boundary goes to a file.

#ifndef WEFT_SC_MAIN_RECORD_BLOCK_H
#define WEFT_SC_MAIN_RECORD_BLOCK_H

#include <memory>
#include <string>
#include <vector>

#include "cosim/record/block_recorder.h"
#include "sc_main/record_options.h"
#include "sc_main/text_options.h"
#include "workload/job/rows.h"

namespace weft::cli {

/// Adds `--record` and `--record-file` to a command.
void add_record_options(TextOptions& add, RecordOptions& options);

/// Null: nothing is to be recorded. `folder`: of the results, "": none; the file is there if it has no name.
/// Throws UserError(usage) for a file without a block.
std::unique_ptr<cosim::BlockRecorder> make_recorder(const RecordOptions& options, const Config& config,
                                                    const std::string& folder);

/// Ends the recording, with the names of the collectives, and says where it is. `recorder` may be null.
void end_recording(cosim::BlockRecorder* recorder, const std::vector<CollectiveRow>& collectives);

}  // namespace weft::cli

#endif
