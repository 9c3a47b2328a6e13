// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Blocks that make gaps within frames which their links have been promised, and blocks that do not.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>

#include "cosim/blocks/rtl_link.h"
#include "cosim/blocks/rtl_switch.h"
#include "tests/cosim/stream_pipe.h"
#include "tests/support/isolated.h"
#include "tests/support/small_machine.h"
#include "tests/support/solo_job.h"

namespace weft::cosim {
namespace {

uint64_t counted = 0;  ///< late frames of the blocks, in a child process

struct Pipe : test::StreamPipe<> {
  Pipe(sc_core::sc_module_name module_name, BlockClock& clock, uint64_t pause)
      : StreamPipe(module_name, pause) {
    clock.clock(clk);
    clock.reset(rst_n);
  }
};

/// A switch of two ports: what comes in by one leaves by the other.
class GapSwitch final : public RtlSwitch {
 public:
  GapSwitch(sc_core::sc_module_name module_name, SwitchContext context, Parameters& parameters)
      : RtlSwitch(module_name, std::move(context), parameters) {
    const uint64_t pause = parameters.integer("pause", "0");
    for (int p = 0; p < 2; ++p) pipes_.emplace_back(fmt::format("pipe{}", p).c_str(), clock(), pause);
    for (int p = 0; p < 2; ++p) {
      StreamPins in = WEFT_STREAM_PINS(pipes_[p], s);
      add_port(std::move(in), WEFT_STREAM_PINS(pipes_[1 - p], m));
    }
  }
  void find_unbalanced(std::vector<std::string>& lines) const override {
    RtlSwitch::find_unbalanced(lines);
    counted += late_frames();
  }

 private:
  std::deque<Pipe> pipes_;
};

class GapLink final : public RtlLink {
 public:
  GapLink(sc_core::sc_module_name module_name, const LinkContext& context, Parameters& parameters)
      : RtlLink(module_name, context, parameters),
        pause_(parameters.integer("pause", "0")),
        there_("there", clock(), pause_),
        back_("back", clock(), 0) {
    forward(WEFT_STREAM_PINS(there_, s), WEFT_STREAM_PINS(there_, m));
    backward(WEFT_STREAM_PINS(back_, s), WEFT_STREAM_PINS(back_, m));
  }
  void find_unbalanced(std::vector<std::string>& lines) const override {
    RtlLink::find_unbalanced(lines);
    counted += late_frames();
  }

 private:
  const uint64_t pause_;
  Pipe there_;
  Pipe back_;
};

/// The faults and the late frames of an all-gather, and SystemC's warnings behind them.
std::string outcome(const std::string& modules, const std::string& implementation, uint64_t bytes,
                    Switching switching = Switching::cut_through) {
  return weft::test::isolated([&] {
           switch_models().add(
               {"gaps", "of this test", "a plugin",
                [](sc_core::sc_module_name name, SwitchContext context, Parameters& parameters) {
                  return std::make_unique<GapSwitch>(name, std::move(context), parameters);
                }});
           link_models().add(
               {"gaps_in_link", "of this test", "a plugin",
                [](sc_core::sc_module_name name, const LinkContext& context, Parameters& parameters) {
                  return std::make_unique<GapLink>(name, context, parameters);
                }});
           Config config = weft::test::ring_4_switch_2();
           config.collectives.chunks = 1;
           for (DimensionConfig& dimension : config.dimensions) dimension.switching = switching;
           ModuleChoice choice;
           choice.modules = modules;
           choice.implementation = implementation;
           choice.origin = "key";
           config.implementations.push_back(choice);
           weft::test::SoloCollectiveJob job("job", config);
           job.start(CollectiveOp::all_gather, bytes);
           if (!weft::test::run_to_the_end(job)) return "stalled: " + job.stall_report();
           std::string text;
           const RunResult result = job.result();
           for (const std::string& line : result.broken_invariants) text += line + "\n";
           for (const std::string& line : result.warnings) text += "warning: " + line + "\n";
           return text + fmt::format("{} late\n", counted);
         })
      .text;
}

TEST(BlockGaps, ABlockWithoutGapsIsNeverLate) {
  // The link brings 50 bytes a nanosecond: with a period of 100 ps the block is faster, with 1 ns slower.
  for (const char* period : {"100 ps", "130 ps", "160 ps", "1 ns"}) {
    for (const uint64_t bytes : {8, 128, 200, 1 << 14}) {
      const std::string parameters = fmt::format("(period={}, patience=1000)", period);
      EXPECT_EQ(outcome("switch1_1", "gaps" + parameters, bytes), "0 late\n") << period << " " << bytes;
      EXPECT_EQ(outcome("nmu1.d0_plus", "gaps_in_link" + parameters, bytes), "0 late\n")
          << period << " " << bytes;
    }
  }
}

TEST(BlockGaps, TheFirstLateFrameOfABlockIsAWarningAndAllAreCounted) {
  const auto says = [](const std::string& text, const std::string& module) {
    EXPECT_EQ(text.find("0 late"), std::string::npos) << text;
    EXPECT_EQ(text.find("fault"), std::string::npos) << text;
    const size_t at = text.find("SystemC warning: weft/cosim/late_frame: job." + module);
    ASSERT_NE(at, std::string::npos) << text;
    EXPECT_EQ(text.find("SystemC warning", at + 1), std::string::npos) << text;
    EXPECT_NE(text.find("the last beat of its frame comes ", at), std::string::npos) << text;
    EXPECT_NE(text.find("out without gaps", at), std::string::npos) << text;
    // .. and a line of summary.json.
    const size_t told = text.find("warning: job." + module.substr(0, module.find(':')));
    EXPECT_NE(told, std::string::npos) << text;
    EXPECT_NE(text.find(" came out with gaps", told), std::string::npos) << text;
  };
  says(outcome("switch1_1", "gaps(period=1 ns, pause=900, patience=5000)", 1 << 14), "switch1_1: at ");
  says(outcome("nmu1.d0_plus", "gaps_in_link(period=1 ns, pause=900, patience=5000)", 1 << 14), "");
  // The link waits for the last beat of what is stored first.
  EXPECT_EQ(outcome("switch1_1", "gaps(period=1 ns, pause=900, patience=5000)", 1 << 14,
                    Switching::store_and_forward),
            "0 late\n");
}

}  // namespace
}  // namespace weft::cosim
