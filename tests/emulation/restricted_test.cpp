// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// `environment.detail: restricted` against `full`: equal to the picosecond where all ranks make the same
// calls at the same times, within 1 % otherwise.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <random>
#include <sstream>

#include "tests/emulation/scripted_ranks.h"
#include "tests/support/isolated.h"

namespace weft::test {
namespace {

std::vector<double> numbers(const std::string& text) {
  std::istringstream in(text);
  std::vector<double> list;
  for (double value = 0; in >> value;) list.push_back(value);
  return list;
}

class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed) {}
  uint64_t upto(uint64_t n) { return random_() % (n + 1); }
  template <typename T>
  const T& one_of(const std::vector<T>& list) {
    return list[upto(list.size() - 1)];
  }

 private:
  std::mt19937_64 random_;
};

std::string machine(const std::string& notation, const std::string& fidelity, const std::string& extra,
                    uint32_t chunks) {
  return fmt::format(
      "weft: 1\ntopology:\n  notation: {}\n  dimensions:\n    - {{bandwidth: 50 GB/s, latency: 500 ns, "
      "fidelity: {}}}\n"
      "nmu: {{endpoint_delay: 10 ns}}\ncollectives: {{chunks: {}{}}}\n",
      notation, fidelity, chunks, extra);
}

/// Emulated ranks that follow any of the real ones, not the nearest below them.
std::string draw_classes(Draw& draw, const std::vector<uint32_t>& real, uint32_t world) {
  std::map<uint32_t, std::vector<uint32_t>> followers;
  for (uint32_t rank = 0; rank < world; ++rank)
    if (!std::binary_search(real.begin(), real.end(), rank)) followers[draw.one_of(real)].push_back(rank);
  std::string text = "environment:\n  classes:\n";
  for (const auto& [leader, ranks] : followers)
    text += fmt::format("    - {{real: {}, ranks: [{}]}}\n", leader, fmt::join(ranks, ", "));
  return followers.empty() ? "" : text;
}

/// A drawn job: several collectives, with or without stragglers.
ScriptedJob draw_job(Draw& draw, bool stragglers, std::string& name) {
  static const std::vector<std::string> kNotations{"Ring(2)",
                                                   "Ring(5)",
                                                   "Ring(16)",
                                                   "Switch(4)",
                                                   "Switch(16)",
                                                   "Switch(64)",
                                                   "Switch(6)",
                                                   "FullyConnected(8)",
                                                   "Ring(4)_Switch(4)",
                                                   "Ring(4)_Ring(4)",
                                                   "FullyConnected(4)_Switch(8)",
                                                   "Ring(2)_FullyConnected(4)_Switch(4)",
                                                   "Switch(8)_Switch(8)",
                                                   "Switch(256)",
                                                   "Ring(8)_Switch(32)"};
  static const std::vector<std::string> kAlgorithms{"", "ring", "direct", "halving_doubling"};
  static const std::vector<std::string> kFidelities{"analytical", "message"};
  ScriptedJob job;
  const std::string notation = draw.one_of(kNotations);
  const std::string algorithm = draw.one_of(kAlgorithms);
  const std::string fidelity = draw.one_of(kFidelities);
  const uint32_t operation = static_cast<uint32_t>(draw.upto(stragglers ? 4 : 3));
  std::string extra;
  if (!algorithm.empty() && operation < 3)
    extra = fmt::format(", {}: {}", to_string(static_cast<CollectiveOp>(operation)), algorithm);
  const auto chunks = static_cast<uint32_t>(1 + draw.upto(3));
  job.yaml = machine(notation, fidelity, extra, chunks);
  uint32_t world = 1;
  for (size_t at = 0; (at = notation.find('(', at)) != std::string::npos; ++at)
    world *= static_cast<uint32_t>(std::stoul(notation.substr(at + 1)));
  const auto n = std::min<uint64_t>(world, 1 + draw.upto(3));
  while (job.real.size() < n) {
    const auto rank = static_cast<uint32_t>(draw.upto(world - 1));
    if (std::find(job.real.begin(), job.real.end(), rank) == job.real.end()) job.real.push_back(rank);
  }
  std::sort(job.real.begin(), job.real.end());
  const bool classes = stragglers && n > 1 && draw.upto(1) == 0;
  if (classes) job.yaml += draw_classes(draw, job.real, world);
  const uint64_t count = (uint64_t{1} << (8 + draw.upto(12))) * world;
  const uint64_t repeats = 1 + draw.upto(1);
  for (const uint32_t rank : job.real) {
    for (uint64_t i = 0; i < repeats; ++i) {
      Step step;
      step.operation = operation;
      step.count = count;
      step.root = static_cast<int32_t>(world - 1);
      if (stragglers) step.compute = draw.upto(3) == 0 ? 0 : draw.upto(400) * 1000000;
      job.steps[rank].push_back(step);
    }
  }
  name = fmt::format("{} {} {} {} of {} x {}, {} real{}, {} chunks", notation, fidelity,
                     to_string(static_cast<CollectiveOp>(operation)), algorithm, count, repeats, n,
                     classes ? " with classes" : "", chunks);
  return job;
}

/// Largest relative difference of the ends of waits.
double difference(const std::string& a, const std::string& b, const std::string& name) {
  const std::vector<double> x = numbers(a), y = numbers(b);
  EXPECT_EQ(x.size(), y.size()) << name;
  EXPECT_FALSE(x.empty()) << name << a << b;
  double worst = 0;
  for (size_t i = 0; i < std::min(x.size(), y.size()); ++i)
    worst = std::max(worst, std::abs(x[i] - y[i]) / std::max(1.0, y[i]));
  return worst;
}

void compare(uint64_t seed, int cases, bool stragglers, double most) {
  // WEFT_EMULATION_CASES=5: five times as many.
  const char* const more = std::getenv("WEFT_EMULATION_CASES");
  if (more != nullptr) {
    cases *= std::stoi(more);
    most = std::max(most, 1e-6);  // some are too large to be measured together
  }
  Draw draw(seed);
  double worst = 0;
  int within = 0;
  for (int i = 0; i < cases; ++i) {
    std::string name;
    const ScriptedJob job = draw_job(draw, stragglers, name);
    const auto full = isolated([&] { return text_of(run_job(job, true)); });
    const auto restricted = isolated([&] { return text_of(run_job(job, false)); });
    ASSERT_EQ(full.status, 0) << name << "\n" << full.text;
    ASSERT_EQ(restricted.status, 0) << name << "\n" << restricted.text;
    const double by = difference(restricted.text, full.text, name);
    // Ranks that end at different times are no longer alike in the next collective.
    const std::vector<double> ends = numbers(full.text);
    const bool alike = std::all_of(ends.begin(), ends.end(), [&](double end) {
      return std::count(ends.begin(), ends.end(), end) % static_cast<long>(job.real.size()) == 0;
    });
    EXPECT_LE(by, stragglers || alike ? most : 0.01)
        << name << "\nfull       " << full.text << "\nrestricted " << restricted.text;
    within += by <= most ? 1 : 0;
    worst = std::max(worst, by);
  }
  std::printf("%d of %d cases within %g, worst %.4f %%\n", within, cases, most, worst * 100);
}

TEST(Restricted, EqualToThePicosecondWhereRanksDoAlike) {
  compare(1, 80, false, 0);
}

TEST(Restricted, WithinOnePercentWithStragglers) {
  compare(2, 120, true, 0.01);
}

/// Steps of a drawn job again and again, each time of another size or operation.
void lengthen(Draw& draw, ScriptedJob& job) {
  const size_t steps = 3 + draw.upto(9);
  std::vector<Step> drawn;
  for (size_t i = 0; i < steps; ++i) {
    Step step = job.steps.begin()->second.front();
    if (draw.upto(2) == 0) step.count /= 2;
    if (draw.upto(2) == 0) step.operation = static_cast<uint32_t>(draw.upto(4));
    drawn.push_back(step);
  }
  for (auto& [rank, list] : job.steps) {
    list.clear();
    for (Step step : drawn) {
      step.compute = draw.upto(3) == 0 ? 0 : draw.upto(100) * 1000000;
      list.push_back(step);
    }
  }
}

TEST(Restricted, LongSeriesOfCollectivesMeetWhatIsLeftOfThoseBefore) {
  const char* const more = std::getenv("WEFT_EMULATION_CASES");
  const int cases = more == nullptr ? 20 : 20 * std::stoi(more);
  Draw draw(3);
  double worst = 0;
  for (int i = 0; i < cases; ++i) {
    std::string name;
    ScriptedJob job = draw_job(draw, true, name);
    lengthen(draw, job);
    const auto full = isolated([&] { return text_of(run_job(job, true)); });
    const auto restricted = isolated([&] { return text_of(run_job(job, false)); });
    ASSERT_EQ(full.status, 0) << name << "\n" << full.text;
    ASSERT_EQ(restricted.status, 0) << name << "\n" << restricted.text;
    const double by = difference(restricted.text, full.text, name);
    EXPECT_LE(by, 0.01) << name << "\nfull       " << full.text << "\nrestricted " << restricted.text;
    worst = std::max(worst, by);
  }
  std::printf("%d series, worst %.4f %%\n", cases, worst * 100);
}

TEST(Restricted, ConcurrentCollectivesOfOneRankAreAsOfAllRanks) {
  for (const char* notation : {"Switch(16)", "Ring(4)_Switch(4)", "Ring(8)"}) {
    for (const char* fidelity : {"analytical", "message"}) {
      ScriptedJob job;
      job.yaml = machine(notation, fidelity, "", 4);
      job.real = {0};
      for (int i = 0; i < 6; ++i) {
        Step step;
        step.count = 1 << (16 + i % 3);
        step.compute = 3000000;
        step.wait = false;
        job.steps[0].push_back(step);
      }
      const auto full = isolated([&] { return text_of(run_job(job, true)); });
      const auto restricted = isolated([&] { return text_of(run_job(job, false)); });
      const auto folded =
          isolated([&] { return text_of(run_job(job, false, std::string(fidelity) == "analytical")); });
      ASSERT_EQ(full.status + restricted.status + folded.status, 0)
          << full.text << restricted.text << folded.text;
      EXPECT_LE(difference(restricted.text, full.text, notation), 0.01)
          << notation << fidelity << full.text << restricted.text;
      EXPECT_EQ(folded.text, restricted.text);
    }
  }
}

TEST(Restricted, MessagesAreAsInTheFullFabric) {
  for (const char* fidelity : {"analytical", "message", "packet"}) {
    ScriptedJob job;
    job.yaml = machine("Ring(4)_Switch(4)", fidelity, "", 1);
    job.real = {0, 5, 10};
    for (int i = 0; i < 4; ++i) {
      const uint64_t bytes = uint64_t{1} << (8 + 3 * i);
      job.steps[0].push_back({Step::Kind::send, 1000, 0, bytes, 0, 5, 0, true});
      job.steps[5].push_back({Step::Kind::receive, 0, 0, bytes, 0, 0, 0, true});
      job.steps[5].push_back({Step::Kind::send, 0, 0, bytes, 0, 10, 0, true});
      job.steps[10].push_back({Step::Kind::receive, 0, 0, bytes, 0, 5, 0, true});
    }
    const auto full = isolated([&] { return text_of(run_job(job, true)); });
    const auto restricted = isolated([&] { return text_of(run_job(job, false)); });
    ASSERT_EQ(full.status + restricted.status, 0) << full.text << restricted.text;
    EXPECT_LE(difference(restricted.text, full.text, fidelity), 0.01) << fidelity << "\n"
                                                                      << full.text << "\n"
                                                                      << restricted.text;
  }
}

}  // namespace
}  // namespace weft::test
