// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/split_run.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <systemc>

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

/// In the scout's process: instant by instant, until nothing is left to do. No plan: nobody could follow it.
Splitting::Plan scout(std::unique_ptr<graph::CheckedJob> checked,
                      const std::vector<Splitting::Limit>& limits) {
  set_up_kernel();
  const std::unique_ptr<Machine, NoTeardown> machine(
      new Machine("job", checked->config(), TraceJob::scout_options(*checked)));
  const std::unique_ptr<TraceJob, NoTeardown> job(new TraceJob(*machine, std::move(checked)));
  if (!job->splits()) return {};
  Splitting& splitting = job->split();
  splitting.scout();
  job->start();
  advance(sc_core::SC_ZERO_TIME, sc_core::SC_EXIT_ON_STARVATION);
  splitting.look(0, next_event());
  for (Picoseconds instant = next_event(); instant != kNever; instant = next_event()) {
    if (stop_requested()) return {};
    advance(sc_core::sc_time::from_value(instant + 1 - kernel_time()), sc_core::SC_EXIT_ON_STARVATION);
    splitting.look(instant, next_event());
  }
  return splitting.plan(limits);
}

}  // namespace

bool SplitRun::pays(const graph::CheckedJob& job) {
  const graph::Replicas& replicas = job.folding().replicas();
  const std::string& wanted = job.config().run.split;
  if (replicas.empty() || wanted == "never") return false;
  const double share = static_cast<double>(replicas.others()) / job.traces().npus();
  return wanted == "always" ||
         share * replicas.alike * static_cast<double>(job.traces().node_count()) > kNodesThatPay;
}

SplitRun::SplitRun(std::unique_ptr<graph::CheckedJob>& job, bool watched) {
  if (watched || !pays(*job)) return;
  units_ = job->folding().replicas().units.size();
  if (keep_reserve()) send_scout(job);
}

SplitRun::~SplitRun() {
  if (scout_ <= 0) return;
  kill(scout_, SIGKILL);
  waitpid(scout_, nullptr, 0);
  close(from_scout_);
}

/// False: each rank is to be simulated.
bool SplitRun::keep_reserve() {
  while (limits_.size() <= kMostAttempts) {
    reserve_ = std::make_unique<parts::Reserve>();
    std::string wrong;
    try {
      wrong = reserve_->make();
    } catch (const UserError&) {
      break;
    }
    if (wrong.empty()) return true;
    // This is the reserve: it goes on with what the plan was wrong in.
    Splitting::Limit limit;
    std::memcpy(&limit, wrong.data(), sizeof limit);
    limits_.push_back(limit);
  }
  reserve_.reset();
  return false;
}

/// It does its work while the machine is built.
void SplitRun::send_scout(std::unique_ptr<graph::CheckedJob>& job) {
  std::fflush(stdout);
  std::fflush(stderr);
  int ends[2] = {-1, -1};
  const pid_t parent = getpid();
  if (pipe(ends) != 0) return;
  scout_ = fork();
  from_scout_ = ends[0];
  if (scout_ != 0) {
    close(ends[1]);
    if (scout_ < 0) close(ends[0]);
    return;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  std::signal(SIGINT, SIG_IGN);
  reserve_->disown();
  try {
    const Splitting::Plan plan = scout(std::move(job), limits_);
    const bool told =
        plan.size() == units_ &&
        parts::write_all(ends[1], reinterpret_cast<const char*>(plan.data()), plan.size() * sizeof plan[0]);
    _exit(told ? 0 : 1);
  } catch (const std::exception&) {
    _exit(1);  // the run itself will say so
  }
}

/// Nothing: there is none.
std::optional<Splitting::Plan> SplitRun::report_of_scout() {
  if (scout_ <= 0) return std::nullopt;
  // A signal ends the wait.
  pollfd answer{from_scout_, POLLIN, 0};
  while (!stop_requested() && poll(&answer, 1, 50) <= 0) {
  }
  if (stop_requested()) kill(scout_, SIGKILL);
  Splitting::Plan plan(units_);
  const bool told =
      parts::read_all(from_scout_, reinterpret_cast<char*>(plan.data()), plan.size() * sizeof plan[0]);
  close(from_scout_);
  int status = 1;
  waitpid(scout_, &status, 0);
  scout_ = -1;
  const bool late = std::any_of(plan.begin(), plan.end(), [](Picoseconds at) { return at != 0; });
  return told && status == 0 && late ? std::optional(plan) : std::nullopt;
}

void SplitRun::prepare(TraceJob& job) {
  if (reserve_ == nullptr) return;
  const std::optional<Splitting::Plan> plan = report_of_scout();
  if (!plan || !job.splits()) {
    reserve_.reset();
    return;
  }
  Splitting& splitting = job.split();
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
  std::signal(SIGPIPE, SIG_IGN);
  try {
    const int code = reserve_->start(std::string(reinterpret_cast<const char*>(&limit), sizeof limit),
                                     [] { return stop_request.load(); });
    leave(static_cast<ExitCode>(code));
  } catch (const UserError&) {
    note(
        "weft: error: the process that waited in reserve for the run is gone; run with --set "
        "run.split=never");
    leave(ExitCode::internal);
  }
}

}  // namespace weft::cli
