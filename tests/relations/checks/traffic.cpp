// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include <fmt/format.h>

#include <algorithm>

#include "tests/relations/relation.h"

namespace weft::relations {
namespace {

Case draw(Random& random) {
  Case c;
  MachineLimits machine;
  machine.trees = true;
  machine.npus = 16;
  machine.dimensions = 2;
  machine.fidelities = {"packet"};
  machine.odd_rates = false;
  c.machine = draw_machine(random, machine);
  const uint64_t spread = random.chance(15) ? 1000 : 16;
  for (Dimension& d : c.machine.dimensions) {
    d.keys["bandwidth"] = fmt::format("{} GB/s", random.between(1, spread));
    d.keys["latency"] = fmt::format("{} ns", random.between(0, 200));
  }
  if (random.chance(30)) c.machine.keys["packet.vcs"] = std::to_string(2 * random.between(1, 4));
  if (random.chance(30)) c.machine.keys["packet.buffer_flits"] = std::to_string(random.between(8, 64));
  if (random.chance(30)) c.machine.keys["packet.switching"] = "flit_interleaved";
  if (random.chance(20)) c.machine.keys["packet.vc_classes"] = "switched_dateline";
  c.choices["load"] = random.between(1, 9);
  c.choices["seed"] = random.between(1, 1000);
  return c;
}

void check(const Case& c, Bench& bench) {
  bench.write("machine.yaml", c.machine.yaml());
  const auto run = [&](const std::string& jobs) {
    const Ran ran = bench.weft({"traffic", "machine.yaml", "--load",
                                fmt::format("0.{}", c.choice("load") % 10 + (c.choice("load") == 0 ? 1 : 0)),
                                "--seeds", "2", "--seed", std::to_string(c.choice("seed")), "--warmup", "200",
                                "--measure", "1000", "--jobs", jobs, "--json"});
    if (ran.status == 2) throw Skipped{"refused: " + ran.error()};
    require(ran.status == 0, fmt::format("exit status {}", ran.status), ran.command + ": " + ran.error());
    auto json = nlohmann::json::parse(ran.out);
    json.erase("wall_s");
    return json;
  };
  const auto one = run("1");
  const auto two = run("2");
  require_equal(one.dump(1), two.dump(1), "--jobs changes the results", "--jobs 1 and 2");
  for (const auto& point : one.at("points"))
    require(point.at("accepted").get<double>() <= 1.0 + 1e-9, "more than a flit a cycle is accepted",
            point.dump());
}

}  // namespace

Relation traffic() {
  return {"traffic", "traffic on networks free of deadlock ends, and --jobs changes nothing", draw, check};
}

}  // namespace weft::relations
