// What is known of each peer, in block RAM, and what changes it: one event at a time, each read, judged and written
// back within two cycles. So no event sees half of what another does, and links have nothing to do with one another.
//
// A request is taken in one cycle (`*_ready_o`) and judged in the next, in which its arguments are still looked at.
// What comes of it shows in that cycle, with `judged_o`. Requests take turns.
//
// Peers to whom there is something to say stand in a queue, each once. Who is in front says one segment, and goes to
// the end if there is more: so each has its share of the link.
module rl_transport_state
  import rl_transport_pkg::*;
#(
  parameter int unsigned Peers = 256,  // A power of two, 2 or more.
  localparam int unsigned PeerW = $clog2(Peers),
  localparam type index_t = logic [PeerW-1:0]
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  transport_config_t config_i,   // Steady.
  input  tick_t             now_i,

  // After a reset, all connections are set up, one a cycle; nothing is taken before.
  output logic              starts_o,
  output index_t            start_peer_o,

  // -- requests
  input  logic              reset_valid_i,   // A connection is given up and begins anew, with this epoch.
  output logic              reset_ready_o,
  input  index_t            reset_peer_i,
  input  epoch_t            reset_epoch_i,
  input  logic              consume_valid_i, // The owner has room for so many payloads again.
  output logic              consume_ready_o,
  input  index_t            consume_peer_i,
  input  count_t            consume_count_i,
  input  logic              scan_valid_i,    // Has its time come?
  output logic              scan_ready_o,
  input  index_t            scan_peer_i,
  input  logic              rx_valid_i,      // A segment has come.
  output logic              rx_ready_o,
  input  index_t            rx_peer_i,
  input  segment_t          rx_segment_i,
  input  logic              push_valid_i,    // The source has a frame, for which there is room.
  output logic              push_ready_o,
  input  index_t            push_peer_i,
  input  logic              commit_valid_i,  // It is there as a whole, and was not sent on its way in.
  output logic              commit_ready_o,
  input  index_t            commit_peer_i,
  input  logic              out_free_i,      // A segment can be sent.
  input  logic              release_free_i,  // Frames can be released.

  // -- what comes of them
  output logic              judged_rx_o,
  output logic              deliver_o,       // Its payload is delivered, or else dropped.
  output logic              judged_push_o,   // The frame goes to `slot_o`,
  output logic              sends_o,         // and is sent on its way in, with `segment_o`. Or without judged_push_o:
  output segment_t          segment_o,       // a segment is sent, with the frame at `slot_o` if it is of KindData.
  output slot_t             slot_o,
  output logic              release_o,       // Frames of the peer are no longer held: so many from this slot on.
  output slot_t             release_slot_o,
  output count_t            release_count_o,
  output index_t            peer_o,          // Whose all this is.
  output transport_event_t  event_o
);
  if (Peers < 2 || Peers != 1 << PeerW) begin : gen_check
    $fatal(0, "rl_transport_state: Peers must be a power of two (%m)");
  end
  typedef enum logic [2:0] {
    Reset,
    Consume,
    Scan,
    Rx,
    Push,
    Commit,
    Poll
  } request_e;
  localparam int unsigned Requests = 7;
  typedef logic [Requests-1:0] requests_t;

  // -- whose turn it is
  logic judging_q;  // A request was taken in the cycle before.
  requests_t asked, able, chosen, taken, taken_q, after_q;
  index_t [Requests-1:0] peers;
  index_t work_peer, peer, peer_q;
  logic work_valid, direct_q;
  logic starting_q;
  index_t start_q;

  // The lowest of these.
  function automatic requests_t lowest(requests_t all);
    return all & (~all + 1'b1);
  endfunction

  always_comb begin
    asked = '0;
    asked[Reset] = reset_valid_i && release_free_i;
    asked[Consume] = consume_valid_i;
    asked[Scan] = scan_valid_i;
    asked[Rx] = rx_valid_i && release_free_i;
    asked[Push] = push_valid_i;
    asked[Commit] = commit_valid_i;
    asked[Poll] = work_valid && out_free_i;
    peers[Reset] = reset_peer_i;
    peers[Consume] = consume_peer_i;
    peers[Scan] = scan_peer_i;
    peers[Rx] = rx_peer_i;
    peers[Push] = push_peer_i;
    peers[Commit] = commit_peer_i;
    peers[Poll] = work_peer;
    able = judging_q || starting_q ? '0 : asked;
    chosen = |(able & after_q) ? lowest(able & after_q) : lowest(able);
    peer = '0;
    for (int unsigned i = 0; i < Requests; i++) peer |= peers[i] & {PeerW{chosen[i]}};
  end
  assign taken = chosen;
  assign reset_ready_o = taken[Reset];
  assign consume_ready_o = taken[Consume];
  assign scan_ready_o = taken[Scan];
  assign rx_ready_o = taken[Rx];
  assign push_ready_o = taken[Push];
  assign commit_ready_o = taken[Commit];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      judging_q <= 1'b0;
      taken_q <= '0;
      after_q <= '0;
      starting_q <= 1'b1;
      start_q <= '0;
    end else begin
      judging_q <= taken != 0;
      taken_q <= taken;
      if (taken != 0) after_q <= ~(taken | (taken - 1'b1));
      if (starting_q) start_q <= start_q + 1'b1;
      if (&start_q) starting_q <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    peer_q <= peer;
    direct_q <= out_free_i;
  end
  assign starts_o = starting_q;
  assign start_peer_o = start_q;

  // -- what is known
  peer_t known, next, settles, written;
  rl_ram #(
    .Width($bits(peer_t)),
    .Depth(Peers),
    .Block(1'b1)
  ) u_peers (
    .clk_wr_i(clk_i),
    .we_i(judging_q || starting_q),
    .waddr_i(starting_q ? start_q : peer_q),
    .wdata_i(written),
    .clk_rd_i(clk_i),
    .re_i(taken != 0),
    .raddr_i(peer),
    .rdata_o(known)
  );

  // -- what changes
  peer_t arrived, said, offered;
  logic is_next, speaks_now, direct, is_new;
  count_t arrived_release;
  segment_t segment;
  slot_t slot;
  transport_event_t arrived_event, said_event;
  rl_transport_rx u_rx (
    .config_i,
    .now_i,
    .peer_i(known),
    .segment_i(rx_segment_i),
    .peer_o(arrived),
    .deliver_o(is_next),
    .release_o(arrived_release),
    .event_o(arrived_event)
  );
  always_comb begin
    offered = known;
    if (taken_q[Push]) offered.held = known.held + 1'b1;
  end
  rl_transport_tx u_tx (
    .now_i,
    .rto_i(config_i.rto),
    .peer_i(offered),
    .peer_o(said),
    .sends_o(speaks_now),
    .is_new_o(is_new),
    .segment_o(segment),
    .slot_o(slot),
    .event_o(said_event)
  );
  // A frame is sent on its way in if the link is free, and nothing else of its peer waits.
  assign direct = taken_q[Push] && direct_q && !waits(known) && is_new;

  logic speaks_next, enqueues;
  always_comb begin
    next = known;
    unique case (1'b1)
      taken_q[Reset]:
      next = fresh(known.slot + slot_t'(known.held), reset_epoch_i, known.queued, config_i);
      taken_q[Consume]: next = consumed(known, seq_t'(consume_count_i), config_i);
      taken_q[Scan]: next = expired(known, now_i, config_i);
      taken_q[Rx]: next = arrived;
      taken_q[Push]: if (direct) next = said;
      taken_q[Commit]: next.held = known.held + 1'b1;
      taken_q[Poll]: begin
        next = said;
        next.queued = 1'b0;
      end
      default: ;
    endcase
    settles = settled(next, now_i, config_i.rto);
    speaks_next = speaks(settles);
    written = settles;
    written.queued = settles.queued || speaks_next;
    if (starting_q) written = fresh('0, config_i.epoch, 1'b0, config_i);
  end
  assign enqueues = judging_q && speaks_next && !settles.queued;

  logic unused_ready;
  logic [PeerW:0] unused_count;
  rl_fifo #(
    .Width(PeerW),
    .Depth(Peers)
  ) u_work (
    .clk_i,
    .rst_ni,
    .wvalid_i(enqueues),
    .wready_o(unused_ready),  // Each peer is there once at most.
    .wdata_i(peer_q),
    .rvalid_o(work_valid),
    .rready_i(taken[Poll]),
    .rdata_o(work_peer),
    .count_o(unused_count)
  );

  // -- what comes of it
  assign judged_rx_o = taken_q[Rx];
  assign deliver_o = is_next;
  assign judged_push_o = taken_q[Push];
  assign sends_o = direct || (taken_q[Poll] && speaks_now);
  assign segment_o = segment;
  assign slot_o = taken_q[Push] ? known.slot + slot_t'(known.held) : slot;
  assign release_slot_o = known.slot;
  assign release_count_o = taken_q[Reset] ? known.held : arrived_release;
  assign release_o = (taken_q[Reset] || taken_q[Rx]) && release_count_o != 0;
  assign peer_o = peer_q;
  always_comb begin
    event_o = '0;
    if (taken_q[Rx]) event_o = arrived_event;
    if (taken_q[Poll]) event_o = said_event;
    event_o.expired = taken_q[Scan] && expires(known, now_i);
    if (taken_q[Reset]) begin
      event_o.restarted = 1'b1;
      event_o.lost = known.held;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni && judging_q) begin
      OneIsTaken_A : assert ($onehot(taken_q));
      ListIsConsistent_A : assert (known.cursor <= known.flight && known.flight <= known.held);
      OnlyEstablishedIsInFlight_A : assert (known.established || known.flight == 0);
      TimerRuns_A : assert (known.flight == 0 || known.timer.on);
      NackIsDue_A : assert (!known.nack_due || (known.ack_due && known.nacked));
    end
    if (rst_ni && enqueues) QueueHasRoom_A : assert (unused_ready);
  end
`endif
endmodule
