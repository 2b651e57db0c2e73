// A key store of constants, as fuses or a simulated card have them: after a reset it hands each key over once, the
// newest first, and says when that is done.
module rl_key_straps
  import rl_auth_pkg::*;
(
  input  logic             clk_i,
  input  logic             rst_ni,
  input  strap_key_t [1:0] key_i,   // The card's, and the former one. Steady.
  output store_t           store_o,
  input  logic             ready_i
);
  logic [1:0] at_q;  // The next one; 2: there is none.
  logic there, slot;
  assign slot = at_q[0];
  assign there = !at_q[1] && key_i[slot].valid;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) at_q <= '0;
    else if (!at_q[1] && (!there || ready_i)) at_q <= at_q + 1'b1;
  end
  assign store_o = '{
          over: at_q[1],
          valid: there,
          slot: slot,
          forget: 1'b0,
          generation: key_i[slot].generation,
          key: key_i[slot].key
      };
endmodule
