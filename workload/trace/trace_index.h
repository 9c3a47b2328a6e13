// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The first pass over a rank's trace: where every node is, which ids exist, what is wrong. At most 32 bytes a
// node, together with the DependencyWalk that later runs over it.

#ifndef WEFT_WORKLOAD_TRACE_TRACE_INDEX_H
#define WEFT_WORKLOAD_TRACE_TRACE_INDEX_H

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "workload/trace/decoded_program.h"
#include "workload/trace/file_pool.h"
#include "workload/trace/groups.h"
#include "workload/trace/node_cache.h"
#include "workload/trace/node_decoder.h"
#include "workload/trace/rank_view.h"
#include "workload/trace/raw_vector.h"
#include "workload/trace/tensor_reader.h"

namespace weft::trace {

class ChakraStream;

/// What the first pass counted.
struct TraceStats {
  uint64_t nodes = 0;
  uint64_t file_bytes = 0;
  uint64_t dependencies = 0;        ///< references, both kinds
  uint64_t dangling = 0;            ///< of them, to ids that no node has
  uint64_t dangling_control = 0;    ///< of the dangling ones, control dependencies
  uint64_t forward_references = 0;  ///< to nodes later in the file, or to itself
  uint64_t ignored_control = 0;     ///< control dependencies that count as met (see ControlOrder)
  uint64_t collectives = 0;         ///< COMM_COLL nodes, with and without comm_type
  uint64_t nodes_by_type[8] = {};
  std::vector<std::pair<uint64_t, uint64_t>> first_dangling;  ///< (node id, missing id), at most five
  std::string ignored_cycle;                                  ///< the nodes of a cycle that these would close
  DecodeNotes notes;
};

/// Something odd that a trace may have. The library prints nothing; whoever runs it shows these.
struct TraceWarning {
  enum class Kind : uint8_t {
    empty,
    dangling,
    stale_control,
    unreadable,
    untyped,
    unsized,
    no_operation,
    unsized_message,
    unsized_access
  };
  Kind kind;
  uint64_t count;
  std::string text;  ///< names file and rank, the number of cases and the first
};
constexpr size_t kTraceWarningKinds = 9;

/// Which control dependencies order nodes. PyTorch's converter leaves control dependencies of another
/// numbering in its files: some name no node, others name unrelated ones and close cycles. Where a file has
/// dangling control dependencies *and* the graph is cyclic, only the control dependencies on nodes earlier in
/// the file are kept, or none if that does not help; a warning names a cycle. In every other file a cycle is
/// an error.
enum class ControlOrder : uint8_t { all, backward, none };

class TraceIndex {
 public:
  struct Options {
    bool strict = false;                 ///< dangling dependencies are errors
    const Groups* groups = nullptr;      ///< decides whether "" and "0" are one group; nullptr: they are
    uint64_t cache_bytes = 64ull << 20;  ///< window of the checks that read nodes again
    std::string made_of;                 ///< names the trace in messages; empty: its path does
  };

  /// Bytes a node here: offset 5, id 8, flags 1, ordinal 4, and 5 of a hash table when the ids are not
  /// ascending.
  static constexpr uint64_t kBytesPerNode = 23;

  /// Reads `path` twice at most and checks it. Throws UserError(trace) on a malformed file, values that
  /// cannot be, duplicate ids, cycles and, if strict, dangling dependencies.
  TraceIndex(std::shared_ptr<FilePool> pool, const std::string& path, uint32_t rank, const Options& options);
  TraceIndex(const std::string& path, uint32_t rank, const Options& options)
      : TraceIndex(std::make_shared<FilePool>(), path, rank, options) {}
  /// The same of encoded bytes in memory. `path` is for messages.
  TraceIndex(std::shared_ptr<FilePool> pool, const std::string& path,
             std::shared_ptr<const std::string> bytes, uint32_t rank, const Options& options);
  /// A rank whose trace has the same bytes as that of `same`, which outlives it. Takes no memory for its
  /// nodes. `path` is for messages.
  TraceIndex(const TraceIndex& same, uint32_t rank, const std::string& path);
  /// Decodes all nodes once, for this index and those that are made of it from now on: decode() and
  /// dependencies() then read no file. Does nothing where the nodes take more than `most` bytes. Returns the
  /// bytes that they take.
  uint64_t keep_decoded(uint64_t most);
  /// The trace is the program of a class of ranks: what `view` says of a node is its rank's own.
  void set_view(std::shared_ptr<const RankView> view) { view_ = std::move(view); }
  TraceIndex(TraceIndex&&) = default;
  TraceIndex& operator=(TraceIndex&&) = default;

  uint32_t size() const { return static_cast<uint32_t>(ids_.size()); }
  uint32_t rank() const { return rank_; }
  const std::string& path() const { return *path_; }
  const TraceStats& stats() const { return stats_; }
  ControlOrder control_order() const { return control_order_; }
  /// Every dependency that orders nodes points backward in the file: file order is an execution order.
  bool file_ordered() const { return file_ordered_; }

  uint64_t id(NodeIndex i) const { return ids_[i]; }
  NodeType type(NodeIndex i) const { return static_cast<NodeType>(flags_[i] & kTypeMask); }
  /// n-th collective of its group in ascending node id; 0 for other nodes.
  uint32_t ordinal(NodeIndex i) const { return ordinals_[i]; }
  uint64_t offset(NodeIndex i) const { return static_cast<uint64_t>(offset_high_[i]) << 32 | offset_low_[i]; }
  /// No dependency at all, or exactly one reference: what the walk need not read again.
  bool has_no_dependency(NodeIndex i) const { return (flags_[i] & kDependencyMask) == 0; }
  bool has_one_dependency(NodeIndex i) const { return (flags_[i] & kDependencyMask) == kOneDependency; }

  /// The node with this id, or kNoNode. `near` is a position the answer is likely close to.
  NodeIndex find(uint64_t id, NodeIndex near = 0) const;

  /// A window on the file for decode() and dependencies().
  NodeCache open_cache(uint64_t budget_bytes) const;
  NodePlace place(NodeIndex i) const;
  void decode(NodeCache& cache, NodeIndex i, Node& node, Dependencies* dependencies = nullptr) const;
  /// .. with the groups and peers that the file names: those of the class that the program is of.
  void decode_as_written(NodeCache& cache, NodeIndex i, Node& node,
                         Dependencies* dependencies = nullptr) const;
  /// Turns a node as it is written into this rank's.
  void view(Node& node) const {
    if (view_) view_->apply(rank_, node);
  }
  /// Indices with the same program have the same bytes. Null: no other index shares them.
  const void* program() const { return shared_; }
  /// Null: the nodes are read from the file.
  const DecodedProgram* decoded() const { return decoded_.get(); }
  void dependencies(NodeCache& cache, NodeIndex i, Dependencies& result) const;
  /// The tensors that the node reads and writes, in place of what is in `uses`.
  void tensors(NodeCache& cache, NodeIndex i, std::vector<TensorUse>& uses) const;
  /// The same from the file, by id: which of them are of data and which of control.
  void written_dependencies(NodeCache& cache, NodeIndex i, Dependencies& result) const;
  /// "file: rank 3, node 17 "name" (...)" of a node that is read for it.
  std::string describe(NodeCache& cache, NodeIndex i) const;
  std::string node_name(NodeCache& cache, NodeIndex i) const;

  /// Calls f(NodeIndex) for every dependency of node `i` that orders it (existing, not ignored; may repeat).
  template <typename F>
  void for_each_dependency(NodeIndex i, const Dependencies& d, F&& f) const {
    for (size_t k = 0; k < d.node_count; ++k) f(d.nodes[k]);
    if (control_order_ != ControlOrder::none) {
      for (const uint64_t id : d.control) {
        const NodeIndex p = find(id, i);
        if (p != kNoNode && (control_order_ == ControlOrder::all || p < i)) f(p);
      }
    }
    for (const uint64_t id : d.data) {
      const NodeIndex p = find(id, i);
      if (p != kNoNode) f(p);
    }
  }

  /// One for each kind of oddity found.
  std::vector<TraceWarning> warnings() const;
  uint64_t memory_bytes() const;

 private:
  static constexpr uint8_t kTypeMask = 7;
  static constexpr uint8_t kDependencyMask = 3 << 3;
  static constexpr uint8_t kOneDependency = 1 << 3;
  static constexpr uint8_t kManyDependencies = 2 << 3;
  static constexpr uint8_t kUnresolved = 1 << 5;  ///< has a dependency the first pass could not look up

  struct Body {
    const uint8_t* data;
    size_t size;
  };

  Body body(NodeCache& cache, NodeIndex i) const;
  void decoded_dependencies(NodeIndex i, Dependencies& result) const;
  void build(ChakraStream& stream, const Options& options);
  uint32_t read_file(ChakraStream& stream, const Options& options);
  void build_hash();
  void resolve_dependencies(NodeCache& cache);
  void count_dangling(NodeIndex i, uint64_t missing, bool control);
  void check_cycles(NodeCache& cache);
  /// False: `cycle` says which nodes wait for each other.
  bool acyclic(NodeCache& cache, std::string& cycle) const;
  void number_collectives(uint32_t groups);
  [[noreturn]] void fail_duplicate(NodeIndex a, NodeIndex b) const;
  uint64_t hash_slot(uint64_t id) const;

  std::shared_ptr<FilePool> pool_;
  FilePool::FileId file_ = 0;
  std::unique_ptr<std::string> path_;  ///< stable address for NodePlace
  uint32_t rank_ = 0;
  TraceStats stats_;
  ControlOrder control_order_ = ControlOrder::all;
  bool ascending_ = true;  ///< ids ascend in the file: no hash table
  bool file_ordered_ = true;
  RawVector<uint64_t> ids_;
  RawVector<uint32_t> offset_low_;
  RawVector<uint8_t> offset_high_;
  RawVector<uint8_t> flags_;
  RawVector<uint32_t> ordinals_;
  RawVector<uint32_t> hash_;  ///< position + 1, or 0; open addressing, a quarter more places than nodes
  std::shared_ptr<const RankView> view_;
  std::shared_ptr<const DecodedProgram> decoded_;  ///< null: nodes are read from the file
  mutable const void* shared_ = nullptr;           ///< program()
};

}  // namespace weft::trace

#endif
