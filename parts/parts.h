// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The parts of a machine, each simulated by a process of its own, window by window:
//
//     Meeting at = parts.meet({my next event, ..});      // waits for all parts
//     parts.take_inbox([&](const PartTransfer& t) { links.receive(t); });
//     sc_start until at.next + the smallest latency of a cut link
//
// `at.next` is the earliest of all parts' next events and of what is on its way between them. What a part
// does from then on acts in another one a link's latency later at the earliest: in a later window, whose
// inbox has it.
//
// ProcessParts are processes of this computer, RemoteParts processes of any computers.

#ifndef WEFT_PARTS_PARTS_H
#define WEFT_PARTS_PARTS_H

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "configs/types.h"
#include "parts/cut.h"
#include "parts/reserve.h"
#include "sc_models/part_links.h"

namespace weft::parts {

/// What a part says at a meeting.
struct State {
  Picoseconds next = kNever;  ///< its next event; kNever: it has none
  Picoseconds clock = 0;      ///< its last event
  bool finished = false;      ///< its ranks have
  int32_t stop = 0;           ///< the signal that has asked for the end of the run; 0: none
  bool stuck = false;         ///< it would go on only beyond what parts can tell (see the run's loop)
  bool unlike = false;        ///< it cannot go on: ranks were told from others that they are not like
  uint64_t done = 0;          ///< nodes, for a progress line
};

/// .. and what all have said.
struct Meeting {
  Picoseconds next = kNever;  ///< of any part, and of what is between them
  Picoseconds clock = 0;      ///< the latest
  bool finished = true;       ///< all
  int32_t stop = 0;           ///< of some part
  bool stuck = false;         ///< some
  bool unlike = false;        ///< some
  uint64_t done = 0;          ///< sum

  void add(const State& state);
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

class Parts : public PartBorder {
 public:
  explicit Parts(Cut cut) : cut_(std::move(cut)), words_(cut_.parts) {}

  /// Before any module exists. From then on this process is one part. One more process is kept in reserve by
  /// part 0, as it is now: there split() returns when part 0 calls start_again(), and answers why. In all
  /// others it answers nothing. Throws UserError when a process cannot be made, or the parts do not come
  /// together.
  virtual std::string split() = 0;
  /// Of part 0: ends the other parts, lets the process in reserve do all, and waits for it. `stop`: a signal
  /// that has come meanwhile, to be passed on; 0: none. Answers its exit code.
  int start_again(const std::string& why, const std::function<int()>& stop);
  bool first() const { return self_ == 0; }

  // PartBorder
  uint32_t parts() const final { return cut_.parts; }
  uint32_t self() const final { return self_; }
  uint32_t part_of(uint32_t rank) const final { return cut_.part_of[rank]; }

  /// Waits for all parts. Throws UserError when one of them has failed or died: its code, and a text that
  /// names it.
  Meeting meet(const State& own);
  /// Calls receive(transfer) for what other parts have sent before the last meeting, part by part.
  template <typename F>
  void take_inbox(F&& receive) const {
    for (uint32_t from = 0; from < cut_.parts; ++from) {
      const Batch batch = inbox(from);
      for (uint64_t i = 0; i < batch.count; ++i) receive(batch.all[i]);
    }
  }
  /// The largest of the numbers that all parts say. A meeting.
  uint64_t largest(uint64_t own);

  /// Part 0 gets what all others give, by part; the others get nothing. Throws UserError like meet().
  virtual std::vector<std::string> gather(std::string own) = 0;

  /// Of another part than 0: what it had to do is done. Or it could not, and says why; part 0 throws that.
  [[noreturn]] virtual void leave() = 0;
  [[noreturn]] virtual void fail(ExitCode code, const std::string& text) = 0;

  const Cut& cut() const { return cut_; }
  const WindowStatistics& statistics() const { return statistics_; }

 protected:
  /// What a part tells all others at a meeting.
  struct Word {
    State state;
    uint64_t number = 0;
    double cpu_seconds = 0;  ///< of the last window
  };
  struct Batch {
    const PartTransfer* all = nullptr;
    uint64_t count = 0;
  };
  /// Tells all others the own word, with what was posted since the last time; all words are in words_ then.
  /// The next event of a word takes what its part has posted into account.
  virtual void exchange(Word own) = 0;
  virtual Batch inbox(uint32_t from) const = 0;
  /// Of part 0, which goes on alone because of that.
  virtual void end_others(const std::string& why) = 0;
  /// "its ranks are those with rank / 64 % 16 * 4 / 16 = 2": of a part.
  std::string ranks_of(uint32_t part) const;

  const Cut cut_;
  uint32_t self_ = 0;
  std::vector<Word> words_;  ///< of the last meeting, by part
  Reserve reserve_;
  WindowStatistics statistics_;

 private:
  Meeting meet(const State& own, uint64_t number, uint64_t& largest);

  double began_ = 0;
  double cpu_began_ = 0;
  double cpu_last_ = 0;
};

}  // namespace weft::parts

#endif
