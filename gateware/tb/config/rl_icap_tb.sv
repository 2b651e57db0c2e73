// rl_icap with the fields of its structures as ports.
module rl_icap_tb
  import rl_config_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        start_i,
  input  logic        stop_i,
  input  logic        valid_i,
  input  logic [31:0] config_data_i,
  output logic        config_ready_o,
  output logic        done_o,
  output logic        error_o,
  output logic [7:0]  code_o,
  output logic [15:0] role_o,
  output logic        decouple_o,
  input  logic        decoupled_i,
  input  logic        reboot_i,
  input  logic [31:0] reboot_addr_i,
  output logic        csi_no,
  output logic        rdwr_no,
  output logic [31:0] data_o,
  input  logic        avail_i,
  input  logic        prdone_i,
  input  logic        prerror_i
);
  config_rsp_t rsp;
  assign {config_ready_o, done_o, error_o, code_o, role_o} = {
    rsp.ready, rsp.done, rsp.error, rsp.code, rsp.role
  };
  rl_icap #(
    .Roles(16'h0006),
    .PatienceW(8)
  ) u_icap (
    .clk_i,
    .rst_ni,
    .config_i('{start: start_i, stop: stop_i, valid: valid_i, data: config_data_i}),
    .config_o(rsp),
    .decouple_o,
    .decoupled_i,
    .reboot_i,
    .reboot_addr_i,
    .csi_no,
    .rdwr_no,
    .data_o,
    .avail_i,
    .prdone_i,
    .prerror_i
  );
endmodule : rl_icap_tb
