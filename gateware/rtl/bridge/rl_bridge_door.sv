// What of port 0's stream is for the bridge: packets of IPv6. The type of a frame is in its second word, so words come
// out when the next one has come, and the last one a cycle later; so a bridge whose clock rests wakes for these alone.
module rl_bridge_door
  import rl_bridge_pkg::EtherType;
(
  input  logic        clk_i,
  input  logic        rst_power_ni, // A frame that is under way when the bridge is reset never shows its rest.
  input  logic        rst_ni,
  input  logic        halt_i,       // No frame goes in any more.

  input  logic        valid_i,      // From the network, which never waits.
  input  logic [63:0] data_i,       // Byte 0 of the frame is [7:0] of the first word.
  input  logic [7:0]  keep_i,
  input  logic        last_i,
  input  logic        bad_i,

  output logic        valid_o,
  output logic [63:0] data_o,
  output logic [7:0]  keep_o,
  output logic        last_o,
  output logic        bad_o
);
  logic waits_q, first_q, inside_q, passes_q, passes, typed;
  assign typed = waits_q && first_q && !last_o && valid_i;  // The second word is here.
  assign passes = typed ? {data_i[39:32], data_i[47:40]} == EtherType && !halt_i : passes_q;
  assign valid_o = waits_q && passes && (valid_i || last_o);
  always_ff @(posedge clk_i) begin
    if (!rst_power_ni) begin
      inside_q <= 1'b0;
      waits_q <= 1'b0;
    end else begin
      if (valid_i) inside_q <= !last_i;
      waits_q <= valid_i || (waits_q && !last_o);
    end
    if (!rst_ni) passes_q <= 1'b0;
    else if (valid_i) passes_q <= passes && inside_q;
    if (valid_i) begin
      first_q <= !inside_q;
      {data_o, keep_o, last_o, bad_o} <= {data_i, keep_i, last_i, bad_i};
    end
  end
endmodule
