// The role region's side of the configuration port, where a device without partial reconfiguration
// stands for one that has it: it takes the words of an image's `rtl` part, checks them as a
// configuration controller checks a bitstream, and tells which role is configured.
//
// The part, in words of 32 bits: 0-1 the magic number, 2 role id, 3 kernels and flags, 4 clock in kHz,
// 5 length in words of 64 bits, 6-21 arguments of the kernels, then data of any kind; the last word is
// the CRC-32 (IEEE 802.3) of all before it.
module rl_region_receiver #(
  parameter logic [15:0] Roles = 16'h000e  // Bit n: the role with id n is there.
) (
  input  logic        clk_cfg_i,
  input  logic        rst_cfg_ni,

  input  logic        start_i,
  input  logic        stop_i,
  input  logic        valid_i,
  output logic        ready_o,
  input  logic [31:0] data_i,
  output logic        done_o,
  output logic        error_o,
  output logic [7:0]  code_o,

  output logic [15:0] role_id_o    // The role that is configured; 0: none.
);
  localparam logic [63:0] Magic = 64'h524c5254_4c000001;  // "RLRTL\0\0\1"
  localparam logic [7:0] CodeMagic = 8'd1;
  localparam logic [7:0] CodeRole = 8'd2;
  localparam logic [7:0] CodeLength = 8'd3;
  localparam logic [7:0] CodeCheck = 8'd4;
  localparam logic [28:0] WordsMin = 29'd24;

  // One word more, the first byte of the stream in its upper bits.
  function automatic logic [31:0] crc_next(input logic [31:0] crc, input logic [31:0] word);
    logic [31:0] c;
    c = crc;
    for (int unsigned i = 0; i < 4; i++) begin
      c = c ^ {24'd0, word[31-8*i-:8]};
      for (int unsigned k = 0; k < 8; k++) c = c[0] ? (c >> 1) ^ 32'hedb88320 : c >> 1;
    end
    return c;
  endfunction

  logic busy_q, take, ends;
  logic [28:0] at_q, words_q;
  logic [31:0] crc_q;
  logic [15:0] id_q;
  logic [7:0] code_d;

  assign ready_o = busy_q;
  assign take = valid_i && ready_o;
  assign ends = at_q == words_q - 1'b1;

  always_comb begin
    code_d = 8'd0;
    unique case (at_q)
      29'd0: if (data_i != Magic[63:32]) code_d = CodeMagic;
      29'd1: if (data_i != Magic[31:0]) code_d = CodeMagic;
      29'd2: if (data_i[31:4] != 0 || !Roles[data_i[3:0]] || data_i[3:0] == 0) code_d = CodeRole;
      29'd5: if (data_i[31:28] != 0 || {data_i[27:0], 1'b0} < WordsMin) code_d = CodeLength;
      default: if (ends && data_i != ~crc_q) code_d = CodeCheck;
    endcase
  end

  always_ff @(posedge clk_cfg_i) begin
    if (!rst_cfg_ni) begin
      busy_q <= 1'b0;
      done_o <= 1'b0;
      error_o <= 1'b0;
      code_o <= '0;
      role_id_o <= '0;
    end else if (start_i) begin
      busy_q <= 1'b1;
      done_o <= 1'b0;
      error_o <= 1'b0;
      code_o <= '0;
      // What was there is gone with the first word.
      role_id_o <= '0;
    end else if (stop_i) begin
      busy_q <= 1'b0;
    end else if (take) begin
      if (code_d != 0) begin
        busy_q <= 1'b0;
        error_o <= 1'b1;
        code_o <= code_d;
      end else if (ends) begin
        busy_q <= 1'b0;
        done_o <= 1'b1;
        role_id_o <= id_q;
      end
    end
    if (start_i) begin
      at_q <= '0;
      words_q <= '1;
      crc_q <= '1;
    end else if (take) begin
      at_q <= at_q + 1'b1;
      crc_q <= crc_next(crc_q, data_i);
      if (at_q == 29'd2) id_q <= data_i[15:0];
      if (at_q == 29'd5) words_q <= {data_i[27:0], 1'b0};
    end
  end
endmodule : rl_region_receiver
