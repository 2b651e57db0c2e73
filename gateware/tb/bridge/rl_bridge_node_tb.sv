// Two whole nodes with a memory each, and their frames at the bench's hands. The port and the streams of node 0 are the
// bench's; node 1 has nothing at its port, and sends to stream 1 of node 0 what comes to its own streams.
module rl_bridge_node_tb
  import rl_transport_pkg::*;
  import rl_bridge_pkg::*;
  import rl_bridge_node_pkg::*;
  import rl_bridge_wire_pkg::*;
#(
  parameter int unsigned DataW = 512,
  parameter int unsigned Nodes = 4,
  parameter int unsigned Longest = 4096,
  parameter int unsigned MemoryWords = 512,
  parameter int unsigned TakeWords = 8192,
  parameter int unsigned TickW = 12,
  localparam int unsigned PortW = 48,
  localparam int unsigned IdW = 6,
  localparam int unsigned MemoryW = 40,
  localparam int unsigned Bytes = DataW / 8,
  localparam int unsigned WindowW = $bits(window_t),
  localparam int unsigned RegionW = $bits(region_t)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic [31:0]           seed_i,
  input  logic [15:0]           tick_cycles_i,
  input  logic [15:0]           rto_i,          // Ticks.
  input  logic [1:0][31:0]      epoch_i,
  input  logic [1:0][47:0]      mac_i,
  input  logic [1:0][15:0]      latency_i,      // As bridge_memory says.
  input  logic [1:0][7:0]       pause_i,
  // -- what the owners set
  input  logic [1:0]            window_valid_i,
  input  logic [3:0]            window_index_i,
  input  logic [WindowW-1:0]    window_i,
  input  logic [1:0]            region_valid_i,
  input  logic [2:0]            region_index_i,
  input  logic [RegionW-1:0]    region_i,
  input  logic [1:0]            peer_valid_i,
  input  logic [$clog2(Nodes)-1:0] peer_node_i,
  input  logic                  peer_known_i,
  input  logic [47:0]           peer_mac_i,
  // -- the memories from the side
  input  logic [1:0]            poke_i,
  input  logic [$clog2(MemoryWords)-1:0] at_i,
  input  logic [DataW-1:0]      poke_data_i,
  output logic [1:0][DataW-1:0] peek_data_o,
  output logic [1:0]            wrong_o,
  output logic [1:0]            m_arvalid_o,
  output logic [1:0]            m_awvalid_o,
  output logic [1:0]            m_rvalid_o,
  // -- frames
  output logic [1:0]            tx_valid_o,
  input  logic [1:0]            tx_ready_i,
  output logic [1:0][DataW-1:0] tx_data_o,
  output logic [1:0][Bytes-1:0] tx_keep_o,
  output logic [1:0]            tx_last_o,
  input  logic [1:0]            rx_valid_i,
  input  logic [1:0][DataW-1:0] rx_data_i,
  input  logic [1:0][Bytes-1:0] rx_keep_i,
  input  logic [1:0]            rx_last_i,
  input  logic [1:0]            rx_bad_i,
  // -- what was counted
  output logic [2:0][31:0]      events_of_0_o,
  output logic [2:0][31:0]      events_of_1_o,
  input  logic [3:0]            verdict_count_of_i,
  output logic [1:0][31:0]      verdict_count_o,
  // -- the port and the streams of node 0
  input  logic a_awvalid,
  output logic a_awready,
  input  logic [IdW-1:0] a_awid,
  input  logic [PortW-1:0] a_awaddr,
  input  logic [7:0] a_awlen,
  input  logic [2:0] a_awsize,
  input  logic [1:0] a_awburst,
  input  logic a_wvalid,
  output logic a_wready,
  input  logic [DataW-1:0] a_wdata,
  input  logic [Bytes-1:0] a_wstrb,
  input  logic a_wlast,
  output logic a_bvalid,
  input  logic a_bready,
  output logic [IdW-1:0] a_bid,
  output logic [1:0] a_bresp,
  input  logic a_arvalid,
  output logic a_arready,
  input  logic [IdW-1:0] a_arid,
  input  logic [PortW-1:0] a_araddr,
  input  logic [7:0] a_arlen,
  input  logic [2:0] a_arsize,
  input  logic [1:0] a_arburst,
  output logic a_rvalid,
  input  logic a_rready,
  output logic [IdW-1:0] a_rid,
  output logic [DataW-1:0] a_rdata,
  output logic [1:0] a_rresp,
  output logic a_rlast,
  input  logic a_out_tvalid,
  output logic a_out_tready,
  input  logic [DataW-1:0] a_out_tdata,
  input  logic [Bytes-1:0] a_out_tkeep,
  input  logic a_out_tlast,
  input  logic [23:0] a_out_tuser,
  output logic a_in_tvalid,
  input  logic a_in_tready,
  output logic [DataW-1:0] a_in_tdata,
  output logic [Bytes-1:0] a_in_tkeep,
  output logic a_in_tlast,
  output logic [24:0] a_in_tuser
);
  logic [15:0] tick_q;
  logic tick;
  assign tick = tick_q == 0;
  always_ff @(posedge clk_i) tick_q <= !rst_ni || tick ? tick_cycles_i - 1'b1 : tick_q - 1'b1;

  // -- ports: of node 1 nothing asks
  logic [1:0] awvalid;
  logic [1:0] awready;
  logic [1:0][IdW-1:0] awid;
  logic [1:0][PortW-1:0] awaddr;
  logic [1:0][7:0] awlen;
  logic [1:0][2:0] awsize;
  logic [1:0][1:0] awburst;
  logic [1:0] wvalid;
  logic [1:0] wready;
  logic [1:0][DataW-1:0] wdata;
  logic [1:0][Bytes-1:0] wstrb;
  logic [1:0] wlast;
  logic [1:0] bvalid;
  logic [1:0] bready;
  logic [1:0][IdW-1:0] bid;
  logic [1:0][1:0] bresp;
  logic [1:0] arvalid;
  logic [1:0] arready;
  logic [1:0][IdW-1:0] arid;
  logic [1:0][PortW-1:0] araddr;
  logic [1:0][7:0] arlen;
  logic [1:0][2:0] arsize;
  logic [1:0][1:0] arburst;
  logic [1:0] rvalid;
  logic [1:0] rready;
  logic [1:0][IdW-1:0] rid;
  logic [1:0][DataW-1:0] rdata;
  logic [1:0][1:0] rresp;
  logic [1:0] rlast;
  assign awvalid[0] = a_awvalid;
  assign awvalid[1] = '0;
  assign a_awready = awready[0];
  assign awid[0] = a_awid;
  assign awid[1] = '0;
  assign awaddr[0] = a_awaddr;
  assign awaddr[1] = '0;
  assign awlen[0] = a_awlen;
  assign awlen[1] = '0;
  assign awsize[0] = a_awsize;
  assign awsize[1] = '0;
  assign awburst[0] = a_awburst;
  assign awburst[1] = '0;
  assign wvalid[0] = a_wvalid;
  assign wvalid[1] = '0;
  assign a_wready = wready[0];
  assign wdata[0] = a_wdata;
  assign wdata[1] = '0;
  assign wstrb[0] = a_wstrb;
  assign wstrb[1] = '0;
  assign wlast[0] = a_wlast;
  assign wlast[1] = '0;
  assign a_bvalid = bvalid[0];
  assign bready[0] = a_bready;
  assign bready[1] = '0;
  assign a_bid = bid[0];
  assign a_bresp = bresp[0];
  assign arvalid[0] = a_arvalid;
  assign arvalid[1] = '0;
  assign a_arready = arready[0];
  assign arid[0] = a_arid;
  assign arid[1] = '0;
  assign araddr[0] = a_araddr;
  assign araddr[1] = '0;
  assign arlen[0] = a_arlen;
  assign arlen[1] = '0;
  assign arsize[0] = a_arsize;
  assign arsize[1] = '0;
  assign arburst[0] = a_arburst;
  assign arburst[1] = '0;
  assign a_rvalid = rvalid[0];
  assign rready[0] = a_rready;
  assign rready[1] = '0;
  assign a_rid = rid[0];
  assign a_rdata = rdata[0];
  assign a_rresp = rresp[0];
  assign a_rlast = rlast[0];

  // -- streams
  logic [1:0] out_valid, out_ready, out_last, in_valid, in_ready, in_last;
  logic [1:0][DataW-1:0] out_data, in_data;
  logic [1:0][Bytes-1:0] out_keep, in_keep;
  logic [1:0][23:0] out_user;
  logic [1:0][24:0] in_user;
  assign out_valid = {in_valid[1], a_out_tvalid};
  assign a_out_tready = out_ready[0];
  assign out_data = {in_data[1], a_out_tdata};
  assign out_keep = {in_keep[1], a_out_tkeep};
  assign out_last = {in_last[1], a_out_tlast};
  assign out_user = {8'd0, 16'd1, a_out_tuser};
  assign in_ready = {out_ready[1], a_in_tready};
  assign {a_in_tvalid, a_in_tdata, a_in_tkeep, a_in_tlast, a_in_tuser} = {
    in_valid[0], in_data[0], in_keep[0], in_last[0], in_user[0]
  };

  logic [1:0][2:0][31:0] events_q;
  assign events_of_0_o = events_q[0];
  assign events_of_1_o = events_q[1];
  for (genvar e = 0; e < 2; e++) begin : gen_node
    logic m_awvalid;
    logic m_awready;
    logic [MemoryW-1:0] m_awaddr;
    logic [7:0] m_awlen;
    logic m_wvalid;
    logic m_wready;
    logic [DataW-1:0] m_wdata;
    logic [Bytes-1:0] m_wstrb;
    logic m_wlast;
    logic m_bvalid;
    logic m_bready;
    logic [1:0] unused_refused, m_bresp;
    logic m_arvalid;
    logic m_arready;
    logic [MemoryW-1:0] m_araddr;
    logic [7:0] m_arlen;
    logic m_rvalid;
    logic m_rready;
    logic [DataW-1:0] m_rdata;
    logic [1:0] m_rresp;
    logic m_rlast;
    bridge_event_t event_of;
    transport_event_t unused_event;
    logic [$clog2(Nodes):0] unused_peer;
    logic unused_judged;
    verdict_e unused_verdict;
    logic [31:0] unused_departures;
    assign {m_arvalid_o[e], m_awvalid_o[e], m_rvalid_o[e]} = {m_arvalid, m_awvalid, m_rvalid};
    always_ff @(posedge clk_i) begin
      for (int i = 0; i < 3; i++) events_q[e][i] <= rst_ni ? events_q[e][i] + 32'(event_of[i]) : '0;
    end
    rl_bridge_node #(
      .Nodes(Nodes),
      .DataW(DataW),
      .Longest(Longest),
      .ServeWords(4 * Longest / Bytes < 256 ? 256 : 4 * Longest / Bytes),
      .ReadWords(8 * Longest / Bytes < 512 ? 512 : 8 * Longest / Bytes),
      .WriteWords(4 * Longest / Bytes),
      .SendWords(4 * Longest / Bytes),
      .TakeWords(TakeWords),
      .Words(64 * Longest / Bytes),
      .ArriveWords(8 * Longest / Bytes),
      .TickW(TickW)
    ) u_node (
      .clk_i,
      .rst_ni,
      .mac_i(mac_i[e]),
      .config_i('{
          epoch: epoch_i[e],
          first: 32'd1,
          window: 9'd32,
          credit: '0,
          consumes: 1'b0,
          ack_every: 9'd4,
          ack_delay: 16'd1,
          rto: rto_i
      }),
      .tick_i(tick),
      .window_valid_i(window_valid_i[e]),
      .window_index_i,
      .window_i(window_t'(window_i)),
      .region_valid_i(region_valid_i[e]),
      .region_index_i,
      .region_i(region_t'(region_i)),
      .peer_valid_i(peer_valid_i[e]),
      .peer_node_i,
      .peer_known_i,
      .peer_mac_i,
      .drop_i('0),
      .drop_node_i('0),
      .p_awvalid_i(awvalid[e]),
      .p_awready_o(awready[e]),
      .p_awid_i(awid[e]),
      .p_awaddr_i(awaddr[e]),
      .p_awlen_i(awlen[e]),
      .p_awsize_i(awsize[e]),
      .p_awburst_i(awburst[e]),
      .p_wvalid_i(wvalid[e]),
      .p_wready_o(wready[e]),
      .p_wdata_i(wdata[e]),
      .p_wstrb_i(wstrb[e]),
      .p_wlast_i(wlast[e]),
      .p_bvalid_o(bvalid[e]),
      .p_bready_i(bready[e]),
      .p_bid_o(bid[e]),
      .p_bresp_o({unused_refused[0], bresp[e]}),
      .p_arvalid_i(arvalid[e]),
      .p_arready_o(arready[e]),
      .p_arid_i(arid[e]),
      .p_araddr_i(araddr[e]),
      .p_arlen_i(arlen[e]),
      .p_arsize_i(arsize[e]),
      .p_arburst_i(arburst[e]),
      .p_rvalid_o(rvalid[e]),
      .p_rready_i(rready[e]),
      .p_rid_o(rid[e]),
      .p_rdata_o(rdata[e]),
      .p_rresp_o({unused_refused[1], rresp[e]}),
      .p_rlast_o(rlast[e]),
      .m_awvalid_o(m_awvalid),
      .m_awready_i(m_awready),
      .m_awaddr_o(m_awaddr),
      .m_awlen_o(m_awlen),
      .m_wvalid_o(m_wvalid),
      .m_wready_i(m_wready),
      .m_wdata_o(m_wdata),
      .m_wstrb_o(m_wstrb),
      .m_wlast_o(m_wlast),
      .m_bvalid_i(m_bvalid),
      .m_bready_o(m_bready),
      .m_bresp_i(m_bresp),
      .m_arvalid_o(m_arvalid),
      .m_arready_i(m_arready),
      .m_araddr_o(m_araddr),
      .m_arlen_o(m_arlen),
      .m_rvalid_i(m_rvalid),
      .m_rready_o(m_rready),
      .m_rdata_i(m_rdata),
      .m_rresp_i(m_rresp),
      .m_rlast_i(m_rlast),
      .out_valid_i(out_valid[e]),
      .out_ready_o(out_ready[e]),
      .out_data_i(out_data[e]),
      .out_keep_i(out_keep[e]),
      .out_last_i(out_last[e]),
      .out_user_i(out_user[e]),
      .in_valid_o(in_valid[e]),
      .in_ready_i(in_ready[e]),
      .in_sinks_i('0),
      .in_data_o(in_data[e]),
      .in_keep_o(in_keep[e]),
      .in_last_o(in_last[e]),
      .in_user_o(in_user[e]),
      .tx_valid_o(tx_valid_o[e]),
      .tx_ready_i(tx_ready_i[e]),
      .tx_data_o(tx_data_o[e]),
      .tx_keep_o(tx_keep_o[e]),
      .tx_last_o(tx_last_o[e]),
      .rx_valid_i(rx_valid_i[e]),
      .rx_data_i(rx_data_i[e]),
      .rx_keep_i(rx_keep_i[e]),
      .rx_last_i(rx_last_i[e]),
      .rx_bad_i(rx_bad_i[e]),
      .event_o(event_of),
      .transport_event_o(unused_event),
      .transport_peer_o(unused_peer),
      .judged_o(unused_judged),
      .verdict_o(unused_verdict),
      .verdict_count_of_i,
      .verdict_count_o(verdict_count_o[e]),
      .departure_count_of_i('0),
      .departure_count_o(unused_departures)
    );
    bridge_memory #(
      .DataW(DataW),
      .Words(MemoryWords)
    ) u_memory (
      .clk_i,
      .rst_ni,
      .latency_i(latency_i[e]),
      .pause_i(pause_i[e]),
      .fails_i(1'b0),
      .seed_i(seed_i + 32'(e)),
      .awvalid_i(m_awvalid),
      .awready_o(m_awready),
      .awaddr_i(m_awaddr),
      .awlen_i(m_awlen),
      .wvalid_i(m_wvalid),
      .wready_o(m_wready),
      .wdata_i(m_wdata),
      .wstrb_i(m_wstrb),
      .wlast_i(m_wlast),
      .bvalid_o(m_bvalid),
      .bready_i(m_bready),
      .bresp_o(m_bresp),
      .arvalid_i(m_arvalid),
      .arready_o(m_arready),
      .araddr_i(m_araddr),
      .arlen_i(m_arlen),
      .rvalid_o(m_rvalid),
      .rready_i(m_rready),
      .rdata_o(m_rdata),
      .rresp_o(m_rresp),
      .rlast_o(m_rlast),
      .poke_i(poke_i[e]),
      .at_i,
      .poke_data_i,
      .peek_data_o(peek_data_o[e]),
      .wrong_o(wrong_o[e]),
      .beats_o()
    );
  end
endmodule
