// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Reads and checks a workload and its machine, before anything is built: for `weft run` and `weft validate`.

#ifndef WEFT_SC_MAIN_WORKLOAD_H
#define WEFT_SC_MAIN_WORKLOAD_H

#include <memory>
#include <string>
#include <vector>

#include "configs/config.h"
#include "sc_main/memory_check.h"
#include "sc_models/memory_estimate.h"
#include "workload/goal/program.h"
#include "workload/graph/checked_job.h"
#include "workload/text/text_job.h"
#include "workload/trace/workload_check.h"

namespace CLI {
class App;
}

namespace weft::cli {

struct WorkloadOptions {
  std::string config;
  std::string machine;  ///< in place of `config`
  std::vector<std::string> sets;
  std::vector<std::string> jobs;  ///< files of `--job`
  std::string trace, groups, text, goal;
  uint32_t passes = 0;  ///< 0: as the configuration says
  bool has_groups = false;
  bool strict = false;
  bool no_fold = false;
  bool recorded = false;  ///< what passes a block is recorded: all ranks are simulated
  bool force = false;
};

/// Declares the options; they must outlive the parsing.
void add_workload_options(CLI::App& command, WorkloadOptions& options);

/// The configuration with what the options set. `workload.trace` may be empty.
Config load_workload(const WorkloadOptions& options);

/// Throws UserError for whatever keeps any run from beginning, whatever its traces. `warnings`: of
/// check_machine().
void check_run(const Config& config, std::vector<std::string>* warnings = nullptr);

/// The program that `workload.goal` names, checked. Throws UserError, also when the machine has fewer NPUs
/// than the program ranks. `warnings`: of check_program().
goal::Program open_goal(const Config& config, std::vector<std::string>& warnings);

/// `--force`, of every command that builds a machine.
void add_force_option(CLI::App& command, bool& force);

/// A folder that goes away with its files.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct Workload {
  std::unique_ptr<const ScratchFolder> scratch;  ///< traces that were made of a GOAL program
  std::unique_ptr<const trace::JobTrace> traces;
  std::unique_ptr<graph::CheckedJob> job;
  MemoryEstimate memory;
  std::unique_ptr<const text::TextJob> text;  ///< where `traces` come from; null: files
};

/// Reads the traces that `config.workload` names. Throws UserError for whatever keeps the run from beginning:
/// the machine, its memory (unless `--force`), the traces, the plans. `warnings`: of check_machine().
Workload open_workload(const Config& config, const WorkloadOptions& options, const MemoryRoom& room,
                       std::vector<std::string>* warnings = nullptr);

/// The same for every job of `config.jobs`, in their order. The memory is that of all of them, and of the
/// machine.
struct Workloads {
  std::vector<Workload> jobs;
  MemoryEstimate memory;
};
Workloads open_workloads(const Config& config, const MemoryRoom& room,
                         std::vector<std::string>* warnings = nullptr);

}  // namespace weft::cli

#endif
