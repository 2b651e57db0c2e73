// C = B + A^T in single precision: B and C are i x j, A is j x i. Arguments as device/roles/ptrans:
// addresses of A, B, C, and the extents i and j.
module rl_role_ptrans
  import rl_role_pkg::*;
(
  input  logic      clk_i,
  input  logic      rst_ni,
  input  role_in_t  role_i,
  output role_out_t role_o,
  output axi_req_t  axi_o,
  input  axi_rsp_t  axi_i
);
  axil_rsp_t axil;
  logic interrupt, start, good, bad, empty, sum_done, failed;
  logic [7:0] kernel;
  logic [5*64-1:0] args;
  logic [63:0] a, b, c, rows, cols;
  assign {cols, rows, c, b, a} = args;

  rl_role_ctrl #(
    .Args(5)
  ) u_ctrl (
    .clk_i,
    .rst_ni,
    .axil_i(role_i.axil),
    .axil_o(axil),
    .interrupt_o(interrupt),
    .start_o(start),
    .kernel_o(kernel),
    .args_o(args),
    .done_i(bad || empty || sum_done),
    .trap_i(bad || (sum_done && failed)),
    .remote_i(1'b0),
    .value_i('0)
  );

  assign role_o = '{axil: axil, irq: interrupt, default: '0};
  logic unused;
  assign unused = role_i.event_ready;

  rl_role_check u_check (
    .clk_i,
    .rst_ni,
    .start_i(start),
    .known_i(kernel == 0),
    .addrs_i({c, b, a}),
    .rows_i(rows),
    .cols_i(cols),
    .good_o(good),
    .bad_o(bad),
    .empty_o(empty)
  );

  rl_tile_sum #(
    .Transpose(1'b1),
    .LogRows(6),
    .LogCols(6)
  ) u_sum (
    .clk_i,
    .rst_ni,
    .start_i(good),
    .a_i(a[31:0]),
    .b_i(b[31:0]),
    .c_i(c[31:0]),
    .rows_i(rows[31:0]),
    .cols_i(cols[31:0]),
    .done_o(sum_done),
    .failed_o(failed),
    .axi_o,
    .axi_i
  );
endmodule
