// rl_launch_judge accepts each number once and in order, whatever the receive stream shows: frames begin,
// end, break off and mix as they like. Only a frame's head stays from its first payload word to its
// end, which is what the receive stream promises.
module rl_launch_judge_formal
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
(
  input logic        clk_i,
  input rx_beat_t       rx_beat_i,
  input addr_t       memory_i,
  input logic        open_i,
  input logic        args_we_i,
  input logic [5:0]  args_kernel_i,
  input logic [5:0]  args_takes_i,
  input logic [5:0]  args_words_i,
  input logic        last_we_i,
  input logic [31:0] last_i
);
  logic rst_n = 1'b0;
  logic accept, divert, unused_held;
  logic [31:0] last;
  logic [5:0] unused_index;
  divert_reason_e unused_why;
  rl_launch_judge u_dut (
    .clk_net_i(clk_i),
    .rst_net_ni(rst_n),
    .rx_beat_i,
    .index_o(unused_index),
    .memory_i,
    .open_i,
    .args_we_i,
    .args_kernel_i,
    .args_takes_i,
    .args_words_i,
    .last_we_i,
    .last_i,
    .last_o(last),
    .accept_o(accept),
    .held_o(unused_held),
    .divert_o(divert),
    .divert_reason_o(unused_why)
  );

  // -- the receive stream
  logic within_q = 1'b0;
  rx_beat_t rx_beat_q;
  always_ff @(posedge clk_i) begin
    rx_beat_q <= rx_beat_i;
    if (!rst_n || rx_beat_i.done || rx_beat_i.abort || (rx_beat_i.word && rx_beat_i.first))
      within_q <= 1'b0;
    else if (rx_beat_i.word && rx_beat_i.payload) within_q <= 1'b1;
    if (within_q) assume (rx_beat_i.head == rx_beat_q.head && rx_beat_i.route == rx_beat_q.route);
  end

  logic touched_q = 1'b0;
  always_ff @(posedge clk_i) if (last_we_i) touched_q <= 1'b1;

  // -- the newest number, as the firmware would count it
  logic [31:0] newest_q = '0;
  logic changed_q = 1'b1;
  always_ff @(posedge clk_i) begin
    rst_n <= 1'b1;
    changed_q <= !rst_n || accept || last_we_i;
    if (!rst_n) newest_q <= '0;
    else if (last_we_i) newest_q <= last_i;
    else if (accept) newest_q <= newest_q + 1'b1;

    if (rst_n) begin
      NumberIsNext_A : assert (!accept || rx_beat_i.head.seq == newest_q + 1'b1);
      NewestIsKept_A : assert (last == newest_q);
      OnlyOpen_A : assert (!accept || (open_i && rx_beat_i.done && rx_beat_i.route == RouteLaunch));
      OneOrTheOther_A :
      assert ((rx_beat_i.done && rx_beat_i.route == RouteLaunch) == (accept || divert));

      // What induction has to know: what was found out about a number is of this frame.
      if (!changed_q) assert (u_dut.next_q == newest_q + 1'b1);
      if (changed_q) assert (u_dut.index_q == '1 || u_dut.index_q == 6'd1 || u_dut.moved_q);
      if (u_dut.whole_q) assert (within_q);
      if (u_dut.turn_q) begin
        assert (u_dut.index_q >= 6'd5);
        if (u_dut.whole_q || u_dut.index_q < 6'd8)
          assert (within_q && rx_beat_q.head.seq == newest_q + 1'b1);
      end
      TwoAccepted_C : cover (accept && newest_q == 32'd1 && !touched_q);
    end else begin
      assert (!within_q && newest_q == 0);
    end
  end

endmodule
