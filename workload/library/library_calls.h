// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The calls of a communication library that a run makes: the plan of each, and when it begins and ends. A
// call begins when its last member has joined it and the communicator's call before it is over, as kernels of
// one stream follow each other. Its launch comes first; calls that all members join at one instant are a
// group and pay for one launch. No SystemC here: sc_models/library_runs.h brings the time.

#ifndef WEFT_WORKLOAD_LIBRARY_LIBRARY_CALLS_H
#define WEFT_WORKLOAD_LIBRARY_LIBRARY_CALLS_H

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "configs/config.h"
#include "workload/collectives/plan.h"
#include "workload/library/communication_library.h"

namespace weft::library {

/// The members of a collective that take part in it together with `rank`, ascending. All members of its
/// group, or those of its line where the collective runs in some dimensions only.
std::vector<uint32_t> members_with(const collectives::CollectivePlan& plan, uint32_t rank);
/// A number for them: the same for each of them, and another one for another line.
uint32_t line_of(const collectives::CollectivePlan& plan, uint32_t rank);

/// Calls of one communicator follow each other. A group's lines along other dimensions are communicators of
/// their own. Third: its line, or one of its members.
using Communicator = std::tuple<const collectives::Group*, uint32_t, uint32_t>;
inline Communicator communicator(const collectives::CollectivePlan& plan, uint32_t of) {
  return {plan.request().group, plan.request().involved_dimensions, of};
}

class LibraryCalls {
 public:
  /// Throws UserError as CommunicationLibrary does. The configuration outlives it.
  explicit LibraryCalls(const Config& config);

  const CommunicationLibrary& library() const { return library_; }
  const LibraryParameters& parameters() const { return parameters_; }

  /// The library's plan of a collective for the members of `rank`'s line. Ranks are those of the machine.
  const LibraryPlan& plan(const collectives::CollectivePlan& plan, uint32_t rank);

  /// What a message of `bytes` between two NPUs costs before its first byte is on a link: launch, base and
  /// latency of the library's send. The links themselves are the topology's.
  Picoseconds send_delay(uint32_t from, uint32_t to, uint64_t bytes) const;

  /// When a call ends that all members have joined, the last of them at `joined`, and that may not begin
  /// before `ready`. `grouped`: it is launched together with what is no call of this object. Call in the
  /// order in which the calls of a communicator are to follow each other.
  Picoseconds end_of(const collectives::CollectivePlan& plan, uint32_t rank, const LibraryPlan& work,
                     Picoseconds joined, Picoseconds ready = 0, bool grouped = false);

 private:
  using Line = std::pair<const collectives::CollectivePlan*, uint32_t>;
  struct Stream {
    Picoseconds joined = kNever;  ///< of the last call
    Picoseconds free = 0;         ///< from then on
  };

  /// Where the ranks are on the machine, ascending.
  std::vector<uint32_t> npus_of(std::vector<uint32_t> ranks) const;

  const Config& config_;
  CommunicationLibrary library_;
  LibraryParameters parameters_;
  std::map<Line, LibraryPlan> plans_;
  std::map<Communicator, Stream> streams_;
};

}  // namespace weft::library

#endif
