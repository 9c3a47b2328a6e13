// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A request from outside to stop (in `weft`: SIGINT, SIGTERM). Long loops check it often; the program decides
// what a check does then.

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

/// check_stop() calls it after a request. It may throw, end the process, or return: then the work goes on.
/// With null, the initial value, the work goes on.
void on_stop(std::function<void()> action);

void stop_now();

/// In long loops outside of the kernel's: reading traces, building machines, writing results.
inline void check_stop() {
  if (stop_requested()) stop_now();
}

}  // namespace weft

#endif
