// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/parts/parts_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <thread>
#include <utility>

#include "configs/effective.h"
#include "configs/hash64.h"
#include "configs/stop.h"
#include "parts/codec.h"
#include "parts/cut.h"
#include "parts/process_parts.h"
#include "parts/remote_parts.h"
#include "sc_main/console.h"
#include "sc_main/decimal.h"
#include "sc_main/interruption.h"
#include "sc_main/simulation.h"
#include "sc_main/sweep/identity.h"
#include "sc_models/parts_refusal.h"
#include "workload/collectives/line_begins.h"

namespace weft::cli {
namespace {

constexpr uint32_t kSendsARank = 4;  ///< looked at, to see whom it sends to
constexpr const char* kUnlike = "ranks of a part were not like those that ran for them (run.split)";

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Runs what happens before `end`.
void advance_to(Picoseconds end) {
  if (end > kernel_time())
    advance(sc_core::sc_time::from_value(end - kernel_time()), sc_core::SC_EXIT_ON_STARVATION);
}

/// What all parts must have alike. Where the files are, and where results go, may differ from host to host.
std::string common_configuration(const Config& config, const std::string& command) {
  Config common = config;
  common.file.clear();
  common.output = {};
  common.workload.trace.clear();
  common.workload.groups.clear();
  common.workload.text.file.clear();
  return effective_yaml(common) + command + "\n";
}

uint64_t hash_of(const parts::RankLoads& loads) {
  uint64_t hash = loads.work.size();
  for (const uint64_t nodes : loads.work) hash = hash64(hash ^ nodes);
  for (const auto& [from, to] : loads.sends) hash = hash64(hash ^ (uint64_t{from} << 32 | to));
  return hash;
}

std::string bytes_of(const parts::WindowStatistics& statistics) {
  return std::string(reinterpret_cast<const char*>(&statistics), sizeof statistics);
}

}  // namespace

parts::RankLoads rank_loads(const graph::CheckedJob& job) {
  parts::RankLoads loads;
  const trace::JobTrace& traces = job.traces();
  loads.work.resize(job.config().npus());
  for (uint32_t r = 0; r < traces.npus(); ++r) {
    const trace::TraceIndex& index = traces.index(r);
    const uint32_t npu = job.ranks().npu(r);
    loads.work[npu] = index.size();
    trace::NodeCache cache = index.open_cache(1 << 16);
    trace::Node node;
    uint32_t sends = 0;
    for (trace::NodeIndex i = 0; i < index.size() && sends < kSendsARank; ++i) {
      if (index.type(i) != trace::NodeType::comm_send) continue;
      index.decode(cache, i, node);
      loads.sends.emplace_back(npu, job.ranks().npu(node.peer));
      ++sends;
    }
  }
  const graph::Replicas& replicas = job.folding().replicas();
  if (!replicas.empty()) {
    loads.alike.resize(loads.work.size());
    std::iota(loads.alike.begin(), loads.alike.end(), 0u);
    for (const std::vector<uint32_t>& ranks : replicas.ranks)
      for (size_t i = 0; i < ranks.size(); ++i)
        loads.alike[job.ranks().npu(ranks[i])] = job.ranks().npu(replicas.ranks.front()[i]);
  }
  return loads;
}

PartsRun::PartsRun(const Config& config, const PartsOptions& options, const parts::RankLoads& loads,
                   const std::string& alone, const std::string& command) {
  const PartsAsked asked = parts_asked_for(options, config.npus());
  if (asked.parts > config.npus()) parts::choose_cut(config, asked.parts, loads);  // says so
  const std::string why = parts_refusal(config);
  if (asked.automatic && asked.parts > 1 && !why.empty()) {
    report_.why_one = why;
    return;
  }
  if (!why.empty() && asked.parts > 1)
    throw UserError(
        ExitCode::usage,
        fmt::format("{}: {}: {}", config.file.empty() ? "configuration" : config.file, asked.text, why));
  if (asked.parts == 1 && !asked.cut.empty())
    throw UserError(ExitCode::usage,
                    fmt::format("--parts-cut {}: one part is not cut; give --parts 2 or more", asked.cut));
  if (asked.parts == 1) return;
  if (!alone.empty()) {
    report_.why_one = alone;
    idle_ = asked.self && *asked.self != 0;
    return;
  }
  parts::Cut cut = parts::choose_cut(config, asked.parts, loads, asked.cut);
  if (asked.automatic && cut.through_packets) {
    report_.why_one =
        "a cut would go through packet networks, which pays less; ask for it by a number of parts";
    idle_ = asked.self && *asked.self != 0;
    return;
  }
  keeps_replicas_ = cut.crossing_sends == 0 && cut.separated == 0;
  report_.parts = cut.parts;
  report_.cut = cut.text();
  report_.crossing_sends = cut.crossing_sends;
  report_.imbalance = cut.imbalance;
  if (!asked.self) {
    parts_ = std::make_unique<parts::ProcessParts>(std::move(cut));
    return;
  }
  parts_ = std::make_unique<parts::RemoteParts>(
      std::move(cut), *asked.self, asked.at,
      parts::Common{sweep::program_identity(), common_configuration(config, command + report_.cut),
                    hash_of(loads)},
      asked.wait_seconds);
}

void PartsRun::split(const std::function<void()>& other) {
  if (idle_) {
    note("weft: part 0 runs everything: " + report_.why_one);
    leave(ExitCode::done);
  }
  if (parts_ == nullptr) return;
  if (const std::string why = parts_->split(); !why.empty()) {
    report_ = {};
    report_.why_one = why;
    parts_.release();  // its processes are another's
    return;
  }
  if (parts_->first()) return;
  try {
    other();
  } catch (const UserError& e) {
    parts_->fail(e.code(), e.what());
  } catch (const Interrupted&) {
    parts_->fail(interruption_code(), interruption_text());
  } catch (const std::bad_alloc&) {
    parts_->fail(ExitCode::internal, "there is not enough memory");
  } catch (const std::exception& e) {
    parts_->fail(ExitCode::internal, e.what());
  }
  parts_->leave();
}

bool PartsRun::simulate(Machine& machine, const std::function<bool()>& finished,
                        const std::function<Work()>& work) {
  if (parts_ == nullptr) return cli::simulate(machine, finished, work);
  Progress progress(
      [](std::string_view text) {
        std::fwrite(text.data(), 1, text.size(), stderr);
        std::fflush(stderr);
      },
      isatty(STDERR_FILENO) == 1, "nodes");
  const double begin_s = now_seconds();
  double told_s = begin_s;
  const Picoseconds lookahead = machine.part_links()->lookahead();
  parts::State own;
  parts::Meeting all;
  bool asked = false;   // nothing moves anywhere, and every part has been asked whether something could
  bool changed = true;  // something has happened here since the job was asked whether it is finished
  double count_s = 0;   // when its nodes are to be counted next
  bool left = false;    // a process was stopped in its work: nothing can go on here
  const auto until_stopped = [&left](const auto& step) {
    try {
      step();
    } catch (const Interrupted&) {
      left = true;
    }
  };
  until_stopped([] { advance(sc_core::SC_ZERO_TIME, sc_core::SC_EXIT_ON_STARVATION); });
  for (;;) {
    own.next = next_event();
    own.clock = kernel_time();
    // To ask a job takes a look at all its ranks, and there are many windows.
    changed = changed || own.next != kNever;
    own.finished = own.next == kNever && (changed ? finished() : own.finished);
    if (own.next == kNever) changed = false;
    own.stop = stop_request.load();
    if (const double now_s = now_seconds(); now_s > count_s) {
      own.done = work().done;
      // To count takes a look at all modules.
      const double end_s = now_seconds();
      count_s = end_s + std::max(0.1, 50 * (end_s - now_s));
    }
    all = parts_->meet(own);
    if (all.stop != 0 || (all.next == kNever && all.finished)) break;
    if (all.unlike) start_again(kUnlike);
    if (all.stuck) break;
    parts_->take_inbox([&](const PartTransfer& transfer) {
      machine.part_links()->receive(transfer);
      changed = true;
    });
    if (all.next == kNever) {
      if (asked) break;
      asked = true;
      own.stuck = machine.rescue();
      continue;
    }
    asked = false;
    until_stopped([&] { advance_to(later(all.next, lookahead)); });
    if (!parts_->first()) continue;
    const double now_s = now_seconds();
    if (now_s - told_s < 0.1) continue;
    told_s = now_s;
    progress.update(now_s - begin_s, kernel_time(), [&] {
      Work whole = work();
      whole.done = all.done;
      return whole;
    });
  }
  progress.end();
  if (all.stop != 0 && parts_->first() && !stop_requested()) {
    note("weft: a signal has come to another part");
    stop_request = all.stop;
  }
  accept_stop();
  // All clocks are that of one process. What comes next begins there.
  if (all.next == kNever && all.clock > kernel_time())
    advance(sc_core::sc_time::from_value(all.clock - kernel_time()), sc_core::SC_RUN_TO_TIME);
  if (all.stop == 0 && !all.finished)
    start_again(fmt::format("at {} nothing moved any more; one process says why, or goes on",
                            readable_time(all.clock)));
  if (all.stop == 0) check_rings(machine);
  if (!all.finished && !left) machine.settle();
  take_statistics(machine);
  return all.finished;
}

/// Of part 0: what all parts have, by part; of the others: nothing.
template <typename T>
std::vector<std::vector<T>> PartsRun::gather(const std::vector<T>& own) {
  std::vector<std::vector<T>> all;
  for (const std::string& bytes :
       parts_->gather(std::string(reinterpret_cast<const char*>(own.data()), own.size() * sizeof(T)))) {
    all.emplace_back(bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(static_cast<void*>(all.back().data()), bytes.data(), bytes.size());
  }
  return all;
}

/// Circles of slots through several parts are found by none of them. What parts know of each other is looked
/// at first, and what ranks know if there may be one.
void PartsRun::check_rings(const Machine& machine) {
  const collectives::PartBegins own =
      collectives::part_begins(machine.member_begins(), parts_->cut().part_of);
  const auto lines = gather(own.lines);
  const auto waits = gather(own.waits);
  const CollectivesConfig& slots = machine.config().collectives;
  const bool several = slots.active_chunks_per_dimension > 1 || slots.dispatch_threshold > 1;
  Picoseconds ring = kNever;
  if (parts_->first()) {
    std::vector<collectives::PartBegins> parts(lines.size());
    for (size_t i = 0; i < parts.size(); ++i) parts[i] = {lines[i], waits[i]};
    ring = collectives::ring_of_parts(parts, parts_->cut().part_of, several);
  }
  if (parts_->largest(ring != kNever ? 1 : 0) == 0) return;
  // Of ranks that have not begun others have, and what these have begun is not known for each.
  const bool sleepers = splitting_ != nullptr && splitting_->waited_for_sleepers(machine.member_begins());
  if (parts_->largest(sleepers ? 1 : 0) != 0)
    start_again("ranks may have waited for each other's slots in a circle while some of them ran for others");
  const auto begins = gather(machine.member_begins().begins());
  const auto rank_waits = gather(machine.member_begins().waits());
  if (parts_->first()) {
    std::vector<collectives::MemberBegin> all_begins;
    std::vector<collectives::RankWait> all_waits;
    for (size_t i = 0; i < begins.size(); ++i) {
      all_begins.insert(all_begins.end(), begins[i].begin(), begins[i].end());
      all_waits.insert(all_waits.end(), rank_waits[i].begin(), rank_waits[i].end());
    }
    ring = collectives::ring_of_ranks(std::move(all_begins), all_waits, parts_->cut().part_of, several);
    if (ring != kNever)
      start_again(fmt::format(
          "at {} ranks of several parts may have waited for each other's slots in a circle, which "
          "only one process can tell",
          readable_time(ring)));
  }
  // The others wait here until the first part knows.
  parts_->largest(0);
}

/// It is in the middle of an instant: the others hear of it at the end of the window.
void PartsRun::give_up(const std::string& why) {
  note(fmt::format("weft: split: at {} {}", readable_time(kernel_time()), why));
  parts::State own;
  own.unlike = true;
  const parts::Meeting all = parts_->meet(own);
  if (all.stop == 0) start_again(kUnlike);
  stop_request = all.stop;
  if (!first()) parts_->fail(interruption_code(), interruption_text());
  note("weft: error: " + interruption_text());
  leave(interruption_code());
}

/// The others are ended where they wait.
void PartsRun::start_again(const std::string& why) {
  while (!parts_->first()) parts_->largest(0);  // never comes back
  note("weft: parts: " + why + ": the run starts again in one process");
  const int code = parts_->start_again(why, [] { return stop_request.load(); });
  leave(static_cast<ExitCode>(code));
}

void PartsRun::take_statistics(Machine& machine) {
  const std::vector<std::string> all = parts_->gather(bytes_of(parts_->statistics()));
  if (all.empty()) return;
  report_.cpu_seconds.clear();
  report_.transfers = 0;
  double waiting = 0;
  double time = 0;
  for (const std::string& bytes : all) {
    parts::WindowStatistics one;
    std::memcpy(&one, bytes.data(), sizeof one);
    report_.cpu_seconds.push_back(one.cpu_seconds);
    report_.transfers += one.transfers;
    waiting += one.waiting_seconds;
    time += one.seconds;
  }
  report_.waiting_share = time == 0 ? 0 : waiting / time;
  report_.windows = parts_->statistics().windows;
  report_.critical_seconds = parts_->statistics().critical_seconds;
  report_.lookahead_ps = machine.part_links()->lookahead();
  report_.cut_links = machine.part_links()->count();
}

RunResult PartsRun::result(const TraceJob& job, bool finished) {
  if (parts_ == nullptr) return job.result();
  const Picoseconds end = parts_->largest(job.time());
  JobPart of_job = job.part(end);
  MachinePart of_machine = part_of(job.machine());
  const std::vector<std::string> jobs = parts_->gather(parts::encode(of_job));
  const std::vector<std::string> machines = parts_->gather(parts::encode(of_machine));
  if (!parts_->first()) return {};
  for (size_t i = 1; i < jobs.size(); ++i) {
    merge(of_job, parts::decode_job(jobs[i]));
    merge(of_machine, parts::decode_machine(machines[i]));
  }
  const std::vector<std::string> unmatched = of_job.unmatched_rules;
  RunResult result = job.own_result_of(std::move(of_job), end, finished);
  add_machine_parts(result, job.machine(), std::move(of_machine));
  result.warnings.insert(result.warnings.end(), unmatched.begin(), unmatched.end());
  for (std::string& line : job.machine().slot_warnings(result.out_of_order_starts))
    result.warnings.push_back(std::move(line));
  return result;
}

std::string PartsRun::stall_report(const Job& job) {
  if (parts_ == nullptr) return job.stall_report();
  const std::vector<std::string> all = parts_->gather(job.stall_report());
  std::string report;
  for (size_t i = 0; i < all.size(); ++i)
    report += fmt::format("{}part {}: {}", i == 0 ? "" : "\n", i, all[i]);
  return report;
}

PartsRun::Collective PartsRun::collective(const CollectiveJob& job) {
  Collective whole{job.last(), {}};
  whole.machine.totals = job.machine().totals();
  whole.machine.unbalanced = job.machine().unbalanced_modules();
  if (parts_ == nullptr) return whole;
  JobPart of_job;
  of_job.collectives = {{job.last()}, {0}};
  const std::vector<std::string> jobs = parts_->gather(parts::encode(of_job));
  const std::vector<std::string> machines = parts_->gather(parts::encode(whole.machine));
  for (size_t i = 1; i < jobs.size(); ++i) {
    merge(of_job, parts::decode_job(jobs[i]));
    merge(whole.machine, parts::decode_machine(machines[i]));
  }
  whole.row = of_job.collectives.rows.front();
  return whole;
}

}  // namespace weft::cli
