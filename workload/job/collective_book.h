// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The book of a job's collectives: makes a row when the first member starts one, adds each member's part, and
// in data-carrying mode compares what the members got with the definition.

#ifndef WEFT_WORKLOAD_JOB_COLLECTIVE_BOOK_H
#define WEFT_WORKLOAD_JOB_COLLECTIVE_BOOK_H

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "configs/config.h"
#include "workload/collectives/data_check.h"
#include "workload/collectives/engine.h"
#include "workload/collectives/plan.h"
#include "workload/job/rows.h"
#include "workload/library/library_plan.h"

namespace weft {

/// The lower bound of a collective that starts `now`. `where` begins the message of the UserError if it
/// cannot end in simulated time.
Picoseconds bound_in_time(const Config& config, const collectives::CollectivePlan& plan, Picoseconds now,
                          const std::function<std::string()>& where);

/// The row of a collective that its first member starts `now`. `where`: as above.
CollectiveRow make_row(const Config& config, const collectives::CollectivePlan& plan, uint32_t stream,
                       Picoseconds now, const std::function<std::string()>& where);

/// Tells of the library's plan in the row of a collective that takes `time` alone: its phases and chunks are
/// not those of Weft's own plan, and neither is what it takes at least.
void tell_library_plan(const library::LibraryPlan& plan, Picoseconds time, CollectiveRow& row);

class CollectiveBook {
 public:
  /// `data`: of the machine, in data-carrying mode; null: sizes only. It outlives the book. `origin`: the
  /// machine's time at which the job's clock began; rows have times of the job's clock.
  CollectiveBook(const collectives::DataContext* data, Picoseconds origin) : data_(data), origin_(origin) {}

  /// Adds a member's part to the row.
  void record(const collectives::CollectiveDone& done, CollectiveRow& row);
  /// Keeps a line about a point-to-point message that carried wrong data; of many, the first ones.
  void note_wrong_message(const std::string& line);
  /// .. about a tensor that came back from memory with other bytes than were stored.
  void note_wrong_tensor(const std::string& line);

  /// Lines about wrong data so far.
  const std::vector<std::string>& wrong_data() const { return wrong_data_; }
  /// The same, and how many more there were.
  void report_wrong_data(std::vector<std::string>& lines) const;
  /// Finished collectives all of whose members' outputs were compared.
  uint64_t verified_collectives() const { return collectives_; }
  /// .. and the elements of these.
  uint64_t verified_elements() const { return elements_; }

 private:
  void verify(const collectives::CollectiveDone& done, const CollectiveRow& row);

  const collectives::DataContext* data_ = nullptr;
  const Picoseconds origin_;
  std::unordered_map<uint32_t, collectives::DataCheck> checks_;  ///< by stream, until all members are done
  std::vector<std::string> wrong_data_;                          ///< one line a collective, the first kept
  uint64_t wrong_messages_ = 0;
  uint64_t wrong_tensors_ = 0;
  std::unordered_set<uint32_t> wrong_streams_;
  std::unordered_set<uint32_t> defect_streams_;
  uint64_t collectives_ = 0;
  uint64_t elements_ = 0;
};

}  // namespace weft

#endif
