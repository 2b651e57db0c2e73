// Frames that leave: a head, which a family makes, and behind it the words of the payload.
//
// Where a head does not end with a word, all words of the payload move by what it shares of one. No cycle is lost: a
// frame takes as many as it has words. Words follow each other without a gap as long as the payload's do.
module rl_wire_tx #(
  parameter int unsigned DataW = 64,      // 64, 128, 256 or 512.
  parameter int unsigned HeadBytes = 64,
  localparam int unsigned KeepW = DataW / 8
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,

  // -- frames to be: all but the words is steady during one
  input  logic                   valid_i,
  output logic                   ready_o,
  output logic                   begins_o,   // With valid_i: it begins.
  input  logic [8*HeadBytes-1:0] head_i,     // Its first byte is the most significant.
  input  logic [15:0]            length_i,   // Of the payload: as many words, and one for none.
  input  logic [DataW-1:0]       data_i,
  input  logic                   last_i,

  // -- frames
  output logic                   valid_o,
  input  logic                   ready_i,
  output logic [DataW-1:0]       data_o,     // Byte 0 of the frame is [7:0] of the first word.
  output logic [KeepW-1:0]       keep_o,     // Ones from bit 0 on; all but in the last word.
  output logic                   last_o,
  output logic                   sent_o      // A frame's last word is on its way out: for one cycle.
);
  if (DataW < 64 || DataW > 512 || DataW != 1 << $clog2(DataW)) begin : gen_check
    $fatal(0, "rl_wire_tx: DataW must be 64, 128, 256 or 512 (%m)");
  end
  localparam int unsigned ByteW = $clog2(KeepW);
  localparam int unsigned HeadWords = HeadBytes / KeepW;  // Those that are the head's alone.
  localparam int unsigned Shared = HeadBytes % KeepW;  // Its bytes in one more.
  localparam int unsigned AtW = $clog2(HeadWords + 1);
  typedef logic [AtW-1:0] at_t;
  typedef logic [ByteW:0] size_t;
  typedef logic [KeepW-1:0] keep_t;

  function automatic keep_t keep_of(size_t size);
    return ~(keep_t'('1) << size);
  endfunction
  function automatic logic [7:0] byte_of(logic [8*HeadBytes-1:0] bytes, int unsigned at);
    return bytes[8*(HeadBytes-1-at)+:8];
  endfunction
  at_t at_q;  // Words of the head that are out.
  logic [DataW-1:0] head_word;
  always_comb begin
    head_word = '0;
    for (int unsigned w = 0; w < HeadWords; w++)
    if (at_q == at_t'(w))
      for (int unsigned b = 0; b < KeepW; b++) head_word[8*b+:8] = byte_of(head_i, w * KeepW + b);
  end

  // -- which word comes next
  logic moves, in_head, tail_q, tails, takes, out, ends, empty;
  // Bytes of the last word of the payload; and with those that share it; and left over.
  size_t used, sum, tail_size_q;
  assign empty = length_i == '0;
  assign used = empty ? '0 : length_i[ByteW-1:0] == '0 ? size_t'(KeepW) : {1'b0, length_i[ByteW-1:0]};
  assign sum = used + size_t'(Shared);
  assign moves = ready_i || !valid_o;
  assign in_head = at_q != at_t'(HeadWords);
  assign begins_o = at_q == '0 && !tail_q;
  // It is taken: a word of payload, or the one that means nothing, with the head's last one.
  assign takes = valid_i && !tail_q && (!in_head || (Shared == 0 && empty && at_q == at_t'(HeadWords - 1)));
  assign tails = Shared != 0 && takes && last_i && sum > size_t'(KeepW);
  assign ends = tail_q || (takes && last_i && !tails);
  assign out = tail_q || valid_i;
  assign ready_o = takes && moves;
  assign sent_o = moves && out && ends;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      at_q <= '0;
      tail_q <= 1'b0;
      valid_o <= 1'b0;
    end else if (moves) begin
      valid_o <= out;
      tail_q <= tails;
      if (out && (ends || tails)) at_q <= '0;
      else if (out && in_head) at_q <= at_q + 1'b1;
    end
  end

  // -- the word
  logic [DataW-1:0] body;
  if (Shared == 0) begin : gen_whole
    logic unused;
    assign body = data_i;
    assign unused = ^tail_size_q;
  end else begin : gen_shared
    // The part of the payload's word that is still to go, or of the head.
    logic [8*Shared-1:0] held_q, head_rest, below;
    logic second_q;  // The head's rest is below.
    for (genvar b = 0; b < Shared; b++) begin : gen_byte
      assign head_rest[8*b+:8] = byte_of(head_i, HeadWords * KeepW + b);
    end
    assign below = second_q ? head_rest : held_q;
    assign body = {data_i[DataW-8*Shared-1:0], below};
    always_ff @(posedge clk_i) begin
      if (moves && out) begin
        second_q <= in_head && at_q == at_t'(HeadWords - 1);
        if (takes) held_q <= data_i[DataW-1-:8*Shared];
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (moves) begin
      data_o <= in_head && !tail_q ? head_word : body;
      keep_o <= tail_q ? keep_of(tail_size_q) : ends && !in_head ? keep_of(sum) : '1;
      last_o <= ends;
      tail_size_q <= sum - size_t'(KeepW);
    end
  end

`ifndef SYNTHESIS
  logic [16:0] left_q;  // Bytes of payload that are still to come.
  always_ff @(posedge clk_i) begin
    left_q <= valid_i && begins_o ? 17'(length_i) : takes && moves ? left_q - 17'(KeepW) : left_q;
    if (rst_ni && takes && moves && !in_head)
      LengthIsTrue_A : assert (last_i == (left_q <= 17'(KeepW)));
    if (rst_ni && takes && in_head) OneWordOfNothing_A : assert (last_i);
  end
  rl_stays #(
    .Width(DataW + KeepW + 1)
  ) u_stays (
    .clk_i,
    .rst_ni,
    .valid_i(valid_o),
    .ready_i,
    .data_i({data_o, keep_o, last_o})
  );
`endif
endmodule
