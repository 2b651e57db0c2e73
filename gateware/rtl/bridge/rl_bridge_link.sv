// What a bridge's blocks say as segments of the transport, and what comes in as beats: frames of four sources in turn,
// the first byte first, and payloads of writes and of answers in the lanes where memory and port have them.
//
//   q, w ==> rl_bridge_offer ==> rl_transport ==> rl_bridge_spread ==> x
module rl_bridge_link
  import rl_transport_pkg::*;
  import rl_bridge_pkg::*;
  import rl_bridge_node_pkg::*;
#(
  parameter int unsigned Nodes = 8,          // All of these are as rl_bridge says.
  parameter int unsigned DataW = 512,
  parameter int unsigned FrameWords = 64,
  parameter int unsigned Slots = 32,
  parameter int unsigned Words = 4096,
  parameter int unsigned BlockWords = 4,
  localparam int unsigned Sources = 4,       // The last one's frames are of streams.
  localparam int unsigned Bytes = DataW / 8,
  localparam int unsigned FineW = $clog2(Bytes),
  localparam int unsigned NodeW = $clog2(Nodes),
  localparam int unsigned PeerW = NodeW + 1
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  transport_config_t             config_i,       // Steady.
  input  logic                          tick_i,

  // -- frames to send, as rl_bridge_offer says
  input  logic [Sources-1:0]            q_valid_i,
  output logic [Sources-1:0]            q_ready_o,
  output logic [Sources-1:0]            q_refused_o,
  input  node_t [Sources-1:0]           q_node_i,
  input  head_t [Sources-1:0]           q_head_i,
  input  logic [Sources-1:0][FineW-1:0] q_offset_i,
  input  logic [Sources-1:0]            w_valid_i,
  output logic [Sources-1:0]            w_ready_o,
  input  logic [Sources-1:0][DataW-1:0] w_data_i,
  input  logic [Sources-1:0]            w_last_i,

  // -- what has come; a peer is {node, channel}
  output logic                          x_valid_o,
  input  logic                          x_ready_i,
  output logic [PeerW-1:0]              x_peer_o,       // Steady in a frame, as is the head.
  output head_t                         x_head_o,
  output logic [DataW-1:0]              x_data_o,
  output logic [Bytes-1:0]              x_strb_o,       // Bytes of the payload.
  output logic                          x_last_o,

  // -- the transport's owner
  input  logic                          consume_valid_i,
  output logic                          consume_ready_o,
  input  logic [PeerW-1:0]              consume_peer_i,
  input  count_t                        consume_count_i,
  input  logic                          reset_valid_i,
  output logic                          reset_ready_o,
  input  logic [PeerW-1:0]              reset_peer_i,
  input  epoch_t                        reset_epoch_i,
  output transport_event_t              event_o,
  output logic [PeerW-1:0]              event_peer_o,
  output logic                          busy_o,         // As rl_transport says.

  // -- segments
  output logic                          tx_valid_o,
  input  logic                          tx_ready_i,
  output logic [PeerW-1:0]              tx_peer_o,
  output segment_t                      tx_segment_o,
  output head_t                         tx_desc_o,
  output logic [DataW-1:0]              tx_data_o,
  output logic                          tx_last_o,
  input  logic                          rx_head_valid_i,
  output logic                          rx_head_ready_o,
  input  logic [PeerW-1:0]              rx_head_peer_i,
  input  segment_t                      rx_head_segment_i,
  input  head_t                         rx_head_desc_i,
  input  logic                          rx_valid_i,
  output logic                          rx_ready_o,
  input  logic [DataW-1:0]              rx_data_i,
  input  logic                          rx_last_i
);
  logic h_valid, h_ready, h_room, h_stream, s_valid, s_ready, s_last;
  node_t h_node;
  head_t h_head;
  logic [DataW-1:0] s_data;
  rl_bridge_offer #(
    .Sources(Sources),
    .DataW(DataW)
  ) u_offer (
    .clk_i,
    .rst_ni,
    .q_valid_i,
    .q_ready_o,
    .q_refused_o,
    .q_node_i,
    .q_head_i,
    .q_offset_i,
    .q_stream_i(4'b1000),
    .w_valid_i,
    .w_ready_o,
    .w_data_i,
    .w_last_i,
    .h_valid_o(h_valid),
    .h_ready_i(h_ready),
    .h_room_i(h_room),
    .h_node_o(h_node),
    .h_stream_o(h_stream),
    .h_head_o(h_head),
    .s_valid_o(s_valid),
    .s_ready_i(s_ready),
    .s_data_o(s_data),
    .s_last_o(s_last)
  );

  logic d_valid, d_ready, d_last;
  logic [PeerW-1:0] d_peer;
  head_t d_head;
  logic [DataW-1:0] d_data;
  rl_transport #(
    .Peers(2 * Nodes),
    .DataW(DataW),
    .DescW(HeadW),
    .Slots(Slots),
    .Words(Words),
    .BlockWords(BlockWords),
    .FrameWords(FrameWords),
    .Heads(1'b1)
  ) u_transport (
    .clk_i,
    .rst_ni,
    .config_i,
    .asks_seldom_i(1'b0),
    .tick_i,
    .s_head_valid_i(h_valid),
    .s_head_ready_o(h_ready),
    .s_head_peer_i({h_node[NodeW-1:0], h_stream}),
    .s_head_desc_i(h_head),
    .s_room_o(h_room),
    .s_valid_i(s_valid),
    .s_ready_o(s_ready),
    .s_peer_i('0),
    .s_desc_i('0),
    .s_data_i(s_data),
    .s_last_i(s_last),
    .tx_valid_o,
    .tx_ready_i,
    .tx_peer_o,
    .tx_segment_o,
    .tx_desc_o,
    .tx_data_o,
    .tx_last_o,
    .rx_head_valid_i,
    .rx_head_ready_o,
    .rx_head_peer_i,
    .rx_head_segment_i,
    .rx_head_desc_i,
    .rx_valid_i,
    .rx_ready_o,
    .rx_peer_i('0),
    .rx_segment_i('0),
    .rx_desc_i('0),
    .rx_data_i,
    .rx_last_i,
    .d_valid_o(d_valid),
    .d_ready_i(d_ready),
    .d_peer_o(d_peer),
    .d_desc_o(d_head),
    .d_data_o(d_data),
    .d_last_o(d_last),
    .consume_valid_i,
    .consume_ready_o,
    .consume_peer_i,
    .consume_count_i,
    .reset_valid_i,
    .reset_ready_o,
    .reset_peer_i,
    .reset_epoch_i,
    .event_o,
    .event_peer_o,
    .busy_o
  );

  // -- payloads of writes and of answers become beats
  logic aligns;
  assign aligns = d_head.kind == short_of(
      KindWriteRequest
  ) || d_head.kind == short_of(
      KindReadResponse
  );
  rl_bridge_spread #(
    .DataW(DataW),
    .SideW(PeerW + HeadW)
  ) u_spread (
    .clk_i,
    .rst_ni,
    .s_valid_i(d_valid),
    .s_ready_o(d_ready),
    .s_side_i({d_peer, d_head}),
    .s_offset_i(aligns && !d_peer[0] ? d_head.addr[FineW-1:0] : '0),
    .s_length_i(d_head.length),
    .s_data_i(d_data),
    .s_last_i(d_last),
    .m_valid_o(x_valid_o),
    .m_ready_i(x_ready_i),
    .m_side_o({x_peer_o, x_head_o}),
    .m_data_o(x_data_o),
    .m_strb_o(x_strb_o),
    .m_last_o(x_last_o)
  );
  logic unused;
  assign unused = ^h_node;
endmodule
