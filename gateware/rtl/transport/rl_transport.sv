// The transport: payloads to and from many peers over a network that loses, repeats and reorders frames, each delivered
// once and in the order of its source. The twin of `Connection` of crates/core/transport, in go-back-N mode; what is
// said here of numbers, epochs, credit and acknowledgements is explained there.
//
//               put: words into blocks, link by link              get: word by word
//   source ==> [ in ] ==========> rl_transport_buffer =============> [ out ] ==> link (tx)
//                 |  \_______ first transmission, at once ___________/  ^
//                 | push, commit       ^ runs of slots to free          | segments
//                 v                    |                                |
//   owner ----> rl_transport_state: peer_t of each peer in block RAM, one event at a time
//   (reset,       ^ rl_transport_lives, _rx, _tx: what an event changes, as logic without state
//    consume)     | arrivals            ^ scans: rl_transport_timer
//   link (rx) ==> [ judge ] ==> sink
//
// It knows nothing of what carries it. A frame on either side is a descriptor and 1 to FrameWords words; a segment is
// the same with the fields of `segment_t`, and without a payload one word that means nothing. Peers are numbers; what
// stands for one (an address and a channel) is the neighbours' business, and so is that only whole and sound frames
// come in: one that is damaged must not come at all.
//
// Promises, for each peer and between two lives of its two ends:
//   - payloads are delivered once, in order, whatever is lost, repeated or reordered (formal/rl_transport.sby);
//   - no frame is given up that the peer has not acknowledged, but by a new life of either end, which is reported;
//   - one that does not acknowledge costs the others nothing but its share of memory (rl_transport_blocks).
//
// How it is held:
//   - One event of a peer at a time. Whatever concerns it (an arrival, a frame of the source's, a timer, the owner's
//     word, its turn to speak) reads its state, is judged by logic alone, and writes it back. There is no second copy
//     of any number that could disagree. Events of different peers follow each other cycle by cycle.
//   - Time-outs by a scan after each tick, since 256 timers that are looked at cost less than a heap of them. The
//     time-out is constant; a window that halves at each loss is what spares the network.
//   - Back-pressure: a frame is taken when there is room for all of it, so that nothing inside ever waits for room.
//     What has come in does not wait for what goes out: the sink alone can hold arrivals up, so a sink that waits for
//     the link without holding frames of its own could wait for ever. Credit bounds what it must be able to hold.
//   - Latency: a frame whose peer has nothing else waiting leaves while it is being stored, five cycles after its first
//     word was offered. Words that come slowly then leave slowly: a source that begins a frame has all of it.
module rl_transport
  import rl_transport_pkg::*;
#(
  parameter int unsigned Peers = 256,      // A power of two, 2 or more.
  parameter int unsigned DataW = 512,      // Bits of a word.
  parameter int unsigned DescW = 48,       // Bits of a descriptor: length, and what the neighbours want.
  parameter int unsigned Slots = 32,       // Frames held of a peer, in flight or waiting. A power of two, 2 to 256.
  parameter int unsigned Words = 4096,     // Of the retransmission memory, a power of two.
  parameter int unsigned BlockWords = 4,   // A frame takes a multiple of so many. A power of two, 2 or more.
  parameter int unsigned FrameWords = 64,  // Words of the longest frame.
  parameter int unsigned Gap = 8,          // As rl_transport_timer says.
  parameter bit          Cut = 1'b1,       // As rl_transport_state says.
  localparam int unsigned PeerW = $clog2(Peers)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  transport_config_t config_i,   // Steady.
  input  logic              tick_i,     // Time goes on by a tick. For one cycle.

  // -- the source's frames. Peer and descriptor are steady during a frame. What is offered stays, but a frame for which
  // there is no room may be withdrawn for one to another peer.
  input  logic              s_valid_i,
  output logic              s_ready_o,
  input  logic [PeerW-1:0]  s_peer_i,
  input  logic [DescW-1:0]  s_desc_i,
  input  logic [DataW-1:0]  s_data_i,
  input  logic              s_last_i,
  output logic              s_room_o,   // There is room for the frame that is offered.

  // -- segments to the link
  output logic              tx_valid_o,
  input  logic              tx_ready_i,
  output logic [PeerW-1:0]  tx_peer_o,
  output segment_t          tx_segment_o,
  output logic [DescW-1:0]  tx_desc_o,  // Of KindData.
  output logic [DataW-1:0]  tx_data_o,
  output logic              tx_last_o,

  // -- segments from the link: whole and sound ones. Peer, segment and descriptor are steady during one.
  input  logic              rx_valid_i,
  output logic              rx_ready_o,
  input  logic [PeerW-1:0]  rx_peer_i,
  input  segment_t          rx_segment_i,
  input  logic [DescW-1:0]  rx_desc_i,
  input  logic [DataW-1:0]  rx_data_i,
  input  logic              rx_last_i,

  // -- payloads to the sink
  output logic              d_valid_o,
  input  logic              d_ready_i,
  output logic [PeerW-1:0]  d_peer_o,
  output logic [DescW-1:0]  d_desc_o,
  output logic [DataW-1:0]  d_data_o,
  output logic              d_last_o,

  // -- the owner
  input  logic              consume_valid_i,  // It has room again for so many payloads of a peer's.
  output logic              consume_ready_o,
  input  logic [PeerW-1:0]  consume_peer_i,
  input  count_t            consume_count_i,
  input  logic              reset_valid_i,    // A connection begins anew under this epoch, which is later than all
  output logic              reset_ready_o,    // those before. What was held for the peer is lost. The others go on.
  input  logic [PeerW-1:0]  reset_peer_i,
  input  epoch_t            reset_epoch_i,
  output transport_event_t  event_o,          // What has happened,
  output logic [PeerW-1:0]  event_peer_o      // to the connection with this peer.
);
  typedef logic [PeerW-1:0] index_t;
  typedef logic [$clog2(Slots)-1:0] place_t;

  // -- in: a frame is taken, and stored word by word
  logic put_room, put_free, put_ready, writes_q, direct_q, commit_q, word, out_moves;
  place_t put_slot_q;
  index_t commit_peer_q;
  logic push_valid, push_taken, commit_taken;
  assign push_valid = s_valid_i && !writes_q && !commit_q && put_room && put_free;
  assign s_room_o = put_room;
  assign s_ready_o = writes_q && put_ready && (!direct_q || out_moves);
  assign word = s_valid_i && s_ready_o;

  // -- the state
  tick_t now;
  logic starts, scan_valid, scan_taken, rx_asks, rx_taken, judged_rx, deliver, judged_push, sends;
  logic release_runs, release_free, out_free;
  index_t start_peer, scan_peer, send_peer, release_peer, happened_to;
  segment_t segment;
  slot_t slot, release_slot;
  count_t release_count;
  transport_event_t happened;
  rl_transport_timer #(
    .Peers(Peers),
    .Gap(Gap)
  ) u_timer (
    .clk_i,
    .rst_ni,
    .tick_i,
    .now_o(now),
    .scan_valid_o(scan_valid),
    .scan_ready_i(scan_taken),
    .scan_peer_o(scan_peer)
  );
  rl_transport_state #(
    .Peers(Peers),
    .Cut(Cut)
  ) u_state (
    .clk_i,
    .rst_ni,
    .config_i,
    .now_i(now),
    .starts_o(starts),
    .start_peer_o(start_peer),
    .reset_valid_i,
    .reset_ready_o,
    .reset_peer_i,
    .reset_epoch_i,
    .consume_valid_i,
    .consume_ready_o,
    .consume_peer_i,
    .consume_count_i,
    .scan_valid_i(scan_valid),
    .scan_ready_o(scan_taken),
    .scan_peer_i(scan_peer),
    .rx_valid_i(rx_asks),
    .rx_ready_o(rx_taken),
    .rx_peer_i,
    .rx_segment_i,
    .push_valid_i(push_valid),
    .push_ready_o(push_taken),
    .push_peer_i(s_peer_i),
    .commit_valid_i(commit_q),
    .commit_ready_o(commit_taken),
    .commit_peer_i(commit_peer_q),
    .out_free_i(out_free),
    .release_free_i(release_free),
    .judged_push_o(judged_push),
    .sends_o(sends),
    .segment_o(segment),
    .slot_o(slot),
    .send_peer_o(send_peer),
    .judged_rx_o(judged_rx),
    .deliver_o(deliver),
    .release_o(release_runs),
    .release_peer_o(release_peer),
    .release_slot_o(release_slot),
    .release_count_o(release_count),
    .event_o(happened),
    .event_peer_o(happened_to)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      writes_q <= 1'b0;
      commit_q <= 1'b0;
      event_o <= '0;
    end else begin
      if (judged_push) writes_q <= 1'b1;
      if (word && s_last_i) writes_q <= 1'b0;
      if (word && s_last_i && !direct_q) commit_q <= 1'b1;
      if (commit_taken) commit_q <= 1'b0;
      event_o <= happened;
    end
  end
  always_ff @(posedge clk_i) begin
    if (judged_push) begin
      direct_q <= sends;
      put_slot_q <= place_t'(slot);
    end
    if (word) commit_peer_q <= s_peer_i;
    event_peer_o <= happened_to;
  end

  // -- out: one segment at a time, with the frame that comes in, one that was stored, or none
  typedef enum logic [1:0] {
    Nothing,
    Arriving,
    Stored
  } payload_e;
  logic out_busy_q, out_begins_q, out_there, out_last, get_free, get_valid, get_last;
  payload_e out_from_q;
  index_t out_peer_q;
  segment_t out_segment_q;
  place_t out_slot_q;
  logic [DataW-1:0] get_data;
  logic [DescW-1:0] get_desc;
  assign out_free = !out_busy_q && get_free;
  assign out_moves = tx_ready_i || !tx_valid_o;
  always_comb begin
    case (out_from_q)
      Arriving: {out_there, out_last} = {s_valid_i && put_ready, s_last_i};
      Stored: {out_there, out_last} = {get_valid, get_last};
      default: {out_there, out_last} = 2'b11;
    endcase
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      out_busy_q <= 1'b0;
      out_begins_q <= 1'b0;
      tx_valid_o <= 1'b0;
    end else begin
      if (sends) out_busy_q <= 1'b1;
      else if (out_there && out_moves && out_last) out_busy_q <= 1'b0;
      out_begins_q <= sends;
      if (out_moves) tx_valid_o <= out_busy_q && out_there;
    end
  end
  always_ff @(posedge clk_i) begin
    if (sends) begin
      out_from_q <= judged_push ? Arriving : segment.kind == KindData ? Stored : Nothing;
      out_peer_q <= send_peer;
      out_segment_q <= segment;
      out_slot_q <= place_t'(slot);
    end
    if (out_moves) begin
      tx_peer_o <= out_peer_q;
      tx_segment_o <= out_segment_q;
      tx_desc_o <= out_from_q == Stored ? get_desc : s_desc_i;
      tx_data_o <= out_from_q == Stored ? get_data : s_data_i;
      tx_last_o <= out_last;
    end
  end

  logic is_stored;
  assign is_stored = out_busy_q && out_from_q == Stored;
  rl_transport_buffer #(
    .Peers(Peers),
    .DataW(DataW),
    .DescW(DescW),
    .Slots(Slots),
    .Words(Words),
    .BlockWords(BlockWords),
    .FrameWords(FrameWords)
  ) u_buffer (
    .clk_i,
    .rst_ni,
    .starts_i(starts),
    .start_peer_i(start_peer),
    .put_peer_i(s_peer_i),
    .put_room_o(put_room),
    .put_free_o(put_free),
    .put_busy_i(writes_q),
    .put_slot_i(put_slot_q),
    .put_desc_i(s_desc_i),
    .put_ready_o(put_ready),
    .put_i(word),
    .put_data_i(s_data_i),
    .put_last_i(s_last_i),
    .get_free_o(get_free),
    .get_begins_i(out_begins_q && is_stored),
    .get_busy_i(is_stored),
    .get_peer_i(out_peer_q),
    .get_slot_i(out_slot_q),
    .get_valid_o(get_valid),
    .get_take_i(is_stored && get_valid && out_moves),
    .get_data_o(get_data),
    .get_desc_o(get_desc),
    .get_last_o(get_last),
    .release_i(release_runs),
    .release_peer_i(release_peer),
    .release_slot_i(place_t'(release_slot)),
    .release_count_i(release_count),
    .release_free_o(release_free)
  );

  // -- arrivals: judged by their first word, and then delivered or dropped
  typedef enum logic [1:0] {
    Waits,
    Asked,
    Delivers,
    Drops
  } arrival_e;
  arrival_e arrival_q;
  logic d_moves, passes;
  assign rx_asks = rx_valid_i && arrival_q == Waits;
  assign d_moves = d_ready_i || !d_valid_o;
  assign passes = rx_valid_i && rx_ready_o;
  assign rx_ready_o = arrival_q == Drops || (arrival_q == Delivers && d_moves);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      arrival_q <= Waits;
      d_valid_o <= 1'b0;
    end else begin
      if (rx_taken) arrival_q <= Asked;
      if (judged_rx) arrival_q <= deliver ? Delivers : Drops;
      if (passes && rx_last_i) arrival_q <= Waits;
      if (d_moves) d_valid_o <= passes && arrival_q == Delivers;
    end
  end
  always_ff @(posedge clk_i) begin
    if (d_moves) begin
      d_peer_o <= rx_peer_i;
      d_desc_o <= rx_desc_i;
      d_data_o <= rx_data_i;
      d_last_o <= rx_last_i;
    end
  end

  logic unused;
  assign unused = ^{push_taken, slot, release_slot};

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni && sends) OutIsFree_A : assert (out_free);
    if (rst_ni && out_busy_q && out_from_q == Arriving)
      ArrivingIsWritten_A : assert (writes_q && direct_q);
  end
  rl_stays #(
    .Width(PeerW + $bits(segment_t) + DataW + 1)
  ) u_tx_stays (
    .clk_i,
    .rst_ni,
    .valid_i(tx_valid_o),
    .ready_i(tx_ready_i),
    .data_i({tx_peer_o, tx_segment_o, tx_data_o, tx_last_o})
  );
  rl_stays #(
    .Width(PeerW + DescW + DataW + 1)
  ) u_d_stays (
    .clk_i,
    .rst_ni,
    .valid_i(d_valid_o),
    .ready_i(d_ready_i),
    .data_i({d_peer_o, d_desc_o, d_data_o, d_last_o})
  );
`endif
endmodule
