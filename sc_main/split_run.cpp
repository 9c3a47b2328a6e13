// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/split_run.h"

#include <fmt/format.h>

#include <csignal>
#include <cstring>
#include <optional>

#include "configs/stop.h"
#include "sc_main/console.h"
#include "sc_main/decimal.h"
#include "sc_main/simulation.h"

namespace weft::cli {
namespace {

/// Plans that may be wrong before each rank is simulated.
constexpr size_t kMostAttempts = 4;

}  // namespace

SplitRun::SplitRun(std::unique_ptr<graph::CheckedJob>& job, bool watched) {
  if (watched || !SplitScout::pays(*job)) return;
  if (keep_reserve()) scout_ = std::make_unique<SplitScout>(job, limits_, [this] { reserve_->disown(); });
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

void SplitRun::prepare(TraceJob& job) {
  if (reserve_ == nullptr) return;
  const std::optional<Splitting::Plan> plan = scout_->plan();
  scout_.reset();
  if (!plan || !job.splits()) {
    reserve_.reset();
    return;
  }
  Splitting& splitting = job.split();
  splitting.follow(
      *plan, [this](const Splitting::Limit& limit, const std::string& why) { start_again(limit, why); },
      [this] { reserve_.reset(); });
  note(split_note(job, splitting, *plan));
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
