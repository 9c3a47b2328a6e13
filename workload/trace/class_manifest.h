// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The classes of a job's ranks in a file: one program a class, and ranks by coordinates. A program is a trace
// of the class' first rank. Its groups are named by their kind; its peers and roots are ranks, and lie from
// any other rank of the class as they do from the first one, round each axis. docs/class_manifests.md has the
// format.

#ifndef WEFT_WORKLOAD_TRACE_CLASS_MANIFEST_H
#define WEFT_WORKLOAD_TRACE_CLASS_MANIFEST_H

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "workload/trace/rank_view.h"
#include "workload/trace/slowdown.h"

namespace weft::trace {

class ClassManifest {
 public:
  /// Throws UserError(trace) with file and key on bad JSON, unknown names, sizes that do not fit, and ranks
  /// that are in no class or in two.
  static std::shared_ptr<const ClassManifest> load(const std::string& path);
  /// "<prefix>.classes.json", where that is a file, or `prefix` itself where it ends in ".classes.json"; else
  /// empty.
  static std::string find(const std::string& prefix);

  struct Axis {
    std::string name;
    uint32_t size = 1;
    uint32_t stride = 1;
  };
  /// Groups of one kind: ranks that differ in these axes only.
  struct Kind {
    std::string name;
    std::vector<uint32_t> axes;
    std::vector<uint32_t> counted;  ///< the other axes: which of the kind's groups, the first one fastest
    uint64_t first = 0;             ///< number, and name, of the first one
  };
  struct Class {
    std::string program;          ///< path of its trace
    std::vector<uint32_t> fixed;  ///< by axis: the coordinate, or kAny
    uint32_t first = 0;           ///< its lowest rank
  };
  static constexpr uint32_t kAny = ~0u;

  const std::string& path() const { return path_; }
  uint32_t ranks() const { return ranks_; }
  const std::vector<Class>& classes() const { return classes_; }
  uint32_t class_of(uint32_t rank) const { return class_of_[rank]; }
  /// How slow the rank's compute is (trace/slowdown.h).
  uint64_t slowness(uint32_t rank) const {
    const auto at = slow_.find(rank);
    return at == slow_.end() ? kFullSpeed : at->second;
  }
  /// The text of a groups file.
  std::string groups_text() const;
  /// For the traces of a class' ranks. The manifest must be shared.
  static std::shared_ptr<const RankView> view(std::shared_ptr<const ClassManifest> manifest,
                                              uint32_t of_class);

  /// The rank that lies from `rank` as `peer` does from `first`.
  uint32_t moved(uint32_t peer, uint32_t first, uint32_t rank) const;
  /// The kind with that name; null: there is none.
  const Kind* kind(const std::string& name) const;
  /// The kind that a group's number is of. Throws std::out_of_range.
  const Kind& kind_of(uint64_t group) const;
  /// The number of the rank's group of a kind.
  uint64_t group(const Kind& kind, uint32_t rank) const;

 private:
  friend class ManifestReader;
  uint32_t coordinate(uint32_t rank, uint32_t axis) const {
    return rank / axes_[axis].stride % axes_[axis].size;
  }

  std::string path_;
  uint32_t ranks_ = 0;
  std::vector<Axis> axes_;
  std::vector<Kind> kinds_;
  std::vector<Class> classes_;
  std::vector<uint32_t> class_of_;               ///< by rank
  std::unordered_map<uint32_t, uint64_t> slow_;  ///< by rank: its slowness
};

}  // namespace weft::trace

#endif
