// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What an NMU's datapath needs of its ports.

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "cosim/blocks/rtl_nmu.h"
#include "tests/cosim/stream_pipe.h"
#include "tests/support/isolated.h"
#include "tests/support/small_machine.h"
#include "tests/support/solo_job.h"

namespace weft::cosim {
namespace {

/// The way out has beats of `Out`, the way in of `In`.
template <typename Out, typename In>
class Datapath final : public RtlNmu {
 public:
  Datapath(sc_core::sc_module_name module_name, NpuId rank, const NmuContext& context, Parameters& parameters)
      : RtlNmu(module_name, rank, context, parameters), out_("out"), in_("in") {
    clock().clock(out_.clk);
    clock().reset(out_.rst_n);
    clock().clock(in_.clk);
    clock().reset(in_.rst_n);
    segmentation(WEFT_STREAM_PINS(out_, s), WEFT_STREAM_PINS(out_, m));
    reassembly(WEFT_STREAM_PINS(in_, s), WEFT_STREAM_PINS(in_, m), 64);
  }

 private:
  test::StreamPipe<Out> out_;
  test::StreamPipe<In> in_;
};

/// What is said to a machine with such a datapath.
template <typename Out, typename In>
std::string refused() {
  return weft::test::isolated([] {
           nmu_models().add({"narrow", "of this test", "a plugin",
                             [](sc_core::sc_module_name name, NpuId rank, const NmuContext& context,
                                Parameters& parameters) {
                               return std::make_unique<Datapath<Out, In>>(name, rank, context, parameters);
                             }});
           Config config = weft::test::ring_4_switch_2();
           ModuleChoice choice;
           choice.modules = "nmu3";
           choice.implementation = "narrow";
           choice.origin = "key";
           config.implementations.push_back(choice);
           try {
             weft::test::SoloCollectiveJob job("job", config);
           } catch (const UserError& e) {
             return std::string(e.what());
           }
           return std::string("accepted");
         })
      .text;
}

TEST(RtlNmu, RefusesBeatsThatAreTooNarrowForTheHeader) {
  EXPECT_EQ((refused<uint64_t, uint64_t>()), "accepted");
  const std::string out = refused<uint32_t, uint64_t>();
  EXPECT_EQ(out.rfind("block job.nmu3.out, pins m: TDATA has 32 bits; ", 0), 0u) << out;
  EXPECT_NE(out.find("its header of 7 bytes: take TDATA of 64 bits or more"), std::string::npos) << out;
  const std::string in = refused<uint64_t, uint32_t>();
  EXPECT_EQ(in.rfind("block job.nmu3.in, pins s: TDATA has 32 bits; ", 0), 0u) << in;
}

}  // namespace
}  // namespace weft::cosim
