// rl_share_write with managers that ask, send and take answers when they like, and a memory that answers what it has
// been given, when it likes. All bursts of manager 0 have one beat, those of manager 1 two. The upper bit of an address
// and the lowest of data are the manager. What is checked:
//   - towards the memory an address stays until it is taken and bears its manager's number; data that is begun goes on
//     without a gap, stays until it is taken, and is of the burst whose turn it is, its last beat marked;
//   - data is at most one burst ahead of its address, and never the other way round by more than one;
//   - there is room for each answer, and what comes to a manager is its own;
//   - when nothing goes out, whoever has a burst whole and room for its answer has a turn: no room is ever lost.
module rl_share_write_formal (
  input logic            clk_i,
  input logic [1:0]      awvalid_i,
  input logic [1:0]      awaddr_i,
  input logic [1:0]      wvalid_i,
  input logic [1:0]      wstrb_i,
  input logic [1:0]      bready_i,
  input logic            awready_i,
  input logic            wready_i,
  input logic            bvalid_i,
  input logic [1:0]      bid_i
);
  localparam int unsigned Answers = 2, Depth = 8;
  localparam logic [1:0][7:0] Longest = {8'd2, 8'd1};
  typedef logic [4:0] number_t;

  logic rst_n = 1'b0, awvalid, wvalid, wstrb, wlast, bready, busy;
  logic [1:0] awready, wready, awaddr, awid, from_q = '0;  // Whether manager n is within a burst.
  logic [7:0] awlen, wdata;
  logic [1:0][7:0] data;
  assign data = {8'd1, 8'd0};
  rl_share_write #(
    .AddrW(2),
    .DataW(8),
    .IdW(1),
    .Longest(Longest),
    .Answers(Answers),
    .ShareW(1)
  ) u_dut (
    .clk_i,
    .rst_ni(rst_n),
    .share_i(2'b11),
    .busy_o(busy),
    .s_awvalid_i(awvalid_i & {2{rst_n}}),
    .s_awready_o(awready),
    .s_awaddr_i({1'b1, awaddr_i[1], 1'b0, awaddr_i[0]}),
    .s_awlen_i({8'd1, 8'd0}),
    .s_awid_i(awaddr_i),
    .s_wvalid_i(wvalid_i & {2{rst_n}}),
    .s_wready_o(wready),
    .s_wdata_i(data),
    .s_wstrb_i(wstrb_i),
    .s_wlast_i({from_q[1], 1'b1}),
    .s_bvalid_o(),
    .s_bready_i(bready_i),
    .s_bresp_o(),
    .s_bid_o(),
    .m_awvalid_o(awvalid),
    .m_awready_i(awready_i),
    .m_awaddr_o(awaddr),
    .m_awlen_o(awlen),
    .m_awid_o(awid),
    .m_wvalid_o(wvalid),
    .m_wready_i(wready_i),
    .m_wdata_o(wdata),
    .m_wstrb_o(wstrb),
    .m_wlast_o(wlast),
    .m_bvalid_i(bvalid_i),
    .m_bready_o(bready),
    .m_bresp_i(2'b00),
    .m_bid_i(bid_i)
  );
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  // -- what the memory has: addresses and bursts of each, and answers that it owes
  number_t [1:0] addrs = '0, bursts = '0, free, kept, whole, held;
  logic to_q = 1'b0;  // The first beat of two has gone out.
  logic
      aw,
      w,
      past_q = 1'b0,
      awvalid_q,
      awready_q,
      wvalid_q,
      wready_q,
      wstrb_q,
      wlast_q,
      sending,
      order;
  logic [1:0] awaddr_q, awid_q;
  logic [7:0] wdata_q;
  assign aw = awvalid && awready_i;
  assign w = wvalid && wready_i;
  assign sending = u_dut.sending_q;
  assign order = u_dut.order_q;
  for (genvar n = 0; n < 2; n++) begin : gen_look
    assign free[n] = number_t'(u_dut.gen_manager[n].free_q);
    assign kept[n] = number_t'(u_dut.gen_manager[n].u_answers.held_q);
    assign whole[n] = number_t'(u_dut.gen_manager[n].whole_q);
    assign held[n] = number_t'(u_dut.gen_manager[n].u_data.held_q);
  end

  always_ff @(posedge clk_i) begin
    // The memory answers what it has, address and data.
    if (bvalid_i) assume (rst_n && addrs[bid_i[1]] != 0 && bursts[bid_i[1]] != 0);

    past_q <= rst_n;
    {awvalid_q, awready_q, awaddr_q, awid_q} <= {awvalid, awready_i, awaddr, awid};
    {wvalid_q, wready_q, wdata_q, wstrb_q, wlast_q} <= {wvalid, wready_i, wdata, wstrb, wlast};
    if (rst_n) begin
      if (wvalid_i[1] && wready[1]) from_q[1] <= !from_q[1];
      if (w) to_q <= order && !to_q;
      for (int n = 0; n < 2; n++) begin
        addrs[n] <= addrs[n] + number_t'(aw && awid[1] == 1'(n)) - number_t'(bvalid_i && bid_i[1] == 1'(n));
        bursts[n] <= bursts[n] + number_t'(w && wlast && order == 1'(n)) - number_t'(bvalid_i && bid_i[1] == 1'(n));
      end
    end

    if (rst_n) begin
      // -- what is promised
      assert (bready);
      if (past_q && awvalid_q && !awready_q)
        assert ({awvalid, awaddr, awid} == {1'b1, awaddr_q, awid_q});
      if (past_q && wvalid_q && !wready_q)
        assert ({wvalid, wdata, wstrb, wlast} == {1'b1, wdata_q, wstrb_q, wlast_q});
      if (past_q && wvalid_q && wready_q && !wlast_q) assert (wvalid);
      if (awvalid) assert (awid[1] == awaddr[1] && awlen == {7'd0, awid[1]});
      if (wvalid) assert (held[order] != 0 && wdata[0] == order && wlast == (!order || to_q));
      for (int n = 0; n < 2; n++) begin
        assert (bursts[n] <= addrs[n] + 1'b1 && addrs[n] <= bursts[n] + 1'b1);
        assert (kept[n] + addrs[n] <= number_t'(Answers));
        if (!sending && !awvalid && u_dut.ask_valid[n] && whole[n] != 0 && kept[n] == 0 && addrs[n] == 0)
          assert (u_dut.take);
      end
      if (!sending && !awvalid && u_dut.ask_valid == 0 && addrs == 0 && kept == 0 && held == 0)
        assert (!busy);

      // -- what induction has to know
      for (int n = 0; n < 2; n++) begin
        assert (free[n] <= number_t'(Answers) && kept[n] <= number_t'(Answers) && addrs[n] <= number_t'(Answers));
        assert (held[n] <= number_t'(Depth) && whole[n] <= number_t'(Depth) && bursts[n] <= number_t'(Answers));
        assert (free[n] + kept[n] + addrs[n] + number_t'(awvalid && awid[1] == 1'(n)) == number_t'(Answers));
        assert (addrs[n] + number_t'(awvalid && awid[1] == 1'(n)) == bursts[n] + number_t'(sending && order == 1'(n)));
      end
      if (awvalid && sending) assert (awid[1] == order);
      if (to_q) assert (sending && order);
      // Bursts that are whole and had no turn, and what else lies there: the rest of the one that goes out, and the
      // beginning of one that comes in.
      assert (held[0] == whole[0] + number_t'(sending && !order));
      assert (held[1] + number_t'(to_q) ==
              {whole[1][3:0], 1'b0} + {3'd0, sending && order, 1'b0} + number_t'(from_q[1]));
      assert (!from_q[0]);
      assert (u_dut.gen_manager[0].u_ask.held_q <= 4'd8 && u_dut.gen_manager[1].u_ask.held_q <= 4'd8);
      // A word is an id, an address and a length; or last, strobe and data.
      for (int i = 0; i < Depth; i++) begin
        if (i < u_dut.gen_manager[0].u_ask.held_q)
          assert (!u_dut.gen_manager[0].u_ask.words_q[i][9] && u_dut.gen_manager[0].u_ask.words_q[i][7:0] == 8'd0);
        if (i < u_dut.gen_manager[1].u_ask.held_q)
          assert (u_dut.gen_manager[1].u_ask.words_q[i][9] && u_dut.gen_manager[1].u_ask.words_q[i][7:0] == 8'd1);
        if (i < u_dut.gen_manager[0].u_data.held_q)
          assert (u_dut.gen_manager[0].u_data.words_q[i][9] && !u_dut.gen_manager[0].u_data.words_q[i][0]);
        if (i < u_dut.gen_manager[1].u_data.held_q)
          assert (u_dut.gen_manager[1].u_data.words_q[i][9] == (to_q ^ i[0]) &&
                  u_dut.gen_manager[1].u_data.words_q[i][0]);
      end
    end else begin
      assert (addrs == 0 && bursts == 0 && from_q == 0 && !to_q);
    end
    cover (past_q && kept[1] == number_t'(Answers) && held[1] == number_t'(Depth) && addrs[0] == 5'd2);
    cover (past_q && wvalid && order && held[0] == 5'd8);
  end
endmodule
