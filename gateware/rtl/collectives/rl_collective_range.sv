// A range of memory as AXI4 bursts, each when it may go: as rl_bridge_burst, but as long as a command may be.
module rl_collective_range #(
  parameter int unsigned DataW = 64,
  parameter int unsigned Burst = 16,   // As rl_bridge_burst says.
  localparam int unsigned Bytes = DataW / 8,
  localparam int unsigned FineW = $clog2(Bytes),
  localparam int unsigned BeatW = 40 - FineW
) (
  input  logic              clk_i,
  input  logic              rst_ni,

  input  logic              begin_i,   // When it is done.
  input  logic [39:0]       addr_i,    // Of its first byte.
  input  logic [28:0]       length_i,  // Bytes, one or more.
  input  logic              stop_i,    // No burst is offered any more but the one that is.
  output logic              done_o,    // All bursts are taken.

  input  logic              may_i,     // The next burst may go. Until it is taken, it may.
  output logic              valid_o,
  input  logic              ready_i,
  output logic [BeatW-1:0]  beat_o,
  output logic [7:0]        len_o      // Beats, less 1. Not only when valid.
);
  localparam int unsigned BurstW = $clog2(Burst);
  localparam int unsigned LeftW = 30 - FineW;
  logic [LeftW-1:0] left_q;
  logic [BurstW:0] room, size;
  assign room = (BurstW + 1)'(Burst) - {1'b0, beat_o[BurstW-1:0]};
  assign size = left_q <= LeftW'(room) ? left_q[BurstW:0] : room;
  assign len_o = 8'(size - 1'b1);
  assign done_o = left_q == '0;
  assign valid_o = !done_o && may_i;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) left_q <= '0;
    else if (begin_i)
      left_q <= LeftW'((30'(length_i) + 30'(addr_i[FineW-1:0]) + 30'(Bytes - 1)) >> FineW);
    else if (stop_i && (ready_i || !valid_o)) left_q <= '0;
    else if (valid_o && ready_i) left_q <= left_q - LeftW'(size);
  end
  always_ff @(posedge clk_i) begin
    if (begin_i) beat_o <= addr_i[39:FineW];
    else if (valid_o && ready_i) beat_o <= beat_o + BeatW'(size);
  end
endmodule
