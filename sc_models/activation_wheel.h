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
#include "tlm_interconnect/ports/fetch_ahead.h"
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
      ahead_.popped(queue_, modules_);
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

  fabric::InstantQueue queue_;  ///< of modules' numbers
  std::vector<Wakeable*> modules_;
  SettledCall settled_;
  size_t room_ = 0;  ///< for so many
  sc_core::sc_event wake_;
  Picoseconds next_ = kNever;
  bool running_ = false;
  fabric::FetchAhead ahead_;
};

void Wakeable::wake_at(Picoseconds time) {
  if (time >= due_) return;
  due_ = time;
  wheel_->wake(number_, time);
}

}  // namespace weft

#endif
