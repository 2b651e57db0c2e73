// rl_share_read with managers that ask and take whatever they like, and a memory that gives what it was asked for, when
// it likes and in any order. Manager 0 takes at once, manager 1 has a buffer. Bit 1 of an address and of data is the
// manager. What is checked:
//   - towards the memory an address stays until it is taken, bears its manager's number, and is of a burst that may be;
//     never more is under way than UnderWay beats; what the memory gives is always taken, and there is room for it;
//   - what comes to a manager is its own;
//   - when nothing is under way that would have to end first, whoever asks is served: no room is ever lost.
module rl_share_read_formal (
  input logic            clk_i,
  input logic [1:0]      arvalid_i,
  input logic [1:0][1:0] araddr_i,
  input logic [1:0][7:0] arlen_i,
  input logic [1:0]      arid_i,
  input logic [1:0]      rready_i,
  input logic            arready_i,
  input logic            rvalid_i,
  input logic [1:0]      rdata_i,
  input logic            rlast_i,
  input logic [1:0]      rid_i
);
  localparam int unsigned UnderWay = 4, Depth = 4;
  localparam logic [1:0][7:0] Longest = {8'd4, 8'd2};
  typedef logic [4:0] number_t;

  logic rst_n = 1'b0, arvalid, rready, busy;
  logic [1:0] arready, rvalid, araddr, arid;
  logic [1:0][1:0] rdata;
  logic [7:0] arlen;
  rl_share_read #(
    .AddrW(2),
    .DataW(2),
    .IdW(1),
    .Longest(Longest),
    .Buffer({16'(Depth), 16'd0}),
    .UnderWay(UnderWay),
    .ShareW(1)
  ) u_dut (
    .clk_i,
    .rst_ni(rst_n),
    .share_i(2'b11),
    .busy_o(busy),
    .s_arvalid_i(arvalid_i & {2{rst_n}}),
    .s_arready_o(arready),
    .s_araddr_i(araddr_i),
    .s_arlen_i(arlen_i),
    .s_arid_i(arid_i),
    .s_rvalid_o(rvalid),
    .s_rready_i({rready_i[1], 1'b1}),
    .s_rdata_o(rdata),
    .s_rresp_o(),
    .s_rlast_o(),
    .s_rid_o(),
    .m_arvalid_o(arvalid),
    .m_arready_i(arready_i),
    .m_araddr_o(araddr),
    .m_arlen_o(arlen),
    .m_arid_o(arid),
    .m_rvalid_i(rvalid_i),
    .m_rready_o(rready),
    .m_rdata_i(rdata_i),
    .m_rresp_i(2'b00),
    .m_rlast_i(rlast_i),
    .m_rid_i(rid_i)
  );
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  number_t [1:0] owed = '0;  // Beats that the memory was asked for and has not given.
  number_t offered, kept, free;
  logic past_q = 1'b0, arvalid_q, arready_q;
  logic [1:0] araddr_q, arid_q;
  logic [7:0] arlen_q;
  assign offered = arvalid ? number_t'(arlen) + 1'b1 : '0;
  assign kept = number_t'(u_dut.gen_manager[1].gen_buffer.u_buffer.held_q);
  assign free = number_t'(u_dut.gen_manager[1].gen_buffer.free_q);

  always_ff @(posedge clk_i) begin
    for (int n = 0; n < 2; n++) begin
      if (arvalid_i[n]) assume (arlen_i[n] < Longest[n] && araddr_i[n][1] == 1'(n));
    end
    // The memory gives only what it was asked for.
    if (rvalid_i) assume (rst_n && owed[rid_i[1]] != 0 && rdata_i[1] == rid_i[1]);

    past_q <= rst_n;
    {arvalid_q, arready_q, araddr_q, arid_q, arlen_q} <= {arvalid, arready_i, araddr, arid, arlen};
    for (int n = 0; n < 2; n++) begin
      if (rst_n)
        owed[n] <= owed[n] + (arvalid && arready_i && arid[1] == 1'(n) ? offered : '0) -
                   number_t'(rvalid_i && rid_i[1] == 1'(n));
    end

    if (rst_n) begin
      // -- what is promised
      assert (rready);
      if (past_q && arvalid_q && !arready_q)
        assert ({arvalid, araddr, arid, arlen} == {1'b1, araddr_q, arid_q, arlen_q});
      if (arvalid) assert (arid[1] == araddr[1] && arlen < Longest[arid[1]]);
      assert (owed[0] + owed[1] + offered <= number_t'(UnderWay));
      assert (owed[1] + kept <= number_t'(Depth));
      for (int n = 0; n < 2; n++) begin
        if (rvalid[n]) assert (rdata[n][1] == 1'(n));
      end
      if (owed == 0 && !arvalid && u_dut.ask_valid[0]) assert (u_dut.take);
      if (owed == 0 && !arvalid && kept == 0 && u_dut.ask_valid[1]) assert (u_dut.take);
      if (owed == 0 && !arvalid && kept == 0 && u_dut.ask_valid == 0) assert (!busy);

      // -- what induction has to know: where the room is, and what lies in the queues
      assert (number_t'(u_dut.left_q) + owed[0] + owed[1] + offered == number_t'(UnderWay));
      assert (free + kept + owed[1] + (arid[1] ? offered : '0) == number_t'(Depth));
      assert (kept <= number_t'(Depth) && free <= number_t'(Depth));
      assert (owed[0] <= number_t'(UnderWay) && owed[1] <= number_t'(UnderWay));
      assert (u_dut.gen_manager[0].u_ask.held_q <= 2'd2 && u_dut.gen_manager[1].u_ask.held_q <= 2'd2);
      // A word of them is an id, an address and a length.
      for (int i = 0; i < 2; i++) begin
        if (i < u_dut.gen_manager[0].u_ask.held_q)
          assert (!u_dut.gen_manager[0].u_ask.words_q[i][9] && u_dut.gen_manager[0].u_ask.words_q[i][7:0] < Longest[0]);
        if (i < u_dut.gen_manager[1].u_ask.held_q)
          assert (u_dut.gen_manager[1].u_ask.words_q[i][9] && u_dut.gen_manager[1].u_ask.words_q[i][7:0] < Longest[1]);
      end
      for (int i = 0; i < Depth; i++) begin
        if (i < u_dut.gen_manager[1].gen_buffer.u_buffer.held_q)
          assert (u_dut.gen_manager[1].gen_buffer.u_buffer.words_q[i][1]);
      end
    end else begin
      assert (owed == 0);
    end
    cover (past_q && kept == number_t'(Depth) && owed[0] == 5'd2);
    cover (past_q && owed[0] == 5'd2 && owed[1] == 5'd2);
  end
endmodule
