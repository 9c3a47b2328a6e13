// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Keeps each beat for PAUSE edges without showing anything at its pins but `qactive`, and then sends it on. Only that
// pin says that its clock must run.
module timer #(
  parameter int PAUSE = 200
) (
  input  logic       clk,
  input  logic       rst_n,
  input  logic [7:0] s_tdata,
  input  logic       s_tvalid,
  output logic       s_tready,
  output logic [7:0] m_tdata,
  output logic       m_tvalid,
  input  logic       m_tready,
  output logic       qactive
);
  logic        held;
  logic [15:0] left;
  assign s_tready = !held;
  assign m_tvalid = held && left == 16'd0;
  assign qactive  = held;
  always_ff @(posedge clk) begin
    if (!held) begin
      held    <= s_tvalid;
      m_tdata <= s_tdata;
      left    <= 16'(PAUSE);
    end else if (left != 16'd0) begin
      left <= left - 16'd1;
    end else if (m_tready) begin
      held <= 1'b0;
    end
    if (!rst_n) held <= 1'b0;
  end
endmodule
