// One write port, one read port, each with its own clock: block RAM, or distributed RAM when small and
// not `Block`.
// A word that is read in the cycle in which it is written is undefined: read it later.
module rl_ram #(
  parameter int unsigned Width = 64,
  parameter int unsigned Depth = 512,
  // verilator lint_off UNUSEDPARAM
  parameter bit          Block = 1'b0,  // An attribute's: only synthesis looks at it.
  // verilator lint_on UNUSEDPARAM
  localparam int unsigned AddrW = $clog2(Depth)
) (
  input  logic             clk_wr_i,
  input  logic             we_i,
  input  logic [AddrW-1:0] waddr_i,
  input  logic [Width-1:0] wdata_i,

  input  logic             clk_rd_i,
  input  logic             re_i,     // The output changes only after a cycle with this.
  input  logic [AddrW-1:0] raddr_i,
  output logic [Width-1:0] rdata_o   // One cycle later.
);
  if (Depth < 2) begin : gen_check
    $fatal(0, "rl_ram: Depth must be at least 2 (%m)");
  end

  (* no_rw_check, ram_style = Block ? "block" : "auto" *) logic [Width-1:0] mem[Depth];

  always_ff @(posedge clk_wr_i) begin
    if (we_i) mem[waddr_i] <= wdata_i;
  end

  always_ff @(posedge clk_rd_i) begin
    if (re_i) rdata_o <= mem[raddr_i];
  end
endmodule
