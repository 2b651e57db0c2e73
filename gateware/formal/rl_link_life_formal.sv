// rl_link_life with a transport of which anything is heard, or nothing, for any patience. What is checked:
//   - while somebody waits for the neighbour and nothing is heard, it is dead after patience ticks and not before;
//   - a dead link's next life begins before anybody counts on it, and so it does when the neighbour restarts;
//   - whoever begins to wait for a link that is not up asks at once.
module rl_link_life_formal
  import rl_link_pkg::*;
  import rl_transport_pkg::*;
(
  input logic             clk_i,
  input tick_t            patience_i,
  input logic             tick_i,
  input logic             awaited_i,
  input logic             idle_i,
  input transport_event_t event_i,
  input epoch_t           mine_i,
  input logic             reset_ready_i,
  input logic             beat_ready_i,
  input logic             beat_come_i
);
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;
  logic first_q = 1'b1;
  tick_t patience_q;
  always_ff @(posedge clk_i) begin
    first_q <= 1'b0;
    patience_q <= patience_i;
  end
  always_comb begin
    assume (patience_i >= 16'd4);
    if (!first_q) assume (patience_i == patience_q);
  end

  logic reset_valid, beat_valid, up, neighbour_valid, dead, restarted;
  epoch_t reset_epoch;
  mac_addr_t unused_mac;
  logic [7:0] unused_port;
  rl_link_life u_dut (
    .clk_i,
    .rst_ni(rst_n),
    .patience_i,
    .tick_i,
    .awaited_i,
    .idle_i,
    .event_i,
    .mine_i,
    .reset_valid_o(reset_valid),
    .reset_ready_i,
    .reset_epoch_o(reset_epoch),
    .beat_valid_o(beat_valid),
    .beat_ready_i,
    .beat_come_i,
    .beat_mac_i('0),
    .beat_port_i('0),
    .up_o(up),
    .neighbour_valid_o(neighbour_valid),
    .neighbour_mac_o(unused_mac),
    .neighbour_port_o(unused_port),
    .dead_o(dead),
    .restarted_o(restarted)
  );

  // Ticks that have gone by in silence since somebody waits, but for the cycle in which that began.
  logic heard, waits_q = 1'b0, waited_q = 1'b0;
  logic [16:0] silent_q = '0;
  assign heard = event_i.heard || event_i.restarted;
  always_ff @(posedge clk_i) begin
    waited_q <= rst_n && waits_q;
    waits_q <= rst_n && awaited_i && !(waits_q && tick_i && !heard && silent_q + 1'b1 >= 17'(patience_i));
    if (!waits_q || heard) silent_q <= '0;
    else if (tick_i) silent_q <= silent_q + 1'b1;
  end
  logic due_q = 1'b0, was_up_q = 1'b0, died_q = 1'b0;
  always_ff @(posedge clk_i) if (rst_n && dead && was_up_q) died_q <= 1'b1;
  always_ff @(posedge clk_i) was_up_q <= up;
  always_ff @(posedge clk_i)
    due_q <= rst_n && waits_q && tick_i && !heard && silent_q + 1'b1 >= 17'(patience_i);
  always_comb begin
    if (rst_n) begin
      DeadInTimeAndNotBefore_A : assert (dead == due_q);
      if (dead) begin
        NextLife_A : assert (reset_valid);
        Down_A : assert (!up && !neighbour_valid);
      end
      if (restarted) DownAsWell_A : assert (!up && !neighbour_valid);
      if (up) OfThisLife_A : assert (!reset_valid);
      if (waits_q && !waited_q && !dead && !was_up_q) AsksAtOnce_A : assert (beat_valid);
      // What induction has to know.
      assert (u_dut.watched_q == waits_q);
      if (waits_q)
        assert (silent_q < 17'(patience_i) && 17'(u_dut.dead_q) + silent_q + 17'd1 == 17'(patience_i));
      assert (!u_dut.resets_q || u_dut.anew_q);
      assert (!u_dut.begun_q || !u_dut.anew_q);
      assert (!neighbour_valid || !dead);
    end
    DiesAndComesBack_C : cover (rst_n && died_q && up);
  end
endmodule
