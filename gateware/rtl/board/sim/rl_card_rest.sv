// The clocks of the memory's side of a simulated card: they rest while nothing is under way there, for what stands
// behind them is a third of what such a card computes. A clock that rests is one whose edges would change nothing but
// what no other clock has touched since: whatever may ask the memory, or be asked by it, is looked at before each edge,
// and what has crossed between clocks since then has had its time.
module rl_card_rest
  import rl_role_pkg::*;
#(
  parameter int unsigned Memories = 1
) (
  input  logic                     clk_net_i,
  input  logic                     rst_net_ni,
  input  logic                     clk_ddr_i,
  input  logic                     rst_ddr_ni,
  input  logic                     clk_role_i,
  input  logic                     rst_role_ni,
  input  logic                     shell_rests_i,  // The shell asks for nothing: net domain.
  input  logic                     shell_asks_i,   // Between it and the memory, the memory's clock.
  input  axi_req_t [Memories-1:0]  role_i,         // Between the role and the memory, the role's clock;
  input  axi_rsp_t [Memories-1:0]  role_rsp_i,
  input  logic                     others_ask_i,   // bridge and links, the memory's.
  input  logic                     busy_i,         // Something is under way to the memory or from it.
  output logic                     clk_ddr_o,
  output logic                     clk_shell_o,    // The memory's, for the shell's side: that rests while a role works.
  output logic                     clk_role_o      // For the memory's side of the role's ports.
);
  logic awake, shell_awake;
  logic [Memories-1:0] role_asks;
  for (genvar m = 0; m < Memories; m++) begin : gen_role
    assign role_asks[m] = role_i[m].awvalid || role_i[m].wvalid || role_i[m].arvalid || role_rsp_i[m].bvalid ||
        role_rsp_i[m].rvalid;
  end
  // Each clock remembers what its own domain has asked, for a slower one may not have seen it: long enough for the
  // memory's clock to have edges, whatever the clocks are, and that one then for what crosses.
  logic [3:0] active, quiet;
  assign active[2:0] = {!shell_rests_i, role_asks != '0, others_ask_i || busy_i || quiet[2:1] != '1};
  assign active[3] = shell_asks_i || !quiet[2];
  for (genvar i = 0; i < 4; i++) begin : gen_domain
    rl_quiet #(
      .CountW(i == 0 || i == 3 ? 6 : 8)
    ) u_quiet (
      .clk_i(i == 2 ? clk_net_i : i == 1 ? clk_role_i : clk_ddr_i),
      .rst_ni(i == 2 ? rst_net_ni : i == 1 ? rst_role_ni : rst_ddr_ni),
      .active_i(active[i]),
      .quiet_o(quiet[i])
    );
  end
  assign awake = !rst_net_ni || !rst_ddr_ni || !rst_role_ni || active[2:0] != '0 || quiet[2:0] != '1;
  assign shell_awake = !rst_net_ni || !rst_ddr_ni || active[3:2] != '0 || quiet[3:2] != '1;
  rl_clock_gate u_ddr (
    .clk_i(clk_ddr_i),
    .enable_i(awake),
    .clk_o(clk_ddr_o)
  );
  rl_clock_gate u_shell (
    .clk_i(clk_ddr_i),
    .enable_i(shell_awake),
    .clk_o(clk_shell_o)
  );
  rl_clock_gate u_role (
    .clk_i(clk_role_i),
    .enable_i(awake),
    .clk_o(clk_role_o)
  );
endmodule : rl_card_rest
