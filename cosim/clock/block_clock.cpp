// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/clock/block_clock.h"

#include <fmt/format.h>

#include <algorithm>

#include "configs/units.h"
#include "cosim/kernel_time.h"

namespace weft::cosim {
namespace {

/// A clock that has not moved anything for its patience looks around once in so many edges.
constexpr uint64_t kLookEvery = 1024;
/// So many times its patience a block has that holds qactive high.
constexpr uint64_t kPatienceOfTheActive = 1000;
/// Delta cycles after which it gives up: somebody else is at work at this time.
constexpr uint32_t kMostLooks = 64;

void find_clocks(const std::vector<sc_core::sc_object*>& objects, std::vector<BlockClock*>& clocks) {
  for (sc_core::sc_object* object : objects) {
    if (auto* clock = dynamic_cast<BlockClock*>(object)) clocks.push_back(clock);
    find_clocks(object->get_child_objects(), clocks);
  }
}

}  // namespace

BlockClock::BlockClock(sc_core::sc_module_name module_name, const Options& options)
    : sc_core::sc_module(module_name),
      options_(options),
      clock_("clock", false),
      reset_("reset", (options.reset_cycles == 0) == options.reset_active_low),
      qactive_("qactive"),
      turn_("pin_changes"),
      look_("looks_around"),
      reset_left_(options.reset_cycles),
      start_edges_(uint64_t{options.reset_cycles} + options.quiet_edges) {
  const auto refuse = [this](const char* what) {
    throw UserError(ExitCode::usage, fmt::format("clock {}: {}", name(), what));
  };
  if (options_.period < 2) refuse("its period must be at least 2 ps, for a rising and a falling edge");
  if (options_.quiet_edges == 0) refuse("it stops after 1 quiet edge or more, not after 0");
  if (options_.patience == 0) refuse("its patience is 1 edge or more, not 0");
  SC_HAS_PROCESS(BlockClock);
  SC_METHOD(turn);
  sensitive << turn_;
  SC_METHOD(at_edge);
  sensitive << clock_.posedge_event();
  dont_initialize();
  SC_METHOD(look_around);
  sensitive << look_;
  dont_initialize();
}

BlockClock::~BlockClock() = default;

void BlockClock::qactive(sc_core::sc_out<bool>& pin) {
  pin.bind(qactive_);
  has_qactive_ = true;
}

bool BlockClock::free() const {
  return options_.policy == Policy::free || (options_.policy == Policy::automatic && !has_qactive_);
}

void BlockClock::together(BlockClock& other) {
  if (&other == this || std::find(peers_.begin(), peers_.end(), &other) != peers_.end()) return;
  peers_.push_back(&other);
  other.peers_.push_back(this);
}

uint64_t BlockClock::cycle(Picoseconds time) const {
  return time < options_.phase ? 0 : (time - options_.phase) / options_.period;
}

Picoseconds BlockClock::edge_after(Picoseconds time) const {
  // None at time 0: the kernel initialises all processes there.
  if (time < options_.phase) return options_.phase;
  return later(options_.phase, times(options_.period, cycle(time) + 1));
}

void BlockClock::schedule(Picoseconds rising) {
  next_turn_ = rising;
  turn_.cancel();
  turn_.notify(sc_core::sc_time::from_value(rising - cosim::now()));
}

/// The pin changes.
void BlockClock::turn() {
  const Picoseconds now = cosim::now();
  if (!started_) {
    started_ = true;
    schedule(edge_after(now));
  } else if (next_turn_ != now) {
    return;
  } else if (high_) {
    fall(now);
  } else {
    rise(now);
  }
}

void BlockClock::rise(Picoseconds now) {
  running_ = true;
  high_ = true;
  ++edges_;
  ++still_;
  while (!wakes_.empty() && wakes_.top() < now) {
    wakes_.pop();
    quiet_for_ = 0;
  }
  clock_.write(true);
  next_turn_ = now + options_.period / 2;
  turn_.notify(sc_core::sc_time::from_value(next_turn_ - now));
}

void BlockClock::at_edge() {
  const Picoseconds now = cosim::now();
  const bool reset = in_reset();
  for (ClockUser* user : users_) user->edge(now, reset);
}

bool BlockClock::quiet() const {
  if (has_qactive_ && qactive_.read()) return false;
  return std::all_of(users_.begin(), users_.end(), [](const ClockUser* user) { return user->quiet(); });
}

/// The pins have settled since the rising edge: here is decided whether there is another one.
void BlockClock::fall(Picoseconds now) {
  high_ = false;
  clock_.write(false);
  const Picoseconds next = edge_after(now);
  if (reset_left_ != 0) {
    if (--reset_left_ == 0) reset_.write(options_.reset_active_low);
    still_ = 0;
    return schedule(next);
  }
  if (resting_) return rest();
  // One clock looks for all: two that wait for each other would take each other for work.
  if (still_ % kLookEvery == 0 && still() && first_running() == this) {
    looks_ = 0;
    look_.notify(sc_core::SC_ZERO_TIME);
  }
  if (free()) return schedule(next);
  quiet_for_ = quiet() ? quiet_for_ + 1 : 0;
  const bool stop =
      rests_long_enough() && std::all_of(peers_.begin(), peers_.end(),
                                         [](const BlockClock* peer) { return peer->rests_long_enough(); });
  if (!stop) return schedule(next);
  rest();
}

/// Stands until the next wake() is due.
void BlockClock::rest() {
  if (high_) {
    resting_ = true;
    return;
  }
  resting_ = false;
  running_ = false;
  next_turn_ = kNever;
  turn_.cancel();
  if (!wakes_.empty()) schedule(edge_after(wakes_.top()));
}

void BlockClock::wake(Picoseconds at) {
  wake_alone(at);
  for (BlockClock* peer : peers_) peer->wake_alone(at);
}

void BlockClock::wake_alone(Picoseconds at) {
  at = std::max(at, cosim::now());
  still_ = 0;
  quiet_for_ = 0;
  resting_ = false;
  if (wakes_.empty() || wakes_.top() != at) wakes_.push(at);
  if (running_) return;  // it looks into wakes_ before it stops
  const Picoseconds edge = edge_after(at);
  if (edge < next_turn_) schedule(edge);
}

/// The clocks of the simulation.
const std::vector<BlockClock*>& BlockClock::all() {
  if (all_.empty()) {
    find_clocks(sc_core::sc_get_top_level_objects(), all_);
    for (BlockClock* clock : all_) clock->all_ = all_;
  }
  return all_;
}

const BlockClock* BlockClock::first_running() {
  const auto& clocks = all();
  return *std::find_if(clocks.begin(), clocks.end(), [](const BlockClock* clock) { return clock->running_; });
}

/// Whether anything but clocks is left in the simulation. That can be seen only when nothing else runs at
/// this time.
void BlockClock::look_around() {
  const auto& clocks = all();
  if (!std::all_of(clocks.begin(), clocks.end(), [](const BlockClock* clock) { return clock->still(); }))
    return;
  if (sc_core::sc_pending_activity_at_current_time()) {
    if (++looks_ < kMostLooks) look_.notify(sc_core::SC_ZERO_TIME);
    return;
  }
  const Picoseconds now = cosim::now();
  for (BlockClock* clock : clocks) clock->turn_.cancel();
  const bool alone = !sc_core::sc_pending_activity() &&
                     std::all_of(clocks.begin(), clocks.end(),
                                 [](const BlockClock* clock) { return clock->wakes_.empty(); });
  for (BlockClock* clock : clocks) {
    if (clock->next_turn_ != kNever)
      clock->turn_.notify(sc_core::sc_time::from_value(clock->next_turn_ - now));
  }
  if (!alone) return;
  for (BlockClock* clock : clocks) {
    if (clock->running_) clock->gave_up_at_ = now;
    clock->rest();
  }
}

uint64_t BlockClock::patience() const {
  const bool active = has_qactive_ && qactive_.read();
  if (!active) return options_.patience;
  return options_.patience > ~uint64_t{0} / kPatienceOfTheActive ? ~uint64_t{0}
                                                                 : options_.patience * kPatienceOfTheActive;
}

std::string BlockClock::stall_line() const {
  if (gave_up_at_ == kNever || running_) return {};
  return fmt::format(
      "\n  its clock was stopped at {}: nothing else was left to do, and no beat had passed its pins for {} "
      "edges (`patience`); if the block was still at work, raise `patience`, or let it hold a pin `qactive` "
      "high, for which it gets {} times as many",
      print_time(gave_up_at_), patience(), kPatienceOfTheActive);
}

void set_policy(BlockClock::Options& options, const std::string& text, const std::string& where) {
  using Policy = BlockClock::Policy;
  if (text == "free") {
    options.policy = Policy::free;
  } else if (text == "automatic") {
    options.policy = Policy::automatic;
  } else if (text == "gated") {
    options.policy = Policy::gated;
  } else if (text.rfind("gated(", 0) == 0 && text.size() > 7 && text.size() < 16 && text.back() == ')' &&
             text.find_first_not_of("0123456789", 6) == text.size() - 1 &&
             std::stoull(text.substr(6)) - 1 < 0xffffffff) {
    options.policy = Policy::gated;
    options.quiet_edges = static_cast<uint32_t>(std::stoull(text.substr(6)));
  } else {
    throw UserError(
        ExitCode::usage,
        fmt::format("{}: '{}' is no clock policy: free, gated, gated(N) with the number of quiet edges "
                    "after which the clock stops, or automatic (gated if the block has a qactive pin)",
                    where, text));
  }
}

BlockClock::Options read_clock(Parameters& parameters, BlockClock::Options defaults) {
  const auto word = [&] {
    switch (defaults.policy) {
      case BlockClock::Policy::free:
        return std::string("free");
      case BlockClock::Policy::gated:
        return fmt::format("gated({})", defaults.quiet_edges);
      default:
        return std::string("automatic");
    }
  };
  const std::string policy = parameters.text("clock", word());
  defaults.period = parameters.time("period", print_time(defaults.period));
  defaults.phase = parameters.time("phase", print_time(defaults.phase));
  defaults.patience = parameters.integer("patience", std::to_string(defaults.patience));
  try {
    set_policy(defaults, policy, "clock");
  } catch (const UserError& error) {
    parameters.refuse("clock", error.what());
  }
  if (defaults.period < 2) parameters.refuse("period", "a clock has a period of at least 2 ps");
  if (defaults.patience == 0) parameters.refuse("patience", "it is 1 edge or more");
  return defaults;
}

}  // namespace weft::cosim
