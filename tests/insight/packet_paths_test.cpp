// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Critical paths of collectives in packet networks: on idle links the hand formula, term by term and by link;
// on other machines they add up.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "configs/loader.h"
#include "insight/critical_path.h"
#include "sc_models/machine.h"
#include "tests/support/isolated.h"

namespace weft {
namespace {

using insight::Term;

struct Traced final : NmuClient {
  Traced(const Config& c, CollectiveOp op, uint64_t bytes) : config(c) {
    Machine::Options options;
    options.causes = &log;
    machine = std::make_unique<Machine>("job", config, *this, options);
    plans = std::make_unique<collectives::PlanBuilder>(config);
    collectives::CollectiveRequest request;
    request.op = op;
    request.bytes = bytes;
    request.group = &group;
    plan = plans->plan(request);
    for (uint32_t r = 0; r < machine->npus(); ++r) machine->nmu(r).start_collective(1, plan);
    sc_core::sc_start();
    path = insight::critical_path(log, insight::end_of_path(log).last, 0, finished);
  }
  void collective_done(NpuId rank, const collectives::CollectiveDone& done) override {
    finished = std::max(finished, done.finished);
    log.ended(index(rank), log.because(), done.finished);
  }
  void message_injected(NpuId, NpuId, const MessageId&) override {}
  void message_arrived(NpuId, const Completion&) override {}

  Config config;
  collectives::Group group;
  insight::CausalLog log{1ull << 26};
  std::unique_ptr<collectives::PlanBuilder> plans;
  std::shared_ptr<const collectives::CollectivePlan> plan;
  std::unique_ptr<Machine> machine;
  Picoseconds finished = 0;
  std::vector<insight::Piece> path;
};

Config packets(const std::string& notation, const std::vector<std::string>& dimensions,
               const std::string& more) {
  std::string text = "weft: 1\ntopology:\n  notation: " + notation + "\n  dimensions:\n";
  for (const std::string& d : dimensions) text += "    - {fidelity: packet, " + d + "}\n";
  return parse_config(text + more, "machine.yaml");
}

/// Empty: the pieces follow each other without a gap, to the end, and all are known.
std::string gaps(const Traced& run) {
  Picoseconds at = 0;
  for (const insight::Piece& piece : run.path) {
    if (piece.from != at || piece.to <= piece.from) return fmt::format("a gap at {}\n", at);
    if (piece.term == Term::wait || piece.term == Term::unrecorded)
      return fmt::format("{} at {}\n", to_string(piece.term), at);
    at = piece.to;
  }
  return at == run.finished ? "" : fmt::format("{} of {} ps\n", at, run.finished);
}

bool of_routers(const Traced& run, const insight::Piece& piece) {
  return run.log.link(piece.place).link_class.rfind("routers of ", 0) == 0;
}

// A ring's all-gather on idle links: three steps over one link each.
TEST(PacketPaths, IdleRingIsTheHandFormula) {
  const auto result = test::isolated([] {
    // 64 KiB a step in packets of 256 bytes, 16 bytes a ns.
    const Traced run(packets("Ring(4)", {"bandwidth: 16 GB/s, latency: 50 ns"},
                             "packet: {packet_size: 256 B, flit_size: 16 B}\n"
                             "nmu: {endpoint_delay: 0 ns}\ncollectives: {chunks: 1}\n"),
                     CollectiveOp::all_gather, 65536);
    std::string wrong = gaps(run);
    std::map<Term, Picoseconds> terms;
    std::set<std::string> links;
    Picoseconds routers = 0;
    for (const insight::Piece& piece : run.path) {
      if (piece.term == Term::latency && of_routers(run, piece)) {
        routers += piece.time();
        continue;
      }
      terms[piece.term] += piece.time();
      if (piece.term == Term::serialise) links.insert(run.log.link(piece.place).name);
    }
    if (terms[Term::latency] != 3 * 50'000) wrong += fmt::format("latency {}\n", terms[Term::latency]);
    if (terms[Term::serialise] != 3 * 65536 / 16 * 1000)
      wrong += fmt::format("serialisation {}\n", terms[Term::serialise]);
    if (terms[Term::queueing] != 0) wrong += fmt::format("queueing {}\n", terms[Term::queueing]);
    if (routers == 0 || routers + terms[Term::latency] + terms[Term::serialise] != run.finished)
      wrong += fmt::format("routers {} of {}\n", routers, run.finished);
    if (links.size() != 3) wrong += fmt::format("{} links\n", links.size());
    for (const std::string& link : links)
      if (link.find(".network") != std::string::npos) wrong += link + "\n";
    return wrong;
  });
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.text, "");
}

// Whatever the machine: it adds up, and every link of the path is one of the machine's.
TEST(PacketPaths, DrawnMachinesAddUp) {
  std::mt19937_64 engine(5);
  const auto pick = [&](std::initializer_list<const char*> from) {
    return from.begin()[engine() % from.size()];
  };
  for (int round = 0; round < 12; ++round) {
    const std::string notation = pick(
        {"Ring(5)", "Mesh(4)", "Switch(6)", "FullyConnected(4)", "Ring(4)_Switch(3)", "Mesh(3)_Ring(4)"});
    std::vector<std::string> dimensions;
    for (auto d = std::count(notation.begin(), notation.end(), '('); d > 0; --d)
      dimensions.push_back(fmt::format("bandwidth: {} GB/s, latency: {} ns", pick({"8", "16", "64"}),
                                       pick({"5", "50", "500"})));
    const std::string keys = fmt::format("packet: {{buffer_flits: {}}}\n", pick({"16", "64", "512"}));
    const auto op = static_cast<CollectiveOp>(engine() % 4);
    const uint64_t bytes = 1 + engine() % 30'000;
    const auto result = test::isolated([&] {
      const Traced run(packets(notation, dimensions, keys), op, bytes);
      std::string wrong = gaps(run);
      std::set<std::string> names;
      run.machine->for_each_link([&](const LinkReport& link) { names.insert(link.name); });
      for (const insight::Piece& piece : run.path) {
        if (!insight::of_link(piece.term) || of_routers(run, piece)) continue;
        const std::string& name = run.log.link(piece.place).name;
        if (names.count(name) == 0) wrong += name + " is no link\n";
      }
      return wrong;
    });
    EXPECT_EQ(result.status, 0) << notation << " " << keys;
    EXPECT_EQ(result.text, "") << notation << " " << keys << to_string(op) << " " << bytes;
  }
}

}  // namespace
}  // namespace weft
