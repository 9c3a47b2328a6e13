// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Runs a machine in parts, each in a process of its own: `--parts`, `--part-of`. docs/parts.md describes how
// and why results do not change.

#ifndef WEFT_SC_MAIN_PARTS_PARTS_RUN_H
#define WEFT_SC_MAIN_PARTS_PARTS_RUN_H

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "parts/parts.h"
#include "sc_main/parts/parts_options.h"
#include "sc_main/parts/parts_report.h"
#include "sc_main/progress.h"
#include "sc_models/collective_job.h"
#include "sc_models/trace_job.h"

namespace weft::cli {

/// What the ranks of these traces do, for choose_cut().
parts::RankLoads rank_loads(const graph::CheckedJob& job);

class PartsRun {
 public:
  /// Chooses the cut. `alone`: why one process is to run all; empty: nothing speaks for that. `command`: what
  /// the command line says beside the configuration; parts that join must have the same. Throws UserError:
  /// what parts_refusal() says, and choose_cut().
  PartsRun(const Config& config, const PartsOptions& options, const parts::RankLoads& loads,
           const std::string& alone, const std::string& command);

  /// Before any module exists, and before any result is written. In the processes of other parts it calls
  /// `other`, and ends with it: an exception there ends the run. In part 0 it returns.
  void split(const std::function<void()>& other);

  /// For Machine::Options.
  PartBorder* border() { return parts_.get(); }
  /// Ranks that are alike at first (graph::Replicas) are in one part, and no messages are known to cross the
  /// cut: one of them can run for all in each part.
  bool keeps_replicas() const { return keeps_replicas_; }
  /// Ranks are told from others by this, which outlives the run.
  void split_ranks(const Splitting& splitting) { splitting_ = &splitting; }
  /// In any part, within simulate(): it cannot go on, and the run starts again in one process.
  [[noreturn]] void give_up(const std::string& why);
  /// There are several parts, and they have not become one process again.
  bool several() const { return parts_ != nullptr; }
  bool first() const { return parts_ == nullptr ? !idle_ : parts_->first(); }

  /// As cli::simulate(), of all parts. Where parts cannot do as one process does (docs/parts.md), the run
  /// starts again in one: this one then waits for it, and leaves with its exit code.
  bool simulate(Machine& machine, const std::function<bool()>& finished, const std::function<Work()>& work);
  /// At the end of a run. Of another part than the first one it gives what it has, and nothing comes back.
  RunResult result(const TraceJob& job, bool finished);
  /// The stall reports of all parts.
  std::string stall_report(const Job& job);

  /// Of one collective: the whole row, and the sums of the whole machine. Only the first part gets them.
  struct Collective {
    CollectiveRow row;
    MachinePart machine;
  };
  Collective collective(const CollectiveJob& job);

  const PartsReport& report() const { return report_; }

 private:
  void take_statistics(Machine& machine);
  template <typename T>
  std::vector<std::vector<T>> gather(const std::vector<T>& own);
  void check_rings(const Machine& machine);
  [[noreturn]] void start_again(const std::string& why);

  std::unique_ptr<parts::Parts> parts_;  ///< null: one process runs all
  bool idle_ = false;                    ///< .. and this is another one
  bool keeps_replicas_ = false;
  const Splitting* splitting_ = nullptr;  ///< null: each rank is simulated
  PartsReport report_;
};

}  // namespace weft::cli

#endif
