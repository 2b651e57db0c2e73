// One flash for two: the loader, and the store of keys and versions. Each command is whole, so they take turns between
// commands; when both ask, it is the turn of who had the last one not.
module rl_flash_turn
  import rl_flash_pkg::*;
(
  input  logic       clk_i,
  input  logic       rst_ni,

  input  flash_req_t loader_i,
  output flash_rsp_t loader_o,
  input  flash_req_t store_i,
  output flash_rsp_t store_o,

  output logic       turn_o,   // Whose command it is: 1 the store's. It holds with the request.
  output flash_req_t req_o,
  input  flash_rsp_t rsp_i
);
  logic busy_q, turn_q;
  assign turn_o = turn_q;
  assign req_o = !busy_q ? '0 : turn_q ? store_i : loader_i;
  assign loader_o = busy_q && !turn_q ? rsp_i : '0;
  assign store_o = busy_q && turn_q ? rsp_i : '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      turn_q <= 1'b0;
    end else if (busy_q) begin
      busy_q <= !rsp_i.done;
    end else begin
      busy_q <= loader_i.valid || store_i.valid;
      if (loader_i.valid || store_i.valid) turn_q <= store_i.valid && !(turn_q && loader_i.valid);
    end
  end

`ifndef SYNTHESIS
  // Who has begun stays until it is done.
  Stays_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) busy_q |-> (turn_q ? store_i.valid : loader_i.valid));
`endif
endmodule : rl_flash_turn
