// One of rl_bitmap's RAMs: a port to read and write bits, and one to read them in pairs.
module rl_bitmap_bank #(
  parameter int unsigned Depth = 1 << 14,
  localparam int unsigned AddrW = $clog2(Depth)
) (
  input  logic             clk_i,
  input  logic             we_i,
  input  logic [AddrW-1:0] addr_i,
  input  logic             wdata_i,
  output logic             rdata_o,  // One cycle later; undefined after a write.
  input  logic [AddrW-2:0] pair_i,
  output logic [1:0]       pair_o    // One cycle later; undefined if one of the two is written in that cycle.
);
  (* no_rw_check *) logic mem[Depth];

  always_ff @(posedge clk_i) begin
    if (we_i) mem[addr_i] <= wdata_i;
    rdata_o <= mem[addr_i];
  end

  always_ff @(posedge clk_i) begin
    pair_o <= {mem[{pair_i, 1'b1}], mem[{pair_i, 1'b0}]};
  end
endmodule
