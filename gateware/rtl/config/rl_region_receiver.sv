// The role region's side of the configuration port, where a device without partial reconfiguration
// stands for one that has it: it takes the words of an image's `rtl` part, checks them as a
// configuration controller checks a bitstream, and tells which role is configured.
//
// The part, in words of 32 bits: 0-1 the magic number, 2 role id, 3 kernels and flags, 4 clock in kHz,
// 5 length in words of 64 bits, 6-21 arguments of the kernels, then data of any kind; the last word is
// the CRC-32 (IEEE 802.3) of all before it.
module rl_region_receiver
  import rl_part_pkg::*;
#(
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
  logic busy_q, take, ends;
  logic [28:0] at_q, words_q;
  logic [31:0] crc_q;
  logic [15:0] id_q;
  logic [7:0] code_d;

  assign ready_o = busy_q;
  assign take = valid_i && ready_o;
  assign ends = at_q == words_q - 1'b1;

  always_comb begin
    code_d = head_code(at_q, data_i, Roles);
    if (code_d == 8'd0 && at_q >= 29'(HeadWords) && ends && data_i != ~crc_q) code_d = CodeCheck;
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
      crc_q <= crc_word(crc_q, data_i);
      if (at_q == RoleAt) id_q <= data_i[15:0];
      if (at_q == LengthAt) words_q <= words_of(data_i[27:0]);
    end
  end
endmodule : rl_region_receiver
