// The transmit buffer: four slots of 2 KiB, of which the processor sees the bytes in 32-bit words, the
// first byte the most significant. Slots 0 and 1 are the firmware's frames, and can be read back: it
// has bytes fetched from DDR put there. Slot 2 is the template of announcements.
module rl_tx_buffer (
  input  logic        clk_i,

  // The processor.
  input  logic        cpu_write_i,
  input  logic [10:0] cpu_addr_i,   // In words.
  input  logic [31:0] cpu_wdata_i,
  output logic [31:0] cpu_rdata_o,  // One cycle later; undefined after a write.

  // Frames to send, and fetched bytes: 64-bit words in memory order.
  input  logic [9:0]  addr_i,
  input  logic        write_i,      // Not in a cycle with cpu_write_i.
  input  logic [63:0] wdata_i,
  output logic [63:0] rdata_o       // One cycle later; undefined after a write.
);
  // Each RAM holds a byte of both halves of a word: so the processor's half is chosen by its address.
  logic [31:0] swapped, read;
  assign swapped = {<<8{cpu_wdata_i}};
  assign cpu_rdata_o = {<<8{read}};
  for (genvar i = 0; i < 4; i++) begin : gen_byte
    rl_ram_pair #(
      .Width(8),
      .Depth(1024)
    ) u_ram (
      .clk_i,
      .we_i(cpu_write_i),
      .addr_i(cpu_addr_i),
      .wdata_i(swapped[8*i+:8]),
      .rdata_o(read[8*i+:8]),
      .pair_we_i(write_i),
      .pair_addr_i(addr_i),
      .pair_wdata_i({wdata_i[32+8*i+:8], wdata_i[8*i+:8]}),
      .pair_rdata_o({rdata_o[32+8*i+:8], rdata_o[8*i+:8]})
    );
  end
endmodule
