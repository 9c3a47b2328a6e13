// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "emulation/environment/delay_plugin.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace weft::emulation {
namespace {

constexpr int64_t kLongestStep = 1000000000000000;  ///< 1,000 s

/// One message of a rank; `was`, `is`: before and after the change.
struct Step {
  RankTimes::Arrival* arrival;
  uint32_t key;  ///< of the phase
  int64_t was;
};

/// By how much something that began at `at` moves: as the last message that was there by then has.
int64_t shift_at(const std::multimap<int64_t, int64_t>& shifts, int64_t at) {
  const auto after = shifts.upper_bound(at);
  return after == shifts.begin() ? 0 : std::prev(after)->second;
}

}  // namespace

DelayPlugin::DelayPlugin(const std::string& path) : name_(path) {
  // Never unloaded: it may have threads of its own.
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = ::dlerror();
    throw UserError(
        ExitCode::usage,
        fmt::format("`environment.delay_plugin`: {} cannot be loaded: {}; build it by `cc -shared "
                    "-fPIC`",
                    path, why == nullptr ? "unknown reason" : why));
  }
  void* const symbol = ::dlsym(library, "weft_delay");
  if (symbol == nullptr)
    throw UserError(
        ExitCode::usage,
        fmt::format("`environment.delay_plugin`: {} has no function `weft_delay`; declare it as in "
                    "weft_delay.h (in C++ as extern \"C\")",
                    path));
  function_ = reinterpret_cast<int64_t (*)(const weft_collective*)>(symbol);
}

DelayPlugin::DelayPlugin(std::string name, Function function)
    : name_(std::move(name)), function_(std::move(function)) {}

int64_t DelayPlugin::ask(const weft_collective& step) const {
  const int64_t time = function_(&step);
  if (time >= 0 && time <= kLongestStep) return time;
  throw UserError(
      ExitCode::usage,
      fmt::format(
          "{}: weft_delay() says {} ps for step {} of {} of {} of {} B, {} B from rank {} to rank {}: "
          "{}",
          name_, time, step.step, step.steps, to_string(static_cast<CollectiveOp>(step.operation)),
          step.bytes, step.message_bytes, step.src, step.dst,
          time < 0 ? "a negative number is an error of the plugin" : "that is more than 1,000 s"));
}

void DelayPlugin::retime_rank(const collectives::CollectivePlan& plan, uint32_t rank, RankTimes& times) {
  std::vector<Step> steps;
  for (auto& [key, phase] : times.phases)
    for (RankTimes::Arrival& arrival : phase.arrivals) steps.push_back({&arrival, key, arrival.at});
  std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) {
    return std::tie(a.was, a.key, a.arrival->round, a.arrival->source) <
           std::tie(b.was, b.key, b.arrival->round, b.arrival->source);
  });
  std::map<const RankTimes::Arrival*, uint32_t> number;
  for (size_t i = 0; i < steps.size(); ++i) number[steps[i].arrival] = static_cast<uint32_t>(i);

  std::vector<std::pair<int64_t, uint32_t>> order;  // phases as they begin
  for (const auto& [key, phase] : times.phases) order.emplace_back(phase.begin, key);
  std::sort(order.begin(), order.end());
  std::multimap<int64_t, int64_t> all;  // of all chunks: time before the change -> shift
  std::map<uint32_t, std::multimap<int64_t, int64_t>> chunk;  // of one
  weft_collective ask_for{};
  ask_for.size = sizeof ask_for;
  ask_for.operation = static_cast<uint32_t>(plan.request().op);
  ask_for.bytes = plan.request().bytes;
  ask_for.group = plan.request().group->id;
  ask_for.members = plan.members();
  ask_for.steps = static_cast<uint32_t>(steps.size());
  ask_for.dst = rank;
  for (const auto& [begin, key] : order) {
    RankTimes::Phase& phase = times.phases.at(key);
    auto& of_chunk = chunk[key >> 8];
    phase.begin = begin + shift_at(of_chunk.empty() ? all : of_chunk, begin);
    int64_t round_begins = phase.begin, round_ends = phase.begin;
    uint32_t round = 0;
    std::vector<std::pair<int64_t, int64_t>> moved;
    for (RankTimes::Arrival& arrival : phase.arrivals) {
      if (arrival.round != round) round_begins = round_ends;
      round = arrival.round;
      ask_for.message_bytes = arrival.bytes;
      ask_for.step = number.at(&arrival);
      ask_for.src = arrival.source;
      ask_for.now = round_begins;
      const int64_t was = arrival.at;
      arrival.at = round_begins + ask(ask_for);
      arrival.queued = arrival.reduce = 0;
      round_ends = std::max(round_ends, arrival.at);
      moved.emplace_back(was, arrival.at - was);
    }
    for (const auto& [was, shift] : moved) {
      all.emplace(was, shift);
      of_chunk.emplace(was, shift);
    }
  }
}

double DelayPlugin::retime(const collectives::CollectivePlan& plan, Picoseconds, OperationTimes& times) {
  const auto last = [&times] {
    int64_t latest = 0;
    for (const auto& rank : times)
      for (const auto& phase : rank.second.phases)
        for (const RankTimes::Arrival& arrival : phase.second.arrivals) latest = std::max(latest, arrival.at);
    return latest;
  };
  const int64_t before = last();
  for (auto& [rank, of_rank] : times) retime_rank(plan, rank, of_rank);
  return before > 0 ? static_cast<double>(last()) / static_cast<double>(before) : 1;
}

}  // namespace weft::emulation
