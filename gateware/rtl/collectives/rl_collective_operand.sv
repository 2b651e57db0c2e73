// What a copy or a reduction reads: a range of memory, in bursts that are asked for as far ahead as there is room, and
// its words, from its first byte on. Bytes behind its last mean nothing.
//
// It says what may be written: results whose words are here, of bursts that have come whole and without a failure.
module rl_collective_operand #(
  parameter int unsigned DataW = 64,
  parameter int unsigned Burst = 16,     // As rl_bridge_burst says.
  parameter int unsigned Depth = 256,    // Beats that are asked for or here, a power of two, two bursts at least.
  localparam int unsigned Bytes = DataW / 8,
  localparam int unsigned FineW = $clog2(Bytes),
  localparam int unsigned BeatW = 40 - FineW
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              forget_i,    // What is here goes nowhere. Only while it rests.

  input  logic              begin_i,     // While it rests.
  input  logic [39:0]       addr_i,      // Of the first byte. Steady until forget_i, as is:
  input  logic [28:0]       length_i,    // bytes, one or more.
  input  logic              stop_i,      // Something has failed: no more is asked for, and no more may be written.
  output logic              rests_o,     // All that was asked for has come, and no more will be.

  output logic              ar_valid_o,
  input  logic              ar_ready_i,
  output logic [BeatW-1:0]  ar_beat_o,
  output logic [7:0]        ar_len_o,
  input  logic              r_valid_i,   // Taken at once.
  input  logic [DataW-1:0]  r_data_i,
  input  logic              r_failed_i,
  input  logic              r_last_i,

  // -- a burst of results
  output logic              covers_o,    // What the next one needs is here: that stays until
  input  logic              claim_i,     // it is taken,
  input  logic [7:0]        len_i,       // with so many beats, less 1.

  output logic              valid_o,
  input  logic              ready_i,
  output logic [DataW-1:0]  data_o,
  output logic              last_o
);
  localparam int unsigned CountW = $clog2(Depth) + 1;
  typedef logic [CountW-1:0] count_t;
  count_t owed_q, free_q;  // Beats that memory owes, and those that may be asked for.
  logic [CountW:0] ahead_q;   // Beats of whole bursts, beyond those of the results that are claimed.
  logic [7:0] came_q;         // Beats of the burst that comes.
  logic all_q, asked_all, asks, ends, takes, comes;
  logic [FineW-1:0] offset;
  assign offset = addr_i[FineW-1:0];
  assign asks = ar_valid_o && ar_ready_i;
  rl_collective_range #(
    .DataW(DataW),
    .Burst(Burst)
  ) u_range (
    .clk_i,
    .rst_ni,
    .begin_i,
    .addr_i,
    .length_i,
    .stop_i,
    .done_o(asked_all),
    .may_i(free_q >= count_t'(Burst)),
    .valid_o(ar_valid_o),
    .ready_i(ar_ready_i),
    .beat_o(ar_beat_o),
    .len_o(ar_len_o)
  );
  assign rests_o = asked_all && owed_q == '0;
  assign ends = asked_all && owed_q == count_t'(1);
  assign comes = r_valid_i && r_last_i && !r_failed_i && !stop_i;
  // If words begin in the middle of a beat, a burst of results needs a beat more than it has.
  assign covers_o = all_q || ahead_q >= (CountW + 1)'(Burst) + (CountW + 1)'(offset != '0);
  always_ff @(posedge clk_i) begin
    if (!rst_ni || forget_i) begin
      owed_q <= '0;
      free_q <= count_t'(Depth);
      ahead_q <= '0;
      came_q <= '0;
      all_q <= 1'b0;
    end else begin
      owed_q <= owed_q + (asks ? count_t'(ar_len_o) + 1'b1 : '0) - count_t'(r_valid_i);
      free_q <= free_q - (asks ? count_t'(ar_len_o) + 1'b1 : '0) + count_t'(takes);
      came_q <= r_valid_i && r_last_i ? '0 : came_q + 8'(r_valid_i);
      ahead_q <= ahead_q + (comes ? (CountW + 1)'(came_q) + 1'b1 : '0) -
          (claim_i ? (CountW + 1)'(len_i) + 1'b1 : '0);
      if (comes && ends) all_q <= 1'b1;
    end
  end

  logic room, beat_valid, beat_ready, beat_last, more;
  logic [DataW-1:0] beat;
  logic [FineW-1:0] last_at;
  logic [FineW:0] reach;
  logic [CountW-1:0] unused_stored;
  rl_fifo #(
    .Width(DataW + 1),
    .Depth(Depth),
    .Block(1'b1)
  ) u_beats (
    .clk_i,
    .rst_ni(rst_ni && !forget_i),
    .wvalid_i(r_valid_i),
    .wready_o(room),
    .wdata_i({ends, r_data_i}),
    .rvalid_o(beat_valid),
    .rready_i(beat_ready),
    .rdata_o({beat_last, beat}),
    .count_o(unused_stored)
  );
  assign takes = beat_valid && beat_ready;
  assign last_at = FineW'(length_i - 1'b1);
  assign reach = {1'b0, offset} + {1'b0, last_at};
  assign more = reach[FineW];
  rl_bridge_gather #(
    .DataW(DataW)
  ) u_gather (
    .clk_i,
    .rst_ni(rst_ni && !forget_i),
    .s_valid_i(beat_valid),
    .s_ready_o(beat_ready),
    .s_offset_i(offset),
    .s_more_i(more),
    .s_data_i(beat),
    .s_last_i(beat_last),
    .m_valid_o(valid_o),
    .m_ready_i(ready_i),
    .m_data_o(data_o),
    .m_last_o(last_o)
  );
  logic unused;
  assign unused = ^{room, unused_stored, reach[FineW-1:0]};
`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (rst_ni && r_valid_i) HasRoom_A : assert (room && owed_q != '0);
`endif
endmodule
