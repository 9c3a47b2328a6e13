// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A crossbar switch with AXI4-Stream ports. A frame goes to the output that its TDEST names; an output takes
// frames in turns, whole ones, and has a register before its pins.
//
// `cfg_bug` seeds faults, to show what a replay finds:
//   1  the last beat of every 40th frame of an output is damaged
//   2  every 40th frame of an output goes to the output beside it
//   3  output 0 takes no frame after its 39th: TREADY of who has one for it never comes
module axis_switch #(
    parameter int P = 8,
    parameter int W = 64,  // bytes of a beat
    parameter int DEST = 8,
    parameter int ID = 8,
    parameter int USER = 16
) (
    input  logic             clk,
    input  logic             rst_n,
    input  logic [1:0]       cfg_bug,
    input  logic [W*8-1:0]   s_axis_tdata [P],
    input  logic [W-1:0]     s_axis_tkeep [P],
    input  logic             s_axis_tvalid [P],
    output logic             s_axis_tready [P],
    input  logic             s_axis_tlast [P],
    input  logic [DEST-1:0]  s_axis_tdest [P],
    input  logic [ID-1:0]    s_axis_tid [P],
    input  logic [USER-1:0]  s_axis_tuser [P],
    output logic [W*8-1:0]   m_axis_tdata [P],
    output logic [W-1:0]     m_axis_tkeep [P],
    output logic             m_axis_tvalid [P],
    input  logic             m_axis_tready [P],
    output logic             m_axis_tlast [P],
    output logic [DEST-1:0]  m_axis_tdest [P],
    output logic [ID-1:0]    m_axis_tid [P],
    output logic [USER-1:0]  m_axis_tuser [P]
);
  localparam int PW = $clog2(P);
  logic          locked [P];   // output: in the midst of a frame
  logic [PW-1:0] owner [P];    // .. of this input
  logic [PW-1:0] turn [P];
  logic [7:0]    frames [P];
  logic          takes [P];    // output: a beat
  logic [PW-1:0] from [P];     // .. of this input
  logic          seeded [P];   // the frame that a fault hits

  function automatic logic wants(input int i, input int o);
    return s_axis_tvalid[i] && s_axis_tdest[i] == DEST'(o);
  endfunction

  always_comb begin
    for (int i = 0; i < P; i++) s_axis_tready[i] = 1'b0;
    for (int o = 0; o < P; o++) begin
      seeded[o] = frames[o] == 8'd39;
      takes[o] = 1'b0;
      from[o] = owner[o];
      if (!m_axis_tvalid[o] || m_axis_tready[o]) begin
        if (locked[o]) begin
          takes[o] = s_axis_tvalid[owner[o]];
        end else if (cfg_bug == 2'd3 && o == 0 && seeded[o]) begin
          takes[o] = 1'b0;
        end else begin
          for (int k = 0; k < P; k++)
            if (!takes[o] && wants((int'(turn[o]) + k) % P, o)) begin
              takes[o] = 1'b1;
              from[o] = PW'((int'(turn[o]) + k) % P);
            end
        end
        if (takes[o]) s_axis_tready[from[o]] = 1'b1;
      end
    end
  end

  always_ff @(posedge clk) begin
    if (!rst_n) begin
      for (int o = 0; o < P; o++) begin
        m_axis_tvalid[o] <= 1'b0;
        locked[o] <= 1'b0;
        owner[o] <= '0;
        turn[o] <= '0;
        frames[o] <= '0;
      end
    end else begin
      for (int o = 0; o < P; o++) begin
        if (m_axis_tready[o]) m_axis_tvalid[o] <= 1'b0;
        if (takes[o]) begin
          owner[o] <= from[o];
          locked[o] <= !s_axis_tlast[from[o]];
          if (s_axis_tlast[from[o]]) begin
            turn[o] <= PW'((int'(from[o]) + 1) % P);
            frames[o] <= seeded[o] ? 8'd0 : frames[o] + 8'd1;
          end
        end
      end
      for (int o = 0; o < P; o++)
        if (takes[o]) begin
          automatic int to = cfg_bug == 2'd2 && seeded[o] ? (o + 1) % P : o;
          m_axis_tvalid[to] <= 1'b1;
          m_axis_tdata[to] <= cfg_bug == 2'd1 && s_axis_tlast[from[o]] && seeded[o]
                              ? s_axis_tdata[from[o]] ^ (W*8)'(8'h40) : s_axis_tdata[from[o]];
          m_axis_tkeep[to] <= s_axis_tkeep[from[o]];
          m_axis_tlast[to] <= s_axis_tlast[from[o]];
          m_axis_tdest[to] <= s_axis_tdest[from[o]];
          m_axis_tid[to] <= s_axis_tid[from[o]];
          m_axis_tuser[to] <= s_axis_tuser[from[o]];
        end
    end
  end
endmodule
