// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Which arrived message belongs to which receive. No kernel, no time: whoever asks knows when.

#ifndef WEFT_NETWORK_INTERFACE_MATCH_TABLE_H
#define WEFT_NETWORK_INTERFACE_MATCH_TABLE_H

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "network_interface/weft_net.h"

namespace weft::network_interface {

/// A function of the user's and what to call it with.
struct Callback {
  weft_net_callback function = nullptr;  ///< null: nobody wants to know
  void* arg = nullptr;
};

/// By which sends and receives find each other. `bytes` is 0 where messages merge.
struct MatchKey {
  int source = 0;
  int destination = 0;
  int tag = 0;
  uint64_t bytes = 0;
  bool operator==(const MatchKey& o) const {
    return source == o.source && destination == o.destination && tag == o.tag && bytes == o.bytes;
  }
};

class MatchTable {
 public:
  /// `merges`: WEFT_NET_MATCH_BYTES.
  explicit MatchTable(bool merges) : merges_(merges) {}

  /// A message leaves. Returns its ordinal among those of its key, which arrived() wants back.
  uint64_t sent(int source, int destination, int tag, uint64_t bytes);
  /// It is there. Appends the callbacks of receives that are complete now, in the order of their calls.
  void arrived(int source, int destination, int tag, uint64_t bytes, uint64_t ordinal,
               std::vector<Callback>& complete);
  /// A receive. Appends its callback if what it waits for is there already.
  void posted(int source, int destination, int tag, uint64_t bytes, Callback callback,
              std::vector<Callback>& complete);
  /// A line for each key with something that waits, sorted.
  std::vector<std::string> waiting() const;
  bool empty() const { return flows_.empty(); }

 private:
  struct Receive {
    uint64_t bytes = 0;
    Callback callback;
  };
  struct Place {  ///< the n-th send and the n-th receive
    bool arrived = false;
    bool posted = false;
    Callback callback;
  };
  struct Flow {
    uint64_t sent = 0;
    uint64_t under_way = 0;
    // Exact: places from number `first` on.
    uint64_t posted = 0;
    uint64_t first = 0;
    std::deque<Place> places;
    // Merging.
    uint64_t there = 0;  ///< bytes that nobody has taken
    std::deque<Receive> receives;
    bool empty() const { return under_way == 0 && places.empty() && there == 0 && receives.empty(); }
  };
  struct Hash {
    size_t operator()(const MatchKey& k) const;
  };
  using Flows = std::unordered_map<MatchKey, Flow, Hash>;
  Flows::iterator find(int source, int destination, int tag, uint64_t bytes) {
    return flows_.try_emplace(MatchKey{source, destination, tag, merges_ ? 0 : bytes}).first;
  }
  static Place& place(Flow& flow, uint64_t number);
  static void settle(Flow& flow, std::vector<Callback>& complete);
  void forget(Flows::iterator flow) {
    if (flow->second.empty()) flows_.erase(flow);
  }

  const bool merges_;
  Flows flows_;
};

}  // namespace weft::network_interface

#endif
