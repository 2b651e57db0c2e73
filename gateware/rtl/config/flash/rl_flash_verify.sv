// Reads some bytes of the flash, and tells whether they have the CRC-32 that they should have.
module rl_flash_verify
  import rl_flash_pkg::*;
  import rl_part_pkg::crc_byte;
(
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        start_i,
  input  logic [23:0] addr_i,    // These three hold until done.
  input  logic [23:0] length_i,
  input  logic [31:0] check_i,
  output logic        done_o,    // For one cycle; and in this one
  output logic [7:0]  code_o,    // whether it has.

  output flash_req_t  req_o,
  input  flash_rsp_t  rsp_i
);
  logic unused;
  assign unused = rsp_i.wready;
  logic busy_q;
  logic [31:0] crc_q;

  assign done_o = busy_q && rsp_i.done;
  always_comb begin
    code_o = rsp_i.code;
    if (rsp_i.code == CodeOk && ~crc_q != check_i) code_o = CodeDiffers;
    req_o = '0;
    if (busy_q) begin
      req_o.valid = 1'b1;
      req_o.op = OpRead;
      req_o.addr = addr_i;
      req_o.count = length_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) busy_q <= 1'b0;
    else busy_q <= start_i || (busy_q && !rsp_i.done);
    if (!busy_q) crc_q <= '1;
    else if (rsp_i.rvalid) crc_q <= crc_byte(crc_q, rsp_i.rdata);
  end
endmodule : rl_flash_verify
