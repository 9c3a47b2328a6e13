// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A job with a machine of its own.

#ifndef WEFT_TESTS_SUPPORT_SOLO_JOB_H
#define WEFT_TESTS_SUPPORT_SOLO_JOB_H

#include <memory>
#include <systemc>
#include <utility>

#include "configs/config.h"
#include "sc_models/collective_job.h"
#include "sc_models/trace_job.h"
#include "workload/graph/checked_job.h"

namespace weft::test {

/// A base before the job, so that the machine is built first and goes last.
struct SoloMachine {
  SoloMachine(const char* name, const Config& config, const Machine::Options& options)
      : own(name, config, options) {}
  Machine own;
};

/// Collectives on all ranks. `folded`: one rank stands for all.
struct SoloCollectiveJob : private SoloMachine, public CollectiveJob {
  SoloCollectiveJob(const char* name, const Config& config, bool folded = false)
      : SoloMachine(name, config, CollectiveJob::machine_options(nullptr, folded)), CollectiveJob(own) {}
};

/// Traces on all ranks. `fold`: one of several identical ranks is simulated.
class SoloTraceJob : private SoloMachine, public TraceJob {
 public:
  SoloTraceJob(const char* name, const Config& config, const trace::JobTrace& traces, bool fold = false)
      : SoloTraceJob(name, config,
                     std::make_unique<graph::CheckedJob>(
                         config, traces, graph::fold_job(config, traces, fold ? "" : "folding is off"))) {}

 private:
  SoloTraceJob(const char* name, const Config& config, std::unique_ptr<graph::CheckedJob> checked)
      : SoloMachine(name, config, TraceJob::machine_options(*checked)), TraceJob(own, std::move(checked)) {}
};

/// Runs a job to its end, the last resort included; false: it has stalled.
inline bool run_to_the_end(Job& job) {
  do sc_core::sc_start();
  while (!job.finished() && job.machine().rescue());
  return job.finished();
}

}  // namespace weft::test

#endif
