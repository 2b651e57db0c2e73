// Reads tiles of A and B from DDR into banks: first A's, then B's. Addresses of the next tile go out while
// data of this one comes in. There is always room for what was asked for: read data is never kept waiting.
//
// Where an element goes: B's to the bank that is its lane in C. A's likewise, or, when it is to be
// transposed, row r and column c to bank (r + c) % 16: then a row's elements are in different banks,
// and so are a column's.
module rl_tile_read
  import rl_role_pkg::*;
  import rl_tile_pkg::*;
#(
  parameter bit          Transpose = 1'b1,
  parameter int unsigned LogRows = 6,      // Of the largest tile of C.
  parameter int unsigned LogCols = 6
) (
  input  logic         clk_i,
  input  logic         rst_ni,

  input  logic         tile_valid_i,
  output logic         tile_ready_o,  // Its place in the banks is free.
  input  tile_t        tile_i,
  input  byte_addr_t   a_stride_i,
  input  byte_addr_t   b_stride_i,
  input  logic         room_i,

  output logic         full_valid_o,  // This tile is in the banks; for one cycle.
  output tile_t        full_o,

  output logic         we_a_o,
  output logic         we_b_o,
  output logic         bank_tile_o,
  output lanes_t       bank_we_o,
  output logic [Lanes*$bits(bank_addr_t)-1:0] bank_addr_o,
  output logic [511:0] bank_data_o,

  output logic                ar_valid_o,
  input  logic                ar_ready_i,
  output logic [AxiAddrW-1:0] ar_addr_o,
  output logic [7:0]          ar_len_o,
  input  logic                r_valid_i,
  output logic                r_ready_o,
  input  logic [511:0]        r_data_i
);
  // Rows and columns of A's tile are C's, or the other way round. Blocks of 16 columns:
  localparam int unsigned LogBlocksB = LogCols - 4;
  localparam int unsigned LogBlocksA = Transpose ? LogRows - 4 : LogBlocksB;

  // -- addresses
  logic got_ready;
  logic ask_valid, ask_step, ask_last, ask_b_q, ask_load, ask_more;
  tile_t ask_q, ask_tile;
  logic [25:0] ask_number;
  logic [3:0] ask_len;
  place_t unused_place;
  logic unused_end;

  assign tile_ready_o = room_i && !ask_valid && !ask_more && got_ready;
  assign ask_load = ask_more || (tile_valid_i && tile_ready_o);
  assign ask_tile = ask_more ? ask_q : tile_i;
  assign ask_step = ask_valid && ar_ready_i;
  rl_tile_walk #(
    .Bursts(1'b1)
  ) u_ask (
    .clk_i,
    .rst_ni,
    .load_i(ask_load),
    .addr_i(ask_more ? ask_tile.b : ask_tile.a),
    .stride_i(ask_b_q ? b_stride_i : a_stride_i),
    .rows_i(!ask_more && Transpose ? ask_tile.cols : ask_tile.rows),
    .cols_i(!ask_more && Transpose ? ask_tile.rows : ask_tile.cols),
    .valid_o(ask_valid),
    .step_i(ask_step),
    .number_o(ask_number),
    .len_o(ask_len),
    .place_o(unused_place),
    .burst_end_o(unused_end),
    .last_o(ask_last)
  );
  assign ar_valid_o = ask_valid;
  assign ar_addr_o = AxiAddrW'({ask_number, 6'd0});
  assign ar_len_o = 8'(ask_len);

  always_ff @(posedge clk_i) begin
    if (tile_valid_i && tile_ready_o) ask_q <= tile_i;
    if (!rst_ni) begin
      ask_b_q <= 1'b0;
      ask_more <= 1'b0;
    end else begin
      // B after A, a cycle later.
      ask_more <= ask_step && ask_last && !ask_b_q;
      if (ask_step && ask_last) ask_b_q <= !ask_b_q;
    end
  end

  // -- data
  tile_t got;
  logic got_valid, got_pop, get_valid, get_step, get_last, get_b_q, get_load, get_tile_q;
  place_t place;
  logic [1:0] unused_count;
  rl_fifo #(
    .Width($bits(tile_t)),
    .Depth(2)
  ) u_got (
    .clk_i,
    .rst_ni,
    .wvalid_i(tile_valid_i && tile_ready_o),
    .wready_o(got_ready),
    .wdata_i(tile_i),
    .rvalid_o(got_valid),
    .rready_i(got_pop),
    .rdata_o(got),
    .count_o(unused_count)
  );
  assign get_load = got_valid && !get_valid;
  logic [25:0] unused_number;
  logic [3:0] unused_len;
  logic unused_burst;
  rl_tile_walk u_get (
    .clk_i,
    .rst_ni,
    .load_i(get_load),
    .addr_i(get_b_q ? got.b : got.a),
    .stride_i(get_b_q ? b_stride_i : a_stride_i),
    .rows_i(!get_b_q && Transpose ? got.cols : got.rows),
    .cols_i(!get_b_q && Transpose ? got.rows : got.cols),
    .valid_o(get_valid),
    .step_i(get_step),
    .number_o(unused_number),
    .len_o(unused_len),
    .place_o(place),
    .burst_end_o(unused_burst),
    .last_o(get_last)
  );
  assign r_ready_o = get_valid;
  assign get_step = get_valid && r_valid_i;
  assign got_pop = get_step && get_last && get_b_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      get_b_q <= 1'b0;
      get_tile_q <= 1'b0;
    end else if (get_step && get_last) begin
      get_b_q <= !get_b_q;
      if (get_b_q) get_tile_q <= !get_tile_q;
    end
  end

  // -- to the banks: three cycles.
  typedef struct packed {
    logic  valid;
    logic  b;
    logic  tile;
    logic  full;
    lane_t by;
    place_t place;
  } stage_t;
  stage_t stage1_q, stage2_q, stage3_q;
  tile_t full1_q, full2_q;
  logic [511:0] data1_q;
  lane_t turn;

  // Lane l goes to bank l + turn.
  always_comb begin
    if (get_b_q) turn = got.c[5:2] - got.b[5:2];
    else if (Transpose) turn = place.row[3:0] - place.first;
    else turn = got.c[5:2] - got.a[5:2];
  end

  always_ff @(posedge clk_i) begin
    data1_q <= r_data_i;
    stage1_q <= '{
        valid: rst_ni && get_step,
        b: get_b_q,
        tile: get_tile_q,
        full: rst_ni && got_pop,
        by: turn,
        place: place
    };
    full1_q <= got;
    stage2_q <= stage1_q;
    full2_q <= full1_q;
    stage3_q <= stage2_q;
    full_o <= full2_q;
    if (!rst_ni) begin
      stage2_q.valid <= 1'b0;
      stage2_q.full <= 1'b0;
      stage3_q.valid <= 1'b0;
      stage3_q.full <= 1'b0;
    end
  end
  rl_tile_rotate u_rotate (
    .clk_i,
    .by_i(stage1_q.by),
    .data_i(data1_q),
    .data_o(bank_data_o)
  );

  logic [8:0] block_a, block_b;
  assign block_a = 9'({stage3_q.place.row, LogBlocksA'(0)}) + stage3_q.place.beat;
  assign block_b = 9'({stage3_q.place.row, LogBlocksB'(0)}) + stage3_q.place.beat;
  always_comb begin
    for (int k = 0; k < Lanes; k++) begin
      bank_we_o[k] = stage3_q.place.used[lane_t'(k)-stage3_q.by];
      bank_addr_o[8*k+:8] = 8'((stage3_q.b ? block_b : block_a) -
                               9'(stage3_q.place.below[lane_t'(k)-stage3_q.by]));
    end
  end
  assign we_a_o = stage3_q.valid && !stage3_q.b;
  assign we_b_o = stage3_q.valid && stage3_q.b;
  assign bank_tile_o = stage3_q.tile;
  assign full_valid_o = stage3_q.full;

  logic unused;
  assign unused = ^{stage3_q.place.first, stage3_q.place.row, ask_tile.c};
endmodule
