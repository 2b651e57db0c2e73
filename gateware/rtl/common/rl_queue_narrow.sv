// The reading side of an rl_frame_queue of wider words, 64 bits at a time. All of a frame's wide words are read to
// their end, but the last one: that `done_i` ends.
module rl_queue_narrow #(
  parameter int unsigned DataW = 128,
  localparam int unsigned Lanes = DataW / 64,
  localparam int unsigned LaneW = Lanes > 1 ? $clog2(Lanes) : 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  // As rl_frame_queue has them. While one is there,
  input  logic [DataW-1:0] data_i,
  output logic             take_o,

  // here is this.
  output logic [63:0]      data_o,
  input  logic             take_i,
  input  logic             done_i   // With the last take of a frame.
);
  if (Lanes == 1) begin : gen_same
    assign data_o = data_i;
    assign take_o = take_i;
    logic unused;
    assign unused = ^{clk_i, rst_ni, done_i};
  end else begin : gen_lanes
    logic [LaneW-1:0] lane_q;
    assign data_o = data_i[64*lane_q+:64];
    assign take_o = take_i && (done_i || lane_q == '1);
    always_ff @(posedge clk_i) begin
      if (!rst_ni) lane_q <= '0;
      else if (take_i) lane_q <= done_i ? '0 : lane_q + 1'b1;
    end
  end
endmodule
