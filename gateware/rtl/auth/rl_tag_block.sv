// A message's words as blocks of four, padded: a byte of 1 after the last one, and zeros.
//
// A message that fills its last block gets another, which is nothing but padding. While a block
// waits the next one gathers; only the word that would complete it is not taken.
module rl_tag_block
  import rl_ascon_pkg::*;
#(
  parameter int unsigned SlotW = 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  input  logic             valid_i,
  output logic             ready_o,  // Does not depend on ready_i: this cuts the long path.
  input  logic [63:0]      data_i,
  input  logic [7:0]       keep_i,   // Of a last word, which may have none; the others are whole.
  input  logic             last_i,
  input  logic [SlotW-1:0] slot_i,   // Which key; counts with the word that completes the first block.

  output logic             valid_o,
  input  logic             ready_i,
  output block_t           block_o,
  output logic             first_o,  // Of its message.
  output logic             final_o,
  output logic [SlotW-1:0] slot_o
);
  logic full_q;              // A block waits.
  logic tail_q;              // After it comes one of padding.
  logic later_q;             // The next block is not its message's first.
  logic [1:0] at_q;          // Where the next word goes.
  logic [2:0][63:0] came_q;  // Words of the next block.

  logic beat, take, completes, whole, closes;
  assign take = full_q && ready_i;
  assign completes = last_i || at_q == '1;
  assign ready_o = !(full_q && completes);
  assign beat = valid_i && ready_o;
  assign whole = beat && completes;
  // The message ends with its last word's last byte: the padding begins in the next word.
  assign closes = last_i && keep_i[7];
  assign valid_o = full_q;

  logic [63:0] word;
  always_comb begin
    for (int unsigned n = 0; n < 8; n++) begin
      word[8*n+:8] = data_i[8*n+:8];
      if (!keep_i[n]) word[8*n+:8] = {7'b0, last_i && (n == 0 || keep_i[(n+7)%8])};
    end
  end

  block_t block;
  always_comb begin
    block = {64'b0, came_q};
    for (int unsigned w = 0; w < 4; w++) begin
      if (2'(w) == at_q) block[w] = word;
      else if (2'(w) > at_q) block[w] = 64'(closes && 2'(w) == at_q + 1'b1);
    end
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned w = 0; w < 3; w++) if (2'(w) == at_q) came_q[w] <= word;
    if (take) block_o <= 256'(1);
    else if (whole) block_o <= block;
    if (whole) begin
      first_o <= !later_q;
      final_o <= last_i && !(closes && at_q == '1);
      slot_o  <= slot_i;
    end else if (take) begin
      first_o <= 1'b0;
      final_o <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      full_q  <= 1'b0;
      tail_q  <= 1'b0;
      later_q <= 1'b0;
      at_q    <= '0;
    end else begin
      full_q <= whole || (full_q && !take) || (take && tail_q);
      if (whole) tail_q <= closes && at_q == '1;
      else if (take) tail_q <= 1'b0;
      if (whole) later_q <= !last_i;
      if (beat) at_q <= completes ? '0 : at_q + 1'b1;
    end
  end
endmodule
