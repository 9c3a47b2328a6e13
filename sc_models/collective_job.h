// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Single collectives of all ranks, without traces: what `weft collective` runs.

#ifndef WEFT_SC_MODELS_COLLECTIVE_JOB_H
#define WEFT_SC_MODELS_COLLECTIVE_JOB_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sc_models/job.h"
#include "vcd/probe_hub.h"

namespace weft {

/// One collective after the other on all ranks, nothing else: what `weft collective` runs.
class CollectiveJob : public Job, private NmuClient {
 public:
  /// `plans`: those that not_foldable() has made. A machine that is folded (Machine::folded) takes only
  /// collectives that fold.
  explicit CollectiveJob(Machine& machine, std::shared_ptr<collectives::PlanBuilder> plans = nullptr);
  ~CollectiveJob() override;

  /// Of a machine for collectives. `probes` may be null. `folded`: symmetric collectives are solved from one
  /// rank (see not_foldable()).
  static Machine::Options machine_options(vcd::ProbeHub* probes = nullptr, bool folded = false);

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
  std::string stalled_ranks() const override;
  RunResult own_result() const override;
  uint64_t done_count() const override;
  uint64_t total_count() const override;

  /// The collective started last.
  const CollectiveRow& last() const { return rows_.back(); }
  uint32_t first_stream() const { return first_stream_; }

 private:
  void collective_done(NpuId rank, const collectives::CollectiveDone& done) override;
  void message_injected(NpuId, NpuId, const MessageId&) override {}
  void message_arrived(NpuId, const Completion&) override {}

  void start_library(uint32_t stream, const std::shared_ptr<const collectives::CollectivePlan>& plan,
                     uint8_t plane);
  Counts counted() const;
  bool simulated(uint32_t rank) const { return machine_.built(rank); }
  uint32_t members_here() const;

  std::vector<CollectiveRow> rows_;
  uint32_t first_stream_ = 1;  ///< the machine's number of the first collective
};

}  // namespace weft

#endif
