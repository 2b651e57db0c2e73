// The role region of a card whose device has no partial reconfiguration, or of the Verilated card, as
// simulation of dynamic function exchange does it: some roles are there at once, each with its id, and
// the configuration stream that comes in through the port enables the one that it names. While it comes
// in, and until the shell releases the region's reset, all are in reset.
module rl_region
  import rl_role_pkg::*;
  import rl_config_pkg::*;
#(
  // Bit n: the role with id n is built in. 1 vadd, 2 ptrans, 3 probe, 4 echo.
  parameter logic [15:0] Roles = 16'h001e,
  parameter int unsigned Streams = 1,  // Of a role.
  // The one role of a device that is configured as a whole: it needs no word of configuration. 0: as above.
  parameter logic [15:0] Only = '0
) (
  input  logic        clk_cfg_i,
  input  logic        rst_cfg_ni,
  input  config_req_t config_i,
  output config_rsp_t config_o,

  input  logic        clk_role_i,
  input  logic        role_rst_ni,
  input  axil_req_t   axil_i,
  output axil_rsp_t   axil_o,
  output axi_req_t    axi_o,
  input  axi_rsp_t    axi_i,
  output logic        interrupt_o,

  // Messages, for roles that take them.
  output logic                   listens_o,
  input  message_t [Streams-1:0] message_i,
  output logic     [Streams-1:0] message_ready_o,
  output message_t [Streams-1:0] message_o,
  input  logic     [Streams-1:0] message_ready_i,
  output logic                   busy_o      // The role has something to do though no kernel runs.
);
  localparam int unsigned Vadd = 1;
  localparam int unsigned Ptrans = 2;
  localparam int unsigned Probe = 3;
  localparam int unsigned Echo = 4;
  localparam int unsigned Last = 4;

  if (Only == '0) begin : gen_receiver
    rl_region_receiver #(
      .Roles(Roles)
    ) u_receiver (
      .clk_cfg_i,
      .rst_cfg_ni,
      .start_i(config_i.start),
      .stop_i(config_i.stop),
      .valid_i(config_i.valid),
      .ready_o(config_o.ready),
      .data_i(config_i.data),
      .done_o(config_o.done),
      .error_o(config_o.error),
      .code_o(config_o.code),
      .role_id_o(config_o.role)
    );
  end else begin : gen_only
    logic unused;
    assign unused = ^{config_i, clk_cfg_i, rst_cfg_ni};
    assign config_o = '{role: Only, default: '0};
  end

  // The role's number changes only while the region is in reset.
  logic [15:0] id;
  rl_sync #(
    .Width(16)
  ) u_id (
    .clk_i(clk_role_i),
    .rst_ni(1'b1),
    .d_i(config_o.role),
    .q_o(id)
  );

  axil_rsp_t [Last:1] axil;
  axi_req_t [Last:1] axi;
  logic [Last:1] clk, rst_n, interrupt;
  for (genvar n = 1; n <= Last; n++) begin : gen_reset
    always_ff @(posedge clk_role_i) rst_n[n] <= role_rst_ni && id == 16'(n);
    // A role that is not configured is not there. One that is has its clock long before its reset ends. What
    // echo says on streams goes out whatever is configured, so it has its clock for its reset, too.
    rl_clock_gate u_gate (
      .clk_i(clk_role_i),
      .enable_i(id == 16'(n) || n == Echo),
      .clk_o(clk[n])
    );
  end

  if (Roles[Vadd]) begin : gen_vadd
    rl_role_vadd u_role (
      .clk_i(clk[Vadd]),
      .rst_ni(rst_n[Vadd]),
      .axil_i,
      .axil_o(axil[Vadd]),
      .axi_o(axi[Vadd]),
      .axi_i,
      .interrupt_o(interrupt[Vadd])
    );
  end else begin : gen_no_vadd
    assign {axil[Vadd], axi[Vadd], interrupt[Vadd]} = '0;
  end
  if (Roles[Ptrans]) begin : gen_ptrans
    rl_role_ptrans u_role (
      .clk_i(clk[Ptrans]),
      .rst_ni(rst_n[Ptrans]),
      .axil_i,
      .axil_o(axil[Ptrans]),
      .axi_o(axi[Ptrans]),
      .axi_i,
      .interrupt_o(interrupt[Ptrans])
    );
  end else begin : gen_no_ptrans
    assign {axil[Ptrans], axi[Ptrans], interrupt[Ptrans]} = '0;
  end
  if (Roles[Probe]) begin : gen_probe
    rl_role_probe u_role (
      .clk_i(clk[Probe]),
      .rst_ni(rst_n[Probe]),
      .axil_i,
      .axil_o(axil[Probe]),
      .axi_o(axi[Probe]),
      .axi_i,
      .interrupt_o(interrupt[Probe])
    );
  end else begin : gen_no_probe
    assign {axil[Probe], axi[Probe], interrupt[Probe]} = '0;
  end
  assign axi[Echo] = '0;
  if (Roles[Echo]) begin : gen_echo
    rl_role_echo #(
      .Streams(Streams)
    ) u_role (
      .clk_i(clk[Echo]),
      .rst_ni(rst_n[Echo]),
      .axil_i,
      .axil_o(axil[Echo]),
      .interrupt_o(interrupt[Echo]),
      .message_i,
      .ready_o(message_ready_o),
      .message_o,
      .ready_i(message_ready_i),
      .busy_o
    );
    assign listens_o = rst_n[Echo];
  end else begin : gen_no_echo
    logic unused;
    assign unused = ^{message_i, message_ready_i};
    assign {axil[Echo], interrupt[Echo], message_ready_o, message_o, busy_o, listens_o} = '0;
  end

  always_comb begin
    axil_o = '0;
    axi_o = '0;
    interrupt_o = 1'b0;
    for (int unsigned n = 1; n <= Last; n++) begin
      if (rst_n[n]) begin
        axil_o = axil[n];
        axi_o = axi[n];
        interrupt_o = interrupt[n];
      end
    end
  end
endmodule : rl_region
