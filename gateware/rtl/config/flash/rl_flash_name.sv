// Which image is which: the digest of the one that comes, as the firmware has named it, and of the one that the device
// has booted, from the page behind that one's bitstream. So a load of what runs already is known as such.
//
// The page is the digest's 32 bytes and their CRC-32. It is written when the image before it has been read back.
module rl_flash_name
  import rl_flash_pkg::*;
  import rl_part_pkg::crc_byte;
(
  input  logic        clk_i,
  input  logic        rst_ni,

  // The firmware's words, in their order.
  input  logic        we_i,
  input  logic [2:0]  at_i,
  input  logic [31:0] word_i,
  output logic        runs_o,   // All eight came, and are those of the image that the device has booted.

  input  logic        read_i,   // Take this page as that of the image that the device has booted.
  input  logic        write_i,  // Write the page of the image that was named last, and read it back.
  input  logic [23:0] addr_i,   // It holds until done.
  output logic        done_o,   // For one cycle; and in this one
  output logic [7:0]  code_o,   // what went wrong, or 0.

  output flash_req_t  req_o,
  input  flash_rsp_t  rsp_i
);
  localparam logic [5:0] NameBytes = 6'd32;
  localparam logic [5:0] PageBytes = 6'd36;

  typedef enum logic [1:0] {
    Idle,
    Program,
    Compare,
    Read
  } state_e;
  state_e state_q;
  logic [5:0] at_q;
  logic [31:0] crc_q;
  logic [23:0] bytes_q;  // Of a word that is read.
  logic same_q, booted_q, equal_q, named_q;
  logic [31:0] named, booted;
  logic [7:0] content;
  logic in_name, moves;

  assign in_name = at_q < NameBytes;
  assign moves = rsp_i.wready || rsp_i.rvalid;
  // Each byte of the page, the first ones in the upper bits.
  assign content = in_name ? named[8*(3-32'(at_q[1:0]))+:8] : ~crc_q[8*(3-32'(at_q[1:0]))+:8];
  rl_lutram #(
    .Width(32),
    .Depth(8)
  ) u_named (
    .clk_i,
    .we_i,
    .waddr_i(at_i),
    .wdata_i(word_i),
    .raddr_i(at_q[4:2]),
    .rdata_o(named)
  );
  rl_lutram #(
    .Width(32),
    .Depth(8)
  ) u_booted (
    .clk_i,
    .we_i(state_q == Read && rsp_i.rvalid && in_name && at_q[1:0] == 2'd3),
    .waddr_i(at_q[4:2]),
    .wdata_i({bytes_q, rsp_i.rdata}),
    .raddr_i(at_i),
    .rdata_o(booted)
  );
  assign runs_o = booted_q && named_q && equal_q;

  assign done_o = rsp_i.done && (state_q inside {Compare, Read} || (state_q == Program && rsp_i.code != CodeOk));
  assign code_o = rsp_i.code != CodeOk ? rsp_i.code : same_q ? CodeOk : CodeDiffers;
  always_comb begin
    req_o = '0;
    if (state_q != Idle) begin
      req_o.valid = 1'b1;
      req_o.op = state_q == Program ? OpProgram : OpRead;
      req_o.addr = addr_i;
      req_o.count = 24'(PageBytes);
      req_o.wvalid = state_q == Program;
      req_o.wdata = content;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
      booted_q <= 1'b0;
      named_q <= 1'b0;
    end else begin
      unique case (state_q)
        Idle: begin
          if (read_i) state_q <= Read;
          else if (write_i) state_q <= Program;
          if (read_i) booted_q <= 1'b0;
        end
        Program: if (rsp_i.done) state_q <= rsp_i.code == CodeOk ? Compare : Idle;
        default: begin
          if (rsp_i.done) state_q <= Idle;
          if (rsp_i.done && state_q == Read) booted_q <= code_o == CodeOk;
        end
      endcase
      if (we_i) named_q <= at_i == '1;
    end
    if (we_i) equal_q <= word_i == booted && (equal_q || at_i == '0);

    if (state_q == Idle || rsp_i.done) at_q <= '0;
    else if (moves) at_q <= at_q + 1'b1;
    if (state_q == Idle || rsp_i.done) crc_q <= '1;
    else if (moves && in_name) crc_q <= crc_byte(crc_q, state_q == Program ? content : rsp_i.rdata);
    if (rsp_i.rvalid) bytes_q <= {bytes_q[15:0], rsp_i.rdata};
    // What is read: all of it has to be as it was written, or the check to fit what came before.
    if (state_q inside {Idle, Program}) same_q <= 1'b1;
    else if (rsp_i.rvalid && (state_q == Compare || !in_name) && rsp_i.rdata != content)
      same_q <= 1'b0;
  end
endmodule : rl_flash_name
