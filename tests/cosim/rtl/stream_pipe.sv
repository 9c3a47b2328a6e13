// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// An elastic pipeline of STAGES registers between two AXI4-Stream ports. `busy` says that it holds something.
module stream_pipe #(
  parameter int WIDTH  = 64,
  parameter int STAGES = 1
) (
  input  logic                clk,
  input  logic                rst_n,
  input  logic [WIDTH-1:0]    s_tdata,
  input  logic [WIDTH/8-1:0]  s_tkeep,
  input  logic                s_tlast,
  input  logic [7:0]          s_tid,
  input  logic [5:0]          s_tdest,
  input  logic [15:0]         s_tuser,
  input  logic                s_tvalid,
  output logic                s_tready,
  output logic [WIDTH-1:0]    m_tdata,
  output logic [WIDTH/8-1:0]  m_tkeep,
  output logic                m_tlast,
  output logic [7:0]          m_tid,
  output logic [5:0]          m_tdest,
  output logic [15:0]         m_tuser,
  output logic                m_tvalid,
  input  logic                m_tready,
  output logic                busy
);
  localparam int PAYLOAD = WIDTH + WIDTH / 8 + 31;
  logic [PAYLOAD-1:0] payload [STAGES];
  logic [STAGES-1:0]  valid;
  logic [STAGES:0]    ready;

  always_comb begin
    ready[STAGES] = m_tready;
    for (int i = STAGES - 1; i >= 0; i--) ready[i] = !valid[i] || ready[i+1];
  end
  assign s_tready = ready[0];
  assign {m_tdata, m_tkeep, m_tlast, m_tid, m_tdest, m_tuser} = payload[STAGES-1];
  assign m_tvalid = valid[STAGES-1];
  assign busy = |valid;

  always_ff @(posedge clk) begin
    for (int i = 0; i < STAGES; i++) begin
      if (ready[i]) begin
        valid[i]   <= i == 0 ? s_tvalid : valid[i == 0 ? 0 : i-1];
        payload[i] <= i == 0 ? {s_tdata, s_tkeep, s_tlast, s_tid, s_tdest, s_tuser} : payload[i == 0 ? 0 : i-1];
      end
    end
    if (!rst_n) valid <= '0;
  end
endmodule
