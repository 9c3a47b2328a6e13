// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/rtl_templates.h"

namespace weft::cli {
namespace {

const char* const kNpuRtl =
    R"file(// The command unit of an NPU: one command after the other. Replace it with yours. A command is four beats:
//   beat 0  bits 7:0 what: 0 compute, 1 load, 2 store; bits 63:16 the node's id in the trace
//   beat 1  FLOP of a compute command, 0 if the trace does not say
//   beat 2  bytes that it touches or moves
//   beat 3  cycles that Weft's model takes to compute, else 0
// The answer has the command's TID. It says that a compute command is over, or that the access begins now.
module BLOCK #(
    parameter int ISSUE = 4  // cycles before an access begins
) (
    input  logic        clk,
    input  logic        rst_n,
    input  logic [63:0] s_cmd_tdata,
    input  logic        s_cmd_tvalid,
    output logic        s_cmd_tready,
    input  logic        s_cmd_tlast,
    input  logic [5:0]  s_cmd_tid,
    output logic [7:0]  m_done_tdata,
    output logic        m_done_tvalid,
    input  logic        m_done_tready,
    output logic        m_done_tlast,
    output logic [5:0]  m_done_tid,
    output logic        active
);
  logic        begun;    // the first beat of a command is here
  logic        compute;  // it is a compute command
  logic        works;
  logic [63:0] left;
  assign s_cmd_tready = !works && !m_done_tvalid;
  assign m_done_tdata = '0;
  assign m_done_tlast = 1'b1;
  assign active = begun || works || m_done_tvalid;
  always_ff @(posedge clk) begin
    if (!rst_n) begin
      begun <= 1'b0;
      works <= 1'b0;
      m_done_tvalid <= 1'b0;
    end else begin
      if (m_done_tready) m_done_tvalid <= 1'b0;
      if (s_cmd_tready && s_cmd_tvalid) begin
        begun <= !s_cmd_tlast;
        if (!begun) compute <= s_cmd_tdata[7:0] == 8'd0;
        if (s_cmd_tlast) begin
          works <= 1'b1;
          m_done_tid <= s_cmd_tid;
          left <= compute ? s_cmd_tdata : 64'(ISSUE);
        end
      end else if (works) begin
        left <= left - 1;
        if (left <= 1) begin
          works <= 1'b0;
          m_done_tvalid <= 1'b1;
        end
      end
    end
  end
endmodule
)file";

const char* const kNpuAdapter = R"file(#include "cosim/blocks/rtl_npu.h"

#include "BLOCK.h"
#include "sc_models/plugin.h"

class Adapter final : public weft::cosim::RtlNpu {
 public:
  Adapter(sc_core::sc_module_name name, const weft::NpuContext& context, weft::Parameters& parameters)
      : RtlNpu(name, context, parameters), rtl_("rtl") {
    clock().clock(rtl_.clk);
    clock().reset(rtl_.rst_n);
    clock().qactive(rtl_.active);
    connect(WEFT_STREAM_PINS(rtl_, s_cmd), WEFT_STREAM_PINS(rtl_, m_done));
  }
  VBLOCK rtl_;
};

WEFT_PLUGIN(registry) {
  registry.rtl().add_npu("BLOCK", "RTL", [](auto name, const weft::NpuContext& context, weft::Parameters& parameters) {
    return std::make_unique<Adapter>(name, context, parameters);
  });
}
)file";

const char* const kNpuMachine =
    R"file(# What NPU 1 computes is run by the RTL block: two layers, forward and back, with data parallel gradients.
weft: 1
plugins: build/BLOCK.so
topology:
  notation: Ring(4)
  dimensions:
    - {bandwidth: 50 GB/s, latency: 500 ns}
workload: {text: job.txt}
implementations:
  - {modules: npu1, implementation: "rtl:BLOCK(period=1 ns, clock=gated)"}
)file";

/// A text workload of ASTRA-sim 1.0, its times in cycles of a nanosecond.
const char* const kNpuJob = R"file(DATA
2
layer0 -1 4000 NONE 0 4000 NONE 0 5000 ALLREDUCE 1048576 100
layer1 -1 3000 NONE 0 6000 NONE 0 3500 ALLREDUCE 262144 100
)file";

const char* const kNpuTests = R"file(
# The job of machine.yaml, with the block's memory accesses and data, and without data.
foreach(data none functional)
  add_test(NAME BLOCK_${data} COMMAND ${WEFT} run ${CMAKE_CURRENT_SOURCE_DIR}/machine.yaml --out out_${data}
    --set plugins=$<TARGET_FILE:BLOCK> --set run.data=${data})
endforeach()
)file";

}  // namespace

RtlTemplate npu_template() {
  return {"npu", kNpuRtl, kNpuAdapter, kNpuMachine, kNpuTests, kNpuJob};
}

}  // namespace weft::cli
