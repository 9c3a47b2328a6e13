// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Critical paths through memories: of idle accesses the hand formula, term by term and by stage; of drawn
// jobs with memory nodes they add up, what they name makes the run faster, and what they do not name does
// not.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "configs/dram_spec.h"
#include "configs/loader.h"
#include "insight/what_if.h"
#include "tests/support/isolated.h"
#include "tests/support/solo_job.h"
#include "tests/trace/trace_files.h"
#include "workload/pool/pool_layout.h"

namespace weft {
namespace {

using insight::Term;
using trace::test::attribute;
using trace::test::PbNode;

using Nodes = std::vector<PbNode>;
enum Place : int { kLocal, kRemote, kHost, kNvme };

PbNode access(uint64_t id, int place, bool store, uint64_t bytes, bool in_switch = false) {
  PbNode node = trace::test::make(id, store ? "store" : "load",
                                  store ? ChakraProtoMsg::MEM_STORE_NODE : ChakraProtoMsg::MEM_LOAD_NODE);
  attribute(node, "tensor_size", static_cast<int64_t>(bytes));
  if (place != kLocal) attribute(node, "tensor_loc", place);
  if (in_switch) attribute(node, "in_switch", 1);
  return node;
}

/// What a run says of its path.
struct Path {
  Picoseconds time = 0;
  std::string wrong;                            ///< empty: it adds up
  std::map<std::string, Picoseconds> by_stage;  ///< "serialisation of HBM"
  std::map<std::string, Picoseconds> by_place;  ///< "serialisation of job.hbm0"
  size_t pieces = 0;
  Picoseconds of(const std::string& stage) const {
    const auto at = by_stage.find(stage);
    return at == by_stage.end() ? 0 : at->second;
  }
};

std::string trace_run(const Config& config, const std::string& stem) {
  const trace::JobTrace traces = trace::open_job(stem, config.npus(), "", false);
  auto checked = std::make_unique<graph::CheckedJob>(config, traces, graph::fold_job(config, traces, "off"));
  insight::CausalLog log{1ull << 28};
  Machine::Options options = TraceJob::machine_options(*checked);
  options.causes = &log;
  Machine machine("job", config, options);
  TraceJob job(machine, std::move(checked));
  job.start();
  if (!test::run_to_the_end(job)) return "0 0\nwrong " + job.stall_report();
  const insight::PathEnd end = insight::end_of_path(log);
  const auto pieces = insight::critical_path(log, end.last, 0, end.at);
  std::string text = fmt::format("{} {}\n", end.at, pieces.size());
  Picoseconds at = 0;
  for (const insight::Piece& piece : pieces) {
    if (piece.from != at || piece.to <= piece.from) return text + fmt::format("wrong a gap at {}\n", at);
    if (piece.term == Term::unrecorded) return text + "wrong unrecorded\n";
    at = piece.to;
    text += fmt::format("{} {}", piece.time(), to_string(piece.term));
    if (insight::of_link(piece.term)) {
      const insight::LinkName& link = log.link(piece.place);
      text += fmt::format(" of {}@{}", link.link_class, link.name);
    }
    text += "\n";
  }
  if (at != end.at) text += fmt::format("wrong ends at {}\n", at);
  return text;
}

/// Runs nodes by rank; ranks without any have none to do.
Path run(const Config& config, const std::vector<Nodes>& ranks) {
  const trace::test::TempFolder folder;
  for (uint32_t r = 0; r < config.npus(); ++r)
    trace::test::write_trace(folder / fmt::format("t.{}.et", r), r < ranks.size() ? ranks[r] : Nodes{});
  const auto result = test::isolated([&] { return trace_run(config, folder / "t"); });
  Path path;
  if (result.status != 0) path.wrong = fmt::format("status {}: {}", result.status, result.text);
  std::istringstream text(result.text);
  text >> path.time >> path.pieces;
  for (std::string first, rest; path.wrong.empty() && text >> first && std::getline(text, rest);) {
    if (first == "wrong") {
      path.wrong = rest;
    } else {
      const size_t at = rest.find('@');
      path.by_stage[rest.substr(1, at - 1)] += std::stoull(first);
      if (at != std::string::npos)
        path.by_place[rest.substr(1, rest.find(" of ") + 3) + rest.substr(at + 1)] += std::stoull(first);
    }
  }
  return path;
}

Config machine(const std::string& more, const std::string& notation = "Switch(4)") {
  return parse_config("weft: 1\ntopology: {notation: " + notation +
                          ", dimensions: [{bandwidth: 100 GB/s, latency: 0 ns}]}\n" + more,
                      "machine.yaml");
}

/// The stages of the path are these and no others. Rounding up at every stage of a chunk: `slack`.
void expect_stages(const Path& path, const std::map<std::string, double>& hand, double slack,
                   const std::string& what) {
  EXPECT_EQ(path.wrong, "") << what;
  for (const auto& [stage, time] : path.by_stage) {
    const auto at = hand.find(stage);
    const double wanted = at == hand.end() ? 0 : at->second;
    EXPECT_NEAR(static_cast<double>(time), wanted, slack) << what << ": " << stage;
  }
  for (const auto& [stage, time] : hand)
    EXPECT_NEAR(static_cast<double>(path.of(stage)), time, slack) << what << ": " << stage;
}

constexpr uint64_t kKiB = 1 << 10;
constexpr uint64_t kMiB = 1 << 20;
/// Picoseconds of so many bytes at so many GB/s.
double at_rate(double bytes, double gigabytes) {
  return bytes * 1000 / gigabytes;
}

TEST(MemoryPaths, FlatHbmIsTheHandFormula) {
  const Config config = machine("hbm: {bandwidth: 64 GB/s, latency: 77 ns}\n");
  for (const uint64_t bytes : {uint64_t{1}, 64 * kKiB, 3 * kMiB, 40 * kMiB}) {
    const Path path = run(config, {{access(1, kLocal, bytes % 2 == 0, bytes)}});
    expect_stages(path, {{"serialisation of HBM", at_rate(double(bytes), 64)}, {"latency of HBM", 77'000}},
                  2 + double(bytes / (4 * kMiB)), fmt::format("{} B", bytes));
  }
  // The second one waits for the first; the third for both.
  const Path path = run(config, {{access(1, kLocal, false, 64 * kKiB), access(2, kLocal, true, 32 * kKiB),
                                  access(3, kLocal, false, 16 * kKiB)}});
  expect_stages(path,
                {{"serialisation of HBM", at_rate(16 * kKiB, 64)},
                 {"queueing of HBM", at_rate(96 * kKiB, 64)},
                 {"latency of HBM", 77'000}},
                4, "three accesses");
}

TEST(MemoryPaths, BankedHbmIsTheHandFormula) {
  const Config config = machine("hbm: {model: banked, preset: HBM2, stacks: 1}\n");
  const DramSpec spec = dram_spec(config.hbm);
  // A burst in an idle memory: its row is opened, its column read, its data comes.
  const Path burst = run(config, {{access(1, kLocal, false, spec.burst_bytes)}});
  expect_stages(burst,
                {{"serialisation of HBM", double(spec.burst)},
                 {"latency of HBM", double(spec.controller + spec.rcd_read + spec.rl)}},
                0, "a burst");
  // A long one uses all pins; what refreshes take is waiting.
  const Path stream = run(config, {{access(1, kLocal, false, 8 * kMiB)}});
  EXPECT_EQ(stream.wrong, "");
  EXPECT_NEAR(double(stream.of("serialisation of HBM")), at_rate(8 * kMiB, spec.stack_peak() * 1e-9),
              double(spec.burst));
  EXPECT_EQ(stream.of("latency of HBM"), spec.controller + spec.rcd_read + spec.rl);
  EXPECT_EQ(stream.of("serialisation of HBM") + stream.of("latency of HBM") + stream.of("queueing of HBM"),
            stream.time);
}

TEST(MemoryPaths, ReductionsInHbmAreTheHandFormula) {
  const Config config = machine(
      "hbm: {bandwidth: 64 GB/s, latency: 77 ns}\ncollectives: {reduction: hbm, chunks: 1}\n", "Ring(4)");
  PbNode node = trace::test::collective(1, ChakraProtoMsg::REDUCE_SCATTER, 4 * 64 * kKiB);
  const Path path = run(config, std::vector<Nodes>(4, {node}));
  EXPECT_EQ(path.wrong, "");
  // Three steps of one block: two are read and one is written.
  const double block = at_rate(64 * kKiB, 64);
  double reads = 0, writes = 0;
  for (const auto& [place, time] : path.by_place) {
    if (place.rfind("serialisation of job.hbm", 0) != 0) continue;
    if (place.find(".reduction_reads") != std::string::npos) reads += double(time);
    if (place.find(".reduction_writes") != std::string::npos) writes += double(time);
  }
  EXPECT_NEAR(reads, 3 * 2 * block, 12);
  EXPECT_NEAR(writes, 3 * block, 12);
  EXPECT_EQ(path.of("latency of HBM"), 3 * 77'000u);
  EXPECT_EQ(path.of("queueing of HBM"), 0u);
  EXPECT_EQ(path.of("reduction"), 0u);
}

TEST(MemoryPaths, RemoteMemoryIsTheHandFormula) {
  const Config config = machine("remote_memory: {bandwidth: 10 GB/s, latency: 900 ns}\n");
  const Path path = run(config, {{access(1, kRemote, false, 1000)}});
  expect_stages(
      path, {{"serialisation of remote memory", at_rate(1000, 10)}, {"latency of remote memory", 900'000}}, 2,
      "remote");
}

const char kTiers[] =
    "memory:\n"
    "  host: {nodes: 2, bandwidth: 40 GB/s, latency: 100 ns, link_bandwidth: 20 GB/s, link_latency: 500 ns, "
    "chunk: 64 KiB}\n"
    "  nvme: {bandwidth: 5 GB/s, latency: 80 us, link_bandwidth: 10 GB/s, link_latency: 700 ns, "
    "chunk: 64 KiB}\n";

TEST(MemoryPaths, HostTiersAreTheHandFormula) {
  const Config config = machine(kTiers, "Switch(4)");
  const std::string pcie = " of PCIe links of hosts", drives = " of PCIe links of drives";
  for (const bool store : {false, true}) {
    for (const uint64_t n : {1, 2, 7}) {
      // One chunk in every stage, and the others behind it in the slowest one.
      const double c = 64 * kKiB;
      const Path host = run(config, {{access(1, kHost, store, n * 64 * kKiB)}});
      expect_stages(host,
                    {{"serialisation of host memory", at_rate(c, 40)},
                     {"serialisation" + pcie, double(n) * at_rate(c, 20)},
                     {"latency of host memory", 100'000},
                     {"latency" + pcie, 2 * 500'000.0}},
                    double(n) * 4, fmt::format("host, {} chunks", n));
      const Path nvme = run(config, {{access(1, kNvme, store, n * 64 * kKiB)}});
      expect_stages(nvme,
                    {{"serialisation of host memory", 2 * at_rate(c, 40)},
                     {"serialisation" + pcie, at_rate(c, 20)},
                     {"serialisation" + drives, at_rate(c, 10)},
                     {"serialisation of NVMe", double(n) * at_rate(c, 5)},
                     {"latency of host memory", 2 * 100'000.0},
                     {"latency of NVMe", 80'000'000},
                     {"latency" + pcie, 2 * 500'000.0},
                     {"latency" + drives, 2 * 700'000.0}},
                    double(n) * 6, fmt::format("NVMe, {} chunks", n));
    }
  }
}

TEST(MemoryPaths, WhoSharesAHostWaits) {
  const Config config = machine(
      "memory: {host: {nodes: 1, bandwidth: 10 GB/s, latency: 0 ns, link_bandwidth: 1000 GB/s, "
      "link_latency: 0 ns, chunk: 64 KiB}}\n");
  const Path path = run(config, std::vector<Nodes>(4, {access(1, kHost, false, 64 * kKiB)}));
  expect_stages(path,
                {{"serialisation of host memory", at_rate(64 * kKiB, 10)},
                 {"queueing of host memory", 3 * at_rate(64 * kKiB, 10)},
                 {"serialisation of PCIe links of hosts", at_rate(64 * kKiB, 1000)}},
                8, "four NPUs");
}

// ---- pools

const char* const kDesigns[] = {"design: hierarchical, nodes: 2, out_switches: 1",
                                "design: multi_level, nodes: 2, levels: \"2 x 30 GB/s, 1 x 45 GB/s\"",
                                "design: ring, nodes: 3", "design: mesh, shape: 2x2, nodes: 2"};

Config pool(const std::string& design, const std::string& more, uint32_t groups = 1) {
  const bool mesh = design.find("mesh") != std::string::npos;
  return machine(
      fmt::format("packet: {{vcs: 2}}\nmemory: {{pool: {{{}, groups: {}, group_bandwidth: 20 GB/s, "
                  "out_node_bandwidth: 30 GB/s, in_node_bandwidth: 50 GB/s, latency: 13 ns, "
                  "request_latency: 50 ns, chunk: 16 KiB, {}}}}}\n",
                  design,
                  mesh                                       ? 2
                  : design.find("ring") != std::string::npos ? 3
                                                             : groups,
                  more),
      design.find("ring") != std::string::npos ? "Switch(6)" : "Switch(4)");
}

/// A chunk of so many bytes in every stage of its way, and all but one of `chunks` in the slowest stage.
std::map<std::string, double> pool_form(const Config& config, bool store, double bytes, double chunks) {
  const auto layout = pool::PoolLayout::make(config, pool::PoolLayout::folds(*config.memory_pool));
  std::vector<std::pair<std::string, double>> stages;
  std::map<std::string, double> hand;
  const std::pair<std::string, double> group{"pool groups", layout->group_rate().value() * 1e-9};
  if (layout->group_hop() && !store) stages.push_back(group);
  for (const uint32_t directed : layout->path(0, 0, 0, store)) {
    const pool::PoolLayout::Link& link = layout->links()[directed / 2];
    const std::string kind = "pool links " + layout->classes()[link.cls].name;
    stages.emplace_back(kind, layout->rate(link).value() * 1e-9);
    hand["latency of " + kind] += double(layout->classes()[link.cls].latency);
  }
  if (layout->group_hop() && store) stages.push_back(group);
  const auto slowest = std::min_element(stages.begin(), stages.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
  for (auto at = stages.begin(); at != stages.end(); ++at)
    hand["serialisation of " + at->first] += at_rate(bytes, at->second) * (at == slowest ? chunks : 1);
  if (!store) hand["latency of pool requests"] = 50'000;
  return hand;
}

TEST(MemoryPaths, PoolsAreTheHandFormula) {
  for (const char* design : kDesigns) {
    for (const bool store : {false, true}) {
      for (const uint32_t chunks : {1u, 5u}) {
        for (const char* split : {"split: whole", "split: fluid"}) {
          const bool several = chunks > 1;
          // Several chunks take one way where there is one group.
          if (several && (std::string(design).find("ring") != std::string::npos ||
                          std::string(design).find("mesh") != std::string::npos))
            continue;
          const Config config = pool(design, split);
          const bool spread =
              std::string(split) == "split: fluid" && !pool::PoolLayout::folds(*config.memory_pool);
          if (spread) continue;  // over several groups
          const Path path = run(config, {{access(1, kRemote, store, chunks * 16 * kKiB)}});
          expect_stages(
              path, pool_form(config, store, 16 * kKiB, chunks), 4.0 * chunks,
              fmt::format("{}, {}, {}, {} chunks", design, split, store ? "store" : "load", chunks));
        }
      }
    }
  }
}

TEST(MemoryPaths, PoolsOfFlowsAreTheHandFormula) {
  for (const char* design : kDesigns) {
    for (const bool store : {false, true}) {
      const Config config = pool(design, "fidelity: analytical");
      const Path path = run(config, {{access(1, kRemote, store, 160 * kKiB)}});
      EXPECT_EQ(path.wrong, "") << design;
      Picoseconds serialise = 0;
      for (const auto& [stage, time] : path.by_stage) {
        if (stage.rfind("serialisation of pool", 0) == 0) serialise += time;
        EXPECT_NE(stage.rfind("queueing", 0), 0u) << design << ": " << stage << " " << time;
      }
      EXPECT_EQ(path.of("latency of pool requests"), store ? 0u : 50'000u);
      EXPECT_EQ(path.of("latency of pool ways") % 13'000, 0u);
      EXPECT_GE(path.of("latency of pool ways"), 13'000u);
      EXPECT_EQ(serialise + path.of("latency of pool ways") + path.of("latency of pool requests"), path.time);
    }
  }
  // Two NPUs share the group: half of the time each waits for the other.
  const Config config = pool(kDesigns[0], "fidelity: analytical");
  const Path path = run(config, std::vector<Nodes>(2, {access(1, kRemote, false, 100'000)}));
  EXPECT_NEAR(double(path.of("queueing of pool groups") + path.of("queueing of pool links group/out_switch")),
              at_rate(100'000, 20), 10);
}

TEST(MemoryPaths, PoolsOfPacketsAreTheHandFormula) {
  for (const char* design : kDesigns) {
    for (const bool store : {false, true}) {
      const Config config = pool(design, "fidelity: packet, split: whole");
      const Path path = run(config, {{access(1, kRemote, store, 16 * kKiB)}});
      EXPECT_EQ(path.wrong, "") << design;
      Picoseconds latency = 0, routers = 0, queueing = 0, wanted = 0, most = 0;
      for (const auto& [stage, time] : path.by_stage) {
        if (stage.rfind("latency of pool links", 0) == 0) latency += time;
        if (stage == "latency of routers of the pool") routers += time;
        if (stage.rfind("queueing", 0) == 0) queueing += time;
        if (stage.rfind("serialisation of pool links", 0) == 0) most = std::max(most, time);
      }
      double slowest = 1e9;
      const auto layout = pool::PoolLayout::make(config, false);
      for (const uint32_t directed : layout->path(0, 0, 0, store)) {
        wanted += layout->classes()[layout->links()[directed / 2].cls].latency;
        slowest = std::min(slowest, layout->rate(layout->links()[directed / 2]).value() * 1e-9);
      }
      const std::string what = fmt::format("{}, {}", design, store ? "store" : "load");
      // A link without latency takes a cycle.
      EXPECT_GE(latency, wanted) << what;
      EXPECT_LE(latency, wanted + 1'000) << what;
      EXPECT_GT(routers, 0u) << what;
      // Flit times are in whole cycles; headers are zero bytes by default.
      EXPECT_GE(double(most), at_rate(16 * kKiB, slowest) * 0.99) << what;
      EXPECT_LE(double(most), at_rate(16 * kKiB, slowest) * 1.10) << what;
      const Picoseconds group = path.of("serialisation of pool groups");
      const Picoseconds request = path.of("latency of pool requests");
      EXPECT_EQ(group + most + latency + routers + queueing + request, path.time) << what;
      // One virtual channel a class, on a ring or mesh: packets wait for each other's credits.
      EXPECT_LE(queueing, 30'000u) << what;
    }
  }
}

/// Every NPU loads, stores, gathers and scatters beside a collective.
std::vector<Nodes> all_accesses() {
  std::vector<Nodes> ranks(4);
  for (uint64_t r = 0; r < 4; ++r) {
    ranks[r] = {access(1, kRemote, false, 40'000 + r), access(2, kRemote, true, 30'000 + 100 * r),
                access(3, kRemote, false, 5'000, true), access(4, kRemote, true, 5'000, true),
                trace::test::collective(5, ChakraProtoMsg::ALL_REDUCE, 64 * kKiB)};
    ranks[r][1].add_data_deps(1);
  }
  return ranks;
}

TEST(MemoryPaths, PoolsWithMemoriesAndOnSharedLinksAddUp) {
  const std::string keys =
      "groups: 3, group_bandwidth: 64 GB/s, latency: 13 ns, request_latency: 50 ns, chunk: 4 KiB";
  const std::string tree = ", out_switches: 2, nodes: 1, out_node_bandwidth: 30 GB/s, ";
  const std::string own = "in_node_bandwidth: 50 GB/s, ";
  const struct {
    std::string pool, stage;
    bool packets;
  } cases[] = {
      {keys + tree + own + "group_memory: \"cxl(preset=cxl2_x16)\"", "pool group memories", false},
      {keys + tree + own + "group_memory: bandwidth, split: whole", "pool group memories", false},
      {keys + tree + own + "buffer: 1", "pool links", false},
      {keys + tree + own + "buffer: 2, split: whole, fidelity: packet", "pool links", false},
      {keys + tree + "share: 0, split: whole", "pool links", false},
      {keys + tree + "share: 0, split: whole, fidelity: packet", "pool links", true},
  };
  for (const auto& c : cases) {
    std::string yaml =
        "weft: 1\ntopology: {notation: Switch(4), dimensions: [{bandwidth: 100 GB/s, latency: 10 ns";
    if (c.packets) yaml += ", fidelity: packet";
    const Config config = parse_config(yaml + "}]}\nmemory: {pool: {" + c.pool + "}}\n", "machine.yaml");
    for (const bool alone : {true, false}) {
      const Path path =
          run(config, alone ? std::vector<Nodes>{{access(1, kRemote, false, 64 * kKiB)}} : all_accesses());
      EXPECT_EQ(path.wrong, "") << c.pool;
      Picoseconds stages = 0;
      for (const auto& [stage, time] : path.by_stage)
        if (stage.find(" of " + c.stage) != std::string::npos) stages += time;
      EXPECT_GT(stages, path.time / 50) << c.pool;
      EXPECT_EQ(path.of("remote_memory"), 0u) << c.pool;
      EXPECT_EQ(path.of("wait"), 0u) << c.pool;
    }
  }
}

// ---- drawn jobs

/// A key with a number, and the stages of a path that it moves.
struct Key {
  std::string name;
  uint64_t value = 0;  ///< B/s or ps
  bool rate = true;
  std::vector<std::string> stages;  ///< beginnings of their names
};

class Drawn {
 public:
  explicit Drawn(uint32_t seed) : random_(seed) {
    design_ = pick({"hierarchical", "multi_level", "ring", "mesh"});
    fidelity_ = pick({"message", "message", "analytical", "packet"});
    split_ = pick({"whole", "fluid"});
    chunk_ = number({1024, 4096, 16384});
    banked_ = number({0, 0, 1}) == 1;
    reduces_ = number({0, 1}) == 1;
    rate("hbm.bandwidth", {20, 100}, {"serialisation of HBM", "queueing of HBM"});
    time("hbm.latency", {0, 50}, {"latency of HBM"});
    rate("host.bandwidth", {7, 40}, {"serialisation of host memory", "queueing of host memory"});
    time("host.latency", {90, 300}, {"latency of host memory"});
    rate("host.link_bandwidth", {5, 20}, of_rate("PCIe links of hosts"));
    time("host.link_latency", {400, 900}, {"latency of PCIe links of hosts"});
    rate("nvme.bandwidth", {3, 6}, of_rate("NVMe"));
    rate("nvme.link_bandwidth", {4, 10}, of_rate("PCIe links of drives"));
    time("nvme.latency", {2000, 9000}, {"latency of NVMe"});
    time("pool.latency", {10, 100}, {"latency of pool links", "latency of pool ways"});
    time("pool.request_latency", {50}, {"latency of pool requests"});
    // Which links of a pool a key is for depends on its design: all are moved together.
    rate("pool.bandwidths", {1, 3}, {"serialisation of pool", "queueing of pool"});
    keys_.back().stages.insert(keys_.back().stages.end(),
                               {"latency of routers of the pool", "queueing of routers of the pool"});
    width_ = number({1, 2, 5});
    draw_nodes();
  }

  std::string yaml() const {
    const auto unit = [&](const char* name) { return std::to_string(key(name)); };
    const uint64_t pool = key("pool.bandwidths");
    std::string text = banked_ ? "hbm: {model: banked, preset: HBM2, stacks: 1}\n"
                               : fmt::format("hbm: {{bandwidth: {} B/s, latency: {} ps}}\n",
                                             unit("hbm.bandwidth"), unit("hbm.latency"));
    text += fmt::format("packet: {{vcs: 2}}\ncollectives: {{reduction: {}, chunks: 2}}\nmemory:\n",
                        reduces_ ? "hbm" : "none");
    text += fmt::format(
        "  host: {{nodes: 2, bandwidth: {} B/s, latency: {} ps, link_bandwidth: {} B/s, link_latency: {} ps, "
        "chunk: {} B}}\n",
        unit("host.bandwidth"), unit("host.latency"), unit("host.link_bandwidth"), unit("host.link_latency"),
        chunk_);
    text +=
        fmt::format("  nvme: {{bandwidth: {} B/s, link_bandwidth: {} B/s, latency: {} ps, chunk: {} B}}\n",
                    unit("nvme.bandwidth"), unit("nvme.link_bandwidth"), unit("nvme.latency"), chunk_);
    text += fmt::format(
        "  pool: {{design: {}, nodes: 2, groups: {}, {}, fidelity: {}, split: {}, chunk: {} B, "
        "group_bandwidth: {} B/s, out_node_bandwidth: {} B/s, in_node_bandwidth: {} B/s, latency: {} ps, "
        "request_latency: {} ps}}\n",
        design_, design_ == "hierarchical" || design_ == "multi_level" ? 3 : 2,
        design_ == "hierarchical"  ? "out_switches: 2"
        : design_ == "multi_level" ? fmt::format("levels: \"2 x {} B/s\"", pool * 6 * width_)
        : design_ == "mesh"        ? "shape: 2x2"
                                   : "request_latency: 0 ps",
        fidelity_, split_, chunk_, pool * 4, pool * 3 * width_, pool * 5, unit("pool.latency"),
        unit("pool.request_latency"));
    if (design_ == "ring") {  // without the key that stands for nothing
      const size_t at = text.find("request_latency: 0 ps, ");
      text.erase(at, std::string("request_latency: 0 ps, ").size());
    }
    return text;
  }
  Path run() const { return weft::run(machine(yaml()), ranks_); }

  /// A key that moves something of the path, and how much; `which`: one of them.
  const Key* moving(const Path& path, Picoseconds& on_path) {
    std::vector<std::pair<const Key*, Picoseconds>> some;
    for (const Key& k : keys_) {
      if (banked_ && k.name.rfind("hbm.", 0) == 0) continue;
      some.emplace_back(&k, on(k, path));
    }
    const auto& one = some[random_() % some.size()];
    on_path = one.second;
    return one.first;
  }
  static Picoseconds on(const Key& k, const Path& path) {
    Picoseconds sum = 0;
    for (const auto& [stage, time] : path.by_stage)
      for (const std::string& begin : k.stages) sum += stage.rfind(begin, 0) == 0 ? time : 0;
    return sum;
  }
  /// The key is better by so many ten-thousandths.
  void move(const std::string& name, uint64_t step) {
    for (Key& k : keys_)
      if (k.name == name) k.value = k.value * (k.rate ? 10'000 + step : 10'000 - step) / 10'000;
  }
  bool steady() const { return fidelity_ != "packet"; }

 private:
  std::string pick(std::vector<std::string> from) { return from[random_() % from.size()]; }
  uint64_t number(std::vector<uint64_t> from) { return from[random_() % from.size()]; }
  static std::vector<std::string> of_rate(const std::string& stage) {
    return {"serialisation of " + stage, "queueing of " + stage};
  }
  void rate(const std::string& name, std::vector<uint64_t> gigabytes, std::vector<std::string> stages) {
    keys_.push_back({name, number(std::move(gigabytes)) * 1'000'000'000, true, std::move(stages)});
  }
  void time(const std::string& name, std::vector<uint64_t> nanoseconds, std::vector<std::string> stages) {
    keys_.push_back({name, number(std::move(nanoseconds)) * 1000, false, std::move(stages)});
  }
  uint64_t key(const std::string& name) const {
    for (const Key& k : keys_)
      if (k.name == name) return k.value;
    return 0;
  }
  void draw_nodes() {
    ranks_.resize(4);
    for (uint32_t r = 0; r < 4; ++r) {
      uint64_t id = 1;
      const uint64_t count = 1 + random_() % 6;
      for (; id <= count; ++id) {
        PbNode node;
        if (number({0, 1, 2}) == 0) {
          node = trace::test::comp(id, {}, 1 + random_() % 20);
        } else {
          node = access(id, static_cast<int>(random_() % 4), random_() % 2 == 0, 1 + random_() % 60'000);
        }
        if (id > 1 && random_() % 2 == 0) node.add_data_deps(1 + random_() % (id - 1));
        ranks_[r].push_back(node);
      }
      // All together.
      for (const auto op : {ChakraProtoMsg::ALL_REDUCE, ChakraProtoMsg::ALL_REDUCE}) {
        PbNode node = trace::test::collective(id, op, 8192);
        node.add_data_deps(1 + id % count);
        ranks_[r].push_back(node);
        ++id;
      }
      PbNode gather = access(id, kRemote, false, 3000, true);
      gather.add_data_deps(id - 1);
      PbNode scatter = access(id + 1, kRemote, true, 3000, true);
      ranks_[r].push_back(gather);
      ranks_[r].push_back(scatter);
    }
  }

  std::mt19937 random_;
  std::string design_, fidelity_, split_;
  uint64_t chunk_ = 0, width_ = 1;
  bool banked_ = false, reduces_ = false;
  std::vector<Key> keys_;
  std::vector<Nodes> ranks_;
};

/// "" or what is wrong. Where a hundredth changes the order of two accesses, a smaller step does not.
std::string check_drawn(uint32_t seed, uint32_t& moved, uint32_t& unmoved) {
  Drawn drawn(seed);
  const Path path = drawn.run();
  if (!path.wrong.empty()) return fmt::format("seed {}: {}\n{}", seed, path.wrong, drawn.yaml());
  if (path.of("wait") != 0) return "";
  Picoseconds on_path = 0;
  const Key* const key = drawn.moving(path, on_path);
  std::string found;
  for (const uint64_t step : {uint64_t{100}, uint64_t{1}}) {
    Drawn faster = drawn;
    faster.move(key->name, step);
    const Path quick = faster.run();
    const Picoseconds rounding = 2 * path.pieces + 2;
    const Picoseconds most = on_path * step / 9'000 + rounding;
    if (quick.time + most >= path.time) {
      ++(on_path == 0 ? unmoved : moved);
      if (on_path * step > 20'000 * rounding && quick.time >= path.time)
        found = "nothing";
      else
        return "";
    } else {
      found = "too much";
    }
    found = fmt::format("seed {}: {} does {}: {} ps on the path; {} ps, then {} ps, step {}\n{}", seed,
                        key->name, found, on_path, path.time, quick.time, step, drawn.yaml());
  }
  return found;
}

TEST(MemoryPaths, DrawnJobsAddUpAndMoveWithWhatIsNamed) {
  uint32_t moved = 0, unmoved = 0, nothing = 0;
  for (uint32_t seed = 1; seed <= 240; ++seed) {
    const std::string wrong = check_drawn(seed, moved, unmoved);
    // Another path may be as long.
    if (wrong.find(" does nothing") != std::string::npos) {
      ++nothing;
      continue;
    }
    EXPECT_EQ(wrong, "");
  }
  EXPECT_GE(moved, 60u);
  EXPECT_GE(unmoved, 60u);
  EXPECT_LE(nothing, 12u);
}

}  // namespace
}  // namespace weft
