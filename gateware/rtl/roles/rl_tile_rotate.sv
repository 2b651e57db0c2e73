// Elements of a beat go round by so many lanes: lane l comes out at l + by_i. Two cycles.
module rl_tile_rotate
  import rl_tile_pkg::*;
(
  input  logic         clk_i,
  input  lane_t        by_i,
  input  logic [511:0] data_i,
  output logic [511:0] data_o
);
  function automatic logic [511:0] rotate(input logic [511:0] data, input lane_t by);
    for (int l = 0; l < Lanes; l++) rotate[32*l+:32] = data[32*lane_t'(l-32'(by))+:32];
  endfunction

  logic [511:0] coarse_q;
  logic [1:0] fine_q;
  always_ff @(posedge clk_i) begin
    coarse_q <= rotate(data_i, {by_i[3:2], 2'd0});
    fine_q <= by_i[1:0];
    data_o <= rotate(coarse_q, {2'd0, fine_q});
  end
endmodule
