// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/simulation.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <systemc>
#include <utility>

#include "configs/stop.h"
#include "sc_main/console.h"
#include "sc_main/interruption.h"
#include "vcd/value.h"

namespace weft::cli {
namespace {

using sc_core::sc_time;

/// The exception of a process, kept while the kernel handles it: the report that the kernel makes has only
/// its text.
std::exception_ptr thrown;

void handle_report(const sc_core::sc_report& report, const sc_core::sc_actions& actions) {
  if (std::strcmp(report.get_msg_type(), sc_core::SC_ID_SIMULATION_UNCAUGHT_EXCEPTION_) == 0)
    thrown = std::current_exception();
  if (report.get_severity() >= sc_core::SC_ERROR) throw sc_core::sc_report(report);
  if ((actions & sc_core::SC_DISPLAY) == 0) return;
  const std::string text = fmt::format("{}: {}", report.get_msg_type(), report.get_msg());
  if (report.get_severity() == sc_core::SC_WARNING)
    warn(text);
  else
    note(text);
}

pid_t simulating = 0;  ///< the process that set up its kernel last

/// Modules of others may call exit(), as Verilator's models do at a second $finish. No run ends that way: see
/// leave(). Processes that modules have forked off are their own. What is closed at exit() has been closed.
void say_who_left() {
  if (getpid() != simulating) return;
  const sc_core::sc_process_handle process = sc_core::sc_get_current_process_handle();
  note(
      fmt::format("weft: error: at {}{}: a module called exit(), or `$finish` in Verilog, which ends the "
                  "program: there are no results; let it report an error (SC_REPORT_ERROR, or an exception) "
                  "in place of that",
                  sc_core::sc_time_stamp().to_string(),
                  process.valid() ? fmt::format(", in process {}", process.name()) : std::string()));
  std::fflush(nullptr);
  std::_Exit(static_cast<int>(ExitCode::internal));
}

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// How far one sc_start goes: as long as about 0.1 s of wall-clock time, found out on the way. Where a slice
/// ends has no effect on what happens in it.
class Slice {
 public:
  /// Counted from the next event on, so that every slice has something to do.
  sc_time length() const {
    const sc_time left = sc_core::sc_max_time() - sc_core::sc_time_stamp();
    const sc_time wait =
        sc_core::sc_pending_activity() ? sc_core::sc_time_to_pending_activity() : sc_core::SC_ZERO_TIME;
    const sc_time length = sc_time::from_value(length_);
    return left - wait < length ? left : wait + length;
  }
  void took(double wall_s) {
    if (wall_s < 0.05 && length_ < uint64_t{1} << 62)
      length_ *= 2;
    else if (wall_s > 0.2 && length_ > 1)
      length_ /= 2;
  }

 private:
  uint64_t length_ = 1000000;  // ps
};

void run_until_idle(const std::function<Work()>& work, Slice& slice, Progress& progress, double begin_s) {
  do {
    const double before = seconds();
    advance(slice.length(), sc_core::SC_EXIT_ON_STARVATION);
    const double after = seconds();
    slice.took(after - before);
    progress.update(after - begin_s, sc_core::sc_time_stamp().value(), work);
  } while (sc_core::sc_pending_activity() && !stop_requested());
}

}  // namespace

void set_up_kernel() {
  if (simulating == 0) std::atexit(say_who_left);
  simulating = getpid();
  sc_core::sc_set_time_resolution(1, sc_core::SC_PS);
  sc_core::sc_report_handler::set_handler(handle_report);
  // A job without nodes, or a collective without bytes, is over at once.
  sc_core::sc_report_handler::set_actions(sc_core::SC_ID_NO_SC_START_ACTIVITY_, sc_core::SC_DO_NOTHING);
}

Picoseconds kernel_time() {
  return sc_core::sc_time_stamp().value();
}

Picoseconds next_event() {
  return sc_core::sc_pending_activity() ? kernel_time() + sc_core::sc_time_to_pending_activity().value()
                                        : kNever;
}

void advance(const sc_time& by, sc_core::sc_starvation_policy policy) {
  thrown = nullptr;
  const auto at = [](const std::string& text) {
    return fmt::format("at {}: {}", sc_core::sc_time_stamp().to_string(), text);
  };
  try {
    try {
      sc_core::sc_start(by, policy);
    } catch (const sc_core::sc_report&) {
      if (thrown) std::rethrow_exception(std::exchange(thrown, nullptr));
      throw;
    }
  } catch (const UserError& e) {
    throw UserError(e.code(), at(e.what()));
  } catch (const sc_core::sc_report& e) {
    // Weft's own messages say it all; those of others begin with their id.
    const std::string id = e.get_msg_type() == nullptr ? "" : e.get_msg_type();
    const std::string text = e.get_msg() == nullptr ? "" : e.get_msg();
    if (id.rfind("weft/", 0) == 0 || id.empty()) throw UserError(ExitCode::internal, at(text));
    throw UserError(ExitCode::internal, at(text.empty() ? id : id + ": " + text));
  } catch (const vcd::WriteError&) {
    throw;
  } catch (const Interrupted&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    throw UserError(ExitCode::internal,
                    at(fmt::format("internal error: {}; please report it with the command", e.what())));
  }
}

bool simulate(Machine& machine, const std::function<bool()>& finished, const std::function<Work()>& work) {
  const bool terminal = isatty(STDERR_FILENO) == 1;
  Progress progress(
      [](std::string_view text) {
        std::fwrite(text.data(), 1, text.size(), stderr);
        std::fflush(stderr);
      },
      terminal, "nodes");
  const double begin_s = seconds();
  Slice slice;
  try {
    do {
      run_until_idle(work, slice, progress, begin_s);
    } while (!stop_requested() && !finished() && machine.rescue());
    if (!finished()) machine.settle();
  } catch (const Interrupted&) {
    // A process was stopped in its work. What is finished remains valid.
  } catch (...) {
    progress.end();
    throw;
  }
  progress.end();
  accept_stop();
  return finished();
}

}  // namespace weft::cli
