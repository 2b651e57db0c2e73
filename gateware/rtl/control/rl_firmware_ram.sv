// The processor's memory: it starts with the firmware in it, which for a card with keys or links is another
// one in more memory. What a store to the word that is being read in that cycle gives is undefined.
module rl_firmware_ram #(
  parameter bit Keys = 1'b0,
  parameter bit Links = 1'b0,
  localparam int unsigned RamWords = Keys ? rl_firmware_keys_pkg::RamWords :
      Links ? rl_firmware_links_pkg::RamWords : rl_firmware_pkg::RamWords,
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
    (* no_rw_check *) logic [7:0] mem[RamWords];
    if (Keys) begin : gen_keys
      initial mem = rl_firmware_keys_pkg::Lanes[lane];
    end else if (Links) begin : gen_links
      initial mem = rl_firmware_links_pkg::Lanes[lane];
    end else begin : gen_no_keys
      initial mem = rl_firmware_pkg::Lanes[lane];
    end

    always_ff @(posedge clk_i) begin
      if (we_i[lane]) mem[waddr_i] <= wdata_i[8*lane+:8];
    end
    always_ff @(posedge clk_i) begin
      if (re_i) rdata_o[8*lane+:8] <= mem[raddr_i];
    end
  end
endmodule
