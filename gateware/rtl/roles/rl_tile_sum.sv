// C = B + A or C = B + A^T, over matrices of any extents at addresses that are multiples of 4, in tiles.
// While one tile is written, the next is read: DDR has work in both directions all the time.
module rl_tile_sum
  import rl_role_pkg::*;
  import rl_tile_pkg::*;
#(
  parameter bit          Transpose = 1'b1,
  parameter int unsigned LogRows = 6,  // Of the largest tile of C.
  parameter int unsigned LogCols = 6
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        start_i,
  input  byte_addr_t  a_i,       // Steady until done.
  input  byte_addr_t  b_i,
  input  byte_addr_t  c_i,
  input  logic [31:0] rows_i,    // Of C, 1 or more.
  input  logic [31:0] cols_i,
  output logic        done_o,
  output logic        failed_o,  // With done_o: DDR has answered with an error.

  output axi_req_t    axi_o,
  input  axi_rsp_t    axi_i
);
  if (LogRows + LogCols != LogElems || LogCols < 4 || (Transpose && LogRows < 4)) begin : gen_check
    $fatal(0, "rl_tile_sum: tiles have 4096 elements, and whole blocks of 16 (%m)");
  end

  // -- tiles, row by row of tiles
  byte_addr_t row_bytes, a_row_bytes, a_right, a_down, down;
  assign row_bytes = cols_i << 2;
  assign a_row_bytes = Transpose ? rows_i << 2 : row_bytes;
  // A step of a tile to the right or down in C, in bytes.
  localparam byte_addr_t Right = 4 << LogCols;
  assign down = row_bytes << LogRows;
  assign a_right = Transpose ? a_row_bytes << LogCols : Right;
  assign a_down = Transpose ? 4 << LogRows : down;

  logic tiles_q, busy_q, tile_ready, right_end, down_end;
  byte_addr_t a_row_q, b_row_q, c_row_q, a_q, b_q, c_q;
  logic [31:0] rows_q, cols_q;  // That are left from here on.
  tile_t tile;
  assign right_end = cols_q <= 32'(1 << LogCols);
  assign down_end = rows_q <= 32'(1 << LogRows);
  assign tile = '{
          a: a_q,
          b: b_q,
          c: c_q,
          rows: down_end ? extent_t'(rows_q) : extent_t'(1 << LogRows),
          cols: right_end ? extent_t'(cols_q) : extent_t'(1 << LogCols)
      };

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      {a_row_q, a_q} <= {2{a_i}};
      {b_row_q, b_q} <= {2{b_i}};
      {c_row_q, c_q} <= {2{c_i}};
      rows_q <= rows_i;
      cols_q <= cols_i;
    end else if (tiles_q && tile_ready) begin
      if (right_end) begin
        {a_row_q, a_q} <= {2{a_row_q + a_down}};
        {b_row_q, b_q} <= {2{b_row_q + down}};
        {c_row_q, c_q} <= {2{c_row_q + down}};
        rows_q <= rows_q - 32'(1 << LogRows);
        cols_q <= cols_i;
      end else begin
        a_q <= a_q + a_right;
        b_q <= b_q + Right;
        c_q <= c_q + Right;
        cols_q <= cols_q - 32'(1 << LogCols);
      end
    end
  end

  // -- reading and writing, a tile apart
  logic full_valid, next_valid, tile_done, write_idle;
  tile_t full, next;
  logic [1:0] inside_q, unused_count;  // Tiles in the banks, or on their way.
  logic we_a, we_b, write_tile, read_tile, unused_ready;
  lanes_t bank_we;
  logic [Lanes*$bits(bank_addr_t)-1:0] bank_addr, a_addr, b_addr;
  logic [511:0] bank_data, a_data, b_data;

  always_comb begin
    axi_o.awid = '0;
    axi_o.arid = '0;
    axi_o.bready = 1'b1;
  end

  rl_tile_read #(
    .Transpose(Transpose),
    .LogRows(LogRows),
    .LogCols(LogCols)
  ) u_read (
    .clk_i,
    .rst_ni,
    .tile_valid_i(tiles_q),
    .tile_ready_o(tile_ready),
    .tile_i(tile),
    .a_stride_i(a_row_bytes),
    .b_stride_i(row_bytes),
    .room_i(!inside_q[1]),
    .full_valid_o(full_valid),
    .full_o(full),
    .we_a_o(we_a),
    .we_b_o(we_b),
    .bank_tile_o(write_tile),
    .bank_we_o(bank_we),
    .bank_addr_o(bank_addr),
    .bank_data_o(bank_data),
    .ar_valid_o(axi_o.arvalid),
    .ar_ready_i(axi_i.arready),
    .ar_addr_o(axi_o.araddr),
    .ar_len_o(axi_o.arlen),
    .r_valid_i(axi_i.rvalid),
    .r_ready_o(axi_o.rready),
    .r_data_i(axi_i.rdata)
  );

  rl_tile_banks u_a (
    .clk_i,
    .wtile_i(write_tile),
    .we_i(bank_we & {Lanes{we_a}}),
    .waddr_i(bank_addr),
    .wdata_i(bank_data),
    .rtile_i(read_tile),
    .raddr_i(a_addr),
    .rdata_o(a_data)
  );
  rl_tile_banks u_b (
    .clk_i,
    .wtile_i(write_tile),
    .we_i(bank_we & {Lanes{we_b}}),
    .waddr_i(bank_addr),
    .wdata_i(bank_data),
    .rtile_i(read_tile),
    .raddr_i(b_addr),
    .rdata_o(b_data)
  );

  rl_fifo #(
    .Width($bits(tile_t)),
    .Depth(2)
  ) u_full (
    .clk_i,
    .rst_ni,
    .wvalid_i(full_valid),
    .wready_o(unused_ready),
    .wdata_i(full),
    .rvalid_o(next_valid),
    .rready_i(tile_done),
    .rdata_o(next),
    .count_o(unused_count)
  );

  rl_tile_write #(
    .Transpose(Transpose),
    .LogRows(LogRows),
    .LogCols(LogCols)
  ) u_write (
    .clk_i,
    .rst_ni,
    .tile_valid_i(next_valid),
    .tile_done_o(tile_done),
    .tile_i(next),
    .stride_i(row_bytes),
    .idle_o(write_idle),
    .bank_tile_o(read_tile),
    .a_addr_o(a_addr),
    .b_addr_o(b_addr),
    .a_data_i(a_data),
    .b_data_i(b_data),
    .aw_valid_o(axi_o.awvalid),
    .aw_ready_i(axi_i.awready),
    .aw_addr_o(axi_o.awaddr),
    .aw_len_o(axi_o.awlen),
    .w_valid_o(axi_o.wvalid),
    .w_ready_i(axi_i.wready),
    .w_data_o(axi_o.wdata),
    .w_strb_o(axi_o.wstrb),
    .w_last_o(axi_o.wlast),
    .b_valid_i(axi_i.bvalid)
  );

  assign done_o = busy_q && !tiles_q && inside_q == 0 && write_idle;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      tiles_q <= 1'b0;
      busy_q <= 1'b0;
      failed_o <= 1'b0;
      inside_q <= '0;
    end else begin
      tiles_q <= start_i || (tiles_q && !(tile_ready && right_end && down_end));
      busy_q <= start_i || (busy_q && !done_o);
      inside_q <= inside_q + 2'(tiles_q && tile_ready) - 2'(tile_done);
      if (start_i) failed_o <= 1'b0;
      else if ((axi_i.rvalid && axi_i.rresp != RespOkay) || (axi_i.bvalid && axi_i.bresp != RespOkay))
        failed_o <= 1'b1;
    end
  end

  logic unused;
  assign unused = ^{axi_i.bid, axi_i.rid, axi_i.rlast};
endmodule
