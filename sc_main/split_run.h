// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Runs a job whose replicas are alike at first: a scout, the run, and a process in reserve that simulates all
// ranks from the beginning if the scout was wrong (sc_models/splitting.h).

#ifndef WEFT_SC_MAIN_SPLIT_RUN_H
#define WEFT_SC_MAIN_SPLIT_RUN_H

#include <memory>
#include <string>
#include <vector>

#include "parts/reserve.h"
#include "sc_main/split_scout.h"
#include "sc_models/trace_job.h"

namespace weft::cli {

class SplitRun {
 public:
  /// Before the machine is built. `watched`: something looks at single ranks, so that all are simulated.
  /// Where the run starts again, this returns in the process that does so.
  SplitRun(std::unique_ptr<graph::CheckedJob>& job, bool watched);

  /// When the machine is built, before TraceJob::start(). The object outlives the run.
  void prepare(TraceJob& job);

 private:
  bool keep_reserve();
  [[noreturn]] void start_again(const Splitting::Limit& limit, const std::string& why);

  std::vector<Splitting::Limit> limits_;     ///< that earlier plans have not kept
  std::unique_ptr<parts::Reserve> reserve_;  ///< null: the job is not split, or can no longer fail
  std::unique_ptr<SplitScout> scout_;
};

}  // namespace weft::cli

#endif
