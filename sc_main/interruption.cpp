// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/interruption.h"

#include <csignal>
#include <cstring>

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

void handle(int signal) {
  stop_request.store(signal, std::memory_order_relaxed);
  default_after_this();  // sigaction() may be called here
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
