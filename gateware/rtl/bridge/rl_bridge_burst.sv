// A range of memory as AXI4 bursts: each ends at a multiple of `Burst` beats, so none crosses 4 KiB.
module rl_bridge_burst #(
  parameter int unsigned AddrW = 40,
  parameter int unsigned DataW = 512,
  parameter int unsigned Burst = 16,   // Beats of the longest, a power of two; at most 4 KiB.
  localparam int unsigned FineW = $clog2(DataW / 8),
  localparam int unsigned BeatW = AddrW - FineW
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  input  logic             valid_i,   // A range,
  output logic             ready_o,
  input  logic [BeatW-1:0] beat_i,    // its first beat,
  input  logic [15:0]      beats_i,   // and how many; 1 or more.

  output logic             valid_o,
  input  logic             ready_i,
  output logic [BeatW-1:0] beat_o,
  output logic [7:0]       len_o,     // Beats, less 1.
  output logic             last_o     // The range's last.
);
  localparam int unsigned BurstW = $clog2(Burst);
  logic [15:0] left_q;
  logic [BurstW:0] room, size;
  logic ends;
  assign room = (BurstW + 1)'(Burst) - {1'b0, beat_o[BurstW-1:0]};
  assign ends = left_q <= 16'(room);
  assign size = ends ? left_q[BurstW:0] : room;
  assign len_o = 8'(size - 1'b1);
  assign last_o = ends;
  assign ready_o = !valid_o || (ready_i && ends);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_o <= 1'b0;
    else if (ready_o) valid_o <= valid_i;
  end
  always_ff @(posedge clk_i) begin
    if (ready_o) begin
      beat_o <= beat_i;
      left_q <= beats_i;
    end else if (ready_i) begin
      beat_o <= beat_o + BeatW'(size);
      left_q <= left_q - 16'(size);
    end
  end
endmodule
