// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The datapath of an NMU: segmentation of messages that leave, reassembly of messages that come. A segment is a
// beat with the header and up to K beats of its message; cosim/blocks/rtl_nmu.h has the header. TUSER of a
// message says how many beats it has.
//
// `cfg_bug` seeds faults, to show what a replay finds. 0: none.
//   1  one byte of the 20th message that leaves is inverted
//   2  the last beat of the 20th message that comes takes eight cycles more
//   3  the segmentation takes no more messages after the 19th
module nmu_datapath #(
    parameter int W = 64,  // bytes of a beat
    parameter int K = 16,  // beats of a segment
    parameter int ID = 8
) (
    input  logic           clk,
    input  logic           rst_n,
    input  logic [1:0]     cfg_bug,
    // Messages that leave, and their segments.
    input  logic [W*8-1:0] s_msg_tdata,
    input  logic [W-1:0]   s_msg_tkeep,
    input  logic           s_msg_tvalid,
    output logic           s_msg_tready,
    input  logic           s_msg_tlast,
    input  logic [ID-1:0]  s_msg_tid,
    input  logic [31:0]    s_msg_tuser,
    output logic [W*8-1:0] m_seg_tdata,
    output logic [W-1:0]   m_seg_tkeep,
    output logic           m_seg_tvalid,
    input  logic           m_seg_tready,
    output logic           m_seg_tlast,
    output logic [ID-1:0]  m_seg_tid,
    // Segments that come, and their messages.
    input  logic [W*8-1:0] s_seg_tdata,
    input  logic [W-1:0]   s_seg_tkeep,
    input  logic           s_seg_tvalid,
    output logic           s_seg_tready,
    input  logic           s_seg_tlast,
    input  logic [ID-1:0]  s_seg_tid,
    output logic [W*8-1:0] m_msg_tdata,
    output logic [W-1:0]   m_msg_tkeep,
    output logic           m_msg_tvalid,
    input  logic           m_msg_tready,
    output logic           m_msg_tlast,
    output logic [ID-1:0]  m_msg_tid,
    output logic           active
);
  // -- segmentation
  logic        tx_body;           // the beats of a segment; else its header is next
  logic [31:0] tx_sent;           // beats of the message
  logic [15:0] tx_number, tx_left;
  wire [31:0]  tx_rest = s_msg_tuser - tx_sent;
  wire         tx_ends = tx_rest <= 32'(K);
  wire [15:0]  tx_beats = tx_ends ? tx_rest[15:0] : 16'(K);
  wire         tx_free = !m_seg_tvalid || m_seg_tready;
  wire         tx_empty = s_msg_tuser == 0;
  logic [7:0]  tx_messages;       // that have left, as far as the faults count
  wire         tx_seeded = tx_messages == 8'd19;
  wire         tx_stuck = cfg_bug == 2'd3 && tx_seeded;
  assign s_msg_tready = tx_free && (tx_body || tx_empty) && !tx_stuck;

  always_ff @(posedge clk) begin
    if (!rst_n) begin
      m_seg_tvalid <= 1'b0;
      tx_body <= 1'b0;
      tx_sent <= '0;
      tx_number <= '0;
      tx_left <= '0;
      tx_messages <= '0;
    end else if (tx_free) begin
      m_seg_tvalid <= s_msg_tvalid && !tx_stuck;
      m_seg_tid <= s_msg_tid;
      if (s_msg_tvalid && s_msg_tready && s_msg_tlast && tx_messages != 8'd255) tx_messages <= tx_messages + 8'd1;
      if (tx_stuck) begin
        // Nothing any more.
      end else if (s_msg_tvalid && !tx_body) begin
        m_seg_tdata <= (W*8)'({7'b0, tx_ends, tx_beats, tx_number, 16'(s_msg_tid)});
        m_seg_tkeep <= '1;
        m_seg_tlast <= tx_empty;
        tx_body <= !tx_empty;
        tx_left <= tx_beats;
      end else if (s_msg_tvalid) begin
        m_seg_tdata <= s_msg_tdata ^ (W*8)'(cfg_bug == 2'd1 && tx_seeded && s_msg_tlast ? 8'hff : 8'h00);
        m_seg_tkeep <= s_msg_tkeep;
        m_seg_tlast <= tx_left == 16'd1;
        tx_left <= tx_left - 16'd1;
        tx_body <= tx_left != 16'd1;
        tx_sent <= s_msg_tlast ? '0 : tx_sent + 32'd1;
        if (tx_left == 16'd1) tx_number <= s_msg_tlast ? '0 : tx_number + 16'd1;
      end
    end
  end

  // -- reassembly
  logic        rx_body, rx_ends;
  logic [15:0] rx_left;
  logic [2**ID-1:0][15:0] expected;  // number of the next segment, by context
  logic [7:0]  rx_messages;
  logic [3:0]  rx_wait;
  wire         rx_late = cfg_bug == 2'd2 && rx_messages == 8'd19 && rx_body && rx_ends && rx_left == 16'd1 && rx_wait != 4'd8;
  wire         rx_free = (!m_msg_tvalid || m_msg_tready) && !rx_late;
  wire [15:0]  rx_context = s_seg_tdata[15:0];
  wire [15:0]  rx_number = s_seg_tdata[31:16];
  wire [15:0]  rx_beats = s_seg_tdata[47:32];
  wire         rx_last = s_seg_tdata[48];
  assign s_seg_tready = rx_free;

  always_ff @(posedge clk) begin
    if (!rst_n) begin
      m_msg_tvalid <= 1'b0;
      rx_body <= 1'b0;
      rx_ends <= 1'b0;
      rx_left <= '0;
      expected <= '0;
      rx_messages <= '0;
      rx_wait <= '0;
    end else if (rx_late) begin
      if (m_msg_tready) m_msg_tvalid <= 1'b0;
      rx_wait <= rx_wait + 4'd1;
    end else if (rx_free) begin
      if (m_msg_tvalid && m_msg_tlast && rx_messages != 8'd255) rx_messages <= rx_messages + 8'd1;
      m_msg_tvalid <= s_seg_tvalid && (rx_body || rx_beats == 0);
      m_msg_tid <= s_seg_tid;
      if (s_seg_tvalid && !rx_body) begin
        // A segment out of its turn belongs to no message: its context shows that it is lost.
        m_msg_tdata <= '0;
        m_msg_tkeep <= '0;
        m_msg_tlast <= rx_last;
        rx_body <= rx_beats != 0;
        rx_left <= rx_beats;
        rx_ends <= rx_last && rx_number == expected[rx_context[ID-1:0]];
        expected[rx_context[ID-1:0]] <= rx_last ? '0 : rx_number + 16'd1;
      end else if (s_seg_tvalid) begin
        m_msg_tdata <= s_seg_tdata;
        m_msg_tkeep <= s_seg_tkeep;
        m_msg_tlast <= rx_ends && rx_left == 16'd1;
        rx_left <= rx_left - 16'd1;
        rx_body <= rx_left != 16'd1 && !s_seg_tlast;
      end
    end
  end

  assign active = m_seg_tvalid || m_msg_tvalid || tx_body || rx_body || rx_late;
endmodule
