// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A register stage that breaks one rule of AXI4-Stream, chosen by `defect`:
//  0 none                      1 never takes a beat (TREADY stays low)   2 withdraws TVALID after two edges of waiting
//  3 changes TDATA while it waits    4 changes TLAST while it waits      5 a hole in TKEEP
//  6 a partial beat before the last  7 another TID in the middle         8 TVALID high during the reset
//  9 no TLAST                       10 changes TKEEP while it waits     11 changes TDEST while it waits
// 12 changes TUSER while it waits   13 another TDEST in the middle      14 changes TID while it waits
// 15 changes the last byte of TDATA only
module broken (
  input  logic        clk,
  input  logic        rst_n,
  input  logic [4:0]  defect,
  input  logic [31:0] s_tdata,
  input  logic [3:0]  s_tkeep,
  input  logic        s_tlast,
  input  logic [3:0]  s_tid,
  input  logic [3:0]  s_tdest,
  input  logic [3:0]  s_tuser,
  input  logic        s_tvalid,
  output logic        s_tready,
  output logic [31:0] m_tdata,
  output logic [3:0]  m_tkeep,
  output logic        m_tlast,
  output logic [3:0]  m_tid,
  output logic [3:0]  m_tdest,
  output logic [3:0]  m_tuser,
  output logic        m_tvalid,
  input  logic        m_tready
);
  logic [31:0] data;
  logic [3:0]  keep, id, dest, user;
  logic        last, valid;
  logic [2:0]  waited;  // edges
  logic        middle;  // of a frame
  logic        late;    // it has waited for a while

  assign late     = waited >= 3'd2;
  assign s_tready = defect != 5'd1 && (!valid || m_tready);
  assign m_tvalid = (valid && !(defect == 5'd2 && late)) || (defect == 5'd8 && !rst_n);
  assign m_tdata  = defect == 5'd3 && late ? ~data : defect == 5'd15 && late ? data ^ 32'h01000000 : data;
  assign m_tlast  = defect == 5'd9 ? 1'b0 : defect == 5'd4 && late ? !last : last;
  assign m_tkeep  = defect == 5'd5 && last ? 4'b1101 : defect == 5'd6 && !last ? 4'b0111
                  : defect == 5'd10 && late ? 4'b0001 : keep;
  assign m_tid    = (defect == 5'd7 && middle) || (defect == 5'd14 && late) ? ~id : id;
  assign m_tdest  = (defect == 5'd13 && middle) || (defect == 5'd11 && late) ? ~dest : dest;
  assign m_tuser  = defect == 5'd12 && late ? ~user : user;

  always_ff @(posedge clk) begin
    if (s_tready) begin
      valid <= s_tvalid;
      {data, keep, last, id, dest, user} <= {s_tdata, s_tkeep, s_tlast, s_tid, s_tdest, s_tuser};
    end
    if (valid && m_tready) middle <= !last;
    waited <= valid && !m_tready ? waited + (waited == 3'd7 ? 3'd0 : 3'd1) : 3'd0;
    if (!rst_n) begin
      valid  <= 1'b0;
      middle <= 1'b0;
      waited <= 3'd0;
    end
  end
endmodule
