// One end of a direct link: messages to and from the card at the other end of a cable, each once and in order, whatever
// the cable does to frames; and whether that card is there.
//
//   words, data ==> rl_transport ==> rl_link_wire ==> cable
//   messages    <==      |       <==      ""      <==
//                  rl_link_life: lives, beats, death
//
// It knows frames, numbers and lives, and nothing of what messages mean. What has come must be taken: the neighbour may
// have as much in flight as credit allows, and it is acknowledged when it has been given on.
module rl_link
  import rl_link_pkg::*;
  import rl_link_wire_pkg::*;
  import rl_transport_pkg::*;
#(
  parameter int unsigned DataW = 64,        // 64, 128, 256 or 512.
  parameter int unsigned Longest = 1408,    // Most payload bytes of a frame, a multiple of 64.
  parameter int unsigned Words = 4096,      // Of the retransmission memory: half of it may be in flight.
  parameter int unsigned BlockWords = 8,
  parameter int unsigned RxWords = 512,     // As rl_link_rx says.
  localparam int unsigned KeepW = DataW / 8
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  mac_addr_t                   mac_i,               // This port's. Steady, as are
  input  mac_addr_t                   card_mac_i,          // the card's, and the port's number, which a beat tells;
  input  logic [7:0]                  port_i,
  input  epoch_t                      epoch_i,             // the first life, not 0;
  input  tick_t                       rto_i,               // and times in ticks: as rl_transport says,
  input  tick_t                       patience_i,          // and as rl_link_life does.
  input  logic                        tick_i,

  // -- to send: words, which have no bytes, before data; and data, a head and then its words
  input  logic                        word_valid_i,
  output logic                        word_ready_o,
  input  message_t                    word_i,
  input  logic                        head_valid_i,
  output logic                        head_ready_o,
  input  message_t                    head_i,
  input  logic                        data_valid_i,
  output logic                        data_ready_o,
  input  logic [DataW-1:0]            data_i,
  input  logic                        data_last_i,

  // -- what has come: a message's words, with all of it beside each
  output logic                        come_valid_o,
  input  logic                        come_ready_i,
  output message_t                    come_o,
  output logic [DataW-1:0]            come_data_o,
  output logic                        come_last_o,

  // -- the neighbour
  input  logic                        awaited_i,           // As rl_link_life says.
  output logic                        up_o,
  output logic                        neighbour_valid_o,
  output mac_addr_t                   neighbour_mac_o,
  output logic [7:0]                  neighbour_port_o,
  output logic                        dead_o,
  output logic                        restarted_o,

  // -- the cable: frames to it, and from it, which never waits
  output logic                        out_valid_o,
  input  logic                        out_ready_i,
  output logic [DataW-1:0]            out_data_o,
  output logic [KeepW-1:0]            out_keep_o,
  output logic                        out_last_o,
  input  logic                        in_valid_i,
  input  logic [DataW-1:0]            in_data_i,
  input  logic [KeepW-1:0]            in_keep_i,
  input  logic                        in_last_i,
  input  logic                        in_bad_i,

  // -- counts, and what happens to the connection
  input  logic [$clog2(Verdicts)-1:0] count_of_i,
  output logic [31:0]                 count_o,
  output transport_event_t            event_o
);
  if (Longest % 64 != 0 || Longest > 32'(MessageJumbo)) begin : gen_check
    $fatal(0, "rl_link: Longest must be a multiple of 64, and no more than a jumbo frame's (%m)");
  end

  // -- whose head is next: a beat, a word, data; what is offered stays
  typedef enum logic [1:0] {
    Beat,
    Word,
    Data
  } source_e;
  source_e pick, pick_q, now;
  logic offers, offers_q, taken, order_ready, order_valid, beat_valid, head_ready;
  logic [1:0] now_bits;
  logic [3:0] unused_count;
  message_t beat, head;
  always_comb begin
    beat = '0;
    beat.kind = 4'(KindLinkBeat);
    beat.length = 16'(NeighbourBytes);
    beat.total = '0;
    pick = pick_q;
    if (!offers_q) pick = beat_valid ? Beat : word_valid_i ? Word : Data;
    case (pick)
      Beat: {offers, head} = {1'b1, beat};
      Word: {offers, head} = {1'b1, word_i};
      default: {offers, head} = {head_valid_i, head_i};
    endcase
  end
  assign taken = offers && head_ready;
  assign word_ready_o = taken && pick == Word;
  assign head_ready_o = taken && pick == Data;
  always_ff @(posedge clk_i) begin
    offers_q <= rst_ni && offers && !taken;
    pick_q <= pick;
  end

  // -- and in the order of heads their words
  logic s_valid, s_ready, s_last;
  logic [DataW-1:0] s_data;
  rl_fifo #(
    .Width(2),
    .Depth(8)
  ) u_order (
    .clk_i,
    .rst_ni,
    .wvalid_i(taken),
    .wready_o(order_ready),
    .wdata_i(pick),
    .rvalid_o(order_valid),
    .rready_i(s_valid && s_ready && s_last),
    .rdata_o(now_bits),
    .count_o(unused_count)
  );
  assign now = source_e'(now_bits);
  assign s_valid = order_valid && (now != Data || data_valid_i);
  assign s_last = now != Data || data_last_i;
  assign data_ready_o = order_valid && now == Data && s_ready;
  logic [63:0] here;  // A neighbour_t, its first byte lowest.
  assign here = {8'd0, port_i, turned(card_mac_i)};
  assign s_data = now == Data ? data_i : DataW'(here);

  // -- the transport
  transport_config_t cfg;
  assign cfg = '{
          epoch: epoch_i,
          first: 32'd1,
          window: count_t'(Credit),
          credit: 32'(Credit),
          consumes: 1'b1,
          ack_every: 9'd4,
          ack_delay: rto_i >> 2,
          rto: rto_i
      };
  logic tx_valid, tx_ready, tx_last, rx_head_valid, rx_head_ready, rx_valid, rx_ready, rx_last;
  logic reset_valid, reset_ready, busy, d_valid, d_ready, unused_room, unused_peers, unused_consume;
  logic tx_peer, d_peer, event_peer;
  segment_t tx_segment, rx_segment;
  message_t tx_message, rx_message;
  logic [DataW-1:0] tx_data, rx_data;
  epoch_t mine_q, reset_epoch;
  rl_transport #(
    .Peers(2),
    .DataW(DataW),
    .DescW(MessageW),
    .Slots(32'(Credit)),
    .Words(Words),
    .BlockWords(BlockWords),
    .FrameWords(Longest / KeepW),
    .Heads(1'b1)
  ) u_transport (
    .clk_i,
    .rst_ni,
    .config_i(cfg),
    .asks_seldom_i(1'b1),
    .tick_i,
    .s_head_valid_i(offers),
    .s_head_ready_o(head_ready),
    .s_head_peer_i(1'b0),
    .s_head_desc_i(head),
    .s_room_o(unused_room),
    .s_valid_i(s_valid),
    .s_ready_o(s_ready),
    .s_peer_i('0),
    .s_desc_i('0),
    .s_data_i(s_data),
    .s_last_i(s_last),
    .tx_valid_o(tx_valid),
    .tx_ready_i(tx_ready),
    .tx_peer_o(tx_peer),
    .tx_segment_o(tx_segment),
    .tx_desc_o(tx_message),
    .tx_data_o(tx_data),
    .tx_last_o(tx_last),
    .rx_head_valid_i(rx_head_valid),
    .rx_head_ready_o(rx_head_ready),
    .rx_head_peer_i(1'b0),
    .rx_head_segment_i(rx_segment),
    .rx_head_desc_i(rx_message),
    .rx_valid_i(rx_valid),
    .rx_ready_o(rx_ready),
    .rx_peer_i('0),
    .rx_segment_i('0),
    .rx_desc_i('0),
    .rx_data_i(rx_data),
    .rx_last_i(rx_last),
    .d_valid_o(d_valid),
    .d_ready_i(d_ready),
    .d_peer_o(d_peer),
    .d_desc_o(come_o),
    .d_data_o(come_data_o),
    .d_last_o(come_last_o),
    .consume_valid_i(1'b0),
    .consume_ready_o(unused_consume),
    .consume_peer_i(1'b0),
    .consume_count_i('0),
    .reset_valid_i(reset_valid),
    .reset_ready_o(reset_ready),
    .reset_peer_i(1'b0),
    .reset_epoch_i(reset_epoch),
    .event_o,
    .event_peer_o(event_peer),
    .busy_o(busy)
  );
  assign unused_peers = ^{tx_peer, d_peer, event_peer};
  // Our life may have moved without us: the neighbour knew of a later one.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) mine_q <= epoch_i;
    else if (tx_valid) mine_q <= tx_segment.src;
  end

  // -- beats end here
  logic is_beat, beat_come;
  mac_addr_t beat_mac;
  assign is_beat = come_o.kind == 4'(KindLinkBeat);
  assign come_valid_o = d_valid && !is_beat;
  assign d_ready = is_beat || come_ready_i;
  assign beat_come = d_valid && is_beat && come_o.length == 16'(NeighbourBytes);
  assign beat_mac = turned(come_data_o[47:0]);
  rl_link_life u_life (
    .clk_i,
    .rst_ni,
    .patience_i,
    .tick_i,
    .awaited_i,
    .idle_i(!busy && !word_valid_i && !order_valid),
    .event_i(event_o),
    .mine_i(mine_q),
    .reset_valid_o(reset_valid),
    .reset_ready_i(reset_ready),
    .reset_epoch_o(reset_epoch),
    .beat_valid_o(beat_valid),
    .beat_ready_i(taken && pick == Beat),
    .beat_come_i(beat_come),
    .beat_mac_i(beat_mac),
    .beat_port_i(come_data_o[55:48]),
    .up_o,
    .neighbour_valid_o,
    .neighbour_mac_o,
    .neighbour_port_o,
    .dead_o,
    .restarted_o
  );

  logic unused_judged;
  verdict_e unused_verdict;
  rl_link_wire #(
    .DataW(DataW),
    .LengthMax(Longest),
    .Words(RxWords)
  ) u_wire (
    .clk_i,
    .rst_ni,
    .mac_i,
    .tx_valid_i(tx_valid),
    .tx_ready_o(tx_ready),
    .tx_segment_i(tx_segment),
    .tx_message_i(tx_message),
    .tx_data_i(tx_data),
    .tx_last_i(tx_last),
    .rx_head_valid_o(rx_head_valid),
    .rx_head_ready_i(rx_head_ready),
    .rx_head_segment_o(rx_segment),
    .rx_head_message_o(rx_message),
    .rx_valid_o(rx_valid),
    .rx_ready_i(rx_ready),
    .rx_data_o(rx_data),
    .rx_last_o(rx_last),
    .out_valid_o,
    .out_ready_i,
    .out_data_o,
    .out_keep_o,
    .out_last_o,
    .in_valid_i,
    .in_data_i,
    .in_keep_i,
    .in_last_i,
    .in_bad_i,
    .judged_o(unused_judged),
    .verdict_o(unused_verdict),
    .count_of_i,
    .count_o
  );

  logic unused;
  assign unused = ^{unused_room, unused_peers, unused_consume, unused_judged, unused_verdict};
`ifndef SYNTHESIS
  // The transport takes no more heads ahead than this has room for.
  always_ff @(posedge clk_i) if (rst_ni && taken) OrderHasRoom_A : assert (order_ready);
`endif
endmodule
