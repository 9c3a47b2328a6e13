// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "vcd/probe_hub.h"

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "gtest/gtest.h"

namespace weft::vcd {
namespace {

/// Wants the names that begin so, and writes down what it hears.
class Notes : public ProbeListener {
 public:
  explicit Notes(std::string beginning) : beginning_(std::move(beginning)) {}

  bool wants(std::string_view name) override {
    asked.emplace_back(name);
    return name.substr(0, beginning_.size()) == beginning_;
  }
  SignalId declared(const Signal& signal) override {
    names_.emplace_back(signal.name);
    heard.push_back(fmt::format("{} is of kind {}, {} bits, {} names", signal.name,
                                static_cast<int>(signal.kind), signal.width,
                                signal.table == nullptr ? 0 : signal.table->size()));
    return static_cast<SignalId>(names_.size() - 1);
  }
  void changed(Time t, SignalId signal, uint64_t value) override {
    note(t, signal, fmt::format("{}", value));
  }
  void changed(Time t, SignalId signal, double value) override { note(t, signal, fmt::format("{}", value)); }
  void changed(Time t, SignalId signal, std::string_view value) override {
    note(t, signal, std::string(value));
  }
  FutureHandle expected(Time t, SignalId signal, uint64_t value) override {
    changed(t, signal, value);
    return {index(signal), takes_back ? ++sequence_ : 0, nullptr};
  }
  FutureHandle expected(Time, SignalId, double) override { return {}; }
  FutureHandle expected(Time, SignalId, std::string_view) override { return {}; }
  bool revoked(const FutureHandle& handle) override {
    heard.push_back(fmt::format("{}: {} taken back", names_[handle.slot], handle.sequence));
    return in_time;
  }
  void counted(const Steps& steps, SignalId signal, int by) override {
    note(steps.first, signal, fmt::format("{} times {:+}, every {}", steps.count, by, steps.stride));
  }

  bool takes_back = true;
  bool in_time = true;
  std::vector<std::string> asked;
  std::vector<std::string> heard;

 private:
  void note(Time t, SignalId signal, const std::string& text) {
    heard.push_back(fmt::format("{} at {}: {}", names_[index(signal)], t, text));
  }
  std::string beginning_;
  uint64_t sequence_ = 0;
  std::vector<std::string> names_;
};

TEST(ProbeHub, AListenerHearsWhatItWants) {
  Notes notes("npu1");
  ProbeHub probes;
  EXPECT_FALSE(probes.on());
  probes.join(notes);
  EXPECT_TRUE(probes.on());
  const Probe other = probes.number("npu0.bytes", 32);
  const Probe bytes = probes.number("npu1.bytes", 32);
  const Probe rate = probes.real("npu1.rate");
  const Probe name = probes.text("npu1.collective");
  const Probe state = probes.enumeration("npu1.state", {"idle", "send", "wait"});
  const Probe busy = probes.bit("npu1.busy");
  EXPECT_FALSE(other);
  other.set(1, 1u);
  other.add({1}, 1);
  bytes.set(5, 17u);
  bytes.add({7, 3, 2}, -1);
  rate.set(6, 0.5f);
  name.set(6, "all_reduce");
  state.set(9, 2);
  busy.set(9, true);
  EXPECT_EQ(notes.asked, (std::vector<std::string>{"npu0.bytes", "npu1.bytes", "npu1.rate", "npu1.collective",
                                                   "npu1.state", "npu1.busy"}));
  EXPECT_EQ(notes.heard, (std::vector<std::string>{
                             "npu1.bytes is of kind 1, 32 bits, 0 names",
                             "npu1.rate is of kind 2, 64 bits, 0 names",
                             "npu1.collective is of kind 4, 1 bits, 0 names",
                             "npu1.state is of kind 3, 0 bits, 3 names",
                             "npu1.busy is of kind 0, 1 bits, 0 names",
                             "npu1.bytes at 5: 17",
                             "npu1.bytes at 7: 3 times -1, every 2",
                             "npu1.rate at 6: 0.5",
                             "npu1.collective at 6: all_reduce",
                             "npu1.state at 9: 2",
                             "npu1.busy at 9: 1",
                         }));
}

TEST(ProbeHub, SeveralListenersHearEachWhatTheyWant) {
  Notes all("");
  Notes some("npu1");
  Notes none("switch");
  ProbeHub probes;
  for (Notes* notes : {&all, &some, &none}) probes.join(*notes);
  const Probe first = probes.number("npu0.bytes", 8);
  const Probe both = probes.number("npu1.bytes", 8);
  first.set(1, 10u);
  both.set(2, 20u);
  both.add({3}, 1);
  both.set(4, 30u);
  EXPECT_EQ(std::vector<std::string>(all.heard.begin() + 2, all.heard.end()),
            (std::vector<std::string>{"npu0.bytes at 1: 10", "npu1.bytes at 2: 20",
                                      "npu1.bytes at 3: 1 times +1, every 0", "npu1.bytes at 4: 30"}));
  EXPECT_EQ(std::vector<std::string>(some.heard.begin() + 1, some.heard.end()),
            (std::vector<std::string>{"npu1.bytes at 2: 20", "npu1.bytes at 3: 1 times +1, every 0",
                                      "npu1.bytes at 4: 30"}));
  EXPECT_TRUE(none.heard.empty());
  EXPECT_EQ(none.asked.size(), 2u);
}

TEST(ProbeHub, WhatIsExpectedIsTakenBackFromEveryListener) {
  Notes other("npu0");
  Notes first("");
  Notes second("npu");
  ProbeHub probes;
  for (Notes* notes : {&other, &first, &second}) probes.join(*notes);
  const Probe alone = probes.number("switch.bytes", 8);
  const Probe both = probes.number("npu1.bytes", 8);
  FutureHandle one = alone.at(5, 1u);
  FutureHandle two = both.at(6, 2u);
  FutureHandle three = both.at(7, 3u);
  EXPECT_TRUE(both.revoke(two));
  EXPECT_FALSE(two);
  EXPECT_FALSE(both.revoke(two));
  EXPECT_TRUE(alone.revoke(one));
  second.in_time = false;
  EXPECT_FALSE(both.revoke(three));
  EXPECT_EQ(std::vector<std::string>(first.heard.begin() + 2, first.heard.end()),
            (std::vector<std::string>{"switch.bytes at 5: 1", "npu1.bytes at 6: 2", "npu1.bytes at 7: 3",
                                      "npu1.bytes: 2 taken back", "switch.bytes: 1 taken back",
                                      "npu1.bytes: 3 taken back"}));
  EXPECT_EQ(std::vector<std::string>(second.heard.begin() + 1, second.heard.end()),
            (std::vector<std::string>{"npu1.bytes at 6: 2", "npu1.bytes at 7: 3", "npu1.bytes: 1 taken back",
                                      "npu1.bytes: 2 taken back"}));
  EXPECT_TRUE(other.heard.empty());
  first.takes_back = second.takes_back = false;
  EXPECT_FALSE(both.at(8, 4u));
}

TEST(ProbeHub, WithoutListenersNothingIsKept) {
  ProbeHub probes;
  EXPECT_FALSE(probes.bit("a"));
  EXPECT_TRUE(probes.examples().empty());
}

TEST(ProbeHub, NamesThatDifferInNumbersAreOfOneKind) {
  Notes none("x");
  ProbeHub probes;
  probes.join(none);
  for (int npu = 0; npu < 3; ++npu)
    for (const char* signal : {"state", "port7.bytes"}) probes.bit(fmt::format("npu{}.{}", npu, signal));
  EXPECT_EQ(probes.examples(), (std::vector<std::string>{"npu0.port7.bytes", "npu0.state"}));
}

TEST(ProbeHub, WhoJoinsLateWouldMissSignals) {
  Notes early("");
  Notes late("");
  ProbeHub probes;
  probes.join(early);
  probes.bit("a");
  EXPECT_THROW(probes.join(late), std::logic_error);
}

/// Takes aliases and gates, as waveforms do.
class Clever : public Notes {
 public:
  using Notes::Notes;
  bool aliased(const Signal& signal, SignalId other) override {
    heard.push_back(fmt::format("{} is signal {}", signal.name, index(other)));
    return true;
  }
  std::optional<SignalId> gated(const Signal& signal, SignalId gate) override {
    heard.push_back(fmt::format("{} is gated by signal {}", signal.name, index(gate)));
    return declared(signal);
  }
};

// Both see the same values; the one that knows more is told less.
TEST(ProbeHub, AliasesAndGatesAreForListenersThatTakeThem) {
  Notes plain("");
  Clever clever("");
  ProbeHub probes;
  probes.join(plain);
  probes.join(clever);
  const Probe busy = probes.bit("out.busy");
  const Probe link = probes.bit_like("link.busy", busy);
  const ProbeHub::Gated rate = probes.gated_real("link.rate", busy, link);
  plain.heard.clear();
  clever.heard.erase(clever.heard.begin());
  busy.set(5, true);
  link.set(5, true);
  rate.always.set(5, 2.5);
  rate.while_set.set(5, 2.5);
  rate.always.set(6, 0.0);
  EXPECT_EQ(plain.heard, (std::vector<std::string>{"out.busy at 5: 1", "link.busy at 5: 1",
                                                   "link.rate at 5: 2.5", "link.rate at 6: 0"}));
  ASSERT_EQ(clever.heard.size(), 5u);
  EXPECT_EQ(clever.heard[0], "link.busy is signal 0");
  EXPECT_EQ(clever.heard[1], "link.rate is gated by signal 0");
  EXPECT_EQ(clever.heard[3], "out.busy at 5: 1");
  EXPECT_EQ(clever.heard[4], "link.rate at 5: 2.5");
}

// A listener that does not hear the first bit may hear the other.
TEST(ProbeHub, AnAliasOfNothingIsASignal) {
  Clever clever("link");
  ProbeHub probes;
  probes.join(clever);
  const Probe busy = probes.bit("out.busy");
  const Probe link = probes.bit_like("link.busy", busy);
  EXPECT_FALSE(busy);
  EXPECT_TRUE(link);
  const ProbeHub::Gated rate = probes.gated_real("link.rate", busy, link);
  EXPECT_FALSE(rate.always);
  EXPECT_TRUE(rate.while_set);
  const ProbeHub::Gated alone = probes.gated_real("link2.rate", busy, busy);
  EXPECT_TRUE(alone.always);
  EXPECT_FALSE(alone.while_set);
}

}  // namespace
}  // namespace weft::vcd
