// Stands in for rl_launch_judge, which has its own proof: with any word of the receive stream, a launch may
// be accepted, whenever there is room; not two in a row, since a frame has many words.
module rl_launch_judge
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
(
  input  logic        clk_net_i,
  input  logic        rst_net_ni,
  input  rx_beat_t       rx_beat_i,
  output logic [5:0]  index_o,
  input  addr_t       memory_i,
  input  logic        open_i,
  input  logic        args_we_i,
  input  logic [5:0]  args_kernel_i,
  input  logic [5:0]  args_takes_i,
  input  logic [5:0]  args_words_i,
  input  logic        last_we_i,
  input  logic [31:0] last_i,
  output logic [31:0] last_o,
  output logic        accept_o,
  output logic        held_o,
  output logic        divert_o,
  output divert_reason_e        divert_reason_o
);
  (* anyseq *) logic any_accept;
  (* anyseq *) logic any_held;
  (* anyseq *) logic [5:0] any_index;
  logic [31:0] last_q = '0;
  logic accepted_q = 1'b0;
  assign accept_o = any_accept && open_i && !accepted_q && rst_net_ni;
  assign held_o = any_held;
  assign index_o = any_index;
  assign divert_o = 1'b0;
  assign divert_reason_o = DivertBusy;
  assign last_o = last_q;
  always_ff @(posedge clk_net_i) begin
    accepted_q <= accept_o;
    if (last_we_i) last_q <= last_i;
    else if (accept_o) last_q <= last_q + 1'b1;
  end
endmodule
