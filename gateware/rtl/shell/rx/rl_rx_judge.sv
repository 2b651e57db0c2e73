// What becomes of a frame, from its head and what the firmware has said of claim and load.
//
// The order of the checks is that of the wire's own rules, since the first that fails is the counter
// of the drop: addresses, EtherType, a whole header, version, kind, authentication, length, and then
// which addresses the kind may reach; on a card with keys its tag. Whether all bytes of the length
// came is known at the frame's end only; so this gives the reasons that come before it and after it
// apart.
//
// It follows head and session all the time: its outputs hold two cycles after both were last changed.
module rl_rx_judge
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
#(
  parameter int unsigned Bulk = 32'(BulkStandard), // Most payload bytes of a write.
  parameter bit          Keys = 1'b0               // Tags have been checked; else no frame may have one.
) (
  input  logic        clk_net_i,

  input  head_t       head_i,
  input  logic        version_ok_i,
  input  logic [2:0]  runt_i,       // The frame has ended before its byte 12, 14, 32.
  // The address, one cycle before the head has it: its arithmetic takes one stage more.
  input  logic        addr_valid_i,
  input  logic [63:0] addr_i,

  input  kind_class_t class_i,
  input  logic        own_i,
  input  logic        group_i,
  input  logic        listens_i,
  input  logic        stranger_i,
  input  logic        owner_i,
  input  session_t    session_i,
  input  drop_e       cause_i,      // With Keys: what speaks against a frame if nothing here does.

  output drop_e       early_o,      // Whatever its length.
  output drop_e       late_o,       // If it is long enough.
  output route_e      route_o,      // If neither.
  output divert_reason_e        reason_o,        // With RouteControl.
  // One cycle after addr_valid_i: the address lies in memory that a host may address, in its last page.
  output logic        hosts_o,
  output logic        last_page_o
);
  localparam int unsigned PrivateW = $clog2(RolePrivate);
  if (RolePrivate != 64'd1 << PrivateW) begin : gen_check
    $fatal(0, "rl_rx_judge: RolePrivate must be a power of two (%m)");
  end

  // -- the present claim and load
  logic epoch_q, load_q, long_q;
  always_ff @(posedge clk_net_i) begin
    epoch_q <= head_i.epoch == session_i.epoch;
    load_q <= head_i.epoch == session_i.load_group && session_i.loading;
    long_q <= head_i.length > 16'(Bulk);
  end

  // -- the range: addr + length <= memory, in pages of 64 KiB, of which memory has a whole number
  logic above_q, private_q, fits;
  logic [AddrW-16:0] pages_q; // From the address's page to the end of memory.
  logic [16:0] end_q;         // Of the range, from the start of the address's page.
  always_ff @(posedge clk_net_i) begin
    if (addr_valid_i) begin
      above_q <= addr_i[63:AddrW] != 0;
      private_q <= addr_i[AddrW-1:PrivateW] == 0;
      pages_q <= {1'b0, session_i.memory[AddrW-1:16]} - {1'b0, addr_i[AddrW-1:16]};
      end_q <= {1'b0, addr_i[15:0]} + {1'b0, head_i.length};
    end
  end
  logic far, past;  // More than one page from the end of memory; in the page behind it, or beyond.
  assign far = pages_q[AddrW-17:1] != 0;
  assign past = pages_q[AddrW-16] || !(far || pages_q[0]);
  assign hosts_o = !above_q && !private_q && !past;
  assign last_page_o = !far;
  always_comb begin
    fits = hosts_o && (far || !end_q[16] || end_q[15:0] == 0);
    // Nothing, just at its end.
    if (!above_q && pages_q == 0 && end_q == 0) fits = 1'b1;
  end

  // -- drops
  always_comb begin
    early_o = DropNone;
    if (runt_i[0]) early_o = DropTruncated;
    else if (!listens_i || stranger_i) early_o = DropForeign;
    else if (runt_i[1]) early_o = DropTruncated;
    else if (!class_i.ether) early_o = DropForeign;
    else if (runt_i[2]) early_o = DropTruncated;
    else if (!version_ok_i) early_o = DropVersion;
    else if (!class_i.known) early_o = DropKind;
    else if (!Keys && (head_i.flags & FlagAuth) != 0) early_o = DropAuth;

    late_o = DropNone;
    if (class_i.unicast) begin
      if (!own_i) late_o = DropForeign;
    end else if (class_i.group) begin
      if (!group_i) late_o = DropKind;
    end else if (!class_i.any) begin
      late_o = DropKind;
    end
    if (Keys && late_o == DropNone) late_o = cause_i;
    if (class_i.data && !(owner_i && load_q)) late_o = DropEpoch;
  end

  // -- routes
  always_comb begin
    route_o = RouteControl;
    reason_o = DivertKind;
    if (early_o != DropNone || late_o != DropNone) begin
      route_o = RouteDrop;
    end else if (class_i.data) begin
      route_o = RouteImage;
    end else if (class_i.write || class_i.read || class_i.launch) begin
      if (!(owner_i && epoch_q)) reason_o = DivertEpoch;
      else if (class_i.read) route_o = RouteRead;
      else if (class_i.launch) route_o = RouteLaunch;
      else if (long_q) reason_o = DivertLength;
      else if (!fits) reason_o = DivertAddress;
      else route_o = RouteWrite;
    end
  end

`ifndef SYNTHESIS
  WholePages_A :
  assert property (@(posedge clk_net_i) addr_valid_i |-> session_i.memory[15:0] == 0);
`endif

  // The rest of what the firmware says is for others.
  logic unused_session;
  assign unused_session = ^{session_i.listening, session_i.receiving, session_i.role, session_i.configuring,
                            session_i.solicit_fast, session_i.memory[15:0]};
  logic unused_head;
  assign unused_head = ^{class_i.after_barrier, head_i.dst, head_i.src, head_i.ether_type, head_i.kind, head_i.seq,
                         head_i.addr};
endmodule
