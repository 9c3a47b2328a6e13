// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// NPUs and NMUs by the names of their models: for all, for single ones, and an NMU that shares nothing with
// this library's but the interface.

#include "sc_models/module_choices.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sc_models/cxl/cxl_memory.h"
#include "sc_models/foreign_blocks.h"
#include "sc_models/link_model.h"
#include "sc_models/memory_model.h"
#include "sc_models/message_bits.h"
#include "sc_models/nmu.h"
#include "sc_models/npu.h"
#include "sc_models/switch_unit.h"
#include "tests/support/isolated.h"
#include "tests/support/pool_draw.h"
#include "tests/support/small_machine.h"
#include "tests/support/solo_job.h"
#include "tlm_interconnect/ports/timed_queue.h"
#include "workload/graph/folding.h"

namespace weft {
namespace {

/// An NMU with one link to one switch, at `message` fidelity, and nothing else: what a foreign model has to
/// do at least.
class OneLinkNmu final : public NmuModel,
                         private Wakeable,
                         private MessagePort,
                         private fabric::FabricEndpoint {
 public:
  OneLinkNmu(sc_core::sc_module_name name, NpuId rank, const NmuContext& context)
      : NmuModel(name, rank),
        config_(context.config),
        pool_(context.pool),
        link_(context.link_types[0]),
        socket_("up"),
        engine_(
            rank, context.config, *this,
            [this](const collectives::CollectiveDone& done) { client_->collective_done(this->rank(), done); },
            context.data, context.waits) {
    socket_.bind(static_cast<fabric::fabric_bw_if&>(*this));
    context.wheel.add(*this);
  }

  LinkSocket end(const LinkEndAt&) override { return {&socket_, nullptr}; }
  void join(PacketFabric&, uint32_t) override { throw std::logic_error("it has no packets"); }
  bool attached() const override { return client_ != nullptr; }
  void attach(NmuClient& client) override { client_ = &client; }
  void detach() override { client_ = nullptr; }
  Picoseconds now() const override { return sc_core::sc_time_stamp().value(); }
  uint64_t messages_delivered() const override { return delivered_; }
  uint32_t rescue() override { return engine_.rescue(); }

  void start_collective(uint32_t stream, std::shared_ptr<const collectives::CollectivePlan> plan,
                        int32_t priority, uint8_t) override {
    engine_.start(stream, std::move(plan), priority, false);
    if (!running()) wake_at(now());
  }
  void send(NpuId, uint32_t, uint32_t, uint64_t, uint32_t, uint8_t) override {
    throw std::logic_error("collectives only");
  }
  void message_awaited(NpuId, bool) override {}

  void count(Counters& counters) const override {
    counters.messages_submitted += submitted_;
    counters.messages_delivered += delivered_;
    counters.bytes_submitted += bytes_submitted_;
    counters.bytes_delivered += bytes_delivered_;
    counters.link_bytes += link_.bytes();
    counters.link_messages += link_.messages();
    counters.in_flight += due_.size();
    ++counters.links;
  }
  void for_each_link(const LinkVisitor& visit) const override {
    LinkReport report(link_);
    report.name = std::string(name()) + ".up";
    report.to = "switch0_0";
    visit(report);
  }

 private:
  void submit(const Message& message) override {
    const fabric::PacketRef ref = pool_.acquire();
    fabric::Packet& packet = pool_[ref];
    packet.bytes = message.bytes;
    packet.id_low = pack_low(message.id);
    packet.id_high = pack_high(message.id, static_cast<uint32_t>(submitted_++));
    packet.source = index(rank());
    packet.destination = index(message.peer);
    packet.data = message.data;
    packet.submitted = now();
    bytes_submitted_ += message.bytes;
    const fabric::Link::Slot slot = link_.occupy(now(), message.bytes);
    fabric::Transfer transfer;
    transfer.leave(slot.start, link_.latency(), slot.end - slot.start);
    transfer.packet = ref;
    fabric::FabricPhase phase = fabric::FabricPhase::transfer;
    sc_core::sc_time none;
    socket_->nb_transport_fw(transfer, phase, none);
  }
  void schedule(Picoseconds at, uint32_t token) override { push(at, {0, 0, number_++}, token); }
  void receive(const fabric::Transfer& transfer) override {
    const fabric::Packet& packet = pool_[transfer.packet];
    push(transfer.first + transfer.flit_time, {1, packet.source, sequence_of(packet.id_high)},
         transfer.packet);
  }
  struct Order {
    uint32_t kind = 0;  ///< 0: a time of the engine's; 1: a message
    uint32_t sender = 0;
    uint32_t number = 0;
    bool operator<(const Order& o) const {
      return std::tie(kind, sender, number) < std::tie(o.kind, o.sender, o.number);
    }
  };
  void push(Picoseconds at, const Order& order, uint32_t what) {
    due_.push(at, order, what);
    if (!running()) wake_at(at);
  }
  void activate(Picoseconds t) override {
    while (due_.next() <= t) {
      const auto entry = due_.pop();
      if (entry.order.kind == 0) {
        engine_.wake(entry.payload);
        continue;
      }
      const fabric::Packet packet = pool_[entry.payload];
      pool_.release(entry.payload);
      ++delivered_;
      bytes_delivered_ += packet.bytes;
      Completion completion;
      completion.id = unpack(packet.id_low, packet.id_high);
      completion.source = NpuId{packet.source};
      completion.bytes = packet.bytes;
      completion.data = packet.data;
      completion.submitted = packet.submitted;
      completion.split.serialise = t - packet.submitted;
      engine_.completed(completion);
    }
    engine_.settled();
    wake_at(due_.next());
  }

  const Config& config_;
  fabric::PacketPool& pool_;
  fabric::Link link_;
  fabric::fabric_initiator_socket socket_;
  NmuClient* client_ = nullptr;
  collectives::CollectiveEngine engine_;
  fabric::TimedQueue<uint32_t, Order> due_;
  uint32_t number_ = 0;
  uint64_t submitted_ = 0;
  uint64_t delivered_ = 0;
  uint64_t bytes_submitted_ = 0;
  uint64_t bytes_delivered_ = 0;
};

/// This library's, but for a wait before every message.
class WaitingNmu final : public Nmu {
 public:
  WaitingNmu(sc_core::sc_module_name name, NpuId rank, const NmuContext& context, Picoseconds wait)
      : Nmu(name, rank, context), wait_(wait) {
    shape_departures();
  }

 private:
  Picoseconds departs(const Departing& message) override { return message.ready + wait_; }
  Picoseconds wait_;
};

/// It lets messages leave before they are there.
class EarlyNmu final : public Nmu {
 public:
  EarlyNmu(sc_core::sc_module_name name, NpuId rank, const NmuContext& context) : Nmu(name, rank, context) {
    shape_departures();
  }

 private:
  Picoseconds departs(const Departing& message) override { return message.ready / 2; }
};

/// This library's, but contributions take a while to get in.
class SlowUnit final : public SwitchUnit {
 public:
  SlowUnit(sc_core::sc_module_name name, const UnitPlace& place, Picoseconds wait)
      : SwitchUnit(name, place), wait_(wait) {}

 private:
  void receive(fabric::PacketRef packet, Picoseconds head, Picoseconds tail, Picoseconds before) override {
    SwitchUnit::receive(packet, head + wait_, tail + wait_, before);
  }
  Picoseconds wait_;
};

void add_models() {
  unit_models().add(
      {"slow", "", "test", [](sc_core::sc_module_name name, const UnitPlace& place, Parameters& parameters) {
         return std::make_unique<SlowUnit>(name, place, parameters.time("wait", "100 ns"));
       }});
  nmu_models().add({"one_link", "", "test",
                    [](sc_core::sc_module_name name, NpuId rank, const NmuContext& context, Parameters&) {
                      return std::make_unique<OneLinkNmu>(name, rank, context);
                    }});
  nmu_models().add(
      {"waiting", "", "test",
       [](sc_core::sc_module_name name, NpuId rank, const NmuContext& context, Parameters& parameters) {
         return std::make_unique<WaitingNmu>(name, rank, context, parameters.time("wait", "100 ns"));
       }});
  nmu_models().add({"early", "", "test",
                    [](sc_core::sc_module_name name, NpuId rank, const NmuContext& context, Parameters&) {
                      return std::make_unique<EarlyNmu>(name, rank, context);
                    }});
  npu_models().add({"broken", "", "test",
                    [](sc_core::sc_module_name, const NpuContext&, Parameters&) -> std::unique_ptr<NpuModel> {
                      throw std::runtime_error("out of cells");
                    }});
}

Config one_switch(Fidelity fidelity = Fidelity::message) {
  Config config;
  DimensionConfig d;
  d.kind = DimensionKind::switch_;
  d.size = 4;
  d.bandwidth = {50'000'000'000ull, 1};
  d.latency = 500'000;
  d.fidelity = fidelity;
  config.dimensions = {d};
  config.collectives.chunks = 1;
  config.collectives.algorithms[static_cast<size_t>(CollectiveOp::all_gather)] = {"ring"};
  return config;
}

/// The time of an all-gather, and what does not hold.
std::string all_gather(const Config& config) {
  const auto result = test::isolated([&] {
    add_models();
    test::SoloCollectiveJob job("job", config);
    job.start(CollectiveOp::all_gather, 1 << 16);
    if (!test::run_to_the_end(job)) return "stalled: " + job.stall_report();
    std::string text = std::to_string(job.last().time());
    for (const std::string& line : job.result().broken_invariants) text += "; " + line;
    return text;
  });
  return result.text;
}

/// Why a machine cannot be built.
std::string refusal(const Config& config, bool npus = false) {
  const auto result = test::isolated([&] {
    add_models();
    Machine::Options options;
    options.npus = npus;
    try {
      Machine machine("job", config, options);
    } catch (const UserError& e) {
      return std::string(e.what());
    }
    return std::string("built");
  });
  return result.text;
}

TEST(ModuleChoices, AForeignNmuGivesTheSameTimes) {
  for (const char* const data : {"none", "functional"}) {
    Config config = one_switch();
    config.run.data = data;
    const std::string own = all_gather(config);
    config.nmu.implementation = "one_link";
    EXPECT_EQ(all_gather(config), own);
    config.nmu.implementation = kDefaultNmuModel;
    config.implementations = {{"nmu[02]", "one_link", "here"}};
    EXPECT_EQ(all_gather(config), own);
  }
}

TEST(ModuleChoices, EveryMessageWaits) {
  for (const Fidelity fidelity : {Fidelity::message, Fidelity::packet, Fidelity::analytical}) {
    Config config = one_switch(fidelity);
    const uint64_t own = std::stoull(all_gather(config));
    // Three rounds, one after the other.
    config.nmu.implementation = "waiting(wait=1 us)";
    EXPECT_EQ(std::stoull(all_gather(config)), own + 3'000'000);
    config.nmu.implementation = "waiting(wait=0 ns)";
    EXPECT_EQ(std::stoull(all_gather(config)), own);
    // One NMU of four: its waits go round the ring.
    config.nmu.implementation = kDefaultNmuModel;
    config.implementations = {{"nmu1", "waiting(wait=1 us)", "here"}};
    const uint64_t one = std::stoull(all_gather(config));
    EXPECT_GE(one, own + 1'000'000);
    EXPECT_LE(one, own + 3'000'000);
    // The first entry that matches applies.
    config.implementations = {{"nmu1", "model", "here"}, {"nmu*", "waiting(wait=0 ns)", "there"}};
    EXPECT_EQ(std::stoull(all_gather(config)), own);
  }
}

TEST(ModuleChoices, CollectiveUnitsHaveNames) {
  for (const Fidelity fidelity : {Fidelity::message, Fidelity::packet, Fidelity::analytical}) {
    Config config = one_switch(fidelity);
    config.collectives.algorithms[static_cast<size_t>(CollectiveOp::all_gather)] = {"in_switch"};
    config.run.data = "functional";
    const uint64_t own = std::stoull(all_gather(config));
    config.dimensions[0].collective_unit.implementation = "slow(wait=0 ns)";
    EXPECT_EQ(all_gather(config), std::to_string(own));
    config.dimensions[0].collective_unit.implementation = "slow(wait=1 us)";
    EXPECT_EQ(all_gather(config), std::to_string(own + 1'000'000));
    config.dimensions[0].collective_unit.implementation = kDefaultUnitModel;
    config.implementations = {{"switch0_0.unit", "slow(wait=1 us)", "here"}};
    EXPECT_EQ(all_gather(config), std::to_string(own + 1'000'000));
  }
}

TEST(ModuleChoices, AModelThatSendsIntoThePastIsTold) {
  Config config = one_switch();
  config.nmu.implementation = "early";
  EXPECT_NE(all_gather(config).find("before it is ready"), std::string::npos) << all_gather(config);
}

TEST(ModuleChoices, WhatCannotBeUsedIsTold) {
  Config config = one_switch();
  config.implementations = {{"nmu1", "wating", "m.yaml:7: key `implementations[0]`"}};
  std::string why = refusal(config);
  for (const char* word :
       {"m.yaml:7: key `implementations[0]`", "no model 'wating'", "did you mean `waiting`",
        "NMU models: model, one_link, waiting", "switch models: crossbar"})
    EXPECT_NE(why.find(word), std::string::npos) << word << ": " << why;
  config.implementations[0] = {"nmu4", "waiting", "here"};
  why = refusal(config);
  EXPECT_NE(
      why.find("here: 'nmu4' applies to no module; 'waiting' is a model for the 4 modules nmu0 .. nmu3"),
      std::string::npos)
      << why;
  config.implementations[0] = {"nmu0", "crossbar", "here"};
  EXPECT_NE(refusal(config).find("'crossbar' is a model for the 1 modules switch0_0"), std::string::npos)
      << refusal(config);
  config.implementations[0] = {"nmu[0", "waiting", "here"};
  EXPECT_NE(refusal(config).find("here: "), std::string::npos) << refusal(config);
  config.implementations[0] = {"nmu0", "plugin:model", "here"};
  EXPECT_NE(refusal(config).find("this library's own, not a plugin's"), std::string::npos) << refusal(config);
  config.implementations[0] = {"nmu0", "waiting(weight=1 kg)", "here"};
  EXPECT_NE(refusal(config).find("has no parameter 'weight'"), std::string::npos) << refusal(config);
  config.implementations.clear();
  config.npu.implementation = "broken";
  EXPECT_EQ(refusal(config), "built");
  why = refusal(config, true);
  EXPECT_NE(why.find("npu.implementation: NPU model 'broken' of test, module npu0: its constructor failed: "
                     "out of cells"),
            std::string::npos)
      << why;
}

TEST(ModuleChoices, DuplicatesAreRefused) {
  const auto result = test::isolated([] {
    add_models();
    try {
      add_models();
    } catch (const UserError& e) {
      return std::string(e.what());
    }
    return std::string("taken twice");
  });
  EXPECT_NE(result.text.find("there are two of the collective unit model 'slow'"), std::string::npos)
      << result.text;
}

TEST(ModuleChoices, OtherModelsAreNotFolded) {
  Config config = one_switch(Fidelity::analytical);
  EXPECT_EQ(graph::folding_refusal(config), "");
  config.implementations = {{"nmu0", "waiting", "here"}};
  EXPECT_NE(graph::folding_refusal(config), "");
  config.implementations.clear();
  config.npu.implementation = "broken";
  EXPECT_NE(graph::folding_refusal(config), "");
}

/// The names of all modules whose model can be chosen are those that are built.
TEST(ModuleChoices, NamesAreThoseOfTheModules) {
  for (const Fidelity fidelity : {Fidelity::message, Fidelity::packet}) {
    const auto result = test::isolated([&] {
      Config config = test::ring_4_switch_2(fidelity);
      config.remote_memory = RemoteMemoryConfig{};
      config.remote_memory->bandwidth = {1'000'000'000, 1};
      Machine::Options options;
      options.npus = true;
      Machine machine("job", config, options);
      std::string text;
      uint32_t count = 0;
      for_each_named_module(
          config, machine.fidelity(), machine.geometry(), [&](ModuleKind kind, const std::string& name) {
            ++count;
            const sc_core::sc_object* object = sc_core::sc_find_object(("job." + name).c_str());
            if (object == nullptr) text += name + " is missing\n";
            if (kind == ModuleKind::nmu && dynamic_cast<const Nmu*>(object) == nullptr)
              text += name + " is no NMU\n";
          });
      const uint32_t expected = 8 * 4 + (fidelity == Fidelity::message ? 4 : 0);
      if (count != expected) text += std::to_string(count) + " modules\n";
      return text;
    });
    EXPECT_SILENT(result);
  }
}

/// Groups of a pool have memories of their own: one of another model.
TEST(ModuleChoices, MemoriesOfAPoolsGroups) {
  const auto result = test::isolated([] {
    const Config config = test::pool_config(
        8,
        {"nodes: 2", "groups: 4", "out_switches: 2", "group_bandwidth: 64 GB/s",
         "out_node_bandwidth: 64 GB/s", "in_node_bandwidth: 64 GB/s", "split: whole",
         "group_memory: bandwidth"},
        "implementations: [{modules: pool.group2.memory, implementation: cxl(preset=cxl2_x16)}]\n");
    Machine::Options options;
    options.npus = true;
    Machine machine("job", config, options);
    std::string text;
    uint32_t count = 0;
    for_each_named_module(config, machine.fidelity(), machine.geometry(),
                          [&](ModuleKind kind, const std::string& name) {
                            if (kind != ModuleKind::memory || name.rfind("pool.", 0) != 0) return;
                            ++count;
                            const auto* object = sc_core::sc_find_object(("job." + name).c_str());
                            const bool cxl = dynamic_cast<const CxlMemory*>(object) != nullptr;
                            if (cxl != (name == "pool.group2.memory"))
                              text += name + " is of another model\n";
                          });
    return count == 4 ? text : text + std::to_string(count) + " memories\n";
  });
  EXPECT_SILENT(result);
}

TEST(ForeignBlocks, AreNamedWhereInvariantsAreBroken) {
  EXPECT_SILENT(test::isolated([] {
    const auto no_memory = [](sc_core::sc_module_name, const MemoryContext&, Parameters&) {
      return std::unique_ptr<MemoryTarget>();
    };
    memory_models().add({"their_memory", "of this test", "/home/me/memory.so", no_memory, true});
    link_models().add({"their_link", "of this test", "/home/me/link.so", nullptr});
    Config config = test::ring_4_switch_2();
    if (const std::string own = advice_on_broken_invariants(config, "the command");
        own != "please report this with the command")
      return own;
    for (const auto& [modules, model] :
         std::vector<std::pair<std::string, std::string>>{{"hbm[12]", "rtl:their_memory(period=1 ns)"},
                                                          {"nmu3", "model"},
                                                          {"nmu1.d0_plus", "their_link"}}) {
      ModuleChoice choice;
      choice.modules = modules;
      choice.implementation = model;
      config.implementations.push_back(choice);
    }
    config.hbm.implementation = "their_memory";
    const std::string theirs = advice_on_broken_invariants(config, "the command");
    return theirs ==
                   "a block that is not Weft's own may have broken them: "
                   "hbm[12] (rtl:their_memory(period=1 ns) of /home/me/memory.so), "
                   "nmu1.d0_plus (their_link of /home/me/link.so), hbm (their_memory of /home/me/memory.so)"
               ? std::string()
               : theirs;
  }));
}

/// A memory that never answers.
class SilentMemory final : public MemoryTarget {
 public:
  SilentMemory(sc_core::sc_module_name name, const MemoryContext& context)
      : MemoryTarget(name, context.figures.capacity, context.sockets, context.probes) {}
  Picoseconds busy() const override { return 0; }

 private:
  void begin(Ticket, const Access&, Picoseconds) override {}
};

TEST(StallReport, NamesAMemoryThatDoesNotAnswer) {
  const auto result = test::isolated([] {
    memory_models().add({"silent", "of this test", "a plugin",
                         [](sc_core::sc_module_name name, const MemoryContext& context, Parameters&) {
                           return std::make_unique<SilentMemory>(name, context);
                         }});
    Config config = test::ring_4_switch_2();
    config.collectives.reduction = ReductionKind::hbm;
    config.hbm.bandwidth = {400'000'000'000ull, 1};
    config.hbm.outstanding = 3;
    ModuleChoice choice;
    choice.modules = "hbm3";
    choice.implementation = "silent";
    choice.origin = "key";
    config.implementations.push_back(choice);
    test::SoloCollectiveJob job("job", config);
    job.start(CollectiveOp::all_reduce, 1 << 16);
    return test::run_to_the_end(job) ? std::string("finished") : job.machine().explain_stall();
  });
  EXPECT_EQ(result.status, 0) << result.text;
  EXPECT_NE(result.text.find("  job.hbm3: 3 accesses have not been answered\n"), std::string::npos)
      << result.text;
  EXPECT_EQ(result.text.find("job.hbm2: "), std::string::npos) << result.text;
}

}  // namespace
}  // namespace weft
