// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The parts of a machine as processes of this computer. split() forks; from then on each process is one part,
// and simulates it window by window:
//
//     Meeting at = parts.meet({my next event, ..});      // waits for all parts
//     for (const PartTransfer& t : inbox) links.receive(t);
//     sc_start until at.next + the smallest latency of a cut link
//
// `at.next` is the earliest of all parts' next events and of what is on its way between them. What a part
// does from then on acts in another one a link's latency later at the earliest: in a later window, whose
// inbox has it.
//
// Transfers go through rings of shared memory, one for each pair of parts and parity of the window, so that
// one meeting a window is enough: what is written in a window is read in the next one, and written again in
// the one after that.

#ifndef WEFT_PARTS_PROCESS_PARTS_H
#define WEFT_PARTS_PROCESS_PARTS_H

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "configs/types.h"
#include "parts/cut.h"
#include "sc_models/part_links.h"

namespace weft::parts {

/// What a part says at a meeting.
struct State {
  Picoseconds next = kNever;  ///< its next event; kNever: it has none
  Picoseconds clock = 0;      ///< its last event
  bool finished = false;      ///< its ranks have
  bool stop = false;          ///< a signal has asked for the end of the run
  bool stuck = false;         ///< it would go on only beyond what parts can tell (see the run's loop)
  uint64_t done = 0;          ///< nodes, for a progress line
};

/// .. and what all have said.
struct Meeting {
  Picoseconds next = kNever;  ///< of any part, and of what is between them
  Picoseconds clock = 0;      ///< the latest
  bool finished = true;       ///< all
  bool stop = false;          ///< some
  bool stuck = false;         ///< some
  uint64_t done = 0;          ///< sum
};

/// How a run in parts went.
struct WindowStatistics {
  uint64_t windows = 0;
  uint64_t transfers = 0;       ///< that this part has sent to others
  double waiting_seconds = 0;   ///< at meetings
  double seconds = 0;           ///< from the first meeting to the last one
  double cpu_seconds = 0;       ///< of this process, in that time
  double critical_seconds = 0;  ///< sum over the windows of the slowest part's processor time
};

class ProcessParts final : public PartBorder {
 public:
  /// Throws UserError: there is not enough shared memory.
  explicit ProcessParts(Cut cut);
  ~ProcessParts() override;
  ProcessParts(const ProcessParts&) = delete;
  ProcessParts& operator=(const ProcessParts&) = delete;

  /// Before any module exists. This process becomes part 0; the others end in leave(), or when this one ends.
  /// One more process is kept in reserve, as it is now: there split() returns when part 0 calls
  /// start_again(), and answers why. In all others it answers nothing. Throws UserError when a process cannot
  /// be made.
  std::string split();
  /// Of part 0: ends the other parts, lets the process in reserve do all, and waits for it. `stop`: a signal
  /// that has come meanwhile, to be passed on; 0: none. Answers its exit code.
  int start_again(const std::string& why, const std::function<int()>& stop);
  bool first() const { return self_ == 0; }

  // PartBorder
  uint32_t parts() const override { return cut_.parts; }
  uint32_t self() const override { return self_; }
  uint32_t part_of(uint32_t rank) const override { return cut_.part_of[rank]; }
  void post(uint32_t part, const PartTransfer& transfer) override;

  /// Waits for all parts. Throws UserError when one of them has failed or died: its code, and a text that
  /// names it.
  Meeting meet(const State& own);
  /// Calls receive(transfer) for what other parts have sent before the last meeting, part by part.
  template <typename F>
  void take_inbox(F&& receive) const {
    for (uint32_t from = 0; from < cut_.parts; ++from) {
      if (from == self_) continue;
      const Ring& ring = ring_at(from, self_, read_);
      const PartTransfer* const all = transfers(ring);
      for (uint64_t i = 0; i < ring.count; ++i) receive(all[i]);
    }
  }
  /// The largest of the numbers that all parts say. A meeting.
  uint64_t largest(uint64_t own);

  /// Part 0 gets what all others give, by part; the others get nothing. Throws UserError like meet().
  std::vector<std::string> gather(std::string own);

  /// Of another part than 0: what it had to do is done. Or it could not, and says why; part 0 throws that.
  [[noreturn]] void leave();
  [[noreturn]] void fail(ExitCode code, const std::string& text);

  const Cut& cut() const { return cut_; }
  const WindowStatistics& statistics() const { return statistics_; }

 private:
  struct Board;
  struct Ring {
    uint64_t count = 0;
    uint64_t earliest = kNever;  ///< when the first of them acts
  };
  Ring& ring_at(uint32_t from, uint32_t to, uint32_t parity) const;
  static PartTransfer* transfers(const Ring& ring);
  void end_others();
  static std::string wait_in_reserve(int from);
  void wait_for_all();
  void check_others();
  [[noreturn]] void tell_failure();
  double cpu_seconds() const;

  const Cut cut_;
  uint32_t self_ = 0;
  Board* board_ = nullptr;
  char* rings_ = nullptr;
  uint64_t ring_bytes_ = 0;
  uint32_t write_ = 0;  ///< parity
  uint32_t read_ = 1;
  std::vector<pid_t> others_;  ///< of part 0: by part - 1; 0: it is over
  pid_t reserve_ = 0;
  int to_reserve_ = -1;
  std::vector<int> pipes_;  ///< of part 0: from the others; of these, one to part 0
  WindowStatistics statistics_;
  double began_ = 0;
  double cpu_began_ = 0;
  double cpu_last_ = 0;
};

}  // namespace weft::parts

#endif
