// Requests of ours that nobody has answered, oldest first: the twin of Transactions. Each has an id that its answer
// repeats, and ends: by the answer, or because the life that may have carried it out is over, or after a bound. How it
// ended is said as a role hears it.
//
// An id is a place, and a number that changes each time that the place is used and begins with our epoch: an answer
// that comes late, also one to an earlier life of ours, is not mistaken for another's.
module rl_bridge_slots
  import rl_bridge_pkg::*;
  import rl_bridge_node_pkg::*;
  import rl_role_pkg::remote_e;
#(
  parameter int unsigned Slots = 32,   // A power of two.
  parameter bit          Writes = 1'b0,
  parameter int unsigned SideW = 8,    // What goes with a request,
  parameter int unsigned BackW = 8,    // and what its answer needs.
  parameter logic [7:0]  Patience = 4, // Ticks, 2 or more.
  localparam int unsigned SlotW = $clog2(Slots)
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [9:0]       seed_i,          // Steady after a reset.
  input  logic [7:0]       now_i,           // In ticks.

  // -- a request begins
  input  logic             begin_i,
  output logic             full_o,
  output logic [15:0]      id_o,            // It gets this id.
  input  node_t            node_i,
  input  logic [3:0]       life_i,          // The node's, now.
  input  logic [63:0]      addr_i,
  input  logic [15:0]      count_i,
  input  logic             ends_i,          // It needs no answer:
  input  remote_e          fate_i,          // this has become of it,
  input  logic [SideW-1:0] side_i,
  input  logic [BackW-1:0] back_i,
  output logic             late_o,          // The newest has not been answered in time.

  // -- an answer. Its head is steady.
  input  head_t            answer_i,
  input  node_t            answer_node_i,
  input  logic [3:0]       answer_life_i,   // The node's, now.
  output logic             answers_o,       // It is to something that was asked of this node,
  output remote_e          fate_o,          // and this has become of that.
  output logic [BackW-1:0] back_o,
  input  logic             answer_ends_i,   // All of it is here, and answers_o,
  input  remote_e          answer_fate_i,   // with fate_o.

  // -- the oldest
  output logic             ended_o,
  output node_t            ended_node_o,
  input  logic [3:0]       ended_life_i,    // Of that node, now.
  output remote_e          ended_fate_o,
  output logic [SideW-1:0] side_o,
  input  logic             take_i
);
  typedef logic [SlotW-1:0] slot_t;
  typedef struct packed {
    logic [9:0]       serial;
    node_t            node;
    logic [3:0]       life;
    logic [63:0]      addr;
    logic [15:0]      count;
    logic [BackW-1:0] back;
  } asked_t;
  typedef struct packed {
    node_t            node;
    logic [3:0]       life;
    logic [7:0]       since;
    logic [SideW-1:0] side;
    logic             ends;   // It needs no answer; what has become of it:
    remote_e          fate;
  } order_t;
  logic [SlotW:0] first_q, end_q;
  logic [9:0] serial_q;
  logic [Slots-1:0] open_q;  // Waits for an answer.
  logic [$bits(remote_e)-1:0] answered_fate;  // What its answer has said of the oldest.
  slot_t first, next, answered;
  logic [7:0] since_q;
  assign first = slot_t'(first_q);
  assign next = slot_t'(end_q);
  assign answered = slot_t'(answer_i.id);
  assign full_o = end_q == {~first_q[SlotW], first};
  assign id_o = {serial_q, 6'({Writes, 5'(next)})};
  assign late_o = now_i - since_q >= Patience;

  asked_t asked;
  order_t oldest;
  rl_lutram #(
    .Width($bits(asked_t)),
    .Depth(Slots)
  ) u_asked (
    .clk_i,
    .we_i(begin_i),
    .waddr_i(next),
    .wdata_i({serial_q, node_i, life_i, addr_i, count_i, back_i}),
    .raddr_i(answered),
    .rdata_o(asked)
  );
  rl_lutram #(
    .Width($bits(order_t)),
    .Depth(Slots)
  ) u_order (
    .clk_i,
    .we_i(begin_i),
    .waddr_i(next),
    .wdata_i({node_i, life_i, now_i, side_i, ends_i, fate_i}),
    .raddr_i(first),
    .rdata_o(oldest)
  );
  rl_lutram #(
    .Width($bits(remote_e)),
    .Depth(Slots)
  ) u_fates (
    .clk_i,
    .we_i(answer_ends_i),
    .waddr_i(answered),
    .wdata_i(answer_fate_i),
    .raddr_i(first),
    .rdata_o(answered_fate)
  );
  assign back_o = asked.back;
  assign answers_o = open_q[answered] && answer_i.id[15:6] == asked.serial && answer_i.id[5] == Writes &&
      answer_node_i == asked.node && answer_life_i == asked.life;
  // An answer that is none to what was asked leaves open what has become of it.
  logic about, whole;
  assign about = answer_i.kind == short_of(Writes ? KindWriteResponse : KindReadResponse) &&
      answer_i.addr == asked.addr;
  assign whole = answer_i.count == 32'(asked.count) && (Writes || answer_i.length == asked.count);
  always_comb begin
    fate_o = rl_role_pkg::RemoteGone;
    if (about && answer_i.tag != BridgeStatusOk) fate_o = rl_role_pkg::RemoteRefused;
    else if (about && whole) fate_o = rl_role_pkg::RemoteOkay;
  end

  // What is answered stays so; what is given up never is answered.
  logic over, gives_up;
  assign over = now_i - oldest.since >= Patience || oldest.life != ended_life_i;
  assign ended_node_o = oldest.node;
  assign ended_o = first_q != end_q && (!open_q[first] || over);
  assign gives_up = open_q[first] && over;
  always_comb begin
    ended_fate_o = oldest.ends ? oldest.fate : remote_e'(answered_fate);
    if (open_q[first]) ended_fate_o = rl_role_pkg::RemoteGone;
  end
  assign side_o = oldest.side;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      first_q <= '0;
      end_q <= '0;
      serial_q <= seed_i;
      open_q <= '0;
    end else begin
      if (begin_i) begin
        end_q <= end_q + 1'b1;
        if (&next) serial_q <= serial_q + 1'b1;
        open_q[next] <= !ends_i;
      end
      if (answer_ends_i) open_q[answered] <= 1'b0;
      if (take_i) begin
        first_q <= first_q + 1'b1;
        if (gives_up) open_q[first] <= 1'b0;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (begin_i) since_q <= now_i;
  end

  logic unused;
  assign unused = ^{answer_i, asked.count};
endmodule
