// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The signals of links against the counters of links, by listeners of the test itself: random machines at
// message and analytical fidelity.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sc_models/collective_job.h"
#include "tests/support/isolated.h"
#include "tests/support/random_machine.h"
#include "tlm_interconnect/packet/packet_network.h"
#include "vcd/probe_hub.h"

namespace weft {
namespace {

using vcd::SignalId;
using vcd::Steps;

/// Adds up what the signals `.bytes` and `.busy` of links say.
class LinkTally : public vcd::ProbeListener {
 public:
  struct Link {
    uint64_t bytes = 0;
    Picoseconds busy = 0;
    Picoseconds since = 0;  ///< the last change
    bool on = false;
  };

  explicit LinkTally(bool all) : all_(all) {}
  bool wants(std::string_view name) override {
    return all_ || ends_with(name, ".bytes") || ends_with(name, ".busy");
  }
  SignalId declared(const vcd::Signal& signal) override {
    names_.emplace_back(signal.name);
    return static_cast<SignalId>(names_.size() - 1);
  }
  void changed(vcd::Time t, SignalId signal, uint64_t value) override {
    const std::string& name = names_[vcd::index(signal)];
    Link& link = links_[name.substr(0, name.rfind('.'))];
    if (ends_with(name, ".bytes")) link.bytes = value;
    if (!ends_with(name, ".busy") || link.on == (value != 0)) return;
    // It may rise in the picosecond at whose end it falls: two messages share that.
    t = std::max(t, link.since);
    if (link.on) link.busy += t - link.since;
    link.since = t;
    link.on = value != 0;
  }
  void changed(vcd::Time, SignalId, double) override {}
  void changed(vcd::Time, SignalId, std::string_view) override {}
  vcd::FutureHandle expected(vcd::Time t, SignalId signal, uint64_t value) override {
    changed(t, signal, value);
    return {};
  }
  vcd::FutureHandle expected(vcd::Time, SignalId, double) override { return {}; }
  vcd::FutureHandle expected(vcd::Time, SignalId, std::string_view) override { return {}; }
  bool revoked(const vcd::FutureHandle&) override { return false; }
  void counted(const Steps&, SignalId, int) override {}

  const Link& of(const std::string& link) { return links_[link]; }

 private:
  static bool ends_with(std::string_view name, std::string_view end) {
    return name.size() >= end.size() && name.substr(name.size() - end.size()) == end;
  }
  const bool all_;
  std::vector<std::string> names_;
  std::map<std::string, Link> links_;
};

Config draw(uint32_t seed) {
  test::Random random(seed);
  Config config;
  const Fidelity fidelity = seed % 2 == 0 ? Fidelity::message : Fidelity::analytical;
  test::draw_dimensions(
      random, config, 2, 32, [](test::Random& r, uint32_t) { return 2 + r.pick(4); },
      [&](test::Random& r, DimensionConfig& d) {
        d.bandwidth = {(1 + r.pick(100)) * 1'000'000'000ull, 1};
        d.latency = r.pick(1000) * 1000;
        d.fidelity = fidelity;
      });
  config.collectives.chunks = 1 + random.pick(4);
  return config;
}

/// Every change of every count of credits, exact in time.
class CreditTally : public vcd::ProbeListener {
 public:
  struct Account {
    uint64_t depth = 0;
    std::vector<std::pair<uint64_t, int>> steps;  ///< time in the fabric's ticks, change
    uint64_t taken = 0;
    uint64_t returned = 0;
  };
  bool wants(std::string_view name) override { return name.find("_credits") != std::string_view::npos; }
  SignalId declared(const vcd::Signal& signal) override {
    names_.emplace_back(signal.name);
    return static_cast<SignalId>(names_.size() - 1);
  }
  void changed(vcd::Time, SignalId signal, uint64_t value) override {
    accounts_[names_[vcd::index(signal)]].depth = value;
  }
  void changed(vcd::Time, SignalId, double) override {}
  void changed(vcd::Time, SignalId, std::string_view) override {}
  vcd::FutureHandle expected(vcd::Time, SignalId, uint64_t) override { return {}; }
  vcd::FutureHandle expected(vcd::Time, SignalId, double) override { return {}; }
  vcd::FutureHandle expected(vcd::Time, SignalId, std::string_view) override { return {}; }
  bool revoked(const vcd::FutureHandle&) override { return false; }
  void counted(const Steps& steps, SignalId signal, int by) override {
    Account& account = accounts_[names_[vcd::index(signal)]];
    for (uint32_t k = 0; k < steps.count; ++k) account.steps.emplace_back(steps.first + k * steps.stride, by);
    (by < 0 ? account.taken : account.returned) += steps.count;
  }

  /// What is wrong with the accounts that begin with `prefix`, of a sender of so many flits.
  std::string check(const std::string& prefix, uint64_t flits) {
    std::string wrong;
    uint64_t taken = 0;
    for (auto at = accounts_.lower_bound(prefix); at != accounts_.end() && at->first.rfind(prefix, 0) == 0;
         ++at) {
      Account& account = at->second;
      taken += account.taken;
      // Of one moment what comes back may go out again.
      std::sort(account.steps.begin(), account.steps.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first < b.first : a.second > b.second;
      });
      auto credits = static_cast<int64_t>(account.depth);
      for (const auto& [time, by] : account.steps) {
        credits += by;
        if (credits < 0 || credits > static_cast<int64_t>(account.depth))
          wrong += fmt::format("{}: {} credits of {} at {}\n", at->first, credits, account.depth, time);
      }
      if (credits != static_cast<int64_t>(account.depth) || account.taken != account.returned)
        wrong += fmt::format("{}: {} taken, {} returned\n", at->first, account.taken, account.returned);
    }
    if (taken != flits) wrong += fmt::format("{}: {} credits taken for {} flits\n", prefix, taken, flits);
    return wrong;
  }

 private:
  std::vector<std::string> names_;
  std::map<std::string, Account> accounts_;
};

/// Every flit of every router and interface takes a credit of its virtual channel, and it comes back.
TEST(LinkSignals, CreditsAreTheFlitsOfTheSenders) {
  uint64_t sent = 0;
  for (uint32_t seed = 1; seed <= 16; ++seed) {
    const auto result = test::isolated([&]() -> std::string {
      Config config = draw(seed);
      test::Random random(seed);
      for (DimensionConfig& d : config.dimensions) d.fidelity = Fidelity::packet;
      config.packet.vcs = 2 + random.pick(3);
      config.packet.packet_bytes = 64u << random.pick(4);
      config.packet.flit_bytes = 16u << random.pick(2);
      CreditTally credits;
      vcd::ProbeHub probes;
      probes.join(credits);
      Machine machine("machine", config, CollectiveJob::machine_options(&probes));
      CollectiveJob job(machine);
      job.start(CollectiveOp::all_reduce, 20'000 + seed);
      if (!test::run_to_the_end(job)) return job.stall_report();
      std::string wrong;
      uint64_t flits = 0;
      machine.for_each_link([&](const LinkReport& report) {
        const packet::FlitSender& sender = report.sender;
        if (sender.network == nullptr) return;
        const uint64_t of_link = report.bytes / config.packet.flit_bytes;
        flits += of_link;
        wrong += sender.of_interface
                     ? credits.check(fmt::format("{}.vc", sender.network->ni(sender.module).name()), of_link)
                     : credits.check(fmt::format("{}.out{}.vc", sender.network->router(sender.module).name(),
                                                 sender.port),
                                     of_link);
      });
      return wrong.empty() ? fmt::format("same {}", flits) : wrong;
    });
    ASSERT_EQ(result.status, 0) << result.text;
    ASSERT_EQ(result.text.rfind("same ", 0), 0u) << "seed " << seed << ": " << result.text;
    sent += std::stoull(result.text.substr(5));
  }
  EXPECT_GT(sent, 10'000u);
}

TEST(LinkSignals, AddUpToTheCountersOfTheLinks) {
  uint64_t busy_links = 0;
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    const auto result = test::isolated([&]() -> std::string {
      const Config config = draw(seed);
      LinkTally links(false);
      LinkTally everything(true);
      vcd::ProbeHub probes;
      probes.join(links);
      probes.join(everything);
      Machine machine("machine", config, CollectiveJob::machine_options(&probes));
      CollectiveJob job(machine);
      job.start(CollectiveOp::all_reduce, 100'000 + seed);
      if (!test::run_to_the_end(job)) return job.stall_report();
      std::string wrong;
      uint64_t busy = 0;
      machine.for_each_link([&](const LinkReport& report) {
        busy += report.busy != 0;
        for (LinkTally* tally : {&links, &everything}) {
          const LinkTally::Link& told = tally->of(report.name);
          if (told.bytes != report.bytes || told.busy != report.busy || told.on)
            wrong += fmt::format("{}: {} bytes, busy {} ps; its signals say {} and {}\n", report.name,
                                 report.bytes, report.busy, told.bytes, told.busy);
        }
      });
      return wrong.empty() ? fmt::format("same {}", busy) : wrong;
    });
    ASSERT_EQ(result.status, 0) << result.text;
    ASSERT_EQ(result.text.rfind("same ", 0), 0u) << "seed " << seed << ": " << result.text;
    busy_links += std::stoull(result.text.substr(5));
  }
  EXPECT_GT(busy_links, 500u);
}

}  // namespace
}  // namespace weft
