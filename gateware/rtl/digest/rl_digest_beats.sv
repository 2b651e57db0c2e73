// Beats between DDR and the ring, with what each is for.
//
// A place is taken when the beat is asked for, so that answers can always be stored, and becomes
// free when the ring has read the last of the beat's four groups of words.
module rl_digest_beats
  import rl_blake3_pkg::*;
  import rl_digest_pkg::*;
#(
  localparam int unsigned AddrW = $clog2(Beats)
) (
  input  logic       clk_i,
  input  logic       rst_ni,

  output logic       room_o,        // For another beat besides the one asked for now.
  input  logic       ask_i,         // A beat is asked for; not in successive cycles.
  input  about_t     about_i,

  input  logic       data_valid_i,  // The oldest beat asked for and not yet there.
  input  block_t     data_i,

  output logic       head_valid_o,  // The first beat that has not been popped is there.
  output about_t     head_o,
  input  logic       pop_i,

  input  logic [3:0] take_i,        // The group's words were read from block_o.
  output block_t     block_o
);
  typedef logic [AddrW:0] ptr_t;
  ptr_t asked_q, there_q, popped_q;
  ptr_t [3:0] taken_q;

  assign head_valid_o = popped_q != there_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      asked_q  <= '0;
      there_q  <= '0;
      popped_q <= '0;
      taken_q  <= '0;
      room_o   <= 1'b0;
    end else begin
      room_o <= asked_q - taken_q[3] + ptr_t'(ask_i) < ptr_t'(Beats);
      if (ask_i) asked_q <= asked_q + 1'b1;
      if (data_valid_i) there_q <= there_q + 1'b1;
      if (pop_i) popped_q <= popped_q + 1'b1;
      for (int unsigned g = 0; g < 4; g++) if (take_i[g]) taken_q[g] <= taken_q[g] + 1'b1;
    end
  end

  rl_lutram #(
    .Width($bits(about_t)),
    .Depth(Beats)
  ) u_about (
    .clk_i,
    .we_i(ask_i),
    .waddr_i(asked_q[AddrW-1:0]),
    .wdata_i(about_i),
    .raddr_i(popped_q[AddrW-1:0]),
    .rdata_o(head_o)
  );

  for (genvar j = 0; j < 16; j++) begin : gen_word
    rl_lutram #(
      .Width(32),
      .Depth(Beats)
    ) u_words (
      .clk_i,
      .we_i(data_valid_i),
      .waddr_i(there_q[AddrW-1:0]),
      .wdata_i(data_i[j]),
      .raddr_i(taken_q[group(j)][AddrW-1:0]),
      .rdata_o(block_o[j])
    );
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i)
    if (rst_ni && ask_i)
      AskedWithRoom_A : assert (asked_q - taken_q[3] < ptr_t'(Beats));
  always_ff @(posedge clk_i)
    if (rst_ni && data_valid_i)
      AnswerWasAsked_A : assert (there_q != asked_q);
  always_ff @(posedge clk_i) if (rst_ni && pop_i) PoppedIsThere_A : assert (head_valid_o);
  always_ff @(posedge clk_i)
    if (rst_ni && take_i[0])
      TakenWasPopped_A : assert (taken_q[0] != popped_q);
`endif
endmodule
