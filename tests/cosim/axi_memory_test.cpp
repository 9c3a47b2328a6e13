// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// An AXI4 memory controller in SystemVerilog (examples/rtl/axi_memory) under the fuzz initiator.

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "axi_memory.h"
#include "cosim/axi/axi_master.h"
#include "tests/cosim/fuzz_hops.h"

namespace weft {
namespace {

using cosim::AxiMaster;
using cosim::BlockClock;
using cosim::FuzzInitiator;
using test::expect;
using test::Hops;

TEST(AxiFuzz, AMemoryControllerInRtl) {
  test::expect_right(
      [](auto& socket, uint64_t seed, Hops&) {
        struct All {
          explicit All(const BlockClock::Options& c)
              : clock("clock", c), rtl("rtl"), axi("axi", clock, bind(clock, rtl)) {}
          static cosim::AxiPins bind(BlockClock& clock, Vaxi_memory& rtl) {
            clock.clock(rtl.clk);
            clock.reset(rtl.rst_n);
            clock.qactive(rtl.qactive);
            return WEFT_AXI_PINS(rtl, s_axi);
          }
          BlockClock clock;
          Vaxi_memory rtl;
          AxiMaster axi;
        };
        BlockClock::Options options;
        options.policy = seed % 2 == 0 ? BlockClock::Policy::free : BlockClock::Policy::gated;
        options.patience = 1'000;
        auto all = std::make_shared<All>(options);
        socket.bind(all->axi.target());
        return [all] {
          all->axi.checker().finish(sc_core::sc_time_stamp().value());
          return expect("in the master", all->axi.outstanding(), 0) +
                 expect("ids", static_cast<uint64_t>(all->axi.checker().bursts() > 30), 1);
        };
      },
      [](FuzzInitiator::Options& o) {
        o.debug = false;
        o.transactions = std::min<uint64_t>(o.transactions, 100);
        o.size = 2'048;
      },
      0);  // it serves one burst after the other
}

}  // namespace
}  // namespace weft
