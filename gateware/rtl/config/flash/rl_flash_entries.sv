// Entries of the log of versions, byte by byte: what is to be written, whether it reads as it was written, and what an
// entry says that is read. Each is there twice, and a page has eight such pairs.
module rl_flash_entries
  import rl_flash_pkg::*;
  import rl_part_pkg::crc_byte;
(
  input  logic   clk_i,

  input  logic   idle_i,     // No command is under way: the next byte is a pair's first.
  input  logic   moves_i,    // A byte goes, or comes.
  input  logic   writes_i,   // It is one of an entry that is given,
  input  entry_t entry_i,    // this one: that of pair pair_o, steady meanwhile. What is read is to be like it
                             // but for `at` and `word`.
  input  logic   first_i,    // Whatever its generation.
  input  logic [7:0] byte_i, // That came.

  output logic [2:0] pair_o, // The pair at hand.
  output logic [7:0] byte_o, // The byte that is to be written, or read when it was written.
  output logic   same_o,     // So far, and with this one.
  // A pair that is read ends with this byte.
  output logic   ends_o,
  output logic   right_o,    // One of the two is right,
  output logic   both_o,     // or both.
  output logic   blank_o,    // All of it is erased.
  output entry_t found_o
);
  logic [7:0] at_q;
  logic [3:0] byte_no;
  logic in_check, copy;
  logic [31:0] crc_q;
  entry_t read_q, first_q;
  logic fits_q, blank_q, same_q, first_right_q, is_right;
  assign {pair_o, copy, byte_no} = at_q;
  assign in_check = byte_no >= 4'd12;
  assign byte_o = in_check ? ~crc_q[31:24] : entry_i[8*(11-32'(byte_no))+:8];
  assign same_o = same_q && !(moves_i && byte_i != byte_o);
  assign ends_o = moves_i && copy && byte_no == '1;
  assign is_right = fits_q && byte_i == ~crc_q[31:24] && read_q.magic == entry_i.magic &&
      read_q.place == entry_i.place && (first_i || read_q.generation == entry_i.generation);
  assign right_o = first_right_q || is_right;
  assign both_o = first_right_q && is_right;
  assign blank_o = blank_q && byte_i == '1;
  assign found_o = first_right_q ? first_q : read_q;

  always_ff @(posedge clk_i) begin
    if (idle_i) at_q <= '0;
    else if (moves_i) at_q <= at_q + 1'b1;
    if (idle_i || (moves_i && byte_no == '1)) begin
      crc_q <= '1;
      fits_q <= 1'b1;
    end else if (moves_i) begin
      crc_q <= in_check ? {crc_q[23:0], 8'd0} : crc_byte(crc_q, writes_i ? byte_o : byte_i);
      if (in_check && byte_i != ~crc_q[31:24]) fits_q <= 1'b0;
    end
    if (idle_i) same_q <= 1'b1;
    else same_q <= same_o;
    if (idle_i || ends_o) blank_q <= 1'b1;
    else if (moves_i && byte_i != '1) blank_q <= 1'b0;
    if (moves_i && !in_check) read_q <= {read_q[$bits(entry_t)-9:0], byte_i};
    if (moves_i && byte_no == '1) begin
      first_right_q <= is_right;
      first_q <= read_q;
    end
  end
endmodule : rl_flash_entries
