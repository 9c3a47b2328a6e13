// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The least that a stream can be: TDATA, TVALID, TREADY, in upper case and an array of ports; a constant and an
// unused output beside it. Adds one to every byte.
module bare (
  input  logic        ACLK,
  input  logic        ARESET,
  input  logic [15:0] S_TDATA [2],
  input  logic        S_TVALID [2],
  output logic        S_TREADY [2],
  output logic [15:0] M_TDATA [2],
  output logic        M_TVALID [2],
  input  logic        M_TREADY [2],
  input  logic [2:0]  mode,
  output logic [39:0] count
);
  always_ff @(posedge ACLK) begin
    for (int i = 0; i < 2; i++) begin
      if (S_TREADY[i]) begin
        M_TVALID[i] <= S_TVALID[i];
        M_TDATA[i]  <= {S_TDATA[i][15:8] + 8'(mode), S_TDATA[i][7:0] + 8'(mode)};
      end
      if (ARESET) M_TVALID[i] <= 1'b0;
    end
    count <= ARESET ? '0 : count + 40'd1;
  end
  assign S_TREADY[0] = !M_TVALID[0] || M_TREADY[0];
  assign S_TREADY[1] = !M_TVALID[1] || M_TREADY[1];
endmodule
