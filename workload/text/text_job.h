// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The door of this folder: a text workload on a machine, ready to be run or written as traces.

#ifndef WEFT_WORKLOAD_TEXT_TEXT_JOB_H
#define WEFT_WORKLOAD_TEXT_TEXT_JOB_H

#include <string>
#include <vector>

#include "configs/config.h"
#include "workload/text/text_file.h"
#include "workload/text/training_loop.h"
#include "workload/trace/workload_check.h"

namespace weft::text {

struct TextJob {
  TextFile file;
  TrainingLoop loop;
  trace::MemoryTraces traces;
};

/// Reads `workload.text.file`. Its dimensions are the machine's logical ones; on a part of the machine's NPUs
/// there is one dimension, of all ranks. Throws UserError for a file or options that cannot run.
TextJob make_text_job(const Config& config, const WorkloadConfig& workload);

/// The same for dimensions of these sizes. `where`: what messages about options begin with.
TextJob make_text_job(const TextWorkloadConfig& text, const std::vector<uint32_t>& sizes,
                      const std::string& where);

}  // namespace weft::text

#endif
