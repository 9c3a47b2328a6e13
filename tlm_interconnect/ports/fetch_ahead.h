// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The memory of modules that will probably run next is asked for while others run. A large machine's modules
// do not fit into the caches, and which come next is known. Each gets a step at a time, since what one step
// asks for stands in lines that an earlier one has asked for (`Module::prepare`). No effect on results.

#ifndef WEFT_TLM_INTERCONNECT_PORTS_FETCH_AHEAD_H
#define WEFT_TLM_INTERCONNECT_PORTS_FETCH_AHEAD_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tlm_interconnect/ports/fetch_lines.h"
#include "tlm_interconnect/ports/instant_queue.h"

namespace weft::fabric {

constexpr std::size_t kModuleBytes =
    384;  ///< from its first base on, a module keeps there what it needs most

/// A number has been popped from the queue: asks for the modules after it at this instant.
template <typename Module>
void fetch_this_instant(const InstantQueue& queue, const std::vector<Module*>& modules) {
  constexpr uint32_t kNone = InstantQueue::kNone;
  const uint32_t next = queue.peek();
  if (next == kNone) return;
  modules[next]->prepare(true);
  const uint32_t second = queue.peek_after(next);
  if (second == kNone) return;
  modules[second]->prepare(false);
  const uint32_t third = queue.peek_after(second);
  if (third != kNone) fetch_lines(modules[third], kModuleBytes);
}

/// .. and for those of the instants that follow.
class FetchAhead {
 public:
  /// A number has been popped. The next one of all has been through all steps: memory takes longer than it
  /// runs.
  template <typename Module>
  void popped(const InstantQueue& queue, const std::vector<Module*>& modules) {
    const uint32_t next = queue.peek();
    if (next == ahead_[0] && ahead_[2] != kNone) {
      // Mostly the ones after the next are those that were seen the last time, but for what has been added.
      const uint32_t fourth = queue.peek_after(ahead_[2]);
      if (fourth != kNone) return steps(modules, ahead_[1], ahead_[2], fourth);
    }
    uint32_t instants = 0;  // after this one
    const auto after = [&](uint32_t number) {
      const uint32_t here = instants == 0 ? queue.peek_after(number) : kNone;
      return here != kNone ? here : queue.peek_later(instants++);
    };
    const uint32_t second = after(next != kNone ? next : queue.peek_later(instants++));
    const uint32_t third = after(second);
    steps(modules, second, third, after(third));
    if (instants == 0) return;
    ahead_[2] = kNone;  // it is not seen among those of this instant
    const uint32_t fifth = queue.peek_later(instants);
    if (fifth != kNone) __builtin_prefetch(&modules[fifth]);
  }

 private:
  static constexpr uint32_t kNone = InstantQueue::kNone;

  template <typename Module>
  void steps(const std::vector<Module*>& modules, uint32_t second, uint32_t third, uint32_t fourth) {
    if (second != kNone) modules[second]->prepare(true);
    if (third != kNone) modules[third]->prepare(false);
    if (fourth != kNone) fetch_lines(modules[fourth], kModuleBytes);
    ahead_[0] = second;
    ahead_[1] = third;
    ahead_[2] = fourth;
  }

  /// The modules after the next one when that was looked for last.
  uint32_t ahead_[3] = {kNone, kNone, kNone};
};

}  // namespace weft::fabric

#endif
