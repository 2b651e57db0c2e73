// The transmit buffer: four slots of 2 KiB, of which the processor sees the bytes in 32-bit words, the
// first byte the most significant. Slots 0 and 1 are the firmware's frames, and can be read back: it
// has bytes fetched from DDR put there. Slot 2 is the template of announcements.
module rl_tx_buffer (
  input  logic        clk_i,

  // The processor.
  input  logic        cpu_write_i,
  input  logic [10:0] cpu_addr_i,   // In words.
  input  logic [31:0] cpu_wdata_i,
  output logic [31:0] cpu_rdata_o,  // Of slots 0 and 1, one cycle later.

  // Fetched bytes, in 64-bit words in memory order; not in a cycle with cpu_write_i.
  input  logic        write_i,
  input  logic [9:0]  waddr_i,
  input  logic [63:0] wdata_i,

  // Frames to send.
  input  logic        re_i,
  input  logic [9:0]  raddr_i,
  output logic [63:0] rdata_o       // One cycle later.
);
  logic [9:0] addr;
  logic [31:0] swapped;
  logic upper_q;
  logic [1:0][31:0] read;
  assign addr = write_i ? waddr_i : cpu_addr_i[10:1];
  assign swapped = {<<8{cpu_wdata_i}};
  for (genvar i = 0; i < 2; i++) begin : gen_half
    logic write;
    logic [31:0] data;
    assign write = write_i || (cpu_write_i && cpu_addr_i[0] == i);
    assign data = write_i ? wdata_i[32*i+:32] : swapped;
    rl_ram #(
      .Width(32),
      .Depth(1024)
    ) u_frames (
      .clk_wr_i(clk_i),
      .we_i(write),
      .waddr_i(addr),
      .wdata_i(data),
      .clk_rd_i(clk_i),
      .re_i,
      .raddr_i,
      .rdata_o(rdata_o[32*i+:32])
    );
    rl_ram #(
      .Width(32),
      .Depth(512)
    ) u_back (
      .clk_wr_i(clk_i),
      .we_i(write && !addr[9]),
      .waddr_i(addr[8:0]),
      .wdata_i(data),
      .clk_rd_i(clk_i),
      .re_i(1'b1),
      .raddr_i(cpu_addr_i[9:1]),
      .rdata_o(read[i])
    );
  end
  always_ff @(posedge clk_i) upper_q <= cpu_addr_i[0];
  assign cpu_rdata_o = {<<8{read[upper_q]}};
endmodule
