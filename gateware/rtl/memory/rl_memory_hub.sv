// One memory for the shell and a role's ports. The role's ports share what the role has of the memory by their
// weights, and shell and role the memory by their shares: whatever the role does, and with however many ports, the
// shell waits for one burst of it and not more (rl_memory_share).
//
// The role's ports are the leaves of a tree: node 1 is the role's as a whole, node n divides what it has among 2 n and
// 2 n + 1, and the last nodes are the ports. Each level adds a bit on top of the ids that come from below it, so that a
// role's ids go to the memory and come back as they are. A bridge is one more leaf, and so are links, the last ones:
// they share with the role's ports, and the shell waits for no more than without them.
module rl_memory_hub
  import rl_role_pkg::*;
#(
  parameter int unsigned Memories = 1,  // Ports of the role, 1 to 4.
  parameter bit          Bridge = 1'b0, // There is a bridge.
  parameter bit          Links = 1'b0,  // There are links.
  parameter int unsigned ShellLongest = 1,  // Beats of the shell's longest burst.
  parameter int unsigned ShareW = 4,
  localparam int unsigned Leaves = Memories + 32'(Bridge) + 32'(Links),
  localparam int unsigned IdW = AxiIdW + $clog2(Leaves) + 1
) (
  input  logic                             clk_role_i,
  input  logic                             rst_role_ni,
  input  axi_req_t [Memories-1:0]          role_i,
  output axi_rsp_t [Memories-1:0]          role_o,

  input  logic                             clk_ddr_i,
  input  logic                             rst_ddr_ni,
  input  axi_req_t                         shell_i,
  output axi_rsp_t                         shell_o,
  input  axi_req_t                         bridge_i,  // Its bursts are as long as a role's. Tied off if there is none.
  output axi_rsp_t                         bridge_o,
  input  axi_req_t                         links_i,   // The same of links.
  output axi_rsp_t                         links_o,
  // Parts of the bandwidth, 1 or more each; steady. Of the shell [0] and the role [1]:
  input  logic [1:0][ShareW-1:0]           share_i,
  // and of the role's ports, and then the bridge and the links, of what the role has.
  input  logic [Leaves-1:0][ShareW-1:0]    weight_i,
  output logic                             busy_o,  // Something is under way: a register, which may cross.

  output logic                             m_awvalid_o,
  input  logic                             m_awready_i,
  output logic [AxiAddrW-1:0]              m_awaddr_o,
  output logic [7:0]                       m_awlen_o,
  output logic [IdW-1:0]                   m_awid_o,
  output logic                             m_wvalid_o,
  input  logic                             m_wready_i,
  output logic [511:0]                     m_wdata_o,
  output logic [63:0]                      m_wstrb_o,
  output logic                             m_wlast_o,
  input  logic                             m_bvalid_i,
  output logic                             m_bready_o,
  input  logic [1:0]                       m_bresp_i,
  input  logic [IdW-1:0]                   m_bid_i,
  output logic                             m_arvalid_o,
  input  logic                             m_arready_i,
  output logic [AxiAddrW-1:0]              m_araddr_o,
  output logic [7:0]                       m_arlen_o,
  output logic [IdW-1:0]                   m_arid_o,
  input  logic                             m_rvalid_i,
  output logic                             m_rready_o,
  input  logic [511:0]                     m_rdata_i,
  input  logic [1:0]                       m_rresp_i,
  input  logic                             m_rlast_i,
  input  logic [IdW-1:0]                   m_rid_i
);
  localparam int unsigned Nodes = 2 * Leaves - 1;
  localparam int unsigned RoleIdW = IdW - 1;
  localparam int unsigned WeightW = ShareW + 2;
  // Beats of a port that are asked for and not taken: with fewer it could not have its share from so deep in the tree.
  localparam logic [15:0] PortBuffer = Leaves > 2 ? 16'd128 : 16'd64;
  if (Memories < 1 || Memories > MemoriesMax) begin : gen_check
    $fatal(0, "rl_memory_hub: a role has 1 to 4 memory ports (%m)");
  end

  // As axi_req_t and axi_rsp_t, with ids of the tree's root.
  logic [Nodes:1]
      awvalid,
      awready,
      wvalid,
      wready,
      wlast,
      bvalid,
      bready,
      arvalid,
      arready,
      rvalid,
      rready,
      rlast;
  logic [Nodes:1][AxiAddrW-1:0] awaddr, araddr;
  logic [Nodes:1][7:0] awlen, arlen;
  logic [Nodes:1][RoleIdW-1:0] awid, arid, bid, rid;
  logic [Nodes:1][511:0] wdata, rdata;
  logic [Nodes:1][63:0] wstrb;
  logic [Nodes:1][1:0] bresp, rresp;
  logic [Nodes:1][WeightW-1:0] weight;
  logic [Nodes:1] busy;

  for (genvar n = 1; n <= Nodes; n++) begin : gen_node
    if (n >= Leaves) begin : gen_port
      axi_req_t req;
      axi_rsp_t rsp;
      if (n - Leaves < Memories) begin : gen_role
        rl_memory_crossing u_crossing (
          .clk_manager_i(clk_role_i),
          .rst_manager_ni(rst_role_ni),
          .manager_i(role_i[n-Leaves]),
          .manager_o(role_o[n-Leaves]),
          .clk_memory_i(clk_ddr_i),
          .rst_memory_ni(rst_ddr_ni),
          .memory_o(req),
          .memory_i(rsp)
        );
      end else if (Bridge && n - Leaves == Memories) begin : gen_bridge
        assign req = bridge_i;
        assign bridge_o = rsp;
      end else begin : gen_links
        assign req = links_i;
        assign links_o = rsp;
      end
      assign awvalid[n] = req.awvalid;
      assign awaddr[n] = req.awaddr;
      assign awlen[n] = req.awlen;
      assign awid[n] = RoleIdW'(req.awid);
      assign wvalid[n] = req.wvalid;
      assign wdata[n] = req.wdata;
      assign wstrb[n] = req.wstrb;
      assign wlast[n] = req.wlast;
      assign bready[n] = req.bready;
      assign arvalid[n] = req.arvalid;
      assign araddr[n] = req.araddr;
      assign arlen[n] = req.arlen;
      assign arid[n] = RoleIdW'(req.arid);
      assign rready[n] = req.rready;
      assign rsp = '{
        awready: awready[n],
        wready: wready[n],
        bid: bid[n][AxiIdW-1:0],
        bresp: bresp[n],
        bvalid: bvalid[n],
        arready: arready[n],
        rid: rid[n][AxiIdW-1:0],
        rdata: rdata[n],
        rresp: rresp[n],
        rlast: rlast[n],
        rvalid: rvalid[n]
      };
      assign weight[n] = WeightW'(weight_i[n-Leaves]);
      assign busy[n] = 1'b0;
    end else begin : gen_share
      // Ids of the nodes below, by how deep they are.
      localparam int unsigned ChildIdW = RoleIdW - $clog2(n + 1);
      logic [ChildIdW:0] awid_up, arid_up;
      logic [1:0][ChildIdW-1:0] bid_down, rid_down;
      rl_memory_share #(
        .AddrW(AxiAddrW),
        .IdW(ChildIdW),
        .ShareW(WeightW),
        .Longest({2{8'(BurstMax)}}),
        // What waits above is bounded there, and by two bursts a level on the way; it must not be less here.
        .UnderWay(256),
        // A node that shares takes at once what it has asked for.
        .Buffer({2 * n + 1 >= Leaves ? PortBuffer : 16'd0, 2 * n >= Leaves ? PortBuffer : 16'd0})
      ) u_share (
        .clk_i(clk_ddr_i),
        .rst_ni(rst_ddr_ni),
        .share_i(weight[2*n+1:2*n]),
        .busy_o(busy[n]),
        .s_awvalid_i(awvalid[2*n+1:2*n]),
        .s_awready_o(awready[2*n+1:2*n]),
        .s_awaddr_i(awaddr[2*n+1:2*n]),
        .s_awlen_i(awlen[2*n+1:2*n]),
        .s_awid_i({awid[2*n+1][ChildIdW-1:0], awid[2*n][ChildIdW-1:0]}),
        .s_wvalid_i(wvalid[2*n+1:2*n]),
        .s_wready_o(wready[2*n+1:2*n]),
        .s_wdata_i(wdata[2*n+1:2*n]),
        .s_wstrb_i(wstrb[2*n+1:2*n]),
        .s_wlast_i(wlast[2*n+1:2*n]),
        .s_bvalid_o(bvalid[2*n+1:2*n]),
        .s_bready_i(bready[2*n+1:2*n]),
        .s_bresp_o(bresp[2*n+1:2*n]),
        .s_bid_o(bid_down),
        .s_arvalid_i(arvalid[2*n+1:2*n]),
        .s_arready_o(arready[2*n+1:2*n]),
        .s_araddr_i(araddr[2*n+1:2*n]),
        .s_arlen_i(arlen[2*n+1:2*n]),
        .s_arid_i({arid[2*n+1][ChildIdW-1:0], arid[2*n][ChildIdW-1:0]}),
        .s_rvalid_o(rvalid[2*n+1:2*n]),
        .s_rready_i(rready[2*n+1:2*n]),
        .s_rdata_o(rdata[2*n+1:2*n]),
        .s_rresp_o(rresp[2*n+1:2*n]),
        .s_rlast_o(rlast[2*n+1:2*n]),
        .s_rid_o(rid_down),
        .m_awvalid_o(awvalid[n]),
        .m_awready_i(awready[n]),
        .m_awaddr_o(awaddr[n]),
        .m_awlen_o(awlen[n]),
        .m_awid_o(awid_up),
        .m_wvalid_o(wvalid[n]),
        .m_wready_i(wready[n]),
        .m_wdata_o(wdata[n]),
        .m_wstrb_o(wstrb[n]),
        .m_wlast_o(wlast[n]),
        .m_bvalid_i(bvalid[n]),
        .m_bready_o(bready[n]),
        .m_bresp_i(bresp[n]),
        .m_bid_i(bid[n][ChildIdW:0]),
        .m_arvalid_o(arvalid[n]),
        .m_arready_i(arready[n]),
        .m_araddr_o(araddr[n]),
        .m_arlen_o(arlen[n]),
        .m_arid_o(arid_up),
        .m_rvalid_i(rvalid[n]),
        .m_rready_o(rready[n]),
        .m_rdata_i(rdata[n]),
        .m_rresp_i(rresp[n]),
        .m_rlast_i(rlast[n]),
        .m_rid_i(rid[n][ChildIdW:0])
      );
      assign awid[n] = RoleIdW'(awid_up);
      assign arid[n] = RoleIdW'(arid_up);
      assign {bid[2*n+1], bid[2*n]} = {RoleIdW'(bid_down[1]), RoleIdW'(bid_down[0])};
      assign {rid[2*n+1], rid[2*n]} = {RoleIdW'(rid_down[1]), RoleIdW'(rid_down[0])};
      assign weight[n] = weight[2*n] + weight[2*n+1];
    end
  end

  if (!Bridge) begin : gen_no_bridge
    logic unused_bridge;
    assign bridge_o = '0;
    assign unused_bridge = ^bridge_i;
  end
  if (!Links) begin : gen_no_links
    logic unused_links;
    assign links_o = '0;
    assign unused_links = ^links_i;
  end

  logic busy_share;
  logic [RoleIdW-1:0] shell_bid, shell_rid;
  always_ff @(posedge clk_ddr_i) busy_o <= busy_share || busy != '0;
  rl_memory_share #(
    .AddrW(AxiAddrW),
    .IdW(RoleIdW),
    .ShareW(ShareW),
    .Longest({8'(BurstMax), 8'(ShellLongest)}),
    // The shell takes what it has asked for, and so does a node that shares.
    .Buffer({Leaves == 1 ? 16'd64 : 16'd0, 16'd0})
  ) u_share (
    .clk_i(clk_ddr_i),
    .rst_ni(rst_ddr_ni),
    .share_i,
    .busy_o(busy_share),
    .s_awvalid_i({awvalid[1], shell_i.awvalid}),
    .s_awready_o({awready[1], shell_o.awready}),
    .s_awaddr_i({awaddr[1], shell_i.awaddr}),
    .s_awlen_i({awlen[1], shell_i.awlen}),
    .s_awid_i({awid[1], RoleIdW'(shell_i.awid)}),
    .s_wvalid_i({wvalid[1], shell_i.wvalid}),
    .s_wready_o({wready[1], shell_o.wready}),
    .s_wdata_i({wdata[1], shell_i.wdata}),
    .s_wstrb_i({wstrb[1], shell_i.wstrb}),
    .s_wlast_i({wlast[1], shell_i.wlast}),
    .s_bvalid_o({bvalid[1], shell_o.bvalid}),
    .s_bready_i({bready[1], shell_i.bready}),
    .s_bresp_o({bresp[1], shell_o.bresp}),
    .s_bid_o({bid[1], shell_bid}),
    .s_arvalid_i({arvalid[1], shell_i.arvalid}),
    .s_arready_o({arready[1], shell_o.arready}),
    .s_araddr_i({araddr[1], shell_i.araddr}),
    .s_arlen_i({arlen[1], shell_i.arlen}),
    .s_arid_i({arid[1], RoleIdW'(shell_i.arid)}),
    .s_rvalid_o({rvalid[1], shell_o.rvalid}),
    .s_rready_i({rready[1], shell_i.rready}),
    .s_rdata_o({rdata[1], shell_o.rdata}),
    .s_rresp_o({rresp[1], shell_o.rresp}),
    .s_rlast_o({rlast[1], shell_o.rlast}),
    .s_rid_o({rid[1], shell_rid}),
    .m_awvalid_o,
    .m_awready_i,
    .m_awaddr_o,
    .m_awlen_o,
    .m_awid_o,
    .m_wvalid_o,
    .m_wready_i,
    .m_wdata_o,
    .m_wstrb_o,
    .m_wlast_o,
    .m_bvalid_i,
    .m_bready_o,
    .m_bresp_i,
    .m_bid_i,
    .m_arvalid_o,
    .m_arready_i,
    .m_araddr_o,
    .m_arlen_o,
    .m_arid_o,
    .m_rvalid_i,
    .m_rready_o,
    .m_rdata_i,
    .m_rresp_i,
    .m_rlast_i,
    .m_rid_i
  );
  assign shell_o.bid = shell_bid[AxiIdW-1:0];
  assign shell_o.rid = shell_rid[AxiIdW-1:0];

  // Ids are as wide as at the root at every node, and the root's weight is all that there is.
  logic unused;
  assign unused = ^{awid, arid, bid, rid, shell_bid, shell_rid, weight};
endmodule
