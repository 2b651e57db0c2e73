// The ECPIX-5's DDR3 behind LiteDRAM's controller, as the two ports of 512 bits that the shell wants.
// The controller also makes the card's clock, of the board's oscillator.
module rl_ecpix5_memory
  import rl_role_pkg::*;
(
  input  logic        clk100_i,
  input  logic        rst_ni,      // Asynchronous: the board's button.

  output logic        clk_o,       // For all of the card.
  output logic        rst_o,       // Until that clock runs.
  output logic        ready_o,     // The memory is trained.
  output logic        failed_o,    // Its training has failed.
  input  logic        rst_card_ni, // Resets of the card and, with it, of its shell.
  input  logic        rst_shell_ni,
  output logic        late_o,      // It does not answer.
  output logic        owes_o,      // It owes what was asked before the shell's last reset.

  input  axi_req_t    shell_i,
  output axi_rsp_t    shell_o,
  input  axi_req_t    role_i,
  output axi_rsp_t    role_o,

  // What the processor that trains the memory says.
  input  logic        serial_rx_i,
  output logic        serial_tx_o,

  output logic [14:0] ddram_a,
  output logic [2:0]  ddram_ba,
  output logic        ddram_ras_n,
  output logic        ddram_cas_n,
  output logic        ddram_we_n,
  output logic [1:0]  ddram_dm,
  inout  wire  [15:0] ddram_dq,
  inout  wire  [1:0]  ddram_dqs_p,
  output logic        ddram_clk_p,
  output logic        ddram_cke,
  output logic        ddram_odt
);
  localparam int unsigned NarrowW = 128;
  localparam int unsigned AddrW = 29;  // 512 MiB.
  localparam logic [1:0] Incr = 2'b01;
  localparam logic [3:0] Size = 4'($clog2(NarrowW / 8));
  localparam int unsigned Ports = 2;  // 0 the shell's, 1 the role's.

  typedef struct packed {
    logic [AxiIdW-1:0]  id;
    logic [1:0]         resp;
    logic               last;
    logic [NarrowW-1:0] data;
  } r_t;

  axi_req_t [Ports-1:0] wide;
  axi_rsp_t [Ports-1:0] wide_rsp;
  assign wide = {role_i, shell_i};
  assign {role_o, shell_o} = wide_rsp;

  logic [Ports-1:0] awvalid, awready, wvalid, wready, wlast, bvalid, bready;
  logic [Ports-1:0] arvalid, arready, rvalid, rready, rlast;
  logic [Ports-1:0][AxiAddrW-1:0] awaddr, araddr;
  logic [Ports-1:0][7:0] awlen, arlen;
  logic [Ports-1:0][AxiIdW-1:0] awid, arid, bid, rid;
  logic [Ports-1:0][NarrowW-1:0] wdata, rdata;
  logic [Ports-1:0][NarrowW/8-1:0] wstrb;
  logic [Ports-1:0][1:0] bresp, rresp;

  logic [Ports-1:0] late, owes;
  assign late_o = late != '0;
  assign owes_o = owes != '0;
  for (genvar n = 0; n < Ports; n++) begin : gen_port
    r_t queued;
    logic queued_valid, queued_ready;
    logic [2:0] unused_count;
    logic
        door_awvalid, door_awready, door_wvalid, door_wready, door_wlast, door_bvalid, door_bready;
    logic door_arvalid, door_arready, door_rvalid, door_rready, fills;
    rl_memory_watch u_watch (
      .clk_i(clk_o),
      .rst_por_ni(rst_card_ni),
      .rst_ni(rst_shell_ni),
      .s_awvalid_i(wide[n].awvalid),
      .s_awready_o(wide_rsp[n].awready),
      .s_awlen_i(wide[n].awlen),
      .s_wvalid_i(wide[n].wvalid),
      .s_wready_o(wide_rsp[n].wready),
      .s_wlast_i(wide[n].wlast),
      .s_bvalid_o(wide_rsp[n].bvalid),
      .s_bready_i(wide[n].bready),
      .s_arvalid_i(wide[n].arvalid),
      .s_arready_o(wide_rsp[n].arready),
      .s_rvalid_o(wide_rsp[n].rvalid),
      .s_rready_i(wide[n].rready),
      .m_awvalid_o(door_awvalid),
      .m_awready_i(door_awready),
      .m_wvalid_o(door_wvalid),
      .m_wready_i(door_wready),
      .m_wlast_o(door_wlast),
      .fills_o(fills),
      .m_bvalid_i(door_bvalid),
      .m_bready_o(door_bready),
      .m_arvalid_o(door_arvalid),
      .m_arready_i(door_arready),
      .m_rvalid_i(door_rvalid),
      .m_rlast_i(wide_rsp[n].rlast),
      .m_rready_o(door_rready),
      .late_o(late[n]),
      .owes_o(owes[n])
    );
    rl_axi_narrow #(
      .NarrowW(NarrowW),
      .IdW(AxiIdW)
    ) u_narrow (
      .clk_i(clk_o),
      .rst_ni(!rst_o),
      .s_awvalid_i(door_awvalid),
      .s_awready_o(door_awready),
      .s_awaddr_i(wide[n].awaddr),
      .s_awlen_i(wide[n].awlen),
      .s_awid_i(wide[n].awid),
      .s_wvalid_i(door_wvalid),
      .s_wready_o(door_wready),
      .s_wdata_i(wide[n].wdata),
      .s_wstrb_i(fills ? '0 : wide[n].wstrb),
      .s_wlast_i(door_wlast),
      .s_bvalid_o(door_bvalid),
      .s_bready_i(door_bready),
      .s_bresp_o(wide_rsp[n].bresp),
      .s_bid_o(wide_rsp[n].bid),
      .s_arvalid_i(door_arvalid),
      .s_arready_o(door_arready),
      .s_araddr_i(wide[n].araddr),
      .s_arlen_i(wide[n].arlen),
      .s_arid_i(wide[n].arid),
      .s_rvalid_o(door_rvalid),
      .s_rready_i(door_rready),
      .s_rdata_o(wide_rsp[n].rdata),
      .s_rresp_o(wide_rsp[n].rresp),
      .s_rlast_o(wide_rsp[n].rlast),
      .s_rid_o(wide_rsp[n].rid),
      .m_awvalid_o(awvalid[n]),
      .m_awready_i(awready[n]),
      .m_awaddr_o(awaddr[n]),
      .m_awlen_o(awlen[n]),
      .m_awid_o(awid[n]),
      .m_wvalid_o(wvalid[n]),
      .m_wready_i(wready[n]),
      .m_wdata_o(wdata[n]),
      .m_wstrb_o(wstrb[n]),
      .m_wlast_o(wlast[n]),
      .m_bvalid_i(bvalid[n]),
      .m_bready_o(bready[n]),
      .m_bresp_i(bresp[n]),
      .m_bid_i(bid[n]),
      .m_arvalid_o(arvalid[n]),
      .m_arready_i(arready[n]),
      .m_araddr_o(araddr[n]),
      .m_arlen_o(arlen[n]),
      .m_arid_o(arid[n]),
      .m_rvalid_i(queued_valid),
      .m_rready_o(queued_ready),
      .m_rdata_i(queued.data),
      .m_rresp_i(queued.resp),
      .m_rlast_i(queued.last),
      .m_rid_i(queued.id)
    );
    // The role's readiness reaches far: through guard and narrower into the controller's buffers, if
    // nothing is between.
    rl_fifo #(
      .Width($bits(r_t)),
      .Depth(4)
    ) u_read (
      .clk_i(clk_o),
      .rst_ni(!rst_o),
      .wvalid_i(rvalid[n]),
      .wready_o(rready[n]),
      .wdata_i({rid[n], rresp[n], rlast[n], rdata[n]}),
      .rvalid_o(queued_valid),
      .rready_i(queued_ready),
      .rdata_o(queued),
      .count_o(unused_count)
    );
  end

  // A port of 512 bits does not look at an address's bits 5 to 0; this one does.
  logic [Ports-1:0][AddrW-1:0] awbeat, arbeat;
  for (genvar n = 0; n < Ports; n++) begin : gen_addr
    assign awbeat[n] = {awaddr[n][AddrW-1:6], 6'd0};
    assign arbeat[n] = {araddr[n][AddrW-1:6], 6'd0};
  end

  logic unused_pll_locked, unused_cs_n, unused_reset_n;
  litedram_core u_core (
    .clk(clk100_i),
    .rst(!rst_ni),
    .pll_locked(unused_pll_locked),
    .user_clk(clk_o),
    .user_rst(rst_o),
    .init_done(ready_o),
    .init_error(failed_o),
    .uart_rx(serial_rx_i),
    .uart_tx(serial_tx_o),

    .ddram_a,
    .ddram_ba,
    .ddram_ras_n,
    .ddram_cas_n,
    .ddram_we_n,
    .ddram_cs_n(unused_cs_n),
    .ddram_dm,
    .ddram_dq,
    .ddram_dqs_p,
    .ddram_dqs_n('0),
    .ddram_clk_p,
    .ddram_clk_n('0),
    .ddram_cke,
    .ddram_odt,
    .ddram_reset_n(unused_reset_n),

    .user_port_shell_awvalid(awvalid[0]),
    .user_port_shell_awready(awready[0]),
    .user_port_shell_awaddr(awbeat[0]),
    .user_port_shell_awburst(Incr),
    .user_port_shell_awlen(awlen[0]),
    .user_port_shell_awsize(Size),
    .user_port_shell_awid(awid[0]),
    .user_port_shell_wvalid(wvalid[0]),
    .user_port_shell_wready(wready[0]),
    .user_port_shell_wdata(wdata[0]),
    .user_port_shell_wstrb(wstrb[0]),
    .user_port_shell_wlast(wlast[0]),
    .user_port_shell_bvalid(bvalid[0]),
    .user_port_shell_bready(bready[0]),
    .user_port_shell_bresp(bresp[0]),
    .user_port_shell_bid(bid[0]),
    .user_port_shell_arvalid(arvalid[0]),
    .user_port_shell_arready(arready[0]),
    .user_port_shell_araddr(arbeat[0]),
    .user_port_shell_arburst(Incr),
    .user_port_shell_arlen(arlen[0]),
    .user_port_shell_arsize(Size),
    .user_port_shell_arid(arid[0]),
    .user_port_shell_rvalid(rvalid[0]),
    .user_port_shell_rready(rready[0]),
    .user_port_shell_rdata(rdata[0]),
    .user_port_shell_rresp(rresp[0]),
    .user_port_shell_rlast(rlast[0]),
    .user_port_shell_rid(rid[0]),

    .user_port_role_awvalid(awvalid[1]),
    .user_port_role_awready(awready[1]),
    .user_port_role_awaddr(awbeat[1]),
    .user_port_role_awburst(Incr),
    .user_port_role_awlen(awlen[1]),
    .user_port_role_awsize(Size),
    .user_port_role_awid(awid[1]),
    .user_port_role_wvalid(wvalid[1]),
    .user_port_role_wready(wready[1]),
    .user_port_role_wdata(wdata[1]),
    .user_port_role_wstrb(wstrb[1]),
    .user_port_role_wlast(wlast[1]),
    .user_port_role_bvalid(bvalid[1]),
    .user_port_role_bready(bready[1]),
    .user_port_role_bresp(bresp[1]),
    .user_port_role_bid(bid[1]),
    .user_port_role_arvalid(arvalid[1]),
    .user_port_role_arready(arready[1]),
    .user_port_role_araddr(arbeat[1]),
    .user_port_role_arburst(Incr),
    .user_port_role_arlen(arlen[1]),
    .user_port_role_arsize(Size),
    .user_port_role_arid(arid[1]),
    .user_port_role_rvalid(rvalid[1]),
    .user_port_role_rready(rready[1]),
    .user_port_role_rdata(rdata[1]),
    .user_port_role_rresp(rresp[1]),
    .user_port_role_rlast(rlast[1]),
    .user_port_role_rid(rid[1])
  );

  logic unused;
  assign unused = ^{unused_pll_locked, unused_cs_n, unused_reset_n, awaddr, araddr};
endmodule : rl_ecpix5_memory
