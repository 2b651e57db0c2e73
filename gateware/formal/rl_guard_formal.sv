// rl_guard with a role that does anything at all, and DDR that keeps to AXI4: it gives the beats of reads in any order,
// even by turns, but those of one id one burst after the other. What is checked:
//   - towards DDR, whatever has been offered stays until it is taken; bursts are inside memory, of
//     at most 16 beats, and do not cross 4 KiB; write beats belong to a burst and its last one is
//     marked;
//   - a burst has the id that the role gave it, and the role gets answers as DDR gives them;
//   - not more is under way than may be; nothing new comes when the role is cut off and drained;
//   - a role that is cut off is drained as soon as DDR has done what it owes: `owed`, the
//     handshakes that are left, loses one with each and is at most 2 bursts each way; while it is
//     not 0 there is one that DDR can do, and none that the role can hold up; when it is 0,
//     drained_o says so.
// Role and DDR are inputs: the solver chooses them.
module rl_guard_formal
  import rl_shell_pkg::*;
  import rl_role_pkg::*;
(
  input logic                clk_i,
  input logic                isolate_i,
  input logic [AxiAddrW-1:0] memory_i,
  input axi_req_t            role_i,
  input axi_rsp_t            ddr_i,
  input logic                pick_i  // Of which of two bursts DDR gives a beat.
);
  localparam int unsigned Outstanding = 2;

  axi_req_t ddr;
  axi_rsp_t role;
  logic drained, rst_n = 1'b0;
  guard_fault_t fault;
  rl_guard #(
    .Outstanding(Outstanding),
    .PatienceW(3)
  ) u_dut (
    .clk_role_i(clk_i),
    .rst_role_ni(rst_n),
    .memory_i,
    .isolate_i,
    .drained_o(drained),
    .fault_o(fault),
    .role_i,
    .role_o(role),
    .ddr_o(ddr),
    .ddr_i
  );

  always_ff @(posedge clk_i) rst_n <= 1'b1;

  // -- what is under way at DDR
  typedef logic [2:0] count_t;
  count_t aw_taken = '0, w_bursts = '0, b_given = '0;  // Differences of these count.
  count_t ar_taken = '0;
  logic [1:0][4:0] r_left = '0;  // Beats to come of each burst that is read; 0: there is none.
  logic [AxiIdW-1:0] r_id[2];
  logic r_old, r_free, pick_q;  // Which of two was asked for first; where the next goes.
  assign r_free = r_left[0] != 0;
  logic aw, w, b, ar, r;
  assign aw = ddr.awvalid && ddr_i.awready;
  assign w = ddr.wvalid && ddr_i.wready;
  assign b = ddr_i.bvalid && ddr.bready;
  assign ar = ddr.arvalid && ddr_i.arready;
  assign r = ddr_i.rvalid && ddr.rready;

  // -- write bursts as offered, oldest first: data may be taken before their addresses are.
  logic [3:0] aw_len[4];
  count_t aw_offered = '0;
  logic [3:0] w_beat = '0;
  logic aw_new, aw_seen = 1'b0;
  assign aw_new = rst_n && ddr.awvalid && !aw_seen;
  count_t w_left;
  logic [3:0] w_len;
  assign w_left = aw_offered - w_bursts;
  assign w_len = aw_new && w_left == 0 ? ddr.awlen[3:0] : aw_len[w_bursts[1:0]];

  count_t offered;
  logic [3:0] newest;
  assign offered = aw_offered + count_t'(aw_new);
  assign newest = aw_new ? ddr.awlen[3:0] : aw_len[2'(aw_offered-1'b1)];

  axi_req_t before_q;
  axi_rsp_t answer_q;
  logic past_q = 1'b0;

  // -- handshakes to come, if nothing new is taken
  logic [6:0] owed, owed_q, r_beats;
  logic cut_q = 1'b0, drained_q = 1'b0, b_owed, r_owed;
  assign b_owed = b_given != aw_taken && b_given != w_bursts;
  assign r_owed = r_left[0] != 0 || r_left[1] != 0;
  logic [5:0] w_to_come;
  assign w_to_come = 6'(w_beat) + 6'(ddr.wvalid) + 6'(u_dut.left_q);
  always_comb begin
    r_beats = 7'(r_left[0]) + 7'(r_left[1]);
    if (ddr.arvalid) r_beats += 7'(ddr.arlen) + 7'd2;
    owed = 7'(ddr.awvalid) + 7'(ddr.wvalid) + 7'(u_dut.left_q) + 7'(u_dut.writes_q);
    owed += r_beats;
  end

  logic memory_known = 1'b0;
  logic [AxiIdW-1:0] aw_id_q, ar_id_q;
  logic [AxiAddrW-1:0] memory_q;

  always_ff @(posedge clk_i) begin
    before_q <= ddr;
    answer_q <= ddr_i;
    past_q <= rst_n;
    memory_q <= memory_i;
    memory_known <= 1'b1;
    if (memory_known) assume (memory_i == memory_q);

    // DDR: no answer without a question; what it says stays until it is heard.
    if (ddr_i.bvalid) assume (b_given != aw_taken && b_given != w_bursts && rst_n);
    if (ddr_i.rvalid) begin
      assume (r_left[pick_i] != 0 && rst_n && ddr_i.rid == r_id[pick_i]);
      assume (ddr_i.rlast == (r_left[pick_i] == 1));
      if (r_left[!pick_i] != 0 && r_id[0] == r_id[1]) assume (pick_i == r_old);
    end
    if (past_q && answer_q.bvalid && !before_q.bready) assume (ddr_i.bvalid);
    if (past_q && answer_q.rvalid && !before_q.rready) assume (ddr_i.rvalid && pick_i == pick_q);
    pick_q <= pick_i;

    if (rst_n) begin
      if (aw_new) begin
        aw_len[aw_offered[1:0]] <= ddr.awlen[3:0];
        aw_offered <= aw_offered + 1'b1;
      end
      aw_seen <= ddr.awvalid && !aw;
      if (aw) aw_taken <= aw_taken + 1'b1;
      if (w) begin
        w_beat <= ddr.wlast ? '0 : w_beat + 1'b1;
        if (ddr.wlast) w_bursts <= w_bursts + 1'b1;
      end
      if (b) b_given <= b_given + 1'b1;
      if (ar) begin
        r_left[r_free] <= 5'(ddr.arlen[3:0]) + 1'b1;
        r_id[r_free] <= ddr.arid;
        r_old <= r_left[!r_free] != 0 ? !r_free : r_free;
        ar_taken <= ar_taken + 1'b1;
      end else if (r && ddr_i.rlast) begin
        r_old <= !pick_i;
      end
      if (r) r_left[pick_i] <= r_left[pick_i] - 1'b1;
    end

    // -- rules towards DDR
    if (past_q && before_q.awvalid && !answer_q.awready)
      assert (ddr.awvalid && ddr.awaddr == before_q.awaddr && ddr.awlen == before_q.awlen &&
              ddr.awid == before_q.awid);
    if (past_q && before_q.wvalid && !answer_q.wready)
      assert (ddr.wvalid && ddr.wdata == before_q.wdata && ddr.wstrb == before_q.wstrb &&
              ddr.wlast == before_q.wlast);
    if (past_q && before_q.arvalid && !answer_q.arready)
      assert (ddr.arvalid && ddr.araddr == before_q.araddr && ddr.arlen == before_q.arlen &&
              ddr.arid == before_q.arid);
    if (rst_n && ddr.awvalid) begin
      assert (ddr.awlen < 8'd16);
      assert (ddr.awaddr[39:16] < memory_i[39:16]);
      assert ({1'b0, ddr.awaddr[11:6]} + 7'(ddr.awlen) < 7'd64);
    end
    if (rst_n && ddr.arvalid) begin
      assert (ddr.arlen < 8'd16);
      assert (ddr.araddr[39:16] < memory_i[39:16]);
      assert ({1'b0, ddr.araddr[11:6]} + 7'(ddr.arlen) < 7'd64);
    end
    if (rst_n && ddr.wvalid) begin
      assert (w_left != 0 || aw_new);
      assert (ddr.wlast == (w_beat == w_len));
    end
    assert (count_t'(aw_taken - b_given) <= count_t'(Outstanding));
    if (ar) assert (r_left[r_free] == 0);
    assert (r_left[0] <= 5'd16 && r_left[1] <= 5'd16);
    if (rst_n && drained && isolate_i) begin
      assert (!ddr.awvalid && !ddr.wvalid && !ddr.arvalid);
      assert (aw_taken == b_given && !r_owed && w_bursts == b_given);
    end
    // What induction has to know: how the guard's counts and these go together.
    if (rst_n) begin
      assert (u_dut.writes_q <= 2'(Outstanding) && u_dut.reads_q <= 2'(Outstanding));
      assert (u_dut.writes_q == count_t'(offered - b_given));
      assert (u_dut.reads_q == 2'(ddr.arvalid) + 2'(r_left[0] != 0) + 2'(r_left[1] != 0));
      assert (aw_taken == count_t'(offered - count_t'(ddr.awvalid)));
      assert (aw_seen == (ddr.awvalid && !aw_new));
      assert (count_t'(w_bursts - b_given) <= count_t'(Outstanding));
      assert (count_t'(offered - w_bursts) <= count_t'(Outstanding));
      if (u_dut.left_q == 0 && !ddr.wvalid) assert (offered == w_bursts && w_beat == 0);
      if (u_dut.left_q == 0 && ddr.wvalid) assert (offered == w_bursts + 1'b1 && w_beat == w_len);
      if (u_dut.left_q != 0 && (!ddr.wvalid || !ddr.wlast))
        assert (offered == w_bursts + 1'b1 && w_to_come == 6'(w_len) + 1'b1);
      if (u_dut.left_q != 0 && ddr.wvalid && ddr.wlast)
        assert (offered == w_bursts + 2'd2 && w_beat == w_len && u_dut.left_q == 5'(newest) + 1'b1);
    end else begin
      assert (offered == 0 && w_bursts == 0 && b_given == 0 && ar_taken == 0 && !r_owed);
      assert (w_beat == 0);
    end
    // Ids, and answers as they are.
    if (role_i.awvalid && role.awready) aw_id_q <= role_i.awid;
    if (role_i.arvalid && role.arready) ar_id_q <= role_i.arid;
    if (rst_n && ddr.awvalid) assert (ddr.awid == aw_id_q);
    if (rst_n && ddr.arvalid) assert (ddr.arid == ar_id_q);
    if (role.bvalid) assert (ddr_i.bvalid && {role.bid, role.bresp} == {ddr_i.bid, ddr_i.bresp});
    if (role.rvalid)
      assert (ddr_i.rvalid &&
              {role.rid, role.rdata, role.rresp, role.rlast} == {ddr_i.rid, ddr_i.rdata, ddr_i.rresp, ddr_i.rlast});
    // Nothing of a role that is cut off.
    if (rst_n && isolate_i)
      assert (!role.awready && !role.wready && !role.arready && !role.bvalid && !role.rvalid);

    // -- it drains
    cut_q <= rst_n && isolate_i;
    owed_q <= owed - 7'(aw) - 7'(w) - 7'(b) - 7'(ar) - 7'(r);
    if (rst_n && isolate_i) begin
      assert (ddr.bready && ddr.rready);
      if (cut_q) begin
        assert (owed == owed_q);
        assert (owed <= 7'(Outstanding * (2 + 16 + 1 + 16)));
        assert ((owed != 0) == (ddr.awvalid || ddr.wvalid || ddr.arvalid || b_owed || r_owed));
      end
      if (cut_q && drained_q) assert (drained);
      drained_q <= owed == 0;
    end else begin
      drained_q <= 1'b0;
    end

    cover (past_q && drained && aw_offered == 3'd2 && ar_taken == 3'd2);
    // Two bursts by turns.
    if (past_q)
      cover (r && r_left[0] == 5'd1 && r_left[1] == 5'd1 && pick_i != r_old && r_id[0] != r_id[1]);
    if (past_q) cover (fault.response);
    if (past_q) cover (fault.protocol);
    if (past_q) cover (fault.address);
  end
endmodule
