// Copies and reductions within a card's memory, one at a time, as streams: while what has come is written, more is
// read. A burst of results is written when all that it is made of is here, so who reads slowly keeps nobody from
// writing, and nothing is written of what could not be read. Any alignment; the two ranges do not overlap, but those of
// a reduction may be the same: of that each word is read before its result is written.
//
// A reduction reads what its command has at `from`, its right operands, and what it has at `to`, its left ones, where
// the results go. A port gives a word a cycle, so it takes two cycles for a word, and a copy takes one.
module rl_collective_local
  import rl_collective_pkg::*;
#(
  parameter int unsigned DataW = 64,
  parameter int unsigned Burst = 16,      // As rl_bridge_burst says.
  parameter int unsigned Depth = 256,     // As rl_collective_operand says: cycles that memory may take at full rate.
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
  input  logic              r_last_i,
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
  // -- the command: it begins a cycle later
  logic starts_q, reduces_q, failed_q, forgets;
  op_e op_q;
  datatype_e datatype_q;
  logic [39:0] from_q, to_q;
  logic [28:0] length_q;
  logic [1:0] reads_rest;
  logic writes_rest;
  assign end_o = busy_o && !starts_q && &reads_rest && writes_rest;
  assign failed_o = failed_q;
  assign forgets = !busy_o;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_o <= 1'b0;
      starts_q <= 1'b0;
    end else begin
      busy_o <= begin_i || (busy_o && !end_o);
      starts_q <= begin_i;
    end
  end
  always_ff @(posedge clk_i) begin
    if (!busy_o) begin
      reduces_q <= command_i.code == Reduce;
      op_q <= op_e'(command_i.port[2:0]);
      datatype_q <= datatype_e'(command_i.tag[3:0]);
      from_q <= command_i.from;
      to_q <= command_i.to;
      length_q <= command_i.length;
      failed_q <= 1'b0;
    end else if ((r_valid_i && r_failed_i) || (b_valid_i && b_resp_i != '0)) failed_q <= 1'b1;
  end

  // -- what is read: the right operands, or what is copied, and the left ones
  logic [1:0] ar_valid, ar_ready, comes, covers, valid, ready, last;
  logic [1:0][BeatW-1:0] ar_beat;
  logic [1:0][7:0] ar_len;
  logic [1:0][39:0] addr;
  logic [1:0][DataW-1:0] data;
  logic aw_take;
  assign addr = {to_q, from_q};
  for (genvar i = 0; i < 2; i++) begin : gen_operand
    rl_collective_operand #(
      .DataW(DataW),
      .Burst(Burst),
      .Depth(Depth)
    ) u_operand (
      .clk_i,
      .rst_ni,
      .forget_i(forgets),
      .begin_i(starts_q && (i == 0 || reduces_q)),
      .addr_i(addr[i]),
      .length_i(length_q),
      .stop_i(failed_q),
      .rests_o(reads_rest[i]),
      .ar_valid_o(ar_valid[i]),
      .ar_ready_i(ar_ready[i]),
      .ar_beat_o(ar_beat[i]),
      .ar_len_o(ar_len[i]),
      .r_valid_i(comes[i]),
      .r_data_i,
      .r_failed_i,
      .r_last_i,
      .covers_o(covers[i]),
      .claim_i(aw_take),
      .len_i(aw_len_o),
      .valid_o(valid[i]),
      .ready_i(ready[i]),
      .data_o(data[i]),
      .last_o(last[i])
    );
  end
  rl_collective_reads #(
    .BeatW(BeatW)
  ) u_reads (
    .clk_i,
    .rst_ni,
    .s_valid_i(ar_valid),
    .s_ready_o(ar_ready),
    .s_beat_i(ar_beat),
    .s_len_i(ar_len),
    .s_come_o(comes),
    .ar_valid_o,
    .ar_ready_i,
    .ar_beat_o,
    .ar_len_o,
    .r_valid_i,
    .r_last_i
  );

  // -- words of a copy go on as they are, those of a reduction through it
  logic both, reduce_ready, result_valid, result_last, word_valid, word_last, word_ready;
  logic [DataW-1:0] result, word;
  assign both = &valid && reduces_q;
  assign ready[0] = reduces_q ? both && reduce_ready : word_ready;
  assign ready[1] = both && reduce_ready;
  rl_collective_reduce #(
    .DataW(DataW)
  ) u_reduce (
    .clk_i,
    .rst_ni(rst_ni && !forgets),
    .op_i(op_q),
    .datatype_i(datatype_q),
    .valid_i(both),
    .ready_o(reduce_ready),
    .left_i(data[1]),
    .right_i(data[0]),
    .last_i(last[0]),
    .valid_o(result_valid),
    .ready_i(word_ready),
    .result_o(result),
    .last_o(result_last)
  );
  assign word_valid = reduces_q ? result_valid : valid[0];
  assign word_last = reduces_q ? result_last : last[0];
  assign word = reduces_q ? result : data[0];
  logic spread_valid, spread_last, unused_side;
  logic [2:0] opened_q;  // Bursts whose address is taken, and not the last beat.
  rl_bridge_spread #(
    .DataW(DataW),
    .SideW(1)
  ) u_spread (
    .clk_i,
    .rst_ni(rst_ni && !forgets),
    .s_valid_i(word_valid),
    .s_ready_o(word_ready),
    .s_side_i(1'b0),
    .s_offset_i(to_q[FineW-1:0]),
    .s_length_i(16'({1'b1, length_q[FineW-1:0]})),  // No more of it matters.
    .s_data_i(word),
    .s_last_i(word_last),
    .m_valid_o(spread_valid),
    .m_ready_i(w_ready_i && opened_q != '0),
    .m_side_o(unused_side),
    .m_data_o(w_data_o),
    .m_strb_o(w_strb_o),
    .m_last_o(spread_last)
  );

  // -- what is written: an address, and then its words
  localparam int unsigned BurstW = $clog2(Burst);
  logic [5:0] owed_q;  // Bursts that memory has not answered.
  logic [BurstW-1:0] beat_q;
  logic [BeatW-1:0] aw_beat;
  logic aw_all, w_ends;
  rl_collective_range #(
    .DataW(DataW),
    .Burst(Burst)
  ) u_range (
    .clk_i,
    .rst_ni,
    .begin_i(starts_q),
    .addr_i(to_q),
    .length_i(length_q),
    .stop_i(failed_q),
    .done_o(aw_all),
    .may_i(covers[0] && (covers[1] || !reduces_q) && !(&opened_q) && !(&owed_q)),
    .valid_o(aw_valid_o),
    .ready_i(aw_ready_i),
    .beat_o(aw_beat),
    .len_o(aw_len_o)
  );
  assign aw_addr_o = {aw_beat, FineW'(0)};
  assign aw_take = aw_valid_o && aw_ready_i;
  assign w_valid_o = spread_valid && opened_q != '0;
  assign w_last_o = spread_last || (&beat_q);
  assign w_ends = w_valid_o && w_ready_i && w_last_o;
  assign writes_rest = aw_all && owed_q == '0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      opened_q <= '0;
      owed_q <= '0;
    end else begin
      opened_q <= opened_q + 3'(aw_take) - 3'(w_ends);
      owed_q <= owed_q + 6'(aw_take) - 6'(b_valid_i);
    end
  end
  always_ff @(posedge clk_i) begin
    if (starts_q) beat_q <= to_q[FineW+:BurstW];
    else if (w_valid_o && w_ready_i) beat_q <= beat_q + 1'b1;
  end
  logic unused;
  assign unused = ^{unused_side, last[1], command_i};
`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni && both && reduce_ready) EndTogether_A : assert (last[0] == last[1]);
    if (rst_ni && end_o) AllIsWritten_A : assert (opened_q == '0);
  end
`endif
endmodule
