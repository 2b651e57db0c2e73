// The role region of a card whose device has no partial reconfiguration, or of the Verilated card, as
// simulation of dynamic function exchange does it: some roles are there at once, each with its id, and
// the configuration stream that comes in through the port enables the one that it names. While it comes
// in, and until the shell releases the region's reset, all are in reset.
module rl_region
  import rl_role_pkg::*;
  import rl_config_pkg::*;
#(
  // Bit n: the role with id n is built in. 1 vadd, 2 ptrans, 3 probe, 4 echo, 5 copy, 6 chase.
  parameter logic [15:0] Roles = 16'h007e,
  parameter int unsigned Memories = 1,  // Memory ports of a role.
  parameter int unsigned Streams = 1,   // And its streams.
  // The one role of a device that is configured as a whole: it needs no word of configuration. 0: as above.
  parameter logic [15:0] Only = '0
) (
  input  logic        clk_cfg_i,
  input  logic        rst_cfg_ni,
  input  config_req_t config_i,
  output config_rsp_t config_o,

  input  logic        clk_role_i,
  input  logic        role_rst_ni,
  input  role_in_t    role_i,
  output role_out_t   role_o,
  output axi_req_t [Memories-1:0] axi_o,
  input  axi_rsp_t [Memories-1:0] axi_i,
  input  message_t [Streams-1:0]  message_i,
  output logic     [Streams-1:0]  message_ready_o,
  output message_t [Streams-1:0]  message_o,
  input  logic     [Streams-1:0]  message_ready_i,
  output remote_req_t remote_o,
  input  remote_rsp_t remote_i
);
  localparam int unsigned Vadd = 1;
  localparam int unsigned Ptrans = 2;
  localparam int unsigned Probe = 3;
  localparam int unsigned Echo = 4;
  localparam int unsigned Copy = 5;
  localparam int unsigned Chase = 6;
  localparam int unsigned Last = 6;
  localparam int unsigned AxiW = Memories * $bits(axi_req_t);

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

  role_out_t [Last:1] role;
  axi_req_t [Last:1][Memories-1:0] axi;
  axi_req_t [Last:1] first;  // Of a role that has one memory port.
  logic [Last:1] clk, rst_n;
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
    assign axi[Vadd] = AxiW'(first[Vadd]);
    rl_role_vadd u_role (
      .clk_i(clk[Vadd]),
      .rst_ni(rst_n[Vadd]),
      .role_i,
      .role_o(role[Vadd]),
      .axi_o(first[Vadd]),
      .axi_i(axi_i[0])
    );
  end else begin : gen_no_vadd
    assign {role[Vadd], first[Vadd], axi[Vadd]} = '0;
  end
  if (Roles[Ptrans]) begin : gen_ptrans
    assign axi[Ptrans] = AxiW'(first[Ptrans]);
    rl_role_ptrans u_role (
      .clk_i(clk[Ptrans]),
      .rst_ni(rst_n[Ptrans]),
      .role_i,
      .role_o(role[Ptrans]),
      .axi_o(first[Ptrans]),
      .axi_i(axi_i[0])
    );
  end else begin : gen_no_ptrans
    assign {role[Ptrans], first[Ptrans], axi[Ptrans]} = '0;
  end
  if (Roles[Probe]) begin : gen_probe
    assign axi[Probe] = AxiW'(first[Probe]);
    rl_role_probe u_role (
      .clk_i(clk[Probe]),
      .rst_ni(rst_n[Probe]),
      .role_i,
      .role_o(role[Probe]),
      .axi_o(first[Probe]),
      .axi_i(axi_i[0])
    );
  end else begin : gen_no_probe
    assign {role[Probe], first[Probe], axi[Probe]} = '0;
  end
  assign {first[Echo], axi[Echo]} = '0;
  if (Roles[Echo]) begin : gen_echo
    rl_role_echo #(
      .Streams(Streams)
    ) u_role (
      .clk_i(clk[Echo]),
      .rst_ni(rst_n[Echo]),
      .role_i,
      .role_o(role[Echo]),
      .message_i,
      .ready_o(message_ready_o),
      .message_o,
      .ready_i(message_ready_i)
    );
  end else begin : gen_no_echo
    logic unused;
    assign unused = ^{message_i, message_ready_i};
    assign {role[Echo], message_ready_o, message_o} = '0;
  end
  assign first[Copy] = '0;
  if (Roles[Copy]) begin : gen_copy
    rl_role_copy #(
      .Memories(Memories)
    ) u_role (
      .clk_i(clk[Copy]),
      .rst_ni(rst_n[Copy]),
      .role_i,
      .role_o(role[Copy]),
      .axi_o(axi[Copy]),
      .axi_i
    );
  end else begin : gen_no_copy
    assign {role[Copy], axi[Copy]} = '0;
  end
  remote_req_t remote;
  if (Roles[Chase]) begin : gen_chase
    assign axi[Chase] = AxiW'(first[Chase]);
    rl_role_chase u_role (
      .clk_i(clk[Chase]),
      .rst_ni(rst_n[Chase]),
      .role_i,
      .role_o(role[Chase]),
      .axi_o(first[Chase]),
      .axi_i(axi_i[0]),
      .remote_o(remote),
      .remote_i
    );
  end else begin : gen_no_chase
    logic unused;
    assign unused = ^remote_i;
    assign {role[Chase], first[Chase], axi[Chase], remote} = '0;
  end
  assign remote_o = rst_n[Chase] ? remote : '0;
  logic unused;
  assign unused = ^{axi_i, first};

  always_comb begin
    role_o = '0;
    axi_o = '0;
    for (int unsigned n = 1; n <= Last; n++) begin
      if (rst_n[n]) begin
        role_o = role[n];
        axi_o = axi[n];
      end
    end
  end
endmodule : rl_region
