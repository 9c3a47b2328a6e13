// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Tagged point-to-point matching of one rank: which message belongs to which receive. A message is identified
// by its source, its tag and its ordinal among the messages of that source and tag; the n-th send matches the
// n-th receive, each counted in the order in which its rank started it. Message and receive may come in
// either order.

#ifndef WEFT_WORKLOAD_GRAPH_P2P_MATCHER_H
#define WEFT_WORKLOAD_GRAPH_P2P_MATCHER_H

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "configs/flat_map.h"
#include "workload/graph/rank_image.h"
#include "workload/seam.h"
#include "workload/trace/node.h"

namespace weft::graph {

class P2pMatcher {
 public:
  explicit P2pMatcher(uint32_t rank) : rank_(rank) {}

  /// A receive that has its message: the node is done.
  struct Match {
    trace::NodeIndex node = 0;
    Completion message;
  };

  /// The id of the message that `node` (COMM_SEND) sends; counts it.
  MessageId send(const trace::Node& node);

  /// A receive (COMM_RECV) was started: its message if that is already here. Throws UserError(trace) when the
  /// sizes differ.
  std::optional<Match> receive(const trace::Node& node);

  /// A message of kind point_to_point arrived: its receive if that was started. Throws as receive() does, and
  /// std::logic_error when the same message arrives twice.
  std::optional<Match> arrived(const Completion& message);

  /// Has matched what `like` has, the matcher of another rank, and waits for the same.
  void adopt(const P2pMatcher& like, const RankImage& image);

  bool idle() const { return posted_.empty() && early_.empty(); }

  /// One side that never met the other, for the stall report.
  struct Unmatched {
    bool is_receive = false;  ///< false: a message that nobody received
    uint32_t source = 0;
    uint32_t tag = 0;
    uint32_t ordinal = 0;
    uint64_t bytes = 0;
    uint64_t node = 0;  ///< Chakra's id of the receive
    std::string text;   ///< all of this in one line
  };
  /// Receives first, then messages; each by source, tag, ordinal. At most `limit` of each kind.
  std::vector<Unmatched> unmatched(size_t limit) const;

 private:
  struct Key {
    uint32_t source;
    uint32_t tag;
    uint32_t ordinal;
    bool operator==(const Key& o) const { return source == o.source && tag == o.tag && ordinal == o.ordinal; }
    bool operator<(const Key& o) const;
  };
  struct Hash {
    size_t operator()(const Key& key) const;
  };
  struct Posted {
    trace::NodeIndex index;
    uint64_t id;
    uint64_t bytes;
  };

  void check_sizes(const Key& key, const Posted& receive, uint64_t sent) const;

  uint32_t rank_;
  /// Sends started per (destination, tag), receives started per (source, tag): the next ordinal.
  FlatMap<uint64_t, uint32_t> sends_;
  FlatMap<uint64_t, uint32_t> receives_;
  std::unordered_map<Key, Posted, Hash> posted_;
  std::unordered_map<Key, Completion, Hash> early_;
};

}  // namespace weft::graph

#endif
