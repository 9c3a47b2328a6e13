// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Whose turn it is among the calls of one communicator at one of its members. Calls follow each other, as
// kernels of a stream do, in the order in which their last members have joined them: that order is the same
// at all members, whichever they have joined first. A member that has nothing else to do begins a call before
// all have joined it. Such a call holds up nobody: if another one is complete first, it begins beside it. So
// the first complete call that is not over always runs at all members, and calls that are joined in different
// orders end all the same.

#ifndef WEFT_WORKLOAD_LIBRARY_CALL_TURNS_H
#define WEFT_WORKLOAD_LIBRARY_CALL_TURNS_H

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace weft::library {

class CallTurns {
 public:
  /// The member has joined the call, a number of its own.
  void join(uint32_t call) { turns_.push_back({call}); }
  /// All members have joined it; `place` in the order of such calls, 1 or more. The member's part may be
  /// over: who only sends does not wait for the others.
  void complete(uint32_t call, uint64_t place) {
    if (const auto at = find(call); at != turns_.end()) at->place = place;
  }
  /// The member's part is over.
  void end(uint32_t call) { turns_.erase(find(call)); }

  /// The call that begins now, if any; it has begun then.
  std::optional<uint32_t> begin() {
    Turn* first = nullptr;  // of those that are complete
    bool runs = false;
    for (Turn& turn : turns_) {
      runs = runs || turn.begun;
      if (turn.place != 0 && (first == nullptr || turn.place < first->place)) first = &turn;
    }
    if (first == nullptr && !runs && !turns_.empty()) first = &turns_.front();
    if (first == nullptr || first->begun) return std::nullopt;
    first->begun = true;
    return first->call;
  }

 private:
  struct Turn {
    uint32_t call;
    uint64_t place = 0;  ///< 0: not complete
    bool begun = false;
  };
  std::vector<Turn>::iterator find(uint32_t call) {
    return std::find_if(turns_.begin(), turns_.end(), [call](const Turn& t) { return t.call == call; });
  }

  std::vector<Turn> turns_;  ///< not over, as they were joined
};

}  // namespace weft::library

#endif
