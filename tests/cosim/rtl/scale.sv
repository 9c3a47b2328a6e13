// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A block with a time scale that is not the simulation's: with SCALE_FS or SCALE_NS the one that these say, else none.
`ifdef SCALE_FS
`timescale 1ns/1fs
`elsif SCALE_NS
`timescale 1ns/1ns
`endif
module scale (
  input  logic       clk,
  input  logic       rst_n,
  input  logic [7:0] s_tdata,
  input  logic       s_tvalid,
  input  logic       s_tlast,
  output logic       s_tready,
  output logic [7:0] m_tdata,
  output logic       m_tvalid,
  output logic       m_tlast,
  input  logic       m_tready
);
  assign s_tready = !m_tvalid || m_tready;
  always_ff @(posedge clk) begin
    if (s_tready) begin
      m_tvalid <= s_tvalid;
      m_tdata  <= ~s_tdata;
      m_tlast  <= s_tlast;
    end
    if (!rst_n) m_tvalid <= 1'b0;
  end
endmodule
