// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// `weft traffic` where links are up to a thousand times as fast as others: no deadlock is reported that is
// none, and every run comes to its end. WEFT_TRAFFIC_NETWORKS=200 draws more networks than CI does, and says
// how much processor time each of them took. WEFT_TRAFFIC_FIRST=100 begins with number 100.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/cli/weft_process.h"
#include "tests/vcd/vcd_parser.h"

namespace weft::test {
namespace {

using nlohmann::json;

/// Processor seconds of all children so far.
double children_s() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) + 1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
}

class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed) {}
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  double unit() { return static_cast<double>(random_() >> 11) * 0x1.0p-53; }
  template <typename T>
  T of(std::initializer_list<T> values) {
    return *(values.begin() + below(static_cast<uint32_t>(values.size())));
  }

 private:
  std::mt19937_64 random_;
};

/// A machine of up to 16 NPUs, its slowest link up to 1,000 times slower than its fastest.
std::string machine(Draw& draw) {
  std::string notation, dimensions;
  bool direct = true;
  uint32_t npus = 1;
  const double slowest = 0.5 + 4.5 * draw.unit();
  const auto latency = [&] { return std::to_string(draw.of<int>({1, 10, 100, 500, 1000})) + " ns"; };
  for (uint32_t d = draw.of<uint32_t>({1, 2, 2, 2, 3}); d > 0; --d) {
    const std::string kind = draw.of<const char*>({"Ring", "Mesh", "Switch", "FullyConnected"});
    const uint32_t size = draw.of<uint32_t>({2, 2, 3, 4});
    if (npus * size > 16) break;
    npus *= size;
    direct = direct && kind != "Switch";
    notation += (notation.empty() ? "" : "_") + kind + "(" + std::to_string(size) + ")";
    const double ratio = draw.of<double>({1, 1000, std::pow(1000, draw.unit())});
    dimensions += "    - {bandwidth: " + std::to_string(slowest * ratio) + " GB/s, latency: " + latency();
    if (draw.below(6) == 0) dimensions += ", credit_latency: " + latency();
    if (draw.below(10) == 0) dimensions += ", flit_error_rate: " + std::string(draw.of({"1e-4", "0.01"}));
    dimensions += "}\n";
  }
  const uint32_t flit = draw.of<uint32_t>({16, 32, 64, 256});
  const uint32_t packet = std::max(flit, draw.of<uint32_t>({64, 256, 1024, 4096, 16384}));
  std::string text = "weft: 1\ntopology:\n  notation: " + notation + "\n  dimensions:\n" + dimensions +
                     "packet: {packet_size: " + std::to_string(packet) +
                     " B, flit_size: " + std::to_string(flit) + " B";
  const uint32_t routing = draw.below(10);
  const bool adaptive = direct && routing < 5;
  text += ", vcs: " + std::to_string(adaptive ? 4 : draw.of<int>({2, 4}));
  if (adaptive) text += ", routing: minimal_adaptive";
  if (!adaptive && routing > 7) text += ", routing: up_down";
  // A pause holds the escape VCs, too: only then can these routings deadlock in earnest.
  if (!adaptive && notation.find("Ring") == std::string::npos && draw.below(3) == 0)
    text += ", flow_control: pfc";
  if (draw.below(5) == 0) text += ", switching: flit_interleaved";
  if (draw.below(3) == 0) text += ", buffer_flits: " + std::to_string(draw.of<int>({4, 16, 64, 256}));
  return text + "}\n";
}

TEST(TrafficOfUnequalRates, ComesToItsEnd) {
  const char* wanted = std::getenv("WEFT_TRAFFIC_NETWORKS");
  const char* from = std::getenv("WEFT_TRAFFIC_FIRST");
  const int networks = wanted != nullptr ? std::atoi(wanted) : 10;
  const int first = from != nullptr ? std::atoi(from) : 0;
  ASSERT_GT(networks, 0);
  const vcd::test::TemporaryFolder folder;
  std::pair<double, int> longest;
  for (int i = first; i < first + networks; ++i) {
    Draw draw(1000 + i);
    const std::string text = machine(draw);
    write(folder.file("machine.yaml"), text);
    const double before = children_s();
    const Ran ran = weft({"traffic", folder.file("machine.yaml"), "--seeds", "1", "--jobs", "1", "--json",
                          "--load", draw.of<const char*>({"0.01", "0.1", "0.5", "0.9"}), "--pattern",
                          draw.of<const char*>({"uniform", "uniform", "neighbor", "hotspot", "all_to_one"})});
    const double took = children_s() - before;
    longest = std::max(longest, {took, i});
    if (wanted != nullptr) {
      std::printf("network %d: %.1f s of processor time for its two points\n", i, took);
      std::fflush(stdout);
    }
    ASSERT_EQ(ran.status, 0) << i << '\n' << text << ran.err;
    const json result = json::parse(ran.out);
    ASSERT_EQ(result["points"].size(), 1u) << i;
    EXPECT_GT(result["packet_hops"], 0) << i << '\n' << text;
  }
  if (wanted != nullptr)
    std::printf("%d networks; the longest is %d with %.1f s\n", networks, longest.second, longest.first);
}

/// `weft traffic` on two dimensions whose links have these bandwidths.
Ran traffic(const std::string& notation, const char* first, const char* second, const std::string& packet,
            const std::vector<std::string>& more) {
  const vcd::test::TemporaryFolder folder;
  std::string machine = "weft: 1\ntopology:\n  notation: " + notation + "\n  dimensions:\n";
  for (const char* bandwidth : {first, second})
    machine += std::string("    - {bandwidth: ") + bandwidth + ", latency: 10 ns, fidelity: packet}\n";
  write(folder.file("machine.yaml"), machine + "packet: {" + packet + "}\n");
  std::vector<std::string> arguments = {"traffic", folder.file("machine.yaml"), "--seeds", "1"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return weft(arguments);
}

// Packets of 16 KiB take 2.6 us on the slow links, of 18 ps cycles: nothing arrives for 150,000 cycles.
TEST(TrafficOfUnequalRates, WaitsForPacketsOfSlowLinks) {
  const Ran ran = traffic("Switch(4)_Switch(2)", "900 GB/s", "6.25 GB/s",
                          "packet_size: 16 KiB, flit_size: 16 B", {"--load", "0.1,0.5"});
  EXPECT_EQ(ran.status, 0) << ran.err;
}

// A deadlock in earnest is still found, however slow the links are.
TEST(TrafficOfUnequalRates, ADeadlockIsFound) {
  const Ran ran = traffic("Ring(8)_Mesh(2)", "10 GB/s", "1000 GB/s",
                          "packet_size: 256 B, flit_size: 16 B, vcs: 1, vc_classes: none, buffer_flits: 4",
                          {"--load", "0.9", "--measure", "400000"});
  EXPECT_EQ(ran.status, 4) << ran.err;
  EXPECT_TRUE(ran.says({"Deadlock: a cycle of"})) << ran.err;
}

}  // namespace
}  // namespace weft::test
