// Bits in block RAM, each set alone by its number, and read from outside 32 at a time.
//
// Four RAMs, one bit wide where bits are set and eight where words are read: so nothing is read, changed and
// written back, the many-to-one multiplexers are few, and 2^16 bits fill four block RAMs of 16 Kbit.
module rl_bitmap #(
  parameter int unsigned Bits = 1 << 16,     // A power of two, 64 or more.
  localparam int unsigned IndexW = $clog2(Bits),
  localparam int unsigned RowW = IndexW - 2
) (
  input  logic              clk_i,

  // By their numbers.
  input  logic [RowW-1:0]   row_i,    // Bits 4 row_i and on
  output logic [3:0]        row_o,    // are, one cycle later, these; after a cycle without a write.
  input  logic              set_i,    // Set one of them,
  input  logic [1:0]        bit_i,    // this one.
  input  logic              empty_i,  // Clear all of them.

  // From outside: bits 32 word_i and on, one cycle later. One that is written in that cycle is undefined.
  input  logic [IndexW-6:0] word_i,
  output logic [31:0]       word_o
);
  if (Bits != 1 << IndexW || IndexW < 6) begin : gen_check
    $fatal(0, "rl_bitmap: Bits must be a power of two, 64 or more (%m)");
  end

  for (genvar i = 0; i < 4; i++) begin : gen_bank
    logic write;
    logic [7:0] bits;
    assign write = empty_i || (set_i && bit_i == i);
    rl_bitmap_bank #(
      .Depth(Bits / 4)
    ) u_bank (
      .clk_i,
      .we_i(write),
      .addr_i(row_i),
      .wdata_i(!empty_i),
      .rdata_o(row_o[i]),
      .byte_i(word_i),
      .byte_o(bits)
    );
    for (genvar row = 0; row < 8; row++) begin : gen_row
      assign word_o[4*row+i] = bits[row];
    end
  end
endmodule
