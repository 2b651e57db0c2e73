// Copies and reductions within a card's memory: one at a time, in pieces, each of which is here whole before any of it
// is written. Any alignment; the two ranges do not overlap, but those of a reduction may be the same.
//
// A reduction reads what its command has at `from`, its right operands, and what it has at `to`, its left ones, where
// the results go.
module rl_collective_local
  import rl_collective_pkg::*;
#(
  parameter int unsigned DataW = 64,
  parameter int unsigned Burst = 16,      // As rl_bridge_burst says.
  parameter int unsigned Piece = 1024,    // Bytes that are read at once, a power of two and two words at least.
  localparam int unsigned Bytes = DataW / 8,
  localparam int unsigned FineW = $clog2(Bytes),
  localparam int unsigned BeatW = 40 - FineW
) (
  input  logic              clk_i,
  input  logic              rst_ni,

  input  logic              begin_i,      // Not while busy_o.
  input  command_t          command_i,    // A copy or a reduction of one byte or more.
  output logic              busy_o,
  output logic              end_o,        // Memory has answered for all of it: for one cycle;
  output logic              failed_o,     // some of it by an error. With end_o.

  output logic              ar_valid_o,
  input  logic              ar_ready_i,
  output logic [BeatW-1:0]  ar_beat_o,
  output logic [7:0]        ar_len_o,
  input  logic              r_valid_i,    // Taken at once.
  input  logic [DataW-1:0]  r_data_i,
  input  logic              r_failed_i,
  output logic              aw_valid_o,
  input  logic              aw_ready_i,
  output logic [39:0]       aw_addr_o,
  output logic [7:0]        aw_len_o,
  output logic              w_valid_o,
  input  logic              w_ready_i,
  output logic [DataW-1:0]  w_data_o,
  output logic [Bytes-1:0]  w_strb_o,
  output logic              w_last_o,
  input  logic              b_valid_i,    // Taken at once.
  input  logic [1:0]        b_resp_i
);
  localparam int unsigned Depth = 2 * Piece / Bytes;
  typedef enum logic [2:0] {
    Idle,
    Ask,
    AskLeft,
    Read,
    Write,    // Its range,
    Words,    // and its words.
    Settle
  } state_e;
  state_e state_q;
  logic reduces_q, failed_q, range_ready, unused_range_last, asks_left, has_come;
  op_e op_q;
  datatype_e datatype_q;
  logic [39:0] from_q, to_q;
  logic [28:0] left_q;
  logic [15:0] size, words, here_q;
  logic [1:0][15:0] beats;  // Of what is at from_q, and of what is at to_q.
  logic [1:0][FineW-1:0] offsets;
  assign busy_o = state_q != Idle;
  assign size = left_q < 29'(Piece) ? left_q[15:0] : 16'(Piece);
  assign words = 16'((17'(size) + 17'(Bytes - 1)) >> FineW);
  assign offsets = {to_q[FineW-1:0], from_q[FineW-1:0]};
  for (genvar i = 0; i < 2; i++) begin : gen_beats
    assign beats[i] = 16'((17'(size) + 17'(offsets[i]) + 17'(Bytes - 1)) >> FineW);
  end
  assign asks_left = state_q == AskLeft;
  rl_bridge_burst #(
    .AddrW(40),
    .DataW(DataW),
    .Burst(Burst)
  ) u_range (
    .clk_i,
    .rst_ni,
    .valid_i(state_q == Ask || asks_left),
    .ready_o(range_ready),
    .beat_i(asks_left ? to_q[39:FineW] : from_q[39:FineW]),
    .beats_i(beats[asks_left]),
    .valid_o(ar_valid_o),
    .ready_i(ar_ready_i),
    .beat_o(ar_beat_o),
    .len_o(ar_len_o),
    .last_o(unused_range_last)
  );

  // -- what has come, in the order in which it was asked for
  logic is_left, word_valid, word_last, word_ready;
  logic [1:0] piece_valid, piece_ready, piece_last;
  logic [1:0][DataW-1:0] pieces;
  logic [DataW-1:0] word;
  assign is_left = here_q >= beats[0];
  assign has_come = here_q == beats[0] + (reduces_q ? beats[1] : '0);
  for (genvar i = 0; i < 2; i++) begin : gen_piece
    rl_collective_piece #(
      .DataW(DataW),
      .Depth(Depth)
    ) u_piece (
      .clk_i,
      .rst_ni,
      .forget_i(state_q == Settle),  // What is left of one that failed.
      .offset_i(offsets[i]),
      .beats_i(beats[i]),
      .words_i(words),
      .valid_i(r_valid_i && is_left == 1'(i)),
      .data_i(r_data_i),
      .goes_i(state_q == Words && (i == 0 || reduces_q)),
      .valid_o(piece_valid[i]),
      .ready_i(piece_ready[i]),
      .data_o(pieces[i]),
      .last_o(piece_last[i])
    );
  end

  // -- words of a copy go on as they are, those of a reduction through it
  logic both, reduce_ready, result_valid, result_last;
  logic [DataW-1:0] result;
  assign both = &piece_valid && reduces_q;
  assign piece_ready[0] = reduces_q ? both && reduce_ready : word_ready;
  assign piece_ready[1] = both && reduce_ready;
  rl_collective_reduce #(
    .DataW(DataW)
  ) u_reduce (
    .clk_i,
    .rst_ni,
    .op_i(op_q),
    .datatype_i(datatype_q),
    .valid_i(both),
    .ready_o(reduce_ready),
    .left_i(pieces[1]),
    .right_i(pieces[0]),
    .last_i(piece_last[0]),
    .valid_o(result_valid),
    .ready_i(word_ready),
    .result_o(result),
    .last_o(result_last)
  );
  assign word_valid = reduces_q ? result_valid : piece_valid[0];
  assign word_last = reduces_q ? result_last : piece_last[0];
  assign word = reduces_q ? result : pieces[0];
  logic spread_valid, spread_ready, spread_last, addresses, rests, ends, unused_side;
  logic [DataW-1:0] spread_data;
  logic [Bytes-1:0] spread_strb;
  rl_bridge_spread #(
    .DataW(DataW),
    .SideW(1)
  ) u_spread (
    .clk_i,
    .rst_ni,
    .s_valid_i(word_valid),
    .s_ready_o(word_ready),
    .s_side_i(1'b0),
    .s_offset_i(to_q[FineW-1:0]),
    .s_length_i(size),
    .s_data_i(word),
    .s_last_i(word_last),
    .m_valid_o(spread_valid),
    .m_ready_i(spread_ready),
    .m_side_o(unused_side),
    .m_data_o(spread_data),
    .m_strb_o(spread_strb),
    .m_last_o(spread_last)
  );
  logic unused_small, unused_written, unused_failed, unused_b;
  logic [6:0] unused_number;
  rl_bridge_store #(
    .Nodes(2),
    .DataW(DataW),
    .AddrW(40),
    .Burst(Burst)
  ) u_store (
    .clk_i,
    .rst_ni,
    .node_i(1'b0),
    .number_o(unused_number),
    .begin_i(state_q == Write),
    .addr_i(to_q),
    .length_i(size),
    .valid_i(spread_valid),
    .ready_o(spread_ready),
    .data_i(spread_data),
    .strb_i(spread_strb),
    .last_i(spread_last),
    .addresses_o(addresses),
    .rests_o(rests),
    .small_i(1'b0),
    .small_valid_i(1'b0),
    .small_ready_o(unused_small),
    .small_last_i(1'b0),
    .small_addr_i('0),
    .small_data_i('0),
    .small_strb_i('0),
    .asked_node_i(1'b0),
    .asked_number_i('0),
    .written_o(unused_written),
    .failed_o(unused_failed),
    .awvalid_o(aw_valid_o),
    .awready_i(aw_ready_i),
    .awaddr_o(aw_addr_o),
    .awlen_o(aw_len_o),
    .wvalid_o(w_valid_o),
    .wready_i(w_ready_i),
    .wdata_o(w_data_o),
    .wstrb_o(w_strb_o),
    .wlast_o(w_last_o),
    .bvalid_i(b_valid_i),
    .bready_o(unused_b),
    .bresp_i(b_resp_i)
  );
  assign ends = spread_valid && spread_ready && spread_last;
  assign end_o = state_q == Settle && rests;
  assign failed_o = failed_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) state_q <= Idle;
    else
      case (state_q)
        Idle: if (begin_i) state_q <= Ask;
        Ask: if (range_ready) state_q <= reduces_q ? AskLeft : Read;
        AskLeft: if (range_ready) state_q <= Read;
        Read: if (has_come) state_q <= failed_q ? Settle : Write;
        Write: state_q <= Words;
        // The next piece is read while memory answers for this one.
        Words: if (ends) state_q <= left_q == 29'(size) ? Settle : Ask;
        default: if (rests) state_q <= Idle;
      endcase
  end
  always_ff @(posedge clk_i) begin
    if (state_q == Idle) begin
      reduces_q <= command_i.code == Reduce;
      op_q <= op_e'(command_i.port[2:0]);
      datatype_q <= datatype_e'(command_i.tag[3:0]);
      from_q <= command_i.from;
      to_q <= command_i.to;
      left_q <= command_i.length;
      failed_q <= 1'b0;
    end else begin
      if (ends) begin
        from_q <= from_q + 40'(size);
        to_q <= to_q + 40'(size);
        left_q <= left_q - 29'(size);
      end
      if ((r_valid_i && r_failed_i) || (b_valid_i && b_resp_i != '0)) failed_q <= 1'b1;
    end
    here_q <= state_q == Ask ? '0 : here_q + 16'(r_valid_i);
  end
  logic unused;
  assign unused = ^{unused_range_last, unused_small, unused_written, unused_failed, unused_b, unused_side,
                    unused_number, piece_last[1], command_i};
`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni && both && reduce_ready) EndTogether_A : assert (piece_last[0] == piece_last[1]);
    if (rst_ni && state_q == Write) InTurn_A : assert (!addresses);
  end
`endif
endmodule
