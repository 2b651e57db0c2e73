// Segments from the link: judged by their heads, while the words of those before still go, and then delivered to the
// sink or dropped.
//
// What has come in does not wait for what goes out: the sink alone can hold arrivals up. That a life has begun is
// reported after the payloads of the one before and before those of its own, so one is judged again only then.
module rl_transport_arrivals
  import rl_transport_pkg::*;
#(
  parameter int unsigned Peers = 256,
  parameter int unsigned DataW = 512,
  parameter int unsigned DescW = 48,
  localparam int unsigned PeerW = $clog2(Peers),
  localparam type index_t = logic [PeerW-1:0]
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  // -- the link
  input  logic             head_valid_i,
  output logic             head_ready_o,
  input  index_t           head_peer_i,
  input  segment_t         head_segment_i,
  input  logic [DescW-1:0] head_desc_i,
  input  logic             valid_i,
  output logic             ready_o,
  input  logic [DataW-1:0] data_i,
  input  logic             last_i,

  // -- the state
  output logic             ask_valid_o,
  output index_t           ask_peer_o,
  output segment_t         ask_segment_o,
  output logic             ask_again_o,
  input  logic             judged_i,
  input  logic             deliver_i,
  input  logic             again_i,
  input  logic             done_i,
  // What has happened, to be reported; that numbers began anew with an arrival waits for its turn.
  input  transport_event_t event_i,
  input  index_t           event_peer_i,
  output transport_event_t event_o,
  output index_t           event_peer_o,

  // -- the sink
  output logic             d_valid_o,
  input  logic             d_ready_i,
  output index_t           d_peer_o,
  output logic [DescW-1:0] d_desc_o,
  output logic [DataW-1:0] d_data_o,
  output logic             d_last_o
);
  // -- heads: to be judged, and until the last word has gone
  logic asks_room, goes_room, there, ends, take;
  logic [2:0] unused_asks, unused_goes, unused_count;
  index_t peer;
  logic [DescW-1:0] desc;
  assign head_ready_o = asks_room && goes_room;
  assign take = head_valid_i && head_ready_o;
  logic ask_valid, waits_q;
  rl_fifo #(
    .Width(PeerW + $bits(segment_t)),
    .Depth(4)
  ) u_asks (
    .clk_i,
    .rst_ni,
    .wvalid_i(take),
    .wready_o(asks_room),
    .wdata_i({head_peer_i, head_segment_i}),
    .rvalid_o(ask_valid),
    .rready_i(done_i),
    .rdata_o({ask_peer_o, ask_segment_o}),
    .count_o(unused_asks)
  );
  assign ask_valid_o = ask_valid && !waits_q;
  rl_fifo #(
    .Width(PeerW + DescW),
    .Depth(4)
  ) u_goes (
    .clk_i,
    .rst_ni,
    .wvalid_i(take),
    .wready_o(goes_room),
    .wdata_i({head_peer_i, head_desc_i}),
    .rvalid_o(there),
    .rready_i(ends),
    .rdata_o({peer, desc}),
    .count_o(unused_goes)
  );
  logic judged_valid, delivers, unused_ready;
  rl_fifo #(
    .Width(1),
    .Depth(4)
  ) u_judged (
    .clk_i,
    .rst_ni,
    .wvalid_i(judged_i && !again_i),
    .wready_o(unused_ready),
    .wdata_i(deliver_i),
    .rvalid_o(judged_valid),
    .rready_i(ends),
    .rdata_o(delivers),
    .count_o(unused_count)
  );

  // -- words
  logic d_moves, passes;
  assign d_moves = d_ready_i || !d_valid_o;
  assign ready_o = judged_valid && (!delivers || d_moves);
  assign passes = valid_i && ready_o;
  assign ends = passes && last_i;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) d_valid_o <= 1'b0;
    else if (d_moves) d_valid_o <= passes && delivers;
  end
  always_ff @(posedge clk_i) begin
    if (d_moves) begin
      d_peer_o <= peer;
      d_desc_o <= desc;
      d_data_o <= data_i;
      d_last_o <= last_i;
    end
  end

  // -- lives: what has happened is looked at a cycle later, for nothing more is judged so soon
  logic judged_q, moves, tells;
  transport_event_t event_q;
  count_t lost_q;
  index_t event_peer_q, lost_peer_q;
  assign moves = judged_q && event_q.restarted;
  assign tells = waits_q && !judged_valid && !d_valid_o && event_q == '0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      waits_q <= 1'b0;
      ask_again_o <= 1'b0;
      judged_q <= 1'b0;
      event_q <= '0;
      event_o <= '0;
    end else begin
      waits_q <= moves || (waits_q && !tells);
      ask_again_o <= (judged_i && again_i) || (ask_again_o && !done_i);
      judged_q <= judged_i;
      event_q <= event_i;
      event_o <= event_q;
      if (moves || tells) {event_o.restarted, event_o.lost} <= tells ? {1'b1, lost_q} : '0;
    end
  end
  always_ff @(posedge clk_i) begin
    event_peer_q <= event_peer_i;
    if (moves) {lost_peer_q, lost_q} <= {event_peer_q, event_q.lost};
    event_peer_o <= tells ? lost_peer_q : event_peer_q;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (judged_i && !again_i) JudgedHasRoom_A : assert (unused_ready);
      if (judged_valid) HasItsHead_A : assert (there);
    end
  end
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
