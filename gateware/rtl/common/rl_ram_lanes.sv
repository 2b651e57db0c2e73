// Block RAM that is written eight words of 64 bits at a time and read one by one: it saves the
// multiplexer that would pick a word. One clock; what is read in the cycle in which it is written is
// undefined.
module rl_ram_lanes #(
  parameter int unsigned Depth = 128,  // Of eight words; a power of two.
  parameter bit          Mixed = 1'b1, // The RAM has ports of different widths. Else eight RAMs, and the multiplexer.
  localparam int unsigned AddrW = $clog2(Depth)
) (
  input  logic             clk_i,
  input  logic             we_i,
  input  logic [AddrW-1:0] waddr_i,
  input  logic [511:0]     wdata_i,
  input  logic [AddrW+2:0] raddr_i,  // The lower three bits: which of the eight.
  output logic [63:0]      rdata_o   // One cycle later.
);
  if (Depth != 1 << AddrW) begin : gen_check
    $fatal(0, "rl_ram_lanes: Depth must be a power of two (%m)");
  end

  if (Mixed) begin : gen_mixed
    (* no_rw_check *) logic [63:0] mem[8*Depth];
    always_ff @(posedge clk_i) begin
      if (we_i) for (int i = 0; i < 8; i++) mem[{waddr_i, 3'(i)}] <= wdata_i[64*i+:64];
    end
    always_ff @(posedge clk_i) rdata_o <= mem[raddr_i];
  end else begin : gen_banks
    logic [7:0][63:0] lanes;
    logic [2:0] lane_q;
    for (genvar i = 0; i < 8; i++) begin : gen_bank
      rl_ram #(
        .Width(64),
        .Depth(Depth)
      ) u_bank (
        .clk_wr_i(clk_i),
        .we_i,
        .waddr_i,
        .wdata_i(wdata_i[64*i+:64]),
        .clk_rd_i(clk_i),
        .re_i(1'b1),
        .raddr_i(raddr_i[AddrW+2:3]),
        .rdata_o(lanes[i])
      );
    end
    always_ff @(posedge clk_i) lane_q <= raddr_i[2:0];
    assign rdata_o = lanes[lane_q];
  end
endmodule
