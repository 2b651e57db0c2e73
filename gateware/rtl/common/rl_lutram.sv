// A small memory that is read without a clock: distributed RAM.
module rl_lutram #(
  parameter int unsigned Width = 32,
  parameter int unsigned Depth = 16,
  localparam int unsigned AddrW = $clog2(Depth)
) (
  input  logic             clk_i,
  input  logic             we_i,
  input  logic [AddrW-1:0] waddr_i,
  input  logic [Width-1:0] wdata_i,
  input  logic [AddrW-1:0] raddr_i,
  output logic [Width-1:0] rdata_o   // In the same cycle.
);
  if (Depth < 2) begin : gen_check
    $fatal(0, "rl_lutram: Depth must be at least 2 (%m)");
  end

  (* ram_style = "distributed" *) logic [Width-1:0] mem[Depth];

  always_ff @(posedge clk_i) begin
    if (we_i) mem[waddr_i] <= wdata_i;
  end
  assign rdata_o = mem[raddr_i];
endmodule
