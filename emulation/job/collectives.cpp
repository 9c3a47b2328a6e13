// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Collectives of an emulated job: who joins when, and whether all mean the same.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "emulation/client/weft_comm.h"
#include "emulation/job/capture.h"
#include "emulation/job/data.h"
#include "emulation/job/job.h"
#include "emulation/protocol/elements.h"

namespace weft::emulation {
namespace {

const char* const kTypes[] = {"byte",  "int8",   "uint8",   "int16",    "uint16",  "int32",  "uint32",
                              "int64", "uint64", "float16", "bfloat16", "float32", "float64"};
const char* const kReductions[] = {"sum",  "prod", "min", "max",  "avg",  "band",    "bor",
                                   "bxor", "land", "lor", "lxor", "user", "gathered"};

bool has_root(uint32_t operation) {
  return collectives::rooted(static_cast<CollectiveOp>(operation));
}

bool reduces(uint32_t operation) {
  return operation == WEFT_ALL_REDUCE || operation == WEFT_REDUCE || operation == WEFT_REDUCE_SCATTER;
}

/// "all_reduce of 1024 float32 (sum)".
std::string describe_call(const Coll& coll) {
  std::string text = to_string(static_cast<CollectiveOp>(coll.operation));
  if (coll.operation == WEFT_BARRIER) return text;
  text += fmt::format(
      " of {} {}",
      coll.counts.empty() ? std::to_string(coll.count) : fmt::format("[{}]", fmt::join(coll.counts, ", ")),
      kTypes[coll.type]);
  if (coll.type == WEFT_BYTE && coll.element_bytes != 1) text += fmt::format(" x {} B", coll.element_bytes);
  if (reduces(coll.operation)) text += fmt::format(" ({})", kReductions[coll.reduction]);
  if (has_root(coll.operation)) text += fmt::format(", root {}", coll.root);
  return text;
}

void check_values(const Coll& coll, uint32_t members) {
  if (coll.operation > WEFT_BARRIER || coll.type > WEFT_FLOAT64 || coll.reduction > WEFT_GATHERED)
    throw ProtocolError("COLL with an operation, type or reduction that does not exist");
  if (coll.element_bytes == 0 || coll.element_bytes > 1u << 20)
    throw ProtocolError("COLL with elements of a size that cannot be");
  if (coll.type != WEFT_BYTE && coll.element_bytes != bytes_of_type(coll.type))
    throw ProtocolError(
        fmt::format("COLL of {} with elements of {} bytes", kTypes[coll.type], coll.element_bytes));
  const bool rooted = has_root(coll.operation);
  if (rooted && (coll.root < 0 || static_cast<uint32_t>(coll.root) >= members))
    throw ProtocolError(fmt::format("COLL with root {} in a communicator of {} ranks", coll.root, members));
  for (const auto* counts : {&coll.counts, &coll.receive_counts}) {
    if (!counts->empty() && counts->size() != members)
      throw ProtocolError(
          fmt::format("COLL with {} counts in a communicator of {} ranks", counts->size(), members));
    uint64_t sum = 0;
    for (const uint64_t count : *counts)
      if (count > uint64_t{1} << 50 || (sum += count) > uint64_t{1} << 50)
        throw ProtocolError("COLL with a count that cannot be");
    if (sum > (uint64_t{1} << 60) / members / coll.element_bytes)
      throw ProtocolError("COLL of more bytes than can be");
  }
  if (coll.count > uint64_t{1} << 50) throw ProtocolError("COLL with a count that cannot be");
  if (coll.count * coll.element_bytes > (uint64_t{1} << 60) / members)
    throw ProtocolError("COLL of more bytes than can be");
}

}  // namespace

Job::Instance& Job::instance_of(uint32_t rank, const Coll& coll, const Communicator& comm) {
  std::unique_ptr<Instance>& known = instances_[{comm.id, coll.sequence}];
  if (known != nullptr) {
    check_equal(*known, rank, coll);
    return *known;
  }
  known = std::make_unique<Instance>();
  known->comm = &comm;
  known->sequence = coll.sequence;
  known->first = coll;
  known->first_rank = rank;
  for (const uint32_t real : classes_.real())
    if (comm.member(real) != ~0u) ++known->left;
  begin_instance(*known);
  return *known;
}

void Job::check_equal(const Instance& instance, uint32_t rank, const Coll& coll) const {
  const Coll& first = instance.first;
  const char* what = nullptr;
  if (coll.operation != first.operation)
    what = "operations";
  else if (coll.operation == WEFT_BARRIER)
    return;
  else if (coll.type != first.type || coll.element_bytes != first.element_bytes)
    what = "types";
  else if (reduces(coll.operation) && coll.reduction != first.reduction)
    what = "reductions";
  else if (has_root(coll.operation) && coll.root != first.root)
    what = "roots";
  // Unequal counts of gather, scatter and all_to_all differ from rank to rank.
  const bool own_counts =
      coll.operation == WEFT_ALL_TO_ALL || coll.operation == WEFT_GATHER || coll.operation == WEFT_SCATTER;
  const bool lists = !coll.counts.empty() || !first.counts.empty();
  // Whether there is a list only the root knows.
  const uint32_t root =
      has_root(coll.operation) ? instance.comm->world_rank(static_cast<uint32_t>(coll.root)) : ~0u;
  const bool unknown = (coll.operation == WEFT_GATHER || coll.operation == WEFT_SCATTER) && rank != root &&
                       instance.first_rank != root;
  if (what == nullptr && !(own_counts && lists) && !unknown &&
      (coll.count != first.count || coll.counts != first.counts) &&
      plan_bytes(coll, instance.comm->size) != plan_bytes(first, instance.comm->size))
    what = "counts";
  if (what == nullptr) return;
  throw JobError(
      {instance.first_rank, rank},
      fmt::format("collective number {} on communicator {} has different {}: rank {} calls {}{}, rank {} "
                  "calls {}{}",
                  instance.sequence, instance.comm->id, what, instance.first_rank, describe_call(first),
                  first.name.empty() ? "" : " \"" + first.name + "\"", rank, describe_call(coll),
                  coll.name.empty() ? "" : " \"" + coll.name + "\""));
}

/// The iteration that the rank has begun and not ended.
std::optional<uint64_t> Job::iteration_of(uint32_t rank) const {
  const std::vector<IterationRow>& rows = report_.iterations;
  const auto open = std::find_if(rows.rbegin(), rows.rend(), [rank](const IterationRow& row) {
    return row.rank == rank && row.name == "iteration" && row.end == kNever;
  });
  if (open == rows.rend() || open->number < 0) return {};
  return static_cast<uint64_t>(open->number);
}

void Job::begin_instance(Instance& instance) {
  const Communicator& comm = *instance.comm;
  collectives::CollectiveRequest request;
  request.op = static_cast<CollectiveOp>(instance.first.operation);
  request.bytes = plan_bytes(instance.first, comm.size);
  request.group = &comm.group;
  if (has_root(instance.first.operation))
    request.root = comm.world_rank(static_cast<uint32_t>(instance.first.root));
  Fabric::Start start;
  start.priority = rules_.apply(request, instance.first.name, 0);
  instance.injected = rules_.delays().next(comm.id, {request.op, request.bytes, comm.group.name,
                                                     instance.first.name, iteration_of(instance.first_rank)});
  start.plan = plans_.plan(request);
  start.delay = instance.injected;
  instance.stream = fabric_.begin(start);
  by_stream_[instance.stream] = &instance;
  ++report_.collectives;
  if (!fabric_.simulates_all()) return;
  for (uint32_t m = 0; m < comm.size; ++m) {
    const uint32_t rank = comm.world_rank(m);
    if (classes_.is_real(rank)) continue;
    const uint32_t leader = classes_.representative(rank);
    // One that is no member is followed on its own communicator of the same number, as far as it is known.
    instance.followers[comm.member(leader) != ~0u ? leader : instance.first_rank].push_back(rank);
  }
}

Picoseconds Job::skew(uint32_t rank, const Instance& instance) const {
  if (!config_.environment || config_.environment->skew == 0) return 0;
  std::seed_seq seeds{config_.run.seed, uint64_t{rank}, uint64_t{instance.comm->id},
                      uint64_t{instance.sequence}};
  std::mt19937_64 random(seeds);
  const double u = static_cast<double>(random() >> 11) * 0x1p-53;
  const auto most = static_cast<double>(config_.environment->skew);
  const double drawn =
      config_.environment->skew_distribution == "uniform" ? u * most : -std::log1p(-u) * most;
  return static_cast<Picoseconds>(drawn);
}

void Job::join_followers(Instance& instance, uint32_t rank) {
  const auto followers = instance.followers.find(rank);
  if (followers == instance.followers.end()) return;
  for (const uint32_t follower : followers->second) {
    Picoseconds at = now_;
    const uint32_t leader = classes_.representative(follower);
    if (leader != rank) {
      const auto known = joined_at_.find({leader, instance.comm->ordinals.at(rank), instance.sequence});
      if (known != joined_at_.end()) at = std::max(at, known->second);
    }
    at += instance.injected + skew(follower, instance);
    if (at > now_)
      later_joins_.push({at, order_++, instance.stream, follower});
    else
      fabric_.join(instance.stream, follower);
  }
  instance.followers.erase(followers);
}

void Job::apply_joins() {
  while (!later_joins_.empty() && later_joins_.top().time <= now_) {
    const LaterJoin join = later_joins_.top();
    later_joins_.pop();
    fabric_.join(join.stream, join.rank);
  }
  while (!later_sends_.empty() && later_sends_.top().time <= now_) {
    const uint32_t message = later_sends_.top().message;
    later_sends_.pop();
    launch(message);
  }
}

void Job::apply_coll(uint32_t rank, const Call& call) {
  const auto coll = read_message<Coll>(call.frame);
  const Communicator& comm = communicator(rank, coll.comm, "a collective");
  check_values(coll, comm.size);
  Rank& state = of(rank);
  const uint32_t me = comm.member(rank);
  Request& request = new_request(rank, call);
  request.receive_offset = coll.receive_offset;
  request.room = ~uint64_t{0};
  request.row = report_.calls.size();
  RankTotals& totals = report_.ranks[rank];
  CallRow row;
  row.rank = rank;
  row.number = totals.calls++;
  row.call = "collective";
  row.operation = to_string(static_cast<CollectiveOp>(coll.operation));
  row.name = coll.name;
  row.comm = comm.id;
  row.sequence = coll.sequence;
  row.bytes = plan_bytes(coll, comm.size);
  row.issued = now_;
  totals.bytes += row.bytes;
  report_.calls.push_back(std::move(row));

  constexpr uint64_t kMostBytes = uint64_t{1} << 48;  // times of more would not fit into 64 bits
  if (std::max(contributed_bytes(coll, comm.size, me), received_bytes(coll, comm.size, me)) > kMostBytes)
    throw ProtocolError("COLL of more bytes than can be");
  if (coll.receive_offset != kNoBuffer)
    state.memory.check(coll.receive_offset, received_bytes(coll, comm.size, me));
  Instance& instance = instance_of(rank, coll, comm);
  Contribution contribution;
  contribution.request = call.frame.head.request;
  contribution.joined = now_;
  contribution.call = coll;
  if (coll.send_offset != kNoBuffer) {
    contribution.data = state.memory.read(coll.send_offset, contributed_bytes(coll, comm.size, me));
    contribution.has_data = true;
  }
  if (!instance.joined.emplace(rank, std::move(contribution)).second)
    throw ProtocolError(
        fmt::format("COLL number {} on communicator {} a second time", coll.sequence, comm.id));
  joined_at_[{rank, comm.ordinals.at(rank), coll.sequence}] = now_;
  if (capture_ != nullptr) capture_->collective(rank, call.frame.head.request, now_, instance.first, comm);
  join_followers(instance, rank);
  // The last member may finish at once: the instance is then over.
  fabric_.join(instance.stream, rank);
}

void Job::operation_done(uint32_t operation, uint32_t rank, const collectives::CollectiveDone& done) {
  now_ = fabric_.now();
  if (!classes_.is_real(rank)) return;
  Instance& instance = *by_stream_.at(operation);
  Finished finished;
  const double messages = std::max<double>(1, static_cast<double>(done.messages));
  Wide queue = 0, network = 0;
  uint64_t chunks = 1;
  for (const collectives::PhaseTime& phase : done.phases) {
    queue += phase.queue;
    network += phase.network;
    chunks = std::max<uint64_t>(chunks, phase.chunks);
  }
  finished.queue = static_cast<int64_t>(queue / chunks);
  finished.network = static_cast<int64_t>(network / chunks);
  finished.reduce = static_cast<int64_t>(
      (static_cast<double>(done.split.reduce) + static_cast<double>(done.split.endpoint)) / messages);
  finished.injected = static_cast<int64_t>(instance.injected);
  finished.bytes = plan_bytes(instance.first, instance.comm->size);
  finish_member(instance, rank, finished);
}

void Job::finish_member(Instance& instance, uint32_t rank, const Finished& finished) {
  const Contribution& own = instance.joined.at(rank);
  Request& request = of(rank).requests.at(own.request);
  request.finished = finished;
  const auto contribution = [&](uint32_t member) -> const std::vector<uint8_t>* {
    const uint32_t world_rank = instance.comm->world_rank(member);
    const uint32_t leader = classes_.representative(world_rank);
    const auto of_leader = instance.joined.find(leader);
    if (of_leader != instance.joined.end() && of_leader->second.has_data) return &of_leader->second.data;
    // A leader that is no member: one's own buffer stands for it. A root that is real must have come.
    if (leader == world_rank || !own.has_data) return nullptr;
    return &own.data;
  };
  const auto call_of = [&](uint32_t member) -> const Coll* {
    const auto joined = instance.joined.find(classes_.representative(instance.comm->world_rank(member)));
    return joined != instance.joined.end() ? &joined->second.call : nullptr;
  };
  if (own.call.receive_offset != kNoBuffer) {
    if (auto result = collective_result(own.call, instance.comm->size, instance.comm->member(rank),
                                        contribution, call_of)) {
      request.data = std::move(*result);
      request.has_data = true;
    }
  }
  finish(rank, own.request);
  if (--instance.left != 0) return;
  by_stream_.erase(instance.stream);
  instances_.erase({instance.comm->id, instance.sequence});
}

/// Collectives that some real members have not joined.
std::string Job::unjoined() const {
  std::string text;
  for (const auto& [key, instance] : instances_) {
    std::vector<uint32_t> missing;
    for (const uint32_t rank : classes_.real())
      if (instance->comm->member(rank) != ~0u && instance->joined.count(rank) == 0) missing.push_back(rank);
    if (missing.empty()) continue;
    text += fmt::format(
        "  {} (number {} on communicator {}): rank {} has joined it at {} ps, rank{} {} never did\n",
        describe_call(instance->first), instance->sequence, instance->comm->id, instance->first_rank,
        instance->joined.begin()->second.joined, missing.size() == 1 ? "" : "s", fmt::join(missing, ", "));
  }
  return text;
}

}  // namespace weft::emulation
