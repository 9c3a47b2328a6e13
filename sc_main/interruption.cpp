// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/interruption.h"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>

#include "configs/stop.h"

namespace weft::cli {
namespace {

int accepted = 0;  ///< the signal that is being obeyed

void default_after_this() {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

/// Of one request: timeout(1), for one, signals a process, and then all of its group.
constexpr int64_t kSameRequestMs = 100;
std::atomic<int64_t> requested_at{-1};  ///< ms
static_assert(std::atomic<int64_t>::is_always_lock_free, "a signal handler sets it");

/// What is called here may be called in a signal handler.
void handle(int signal) {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  const int64_t now = int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1'000'000;
  int64_t first = -1;
  if (requested_at.compare_exchange_strong(first, now)) {
    stop_request.store(signal, std::memory_order_relaxed);
  } else if (now - first >= kSameRequestMs) {
    default_after_this();
    raise(signal);
  }
}

[[noreturn]] void throw_interrupted() {
  throw Interrupted();
}

int signal_number() {
  return accepted != 0 ? accepted : stop_request.load(std::memory_order_relaxed);
}

}  // namespace

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = handle;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  on_stop(throw_interrupted);
}

StopAction::StopAction(const std::function<void()>& action) {
  on_stop(action);
}

StopAction::~StopAction() {
  on_stop(throw_interrupted);
}

void accept_stop() {
  const int signal = stop_request.exchange(0);
  if (signal != 0) accepted = signal;
}

bool interrupted() {
  return signal_number() != 0;
}

ExitCode interruption_code() {
  return static_cast<ExitCode>(128 + signal_number());
}

std::string interruption_text() {
  return signal_number() == SIGTERM ? "interrupted by SIGTERM" : "interrupted by SIGINT";
}

}  // namespace weft::cli
