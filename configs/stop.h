// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A request from outside (of `weft`: SIGINT, SIGTERM) to end what is being done. Whatever may last looks at
// it often; who owns the program decides what happens then.

#ifndef WEFT_CONFIGS_STOP_H
#define WEFT_CONFIGS_STOP_H

#include <atomic>
#include <functional>

namespace weft {

/// 0: nobody has asked. A signal handler may set it.
extern std::atomic<int> stop_request;
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler sets it");

inline bool stop_requested() {
  return __builtin_expect(stop_request.load(std::memory_order_relaxed) != 0, 0);
}

/// What check_stop() calls when it has been asked to stop. It may throw, leave the program, or return, which
/// goes on. Null, as at first: go on.
void on_stop(std::function<void()> action);

void stop_now();

/// In long loops outside of the kernel's: reading traces, building machines, writing results.
inline void check_stop() {
  if (stop_requested()) stop_now();
}

}  // namespace weft

#endif
