// Tags of messages: Ascon-MAC, or the first 16 bytes of Ascon-PRF, by one of several keys.
//
// Instead of a key its state after the first permutation is kept, so a message costs a permutation
// for each 32 bytes and none before: 12 / PerCycle cycles. Messages follow each other without a gap.
// How long one takes depends on its length alone, never on a key or on what it says.
//
// A key is taken between two messages, and before the next one.
module rl_tag
  import rl_ascon_pkg::*;
#(
  parameter int unsigned PerCycle = 1,  // Rounds: 1, 2, 3, 4, 6 or 12.
  parameter int unsigned Keys = 16,     // A power of two, 2 or more.
  localparam int unsigned SlotW = $clog2(Keys)
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  input  logic             key_valid_i,
  output logic             key_ready_o,
  input  logic [SlotW-1:0] key_slot_i,
  input  logic             key_forget_i,  // What is in this slot; no key is given.
  input  logic             key_prf_i,     // The key derives others; else it tags.
  input  tag_t             key_i,

  input  logic             valid_i,
  output logic             ready_o,
  input  logic [63:0]      data_i,
  input  logic [7:0]       keep_i,        // Of a last word, which may have none; the others are whole.
  input  logic             last_i,
  input  logic [SlotW-1:0] slot_i,        // Counts with a message's fourth word, or its last before.

  output logic             valid_o,
  input  logic             ready_i,
  output tag_t             tag_o,
  output logic             known_o        // There was a key in that slot; else the tag says nothing.
);
  if (Rounds % PerCycle != 0) begin : gen_check
    $fatal(0, "rl_tag: PerCycle must divide the 12 rounds (%m)");
  end

  // -- what is absorbed next
  logic block_valid, take, first, final_block;
  block_t block;
  logic [SlotW-1:0] slot;
  logic block_ready;
  rl_tag_block #(
    .SlotW(SlotW)
  ) u_block (
    .clk_i,
    .rst_ni,
    .valid_i,
    .ready_o,
    .data_i,
    .keep_i,
    .last_i,
    .slot_i,
    .valid_o(block_valid),
    .ready_i(block_ready),
    .block_o(block),
    .first_o(first),
    .final_o(final_block),
    .slot_o(slot)
  );
  assign take = block_valid && block_ready;

  // -- the permutation under way
  state_t state_q, permuted;
  logic [3:0] round_q;
  logic busy_q;
  logic last_q;     // These are its last rounds.
  logic loading_q;  // It makes a key's state; otherwise a message's.
  logic final_q;    // It is the message's last.
  logic inside_q;   // A message has begun whose last block has not been taken.
  logic [SlotW-1:0] load_slot_q;
  rl_ascon_rounds #(
    .PerCycle(PerCycle)
  ) u_rounds (
    .round_i(round_q),
    .state_i(state_q),
    .state_o(permuted)
  );

  logic ends, full, held, free, key_take;
  assign ends = busy_q && last_q;
  assign full = final_q && valid_o && !ready_i;
  assign held = ends && full;
  // A key's state is read from its memory a cycle after it was written there.
  assign free = !busy_q || (last_q && !full && !loading_q);
  // A key that waits lets no message begin, and is taken when nothing is under way.
  assign key_ready_o = !busy_q && !inside_q;
  assign key_take = key_valid_i && key_ready_o;
  assign block_ready = free && !(key_valid_i && !inside_q);

  // -- the keys' states
  logic [Keys-1:0] known_q;
  logic loads;
  state_t start;
  assign loads = ends && loading_q;
  rl_lutram #(
    .Width($bits(state_t)),
    .Depth(Keys)
  ) u_keys (
    .clk_i,
    .we_i(loads || (key_take && key_forget_i)),
    .waddr_i(loads ? load_slot_q : key_slot_i),
    .wdata_i(loads ? permuted : '0),
    .raddr_i(slot),
    .rdata_o(start)
  );

  state_t from;
  always_comb begin
    from = busy_q ? permuted : state_q;
    if (first) from = start;
    from[3:0] = from[3:0] ^ block;
    if (final_block) from[4] = from[4] ^ Ends;
  end

  logic known_msg_q;
  always_ff @(posedge clk_i) begin
    if (key_take) state_q <= {128'b0, key_i, key_prf_i ? IvPrf : IvMac};
    else if (take) state_q <= from;
    else if (busy_q && !held) state_q <= permuted;
    if (key_take) load_slot_q <= key_slot_i;
    if (take && first) known_msg_q <= known_q[slot];
    if (ends && !held && final_q) begin
      tag_o   <= permuted[1:0];
      known_o <= known_msg_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q    <= 1'b0;
      round_q   <= '0;
      last_q    <= 1'b0;
      loading_q <= 1'b0;
      final_q   <= 1'b0;
      inside_q  <= 1'b0;
      known_q   <= '0;
      valid_o   <= 1'b0;
    end else begin
      if (free || loads) begin
        busy_q    <= take || (key_take && !key_forget_i);
        round_q   <= '0;
        last_q    <= PerCycle == Rounds;
        loading_q <= key_take && !key_forget_i;
        final_q   <= take && final_block;
      end else if (!held) begin
        round_q <= round_q + 4'(PerCycle);
        last_q  <= round_q == 4'(Rounds - 2 * PerCycle);
      end
      if (take) inside_q <= !final_block;
      if (key_take) known_q[key_slot_i] <= 1'b0;
      if (loads) known_q[load_slot_q] <= 1'b1;
      valid_o <= (ends && final_q) || (valid_o && !ready_i);
    end
  end

`ifndef SYNTHESIS
  rl_stays #(
    .Width($bits(tag_t) + 1)
  ) u_stays (
    .clk_i,
    .rst_ni,
    .valid_i(valid_o),
    .ready_i,
    .data_i({known_o, tag_o})
  );
`endif
endmodule
