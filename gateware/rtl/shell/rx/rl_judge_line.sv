// Judges heads one behind the other, one a cycle: what becomes of a frame is known five cycles after its head came, and
// waits here until the frame's turn. For words of 128 bits and more, where rl_analyzer's way of judging, one frame at a
// time, would hold up the next.
//
//   J0  a head comes out of the ring of heads
//   J1  the filter and the table of kinds are asked
//   J2  both answer
//   J3  judged; the verdict goes into the ring of verdicts
//
// A verdict says what is so at the time. When the firmware says anything new, all frames whose turn has not come are
// judged again, and the heads are still there for that.
module rl_judge_line
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
#(
  parameter int unsigned Bulk = 32'(BulkStandard), // Most payload bytes of a write.
  parameter int unsigned Heads = 16                // That can be inside, a power of two.
) (
  input  logic     clk_net_i,
  input  logic     rst_net_ni,

  input  filter_t  filter_i,
  input  session_t session_i,

  output logic     room_o,        // For two heads.
  input  logic     valid_i,
  input  head_t    head_i,
  input  logic     version_ok_i,
  input  logic [2:0] runt_i,

  // The first frame's head and what becomes of it, if it is judged.
  output logic     valid_o,
  output head_t    head_o,
  output verdict_t verdict_o,
  input  logic     take_i
);
  localparam int unsigned PtrW = $clog2(Heads) + 1;
  typedef logic [PtrW-1:0] ptr_t;
  typedef logic [PtrW-2:0] place_t;
  typedef struct packed {
    logic       version_ok;
    logic [2:0] runt;
    head_t      head;
  } entry_t;

  // -- the rings: heads that came, heads that were given to be judged, verdicts, frames whose turn has come
  ptr_t came_q, given_q, judged_q, taken_q, taken, held;
  entry_t given, entry_1_q, first;
  entry_t entry_2_q, entry_3_q;
  logic give, stale, one_q, two_q, three_q;
  logic [1:0] wait_q;
  assign held = came_q - taken_q;
  assign room_o = held < ptr_t'(Heads - 1);
  assign taken = taken_q + ptr_t'(take_i);
  rl_lutram #(
    .Width($bits(entry_t)),
    .Depth(Heads)
  ) u_given (
    .clk_i(clk_net_i),
    .we_i(valid_i),
    .waddr_i(place_t'(came_q)),
    .wdata_i({version_ok_i, runt_i, head_i}),
    .raddr_i(place_t'(given_q)),
    .rdata_o(given)
  );
  rl_lutram #(
    .Width($bits(entry_t)),
    .Depth(Heads)
  ) u_first (
    .clk_i(clk_net_i),
    .we_i(valid_i),
    .waddr_i(place_t'(came_q)),
    .wdata_i({version_ok_i, runt_i, head_i}),
    .raddr_i(place_t'(taken_q)),
    .rdata_o(first)
  );
  assign head_o = first.head;

  // What verdicts depend on has changed. A table that is written cannot be read at the same time.
  typedef struct packed {
    logic        listening;
    logic [15:0] epoch;
    logic        loading;
    logic [15:0] load_group;
    addr_t       memory;
  } depends_t;
  depends_t depends, depends_q;
  assign depends = '{
          listening: session_i.listening,
          epoch: session_i.epoch,
          loading: session_i.loading,
          load_group: session_i.load_group,
          memory: session_i.memory
      };
  assign stale = filter_i.we || depends != depends_q;
  assign give = given_q != came_q && wait_q == 0 && !stale && session_i.listening;
  always_ff @(posedge clk_net_i) begin
    depends_q <= depends;
    if (!rst_net_ni) begin
      came_q <= '0;
      given_q <= '0;
      judged_q <= '0;
      taken_q <= '0;
      wait_q <= '0;
      one_q <= 1'b0;
      two_q <= 1'b0;
      three_q <= 1'b0;
    end else begin
      came_q <= came_q + ptr_t'(valid_i);
      taken_q <= taken;
      if (stale) begin
        given_q <= taken;
        judged_q <= taken;
        wait_q <= '1;
        one_q <= 1'b0;
        two_q <= 1'b0;
        three_q <= 1'b0;
      end else begin
        given_q <= given_q + ptr_t'(give);
        judged_q <= judged_q + ptr_t'(three_q);
        if (wait_q != 0) wait_q <= wait_q - 1'b1;
        one_q <= give;
        two_q <= one_q;
        three_q <= two_q;
      end
    end
  end

  // -- J1 to J3
  kind_class_t class_two, class_q;
  logic own, group, listens, stranger, owner, unused_settled;
  verdict_t verdict;
  head_t judged;
  always_ff @(posedge clk_net_i) begin
    entry_1_q <= given;
    entry_2_q <= entry_1_q;
    entry_3_q <= entry_2_q;
    class_q <= class_two;
  end
  rl_kind_class u_class (
    .clk_net_i,
    .valid_i(give),
    .ether_type_i(given.head.ether_type),
    .kind_i(given.head.kind),
    .class_o(class_two)
  );
  rl_rx_filter u_filter (
    .clk_net_i,
    .dst_i(entry_1_q.head.dst),
    .src_i(entry_1_q.head.src),
    .filter_i,
    .listening_i(session_i.listening),
    .settled_o(unused_settled),
    .own_o(own),
    .group_o(group),
    .listens_o(listens),
    .stranger_o(stranger),
    .owner_o(owner)
  );
  // What it compares it keeps for a cycle; flags it takes as they are.
  always_comb begin
    judged = entry_2_q.head;
    judged.flags = entry_3_q.head.flags;
  end
  rl_rx_judge #(
    .Bulk(Bulk)
  ) u_judge (
    .clk_net_i,
    .head_i(judged),
    .version_ok_i(entry_3_q.version_ok),
    .runt_i(entry_3_q.runt),
    .addr_valid_i(1'b1),
    .addr_i(judged.addr),
    .class_i(class_q),
    .own_i(own),
    .group_i(group),
    .listens_i(listens),
    .stranger_i(stranger),
    .owner_i(owner),
    .session_i,
    .cause_i(DropNone),
    .early_o(verdict.early),
    .late_o(verdict.late),
    .route_o(verdict.route),
    .reason_o(verdict.reason),
    .hosts_o(verdict.hosts),
    .last_page_o(verdict.last_page)
  );
  // What is for a group waits as well: a control frame before it may make the card join.
  assign verdict.awaits = class_q.after_barrier || group;

  rl_lutram #(
    .Width($bits(verdict_t)),
    .Depth(Heads)
  ) u_verdicts (
    .clk_i(clk_net_i),
    .we_i(three_q),
    .waddr_i(place_t'(judged_q)),
    .wdata_i(verdict),
    .raddr_i(place_t'(taken_q)),
    .rdata_o(verdict_o)
  );
  assign valid_o = judged_q != taken_q;

`ifndef SYNTHESIS
  HeadHasRoom_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni) valid_i |-> held < ptr_t'(Heads));
  TakenIsJudged_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni) take_i |-> valid_o);
`endif

  logic unused;
  assign unused = ^{first.version_ok, first.runt, entry_3_q.head, unused_settled};
endmodule
