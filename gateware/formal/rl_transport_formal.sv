// rl_transport_state with whatever requests there may be: segments that say anything, frames, timers, the owner's
// words, in any order. One peer is watched, any, and one of the frames that are given for it, any. Of it:
//   - what is delivered is of the present lives of both ends, and has the number after the one delivered before;
//   - numbers begin anew only with an event that says so, and never for a life before the one that was known;
//   - a frame is sent for the first time under the number after the one before, and again under the same;
//   - it is given up only when a segment of the present lives acknowledges its number, or with a life, and is then
//     counted among what is lost;
//   - nothing is sent beyond the peer's credit.
// What is known of the others is anything. The steps of a judgement are one here; that there is one at a time of a peer
// when they are not, rl_transport_steps proves.
module rl_transport_formal
  import rl_transport_pkg::*;
#(
  localparam int unsigned Peers = 2,
  localparam type index_t = logic [$clog2(Peers)-1:0]
) (
  input logic              clk_i,
  input transport_config_t config_i,
  input logic              asks_seldom_i,
  input tick_t             now_i,
  input logic              reset_valid_i,
  input index_t            reset_peer_i,
  input epoch_t            reset_epoch_i,
  input logic              consume_valid_i,
  input index_t            consume_peer_i,
  input count_t            consume_count_i,
  input logic              scan_valid_i,
  input index_t            scan_peer_i,
  input logic              rx_valid_i,
  input index_t            rx_peer_i,
  input segment_t          rx_segment_i,
  input logic              push_valid_i,
  input index_t            push_peer_i,
  input logic              commit_valid_i,
  input index_t            commit_peer_i,
  input logic              rx_again_i,
  input logic              push_alone_i,
  input logic              out_free_i,
  input logic              get_free_i,
  input logic              release_free_i,
  input logic              pick_i          // Watch the frame that is given now.
);
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  logic starts, judged_rx, deliver, judged_push, sends, release_runs;
  index_t start_peer, peer, unused_release_peer, unused_event_peer;
  segment_t segment;
  slot_t slot, release_slot;
  count_t release_count;
  transport_event_t happened;
  logic unused_judged, unused_again, unused_done;
  logic unused_reset, unused_consume, unused_scan, unused_rx, unused_push, unused_commit;
  rl_transport_state #(
    .Peers(Peers),
    .Cut(1'b0),
    .Block(1'b1)
  ) u_dut (
    .clk_i,
    .rst_ni(rst_n),
    .config_i,
    .asks_seldom_i,
    .now_i,
    .starts_o(starts),
    .start_peer_o(start_peer),
    .reset_valid_i,
    .reset_ready_o(unused_reset),
    .reset_peer_i,
    .reset_epoch_i,
    .consume_valid_i,
    .consume_ready_o(unused_consume),
    .consume_peer_i,
    .consume_count_i,
    .scan_valid_i,
    .scan_ready_o(unused_scan),
    .scan_peer_i,
    .rx_valid_i,
    .rx_ready_o(unused_rx),
    .rx_peer_i,
    .rx_segment_i,
    .rx_again_i,
    .push_valid_i,
    .push_ready_o(unused_push),
    .push_peer_i,
    .push_alone_i,
    .commit_valid_i,
    .commit_ready_o(unused_commit),
    .commit_peer_i,
    .out_free_i,
    .get_free_i,
    .release_free_i,
    .judged_push_o(judged_push),
    .judged_commit_o(unused_judged),
    .sends_o(sends),
    .segment_o(segment),
    .slot_o(slot),
    .send_peer_o(peer),
    .judged_rx_o(judged_rx),
    .deliver_o(deliver),
    .again_o(unused_again),
    .done_rx_o(unused_done),
    .release_o(release_runs),
    .release_peer_o(unused_release_peer),
    .release_slot_o(release_slot),
    .release_count_o(release_count),
    .event_o(happened),
    .event_peer_o(unused_event_peer)
  );

  // -- what surrounds it: its configuration is steady and possible
  transport_config_t config_q;
  logic known_q = 1'b0;
  always_ff @(posedge clk_i) begin
    config_q <= config_i;
    known_q <= 1'b1;
    if (known_q) assume (config_i == config_q);
    assume (config_i.epoch != 0 && config_i.window != 0 && config_i.window <= 256);
    assume (config_i.credit != 0 && !config_i.credit[31] && config_i.ack_every != 0);
    assume (reset_epoch_i != 0);
  end

  // -- the peer that is watched, and what is known of it
  peer_t kept;
  logic is_it, commits, gives;
  slot_t given_slot;
  logic [6:0] taken;
  assign taken = u_dut.read_q.taken;
  assign kept = peer_t'(u_dut.gen_block.u_peers.kept_q);
  assign is_it = rst_n && taken != 0 && peer == u_dut.gen_block.u_peers.place_q;
  assign commits = taken[5];
  assign gives = is_it && (commits || (judged_push && sends));
  assign given_slot = commits ? kept.slot + slot_t'(kept.held) : slot;
  // The buffer has room for no more, which is for it to promise.
  always_ff @(posedge clk_i) if (is_it && (commits || judged_push)) assume (kept.held < 256);

  // -- what has been delivered and sent
  logic there_q = 1'b0;    // The watched frame is held,
  logic sent_q = 1'b0;     // and has a number.
  slot_t slot_q;
  seq_t number_q;
  seq_t next_q, high_q;  // The number to be delivered next, and to be sent next for the first time.
  seq_t limit_q;  // The highest limit that the peer has announced in its life.
  epoch_t mine_q, theirs_q;
  logic met_q = 1'b0;  // Lives are agreed upon.
  logic restarts, releases_it, data, is_watched, begins;
  slot_t offset;
  assign restarts = is_it && happened.restarted;
  assign offset = slot_q - release_slot;
  assign releases_it = is_it && release_runs && there_q && 9'(offset) < release_count;
  assign data = is_it && sends && segment.kind == KindData;
  assign is_watched = data && ((there_q && slot == slot_q) || (gives && pick_i && !there_q));
  assign begins = is_it && (judged_rx && happened.restarted) && rx_segment_i.dst == mine_q;  // Of the peer's.

  always_ff @(posedge clk_i) begin
    if (starts && start_peer == u_dut.gen_block.u_peers.place_q) begin
      there_q <= 1'b0;
      sent_q <= 1'b0;
      met_q <= 1'b0;
      next_q <= config_i.first;
      high_q <= config_i.first;
      limit_q <= config_i.first + config_i.credit;
      mine_q <= config_i.epoch;
    end else if (is_it) begin
      if (restarts) begin
        next_q <= config_i.first + seq_t'(deliver && judged_rx);
        high_q <= config_i.first;
        limit_q <= config_i.first + config_i.credit;
        sent_q <= 1'b0;
        met_q <= begins;
        if (taken[0]) mine_q <= u_dut.reset_epoch_q;
        else if (!begins) mine_q <= u_dut.written.mine;
      end else if (judged_rx && deliver) next_q <= next_q + 1'b1;
      if (begins) theirs_q <= rx_segment_i.src;
      if (judged_rx && !happened.broken && u_dut.verdict_c.takes)
        limit_q <= is_before(
            restarts ? config_i.first + config_i.credit : limit_q, rx_segment_i.limit
        ) ? rx_segment_i.limit : restarts ? config_i.first + config_i.credit : limit_q;
      if (data && segment.seq == high_q) high_q <= high_q + 1'b1;
      if (releases_it) there_q <= 1'b0;
      if (gives && pick_i && !there_q) begin
        there_q <= 1'b1;
        slot_q <= given_slot;
        sent_q <= 1'b0;
      end
      if (is_watched) begin
        sent_q <= 1'b1;
        number_q <= segment.seq;
      end
    end
  end

  // Whether the watched frame is sent now for the first time.
  logic first_time;
  assign first_time = is_watched && !(there_q && sent_q && slot == slot_q);
  always_comb begin
    if (is_it) begin
      if (judged_rx && deliver) begin
        InOrder_A : assert (rx_segment_i.seq == (restarts ? config_i.first : next_q));
        PresentLives_A :
        assert (rx_segment_i.dst == mine_q && (begins || (met_q && rx_segment_i.src == theirs_q)));
      end
      // Lives go on, and not back.
      if (begins && met_q)
        LaterLife_A :
        assert (rx_segment_i.src != theirs_q && !is_before(rx_segment_i.src, theirs_q));
      if (data) begin
        SentInOrder_A : assert (segment.seq == high_q || is_before(segment.seq, high_q));
        if (segment.seq == high_q) WithinCredit_A : assert (is_before(segment.seq, limit_q));
      end
      if (is_watched && first_time) NewNumber_A : assert (segment.seq == high_q);
      if (is_watched && !first_time) SameNumber_A : assert (segment.seq == number_q);
      if (releases_it && !restarts) begin
        AcknowledgedByNumber_A :
        assert (judged_rx && sent_q && is_before(number_q, rx_segment_i.ack));
        AcknowledgedByLife_A :
        assert (met_q && rx_segment_i.dst == mine_q && rx_segment_i.src == theirs_q);
      end
      if (releases_it && restarts) ReportedLost_A : assert (9'(offset) < happened.lost);
      // What stays in spite of a new life was never sent.
      if (restarts && there_q && !releases_it) UnsentStays_A : assert (!sent_q && !taken[0]);
      if (!judged_rx && !taken[0]) ReleasesWithReason_A : assert (!release_runs);
    end
  end

  // -- what induction has to know
  slot_t at;
  say_t asks_bit;
  logic set_up;
  always_comb begin
    asks_bit = '0;
    asks_bit.asks = 1'b1;
  end
  assign at = slot_q - kept.slot;
  assign set_up = rst_n && (!u_dut.starting_q || u_dut.start_q > u_dut.gen_block.u_peers.place_q);
  always_comb begin
    if (rst_n) begin
      assert (u_dut.gen_block.u_peers.chosen_q && known_q);
      assert ($onehot0(taken) && u_dut.read_q.any == (taken != 0));
      // Kinds of requests have an order, so that one is taken, if any can be.
      for (int i = 0; i < 7; i++)
      for (int j = 0; j < 7; j++) begin
        assert (u_dut.before_q[i][j] == (i != j && !u_dut.before_q[j][i]));
        for (int k = 0; k < 7; k++)
        if (u_dut.before_q[i][j] && u_dut.before_q[j][k]) assert (u_dut.before_q[i][k]);
      end
      if (u_dut.starting_q) assert (taken == 0);
      if (is_it) assert (u_dut.known == kept);
    end
    if (set_up) begin
      assert (kept.next == next_q);
      assert (kept.base + 32'(kept.flight) == high_q);
      assert (kept.credit == limit_q);
      // Whether a new frame asks for an acknowledgement is no matter of numbers.
      assert (kept.say == (say_of(kept, allowed_by(kept)) & ~asks_bit | kept.say & asks_bit));
      assert (kept.mine == mine_q && kept.established == met_q && (!met_q || kept.theirs == theirs_q));
      assert (kept.cursor <= kept.flight && kept.flight <= kept.held && kept.held <= 256);
      assert (kept.established || kept.flight == 0);
      assert (kept.mine != 0);
      if (there_q) begin
        assert (9'(at) < kept.held && sent_q == (9'(at) < kept.flight));
        if (sent_q) assert (number_q == kept.base + 32'(at));
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (set_up) begin
      Resent_C : cover (is_watched && !first_time);
      Acknowledged_C : cover (releases_it && !restarts && number_q != config_i.first);
      Lost_C : cover (releases_it && restarts && sent_q);
      Delivered_C : cover (is_it && judged_rx && deliver && next_q != config_i.first);
    end
  end
endmodule
