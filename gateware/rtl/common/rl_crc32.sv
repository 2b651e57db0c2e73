// A CRC of 32 bits over frames, as Ethernet's check sequence is one: a word a cycle, with any number of bytes in the
// last. For lanes that have no MAC to make it.
//
// Each word is folded as if it had all its bytes. Of the last one that is some zeros too many, which are taken away
// again, 1, 2, 4, ... at a time: a zero byte changes the state as a matrix does, and that has an inverse. Each step is
// a register, and frames may follow each other without a gap.
module rl_crc32 #(
  parameter int unsigned DataW = 64,                 // A power of two, 32 or more.
  parameter logic [31:0] Polynomial = 32'hedb88320,  // Its highest power is the lowest bit, and left out.
  localparam int unsigned KeepW = DataW / 8
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  input  logic             valid_i,
  input  logic [DataW-1:0] data_i,   // Byte 0 of the frame is [7:0] of the first word.
  input  logic [KeepW-1:0] keep_i,   // With last_i: ones from bit 0 on, at least one. Else not looked at.
  input  logic             last_i,

  output logic             valid_o,  // A frame's, for one cycle: as many later as there are steps, and one more.
  output logic [31:0]      crc_o
);
  if (DataW < 32 || DataW != 1 << $clog2(DataW)) begin : gen_check
    $fatal(0, "rl_crc32: DataW must be a power of two, 32 or more (%m)");
  end
  localparam int unsigned Steps = $clog2(KeepW);
  typedef logic [31:0] crc_t;

  // The state after a bit that is zero, and before one: what the first shifts out, the second finds at the other end.
  function automatic crc_t after_zero(crc_t crc);
    return {1'b0, crc[31:1]} ^ (crc[0] ? Polynomial : '0);
  endfunction
  function automatic crc_t before_zero(crc_t crc);
    return crc[31] ? {crc[30:0] ^ Polynomial[30:0], 1'b1} : {crc[30:0], 1'b0};
  endfunction

  // What each bit of a word adds to the state behind the word: the first bit is followed by all the others.
  typedef crc_t [DataW-1:0] columns_t;
  function automatic columns_t columns_of_word();
    crc_t column;
    column = 32'd1;
    for (int i = int'(DataW) - 1; i >= 0; i--) begin
      column = after_zero(column);
      columns_of_word[i] = column;
    end
  endfunction
  localparam columns_t Columns = columns_of_word();
  crc_t state_q, next;
  logic first_q;
  logic [DataW-1:0] shown, folded;
  for (genvar b = 0; b < int'(KeepW); b++) begin : gen_byte
    assign shown[8*b+:8] = last_i && !keep_i[b] ? '0 : data_i[8*b+:8];
  end
  assign folded = shown ^ DataW'(first_q ? crc_t'('1) : state_q);
  for (genvar r = 0; r < 32; r++) begin : gen_row
    logic [DataW-1:0] adds;
    for (genvar i = 0; i < int'(DataW); i++) begin : gen_column
      assign adds[i] = folded[i] && Columns[i][r];
    end
    assign next[r] = ^adds;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) first_q <= 1'b1;
    else if (valid_i) first_q <= last_i;
  end
  always_ff @(posedge clk_i) if (valid_i) state_q <= next;

  // -- what was too much
  typedef crc_t [31:0] undo_t;
  function automatic undo_t undo_of(int unsigned bytes);
    for (int unsigned i = 0; i < 32; i++) begin
      crc_t column;
      column = 32'd1 << i;
      for (int unsigned n = 0; n < 8 * bytes; n++) column = before_zero(column);
      undo_of[i] = column;
    end
  endfunction
  logic [Steps:0] ended_q;
  crc_t [Steps:0] part_q;
  logic [Steps:0][Steps-1:0] missing_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) ended_q[0] <= 1'b0;
    else ended_q[0] <= valid_i && last_i;
  end
  always_ff @(posedge clk_i) begin
    part_q[0] <= next;
    missing_q[0] <= Steps'(KeepW - $countones(keep_i));
  end
  for (genvar s = 0; s < int'(Steps); s++) begin : gen_step
    localparam undo_t Undo = undo_of(1 << s);
    crc_t undone;
    for (genvar r = 0; r < 32; r++) begin : gen_row
      logic [31:0] adds;
      for (genvar i = 0; i < 32; i++) begin : gen_column
        assign adds[i] = part_q[s][i] && Undo[i][r];
      end
      assign undone[r] = ^adds;
    end
    always_ff @(posedge clk_i) begin
      if (!rst_ni) ended_q[s+1] <= 1'b0;
      else ended_q[s+1] <= ended_q[s];
    end
    always_ff @(posedge clk_i) begin
      part_q[s+1] <= missing_q[s][s] ? undone : part_q[s];
      missing_q[s+1] <= missing_q[s];
    end
  end
  logic unused;
  assign unused = ^missing_q[Steps];
  assign valid_o = ended_q[Steps];
  assign crc_o = ~part_q[Steps];
endmodule
