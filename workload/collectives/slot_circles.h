// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The search for circles of chunks that wait for each other (docs/collective_waits.md). Part of SlotWaits.
//
// Nodes are open chunks, sites are ranks that are looked at, a place is a chunk that waits at a site and
// cannot begin there. Buffers are kept from one search to the next.

#ifndef WEFT_WORKLOAD_COLLECTIVES_SLOT_CIRCLES_H
#define WEFT_WORKLOAD_COLLECTIVES_SLOT_CIRCLES_H

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "workload/collectives/slot_waits.h"

namespace weft::collectives {

class SlotCircles {
 public:
  explicit SlotCircles(SlotWaits& waits);

  /// The chunk may have closed a circle; or what this rank holds, or what the ranks hold whose messages it
  /// waits for.
  void add_chunk(OpenChunk& open);
  void add_rank(uint32_t rank);

  /// A chunk that waits at a rank and is part of a circle.
  struct Decision {
    uint32_t rank = 0;
    CurrentChunk chunk;
    Picoseconds latency = 0;  ///< the largest of the circle's links
  };
  /// Whether any chunk is stuck among what can be reached from the above.
  bool reaches_stuck();
  /// Finds the circles among what can be reached from the above, and forgets all.
  std::vector<Decision> run();
  /// Whether the last run has found anything stuck.
  bool some_stuck() const { return some_stuck_; }
  /// Forgets all.
  void clear();

 private:
  static constexpr uint32_t kNone = ~0u;
  /// A member that has not begun the chunk, and what it does instead.
  struct Missing {
    uint32_t site = 0;
    uint32_t current = kNone;  ///< of the site: the chunk, in this or an earlier phase; kNone: not started
    bool here = false;         ///< `current` waits in this phase
  };
  struct Node {
    OpenChunk* open = nullptr;
    std::vector<Missing> missing;
    std::vector<uint32_t> held_at;  ///< sites
    bool stuck = true;
    bool listed = true;
  };
  struct SiteChunk {
    bool open = false;
    uint32_t node = kNone;   ///< of an open one that holds a slot
    uint32_t place = kNone;  ///< vertex of one that cannot begin
  };
  struct Site {
    uint32_t rank = 0;
    std::vector<CurrentChunk> chunks;
    std::vector<SiteChunk> more;         ///< by chunk
    std::vector<uint32_t> stuck;         ///< by queue: stuck chunks that hold its slots
    std::vector<uint32_t> missed_nodes;  ///< that depend on this site
    uint32_t all_stuck = 0;
  };

  Node& node_of(OpenChunk& open);
  uint32_t site_of(uint32_t rank);
  void expand(uint32_t n);
  void expand_missing(uint32_t n, uint32_t i);
  void follow_messages(uint32_t n, uint32_t rank);

  bool jammed(const Site& site, uint32_t queue) const { return site.stuck[queue] >= slots_; }
  bool holds_stuck(const Site& site, uint32_t c) const {
    return site.more[c].node != kNone && nodes_[site.more[c].node].stuck;
  }
  bool keeps_dispatcher(const Site& site, uint32_t c) const;
  bool dispatcher_stuck(const Site& site) const;
  bool cannot_begin(const Site& site, uint32_t c) const;
  bool blocks(const Node& node, const Missing& missing) const;
  bool remove_unstuck();

  void draw();
  void draw_to_holders(uint32_t from, const Site& site, uint32_t queue);
  void draw_place(const Site& site, uint32_t c);
  void draw_missing(uint32_t n, const Missing& missing);
  void draw_to_all(uint32_t from, const Site& site);
  void find_circles(std::vector<Decision>& decisions);
  void add_circle(size_t from, std::vector<Decision>& decisions) const;

  SlotWaits& waits_;
  const uint32_t slots_;
  const uint32_t threshold_;
  const size_t queues_;
  std::deque<Node> nodes_;  ///< the first node_count_ are used
  std::deque<Site> sites_;
  uint32_t node_count_ = 0;
  uint32_t expanded_ = 0;  ///< the first of the nodes
  bool some_stuck_ = false;
  uint32_t site_count_ = 0;
  std::vector<uint32_t> site_of_;  ///< by rank
  std::vector<AxisView> views_;
  std::vector<uint32_t> list_;
  /// Vertices are the nodes, then the places.
  std::vector<std::vector<uint32_t>> arrows_;
  uint32_t vertices_ = 0;
  std::vector<std::pair<uint32_t, uint32_t>> place_at_;  ///< site and chunk of each place
  std::vector<uint32_t> stack_;
};

}  // namespace weft::collectives

#endif
