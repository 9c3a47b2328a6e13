// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The process that finds out until when the replicas of a job are alike (sc_models/splitting.h). It does its
// work while the machine is built.

#ifndef WEFT_SC_MAIN_SPLIT_SCOUT_H
#define WEFT_SC_MAIN_SPLIT_SCOUT_H

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sc_models/trace_job.h"

namespace weft::cli {

class SplitScout {
 public:
  /// The job can be split, and that saves more than it costs.
  static bool pays(const graph::CheckedJob& job);

  /// Makes the process, before any module exists. `limits`: that earlier plans have not kept. `there`: is
  /// called in it at first. Where no process can be made there is no plan.
  SplitScout(std::unique_ptr<graph::CheckedJob>& job, const std::vector<Splitting::Limit>& limits,
             const std::function<void()>& there);
  /// In the process that has made it, it ends.
  ~SplitScout();
  SplitScout(const SplitScout&) = delete;
  SplitScout& operator=(const SplitScout&) = delete;

  /// Waits for it, in this process or in any that was forked from it. Nothing: there is no plan, or nothing
  /// to be gained by it.
  std::optional<Splitting::Plan> plan();

 private:
  struct Answer;

  const size_t units_;
  pid_t maker_;
  pid_t process_ = -1;
  int end_of_it_ = -1;        ///< a pipe whose other end is closed when the scout is over
  Answer* answer_ = nullptr;  ///< in shared memory
};

/// "weft: split: 99,840 of 100,000 ranks do as 80 others until 171.2 ms (--no-fold simulates each)"
std::string split_note(const TraceJob& job, const Splitting& splitting, const Splitting::Plan& plan);

}  // namespace weft::cli

#endif
