// The receiver's side of a window of numbers: the first one missing, and which of the 256 beyond it
// are there. Numbers wrap; those up to 2^31 behind the first missing one count as there.
//
// Bit n % 256 of a ring in distributed RAM stands for number n, which is one of next + 1 to next + 256.
// When the gap at `next` closes, it moves on one number a cycle; meanwhile nothing can be inserted, nor
// while the ring is emptied. A number takes two cycles; the first missing one three, or with `Quick` two as well if the
// next one is not there.
module rl_window #(
  parameter bit Quick = 1'b0
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        reset_i,     // Forget everything: 1 is the first number to come.

  input  logic        insert_i,    // Take note of a number, if ready_o.
  input  logic [31:0] seq_i,
  input  logic        near_i,      // It is within 2^11 of the first missing one: bits 11 to 0 of seq_i tell it.
  output logic        ready_o,
  output logic        done_o,      // Two cycles later: what it was.
  output logic [1:0]  arrival_o,   // 0 new, 1 there already, 2 beyond the window.
  output logic        in_order_o,  // It was the first missing one.

  output logic [31:0] next_o,
  input  logic [2:0]  bits_addr_i,
  output logic [31:0] bits_o       // Bits 32 bits_addr_i and on of the ring, in the same cycle.
);
  typedef enum logic [1:0] {
    Empty   = 2'd0, // The ring is being emptied.
    Idle    = 2'd1,
    Judge   = 2'd2,
    Advance = 2'd3  // The number next_o is there.
  } state_e;
  state_e state_q;

  logic [31:0] ahead_q;   // Of the number inserted, from next_o; bits 11 to 0 of that,
  logic near_q;           // if it is near.
  logic [7:0] pos_q;      // In the ring: of the number inserted; when advancing, of the one after next_o.

  // -- the ring, in nibbles, of which one is written: so the multiplexers are small. Its second copy is for
  // reading from outside.
  logic [3:0][3:0] row;
  logic [3:0] nibble, nibble_d;
  logic is_there, empties, write, sets;
  assign empties = state_q == Empty;
  assign nibble = row[pos_q[3:2]];
  assign is_there = nibble[pos_q[1:0]];
  for (genvar i = 0; i < 4; i++) begin : gen_bit
    // What is there already is set again, and what is not there is cleared: so a write need not look at it.
    assign nibble_d[i] = !empties && (pos_q[1:0] == i ? sets : nibble[i]);
  end
  for (genvar i = 0; i < 4; i++) begin : gen_nibble
    logic here;
    assign here = empties || (write && pos_q[3:2] == i);
    rl_lutram #(
      .Width(4),
      .Depth(16)
    ) u_ring (
      .clk_i,
      .we_i(here),
      .waddr_i(pos_q[7:4]),
      .wdata_i(nibble_d),
      .raddr_i(pos_q[7:4]),
      .rdata_o(row[i])
    );
    for (genvar k = 0; k < 2; k++) begin : gen_half
      rl_lutram #(
        .Width(4),
        .Depth(8)
      ) u_outside (
        .clk_i,
        .we_i(here && pos_q[4] == k),
        .waddr_i(pos_q[7:5]),
        .wdata_i(nibble_d),
        .raddr_i(bits_addr_i),
        .rdata_o(bits_o[16*k+4*i+:4])
      );
    end
  end

  // -- with Quick: whether the number after the inserted one is there, from a third copy of the ring
  logic follows;
  if (Quick) begin : gen_quick
    logic [7:0] after;
    logic [3:0][3:0] after_row;
    logic [3:0] after_nibble;
    assign after = pos_q + 1'b1;
    for (genvar i = 0; i < 4; i++) begin : gen_after
      rl_lutram #(
        .Width(4),
        .Depth(16)
      ) u_after (
        .clk_i,
        .we_i(empties || (write && pos_q[3:2] == i)),
        .waddr_i(pos_q[7:4]),
        .wdata_i(nibble_d),
        .raddr_i(after[7:4]),
        .rdata_o(after_row[i])
      );
    end
    assign after_nibble = after_row[after[3:2]];
    assign follows = after_nibble[after[1:0]];
  end else begin : gen_slow
    assign follows = 1'b1;
  end

  // -- the judgement
  logic far, closes, behind, beyond;
  assign far = !near_q && ahead_q[31:12] != 0;
  assign closes = !far && ahead_q[11:0] == 0;
  assign behind = near_q ? ahead_q[11] : ahead_q[31];
  assign beyond = !behind && (far || ahead_q[11:9] != 0 || (ahead_q[8] && ahead_q[7:0] != 0));
  assign sets = state_q == Judge;
  assign write = state_q == Advance || (sets && !closes && !behind && !beyond);

  assign ready_o = state_q == Idle && !reset_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Empty;
      pos_q <= '0;
      next_o <= 32'd1;
      done_o <= 1'b0;
    end else begin
      done_o <= state_q == Judge;
      pos_q <= state_q == Idle ? seq_i[7:0] : pos_q + (empties ? 8'd16 : 8'd1);
      unique case (state_q)
        Empty: if (pos_q[7:4] == '1) state_q <= Idle;
        Idle: if (insert_i) state_q <= Judge;
        Judge: state_q <= closes && follows ? Advance : Idle;
        Advance: if (!is_there) state_q <= Idle;
        default: state_q <= Empty;
      endcase
      if (state_q == Advance || (state_q == Judge && closes && !follows)) next_o <= next_o + 1'b1;
      if (reset_i) begin
        state_q <= Empty;
        pos_q <= '0;
        next_o <= 32'd1;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    ahead_q <= seq_i - next_o;
    near_q <= near_i;
    in_order_o <= closes;
    if (beyond) arrival_o <= 2'd2;
    else arrival_o <= {1'b0, behind || (!closes && is_there)};
  end

`ifndef SYNTHESIS
  InsertIsReady_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) insert_i |-> ready_o);
`endif
endmodule
