// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// weft_net.h on machines: times against closed forms, 1,000 random sends and receives before and after their
// arrival in every mode, callbacks one after the other, and what is refused.

#include "network_interface/weft_net.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/isolated.h"

namespace {

using weft::test::isolated;

/// A configuration's file, which goes with the object.
class Machine {
 public:
  explicit Machine(const std::string& topology, const std::string& more = {})
      : path_(fmt::format("weft_net_{}.yaml", getpid())) {
    std::ofstream(path_) << "weft: 1\ntopology: " << topology << "\n" << more;
  }
  ~Machine() { std::remove(path_.c_str()); }
  const char* path() const { return path_.c_str(); }

 private:
  std::string path_;
};

/// An open machine whose callbacks are C++ functions. It sees that they come one after the other.
class Net {
 public:
  explicit Net(const char* path, int done = WEFT_NET_DONE_ARRIVAL, int match = WEFT_NET_MATCH_EXACT,
               const char* const* set = nullptr) {
    const weft_net_options options{sizeof options, done, match, set};
    net = weft_net_open(path, &options);
    if (net == nullptr) throw std::runtime_error(weft_net_error(nullptr));
  }
  ~Net() { EXPECT_EQ(weft_net_close(net), WEFT_NET_OK) << weft_net_error(net); }
  Net(const Net&) = delete;
  Net& operator=(const Net&) = delete;

  void send(int src, int dst, uint64_t bytes, int tag, std::function<void()> f = {}) {
    const Inside inside(*this);
    const weft_net_callback callback = f ? call : nullptr;
    ok(weft_net_send(net, src, dst, bytes, tag, callback, keep(std::move(f))));
  }
  void recv(int dst, int src, uint64_t bytes, int tag, std::function<void()> f = {}) {
    const Inside inside(*this);
    const weft_net_callback callback = f ? call : nullptr;
    ok(weft_net_recv(net, dst, src, bytes, tag, callback, keep(std::move(f))));
  }
  void schedule(int64_t delta, std::function<void()> f) {
    const Inside inside(*this);
    ok(weft_net_schedule(net, delta, call, keep(std::move(f))));
  }
  int64_t now() const { return weft_net_now(net); }
  int run(int64_t until = WEFT_NET_FOREVER) { return weft_net_run_until(net, until); }

  weft_net* net = nullptr;
  std::string wrong;  ///< what was not as it must be

 private:
  struct Entry {
    Net* net;
    std::function<void()> f;
  };
  struct Inside {
    explicit Inside(Net& of) : net(of) { ++net.inside_; }
    ~Inside() { --net.inside_; }
    Net& net;
  };
  Entry* keep(std::function<void()> f) {
    entries_.push_back(std::make_unique<Entry>(Entry{this, std::move(f)}));
    return entries_.back().get();
  }
  static void call(void* arg) {
    auto* const entry = static_cast<Entry*>(arg);
    Net& net = *entry->net;
    if (net.inside_ != 0) net.wrong += "a callback came from inside a call\n";
    if (net.running_) net.wrong += "a callback came from inside another one\n";
    net.running_ = true;
    entry->f();
    net.running_ = false;
  }
  void ok(int state) {
    if (state != WEFT_NET_OK) wrong += fmt::format("{}\n", weft_net_error(net));
  }

  std::vector<std::unique_ptr<Entry>> entries_;
  int inside_ = 0;
  bool running_ = false;
};

/// The times of `rounds` round trips between two ranks.
std::string ping_pong(const Machine& machine, int a, int b, uint64_t bytes, int64_t one_way) {
  Net net(machine.path());
  std::string wrong;
  int rounds = 0;
  std::function<void()> serve = [&] {
    const int64_t began = net.now();
    net.recv(b, a, bytes, 1, [&, began] {
      if (net.now() - began != one_way)
        wrong += fmt::format("there: {} ps, not {}\n", net.now() - began, one_way);
      net.send(b, a, bytes, 2);
    });
    net.send(a, b, bytes, 1);
    net.recv(a, b, bytes, 2, [&, began] {
      if (net.now() - began != 2 * one_way)
        wrong += fmt::format("back: {} ps, not {}\n", net.now() - began, 2 * one_way);
      if (++rounds < 5) serve();
    });
  };
  serve();
  if (net.run() != WEFT_NET_IDLE || rounds != 5) wrong += fmt::format("{} rounds\n", rounds);
  return wrong + net.wrong;
}

TEST(WeftNet, PingPongIsHopsTimesLatencyPlusBytesOverBandwidth) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 30; ++i) {
    const uint64_t bytes = uint64_t{1} << random() % 24;
    const auto latency = static_cast<int64_t>(1 + random() % 2000);  // ns
    const int n = 3 + static_cast<int>(random() % 6);
    const int a = static_cast<int>(random() % static_cast<unsigned>(n));
    const int b = (a + 1 + static_cast<int>(random() % static_cast<unsigned>(n - 1))) % n;
    const int apart = std::abs(a - b);
    const struct {
      std::string notation;
      int hops;
    } shapes[] = {{fmt::format("Ring({})", n), std::min(apart, n - apart)},
                  {fmt::format("Mesh({})", n), apart},
                  {fmt::format("FullyConnected({})", n), 1},
                  {fmt::format("Switch({})", n), 2}};
    const auto& shape = shapes[i % 4];
    const auto endpoint = static_cast<int64_t>(random() % 50);
    const int64_t one_way = 1000 * (shape.hops * latency + 2 * endpoint) + static_cast<int64_t>(bytes) * 20;
    const Machine machine(
        fmt::format("{{notation: {}, dimensions: [{{bandwidth: 50 GB/s, latency: {} ns}}]}}", shape.notation,
                    latency),
        fmt::format("nmu: {{endpoint_delay: {} ns}}\n", endpoint));
    SCOPED_TRACE(fmt::format("{}: {} to {}, {} B", shape.notation, a, b, bytes));
    EXPECT_SILENT(isolated([&] { return ping_pong(machine, a, b, bytes, one_way); }));
  }
}

/// A message and a receive that were drawn.
struct Drawn {
  int source;
  int destination;
  int tag;
  uint64_t bytes;
  int64_t at;
  int64_t called = -1;  ///< when the callback came
};
using Key = std::tuple<int, int, int, uint64_t>;

std::vector<Drawn> shuffled(std::vector<Drawn> of, std::mt19937_64& random) {
  std::shuffle(of.begin(), of.end(), random);
  for (Drawn& d : of) {
    d.at = static_cast<int64_t>(random() % 3'000'000);
    d.called = -1;
  }
  return of;
}

/// When the receives are over that were called at `posts` times, exact: the n-th with the n-th.
std::string check_exact(const std::vector<Drawn>& sends, const std::vector<Drawn>& receives) {
  std::map<Key, std::vector<const Drawn*>> of[2];
  const auto sort_in = [](const std::vector<Drawn>& from, std::map<Key, std::vector<const Drawn*>>& to) {
    std::vector<const Drawn*> order;
    for (const Drawn& d : from) order.push_back(&d);
    std::stable_sort(order.begin(), order.end(), [](auto* a, auto* b) { return a->at < b->at; });
    for (const Drawn* d : order) to[{d->source, d->destination, d->tag, d->bytes}].push_back(d);
  };
  sort_in(sends, of[0]);
  sort_in(receives, of[1]);
  std::string wrong;
  for (const auto& [key, list] : of[1]) {
    for (size_t i = 0; i < list.size(); ++i) {
      const int64_t due = std::max(list[i]->at, of[0].at(key)[i]->called);
      if (list[i]->called != due) wrong += fmt::format("a receive at {} ps, not {}\n", list[i]->called, due);
    }
  }
  return wrong;
}

/// .. a stream of bytes.
std::string check_bytes(const std::vector<Drawn>& sends, const std::vector<Drawn>& receives) {
  struct Event {
    int64_t at;
    uint64_t bytes;
    const Drawn* receive;
  };
  std::map<std::tuple<int, int, int>, std::vector<Event>> streams;
  for (const Drawn& d : sends)
    streams[{d.source, d.destination, d.tag}].push_back({d.called, d.bytes, nullptr});
  for (const Drawn& d : receives) streams[{d.source, d.destination, d.tag}].push_back({d.at, d.bytes, &d});
  std::string wrong;
  for (auto& [key, events] : streams) {
    std::stable_sort(events.begin(), events.end(),
                     [](const Event& a, const Event& b) { return a.at < b.at; });
    uint64_t need = 0;
    for (const Event& r : events) {
      if (r.receive == nullptr) continue;
      need += r.bytes;
      uint64_t there = 0;
      int64_t due = r.at;
      for (const Event& s : events) {
        if (s.receive != nullptr || there >= need) continue;
        there += s.bytes;
        due = std::max(due, s.at);
      }
      if (r.receive->called != due)
        wrong += fmt::format("a receive at {} ps, not {}\n", r.receive->called, due);
    }
  }
  return wrong;
}

/// 1,000 sends and as many receives at random times.
std::string random_traffic(const Machine& machine, int match, unsigned seed) {
  std::mt19937_64 random(seed);
  Net net(machine.path(), WEFT_NET_DONE_ARRIVAL, match);
  const int ranks = weft_net_ranks(net.net);
  std::vector<Drawn> sends;
  for (int i = 0; i < 1000; ++i) {
    const int source = static_cast<int>(random() % static_cast<unsigned>(ranks));
    sends.push_back({source, static_cast<int>(random() % static_cast<unsigned>(ranks)),
                     static_cast<int>(random() % 3), 1000 * (1 + random() % 3), 0});
  }
  sends = shuffled(sends, random);
  std::vector<Drawn> receives = shuffled(sends, random);
  if (match == WEFT_NET_MATCH_BYTES) {
    // Receives cut the streams elsewhere.
    std::map<std::tuple<int, int, int>, Drawn*> first;
    for (Drawn& d : receives) {
      Drawn*& other = first[{d.source, d.destination, d.tag}];
      if (other == nullptr) {
        other = &d;
        continue;
      }
      const uint64_t move = random() % d.bytes;
      d.bytes -= move;
      other->bytes += move;
      other = nullptr;
    }
  }
  for (Drawn& d : sends)
    net.schedule(d.at, [&net, &d] {
      net.send(d.source, d.destination, d.bytes, d.tag, [&net, &d] {
        if (weft_net_rank(net.net) != d.source) net.wrong += "a send's rank\n";
        d.called = net.now();
      });
    });
  for (Drawn& d : receives)
    net.schedule(d.at, [&net, &d] {
      net.recv(d.destination, d.source, d.bytes, d.tag, [&net, &d] {
        if (weft_net_rank(net.net) != d.destination) net.wrong += "a receive's rank\n";
        if (d.called != -1) net.wrong += "a receive was over twice\n";
        d.called = net.now();
      });
    });
  if (net.run() != WEFT_NET_IDLE) net.wrong += "not idle\n";
  if (*weft_net_pending(net.net) != 0) net.wrong += weft_net_pending(net.net);
  size_t before = 0;
  for (const Drawn& d : receives) before += d.called > d.at ? 1 : 0;
  if (before < 100 || before > 900) net.wrong += fmt::format("{} receives before the arrival\n", before);
  const std::string wrong =
      match == WEFT_NET_MATCH_EXACT ? check_exact(sends, receives) : check_bytes(sends, receives);
  return wrong + net.wrong;
}

TEST(WeftNet, RandomSendsAndReceivesBeforeAndAfterArrival) {
  const Machine machine("{notation: Ring(4), dimensions: [{bandwidth: 50 GB/s, latency: 300 ns}]}");
  for (const int match : {WEFT_NET_MATCH_EXACT, WEFT_NET_MATCH_BYTES}) {
    for (unsigned seed = 1; seed <= 3; ++seed) {
      SCOPED_TRACE(fmt::format("match {}, seed {}", match, seed));
      EXPECT_SILENT(isolated([&] { return random_traffic(machine, match, seed); }));
    }
  }
}

TEST(WeftNet, RandomTrafficOnOtherFidelities) {
  for (const char* fidelity : {"analytical", "packet"}) {
    const Machine machine(
        fmt::format("{{notation: Ring(2)_Switch(3), dimensions: [{{bandwidth: 50 GB/s, "
                    "latency: 300 ns, fidelity: {}}}]}}",
                    fidelity));
    for (const int match : {WEFT_NET_MATCH_EXACT, WEFT_NET_MATCH_BYTES}) {
      SCOPED_TRACE(fmt::format("{}, match {}", fidelity, match));
      EXPECT_SILENT(isolated([&] { return random_traffic(machine, match, 7); }));
    }
  }
}

const char* const kRing = "{notation: Ring(4), dimensions: [{bandwidth: 50 GB/s, latency: 300 ns}]}";

TEST(WeftNet, ASendIsDoneWhenSentOrWhenItArrives) {
  const Machine machine(kRing);
  for (const int done : {WEFT_NET_DONE_ARRIVAL, WEFT_NET_DONE_SENT}) {
    EXPECT_SILENT(isolated([&] {
      Net net(machine.path(), done);
      int64_t sent = -1;
      int64_t received = -1;
      int64_t alone = -1;
      net.send(0, 2, 1000, 5, [&] { sent = net.now(); });
      net.recv(2, 0, 1000, 5, [&] { received = net.now(); });
      net.send(3, 3, 1000, 5, [&] { alone = net.now(); });
      net.recv(3, 3, 1000, 5);
      net.run();
      const int64_t expected = done == WEFT_NET_DONE_SENT ? 20'000 : 620'000;
      if (sent != expected) net.wrong += fmt::format("sent at {} ps\n", sent);
      if (received != 620'000) net.wrong += fmt::format("received at {} ps\n", received);
      if (alone != 0) net.wrong += fmt::format("to itself: {} ps\n", alone);
      return net.wrong;
    }));
  }
}

TEST(WeftNet, ScheduledCallbacksOfOneTimeComeInTheOrderOfTheCalls) {
  const Machine machine(kRing);
  EXPECT_SILENT(isolated([&] {
    Net net(machine.path());
    std::mt19937 random(5);
    std::vector<std::pair<int64_t, int>> calls;
    std::vector<std::pair<int64_t, int>> came;
    for (int i = 0; i < 500; ++i) {
      const auto at = static_cast<int64_t>(random() % 20);
      calls.emplace_back(at, i);
      net.schedule(at, [&, i] {
        came.emplace_back(net.now(), i);
        // Zero: at this time, behind what was asked for it before.
        if (i % 7 == 0) net.schedule(0, [&, i] { came.emplace_back(net.now(), 1000 + i); });
      });
    }
    net.run();
    std::stable_sort(calls.begin(), calls.end(), [](auto& a, auto& b) { return a.first < b.first; });
    std::vector<std::pair<int64_t, int>> expected;
    for (size_t i = 0; i < calls.size();) {
      size_t end = i;
      while (end < calls.size() && calls[end].first == calls[i].first) ++end;
      for (size_t j = i; j < end; ++j) expected.push_back(calls[j]);
      for (size_t j = i; j < end; ++j)
        if (calls[j].second % 7 == 0) expected.emplace_back(calls[j].first, 1000 + calls[j].second);
      i = end;
    }
    if (came != expected) net.wrong += "another order\n";
    return net.wrong;
  }));
}

TEST(WeftNet, RunsToATimeWithWhatHappensAtIt) {
  const Machine machine(kRing);
  EXPECT_SILENT(isolated([&] {
    Net net(machine.path());
    int called = 0;
    const auto expect = [&](const char* what, int64_t got, int64_t wanted) {
      if (got != wanted) net.wrong += fmt::format("{}: {}, not {}\n", what, got, wanted);
    };
    net.schedule(100, [&] {
      ++called;
      net.schedule(0, [&] { ++called; });
    });
    net.schedule(200, [&] { ++called; });
    expect("before", net.run(99), WEFT_NET_OK);
    expect("called", called, 0);
    expect("at", net.run(100), WEFT_NET_OK);
    expect("called", called, 2);
    expect("now", net.now(), 100);
    expect("step", weft_net_step(net.net), WEFT_NET_OK);
    expect("called", called, 3);
    expect("now", net.now(), 200);
    expect("idle", weft_net_step(net.net), WEFT_NET_IDLE);
    expect("idle", net.run(500), WEFT_NET_IDLE);
    expect("now", net.now(), 500);
    expect("forever", net.run(), WEFT_NET_IDLE);
    expect("now", net.now(), 500);
    for (int r = 0; r < 4; ++r) net.schedule(10 + r, [&, r] { weft_net_finish(net.net, r); });
    net.schedule(1000, [&] { ++called; });
    expect("finished", net.run(), WEFT_NET_FINISHED);
    expect("now", net.now(), 513);
    expect("called", called, 3);
    return net.wrong;
  }));
}

TEST(WeftNet, SaysWhatWaits) {
  const Machine machine(kRing);
  EXPECT_SILENT(isolated([&] {
    Net net(machine.path());
    net.send(0, 1, 64, 3);
    net.recv(2, 1, 32, 4);
    net.run();
    const std::string pending = weft_net_pending(net.net);
    const std::string expected =
        "from rank 0 to rank 1, tag 3, 64 B: 1 messages that nobody received\n"
        "from rank 1 to rank 2, tag 4, 32 B: 1 receives that wait";
    return pending == expected ? net.wrong : pending;
  }));
}

TEST(WeftNet, DescribesTheMachine) {
  const Machine machine(
      "{notation: Ring(2)_Switch(3), dimensions: [{bandwidth: 50 GB/s, latency: 1 ns}, {bandwidth: 25 GB/s, "
      "latency: 1 ns, links_per_npu: 2}]}");
  EXPECT_SILENT(isolated([&] {
    const char* const set[] = {"topology.dimensions[0].bandwidth=40 GB/s", nullptr};
    Net net(machine.path(), WEFT_NET_DONE_ARRIVAL, WEFT_NET_MATCH_EXACT, set);
    const std::string got = fmt::format("{} {} {} {} {}", weft_net_ranks(net.net),
                                        weft_net_dimensions(net.net), weft_net_bandwidth(net.net, 0),
                                        weft_net_bandwidth(net.net, 1), weft_net_bandwidth(net.net, 2));
    return got == "6 2 40000000000 50000000000 -1" ? net.wrong : got;
  }));
}

TEST(WeftNet, RefusesWhatCannotBe) {
  const Machine machine(kRing);
  EXPECT_SILENT(isolated([&] {
    std::string wrong;
    const auto says = [&](const char* text, const std::string& part) {
      if (std::string(text).find(part) == std::string::npos)
        wrong += fmt::format("'{}' does not say '{}'\n", text, part);
    };
    EXPECT_EQ(weft_net_open("/nowhere.yaml", nullptr), nullptr);
    says(weft_net_error(nullptr), "/nowhere.yaml");
    EXPECT_EQ(weft_net_open(nullptr, nullptr), nullptr);
    says(weft_net_error(nullptr), "give a file's path");
    weft_net_options options{sizeof options, 7, 0, nullptr};
    EXPECT_EQ(weft_net_open(machine.path(), &options), nullptr);
    says(weft_net_error(nullptr), "send_done is 7");
    options = {sizeof options, 0, 9, nullptr};
    EXPECT_EQ(weft_net_open(machine.path(), &options), nullptr);
    says(weft_net_error(nullptr), "match is 9");
    options = {3, 0, 0, nullptr};
    EXPECT_EQ(weft_net_open(machine.path(), &options), nullptr);
    says(weft_net_error(nullptr), "sizeof");
    Net net(machine.path());
    const auto refused = [&](int state, const std::string& part) {
      if (state != WEFT_NET_USAGE) wrong += fmt::format("{} is not refused\n", part);
      says(weft_net_error(net.net), part);
    };
    EXPECT_EQ(weft_net_open(machine.path(), nullptr), nullptr);
    says(weft_net_error(nullptr), "another process");
    refused(weft_net_send(net.net, 4, 0, 1, 0, nullptr, nullptr), "src is 4; the machine has ranks 0 to 3");
    refused(weft_net_send(net.net, 0, -1, 1, 0, nullptr, nullptr), "dst is -1");
    refused(weft_net_recv(net.net, 0, 9, 1, 0, nullptr, nullptr), "src is 9");
    refused(weft_net_schedule(net.net, 1, nullptr, nullptr), "callback is null");
    net.schedule(50, [&] {
      refused(weft_net_run_until(net.net, 100), "called from a callback");
      refused(weft_net_step(net.net), "called from a callback");
      refused(weft_net_close(net.net), "called from a callback");
    });
    net.run();
    refused(weft_net_schedule(
                net.net, -1, [](void*) {}, nullptr),
            "delta is -1 ps");
    refused(weft_net_run_until(net.net, 10), "10 ps is in the past");
    refused(weft_net_finish(net.net, 17), "rank is 17");
    EXPECT_EQ(weft_net_finish(net.net, 1), WEFT_NET_OK);
    refused(weft_net_finish(net.net, 1), "rank 1 has finished before");
    return wrong + net.wrong;
  }));
}

TEST(WeftNet, AThrowingCallbackEndsTheSimulation) {
  const Machine machine(kRing);
  EXPECT_SILENT(isolated([&] {
    Net net(machine.path());
    std::string wrong;
    net.schedule(70, [] { throw std::runtime_error("no luck"); });
    net.schedule(80, [&] { wrong += "went on\n"; });
    if (net.run() != WEFT_NET_FAILED) wrong += "not failed\n";
    const std::string text = weft_net_error(net.net);
    if (text != "weft_net_run_until: at 70 ps: no luck") wrong += text + "\n";
    if (net.run() != WEFT_NET_FAILED) wrong += "runs again\n";
    return wrong;
  }));
}

}  // namespace
