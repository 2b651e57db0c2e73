// What is known of each peer, in RAM, and what changes it: events. One is taken a cycle, read, judged in five
// steps and written back; of each peer there is one at a time. So no event sees half of what another does, and links
// have nothing to do with one another.
//
//   take   whose turn it is                                         read   the peer's state
//   A      comparisons; what is to be sent                          B      lives, timers: what an arrival is
//   C      what an arrival and the owner's word change              D      credit
//   E      is there something to say? Then the state is written.
//
// What is sent is judged in step A (`judged_push_o`, `judged_commit_o`, `sends_o`), an arrival in step B
// (`judged_rx_o`), and its arguments stay until then (`done_rx_o`). Who was taken longest ago comes first. Without Cut
// all five steps are one, for slow clocks and for proofs: two cycles for an event.
//
// Peers to whom there is something to say stand in a queue, each once. Who is in front says one segment, and goes to
// the end if there is more: so each has its share of the link.
module rl_transport_state
  import rl_transport_pkg::*;
#(
  parameter int unsigned Peers = 256,  // A power of two, 2 or more.
  parameter bit          Cut = 1'b1,   // Registers between the steps.
  parameter bit          Block = Peers > 16,  // States are in block RAM; few are smaller and faster apart.
  localparam int unsigned PeerW = $clog2(Peers),
  localparam int unsigned AskEvery = 8,  // Often enough that word of a gap which was lost is soon repeated.
  localparam int unsigned AskW = $clog2(AskEvery),
  localparam type index_t = logic [PeerW-1:0]
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  transport_config_t config_i,   // Steady.
  // The last frame that is here does not ask for an acknowledgement, as others follow it: one does that is alone in
  // flight, and each whose number is a multiple of AskEvery. What goes the other way takes others' acknowledgements
  // along. Steady.
  input  logic              asks_seldom_i,
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
  input  logic              rx_again_i,      // Once more, after `again_o`.
  input  logic              push_valid_i,    // The source has a frame. May it be sent on its way in?
  output logic              push_ready_o,
  input  index_t            push_peer_i,
  input  logic              push_alone_i,    // When it is judged: nothing else waits to be sent before it.
  input  logic              commit_valid_i,  // A frame is there as a whole, that was not sent on its way in.
  output logic              commit_ready_o,
  input  index_t            commit_peer_i,
  input  logic              out_free_i,      // A segment can be sent,
  input  logic              get_free_i,      // and one with a frame that is stored.
  input  logic              release_free_i,  // Frames can be released, twice.

  // -- what comes of them
  output logic              judged_push_o,   // The frame is sent on its way in if `sends_o`, with `segment_o` and as
  output logic              judged_commit_o, // `slot_o`. A frame that was stored is now held as `slot_o`.
  output logic              sends_o,         // Without either: a segment is sent, with the frame at `slot_o` if it is
  output segment_t          segment_o,       // of KindData.
  output slot_t             slot_o,
  output index_t            send_peer_o,
  output logic              judged_rx_o,
  output logic              deliver_o,       // Its payload is delivered, or else dropped;
  output logic              again_o,         // or it has to come once more, and is judged then.
  output logic              done_rx_o,       // Its arguments need not stay.
  output logic              release_o,       // Frames of the peer are no longer held: so many from this slot on.
  output index_t            release_peer_o,
  output slot_t             release_slot_o,
  output count_t            release_count_o,
  output transport_event_t  event_o,
  output index_t            event_peer_o,
  output logic              busy_o           // Some connection does something sooner or later, whatever comes.
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
    logic      any;    // Something is taken.
    requests_t taken;
    index_t    peer;
  } step_t;
  typedef struct packed {
    peer_t            peer;
    slot_t            slot;   // Its first, before all this,
    count_t           freed;  // and how many are lost from there on.
    transport_event_t what;
  } change_t;

  // -- whose turn it is
  requests_t shown, seen_q, asked, able, met, met_q, chosen, late, sending;
  index_t [Requests-1:0] peers, peers_q;
  index_t work_peer, peer;
  logic work_valid;
  logic starting_q, settles_q;  // Peers are set up, and what sets up the last ones is under way.
  index_t start_q;
  step_t read_d, read_q, at_a, at_b, at_c, at_d, at_e;
  count_t consume_count_q;
  epoch_t reset_epoch_q;

  // What is asked for is looked at for a cycle before it can be taken; its peer stays until then. The next of a kind is
  // asked for while the one before is late.
  //
  // Of two that can be taken, the one that was taken longer ago comes first. Whoever waits for its peer keeps its rank
  // meanwhile, and each of the others can take the peer before it once at most. Turns by a fixed order do not see to
  // that: an arrival and what is said to the same peer can meet in step, and the arrival wait for ever.
  requests_t [Requests-1:0] before_q;  // Those that come before each. Whoever was just taken is late, and moves now.

  always_comb begin
    sending = '0;
    {sending[Push], sending[Commit], sending[Poll]} = '1;
    // While another of its kind is under way, as far as its arguments are looked at or its room is not yet taken.
    late = read_q.taken | at_a.taken | ((at_b.taken | at_c.taken) & ~sending);
    shown[Reset] = reset_valid_i;
    shown[Consume] = consume_valid_i;
    shown[Scan] = scan_valid_i;
    shown[Rx] = rx_valid_i;
    shown[Push] = push_valid_i;
    shown[Commit] = commit_valid_i;
    shown[Poll] = work_valid;
    asked = shown & seen_q;
    if (!release_free_i) {asked[Reset], asked[Rx]} = '0;
    if (!out_free_i) {asked[Push], asked[Poll]} = '0;
    if (!get_free_i) asked[Poll] = 1'b0;
    peers[Reset] = reset_peer_i;
    peers[Consume] = consume_peer_i;
    peers[Scan] = scan_peer_i;
    peers[Rx] = rx_peer_i;
    peers[Push] = push_peer_i;
    peers[Commit] = commit_peer_i;
    peers[Poll] = work_peer;
    // Not while another event of its peer is under way. All but the one that was just taken were looked at before.
    for (int unsigned i = 0; i < Requests; i++)
    met[i] = met_q[i] || (read_q.any && read_q.peer == peers_q[i]);
    able = settles_q ? '0 : asked & ~late & ~met;
    for (int unsigned i = 0; i < Requests; i++) chosen[i] = able[i] && (able & before_q[i]) == 0;
    peer = '0;
    for (int unsigned i = 0; i < Requests; i++) peer |= peers_q[i] & {PeerW{chosen[i]}};
    read_d = '{any: able != 0, taken: chosen, peer: peer};
  end
  // Those whose arguments need not go on in the next cycle hear of it then: no other of their kind is taken before.
  assign reset_ready_o = read_q.taken[Reset];
  assign consume_ready_o = read_q.taken[Consume];
  assign scan_ready_o = read_q.taken[Scan];
  assign rx_ready_o = read_d.taken[Rx];
  assign push_ready_o = read_d.taken[Push];
  assign commit_ready_o = read_d.taken[Commit];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      read_q <= '0;
      for (int unsigned i = 0; i < Requests; i++) before_q[i] <= (requests_t'(1) << i) - 1'b1;
      starting_q <= 1'b1;
      start_q <= '0;
    end else begin
      read_q <= read_d;
      for (int unsigned i = 0; i < Requests; i++)
      if (read_q.taken[i]) before_q[i] <= ~(requests_t'(1) << i);
      else before_q[i] <= before_q[i] & ~read_q.taken;
      if (starting_q) start_q <= start_q + 1'b1;
      if (&start_q) starting_q <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    seen_q <= shown;
    peers_q <= peers;
    for (int unsigned i = 0; i < Requests; i++)
    met_q[i] <= (read_q.any && read_q.peer == peers[i]) || (at_a.any && at_a.peer == peers[i]) ||
          (at_b.any && at_b.peer == peers[i]) || (at_c.any && at_c.peer == peers[i]) ||
          (at_d.any && at_d.peer == peers[i]);
    // They follow what is asked for until that is taken.
    if (!late[Consume]) consume_count_q <= consume_count_i;
    if (!rst_ni || starting_q) reset_epoch_q <= config_i.epoch;
    else if (!late[Reset]) reset_epoch_q <= reset_epoch_i;
  end
  assign starts_o = starting_q;
  assign start_peer_o = start_q;

  // -- what is known
  peer_t found, known, written;
  if (Block) begin : gen_block
    rl_ram #(
      .Width($bits(peer_t)),
      .Depth(Peers),
      .Block(1'b1)
    ) u_peers (
      .clk_wr_i(clk_i),
      .we_i(at_e.taken != '0),
      .waddr_i(at_e.peer),
      .wdata_i(written),
      .clk_rd_i(clk_i),
      .re_i(1'b1),
      .raddr_i(peer),
      .rdata_o(found)
    );
  end else begin : gen_spread
    rl_lutram #(
      .Width($bits(peer_t)),
      .Depth(Peers)
    ) u_peers (
      .clk_i,
      .we_i(at_e.taken != '0),
      .waddr_i(at_e.peer),
      .wdata_i(written),
      .raddr_i(read_q.peer),
      .rdata_o(found)
    );
  end
  rl_transport_cut #(
    .Width($bits(peer_t)),
    .Cut(Cut)
  ) u_known (
    .clk_i,
    .d_i(starting_q ? '0 : found),
    .q_o(known)
  );
  segment_t rx_segment;
  rl_transport_cut #(
    .Width($bits(segment_t)),
    .Cut(Cut)
  ) u_segment (
    .clk_i,
    .d_i(rx_segment_i),
    .q_o(rx_segment)
  );
  logic [4:0][$bits(step_t)-1:0] steps;
  assign {at_e, at_d, at_c, at_b, at_a} = steps;
  // A connection is set up as one that is given up, of which nothing is known. Nobody hears of it: it is not `any`.
  logic [3:0] resets, told;
  assign resets = {at_d.taken[Reset], at_c.taken[Reset], at_b.taken[Reset], at_a.taken[Reset]};
  assign told = {at_d.any, at_c.any, at_b.any, at_a.any};
  always_ff @(posedge clk_i) settles_q <= !rst_ni || starting_q || (resets & ~told) != '0;
  for (genvar i = 0; i < 5; i++) begin : gen_step
    step_t prior;
    if (i == 0) begin : gen_first
      localparam requests_t SetUp = requests_t'(1) << Reset;
      assign prior = starting_q ? {1'b0, SetUp, start_q} : read_q;
    end else begin : gen_next
      assign prior = step_t'(steps[i-1]);
    end
    if (Cut) begin : gen_register
      always_ff @(posedge clk_i) steps[i] <= rst_ni ? prior : '0;
    end else begin : gen_wire
      assign steps[i] = prior;
    end
  end

  // -- A: what is to be sent, and comparisons
  logic direct;
  segment_t segment;
  slot_t slot;
  transport_event_t said_event;
  peer_t said;
  change_t change_a, change_b, change_b_d;
  compared_t compared_b;
  due_t due_b;
  rl_transport_tx u_tx (
    .now_i,
    .rto_i(config_i.rto),
    .peer_i(known),
    .pushed_i(at_a.taken[Push]),
    .asks_seldom_i,
    .peer_o(said),
    .segment_o(segment),
    .slot_o(slot),
    .event_o(said_event)
  );
  // A frame is sent on its way in if the link is free, and nothing else of its peer waits.
  assign direct = at_a.taken[Push] && push_alone_i && known.say.passes;
  always_comb begin
    change_a = '{peer: known, slot: known.slot, freed: '0, what: '0};
    if (direct || at_a.taken[Poll]) change_a.peer = said;
    if (at_a.taken[Poll]) begin
      change_a.peer.queued = 1'b0;
      change_a.what = said_event;
    end
    if (at_a.taken[Commit]) change_a.peer.held = known.held + 1'b1;
  end
  assign judged_push_o = at_a.taken[Push];
  assign judged_commit_o = at_a.taken[Commit];
  assign sends_o = direct || (at_a.taken[Poll] && known.say.speaks);
  assign segment_o = segment;
  assign slot_o = at_a.taken[Poll] ? slot : known.slot + slot_t'(known.held);
  assign send_peer_o = at_a.peer;
  rl_transport_cut #(
    .Width($bits(change_t) + $bits(compared_t) + $bits(due_t)),
    .Cut(Cut)
  ) u_a (
    .clk_i,
    .d_i({change_a, compared(known, rx_segment, now_i, config_i), due_of(known, now_i)}),
    .q_o({change_b, compared_b, due_b})
  );

  // -- B: lives and timers
  peer_t lived;
  verdict_t verdict_b, verdict_c;
  transport_event_t lived_event;
  seq_t room_c;
  peer_t lived_c;
  slot_t slot_c;
  count_t freed_c;
  rl_transport_lives u_lives (
    .config_i,
    .now_i,
    .peer_i(change_b.peer),
    .compared_i(compared_b),
    .kind_i(rx_segment.kind),
    .src_i(rx_segment.src),
    .dst_i(rx_segment.dst),
    .again_i(rx_again_i),
    .peer_o(lived),
    .verdict_o(verdict_b),
    .event_o(lived_event)
  );
  always_comb begin
    change_b_d = change_b;
    if (at_b.taken[Reset]) begin
      change_b_d.peer = fresh(change_b.slot + slot_t'(change_b.peer.held), reset_epoch_q, change_b.peer.queued,
                              config_i);
      change_b_d.freed = change_b.peer.held;
      change_b_d.what.restarted = 1'b1;
      change_b_d.what.lost = change_b.peer.held;
    end
    if (at_b.taken[Scan]) begin
      change_b_d.peer = expired(change_b.peer, due_b, now_i, config_i);
      change_b_d.what.expired = expires(change_b.peer, due_b);
      change_b_d.what.unanswered = is_unanswered(change_b.peer, due_b);
    end
    if (at_b.taken[Rx]) begin
      change_b_d.peer = lived;
      change_b_d.freed = lived_event.lost;
      change_b_d.what = lived_event;
    end
  end
  assign judged_rx_o = at_b.taken[Rx];
  assign deliver_o = verdict_b.next;
  assign again_o = verdict_b.restarts;
  assign done_rx_o = at_b.taken[Rx] && !verdict_b.restarts;
  // Before a payload of the new life shows: its owner must know by then.
  assign event_o = at_b.any ? change_b_d.what : '0;
  assign event_peer_o = at_b.peer;
  rl_transport_cut #(
    .Width($bits(peer_t) + $bits(slot_t) + $bits(count_t) + $bits(verdict_t) + 32),
    .Cut(Cut)
  ) u_b (
    .clk_i,
    .d_i({change_b_d.peer, change_b_d.slot, change_b_d.freed, verdict_b, room_of(change_b.peer, config_i.credit)}),
    .q_o({lived_c, slot_c, freed_c, verdict_c, room_c})
  );

  // -- C: what an arrival and the owner's word change
  peer_t arrived, peer_c, peer_d;
  logic again_d;
  rl_transport_rx u_rx (
    .config_i,
    .now_i,
    .peer_i(lived_c),
    .asks_i(rx_segment.asks),
    .ack_i(rx_segment.ack),
    .limit_i(rx_segment.limit),
    .verdict_i(verdict_c),
    .peer_o(arrived)
  );
  always_comb begin
    peer_c = lived_c;
    if (at_c.taken[Rx]) peer_c = arrived;
    if (at_c.taken[Consume]) peer_c = consumed(lived_c, consume_count_q, room_c);
  end
  assign release_slot_o = slot_c;
  assign release_count_o = at_c.taken[Reset] || verdict_c.moved ? freed_c : verdict_c.acked;
  assign release_o = (at_c.taken[Reset] || at_c.taken[Rx]) && release_count_o != 0;
  assign release_peer_o = at_c.peer;
  rl_transport_cut #(
    .Width($bits(peer_t) + 1),
    .Cut(Cut)
  ) u_c (
    .clk_i,
    .d_i({peer_c, at_c.taken[Rx] && verdict_c.restarts}),
    .q_o({peer_d, again_d})
  );

  // -- D: credit, both ways
  peer_t peer_e;
  logic urgent_e, granted, again_e;
  allowed_t allowed_e;
  assign granted = at_d.taken[Consume] || (at_d.taken[Rx] && config_i.consumes);
  rl_transport_cut #(
    .Width($bits(peer_t) + $bits(allowed_t) + 2),
    .Cut(Cut)
  ) u_d (
    .clk_i,
    .d_i({has_grown(peer_d, config_i), granted && is_urgent(peer_d, config_i.credit), again_d, allowed_by(peer_d)}),
    .q_o({peer_e, urgent_e, again_e, allowed_e})
  );

  // -- E: is there something to say? Not before the segment that is to come once more.
  peer_t due, settles;
  say_t say;
  logic speaks_next, enqueues;
  logic [AskW-1:0] number;
  always_comb begin
    due = peer_e;
    if (urgent_e) due.ack_due = 1'b1;
    settles = settled(due, allowed_e, now_i, config_i.rto);
    say = say_of(settles, allowed_e);
    // The next number: nothing is to be sent again.
    number = settles.base[AskW-1:0] + settles.flight[AskW-1:0];
    if (asks_seldom_i && (say.offers || say.passes))
      say.asks = settles.flight == '0 || number == '0 || settles.flight + 1'b1 == settles.window || !allowed_e.more;
    speaks_next = say.speaks && !again_e;
    written = settles;
    written.say = say;
    written.queued = settles.queued || speaks_next;
  end
  assign enqueues = at_e.any && speaks_next && !settles.queued;
  logic unused;
  assign unused = ^at_e.taken;

  // -- whose connections are not at rest, as of the last event of each
  logic [Peers-1:0] stirs_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) stirs_q <= '0;
    else if (at_e.taken != 0) stirs_q[at_e.peer] <= stirs(written);
  end
  // A scan that finds a time come finds it of one that stirs.
  requests_t under_way;
  always_comb begin
    under_way = read_q.taken | at_a.taken | at_b.taken | at_c.taken | at_d.taken;
    under_way[Scan] = 1'b0;
  end
  assign busy_o = starting_q || stirs_q != '0 || under_way != '0;

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
    .rready_i(read_q.taken[Poll]),
    .rdata_o(work_peer),
    .count_o(unused_count)
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < Requests; i++)
    if (rst_ni && chosen[i]) PeerStays_A : assert (peers[i] == peers_q[i]);
    for (int unsigned i = 0; i < Requests; i++)
    for (int unsigned j = 0; j < Requests; j++)
    if (rst_ni) OneOfTwoIsFirst_A : assert (before_q[i][j] == (i != j && !before_q[j][i]));
    if (rst_ni && at_a.any) begin
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
