// The packet analyzer: takes frames apart, keeps out what is not for this card, and shows the rest to
// all blocks on the receive stream, one word a cycle, while the frame is still coming in.
//
//           cycle  0      1      2      3      4      5      6      7
//   words to s1    w0     w1     w2     w3     w4     w5 ...
//   words on stream       w0     w1     w2     w3     w4     w5 ...
//   head has              dst    src,   length addr
//                                kind   epoch
//   known                        class, dst    route
//
// The first payload word (w4) goes on only when the frame may go: its unit has room, and control has
// finished what may change the judgement (the barrier). With it the judgement is taken. A frame that
// ends before w5 has no time for that: it is judged, and its end told, some cycles after its last
// word. Such frames are shorter than Ethernet's minimum; the others follow each other without a gap.
//
// With Keys the first payload word waits for the verdict on the frame's tag as well, and a frame that is known to be
// whole ends with its payload: its trailer passes behind its end.
module rl_analyzer
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
#(
  parameter int unsigned Bulk = 32'(BulkStandard), // Most payload bytes of a write.
  // Frames of the bridge's family are somebody's, and those of the host behind the card, though not ours.
  parameter bit          Bridge = 1'b0,
  // Of each frame is known what its tag is worth, and the counters of what is dropped for that are the card's.
  parameter bit          Keys = 1'b0
) (
  input  logic      clk_net_i,
  input  logic      rst_net_ni,

  input  logic      word_valid_i,
  output logic      word_ready_o,
  input  rx_word_t  word_i,
  input  rl_auth_pkg::tag_verdict_t tag_i,  // With Keys: steady from a frame's first word to its last.

  input  filter_t   filter_i,       // Of this and
  input  session_t  session_i,      // this, what frames depend on changes before, or with, the end of the barrier.
  input  logic      barrier_busy_i, // A control frame that may change the session is unfinished.
  input  logic      control_busy_i, // A control frame is unfinished.
  input  room_t     room_i,
  input  rl_nic_pkg::nic_config_t nic_i,  // Steady.

  output rx_beat_t     rx_beat_o,
  // With a payload word: the address lies in memory that a host may address, in its last page of 64 KiB.
  output logic      hosts_o,
  output logic      last_page_o,
  output divert_reason_e      reason_o,          // Holds with rx_beat_o.route = RouteControl.
  input  logic      divert_i,       // With rx_beat_o.done: control takes this read or launch.
  output logic      heard_o,        // A block of its own took a frame of the owner: renew the lease.
  output rx_event_t event_o,
  output rl_auth_pkg::auth_event_t auth_event_o,
  output logic      crowded_o,      // With Keys: a claim was dropped, one of too many.
  output logic      ended_o,        // A frame has ended,
  output logic      taken_o         // well.
);
  // -- s1: the word from the FIFO, straight into registers
  logic valid_q, advance, hold;
  rx_word_t s1_q;
  logic [63:0] bytes;     // The same, the frame's first byte on the left.

  // Which word of its frame it is, a bit for each: what holds the stream up is one gate. Beyond the first payload
  // word they are all alike.
  localparam int unsigned Payload = 4, Later = 5;
  logic [5:0] at_q;
  logic go_q;             // The frame may go.
  logic ended_q;          // It was short and has ended, and its end is still to be told.
  logic judged_q;         // The judgement is taken.

  assign hold = ended_q || (at_q[Payload] && !(go_q && (!Keys || tag_i.known)));
  assign word_ready_o = !hold;
  assign advance = valid_q && !hold;
  assign bytes = {<<8{s1_q.data}};

  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) begin
      valid_q <= 1'b0;
      at_q <= 6'd1;
    end else begin
      if (!hold) valid_q <= word_valid_i;
      if (advance) at_q <= s1_q.last ? 6'd1 : {at_q[Later] || at_q[Payload], at_q[3:0], 1'b0};
    end
  end
  always_ff @(posedge clk_net_i) begin
    if (!hold) s1_q <= word_i;
  end

  // -- the head, in step with the receive stream
  head_t head_q;
  logic version_ok_q;
  always_ff @(posedge clk_net_i) begin
    if (advance) begin
      if (at_q[0]) {head_q.dst, head_q.src[47:32]} <= bytes;
      if (at_q[1]) begin
        {head_q.src[31:0], head_q.ether_type} <= bytes[63:16];
        version_ok_q <= bytes[15:12] == Version;
        {head_q.flags, head_q.kind} <= bytes[11:0];
      end
      if (at_q[2]) {head_q.length, head_q.epoch, head_q.seq} <= bytes;
      if (at_q[3]) head_q.addr <= bytes;
    end
  end

  // -- the judgement
  kind_class_t class_q;
  logic settled, own, group, listens, stranger, owner;
  logic [2:0] runt_q;
  drop_e early, late, early_q, late_q;
  route_e route, route_q;
  divert_reason_e reason;

  rl_kind_class u_class (
    .clk_net_i,
    .valid_i(advance && at_q[1]),
    .ether_type_i(bytes[31:16]),
    .kind_i(bytes[7:0]),
    .class_o(class_q)
  );
  rl_rx_filter u_filter (
    .clk_net_i,
    .dst_i(head_q.dst),
    .src_i(head_q.src),
    .filter_i,
    .listening_i(session_i.listening),
    .settled_o(settled),
    .own_o(own),
    .group_o(group),
    .listens_o(listens),
    .stranger_o(stranger),
    .owner_o(owner)
  );
  rl_rx_judge #(
    .Bulk(Bulk),
    .Keys(Keys)
  ) u_judge (
    .clk_net_i,
    .head_i(head_q),
    .version_ok_i(version_ok_q),
    .runt_i(runt_q),
    .addr_valid_i(advance && at_q[3]),
    .addr_i(bytes),
    .class_i(class_q),
    .own_i(own),
    .group_i(group),
    .listens_i(listens),
    .stranger_i(stranger),
    .owner_i(owner),
    .session_i,
    .cause_i(tag_i.cause),
    .early_o(early),
    .late_o(late),
    .route_o(route),
    .reason_o(reason),
    .hosts_o,
    .last_page_o
  );

  // Whether it may go. Before its address is known a write may turn out to be for control: all that
  // control may get wait for its room. What is for another card waits for nothing, but what is for a
  // group does: a control frame before it may make the card join. And none is judged by what the filter
  // says while it is written.
  logic barrier_q, awaits_barrier, has_room;
  assign awaits_barrier = class_q.after_barrier || group;
  always_comb begin
    has_room = class_q.data ? room_i.image : room_i.control;
    if (class_q.write) has_room &= room_i.write;
    if (class_q.read) has_room &= room_i.read;
    if (class_q.launch) has_room &= room_i.launch && !control_busy_i;
  end
  always_ff @(posedge clk_net_i) begin
    barrier_q <= barrier_busy_i;
    go_q <= settled && !(awaits_barrier && (barrier_busy_i || barrier_q)) && (has_room || !(listens || group));
  end

  // -- the end of short frames: their last word is on the receive stream, and the judgement needs two cycles
  logic [1:0] settled_q;
  logic short_end, tell_short, judge;
  assign short_end = advance && s1_q.last && !at_q[Later];
  assign tell_short = ended_q && judged_q;
  assign judge = !judged_q && (ended_q ? settled_q[1] && go_q && (!Keys || tag_i.known) : advance && at_q[Payload]);

  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) begin
      ended_q <= 1'b0;
      judged_q <= 1'b0;
    end else begin
      ended_q <= short_end || (ended_q && !tell_short);
      if (judge) judged_q <= 1'b1;
      if (advance && at_q[0]) judged_q <= 1'b0;
    end
  end
  always_ff @(posedge clk_net_i) begin
    settled_q <= ended_q ? {settled_q[0], 1'b1} : 2'b00;
    if (advance && !at_q[Later]) begin
      runt_q[0] <= s1_q.last && (at_q[0] || (at_q[1] && s1_q.extra < 3));
      runt_q[1] <= s1_q.last && (at_q[0] || (at_q[1] && s1_q.extra < 5));
      runt_q[2] <= s1_q.last && (at_q[2:0] != 0 || (at_q[3] && s1_q.extra < 7));
    end
    if (judge) begin
      early_q <= early;
      late_q <= late;
      route_q <= route;
      reason_o <= reason;
    end
  end

  // -- the payload's words still to come: from word 4 on, how many after this one, below 0 when it is
  // none of them; and the valid bytes of the last one, less 1
  logic [13:0] left_q, left_less;
  logic [2:0] tail_q;
  logic owes, lacks, lacks_q, bad_q, cut_q;
  assign left_less = left_q - 1'b1;
  assign owes = !left_q[13];
  // If this is the last word: the payload is longer than what has come.
  always_comb begin
    if (at_q[3:0] != 0) lacks = !(left_less[13] && tail_q == 3'd7);
    else lacks = !left_less[13] || (owes && s1_q.extra < tail_q);
    if (Keys && tag_i.cut) lacks = 1'b1;
  end
  always_ff @(posedge clk_net_i) begin
    if (advance) begin
      if (at_q[2]) begin
        left_q <= {1'b0, bytes[63:51]};
        tail_q <= bytes[50:48] - 1'b1;
      end else if (at_q[Payload] || at_q[Later] || tail_q == 3'd7) begin
        left_q <= left_less;
      end
      bad_q <= s1_q.bad;
      cut_q <= s1_q.cut;
      lacks_q <= lacks;
    end
  end

  // -- whether it is of the bridge's family: a packet of IPv6 with its next header, to an address in fc00::/7
  logic [2:0] family_q;  // So far, by word 1, 2 and 4.
  always_ff @(posedge clk_net_i) begin
    if (advance) begin
      if (at_q[1]) family_q[0] <= bytes[31:16] == rl_bridge_pkg::EtherType && bytes[15:12] == 4'd6;
      if (at_q[2]) family_q[1] <= bytes[31:24] == rl_bridge_pkg::NextHeader;
      if (!at_q[Later])
        family_q[2] <= at_q[Payload] && bytes[15:9] == rl_bridge_pkg::Subnet[63:57] &&
            (!s1_q.last || s1_q.extra >= 3'd6);
    end
  end

  // -- whether it is the host's behind the card, as rl_nic judges it; once both addresses and the EtherType have come
  logic behind;
  always_comb begin
    behind = nic_i.open && (head_q.dst == nic_i.host || head_q.dst[rl_port_pkg::GroupBit]);
    if (head_q.src == nic_i.host || head_q.src == nic_i.card || head_q.src[rl_port_pkg::GroupBit])
      behind = 1'b0;
    if (class_q.ether || head_q.ether_type == rl_port_pkg::EtherTypeMacControl) behind = 1'b0;
  end

  // -- the end, and a cycle later its reason, when what the last word said is in registers
  logic ends, good, early_end, told_q;
  drop_e drop;
  assign early_end = Keys && tag_i.trailed && left_less[13];
  assign ends = tell_short || (advance && at_q[Later] && !(Keys && told_q) && (s1_q.last || early_end));
  always_ff @(posedge clk_net_i) begin
    if (advance) told_q <= at_q[Later] && !s1_q.last && (told_q || ends);
  end
  assign good = route_q != RouteDrop && (ended_q ? !(bad_q || cut_q || lacks_q) :
                                      !(s1_q.bad || s1_q.cut || lacks));
  always_comb begin
    drop = late_q;
    if (cut_q) drop = DropNone;  // The FIFO has counted it.
    else if (bad_q) drop = DropCheck;
    else if (early_q != DropNone) drop = early_q;
    else if (lacks_q) drop = DropTruncated;
  end
  // -- the receive stream
  logic word_q, first_q, payload_q, done_q, abort_q;
  logic [63:0] data_q;
  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) begin
      word_q <= 1'b0;
      first_q <= 1'b0;
      payload_q <= 1'b0;
      done_q <= 1'b0;
      abort_q <= 1'b0;
      heard_o <= 1'b0;
      event_o <= '0;
      auth_event_o <= '0;
      crowded_o <= 1'b0;
    end else begin
      word_q <= advance && (at_q[3:0] != 0 || owes);
      first_q <= advance && at_q[0];
      payload_q <= advance && (at_q[Payload] || at_q[Later]) && owes;
      done_q <= ends && good;
      abort_q <= ends && !good;
      heard_o <= done_q && (route_q == RouteWrite || (route_q == RouteImage && !Keys) ||
                            (route_q inside {RouteRead, RouteLaunch} && !divert_i));
      event_o.word <= advance;
      event_o.bytes <= 7'(s1_q.extra) + 7'd1;
      event_o.frame <= done_q || abort_q;
      event_o.check <= abort_q && drop == DropCheck;
      event_o.foreign <= abort_q && drop == DropForeign && !(Bridge && ((&family_q) || behind));
      event_o.truncated <= abort_q && drop == DropTruncated;
      event_o.version <= abort_q && drop == DropVersion;
      event_o.kind <= abort_q && drop == DropKind;
      event_o.auth <= abort_q && drop == DropAuth;
      event_o.epoch <= abort_q && drop == DropEpoch;
      auth_event_o.untagged <= Keys && abort_q && drop == DropUntagged;
      auth_event_o.unknown <= Keys && abort_q && drop == DropUnknown;
      auth_event_o.wrong <= Keys && abort_q && drop == DropWrong;
      auth_event_o.replay <= Keys && abort_q && drop == DropReplay;
      crowded_o <= Keys && abort_q && drop == DropCrowded;
    end
  end
  always_ff @(posedge clk_net_i) begin
    if (advance) data_q <= s1_q.data;
  end
  assign ended_o = done_q || abort_q;
  assign taken_o = done_q;

  assign rx_beat_o = '{
          word: word_q,
          first: first_q,
          payload: payload_q,
          data: data_q,
          done: done_q,
          abort: abort_q,
          route: route_q,
          head: head_q
      };

`ifndef SYNTHESIS
  // What the filter says in this cycle, and said in the last one, was not looked up while it was written.
  FilterIsRead_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni)
    judge |-> session_i.listening && !$past(
      filter_i.we, 2
  ) && !$past(
      filter_i.we, 3
  ));
  rl_rx_beat_checker u_checker (
    .clk_net_i,
    .rst_net_ni,
    .rx_beat_i(rx_beat_o),
    .reason_i(reason_o)
  );
  HostsIsTrue_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni) rx_beat_o.payload |-> hosts_o ==
    (rx_beat_o.head.addr >= RolePrivate && rx_beat_o.head.addr < 64'(session_i.memory)));
  LastPageIsTrue_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni) rx_beat_o.payload && hosts_o |->
    last_page_o == (rx_beat_o.head.addr[AddrW-1:16] == session_i.memory[AddrW-1:16] - 1'b1));
`endif
endmodule
