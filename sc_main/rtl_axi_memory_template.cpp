// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/rtl_templates.h"

namespace weft::cli {
namespace {

const char* const kAxiMemoryRtl =
    R"file(// A memory behind an AXI4 slave port: one burst after the other, reads and writes in turns. The first beat of a
// burst waits LATENCY cycles, then a beat moves a cycle. Bursts are INCR with full beats. Addresses from SIZE on are
// answered with DECERR. Replace it with your controller.
module BLOCK #(
    parameter int DATA = 512,      // bits of a beat
    parameter int ADDR = 32,
    parameter int IDS = 4,         // bits of an ID
    parameter int SIZE = 1 << 20,  // bytes
    parameter int LATENCY = 12
) (
    input  logic              clk,
    input  logic              rst_n,
    output logic              active,
    input  logic [IDS-1:0]    s_axi_awid,
    input  logic [ADDR-1:0]   s_axi_awaddr,
    input  logic [7:0]        s_axi_awlen,
    input  logic [2:0]        s_axi_awsize,
    input  logic [1:0]        s_axi_awburst,
    input  logic              s_axi_awvalid,
    output logic              s_axi_awready,
    input  logic [DATA-1:0]   s_axi_wdata,
    input  logic [DATA/8-1:0] s_axi_wstrb,
    input  logic              s_axi_wlast,
    input  logic              s_axi_wvalid,
    output logic              s_axi_wready,
    output logic [IDS-1:0]    s_axi_bid,
    output logic [1:0]        s_axi_bresp,
    output logic              s_axi_bvalid,
    input  logic              s_axi_bready,
    input  logic [IDS-1:0]    s_axi_arid,
    input  logic [ADDR-1:0]   s_axi_araddr,
    input  logic [7:0]        s_axi_arlen,
    input  logic [2:0]        s_axi_arsize,
    input  logic [1:0]        s_axi_arburst,
    input  logic              s_axi_arvalid,
    output logic              s_axi_arready,
    output logic [IDS-1:0]    s_axi_rid,
    output logic [DATA-1:0]   s_axi_rdata,
    output logic [1:0]        s_axi_rresp,
    output logic              s_axi_rlast,
    output logic              s_axi_rvalid,
    input  logic              s_axi_rready
);
  localparam int BYTES = DATA / 8;
  localparam int ROWS = SIZE / BYTES;
  logic [DATA-1:0] memory[ROWS];

  typedef enum logic [1:0] {IDLE, READ, WRITE, RESPOND} state_t;
  state_t          state;
  logic [7:0]      wait_left;  // cycles until the first beat
  logic [8:0]      beats_left;
  logic [ADDR-1:0] address;
  logic [IDS-1:0]  id;
  logic            failed, read_is_next;

  wire takes_read = s_axi_arvalid && (read_is_next || !s_axi_awvalid);
  wire beyond = address >= ADDR'(SIZE);
  wire [$clog2(ROWS)-1:0] row = address[$clog2(BYTES)+:$clog2(ROWS)];
  wire moves = wait_left == 0 && ((state == READ && s_axi_rready) || (state == WRITE && s_axi_wvalid));

  assign active = state != IDLE;
  assign s_axi_arready = state == IDLE && takes_read;
  assign s_axi_awready = state == IDLE && s_axi_awvalid && !takes_read;
  assign s_axi_wready = state == WRITE && wait_left == 0;
  assign s_axi_bvalid = state == RESPOND;
  assign s_axi_bid = id;
  assign s_axi_bresp = failed ? 2'b11 : 2'b00;
  assign s_axi_rvalid = state == READ && wait_left == 0;
  assign s_axi_rid = id;
  assign s_axi_rdata = beyond ? '0 : memory[row];
  assign s_axi_rresp = beyond ? 2'b11 : 2'b00;
  assign s_axi_rlast = beats_left == 1;

  always_ff @(posedge clk) begin
    if (!rst_n) begin
      state <= IDLE;
      read_is_next <= 1'b1;
    end else if (state == IDLE) begin
      wait_left <= 8'(LATENCY);
      failed <= 1'b0;
      if (takes_read) begin
        {id, address, beats_left} <= {s_axi_arid, s_axi_araddr, 9'(s_axi_arlen) + 9'd1};
        read_is_next <= 1'b0;
        state <= READ;
      end else if (s_axi_awvalid) begin
        {id, address, beats_left} <= {s_axi_awid, s_axi_awaddr, 9'(s_axi_awlen) + 9'd1};
        read_is_next <= 1'b1;
        state <= WRITE;
      end
    end else if (state == RESPOND) begin
      if (s_axi_bready) state <= IDLE;
    end else if (wait_left != 0) begin
      wait_left <= wait_left - 1;
    end else if (moves) begin
      address <= address + ADDR'(BYTES);
      beats_left <= beats_left - 1;
      if (state == WRITE) begin
        if (beyond) failed <= 1'b1;
        else for (int i = 0; i < BYTES; i++) if (s_axi_wstrb[i]) memory[row][8*i+:8] <= s_axi_wdata[8*i+:8];
      end
      if (beats_left == 1) state <= state == READ ? IDLE : RESPOND;
    end
  end
endmodule
)file";

const char* const kAxiMemoryAdapter = R"file(#include "cosim/blocks/axi_memory.h"

#include "BLOCK.h"
#include "sc_models/plugin.h"

class Adapter final : public weft::cosim::AxiMemory {
 public:
  Adapter(sc_core::sc_module_name name, const weft::MemoryContext& context, weft::Parameters& parameters)
      : AxiMemory(name, context, 1 << 20, weft::cosim::read_clock(parameters, {})), rtl_("rtl") {
    clock().clock(rtl_.clk);
    clock().reset(rtl_.rst_n);
    clock().qactive(rtl_.active);
    attach(WEFT_AXI_PINS(rtl_, s_axi));
  }
  VBLOCK rtl_;
};

WEFT_PLUGIN(registry) {
  registry.rtl().add_memory("BLOCK", "RTL",
                            [](auto name, const weft::MemoryContext& context, weft::Parameters& parameters) {
                              return std::make_unique<Adapter>(name, context, parameters);
                            });
}
)file";

const char* const kAxiMemoryMachine =
    R"file(# The HBM of NPU 1 is the RTL block, which holds 1 MiB. Reductions go through it.
weft: 1
plugins: build/BLOCK.so
topology:
  notation: Ring(4)
  dimensions:
    - {bandwidth: 50 GB/s, latency: 500 ns}
collectives: {reduction: hbm}
hbm: {bandwidth: 64 GB/s, latency: 20 ns, capacity: 1 MiB}
implementations:
  - {modules: hbm1, implementation: "rtl:BLOCK(period=1 ns)"}
)file";

const char* const kAboutTests =
    R"file(# The machine of machine.yaml, without data and with it. The reductions move nine times what the memory holds, so that
# what it has stored is read back and compared.)file";

}  // namespace

RtlTemplate axi_memory_template() {
  return {"axi_memory", kAxiMemoryRtl, kAxiMemoryAdapter, kAxiMemoryMachine,
          collective_tests(kAboutTests, "4MiB")};
}

}  // namespace weft::cli
