// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A router with virtual channels and credits. Each input has a buffer for each virtual channel. A head that is
// at the front of its buffer (or comes into an empty one) gets a virtual channel of its output; from the next
// cycle on its flits ask for the crossbar; what is granted is on the output's pins the cycle after that. A flit
// that comes in cycle A without contention is on the output's pins at the edge A + 3, and its credit on
// in_credit at A + 2.
//
// Routing is look-ahead: the head flit brings its output port and the virtual channels that it may take.
//
// `cfg_bug` seeds faults, to show what a replay finds, after every 64th flit: 1 all outputs lose a cycle, 2 a flit has
// another virtual channel.
module mesh_router #(
    parameter int P = 8,
    parameter int V = 4,
    parameter int DEPTH = 16,
    parameter int TW = 16,
    localparam int VW = V > 1 ? $clog2(V) : 1,
    localparam int OW = P > 1 ? $clog2(P) : 1,
    localparam int DW = $clog2(DEPTH) > 0 ? $clog2(DEPTH) : 1
) (
    input  logic            clk,
    input  logic            rst_n,
    input  logic [1:0]      cfg_bug,
    input  logic [7:0]      cfg_depth,  // flits of the buffers at the other ends
    input  logic [P*8-1:0]  cfg_gap,    // cycles that a flit takes on the link of an output
    input  logic [P-1:0]    in_valid,
    input  logic [P*VW-1:0] in_vc,
    input  logic [P-1:0]    in_head,
    input  logic [P-1:0]    in_tail,
    input  logic [P*OW-1:0] in_out,
    input  logic [P*V-1:0]  in_ovcs,
    input  logic [P*TW-1:0] in_tag,
    output logic [P*V-1:0]  in_credit,
    input  logic [P*V-1:0]  out_credit,
    output logic [P-1:0]    out_valid,
    output logic [P*VW-1:0] out_vc,
    output logic [P*TW-1:0] out_tag
);
  localparam int N = P * V;              // input virtual channels
  localparam int NW = N > 1 ? $clog2(N) : 1;
  typedef struct packed {
    logic          head;
    logic          tail;
    logic [OW-1:0] out;
    logic [V-1:0]  ovcs;
    logic [TW-1:0] tag;
  } flit_t;

  // Input buffers.
  flit_t         store [N][DEPTH];
  logic [DW-1:0] first [N];
  logic [DW:0]   count [N];
  // Of the packet at the front of a buffer.
  logic          active [N];   // it has a virtual channel of its output
  logic [OW-1:0] to_port [N];
  logic [VW-1:0] to_vc [N];
  // Outputs.
  logic          taken [N];    // output virtual channel: a packet has it
  logic [7:0]    credits [N];
  logic [7:0]    busy [P];     // cycles until the link takes another flit
  logic [NW-1:0] holder [P];   // input whose packet the output carries
  logic          held [P];
  logic [NW-1:0] turn_va, turn_sa [P];

  logic [5:0]    sent;         // flits, for the seeded faults
  logic          seeded;       // it is one flit's turn
  assign seeded = sent == 6'h3f;

  // What comes in, by input virtual channel.
  logic  comes [N];
  flit_t coming [N];
  always_comb begin
    for (int p = 0; p < P; p++)
      for (int v = 0; v < V; v++) begin
        comes[p*V+v] = in_valid[p] && in_vc[p*VW+:VW] == VW'(v);
        coming[p*V+v] = '{head: in_head[p], tail: in_tail[p], out: in_out[p*OW+:OW], ovcs: in_ovcs[p*V+:V],
                          tag: in_tag[p*TW+:TW]};
      end
  end

  // Virtual channels of outputs: in turns, each head one that is free and that it may take.
  logic          gets [N];
  logic [OW-1:0] gets_port [N];
  logic [VW-1:0] gets_vc [N];
  logic          given [N];
  always_comb begin
    for (int i = 0; i < N; i++) begin
      gets[i] = 1'b0;
      gets_port[i] = '0;
      gets_vc[i] = '0;
      given[i] = taken[i];
    end
    for (int k = 0; k < N; k++) begin
      automatic int i = (int'(turn_va) + k) % N;
      automatic flit_t flit = count[i] != 0 ? store[i][first[i]] : coming[i];
      if (!active[i] && (count[i] != 0 || comes[i]) && flit.head)
        for (int v = 0; v < V; v++)
          if (!gets[i] && flit.ovcs[v] && !given[int'(flit.out)*V+v]) begin
            gets[i] = 1'b1;
            gets_port[i] = flit.out;
            gets_vc[i] = VW'(v);
            given[int'(flit.out)*V+v] = 1'b1;
          end
    end
  end

  // The crossbar: one flit for each output and from each input. A packet keeps its output while its flits come.
  logic          pops [N];
  logic          sends [P];
  logic [NW-1:0] sends_of [P];
  logic          used [P];
  always_comb begin
    for (int i = 0; i < N; i++) pops[i] = 1'b0;
    for (int p = 0; p < P; p++) begin
      sends[p] = 1'b0;
      sends_of[p] = '0;
      used[p] = 1'b0;
    end
    // First those who hold an output, then the others in turns.
    for (int pass = 0; pass < 2; pass++)
      for (int o = 0; o < P; o++)
        for (int k = 0; k < N; k++) begin
          automatic int i = (int'(turn_sa[o]) + k) % N;
          if (!(cfg_bug == 2'd1 && seeded) && !sends[o] && busy[o] == 0 && (pass == 1 || (held[o] && i == int'(holder[o]))) && active[i] &&
              count[i] != 0 && to_port[i] == OW'(o) && credits[o*V+int'(to_vc[i])] != 0 && !used[i/V]) begin
            sends[o] = 1'b1;
            sends_of[o] = NW'(i);
            used[i/V] = 1'b1;
            pops[i] = 1'b1;
          end
        end
    for (int i = 0; i < N; i++) in_credit[i] = pops[i];
  end

  always_ff @(posedge clk) begin
    if (!rst_n) begin
      for (int i = 0; i < N; i++) begin
        first[i] <= '0;
        count[i] <= '0;
        active[i] <= 1'b0;
        taken[i] <= 1'b0;
        credits[i] <= cfg_depth;
      end
      for (int p = 0; p < P; p++) begin
        busy[p] <= '0;
        held[p] <= 1'b0;
        holder[p] <= '0;
        turn_sa[p] <= '0;
      end
      turn_va <= '0;
      sent <= '0;
      out_valid <= '0;
      out_vc <= '0;
      out_tag <= '0;
    end else begin
      for (int i = 0; i < N; i++) begin
        if (comes[i]) store[i][DW'((int'(first[i]) + int'(count[i])) % DEPTH)] <= coming[i];
        count[i] <= count[i] + (DW+1)'(comes[i]) - (DW+1)'(pops[i]);
        if (pops[i]) first[i] <= DW'((int'(first[i]) + 1) % DEPTH);
        if (gets[i]) begin
          active[i] <= 1'b1;
          to_port[i] <= gets_port[i];
          to_vc[i] <= gets_vc[i];
        end
        if (pops[i] && store[i][first[i]].tail) active[i] <= 1'b0;
      end
      for (int p = 0; p < P; p++)
        for (int v = 0; v < V; v++) begin
          automatic logic spent = sends[p] && to_vc[sends_of[p]] == VW'(v);
          automatic logic last = spent && store[sends_of[p]][first[sends_of[p]]].tail;
          credits[p*V+v] <= credits[p*V+v] + 8'(out_credit[p*V+v]) - 8'(spent);
          taken[p*V+v] <= given[p*V+v] && !last;
        end
      if (cfg_bug == 2'd1 && seeded) sent <= '0;
      for (int p = 0; p < P; p++) begin
        out_valid[p] <= sends[p];
        if (sends[p]) begin
          automatic flit_t flit = store[sends_of[p]][first[sends_of[p]]];
          out_vc[p*VW+:VW] <= to_vc[sends_of[p]] ^ VW'(cfg_bug == 2'd2 && seeded);
          sent <= sent + 6'd1;
          out_tag[p*TW+:TW] <= flit.tag;
          held[p] <= !flit.tail;
          holder[p] <= sends_of[p];
          turn_sa[p] <= NW'((int'(sends_of[p]) + 1) % N);
          busy[p] <= cfg_gap[p*8+:8] - 8'd1;
        end else if (busy[p] != 0) begin
          busy[p] <= busy[p] - 8'd1;
        end
      end
      turn_va <= NW'((int'(turn_va) + 1) % N);
    end
  end
endmodule
