// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/split_scout.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <new>
#include <systemc>
#include <utility>

#include "configs/stop.h"
#include "sc_main/decimal.h"
#include "sc_main/simulation.h"

namespace weft::cli {
namespace {

/// Nodes that are not simulated: with fewer, a scout costs as much as it saves.
constexpr double kNodesThatPay = 500'000;

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

struct SplitScout::Answer {
  std::atomic<uint32_t> told{0};
  Picoseconds plan[1];  ///< by unit; the memory is as long as needed
};

bool SplitScout::pays(const graph::CheckedJob& job) {
  const graph::Replicas& replicas = job.folding().replicas();
  const std::string& wanted = job.config().run.split;
  if (replicas.empty() || wanted == "never") return false;
  const double share = static_cast<double>(replicas.others()) / job.traces().npus();
  return wanted == "always" ||
         share * replicas.alike * static_cast<double>(job.traces().node_count()) > kNodesThatPay;
}

SplitScout::SplitScout(std::unique_ptr<graph::CheckedJob>& job, const std::vector<Splitting::Limit>& limits,
                       const std::function<void()>& there)
    : units_(job->folding().replicas().units.size()), maker_(getpid()) {
  void* const memory = mmap(nullptr, sizeof(Answer) + units_ * sizeof(Picoseconds), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int ends[2] = {-1, -1};
  if (memory == MAP_FAILED || pipe(ends) != 0) return;
  answer_ = new (memory) Answer;
  std::fflush(stdout);
  std::fflush(stderr);
  process_ = fork();
  end_of_it_ = ends[0];
  if (process_ != 0) {
    close(ends[1]);
    return;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != maker_) _exit(1);
  std::signal(SIGINT, SIG_IGN);
  there();
  try {
    const Splitting::Plan plan = scout(std::move(job), limits);
    if (plan.size() != units_) _exit(1);
    std::copy(plan.begin(), plan.end(), answer_->plan);
    answer_->told.store(1, std::memory_order_release);
    _exit(0);
  } catch (const std::exception&) {
    _exit(1);  // the run itself will say so
  }
}

SplitScout::~SplitScout() {
  if (process_ > 0 && getpid() == maker_) {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  if (end_of_it_ >= 0) close(end_of_it_);
  if (answer_ != nullptr) munmap(answer_, sizeof(Answer) + units_ * sizeof(Picoseconds));
}

std::optional<Splitting::Plan> SplitScout::plan() {
  if (process_ <= 0) return std::nullopt;
  // A signal ends the wait.
  pollfd end{end_of_it_, POLLIN, 0};
  while (!stop_requested() && poll(&end, 1, 50) <= 0) {
  }
  if (getpid() == maker_) {
    if (stop_requested()) kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    process_ = -1;
  }
  if (answer_->told.load(std::memory_order_acquire) == 0) return std::nullopt;
  Splitting::Plan plan(answer_->plan, answer_->plan + units_);
  const bool late = std::any_of(plan.begin(), plan.end(), [](Picoseconds at) { return at != 0; });
  return late ? std::optional(std::move(plan)) : std::nullopt;
}

std::string split_note(const TraceJob& job, const Splitting& splitting, const Splitting::Plan& plan) {
  return fmt::format("weft: split: {} of {} ranks do as {} others until {} (--no-fold simulates each)",
                     grouped(splitting.late()), grouped(job.traces().npus()),
                     grouped(job.folding().replicas().ranks.front().size()),
                     readable_time(*std::max_element(plan.begin(), plan.end())));
}

}  // namespace weft::cli
