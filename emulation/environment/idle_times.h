// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Delay source `model`: how long collectives and messages take for the real ranks on an idle machine, at its
// fidelity. Each is simulated once and kept.
//
// What a real rank receives depends on when the groups of ranks have joined. In a graph of sends and receives
// whose edges have fixed times, a receive is at max over the groups g of J_g + W_g: J_g is when the group
// joined, W_g the longest path from there. W_g is measured with g joining so late that all others wait for
// it. When all join at once, the times are measured just so.

#ifndef WEFT_EMULATION_ENVIRONMENT_IDLE_TIMES_H
#define WEFT_EMULATION_ENVIRONMENT_IDLE_TIMES_H

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "emulation/environment/delay_source.h"
#include "emulation/environment/full_fabric.h"
#include "emulation/environment/operation_times.h"
#include "insight/activity_listener.h"
#include "insight/causal_log.h"
#include "sc_models/machine.h"

namespace weft::emulation {

struct MessageTimes {
  Picoseconds left = 0;
  Picoseconds there = 0;
  Completion completion;
};

class IdleTimes final : private NmuClient, private insight::ActivityListener {
 public:
  /// `real`: the ranks whose times are wanted. `folded`: the machine has only the first of them, which stands
  /// for all ranks (analytical fidelity). `config` outlives it.
  IdleTimes(const Config& config, const std::vector<uint32_t>& real, bool folded, AdvanceKernel advance);
  ~IdleTimes() override;
  /// Collectives take as long as `source` says. Before the first one.
  void use(std::unique_ptr<DelaySource> source) { source_ = std::move(source); }

  const Machine& machine() const { return *machine_; }
  /// Module activations so far, of all its machines.
  uint64_t activations() const;
  bool folded() const { return folded_; }

  /// All members join at once. Throws UserError(usage) for a plan that cannot be measured so.
  const OperationTimes& together(const std::shared_ptr<const collectives::CollectivePlan>& plan);
  /// `late` joins last: bit m of the members. `name`: of the group, unique for the plan.
  const OperationTimes& after(const std::shared_ptr<const collectives::CollectivePlan>& plan, uint64_t name,
                              const std::vector<uint32_t>& late);
  /// The groups join so much after the first, in this order: times since the first join. Null: that would be
  /// too many messages to be worth it.
  struct Joins {
    Picoseconds offset = 0;
    uint64_t name = 0;  ///< of the group, unique for the plan
    const std::vector<uint32_t>* members = nullptr;
  };
  struct Exact {
    OperationTimes times;
    std::vector<Picoseconds> ends;  ///< as ends() says
  };
  const Exact* exactly(const std::shared_ptr<const collectives::CollectivePlan>& plan,
                       const std::vector<Joins>& joins);
  /// One of several collectives that meet on the machine. `joins`: since the first join of them all; kNever:
  /// that group has not joined yet.
  struct Link {
    std::shared_ptr<const collectives::CollectivePlan> plan;
    int32_t priority = 0;
    std::vector<Joins> joins;
  };
  struct ChainTimes {
    std::vector<OperationTimes>
        times;                      ///< by collective; what waits for a group that has not joined is missing
    std::vector<Picoseconds> ends;  ///< by collective: last member; kNever: not yet known
  };
  std::shared_ptr<const ChainTimes> chain(const std::vector<Link>& links);
  /// Can chain() tell of it?
  bool chains(const std::shared_ptr<const collectives::CollectivePlan>& plan);
  /// About how many it sends.
  double messages(const std::shared_ptr<const collectives::CollectivePlan>& plan);
  /// By rank: ps from the time when all members have joined to the end of this member. Symmetric members end
  /// at the same time. Empty if only one rank is simulated, or if a table or a plugin gives the times.
  const std::vector<Picoseconds>& ends(const std::shared_ptr<const collectives::CollectivePlan>& plan) {
    together(plan);
    return ends_of_[plan.get()];
  }
  const MessageTimes& message(uint32_t source, uint32_t destination, uint64_t bytes);
  /// Simulations so far.
  uint64_t measured() const { return measured_; }

 private:
  OperationTimes run(const std::shared_ptr<const collectives::CollectivePlan>& plan,
                     const std::vector<uint32_t>& first, const std::vector<uint32_t>& late, Picoseconds gap);
  void restart(Machine* machine);
  bool told_by_one(const collectives::CollectivePlan& plan) const;
  void begin(const collectives::CollectivePlan& plan, OperationTimes& times);
  void end(const collectives::CollectivePlan& plan, OperationTimes& times);
  void run_for(Picoseconds time);
  void drain(bool rescue = true);
  void check(const collectives::CollectivePlan& plan) const;

  void collective_done(NpuId rank, const collectives::CollectiveDone& done) override;
  void message_injected(NpuId rank, NpuId destination, const MessageId& id) override;
  void message_arrived(NpuId rank, const Completion& completion) override;

  bool wants_links() const override { return false; }
  void node_began(const Node&) override {}
  void node_ended(uint32_t, uint32_t, Picoseconds) override {}
  void collective_began(const Part&) override {}
  void collective_ended(uint32_t, uint32_t, Picoseconds) override {}
  void phase_began(const Phase& phase) override;
  void phase_ended(const Phase&) override {}
  void submitted(uint32_t) override {}
  void crossed(const Crossing&) override {}
  void entered(uint32_t, uint32_t, uint32_t, uint64_t, Picoseconds) override {}
  void delivered(const Delivery& delivery) override;
  void combined(uint32_t, uint32_t, Picoseconds) override {}
  RankTimes::Phase* wanted(uint32_t npu, uint32_t stream, uint32_t chunk, uint32_t phase);
  void prepare(const collectives::CollectivePlan& plan, OperationTimes& times) const;
  void join(uint32_t stream, const Link& link, const Joins& joins);
  void simulate(const std::vector<Link>& links, ChainTimes& result);

  const Config& config_;
  std::vector<uint32_t> real_;
  bool folded_;
  AdvanceKernel advance_;
  insight::CausalLog log_{0};
  Machine* machine_;  ///< it stays until the process ends: taking modules out of SystemC's registries is slow
  /// .. and one of the real rank alone, which tells of symmetric collectives at the cost of its own messages.
  /// Null: there are several real ranks, or the machine does not fold.
  Machine* one_ = nullptr;
  Machine* runs_;  ///< of the two, the one that simulates
  std::vector<const Machine*> used_;
  uint64_t measured_ = 0;
  // Of the simulation that runs:
  std::vector<OperationTimes*> times_;  ///< by stream, from `first_stream_` on
  uint32_t first_stream_ = 0;
  Picoseconds origin_ = 0;  ///< join of the late group
  bool joined_ = false;
  uint32_t left_ = 0;
  Picoseconds done_ = 0;           ///< last member
  std::vector<Picoseconds> ends_;  ///< by rank, since `origin_`
  ChainTimes* chain_ = nullptr;
  std::vector<uint32_t> chain_left_;  ///< by collective: members that have not finished
  MessageTimes message_;
  // Kept; the plan's address stays its own while it is kept here:
  std::map<std::pair<const void*, uint64_t>, OperationTimes> times_of_;
  std::map<const void*, std::shared_ptr<const collectives::CollectivePlan>> plans_;
  std::map<const void*, Picoseconds> length_;
  std::map<const void*, std::vector<Picoseconds>> ends_of_;
  std::map<std::pair<const void*, std::vector<Picoseconds>>, Exact> exact_;    ///< the latest ones
  std::map<std::vector<uint64_t>, std::shared_ptr<const ChainTimes>> chains_;  ///< the latest ones
  size_t chain_arrivals_ = 0;                                                  ///< in them
  std::map<const void*, double> sent_;                                         ///< messages of a plan
  std::unique_ptr<DelaySource> source_;                                        ///< null: the machine
  std::map<const void*, double> factor_;  ///< of the source's time to the machine's
  std::map<std::tuple<uint32_t, uint32_t, uint64_t>, MessageTimes> messages_;
};

}  // namespace weft::emulation

#endif
