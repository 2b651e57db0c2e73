// Two transports with a network between them that loses, repeats and reorders, and a user at each, all in here so
// that a bench sets the rates and then runs as fast as the simulator.
module rl_transport_tb
  import rl_transport_pkg::*;
#(
  parameter int unsigned Peers = 4,
  parameter int unsigned DataW = 64,
  parameter int unsigned Slots = 8,
  parameter int unsigned Words = 64,
  parameter int unsigned BlockWords = 2,
  parameter int unsigned FrameWords = 8,
  parameter int unsigned Gap = 8,
  parameter bit          Heads = 1'b0,   // Heads come apart, as rl_transport says.
  parameter bit          Direct = 1'b0,  // Without a network between them.
  localparam int unsigned PeerW = $clog2(Peers),
  localparam int unsigned DescW = 32
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,         // Of all.
  input  logic [1:0]                  live_i,         // An end is not in reset.
  input  logic [31:0]                 seed_i,
  input  logic [15:0]                 tick_cycles_i,
  // -- how the ends are set
  input  logic [1:0][31:0]            epoch_i,
  input  logic [31:0]                 first_i,
  input  logic [8:0]                  window_i,
  input  logic [31:0]                 credit_i,
  input  logic                        consumes_i,
  input  logic [8:0]                  ack_every_i,
  input  logic [15:0]                 ack_delay_i,
  input  logic [15:0]                 rto_i,
  input  logic                        asks_seldom_i,
  // -- what users and network do, in parts of 256
  input  logic [1:0]                  feeds_i,        // Which ends.
  input  logic [7:0]                  idle_i,
  input  logic [7:0]                  pause_i,
  input  logic [7:0]                  keep_i,
  input  logic [7:0]                  long_i,
  input  logic                        full_i,
  input  logic                        quick_i,
  input  logic [PeerW-1:0]            peers_i,
  input  logic [7:0]                  loss_i,
  input  logic [7:0]                  repeat_i,
  input  logic [7:0]                  stop_i,
  input  logic [15:0]                 delay_i,
  input  logic [Peers-1:0]            mute_i,
  // -- a connection begins anew when this changes
  input  logic [1:0]                  reset_i,
  input  logic [PeerW-1:0]            reset_peer_i,
  input  logic [1:0][31:0]            reset_epoch_i,
  // -- what came of it
  output logic [1:0][Peers-1:0][31:0] pushed_o,
  output logic [1:0][Peers-1:0][31:0] lost_o,
  output logic [1:0][Peers-1:0][31:0] expected_o,
  output logic [1:0][Peers-1:0][31:0] skipped_o,
  output logic [1:0][31:0]            delivered_o,
  output logic [1:0]                  wrong_o,
  output logic [1:0][31:0]            dropped_o,      // Frames that the network has lost.
  output logic [5:0][31:0]            events_o,       // Of both: broken, repeated, missed, resent, expired, restarted.
  // Of frames that come after a pause: cycles from the first word to the link, of end 0, and from there to the sink of
  // end 1. Least and most.
  input  logic                        times_i,
  output logic [1:0][7:0]             out_cycles_o,
  output logic [1:0][7:0]             in_cycles_o
);
  logic [15:0] tick_q;
  logic tick;
  assign tick = tick_q == 0;
  always_ff @(posedge clk_i) tick_q <= !rst_ni || tick ? tick_cycles_i - 1'b1 : tick_q - 1'b1;

  logic [1:0]
      tx_valid, tx_ready, tx_last, rx_head_valid, rx_head_ready, rx_valid, rx_ready, rx_last;
  logic [1:0][PeerW-1:0] tx_peer, rx_head_peer, rx_peer;
  logic [1:0][$bits(segment_t)-1:0] rx_head_segment, rx_segment;
  logic [1:0][DescW-1:0] tx_desc, rx_head_desc, rx_desc;
  logic [1:0][DataW-1:0] tx_data, rx_data;
  logic [1:0] offers, gets, wrong, leaked;
  assign wrong_o = wrong | leaked;
  transport_event_t [1:0] event_of;
  for (genvar e = 0; e < 2; e++) begin : gen_end
    transport_config_t cfg;
    assign cfg = '{
            epoch: epoch_i[e],
            first: first_i,
            window: window_i,
            credit: credit_i,
            consumes: consumes_i,
            ack_every: ack_every_i,
            ack_delay: ack_delay_i,
            rto: rto_i
        };
    logic
        s_head_valid,
        s_head_ready,
        s_valid,
        s_ready,
        s_last,
        s_room,
        d_valid,
        d_ready,
        d_last,
        consume_valid,
        consume_ready;
    logic [PeerW-1:0] s_head_peer, s_peer, d_peer, consume_peer, event_peer;
    logic [DescW-1:0] s_head_desc, s_desc, d_desc;
    logic [DataW-1:0] s_data, d_data;
    count_t consume_count;
    logic reset_q, reset_valid_q, reset_ready;
    always_ff @(posedge clk_i) begin
      reset_q <= reset_i[e];
      if (!rst_ni || !live_i[e]) reset_valid_q <= 1'b0;
      else if (reset_i[e] != reset_q) reset_valid_q <= 1'b1;
      else if (reset_ready) reset_valid_q <= 1'b0;
    end
    transport_user #(
      .DataW(DataW),
      .DescW(DescW),
      .PeerW(PeerW),
      .FrameWords(FrameWords),
      .Heads(Heads),
      .FromHere(e)
    ) u_user (
      .clk_i,
      .rst_ni,
      .live_i(live_i[e]),
      .seed_i(seed_i + 32'd77 * e),
      .feeds_i(feeds_i[e]),
      .idle_i,
      .pause_i,
      .keep_i,
      .long_i,
      .full_i,
      .quick_i,
      .peers_i,
      .s_head_valid_o(s_head_valid),
      .s_head_ready_i(s_head_ready),
      .s_head_peer_o(s_head_peer),
      .s_head_desc_o(s_head_desc),
      .consumes_i(!consumes_i),
      .s_valid_o(s_valid),
      .s_ready_i(s_ready),
      .s_peer_o(s_peer),
      .s_desc_o(s_desc),
      .s_data_o(s_data),
      .s_last_o(s_last),
      .s_room_i(s_room),
      .d_valid_i(d_valid),
      .d_ready_o(d_ready),
      .d_peer_i(d_peer),
      .d_desc_i(d_desc),
      .d_data_i(d_data),
      .d_last_i(d_last),
      .consume_valid_o(consume_valid),
      .consume_ready_i(consume_ready),
      .consume_peer_o(consume_peer),
      .consume_count_o(consume_count),
      .event_i(event_of[e]),
      .event_peer_i(event_peer),
      .pushed_o(pushed_o[e]),
      .lost_o(lost_o[e]),
      .expected_o(expected_o[e]),
      .skipped_o(skipped_o[e]),
      .delivered_o(delivered_o[e]),
      .wrong_o(wrong[e])
    );
    segment_t sent;
    rl_transport #(
      .Peers(Peers),
      .DataW(DataW),
      .DescW(DescW),
      .Slots(Slots),
      .Words(Words),
      .BlockWords(BlockWords),
      .FrameWords(FrameWords),
      .Heads(Heads),
      .Gap(Gap)
    ) u_transport (
      .clk_i,
      .rst_ni(rst_ni && live_i[e]),
      .config_i(cfg),
      .asks_seldom_i,
      .tick_i(tick),
      .s_head_valid_i(s_head_valid),
      .s_head_ready_o(s_head_ready),
      .s_head_peer_i(s_head_peer),
      .s_head_desc_i(s_head_desc),
      .s_valid_i(s_valid),
      .s_ready_o(s_ready),
      .s_peer_i(s_peer),
      .s_desc_i(s_desc),
      .s_data_i(s_data),
      .s_last_i(s_last),
      .s_room_o(s_room),
      .tx_valid_o(tx_valid[e]),
      .tx_ready_i(tx_ready[e]),
      .tx_peer_o(tx_peer[e]),
      .tx_segment_o(sent),
      .tx_desc_o(tx_desc[e]),
      .tx_data_o(tx_data[e]),
      .tx_last_o(tx_last[e]),
      .rx_head_valid_i(rx_head_valid[e]),
      .rx_head_ready_o(rx_head_ready[e]),
      .rx_head_peer_i(rx_head_peer[e]),
      .rx_head_segment_i(segment_t'(rx_head_segment[e])),
      .rx_head_desc_i(rx_head_desc[e]),
      .rx_valid_i(rx_valid[e]),
      .rx_ready_o(rx_ready[e]),
      .rx_peer_i(rx_peer[e]),
      .rx_segment_i(segment_t'(rx_segment[e])),
      .rx_desc_i(rx_desc[e]),
      .rx_data_i(rx_data[e]),
      .rx_last_i(rx_last[e]),
      .d_valid_o(d_valid),
      .d_ready_i(d_ready),
      .d_peer_o(d_peer),
      .d_desc_o(d_desc),
      .d_data_o(d_data),
      .d_last_o(d_last),
      .consume_valid_i(consume_valid),
      .consume_ready_o(consume_ready),
      .consume_peer_i(consume_peer),
      .consume_count_i(consume_count),
      .reset_valid_i(reset_valid_q),
      .reset_ready_o(reset_ready),
      .reset_peer_i,
      .reset_epoch_i(reset_epoch_i[e]),
      .event_o(event_of[e]),
      .event_peer_o(event_peer)
    );
    // From this end to the other.
    segment_t arrives, announced;
    assign rx_segment[1-e] = arrives;
    assign rx_head_segment[1-e] = announced;
    if (Direct) begin : gen_wire
      // Nothing knows of a frame before its first word is there: here a few words are held back for that.
      wire_ahead #(
        .DataW(DataW),
        .DescW(DescW),
        .PeerW(PeerW),
        .Heads(Heads)
      ) u_wire (
        .clk_i,
        .rst_ni,
        .valid_i(tx_valid[e]),
        .ready_o(tx_ready[e]),
        .peer_i(tx_peer[e]),
        .segment_i(sent),
        .desc_i(tx_desc[e]),
        .data_i(tx_data[e]),
        .last_i(tx_last[e]),
        .head_valid_o(rx_head_valid[1-e]),
        .head_ready_i(rx_head_ready[1-e]),
        .head_peer_o(rx_head_peer[1-e]),
        .head_segment_o(announced),
        .head_desc_o(rx_head_desc[1-e]),
        .valid_o(rx_valid[1-e]),
        .ready_i(rx_ready[1-e]),
        .data_o(rx_data[1-e]),
        .last_o(rx_last[1-e])
      );
      assign rx_peer[1-e] = tx_peer[e];
      assign arrives = sent;
      assign rx_desc[1-e] = tx_desc[e];
      assign dropped_o[e] = '0;
      assign leaked[e] = 1'b0;
    end else begin : gen_network
      lossy_channel #(
        .DataW(DataW),
        .DescW(DescW),
        .PeerW(PeerW),
        .FrameWords(FrameWords),
        .From(e)
      ) u_channel (
        .clk_i,
        .rst_ni,
        .from_live_i(live_i[e]),
        .to_live_i(live_i[1-e]),
        .seed_i(seed_i ^ 32'h5eed_0000 ^ e),
        .loss_i,
        .repeat_i,
        .pause_i(stop_i),
        .delay_i,
        .mute_i,
        .valid_i(tx_valid[e]),
        .ready_o(tx_ready[e]),
        .peer_i(tx_peer[e]),
        .segment_i(sent),
        .desc_i(tx_desc[e]),
        .data_i(tx_data[e]),
        .last_i(tx_last[e]),
        .head_valid_o(rx_head_valid[1-e]),
        .head_ready_i(rx_head_ready[1-e]),
        .head_peer_o(rx_head_peer[1-e]),
        .head_segment_o(announced),
        .head_desc_o(rx_head_desc[1-e]),
        .valid_o(rx_valid[1-e]),
        .ready_i(rx_ready[1-e]),
        .peer_o(rx_peer[1-e]),
        .segment_o(arrives),
        .desc_o(rx_desc[1-e]),
        .data_o(rx_data[1-e]),
        .last_o(rx_last[1-e]),
        .lost_o(dropped_o[e]),
        .wrong_o(leaked[e])
      );
    end
    assign offers[e] = s_valid || (Heads && s_head_valid);
    assign gets[e] = d_valid;
  end

  // How long frames take where nothing else is under way.
  typedef enum logic [1:0] {
    Other,
    Out,
    In
  } timed_e;
  timed_e timed_q;
  logic [7:0] cycles_q;
  logic [5:0] quiet_q;
  always_ff @(posedge clk_i) begin
    quiet_q <= offers[0] || tx_valid[0] || gets[1] ? '0 : &quiet_q ? quiet_q : quiet_q + 1'b1;
    cycles_q <= cycles_q + 1'b1;
    if (!rst_ni) begin
      timed_q <= Other;
      {out_cycles_o, in_cycles_o} <= {8'd0, 8'd255, 8'd0, 8'd255};
    end else if (timed_q == Other && offers[0] && &quiet_q && times_i) begin
      timed_q <= Out;
      cycles_q <= 8'd1;
    end else if (timed_q == Out && tx_valid[0]) begin
      timed_q <= In;
      cycles_q <= 8'd1;
      if (cycles_q < out_cycles_o[0]) out_cycles_o[0] <= cycles_q;
      if (cycles_q > out_cycles_o[1]) out_cycles_o[1] <= cycles_q;
    end else if (timed_q == In && gets[1]) begin
      timed_q <= Other;
      if (cycles_q < in_cycles_o[0]) in_cycles_o[0] <= cycles_q;
      if (cycles_q > in_cycles_o[1]) in_cycles_o[1] <= cycles_q;
    end
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < 6; i++) begin
      logic [1:0] now;
      for (int unsigned e = 0; e < 2; e++)
      now[e] = i == 0 ? event_of[e].broken : i == 1 ? event_of[e].repeated : i == 2 ? event_of[e].missed :
            i == 3 ? event_of[e].resent : i == 4 ? event_of[e].expired : event_of[e].restarted;
      events_o[i] <= rst_ni ? events_o[i] + 32'(now[0]) + 32'(now[1]) : '0;
    end
  end
endmodule
