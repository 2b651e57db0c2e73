// rl_share_turn with two that ask whenever they like, for bursts of any length that they may have, and any shares.
// What is checked:
//   - who asks waits until the other has had Longest[own] * share[other] / share[own] + Longest[other] beats, at most;
//   - whose turn it is asks, so that no turn is lost.
module rl_share_turn_formal (
  input logic            clk_i,
  input logic [1:0][1:0] share_i,
  input logic [1:0]      asks_i,
  input logic [1:0][7:0] beats_i,
  input logic            taken_i
);
  localparam logic [1:0][7:0] Longest = {8'd4, 8'd2};
  typedef logic [11:0] number_t;

  logic turn, rst_n = 1'b0;
  rl_share_turn #(
    .Longest(Longest),
    .ShareW(2)
  ) u_dut (
    .clk_i,
    .rst_ni(rst_n),
    .share_i,
    .asks_i,
    .beats_i,
    .turn_o(turn),
    .taken_i
  );
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  logic [1:0][1:0] share_q;
  logic known = 1'b0;
  number_t [1:0] waited = '0;  // Beats of the other since each began to ask.
  number_t [1:0] own, others, bound;
  logic signed [12:0] ahead;
  assign ahead = 13'(signed'(u_dut.ahead_q));
  for (genvar n = 0; n < 2; n++) begin : gen_bound
    assign own[n] = number_t'(Longest[n]) * number_t'(share_i[1-n]);
    assign others[n] = number_t'(Longest[1-n]) * number_t'(share_i[n]);
    assign bound[n] = own[n] + others[n];  // Times the share, so that nothing is divided.
  end

  always_ff @(posedge clk_i) begin
    share_q <= share_i;
    known <= 1'b1;
    if (known) assume (share_i == share_q);
    assume (share_i[0] != 0 && share_i[1] != 0);
    for (int n = 0; n < 2; n++) begin
      if (asks_i[n]) assume (beats_i[n] != 0 && beats_i[n] <= Longest[n]);
    end
    assume (!taken_i || (rst_n && asks_i != 0));

    if (rst_n) begin
      for (int n = 0; n < 2; n++) begin
        if (!asks_i[n] || (taken_i && turn == 1'(n))) waited[n] <= '0;
        else if (taken_i) waited[n] <= waited[n] + number_t'(beats_i[1-n]);
        assert (waited[n] * number_t'(share_i[n]) <= bound[n]);
      end
      if (asks_i != 0) assert (asks_i[turn]);
      // What induction has to know: what is ahead stays within a burst, and makes up for what was waited for.
      assert (ahead <= 13'(signed'({1'b0, others[1]})));
      assert (ahead >= -13'(signed'({1'b0, own[1]})));
      assert (13'(signed'({1'b0, waited[0] * number_t'(share_i[0])})) + ahead <= 13'(signed'({1'b0, own[0]})));
      assert (13'(signed'({1'b0, waited[1] * number_t'(share_i[1])})) - ahead <= 13'(signed'({1'b0, own[1]})));
      assert (waited[0] <= 12'd64 && waited[1] <= 12'd64);
    end else begin
      assert (waited == 0);
    end
    cover (rst_n && share_i[0] == 2'd1 && share_i[1] == 2'd3 && waited[0] == 12'd9);
    cover (rst_n && share_i[0] == 2'd1 && share_i[1] == 2'd3 && waited[1] == 12'd2);
  end
endmodule
