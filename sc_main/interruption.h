// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// SIGINT (Ctrl-C) and SIGTERM. The first one asks the program to stop (configs/stop.h): what has been done is
// written, and the exit code is 128 and the signal's number. A second one ends the program at once, as the
// system does it, unless it comes within a tenth of a second: then it is the same request.

#ifndef WEFT_SC_MAIN_INTERRUPTION_H
#define WEFT_SC_MAIN_INTERRUPTION_H

#include <exception>
#include <functional>
#include <string>

#include "configs/types.h"

namespace weft::cli {

/// The work was left because of a signal.
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted by a signal"; }
};

/// Catches both signals from now on. check_stop() then throws Interrupted, unless a StopAction is there.
void catch_signals();

/// While it lives, check_stop() calls the action in place of throwing Interrupted.
class StopAction {
 public:
  explicit StopAction(const std::function<void()>& action);
  ~StopAction();
  StopAction(const StopAction&) = delete;
  StopAction& operator=(const StopAction&) = delete;
};

/// Accepts a signal that has come: check_stop() does nothing from now on, so that results can be written.
/// Without a signal nothing changes.
void accept_stop();

/// True if a signal has come, accepted or not.
bool interrupted();
/// The exit code that says so.
ExitCode interruption_code();
/// "interrupted by SIGINT".
std::string interruption_text();

}  // namespace weft::cli

#endif
