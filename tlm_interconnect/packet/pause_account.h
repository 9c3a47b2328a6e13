// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What the sender on a link with priority flow control has been told about one virtual network: pauses and
// resumes, which take turns, each in force from a time that may lie ahead.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_PAUSE_ACCOUNT_H
#define WEFT_TLM_INTERCONNECT_PACKET_PAUSE_ACCOUNT_H

#include <cstdint>

#include "configs/ticks.h"
#include "tlm_interconnect/packet/flit_queue.h"
#include "tlm_interconnect/packet/state_record.h"

namespace weft::packet {

class PauseAccount {
 public:
  struct Figures {
    uint64_t pauses = 0;
    Ticks time = 0;
    void operator+=(const Figures& other) {
      pauses += other.pauses;
      time += other.time;
    }
  };

  /// A pause, or the resume after one, is in force from then on.
  void change(Ticks from) { changes_.push_back(from); }
  /// The next of the two is a resume.
  bool expects_resume() const { return paused_ != ((changes_.size() & 1) != 0); }

  /// No packet may begin at `t`; calls must not go back in time.
  bool at(Ticks t) {
    while (!changes_.empty() && changes_.front() <= t) {
      turn(changes_.front(), paused_, since_, figures_);
      changes_.pop_front();
    }
    return paused_;
  }
  /// When it changes, after the time of the last at(); kNever: not known yet.
  Ticks next_change() const { return changes_.empty() ? kNever : changes_.front(); }

  /// The same without moving on.
  bool paused(Ticks t) const {
    bool paused = paused_;
    for (uint32_t k = 0; k < changes_.size() && changes_[k] <= t; ++k) paused = !paused;
    return paused;
  }
  Figures figures(Ticks t) const {
    bool paused = paused_;
    Ticks since = since_;
    Figures result = figures_;
    for (uint32_t k = 0; k < changes_.size() && changes_[k] <= t; ++k)
      turn(changes_[k], paused, since, result);
    if (paused) result.time += t - since;
    return result;
  }

  /// Nothing is paused any more; what has been counted up to `t` stays.
  void restart(Ticks t) {
    figures_ = figures(t);
    paused_ = false;
    changes_.clear();
  }

  /// For packet trains. Nothing is to be shifted: while a pause is on its way or lasts no two records agree.
  void write(StateRecord& state) {
    at(state.now());
    state.number((uint64_t{changes_.size()} << 1) | (paused_ ? 1u : 0u));
    state.number(figures_.pauses);
    for (uint32_t k = 0; k < changes_.size(); ++k) state.time(changes_[k]);
    if (paused_) state.time(since_);
  }

 private:
  static void turn(Ticks t, bool& paused, Ticks& since, Figures& figures) {
    paused = !paused;
    if (paused) {
      since = t;
      ++figures.pauses;
    } else {
      figures.time += t - since;
    }
  }

  bool paused_ = false;
  Ticks since_ = 0;
  Figures figures_;
  Ring<Ticks, 2> changes_;
};

}  // namespace weft::packet

#endif
