// Walks through a tile's rows, beat by beat, or burst by burst. Rows may begin at any element and have
// any length; bursts end with their row, or where their addresses are a multiple of a burst.
module rl_tile_walk
  import rl_role_pkg::*;
  import rl_tile_pkg::*;
#(
  parameter bit Bursts = 1'b0
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        load_i,    // Begin. Only when valid_o is not set, or with the last step.
  input  byte_addr_t  addr_i,
  input  byte_addr_t  stride_i,  // From row to row, bytes. Steady.
  input  extent_t     rows_i,
  input  extent_t     cols_i,

  output logic        valid_o,
  input  logic        step_i,
  output logic [25:0] number_o,  // Of the beat, or of the burst's first, in DDR.
  output logic [3:0]  len_o,     // Beats of the step, less 1.
  output place_t      place_o,
  output logic        burst_end_o,
  output logic        last_o     // The tile ends with this step.
);
  localparam int unsigned LogBurst = $clog2(BurstMax);

  typedef logic [8:0] beats_t;

  byte_addr_t row_addr, next_q;
  logic [25:0] number_q;
  beats_t left_q, beat_q, step;
  lane_t first_q;
  extent_t rows_q, row_q, cols_q;
  logic row_end;
  logic [LogBurst:0] to_edge;

  // Beats of a row.
  function automatic beats_t beats(input lane_t first, input extent_t cols);
    return 9'((14'(first) + 14'(cols) + 14'(Lanes - 1)) >> 4);
  endfunction

  assign to_edge = (LogBurst + 1)'(BurstMax) - (LogBurst + 1)'(number_q[LogBurst-1:0]);
  assign step = !Bursts ? 9'd1 : left_q < 9'(to_edge) ? left_q : 9'(to_edge);
  assign row_end = left_q == step;
  assign row_addr = load_i ? addr_i : next_q;

  assign number_o = number_q;
  assign len_o = 4'(step - 1'b1);
  assign last_o = row_end && rows_q == 1;
  assign burst_end_o = row_end || number_q[LogBurst-1:0] == '1;

  lane_t end_lane;
  assign end_lane = first_q + cols_q[3:0] - 1'b1;
  always_comb begin
    place_o.row = row_q;
    place_o.beat = beat_q;
    place_o.first = first_q;
    for (int l = 0; l < Lanes; l++) begin
      place_o.below[l] = lane_t'(l) < first_q;
      place_o.used[l] = (beat_q != 0 || lane_t'(l) >= first_q) && (left_q != 1 || lane_t'(l) <= end_lane);
    end
  end

  always_ff @(posedge clk_i) begin
    if (load_i || (step_i && row_end)) begin
      number_q <= row_addr[31:6];
      first_q <= row_addr[5:2];
      left_q <= beats(row_addr[5:2], load_i ? cols_i : cols_q);
      next_q <= row_addr + stride_i;
      beat_q <= '0;
    end else if (step_i) begin
      number_q <= number_q + 26'(step);
      left_q <= left_q - step;
      beat_q <= beat_q + step;
    end
    if (load_i) begin
      cols_q <= cols_i;
      rows_q <= rows_i;
      row_q <= '0;
    end else if (step_i && row_end) begin
      rows_q <= rows_q - 1'b1;
      row_q <= row_q + 1'b1;
    end

    if (!rst_ni) valid_o <= 1'b0;
    else if (load_i) valid_o <= 1'b1;
    else if (step_i && last_o) valid_o <= 1'b0;
  end

  logic unused;
  assign unused = ^row_addr[1:0];
endmodule
