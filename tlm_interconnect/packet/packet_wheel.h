// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Runs the routers and interfaces of packet networks when they are due: one process of the kernel for all of
// them. Those due at one picosecond run in the order of their numbers; results do not depend on that order.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_PACKET_WHEEL_H
#define WEFT_TLM_INTERCONNECT_PACKET_PACKET_WHEEL_H

#include <algorithm>
#include <cstdint>
#include <systemc>
#include <utility>
#include <vector>

#include "configs/stop.h"
#include "tlm_interconnect/packet/ticks.h"
#include "tlm_interconnect/ports/fetch_ahead.h"
#include "tlm_interconnect/ports/instant_queue.h"

namespace weft::packet {

class PacketWheel;

/// A router or an interface.
class WheelModule {
 public:
  virtual ~WheelModule() = default;
  /// It is due.
  virtual void activate() = 0;
  /// It is due soon, and the lines that follow its WheelModule are here: it may ask for others. First not
  /// `near`; when another module has run, so that those are here, too, `near`. No effect on results.
  virtual void prepare(bool near) const { (void)near; }

 protected:
  /// At elaboration. Modules are numbered in the order in which they are made.
  inline explicit WheelModule(PacketWheel& wheel);
  /// To be run at `t`, which is not before the picosecond that is now; takes the place of an earlier request.
  inline void run_at(Ticks t);
  /// To be run again in the next delta cycle.
  inline void run_again();
  inline void run_no_more();

 private:
  friend class PacketWheel;
  PacketWheel& wheel_;
  const uint32_t place_;
};

class PacketWheel final : public sc_core::sc_module {
 public:
  explicit PacketWheel(sc_core::sc_module_name name) : sc_module(name), wake_("wake") {
    SC_HAS_PROCESS(PacketWheel);
    SC_METHOD(run);
    sensitive << wake_;
    dont_initialize();
  }

 private:
  friend class WheelModule;

  /// Its number.
  uint32_t add(WheelModule& module) {
    modules_.push_back(&module);
    due_.push_back(kNever);
    if (modules_.size() > room_) {
      room_ = 2 * modules_.size();
      queue_.resize(static_cast<uint32_t>(room_));
    }
    return static_cast<uint32_t>(modules_.size() - 1);
  }

  void run_at(uint32_t number, Picoseconds at) {
    due_[number] = at;
    queue_.push(at, number);
    if (running_ || at >= next_) return;
    next_ = at;
    wake_.notify(sc_core::sc_time::from_value(at - sc_core::sc_time_stamp().value()));
  }

  void run() {
    if (stop_requested()) sc_core::sc_pause();
    const Picoseconds now = sc_core::sc_time_stamp().value();
    running_ = true;
    for (const uint32_t number : std::exchange(again_, {})) run_at(number, now);
    while (queue_.next() <= now) {
      const uint32_t number = queue_.pop();
      if (due_[number] != now) continue;  // it has asked for another time since
      fabric::fetch_this_instant(queue_, modules_);
      due_[number] = kNever;
      modules_[number]->activate();
    }
    running_ = false;
    next_ = again_.empty() ? queue_.next() : now;
    if (next_ != kNever) wake_.notify(sc_core::sc_time::from_value(next_ - now));
  }

  fabric::InstantQueue queue_;  ///< of modules' numbers
  std::vector<WheelModule*> modules_;
  std::vector<Picoseconds> due_;  ///< by module; kNever: it is not to be run
  std::vector<uint32_t> again_;   ///< in the next delta cycle
  size_t room_ = 0;               ///< for so many modules
  sc_core::sc_event wake_;
  Picoseconds next_ = kNever;
  bool running_ = false;
};

WheelModule::WheelModule(PacketWheel& wheel) : wheel_(wheel), place_(wheel.add(*this)) {}

void WheelModule::run_at(Ticks t) {
  wheel_.run_at(place_, picoseconds(t));
}

void WheelModule::run_again() {
  wheel_.again_.push_back(place_);
}

void WheelModule::run_no_more() {
  wheel_.due_[place_] = kNever;
}

}  // namespace weft::packet

#endif
