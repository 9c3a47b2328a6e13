// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "emulation/environment/idle_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "workload/collectives/traffic_estimate.h"
#include "workload/graph/folding.h"

namespace weft::emulation {
namespace {

constexpr uint64_t kTogether = ~uint64_t{0};
constexpr double kCheapMessages = 100000;  ///< of a simulation that is worth it for one collective
constexpr size_t kMostExact = 256;
constexpr size_t kMostArrivals = 400000;  ///< kept of chains; 40 B each

std::vector<uint32_t> members_of(const collectives::CollectivePlan& plan, uint32_t npus) {
  std::vector<uint32_t> members = plan.request().group->ranks;
  for (uint32_t r = 0; members.size() < plan.members() && r < npus; ++r) members.push_back(r);
  return members;
}

void sort_arrivals(OperationTimes& times) {
  for (auto& rank : times)
    for (auto& phase : rank.second.phases)
      std::stable_sort(phase.second.arrivals.begin(), phase.second.arrivals.end(),
                       [](const auto& a, const auto& b) {
                         return std::tie(a.round, a.source) < std::tie(b.round, b.source);
                       });
}

}  // namespace

IdleTimes::IdleTimes(const Config& config, const std::vector<uint32_t>& real, bool folded,
                     AdvanceKernel advance)
    : config_(config), real_(real), folded_(folded), advance_(std::move(advance)) {
  log_.listen(this);
  Machine::Options options;
  options.causes = &log_;
  if (folded) options.mirrored = {real.front()};
  machine_ = new Machine("idle", config, *this, options);
  runs_ = machine_;
  if (folded || real.size() != 1 || !graph::folding_refusal(config).empty()) return;
  options.mirrored = real;
  one_ = new Machine("idle_one", config, *this, options);
}

IdleTimes::~IdleTimes() {
  machine_->detach();
  if (one_ != nullptr) one_->detach();
}

uint64_t IdleTimes::activations() const {
  return machine_->totals().activations + (one_ != nullptr ? one_->totals().activations : 0);
}

/// Are all members symmetric, ties included? Then the times of one member are the times of each member.
bool IdleTimes::told_by_one(const collectives::CollectivePlan& plan) const {
  return one_ != nullptr && plan.member_index(real_.front()) != ~0u && plan.asymmetry(config_).empty() &&
         plan.ties(config_).empty();
}

/// The next simulation is on this machine.
void IdleTimes::restart(Machine* machine) {
  runs_ = machine;
  ++measured_;
  if (std::find(used_.begin(), used_.end(), machine) == used_.end())
    used_.push_back(machine);
  else
    machine->restart();
}

void IdleTimes::check(const collectives::CollectivePlan& plan) const {
  if (plan.uses_units())
    throw UserError(ExitCode::usage,
                    fmt::format("{}: `in_switch` collectives need `environment.detail: full`", config_.file));
  if (!folded_) return;
  std::string why = plan.asymmetry(config_);
  if (why.empty() && plan.member_index(real_.front()) == ~0u)
    why = fmt::format("its communicator is without rank {}", real_.front());
  if (!why.empty())
    throw UserError(ExitCode::usage,
                    fmt::format("{}: {} of {} ranks cannot be told from one rank: {}; with as many ranks use "
                                "`environment.detail: full`",
                                config_.file, to_string(plan.request().op), plan.members(), why));
}

/// `rescue`: also what waits for slots, when nothing moves any more.
void IdleTimes::drain(bool rescue) {
  while (sc_core::sc_pending_activity() || (rescue && runs_->rescue())) {
    if (!sc_core::sc_pending_activity_at_current_time()) advance_(sc_core::sc_time_to_pending_activity());
    do {
      advance_(sc_core::SC_ZERO_TIME);
    } while (sc_core::sc_pending_activity_at_current_time());
  }
}

void IdleTimes::prepare(const collectives::CollectivePlan& plan, OperationTimes& times) const {
  for (const uint32_t rank : real_)
    if (plan.member_index(rank) != ~0u) times[rank];
}

void IdleTimes::begin(const collectives::CollectivePlan& plan, OperationTimes& times) {
  prepare(plan, times);
  times_ = {&times};
  ends_.assign(runs_->folded() || source_ != nullptr ? 0 : machine_->npus(), 0);
}

void IdleTimes::end(const collectives::CollectivePlan& plan, OperationTimes& times) {
  drain();
  times_.clear();
  if (left_ != 0)
    throw UserError(ExitCode::stall,
                    fmt::format("{} of {} B over {} ranks does not finish on an idle machine:\n{}",
                                to_string(plan.request().op), plan.request().bytes, plan.members(),
                                runs_->explain_stall()));
  sort_arrivals(times);
}

/// What happens in this time, its last instant included. Time in which nothing moves is not simulated: it
/// counts by the origin, so that late ranks do not use up the kernel's 64 bits.
void IdleTimes::run_for(Picoseconds time) {
  while (true) {
    while (sc_core::sc_pending_activity_at_current_time()) advance_(sc_core::SC_ZERO_TIME);
    if (time == 0) return;
    if (!sc_core::sc_pending_activity()) {
      origin_ -= time;
      return;
    }
    const Picoseconds step = std::min<Picoseconds>(sc_core::sc_time_to_pending_activity().value(), time);
    advance_(sc_core::sc_time::from_value(step));
    time -= step;
  }
}

OperationTimes IdleTimes::run(const std::shared_ptr<const collectives::CollectivePlan>& plan,
                              const std::vector<uint32_t>& first, const std::vector<uint32_t>& late,
                              Picoseconds gap) {
  OperationTimes times;
  begin(*plan, times);
  joined_ = false;
  left_ = static_cast<uint32_t>(first.size() + late.size());
  const uint32_t stream = first_stream_ = runs_->take_streams(1);
  for (const uint32_t rank : first) runs_->nmu(rank).start_collective(stream, plan);
  run_for(gap);
  joined_ = true;
  origin_ = sc_core::sc_time_stamp().value();
  for (const uint32_t rank : late) runs_->nmu(rank).start_collective(stream, plan);
  end(*plan, times);
  return times;
}

const IdleTimes::Exact* IdleTimes::exactly(const std::shared_ptr<const collectives::CollectivePlan>& plan,
                                           const std::vector<Joins>& joins) {
  if (folded_) return nullptr;
  together(plan);  // keeps the plan
  if (messages(plan) > kCheapMessages || source_ != nullptr) return nullptr;
  std::vector<Picoseconds> offsets;
  for (const Joins& join : joins) {
    offsets.push_back(join.offset);
    offsets.push_back(join.name);
  }
  const auto known = exact_.find({plan.get(), offsets});
  if (known != exact_.end()) return &known->second;
  if (exact_.size() >= kMostExact) exact_.clear();
  OperationTimes times;
  restart(machine_);
  begin(*plan, times);
  joined_ = true;
  origin_ = sc_core::sc_time_stamp().value();
  left_ = plan->members();
  const uint32_t stream = first_stream_ = machine_->take_streams(1);
  for (const Joins& join : joins) {
    run_for(origin_ + join.offset - sc_core::sc_time_stamp().value());
    for (const uint32_t rank : *join.members) machine_->nmu(rank).start_collective(stream, plan);
  }
  end(*plan, times);
  return &(exact_[{plan.get(), offsets}] = {std::move(times), ends_});
}

double IdleTimes::messages(const std::shared_ptr<const collectives::CollectivePlan>& plan) {
  const auto [known, fresh] = sent_.emplace(plan.get(), 0);
  if (fresh) {
    plans_[plan.get()] = plan;
    known->second = collectives::estimate_traffic(config_, *plan).messages;
  }
  return known->second;
}

bool IdleTimes::chains(const std::shared_ptr<const collectives::CollectivePlan>& plan) {
  return !folded_ && source_ == nullptr && messages(plan) <= kCheapMessages;
}

void IdleTimes::join(uint32_t stream, const Link& link, const Joins& joins) {
  const std::vector<uint32_t>& group = *joins.members;
  for (const uint32_t rank : group.empty() ? members_of(*link.plan, machine_->npus()) : group)
    machine_->nmu(rank).start_collective(stream, link.plan, link.priority);
}

void IdleTimes::simulate(const std::vector<Link>& links, ChainTimes& result) {
  struct Join {
    Picoseconds offset;
    uint32_t link;
    const Joins* joins;
  };
  std::vector<Join> order;
  for (uint32_t l = 0; l < links.size(); ++l)
    for (const Joins& joins : links[l].joins) order.push_back({joins.offset, l, &joins});
  std::stable_sort(order.begin(), order.end(),
                   [](const Join& a, const Join& b) { return a.offset < b.offset; });
  const bool complete = order.back().offset != kNever;
  for (const Join& join : order) {
    if (join.offset == kNever) {
      if (chain_ == nullptr) {
        this->join(first_stream_ + join.link, links[join.link], *join.joins);
        continue;
      }
      // What nobody joins any more would wait for ever, and the machine must be idle afterwards: the others
      // join when nothing moves, and nobody listens then.
      drain(false);
      chain_ = nullptr;
      times_.clear();
      this->join(first_stream_ + join.link, links[join.link], *join.joins);
      continue;
    }
    run_for(origin_ + join.offset - sc_core::sc_time_stamp().value());
    this->join(first_stream_ + join.link, links[join.link], *join.joins);
  }
  drain();
  if (complete) chain_ = nullptr;
  times_.clear();
  for (OperationTimes& times : result.times) sort_arrivals(times);
}

std::shared_ptr<const IdleTimes::ChainTimes> IdleTimes::chain(const std::vector<Link>& links) {
  std::vector<uint64_t> key;
  for (const Link& link : links) {
    together(link.plan);  // refuses what cannot be measured
    key.push_back(reinterpret_cast<uintptr_t>(link.plan.get()));
    key.push_back(static_cast<uint32_t>(link.priority));
    for (const Joins& joins : link.joins) {
      key.push_back(joins.offset);
      key.push_back(joins.name);
    }
  }
  const auto known = chains_.find(key);
  if (known != chains_.end()) return known->second;
  restart(machine_);
  auto result = std::make_shared<ChainTimes>();
  result->times.resize(links.size());
  result->ends.assign(links.size(), kNever);
  chain_left_.clear();
  for (size_t l = 0; l < links.size(); ++l) {
    prepare(*links[l].plan, result->times[l]);
    times_.push_back(&result->times[l]);
    chain_left_.push_back(links[l].plan->members());
  }
  ends_.clear();
  left_ = 0;
  joined_ = true;
  origin_ = sc_core::sc_time_stamp().value();
  first_stream_ = machine_->take_streams(static_cast<uint32_t>(links.size()));
  chain_ = result.get();
  simulate(links, *result);
  size_t arrivals = 0;
  for (const OperationTimes& times : result->times)
    for (const auto& rank : times)
      for (const auto& phase : rank.second.phases) arrivals += phase.second.arrivals.size();
  if ((chain_arrivals_ += arrivals) > kMostArrivals) {
    chains_.clear();
    chain_arrivals_ = arrivals;
  }
  chains_[key] = result;
  return result;
}

const OperationTimes& IdleTimes::together(const std::shared_ptr<const collectives::CollectivePlan>& plan) {
  const auto known = times_of_.find({plan.get(), kTogether});
  if (known != times_of_.end()) return known->second;
  check(*plan);
  plans_[plan.get()] = plan;
  const bool by_one = told_by_one(*plan);
  std::vector<uint32_t> members =
      folded_ || by_one ? std::vector<uint32_t>{real_.front()} : members_of(*plan, machine_->npus());
  restart(by_one ? one_ : machine_);
  OperationTimes times = run(plan, {}, members, 0);
  length_[plan.get()] = sc_core::sc_time_stamp().value() - origin_;
  if (by_one && source_ == nullptr) ends_.assign(machine_->npus(), done_ - origin_);
  ends_of_[plan.get()] = ends_;
  if (source_ != nullptr)
    factor_[plan.get()] = source_->retime(*plan, std::max<Picoseconds>(1, done_ - origin_), times);
  if (folded_)
    for (auto& rank : times) rank.second = times.at(real_.front());
  return times_of_[{plan.get(), kTogether}] = std::move(times);
}

const OperationTimes& IdleTimes::after(const std::shared_ptr<const collectives::CollectivePlan>& plan,
                                       uint64_t name, const std::vector<uint32_t>& late) {
  const auto known = times_of_.find({plan.get(), name});
  if (known != times_of_.end()) return known->second;
  const OperationTimes& base = together(plan);
  if (folded_) return base;  // every group as if all were as late
  std::vector<uint32_t> first;
  for (const uint32_t rank : members_of(*plan, machine_->npus()))
    if (!std::binary_search(late.begin(), late.end(), rank)) first.push_back(rank);
  if (first.empty()) return base;
  restart(machine_);
  OperationTimes times = run(plan, first, late, 2 * length_.at(plan.get()) + 1000000);
  if (source_ != nullptr) scale(times, factor_.at(plan.get()));
  return times_of_[{plan.get(), name}] = std::move(times);
}

const MessageTimes& IdleTimes::message(uint32_t source, uint32_t destination, uint64_t bytes) {
  const auto known = messages_.find({source, destination, bytes});
  if (known != messages_.end()) return known->second;
  if (folded_)
    throw UserError(ExitCode::usage, fmt::format("{}: point-to-point messages of a machine of {} ranks need "
                                                 "`environment.detail: full`",
                                                 config_.file, machine_->npus()));
  restart(machine_);
  message_ = {};
  origin_ = sc_core::sc_time_stamp().value();
  machine_->nmu(source).send(NpuId{destination}, 0, 0, bytes);
  drain();
  return messages_[{source, destination, bytes}] = message_;
}

void IdleTimes::collective_done(NpuId rank, const collectives::CollectiveDone& done) {
  if (left_ > 0) --left_;
  if (chain_ != nullptr && --chain_left_[done.stream - first_stream_] == 0)
    chain_->ends[done.stream - first_stream_] = sc_core::sc_time_stamp().value() - origin_;
  done_ = sc_core::sc_time_stamp().value();
  if (index(rank) < ends_.size()) ends_[index(rank)] = done_ - origin_;
}

void IdleTimes::message_injected(NpuId, NpuId, const MessageId&) {
  message_.left = sc_core::sc_time_stamp().value() - origin_;
}

void IdleTimes::message_arrived(NpuId, const Completion& completion) {
  message_.there = sc_core::sc_time_stamp().value() - origin_;
  message_.completion = completion;
}

RankTimes::Phase* IdleTimes::wanted(uint32_t npu, uint32_t stream, uint32_t chunk, uint32_t phase) {
  if (stream - first_stream_ >= times_.size()) return nullptr;
  OperationTimes& times = *times_[stream - first_stream_];
  const auto rank = times.find(npu);
  return rank == times.end() ? nullptr : &rank->second.phases[chunk << 8 | phase];
}

void IdleTimes::phase_began(const Phase& phase) {
  if (RankTimes::Phase* of = wanted(phase.npu, phase.stream, phase.chunk, phase.phase))
    of->begin = joined_ ? static_cast<int64_t>(phase.at - origin_) : kBefore;
}

void IdleTimes::delivered(const Delivery& delivery) {
  RankTimes::Phase* of = wanted(delivery.npu, delivery.what - 1, delivery.chunk, delivery.phase);
  if (of == nullptr) return;
  of->arrivals.push_back({joined_ ? static_cast<int64_t>(delivery.end - origin_) : kBefore, delivery.from,
                          delivery.round, delivery.bytes, delivery.queued, delivery.reduce});
}

}  // namespace weft::emulation
