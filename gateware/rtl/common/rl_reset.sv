// The reset of one clock domain, from one of any other: begins and ends at edges of this one's clock, two
// or three cycles after rst_ni.
//
// A card has one of these for each clock, all behind the same rst_ni. That must hold for as long as all of
// them take, so that all domains are in reset together; they may leave it one after the other, since nothing
// crosses before its sender has left.
module rl_reset (
  input  logic clk_i,
  input  logic rst_ni, // From any domain; held for 4 cycles of the slowest clock.
  output logic rst_no
);
  rl_sync u_sync (
    .clk_i,
    .rst_ni(1'b1),
    .d_i(rst_ni),
    .q_o(rst_no)
  );
endmodule
