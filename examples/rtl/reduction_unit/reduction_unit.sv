// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The reduction unit of a switch: one AXI4-Stream input for each port, one output. It sums blocks element by element:
// int32 (modulo 2^32), or bf16 that accumulate in fp32 and are rounded once, at the end, to nearest even.
//
// A block is one frame at each of its ports. TUSER of every frame is the mask of these ports, and TID the block's tag.
// The unit takes a block when the frames at all of its ports begin with the same tag, the lowest port first. It then
// takes one beat of one port an edge, in ascending order of ports: so the order of the sum is that of the ports. A
// block of one port passes unchanged.
module reduction_unit #(
  parameter int PORTS = 8,
  parameter int WIDTH = 256,
  parameter int TAG   = 8
) (
  input  logic               clk,
  input  logic               rst_n,
  input  logic               bf16,  // the elements; else int32
  input  logic [WIDTH-1:0]   s_axis_tdata  [PORTS],
  input  logic [WIDTH/8-1:0] s_axis_tkeep  [PORTS],
  input  logic               s_axis_tlast  [PORTS],
  input  logic [TAG-1:0]     s_axis_tid    [PORTS],
  input  logic [PORTS-1:0]   s_axis_tuser  [PORTS],
  input  logic               s_axis_tvalid [PORTS],
  output logic               s_axis_tready [PORTS],
  output logic [WIDTH-1:0]   m_axis_tdata,
  output logic [WIDTH/8-1:0] m_axis_tkeep,
  output logic               m_axis_tlast,
  output logic [TAG-1:0]     m_axis_tid,
  output logic               m_axis_tvalid,
  input  logic               m_axis_tready,
  output logic               qactive
);
  localparam int INDEX = PORTS == 1 ? 1 : $clog2(PORTS);
  localparam int WORDS = WIDTH / 32;
  localparam int HALVES = WIDTH / 16;

  // IEEE 754 binary32, round to nearest even, with subnormals. Every NaN that comes out is 0x7fc00000.
  function automatic logic [31:0] add_fp32(input logic [31:0] a, input logic [31:0] b);
    logic [31:0] more, less;
    logic [7:0]  exp_big, exp_small;
    logic [8:0]  exponent;
    logic [26:0] m_big, m_small, lost;  // hidden bit, 23 bits, guard, round, sticky
    logic [27:0] sum;
    logic [24:0] rounded;
    int          shift;
    if ((a[30:23] == 8'hff && a[22:0] != 0) || (b[30:23] == 8'hff && b[22:0] != 0)) return 32'h7fc00000;
    if (a[30:23] == 8'hff) return b[30:23] == 8'hff && a[31] != b[31] ? 32'h7fc00000 : a;
    if (b[30:23] == 8'hff) return b;
    {more, less} = a[30:0] >= b[30:0] ? {a, b} : {b, a};
    exp_big   = more[30:23] == 0 ? 8'd1 : more[30:23];
    exp_small = less[30:23] == 0 ? 8'd1 : less[30:23];
    m_big     = {more[30:23] != 0, more[22:0], 3'b000};
    m_small   = {less[30:23] != 0, less[22:0], 3'b000};
    shift     = int'(exp_big) - int'(exp_small);
    if (shift > 26) begin
      m_small = {26'd0, |m_small};
    end else if (shift != 0) begin
      lost    = m_small & ((27'd1 << shift) - 27'd1);
      m_small = m_small >> shift;
      m_small[0] = m_small[0] | (|lost);
    end
    exponent = {1'b0, exp_big};
    if (more[31] == less[31]) begin
      sum = {1'b0, m_big} + {1'b0, m_small};
      if (sum[27]) begin
        sum = {1'b0, sum[27:2], sum[1] | sum[0]};
        exponent = exponent + 9'd1;
      end
    end else begin
      sum = {1'b0, m_big} - {1'b0, m_small};
      if (sum == 0) return 32'd0;
      for (int i = 0; i < 26; i++) begin
        if (!sum[26] && exponent > 9'd1) begin
          sum = sum << 1;
          exponent = exponent - 9'd1;
        end
      end
    end
    rounded = {1'b0, sum[26:3]};
    if (sum[2] && (sum[1] || sum[0] || sum[3])) rounded = rounded + 25'd1;
    if (rounded[24]) begin
      rounded = rounded >> 1;
      exponent = exponent + 9'd1;
    end
    if (exponent >= 9'd255) return {more[31], 8'hff, 23'd0};
    return {more[31], rounded[23] ? exponent[7:0] : 8'd0, rounded[22:0]};
  endfunction

  function automatic logic [15:0] round_bf16(input logic [31:0] value);
    logic [31:0] rounded;
    if (value[30:23] == 8'hff && value[22:0] != 0) return 16'h7fc0;
    rounded = value + 32'h7fff + {31'd0, value[16]};
    return rounded[31:16];
  endfunction

  logic               chosen;         // a block whose frames have all begun
  logic [PORTS-1:0]   chosen_mask;
  logic               locked;         // a block is under way
  logic [PORTS-1:0]   locked_mask;
  logic [PORTS-1:0]   left;           // ports of this beat that have not been taken
  logic               begun;          // one has
  logic [PORTS-1:0]   now_left;
  logic [INDEX-1:0]   port;
  logic               last_port;
  logic               take;
  logic [2*WIDTH-1:0] sum;            // of this beat: words of 32 bits
  logic [2*WIDTH-1:0] next;
  logic [WIDTH-1:0]   result;
  logic               only;           // a block of one port

  always_comb begin
    logic together;
    chosen = 1'b0;
    chosen_mask = '0;
    for (int p = PORTS - 1; p >= 0; p--) begin
      together = s_axis_tvalid[p] && s_axis_tuser[p][p];
      for (int q = 0; q < PORTS; q++) begin
        if (s_axis_tuser[p][q] && !(s_axis_tvalid[q] && s_axis_tid[q] == s_axis_tid[p])) together = 1'b0;
      end
      if (together) begin
        chosen = 1'b1;
        chosen_mask = s_axis_tuser[p];
      end
    end
  end

  always_comb begin
    now_left = !locked ? chosen_mask : begun ? left : locked_mask;
    port = '0;
    for (int p = PORTS - 1; p >= 0; p--) begin
      if (now_left[p]) port = INDEX'(p);
    end
    last_port = (now_left & ~(PORTS'(1) << port)) == '0;
    only = ((locked ? locked_mask : chosen_mask) & ~(PORTS'(1) << port)) == '0;
    take = (locked ? s_axis_tvalid[port] : chosen) && !(last_port && m_axis_tvalid && !m_axis_tready);
    for (int p = 0; p < PORTS; p++) s_axis_tready[p] = take && port == INDEX'(p);
  end

  always_comb begin
    next = '0;
    result = '0;
    if (take) begin
      if (bf16) begin
        for (int i = 0; i < HALVES; i++) begin
          next[32*i+:32] = begun ? add_fp32(sum[32*i+:32], {s_axis_tdata[port][16*i+:16], 16'd0})
                                 : {s_axis_tdata[port][16*i+:16], 16'd0};
          if (last_port) result[16*i+:16] = round_bf16(next[32*i+:32]);
        end
      end else begin
        for (int i = 0; i < WORDS; i++) begin
          next[32*i+:32] = s_axis_tdata[port][32*i+:32] + (begun ? sum[32*i+:32] : 32'd0);
        end
        result = next[WIDTH-1:0];
      end
      if (only) result = s_axis_tdata[port];
    end
  end

  always_ff @(posedge clk) begin
    if (m_axis_tready) m_axis_tvalid <= 1'b0;
    if (take) begin
      sum   <= next;
      begun <= !last_port;
      left  <= now_left & ~(PORTS'(1) << port);
      if (!locked) locked_mask <= chosen_mask;
      locked <= !(last_port && s_axis_tlast[port]);
      if (last_port) begin
        m_axis_tvalid <= 1'b1;
        m_axis_tdata  <= result;
        m_axis_tkeep  <= s_axis_tkeep[port];
        m_axis_tlast  <= s_axis_tlast[port];
        m_axis_tid    <= s_axis_tid[port];
      end
    end
    if (!rst_n) begin
      locked <= 1'b0;
      begun <= 1'b0;
      m_axis_tvalid <= 1'b0;
    end
  end

  // It works only on what stands at its pins.
  assign qactive = m_axis_tvalid;
endmodule
