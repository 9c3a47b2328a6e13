// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The programs of a run's calls: makes each when it is needed, and keeps the latest.

#ifndef WEFT_WORKLOAD_PROGRAMS_PROGRAM_BOOK_H
#define WEFT_WORKLOAD_PROGRAMS_PROGRAM_BOOK_H

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "workload/collectives/data.h"
#include "workload/library/library_calls.h"
#include "workload/programs/make_program.h"
#include "workload/programs/program.h"

namespace weft::library {

class ProgramBook {
 public:
  /// All outlive the book. `data`: of the machine; null: sizes only.
  ProgramBook(const Config& config, LibraryCalls& calls, collectives::DataContext* data)
      : config_(config), calls_(calls), data_(data) {}

  struct Work {
    std::vector<uint32_t> npus;  ///< members of the line, ascending
    std::shared_ptr<const Program> program;
  };
  /// What the members of `rank`'s line do to carry out the library's plan. Valid until the next call. Throws
  /// UserError(usage) when the plan has no program.
  const Work& work(const std::shared_ptr<const collectives::CollectivePlan>& plan, uint32_t rank,
                   Reducers reducers);

 private:
  using Line = std::tuple<const collectives::CollectivePlan*, uint32_t, bool, bool>;
  Program make(const std::shared_ptr<const collectives::CollectivePlan>& plan, const Work& work,
               Reducers reducers);
  void forget();

  const Config& config_;
  LibraryCalls& calls_;
  collectives::DataContext* data_;
  std::map<Line, Work> works_;
  std::deque<Line> latest_;  ///< of works_, the first made first
  uint64_t kept_ = 0;        ///< messages of their programs
};

}  // namespace weft::library

#endif
