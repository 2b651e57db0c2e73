// Block RAM that is written 512 bits at a time and read in lanes, one by one: it saves the multiplexer that would pick
// a lane. One clock; what is read in the cycle in which it is written is undefined.
module rl_ram_lanes #(
  parameter int unsigned LaneW = 64,   // Bits of a lane: 64, 128, 256 or 512.
  parameter int unsigned Depth = 128,  // Of 512 bits; a power of two.
  parameter bit          Mixed = 1'b1, // The RAM has ports of different widths. Else a RAM a lane, and the multiplexer.
  localparam int unsigned Lanes = 512 / LaneW,
  localparam int unsigned PickW = $clog2(Lanes),
  localparam int unsigned AddrW = $clog2(Depth)
) (
  input  logic                   clk_i,
  input  logic                   we_i,
  input  logic [AddrW-1:0]       waddr_i,
  input  logic [511:0]           wdata_i,
  input  logic [AddrW+PickW-1:0] raddr_i,  // The lower bits: which of the lanes.
  output logic [LaneW-1:0]       rdata_o   // One cycle later.
);
  if (Depth != 1 << AddrW) begin : gen_check
    $fatal(0, "rl_ram_lanes: Depth must be a power of two (%m)");
  end

  if (Lanes == 1) begin : gen_one
    rl_ram #(
      .Width(LaneW),
      .Depth(Depth)
    ) u_ram (
      .clk_wr_i(clk_i),
      .we_i,
      .waddr_i,
      .wdata_i,
      .clk_rd_i(clk_i),
      .re_i(1'b1),
      .raddr_i,
      .rdata_o
    );
  end else if (Mixed) begin : gen_mixed
    (* no_rw_check *) logic [LaneW-1:0] mem[Lanes*Depth];
    always_ff @(posedge clk_i) begin
      if (we_i)
        for (int i = 0; i < Lanes; i++) mem[{waddr_i, PickW'(i)}] <= wdata_i[LaneW*i+:LaneW];
    end
    always_ff @(posedge clk_i) rdata_o <= mem[raddr_i];
  end else begin : gen_banks
    logic [Lanes-1:0][LaneW-1:0] lanes;
    logic [PickW-1:0] lane_q;
    for (genvar i = 0; i < Lanes; i++) begin : gen_bank
      rl_ram #(
        .Width(LaneW),
        .Depth(Depth)
      ) u_bank (
        .clk_wr_i(clk_i),
        .we_i,
        .waddr_i,
        .wdata_i(wdata_i[LaneW*i+:LaneW]),
        .clk_rd_i(clk_i),
        .re_i(1'b1),
        .raddr_i(raddr_i[AddrW+PickW-1:PickW]),
        .rdata_o(lanes[i])
      );
    end
    always_ff @(posedge clk_i) lane_q <= raddr_i[PickW-1:0];
    assign rdata_o = lanes[lane_q];
  end
endmodule
