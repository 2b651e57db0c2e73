// The processor's memory: it starts with the firmware in it. What a store to the word that is being
// read in that cycle gives is undefined.
module rl_firmware_ram
  import rl_firmware_pkg::*;
#(
  localparam int unsigned AddrW = $clog2(RamWords)
) (
  input  logic             clk_i,
  input  logic             re_i,
  input  logic [AddrW-1:0] raddr_i,
  output logic [31:0]      rdata_o,  // A cycle later, until the next read.
  input  logic [3:0]       we_i,     // Bytes to write.
  input  logic [AddrW-1:0] waddr_i,
  input  logic [31:0]      wdata_i
);
  // A memory of its own for each byte, since block RAM that has byte enables is no deeper than 512.
  for (genvar lane = 0; lane < 4; lane++) begin : gen_lane
    logic [7:0] mem[RamWords];
    initial mem = Lanes[lane];

    always_ff @(posedge clk_i) begin
      if (we_i[lane]) mem[waddr_i] <= wdata_i[8*lane+:8];
    end
    always_ff @(posedge clk_i) begin
      // The X spares the logic that would make it the old value.
      if (re_i) rdata_o[8*lane+:8] <= we_i[lane] && waddr_i == raddr_i ? 'x : mem[raddr_i];
    end
  end
endmodule
