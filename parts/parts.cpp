// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "parts/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>

namespace weft::parts {
namespace {

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace

void Meeting::add(const State& state) {
  next = std::min(next, state.next);
  clock = std::max(clock, state.clock);
  finished = finished && state.finished;
  stop = std::max(stop, state.stop);
  stuck = stuck || state.stuck;
  unlike = unlike || state.unlike;
  done += state.done;
}

Meeting Parts::meet(const State& own, uint64_t number, uint64_t& largest) {
  if (statistics_.windows++ == 0) {
    began_ = wall_seconds();
    cpu_began_ = cpu_last_ = thread_seconds();
  }
  Word word;
  word.state = own;
  word.number = number;
  word.cpu_seconds = thread_seconds() - cpu_last_;
  exchange(word);
  Meeting meeting;
  double slowest = 0;
  for (const Word& one : words_) {
    meeting.add(one.state);
    slowest = std::max(slowest, one.cpu_seconds);
    largest = std::max(largest, one.number);
  }
  statistics_.critical_seconds += slowest;
  cpu_last_ = thread_seconds();
  statistics_.seconds = wall_seconds() - began_;
  statistics_.cpu_seconds = cpu_last_ - cpu_began_;
  return meeting;
}

Meeting Parts::meet(const State& own) {
  uint64_t largest = 0;
  return meet(own, 0, largest);
}

uint64_t Parts::largest(uint64_t own) {
  uint64_t largest = own;
  meet(State{}, own, largest);
  return largest;
}

int Parts::start_again(const std::string& why, const std::function<int()>& stop) {
  end_others(why);
  return reserve_.start(why, stop);
}

std::string Parts::ranks_of(uint32_t part) const {
  return fmt::format("its ranks are those with {} * {} / {} = {}", cut_.text(), cut_.parts, cut_.size, part);
}

}  // namespace weft::parts
