// When the network's clock of a simulated card's shell rests: what stands behind it is most of what a card computes,
// and while a kernel runs, or streams of the role are all that moves, it has nothing to do. As with the memory's clocks
// (rl_card_rest), an edge that is left out would have changed nothing: who may ask the shell is looked at before each.
module rl_card_shell_rest #(
  parameter int unsigned Width = 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             rests_i,     // Nothing of the shell changes by itself,
  input  logic             asks_i,      // or is asked to.
  // A change wakes it: what comes from other clocks, which takes some cycles, and what the firmware hears of.
  input  logic [Width-1:0] news_i,
  input  logic [31:0]      time_us_i,
  input  logic [31:0]      alarm_us_i,  // When the firmware wakes.
  output logic             rest_o       // The next edge is left out.
);
  logic [Width-1:0] news_q;
  logic alarm, news, awake, settled, quiet;
  assign alarm = signed'(time_us_i - alarm_us_i) >= 0;
  assign news = news_i != news_q;
  always_ff @(posedge clk_i) news_q <= news_i;
  // What the shell has told other clocks has arrived there, and what they have told it since then.
  rl_quiet #(
    .CountW(8)
  ) u_settled (
    .clk_i,
    .rst_ni,
    .active_i(!rests_i),
    .quiet_o(settled)
  );
  // Long enough for whatever has come to show in rests_i.
  rl_quiet #(
    .CountW(3)
  ) u_quiet (
    .clk_i,
    .rst_ni,
    .active_i(asks_i || news || alarm),
    .quiet_o(quiet)
  );
  assign awake = !rst_ni || !rests_i || asks_i || news || alarm || !settled || !quiet;
  assign rest_o = !awake;
endmodule : rl_card_shell_rest
