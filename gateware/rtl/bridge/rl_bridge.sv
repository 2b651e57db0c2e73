// The bridge of a node: the memory of other nodes for whoever is at its AXI4 port, this node's memory for them as far
// as windows permit it, and streams both ways. Segments go out and come in; what stands for a peer on the wire is
// rl_bridge_wire's business.
//
//   port    ==> rl_bridge_slave  ==> \                                  / ==> tx
//   memory <==> rl_bridge_master ==> q, w ==> rl_bridge_link (transport)   <== rx
//   streams ==> rl_bridge_send   ==> /              |
//           <== rl_bridge_take   <== x <===========/   (x also to slave and master)
//
// A peer of the transport is {node, channel}. Nothing of what comes in waits for what goes out: answers to requests are
// owed, answers to ours have their room, streams theirs. So no circle of waiting can be closed over two nodes.
module rl_bridge
  import rl_transport_pkg::*;
  import rl_bridge_pkg::*;
  import rl_bridge_node_pkg::*;
#(
  parameter int unsigned Nodes = 8,          // Others, a power of two, 2 or more.
  parameter int unsigned DataW = 512,        // 64 or 512.
  parameter int unsigned MemoryW = 40,       // Bits of an address in this node's memory,
  parameter int unsigned PortW = 48,         // and of one at the port.
  parameter int unsigned IdW = 6,
  parameter int unsigned Longest = 4096,     // Bytes of a payload, a power of two. All nodes that speak agree.
  parameter int unsigned Most = Longest,     // As rl_bridge_master says.
  parameter int unsigned Burst = 16,         // As rl_bridge_burst says.
  parameter int unsigned Regions = 8,
  parameter int unsigned ServeWords = 256,   // Stores, in words: what is read for others,
  parameter int unsigned ReadWords = 512,    // what was asked for,
  parameter int unsigned WriteWords = 256,   // what is to be written,
  parameter int unsigned SendWords = 256,    // pieces of streams that go out,
  parameter int unsigned TakeWords = 8192,   // and that came in; as rl_bridge_take says.
  parameter int unsigned Sinks = 0,          // Of whole messages of streams, likewise.
  parameter int unsigned Slots = 32,         // Of the transport, as are:
  parameter int unsigned Words = 4096,
  parameter int unsigned BlockWords = 4,
  parameter int unsigned TickW = 16,         // As rl_bridge_slave says.
  localparam int unsigned Bytes = DataW / 8,
  localparam int unsigned FineW = $clog2(Bytes),
  localparam int unsigned NodeW = $clog2(Nodes),
  localparam int unsigned PeerW = NodeW + 1
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  transport_config_t  config_i,        // Steady. `credit` and `consumes` are not looked at.
  input  logic               tick_i,

  // -- what the owner sets
  input  logic                       window_valid_i,
  input  logic [3:0]                 window_index_i,
  input  window_t                    window_i,
  input  logic                       region_valid_i,
  input  logic [$clog2(Regions)-1:0] region_index_i,
  input  region_t                    region_i,
  input  logic [1:0]                 drop_i,       // A connection ends, of each channel: with this node.
  input  node_t                      drop_node_i,

  // -- the port, AXI4
  input  logic               p_awvalid_i,
  output logic               p_awready_o,
  input  logic [IdW-1:0]     p_awid_i,
  input  logic [PortW-1:0]   p_awaddr_i,
  input  logic [7:0]         p_awlen_i,
  input  logic [2:0]         p_awsize_i,
  input  logic [1:0]         p_awburst_i,
  input  logic               p_wvalid_i,
  output logic               p_wready_o,
  input  logic [DataW-1:0]   p_wdata_i,
  input  logic [Bytes-1:0]   p_wstrb_i,
  input  logic               p_wlast_i,
  output logic               p_bvalid_o,
  input  logic               p_bready_i,
  output logic [IdW-1:0]     p_bid_o,
  output rl_role_pkg::remote_e p_bresp_o,
  input  logic               p_arvalid_i,
  output logic               p_arready_o,
  input  logic [IdW-1:0]     p_arid_i,
  input  logic [PortW-1:0]   p_araddr_i,
  input  logic [7:0]         p_arlen_i,
  input  logic [2:0]         p_arsize_i,
  input  logic [1:0]         p_arburst_i,
  output logic               p_rvalid_o,
  input  logic               p_rready_i,
  output logic [IdW-1:0]     p_rid_o,
  output logic [DataW-1:0]   p_rdata_o,
  output rl_role_pkg::remote_e p_rresp_o,
  output logic               p_rlast_o,

  // -- this node's memory, AXI4 with one id
  output logic               m_awvalid_o,
  input  logic               m_awready_i,
  output logic [MemoryW-1:0] m_awaddr_o,
  output logic [7:0]         m_awlen_o,
  output logic               m_wvalid_o,
  input  logic               m_wready_i,
  output logic [DataW-1:0]   m_wdata_o,
  output logic [Bytes-1:0]   m_wstrb_o,
  output logic               m_wlast_o,
  input  logic               m_bvalid_i,
  output logic               m_bready_o,
  input  logic [1:0]         m_bresp_i,
  output logic               m_arvalid_o,
  input  logic               m_arready_i,
  output logic [MemoryW-1:0] m_araddr_o,
  output logic [7:0]         m_arlen_o,
  input  logic               m_rvalid_i,
  output logic               m_rready_o,
  input  logic [DataW-1:0]   m_rdata_i,
  input  logic [1:0]         m_rresp_i,
  input  logic               m_rlast_i,

  // -- streams: to others, and from them
  input  logic               out_valid_i,
  output logic               out_ready_o,
  input  logic [DataW-1:0]   out_data_i,
  input  logic [Bytes-1:0]   out_keep_i,
  input  logic               out_last_i,
  input  logic [23:0]        out_user_i,      // {node, stream}.
  output logic               in_valid_o,
  input  logic               in_ready_i,      // Without sinks,
  input  sinks_t             in_sinks_i,      // and with them.
  output logic [DataW-1:0]   in_data_o,
  output logic [Bytes-1:0]   in_keep_o,
  output logic               in_last_o,
  output logic [24:0]        in_user_o,       // {the message has no end, node, stream}.

  // -- segments
  output logic               tx_valid_o,
  input  logic               tx_ready_i,
  output logic [PeerW-1:0]   tx_peer_o,
  output segment_t           tx_segment_o,
  output head_t              tx_desc_o,
  output logic [DataW-1:0]   tx_data_o,
  output logic               tx_last_o,
  input  logic               rx_head_valid_i,
  output logic               rx_head_ready_o,
  input  logic [PeerW-1:0]   rx_head_peer_i,
  input  segment_t           rx_head_segment_i,
  input  head_t              rx_head_desc_i,
  input  logic               rx_valid_i,
  output logic               rx_ready_o,
  input  logic [DataW-1:0]   rx_data_i,
  input  logic               rx_last_i,

  output bridge_event_t      event_o,
  output transport_event_t   transport_event_o,
  output logic [PeerW-1:0]   transport_peer_o,
  output logic               busy_o,          // Of the transport, or a message goes to its sink.
  output logic               holds_o          // As rl_bridge_slave says.
);
  localparam int unsigned FrameWords = Longest / Bytes;

  // -- out
  logic [3:0] q_valid, q_ready, q_refused, w_valid, w_ready, w_last;
  node_t [3:0] q_node;
  head_t [3:0] q_head;
  logic [3:0][FineW-1:0] q_offset;
  logic [3:0][DataW-1:0] w_data;
  // A request to read has a word that means nothing.
  assign w_valid[1] = 1'b1;
  assign w_last[1] = 1'b1;
  assign w_data[1] = '0;
  assign q_offset[1] = '0;
  assign q_offset[2] = q_head[2].addr[FineW-1:0];
  assign q_offset[3] = '0;

  // -- the transport, whose credit is what nodes agree on
  logic consume_valid, consume_ready, reset_valid, reset_ready, x_valid, x_ready, x_last, link_busy;
  logic [PeerW-1:0] consume_peer, reset_peer, x_peer;
  count_t consume_count;
  epoch_t reset_epoch;
  transport_config_t config_all;
  head_t x_head;
  node_t x_node;
  logic [DataW-1:0] x_data;
  logic [Bytes-1:0] x_strb;
  always_comb begin
    config_all = config_i;
    config_all.credit = seq_t'(Credit);
    config_all.consumes = 1'b0;
  end
  rl_bridge_link #(
    .Nodes(Nodes),
    .DataW(DataW),
    .FrameWords(FrameWords),
    .Slots(Slots),
    .Words(Words),
    .BlockWords(BlockWords)
  ) u_link (
    .clk_i,
    .rst_ni,
    .config_i(config_all),
    .tick_i,
    .q_valid_i(q_valid),
    .q_ready_o(q_ready),
    .q_refused_o(q_refused),
    .q_node_i(q_node),
    .q_head_i(q_head),
    .q_offset_i(q_offset),
    .w_valid_i(w_valid),
    .w_ready_o(w_ready),
    .w_data_i(w_data),
    .w_last_i(w_last),
    .x_valid_o(x_valid),
    .x_ready_i(x_ready),
    .x_peer_o(x_peer),
    .x_head_o(x_head),
    .x_data_o(x_data),
    .x_strb_o(x_strb),
    .x_last_o(x_last),
    .consume_valid_i(consume_valid),
    .consume_ready_o(consume_ready),
    .consume_peer_i(consume_peer),
    .consume_count_i(consume_count),
    .reset_valid_i(reset_valid),
    .reset_ready_o(reset_ready),
    .reset_peer_i(reset_peer),
    .reset_epoch_i(reset_epoch),
    .event_o(transport_event_o),
    .event_peer_o(transport_peer_o),
    .busy_o(link_busy),
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
    .rx_data_i,
    .rx_last_i
  );
  assign x_node = node_t'(x_peer[PeerW-1:1]);

  // -- who takes it. Of the memory's channel, what is neither a request nor an answer breaks the rules.
  typedef enum logic [1:0] {
    ToMaster,
    ToSlave,
    ToStreams,
    ToNobody
  } whose_e;
  whose_e whose;
  logic [3:0] to, takes;
  always_comb begin
    case (x_head.kind)
      short_of(KindReadRequest), short_of(KindWriteRequest), short_of(KindAtomicRequest), short_of(KindWriteBatch):
      whose = ToMaster;
      short_of(KindReadResponse), short_of(KindWriteResponse): whose = ToSlave;
      default: whose = ToNobody;
    endcase
    if (x_peer[0]) whose = ToStreams;
  end
  assign to = x_valid ? 4'b1 << whose : '0;
  assign takes[ToNobody] = 1'b1;
  assign x_ready = takes[whose];

  // -- lives, and credit
  logic memory_ends, requests_end, messages_end, stray, master_fault, wrong_kind;
  logic take_fault, taken, take_lost, take_moves, refused;
  node_t event_node, master_fault_node, take_fault_node, taken_node;
  bridge_event_t served;
  assign busy_o = link_busy || take_moves;
  assign wrong_kind = to[ToNobody] && x_last;
  assign event_o = '{
          lost: served.lost || take_lost,
          served: served.served,
          malformed: served.malformed || stray || wrong_kind,
          denied: served.denied || take_fault || refused
      };
  rl_bridge_lives #(
    .Nodes(Nodes),
    .Credit(32'(Credit))
  ) u_lives (
    .clk_i,
    .rst_ni,
    .epoch_i(config_i.epoch),
    .restarted_i(transport_event_o.restarted),
    .peer_i(transport_peer_o),
    .node_o(event_node),
    .memory_ends_o(memory_ends),
    .requests_end_o(requests_end),
    .messages_end_o(messages_end),
    .fault_i({take_fault, master_fault || wrong_kind}),
    .fault_node_i({take_fault_node, wrong_kind ? x_node : master_fault_node}),
    .drop_i,
    .drop_node_i,
    .taken_i(x_valid && x_ready && x_last && !x_peer[0]),
    .taken_node_i(x_node),
    .consumed_i(taken),
    .consumed_node_i(taken_node),
    .consume_valid_o(consume_valid),
    .consume_ready_i(consume_ready),
    .consume_peer_o(consume_peer),
    .consume_count_o(consume_count),
    .reset_valid_o(reset_valid),
    .reset_ready_i(reset_ready),
    .reset_peer_o(reset_peer),
    .reset_epoch_o(reset_epoch)
  );

  rl_bridge_master #(
    .Nodes(Nodes),
    .DataW(DataW),
    .AddrW(MemoryW),
    .Longest(Longest),
    .Most(Most),
    .Burst(Burst),
    .ReadWords(ServeWords)
  ) u_master (
    .clk_i,
    .rst_ni,
    .set_valid_i(window_valid_i),
    .set_index_i(window_index_i),
    .set_window_i(window_i),
    .x_valid_i(to[ToMaster]),
    .x_ready_o(takes[ToMaster]),
    .x_node_i(x_node),
    .x_head_i(x_head),
    .x_data_i(x_data),
    .x_strb_i(x_strb),
    .x_last_i(x_last),
    .a_valid_o(q_valid[0]),
    .a_ready_i(q_ready[0]),
    .a_refused_i(q_refused[0]),
    .a_node_o(q_node[0]),
    .a_head_o(q_head[0]),
    .a_offset_o(q_offset[0]),
    .w_valid_o(w_valid[0]),
    .w_ready_i(w_ready[0]),
    .w_data_o(w_data[0]),
    .w_last_o(w_last[0]),
    .awvalid_o(m_awvalid_o),
    .awready_i(m_awready_i),
    .awaddr_o(m_awaddr_o),
    .awlen_o(m_awlen_o),
    .wvalid_o(m_wvalid_o),
    .wready_i(m_wready_i),
    .wdata_o(m_wdata_o),
    .wstrb_o(m_wstrb_o),
    .wlast_o(m_wlast_o),
    .bvalid_i(m_bvalid_i),
    .bready_o(m_bready_o),
    .bresp_i(m_bresp_i),
    .arvalid_o(m_arvalid_o),
    .arready_i(m_arready_i),
    .araddr_o(m_araddr_o),
    .arlen_o(m_arlen_o),
    .rvalid_i(m_rvalid_i),
    .rready_o(m_rready_o),
    .rdata_i(m_rdata_i),
    .rresp_i(m_rresp_i),
    .rlast_i(m_rlast_i),
    .forget_i(memory_ends),
    .forget_node_i(event_node),
    .fault_o(master_fault),
    .fault_node_o(master_fault_node),
    .event_o(served)
  );
  rl_bridge_slave #(
    .Nodes(Nodes),
    .DataW(DataW),
    .AddrW(PortW),
    .IdW(IdW),
    .Longest(Most),
    .Regions(Regions),
    .ReadWords(ReadWords),
    .WriteWords(WriteWords),
    .TickW(TickW)
  ) u_slave (
    .clk_i,
    .rst_ni,
    .tick_i,
    .seed_i(config_i.epoch[9:0]),
    .set_valid_i(region_valid_i),
    .set_index_i(region_index_i),
    .set_region_i(region_i),
    .forget_i(requests_end),
    .forget_node_i(event_node),
    .awvalid_i(p_awvalid_i),
    .awready_o(p_awready_o),
    .awid_i(p_awid_i),
    .awaddr_i(p_awaddr_i),
    .awlen_i(p_awlen_i),
    .awsize_i(p_awsize_i),
    .awburst_i(p_awburst_i),
    .wvalid_i(p_wvalid_i),
    .wready_o(p_wready_o),
    .wdata_i(p_wdata_i),
    .wstrb_i(p_wstrb_i),
    .wlast_i(p_wlast_i),
    .bvalid_o(p_bvalid_o),
    .bready_i(p_bready_i),
    .bid_o(p_bid_o),
    .bresp_o(p_bresp_o),
    .arvalid_i(p_arvalid_i),
    .arready_o(p_arready_o),
    .arid_i(p_arid_i),
    .araddr_i(p_araddr_i),
    .arlen_i(p_arlen_i),
    .arsize_i(p_arsize_i),
    .arburst_i(p_arburst_i),
    .rvalid_o(p_rvalid_o),
    .rready_i(p_rready_i),
    .rid_o(p_rid_o),
    .rdata_o(p_rdata_o),
    .rresp_o(p_rresp_o),
    .rlast_o(p_rlast_o),
    .q_valid_o(q_valid[2:1]),
    .q_ready_i(q_ready[2:1]),
    .q_refused_i(q_refused[2:1]),
    .q_node_o(q_node[2:1]),
    .q_head_o(q_head[2:1]),
    .w_valid_o(w_valid[2]),
    .w_ready_i(w_ready[2]),
    .w_data_o(w_data[2]),
    .w_last_o(w_last[2]),
    .x_valid_i(to[ToSlave]),
    .x_ready_o(takes[ToSlave]),
    .x_node_i(x_node),
    .x_head_i(x_head),
    .x_data_i(x_data),
    .x_last_i(x_last),
    .stray_o(stray),
    .holds_o
  );
  rl_bridge_send #(
    .Nodes(Nodes),
    .DataW(DataW),
    .Longest(Most),
    .Words(SendWords)
  ) u_send (
    .clk_i,
    .rst_ni,
    .s_valid_i(out_valid_i),
    .s_ready_o(out_ready_o),
    .s_data_i(out_data_i),
    .s_keep_i(out_keep_i),
    .s_last_i(out_last_i),
    .s_node_i(out_user_i[23:16]),
    .s_stream_i(out_user_i[15:0]),
    .drop_i(drop_i[1]),
    .drop_node_i,
    .q_valid_o(q_valid[3]),
    .q_ready_i(q_ready[3]),
    .q_refused_i(q_refused[3]),
    .q_node_o(q_node[3]),
    .q_head_o(q_head[3]),
    .w_valid_o(w_valid[3]),
    .w_ready_i(w_ready[3]),
    .w_data_o(w_data[3]),
    .w_last_o(w_last[3]),
    .refused_o(refused)
  );
  rl_bridge_take #(
    .Nodes(Nodes),
    .DataW(DataW),
    .FrameWords(FrameWords),
    .Words(TakeWords),
    .Sinks(Sinks)
  ) u_take (
    .clk_i,
    .rst_ni,
    .set_valid_i(window_valid_i),
    .set_index_i(window_index_i),
    .set_window_i(window_i),
    .x_valid_i(to[ToStreams]),
    .x_ready_o(takes[ToStreams]),
    .x_node_i(x_node),
    .x_head_i(x_head),
    .x_data_i(x_data),
    .x_last_i(x_last),
    .sinks_i(in_sinks_i),
    .m_lost_o(take_lost),
    .m_moves_o(take_moves),
    .m_valid_o(in_valid_o),
    .m_ready_i(in_ready_i),
    .m_data_o(in_data_o),
    .m_keep_o(in_keep_o),
    .m_last_o(in_last_o),
    .m_cut_o(in_user_o[24]),
    .m_node_o(in_user_o[23:16]),
    .m_stream_o(in_user_o[15:0]),
    .consumed_o(taken),
    .consumed_node_o(taken_node),
    .forget_i(messages_end),
    .forget_node_i(event_node),
    .drop_i(drop_i[1]),
    .drop_node_i,
    .fault_o(take_fault),
    .fault_node_o(take_fault_node)
  );
  logic unused;
  assign unused = ^{w_ready[1], x_strb};
endmodule
