// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/split_run.h"

#include <fmt/format.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <systemc>
#include <vector>

#include "configs/stop.h"
#include "parts/byte_stream.h"
#include "sc_main/console.h"
#include "sc_main/decimal.h"
#include "sc_main/simulation.h"

namespace weft::cli {
namespace {

/// Nodes that are not simulated: with fewer, a scout costs as much as it saves.
constexpr double kNodesThatPay = 500'000;
/// Plans that may be wrong before each rank is simulated.
constexpr size_t kMostAttempts = 4;

Picoseconds kernel_time() {
  return sc_core::sc_time_stamp().value();
}

/// Instant by instant, until nothing is left to do.
Splitting::Plan run_scout(TraceJob& job, Splitting& splitting, const std::vector<Splitting::Limit>& limits) {
  splitting.scout();
  job.start();
  while (sc_core::sc_pending_activity() && !stop_requested()) {
    const Picoseconds wait = sc_core::sc_time_to_pending_activity().value();
    const Picoseconds instant = kernel_time() + wait;
    advance(sc_core::sc_time::from_value(wait + 1), sc_core::SC_EXIT_ON_STARVATION);
    const Picoseconds next = sc_core::sc_pending_activity()
                                 ? kernel_time() + sc_core::sc_time_to_pending_activity().value()
                                 : kNever;
    splitting.look(instant, next);
  }
  Splitting::Plan plan = splitting.plan(limits);
  if (stop_requested()) std::fill(plan.begin(), plan.end(), 0);
  return plan;
}

/// In a process of its own, a copy of this one. Nothing: it came to nothing.
std::optional<Splitting::Plan> scout(TraceJob& job, Splitting& splitting,
                                     const std::vector<Splitting::Limit>& limits) {
  std::fflush(stdout);
  std::fflush(stderr);
  int ends[2] = {-1, -1};
  if (pipe(ends) != 0) return std::nullopt;
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(ends[0]);
    if (getppid() != parent) _exit(1);
    try {
      const Splitting::Plan plan = run_scout(job, splitting, limits);
      _exit(
          parts::write_all(ends[1], reinterpret_cast<const char*>(plan.data()), plan.size() * sizeof plan[0])
              ? 0
              : 1);
    } catch (const std::exception&) {
      _exit(1);  // the run itself will say so
    }
  }
  close(ends[1]);
  Splitting::Plan plan(job.folding().replicas().units.size());
  const bool whole = child > 0 && parts::read_all(ends[0], reinterpret_cast<char*>(plan.data()),
                                                  plan.size() * sizeof plan[0]);
  close(ends[0]);
  int status = 1;
  if (child > 0) waitpid(child, &status, 0);
  if (!whole || status != 0) return std::nullopt;
  return plan;
}

bool pays(const graph::CheckedJob& job) {
  const graph::Replicas& replicas = job.folding().replicas();
  const std::string& wanted = job.config().run.split;
  if (replicas.empty() || wanted == "never") return false;
  const double share = static_cast<double>(replicas.others()) / job.traces().npus();
  return wanted == "always" ||
         share * replicas.alike * static_cast<double>(job.traces().node_count()) > kNodesThatPay;
}

}  // namespace

SplitRun::SplitRun(const graph::CheckedJob& job, bool watched) {
  if (watched || !pays(job)) return;
  for (;;) {
    reserve_.reset();
    if (limits_.size() > kMostAttempts) return;
    reserve_ = std::make_unique<parts::Reserve>();
    std::string wrong;
    try {
      wrong = reserve_->make();
    } catch (const UserError&) {
      reserve_.reset();
      return;
    }
    if (wrong.empty()) return;
    // This is the reserve: it goes on with what the plan was wrong in.
    Splitting::Limit limit;
    std::memcpy(&limit, wrong.data(), sizeof limit);
    limits_.push_back(limit);
  }
}

SplitRun::~SplitRun() = default;

void SplitRun::prepare(TraceJob& job) {
  if (reserve_ == nullptr) return;
  if (!job.splits()) {
    reserve_.reset();
    return;
  }
  Splitting& splitting = job.split();
  advance(sc_core::SC_ZERO_TIME, sc_core::SC_EXIT_ON_STARVATION);  // elaborates, once for both processes
  malloc_trim(0);  // or the other one would do it, and touch all memory
  const std::optional<Splitting::Plan> plan = scout(job, splitting, limits_);
  if (!plan || std::all_of(plan->begin(), plan->end(), [](Picoseconds at) { return at == 0; })) {
    reserve_.reset();
    return;
  }
  splitting.follow(
      *plan, [this](const Splitting::Limit& limit, const std::string& why) { start_again(limit, why); },
      [this] { reserve_.reset(); });
  note(fmt::format("weft: split: {} of {} ranks do as {} others until {} (--no-fold simulates each)",
                   grouped(splitting.late()), grouped(job.traces().npus()),
                   grouped(job.folding().replicas().ranks.front().size()),
                   readable_time(*std::max_element(plan->begin(), plan->end()))));
}

void SplitRun::start_again(const Splitting::Limit& limit, const std::string& why) {
  note(fmt::format("weft: split: at {} {}: the run starts again, and these ranks begin earlier",
                   readable_time(kernel_time()), why));
  const int code = reserve_->start(std::string(reinterpret_cast<const char*>(&limit), sizeof limit),
                                   [] { return stop_request.load(); });
  leave(static_cast<ExitCode>(code));
}

}  // namespace weft::cli
