// rl_launch, rl_role_port, rl_guard and the role `probe`, wired as in the shell; ports without
// structs.
module rl_launch_tb
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
  import rl_role_pkg::*;
(
  input  logic         clk_net_i,
  input  logic         rst_net_ni,
  input  logic         clk_role_i,
  input  logic         rst_role_ni,

  input  logic         rx_beat_word_i,
  input  logic         rx_beat_first_i,
  input  logic         rx_beat_payload_i,
  input  logic [63:0]  rx_beat_data_i,
  input  logic         rx_beat_done_i,
  input  logic         rx_beat_abort_i,
  input  logic [2:0]   rx_beat_route_i,
  input  logic [15:0]  head_length_i,
  input  logic [31:0]  head_seq_i,
  input  logic [63:0]  head_addr_i,
  output logic         room_o,
  output logic         divert_o,
  output logic [7:0]   divert_reason_o,
  output logic         note_o,

  input  logic [39:0]  memory_i,
  input  logic         role_i,
  input  logic [7:0]   stored_i,
  input  logic         mem_write_busy_i,
  input  logic [7:0]   mem_written_i,
  input  logic [31:0]  time_us_i,
  input  logic         last_we_i,
  input  logic [31:0]  last_i,
  output logic [31:0]  last_o,
  input  logic         args_we_i,
  input  logic [5:0]   args_kernel_i,
  input  logic [5:0]   args_takes_i,
  input  logic [5:0]   args_words_i,
  input  logic         enable_i,
  output logic         running_o,
  input  logic [4:0]   popped_i,
  input  logic [4:0]   bound_i,
  output logic [4:0]   head_o,
  output logic [4:0]   tail_o,
  output logic         ended_o,
  input  logic         freeze_i,
  output logic         frozen_o,
  input  logic         order_we_i,
  input  logic [4:0]   order_at_i,
  input  logic [4:0]   order_slot_i,
  input  logic         order_held_i,
  input  logic         drop_i,
  input  logic         stop_i,
  output logic [2:0]   end_status_o,
  output logic [31:0]  started_us_o,
  output logic [31:0]  ended_us_o,
  input  logic         slot_re_i,
  input  logic [11:0]  slot_addr_i,
  output logic [31:0]  slot_data_o,

  output logic [63:0]  value_o,
  output logic [47:0]  cycles_o,
  input  logic         isolate_i,
  input  logic         hold_i,
  output logic         isolated_o,
  output logic         fault_axil_o,
  output logic [2:0]   fault_guard_o,

  output logic         role_rst_no,
  output logic         start_write_o,  // The write that starts a kernel is taken.

  output logic [5:0]   m_axi_awid,
  output logic [39:0]  m_axi_awaddr,
  output logic [7:0]   m_axi_awlen,
  output logic [2:0]   m_axi_awsize,
  output logic [1:0]   m_axi_awburst,
  output logic         m_axi_awvalid,
  input  logic         m_axi_awready,
  output logic [511:0] m_axi_wdata,
  output logic [63:0]  m_axi_wstrb,
  output logic         m_axi_wlast,
  output logic         m_axi_wvalid,
  input  logic         m_axi_wready,
  input  logic [5:0]   m_axi_bid,
  input  logic [1:0]   m_axi_bresp,
  input  logic         m_axi_bvalid,
  output logic         m_axi_bready,
  output logic [5:0]   m_axi_arid,
  output logic [39:0]  m_axi_araddr,
  output logic [7:0]   m_axi_arlen,
  output logic [2:0]   m_axi_arsize,
  output logic [1:0]   m_axi_arburst,
  output logic         m_axi_arvalid,
  input  logic         m_axi_arready,
  input  logic [5:0]   m_axi_rid,
  input  logic [511:0] m_axi_rdata,
  input  logic [1:0]   m_axi_rresp,
  input  logic         m_axi_rlast,
  input  logic         m_axi_rvalid,
  output logic         m_axi_rready
);
  rx_beat_t rx_beat;
  always_comb begin
    rx_beat = '0;
    rx_beat.word = rx_beat_word_i;
    rx_beat.first = rx_beat_first_i;
    rx_beat.payload = rx_beat_payload_i;
    rx_beat.data = rx_beat_data_i;
    rx_beat.done = rx_beat_done_i;
    rx_beat.abort = rx_beat_abort_i;
    rx_beat.route = route_e'(rx_beat_route_i);
    rx_beat.head.length = head_length_i;
    rx_beat.head.seq = head_seq_i;
    rx_beat.head.addr = head_addr_i;
  end

  divert_reason_e divert_reason;
  role_command_t cmd;
  logic cmd_valid, cmd_ready, stop, end_toggle;
  end_e end_status;
  assign divert_reason_o = divert_reason;
  assign end_status_o = end_status;

  logic unused_still;
  rl_launch u_launch (
    .still_o(unused_still),
    .rx_beat_i(rx_beat),
    .divert_reason_o(divert_reason),
    .cmd_valid_o(cmd_valid),
    .cmd_ready_i(cmd_ready),
    .cmd_o(cmd),
    .stop_o(stop),
    .end_toggle_i(end_toggle),
    .*
  );

  role_in_t role_in;
  role_out_t role_out;
  axi_req_t role_req, ddr_req;
  axi_rsp_t role_rsp, ddr_rsp;
  logic guard_isolate, guard_drained;
  guard_fault_t guard_fault, fault_guard;
  assign fault_guard_o = fault_guard;
  assign start_write_o = role_in.axil.awvalid && role_out.axil.awready && role_in.axil.awaddr == RegControl;
  assign role_in.event_ready = 1'b1;
  logic unused;
  assign unused = ^{role_out.listens, role_out.busy, role_out.raises};

  rl_role_port #(
    .FuelMaxW(12)
  ) u_role_port (
    .cmd_valid_i(cmd_valid),
    .cmd_ready_o(cmd_ready),
    .cmd_i(cmd),
    .stop_i(stop),
    .end_toggle_o(end_toggle),
    .end_status_o(end_status),
    .fault_guard_o(fault_guard),
    .axil_o(role_in.axil),
    .axil_i(role_out.axil),
    .interrupt_i(role_out.irq),
    .guard_isolate_o(guard_isolate),
    .guard_drained_i(guard_drained),
    .guard_fault_i(guard_fault),
    .*
  );

  rl_role_probe u_role (
    .clk_i(clk_role_i),
    .rst_ni(role_rst_no),
    .role_i(role_in),
    .role_o(role_out),
    .axi_o(role_req),
    .axi_i(role_rsp)
  );

  rl_guard u_guard (
    .isolate_i(guard_isolate),
    .drained_o(guard_drained),
    .fault_o(guard_fault),
    .role_i(role_req),
    .role_o(role_rsp),
    .ddr_o(ddr_req),
    .ddr_i(ddr_rsp),
    .*
  );

  assign m_axi_awid = ddr_req.awid;
  assign m_axi_awaddr = ddr_req.awaddr;
  assign m_axi_awlen = ddr_req.awlen;
  assign m_axi_awsize = 3'd6;
  assign m_axi_awburst = 2'd1;
  assign m_axi_awvalid = ddr_req.awvalid;
  assign m_axi_wdata = ddr_req.wdata;
  assign m_axi_wstrb = ddr_req.wstrb;
  assign m_axi_wlast = ddr_req.wlast;
  assign m_axi_wvalid = ddr_req.wvalid;
  assign m_axi_bready = ddr_req.bready;
  assign m_axi_arid = ddr_req.arid;
  assign m_axi_araddr = ddr_req.araddr;
  assign m_axi_arlen = ddr_req.arlen;
  assign m_axi_arsize = 3'd6;
  assign m_axi_arburst = 2'd1;
  assign m_axi_arvalid = ddr_req.arvalid;
  assign m_axi_rready = ddr_req.rready;
  always_comb begin
    ddr_rsp.awready = m_axi_awready;
    ddr_rsp.wready = m_axi_wready;
    ddr_rsp.bid = m_axi_bid;
    ddr_rsp.bresp = m_axi_bresp;
    ddr_rsp.bvalid = m_axi_bvalid;
    ddr_rsp.arready = m_axi_arready;
    ddr_rsp.rid = m_axi_rid;
    ddr_rsp.rdata = m_axi_rdata;
    ddr_rsp.rresp = m_axi_rresp;
    ddr_rsp.rlast = m_axi_rlast;
    ddr_rsp.rvalid = m_axi_rvalid;
  end
endmodule
