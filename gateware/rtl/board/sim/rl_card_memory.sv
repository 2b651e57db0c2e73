// The memory of a simulated card, as the program around it has it: one for shell, role, bridge and links. Its clocks
// rest while nothing is under way (rl_card_rest), and what it owes is watched.
module rl_card_memory
  import rl_role_pkg::*;
#(
  parameter int unsigned DataW = 64,    // As of rl_card_sim,
  parameter bit          Bridge = 1'b0,
  parameter bit          Links = 1'b0,  // and whether it has any.
  parameter int unsigned Memories = 1,  // Memory ports of the role.
  localparam int unsigned MemoryIdW = AxiIdW + $clog2(Memories + 32'(Bridge) + 32'(Links)) + 1
) (
  input  logic          clk_net_i,
  input  logic          rst_power_net_ni,
  input  logic          rst_net_ni,
  input  logic          clk_ddr_i,
  input  logic          rst_power_ddr_ni,
  input  logic          rst_ddr_ni,
  input  logic          clk_role_i,
  input  logic          rst_role_ni,
  output logic          clk_shell_o,    // For the shell: clk_ddr_i, which rests.
  input  logic          drive_i,        // What the memory says is taken as it rises.

  input  logic          shell_rests_i,  // The shell needs nothing: net domain.
  input  logic [1:0][3:0] share_i,      // Parts of the bandwidth of shell [0] and role [1].
  // -- who asks: the memory's domain, but for the role's ports
  input  axi_req_t      shell_i,
  output axi_rsp_t      shell_o,
  input  axi_req_t [Memories-1:0] role_i,
  output axi_rsp_t [Memories-1:0] role_o,
  input  axi_req_t      bridge_i,
  output axi_rsp_t      bridge_o,
  input  axi_req_t      links_i,
  output axi_rsp_t      links_o,
  // -- net domain
  output logic          busy_o,         // Something is under way.
  output logic          late_o,         // The memory has not answered for too long,
  output logic          owes_o,         // and does not yet.

  output logic          m_memory_awvalid,
  input  logic          m_memory_awready,
  output logic [39:0]   m_memory_awaddr,
  output logic [7:0]    m_memory_awlen,
  output logic [MemoryIdW-1:0] m_memory_awid,
  output logic          m_memory_wvalid,
  input  logic          m_memory_wready,
  output logic [511:0]  m_memory_wdata,
  output logic [63:0]   m_memory_wstrb,
  output logic          m_memory_wlast,
  input  logic          m_memory_bvalid,
  output logic          m_memory_bready,
  input  logic [1:0]    m_memory_bresp,
  input  logic [MemoryIdW-1:0] m_memory_bid,
  output logic          m_memory_arvalid,
  input  logic          m_memory_arready,
  output logic [39:0]   m_memory_araddr,
  output logic [7:0]    m_memory_arlen,
  output logic [MemoryIdW-1:0] m_memory_arid,
  input  logic          m_memory_rvalid,
  output logic          m_memory_rready,
  input  logic [511:0]  m_memory_rdata,
  input  logic [1:0]    m_memory_rresp,
  input  logic          m_memory_rlast,
  input  logic [MemoryIdW-1:0] m_memory_rid
);
  logic awready, wready, arready, bvalid, rvalid, rlast;
  logic [1:0] bresp, rresp;
  logic [MemoryIdW-1:0] bid, rid;
  logic [511:0] rdata;
  always_ff @(posedge drive_i) begin
    {awready, wready, arready} <= {m_memory_awready, m_memory_wready, m_memory_arready};
    {bvalid, bresp, bid} <= {m_memory_bvalid, m_memory_bresp, m_memory_bid};
    {rvalid, rresp, rid} <= {m_memory_rvalid, m_memory_rresp, m_memory_rid};
    {rlast, rdata} <= {m_memory_rlast, m_memory_rdata};
  end

  logic clk_memory, clk_ports, busy;
  logic door_awvalid, door_awready, door_wvalid, door_wready, door_wlast, door_bvalid, door_bready;
  logic door_arvalid, door_arready, door_rvalid, door_rready;
  logic [63:0] door_wstrb;
  rl_card_rest #(
    .Memories(Memories)
  ) u_rest (
    .clk_net_i,
    .rst_net_ni,
    .clk_ddr_i,
    .rst_ddr_ni,
    .clk_role_i,
    .rst_role_ni,
    .shell_rests_i,
    .shell_asks_i(shell_i.awvalid || shell_i.wvalid || shell_i.arvalid || shell_o.bvalid || shell_o.rvalid),
    .role_i,
    .role_rsp_i(role_o),
    .others_ask_i(bridge_i.awvalid || bridge_i.wvalid || bridge_i.arvalid || bridge_o.bvalid ||
                  bridge_o.rvalid || links_i.awvalid || links_i.wvalid || links_i.arvalid ||
                  links_o.bvalid || links_o.rvalid),
    .busy_i(busy || door_bvalid || door_rvalid),
    .clk_ddr_o(clk_memory),
    .clk_shell_o,
    .clk_role_o(clk_ports)
  );
  rl_memory_hub #(
    .Memories(Memories),
    .Bridge(Bridge),
    .Links(Links),
    .ShellLongest(DataW > 64 ? 64 : 1)  // A wide shell reads and writes 4 KiB at once.
  ) u_hub (
    .clk_role_i(clk_ports),
    .rst_role_ni,
    .role_i,
    .role_o,
    .clk_ddr_i(clk_memory),
    .rst_ddr_ni,
    .shell_i,
    .shell_o,
    .bridge_i,
    .bridge_o,
    .links_i,
    .links_o,
    .share_i,
    .weight_i({Memories + 32'(Bridge) + 32'(Links) {4'd1}}),
    .busy_o(busy),
    .m_awvalid_o(door_awvalid),
    .m_awready_i(door_awready),
    .m_awaddr_o(m_memory_awaddr),
    .m_awlen_o(m_memory_awlen),
    .m_awid_o(m_memory_awid),
    .m_wvalid_o(door_wvalid),
    .m_wready_i(door_wready),
    .m_wdata_o(m_memory_wdata),
    .m_wstrb_o(door_wstrb),
    .m_wlast_o(door_wlast),
    .m_bvalid_i(door_bvalid),
    .m_bready_o(door_bready),
    .m_bresp_i(bresp),
    .m_bid_i(bid),
    .m_arvalid_o(door_arvalid),
    .m_arready_i(door_arready),
    .m_araddr_o(m_memory_araddr),
    .m_arlen_o(m_memory_arlen),
    .m_arid_o(m_memory_arid),
    .m_rvalid_i(door_rvalid),
    .m_rready_o(door_rready),
    .m_rdata_i(rdata),
    .m_rresp_i(rresp),
    .m_rlast_i(rlast),
    .m_rid_i(rid)
  );
  logic late, owes, fills;
  rl_memory_watch u_watch (
    .clk_i(clk_ddr_i),
    .rst_por_ni(rst_power_ddr_ni),
    .rst_ni(rst_ddr_ni),
    .s_awvalid_i(door_awvalid),
    .s_awready_o(door_awready),
    .s_awlen_i(m_memory_awlen),
    .s_wvalid_i(door_wvalid),
    .s_wready_o(door_wready),
    .s_wlast_i(door_wlast),
    .s_bvalid_o(door_bvalid),
    .s_bready_i(door_bready),
    .s_arvalid_i(door_arvalid),
    .s_arready_o(door_arready),
    .s_rvalid_o(door_rvalid),
    .s_rready_i(door_rready),
    .m_awvalid_o(m_memory_awvalid),
    .m_awready_i(awready),
    .m_wvalid_o(m_memory_wvalid),
    .m_wready_i(wready),
    .m_wlast_o(m_memory_wlast),
    .fills_o(fills),
    .m_bvalid_i(bvalid),
    .m_bready_o(m_memory_bready),
    .m_arvalid_o(m_memory_arvalid),
    .m_arready_i(arready),
    .m_rvalid_i(rvalid),
    .m_rlast_i(rlast),
    .m_rready_o(m_memory_rready),
    .late_o(late),
    .owes_o(owes)
  );
  assign m_memory_wstrb = fills ? '0 : door_wstrb;
  rl_sync #(
    .Width(2)
  ) u_watched (
    .clk_i(clk_net_i),
    .rst_ni(rst_power_net_ni),
    .d_i({late, owes}),
    .q_o({late_o, owes_o})
  );
  rl_sync u_busy (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .d_i(busy),
    .q_o(busy_o)
  );
endmodule : rl_card_memory
