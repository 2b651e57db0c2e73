// The AXI4-Lite side of a role: registers, start, done, interrupt.
module rl_role_ctrl
  import rl_role_pkg::*;
#(
  parameter int unsigned Args = 4  // Argument registers, 1 to 32.
) (
  input  logic               clk_i,
  input  logic               rst_ni,

  input  axil_req_t          axil_i,
  output axil_rsp_t          axil_o,
  output logic               interrupt_o,

  output logic               start_o,   // Kernel and arguments are steady from here until done_i.
  output logic [7:0]         kernel_o,
  output logic [64*Args-1:0] args_o,    // Argument k is [64 k +: 64].
  input  logic               done_i,    // The kernel has ended,
  input  logic               trap_i,    // badly,
  input  logic               remote_i,  // by another node's fault,
  input  logic [63:0]        value_i    // or well with this.
);
  if (Args < 1 || Args > 32) begin : gen_check
    $fatal(0, "rl_role_ctrl: a kernel takes 1 to 32 arguments here (%m)");
  end

  logic busy_q, done_q, trap_q, remote_q, b_valid_q, r_valid_q;
  logic [63:0] value_q, r_data_q;
  logic write, read, start;

  // Address and data are taken together.
  assign write = axil_i.awvalid && axil_i.wvalid && (!b_valid_q || axil_i.bready);
  assign read = axil_i.arvalid && (!r_valid_q || axil_i.rready);
  assign start = write && axil_i.awaddr == RegControl && axil_i.wdata[0] && !busy_q;
  assign axil_o = '{
    awready: write,
    wready: write,
    bresp: RespOkay,
    bvalid: b_valid_q,
    arready: read,
    rdata: r_data_q,
    rresp: RespOkay,
    rvalid: r_valid_q
  };
  assign interrupt_o = done_q;

  logic unused_strobes;
  assign unused_strobes = ^axil_i.wstrb;

  for (genvar k = 0; k < Args; k++) begin : gen_args
    always_ff @(posedge clk_i) begin
      if (write && axil_i.awaddr == RegArgs + RegW'(8 * k)) args_o[64*k+:64] <= axil_i.wdata;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start) kernel_o <= axil_i.wdata[15:8];
    if (done_i) value_q <= value_i;
    if (done_i) remote_q <= trap_i && remote_i;
    if (read) begin
      r_data_q <= value_q;
      if (axil_i.araddr == RegStatus) begin
        r_data_q <= '0;
        r_data_q[StatusBusy] <= busy_q;
        r_data_q[StatusDone] <= done_q;
        r_data_q[StatusTrap] <= trap_q;
        r_data_q[StatusRemote] <= remote_q;
      end
    end

    if (!rst_ni) begin
      busy_q <= 1'b0;
      done_q <= 1'b0;
      trap_q <= 1'b0;
      b_valid_q <= 1'b0;
      r_valid_q <= 1'b0;
      start_o <= 1'b0;
    end else begin
      b_valid_q <= write || (b_valid_q && !axil_i.bready);
      r_valid_q <= read || (r_valid_q && !axil_i.rready);
      start_o <= start;
      if (start) busy_q <= 1'b1;
      else if (done_i) busy_q <= 1'b0;
      if (done_i) begin
        done_q <= 1'b1;
        trap_q <= trap_i;
      end else if (write && axil_i.awaddr == RegStatus && axil_i.wdata[StatusDone]) begin
        done_q <= 1'b0;
        trap_q <= 1'b0;
      end
    end
  end
endmodule
