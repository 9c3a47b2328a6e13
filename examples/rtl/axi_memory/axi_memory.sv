// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A memory controller behind an AXI4 slave port. Bursts are served one after the other, reads and writes in turns;
// the first beat of a burst waits LATENCY cycles for the memory, then a beat moves a cycle. Addresses of SIZE bytes
// and above are answered with DECERR.
module axi_memory #(
    parameter int DATA = 512,      // bits
    parameter int ADDR = 32,
    parameter int IDS = 4,         // bits
    parameter int SIZE = 1 << 20,  // bytes
    parameter int LATENCY = 12
) (
    input  logic              clk,
    input  logic              rst_n,
    output logic              qactive,
    input  logic [IDS-1:0]    s_axi_awid,
    input  logic [ADDR-1:0]   s_axi_awaddr,
    input  logic [7:0]        s_axi_awlen,
    input  logic [2:0]        s_axi_awsize,
    input  logic [1:0]        s_axi_awburst,
    input  logic              s_axi_awvalid,
    output logic              s_axi_awready,
    input  logic [DATA-1:0]   s_axi_wdata,
    input  logic [DATA/8-1:0] s_axi_wstrb,
    input  logic              s_axi_wlast,
    input  logic              s_axi_wvalid,
    output logic              s_axi_wready,
    output logic [IDS-1:0]    s_axi_bid,
    output logic [1:0]        s_axi_bresp,
    output logic              s_axi_bvalid,
    input  logic              s_axi_bready,
    input  logic [IDS-1:0]    s_axi_arid,
    input  logic [ADDR-1:0]   s_axi_araddr,
    input  logic [7:0]        s_axi_arlen,
    input  logic [2:0]        s_axi_arsize,
    input  logic [1:0]        s_axi_arburst,
    input  logic              s_axi_arvalid,
    output logic              s_axi_arready,
    output logic [IDS-1:0]    s_axi_rid,
    output logic [DATA-1:0]   s_axi_rdata,
    output logic [1:0]        s_axi_rresp,
    output logic              s_axi_rlast,
    output logic              s_axi_rvalid,
    input  logic              s_axi_rready
);
  localparam int BYTES = DATA / 8;
  localparam int LOG = $clog2(BYTES);
  localparam int ROWS = SIZE / BYTES;

  logic [DATA-1:0] memory[ROWS];

  typedef enum logic [2:0] {IDLE, WAIT_READ, READ, WAIT_WRITE, WRITE, RESPOND} state_t;
  state_t state;
  logic [7:0] wait_left;
  logic [8:0] left;  // beats
  logic [ADDR-1:0] address;
  logic [IDS-1:0] id;
  logic beyond;
  logic reads_next;

  wire take_read = s_axi_arvalid && (reads_next || !s_axi_awvalid);
  wire take_write = s_axi_awvalid && !take_read;
  wire outside = address >= ADDR'(SIZE);
  wire [$clog2(ROWS)-1:0] row = address[LOG+:$clog2(ROWS)];

  assign s_axi_arready = state == IDLE && take_read;
  assign s_axi_awready = state == IDLE && take_write;
  assign s_axi_wready = state == WRITE;
  assign s_axi_bvalid = state == RESPOND;
  assign s_axi_bid = id;
  assign s_axi_bresp = beyond ? 2'b11 : 2'b00;
  assign s_axi_rvalid = state == READ;
  assign s_axi_rid = id;
  assign s_axi_rdata = outside ? '0 : memory[row];
  assign s_axi_rresp = outside ? 2'b11 : 2'b00;
  assign s_axi_rlast = left == 1;
  assign qactive = state != IDLE;

  always_ff @(posedge clk) begin
    if (!rst_n) begin
      state <= IDLE;
      reads_next <= 1'b1;
      beyond <= 1'b0;
    end else begin
      case (state)
        IDLE: begin
          wait_left <= 8'(LATENCY);
          beyond <= 1'b0;
          if (take_read) begin
            {id, address, left} <= {s_axi_arid, s_axi_araddr, 9'(s_axi_arlen) + 9'd1};
            reads_next <= 1'b0;
            state <= WAIT_READ;
          end else if (take_write) begin
            {id, address, left} <= {s_axi_awid, s_axi_awaddr, 9'(s_axi_awlen) + 9'd1};
            reads_next <= 1'b1;
            state <= WAIT_WRITE;
          end
        end
        WAIT_READ, WAIT_WRITE: begin
          wait_left <= wait_left - 8'd1;
          if (wait_left <= 8'd1) state <= state == WAIT_READ ? READ : WRITE;
        end
        READ:
        if (s_axi_rready) begin
          left <= left - 9'd1;
          address <= address + ADDR'(BYTES);
          if (left == 1) state <= IDLE;
        end
        WRITE:
        if (s_axi_wvalid) begin
          if (outside) beyond <= 1'b1;
          else
            for (int i = 0; i < BYTES; ++i)
              if (s_axi_wstrb[i]) memory[row][8*i+:8] <= s_axi_wdata[8*i+:8];
          left <= left - 9'd1;
          address <= address + ADDR'(BYTES);
          if (left == 1) state <= RESPOND;
        end
        RESPOND: if (s_axi_bready) state <= IDLE;
        default: state <= IDLE;
      endcase
    end
  end
endmodule
