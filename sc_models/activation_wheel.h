// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Runs the fabric's modules when they are due. Thousands of NMUs become due at the same instants, with a few
// dozen nanoseconds of work each; one process for all of them spares the kernel's queue, and, since the next
// modules are known while one runs, their memory is fetched ahead. Modules due at one time run in the order
// of their numbers, whichever the calls came in, and after all that processes do at that time (SettledCall):
// results do not depend on the kernel's process order.
//
// One wheel is what one thread or process runs: modules of different wheels must be at least a link's latency
// apart.

#ifndef WEFT_SC_MODELS_ACTIVATION_WHEEL_H
#define WEFT_SC_MODELS_ACTIVATION_WHEEL_H

#include <cstdint>
#include <systemc>
#include <vector>

#include "configs/stop.h"
#include "configs/types.h"
#include "sc_models/settled_call.h"
#include "tlm_interconnect/ports/instant_queue.h"

namespace weft {

class ActivationWheel;

/// A module that is run by a wheel.
class alignas(128) Wakeable {
 public:
  virtual ~Wakeable() = default;
  /// It is due: `now` is the time it asked for.
  virtual void activate(Picoseconds now) = 0;
  /// It is due soon, and the lines that follow its Wakeable are here: it may ask for others. First not
  /// `near`; when another module has run, so that those are here, too, `near`. No effect on results.
  virtual void prepare(bool near) const { (void)near; }

 protected:
  Wakeable() = default;
  /// Asks to be activated at `time` (>= now), or earlier if it has asked for that.
  inline void wake_at(Picoseconds time);
  bool running() const { return running_; }

 private:
  friend class ActivationWheel;
  Picoseconds due_ = kNever;
  ActivationWheel* wheel_ = nullptr;
  uint32_t number_ = 0;
  bool running_ = false;
};

class ActivationWheel : public sc_core::sc_module {
 public:
  explicit ActivationWheel(sc_core::sc_module_name name)
      : sc_core::sc_module(name), settled_("settled", InstantPart::fabric, [this] { run(); }), wake_("wake") {
    SC_HAS_PROCESS(ActivationWheel);
    SC_METHOD(due);
    sensitive << wake_;
    dont_initialize();
  }

  /// Modules are numbered in the order in which they are added.
  void add(Wakeable& module) {
    module.wheel_ = this;
    module.number_ = static_cast<uint32_t>(modules_.size());
    modules_.push_back(&module);
    if (modules_.size() > room_) {
      room_ = 2 * modules_.size();
      queue_.resize(static_cast<uint32_t>(room_));
    }
  }

  void wake(uint32_t number, Picoseconds time) {
    queue_.push(time, number);
    if (time < next_ && !running_) {
      next_ = time;
      const Picoseconds now = sc_core::sc_time_stamp().value();
      if (time == now) {
        settled_.request();
      } else {
        wake_.notify(sc_core::sc_time::from_value(time - now));
      }
    }
  }

 private:
  void due() { settled_.call(); }

  void run() {
    const Picoseconds now = sc_core::sc_time_stamp().value();
    running_ = true;
    while (queue_.next() <= now) {
      if (stop_requested()) {
        running_ = false;
        next_ = now;
        sc_core::sc_pause();
        settled_.request();  // goes on here, if anybody goes on
        return;
      }
      Wakeable& module = *modules_[queue_.pop()];
      fetch_ahead();
      if (module.due_ > now) continue;  // it has asked for an earlier time since, and was run then
      module.due_ = kNever;
      module.running_ = true;
      module.activate(now);
      module.running_ = false;
    }
    running_ = false;
    next_ = queue_.next();
    if (next_ != kNever) wake_.notify(sc_core::sc_time::from_value(next_ - now));
  }

  /// The memory of the modules that probably come next, at this instant or the ones after it: a step each,
  /// since what one asks for stands in lines that it has asked for before. The next one of all has been
  /// through all steps; memory takes longer than it runs.
  void fetch_ahead() {
    constexpr uint32_t kNone = fabric::InstantQueue::kNone;
    const uint32_t next = queue_.peek();
    if (next == ahead_[0] && ahead_[2] != kNone) {
      // Mostly the ones after the next are those that were seen the last time, but for what has been added.
      const uint32_t fourth = queue_.peek_after(ahead_[2]);
      if (fourth != kNone) return fetch_steps(ahead_[1], ahead_[2], fourth);
    }
    uint32_t instants = 0;  // after this one
    const auto after = [&](uint32_t number) {
      const uint32_t here = instants == 0 ? queue_.peek_after(number) : kNone;
      return here != kNone ? here : queue_.peek_later(instants++);
    };
    const uint32_t second = after(next != kNone ? next : queue_.peek_later(instants++));
    const uint32_t third = after(second);
    fetch_steps(second, third, after(third));
    if (instants == 0) return;
    ahead_[2] = kNone;  // it is not seen among those of this instant
    const uint32_t fifth = queue_.peek_later(instants);
    if (fifth != kNone) __builtin_prefetch(&modules_[fifth]);
  }
  void fetch_steps(uint32_t second, uint32_t third, uint32_t fourth) {
    constexpr uint32_t kNone = fabric::InstantQueue::kNone;
    if (second != kNone) modules_[second]->prepare(true);
    if (third != kNone) modules_[third]->prepare(false);
    if (fourth != kNone) fetch(modules_[fourth]);
    ahead_[0] = second;
    ahead_[1] = third;
    ahead_[2] = fourth;
  }
  /// The lines that follow a Wakeable are the ones its module keeps its hottest data in.
  static void fetch(const Wakeable* module) {
    const char* at = reinterpret_cast<const char*>(module);
    for (int line = 0; line < kFetchLines; ++line) __builtin_prefetch(at + 64 * line);
  }
  static constexpr int kFetchLines = 6;

  fabric::InstantQueue queue_;  ///< of modules' numbers
  std::vector<Wakeable*> modules_;
  SettledCall settled_;
  size_t room_ = 0;  ///< for so many
  sc_core::sc_event wake_;
  Picoseconds next_ = kNever;
  bool running_ = false;
  /// The modules after the next one when that was looked for last.
  uint32_t ahead_[3] = {fabric::InstantQueue::kNone, fabric::InstantQueue::kNone,
                        fabric::InstantQueue::kNone};
};

void Wakeable::wake_at(Picoseconds time) {
  if (time >= due_) return;
  due_ = time;
  wheel_->wake(number_, time);
}

}  // namespace weft

#endif
