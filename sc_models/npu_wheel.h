// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Runs NPUs when they are due, with one process and one event of the kernel for all of them. Thousands become
// due at the same instants; an event each would cost the kernel's queue more than they take. It runs with the
// kernel's other processes, before the parts of the instant that wait for these (InstantPart).

#ifndef WEFT_SC_MODELS_NPU_WHEEL_H
#define WEFT_SC_MODELS_NPU_WHEEL_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <systemc>
#include <vector>

#include "configs/stop.h"
#include "configs/types.h"
#include "tlm_interconnect/ports/fetch_ahead.h"
#include "tlm_interconnect/ports/instant_queue.h"

namespace weft {

class NpuWheel final : public sc_core::sc_module {
 public:
  /// Who is run. Those that are due at one time run in the order in which they were added.
  class Client {
   public:
    virtual ~Client() = default;
    virtual void run_due() = 0;
    /// It is due soon, and the lines that follow its Client are here: it may ask for others. No effect on
    /// results.
    virtual void prepare() const {}

   protected:
    Client() = default;
    /// Asks to be run at `time` (>= now), or earlier if it has asked for that. Now: in the next delta cycle,
    /// so that all that comes in this one is in.
    void run_at(Picoseconds time) {
      if (time >= due_) return;
      due_ = time;
      wheel_->wake(number_, time);
    }
    /// Takes back what it has asked for.
    void forget() { due_ = kNever; }

   private:
    friend class NpuWheel;
    Picoseconds due_ = kNever;
    NpuWheel* wheel_ = nullptr;
    uint32_t number_ = 0;
  };

  explicit NpuWheel(sc_core::sc_module_name name) : sc_core::sc_module(name), wake_("wake") {
    SC_HAS_PROCESS(NpuWheel);
    SC_METHOD(run);
    sensitive << wake_;
    dont_initialize();
  }

  void add(Client& client) {
    client.wheel_ = this;
    client.number_ = static_cast<uint32_t>(clients_.size());
    clients_.push_back(&client);
    if (clients_.size() <= room_) return;
    room_ = 2 * clients_.size();
    queue_.resize(static_cast<uint32_t>(room_));
  }

 private:
  void wake(uint32_t number, Picoseconds time) {
    if (time > now()) {
      queue_.push(time, number);
      if (!running_ && time < next_) notify(time);
      return;
    }
    if (asked_in_ != sc_core::sc_delta_count()) pass_on();
    // Between two steps of the simulation no delta cycle is under way.
    (sc_core::sc_get_status() == sc_core::SC_RUNNING ? asked_ : soon_).push_back(number);
    next_ = time;
    wake_.notify(sc_core::SC_ZERO_TIME);
  }

  void notify(Picoseconds time) {
    next_ = time;
    wake_.notify(sc_core::sc_time::from_value(time - now()));
  }

  /// What was asked for in an earlier delta cycle is due.
  void pass_on() {
    soon_.insert(soon_.end(), asked_.begin(), asked_.end());
    asked_.clear();
    asked_in_ = sc_core::sc_delta_count();
  }

  static Picoseconds now() { return sc_core::sc_time_stamp().value(); }

  void take_due() {
    if (asked_in_ != sc_core::sc_delta_count()) pass_on();
    if (!std::is_sorted(soon_.begin(), soon_.end())) std::sort(soon_.begin(), soon_.end());
    batch_.clear();
    while (queue_.next() <= now()) batch_.push_back(queue_.pop());
    if (soon_.empty()) return;
    const auto timed = static_cast<std::ptrdiff_t>(batch_.size());
    batch_.insert(batch_.end(), soon_.begin(), soon_.end());
    std::inplace_merge(batch_.begin(), batch_.begin() + timed, batch_.end());
    soon_.clear();
  }

  void run() {
    if (stop_requested()) sc_core::sc_pause();
    running_ = true;
    take_due();
    for (size_t i = 0; i < batch_.size(); ++i) {
      if (i + kFar < batch_.size()) fabric::fetch_lines(clients_[batch_[i + kFar]], fabric::kModuleBytes);
      if (i + kNear < batch_.size()) clients_[batch_[i + kNear]]->prepare();
      Client& client = *clients_[batch_[i]];
      if (client.due_ > now()) continue;  // it has asked for an earlier time since, and was run then
      client.due_ = kNever;
      client.run_due();
    }
    running_ = false;
    fetch_later();
    if (!asked_.empty()) {
      wake_.notify(sc_core::SC_ZERO_TIME);
      return;
    }
    next_ = kNever;
    if (queue_.next() != kNever) notify(queue_.next());
  }

  /// What is due at the next instants.
  void fetch_later() {
    constexpr uint32_t kNone = fabric::InstantQueue::kNone;
    const uint32_t near = queue_.peek_later(1);
    const uint32_t far = queue_.peek_later(3);
    if (near != kNone) clients_[near]->prepare();
    if (far != kNone) fabric::fetch_lines(clients_[far], fabric::kModuleBytes);
  }
  static constexpr size_t kFar = 6, kNear = 3;

  fabric::InstantQueue queue_;  ///< of clients' numbers
  std::vector<Client*> clients_;
  std::vector<uint32_t> batch_;  ///< clients' numbers: those of this delta cycle
  std::vector<uint32_t> soon_;   ///< .. that were asked for in an earlier one
  std::vector<uint32_t> asked_;  ///< .. in the delta cycle asked_in_, for the next one
  uint64_t asked_in_ = 0;
  size_t room_ = 0;  ///< for so many
  sc_core::sc_event wake_;
  Picoseconds next_ = kNever;  ///< what wake_ is notified for
  bool running_ = false;
};

}  // namespace weft

#endif
