// A node's windows, and the judgement whether a peer may do something with a range: the twin of Windows::check.
//
// One window has to permit all of it. Where none that is open to the peer covers the range, the answer is NoWindow,
// whatever windows others have; where one does and none of those has the right, Denied. Neither sum can overflow.
//
// `Ways` windows are looked at each cycle, so that an answer takes Windows / Ways cycles and 3. A judgement that is
// under way while a window is set may know it or not.
module rl_bridge_windows
  import rl_bridge_pkg::*;
  import rl_bridge_node_pkg::*;
#(
  parameter int unsigned KeyW = 64,    // Bits of an address, or of a stream's number.
  parameter int unsigned AddrW = 40,   // Bits of an address in the memory; no window is longer than 2^AddrW.
  parameter int unsigned FineW = 6,    // So many low bits of an address are the same in frames and in the memory.
  parameter int unsigned Ways = 4,     // A power of two, 16 at most.
  parameter bit          Stream = 1'b0 // The windows of streams; else those of memory.
) (
  input  logic              clk_i,
  input  logic              rst_ni,

  input  logic              set_valid_i,   // Sets or closes one.
  input  logic [3:0]        set_index_i,
  input  window_t           set_window_i,

  input  logic              ask_valid_i,   // Begins a judgement, also in the place of one that is under way.
  input  node_t             ask_node_i,    // Steady until the answer, as are all of these.
  input  logic [KeyW-1:0]   ask_addr_i,
  input  logic [15:0]       ask_length_i,  // 1 or more, less than 2^(AddrW + 1).
  input  rights_t           ask_right_i,
  output logic              soon_o,        // It is there in the next cycle.
  output logic              done_o,        // The answer, for one cycle; it stays until the next judgement begins.
  output bridge_status_e    status_o,
  output logic [AddrW-1:0]  addr_o         // Where in the memory that is, if it is permitted.
);
  localparam int unsigned Groups = 32'(Windows) / Ways;
  localparam int unsigned GroupW = Groups > 1 ? $clog2(Groups) : 1;
  localparam int unsigned WayW = $clog2(Ways);
  localparam int unsigned LengthW = AddrW + 1;
  if (Ways * Groups != 32'(Windows)) begin : gen_check
    $fatal(0, "rl_bridge_windows: Ways must divide the number of windows (%m)");
  end
  typedef logic [GroupW-1:0] group_t;
  typedef struct packed {
    logic               valid;
    logic [KeyW-1:0]    base;
    logic [LengthW-1:0] length;
    logic [AddrW-1:0]   shift;   // From addresses in frames to those in the memory.
    node_t              peer;
    rights_t            rights;
  } entry_t;

  // -- the table: after a reset all are closed, one after the other
  logic clears_q;
  logic [3:0] clear_q;
  logic [3:0] set_index;
  entry_t set_entry;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      clears_q <= 1'b1;
      clear_q <= '0;
    end else begin
      clear_q <= clear_q + 1'b1;
      if (&clear_q) clears_q <= 1'b0;
    end
  end
  always_comb begin
    set_index = clears_q ? clear_q : set_index_i;
    set_entry = '{
        valid: set_window_i.valid && !clears_q && set_window_i.rights.stream == Stream,
        base: set_window_i.base[KeyW-1:0],
        length: set_window_i.length[LengthW-1:0],
        shift: set_window_i.at[AddrW-1:0] - AddrW'(set_window_i.base),
        peer: set_window_i.peer,
        rights: set_window_i.rights
    };
  end

  // -- a group a cycle: how far into the window the range begins, and then whether it ends inside
  logic reads_q, reads_last_q, compares_q, compares_last_q;
  group_t group_q;
  entry_t [Ways-1:0] entries, entries_q;
  logic [Ways-1:0][KeyW-1:0] at_q;
  logic [Ways-1:0] is_behind_q, covers, permits;
  for (genvar w = 0; w < int'(Ways); w++) begin : gen_way
    logic [KeyW:0] at;
    logic [LengthW:0] ends;
    if (Groups > 1) begin : gen_table
      rl_lutram #(
        .Width($bits(entry_t)),
        .Depth(Groups)
      ) u_table (
        .clk_i,
        .we_i((set_valid_i || clears_q) && set_index[WayW-1:0] == WayW'(w)),
        .waddr_i(set_index[3:WayW]),
        .wdata_i(set_entry),
        .raddr_i(group_q),
        .rdata_o(entries[w])
      );
    end else begin : gen_one
      entry_t entry_q;
      assign entries[w] = entry_q;
      always_ff @(posedge clk_i)
        if ((set_valid_i || clears_q) && set_index == 4'(w))
          entry_q <= set_entry;
    end
    assign at = {1'b0, ask_addr_i} - {1'b0, entries[w].base};
    always_ff @(posedge clk_i) begin
      entries_q[w] <= entries[w];
      at_q[w] <= at[KeyW-1:0];
      is_behind_q[w] <= !at[KeyW];
    end
    if (KeyW > LengthW) begin : gen_long
      assign ends = (LengthW + 1)'(at_q[w][LengthW-1:0]) + (LengthW + 1)'(ask_length_i);
      assign covers[w] = entries_q[w].valid && is_behind_q[w] && at_q[w][KeyW-1:LengthW] == '0 &&
          ends <= {1'b0, entries_q[w].length} &&
          (entries_q[w].peer == NodeAny || entries_q[w].peer == ask_node_i);
    end else begin : gen_short
      assign ends = (LengthW + 1)'(at_q[w]) + (LengthW + 1)'(ask_length_i);
      assign covers[w] = entries_q[w].valid && is_behind_q[w] && ends <= {1'b0, entries_q[w].length} &&
          (entries_q[w].peer == NodeAny || entries_q[w].peer == ask_node_i);
    end
    assign permits[w] = covers[w] && (entries_q[w].rights & ask_right_i) == ask_right_i;
  end

  // -- what all of them say: the first that permits it tells where
  logic covered_q, permitted_q;
  logic [AddrW-1:0] shift, shift_q;
  always_comb begin
    shift = shift_q;
    for (int w = int'(Ways) - 1; w >= 0; w--)
    if (permits[w] && !permitted_q) shift = entries_q[w].shift;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      reads_q <= 1'b0;
      compares_q <= 1'b0;
      done_o <= 1'b0;
    end else begin
      if (ask_valid_i) reads_q <= 1'b1;
      else if (reads_last_q) reads_q <= 1'b0;
      compares_q <= reads_q && !ask_valid_i;
      done_o <= soon_o;
    end
  end
  assign soon_o = compares_q && compares_last_q && !ask_valid_i;
  assign reads_last_q = group_q == group_t'(Groups - 1);
  always_ff @(posedge clk_i) begin
    group_q <= ask_valid_i || Groups == 1 ? '0 : group_q + group_t'(reads_q);
    compares_last_q <= reads_last_q;
    if (ask_valid_i) begin
      covered_q <= 1'b0;
      permitted_q <= 1'b0;
    end else if (compares_q) begin
      if (covers != '0) covered_q <= 1'b1;
      if (permits != '0) permitted_q <= 1'b1;
      shift_q <= shift;
    end
  end
  assign status_o = permitted_q ? BridgeStatusOk : covered_q ? BridgeStatusDenied : BridgeStatusNoWindow;
  if (KeyW > FineW && AddrW > FineW && KeyW >= AddrW) begin : gen_addr
    assign addr_o = {ask_addr_i[AddrW-1:FineW] + shift_q[AddrW-1:FineW], ask_addr_i[FineW-1:0]};
  end else begin : gen_no_addr
    assign addr_o = AddrW'(ask_addr_i);
  end

  logic unused;
  assign unused = ^{set_window_i, shift_q};
endmodule
