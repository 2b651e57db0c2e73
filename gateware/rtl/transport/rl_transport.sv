// The transport: payloads to and from many peers over a network that loses, repeats and reorders frames, each delivered
// once and in the order of its source. The twin of `Connection` of crates/core/transport, in go-back-N mode; what is
// said here of numbers, epochs, credit and acknowledgements is explained there.
//
//   source ==> [ rl_transport_source ] ====> rl_transport_buffer =====> [ rl_transport_out ] ==> link (tx)
//                 |  \___________ first transmission, at once ______________/  ^
//                 | push, commit       ^ runs of slots to free                 | segments
//                 v                    |                                       |
//   owner ----> rl_transport_state: peer_t of each peer in RAM, one event at a time
//   (reset,       ^ rl_transport_lives, _rx, _tx: what an event changes, as logic without state
//    consume)     | arrivals            ^ scans: rl_transport_timer
//   link (rx) ==> [ rl_transport_arrivals ] ==> sink
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
//   - Latency: a frame whose peer has nothing else waiting leaves while it is being stored, seven cycles after its
//     first word was offered. Words that come slowly then leave slowly: a source that begins a frame has all of it.
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
  parameter bit          Heads = 1'b0,     // Heads of frames come apart, and early: no cycle is lost between frames.
  localparam int unsigned PeerW = $clog2(Peers)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  transport_config_t config_i,   // Steady.
  input  logic              asks_seldom_i,  // As rl_transport_state says. Steady.
  input  logic              tick_i,     // Time goes on by a tick. For one cycle.

  // -- the source's frames. What is offered stays, but a head for which there is no room may be withdrawn for another.
  input  logic              s_head_valid_i,  // With Heads: a frame begins. Its words may come at once or later,
  output logic              s_head_ready_o,  // and go on when it was taken; up to three are taken ahead.
  input  logic [PeerW-1:0]  s_head_peer_i,
  input  logic [DescW-1:0]  s_head_desc_i,
  output logic              s_room_o,        // There is room for the frame whose head was offered a cycle before.
  input  logic              s_valid_i,       // Its words.
  output logic              s_ready_o,
  input  logic [PeerW-1:0]  s_peer_i,        // Without Heads: steady during a frame, as is the descriptor.
  input  logic [DescW-1:0]  s_desc_i,
  input  logic [DataW-1:0]  s_data_i,
  input  logic              s_last_i,

  // -- segments to the link
  output logic              tx_valid_o,
  input  logic              tx_ready_i,
  output logic [PeerW-1:0]  tx_peer_o,
  output segment_t          tx_segment_o,
  output logic [DescW-1:0]  tx_desc_o,  // Of KindData.
  output logic [DataW-1:0]  tx_data_o,
  output logic              tx_last_o,

  // -- segments from the link: whole and sound ones.
  input  logic              rx_head_valid_i,  // With Heads: as of the source's.
  output logic              rx_head_ready_o,
  input  logic [PeerW-1:0]  rx_head_peer_i,
  input  segment_t          rx_head_segment_i,
  input  logic [DescW-1:0]  rx_head_desc_i,
  input  logic              rx_valid_i,
  output logic              rx_ready_o,
  input  logic [PeerW-1:0]  rx_peer_i,        // Without Heads: steady during one, as are segment and descriptor.
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
  output logic [PeerW-1:0]  event_peer_o,     // to the connection with this peer.
  output logic              busy_o            // Something is on its way, or will be by itself.
);
  typedef logic [PeerW-1:0] index_t;
  typedef logic [$clog2(Slots)-1:0] place_t;

  // -- heads: beside the words of their frames, or apart
  logic s_head_valid, s_head_ready, rx_head_valid, rx_head_ready, room;
  index_t s_head_peer, rx_head_peer;
  logic [DescW-1:0] s_head_desc, rx_head_desc;
  segment_t rx_head_segment;
  if (Heads) begin : gen_heads
    assign {s_head_valid, s_head_peer, s_head_desc} = {s_head_valid_i, s_head_peer_i, s_head_desc_i};
    assign s_head_ready_o = s_head_ready;
    assign s_room_o = room;
    assign {rx_head_valid, rx_head_peer, rx_head_desc} = {rx_head_valid_i, rx_head_peer_i, rx_head_desc_i};
    assign rx_head_segment = rx_head_segment_i;
    assign rx_head_ready_o = rx_head_ready;
    logic unused;
    assign unused = ^{s_peer_i, s_desc_i, rx_peer_i, rx_segment_i, rx_desc_i};
  end else begin : gen_beside
    logic s_inside_q, rx_inside_q;  // The head of the frame that is offered was taken.
    assign {s_head_valid, s_head_peer, s_head_desc} = {s_valid_i && !s_inside_q, s_peer_i, s_desc_i};
    assign {rx_head_valid, rx_head_peer, rx_head_desc} = {rx_valid_i && !rx_inside_q, rx_peer_i, rx_desc_i};
    assign rx_head_segment = rx_segment_i;
    assign {s_head_ready_o, rx_head_ready_o} = '0;
    assign s_room_o = room || s_inside_q;
    always_ff @(posedge clk_i) begin
      s_inside_q <= rst_ni && (s_inside_q ? !(s_valid_i && s_ready_o && s_last_i) : s_head_valid && s_head_ready);
      rx_inside_q <= rst_ni && (rx_inside_q ? !(rx_valid_i && rx_ready_o && rx_last_i) :
          rx_head_valid && rx_head_ready);
    end
    logic unused;
    assign unused = ^{s_head_valid_i, s_head_peer_i, s_head_desc_i, rx_head_valid_i, rx_head_peer_i, rx_head_segment_i,
                      rx_head_desc_i};
  end

  // -- in: a frame is taken, and stored word by word
  logic push_valid, push_taken, push_alone, judged_push, commit_valid, judged_commit, sends;
  logic
      head_take,
      put_enters,
      put_ready,
      put_may_end,
      put,
      put_held,
      out_alone,
      coming_moves,
      coming_valid;
  index_t push_peer, commit_peer, put_peer, put_now_peer;
  place_t put_slot, put_now_slot;
  logic [DescW-1:0] coming_desc;
  slot_t slot;
  rl_transport_source #(
    .Peers(Peers),
    .DescW(DescW),
    .Slots(Slots)
  ) u_source (
    .clk_i,
    .rst_ni,
    .head_valid_i(s_head_valid),
    .head_ready_o(s_head_ready),
    .head_peer_i(s_head_peer),
    .head_desc_i(s_head_desc),
    .valid_i(s_valid_i),
    .ready_o(s_ready_o),
    .last_i(s_last_i),
    .push_valid_o(push_valid),
    .push_taken_i(push_taken),
    .push_peer_o(push_peer),
    .push_alone_o(push_alone),
    .judged_push_i(judged_push),
    .sends_i(sends),
    .slot_i(place_t'(slot)),
    .commit_valid_o(commit_valid),
    .commit_peer_o(commit_peer),
    .judged_commit_i(judged_commit),
    .room_i(room),
    .take_o(head_take),
    .put_enters_o(put_enters),
    .put_peer_o(put_peer),
    .put_slot_o(put_slot),
    .put_ready_i(put_ready),
    .put_may_end_i(put_may_end),
    .put_o(put),
    .put_held_o(put_held),
    .put_now_peer_o(put_now_peer),
    .put_now_slot_o(put_now_slot),
    .out_alone_i(out_alone),
    .out_moves_i(coming_moves),
    .out_valid_o(coming_valid),
    .desc_o(coming_desc)
  );

  // -- the state
  tick_t now;
  logic starts, scan_valid, scan_taken, rx_asks, rx_again, judged_rx, done_rx, deliver, again;
  logic release_runs, release_free, out_free, get_free, unused_commit, unused_rx;
  index_t start_peer, scan_peer, send_peer, release_peer, happened_to, rx_asks_peer;
  segment_t segment, rx_asks_segment;
  slot_t release_slot;
  count_t release_count;
  transport_event_t happened;
  logic state_busy;
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
    .asks_seldom_i,
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
    .rx_ready_o(unused_rx),
    .rx_peer_i(rx_asks_peer),
    .rx_segment_i(rx_asks_segment),
    .rx_again_i(rx_again),
    .push_valid_i(push_valid),
    .push_ready_o(push_taken),
    .push_peer_i(push_peer),
    .push_alone_i(push_alone),
    .commit_valid_i(commit_valid),
    .commit_ready_o(unused_commit),
    .commit_peer_i(commit_peer),
    .out_free_i(out_free),
    .get_free_i(get_free),
    .release_free_i(release_free),
    .judged_push_o(judged_push),
    .judged_commit_o(judged_commit),
    .sends_o(sends),
    .segment_o(segment),
    .slot_o(slot),
    .send_peer_o(send_peer),
    .judged_rx_o(judged_rx),
    .deliver_o(deliver),
    .again_o(again),
    .done_rx_o(done_rx),
    .release_o(release_runs),
    .release_peer_o(release_peer),
    .release_slot_o(release_slot),
    .release_count_o(release_count),
    .event_o(happened),
    .event_peer_o(happened_to),
    .busy_o(state_busy)
  );

  // -- out
  logic get_valid, get_take, get_last;
  logic [DataW-1:0] get_data;
  logic [DescW-1:0] get_desc;
  rl_transport_out #(
    .Peers(Peers),
    .DataW(DataW),
    .DescW(DescW)
  ) u_out (
    .clk_i,
    .rst_ni,
    .sends_i(sends),
    .is_coming_i(judged_push),
    .peer_i(send_peer),
    .segment_i(segment),
    .free_o(out_free),
    .alone_o(out_alone),
    .coming_moves_o(coming_moves),
    .coming_valid_i(coming_valid),
    .coming_data_i(s_data_i),
    .coming_desc_i(coming_desc),
    .coming_last_i(s_last_i),
    .stored_valid_i(get_valid),
    .stored_take_o(get_take),
    .stored_data_i(get_data),
    .stored_desc_i(get_desc),
    .stored_last_i(get_last),
    .tx_valid_o,
    .tx_ready_i,
    .tx_peer_o,
    .tx_segment_o,
    .tx_desc_o,
    .tx_data_o,
    .tx_last_o
  );

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
    .head_peer_i(s_head_peer),
    .head_room_o(room),
    .head_take_i(head_take),
    .put_enters_i(put_enters),
    .put_peer_i(put_peer),
    .put_slot_i(put_slot),
    .put_may_end_o(put_may_end),
    .put_ready_o(put_ready),
    .put_i(put),
    .put_held_i(put_held),
    .put_now_peer_i(put_now_peer),
    .put_now_slot_i(put_now_slot),
    .put_desc_i(coming_desc),
    .put_data_i(s_data_i),
    .put_last_i(s_last_i),
    .commit_i(judged_commit),
    .commit_peer_i(commit_peer),
    .commit_slot_i(place_t'(slot)),
    .get_free_o(get_free),
    .get_enters_i(sends && !judged_push && segment.kind == KindData),
    .get_peer_i(send_peer),
    .get_slot_i(place_t'(slot)),
    .get_valid_o(get_valid),
    .get_take_i(get_take),
    .get_data_o(get_data),
    .get_desc_o(get_desc),
    .get_last_o(get_last),
    .release_i(release_runs),
    .release_peer_i(release_peer),
    .release_slot_i(place_t'(release_slot)),
    .release_count_i(release_count),
    .release_free_o(release_free)
  );

  // -- arrivals
  rl_transport_arrivals #(
    .Peers(Peers),
    .DataW(DataW),
    .DescW(DescW)
  ) u_arrivals (
    .clk_i,
    .rst_ni,
    .head_valid_i(rx_head_valid),
    .head_ready_o(rx_head_ready),
    .head_peer_i(rx_head_peer),
    .head_segment_i(rx_head_segment),
    .head_desc_i(rx_head_desc),
    .valid_i(rx_valid_i),
    .ready_o(rx_ready_o),
    .data_i(rx_data_i),
    .last_i(rx_last_i),
    .ask_valid_o(rx_asks),
    .ask_peer_o(rx_asks_peer),
    .ask_segment_o(rx_asks_segment),
    .ask_again_o(rx_again),
    .judged_i(judged_rx),
    .deliver_i(deliver),
    .again_i(again),
    .done_i(done_rx),
    .event_i(happened),
    .event_peer_i(happened_to),
    .event_o,
    .event_peer_o,
    .d_valid_o,
    .d_ready_i,
    .d_peer_o,
    .d_desc_o,
    .d_data_o,
    .d_last_o
  );

  assign busy_o = state_busy || s_head_valid || s_valid_i || rx_head_valid || rx_valid_i || tx_valid_o || d_valid_o;

  logic unused;
  assign unused = ^{unused_commit, unused_rx, slot, release_slot};
endmodule
