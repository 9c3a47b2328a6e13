// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Host memory and NVMe: closed forms, sharing, what they leave alone, capacity, and what is wrong with their
// input.

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/job_folder.h"

namespace weft::test {
namespace {

using nlohmann::json;
using trace::test::attribute;
using trace::test::collective;
using trace::test::make;
using trace::test::PbNode;

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kChunk = 64 << 10;
enum Place : int { kLocal, kRemote, kHost, kNvme };

const char kFabric[] =
    "weft: 1\n"
    "topology: {notation: Switch(4)_Switch(2), dimensions: [{bandwidth: 100 GB/s, latency: 0 ns}]}\n"
    "hbm: {latency: 0 ns}\n";
/// 64 KiB take 1638400 ps in the memory, and 3276800 ps on a link.
const char kHostOf4[] =
    "{nodes: 2, bandwidth: 40 GB/s, latency: 100 ns, link_bandwidth: 20 GB/s, link_latency: 500 ns, "
    "chunk: 64 KiB}";
/// .. and 13107200 ps in the drives, 6553600 ps on their link.
const char kDrives[] =
    "{bandwidth: 5 GB/s, latency: 80 us, link_bandwidth: 10 GB/s, link_latency: 700 ns, chunk: 64 KiB}";
constexpr uint64_t kMemory = 1638400;
constexpr uint64_t kLink = 3276800;
constexpr uint64_t kNvmeMemory = 13107200;
constexpr uint64_t kNvmeLink = 6553600;

std::string machine(const std::string& host = kHostOf4, const std::string& nvme = "") {
  return std::string(kFabric) + "memory:\n  host: " + host + "\n" +
         (nvme.empty() ? "" : "  nvme: " + nvme + "\n");
}

PbNode access(uint64_t id, Place place, bool store, uint64_t bytes) {
  PbNode node = make(id, store ? "store" : "load",
                     store ? ChakraProtoMsg::MEM_STORE_NODE : ChakraProtoMsg::MEM_LOAD_NODE);
  attribute(node, "tensor_size", static_cast<int64_t>(bytes));
  if (place != kLocal) attribute(node, "tensor_loc", static_cast<int>(place));
  return node;
}

PbNode after(PbNode node, uint64_t id) {
  node.add_data_deps(id);
  return node;
}

/// The node's tensor has a name.
PbNode named(PbNode node, const std::string& tensor, bool store) {
  auto* list = node.add_attr();
  list->set_name(store ? "outputs" : "inputs");
  list->mutable_string_list()->add_values(tensor);
  return node;
}

class Tiers : public JobFolder {
 protected:
  /// When each rank ends, in ps: what it waits for at its end is idle time.
  std::vector<uint64_t> run(const std::vector<Nodes>& ranks, const std::string& on,
                            const std::vector<std::string>& more = {}) {
    traces(ranks);
    const Ran ran = run_traces(on, more);
    EXPECT_EQ(ran.status, 0) << ran.err;
    std::vector<uint64_t> times;
    if (ran.status != 0) return times;
    for (const auto& row : read_csv(at("out/ranks.csv")))
      times.push_back(picoseconds(row.at("time_ns")) - picoseconds(row.at("idle_ns")));
    return times;
  }
  /// `busy` of the 8 ranks have the node.
  std::vector<uint64_t> run_some(uint32_t busy, const PbNode& node, const std::string& on,
                                 const std::vector<std::string>& more = {}) {
    std::vector<Nodes> ranks(8, Nodes{make(9, "nothing", ChakraProtoMsg::METADATA_NODE)});
    for (uint32_t r = 0; r < busy; ++r) ranks[r] = {node};
    return run(ranks, on, more);
  }
  void refused(std::vector<Nodes> ranks, int status, const std::string& on,
               const std::vector<std::string>& parts, const std::vector<std::string>& more = {}) {
    ranks.resize(8, Nodes{make(9, "nothing", ChakraProtoMsg::METADATA_NODE)});
    traces(ranks);
    const Ran ran = run_traces(on, more);
    EXPECT_EQ(ran.status, status) << ran.err;
    EXPECT_TRUE(ran.says(parts)) << ran.err;
  }
};

constexpr uint64_t kWay = 500'000;  // of the PCIe link

TEST_F(Tiers, OneNpuAloneTakesTheFirstChunksWayAndTheNarrowestStage) {
  const uint64_t first = kWay + kMemory + 100'000 + kLink + kWay;
  for (const bool store : {false, true}) {
    EXPECT_EQ(run_some(1, access(1, kHost, store, kMiB), machine())[0], first + 15 * kLink) << store;
    // A single chunk.
    EXPECT_EQ(run_some(1, access(1, kHost, store, kChunk), machine())[0], first) << store;
    // The memory is the narrowest.
    EXPECT_EQ(run_some(1, access(1, kHost, store, kMiB), machine(),
                       {"--set", "memory.host.link_bandwidth=80 GB/s"})[0],
              kWay + kMemory + 100'000 + kLink / 4 + kWay + 15 * kMemory)
        << store;
  }
  // Odd sizes: within a picosecond a chunk of the formula.
  const uint64_t bytes = 1'000'003;
  const double each = bytes / 16.0;
  const double expected = 2.0 * kWay + 100'000 + each / 40e9 * 1e12 + 16 * each / 20e9 * 1e12;
  EXPECT_NEAR(static_cast<double>(run_some(1, access(1, kHost, false, bytes), machine())[0]), expected, 33);
}

TEST_F(Tiers, NpusOfANodeShareItsMemoryAndItsLinks) {
  const uint64_t first = 2 * kWay + kMemory + 100'000 + kLink;
  const auto last = [](const std::vector<uint64_t>& times) {
    return *std::max_element(times.begin(), times.end());
  };
  for (const bool store : {false, true}) {
    // One link for all four: four times as long.
    const std::vector<std::string> one = {"--set", "memory.host.links=1"};
    EXPECT_EQ(last(run_some(4, access(1, kHost, store, kMiB), machine(), one)), first + (4 * 16 - 1) * kLink);
    // Two NPUs with links of their own: the memory has the bandwidth of two links.
    EXPECT_NEAR(static_cast<double>(last(run_some(2, access(1, kHost, store, kMiB), machine()))),
                static_cast<double>(first + 15 * kLink), 2.0 * kMemory);
    // A memory as slow as a link: k NPUs take k times as long.
    for (const uint32_t k : {2u, 3u, 4u})
      EXPECT_EQ(last(run_some(k, access(1, kHost, store, kMiB), machine(),
                              {"--set", "memory.host.bandwidth=20 GB/s"})),
                2 * kWay + 2 * kLink + 100'000 + (k * 16 - 1) * kLink)
          << k;
  }
  // They share it evenly: nobody is done long before the others.
  const auto times =
      run_some(4, access(1, kHost, false, 16 * kMiB), machine(), {"--set", "memory.host.links=1"});
  EXPECT_GT(static_cast<double>(times[0]), 0.95 * static_cast<double>(times[3]));
  // The other node's NPUs have a host of their own, and so has every NPU with `per: npu`.
  EXPECT_EQ(last(run_some(8, access(1, kHost, false, kMiB), machine(), {"--set", "memory.host.links=1"})),
            first + (4 * 16 - 1) * kLink);
  const auto own = run_some(8, access(1, kHost, false, kMiB), machine(),
                            {"--set", "memory.host.per=npu", "--set", "memory.host.nodes=1"});
  for (const uint64_t time : own) EXPECT_EQ(time, first + 15 * kLink);
}

TEST_F(Tiers, DrivesAreBehindTheHost) {
  const uint64_t direct = 2 * (kWay + 700'000) + kNvmeMemory + 80'000'000 + kNvmeLink + kLink;
  const uint64_t staged = direct + 2 * (kMemory + 100'000);
  for (const bool store : {false, true}) {
    EXPECT_EQ(run_some(1, access(1, kNvme, store, kMiB), machine(kHostOf4, kDrives),
                       {"--set", "memory.nvme.path=direct"})[0],
              direct + 15 * kNvmeMemory);
    EXPECT_EQ(run_some(1, access(1, kNvme, store, kMiB), machine(kHostOf4, kDrives))[0],
              staged + 15 * kNvmeMemory);
    // A host's memory that is slower than the drives is passed twice: 2 x 32.768 us a chunk.
    const uint64_t slow = 20 * kMemory;
    EXPECT_NEAR(
        static_cast<double>(run_some(1, access(1, kNvme, store, 16 * kMiB), machine(kHostOf4, kDrives),
                                     {"--set", "memory.host.bandwidth=2 GB/s"})[0]),
        static_cast<double>(255 * 2 * slow), 0.02 * 255 * 2 * slow);
  }
  // Four NPUs share the drives.
  const auto times = run_some(4, access(1, kNvme, false, kMiB), machine(kHostOf4, kDrives));
  EXPECT_EQ(*std::max_element(times.begin(), times.end()), staged + (4 * 16 - 1) * kNvmeMemory);
  // With a host in use, staged chunks wait for its memory and direct ones do not.
  for (const char* const path : {"staged", "direct"}) {
    const std::vector<std::string> more = {"--set", std::string("memory.nvme.path=") + path, "--set",
                                           "memory.host.bandwidth=8 GB/s"};
    const auto alone = run_some(1, access(1, kNvme, false, kMiB), machine(kHostOf4, kDrives), more);
    std::vector<Nodes> ranks(8, Nodes{make(9, "nothing", ChakraProtoMsg::METADATA_NODE)});
    ranks[0] = {access(1, kNvme, false, kMiB)};
    ranks[1] = ranks[2] = {access(1, kHost, false, 4 * kMiB)};
    const auto both = run(ranks, machine(kHostOf4, kDrives), more);
    if (path == std::string("direct")) {
      EXPECT_EQ(both[0], alone[0]);
    } else {
      EXPECT_GT(both[0], alone[0]);
    }
  }
}

TEST_F(Tiers, LoadsAndStoresUseTheTwoDirectionsOfALink) {
  const Nodes both = {access(1, kHost, false, 16 * kMiB), access(2, kHost, true, 16 * kMiB)};
  const uint64_t one = run_some(1, both[0], machine())[0];
  std::vector<Nodes> ranks(8, Nodes{make(9, "nothing", ChakraProtoMsg::METADATA_NODE)});
  ranks[0] = both;
  // The memory has twice the link's bandwidth.
  EXPECT_NEAR(static_cast<double>(run(ranks, machine())[0]), static_cast<double>(one), 2.0 * kMemory);
  EXPECT_GT(run(ranks, machine(), {"--set", "memory.host.bandwidth=20 GB/s"})[0], one * 19 / 10);
}

TEST_F(Tiers, ASmallWindowIsASlowLink) {
  // Little's law: one chunk a round trip.
  const uint64_t round_trip = 2 * kWay + kMemory + 100'000 + kLink;
  EXPECT_EQ(run_some(1, access(1, kHost, false, kMiB), machine(), {"--set", "memory.host.window=1"})[0],
            16 * round_trip);
  // Two are enough for this link, which takes more than half a round trip for a chunk.
  EXPECT_EQ(run_some(1, access(1, kHost, false, kMiB), machine(), {"--set", "memory.host.window=2"})[0],
            round_trip + 15 * kLink);
  refused({{access(1, kHost, false, kMiB)}}, 2, machine(), {"memory.host.window", "1 to"},
          {"--set", "memory.host.window=0"});
}

TEST_F(Tiers, CollectivesGoOnUnaffected) {
  const auto gather = [](uint64_t id) { return collective(id, ChakraProtoMsg::ALL_GATHER, 4 * kMiB); };
  const auto quiet = run(std::vector<Nodes>(8, Nodes{gather(1)}), machine(kHostOf4, kDrives));
  const auto network = [&] { return picoseconds(read_csv(at("out/collectives.csv")).at(0).at("time_ns")); };
  const uint64_t alone = network();
  const auto busy = run(std::vector<Nodes>(8, Nodes{gather(1), access(2, kHost, false, 16 * kMiB),
                                                    access(3, kNvme, true, kMiB)}),
                        machine(kHostOf4, kDrives));
  EXPECT_EQ(network(), alone);
  EXPECT_GT(busy[0], quiet[0]);
}

TEST_F(Tiers, MoreBandwidthIsNeverSlowerAndOthersAreUnchanged) {
  const auto ranks = [] {
    std::vector<Nodes> all;
    for (uint64_t r = 0; r < 8; ++r)
      all.push_back({access(1, r % 2 == 0 ? kHost : kNvme, r % 3 == 0, (r + 1) * 300'001),
                     after(access(2, kHost, true, 700'001), 1), access(3, kNvme, r % 2 == 0, 200'003)});
    return all;
  }();
  const std::string on = machine(kHostOf4, kDrives);
  const auto base = run(ranks, on);
  for (const char* const faster : {"memory.host.bandwidth=80 GB/s", "memory.host.link_bandwidth=40 GB/s",
                                   "memory.nvme.bandwidth=10 GB/s", "memory.nvme.link_bandwidth=20 GB/s"}) {
    const auto times = run(ranks, on, {"--set", faster});
    EXPECT_LE(*std::max_element(times.begin(), times.end()), *std::max_element(base.begin(), base.end()))
        << faster;
  }
  // What the second node's NPUs do is nothing to the first node's.
  auto changed = ranks;
  for (size_t r = 4; r < 8; ++r) changed[r].push_back(access(4, kHost, false, 5 * kMiB));
  const auto times = run(changed, on);
  for (size_t r = 0; r < 4; ++r) EXPECT_EQ(times[r], base[r]);
  // Twice the same.
  EXPECT_EQ(run(ranks, on), base);
}

TEST_F(Tiers, LinksHaveRowsWithTheirBytes) {
  run(std::vector<Nodes>(8, Nodes{access(1, kHost, false, kMiB), access(2, kNvme, true, 3000)}),
      machine(kHostOf4, kDrives), {"--set", "memory.host.links=2"});
  std::map<std::string, uint64_t> bytes;
  for (const auto& row : read_csv(at("out/links.csv"))) bytes[row.at("name")] = std::stoull(row.at("bytes"));
  for (const std::string host : {"job.host0", "job.host1"}) {
    for (const std::string link : {".pcie0", ".pcie1"}) {
      EXPECT_EQ(bytes.at(host + link + ".down"), 2 * kMiB);
      EXPECT_EQ(bytes.at(host + link + ".up"), 2 * 3000u);
    }
    EXPECT_EQ(bytes.at(host + ".nvme.down"), 0u);
    EXPECT_EQ(bytes.at(host + ".nvme.up"), 4 * 3000u);
  }
  for (const auto& row : read_csv(at("out/ranks.csv")))
    EXPECT_GT(picoseconds(row.at("remote_memory_ns")), 0u);
  EXPECT_EQ(json::parse(read(at("out/summary.json")))["memory_bytes"], 8 * (kMiB + 3000));
}

TEST_F(Tiers, RanksFoldWhenEachHasAHostOfItsOwn) {
  const std::vector<std::string> own = {"--set", "memory.host.per=npu",
                                        "--set", "memory.host.nodes=1",
                                        "--set", "topology.dimensions[*].fidelity=analytical"};
  const std::vector<Nodes> ranks(
      8, Nodes{access(1, kHost, false, kMiB), after(collective(2, ChakraProtoMsg::ALL_REDUCE, kMiB), 1),
               after(access(3, kNvme, true, 100'001), 2)});
  std::vector<std::string> whole = own;
  whole.emplace_back("--no-fold");
  const auto expected = run(ranks, machine(kHostOf4, kDrives), whole);
  const std::string links = read(at("out/links.csv"));
  const auto folded = run(ranks, machine(kHostOf4, kDrives), own);
  EXPECT_TRUE(json::parse(read(at("out/summary.json")))["folded"]);
  EXPECT_EQ(json::parse(read(at("out/summary.json")))["memory_bytes"], 8 * (kMiB + 100'001));
  EXPECT_EQ(folded, expected);
  EXPECT_EQ(read(at("out/links.csv")), links);
  EXPECT_NE(links.find("job.host7.pcie0.down"), std::string::npos);
  run(ranks, machine(kHostOf4, kDrives), {"--set", "topology.dimensions[*].fidelity=analytical"});
  const json summary = json::parse(read(at("out/summary.json")));
  EXPECT_FALSE(summary["folded"]);
  EXPECT_EQ(summary["folding"]["not_folded"]["ranks share hosts (memory.host.per)"], 8) << summary;
}

/// Stores and loads of odd sizes, in order: tensors come back from memory and drives.
std::vector<PbNode> stores_and_loads(uint64_t rank) {
  std::vector<PbNode> nodes;
  uint64_t id = 1;
  const auto add = [&](Place place, bool store, uint64_t bytes) {
    nodes.push_back(access(id, place, store, bytes));
    if (id > 1) nodes.back() = after(nodes.back(), id - 1);
    ++id;
  };
  for (const Place place : {kHost, kNvme}) {
    for (const uint64_t bytes : {uint64_t{1}, 300'001 + rank, uint64_t{65'537}}) add(place, true, bytes);
    for (const uint64_t bytes : {uint64_t{65'537}, 300'001 + rank, uint64_t{1}, uint64_t{4'099}})
      add(place, false, bytes);
  }
  return nodes;
}

TEST_F(Tiers, TensorsComeBackRightAndTakeNoTime) {
  std::vector<Nodes> ranks;
  for (uint64_t r = 0; r < 8; ++r) ranks.push_back(stores_and_loads(r));
  for (const char* const path : {"staged", "direct"}) {
    for (const char* const host : {"memory.host.window=auto", "memory.host.window=1",
                                   "memory.host.order=in_order", "memory.host.links=1"}) {
      const std::vector<std::string> more = {"--set", std::string("memory.nvme.path=") + path, "--set", host};
      std::vector<std::string> data = more;
      data.insert(data.end(), {"--set", "run.data=functional"});
      const auto times = run(ranks, machine(kHostOf4, kDrives), more);
      EXPECT_EQ(run(ranks, machine(kHostOf4, kDrives), data), times) << path << host;
      const json summary = json::parse(read(at("out/summary.json")));
      EXPECT_EQ(summary["data"]["tensors_verified"], 8 * 8) << summary["data"];
    }
  }
}

TEST_F(Tiers, LocationsHaveNamesToo) {
  PbNode node = access(1, kLocal, false, kMiB);
  auto* location = node.add_attr();
  location->set_name("tensor_loc");
  location->set_string_val("host");
  EXPECT_EQ(run_some(1, node, machine()), run_some(1, access(1, kHost, false, kMiB), machine()));
  // Remote accesses go to the hosts where there is no other remote memory.
  EXPECT_EQ(run_some(1, access(1, kRemote, false, kMiB), machine()),
            run_some(1, access(1, kHost, false, kMiB), machine()));
  const std::string both = machine() + "remote_memory: {bandwidth: 1 GB/s, latency: 0 ns}\n";
  EXPECT_EQ(run_some(1, access(1, kRemote, false, kMiB), both)[0], 1'048'576'000u);
  // .. and those to hosts and drives to remote memory where there are no hosts.
  const std::string remote = std::string(kFabric) + "remote_memory: {bandwidth: 1 GB/s, latency: 0 ns}\n";
  for (const Place place : {kRemote, kHost, kNvme})
    EXPECT_EQ(run_some(1, access(1, place, false, kMiB), remote)[0], 1'048'576'000u) << place;
}

TEST_F(Tiers, WhatIsNotThereIsAnErrorWithItsPlace) {
  const std::vector<std::string> where = {at("t.0.et"), "rank 0", "node 1"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), where.begin(), where.end());
    return more;
  };
  refused({{access(1, kHost, false, kMiB)}}, 2, kFabric,
          with({"host memory", "add `memory: {host: {bandwidth"}));
  refused({{access(1, kNvme, false, kMiB)}}, 2, machine(), with({"NVMe", "add `memory: {nvme: {bandwidth"}));
  PbNode node = access(1, kLocal, false, kMiB);
  attribute(node, "tensor_loc", 4);
  refused({{node}}, 3, machine(), with({"tensor_loc is 4", "2 (host) and 3 (nvme)"}));
  PbNode word = access(1, kLocal, true, kMiB);
  auto* location = word.add_attr();
  location->set_name("tensor_loc");
  location->set_string_val("tape");
  refused({{word}}, 3, machine(), with({"tensor_loc is \"tape\"", "0 (local)"}));
  PbNode sum = access(1, kHost, true, kMiB);
  attribute(sum, "in_switch", 1);
  refused({{sum}}, 2, machine(), with({"`in_switch`", "host memory"}));
  refused({{access(1, kHost, false, kMiB)}}, 3, machine(),
          with({"tensor_size 1048576 B is more than memory.host.capacity (524288 B)"}),
          {"--set", "memory.host.capacity=512 KiB"});
  refused({{access(1, kNvme, true, kMiB)}}, 3, machine(kHostOf4, kDrives), with({"memory.nvme.capacity"}),
          {"--set", "memory.nvme.capacity=512 KiB"});
  // No bytes take no time.
  EXPECT_EQ(run_some(1, access(1, kHost, false, 0), machine())[0], 0u);
}

TEST_F(Tiers, TensorsThatDoNotFitAreNamed) {
  std::vector<Nodes> ranks(8, Nodes{make(9, "nothing", ChakraProtoMsg::METADATA_NODE)});
  // Loaded twice, it is there once.
  ranks[0] = {named(access(1, kHost, false, kMiB), "w", false),
              named(access(2, kHost, false, kMiB), "w", false)};
  ranks[1] = {named(access(1, kHost, true, 3 * kMiB), "grad", true)};
  const std::vector<std::string> small = {"--set", "memory.host.capacity=3 MiB"};
  const std::vector<std::string> words = {"2 tensors of 4194304 B", "host 0", "1048576 B more",
                                          "`memory.host.capacity` (3 MiB)", "`grad` of rank 1"};
  traces(ranks);
  const Ran warned = run_traces(machine(), small);
  EXPECT_EQ(warned.status, 0) << warned.err;
  EXPECT_TRUE(warned.says(words)) << warned.err;
  std::vector<std::string> strict = small;
  strict.insert(strict.end(), {"--set", "memory.host.over_capacity=error"});
  refused(ranks, 2, machine(), words, strict);
  strict.back() = "memory.host.over_capacity=ignore";
  const Ran silent = run_traces(machine(), strict);
  EXPECT_EQ(silent.err.find("tensors of"), std::string::npos) << silent.err;
  const Ran fits = run_traces(machine(), {"--set", "memory.host.capacity=4 MiB"});
  EXPECT_EQ(fits.err.find("tensors of"), std::string::npos) << fits.err;
  // `weft validate` says the same.
  const Ran validated = weft({"validate", config(machine()), "--trace", at("t"), small[0], small[1]});
  EXPECT_TRUE(validated.says({"`grad` of rank 1"})) << validated.err << validated.out;
}

TEST_F(Tiers, KeysThatContradictEachOther) {
  const auto wrong = [&](const std::string& text, const std::vector<std::string>& parts) {
    const Ran ran = weft({"describe", config(text)});
    EXPECT_EQ(ran.status, 2) << text;
    EXPECT_TRUE(ran.says(parts)) << ran.err;
  };
  wrong(machine("{nodes: 3, bandwidth: 1 GB/s, link_bandwidth: 1 GB/s}"),
        {"machine.yaml:5", "memory.host.nodes", "do not divide the machine's 8 NPUs"});
  wrong(machine("{per: npu, nodes: 2, bandwidth: 1 GB/s, link_bandwidth: 1 GB/s}"),
        {"memory.host.nodes", "`per: npu`"});
  wrong(machine("{nodes: 2, bandwidth: 1 GB/s, link_bandwidth: 1 GB/s, links: 5}"),
        {"memory.host.links", "a host has 4 NPUs"});
  wrong(machine("{bandwidth: 1 GB/s}"), {"memory.host.link_bandwidth", "missing"});
  wrong(machine("{bandwidth: 1 GB/s, link_bandwidth: 1 GB/s, capacity: 1 MiB, chunk: 2 MiB}"),
        {"memory.host.chunk", "more than `memory.host.capacity`"});
  wrong(machine("{bandwidth: unlimited, link_bandwidth: 1 GB/s, implementation: cxl}"),
        {"memory.host.bandwidth", "'unlimited'"});
  wrong(std::string(kFabric) + "memory: {nvme: {bandwidth: 1 GB/s}}\n", {"no `memory.host`"});
  wrong(machine("{bandwidth: 1 GB/s, link_bandwidth: 1 GB/s, capacity: 1 MiB}",
                "{bandwidth: 1 GB/s, chunk: 4 MiB}"),
        {"memory.nvme.chunk", "staged"});
}

TEST_F(Tiers, TheyAreShownMeasuredAndReplaced) {
  const std::string on = machine(kHostOf4, kDrives);
  const Ran text = weft({"describe", config(on)});
  EXPECT_TRUE(text.out.find("host memory: 2 hosts of 4 NPUs, 40 GB/s") != std::string::npos) << text.out;
  EXPECT_TRUE(text.out.find("NVMe: 5 GB/s a host") != std::string::npos) << text.out;
  const Ran dot = weft({"describe", config(on), "--dot"});
  EXPECT_TRUE(dot.out.find("\"host1\" -- \"nvme1\"") != std::string::npos) << dot.out;
  for (const char* const memory : {"host", "nvme"}) {
    for (const char* const op : {"load", "store"}) {
      const Ran one = weft(
          {"pool", config(on), "--tensor", "1 MiB", "--memory", memory, "--op", op, "--npus", "1", "--json"});
      ASSERT_EQ(one.status, 0) << one.err;
      const json j = json::parse(one.out);
      EXPECT_NEAR(j["time_ns"].get<double>(), j["closed_form_ns"].get<double>(), 0.1) << memory << op;
      EXPECT_EQ(j["bytes"]["host/npu"], kMiB);
    }
  }
  const Ran all = weft({"pool", config(on), "--tensor", "4 MiB", "--json"});
  const json j = json::parse(all.out);
  EXPECT_NEAR(j["time_ns"].get<double>() / j["closed_form_ns"].get<double>(), 1, 0.02);
  EXPECT_EQ(j["bottleneck"], "host_memory");
  // Another model of the memory, for all hosts or for one.
  const auto base = run_some(8, access(1, kHost, false, kMiB), on);
  const std::vector<std::string> slow = {"--set", "memory.host.bandwidth=64 GB/s",
                                         "--set", "memory.host.latency=0 ns",
                                         "--set", "memory.host.implementation=cxl"};
  EXPECT_NE(run_some(8, access(1, kHost, false, kMiB), on, slow), base);
  const auto one = run_some(8, access(1, kHost, false, kMiB),
                            on + "implementations: [{modules: host1.memory, implementation: bandwidth}]\n");
  EXPECT_EQ(one, base);
  // With bytes in memories, and the same times.
  EXPECT_EQ(run_some(8, access(1, kHost, false, kMiB), on, {"--set", "run.data=functional"}), base);
}

}  // namespace
}  // namespace weft::test
