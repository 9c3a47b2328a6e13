// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The kernel-free parts of the packet fabric: allocators, credits, topologies, routing, patterns, dependency
// check.

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <set>

#include "configs/loader.h"
#include "tlm_interconnect/packet/buffer_check.h"
#include "tlm_interconnect/packet/config_topology.h"
#include "tlm_interconnect/packet/dependency_check.h"
#include "tlm_interconnect/packet/flit_queue.h"
#include "tlm_interconnect/packet/topology.h"
#include "tlm_interconnect/packet/traffic.h"
#include "tlm_interconnect/packet/traffic_pattern.h"
#include "tlm_interconnect/policies/allocation/allocator.h"
#include "tlm_interconnect/policies/routing/routing_policy.h"
#include "tlm_interconnect/policies/selection/selection_policy.h"

namespace weft::packet {
namespace {

PacketTopology topology(const std::string& notation) {
  return make_from_notation(notation, {}, {});
}

std::map<uint32_t, uint32_t> by_input(const std::vector<SwitchRequest>& grants) {
  std::map<uint32_t, uint32_t> m;
  for (const SwitchRequest& g : grants) m[g.input] = g.output;
  return m;
}

TEST(VcLayout, FewestVcsOfARouting) {
  const auto fewest = [](const std::string& notation, const std::string& routing, PacketConfig config = {}) {
    config.vcs = 0;
    return fewest_vcs(routing, topology(notation), config);
  };
  PacketConfig none;
  none.vc_classes = "none";
  EXPECT_EQ(fewest("Switch(8)", "dimension_order"), 1u);
  EXPECT_EQ(fewest("Mesh(4)_FullyConnected(3)", "dimension_order"), 1u);
  EXPECT_EQ(fewest("Ring(4)_Switch(3)", "dimension_order"), 2u);
  EXPECT_EQ(fewest("Ring(4)", "dimension_order", none), 1u);
  EXPECT_EQ(fewest("Mesh(4)_Mesh(4)", "minimal_adaptive"), 2u);
  EXPECT_EQ(fewest("Ring(4)_Ring(4)", "minimal_adaptive"), 3u);
  // No number is enough: the routing itself says why.
  PacketConfig halves;
  halves.virtual_networks = 2;
  EXPECT_EQ(fewest("Switch(8)", "minimal_adaptive", halves), 32u);
}

// Masks of a port reach to its 64th virtual channel.
TEST(VcLayout, MasksOfUpTo64Channels) {
  const VcLayout one(64, 1, 2);
  EXPECT_EQ(one.all(0), ~VcMask{0});
  EXPECT_EQ(one.of_class(0, 0), 0x00000000FFFFFFFFu);
  EXPECT_EQ(one.of_class(0, 1), 0xFFFFFFFF00000000u);
  EXPECT_EQ(one.class_of(63), 1u);
  const VcLayout three(21, 3, 2);  // classes of 10 and 11, networks at 0, 21 and 42
  EXPECT_EQ(three.all(2), VcMask{0x1FFFFF} << 42);
  EXPECT_EQ(three.of_class(1, 1), VcMask{0x7FF} << 31);
  EXPECT_EQ(lowest_vc(three.of_class(2, 1)), 52u);
  EXPECT_EQ(low_vcs(33), 0x1FFFFFFFFu);
  EXPECT_EQ(low_networks(32), ~0u);
}

TEST(PortSet, FirstFromGoesRound) {
  PortMatrix m(2, 130);
  EXPECT_EQ(m.first_from(1, 0), PortSet::kNone);
  m.insert(1, 3);
  m.insert(1, 129);
  EXPECT_EQ(m.first_from(1, 0), 3u);
  EXPECT_EQ(m.first_from(1, 3), 3u);
  EXPECT_EQ(m.first_from(1, 4), 129u);
  EXPECT_EQ(m.first_from(0, 4), PortSet::kNone);
  m.clear_row(1);
  m.insert(1, 3);
  EXPECT_EQ(m.first_from(1, 4), 3u);
  EXPECT_EQ(m.first_from(1, 129), 3u);

  PortSet s(130);
  EXPECT_EQ(s.first(), PortSet::kNone);
  s.insert(129);
  s.insert(64);
  EXPECT_EQ(s.first(), 64u);
  s.insert(5);
  EXPECT_EQ(s.first(), 5u);
  std::vector<uint32_t> seen;
  s.for_each([&](uint32_t i) { seen.push_back(i); });
  EXPECT_EQ(seen, (std::vector<uint32_t>{5, 64, 129}));
  s.erase(64);
  EXPECT_FALSE(s.contains(64));
  EXPECT_TRUE(s.contains(129));
  s.clear();
  EXPECT_TRUE(s.empty());
}

TEST(Islip, TwoInputsForOneOutputTakeTurns) {
  auto islip = make_switch_allocator("islip", 4, 1);
  SwitchRequests r(4);
  std::vector<uint32_t> winners;
  for (int i = 0; i < 4; ++i) {
    r.clear();
    r.add(1, 2, 0);
    r.add(3, 2, 0);
    std::vector<SwitchRequest> grants;
    islip->allocate(r, grants);
    ASSERT_EQ(grants.size(), 1u);
    EXPECT_EQ(grants[0].output, 2u);
    winners.push_back(grants[0].input);
  }
  EXPECT_EQ(winners, (std::vector<uint32_t>{1, 3, 1, 3}));
}

TEST(Islip, PointersDesynchronise) {
  // All inputs ask for all outputs: after at most n cycles one iteration matches everything in every cycle.
  const uint32_t n = 5;
  auto islip = make_switch_allocator("islip", n, 1);
  SwitchRequests r(n);
  for (uint32_t i = 0; i < n; ++i) {
    for (uint32_t o = 0; o < n; ++o) r.add(i, o, 0);
  }
  size_t matched = 0;
  for (uint32_t cycle = 0; cycle < 3 * n; ++cycle) {
    std::vector<SwitchRequest> grants;
    islip->allocate(r, grants);
    std::set<uint32_t> outputs;
    for (const SwitchRequest& g : grants) EXPECT_TRUE(outputs.insert(g.output).second);
    EXPECT_EQ(by_input(grants).size(), grants.size());
    if (cycle == 0) {
      EXPECT_EQ(grants.size(), 1u);  // all pointers still agree
    }
    matched = grants.size();
  }
  EXPECT_EQ(matched, n);
}

TEST(Islip, MoreIterationsFillTheMatching) {
  auto islip = make_switch_allocator("islip", 3, 3);
  SwitchRequests r(3);
  for (uint32_t i = 0; i < 3; ++i) {
    for (uint32_t o = 0; o < 3; ++o) r.add(i, o, 0);
  }
  std::vector<SwitchRequest> grants;
  islip->allocate(r, grants);
  EXPECT_EQ(grants.size(), 3u);
  EXPECT_EQ(by_input(grants).size(), 3u);
}

TEST(SwitchAllocators, OnlyRequestedPairsAndNoPortTwice) {
  for (const std::string& name : switch_allocator_names()) {
    auto allocator = make_switch_allocator(name, 70, 2);
    Random random(7, 1);
    SwitchRequests r(70);
    for (int round = 0; round < 200; ++round) {
      r.clear();
      std::set<std::pair<uint32_t, uint32_t>> asked;
      const int most = round % 2 == 0 ? 4 : 100;  // few seldom meet
      for (int k = 0; k < most; ++k) {
        const uint32_t i = random.below(70);
        const uint32_t o = random.below(70);
        r.add(i, o, (3 * i + o) % 8);
        asked.insert({i, o});
      }
      EXPECT_EQ(r.list().size(), asked.size());
      std::vector<SwitchRequest> grants;
      allocator->allocate(r, grants);
      std::set<uint32_t> inputs;
      std::set<uint32_t> outputs;
      ASSERT_FALSE(grants.empty());
      for (const SwitchRequest& g : grants) {
        EXPECT_TRUE(asked.count({g.input, g.output})) << name;
        EXPECT_EQ(g.vc, (3 * g.input + g.output) % 8) << name;
        EXPECT_TRUE(inputs.insert(g.input).second) << name;
        EXPECT_TRUE(outputs.insert(g.output).second) << name;
      }
    }
  }
}

TEST(SwitchAllocators, RequestsThatDoNotMeetTakeTurnsAsThoseBesideOthersThatDo) {
  for (const std::string& name : switch_allocator_names()) {
    auto alone = make_switch_allocator(name, 8, 1);
    auto beside = make_switch_allocator(name, 8, 1);
    SwitchRequests apart(8);
    SwitchRequests meeting(8);
    for (SwitchRequests* r : {&apart, &meeting}) {
      r->add(1, 2, 0);
      r->add(1, 2, 1);  // the same again
      r->add(3, 4, 5);
    }
    meeting.add(6, 7, 0);
    meeting.add(7, 7, 0);
    EXPECT_FALSE(apart.conflict());
    EXPECT_TRUE(meeting.conflict());
    std::vector<SwitchRequest> grants;
    alone->allocate(apart, grants);
    ASSERT_EQ(grants.size(), 2u);
    EXPECT_EQ(grants[0].vc + grants[1].vc, 5u);
    beside->allocate(meeting, grants);
    EXPECT_EQ(grants.size(), 5u);
    EXPECT_EQ(alone->memory(1, 2), beside->memory(1, 2)) << name;
    EXPECT_EQ(alone->memory(3, 4), beside->memory(3, 4)) << name;
    meeting.clear();
    EXPECT_FALSE(meeting.conflict());
    EXPECT_FALSE(meeting.by_input().contains(6, 7));
    EXPECT_FALSE(meeting.by_output().contains(7, 7));
  }
}

TEST(VcAllocator, HeadsThatWantDifferentPortsAreGrantedAsOneByOne) {
  for (const uint32_t heads : {2u, 4u, 6u}) {  // with and without a look at their ports
    auto together = make_vc_allocator("islip", 8, 4);
    auto apart = make_vc_allocator("islip", 8, 4);
    for (uint32_t round = 0; round < 6; ++round) {
      std::vector<VcRequest> all;
      for (uint32_t k = 0; k < heads; ++k)
        all.push_back({4 * k, (k + 3) % 8, 0b1111u ^ (1u << k % 4), kNoVc});
      for (const VcRequest& request : all) {
        std::vector<VcRequest> one{request};
        apart->allocate(one);
      }
      together->allocate(all);
      for (const VcRequest& request : all) {
        const uint32_t output = request.port * 4 + request.granted;
        EXPECT_EQ(apart->last_output(request.input), output);
        EXPECT_EQ(apart->last_input(output), request.input);
        EXPECT_EQ(together->last_output(request.input), output);
        EXPECT_EQ(together->last_input(output), request.input);
      }
    }
  }
}

TEST(VcAllocator, GivesFreeVcsOnceAndInTurn) {
  auto allocator = make_vc_allocator("islip", 2, 4);
  std::vector<VcRequest> one{{0, 1, 0b1111, kNoVc}};
  std::vector<uint32_t> turns;
  for (int i = 0; i < 5; ++i) {
    one[0].granted = kNoVc;
    allocator->allocate(one);
    turns.push_back(one[0].granted);
  }
  EXPECT_EQ(turns, (std::vector<uint32_t>{0, 1, 2, 3, 0}));
  std::vector<VcRequest> two{{1, 1, 0b0100, kNoVc}, {5, 1, 0b0100, kNoVc}};
  allocator->allocate(two);
  EXPECT_EQ((two[0].granted == 2) + (two[1].granted == 2), 1);
  // Of many, in turn from the first to the last and round.
  auto many = make_vc_allocator("islip", 2, 64);
  std::vector<VcRequest> far{{0, 1, vc_bit(2) | vc_bit(31) | vc_bit(32) | vc_bit(63), kNoVc}};
  turns.clear();
  for (int i = 0; i < 5; ++i) {
    far[0].granted = kNoVc;
    many->allocate(far);
    turns.push_back(far[0].granted);
  }
  EXPECT_EQ(turns, (std::vector<uint32_t>{2, 31, 32, 63, 2}));
  std::vector<VcRequest> both{{1, 0, vc_bit(40), kNoVc}, {65, 0, vc_bit(40) | vc_bit(8), kNoVc}};
  many->allocate(both);
  EXPECT_EQ(both[0].granted, 40u);
  EXPECT_EQ(both[1].granted, 8u);
}

TEST(Allocators, AnUnknownNameNamesTheKnown) {
  try {
    make_switch_allocator("wavefront", 2, 1);
    FAIL();
  } catch (const UserError& e) {
    EXPECT_NE(std::string(e.what()).find("islip"), std::string::npos);
  }
  EXPECT_THROW(make_vc_allocator("x", 2, 2), UserError);
  EXPECT_THROW(make_selection_policy("x"), UserError);
}

TEST(CreditAccount, MaturesLazilyAndCountsRuns) {
  CreditAccount c;
  c.set_depth(4);
  EXPECT_EQ(c.run(100, 9, 10), 4u);
  c.spend(4);
  EXPECT_EQ(c.at(100), 0);
  c.add({130, 3, 10});
  EXPECT_EQ(c.when(1), 130u);
  EXPECT_EQ(c.when(3), 150u);
  EXPECT_EQ(c.when(4), kNever);
  EXPECT_EQ(c.at(129), 0);
  EXPECT_EQ(c.at(140), 2);
  EXPECT_EQ(c.outstanding(), 3);
  EXPECT_EQ(c.run(140, 9, 10), 3u);  // the third comes in time for its flit
  c.add({200, 1, 10});
  EXPECT_EQ(c.run(140, 9, 10), 3u);  // the fourth does not
  EXPECT_EQ(c.run(140, 9, 30), 4u);  // for slower flits it does
  EXPECT_EQ(c.at(1000), 4);
}

TEST(CreditAccount, SlowCreditsForFastFlits) {
  CreditAccount c;
  c.set_depth(2);
  c.spend(0);
  c.add({100, 10, 30});  // one every 30 ps, flits every 10 ps
  EXPECT_EQ(c.at(100), 3);
  // at 100, 110, 120 the three here; at 130 the one of 130; at 140 none
  EXPECT_EQ(c.run(100, 9, 10), 4u);
}

TEST(Topology, CountsAndCoordinates) {
  const PacketTopology torus = topology("Ring(4)_Ring(4)_Ring(4)");
  EXPECT_EQ(torus.nis.size(), 64u);
  EXPECT_EQ(torus.routers.size(), 64u);
  for (const TopologyRouter& r : torus.routers) EXPECT_EQ(r.ports.size(), 7u);
  const PacketTopology mesh = topology("Mesh(8)_Mesh(8)");
  size_t ports = 0;
  for (const TopologyRouter& r : mesh.routers) ports += r.ports.size();
  EXPECT_EQ(ports, 64u + 4 * 7 * 8);
  const PacketTopology hybrid = topology("R(4)_FC(3)_SW(2)");
  EXPECT_EQ(hybrid.nis.size(), 24u);
  EXPECT_EQ(hybrid.routers.size(), 24u + 12);
  const PacketTopology tree = topology("FatTree(k=4,n=3)");
  EXPECT_EQ(tree.nis.size(), 64u);
  EXPECT_EQ(tree.routers.size(), 48u);
  EXPECT_EQ(topology("Switch(8)").routers.size(), 1u);
  for (const PacketTopology* t : {&torus, &mesh, &hybrid, &tree}) EXPECT_NO_THROW(t->check());
}

// One reader of notations: what a configuration may say.
TEST(Topology, NotationsAreThoseOfConfigurations) {
  EXPECT_EQ(topology("FatTree(n=3,k=2)").name, "FatTree(k=2,n=3)");
  EXPECT_EQ(topology("ft(2, 3)").name, "FatTree(k=2,n=3)");
  EXPECT_EQ(topology("ring(4)_Mesh(2)").name, "Ring(4)_Mesh(2)");
  EXPECT_EQ(topology("Local(2)_Horizontal(3)_Vertical(2)_Global(4)").name,
            topology("Ring(2)_Ring(3)_Ring(2)_Switch(4)").name);
  PacketConfig config;
  const PacketTopology clos = topology("Clos(spines=3,hosts=2,leaves=4)");
  EXPECT_EQ(clos.name, "Clos(hosts=2,leaves=4,spines=3)");
  EXPECT_EQ(clos.nis.size(), 8u);
  EXPECT_EQ(clos.routers.size(), 7u);
  EXPECT_NO_THROW(clos.check());
  EXPECT_EQ(find_dependency_cycle(clos, config), "");
  EXPECT_EQ(hops_between(clos, config, 0, 1), 1u);
  EXPECT_EQ(hops_between(clos, config, 0, 7), 3u);
  const auto routing = make_routing_policy(clos.routing, clos, config);
  std::vector<RouteCandidate> candidates;
  routing->route({0, clos.nis[0].port, 0, 0, 7, 0}, candidates);
  EXPECT_EQ(candidates.size(), 3u) << "every spine";
}

TEST(Topology, BadNotationsSayWhy) {
  for (const char* bad :
       {"", "Ring", "Ring(4", "Ring(4)Ring(4)", "Ring(4)_", "Torus(4)", "Ring(0)", "Ring(4,2)", "Ring(k4)",
        "Clos(4,4)", "Clos(0,4,4)", "Clos(2048,64,2)", "FatTree(4)", "FatTree(1,3)", "Ring(9999999)",
        "Ring(-4)", "FatTree(k=4)_Ring(2)", "Ring(1024)_Ring(1024)_Ring(1024)"}) {
    try {
      topology(bad);
      ADD_FAILURE() << bad;
    } catch (const UserError& e) {
      EXPECT_EQ(e.code(), ExitCode::usage) << bad;
      EXPECT_GT(std::string(e.what()).size(), 10u) << bad;
    }
  }
}

TEST(Topology, AnUnreachableRankIsNamed) {
  PacketTopology t;
  t.name = "two islands";
  const uint32_t link = t.add_link({});
  t.attach(t.add_router("a"), link);
  t.attach(t.add_router("b"), link);
  try {
    t.check();
    FAIL();
  } catch (const UserError& e) {
    EXPECT_NE(std::string(e.what()).find("rank 1"), std::string::npos);
  }
  EXPECT_THROW(t.connect(0, 0, link), UserError);
  EXPECT_THROW(t.connect(0, 9, link), UserError);
}

// Every policy brings every packet to its rank, over every way it permits.
void expect_all_arrive(const PacketTopology& t, const PacketConfig& config) {
  const auto routing = make_routing_policy(config.routing.empty() ? t.routing : config.routing, t, config);
  const size_t limit = 4 * t.routers.size() + 8;
  std::vector<RouteCandidate> candidates;
  Random random(3, 4);
  for (uint32_t from = 0; from < t.nis.size(); ++from) {
    for (uint32_t to = 0; to < t.nis.size(); ++to) {
      for (int attempt = 0; attempt < 4; ++attempt) {
        uint32_t router = t.nis[from].router;
        uint32_t port = t.nis[from].port;
        uint32_t vc = 0;
        size_t hops = 0;
        for (;; ++hops) {
          ASSERT_LT(hops, limit) << t.name << " " << from << " -> " << to;
          candidates.clear();
          routing->route({router, port, vc, from, to, 0}, candidates);
          ASSERT_FALSE(candidates.empty());
          const RouteCandidate& c = candidates[random.below(static_cast<uint32_t>(candidates.size()))];
          ASSERT_NE(c.vc_mask, 0u);
          ASSERT_LT(c.port, t.routers[router].ports.size());
          const TopologyPort& out = t.routers[router].ports[c.port];
          vc = lowest_vc(c.vc_mask);
          if (out.ni) {
            ASSERT_EQ(out.peer, to);
            break;
          }
          router = out.peer;
          port = out.peer_port;
        }
      }
    }
  }
}

PacketTopology of_config(const std::string& topology, const std::string& more = "") {
  const Config config = parse_config("weft: 1\ntopology:\n" + topology + more, "machine.yaml");
  return make_topology(config, config.packet, {});
}

// What a graph says of its links at packet fidelity is theirs, and links that differ in it are not one.
TEST(ConfigTopology, LinksOfGraphsKeepTheirOptions) {
  const auto link = [](const char* ends, const char* options) {
    return std::string("      - {") + ends + ", bandwidth: 16 GB/s, latency: 10 ns" + options + "}\n";
  };
  const PacketTopology t =
      of_config("  graph:\n    npus: 5\n    switches: [hub]\n    links:\n" + link("from: npu0, to: hub", "") +
                link("from: npu1, to: hub", ", credit_latency: 30 ns") +
                link("from: npu2, to: hub", ", flit_error_rate: 0.01") +
                link("from: npu3, to: hub", ", flit_error_rate: 0.01, replay: 50 ns") +
                link("from: npu4, to: hub", ""));
  ASSERT_EQ(t.routers.size(), 1u);
  const auto timing = [&](uint32_t npu) { return t.links.at(t.routers[0].ports[t.nis[npu].port].link); };
  EXPECT_EQ(timing(0).credit_latency, 0u);
  EXPECT_EQ(timing(1).credit_latency, ticks(30000));
  EXPECT_EQ(timing(2).flit_error, 0.01);
  EXPECT_EQ(timing(2).replay, 0u);
  EXPECT_EQ(timing(3).flit_error, 0.01);
  EXPECT_EQ(timing(3).replay, ticks(50000));
  EXPECT_EQ(timing(1).flit_error, 0);
  EXPECT_EQ(t.routers[0].ports[t.nis[0].port].link, t.routers[0].ports[t.nis[4].port].link)
      << "alike: one entry";

  const PacketTopology tree = of_config(
      "  notation: FatTree(k=2,n=2)\n  dimensions: [{bandwidth: 16 GB/s, latency: 1 ns, flit_error_rate: "
      "0.5}, "
      "{bandwidth: 8 GB/s, latency: 2 ns, credit_latency: 7 ns, replay: 9 ns}]\n");
  std::map<uint32_t, LinkTiming> used;
  for (const TopologyRouter& r : tree.routers)
    for (const TopologyPort& port : r.ports) used[port.ni ? 0 : 1] = tree.links.at(port.link);
  EXPECT_EQ(used[0].flit_error, 0.5);
  EXPECT_EQ(used[1].credit_latency, ticks(7000));
  EXPECT_EQ(used[1].replay, ticks(9000));
}

// The ways of a machine's own graph, one, several or by table; NPUs of one link are interfaces at their
// switch.
TEST(ConfigTopology, GraphsKeepTheirRoutes) {
  const std::string square =
      "  graph:\n    npus: 4\n    links:\n"
      "      - {from: npu0..npu2, to: npu1..npu3, pattern: one_to_one, bandwidth: 16 GB/s, latency: 1 ns}\n"
      "      - {from: npu3, to: npu0, bandwidth: 16 GB/s, latency: 1 ns}\n";
  PacketConfig config;
  const PacketTopology plain = of_config(square);
  expect_all_arrive(plain, config);
  EXPECT_EQ(hops_between(plain, config, 0, 2), 3u);
  const PacketTopology by_table = of_config(square,
                                            "  routing: table\n  routes: [{at: npu0, via: npu1}, {at: npu1, "
                                            "via: npu2}, {at: npu2, via: npu3}, {at: npu3, "
                                            "via: npu0}]\n");
  expect_all_arrive(by_table, config);
  EXPECT_EQ(hops_between(by_table, config, 1, 0), 4u);  // always on: three links
  EXPECT_FALSE(find_dependency_cycle(by_table, config).empty());
  const PacketTopology clos = of_config(
      "  notation: Clos(hosts=4,leaves=3,spines=2)\n  dimensions: [{bandwidth: 16 GB/s, latency: 1 ns}, "
      "{bandwidth: "
      "8 GB/s, latency: 2 ns}]\n");
  EXPECT_EQ(clos.routers.size(), 5u);
  expect_all_arrive(clos, config);
  EXPECT_EQ(hops_between(clos, config, 0, 3), 1u);
  EXPECT_EQ(hops_between(clos, config, 0, 4), 3u);
  EXPECT_EQ(find_dependency_cycle(clos, config), "");
  EXPECT_EQ(clos.links.at(clos.routers[0].ports[0].link).flit_time, ticks(1000));  // an NPU's
  EXPECT_EQ(clos.links.at(clos.routers[0].ports[4].link).flit_time, ticks(2000));  // a spine's
  EXPECT_EQ(clos.links.at(clos.routers[0].ports[4].link).latency, ticks(2000));
  // Non-forwarding NPUs with two links stay routers, and nothing passes through them.
  const PacketTopology rails = of_config(
      "  graph:\n    npus: 4\n    switches: 2\n    npus_forward: false\n    links:\n"
      "      - {from: npu0..npu3, to: sw0..sw1, bandwidth: 16 GB/s, latency: 1 ns}\n",
      "  routing: ecmp\n");
  EXPECT_EQ(rails.routers.size(), 6u);
  expect_all_arrive(rails, config);
  EXPECT_EQ(hops_between(rails, config, 0, 3), 3u);
  // A fat tree is the packet fabric's own, with links of each level.
  const PacketTopology tree = of_config(
      "  notation: FatTree(2,3)\n  dimensions: [{bandwidth: 16 GB/s, latency: 1 ns}, {bandwidth: 16 GB/s, "
      "latency: 2 "
      "ns}, {bandwidth: 16 GB/s, latency: 3 ns}]\n");
  EXPECT_EQ(tree.routing, "nearest_common_ancestor");
  for (const TopologyRouter& r : tree.routers)
    for (const TopologyPort& p : r.ports)
      EXPECT_EQ(tree.links.at(p.link).latency, ticks(p.ni                            ? 1000
                                                     : r.level + (p.up ? 0 : 1) == 2 ? 2000
                                                                                     : 3000));
}

TEST(Routing, OneWayLinksAreTakenOneWay) {
  PacketConfig config;
  // A ring round which all go one way, and a chord from 3 to 1.
  PacketTopology ring = of_config(
      "  graph:\n    npus: 5\n    links:\n"
      "      - {from: npu0..npu3, to: npu1..npu4, pattern: one_to_one, bandwidth: 16 GB/s, latency: 1 ns, "
      "bidirectional: false}\n"
      "      - {from: npu4, to: npu0, bandwidth: 16 GB/s, latency: 1 ns, bidirectional: false}\n"
      "      - {from: npu3, to: npu1, bandwidth: 16 GB/s, latency: 1 ns, bidirectional: false}\n");
  EXPECT_TRUE(ring.one_way());
  for (const char* routing : {"table", "shortest_path"}) {
    config.routing = routing;
    expect_all_arrive(ring, config);
    EXPECT_EQ(hops_between(ring, config, 0, 4), 5u);  // routers, 4 links
    EXPECT_EQ(hops_between(ring, config, 4, 0), 2u);
    EXPECT_EQ(hops_between(ring, config, 3, 1), 2u);
    EXPECT_EQ(hops_between(ring, config, 1, 0), 5u);
    const std::string cycle = find_dependency_cycle(ring, config);
    EXPECT_NE(cycle.find("can deadlock"), std::string::npos) << cycle;
    EXPECT_NE(cycle.find("a link the other way"), std::string::npos) << cycle;
  }
  config.routing = "up_down";
  EXPECT_THROW(make_routing_policy("up_down", ring, config), UserError);
  // Two one-way links are a full-duplex one; half of one does not join anybody.
  config.routing = "table";
  const std::string there =
      "  graph:\n    npus: 2\n    links:\n      - {from: npu0, to: npu1, bandwidth: 16 GB/s, bidirectional: "
      "false}\n";
  const PacketTopology pair =
      of_config(there + "      - {from: npu1, to: npu0, bandwidth: 16 GB/s, bidirectional: false}\n");
  expect_all_arrive(pair, config);
  EXPECT_EQ(find_dependency_cycle(pair, config), "");
  PacketTopology half;
  half.name = "half";
  const uint32_t link = half.add_link({});
  half.add_router("a");
  half.add_router("b");
  half.connect(0, 1, link, false);
  half.attach(0, link);
  half.attach(1, link);
  try {
    half.check();
    ADD_FAILURE();
  } catch (const UserError& e) {
    EXPECT_NE(std::string(e.what()).find("rank 1 cannot reach rank 0"), std::string::npos) << e.what();
  }
}

PacketTopology irregular() {  // a ring of five with a chord and a tail; two ranks at one router
  PacketTopology t;
  t.name = "irregular";
  t.routing = "up_down";
  t.selection = "first";
  const uint32_t link = t.add_link({});
  for (int i = 0; i < 6; ++i) t.add_router("r" + std::to_string(i));
  for (uint32_t i = 0; i < 5; ++i) t.connect(i, (i + 1) % 5, link);
  t.connect(0, 2, link);
  t.connect(3, 5, link);
  for (const uint32_t r : {0u, 1u, 2u, 3u, 4u, 5u, 5u}) t.attach(r, link);
  return t;
}

TEST(Routing, EveryPolicyReachesEveryRank) {
  PacketConfig config;
  for (const char* notation : {"Ring(8)", "Ring(5)", "Ring(2)", "Ring(1)", "Ring(4)_Ring(3)",
                               "Mesh(4)_Mesh(3)", "FullyConnected(5)", "Ring(3)_FullyConnected(4)_Switch(3)",
                               "Switch(4)_Switch(3)", "FatTree(3,3)", "FatTree(2,1)", "Switch(7)"}) {
    SCOPED_TRACE(notation);
    for (const char* classes : {"dateline", "switched_dateline", "none"}) {
      config.vc_classes = classes;
      expect_all_arrive(topology(notation), config);
    }
  }
  config.vc_classes = "dateline";
  for (const char* routing : {"shortest_path", "up_down"}) {
    config.routing = routing;
    SCOPED_TRACE(routing);
    expect_all_arrive(irregular(), config);
    expect_all_arrive(topology("Ring(4)_Ring(3)"), config);
    expect_all_arrive(topology("FatTree(3,2)"), config);
  }
  config.routing = "minimal_adaptive";
  for (const char* notation : {"Ring(6)_Ring(4)", "Mesh(4)_Mesh(4)", "FullyConnected(4)_Mesh(3)"}) {
    SCOPED_TRACE(notation);
    expect_all_arrive(topology(notation), config);
  }
}

// What a router may remember by destination is the answer to every query with it, wherever the packet came
// in.
TEST(Routing, RememberedWaysDependOnTheDestinationAlone) {
  PacketConfig config;
  config.virtual_networks = 2;
  uint64_t remembered = 0;
  for (const char* notation : {"Mesh(4)_Mesh(3)", "FullyConnected(5)", "Switch(4)_Switch(3)",
                               "Ring(4)_Mesh(3)", "Switch(4)_Clos(hosts=2,leaves=2,spines=2)"}) {
    for (const bool lanes : {false, true}) {
      PacketTopology t = topology(notation);
      if (lanes) t.add_lanes();
      const auto policy = make_routing_policy("dimension_order", t, config);
      for (uint32_t router = 0; router < t.routers.size(); ++router) {
        if (!policy->by_destination(router)) continue;
        std::map<std::pair<uint32_t, uint32_t>, std::pair<uint32_t, VcMask>> ways;
        for (uint32_t port = 0; port < t.routers[router].ports.size(); ++port) {
          for (uint32_t to = 0; to < t.ranks(); ++to) {
            for (const uint32_t network : {0u, 1u}) {
              for (const uint32_t from : {0u, t.ranks() - 1}) {
                std::vector<RouteCandidate> candidates;
                policy->route({router, port, network * config.vcs, from, to, network}, candidates);
                ASSERT_EQ(candidates.size(), 1u) << notation << " router " << router;
                EXPECT_FALSE(candidates[0].bubble);
                const std::pair<uint32_t, VcMask> way{candidates[0].port, candidates[0].vc_mask};
                EXPECT_EQ(ways.emplace(std::pair{network, to}, way).first->second, way)
                    << notation << " router " << router << " port " << port << " to " << to;
                ++remembered;
              }
            }
          }
        }
      }
    }
  }
  EXPECT_GT(remembered, 1000u);
}

// On a tree up*/down* has every way to every root, as nearest_common_ancestor does.
TEST(Routing, UpDownUsesAllRootsOfATree) {
  const PacketTopology t = topology("FatTree(2,4)");
  const PacketConfig config;
  const auto nearest = make_routing_policy("nearest_common_ancestor", t, config);
  const auto up_down = make_routing_policy("up_down", t, config);
  Random random(1, 2);
  const auto ports = [](const std::vector<RouteCandidate>& candidates) {
    std::vector<uint32_t> result;
    for (const RouteCandidate& c : candidates) result.push_back(c.port);
    return result;
  };
  for (uint32_t from = 0; from < t.nis.size(); ++from) {
    for (uint32_t to = 0; to < t.nis.size(); ++to) {
      uint32_t router = t.nis[from].router;
      uint32_t port = t.nis[from].port;
      for (;;) {
        std::vector<RouteCandidate> a;
        std::vector<RouteCandidate> b;
        nearest->route({router, port, 0, from, to, 0}, a);
        up_down->route({router, port, 0, from, to, 0}, b);
        ASSERT_EQ(ports(a), ports(b)) << t.routers[router].name << " " << from << " -> " << to;
        const TopologyPort& out =
            t.routers[router].ports[a[random.below(static_cast<uint32_t>(a.size()))].port];
        if (out.ni) break;
        router = out.peer;
        port = out.peer_port;
      }
    }
  }
  PacketConfig c;
  c.routing = "up_down";
  EXPECT_EQ(find_dependency_cycle(t, c), "");
}

TEST(Routing, HopsOfKnownPairs) {
  PacketConfig config;
  EXPECT_EQ(hops_between(topology("Ring(8)"), config, 0, 4), 5u);
  EXPECT_EQ(hops_between(topology("Ring(8)"), config, 1, 7), 3u);
  EXPECT_EQ(hops_between(topology("Mesh(8)_Mesh(8)"), config, 0, 63), 15u);
  EXPECT_EQ(hops_between(topology("FatTree(4,3)"), config, 0, 3), 1u);
  EXPECT_EQ(hops_between(topology("FatTree(4,3)"), config, 0, 15), 3u);
  EXPECT_EQ(hops_between(topology("FatTree(4,3)"), config, 0, 63), 5u);
  EXPECT_EQ(hops_between(topology("Switch(8)"), config, 2, 2), 1u);
}

TEST(Routing, PoliciesRefuseWhatTheyCannotRoute) {
  PacketConfig config;
  config.routing = "dimension_order";
  EXPECT_THROW(make_routing_policy("dimension_order", topology("FatTree(2,2)"), config), UserError);
  EXPECT_THROW(make_routing_policy("nearest_common_ancestor", topology("Ring(4)"), config), UserError);
  EXPECT_THROW(make_routing_policy("minimal_adaptive", topology("Ring(4)_Switch(2)"), config), UserError);
  EXPECT_THROW(make_routing_policy("nonsense", topology("Ring(4)"), config), UserError);
  config.vcs = 1;
  EXPECT_THROW(make_routing_policy("dimension_order", topology("Ring(4)"), config), UserError);
  config.vc_classes = "none";
  EXPECT_NO_THROW(make_routing_policy("dimension_order", topology("Ring(4)"), config));
}

TEST(DependencyCheck, NamesWhatCanDeadlock) {
  PacketConfig config;
  for (const char* classes : {"dateline", "switched_dateline"}) {
    config.vc_classes = classes;
    for (const char* safe :
         {"Ring(8)", "Ring(5)", "Ring(4)_Ring(4)_Ring(4)", "Mesh(5)_Mesh(5)", "FatTree(4,3)", "Switch(8)",
          "Ring(4)_FullyConnected(4)_Switch(3)", "Ring(2)_Ring(3)"}) {
      EXPECT_EQ(find_dependency_cycle(topology(safe), config), "") << safe << " " << classes;
    }
  }
  config.vc_classes = "none";
  for (const char* unsafe : {"Ring(8)", "Ring(5)", "Mesh(3)_Ring(5)"}) {
    const std::string text = find_dependency_cycle(topology(unsafe), config);
    EXPECT_NE(text.find("deadlock"), std::string::npos) << unsafe;
    EXPECT_NE(text.find("router_"), std::string::npos) << unsafe;
  }
  // Minimal ways on rings of 3 and 4 without classes: one hop never waits round a ring of 3; two hops on 4
  // do.
  EXPECT_EQ(find_dependency_cycle(topology("Ring(3)"), config), "");
  EXPECT_NE(find_dependency_cycle(topology("Ring(4)"), config), "");

  config.vc_classes = "dateline";
  config.routing = "minimal_adaptive";
  EXPECT_EQ(find_dependency_cycle(topology("Ring(5)_Ring(4)"), config), "");
  EXPECT_EQ(find_dependency_cycle(topology("Mesh(4)_Mesh(4)"), config), "");
  config.routing = "shortest_path";
  EXPECT_NE(find_dependency_cycle(irregular(), config), "");
  config.routing = "up_down";
  EXPECT_EQ(find_dependency_cycle(irregular(), config), "");
  EXPECT_EQ(find_dependency_cycle(topology("Ring(6)_Ring(5)"), config), "");
}

// The remedy is one that this routing heeds.
TEST(DependencyCheck, TheRemedyHelps) {
  const auto end = [](const PacketTopology& t, const PacketConfig& config) {
    const std::string text = find_dependency_cycle(t, config);
    return text.substr(std::min(text.size(), text.rfind("Use ")));
  };
  PacketConfig config;
  config.vc_classes = "none";
  EXPECT_EQ(end(topology("Ring(8)"), config),
            "Use vc_classes: dateline and at least 2 VCs per virtual network.");
  config.vc_classes = "dateline";
  config.routing = "shortest_path";
  EXPECT_EQ(
      end(topology("Ring(4)_Ring(4)"), config),
      "Use routing: dimension_order with vc_classes: dateline and at least 2 VCs per virtual network, or "
      "routing: up_down.");
  EXPECT_EQ(end(topology("Mesh(3)_Mesh(3)"), config), "Use routing: dimension_order, or routing: up_down.");
  EXPECT_EQ(end(irregular(), config), "Use routing: up_down.");
}

TEST(BufferCheck, SaysWhatARoundTripCosts) {
  PacketConfig config;
  LinkTiming link;
  EXPECT_EQ(credit_round_trip(config, link), ticks(6000));
  link.latency = ticks(10000);
  EXPECT_EQ(credit_round_trip(config, link), ticks(24000));
  config.vcs = 1;
  config.buffer_flits = 4;
  EXPECT_NEAR(credit_limited_share(config, link, 8), 8.0 / 49, 1e-9);
  EXPECT_NE(buffer_warning("link x", config, link, 8).find("link x"), std::string::npos);
  EXPECT_NE(buffer_warning("link x", config, link, 8).find("16.3 %"), std::string::npos);
  config.buffer_flits = 24;
  EXPECT_NEAR(credit_limited_share(config, link, 8), 8.0 / 9, 1e-9);
  EXPECT_EQ(buffer_warning("link x", config, link, 8), "");
  config.vcs = 4;
  config.buffer_flits = 8;
  EXPECT_EQ(buffer_warning("link x", config, link, 8), "");
}

// RTT 24 and packets of 8 flits; packet_system_test measures the same.
TEST(BufferCheck, KnowsStrictCutThroughAndReleaseOnCredit) {
  LinkTiming link;
  link.latency = ticks(10000);
  PacketConfig config;
  config.vcs = 1;
  config.strict_cut_through = true;
  for (const auto& [buffer, share] : std::vector<std::pair<uint32_t, double>>{
           {8, 8.0 / 32}, {12, 8.0 / 28}, {16, 0.5}, {20, 8.0 / 14}, {24, 0.75}}) {
    config.buffer_flits = buffer;
    EXPECT_NEAR(credit_limited_share(config, link, 8), share, 1e-9) << buffer;
  }
  config.buffer_flits = 32;
  EXPECT_EQ(buffer_warning("link x", config, link, 8), "");
  config.strict_cut_through = false;
  config.release_on_credit = true;
  EXPECT_NEAR(credit_limited_share(config, link, 8), 8.0 / 33, 1e-9);
  EXPECT_NE(buffer_warning("link x", config, link, 8).find("release_on_credit"), std::string::npos);
  EXPECT_NE(buffer_warning("link x", config, link, 8).find("round trip of 24 ns: at most 24.2 %"),
            std::string::npos);
  config.buffer_flits = 4;
  EXPECT_NEAR(credit_limited_share(config, link, 8), 8.0 / 53, 1e-9);
  config.vcs = 5;
  config.buffer_flits = 32;
  EXPECT_EQ(buffer_warning("link x", config, link, 8), "");
}

TEST(DependencyCheck, BubblesNeedNoClasses) {
  PacketConfig config;
  config.vc_classes = "bubble";
  config.strict_cut_through = true;
  config.vcs = 1;
  EXPECT_EQ(find_dependency_cycle(topology("Ring(8)_Ring(4)"), config), "");
  config.strict_cut_through = false;
  config.vcs = 2;
  EXPECT_THROW(make_routing_policy("dimension_order", topology("Ring(8)"), config), UserError);
}

TEST(Selection, EachPolicyDoesWhatItSays) {
  struct Outputs final : OutputView {
    uint32_t free_credits(uint32_t port, VcMask) override { return port == 7 ? 12 : 3; }
  } outputs;
  const std::vector<RouteCandidate> routes{{5, 1, false}, {6, 1, false}, {7, 1, false}, {8, 1, true}};
  const RouteQuery query{3, 0, 0, 10, 20, 0};
  Random random(1, 2);
  EXPECT_EQ(make_selection_policy("first")->select(query, routes, random, outputs), 0u);
  EXPECT_EQ(make_selection_policy("most_credits")->select(query, routes, random, outputs), 2u);
  auto spray = make_selection_policy("spray");
  for (uint32_t i = 0; i < 8; ++i) EXPECT_EQ(spray->select(query, routes, random, outputs), i % 4);
  auto hash = make_selection_policy("hash");
  const uint32_t path = hash->select(query, routes, random, outputs);
  std::set<uint32_t> paths;
  for (uint32_t to = 0; to < 100; ++to) {
    EXPECT_EQ(hash->select(query, routes, random, outputs), path);
    paths.insert(hash->select({3, 0, 0, 10, to, 0}, routes, random, outputs));
  }
  EXPECT_EQ(paths.size(), 4u);
  auto any = make_selection_policy("random");
  std::vector<int> counts(4, 0);
  for (int i = 0; i < 4000; ++i) ++counts[any->select(query, routes, random, outputs)];
  for (const int n : counts) EXPECT_NEAR(n, 1000, 150);
}

TEST(Pattern, DestinationsAreWhatTheirNamesSay) {
  const PacketTopology t = topology("Ring(4)_Ring(4)");
  Random random(1, 1);
  const auto fixed = [&](const char* name, uint32_t source) {
    PatternConfig c;
    c.name = name;
    return TrafficPattern(c, t).draw(source, random);
  };
  EXPECT_EQ(fixed("bit_complement", 3), 12u);
  EXPECT_EQ(fixed("transpose", 1), 4u);
  EXPECT_EQ(fixed("transpose", 7), 13u);
  EXPECT_EQ(fixed("neighbor", 15), 0u);
  EXPECT_EQ(fixed("neighbor", 3), 4u);
  EXPECT_EQ(fixed("all_to_one", 9), 0u);
  PatternConfig c;
  for (const bool self : {false, true}) {
    c.self_destinations = self;
    const TrafficPattern uniform(c, t);
    std::vector<int> counts(16, 0);
    for (int i = 0; i < 16000; ++i) ++counts[uniform.draw(5, random)];
    EXPECT_EQ(counts[5] > 0, self);
    for (uint32_t d = 0; d < 16; ++d) {
      if (d != 5) {
        EXPECT_NEAR(counts[d], 16000 / (self ? 16 : 15), 200);
      }
    }
  }
  c.name = "hotspot";
  c.self_destinations = true;
  c.hotspot_weight = 5;
  const TrafficPattern hot(c, t);
  int hits = 0;
  for (int i = 0; i < 20000; ++i) hits += hot.draw(5, random) == 0;
  EXPECT_NEAR(hits, 5000, 300);
  c.name = "nonsense";
  EXPECT_THROW(TrafficPattern(c, t), UserError);
  c.name = "transpose";
  EXPECT_THROW(TrafficPattern(c, topology("Ring(8)")), UserError);  // an odd number of bits
  EXPECT_THROW(TrafficPattern(c, topology("Ring(6)")), UserError);
}

TEST(Pattern, PermutationFiles) {
  const std::string file = testing::TempDir() + "weft_permutation.txt";
  std::ofstream(file) << "# a rotation\n1\n 2 \n\n3\n0\n";
  PatternConfig c;
  c.name = "permutation";
  c.permutation = TrafficPattern::read_permutation(file);
  EXPECT_EQ(c.permutation, (std::vector<uint32_t>{1, 2, 3, 0}));
  EXPECT_NO_THROW(TrafficPattern(c, topology("Ring(4)")));
  EXPECT_THROW(TrafficPattern(c, topology("Ring(5)")), UserError);
  c.permutation[2] = 4;
  EXPECT_THROW(TrafficPattern(c, topology("Ring(4)")), UserError);
  std::ofstream(file) << "1\nx\n";
  try {
    TrafficPattern::read_permutation(file);
    FAIL();
  } catch (const UserError& e) {
    EXPECT_NE(std::string(e.what()).find(":2:"), std::string::npos);
  }
  std::remove(file.c_str());
  EXPECT_THROW(TrafficPattern::read_permutation(file), UserError);
}

TEST(Traffic, BadRequestsAreRefusedBeforeAnythingRuns) {
  TrafficConfig c;
  c.topology = topology("Ring(4)");
  const Advance never = [](Picoseconds) { FAIL(); };
  const auto refused = [&](auto&& change) {
    TrafficConfig bad = c;
    bad.loads = {0.1};
    change(bad);
    try {
      run_traffic(bad, never);
      return false;
    } catch (const UserError& e) {
      return e.code() == ExitCode::usage;
    }
  };
  EXPECT_TRUE(refused([](TrafficConfig& b) { b.loads = {0.0}; }));
  EXPECT_TRUE(refused([](TrafficConfig& b) { b.loads = {-1.0}; }));
  EXPECT_TRUE(refused([](TrafficConfig& b) { b.loads = {1.5}; }));
  EXPECT_TRUE(refused([](TrafficConfig& b) { b.packet_flits = 0; }));
  EXPECT_TRUE(refused([](TrafficConfig& b) { b.seeds = 0; }));
  EXPECT_TRUE(refused([](TrafficConfig& b) { b.injection = "poisson"; }));
  EXPECT_TRUE(refused([](TrafficConfig& b) { b.pattern.name = "tornado"; }));
  EXPECT_TRUE(refused([](TrafficConfig& b) {
    b.network.strict_cut_through = true;
    b.packet_flits = 64;
  }));
}

}  // namespace
}  // namespace weft::packet
