// The head of a frame in one structure, beside the frame's words. At 128 bits and more it lies in the first word, and
// is there with it.
module rl_port_head
  import rl_port_pkg::*;
#(
  parameter int unsigned DataW = 64,        // Bits of a word: 64 or more, a power of two.
  localparam int unsigned KeepW = DataW / 8
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  input  logic             step_i,   // Else all stands still.
  input  logic             valid_i,
  input  logic [DataW-1:0] data_i,   // Byte 0 of the frame is [7:0] of the first word.
  input  logic [KeepW-1:0] keep_i,   // With last_i: ones from bit 0 on. Else not looked at.
  input  logic             last_i,

  // A step later.
  output logic             valid_o,
  output logic             first_o,
  output logic             last_o,
  output logic [DataW-1:0] data_o,
  output logic [KeepW-1:0] keep_o,
  output logic             known_o,  // The head is whole; until the frame's last word.
  output ethernet_head_t   head_o
);
  if (DataW < 64 || DataW != 1 << $clog2(DataW)) begin : gen_check
    $fatal(0, "rl_port_head: DataW must be a power of two, 64 or more (%m)");
  end
  localparam int unsigned HeadW = 8 * HeadBytes;
  // Words that hold the head, and where its last byte is in the last of them.
  localparam int unsigned HeadWords = (HeadBytes + KeepW - 1) / KeepW;
  localparam int unsigned LastByte = (HeadBytes - 1) % KeepW;

  logic inside_q;  // A frame has begun and not ended.
  logic second_q;  // At 64 bits: this is the word that completes the head.
  logic [HeadW-1:0] bytes_q;
  logic completes;
  assign completes = (HeadWords == 1 ? !inside_q : second_q) && (!last_i || keep_i[LastByte]);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      inside_q <= 1'b0;
      second_q <= 1'b0;
      valid_o <= 1'b0;
      known_o <= 1'b0;
    end else if (step_i) begin
      valid_o <= valid_i;
      if (valid_i) begin
        inside_q <= !last_i;
        second_q <= !inside_q && !last_i;
        known_o <= completes || (known_o && inside_q);
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (step_i) begin
      first_o <= !inside_q;
      last_o <= last_i;
      data_o <= data_i;
      keep_o <= keep_i;
    end
  end

  if (HeadWords == 1) begin : gen_wide
    always_ff @(posedge clk_i) if (step_i && valid_i && !inside_q) bytes_q <= data_i[HeadW-1:0];
  end else begin : gen_narrow
    always_ff @(posedge clk_i) begin
      if (step_i && valid_i && !inside_q) bytes_q[DataW-1:0] <= data_i;
      if (step_i && valid_i && second_q) bytes_q[HeadW-1:DataW] <= data_i[HeadW-DataW-1:0];
    end
  end
  // The first byte on the wire is the most significant of a number.
  for (genvar i = 0; i < HeadBytes; i++) begin : gen_byte
    assign head_o[HeadW-8*i-1-:8] = bytes_q[8*i+:8];
  end
endmodule
