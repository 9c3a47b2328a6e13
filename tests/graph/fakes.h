// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A feeder over nodes in memory and hardware that answers after times a test chooses.

#ifndef WEFT_TESTS_GRAPH_FAKES_H
#define WEFT_TESTS_GRAPH_FAKES_H

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "workload/graph/rank_engine.h"
#include "workload/graph/rank_services.h"
#include "workload/trace/feeder.h"

namespace weft::graph {

class MemoryFeeder : public trace::Feeder {
 public:
  /// Adds a node that waits for the nodes at `deps` (file positions; later ones are allowed) and returns its
  /// position.
  trace::NodeIndex add(trace::Node node, std::vector<trace::NodeIndex> deps = {}) {
    node.index = static_cast<trace::NodeIndex>(entries_.size());
    if (node.id == 0) node.id = 100 + node.index;
    entries_.push_back({std::move(node), std::move(deps), false, false});
    return entries_.back().node.index;
  }

  const trace::Node* take_ready() override {
    while (first_ < entries_.size() && entries_[first_].taken) ++first_;
    for (size_t i = first_; i < entries_.size(); ++i) {
      Entry& entry = entries_[i];
      if (entry.taken || unmet(entry) != nullptr) {
        if (i == first_ && chain) break;
        continue;
      }
      entry.taken = true;
      return &entry.node;
    }
    return nullptr;
  }
  void finished(trace::NodeIndex index) override {
    Entry& entry = entries_.at(index);
    if (!entry.taken || entry.done) throw std::logic_error("finished() of a node that is not running");
    entry.done = true;
    ++finished_;
    order.push_back(index);
  }
  uint64_t node_count() const override { return entries_.size(); }
  uint64_t finished_count() const override { return finished_; }
  std::vector<Blocked> blocked(size_t limit) override {
    std::vector<Blocked> list;
    for (const Entry& entry : entries_) {
      if (entry.taken || list.size() == limit) continue;
      const Entry* dep = unmet(entry);
      list.push_back({entry.node.id, entry.node.name, dep->node.id, dep->node.name});
    }
    return list;
  }

  const trace::Node& node(trace::NodeIndex index) const { return entries_.at(index).node; }
  const std::vector<trace::NodeIndex>& deps(trace::NodeIndex index) const { return entries_.at(index).deps; }

  std::vector<trace::NodeIndex> order;  ///< in which nodes finished
  bool chain = false;                   ///< every node waits for the one before: no need to look further

 private:
  struct Entry {
    trace::Node node;
    std::vector<trace::NodeIndex> deps;
    bool taken;
    bool done;
  };
  const Entry* unmet(const Entry& entry) const {
    for (const trace::NodeIndex dep : entry.deps)
      if (!entries_.at(dep).done) return &entries_.at(dep);
    return nullptr;
  }

  std::vector<Entry> entries_;
  uint64_t finished_ = 0;
  size_t first_ = 0;  ///< all before it are taken
};

class FakeServices : public RankServices {
 public:
  struct Interval {
    Picoseconds begin;
    Picoseconds end;
  };

  Picoseconds now() const override { return now_; }
  void schedule(Picoseconds at, uint32_t token) override {
    started[token] = {now_, at};
    at_time(at, [this, token] { engine->wake(token); });
  }
  void start_memory(const trace::Node& node) override {
    memory_calls.push_back({node.index, node.type == trace::NodeType::mem_store,
                            node.location != trace::Location::local, node.tensor_size});
    answer(node.index, [this, i = node.index] { engine->memory_done(i); });
  }
  void start_collective(const trace::Node& node) override {
    answer(node.index, [this, i = node.index] { engine->collective_done(i); });
  }
  void start_send(const trace::Node& node) override {
    answer(node.index, [this, i = node.index] { engine->send_done(i); });
  }
  void start_receive(const trace::Node& node) override {
    answer(node.index, [this, i = node.index] { engine->receive_done(i); });
  }

  /// Runs until nothing is scheduled; returns the time.
  Picoseconds run() {
    while (!events_.empty()) {
      const auto it = events_.begin();
      now_ = it->first.first;
      const auto action = std::move(it->second);
      events_.erase(it);
      action();
    }
    return now_;
  }
  void at_time(Picoseconds at, std::function<void()> action) {
    if (at < now_) throw std::logic_error("scheduled in the past");
    events_.emplace(std::make_pair(at, sequence_++), std::move(action));
  }

  /// How long the machine takes for a node; absent: it never answers; 0 with `synchronous`: it answers at
  /// once.
  std::map<trace::NodeIndex, Picoseconds> latency;
  bool synchronous = false;

  struct MemoryCall {
    trace::NodeIndex node;
    bool store;
    bool remote;
    uint64_t bytes;
  };
  std::vector<MemoryCall> memory_calls;
  std::map<trace::NodeIndex, Interval> started;  ///< everything that took time
  RankEngine* engine = nullptr;

 private:
  void answer(trace::NodeIndex node, std::function<void()> done) {
    const auto it = latency.find(node);
    if (it == latency.end()) return;
    started[node] = {now_, now_ + it->second};
    if (synchronous && it->second == 0)
      done();
    else
      at_time(now_ + it->second, std::move(done));
  }

  Picoseconds now_ = 0;
  uint64_t sequence_ = 0;
  std::map<std::pair<Picoseconds, uint64_t>, std::function<void()>> events_;
};

inline trace::Node comp(Picoseconds duration, bool cpu = false) {
  trace::Node node;
  node.type = trace::NodeType::comp;
  node.has_duration = true;
  node.duration = duration;
  node.is_cpu_op = cpu;
  return node;
}

inline trace::Node work(uint64_t ops, uint64_t bytes) {
  trace::Node node;
  node.type = trace::NodeType::comp;
  node.num_ops = ops;
  node.tensor_size = bytes;
  return node;
}

inline trace::Node memory(uint64_t bytes, bool remote = false, bool store = false) {
  trace::Node node;
  node.type = store ? trace::NodeType::mem_store : trace::NodeType::mem_load;
  node.tensor_size = bytes;
  node.location = remote ? trace::Location::remote : trace::Location::local;
  return node;
}

inline trace::Node collective(uint64_t bytes, const std::string& group = "", uint32_t ordinal = 0) {
  trace::Node node;
  node.type = trace::NodeType::comm_coll;
  node.has_comm_type = true;
  node.comm_size = bytes;
  node.pg_name = group;
  node.ordinal = ordinal;
  return node;
}

inline trace::Node p2p(trace::NodeType type, uint32_t peer, uint32_t tag, uint64_t bytes) {
  trace::Node node;
  node.type = type;
  node.peer = peer;
  node.tag = tag;
  node.comm_size = bytes;
  return node;
}

}  // namespace weft::graph

#endif
