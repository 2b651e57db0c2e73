// In place of rl_flash_entries: any bytes, and any verdict about what is read, at any time.
module rl_flash_entries
  import rl_flash_pkg::*;
(
  input  logic   clk_i,
  input  logic   idle_i,
  input  logic   moves_i,
  input  logic   writes_i,
  input  entry_t entry_i,
  input  logic   first_i,
  input  logic [7:0] byte_i,
  output logic [2:0] pair_o,
  output logic [7:0] byte_o,
  output logic   same_o,
  output logic   ends_o,
  output logic   right_o,
  output logic   both_o,
  output logic   blank_o,
  output entry_t found_o
);
  (* anyseq *) logic [2:0] pair;
  (* anyseq *) logic [7:0] content;
  (* anyseq *) logic [3:0] verdict;
  (* anyseq *) logic ends;
  (* anyseq *) entry_t found;
  assign pair_o = pair;
  assign byte_o = content;
  assign {same_o, right_o, both_o, blank_o} = verdict;
  assign ends_o = ends;
  assign found_o = found;
endmodule
