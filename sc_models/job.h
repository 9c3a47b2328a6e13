// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A job on a machine: a trace on every rank (TraceJob, trace_job.h), or single collectives (CollectiveJob,
// collective_job.h). A machine may run several jobs. Each has its own NPUs. The machine outlives its jobs:
// another one may follow on the same NPUs. A job's times are of its own clock, which begins when the job is
// made. What the machine counts (links, events) goes on from job to job.
//
// A job never calls sc_start. Whoever owns the simulation does:
//
//     Machine machine("job", config, TraceJob::machine_options(*checked));
//     TraceJob job(machine, std::move(checked));
//     job.start();
//     do { sc_start(); } while (!job.finished() && machine.rescue());
//     if (!job.finished()) report(job.stall_report());
//     RunResult result = job.result();

#ifndef WEFT_SC_MODELS_JOB_H
#define WEFT_SC_MODELS_JOB_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "configs/config.h"
#include "sc_models/machine.h"
#include "sc_models/run_result.h"
#include "workload/collectives/plan.h"
#include "workload/collectives/rules.h"
#include "workload/job/collective_book.h"

namespace weft {

/// What both kinds of job share.
class Job {
 public:
  virtual ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  virtual bool finished() const = 0;
  /// Why the job is not finished: which node of which rank waits for what, line by line, ending in the cycle
  /// if there is one. Without what the machine says (Machine::explain_stall).
  virtual std::string stalled_ranks() const = 0;
  /// .. with it.
  std::string stall_report() const;
  /// Of the job alone.
  virtual RunResult own_result() const = 0;
  /// .. and of the machine, on which no other job is.
  RunResult result() const;
  /// The same, once and at the end: rows are moved where result() copies them. They are much of the memory of
  /// a job of many ranks. Nothing is known of its collectives afterwards. A job that has not finished keeps
  /// them, for the stall report.
  virtual RunResult take_own_result() { return own_result(); }
  RunResult take_result();

  Machine& machine() { return machine_; }
  const Machine& machine() const { return machine_; }
  /// Data-carrying mode: lines about wrong data so far, part of RunResult::broken_invariants.
  const std::vector<std::string>& wrong_data() const { return book_.wrong_data(); }
  /// Elements of finished collectives that were compared with the definition.
  uint64_t verified_elements() const { return book_.verified_elements(); }
  /// A line for every rule of collectives that matched none so far.
  std::vector<std::string> unmatched_rules() const { return rules_->unmatched(); }
  /// Finished and all nodes (collectives), for a progress line.
  virtual uint64_t done_count() const = 0;
  virtual uint64_t total_count() const = 0;

 protected:
  /// `plans`, `rules`: some that were made before; null: the job makes its own.
  explicit Job(Machine& machine, std::shared_ptr<collectives::PlanBuilder> plans = nullptr,
               std::shared_ptr<collectives::Rules> rules = nullptr);
  /// The folding of the job's ranks; null: no rank stands for others.
  virtual const graph::Folding* folded_ranks() const { return nullptr; }
  /// What the NMUs and memories of the job's ranks have counted.
  struct Counts {
    uint64_t messages = 0;
    uint64_t out_of_order_starts = 0;
    uint64_t memory_bytes = 0;
  };
  /// .. since the job was made: NMUs and memories go on counting from job to job.
  Counts since(const Counts& now) const {
    return {now.messages - before_.messages, now.out_of_order_starts - before_.out_of_order_starts,
            now.memory_bytes - before_.memory_bytes};
  }
  /// Adds those of an NPU, `times` over.
  void count(Counts& counts, uint32_t npu, uint64_t times) const;
  /// Adds what the job's rows say of broken laws.
  void add_findings(RunResult& result) const;
  /// `sends`: point-to-point messages by rule. Last, when the messages are known.
  void add_fidelity_results(RunResult& result, const std::vector<uint64_t>& sends) const;

  /// .. and what is the machine's.
  RunResult with_machine(RunResult result) const;

  Machine& machine_;
  const Config& config_;
  std::shared_ptr<collectives::PlanBuilder> plans_;
  std::shared_ptr<collectives::Rules> rules_;
  const Picoseconds origin_;  ///< the machine's time when the job was made
  CollectiveBook book_;
  Counts before_;  ///< when the job was made
};

}  // namespace weft

#endif
