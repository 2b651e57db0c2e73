// Two tiles, in 16 banks of 32 bits: one is written while the other is read. Each bank has its own address,
// so that a row, or a column whose elements are in different banks, is had in one cycle.
module rl_tile_banks
  import rl_tile_pkg::*;
(
  input  logic                          clk_i,

  input  logic                          wtile_i,
  input  lanes_t                        we_i,
  input  logic [Lanes*$bits(bank_addr_t)-1:0] waddr_i,
  input  logic [511:0]                  wdata_i,

  input  logic                          rtile_i,
  input  logic [Lanes*$bits(bank_addr_t)-1:0] raddr_i,
  output logic [511:0]                  rdata_o   // A cycle later.
);
  localparam int unsigned AddrW = $bits(bank_addr_t);
  for (genvar k = 0; k < Lanes; k++) begin : gen_bank
    rl_ram #(
      .Width(32),
      .Depth(2 << AddrW)
    ) u_ram (
      .clk_wr_i(clk_i),
      .we_i(we_i[k]),
      .waddr_i({wtile_i, waddr_i[AddrW*k+:AddrW]}),
      .wdata_i(wdata_i[32*k+:32]),
      .clk_rd_i(clk_i),
      .re_i(1'b1),
      .raddr_i({rtile_i, raddr_i[AddrW*k+:AddrW]}),
      .rdata_o(rdata_o[32*k+:32])
    );
  end
endmodule
