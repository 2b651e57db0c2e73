// The role region of a card whose device has no partial reconfiguration, or of the Verilated card, as
// simulation of dynamic function exchange does it: some roles are there at once, each with its id, and
// the configuration stream that comes in through the port enables the one that it names. While it comes
// in, and until the shell releases the region's reset, all are in reset.
module rl_region
  import rl_role_pkg::*;
#(
  // Bit n: the role with id n is built in. 1 vadd, 2 ptrans, 3 probe.
  parameter logic [15:0] Roles = 16'h000e
) (
  input  logic        clk_cfg_i,
  input  logic        rst_cfg_ni,
  input  logic        cfg_start_i,
  input  logic        cfg_stop_i,
  input  logic        cfg_valid_i,
  output logic        cfg_ready_o,
  input  logic [31:0] cfg_data_i,
  output logic        cfg_done_o,
  output logic        cfg_error_o,
  output logic [7:0]  cfg_code_o,
  output logic [15:0] cfg_role_o,

  input  logic        clk_role_i,
  input  logic        role_rst_ni,
  input  axil_req_t   axil_i,
  output axil_rsp_t   axil_o,
  output axi_req_t    axi_o,
  input  axi_rsp_t    axi_i,
  output logic        interrupt_o
);
  localparam int unsigned Vadd = 1;
  localparam int unsigned Ptrans = 2;
  localparam int unsigned Probe = 3;
  localparam int unsigned Last = 3;

  rl_region_receiver #(
    .Roles(Roles)
  ) u_receiver (
    .clk_cfg_i,
    .rst_cfg_ni,
    .start_i(cfg_start_i),
    .stop_i(cfg_stop_i),
    .valid_i(cfg_valid_i),
    .ready_o(cfg_ready_o),
    .data_i(cfg_data_i),
    .done_o(cfg_done_o),
    .error_o(cfg_error_o),
    .code_o(cfg_code_o),
    .role_id_o(cfg_role_o)
  );

  // The role's number changes only while the region is in reset.
  logic [15:0] id;
  rl_sync #(
    .Width(16)
  ) u_id (
    .clk_i(clk_role_i),
    .rst_ni(1'b1),
    .d_i(cfg_role_o),
    .q_o(id)
  );

  axil_rsp_t [Last:1] axil;
  axi_req_t [Last:1] axi;
  logic [Last:1] rst_n, interrupt;
  for (genvar n = 1; n <= Last; n++) begin : gen_reset
    always_ff @(posedge clk_role_i) rst_n[n] <= role_rst_ni && id == 16'(n);
  end

  if (Roles[Vadd]) begin : gen_vadd
    rl_role_vadd u_role (
      .clk_i(clk_role_i),
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
      .clk_i(clk_role_i),
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
      .clk_i(clk_role_i),
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
