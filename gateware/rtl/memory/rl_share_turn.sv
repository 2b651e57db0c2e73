// Whose turn it is of two that want the same: each gets its share of the beats, by what its bursts cost.
//
// One number says who is ahead. A burst of manager 0 adds as many as it has beats, times the share of manager 1; one of
// manager 1 takes away as many, times the share of manager 0. When both ask, the one that is behind has the turn; one
// that asks alone has it in any case, so that nothing is lost while anybody asks. What is ahead is kept within one
// burst: nobody saves up more by being silent, and nobody pays longer for what nobody else wanted.
//
// From this follows how long one has to wait that asks: until the other has had, at most,
//     Longest[own] * share[other] / share[own] + Longest[other]
// beats. gateware/formal/rl_share_turn.sby proves that.
module rl_share_turn #(
  parameter logic [1:0][7:0] Longest = {8'd16, 8'd16},  // Beats of each manager's longest burst.
  parameter int unsigned ShareW = 4,
  localparam int unsigned BeatsW = 8
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic [1:0][ShareW-1:0] share_i,  // Parts of the bandwidth; 1 or more each. Steady.

  input  logic [1:0]             asks_i,
  input  logic [1:0][BeatsW-1:0] beats_i,  // Of the burst that each asks for.
  output logic                   turn_o,   // Whose turn it is, if anybody asks.
  input  logic                   taken_i   // It has had its turn.
);
  if (Longest[0] == 0 || Longest[1] == 0 || Longest[0] > 64 || Longest[1] > 64) begin : gen_check
    $fatal(0, "rl_share_turn: bursts are of 1 to 64 beats (%m)");
  end

  // Room for two bursts and a sign.
  localparam int unsigned AheadW = BeatsW + ShareW + 1;
  typedef logic signed [AheadW-1:0] ahead_t;

  ahead_t ahead_q;  // Above zero: manager 0 has had more than its share.
  ahead_t [1:0] next, most;
  always_comb begin
    most[0] = ahead_t'(Longest[0]) * ahead_t'(share_i[1]);
    most[1] = -(ahead_t'(Longest[1]) * ahead_t'(share_i[0]));
    // Both are reckoned before it is known whose turn it is.
    next[0] = ahead_q + ahead_t'(beats_i[0]) * ahead_t'(share_i[1]);
    next[1] = ahead_q - ahead_t'(beats_i[1]) * ahead_t'(share_i[0]);
    if (signed'(next[0]) > signed'(most[0])) next[0] = most[0];
    if (signed'(next[1]) < signed'(most[1])) next[1] = most[1];
  end
  assign turn_o = asks_i == 2'b11 ? ahead_q > 0 : asks_i[1];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) ahead_q <= '0;
    else if (taken_i) ahead_q <= next[turn_o];
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (rst_ni && taken_i) TakenIsAsked_A : assert (asks_i != 0);
  always_ff @(posedge clk_i)
    if (rst_ni && taken_i)
      BurstIsNotTooLong_A : assert (beats_i[turn_o] != 0 && beats_i[turn_o] <= Longest[turn_o]);
  always_ff @(posedge clk_i)
    if (rst_ni)
      SharesAreThere_A : assert (share_i[0] != 0 && share_i[1] != 0);
`endif
endmodule
