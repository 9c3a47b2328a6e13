// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What is wrong with a block or its pins: each seeded defect of tests/cosim/rtl/broken.sv is caught by its
// rule, and the message names block, pin, time and what to do.

#include "cosim/axis/stream_checker.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "broken.h"
#include "pipe.h"
#include "tests/cosim/stream_bench.h"
#include "tests/support/isolated.h"

namespace weft::cosim::test {
namespace {

using Rule = StreamChecker::Rule;
using weft::test::isolated;

void run() {
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_MS), sc_core::SC_EXIT_ON_STARVATION);
}

/// Three frames of ten bytes through the broken stage. TREADY is low for some edges in front of each beat.
struct Broken {
  Broken(unsigned defect, const std::string& policy)
      : clock("clock", clock_options(policy)),
        rtl("rtl"),
        master("in", clock, WEFT_STREAM_PINS(rtl, s)),
        slave(
            "out", clock, WEFT_STREAM_PINS(rtl, m),
            [this](StreamFrame, Picoseconds, Picoseconds) { ++taken; }, options()) {
    clock.clock(rtl.clk);
    clock.reset(rtl.rst_n);
    ties.constant(rtl.defect, defect);
    Random random(2);
    // Without TLAST several frames would be one with holes.
    const bool one = defect == 9;
    for (int i = 0; i < (one ? 1 : 3); ++i) master.send(random.frame(one ? 12 : 10, 3, 3, 3), 10000);
  }
  static StreamSlave::Options options() {
    StreamSlave::Options options;
    options.ready = [](uint64_t cycle) { return cycle % 6 == 0; };
    return options;
  }
  BlockClock clock;
  Vbroken rtl;
  PinTies ties;
  StreamMaster master;
  StreamSlave slave;
  int taken = 0;
};

/// The rules that a run breaks, each once, and the text of the first.
std::string caught(unsigned defect) {
  return isolated([defect] {
           Broken bench(defect, "gated(8)");
           std::vector<std::string> rules;
           std::string text;
           for (StreamChecker* checker : {&bench.slave.checker(), &bench.master.checker()}) {
             checker->report_to([&](const StreamChecker::Violation& violation) {
               const std::string rule = to_string(violation.rule);
               if (std::find(rules.begin(), rules.end(), rule) == rules.end()) rules.push_back(rule);
               if (text.empty()) text = violation.text;
             });
           }
           run();
           bench.slave.checker().finish(now());
           bench.master.checker().finish(now());
           std::string all;
           for (const std::string& rule : rules) all += rule + " ";
           return all + "| " + text;
         })
      .text;
}

TEST(StreamChecker, SeededDefects) {
  EXPECT_EQ(caught(0), "| ");
  const struct {
    unsigned defect;
    const char* rule;
    const char* text;
  } defects[] = {
      {1, "stuck ", "block rtl, pins s: TREADY (rtl.s_tready) never came for the TVALID that is high since "},
      {2, "withdrawn ",
       "block rtl, pins m: TVALID (rtl.m_tvalid) was withdrawn before TREADY came (it was high from "},
      {3, "changed ", "TDATA (rtl.m_tdata) changed from 0x"},
      {4, "changed ", "TLAST (rtl.m_tlast) changed from 0x0 to 0x1 while TVALID waits for TREADY (since "},
      {5, "keep ", "TKEEP (rtl.m_tkeep) has holes: 0xd at "},
      {6, "keep ", "TKEEP (rtl.m_tkeep) has 3 of 4 bytes in a beat that is not the frame's last at "},
      {7, "sideband ", "TID (rtl.m_tid) changed from "},
      {8, "reset ", "TVALID (rtl.m_tvalid) is high during the reset at 1 ns; drive TVALID low"},
      {9, "open ", "TLAST (rtl.m_tlast) is missing: a frame that began at "},
      {10, "changed ", "TKEEP (rtl.m_tkeep) changed from 0xf to 0x1"},
      {11, "changed ", "TDEST (rtl.m_tdest) changed from "},
      {12, "changed ", "TUSER (rtl.m_tuser) changed from "},
      {13, "sideband ", "TDEST (rtl.m_tdest) changed from "},
      {14, "changed ", "TID (rtl.m_tid) changed from "},
      {15, "changed ", "TDATA (rtl.m_tdata) changed from "},
  };
  for (const auto& d : defects) {
    const std::string all = caught(d.defect);
    EXPECT_EQ(all.substr(0, all.find('|')).find(d.rule), 0u) << d.defect << ": " << all;
    EXPECT_NE(all.find(d.text), std::string::npos) << d.defect << ": " << all;
    EXPECT_NE(all.find("; "), std::string::npos) << "no remedy: " << all;
    EXPECT_NE(all.find(std::string("(rule `") +
                       std::string(d.rule).substr(0, std::string(d.rule).size() - 1) + "`"),
              std::string::npos)
        << d.defect << ": " << all;
  }
}

TEST(StreamChecker, ByDefaultTheRunEndsWithTheMessage) {
  const auto result = isolated([] {
    Broken bench(2, "gated(8)");
    try {
      run();
    } catch (const sc_core::sc_report& report) {
      return std::string(report.get_msg());
    }
    return std::string("no error");
  });
  EXPECT_NE(result.text.find("block rtl, pins m: TVALID (rtl.m_tvalid) was withdrawn before TREADY came"),
            std::string::npos)
      << result.text;
}

TEST(StreamChecker, AStuckBlockEndsTheRunAndSaysWhere) {
  for (const char* policy : {"free", "gated"}) {
    const auto result = isolated([policy] {
      Broken bench(1, policy);
      run();
      if (sc_core::sc_pending_activity()) return std::string("the simulation goes on");
      return bench.master.stall_text();
    });
    EXPECT_EQ(result.text,
              "block rtl, pins s: TVALID (rtl.s_tvalid) is high since 12 ns and waits for TREADY "
              "(rtl.s_tready), which is low; 3 frames (0 of 10 B of the first taken) wait");
  }
}

TEST(StreamChecker, NullBytesMayBeAllowed) {
  for (const unsigned defect : {5u, 6u}) {
    EXPECT_SILENT(isolated([defect] {
      Broken bench(defect, "gated(8)");
      bench.slave.checker().allow_sparse();
      run();
      return bench.taken == 3 ? std::string() : fmt::format("{} frames", bench.taken);
    }));
  }
}

/// Blocks whose pins are wrong, as Verilator would declare them.
template <typename Data, typename Keep>
struct PinsBlock : sc_core::sc_module {
  explicit PinsBlock(sc_core::sc_module_name name) : sc_core::sc_module(name) {}
  sc_core::sc_in<Data> s_tdata{"s_tdata"};
  sc_core::sc_in<Keep> s_tkeep{"s_tkeep"};
  sc_core::sc_in<bool> s_tvalid{"s_tvalid"};
  sc_core::sc_out<bool> s_tready{"s_tready"};
};
struct NoReady : sc_core::sc_module {
  explicit NoReady(sc_core::sc_module_name name) : sc_core::sc_module(name) {}
  sc_core::sc_in<uint32_t> s_tdata{"s_tdata"};
  sc_core::sc_in<bool> s_tvalid{"s_tvalid"};
};
struct WideHandshake : sc_core::sc_module {
  explicit WideHandshake(sc_core::sc_module_name name) : sc_core::sc_module(name) {}
  sc_core::sc_in<uint32_t> s_tdata{"s_tdata"};
  sc_core::sc_in<uint32_t> s_tvalid{"s_tvalid"};
  sc_core::sc_out<bool> s_tready{"s_tready"};
};

template <typename Block>
std::string refused(uint32_t data_bits = 0, bool as_slave = false) {
  return isolated([=] {
           BlockClock clock("clock", BlockClock::Options{});
           Block rtl("rtl");
           StreamPins pins = WEFT_STREAM_PINS(rtl, s);
           if (data_bits != 0) pins.data_bits(data_bits);
           if (as_slave) {
             StreamSlave slave("out", clock, std::move(pins), {});
           } else {
             StreamMaster master("in", clock, std::move(pins));
           }
           return std::string("accepted");
         })
      .text;
}

TEST(StreamPins, MissingAndWrong) {
  using sc_dt::sc_bv;
  EXPECT_EQ(refused<NoReady>(),
            "block rtl, pins s: TREADY is missing; a stream needs TDATA, TVALID and TREADY: name the pins "
            "NAME_tready .. "
            "in the RTL, or give them to StreamPins one by one");
  EXPECT_EQ((refused<PinsBlock<sc_bv<512>, uint32_t>>()),
            "block rtl, pins s: TKEEP (rtl.s_tkeep, uint32_t) has 2 to 32 bits, and TDATA of 512 bits needs "
            "64 bits; give "
            "the adapter the pins of one port, or change the block's widths");
  EXPECT_NE(
      (refused<PinsBlock<sc_bv<100>, uint32_t>>())
          .find("TDATA (rtl.s_tdata, sc_bv<100>) has 100 bits; a stream has whole bytes, 8 to 1024 bits"),
      std::string::npos);
  EXPECT_NE((refused<PinsBlock<sc_bv<2048>, sc_bv<256>>>()).find("8 to 1024 bits"), std::string::npos);
  EXPECT_NE((refused<PinsBlock<uint32_t, uint32_t>>(64))
                .find("TDATA (rtl.s_tdata) is said to have 64 bits, and its type uint32_t has 2 to 32 bits"),
            std::string::npos);
  EXPECT_NE(refused<WideHandshake>().find(
                "TVALID (rtl.s_tvalid, uint32_t) has 2 to 32 bits, and a handshake needs 1 bit"),
            std::string::npos);
  EXPECT_NE((refused<PinsBlock<uint32_t, uint32_t>>(0, true))
                .find("TDATA (rtl.s_tdata) is an input of the block, and a StreamSlave needs an output; a "
                      "StreamMaster "
                      "drives the block's slave port"),
            std::string::npos);
  // What fits is accepted, whoever knows the width.
  EXPECT_EQ((refused<PinsBlock<uint32_t, uint32_t>>(16)), "accepted");
  EXPECT_EQ((refused<PinsBlock<uint32_t, bool>>()), "accepted");
  EXPECT_EQ((refused<PinsBlock<uint64_t, uint32_t>>()), "accepted");
  EXPECT_EQ((refused<PinsBlock<sc_bv<32>, sc_bv<4>>>()), "accepted");
}

TEST(StreamPins, TheHeaderOfABlockKnowsWidthsThatTypesDoNot) {
  // A pipe of 64 bits: uint64_t has 33 to 64 bits, TKEEP of 8 bits is a uint32_t.
  EXPECT_EQ(isolated([] {
              Vpipe rtl("rtl");
              StreamPins pins = WEFT_STREAM_PINS(rtl, s);
              pins.data_bits(40);
              pins.check(true);
              return std::string("accepted");
            }).text,
            "block rtl, pins s: TKEEP (rtl.s_tkeep, uint32_t) has 8 bits, and TDATA of 40 bits needs 5 bits; "
            "give the "
            "adapter the pins of one port, or change the block's widths");
}

TEST(StreamPins, APinThatIsBoundToNothing) {
  const auto result = isolated([] {
    BlockClock clock("clock", BlockClock::Options{});
    Vbroken rtl("rtl");
    clock.clock(rtl.clk);
    StreamMaster master("in", clock, WEFT_STREAM_PINS(rtl, s));
    StreamSlave slave("out", clock, WEFT_STREAM_PINS(rtl, m), {});
    run();
    return std::string("it ran");
  });
  EXPECT_EQ(result.status, 99);
  EXPECT_NE(result.text.find("block rtl: these pins are bound to nothing: "), std::string::npos)
      << result.text;
  EXPECT_NE(result.text.find("rst_n (sc_in)"), std::string::npos) << result.text;
  EXPECT_NE(result.text.find("defect (sc_in)"), std::string::npos) << result.text;
  EXPECT_NE(result.text.find("PinTies: constant(pin, value) for an input, open(pin) for an output"),
            std::string::npos)
      << result.text;
  EXPECT_EQ(result.text.find("s_tdata"), std::string::npos) << result.text;
}

}  // namespace
}  // namespace weft::cosim::test
