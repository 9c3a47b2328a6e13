// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A pipeline of each width, all on one clock: what one Verilator option makes of pins of 1 to 1024 bits.
`define PIPE(W) \
  stream_pipe #(.WIDTH(W), .STAGES(2)) pipe``W (.clk, .rst_n, \
    .s_tdata(s``W``_tdata), .s_tkeep(s``W``_tkeep), .s_tlast(s``W``_tlast), .s_tid(s``W``_tid), \
    .s_tdest(s``W``_tdest), .s_tuser(s``W``_tuser), .s_tvalid(s``W``_tvalid), .s_tready(s``W``_tready), \
    .m_tdata(m``W``_tdata), .m_tkeep(m``W``_tkeep), .m_tlast(m``W``_tlast), .m_tid(m``W``_tid), \
    .m_tdest(m``W``_tdest), .m_tuser(m``W``_tuser), .m_tvalid(m``W``_tvalid), .m_tready(m``W``_tready), .busy());
`define PINS(W) \
  , input logic [W-1:0] s``W``_tdata, input logic [W/8-1:0] s``W``_tkeep, input logic s``W``_tlast, \
  input logic [7:0] s``W``_tid, input logic [5:0] s``W``_tdest, input logic [15:0] s``W``_tuser, \
  input logic s``W``_tvalid, output logic s``W``_tready, \
  output logic [W-1:0] m``W``_tdata, output logic [W/8-1:0] m``W``_tkeep, output logic m``W``_tlast, \
  output logic [7:0] m``W``_tid, output logic [5:0] m``W``_tdest, output logic [15:0] m``W``_tuser, \
  output logic m``W``_tvalid, input logic m``W``_tready

module widths (
  input logic clk,
  input logic rst_n
  `PINS(8)
  `PINS(16)
  `PINS(24)
  `PINS(32)
  `PINS(40)
  `PINS(64)
  `PINS(72)
  `PINS(128)
  `PINS(256)
  `PINS(512)
  `PINS(1000)
  `PINS(1024)
);
  `PIPE(8)
  `PIPE(16)
  `PIPE(24)
  `PIPE(32)
  `PIPE(40)
  `PIPE(64)
  `PIPE(72)
  `PIPE(128)
  `PIPE(256)
  `PIPE(512)
  `PIPE(1000)
  `PIPE(1024)
endmodule
