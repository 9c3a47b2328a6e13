// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// SIGINT (Ctrl-C) and SIGTERM. The first one asks the program to stop (configs/stop.h): what has been done is
// written, and the exit code is 128 and the signal's number. A second one ends the program at once, as the
// system does it.

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

/// From now on. check_stop() throws Interrupted, unless on_stop() is told otherwise.
void catch_signals();

/// Sets what check_stop() does for as long as it lives; then it throws Interrupted again.
class StopAction {
 public:
  explicit StopAction(const std::function<void()>& action);
  ~StopAction();
  StopAction(const StopAction&) = delete;
  StopAction& operator=(const StopAction&) = delete;
};

/// The signal came and is being obeyed: check_stop() goes on from here, so that results can be written.
/// Nothing happens if none came.
void accept_stop();

/// A signal came, accepted or not.
bool interrupted();
/// The exit code that says so.
ExitCode interruption_code();
/// "interrupted by SIGINT".
std::string interruption_text();

}  // namespace weft::cli

#endif
