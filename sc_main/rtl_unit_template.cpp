// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/rtl_templates.h"

namespace weft::cli {
namespace {

const char* const kUnitRtl =
    R"file(// The collective unit of a switch: it sums blocks of int32, beat by beat, over all ports that contribute. A block is one
// frame at each of these ports: TUSER is the mask of the ports, TID the block's tag. Replace it with your unit.
module BLOCK #(
    parameter int P = 4,
    parameter int W = 32  // bytes of a beat
) (
    input  logic           clk,
    input  logic           rst_n,
    input  logic [W*8-1:0] s_axis_tdata [P],
    input  logic [W-1:0]   s_axis_tkeep [P],
    input  logic           s_axis_tvalid [P],
    output logic           s_axis_tready [P],
    input  logic           s_axis_tlast [P],
    input  logic [7:0]     s_axis_tid [P],
    input  logic [P-1:0]   s_axis_tuser [P],
    output logic [W*8-1:0] m_axis_tdata,
    output logic [W-1:0]   m_axis_tkeep,
    output logic           m_axis_tvalid,
    input  logic           m_axis_tready,
    output logic           m_axis_tlast,
    output logic [7:0]     m_axis_tid,
    output logic           active
);
  localparam int PW = $clog2(P);
  logic           locked;  // a block is under way ..
  logic [P-1:0]   owners;  // .. of these ports
  logic [P-1:0]   ports;   // of the block whose next beat is summed now
  logic           ready;   // all of them have the beat
  logic [PW-1:0]  first;   // the lowest of them
  logic [W*8-1:0] sum;
  wire            takes = ready && (!m_axis_tvalid || m_axis_tready);
  assign active = m_axis_tvalid;

  always_comb begin
    ports = locked ? owners : '0;
    for (int p = P - 1; p >= 0; p--) begin
      automatic logic together = s_axis_tvalid[p] && s_axis_tuser[p][p];
      for (int q = 0; q < P; q++)
        if (s_axis_tuser[p][q] && !(s_axis_tvalid[q] && s_axis_tid[q] == s_axis_tid[p])) together = 1'b0;
      if (!locked && together) ports = s_axis_tuser[p];
    end
    ready = ports != '0;
    first = '0;
    sum = '0;
    for (int p = P - 1; p >= 0; p--)
      if (ports[p]) begin
        first = PW'(p);
        if (!s_axis_tvalid[p]) ready = 1'b0;
        for (int i = 0; i < W / 4; i++) sum[32*i+:32] += s_axis_tdata[p][32*i+:32];
      end
    for (int p = 0; p < P; p++) s_axis_tready[p] = takes && ports[p];
  end

  always_ff @(posedge clk) begin
    if (!rst_n) begin
      locked <= 1'b0;
      m_axis_tvalid <= 1'b0;
    end else begin
      if (m_axis_tready) m_axis_tvalid <= 1'b0;
      if (takes) begin
        locked <= !s_axis_tlast[first];
        owners <= ports;
        m_axis_tvalid <= 1'b1;
        m_axis_tdata <= sum;
        m_axis_tkeep <= s_axis_tkeep[first];
        m_axis_tlast <= s_axis_tlast[first];
        m_axis_tid <= s_axis_tid[first];
      end
    end
  end
endmodule
)file";

const char* const kUnitAdapter = R"file(#include "cosim/blocks/rtl_unit.h"

#include "BLOCK.h"
#include "configs/types.h"
#include "sc_models/plugin.h"

class Adapter final : public weft::cosim::RtlUnit {
 public:
  Adapter(sc_core::sc_module_name name, const weft::UnitPlace& place, weft::Parameters& parameters)
      : RtlUnit(name, place, weft::cosim::read_clock(parameters, {})), rtl_("rtl") {
    if (element_type() != weft::ElementType::int32)
      throw weft::UserError(weft::ExitCode::usage, "BLOCK sums int32; set `run.element: int32`");
    clock().clock(rtl_.clk);
    clock().reset(rtl_.rst_n);
    clock().qactive(rtl_.active);
    for (int p = 0; p < 4; ++p) add_input(WEFT_STREAM_PINS_AT(rtl_, s_axis, p));
    set_output(WEFT_STREAM_PINS(rtl_, m_axis));
  }
  VBLOCK rtl_;
};

WEFT_PLUGIN(registry) {
  registry.rtl().add_unit("BLOCK", "RTL", [](auto name, const weft::UnitPlace& place, weft::Parameters& parameters) {
    return std::make_unique<Adapter>(name, place, parameters);
  });
}
)file";

const char* const kUnitMachine =
    R"file(# The collective unit of the switch is the RTL block: it sums what four NPUs send.
weft: 1
plugins: build/BLOCK.so
topology:
  notation: Switch(4)
  dimensions:
    - bandwidth: 50 GB/s
      latency: 200 ns
      collective_unit: {implementation: "rtl:BLOCK(period=1 ns, clock=gated)", segment: 4 KiB}
collectives: {all_reduce: in_switch}
run: {element: int32}
)file";

}  // namespace

RtlTemplate unit_template() {
  return {"unit", kUnitRtl, kUnitAdapter, kUnitMachine};
}

}  // namespace weft::cli
