// Answers that are owed, of each node in the order of its requests. Reads are among them as requests: memory is read
// when their turn comes.
//
// A node may owe nobody anything, and yet not take its answers. So that this costs the others nothing, nodes take
// turns; and an answer for which the transport has no room is given back: its node is passed over for a while, and
// begins again with that answer. What was read for it is thrown away and read anew, which nobody can tell, since a
// write of the same node waits for reads before it.
module rl_bridge_answers
  import rl_bridge_node_pkg::*;
#(
  parameter int unsigned Nodes = 8,
  parameter int unsigned EntryW = 64,
  parameter int unsigned Depth = 64,    // Answers owed to a node, a power of two.
  parameter int unsigned PauseW = 7,    // A node is passed over for up to 2^PauseW cycles.
  localparam int unsigned NodeW = $clog2(Nodes),
  localparam int unsigned PlaceW = $clog2(Depth) + 1,
  localparam type index_t = logic [NodeW-1:0],
  localparam type place_t = logic [PlaceW-1:0]
) (
  input  logic              clk_i,
  input  logic              rst_ni,

  input  logic              push_i,         // An answer is owed. Only if there is room:
  input  index_t            push_node_i,
  input  logic [EntryW-1:0] push_entry_i,
  input  logic              push_reads_i,   // It is a read.
  input  index_t            node_i,         // Of this node:
  output logic              full_o,         // there is no room,
  output logic              reads_o,        // reads have not gone out,
  output logic              passed_over_o,  // and it is passed over.

  // -- the next one to be worked at. It may be exchanged for another node's.
  output logic              turn_valid_o,
  input  logic              turn_take_i,
  input  logic              turn_wait_i,    // Not now: another node's.
  output index_t            turn_node_o,
  output place_t            turn_place_o,
  output logic [EntryW-1:0] turn_entry_o,

  // -- what became of one that was taken
  input  index_t            done_node_i,
  input  place_t            done_place_i,
  output logic              done_next_o,    // It is the first of its node that has not gone out. If not, it must not.
  input  logic              done_i,         // It goes out.
  input  logic              done_reads_i,   // It was a read.
  input  logic              back_i,         // It does not: there is no room.

  input  logic              forget_i,       // All that is owed to this node. Nothing is pushed for it now.
  input  index_t            forget_node_i
);
  place_t [Nodes-1:0] end_q, next_q, first_q, reads_q;
  logic [Nodes-1:0] passed_q;
  logic [PauseW-1:0] pause_q;

  assign full_o = place_t'(end_q[node_i] - first_q[node_i]) == place_t'(Depth);
  assign reads_o = reads_q[node_i] != '0;
  assign passed_over_o = passed_q[node_i];
  logic is_first;
  assign is_first = done_place_i == first_q[done_node_i];
  assign done_next_o = is_first && done_place_i != next_q[done_node_i];

  // -- turns: choose a node, read its entry, show it
  logic [Nodes-1:0] wants;
  index_t after_q, chosen, chosen_q;
  logic any, chosen_valid_q, show_valid_q, lets;
  for (genvar n = 0; n < int'(Nodes); n++) begin : gen_wants
    assign wants[n] = next_q[n] != end_q[n] && !passed_q[n];
  end
  always_comb begin
    any = 1'b0;
    chosen = '0;
    for (int unsigned i = 0; i < Nodes; i++) begin
      index_t n;
      n = after_q + index_t'(1) + index_t'(i);
      if (wants[n] && !any) begin
        any = 1'b1;
        chosen = n;
      end
    end
  end
  // What was chosen may have been given back or forgotten meanwhile.
  assign lets = chosen_valid_q || show_valid_q;
  assign turn_valid_o = show_valid_q && wants[turn_node_o] && next_q[turn_node_o] == turn_place_o;
  rl_ram #(
    .Width(EntryW),
    .Depth(Nodes * Depth),
    .Block(1'b1)
  ) u_entries (
    .clk_wr_i(clk_i),
    .we_i(push_i),
    .waddr_i({push_node_i, end_q[push_node_i][PlaceW-2:0]}),
    .wdata_i(push_entry_i),
    .clk_rd_i(clk_i),
    .re_i(chosen_valid_q),
    .raddr_i({chosen_q, next_q[chosen_q][PlaceW-2:0]}),
    .rdata_o(turn_entry_o)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      chosen_valid_q <= 1'b0;
      show_valid_q <= 1'b0;
    end else begin
      chosen_valid_q <= any && !lets;
      if (chosen_valid_q) show_valid_q <= 1'b1;
      else if (!turn_valid_o || turn_take_i || turn_wait_i) show_valid_q <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (!lets) begin
      chosen_q <= chosen;
      if (any) after_q <= chosen;
    end
    if (chosen_valid_q) begin
      turn_node_o <= chosen_q;
      turn_place_o <= next_q[chosen_q];
    end
  end

  always_ff @(posedge clk_i) begin
    pause_q <= pause_q + 1'b1;
    for (int unsigned n = 0; n < Nodes; n++) begin
      logic pushes, reads, goes, gives_back;
      pushes = push_i && push_node_i == index_t'(n);
      reads = pushes && push_reads_i;
      goes = done_i && done_node_i == index_t'(n) && is_first;
      gives_back = back_i && done_node_i == index_t'(n) && is_first;
      if (pushes) end_q[n] <= end_q[n] + 1'b1;
      if (turn_valid_o && turn_take_i && turn_node_o == index_t'(n)) next_q[n] <= next_q[n] + 1'b1;
      if (goes) first_q[n] <= first_q[n] + 1'b1;
      reads_q[n] <= reads_q[n] + place_t'(reads) - place_t'(goes && done_reads_i);
      if (pause_q == '0) passed_q[n] <= 1'b0;
      if (gives_back) begin
        next_q[n] <= first_q[n];
        passed_q[n] <= 1'b1;
      end
      if (forget_i && forget_node_i == index_t'(n)) begin
        next_q[n] <= end_q[n];
        first_q[n] <= end_q[n];
        reads_q[n] <= '0;
        passed_q[n] <= 1'b0;
      end
    end
    if (!rst_ni) begin
      end_q <= '0;
      next_q <= '0;
      first_q <= '0;
      reads_q <= '0;
      passed_q <= '0;
      pause_q <= '0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni && push_i && push_node_i == node_i) HasRoom_A : assert (!full_o);
    if (rst_ni && push_i && forget_i) PushesForOthers_A : assert (push_node_i != forget_node_i);
  end
`endif
endmodule
