// Copies within a card's memory: one at a time, in pieces of 1 KiB, each of which is here whole before any of it is
// written. Any alignment; the two ranges do not overlap.
module rl_collective_local
  import rl_collective_pkg::*;
#(
  parameter int unsigned DataW = 64,
  parameter int unsigned Burst = 16,      // As rl_bridge_burst says.
  localparam int unsigned Bytes = DataW / 8,
  localparam int unsigned FineW = $clog2(Bytes),
  localparam int unsigned BeatW = 40 - FineW
) (
  input  logic              clk_i,
  input  logic              rst_ni,

  input  logic              begin_i,      // Not while busy_o.
  input  logic [39:0]       from_i,
  input  logic [39:0]       to_i,
  input  logic [28:0]       length_i,     // One or more.
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
  localparam int unsigned Piece = 1024;  // Bytes.
  localparam int unsigned Depth = 2 * Piece / Bytes;
  typedef enum logic [2:0] {
    Idle,
    Ask,
    Read,
    Write,   // Its range,
    Words,   // and its words.
    Settle
  } state_e;
  state_e state_q;
  logic [39:0] from_q, to_q;
  logic [28:0] left_q;
  logic [15:0] size, words, beats, here_q, out_q;
  logic failed_q, range_ready, unused_range_last, room, unused_room;
  assign busy_o = state_q != Idle;
  assign size = left_q < 29'(Piece) ? left_q[15:0] : 16'(Piece);
  assign words = 16'((17'(size) + 17'(Bytes - 1)) >> FineW);
  assign beats = 16'((17'(size) + 17'(from_q[FineW-1:0]) + 17'(Bytes - 1)) >> FineW);
  rl_bridge_burst #(
    .AddrW(40),
    .DataW(DataW),
    .Burst(Burst)
  ) u_range (
    .clk_i,
    .rst_ni,
    .valid_i(state_q == Ask),
    .ready_o(range_ready),
    .beat_i(from_q[39:FineW]),
    .beats_i(beats),
    .valid_o(ar_valid_o),
    .ready_i(ar_ready_i),
    .beat_o(ar_beat_o),
    .len_o(ar_len_o),
    .last_o(unused_range_last)
  );
  logic beat_valid, beat_take, gather_ready, word_valid, word_last, word_ready;
  logic [DataW-1:0] beat, word;
  logic [$clog2(Depth):0] unused_stored;
  rl_fifo #(
    .Width(DataW),
    .Depth(Depth),
    .Block(1'b1)
  ) u_piece (
    .clk_i,
    .rst_ni(rst_ni && state_q != Settle),  // What is left of a piece that failed goes nowhere.
    .wvalid_i(r_valid_i),
    .wready_o(room),
    .wdata_i(r_data_i),
    .rvalid_o(beat_valid),
    .rready_i(beat_take),
    .rdata_o(beat),
    .count_o(unused_stored)
  );
  assign beat_take = state_q == Words && beat_valid && gather_ready;
  rl_bridge_gather #(
    .DataW(DataW)
  ) u_gather (
    .clk_i,
    .rst_ni,
    .s_valid_i(state_q == Words && beat_valid),
    .s_ready_o(gather_ready),
    .s_offset_i(from_q[FineW-1:0]),
    .s_more_i(beats != words),
    .s_data_i(beat),
    .s_last_i(out_q == beats - 1'b1),
    .m_valid_o(word_valid),
    .m_ready_i(word_ready),
    .m_data_o(word),
    .m_last_o(word_last)
  );
  logic spread_valid, spread_ready, spread_last, addresses, rests, ends;
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
    .m_side_o(unused_room),
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
        Ask: if (range_ready) state_q <= Read;
        Read: if (here_q == beats) state_q <= failed_q ? Settle : Write;
        Write: state_q <= Words;
        // The next piece is read while memory answers for this one.
        Words: if (ends) state_q <= left_q == 29'(size) ? Settle : Ask;
        default: if (rests) state_q <= Idle;
      endcase
  end
  always_ff @(posedge clk_i) begin
    if (state_q == Idle) begin
      from_q <= from_i;
      to_q <= to_i;
      left_q <= length_i;
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
    out_q <= state_q == Write ? '0 : out_q + 16'(beat_take);
  end
  logic unused;
  assign unused = ^{unused_range_last, room, unused_room, unused_stored, unused_small, unused_written, unused_failed,
                    unused_b, unused_number};
`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni && r_valid_i) HasRoom_A : assert (room);
    if (rst_ni && state_q == Write) InTurn_A : assert (!addresses);
  end
`endif
endmodule
