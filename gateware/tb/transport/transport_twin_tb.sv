// One transport, to which a bench gives one event at a time, and which keeps what came of it.
module transport_twin_tb
  import rl_transport_pkg::*;
#(
  parameter int unsigned Peers = 2,
  parameter int unsigned Slots = 8,
  parameter int unsigned Kept = 32,  // Segments of one event, at most.
  localparam int unsigned PeerW = $clog2(Peers),
  localparam int unsigned DataW = 64,
  localparam int unsigned DescW = 16,
  localparam int unsigned SentW = 1 + $bits(segment_t) + DataW
) (
  input  logic                         clk_i,
  input  logic                         rst_ni,
  // -- how it is set
  input  logic [31:0]                  epoch_i,
  input  logic [31:0]                  first_i,
  input  logic [8:0]                   window_i,
  input  logic [31:0]                  credit_i,
  input  logic [8:0]                   ack_every_i,
  input  logic [15:0]                  ack_delay_i,
  input  logic [15:0]                  rto_i,
  input  logic                         asks_seldom_i,
  // -- an event happens when its bit changes, for this peer
  input  logic                         push_i,
  input  logic                         rx_i,
  input  logic                         consume_i,
  input  logic                         reset_i,
  input  logic                         tick_i,
  input  logic [PeerW-1:0]             peer_i,
  input  logic [DataW-1:0]             payload_i,      // Of a push or a segment.
  input  logic [$bits(segment_t)-1:0]  segment_i,
  input  logic [8:0]                   count_i,
  input  logic [31:0]                  reset_epoch_i,
  output logic                         room_o,
  // -- what came of it since this bit changed
  input  logic                         clear_i,
  output logic                         busy_o,
  output logic [7:0]                   sent_count_o,
  output logic [Kept-1:0][SentW-1:0]   sent_o,
  output logic [7:0]                   given_count_o,
  output logic [Kept-1:0][DataW-1:0]   given_o,
  output logic [7:0]                   broken_o,
  output logic [7:0]                   restarted_o,
  output logic [8:0]                   lost_o,
  output logic                         foreign_o       // It was about another peer.
);
  logic push_q, rx_q, consume_q, reset_q, tick_q, clear_q;
  logic s_valid_q, rx_valid_q, consume_valid_q, reset_valid_q;
  logic s_ready, rx_ready, consume_ready, reset_ready, tx_valid, tx_last, d_valid, d_last;
  logic [PeerW-1:0] tx_peer, d_peer, event_peer;
  logic [DescW-1:0] tx_desc, d_desc;
  logic [DataW-1:0] tx_data, d_data;
  segment_t sent;
  transport_event_t happened;
  transport_config_t cfg;
  assign cfg = '{
          epoch: epoch_i,
          first: first_i,
          window: window_i,
          credit: credit_i,
          consumes: 1'b0,
          ack_every: ack_every_i,
          ack_delay: ack_delay_i,
          rto: rto_i
      };
  rl_transport #(
    .Peers(Peers),
    .DataW(DataW),
    .DescW(DescW),
    .Slots(Slots),
    .Words(64),
    .BlockWords(2),
    .FrameWords(1),
    .Gap(8)
  ) u_transport (
    .clk_i,
    .rst_ni,
    .config_i(cfg),
    .asks_seldom_i,
    .tick_i(tick_i != tick_q),
    .s_valid_i(s_valid_q),
    .s_ready_o(s_ready),
    .s_peer_i(peer_i),
    .s_desc_i(payload_i[DescW-1:0]),
    .s_data_i(payload_i),
    .s_last_i(1'b1),
    .s_room_o(room_o),
    .tx_valid_o(tx_valid),
    .tx_ready_i(1'b1),
    .tx_peer_o(tx_peer),
    .tx_segment_o(sent),
    .tx_desc_o(tx_desc),
    .tx_data_o(tx_data),
    .tx_last_o(tx_last),
    .rx_valid_i(rx_valid_q),
    .rx_ready_o(rx_ready),
    .rx_peer_i(peer_i),
    .rx_segment_i(segment_t'(segment_i)),
    .rx_desc_i(payload_i[DescW-1:0]),
    .rx_data_i(payload_i),
    .rx_last_i(1'b1),
    .d_valid_o(d_valid),
    .d_ready_i(1'b1),
    .d_peer_o(d_peer),
    .d_desc_o(d_desc),
    .d_data_o(d_data),
    .d_last_o(d_last),
    .consume_valid_i(consume_valid_q),
    .consume_ready_o(consume_ready),
    .consume_peer_i(peer_i),
    .consume_count_i(count_i),
    .reset_valid_i(reset_valid_q),
    .reset_ready_o(reset_ready),
    .reset_peer_i(peer_i),
    .reset_epoch_i,
    .event_o(happened),
    .event_peer_o(event_peer)
  );
  assign busy_o = s_valid_q || rx_valid_q || consume_valid_q || reset_valid_q;

  always_ff @(posedge clk_i) begin
    {push_q, rx_q, consume_q, reset_q, tick_q, clear_q} <= {
      push_i, rx_i, consume_i, reset_i, tick_i, clear_i
    };
    if (!rst_ni) begin
      {s_valid_q, rx_valid_q, consume_valid_q, reset_valid_q} <= '0;
    end else begin
      s_valid_q <= push_i != push_q || (s_valid_q && !s_ready);
      rx_valid_q <= rx_i != rx_q || (rx_valid_q && !rx_ready);
      consume_valid_q <= consume_i != consume_q || (consume_valid_q && !consume_ready);
      reset_valid_q <= reset_i != reset_q || (reset_valid_q && !reset_ready);
    end
    if (!rst_ni || clear_i != clear_q) begin
      sent_count_o <= '0;
      given_count_o <= '0;
      broken_o <= '0;
      restarted_o <= '0;
      lost_o <= '0;
      foreign_o <= 1'b0;
    end else begin
      if (tx_valid) begin
        sent_o[sent_count_o] <= {1'(tx_peer), sent, tx_data};
        sent_count_o <= sent_count_o + 1'b1;
        // Its descriptor went with it.
        if (!tx_last || (sent.kind == KindData && tx_desc != tx_data[DescW-1:0])) foreign_o <= 1'b1;
      end
      if (d_valid) begin
        given_o[given_count_o] <= d_data;
        given_count_o <= given_count_o + 1'b1;
        if (d_peer != peer_i || !d_last || d_desc != d_data[DescW-1:0]) foreign_o <= 1'b1;
      end
      broken_o <= broken_o + 8'(happened.broken);
      restarted_o <= restarted_o + 8'(happened.restarted);
      if (happened.restarted) lost_o <= lost_o + happened.lost;
      if (happened.restarted && event_peer != peer_i) foreign_o <= 1'b1;
    end
  end
endmodule
