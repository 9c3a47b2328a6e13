// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Initiators of others reach HBMs and memory groups through the fabric.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "configs/loader.h"
#include "cosim/tlm/fuzz_target.h"
#include "cosim/tlm/mm_to_link.h"
#include "sc_models/collective_job.h"
#include "sc_models/machine.h"
#include "tests/cosim/fuzz_hops.h"
#include "tests/support/isolated.h"
#include "tests/support/memory_initiators.h"

namespace weft {
namespace {

using cosim::AddressMap;
using cosim::BaseProtocolChecker;
using cosim::FuzzInitiator;
using cosim::FuzzStyle;
using cosim::FuzzTarget;
using cosim::LinkToMm;
using cosim::MappedMemory;
using cosim::MmToLink;
using test::Behind;
using test::expect;
using test::expect_right;
using test::Hops;
using test::isolated;
using test::lines;

constexpr uint64_t kSize = test::kFuzzSize;

const char* const kRing = R"(
weft: 1
topology:
  notation: Ring(4)
  dimensions: [{bandwidth: 50 GB/s, latency: 300 ns}]
hbm: {bandwidth: 1 TB/s, latency: 100 ns, capacity: 1 MiB}
)";
const char* const kBanked = R"(
weft: 1
topology:
  notation: Ring(4)
  dimensions: [{bandwidth: 50 GB/s, latency: 300 ns}]
hbm: {model: banked}
)";
const char* const kPool = R"(
weft: 1
topology:
  notation: Switch(4)_Switch(4)
  dimensions: [{bandwidth: 100 GB/s, latency: 0 ns}]
hbm: {bandwidth: 1 TB/s, latency: 100 ns, capacity: 1 MiB}
memory:
  pool:
    design: hierarchical
    nodes: 4
    out_switches: 4
    groups: 16
    group_bandwidth: 100 GB/s
    out_node_bandwidth: 256 GB/s
    in_node_bandwidth: 256 GB/s
    chunk: 1 KiB
    split: whole
)";

Config config_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return parse_config(text, "machine.yaml", overrides);
}

Machine::Options options_of(std::vector<uint32_t> nmus, std::vector<uint32_t> hbms) {
  Machine::Options options;
  options.npus = true;
  options.external.nmus = std::move(nmus);
  options.external.hbms = std::move(hbms);
  return options;
}

/// A machine, what leads out of its fabric at some ranks, and what leads in at rank 0.
struct Reached {
  Reached(Config c, std::vector<uint32_t> ranks, const AddressMap& map, MmToLink::Options how = {})
      : config(std::move(c)) {
    std::vector<uint32_t> taps = ranks;
    taps.push_back(0);
    machine = std::make_unique<Machine>("machine", config, options_of(taps, ranks));
    for (const uint32_t r : ranks)
      memories.push_back(std::make_unique<LinkToMm>(fmt::format("out{}", r).c_str(), *machine, r));
    how.warn = false;
    in = std::make_unique<MmToLink>("in", *machine, 0, map, how);
  }
  std::string finish() const {
    std::string text = expect("in the bridge", in->outstanding(), 0);
    for (const auto& memory : memories)
      if (!memory->idle()) text += "a memory's side is not idle\n";
    text += lines(machine->check_conservation());
    return text;
  }
  Config config;
  std::unique_ptr<Machine> machine;
  std::vector<std::unique_ptr<LinkToMm>> memories;
  std::unique_ptr<MmToLink> in;
};

Behind reached(const std::string& text, const std::vector<std::string>& overrides,
               const std::vector<uint32_t>& ranks, const AddressMap& map) {
  return [=](auto& socket, uint64_t, Hops&) {
    auto all = std::make_shared<Reached>(config_of(text, overrides), ranks, map);
    socket.bind(all->in->target());
    return [all] { return all->finish(); };
  };
}

AddressMap of_one(const MappedMemory& memory) {
  AddressMap map;
  map.add(0, kSize, memory);
  return map;
}

TEST(MmToLinkFuzz, HbmOfAnotherRank) {
  expect_right(reached(kRing, {}, {2}, of_one(MappedMemory::of_rank(2))));
}

TEST(MmToLinkFuzz, HbmOfTheOwnRank) {
  expect_right(reached(kRing, {}, {0}, of_one(MappedMemory::of_rank(0))));
}

TEST(MmToLinkFuzz, FourHbmsInTurns) {
  AddressMap map;
  map.interleave(0, kSize,
                 {MappedMemory::of_rank(0), MappedMemory::of_rank(1), MappedMemory::of_rank(2),
                  MappedMemory::of_rank(3)},
                 256);
  expect_right(reached(kRing, {}, {0, 1, 2, 3}, map));
}

TEST(MmToLinkFuzz, BankedHbmAtEveryFidelity) {
  for (const char* const fidelity : {"analytical", "message", "packet"}) {
    SCOPED_TRACE(fidelity);
    expect_right(reached(kBanked, {fmt::format("topology.dimensions[0].fidelity={}", fidelity)}, {1},
                         of_one(MappedMemory::of_rank(1))));
  }
}

TEST(MmToLinkFuzz, GroupsOfTheMemoryPool) {
  AddressMap map;
  map.add(0, kSize / 2, MappedMemory::of_group(3));
  map.interleave(kSize / 2, kSize / 2, {MappedMemory::of_group(0), MappedMemory::of_group(9)}, 512, 4'096);
  for (const char* const fidelity : {"message", "packet"}) {
    SCOPED_TRACE(fidelity);
    expect_right(reached(kPool, {fmt::format("memory.pool.fidelity={}", fidelity)}, {}, map));
  }
}

TEST(MmToLinkFuzz, CxlGroupsBesideAnHbm) {
  AddressMap map;
  map.add(0, kSize / 2, MappedMemory::of_group(15));
  map.add(kSize / 2, kSize / 2, MappedMemory::of_rank(5), 512);
  expect_right(
      reached(kPool, {"memory.pool.group_memory=cxl(preset=cxl2_x16)", "memory.pool.group_bandwidth=64 GB/s"},
              {5}, map));
}

TEST(MmToLinkFuzz, AMemoryOfOthersBesideARank) {
  expect_right([](auto& socket, uint64_t seed, Hops& hops) {
    struct All {
      Config config = config_of(kRing);
      std::unique_ptr<Machine> machine;
      std::unique_ptr<LinkToMm> out;
      std::unique_ptr<FuzzTarget> target;
      std::unique_ptr<MmToLink> in;
    };
    auto all = std::make_shared<All>();
    all->machine = std::make_unique<Machine>("machine", all->config, options_of({0, 3}, {}));
    all->out = std::make_unique<LinkToMm>("out", *all->machine, 3, kSize, LinkToMm::Options{});
    FuzzTarget::Options t;
    t.seed = seed + 9;
    all->target = std::make_unique<FuzzTarget>("target", t);
    BaseProtocolChecker::Options c;
    c.provoke = true;
    BaseProtocolChecker& checker = hops.add(c);
    all->out->initiator().bind(checker.target);
    checker.initiator.bind(all->target->socket);
    MmToLink::Options how;
    how.warn = false;
    all->in = std::make_unique<MmToLink>("in", *all->machine, 0, of_one(MappedMemory::of_rank(3)), how);
    socket.bind(all->in->target());
    return [all] { return lines(all->machine->check_conservation()); };
  });
}

// ---- times

/// One access alone, and the time that it takes.
Picoseconds alone(Reached& r, bool write, uint64_t address, unsigned length, std::string& text,
                  const std::function<void()>& before = {}) {
  test::Initiator initiator("initiator");
  initiator.socket.bind(r.in->target());
  Picoseconds took = 0;
  initiator.script = [&] {
    if (before) before();
    tlm::tlm_generic_payload p;
    std::vector<unsigned char> data(length, 7);
    test::Initiator::fill(p, address, length, data.data());
    if (write) p.set_write();
    sc_core::sc_time delay;
    const sc_core::sc_time start = sc_core::sc_time_stamp();
    initiator.socket->b_transport(p, delay);
    took = (sc_core::sc_time_stamp() + delay - start).value();
    text += expect("status", p.get_response_status(), tlm::TLM_OK_RESPONSE);
  };
  sc_core::sc_start();
  return took;
}

TEST(MmToLink, TakesTheLinksAndTheMemoryAndNothingElse) {
  for (const bool write : {false, true}) {
    EXPECT_SILENT(isolated([write] {
      Reached r(config_of(kRing, {"nmu.endpoint_delay=10 ns"}), {1}, of_one(MappedMemory::of_rank(1)));
      std::string text;
      const Picoseconds took = alone(r, write, 64, 4'096, text);
      // A ring's neighbours have one link. Bandwidth of the dimension: 50 GB/s, half of it in each direction.
      const auto message = [&](uint64_t bytes) {
        return transfer_time(bytes, r.config.dimensions[0].link_rate()) + 300'000 + 2 * 10'000;
      };
      const Picoseconds hbm = 4'096 + 100'000;
      return text + expect("time", took, message(write ? 4'112 : 16) + hbm + message(write ? 16 : 4'112));
    }));
  }
}

TEST(MmToLink, WaitsForCollectivesAndTheyForIt) {
  // An all-reduce alone, an access alone, and both together.
  std::map<std::string, Picoseconds> times;
  for (const char* const what : {"access", "collective", "both"}) {
    const auto result = isolated([what] {
      const std::string name = what;
      Reached r(config_of(kRing, {"hbm.capacity=16 MiB"}), {1}, [] {
        AddressMap map;
        map.add(0, 16 << 20, MappedMemory::of_rank(1));
        return map;
      }());
      CollectiveJob job(*r.machine);
      std::string text;
      test::Initiator initiator("initiator");
      initiator.socket.bind(r.in->target());
      Picoseconds took = 0;
      initiator.script = [&] {
        if (name == "collective") return;
        sc_core::wait(sc_core::sc_time(10, sc_core::SC_US));
        std::vector<unsigned char> data(8 << 20);
        tlm::tlm_generic_payload p;
        test::Initiator::fill(p, 0, static_cast<unsigned>(data.size()), data.data());
        p.set_write();
        sc_core::sc_time delay;
        const sc_core::sc_time start = sc_core::sc_time_stamp();
        initiator.socket->b_transport(p, delay);
        took = (sc_core::sc_time_stamp() + delay - start).value();
      };
      if (name != "access") job.start(CollectiveOp::all_reduce, 8 << 20);
      sc_core::sc_start();
      if (name != "access" && !job.finished()) return std::string("the collective did not finish");
      const Picoseconds collective = name == "access" ? 0 : job.last().finished - job.last().started;
      return fmt::format("{} {}", took, collective);
    });
    ASSERT_EQ(result.status, 0) << result.text;
    const size_t space = result.text.find(' ');
    ASSERT_NE(space, std::string::npos) << result.text;
    times[std::string(what) + " access"] = std::stoull(result.text);
    times[std::string(what) + " collective"] = std::stoull(result.text.substr(space));
  }
  EXPECT_GT(times["both access"], times["access access"]);
  EXPECT_GT(times["both collective"], times["collective collective"] * 5 / 4);
}

// ---- what is wrong

std::string thrown(const std::function<void()>& function) {
  try {
    function();
  } catch (const UserError& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST(AddressMap, RefusesWhatCannotBe) {
  AddressMap map;
  map.add(0x1000, 0x1000, MappedMemory::of_rank(1));
  map.add(0x3000, 0x1000, MappedMemory::of_group(2));
  const auto refused = [&](uint64_t base, uint64_t size, const std::string& words) {
    AddressMap copy = map;
    const std::string text = thrown([&] { copy.add(base, size, MappedMemory::of_rank(7)); });
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  refused(0x1fff, 1,
          "0x1fff .. 0x1fff (the memory of rank 7) overlaps 0x1000 .. 0x1fff (the memory of rank 1)");
  refused(0x2000, 0x1001, "overlaps 0x3000 .. 0x3fff (memory group 2)");
  refused(0, ~0ull, "overlaps 0x1000");
  refused(0x5000, 0, "has no bytes");
  refused(~0ull - 5, 7, "passes the end of the addresses");
  AddressMap fits = map;
  fits.add(0x2000, 0x1000, MappedMemory::of_rank(7));
  fits.add(~0ull - 5, 6, MappedMemory::of_rank(7));
  EXPECT_NE(thrown([&] {
              fits.interleave(0x8000, 1'000, {MappedMemory::of_rank(0), MappedMemory::of_rank(1)}, 300);
            }).find("in turns of 300"),
            std::string::npos);
}

TEST(AddressMap, FindsWhereAnAddressIs) {
  AddressMap map;
  map.add(100, 50, MappedMemory::of_group(2), 7);
  map.interleave(1'024, 4'096, {MappedMemory::of_rank(3), MappedMemory::of_rank(5)}, 256, 64);
  EXPECT_EQ(map.find(99).bytes, 0u);
  EXPECT_EQ(map.find(149).bytes, 1u);
  EXPECT_EQ(map.find(149).address, 56u);
  EXPECT_EQ(map.find(150).bytes, 0u);
  EXPECT_EQ(map.find(1'024 + 256 + 5).memory.number, 5u);
  EXPECT_EQ(map.find(1'024 + 256 + 5).address, 64u + 5);
  EXPECT_EQ(map.find(1'024 + 512 + 5).address, 64u + 256 + 5);
  EXPECT_EQ(map.find(1'024 + 512 + 5).bytes, 251u);
  EXPECT_EQ(map.memories().size(), 3u);
}

TEST(MmToLink, SaysWhatTheMachineDoesNotHave) {
  struct Case {
    const char* text;
    std::vector<std::string> overrides;
    MappedMemory memory;
    uint64_t size;
    const char* words;
  };
  const std::vector<Case> cases = {
      {kRing, {}, MappedMemory::of_rank(3), 64, "the memory of rank 3, where nothing takes accesses"},
      {kRing, {}, MappedMemory::of_rank(9), 64, "there is no the memory of rank 9; the machine has 4 ranks"},
      {kRing,
       {},
       MappedMemory::of_group(0),
       64,
       "there is no memory group 0; the machine has 0 memory groups"},
      {kRing, {}, MappedMemory::of_rank(2), 1 << 21, "has 1048576 bytes, and the range needs 2097152"},
      {kPool, {"memory.pool.split=fluid"}, MappedMemory::of_group(1), 64, "set memory.pool.fidelity"},
      {kPool, {"memory.pool.fidelity=analytical"}, MappedMemory::of_group(1), 64, "set memory.pool.fidelity"},
      {kPool, {}, MappedMemory::of_group(16), 64, "there is no memory group 16"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.words);
    const auto result = isolated([&] {
      AddressMap map;
      map.add(0, c.size, c.memory);
      Reached r(config_of(c.text, c.overrides), {2}, map);
      test::Initiator initiator("initiator");
      initiator.socket.bind(r.in->target());
      return thrown([] { sc_core::sc_start(); });
    });
    EXPECT_NE(result.text.find(c.words), std::string::npos) << result.text;
  }
}

TEST(MmToLink, AnAddressOutsideTheMapIsAnErrorAndOneWarning) {
  const auto result = isolated([] {
    Config config = config_of(kRing);
    Machine machine("machine", config, options_of({0, 1}, {1}));
    LinkToMm out("out", machine, 1);
    AddressMap map;
    map.add(0x1000, 0x1000, MappedMemory::of_rank(1));
    MmToLink in("in", machine, 0, map);
    test::Initiator initiator("initiator");
    initiator.socket.bind(in.target());
    std::string text;
    initiator.script = [&] {
      for (const uint64_t address : {0x0ull, 0x1ff0ull, ~0ull - 3}) {
        tlm::tlm_generic_payload p;
        std::vector<unsigned char> data(64);
        test::Initiator::fill(p, address, 64, data.data());
        sc_core::sc_time delay;
        initiator.socket->b_transport(p, delay);
        text += expect("status", p.get_response_status(), tlm::TLM_ADDRESS_ERROR_RESPONSE);
      }
    };
    sc_core::sc_start();
    return text + expect("outside", in.outside(), 3) +
           expect("requests", machine.totals().messages_submitted, 0);
  });
  EXPECT_EQ(result.status, 97);
  EXPECT_EQ(
      result.text,
      "SystemC warning: weft/cosim/mm_to_link: in: a read of 64 bytes at 0x0: the address map has nothing "
      "at 0x0; the response is TLM_ADDRESS_ERROR_RESPONSE. Further ones are only counted\n");
}

}  // namespace
}  // namespace weft
