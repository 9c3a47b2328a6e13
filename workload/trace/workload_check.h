// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The traces of all ranks of a job: found, indexed and held against each other before anything runs.

#ifndef WEFT_WORKLOAD_TRACE_WORKLOAD_CHECK_H
#define WEFT_WORKLOAD_TRACE_WORKLOAD_CHECK_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "workload/trace/collective_numbers.h"
#include "workload/trace/groups.h"
#include "workload/trace/trace_feeder.h"
#include "workload/trace/trace_index.h"

namespace weft::trace {

/// The attribute `algorithm` of a collective's node; nodes that say the same have one entry.
struct OwnAlgorithm {
  std::string algorithm;
  CollectiveOp op = CollectiveOp::all_reduce;
  uint32_t members = 0;  ///< that take part; 0: the node names dimensions, which decide that
  std::string path;      ///< of the first such node's trace
  std::string where;     ///< file, rank and node, to begin a message with
};

/// A job's traces and communicator groups, consistent with each other. Movable; indices and groups keep their
/// addresses.
class JobTrace {
 public:
  uint32_t npus() const { return static_cast<uint32_t>(indices_.size()); }
  const Groups& groups() const { return *groups_; }
  const TraceIndex& index(uint32_t rank) const { return *indices_[rank]; }
  /// A feeder for one run of the rank; the JobTrace must outlive it.
  std::unique_ptr<TraceFeeder> feeder(uint32_t rank) const;
  /// At most one line for each kind of oddity, over all ranks.
  const std::vector<std::string>& warnings() const { return warnings_; }
  const std::vector<OwnAlgorithm>& own_algorithms() const { return own_algorithms_; }
  /// Of the collectives of all ranks.
  const CollectiveNumbers& collectives() const { return collectives_; }
  uint64_t node_count() const { return nodes_; }
  /// Bytes of all indices.
  uint64_t index_bytes() const;

 private:
  friend class JobOpener;
  JobTrace() = default;
  void collect_warnings();

  std::shared_ptr<FilePool> pool_;
  std::unique_ptr<Groups> groups_;
  std::vector<std::unique_ptr<TraceIndex>> indices_;
  std::vector<std::string> warnings_;
  std::vector<OwnAlgorithm> own_algorithms_;
  CollectiveNumbers collectives_;
  uint64_t nodes_ = 0;
  uint64_t cache_bytes_a_rank_ = 0;
};

constexpr uint64_t kFeederCacheBytes = 128ull << 20;

/// The file that traces were made of, if its user does not know them.
struct MadeOf {
  std::string path;                   ///< names the traces in messages; empty: their own paths do
  std::vector<std::string> warnings;  ///< of whoever made them; they come first
};

/// Opens <prefix>.<rank>.et for every rank 0..npus-1, and the groups file unless its name is empty; checks
/// that
///   - there is exactly one trace a rank, and every node has a type,
///   - every collective's group is known and its rank a member; every member joins each collective of the
///   group (the n-th
///     in ascending node id is the same collective on every member) with the same operation, size,
///     dimensions, root and algorithm,
///   - every send has its receive of the same peer, tag and size, and the other way round; none names another
///   rank than that of its trace as its own end.
/// Throws UserError(trace) naming file, rank and node. `cache_bytes` is the window of all feeders together;
/// each gets its share, at least 16 KiB.
JobTrace open_job(const std::string& prefix, uint32_t npus, const std::string& groups_file, bool strict,
                  uint64_t cache_bytes = kFeederCacheBytes, MadeOf made_of = {});

/// Traces that no file holds: encoded as Chakra files are.
struct MemoryTraces {
  std::string path;  ///< for messages
  /// Of each rank. Ranks with the same pointer share one index.
  std::vector<std::shared_ptr<const std::string>> of_rank;
  std::string groups;                 ///< the text of a groups file; empty: none
  std::vector<std::string> warnings;  ///< of whoever made them; they come first
};

/// The same of traces in memory.
JobTrace open_job(MemoryTraces traces, uint64_t cache_bytes = kFeederCacheBytes);

}  // namespace weft::trace

#endif
