// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// AXI4 adapters back to back, through a block of wires, under the fuzz initiator; and the checker sees each
// rule broken.

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cosim/axi/axi_master.h"
#include "cosim/axi/axi_slave.h"
#include "cosim/tlm/fuzz_target.h"
#include "sc_models/hbm.h"
#include "tests/cosim/axi_wires.h"
#include "tests/cosim/fuzz_hops.h"
#include "tests/support/isolated.h"
#include "tests/support/memory_initiators.h"

namespace weft {
namespace {

using cosim::AxiChecker;
using cosim::AxiMaster;
using cosim::AxiPins;
using cosim::AxiSignal;
using cosim::AxiSlave;
using cosim::BaseProtocolChecker;
using cosim::BlockClock;
using cosim::FuzzInitiator;
using cosim::FuzzTarget;
using test::AxiWires;
using test::Behind;
using test::expect;
using test::expect_right;
using test::Hops;
using test::isolated;
using test::lines;

BlockClock::Options clocked() {
  BlockClock::Options options;
  options.policy = BlockClock::Policy::gated;
  return options;
}

/// TLM -> pins -> wires -> pins -> TLM.
template <int Bytes>
struct BackToBack {
  BackToBack(const std::string& defect, AxiMaster::Options m, const AxiSlave::Options& s)
      : clock("clock", clocked()),
        wires("wires", defect),
        master("master", clock, WEFT_AXI_PINS(wires, s_axi), std::move(m)),
        slave("slave", clock, WEFT_AXI_PINS(wires, m_axi), s) {
    clock.clock(wires.clk);
    clock.reset(wires.rst_n);
    for (AxiChecker* checker : {&master.checker(), &slave.checker()})
      checker->report_to([this](const AxiChecker::Violation& v) {
        found.insert(v.rule);
        text += v.text + "\n";
      });
  }
  void finish() {
    const Picoseconds now = sc_core::sc_time_stamp().value();
    master.checker().finish(now);
    slave.checker().finish(now);
  }
  BlockClock clock;
  AxiWires<Bytes> wires;
  AxiMaster master;
  AxiSlave slave;
  std::set<std::string> found;
  std::string text;
};

template <int Bytes>
Behind through_pins(AxiMaster::Options m, AxiSlave::Options s) {
  return [m, s](auto& socket, uint64_t seed, Hops& hops) {
    struct All {
      All(const AxiMaster::Options& how, const AxiSlave::Options& serve, const FuzzTarget::Options& t)
          : pins("", how, serve), target("target", t) {}
      BackToBack<Bytes> pins;
      FuzzTarget target;
    };
    FuzzTarget::Options t;
    t.seed = seed + 5;
    t.non_blocking = !s.blocking;
    auto all = std::make_shared<All>(m, s, t);
    BaseProtocolChecker::Options c;
    c.provoke = true;
    BaseProtocolChecker& checker = hops.add(c);
    socket.bind(all->pins.master.target());
    all->pins.slave.initiator().bind(checker.target);
    checker.initiator.bind(all->target.socket);
    return [all] {
      all->pins.finish();
      return all->pins.text + expect("in the master", all->pins.master.outstanding(), 0) +
             expect("at the target", all->target.outstanding(), 0) +
             (all->pins.slave.idle() ? "" : "not idle\n");
    };
  };
}

void shorter(FuzzInitiator::Options& options) {
  options.debug = false;
  options.transactions = std::min<uint64_t>(options.transactions, 100);
  options.size = 2'048;
}

AxiMaster::Options ids(uint32_t n, uint32_t outstanding = 16) {
  AxiMaster::Options options;
  options.ids = n;
  options.outstanding = outstanding;
  return options;
}

TEST(AxiFuzz, EightBytesSixteenIds) {
  expect_right(through_pins<8>(ids(16), {}), shorter, 1.5);
}

TEST(AxiFuzz, SixtyFourBytesOneIdToAnLtTarget) {
  AxiSlave::Options s;
  s.blocking = true;
  expect_right(through_pins<64>(ids(1), s), shorter, 1.5);
}

TEST(AxiFuzz, FewOutstanding) {
  AxiSlave::Options s;
  s.outstanding = 3;
  expect_right(through_pins<16>(ids(4, 5), s), shorter, 1.2);
}

TEST(AxiChecker, SeesEachRuleBroken) {
  for (const char* const rule :
       {"withdrawn", "changed", "reset", "boundary", "burst", "size", "wlast", "strobe", "b_early",
        "b_unknown", "r_unknown", "rlast", "exokay", "open", "stuck"}) {
    SCOPED_TRACE(rule);
    const auto result = isolated([rule] {
      FuzzInitiator::Options i;
      i.debug = false;
      i.transactions = 40;
      FuzzInitiator initiator("initiator", i);
      AxiSlave::Options s;
      s.outstanding = 1;
      BackToBack<8> pins(rule, ids(4), s);
      Hbm hbm("hbm", {{1'000'000'000'000ull, 1}, 20'000, 0, 1.0}, 1, nullptr);
      initiator.socket.bind(pins.master.target());
      pins.slave.initiator().bind(hbm.socket(0));
      sc_core::sc_start(20, sc_core::SC_US);
      pins.finish();
      if (pins.found.count(rule) == 0) return "not found; " + pins.text;
      return pins.text.find("block wires, pins ") == 0 ? std::string{} : pins.text;
    });
    EXPECT_SILENT(result);
  }
}

TEST(AxiChecker, SeesNothingWhereNothingIsBroken) {
  EXPECT_SILENT(isolated([] {
    FuzzInitiator::Options i;
    i.debug = false;
    FuzzInitiator initiator("initiator", i);
    AxiSlave::Options s;
    s.outstanding = 1;
    BackToBack<8> pins("", ids(4), s);
    Hbm hbm("hbm", {{1'000'000'000'000ull, 1}, 20'000, 0, 1.0}, 1, nullptr);
    hbm.keep_bytes();
    initiator.socket.bind(pins.master.target());
    pins.slave.initiator().bind(hbm.socket(0));
    sc_core::sc_start();
    pins.finish();
    initiator.finish();
    return pins.text + lines(initiator.violations());
  }));
}

TEST(AxiMaster, HoldsRequestsDuringResetAndMapsErrors) {
  EXPECT_SILENT(isolated([] {
    test::Initiator initiator("initiator");
    BackToBack<8> pins("", ids(4), {});
    Hbm hbm("hbm", {{1'000'000'000'000ull, 1}, 0, 8'192, 1.0}, 1, nullptr);
    hbm.keep_bytes();
    initiator.socket.bind(pins.master.target());
    pins.slave.initiator().bind(hbm.socket(0));
    std::string text;
    initiator.script = [&] {
      tlm::tlm_generic_payload p;
      std::vector<unsigned char> data(64, 3);
      test::Initiator::fill(p, 4'090, 12, data.data());  // across 4 KiB: two bursts
      p.set_write();
      sc_core::sc_time delay;
      initiator.socket->b_transport(p, delay);
      text += expect("status", p.get_response_status(), tlm::TLM_OK_RESPONSE);
      if (sc_core::sc_time_stamp().value() < 4'000) text += "it was answered in reset\n";
      text += expect("bursts", pins.master.checker().bursts(), 2);
      test::Initiator::fill(p, 8'190, 4, data.data());
      initiator.socket->b_transport(p, delay);
      text += expect("beyond", p.get_response_status(), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    };
    sc_core::sc_start();
    pins.finish();
    return text + pins.text;
  }));
}

struct NoData : sc_core::sc_module {
  explicit NoData(sc_core::sc_module_name n) : sc_core::sc_module(n) {}
  sc_core::sc_in<uint64_t> s_axi_awaddr{"s_axi_awaddr"};
};

TEST(AxiPins, SayWhatIsMissingOrDoesNotFit) {
  const auto refused = [](const std::function<AxiPins()>& pins, bool slave) {
    return isolated([&] {
             try {
               AxiPins p = pins();
               p.check(slave);
             } catch (const UserError& e) {
               return std::string(e.what());
             }
             return std::string("accepted");
           })
        .text;
  };
  const std::string missing = refused(
      [] {
        static NoData block("block");
        return WEFT_AXI_PINS(block, s_axi);
      },
      true);
  EXPECT_EQ(missing.rfind("block block, pins s_axi: AWVALID is missing", 0), 0u) << missing;
  const std::string turned = refused(
      [] {
        static AxiWires<8> block("block", "");
        return WEFT_AXI_PINS(block, m_axi);
      },
      true);
  EXPECT_NE(turned.find("AWID is an output of the block, and of a slave port it is an input"),
            std::string::npos)
      << turned;
}

/// Its lengths have 4 bits.
struct Axi3 : AxiWires<8> {
  explicit Axi3(sc_core::sc_module_name module_name) : AxiWires(module_name, "") {}
};

}  // namespace

template <>
struct cosim::PinWidths<Axi3> {
  static uint32_t of(const char* pin) { return std::string(pin).find("len") == std::string::npos ? 0 : 4; }
};

namespace {

TEST(AxiPins, LengthsOfASlavePortHaveEightBits) {
  const auto check = [](bool slave) {
    return isolated([slave] {
             Axi3 block("block");
             try {
               AxiPins pins = slave ? WEFT_AXI_PINS(block, s_axi) : WEFT_AXI_PINS(block, m_axi);
               pins.check(slave);
             } catch (const UserError& e) {
               return std::string(e.what());
             }
             return std::string("accepted");
           })
        .text;
  };
  EXPECT_EQ(
      check(true).rfind("block block, pins s_axi: AWLEN has 4 bits, and bursts of AXI4 have a length of 8 "
                        "bits; give the port 8 bits",
                        0),
      0u)
      << check(true);
  // A master may send short bursts only.
  EXPECT_EQ(check(false), "accepted");
}

}  // namespace
}  // namespace weft
