// Frames of several sources in turn: first their heads, then their words, which are turned so that the first byte comes
// first. A head for which the transport has no room is passed over for another source's, and its own learns of it.
module rl_bridge_offer
  import rl_bridge_node_pkg::*;
#(
  parameter int unsigned Sources = 4,  // A power of two.
  parameter int unsigned DataW = 512,
  localparam int unsigned Bytes = DataW / 8,
  localparam int unsigned FineW = $clog2(Bytes)
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic [Sources-1:0]             q_valid_i,    // Stays, as it is, until it is taken or refused.
  output logic [Sources-1:0]             q_ready_o,
  output logic [Sources-1:0]             q_refused_o,
  input  node_t [Sources-1:0]            q_node_i,
  input  head_t [Sources-1:0]            q_head_i,
  input  logic [Sources-1:0][FineW-1:0]  q_offset_i,   // Where in the first word the first byte is.
  input  logic [Sources-1:0]             q_stream_i,   // The frame is of the channel of streams. Steady.
  input  logic [Sources-1:0]             w_valid_i,
  output logic [Sources-1:0]             w_ready_o,
  input  logic [Sources-1:0][DataW-1:0]  w_data_i,
  input  logic [Sources-1:0]             w_last_i,

  output logic                           h_valid_o,
  input  logic                           h_ready_i,
  input  logic                           h_room_i,     // As the transport's s_room_o.
  output node_t                          h_node_o,
  output logic                           h_stream_o,
  output head_t                          h_head_o,
  output logic                           s_valid_o,
  input  logic                           s_ready_i,
  output logic [DataW-1:0]               s_data_o,
  output logic                           s_last_o
);
  localparam int unsigned SourceW = $clog2(Sources);
  typedef logic [SourceW-1:0] source_t;
  typedef struct packed {
    source_t          source;
    logic [FineW-1:0] offset;
    logic             more;    // There is one word more than of the frame.
  } frame_t;

  // -- heads
  source_t which_q, chosen;
  logic offers_q, any, order_ready;
  logic [1:0] waits_q;
  always_comb begin
    any = 1'b0;
    chosen = which_q;
    for (int unsigned i = 0; i < Sources; i++) begin
      source_t s;
      s = which_q + source_t'(1) + source_t'(i);
      if (q_valid_i[s] && !any) begin
        any = 1'b1;
        chosen = s;
      end
    end
  end
  logic taken, refused;
  assign h_valid_o = offers_q && order_ready;
  assign h_node_o = q_node_i[which_q];
  assign h_stream_o = q_stream_i[which_q];
  assign h_head_o = q_head_i[which_q];
  assign taken = h_valid_o && h_ready_i;
  assign refused = h_valid_o && !h_ready_i && !h_room_i && (&waits_q);
  for (genvar s = 0; s < int'(Sources); s++) begin : gen_source
    assign q_ready_o[s] = taken && which_q == source_t'(s);
    assign q_refused_o[s] = refused && which_q == source_t'(s);
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      offers_q <= 1'b0;
      which_q <= '0;
    end else if (offers_q) begin
      if (taken || refused) offers_q <= 1'b0;
    end else begin
      offers_q <= any;
      which_q <= chosen;
    end
    waits_q <= !h_valid_o || h_room_i ? '0 : waits_q + 2'(!(&waits_q));
  end

  // -- words
  frame_t next, now;
  logic now_valid, gather_ready, ends;
  logic [FineW:0] span;
  logic [2:0] unused_count;
  assign span = {1'b0, q_offset_i[which_q]} + {1'b0, FineW'(h_head_o.length - 1'b1)};
  assign next = '{source: which_q, offset: q_offset_i[which_q], more: span[FineW] && h_head_o.length != 0};
  rl_fifo #(
    .Width($bits(frame_t)),
    .Depth(4)
  ) u_order (
    .clk_i,
    .rst_ni,
    .wvalid_i(taken),
    .wready_o(order_ready),
    .wdata_i(next),
    .rvalid_o(now_valid),
    .rready_i(ends),
    .rdata_o(now),
    .count_o(unused_count)
  );
  logic word_valid;
  assign word_valid = now_valid && w_valid_i[now.source];
  assign ends = word_valid && gather_ready && w_last_i[now.source];
  for (genvar s = 0; s < int'(Sources); s++) begin : gen_words
    assign w_ready_o[s] = now_valid && now.source == source_t'(s) && gather_ready;
  end
  rl_bridge_gather #(
    .DataW(DataW)
  ) u_gather (
    .clk_i,
    .rst_ni,
    .s_valid_i(word_valid),
    .s_ready_o(gather_ready),
    .s_offset_i(now.offset),
    .s_more_i(now.more),
    .s_data_i(w_data_i[now.source]),
    .s_last_i(w_last_i[now.source]),
    .m_valid_o(s_valid_o),
    .m_ready_i(s_ready_i),
    .m_data_o(s_data_o),
    .m_last_o(s_last_o)
  );
  logic unused;
  assign unused = ^unused_count;
endmodule
