// What the model's rl_array checks, for three arrays of rows x cols elements of 4 bytes: addresses from
// 1 MiB to 4 GiB, extents up to 2^31, ends not beyond 4 GiB. And addresses are multiples of 4. The product
// is made bit by bit; an answer comes 34 cycles after start_i.
module rl_role_check #(
  localparam int unsigned Arrays = 3
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  input  logic                 start_i,
  input  logic                 known_i,  // There is such a kernel.
  input  logic [64*Arrays-1:0] addrs_i,
  input  logic [63:0]          rows_i,
  input  logic [63:0]          cols_i,

  // One of these, once:
  output logic                 good_o,
  output logic                 bad_o,
  output logic                 empty_o  // Well, but nothing to do.
);
  localparam int unsigned TopW = 32;  // Log of 4 GiB.
  localparam int unsigned EndW = TopW + 3;  // Bits of an address plus 4 products.
  localparam logic [63:0] Lowest = 64'h10_0000;
  localparam logic [63:0] ExtentMax = 64'h8000_0000;

  logic busy_q, fits_q;
  logic [5:0] step_q;
  logic [31:0] rows_q;
  logic [TopW:0]
      product_q, doubled;  // Elements. The top bit is set when there were more: it stays.
  logic fits, ends, over;

  always_comb begin
    fits = known_i && rows_i <= ExtentMax && cols_i <= ExtentMax;
    for (int i = 0; i < Arrays; i++) begin
      fits &= addrs_i[64*i+:64] >= Lowest && addrs_i[64*i+:64] <= 64'd1 << TopW && addrs_i[64*i+:2] == 0;
    end
  end
  // From the end down: product * 2, and + cols for each bit of rows.
  assign over = product_q[TopW] || product_q[TopW-1];
  assign doubled = {over, product_q[TopW-2:0], 1'b0};
  always_comb begin
    ends = !product_q[TopW];
    for (int i = 0; i < Arrays; i++) begin
      ends &= EndW'(addrs_i[64*i+:TopW+1]) + {1'b0, product_q[TopW-1:0], 2'b00} <= EndW'(1) << TopW;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      fits_q <= fits;
      rows_q <= rows_i[31:0];
      product_q <= '0;
      step_q <= '0;
    end else if (busy_q) begin
      rows_q <= rows_q << 1;
      step_q <= step_q + 1'b1;
      if (!step_q[5]) begin
        product_q <= doubled;
        if (rows_q[31]) product_q <= (doubled + (TopW + 1)'(cols_i[31:0])) | {over, TopW'(0)};
      end
    end
    good_o <= 1'b0;
    bad_o <= 1'b0;
    empty_o <= 1'b0;
    if (!rst_ni) begin
      busy_q <= 1'b0;
    end else begin
      if (start_i) busy_q <= 1'b1;
      if (busy_q && step_q[5]) begin
        busy_q <= 1'b0;
        good_o <= fits_q && ends && product_q != 0;
        bad_o <= !(fits_q && ends);
        empty_o <= fits_q && ends && product_q == 0;
      end
    end
  end
endmodule
