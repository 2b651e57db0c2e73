// What is known of each peer, in block RAM, and what changes it: events. One is taken a cycle, read, judged in five
// steps and written back; of each peer there is one at a time. So no event sees half of what another does, and links
// have nothing to do with one another.
//
//   take   whose turn it is     read   the peer's state
//   A      lives, timers        B      numbers; what is to be sent        C      what an arrival changes
//   D      credit               E      is there something to say? Then the state is written.
//
// A request's arguments stay until it is judged: of a frame to be sent that is step B (`judged_push_o`, `sends_o`), of
// an arrival step C (`judged_rx_o`). Requests take turns. Without Cut all five steps are one, for slow clocks and for
// proofs: two cycles for an event.
//
// Peers to whom there is something to say stand in a queue, each once. Who is in front says one segment, and goes to
// the end if there is more: so each has its share of the link.
module rl_transport_state
  import rl_transport_pkg::*;
#(
  parameter int unsigned Peers = 256,  // A power of two, 2 or more.
  parameter bit          Cut = 1'b1,   // Registers between the steps.
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
  input  logic              release_free_i,  // Frames can be released, twice.

  // -- what comes of them
  output logic              judged_push_o,   // The frame goes to `slot_o`,
  output logic              sends_o,         // and is sent on its way in, with `segment_o`. Or without judged_push_o:
  output segment_t          segment_o,       // a segment is sent, with the frame at `slot_o` if it is of KindData.
  output slot_t             slot_o,
  output index_t            send_peer_o,
  output logic              judged_rx_o,
  output logic              deliver_o,       // Its payload is delivered, or else dropped.
  output logic              release_o,       // Frames of the peer are no longer held: so many from this slot on.
  output index_t            release_peer_o,
  output slot_t             release_slot_o,
  output count_t            release_count_o,
  output transport_event_t  event_o,
  output index_t            event_peer_o
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

  typedef struct packed {
    requests_t taken;
    index_t    peer;
    logic      direct;  // Nothing else is being sent.
  } step_t;
  typedef struct packed {
    peer_t            peer;
    slot_t            slot;   // Its first, before all this,
    count_t           freed;  // and how many are lost from there on.
    transport_event_t what;
  } change_t;

  // -- whose turn it is
  requests_t asked, able, met, chosen, after_q, early, late;
  index_t [Requests-1:0] peers;
  index_t work_peer, peer;
  logic work_valid;
  logic starting_q;
  index_t start_q;
  step_t read_d, read_q, at_a, at_b, at_c, at_d, at_e;
  count_t consume_count_q;
  epoch_t reset_epoch_q;

  // The lowest of these.
  function automatic requests_t lowest(requests_t all);
    return all & (~all + 1'b1);
  endfunction

  always_comb begin
    early = read_q.taken | at_a.taken | at_b.taken;
    late = early | at_c.taken;
    asked = '0;
    asked[Reset] = reset_valid_i && release_free_i;
    asked[Consume] = consume_valid_i;
    asked[Scan] = scan_valid_i;
    asked[Rx] = rx_valid_i && release_free_i;
    asked[Push] = push_valid_i;
    asked[Commit] = commit_valid_i;
    asked[Poll] = work_valid && out_free_i && !early[Push];
    peers[Reset] = reset_peer_i;
    peers[Consume] = consume_peer_i;
    peers[Scan] = scan_peer_i;
    peers[Rx] = rx_peer_i;
    peers[Push] = push_peer_i;
    peers[Commit] = commit_peer_i;
    peers[Poll] = work_peer;
    // Not while another event of its peer is under way.
    for (int unsigned i = 0; i < Requests; i++)
    met[i] = (read_q.taken != 0 && read_q.peer == peers[i]) || (at_a.taken != 0 && at_a.peer == peers[i]) ||
          (at_b.taken != 0 && at_b.peer == peers[i]) || (at_c.taken != 0 && at_c.peer == peers[i]) ||
          (at_d.taken != 0 && at_d.peer == peers[i]) || (at_e.taken != 0 && at_e.peer == peers[i]);
    able = starting_q ? '0 : asked & ~late & ~met;
    chosen = |(able & after_q) ? lowest(able & after_q) : lowest(able);
    peer = '0;
    for (int unsigned i = 0; i < Requests; i++) peer |= peers[i] & {PeerW{chosen[i]}};
    read_d = '{taken: chosen, peer: peer, direct: out_free_i && !early[Poll]};
  end
  assign reset_ready_o = read_d.taken[Reset];
  assign consume_ready_o = read_d.taken[Consume];
  assign scan_ready_o = read_d.taken[Scan];
  assign rx_ready_o = read_d.taken[Rx];
  assign push_ready_o = read_d.taken[Push];
  assign commit_ready_o = read_d.taken[Commit];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      read_q <= '0;
      after_q <= '0;
      starting_q <= 1'b1;
      start_q <= '0;
    end else begin
      read_q <= read_d;
      if (chosen != 0) after_q <= ~(chosen | (chosen - 1'b1));
      if (starting_q) start_q <= start_q + 1'b1;
      if (&start_q) starting_q <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (consume_ready_o) consume_count_q <= consume_count_i;
    if (reset_ready_o) reset_epoch_q <= reset_epoch_i;
  end
  assign starts_o = starting_q;
  assign start_peer_o = start_q;

  // -- what is known
  peer_t found, known, written;
  rl_ram #(
    .Width($bits(peer_t)),
    .Depth(Peers),
    .Block(1'b1)
  ) u_peers (
    .clk_wr_i(clk_i),
    .we_i(at_e.taken != 0 || starting_q),
    .waddr_i(starting_q ? start_q : at_e.peer),
    .wdata_i(written),
    .clk_rd_i(clk_i),
    .re_i(1'b1),
    .raddr_i(peer),
    .rdata_o(found)
  );
  rl_transport_cut #(
    .Width($bits(peer_t)),
    .Cut(Cut)
  ) u_known (
    .clk_i,
    .d_i(found),
    .q_o(known)
  );
  logic [4:0][$bits(step_t)-1:0] steps;
  assign {at_e, at_d, at_c, at_b, at_a} = steps;
  for (genvar i = 0; i < 5; i++) begin : gen_step
    step_t prior;
    if (i == 0) begin : gen_first
      assign prior = read_q;
    end else begin : gen_next
      assign prior = step_t'(steps[i-1]);
    end
    if (Cut) begin : gen_register
      always_ff @(posedge clk_i) steps[i] <= rst_ni ? prior : '0;
    end else begin : gen_wire
      assign steps[i] = prior;
    end
  end

  // -- A: lives, timers and the owner's word
  change_t change_a, change_b, change_b_d, change_c, change_c_d;
  peer_t lived, said, offered, arrived, peer_d;
  lives_t lives_a, lives_b, lives_c;
  allowed_t allowed_b;
  rl_transport_lives u_lives (
    .config_i,
    .peer_i(known),
    .src_i(rx_segment_i.src),
    .dst_i(rx_segment_i.dst),
    .peer_o(lived),
    .lives_o(lives_a)
  );
  always_comb begin
    change_a = '{peer: known, slot: known.slot, freed: '0, what: '0};
    if (at_a.taken[Reset]) begin
      change_a.peer = fresh(known.slot + slot_t'(known.held), reset_epoch_q, known.queued, config_i);
      change_a.freed = known.held;
      change_a.what.restarted = 1'b1;
      change_a.what.lost = known.held;
    end
    if (at_a.taken[Scan]) begin
      change_a.peer = expired(known, now_i, config_i);
      change_a.what.expired = expires(known, now_i);
    end
    if (at_a.taken[Rx]) begin
      change_a.peer = lived;
      change_a.freed = lives_a.moved ? known.flight : '0;
      change_a.what.restarted = lives_a.moved;
      change_a.what.lost = change_a.freed;
    end
    if (at_a.taken[Commit]) change_a.peer.held = known.held + 1'b1;
  end
  rl_transport_cut #(
    .Width($bits(change_t) + $bits(lives_t) + $bits(allowed_t)),
    .Cut(Cut)
  ) u_a (
    .clk_i,
    .d_i({change_a, lives_a, allowed_by(known)}),
    .q_o({change_b, lives_b, allowed_b})
  );

  // -- B: what is to be sent, and the numbers of what has come
  logic speaks_now, direct, is_new;
  segment_t segment;
  slot_t slot;
  transport_event_t said_event;
  numbers_t numbers_c;
  seq_t room_c;
  always_comb begin
    offered = change_b.peer;
    if (at_b.taken[Push]) offered.held = change_b.peer.held + 1'b1;
  end
  rl_transport_tx u_tx (
    .now_i,
    .rto_i(config_i.rto),
    .peer_i(offered),
    .allowed_i(allowed_b),
    .peer_o(said),
    .sends_o(speaks_now),
    .is_new_o(is_new),
    .segment_o(segment),
    .slot_o(slot),
    .event_o(said_event)
  );
  // A frame is sent on its way in if the link is free, and nothing else of its peer waits.
  assign direct = at_b.taken[Push] && at_b.direct && !waits(change_b.peer) && is_new;
  always_comb begin
    change_b_d = change_b;
    if (direct || at_b.taken[Poll]) change_b_d.peer = said;
    if (at_b.taken[Poll]) begin
      change_b_d.peer.queued = 1'b0;
      change_b_d.what = said_event;
    end
  end
  assign judged_push_o = at_b.taken[Push];
  assign sends_o = direct || (at_b.taken[Poll] && speaks_now);
  assign segment_o = segment;
  assign slot_o = at_b.taken[Push] ? change_b.peer.slot + slot_t'(change_b.peer.held) : slot;
  assign send_peer_o = at_b.peer;
  rl_transport_cut #(
    .Width($bits(change_t) + $bits(lives_t) + $bits(numbers_t) + 32),
    .Cut(Cut)
  ) u_b (
    .clk_i,
    .d_i({
      change_b_d,
      lives_b,
      numbers_of(change_b.peer, rx_segment_i, now_i, config_i),
      room_of(change_b.peer, config_i.credit)
    }),
    .q_o({change_c, lives_c, numbers_c, room_c})
  );

  // -- C: what an arrival changes
  logic is_next;
  count_t acked;
  transport_event_t arrived_event;
  rl_transport_rx u_rx (
    .config_i,
    .now_i,
    .peer_i(change_c.peer),
    .kind_i(rx_segment_i.kind),
    .asks_i(rx_segment_i.asks),
    .ack_i(rx_segment_i.ack),
    .limit_i(rx_segment_i.limit),
    .lives_i(lives_c),
    .numbers_i(numbers_c),
    .peer_o(arrived),
    .deliver_o(is_next),
    .release_o(acked),
    .event_o(arrived_event)
  );
  always_comb begin
    change_c_d = change_c;
    if (at_c.taken[Rx]) begin
      change_c_d.peer = arrived;
      change_c_d.what = change_c.what | arrived_event;
    end
    if (at_c.taken[Consume]) change_c_d.peer = consumed(change_c.peer, consume_count_q, room_c);
  end
  assign judged_rx_o = at_c.taken[Rx];
  assign deliver_o = is_next;
  assign release_slot_o = change_c.slot;
  assign release_count_o = at_c.taken[Reset] || lives_c.moved ? change_c.freed : acked;
  assign release_o = (at_c.taken[Reset] || at_c.taken[Rx]) && release_count_o != 0;
  assign release_peer_o = at_c.peer;
  // Before a payload of the new life shows: its owner must know by then.
  assign event_o = at_c.taken != 0 ? change_c_d.what : '0;
  assign event_peer_o = at_c.peer;
  rl_transport_cut #(
    .Width($bits(peer_t)),
    .Cut(Cut)
  ) u_c (
    .clk_i,
    .d_i(change_c_d.peer),
    .q_o(peer_d)
  );

  // -- D: credit, both ways
  peer_t peer_e;
  logic urgent_e, allowed_e, granted;
  allowed_t allowed_d;
  assign granted = at_d.taken[Consume] || (at_d.taken[Rx] && config_i.consumes);
  assign allowed_d = allowed_by(peer_d);
  rl_transport_cut #(
    .Width($bits(peer_t) + 2),
    .Cut(Cut)
  ) u_d (
    .clk_i,
    .d_i({peer_d, granted && is_urgent(peer_d, config_i.credit), allowed_d.next}),
    .q_o({peer_e, urgent_e, allowed_e})
  );

  // -- E: is there something to say?
  peer_t due, settles;
  logic speaks_next, enqueues;
  always_comb begin
    due = peer_e;
    if (urgent_e) due.ack_due = 1'b1;
    settles = settled(due, allowed_e, now_i, config_i.rto);
    speaks_next = speaks(settles, allowed_e);
    written = settles;
    written.queued = settles.queued || speaks_next;
    if (starting_q) written = fresh('0, config_i.epoch, 1'b0, config_i);
  end
  assign enqueues = at_e.taken != 0 && speaks_next && !settles.queued;

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
    .wdata_i(at_e.peer),
    .rvalid_o(work_valid),
    .rready_i(read_d.taken[Poll]),
    .rdata_o(work_peer),
    .count_o(unused_count)
  );

  logic unused;
  assign unused = ^{allowed_d.more, at_a.direct, at_c.direct, at_d.direct, at_e.direct, change_c_d.slot,
                    change_c_d.freed};

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni && at_a.taken != 0) begin
      OneIsTaken_A : assert ($onehot(at_a.taken));
      ListIsConsistent_A : assert (known.cursor <= known.flight && known.flight <= known.held);
      OnlyEstablishedIsInFlight_A : assert (known.established || known.flight == 0);
      TimerRuns_A : assert (known.flight == 0 || known.timer.on);
      NackIsDue_A : assert (!known.nack_due || (known.ack_due && known.nacked));
    end
    if (rst_ni && enqueues) QueueHasRoom_A : assert (unused_ready);
  end
`endif
endmodule
