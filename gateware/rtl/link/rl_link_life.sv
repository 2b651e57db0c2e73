// Lives of a link, as `Link` of crates/core/collective has them: who is at the other end, whether it still answers, and
// what ends when it does not.
//
// A link that nobody waits for is left alone. One that somebody waits for is asked at once if it is not up, and four
// times within the patience if nothing else is under way; if nothing of the present lives comes for that long, it is
// dead, and its next life begins. So whoever waits learns of it within the patience and one tick.
module rl_link_life
  import rl_link_pkg::*;
  import rl_transport_pkg::*;
(
  input  logic             clk_i,
  input  logic             rst_ni,
  input  tick_t            patience_i,       // Ticks, 4 or more. Steady.
  input  logic             tick_i,
  input  logic             awaited_i,        // Somebody waits for the neighbour.
  input  logic             idle_i,           // Nothing waits to be sent or acknowledged.

  // -- the transport
  input  transport_event_t event_i,
  input  epoch_t           mine_i,           // Our life, as it was last said.
  output logic             reset_valid_o,
  input  logic             reset_ready_i,
  output epoch_t           reset_epoch_o,

  // -- words of who is here
  output logic             beat_valid_o,     // One is to be sent,
  input  logic             beat_ready_i,
  input  logic             beat_come_i,      // and one has come.
  input  mac_addr_t        beat_mac_i,
  input  logic [7:0]       beat_port_i,

  output logic             up_o,             // Both ends know each other's life.
  output logic             neighbour_valid_o,
  output mac_addr_t        neighbour_mac_o,
  output logic [7:0]       neighbour_port_o,
  output logic             dead_o,           // For one cycle: nothing has come for too long,
  output logic             restarted_o       // or the neighbour has begun a new life. What was begun with it is over.
);
  // A reset is asked for, and what is heard until it is done is of the life before.
  logic watched_q, begun_q, resets_q, anew_q, heard, restarts, gives_up, begins;
  tick_t dead_q, beat_q;  // Ticks that are left.
  assign heard = event_i.heard || event_i.restarted;
  assign restarts = event_i.restarted && begun_q;
  assign begins = event_i.heard && !begun_q && !anew_q;
  assign gives_up = watched_q && tick_i && dead_q == '0 && !heard;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      watched_q <= 1'b0;
      begun_q <= 1'b0;
      resets_q <= 1'b0;
      anew_q <= 1'b0;
      beat_valid_o <= 1'b0;
      neighbour_valid_o <= 1'b0;
      dead_o <= 1'b0;
      restarted_o <= 1'b0;
    end else begin
      watched_q <= awaited_i && !gives_up;
      dead_o <= gives_up;
      restarted_o <= restarts;
      resets_q <= gives_up || (resets_q && !reset_ready_i);
      anew_q <= gives_up || (anew_q && (resets_q || !event_i.restarted));
      begun_q <= !gives_up && !restarts && (begun_q || begins);
      // Of a later life nothing is known; a beat that waits is of this one.
      if (gives_up || restarts) neighbour_valid_o <= 1'b0;
      else if (beat_come_i) neighbour_valid_o <= 1'b1;
      beat_valid_o <= !gives_up && (begins || (awaited_i && !watched_q && !begun_q) ||
          (watched_q && tick_i && beat_q == '0 && idle_i) || (beat_valid_o && !beat_ready_i));
    end
  end
  always_ff @(posedge clk_i) begin
    if (beat_come_i) {neighbour_mac_o, neighbour_port_o} <= {beat_mac_i, beat_port_i};
    if (!watched_q || heard) dead_q <= patience_i - 1'b1;
    else if (tick_i) dead_q <= dead_q - 1'b1;
    if (!watched_q || (tick_i && beat_q == '0)) beat_q <= (patience_i >> 2) - 1'b1;
    else if (tick_i) beat_q <= beat_q - 1'b1;
    // A life that never began needs no other number. 0 is none.
    if (gives_up) reset_epoch_o <= !begun_q ? mine_i : &mine_i ? 32'd1 : mine_i + 1'b1;
  end
  assign up_o = begun_q;
  assign reset_valid_o = resets_q;

  logic unused;
  assign unused = ^{event_i.lost, event_i.broken, event_i.repeated, event_i.missed, event_i.resent, event_i.expired,
                    event_i.stale, event_i.unanswered};
endmodule
