// rl_flash_versions with a flash that does and says anything, any table, and any verdict about what was read. What is
// checked, once a log was found:
//   - a command holds until it is done, and lies within the logs of versions;
//   - the log that counts is not erased; it is written behind its last entry alone, and its beginning is struck out
//     when another one counts. A log counts when its seal has been read back as it was written;
//   - a word of the firmware counts as kept only when its entry has been read back as it was written, behind all that
//     count, or a log was sealed that was gathered after it had been written to the table;
//   - what does not count as kept shows as what is under way, or what will never be.
module rl_flash_versions_formal
  import rl_flash_pkg::*;
  import rl_auth_pkg::*;
(
  input logic         clk_i,
  input logic         load_i,
  input logic         keep_i,
  input sign_write_t  kept_i,
  input logic         write_ready_i,
  input sign_looked_t looked_i,
  input flash_rsp_t   rsp_i,
  input logic         mine_i    // The word at hand is the one that is watched.
);
  localparam int unsigned PlacesW = 6;
  localparam int unsigned Base = 17;
  localparam int unsigned Depth = 4;
  // As there.
  localparam logic [3:0] Answer = 6, Ready = 7, Erase = 8, Gather = 9, Fill = 10, Append = 11, Strike = 12, Failed = 13;
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  logic done, works, failed;
  logic [7:0] code;
  flash_req_t req;
  rl_flash_versions #(
    .PlacesW(PlacesW),
    .Roles(1),
    .QueueWords(Depth)
  ) u_dut (
    .clk_i,
    .rst_ni(rst_n),
    .load_i,
    .done_o(done),
    .code_o(code),
    .keys_o(),
    .keep_i,
    .kept_i,
    .works_o(works),
    .failed_o(failed),
    .write_o(),
    .write_ready_i,
    .look_o(),
    .looked_i,
    .req_o(req),
    .rsp_i
  );

  // The flash ends what was asked for, and tells of bytes of that. The firmware writes when it knows of a log.
  logic open_q = 1'b0, keep_q = 1'b0;
  always_ff @(posedge clk_i) begin
    open_q <= rst_n && (open_q || (done && code == CodeOk));
    keep_q <= rst_n && keep_i;
  end
  always_comb begin
    if (!req.valid) assume (!rsp_i.done && !rsp_i.rvalid && !rsp_i.wready);
    if (!open_q) assume (!kept_i.valid && !keep_i);
    if (keep_q) assume (keep_i);
    // Entries of a log are read in their order, which rl_flash_entries counts.
    if (done && code == CodeOk) assume (u_dut.place_q > 7'(Base) && u_dut.place_q <= 7'd64);
    // The table gives the word that was asked for.
    if (!u_dut.look_o.valid && u_dut.state_q != Gather) assume (!looked_i.valid);
  end

  // -- what has been asked of the flash
  flash_req_t asked_q;
  logic holds_q = 1'b0;
  always_ff @(posedge clk_i) begin
    asked_q <= req;
    holds_q <= rst_n && req.valid && !rsp_i.done;
  end

  // -- which log counts, where it ends, and what of the last command is known
  logic unit_q, written_q = 1'b0;
  logic [6:0] end_q;
  logic [23:0] written_addr_q, written_count_q;
  logic programs, reads_back, verified, seals;
  assign programs = req.valid && req.op == OpProgram;
  assign reads_back = req.valid && req.op == OpRead && written_q && req.addr == written_addr_q &&
      req.count == written_count_q;
  assign verified = rsp_i.done && rsp_i.code == CodeOk && reads_back && u_dut.u_entries.same_o;
  assign seals = verified && u_dut.state_q == Append && u_dut.append_q == EntrySeal;
  logic req_unit;
  logic [17:0] req_at;
  assign req_unit = req.addr >= VersionsAddr + 24'h40000;
  assign req_at = 18'(req.addr - VersionsAddr);
  always_ff @(posedge clk_i) begin
    if (!rst_n) begin
      written_q <= 1'b0;
    end else if (rsp_i.done) begin
      written_q <= req.op == OpProgram && rsp_i.code == CodeOk;
      {written_addr_q, written_count_q} <= {req.addr, req.count};
    end
    if (done) begin
      unit_q <= u_dut.unit_q;
      end_q <= u_dut.place_q;
    end else if (open_q && seals) begin
      unit_q <= req_unit;
      end_q <= 7'(Base + 1);
    end else if (open_q && verified && u_dut.state_q == Append && !u_dut.renews_q) begin
      end_q <= end_q + 1'b1;
    end
  end

  // -- one of the firmware's words
  logic watched_q = 1'b0, owed_q = 1'b0, queued_q = 1'b0, at_hand_q = 1'b0;
  logic [42:0] word_q;
  logic [2:0] before_q;  // Words before it in the queue.
  always_ff @(posedge clk_i) begin
    if (rst_n && open_q && mine_i && kept_i.valid && !watched_q) begin
      watched_q <= 1'b1;
      owed_q <= 1'b1;
      queued_q <= u_dut.room;
      word_q <= {kept_i.at[10:0], kept_i.word};
      before_q <= u_dut.u_queue.held_q - 3'(u_dut.takes);
    end else begin
      if (u_dut.takes && queued_q) before_q <= before_q - 1'b1;
      if (u_dut.takes && queued_q && before_q == 0) {queued_q, at_hand_q} <= 2'b01;
      else if (rsp_i.done && u_dut.state_q == Append && (verified || rsp_i.code != CodeOk || req.op == OpRead))
        at_hand_q <= 1'b0;
      if (owed_q && (seals || (verified && at_hand_q))) owed_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_n && holds_q) begin
      Holds_A :
      assert (req.valid && req.op == asked_q.op && req.addr == asked_q.addr && req.count == asked_q.count);
    end
    if (rst_n && req.valid) begin
      Within_A :
      assert (req.addr >= VersionsAddr && 25'(req.addr) + 25'(req.count) <= 25'(StoreLimit));
      if (req.op == OpProgram) OnePage_A : assert (32'(req.addr[7:0]) + req.count <= 256);
    end
    if (rst_n && open_q && req.valid) begin
      if (req.op == OpErase) OldStays_A : assert (req_unit != unit_q);
      if (programs && req_unit == unit_q)
        Behind_A : assert (req_at == 18'({end_q, 5'd0}) && end_q < 64);
    end
    if (rst_n && open_q && at_hand_q && u_dut.state_q == Append)
      Itself_A : assert ({u_dut.append_q[10:0], u_dut.page_q[0]} == word_q && !u_dut.append_q[11]);
    if (rst_n && open_q && owed_q) Told_A : assert (works || failed);
  end

  // -- what induction has to know
  always_comb begin
    if (rst_n) begin
      assert (u_dut.state_q <= Failed && u_dut.u_queue.held_q <= 3'(Depth));
      if (u_dut.state_q <= Answer) assert (!open_q);
      if (u_dut.state_q inside {[Ready : Strike]}) assert (open_q);
      if (!open_q) assert (!watched_q && u_dut.u_queue.held_q == 0 && !u_dut.lost_q);
      if (!watched_q) assert (!owed_q && !at_hand_q);
      if (u_dut.state_q inside {[4'd1 : Answer]}) assert (!u_dut.renews_q && !u_dut.check_q);
      if (open_q && u_dut.state_q inside {[Ready : Strike]}) begin
        assert (end_q > 7'(Base) && end_q <= 64);
        if (!u_dut.renews_q) assert (u_dut.unit_q == unit_q && u_dut.place_q == end_q);
        if (u_dut.renews_q && u_dut.state_q != Strike) assert (u_dut.unit_q != unit_q);
        if (u_dut.state_q == Strike)
          assert (u_dut.renews_q && u_dut.unit_q == unit_q && u_dut.place_q == end_q);
        if (u_dut.state_q inside {Erase, Gather, Fill}) assert (u_dut.renews_q);
        if (u_dut.state_q == Ready) assert (!u_dut.renews_q);
        if (u_dut.state_q inside {Gather, Fill})
          assert (u_dut.place_q < 7'(Base) && u_dut.place_q[2:0] == 0);
        if (u_dut.state_q == Append && u_dut.renews_q)
          assert (u_dut.place_q == 7'(Base) && u_dut.append_q == EntrySeal);
        if (u_dut.state_q == Append && !u_dut.renews_q) assert (!u_dut.append_q[11] && end_q < 64);
        if (u_dut.check_q)
          assert (u_dut.state_q inside {Fill, Append} && written_q && written_addr_q == req.addr &&
                  written_count_q == req.count);
        if (u_dut.state_q == Erase) assert (u_dut.sector_q == 0 && u_dut.place_q == 0);
      end
      if (at_hand_q) assert (u_dut.state_q == Append && !u_dut.renews_q);
      if (queued_q)
        assert (watched_q && before_q < u_dut.u_queue.held_q && u_dut.u_queue.words_q[before_q] == word_q);
      if (u_dut.state_q == Strike && owed_q) assert (queued_q || u_dut.lost_q);
      // It waits, or is at hand, or the next log will have it.
      if (owed_q)
        assert (queued_q || at_hand_q || u_dut.dirty_q || u_dut.lost_q || u_dut.renews_q || failed);
    end
  end

  always_ff @(posedge clk_i) Kept_C : cover (rst_n && watched_q && !owed_q && !works && !failed);
endmodule
