// Stands in for rl_ram where what is read does not matter: anything may come out.
module rl_ram #(
  parameter int unsigned Width = 64,
  parameter int unsigned Depth = 512,
  parameter bit          Block = 1'b0,
  localparam int unsigned AddrW = $clog2(Depth)
) (
  input  logic             clk_wr_i,
  input  logic             we_i,
  input  logic [AddrW-1:0] waddr_i,
  input  logic [Width-1:0] wdata_i,
  input  logic             clk_rd_i,
  input  logic             re_i,
  input  logic [AddrW-1:0] raddr_i,
  output logic [Width-1:0] rdata_o
);
  (* anyseq *) logic [Width-1:0] any;
  assign rdata_o = any;
endmodule
