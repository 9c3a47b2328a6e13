// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A job on a machine: a trace on every rank (TraceJob) or single collectives (CollectiveJob). A job owns its
// System and gathers what the results need. It never calls sc_start: whoever owns the simulation does, in
// this order:
//
//     TraceJob job("job", config, traces);
//     job.start();
//     do { sc_start(); } while (!job.finished() && job.rescue());
//     if (!job.finished()) report(job.stall_report());
//     RunResult result = job.result();

#ifndef WEFT_SC_MODELS_JOB_H
#define WEFT_SC_MODELS_JOB_H

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "configs/config.h"
#include "sc_models/npu.h"
#include "sc_models/settled_call.h"
#include "sc_models/system.h"
#include "vcd/waves.h"
#include "workload/collectives/data_check.h"
#include "workload/collectives/p2p_data.h"
#include "workload/collectives/plan.h"
#include "workload/collectives/rules.h"
#include "workload/graph/checked_job.h"
#include "workload/graph/folding.h"
#include "workload/graph/layers.h"
#include "workload/graph/rank_engine.h"
#include "workload/trace/trace_feeder.h"
#include "workload/trace/workload_check.h"

namespace weft {

/// One collective that ran. Times are of the job's clock, ps.
struct CollectiveRow {
  uint32_t stream = 0;  ///< its number: of a trace trace::CollectiveNumbers', else as started
  CollectiveOp op = CollectiveOp::all_reduce;
  std::string group;   ///< communicator group, "" for all ranks
  std::string name;    ///< of the trace node of the lowest rank that has started it; "" without a trace
  uint64_t bytes = 0;  ///< comm_size
  uint32_t ranks = 0;
  uint32_t chunks = 0;
  Picoseconds started = kNever;  ///< first member
  Picoseconds finished = 0;      ///< last member
  Picoseconds lower_bound = 0;   ///< physics: ports, cuts and latency
  uint64_t messages = 0;
  Wide message_bytes = 0;
  TimeSums split;  ///< summed over the messages
  struct Phase {
    std::string what;  ///< "reduce_scatter d0 ring"; chunks in different orders: "reduce_scatter d0|d1 ring"
    std::string operation;  ///< "reduce_scatter"
    std::string dimension;  ///< "0", "0|1", "group": a flat line of members
    std::string algorithm;
    Wide queue = 0;  ///< mean over ranks of the sum over chunks
    Wide network = 0;
  };
  std::vector<Phase> phases;
  uint32_t members_done = 0;
  uint32_t fidelity_rule = graph::FidelityRules::kNone;  ///< that was for it
  uint32_t folded_members = 0;  ///< of them, those whose part was told from another rank's

  Picoseconds time() const { return finished - started; }
  /// nccl-tests' conventions, bytes per second; 0 when no time passed.
  double algorithm_bandwidth() const;
  double bus_bandwidth() const;
  double efficiency() const;
};

/// One layer of the model (workload/graph/layers.h): its nodes' time, summed over the ranks that have any,
/// and its collectives.
struct LayerRow {
  std::string iteration;  ///< empty: the names have none
  std::string layer;      ///< empty: nodes whose names have none
  uint32_t ranks = 0;
  uint64_t nodes = 0;
  Wide compute = 0;
  Wide local_memory = 0;   ///< not hidden
  Wide remote_memory = 0;  ///< not hidden
  Wide communication = 0;  ///< not hidden: exposed
  uint64_t collectives = 0;
  Wide bytes = 0;            ///< comm_size
  Wide collective_time = 0;  ///< of those that finished
  struct Phase {
    Wide queue = 0;  ///< as CollectiveRow::Phase, over the collectives
    Wide network = 0;
  };
  std::vector<Phase> phases;
};

struct RankRow {
  uint32_t rank = 0;
  graph::Categories time;    ///< adds up to the job's time
  Picoseconds finished = 0;  ///< its own last node
};

struct LinkRow {
  std::string name;  ///< hierarchical name of the sending port
  std::string to;    ///< the module at its other side
  uint32_t dimension = 0;
  uint64_t bytes = 0;
  uint64_t messages = 0;
  Picoseconds busy = 0;
  Picoseconds queued = 0;  ///< time that messages waited for it, summed
  Fidelity fidelity = Fidelity::message;
  uint64_t packets = 0;    ///< packet fidelity
  uint64_t marked = 0;     ///< packets of these that ECN has marked at this link
  uint64_t pauses = 0;     ///< priority flow control: of the sender
  Picoseconds paused = 0;  ///< how long they lasted
  uint64_t overruns = 0;   ///< packets that found a full buffer without having been paused
};

/// What a rule of `topology.fidelity_rules` was for.
struct FidelityUse {
  uint32_t rule = graph::FidelityRules::kNone;  ///< kNone: what no rule was for
  uint64_t collectives = 0;                     ///< that have started
  uint64_t messages = 0;                        ///< delivered: those of finished collectives, point to point
};

struct RunResult {
  Picoseconds time = 0;        ///< the last node (or collective) of the job
  std::vector<RankRow> ranks;  ///< empty without a trace
  std::vector<CollectiveRow> collectives;
  std::vector<LayerRow> layers;  ///< empty without a trace
  std::vector<LinkRow> links;
  std::vector<FidelityUse> fidelity_uses;  ///< no rule's first; empty: there are no rules
  uint64_t nodes = 0;
  uint64_t messages = 0;
  uint64_t events = 0;  ///< module activations
  uint64_t out_of_order_starts = 0;
  uint64_t memory_bytes = 0;
  uint64_t packet_hops = 0;         ///< packet fidelity: packets times routers they left
  uint64_t flits = 0;               ///< packet fidelity: that went through
  System::Congestion congestion;    ///< packet fidelity with ECN
  Picoseconds lower_bound = 0;      ///< of the job: longest path, each rank's work
  Picoseconds upper_bound = 0;      ///< everything one after the other
  bool folded = false;              ///< every member of every collective was told from one that does alike
  uint32_t simulated_ranks = 0;     ///< ranks with modules of their own
  uint64_t folded_collectives = 0;  ///< trace: collectives all of whose members were folded
  std::map<std::string, uint32_t> unfolded;  ///< trace: why ranks were not folded, and how many
  uint64_t data_collectives =
      0;                       ///< run.data: functional: finished collectives whose every element was checked
  uint64_t data_messages = 0;  ///< point-to-point messages whose elements were compared with what was sent
  uint64_t data_elements = 0;  ///< output elements compared with the definition, over all ranks
  std::vector<std::string> broken_invariants;
  std::vector<std::string> warnings;
};

/// What both kinds of job share.
class Job : public NmuClient {
 public:
  ~Job() override;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  virtual bool finished() const = 0;
  /// Lets chunks go that wait for each other's slots; true if there was one (run the simulation again).
  /// Each use is a warning of the result: times then depend on the rest of the machine.
  bool rescue();
  /// Why the job is not finished: which node of which rank waits for what, line by line, ending in the cycle
  /// if there is one.
  virtual std::string stall_report() const = 0;
  virtual RunResult result() const = 0;

  System& system() { return *system_; }
  /// Data-carrying mode: lines about wrong data so far, part of RunResult::broken_invariants.
  const std::vector<std::string>& wrong_data() const { return wrong_data_; }
  /// Elements of finished collectives that were compared with the definition.
  uint64_t verified_elements() const { return data_elements_; }
  /// A line for every rule, of collectives and of fidelity, that has been for nothing so far.
  std::vector<std::string> unmatched_rules() const;
  /// About chunks that were started beyond the slots so far, and about uses of rescue().
  std::vector<std::string> slot_warnings() const;
  /// Finished and all nodes (collectives), for a progress line.
  virtual uint64_t done_count() const = 0;
  virtual uint64_t total_count() const = 0;

 protected:
  /// `plans`, `rules`: some that were made before; null: the job makes its own.
  Job(const char* name, const Config& config, const System::Options& options,
      std::shared_ptr<collectives::PlanBuilder> plans = nullptr,
      std::shared_ptr<collectives::Rules> rules = nullptr);
  void record(NpuId rank, const collectives::CollectiveDone& done, CollectiveRow& row);
  /// `folding`: of a trace; null: no rank stands for others, or (CollectiveJob) all links told are its own.
  void add_machine_results(RunResult& result, const graph::Folding* folding = nullptr) const;
  /// Keeps the line for RunResult::broken_invariants; of many, the first ones.
  void note_wrong_data(const std::string& line);
  /// `sends`: point-to-point messages by rule. Last, when the messages are known.
  void add_fidelity_results(RunResult& result, const std::vector<uint64_t>& sends) const;

  const Config& config_;
  std::unique_ptr<System> system_;
  std::shared_ptr<collectives::PlanBuilder> plans_;
  std::shared_ptr<collectives::Rules> rules_;

 private:
  std::vector<std::string> slot_warnings(uint64_t beyond) const;
  void verify(const collectives::CollectiveDone& done, const CollectiveRow& row);

  std::unordered_map<uint32_t, collectives::DataCheck> checks_;  ///< by stream, until all members are done
  std::vector<std::string> wrong_data_;                          ///< one line a collective, the first kept
  uint64_t wrong_lines_ = 0;
  std::unordered_set<uint32_t> wrong_streams_;
  std::unordered_set<uint32_t> defect_streams_;
  uint64_t data_collectives_ = 0;
  uint64_t data_elements_ = 0;
  struct Rescues {
    uint64_t times = 0;
    uint64_t chunks = 0;
    Picoseconds first = 0;
    Picoseconds last = 0;
  };
  Rescues rescues_;
};

/// One collective after the other on all ranks, nothing else: what `weft collective` runs.
class CollectiveJob : public Job {
 public:
  /// `waves` may be null. `folded`: solve symmetric collectives from one rank (see foldable()); start() then
  /// takes nothing else.
  /// `plans`: those that not_foldable() has made.
  CollectiveJob(const char* name, const Config& config, vcd::Waves* waves = nullptr, bool folded = false,
                std::shared_ptr<collectives::PlanBuilder> plans = nullptr);

  /// Can this collective of all ranks be folded? Otherwise why not.
  static std::string not_foldable(collectives::PlanBuilder& plans, CollectiveOp op, uint64_t bytes);

  /// Throws UserError for what start() would refuse of it as the `number`-th collective, but for what only
  /// the simulated time can show.
  static void check(collectives::PlanBuilder& plans, CollectiveOp op, uint64_t bytes, uint32_t root,
                    size_t number);

  /// What start() runs, but for the data it may carry.
  static std::shared_ptr<const collectives::CollectivePlan> plan_of(collectives::PlanBuilder& plans,
                                                                    CollectiveOp op, uint64_t bytes,
                                                                    uint32_t root = 0);

  /// Starts `op` of `bytes` on all ranks at the current time (before or between sc_start calls). `root`:
  /// rank.
  void start(CollectiveOp op, uint64_t bytes, uint32_t root = 0);

  bool finished() const override;
  std::string stall_report() const override;
  RunResult result() const override;
  uint64_t done_count() const override;
  uint64_t total_count() const override;

  /// The collective started last.
  const CollectiveRow& last() const { return rows_.back(); }

  void collective_done(NpuId rank, const collectives::CollectiveDone& done) override;
  void message_injected(NpuId rank, NpuId destination, const MessageId& id) override;
  void message_arrived(NpuId rank, const Completion& completion) override;

 private:
  std::vector<CollectiveRow> rows_;
};

/// The traces of all ranks on the machine: what `weft run` runs.
class TraceJob : public Job, private CollectiveHost {
 public:
  /// `traces` outlives the job. `waves` may be null. `fold`: of ranks that do alike only one is built
  /// (graph::Folding); system().nmu() and npu() are then for folding().built() ranks only. Throws UserError
  /// when a plan cannot be made (algorithm and size).
  TraceJob(const char* name, const Config& config, const trace::JobTrace& traces, vcd::Waves* waves = nullptr,
           bool fold = false);
  /// The same of traces that were checked before.
  TraceJob(const char* name, const Config& config, std::unique_ptr<graph::CheckedJob> checked,
           vcd::Waves* waves = nullptr);
  ~TraceJob() override;

  const graph::Folding& folding() const { return folding_; }

  void start();
  bool finished() const override;
  std::string stall_report() const override;
  RunResult result() const override;
  uint64_t done_count() const override;
  uint64_t total_count() const override;

  void collective_done(NpuId rank, const collectives::CollectiveDone& done) override;
  void message_injected(NpuId rank, NpuId destination, const MessageId& id) override;
  void message_arrived(NpuId rank, const Completion& completion) override;

 private:
  void start_collective(uint32_t rank, const trace::Node& node) override;
  uint8_t send_plane(const trace::Node& node) override;
  uint32_t send_data(uint32_t rank, NpuId destination, const MessageId& id, uint64_t bytes) override;
  /// `priority`, if given: the collective's.
  /// The row of the collective that this node of a member of the group is part of; a new one is made for
  /// `plan`.
  CollectiveRow& start_row(uint32_t rank, trace::GroupId group, const trace::Node& node,
                           const collectives::CollectivePlan& plan);
  /// Of a collective that some member has started.
  CollectiveRow& row(uint32_t stream) { return rows_[row_of_[stream - 1] - 1]; }
  /// Rows in an order that does not depend on who started first: by time, then by number.
  std::vector<CollectiveRow> sorted_rows() const;

  /// A start that may be one of a collective that all members start at this instant and that none of them
  /// does anything beside: it is then told from one member.
  struct Held {
    uint32_t rank = 0;
    uint32_t stream = 0;
    trace::NodeIndex node = 0;
    int32_t priority = 0;
    std::shared_ptr<const collectives::CollectivePlan> plan;
  };
  /// A collective that one member runs for all.
  struct Mirrored {
    std::vector<uint32_t> ranks;
    std::vector<fabric::Link> before;  ///< the member's links
    uint32_t dimensions = 0;           ///< bits
    uint32_t exchanges = 0;
  };
  /// How a plan can be told from one member; dimensions 0: not at all.
  struct Mirrorable {
    uint32_t dimensions = 0;
    uint32_t exchanges = 0;
    uint32_t members = 1;  ///< of its line
  };
  const Mirrorable& mirrorable(const collectives::CollectivePlan& plan);
  void start_held();
  bool start_mirrored(const std::vector<const Held*>& members);
  void mirrored_done(NpuId rank, const collectives::CollectiveDone& done, const Mirrored& part);

  const std::unique_ptr<graph::CheckedJob> checked_;
  const graph::Folding& folding_;
  std::unique_ptr<SettledCall> after_starts_;  ///< null: all collectives run in messages
  std::vector<Held> held_;
  std::unordered_map<uint32_t, size_t> held_of_;  ///< by rank
  std::unordered_map<const collectives::CollectivePlan*, Mirrorable> mirrorable_;
  std::unordered_map<uint64_t, Mirrored> mirrored_;  ///< (rank, stream)
  uint64_t mirrored_messages_ = 0;                   ///< of members that were told from another
  const trace::JobTrace& traces_;
  const std::vector<collectives::Group>& groups_;
  std::vector<uint32_t> row_of_;       ///< by number - 1: position in rows_ + 1; 0: nobody has started it
  std::vector<CollectiveRow> rows_;    ///< as they were started
  std::vector<uint32_t> named_by_;     ///< by row: the rank whose node has given its name
  std::vector<uint64_t> ruled_sends_;  ///< by fidelity rule
  struct Running {
    trace::NodeIndex node = 0;
    trace::GroupId group = 0;
    uint32_t ordinal = 0;
  };
  std::unordered_map<uint64_t, Running> running_;             ///< (rank, stream) -> the rank's part
  std::vector<std::unique_ptr<trace::TraceFeeder>> feeders_;  ///< by rank; null: folded
  graph::LayerTable layers_;
  std::unique_ptr<collectives::P2pData> p2p_data_;  ///< null: messages carry sizes only
};

}  // namespace weft

#endif
