// Segments to the link, in the order in which they were judged: with the frame that comes in, one that was stored, or
// none. A few wait here, so that the link never waits for a judgement.
module rl_transport_out
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

  // -- what is to be sent
  input  logic             sends_i,
  input  logic             is_coming_i,   // With the frame that comes in; otherwise KindData comes with one stored.
  input  index_t           peer_i,
  input  segment_t         segment_i,
  output logic             free_o,        // There is room for three.
  output logic             alone_o,       // None with a frame that was stored is here.

  // -- the frame that comes in, and the one that was stored: their words
  output logic             coming_moves_o,  // It has its turn, and its next word is taken if it is there.
  input  logic             coming_valid_i,
  input  logic [DataW-1:0] coming_data_i,
  input  logic [DescW-1:0] coming_desc_i,
  input  logic             coming_last_i,
  input  logic             stored_valid_i,
  output logic             stored_take_o,
  input  logic [DataW-1:0] stored_data_i,
  input  logic [DescW-1:0] stored_desc_i,
  input  logic             stored_last_i,

  // -- the link
  output logic             tx_valid_o,
  input  logic             tx_ready_i,
  output index_t           tx_peer_o,
  output segment_t         tx_segment_o,
  output logic [DescW-1:0] tx_desc_o,
  output logic [DataW-1:0] tx_data_o,
  output logic             tx_last_o
);
  typedef enum logic [1:0] {
    Nothing,
    Coming,
    Stored
  } payload_e;
  typedef struct packed {
    payload_e from;
    index_t   peer;
    segment_t segment;
  } item_t;
  item_t judged, now;
  logic now_valid, unused_ready, there, last, moves, ends;
  logic [2:0] count, stored_q;
  assign judged = '{
          from : is_coming_i ? Coming : segment_i.kind == KindData ? Stored : Nothing,
          peer: peer_i,
          segment: segment_i
      };
  rl_fifo #(
    .Width($bits(item_t)),
    .Depth(4)
  ) u_items (
    .clk_i,
    .rst_ni,
    .wvalid_i(sends_i),
    .wready_o(unused_ready),
    .wdata_i(judged),
    .rvalid_o(now_valid),
    .rready_i(ends),
    .rdata_o(now),
    .count_o(count)
  );
  // What is taken while it shows is judged two cycles later.
  assign free_o = count <= 1;
  assign alone_o = stored_q == 0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) stored_q <= '0;
    else
      stored_q <= stored_q + 3'(sends_i && judged.from == Stored) - 3'(ends && now.from == Stored);
  end

  assign moves = tx_ready_i || !tx_valid_o;
  assign coming_moves_o = now_valid && now.from == Coming && moves;
  assign stored_take_o = now_valid && now.from == Stored && moves && stored_valid_i;
  always_comb begin
    case (now.from)
      Coming: {there, last} = {coming_valid_i, coming_last_i};
      Stored: {there, last} = {stored_valid_i, stored_last_i};
      default: {there, last} = 2'b11;
    endcase
  end
  assign ends = now_valid && there && moves && last;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) tx_valid_o <= 1'b0;
    else if (moves) tx_valid_o <= now_valid && there;
  end
  always_ff @(posedge clk_i) begin
    if (moves) begin
      tx_peer_o <= now.peer;
      tx_segment_o <= now.segment;
      tx_desc_o <= now.from == Stored ? stored_desc_i : coming_desc_i;
      tx_data_o <= now.from == Stored ? stored_data_i : coming_data_i;
      tx_last_o <= last;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (rst_ni && sends_i) OutHasRoom_A : assert (unused_ready);
  rl_stays #(
    .Width(PeerW + $bits(segment_t) + DataW + 1)
  ) u_tx_stays (
    .clk_i,
    .rst_ni,
    .valid_i(tx_valid_o),
    .ready_i(tx_ready_i),
    .data_i({tx_peer_o, tx_segment_o, tx_data_o, tx_last_o})
  );
`endif
endmodule
