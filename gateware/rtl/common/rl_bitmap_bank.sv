// One of rl_bitmap's RAMs: a port to read and write bits, and one to read them in bytes.
module rl_bitmap_bank #(
  parameter int unsigned Depth = 1 << 14,  // A power of two, 16 or more.
  localparam int unsigned AddrW = $clog2(Depth)
) (
  input  logic             clk_i,
  input  logic             we_i,
  input  logic [AddrW-1:0] addr_i,
  input  logic             wdata_i,
  output logic             rdata_o,  // One cycle later; undefined after a write.
  input  logic [AddrW-4:0] byte_i,
  output logic [7:0]       byte_o    // One cycle later; undefined if one of its bits is written in that cycle.
);
  (* no_rw_check *) logic mem[Depth];

  always_ff @(posedge clk_i) begin
    if (we_i) mem[addr_i] <= wdata_i;
    rdata_o <= mem[addr_i];
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < 8; i++) byte_o[i] <= mem[{byte_i, 3'(i)}];
  end
endmodule
