// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The parts of an instant (settled_call.h): what the kernel's processes do, then the fabric, then what starts
// for all, then decisions, whatever the order in which the kernel runs processes.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <systemc>

#include "sc_models/activation_wheel.h"
#include "sc_models/settled_call.h"
#include "tests/support/isolated.h"

namespace weft {
namespace {

constexpr Picoseconds kWhen = 1000;

/// A module of the wheel that writes down when it runs.
class Fabric final : public Wakeable {
 public:
  std::function<void()> at_run;

  void ask(Picoseconds time) { wake_at(time); }
  void activate(Picoseconds) override { at_run(); }
};

/// A process that has something to do at a time, and once more in the next delta cycle, as an execution
/// engine.
class Process final : public sc_core::sc_module {
 public:
  Process(sc_core::sc_module_name name, std::string& log) : sc_core::sc_module(name), log_(log) {
    SC_HAS_PROCESS(Process);
    SC_METHOD(run);
    sensitive << wake_;
    dont_initialize();
  }
  void ask(Picoseconds time, int runs) {
    runs_ = runs;
    wake_.notify(sc_core::sc_time::from_value(time - sc_core::sc_time_stamp().value()));
  }

 private:
  void run() {
    log_ += "process ";
    if (--runs_ != 0) wake_.notify(sc_core::SC_ZERO_TIME);
  }

  std::string& log_;
  sc_core::sc_event wake_;
  int runs_ = 0;
};

/// The log of one instant. `process_first`: the kernel learns of the process before it learns of the wheel.
std::string instant(bool process_first) {
  const auto result = test::isolated([&] {
    std::string log;
    ActivationWheel wheel("wheel");
    Process process("process", log);
    SettledCall starts("starts", InstantPart::starts, [&] { log += "starts "; });
    SettledCall decisions("decisions", InstantPart::decisions, [&] { log += "decisions "; });
    Fabric fabric;
    wheel.add(fabric);
    int runs = 0;
    fabric.at_run = [&] {
      log += "fabric ";
      if (++runs != 1) return;
      // What the process does with it comes before the fabric's next turn.
      decisions.request();
      starts.request();
      process.ask(kWhen, 2);
      fabric.ask(kWhen);
    };
    if (process_first) process.ask(kWhen, 3);
    fabric.ask(kWhen);
    if (!process_first) process.ask(kWhen, 3);
    sc_core::sc_start();
    // Calls at later times still come.
    fabric.ask(2 * kWhen);
    sc_core::sc_start();
    return log;
  });
  EXPECT_EQ(result.status, 0) << result.text;
  return result.text;
}

TEST(InstantParts, DoNotDependOnTheOrderOfProcesses) {
  // The fabric asks for itself while it runs: that is the same part.
  const std::string expected =
      "process process process fabric fabric process process starts decisions fabric ";
  EXPECT_EQ(instant(true), expected);
  EXPECT_EQ(instant(false), expected);
}

}  // namespace
}  // namespace weft
