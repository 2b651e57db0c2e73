// rl_collective_take with a neighbour that sends any frames, takes that begin and end at any time, and memories whose
// contents are anything. What is checked:
//   - what no take wants is written to the place of the neighbour's context that sent it, and not beyond its end;
//   - while a place is copied nothing is written there;
//   - a frame is written once at most, and one that is not wanted never.
module rl_collective_take_formal
  import rl_link_pkg::*;
  import rl_link_wire_pkg::*;
  import rl_collective_pkg::*;
#(
  parameter int unsigned DataW = 64
) (
  input logic             clk_i,
  input logic [39:0]      early_i,
  input logic             start_valid_i,
  input move_t            start_i,
  input logic [Slots-1:0] cancel_i,
  input logic             forget_i,
  input logic             come_valid_i,
  input message_t         come_i,
  input logic [DataW-1:0] data_i,
  input logic             last_i,
  input logic             word_ready_i,
  input logic             aw_ready_i,
  input logic             w_ready_i,
  input logic             ar_ready_i
);
  localparam int unsigned Bytes = DataW / 8;
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  logic start_ready, end_valid, stray, rests, come_ready, word_valid;
  logic aw_valid, w_valid, w_last, ar_valid;
  end_t ended;
  logic [Slots-1:0] open;
  message_t word;
  logic [39:0] aw_addr;
  logic [7:0] aw_len, ar_len;
  logic [DataW-1:0] w_data;
  logic [Bytes-1:0] w_strb;
  logic [36:0] ar_beat;
  rl_collective_take #(
    .DataW(DataW)
  ) u_dut (
    .clk_i,
    .rst_ni(rst_n),
    .early_i,
    .start_valid_i(start_valid_i),
    .start_ready_o(start_ready),
    .start_i,
    .end_valid_o(end_valid),
    .end_o(ended),
    .open_o(open),
    .cancel_i,
    .forget_i,
    .stray_o(stray),
    .rests_o(rests),
    .come_valid_i(come_valid_i),
    .come_ready_o(come_ready),
    .come_i,
    .data_i,
    .last_i,
    .word_valid_o(word_valid),
    .word_ready_i,
    .word_o(word),
    .aw_valid_o(aw_valid),
    .aw_ready_i,
    .aw_addr_o(aw_addr),
    .aw_len_o(aw_len),
    .w_valid_o(w_valid),
    .w_ready_i,
    .w_data_o(w_data),
    .w_strb_o(w_strb),
    .w_last_o(w_last),
    .b_valid_i(1'b0),
    .b_resp_i('0),
    .ar_valid_o(ar_valid),
    .ar_ready_i,
    .ar_beat_o(ar_beat),
    .ar_len_o(ar_len),
    .r_valid_i(1'b0),
    .r_data_i('0),
    .r_failed_i(1'b0),
    .r_last_i(1'b0)
  );

  // -- a frame is steady until its last word is taken
  message_t come_q;
  logic waits_q = 1'b0;
  always_ff @(posedge clk_i) begin
    come_q <= come_i;
    waits_q <= rst_n && come_valid_i && !(come_ready && last_i);
  end
  always_comb if (waits_q) assume (come_valid_i && come_i == come_q);

  // -- places
  logic [39:0] place;
  logic [40:0] ends;
  assign place = {early_i[39:17], 17'd0} + 40'(come_i.slot) * 40'd16384;
  assign ends = 41'(u_dut.to) + 41'(u_dut.size);
  always_comb begin
    if (rst_n && u_dut.begins_write && u_dut.judged_place) begin
      OfAContext_A : assert (come_i.slot < 16'd8);
      InItsPlace_A : assert (u_dut.to >= place && ends <= 41'(place) + 41'd16384);
      NotWhileItIsCopied_A : assert (!(u_dut.copy_busy && u_dut.copy_place == come_i.slot[2:0]));
    end
  end

  // -- once at most: written frames since the last one ended
  logic written_q = 1'b0;
  always_ff @(posedge clk_i) begin
    if (!rst_n || (come_valid_i && come_ready && last_i)) written_q <= 1'b0;
    else if (u_dut.judged_take || u_dut.judged_place) written_q <= 1'b1;
  end
  always_comb begin
    if (rst_n) begin
      if (u_dut.judged_take || u_dut.judged_place)
        Once_A : assert (!written_q && come_valid_i && !stray);
      if (stray) NotWanted_A : assert (!written_q);
      // What induction has to know.
      assert (written_q == (u_dut.state_q == 3'd2));
      if (u_dut.state_q inside {3'd1, 3'd2, 3'd3}) assert (waits_q);
    end
    Written_C : cover (rst_n && u_dut.state_q == 3'd2 && aw_valid && !u_dut.is_taken_q);
  end
endmodule
