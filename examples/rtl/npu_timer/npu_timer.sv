// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The command unit of an NPU: takes commands of 32 bytes (cosim/blocks/rtl_npu.h), runs up to SLOTS of them at a time
// and answers each by its tag. A compute command takes the edges that it says. A load or store is issued after ISSUE
// edges.
module npu_timer #(
  parameter int SLOTS = 8,
  parameter int ISSUE = 4
) (
  input  logic        clk,
  input  logic        rst_n,
  input  logic [1:0]  cfg_bug,  // 1: answers another tag than the command's; 2: answers nothing
  input  logic [63:0] s_cmd_tdata,
  input  logic [5:0]  s_cmd_tid,
  input  logic        s_cmd_tlast,
  input  logic        s_cmd_tvalid,
  output logic        s_cmd_tready,
  output logic [7:0]  m_done_tdata,
  output logic [5:0]  m_done_tid,
  output logic        m_done_tlast,
  output logic        m_done_tvalid,
  input  logic        m_done_tready,
  output logic        active
);
  localparam int W = $clog2(SLOTS);

  logic [SLOTS-1:0] used;
  logic [63:0]      left[SLOTS];
  logic [5:0]       tag[SLOTS];

  logic             begun;    // the first beat of a command is here
  logic             compute;  // it is a compute command
  logic [W-1:0]     place;    // a free slot
  logic [W-1:0]     over;     // a slot whose command is over
  logic             any_over;

  always_comb begin
    place    = '0;
    over     = '0;
    any_over = 1'b0;
    for (int i = SLOTS - 1; i >= 0; --i) begin
      if (!used[i]) place = W'(i);
      if (used[i] && left[i] == 64'd0) begin
        over     = W'(i);
        any_over = 1'b1;
      end
    end
  end

  assign s_cmd_tready = !(&used);
  assign m_done_tdata = 8'd0;
  assign m_done_tlast = 1'b1;
  assign active       = (|used) || begun || m_done_tvalid;

  always_ff @(posedge clk) begin
    for (int i = 0; i < SLOTS; ++i) if (used[i] && left[i] != 64'd0) left[i] <= left[i] - 64'd1;
    if (m_done_tvalid && m_done_tready) m_done_tvalid <= 1'b0;
    if (any_over && (!m_done_tvalid || m_done_tready) && cfg_bug != 2'd2) begin
      m_done_tvalid <= 1'b1;
      m_done_tid    <= cfg_bug == 2'd1 ? ~tag[over] : tag[over];
      used[over]    <= 1'b0;
    end
    if (s_cmd_tvalid && s_cmd_tready) begin
      begun <= !s_cmd_tlast;
      if (!begun) compute <= s_cmd_tdata[7:0] == 8'd0;
      if (s_cmd_tlast) begin
        used[place] <= 1'b1;
        tag[place]  <= s_cmd_tid;
        left[place] <= compute ? s_cmd_tdata : 64'(ISSUE);
      end
    end
    if (!rst_n) begin
      used          <= '0;
      begun         <= 1'b0;
      m_done_tvalid <= 1'b0;
    end
  end
endmodule
