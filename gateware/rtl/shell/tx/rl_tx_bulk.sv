// Frames of fetched bytes, for words of 128 bits and more: a head of four words of 64 bits, and the data queue's words
// behind it. All of a frame is there before it starts.
module rl_tx_bulk
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
#(
  parameter int unsigned DataW = 128,
  localparam int unsigned KeepW = DataW / 8
) (
  input  logic             clk_net_i,
  input  logic             rst_net_ni,
  input  logic             halt_i,       // Begin no other frame.

  input  logic             head_valid_i,
  output logic             head_ready_o,
  input  logic [63:0]      head_i,
  input  logic             data_valid_i, // A frame's bytes are there, and it is for the network.
  input  logic [13:0]      data_length_i,
  output logic             data_done_o,
  output logic             data_take_o,
  input  logic [DataW-1:0] data_i,       // Zero behind the frame's end.
  input  logic             data_ready_i,

  output logic             valid_o,
  input  logic             ready_i,
  output logic [DataW-1:0] data_o,
  output logic [KeepW-1:0] keep_o,
  output logic             last_o
);
  localparam int unsigned HeadBytes = 32'(HeaderEnd);
  localparam int unsigned HeadBits = 8 * HeadBytes;
  localparam int unsigned HeadWords = HeadBytes / KeepW;  // None at 512 bits: there the head is half of one.
  localparam int unsigned WordW = 14 - $clog2(KeepW);
  typedef logic [WordW-1:0] word_t;

  // -- the next frame's head
  logic [3:0][63:0] next_q, head_q;
  logic [2:0] heads_q;
  logic begins;
  assign head_ready_o = head_valid_i && !heads_q[2];
  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni || begins) heads_q <= '0;
    else if (head_ready_o) heads_q <= heads_q + 1'b1;
  end
  always_ff @(posedge clk_net_i) begin
    if (head_ready_o) next_q[heads_q[1:0]] <= head_i;
    if (begins) head_q <= next_q;
  end

  // -- the frame. A word of data is taken with the word of the frame that has its first byte.
  logic open_q, step, ends, take;
  logic [13:0] bytes;
  word_t words_q, left_q;  // Words of the frame and of data, after this one; of data how many.
  logic [KeepW-1:0] stop_q;  // The last word's bytes.
  assign bytes = data_length_i < 14'(FrameMin) - 14'(HeadBytes) ? 14'(FrameMin) : data_length_i + 14'(HeadBytes);
  assign begins = (!open_q || ends) && heads_q[2] && data_valid_i && data_ready_i && !halt_i && left_q == 0;
  assign valid_o = open_q;
  assign step = open_q && ready_i;
  assign ends = step && last_o;
  assign last_o = words_q == 0;
  assign keep_o = last_o ? stop_q : '1;
  assign data_take_o = take;
  assign data_done_o = take && left_q == word_t'(1);
  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) begin
      open_q <= 1'b0;
      left_q <= '0;
    end else begin
      open_q <= begins || (open_q && !ends);
      if (begins) left_q <= word_t'((data_length_i + 14'(KeepW) - 1'b1) >> $clog2(KeepW));
      else if (take) left_q <= left_q - 1'b1;
    end
  end
  always_ff @(posedge clk_net_i) begin
    if (begins) begin
      words_q <= word_t'((bytes - 1'b1) >> $clog2(KeepW));
      stop_q <= '1 >> (~($clog2(KeepW))'(bytes - 1'b1));
    end else if (step) begin
      words_q <= words_q - 1'b1;
    end
  end

  if (HeadWords > 0) begin : gen_words
    logic [1:0] at_q;  // Word of the head; HeadWords: of the data.
    logic [HeadWords-1:0][DataW-1:0] heads;
    assign heads = head_q;
    assign take = step && at_q == 2'(HeadWords) && left_q != 0;
    always_ff @(posedge clk_net_i) begin
      if (begins) at_q <= '0;
      else if (step && at_q != 2'(HeadWords)) at_q <= at_q + 1'b1;
    end
    always_comb begin
      data_o = left_q != 0 ? data_i : '0;
      for (int unsigned i = 0; i < HeadWords; i++) if (at_q == 2'(i)) data_o = heads[i];
    end
  end else begin : gen_half
    // Half a word lies over from the word before.
    logic [HeadBits-1:0] over_q;
    assign take = step && left_q != 0;
    always_ff @(posedge clk_net_i) begin
      if (begins) over_q <= next_q;
      else if (step) over_q <= left_q != 0 ? data_i[DataW-1:HeadBits] : '0;
    end
    assign data_o = {left_q != 0 ? data_i[HeadBits-1:0] : '0, over_q};
    logic unused;
    assign unused = ^head_q;
  end

`ifndef SYNTHESIS
  DataIsThere_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni) data_take_o |-> data_ready_i);
`endif
endmodule
