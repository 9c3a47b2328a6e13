// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The collective engines of all ranks on a fake network, which delivers each message after a latency of its
// own. For tests without SystemC.

#ifndef WEFT_TESTS_COLLECTIVES_ENGINE_NETWORK_H
#define WEFT_TESTS_COLLECTIVES_ENGINE_NETWORK_H

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "workload/collectives/engine.h"
#include "workload/collectives/slot_waits.h"

namespace weft::collectives::test {

/// All ranks' engines on a network that delivers each message after a latency of its own.
class Network {
 public:
  using Latency = std::function<Picoseconds(uint32_t from, uint32_t to, uint64_t bytes)>;

  Network(const Config& config, Latency latency)
      : config_(config), latency_(std::move(latency)), waits_(config, [this] { asked_ = true; }) {
    for (uint32_t r = 0; r < config_.npus(); ++r) {
      auto port = std::make_unique<Port>();
      port->network = this;
      port->rank = r;
      Port* raw = port.get();
      ports_.push_back(std::move(port));
      engines_.push_back(std::make_unique<CollectiveEngine>(
          NpuId{r}, config_, *raw, [this, r](const CollectiveDone& done) { this->done(r, done); }, nullptr,
          &waits_));
    }
  }

  void start_at(Picoseconds at, uint32_t rank, uint32_t stream, std::shared_ptr<const CollectivePlan> plan,
                int32_t priority = 0) {
    push(at, {rank, Due::start, {}, stream, std::move(plan), priority});
    ++wanted_;
  }

  /// More parts will be started from on_done.
  void expect(size_t parts) { wanted_ += parts; }

  /// True when every part of every collective has finished. `rescues`: how often nothing moved any more.
  bool run() {
    for (;;) {
      drain();
      if (done_.size() >= wanted_) return true;
      bool any = false;
      for (auto& engine : engines_) any = engine->rescue() != 0 || any;
      ++rescues;
      settle();
      if (!any && queue_.empty()) return false;
    }
  }

  struct Part {
    uint32_t rank = 0;
    CollectiveDone done;
    std::shared_ptr<const CollectivePlan> plan;
  };
  const std::vector<Part>& parts() const { return done_; }
  CollectiveEngine& engine(uint32_t r) { return *engines_[r]; }
  struct Sent {
    Picoseconds at = 0;
    uint32_t from = 0;
    MessageId id;
  };
  std::vector<Sent> sent;  ///< every message, when it was submitted
  uint64_t submitted = 0;
  uint64_t delivered = 0;
  uint32_t rescues = 0;
  Picoseconds now = 0;
  /// Called when a part is done, within done().
  std::function<void(uint32_t rank, const CollectiveDone&)> on_done;
  std::string out_of_order() const {
    uint64_t n = 0;
    for (const auto& e : engines_) n += e->out_of_order_starts();
    return std::to_string(n);
  }

 private:
  struct Port final : MessagePort {
    Network* network = nullptr;
    uint32_t rank = 0;
    Picoseconds now() const override { return network->now; }
    void submit(const Message& message) override { network->submit(rank, message); }
    void schedule(Picoseconds at, uint32_t token) override {
      Due due{rank, Due::wake, {}, token, nullptr, 0};
      network->push(at, due);
    }
  };
  struct Due {
    enum Kind { start, wake, message };
    uint32_t rank = 0;
    Kind kind = start;
    Completion completion;
    uint32_t number = 0;  ///< stream or token
    std::shared_ptr<const CollectivePlan> plan;
    int32_t priority = 0;
  };

  void push(Picoseconds at, const Due& due) {
    ASSERT_GE(at, now);
    queue_.emplace(std::make_pair(at, sequence_++), due);
  }

  void submit(uint32_t from, const Message& message) {
    ++submitted;
    sent.push_back({now, from, message.id});
    ASSERT_NE(index(message.peer), from);
    Due due;
    due.rank = index(message.peer);
    due.kind = Due::message;
    due.completion.id = message.id;
    due.completion.source = NpuId{from};
    due.completion.bytes = message.bytes;
    due.completion.submitted = now;
    const Picoseconds latency = latency_(from, due.rank, message.bytes);
    due.completion.split.latency = latency;
    push(now + latency, due);
  }

  void drain() {
    std::set<uint32_t> touched;
    while (!queue_.empty()) {
      const auto first = queue_.begin();
      now = first->first.first;
      const Due due = first->second;
      queue_.erase(first);
      CollectiveEngine& engine = *engines_[due.rank];
      touched.insert(due.rank);
      switch (due.kind) {
        case Due::start:
          engine.start(due.number, due.plan, due.priority);
          break;
        case Due::wake:
          engine.wake(due.number);
          break;
        case Due::message:
          ++delivered;
          engine.completed(due.completion);
          break;
      }
      if (queue_.empty() || queue_.begin()->first.first != now) {
        for (const uint32_t r : touched) engines_[r]->settled();
        touched.clear();
        if (queue_.empty() || queue_.begin()->first.first != now) settle();
      }
    }
  }

  void settle() {
    if (std::exchange(asked_, false)) waits_.settled();
  }

  void done(uint32_t rank, const CollectiveDone& d) {
    Part part{rank, d, nullptr};
    done_.push_back(part);
    if (on_done) on_done(rank, d);
  }

  const Config& config_;
  Latency latency_;
  SlotWaits waits_;
  bool asked_ = false;
  std::vector<std::unique_ptr<Port>> ports_;
  std::vector<std::unique_ptr<CollectiveEngine>> engines_;
  std::map<std::pair<Picoseconds, uint64_t>, Due> queue_;
  uint64_t sequence_ = 0;
  size_t wanted_ = 0;
  std::vector<Part> done_;
};

inline Config machine(const std::vector<uint32_t>& sizes, DimensionKind kind = DimensionKind::ring) {
  Config config;
  for (const uint32_t size : sizes) {
    DimensionConfig d;
    d.kind = kind;
    d.size = size;
    d.bandwidth = {1'000'000'000ull, 1};
    d.latency = 1000;
    config.dimensions.push_back(d);
  }
  return config;
}

}  // namespace weft::collectives::test

#endif
