// The role's port to the memory of other nodes: across to the bridge's clock, and between the two what keeps a role's
// end from hanging anything.
//
//   role ==> bursts, whole ==> rl_bridge_slave
//        <== answers, whole <==
//
// A burst that is written goes on when all of its beats are here; of one that a reset of the role cuts off nothing is
// written. No more is under way than the bridge has room for, so an answer never waits there for the role.
//
// What a role that is reset has asked for is answered later, to nobody; and what of it the bridge has not looked at
// leads nowhere from then on, whatever the routes become. Until all of that is over, nothing is taken from the next
// role.
module rl_bridge_port
  import rl_role_pkg::*;
#(
  parameter int unsigned Bursts = 8  // Under way, each way: a power of two, 4 or more.
) (
  // -- role domain
  input  logic        clk_role_i,
  input  logic        rst_role_ni,
  input  logic        role_rst_ni,  // The role is not in reset.
  input  remote_req_t role_i,
  output remote_rsp_t role_o,
  output logic        asks_o,       // Something is under way: a register.

  // -- the bridge's domain
  input  logic        clk_net_i,
  input  logic        rst_net_ni,
  output remote_req_t port_o,
  input  remote_rsp_t port_i
);
  localparam int unsigned Longest = 256;  // Beats of a burst.
  localparam int unsigned CountW = $clog2(Bursts) + 1;
  // More than a beat has: there is no such burst, and it leads nowhere.
  localparam logic [2:0] NoSize = 3'd7;
  typedef struct packed {
    remote_addr_t addr;
    logic [7:0]   len;
    logic [2:0]   size;
  } ask_t;
  typedef struct packed {
    logic [7:0]  strb;
    logic [63:0] data;
  } write_t;
  typedef struct packed {
    logic        last;
    remote_e     resp;
    logic [63:0] data;
  } read_t;

  // -- whether there is a role. One that is gone is one until the other side has seen that all of it is over.
  logic lives, owed, old_q, old_net, old_seen;
  logic [CountW-1:0] reads_q, writes_q;
  assign lives = role_rst_ni && !old_q && !old_seen;
  assign owed = reads_q != '0 || writes_q != '0;
  rl_sync u_old (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .d_i(old_q),
    .q_o(old_net)
  );
  rl_sync u_old_seen (
    .clk_i(clk_role_i),
    .rst_ni(rst_role_ni),
    .d_i(old_net),
    .q_o(old_seen)
  );

  // -- writes from the role
  ask_t aw_q;
  logic [8:0] left_q;
  logic aw_take, w_take, w_room, w_last, b_valid, b_take;
  logic [$bits(remote_e)-1:0] b_resp;
  assign role_o.awready = lives && left_q == '0 && w_room && !writes_q[CountW-1];
  assign role_o.wready = lives && left_q != '0;
  assign aw_take = role_i.awvalid && role_o.awready;
  assign w_take = role_i.wvalid && role_o.wready;
  assign w_last = w_take && left_q == 9'd1;

  // -- reads
  logic ar_ready, ar_take, r_valid, r_take, r_end;
  read_t r;
  assign role_o.arready = lives && ar_ready && !reads_q[CountW-1];
  assign ar_take = role_i.arvalid && role_o.arready;

  // -- answers: to the role that has asked, or to nobody
  assign role_o.bvalid = b_valid && lives;
  assign role_o.bresp = remote_e'(b_resp);
  assign b_take = b_valid && (!lives || role_i.bready);
  assign role_o.rvalid = r_valid && lives;
  assign {role_o.rlast, role_o.rresp, role_o.rdata} = r;
  assign r_take = r_valid && (!lives || role_i.rready);
  assign r_end = r_take && r.last;

  always_ff @(posedge clk_role_i) begin
    if (!rst_role_ni) begin
      left_q <= '0;
      reads_q <= '0;
      writes_q <= '0;
      old_q <= 1'b0;
      asks_o <= 1'b0;
    end else begin
      if (!role_rst_ni) left_q <= '0;
      else if (aw_take) left_q <= 9'(role_i.awlen) + 1'b1;
      else if (w_take) left_q <= left_q - 1'b1;
      reads_q <= reads_q + CountW'(ar_take) - CountW'(r_end);
      writes_q <= writes_q + CountW'(w_last) - CountW'(b_take);
      old_q <= old_q ? owed || !old_seen : !role_rst_ni && owed;
      asks_o <= owed || old_q || old_seen;
    end
    if (aw_take) aw_q <= {role_i.awaddr, role_i.awlen, role_i.awsize};
  end

  // -- across
  ask_t aw, ar;
  write_t w;
  logic aw_valid, w_ready, w_sends_q, w_done, r_room, r_inside_q, r_word;
  logic [7:0] w_left_q;
  rl_frame_queue #(
    .DataW($bits(write_t)),
    .Words(2 * Longest),
    .FrameWords(Longest),
    .DescW($bits(ask_t)),
    .Frames(2 * Bursts)
  ) u_writes (
    .clk_wr_i(clk_role_i),
    .rst_wr_ni(rst_role_ni),
    .room_o(w_room),
    .word_i(w_take),
    .data_i({role_i.wstrb, role_i.wdata}),
    .commit_i(w_last),
    .desc_i(aw_q),
    .rollback_i(!role_rst_ni && left_q != '0),
    .clk_rd_i(clk_net_i),
    .rst_rd_ni(rst_net_ni),
    .valid_o(aw_valid),
    .desc_o(aw),
    .done_i(w_done),
    .take_i(port_o.wvalid && port_i.wready),
    .data_o(w),
    .ready_o(w_ready)
  );
  logic [2:0] unused_spare;
  rl_fifo_async #(
    .Width($bits(ask_t)),
    .Depth(Bursts)
  ) u_reads (
    .clk_wr_i(clk_role_i),
    .rst_wr_ni(rst_role_ni),
    .wvalid_i(ar_take),
    .wready_o(ar_ready),
    .wspare_o(unused_spare[0]),
    .wdata_i({role_i.araddr, role_i.arlen, role_i.arsize}),
    .clk_rd_i(clk_net_i),
    .rst_rd_ni(rst_net_ni),
    .rvalid_o(port_o.arvalid),
    .rready_i(port_i.arready),
    .rdata_o(ar)
  );
  rl_fifo_async #(
    .Width($bits(remote_e)),
    .Depth(Bursts)
  ) u_written (
    .clk_wr_i(clk_net_i),
    .rst_wr_ni(rst_net_ni),
    .wvalid_i(port_i.bvalid),
    .wready_o(port_o.bready),
    .wspare_o(unused_spare[1]),
    .wdata_i(port_i.bresp),
    .clk_rd_i(clk_role_i),
    .rst_rd_ni(rst_role_ni),
    .rvalid_o(b_valid),
    .rready_i(b_take),
    .rdata_o(b_resp)
  );
  logic r_whole;
  rl_frame_queue #(
    .DataW($bits(read_t)),
    .Words(2 * Longest),
    .FrameWords(Longest),
    .DescW(1),
    .Frames(2 * Bursts)
  ) u_read (
    .clk_wr_i(clk_net_i),
    .rst_wr_ni(rst_net_ni),
    .room_o(r_room),
    .word_i(r_word),
    .data_i({port_i.rlast, port_i.rresp, port_i.rdata}),
    .commit_i(r_word && port_i.rlast),
    .desc_i(1'b0),
    .rollback_i(1'b0),
    .clk_rd_i(clk_role_i),
    .rst_rd_ni(rst_role_ni),
    .valid_o(r_whole),
    .desc_o(unused_spare[2]),
    .done_i(r_end),
    .take_i(r_take),
    .data_o(r),
    .ready_o(r_valid)
  );

  // -- the bridge's side: an address, and then its beats
  assign port_o.araddr = ar.addr;
  assign port_o.arlen = ar.len;
  assign port_o.arsize = old_net ? NoSize : ar.size;
  assign port_o.awvalid = aw_valid && !w_sends_q;
  assign port_o.awaddr = aw.addr;
  assign port_o.awlen = aw.len;
  assign port_o.awsize = old_net ? NoSize : aw.size;
  assign port_o.wvalid = w_sends_q && w_ready;
  assign port_o.wdata = w.data;
  assign port_o.wstrb = w.strb;
  assign port_o.wlast = w_left_q == '0;
  assign w_done = port_o.wvalid && port_i.wready && port_o.wlast;
  assign port_o.rready = r_inside_q || r_room;
  assign r_word = port_i.rvalid && port_o.rready;
  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) begin
      w_sends_q <= 1'b0;
      r_inside_q <= 1'b0;
    end else begin
      if (port_o.awvalid && port_i.awready) w_sends_q <= 1'b1;
      else if (w_done) w_sends_q <= 1'b0;
      if (r_word) r_inside_q <= !port_i.rlast;
    end
    if (!w_sends_q) w_left_q <= aw.len;
    else if (port_o.wvalid && port_i.wready) w_left_q <= w_left_q - 1'b1;
  end

  logic unused;
  assign unused = ^{unused_spare, r_whole, role_i.wlast};
`ifndef SYNTHESIS
  always_ff @(posedge clk_net_i)
    if (rst_net_ni && port_i.bvalid)
      AnswerHasRoom_A : assert (port_o.bready);
`endif
endmodule
