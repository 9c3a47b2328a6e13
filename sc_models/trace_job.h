// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The traces of a job's ranks on a machine: what `weft run` runs.

#ifndef WEFT_SC_MODELS_TRACE_JOB_H
#define WEFT_SC_MODELS_TRACE_JOB_H

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "configs/flat_map.h"
#include "sc_models/job.h"
#include "sc_models/mirrored_starts.h"
#include "sc_models/npu_model.h"
#include "sc_models/part_results.h"
#include "sc_models/repeated_collectives.h"
#include "sc_models/sampled_collectives.h"
#include "sc_models/splitting.h"
#include "vcd/probe_hub.h"
#include "workload/collectives/p2p_data.h"
#include "workload/graph/checked_job.h"
#include "workload/graph/folding.h"
#include "workload/graph/issue_orders.h"
#include "workload/graph/layers.h"
#include "workload/job/job_footprint.h"
#include "workload/job/rank_map.h"
#include "workload/trace/trace_feeder.h"

namespace weft {

class TraceJob : public Job, private JobHost, private SplitHost {
 public:
  /// `checked` was made with the machine's configuration. The job's NPUs have no other job. `in_parts`: no
  /// single collective is simulated by one member for all (MirroredStarts), as in a run in parts, whose
  /// results are to be the same.
  TraceJob(Machine& machine, std::unique_ptr<graph::CheckedJob> checked, bool in_parts = false);
  ~TraceJob() override;

  /// For the machine of this job alone: it builds one of several identical ranks (graph::Folding). `probes`
  /// may be null.
  static Machine::Options machine_options(const graph::CheckedJob& checked, vcd::ProbeHub* probes = nullptr);
  /// For the machine of several jobs: it builds every rank.
  static Machine::Options machine_options(vcd::ProbeHub* probes = nullptr);

  /// The bytes that tensors take are followed for some rank (`run.footprint`).
  static bool follows_tensors(const graph::CheckedJob& checked);

  const graph::Folding& folding() const { return folding_; }
  const RankMap& ranks() const { return ranks_; }
  const trace::JobTrace& traces() const { return traces_; }
  /// The machine's number of the job's first collective.
  uint32_t first_stream() const { return first_stream_; }

  /// From now on the listener hears of every node of a rank that is simulated; before start(). False: the
  /// rank's tensors are followed, and nobody else can listen.
  bool listen(uint32_t rank, graph::NodeListener& listener);

  /// Can ranks that are alike at first be told from one of them (Splitting)? Nobody is to look at single
  /// ranks then.
  bool splits() const;
  /// For the machine of a scout (Splitting).
  static Machine::Options scout_options(const graph::CheckedJob& checked);
  /// Where splits(), before the simulation begins: what does so. It stays the job's.
  Splitting& split();

  void start();
  bool finished() const override;
  std::string stalled_ranks() const override;
  RunResult own_result() const override;
  RunResult take_own_result() override;
  uint64_t done_count() const override;
  uint64_t total_count() const override;

  /// The job's time so far, as far as its ranks on this machine are: the end of the last node; unfinished,
  /// now.
  Picoseconds time() const;
  /// What these ranks have done, in a job that took until `end`.
  JobPart part(Picoseconds end) const;
  /// The results of all parts of the job (Machine::Options::part).
  RunResult own_result_of(JobPart&& parts, Picoseconds end, bool finished) const;

 private:
  // JobHost
  std::optional<CollectiveStart> start_collective(uint32_t rank, const trace::Node& node) override;
  void collective_done(uint32_t rank, const collectives::CollectiveDone& done) override;
  PoolMembers pool_members(uint32_t rank, const trace::Node& node) override;
  SendStart start_send(uint32_t rank, const trace::Node& node, const MessageId& id) override;
  void message_arrived(uint32_t rank, const Completion& completion) override;
  void tensor_loaded(uint32_t rank, uint64_t bytes, const std::string& wrong) override;

  // SplitHost
  bool rests(uint32_t rank) const override;
  void adopt(uint32_t rank, uint32_t like, const std::function<uint32_t(uint32_t)>& image) override;
  void adopt_collectives(trace::GroupId group, trace::GroupId like,
                         const std::function<uint32_t(uint32_t)>& image) override;

  const graph::Folding* folded_ranks() const override { return ranks_.whole() ? &folding_ : nullptr; }
  NpuModel& npu(uint32_t rank) const { return machine_.npu(ranks_.npu(rank)); }
  /// The row of the collective that this node of a member of the group is part of; a new one is made for
  /// `plan`.
  CollectiveRow& start_row(uint32_t rank, trace::GroupId group, const trace::Node& node,
                           const collectives::CollectivePlan& plan);
  void check_machine() const;
  bool keeps_replicas() const;
  /// The rank has modules of its own on this machine.
  bool simulated(uint32_t rank) const {
    return folding_.built(rank) && (whole_machine() || machine_.built(ranks_.npu(rank)));
  }
  bool whole_machine() const { return machine_.part_links() == nullptr && !machine_.partial(); }
  Counts counted() const;
  void find_repeating();
  /// Of a collective that some member has started, by the job's number.
  CollectiveRow& row(uint32_t number) { return rows_[row_of_[number - 1] - 1]; }
  /// In an order that does not depend on who started first: by time, then by number.
  JobPart::Collectives collectives() const;
  /// The same of a job that is over; its rows are moved where they can be.
  JobPart::Collectives take_collectives();
  /// Rank -> ranks that it waits for.
  using Waits = std::map<uint32_t, std::vector<uint32_t>>;
  JobPart part_without_collectives(Picoseconds end) const;
  std::string stalled_nodes(Waits& waits, uint32_t& stalled) const;
  std::string stalled_collectives(Waits& waits) const;
  void add_bounds(RunResult& result, bool finished) const;
  void follow_tensors();
  std::vector<FootprintRow> footprint_rows(Picoseconds end) const;
  void add_footprint(RunResult& result) const;
  uint8_t send_plane(const trace::Node& node);

  const std::unique_ptr<graph::CheckedJob> checked_;
  const graph::Folding& folding_;
  const trace::JobTrace& traces_;
  const RankMap& ranks_;
  const std::vector<collectives::Group>& groups_;
  std::unique_ptr<MirroredStarts> mirrored_;      ///< null: all collectives run in messages
  std::unique_ptr<RepeatedCollectives> repeats_;  ///< null: all collectives run in messages
  std::vector<bool> repeating_;                   ///< by group: its collectives are told to repeats_
  std::unique_ptr<SampledCollectives> sampled_;   ///< null: all collectives are simulated
  std::unique_ptr<Splitting> splitting_;          ///< null: all ranks begin with the job
  uint32_t first_stream_ = 1;                     ///< the machine's number of the job's first collective
  graph::IssueOrders orders_;
  std::vector<uint32_t> row_of_;       ///< by number - 1: position in rows_ + 1; 0: nobody has started it
  std::vector<CollectiveRow> rows_;    ///< as they were started
  std::vector<uint32_t> named_by_;     ///< by row: the rank whose node has given its name
  std::vector<uint64_t> ruled_sends_;  ///< by fidelity rule
  struct Running {
    trace::NodeIndex node = 0;
    trace::GroupId group = 0;
    uint32_t ordinal = 0;
  };
  std::map<trace::GroupId, PoolMembers> pool_members_;        ///< as they were asked for
  FlatMap<uint64_t, Running> running_;                        ///< by rank and number: the rank's part
  std::vector<std::unique_ptr<trace::TraceFeeder>> feeders_;  ///< by rank; null: folded
  graph::LayerTable layers_;
  JobFootprint footprint_;
  std::unique_ptr<collectives::P2pData> p2p_data_;  ///< null: messages carry sizes only
  uint64_t tensors_ = 0;                            ///< loaded and right
  uint64_t tensor_bytes_ = 0;                       ///< .. of these
};

}  // namespace weft

#endif
