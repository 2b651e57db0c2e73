// An rl_fifo of block RAM with a register behind it, into which a word goes at once that finds both empty: it shows a
// cycle later. What has to wait takes three.
module rl_fifo_quick #(
  parameter int unsigned Width = 64,
  parameter int unsigned Depth = 128,  // A power of two, 2 or more.
  localparam int unsigned CountW = $clog2(Depth) + 1
) (
  input  logic              clk_i,
  input  logic              rst_ni,

  input  logic              wvalid_i,
  output logic              wready_o,  // Does not depend on rready_i.
  input  logic [Width-1:0]  wdata_i,

  output logic              rvalid_o,
  input  logic              rready_i,
  output logic [Width-1:0]  rdata_o,

  output logic [CountW-1:0] count_o    // Words in the block RAM.
);
  logic free, passes, stored_valid;
  logic [Width-1:0] stored;
  assign free = !rvalid_o || rready_i;
  assign passes = wvalid_i && wready_o && free && !stored_valid && count_o == 0;
  rl_fifo #(
    .Width(Width),
    .Depth(Depth),
    .Block(1'b1)
  ) u_fifo (
    .clk_i,
    .rst_ni,
    .wvalid_i(wvalid_i && !passes),
    .wready_o,
    .wdata_i,
    .rvalid_o(stored_valid),
    .rready_i(free),
    .rdata_o(stored),
    .count_o
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) rvalid_o <= 1'b0;
    else if (free) rvalid_o <= stored_valid || passes;
  end
  always_ff @(posedge clk_i) begin
    if (free) rdata_o <= stored_valid ? stored : wdata_i;
  end
endmodule
