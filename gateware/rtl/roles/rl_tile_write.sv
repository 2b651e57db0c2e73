// Makes tiles of C from banks with A and B: row by row, a beat a cycle, element by element C = B +
// A, where A may be transposed. What goes into the pipeline has a place in the FIFO at its end.
module rl_tile_write
  import rl_role_pkg::*;
  import rl_tile_pkg::*;
#(
  parameter bit          Transpose = 1'b1,
  parameter int unsigned LogRows = 6,
  parameter int unsigned LogCols = 6
) (
  input  logic         clk_i,
  input  logic         rst_ni,

  input  logic         tile_valid_i,  // It is in the banks.
  output logic         tile_done_o,   // It may go.
  input  tile_t        tile_i,
  input  byte_addr_t   stride_i,
  output logic         idle_o,        // Everything is written, and DDR has said so.

  output logic         bank_tile_o,
  output logic [Lanes*$bits(bank_addr_t)-1:0] a_addr_o,
  output logic [Lanes*$bits(bank_addr_t)-1:0] b_addr_o,
  input  logic [511:0] a_data_i,
  input  logic [511:0] b_data_i,

  output logic                aw_valid_o,
  input  logic                aw_ready_i,
  output logic [AxiAddrW-1:0] aw_addr_o,
  output logic [7:0]          aw_len_o,
  output logic                w_valid_o,
  input  logic                w_ready_i,
  output logic [511:0]        w_data_o,
  output logic [63:0]         w_strb_o,
  output logic                w_last_o,
  input  logic                b_valid_i
);
  localparam int unsigned LogBlocks = LogCols - 4;
  localparam int unsigned Depth = 32;
  localparam int unsigned FaddLatency = 6;
  // Stages from a step of the walk: addresses, bank, turned (2 cycles), sum.
  localparam int unsigned Stages = 4 + FaddLatency;

  // -- addresses of bursts
  logic load, busy_q, ask_valid, ask_last, put_valid, put_step, put_last;
  logic [25:0] ask_number, unused_number;
  logic [3:0] ask_len, unused_len;
  place_t place, unused_place;
  logic unused_ask_end, burst_end;
  assign load = tile_valid_i && !busy_q;
  rl_tile_walk #(
    .Bursts(1'b1)
  ) u_ask (
    .clk_i,
    .rst_ni,
    .load_i(load),
    .addr_i(tile_i.c),
    .stride_i,
    .rows_i(tile_i.rows),
    .cols_i(tile_i.cols),
    .valid_o(ask_valid),
    .step_i(ask_valid && aw_ready_i),
    .number_o(ask_number),
    .len_o(ask_len),
    .place_o(unused_place),
    .burst_end_o(unused_ask_end),
    .last_o(ask_last)
  );
  assign aw_valid_o = ask_valid;
  assign aw_addr_o = AxiAddrW'({ask_number, 6'd0});
  assign aw_len_o = 8'(ask_len);

  // -- beats
  logic [$clog2(Depth):0] free_q;
  logic w_taken;
  rl_tile_walk u_put (
    .clk_i,
    .rst_ni,
    .load_i(load),
    .addr_i(tile_i.c),
    .stride_i,
    .rows_i(tile_i.rows),
    .cols_i(tile_i.cols),
    .valid_o(put_valid),
    .step_i(put_step),
    .number_o(unused_number),
    .len_o(unused_len),
    .place_o(place),
    .burst_end_o(burst_end),
    .last_o(put_last)
  );
  assign put_step = put_valid && free_q != 0;
  assign w_taken = w_valid_o && w_ready_i;
  assign tile_done_o = busy_q && !ask_valid && !put_valid;

  logic [15:0] writes_q;  // Bursts that DDR has not answered.
  assign idle_o = !busy_q && !tile_valid_i && writes_q == 0;

  // -- to the banks
  logic tile_q, bank_tile_q;
  lane_t turn, turn1_q, turn2_q;
  // Bank k has lane k - turn.
  assign turn = Transpose ? place.row[3:0] - place.first : '0;
  logic [8:0] block;
  assign block = 9'({place.row, LogBlocks'(0)}) + place.beat;

  for (genvar k = 0; k < Lanes; k++) begin : gen_addr
    bank_addr_t a_addr, b_addr;
    assign b_addr = 8'(block - 9'(place.below[k]));
    if (Transpose) begin : gen_column
      // Column r of A: its row is C's column.
      logic [LogBlocks-1:0] col_block;
      assign col_block = LogBlocks'(place.beat - 9'(place.below[lane_t'(k)-turn]));
      assign a_addr = {col_block, lane_t'(k) - place.row[3:0], place.row[LogRows-1:4]};
    end else begin : gen_row
      assign a_addr = b_addr;
    end
    always_ff @(posedge clk_i) begin
      a_addr_o[8*k+:8] <= a_addr;
      b_addr_o[8*k+:8] <= b_addr;
    end
  end
  assign bank_tile_o = bank_tile_q;

  // -- sums
  typedef struct packed {
    logic   valid;
    lanes_t used;
    logic   last;
  } stage_t;
  stage_t [Stages-1:0] stages_q;
  logic [511:0] a_turned, b1_q, b2_q, sum;
  rl_tile_rotate u_rotate (
    .clk_i,
    .by_i(-turn2_q),
    .data_i(a_data_i),
    .data_o(a_turned)
  );
  // Adders rest while there is nothing to add, which for a role behind a slow memory is most of the time.
  logic adds, clk_sum;
  always_comb begin
    adds = 1'b0;
    for (int i = 0; i < Stages; i++) adds |= stages_q[i].valid;
  end
  rl_clock_gate u_gate (
    .clk_i,
    .enable_i(adds),
    .clk_o(clk_sum)
  );
  for (genvar l = 0; l < Lanes; l++) begin : gen_sum
    rl_fadd u_fadd (
      .clk_i(clk_sum),
      .a_i(a_turned[32*l+:32]),
      .b_i(b2_q[32*l+:32]),
      .sum_o(sum[32*l+:32])
    );
  end

  always_ff @(posedge clk_i) begin
    bank_tile_q <= tile_q;
    turn1_q <= turn;
    turn2_q <= turn1_q;
    b1_q <= b_data_i;
    b2_q <= b1_q;
    stages_q <= {stages_q[Stages-2:0], put_step, place.used, burst_end};
    if (!rst_ni) begin
      for (int i = 0; i < Stages; i++) stages_q[i].valid <= 1'b0;
      free_q <= ($clog2(Depth) + 1)'(Depth);
      busy_q <= 1'b0;
      tile_q <= 1'b0;
      writes_q <= '0;
    end else begin
      free_q <= free_q - ($clog2(Depth) + 1)'(put_step) + ($clog2(Depth) + 1)'(w_taken);
      busy_q <= load || (busy_q && !tile_done_o);
      if (tile_done_o) tile_q <= !tile_q;
      writes_q <= writes_q + 16'(aw_valid_o && aw_ready_i) - 16'(b_valid_i);
    end
  end

  // -- out
  typedef struct packed {
    logic         last;
    lanes_t       used;
    logic [511:0] data;
  } word_t;
  word_t word;
  logic unused_ready;
  logic [$clog2(Depth):0] unused_count;
  rl_fifo #(
    .Width($bits(word_t)),
    .Depth(Depth)
  ) u_words (
    .clk_i,
    .rst_ni,
    .wvalid_i(stages_q[Stages-1].valid),
    .wready_o(unused_ready),
    .wdata_i({stages_q[Stages-1].last, stages_q[Stages-1].used, sum}),
    .rvalid_o(w_valid_o),
    .rready_i(w_ready_i),
    .rdata_o(word),
    .count_o(unused_count)
  );
  assign w_data_o = word.data;
  assign w_last_o = word.last;
  for (genvar l = 0; l < Lanes; l++) begin : gen_strobe
    assign w_strb_o[4*l+:4] = {4{word.used[l]}};
  end

  logic unused;
  assign unused = ^{ask_last, put_last, tile_i.a, tile_i.b};

`ifndef SYNTHESIS
  always_ff @(posedge clk_i)
    if (rst_ni && stages_q[Stages-1].valid)
      HasRoom_A : assert (unused_ready);
`endif
endmodule
