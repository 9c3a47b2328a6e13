// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A waveform says what the statistics say: on drawn machines of every fidelity, with one job and with
// several, waves.vcd is read and the bytes, the busy time and the queued time of every link, and the credits
// of every virtual channel, are computed from it and compared with links.csv and summary.json.

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "tests/support/job_folder.h"

namespace weft::test {
namespace {

using trace::test::collective;
using trace::test::comp;
using trace::test::receive;
using trace::test::send;
using vcd::test::Change;
using vcd::test::ParsedVcd;

struct Random {
  explicit Random(uint32_t seed) : engine(seed) {}
  uint32_t pick(uint32_t n) { return static_cast<uint32_t>(engine() % n); }
  std::mt19937 engine;
};

double number_of(const std::string& value) {
  if (value[0] == 'r') return std::stod(value.substr(1));
  if (value[0] == 'b' && value.find('x') == std::string::npos)
    return static_cast<double>(std::stoull(value.substr(1), nullptr, 2));
  return value == "1" ? 1 : 0;
}

/// Sums over the time of a signal.
struct Integral {
  double value = 0;    ///< in units x seconds
  uint64_t above = 0;  ///< picoseconds with a value that is not 0
  uint64_t rises = 0;  ///< from 0 to another value
  double last = 0;
  double most = 0;
};

Integral integral(const std::vector<Change>& changes, uint64_t end) {
  Integral sum;
  for (size_t i = 0; i < changes.size(); ++i) {
    const double value = number_of(changes[i].value);
    const uint64_t until = i + 1 < changes.size() ? changes[i + 1].time : end;
    const uint64_t time = until - changes[i].time;
    sum.value += value * static_cast<double>(time) * 1e-12;
    sum.above += value != 0 ? time : 0;
    sum.rises += value != 0 && sum.last == 0 ? 1 : 0;
    sum.most = std::max(sum.most, value);
    sum.last = value;
  }
  return sum;
}

class WaveStatistics : public JobFolder {
 protected:
  /// Every rank computes, takes part in collectives, and sends to its neighbour.
  void job_of(const std::string& name, uint32_t ranks, Random& random) const {
    constexpr ChakraProtoMsg::CollectiveCommType kOps[] = {
        ChakraProtoMsg::ALL_REDUCE, ChakraProtoMsg::ALL_GATHER, ChakraProtoMsg::REDUCE_SCATTER,
        ChakraProtoMsg::ALL_TO_ALL};
    const auto op = kOps[random.pick(4)];
    const int64_t bytes = 1000 + random.pick(100'000);
    const int64_t message = 1 + random.pick(50'000);
    for (uint32_t r = 0; r < ranks; ++r) {
      Nodes nodes = {comp(1, {}, 1 + r % 3), collective(2, op, bytes * ranks),
                     send(3, (r + 1) % ranks, message, 7), receive(4, (r + ranks - 1) % ranks, message, 7),
                     collective(5, ChakraProtoMsg::ALL_REDUCE, bytes)};
      nodes.back().add_data_deps(4);
      trace::test::write_trace(at(name + "." + std::to_string(r) + ".et"), nodes);
    }
  }

  void check(const std::string& what) const {
    SCOPED_TRACE(what);
    const ParsedVcd waves = vcd::test::parse_vcd(read(at("out/waves.vcd")));
    const auto summary = nlohmann::json::parse(read(at("out/summary.json")));
    ASSERT_FALSE(waves.times.empty());
    const uint64_t end = waves.times.back();
    const auto of = [&](const std::string& name) {
      const auto found = waves.changes.find(name);
      EXPECT_NE(found, waves.changes.end()) << name;
      return integral(found == waves.changes.end() ? std::vector<Change>() : found->second, end);
    };
    uint64_t bytes = 0;
    for (const auto& row : read_csv(at("out/links.csv"))) {
      const std::string name = row.at("name");
      SCOPED_TRACE(name);
      const bool packet = row.at("fidelity") == "packet";
      const uint64_t sent = std::stoull(row.at("bytes"));
      const uint64_t busy = picoseconds(row.at("busy_ns"));
      bytes += sent;
      EXPECT_EQ(static_cast<uint64_t>(of(name + ".bytes").last), sent);
      // Fractions of a picosecond: of a message's last one, or of the ends of what flits make.
      const Integral told = of(name + ".busy");
      const uint64_t fractions = packet ? told.rises : std::stoull(row.at("messages"));
      EXPECT_LE(told.above, busy + (packet ? fractions : 0));
      EXPECT_GE(told.above + fractions, busy);
      EXPECT_EQ(told.last, 0);
      const Integral rate = of(name + ".rate");
      const double exact = static_cast<double>(sent);
      EXPECT_NEAR(rate.value, exact,
                  1e-6 * exact + (packet ? static_cast<double>(rate.rises) * rate.most * 1e-12 : 0));
      EXPECT_EQ(rate.above, told.above);
      EXPECT_EQ(of(name + ".stall").last, 0);
      if (packet) continue;
      const Integral queue = of(name + ".queue");
      EXPECT_NEAR(queue.value, static_cast<double>(picoseconds(row.at("queued_ns"))) * 1e-12, 1e-15);
      EXPECT_EQ(queue.above, of(name + ".stall").above);
      EXPECT_EQ(queue.last, 0);
      EXPECT_GE(told.above, queue.above) << "a message waits for others only";
    }
    EXPECT_EQ(bytes, summary.at("links").at("bytes").get<uint64_t>());
    credits(waves, end);
    switch_inputs(waves, end);
    for (const auto& [name, changes] : waves.changes) {
      const std::string last = name.substr(name.rfind('.') + 1);
      if (last != "inject_queue" && last != "receive_queue" && last != "queue") continue;
      EXPECT_EQ(integral(changes, end).last, 0) << name;
    }
  }

  /// Edges of the spans in which a number has a value, in order.
  template <class Is>
  static std::vector<uint64_t> edges(const std::vector<Change>& changes, const Is& is) {
    std::vector<uint64_t> times;
    for (const Change& change : changes)
      if (is(number_of(change.value)) == (times.size() % 2 == 0)) times.push_back(change.time);
    return times;
  }

  /// Without gaps of a picosecond.
  static std::vector<uint64_t> no_gaps(const std::vector<uint64_t>& times) {
    std::vector<uint64_t> left;
    for (size_t i = 0; i < times.size(); ++i) {
      if (i % 2 == 0 && !left.empty() && times[i] - left.back() <= 1)
        left.pop_back();
      else
        left.push_back(times[i]);
    }
    return left;
  }

  /// The state of a switch's input is idle while its queue is empty. It is sending while an output that was
  /// granted to it has a busy link.
  void switch_inputs(const ParsedVcd& waves, uint64_t end) const {
    for (const auto& [name, changes] : waves.changes) {
      const size_t in = name.rfind(".in");
      if (name.find("switch") == std::string::npos || in == std::string::npos) continue;
      if (name.size() < 6 || name.compare(name.size() - 6, 6, ".state") != 0) continue;
      const std::string input = name.substr(0, name.size() - 6);
      if (waves.changes.count(input + ".queue") == 0) continue;  // of a router
      ++inputs_;
      EXPECT_EQ(edges(changes, [](double v) { return v != 0; }),
                edges(waves.changes.at(input + ".queue"), [](double v) { return v != 0; }))
          << name;
      // A link's time has fractions of a picosecond, so that a span may end one later here.
      const auto told = no_gaps(edges(changes, [](double v) { return v == 2; }));
      const auto sent = no_gaps(sends(waves, name.substr(0, in), std::stod(input.substr(in + 3)), end));
      ASSERT_EQ(told.size(), sent.size()) << name;
      for (size_t i = 0; i < told.size(); ++i)
        EXPECT_LE(std::max(told[i], sent[i]) - std::min(told[i], sent[i]), i % 2) << name << " edge " << i;
    }
  }

  /// When outputs of `owner` send what came by input `number`: the edges.
  static std::vector<uint64_t> sends(const ParsedVcd& waves, const std::string& owner, double number,
                                     uint64_t end) {
    std::map<uint64_t, int> steps;
    std::map<uint32_t, const std::vector<Change>*> links;  // to NPUs in the order of their places: of ports
    const std::string to = owner + ".to";
    for (auto at = waves.changes.lower_bound(to);
         at != waves.changes.end() && at->first.compare(0, to.size(), to) == 0; ++at)
      if (at->first.rfind(".busy") != std::string::npos)
        links[static_cast<uint32_t>(std::stoul(at->first.substr(to.size())))] = &at->second;
    for (uint32_t p = 0; waves.changes.count(owner + ".out" + std::to_string(p) + ".input") != 0; ++p) {
      const std::string output = owner + ".out" + std::to_string(p);
      std::map<uint64_t, std::pair<int, int>> both;  // -1: as before
      for (const Change& c : waves.changes.at(output + ".input"))
        both.insert({c.time, {-1, -1}}).first->second.first = number_of(c.value) == number;
      if (p >= links.size()) return {};
      for (const Change& c : *std::next(links.begin(), p)->second)
        both.insert({c.time, {-1, -1}}).first->second.second = c.value == "1";
      bool granted = false, taken = false;
      for (const auto& [time, now] : both) {
        const bool before = granted && taken;
        if (now.first >= 0) granted = now.first != 0;
        if (now.second >= 0) taken = now.second != 0;
        if ((granted && taken) != before) steps[time] += before ? -1 : 1;
      }
    }
    std::vector<uint64_t> times;
    int count = 0;
    for (const auto& [time, by] : steps) {
      if (time > end) break;
      if ((count > 0) != (count + by > 0)) times.push_back(time);
      count += by;
    }
    return times;
  }

  /// Credits end at their most, which is the depth, and buffers empty. That each flit takes one credit, in
  /// time, is a matter of tests/system/link_signals_test.cpp.
  void credits(const ParsedVcd& waves, uint64_t end) const {
    for (const auto& [name, changes] : waves.changes) {
      const bool credit = name.size() > 8 && name.compare(name.size() - 8, 8, "_credits") == 0;
      const bool flits = name.size() > 6 && name.compare(name.size() - 6, 6, "_flits") == 0;
      if (!credit && !flits) continue;
      const Integral sum = integral(changes, end);
      // What leaves at time 0 is in the first value already.
      EXPECT_EQ(sum.last, credit ? sum.most : 0) << name;
      EXPECT_GT(sum.last + (flits ? 1 : 0), 0) << name;
    }
  }

  mutable uint64_t inputs_ = 0;  ///< of switches, that were compared
};

std::string draw(Random& random, const std::string& fidelity, uint32_t& ranks) {
  constexpr const char* kKinds[] = {"Ring", "FullyConnected", "Switch", "Mesh"};
  std::string notation, dimensions;
  ranks = 1;
  const uint32_t count = 1 + random.pick(2);
  for (uint32_t d = 0; d < count; ++d) {
    const uint32_t size = 2 + random.pick(3);
    ranks *= size;
    notation += (d == 0 ? "" : "_") + std::string(kKinds[random.pick(4)]) + "(" + std::to_string(size) + ")";
    dimensions += "    - {bandwidth: " + std::to_string(1 + random.pick(90)) +
                  " GB/s, latency: " + std::to_string(random.pick(900)) + " ns, fidelity: " + fidelity +
                  (fidelity == "packet" && random.pick(2) == 0 ? ", flow_control: pfc" : "") + "}\n";
  }
  std::string text = "weft: 1\ntopology:\n  notation: " + notation + "\n  dimensions:\n" + dimensions +
                     "collectives: {chunks: " + std::to_string(1 + random.pick(3)) + "}\n";
  if (fidelity == "packet")
    text += "packet: {packet_size: " + std::string(random.pick(2) == 0 ? "256 B" : "1 KiB") +
            ", flit_size: 64 B, vcs: " + std::to_string(2 + random.pick(2)) + "}\n";
  if (random.pick(3) == 0) text += "nmu: {injection_queue: 2}\n";
  return text;
}

TEST_F(WaveStatistics, OfDrawnMachines) {
  for (const char* const fidelity : {"analytical", "message", "packet"}) {
    for (uint32_t seed = 1; seed <= 12; ++seed) {
      Random random(seed);
      uint32_t ranks = 0;
      const std::string machine = draw(random, fidelity, ranks);
      job_of("t", ranks, random);
      for (const bool every : {false, true}) {
        if (every && fidelity != std::string("packet")) continue;
        std::vector<std::string> options = {"--waves", "*"};
        if (every) options.push_back("--waves-flits");
        const Ran ran = run_traces(machine, options);
        ASSERT_EQ(ran.status, 0) << machine << ran.err;
        check(machine + (every ? "flit by flit" : ""));
        if (HasFailure()) return;
      }
      for (uint32_t r = 0; r < ranks; ++r) std::filesystem::remove(at("t." + std::to_string(r) + ".et"));
    }
  }
  EXPECT_GT(inputs_, 10u);
}

TEST_F(WaveStatistics, OfSeveralJobs) {
  for (const std::string fidelity : {"analytical", "message", "packet"}) {
    Random random(7);
    write(at("machine.yaml"),
          "weft: 1\ntopology:\n  notation: Switch(8)\n  dimensions:\n"
          "    - {bandwidth: 7 GB/s, latency: 300 ns, fidelity: " +
              fidelity + "}\n");
    std::vector<std::string> arguments = {"run", at("machine.yaml"), "--out", at("out"), "--waves", "*"};
    for (const auto& [name, npus] : std::map<std::string, std::string>{{"a", "[0..3]"}, {"b", "[4..7]"}}) {
      job_of(name, 4, random);
      write(at(name + ".yaml"), "weft: 1\nworkload: {trace: " + name + ", npus: " + npus + "}\n");
      arguments.insert(arguments.end(), {"--job", at(name + ".yaml")});
    }
    const Ran ran = weft(arguments);
    ASSERT_EQ(ran.status, 0) << ran.err;
    check(fidelity);
  }
}

}  // namespace
}  // namespace weft::test
