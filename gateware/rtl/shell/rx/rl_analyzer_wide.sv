// The packet analyzer for words of 128 bits and more: as rl_analyzer, but a frame's head goes ahead of its payload
// (rl_rx_head), and is judged while others are (rl_judge_line), so that frames of a single word follow one another.
//
// The receive stream has two parts here. Writes and image data are shown as they come, payload only, `data_o` beside
// the beat. Frames for the other units, which take no such rate, go on to rl_rx_narrow.
//
// A frame goes when it is judged, its unit has room, and what may change the judgement is finished: a control frame in
// the ring, or one that has gone to rl_rx_narrow and has not come to its end there.
module rl_analyzer_wide
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
#(
  parameter int unsigned DataW = 128,
  parameter int unsigned Bulk = 32'(BulkStandard),
  localparam int unsigned KeepW = DataW / 8,
  localparam int unsigned ExtraW = $clog2(KeepW)
) (
  input  logic      clk_net_i,
  input  logic      rst_net_ni,

  input  logic      word_valid_i,
  output logic      word_ready_o,
  input  logic [DataW+ExtraW+2:0] word_i,

  input  filter_t   filter_i,
  input  session_t  session_i,
  input  logic      barrier_busy_i,   // As for rl_analyzer,
  input  logic      pending_i,        // and: a frame in rl_rx_narrow may become a barrier.
  input  logic      room_write_i,
  input  logic      room_image_i,
  input  logic      room_narrow_i,

  output rx_beat_t  rx_beat_o,        // No head's words, and `data` is 0: it is beside it.
  output logic [DataW-1:0] data_o,
  output logic      hosts_o,
  output logic      last_page_o,
  output divert_reason_e reason_o,
  output logic      passes_o,         // With the next cycle a frame for rl_rx_narrow that may become a barrier ends.
  output logic      heard_o,          // A frame of the owner has gone to a block of its own.
  output rx_event_t event_o,
  output logic      busy_o            // Something of a frame is here.
);
  typedef logic [ExtraW:0] bytes_t;
  typedef struct packed {
    logic             cut;
    logic             bad;
    logic             last;
    bytes_t           bytes;
    logic [DataW-1:0] data;
  } part_t;
  localparam int unsigned Parts = 16;

  // -- heads and payloads
  head_t head_in, head;
  logic
      head_valid,
      head_room,
      version_ok,
      part_valid,
      part_room,
      part_ready,
      unused_ready,
      came,
      judged,
      begins;
  logic [2:0] runt;
  bytes_t came_bytes;
  part_t part_in, part;
  logic [$clog2(Parts):0] parts;
  verdict_t verdict;
  rl_rx_head #(
    .DataW(DataW)
  ) u_head (
    .clk_net_i,
    .rst_net_ni,
    .word_valid_i,
    .word_ready_o,
    .word_i,
    .head_room_i(head_room),
    .head_valid_o(head_valid),
    .head_o(head_in),
    .version_ok_o(version_ok),
    .runt_o(runt),
    .part_room_i(part_room),
    .part_valid_o(part_valid),
    .part_data_o(part_in.data),
    .part_bytes_o(part_in.bytes),
    .part_last_o(part_in.last),
    .part_bad_o(part_in.bad),
    .part_cut_o(part_in.cut),
    .taken_o(came),
    .taken_bytes_o(came_bytes)
  );
  rl_judge_line #(
    .Bulk(Bulk)
  ) u_line (
    .clk_net_i,
    .rst_net_ni,
    .filter_i,
    .session_i,
    .room_o(head_room),
    .valid_i(head_valid),
    .head_i(head_in),
    .version_ok_i(version_ok),
    .runt_i(runt),
    .valid_o(judged),
    .head_o(head),
    .verdict_o(verdict),
    .take_i(begins)
  );
  logic part_there;
  assign part_room = parts < ($clog2(Parts) + 1)'(Parts - 2);
  rl_fifo #(
    .Width($bits(part_t)),
    .Depth(Parts)
  ) u_parts (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .wvalid_i(part_valid),
    .wready_o(unused_ready),
    .wdata_i(part_in),
    .rvalid_o(part_there),
    .rready_i(part_ready),
    .rdata_o(part),
    .count_o(parts)
  );

  // -- whether the next frame may go. A unit that has had a frame looks at it for three
  // cycles; but writes stand in line there, and only their queue rests for one.
  logic inside_q, barrier_q, barrier, narrow, has_room, ends, good;
  logic write_rest_q;
  logic [2:0] image_rest_q, narrow_rest_q;
  verdict_t verdict_q;
  route_e route;  // Of the frame under way, or of the next one.
  head_t head_q, present;
  logic barrier_kind;
  assign narrow = verdict.route inside {RouteControl, RouteRead, RouteLaunch};
  assign barrier = barrier_busy_i || barrier_q || pending_i;
  always_comb begin
    has_room = 1'b1;
    if (verdict.route == RouteWrite) has_room = room_write_i && !write_rest_q;
    if (verdict.route == RouteImage) has_room = room_image_i && image_rest_q == 0;
    if (narrow) has_room = room_narrow_i && narrow_rest_q == 0;
  end
  assign begins = !inside_q && judged && part_there && has_room && !(verdict.awaits && barrier);
  assign part_ready = inside_q || begins;
  assign route = inside_q ? verdict_q.route : verdict.route;

  // -- how much of the payload is still to come, below 0: none, and the frame's end
  logic [16:0] left_q, left;
  logic step, owes, lacks;
  assign step = part_there && part_ready;
  assign left = inside_q ? left_q : 17'(head.length);
  assign owes = !left[16] && left != 0;
  assign lacks = owes && left > 17'(part.bytes);
  assign ends = step && part.last;
  assign present = inside_q ? head_q : head;
  assign barrier_kind = is_barrier(present.ether_type[7:0], present.kind[3:0]);
  assign good = route != RouteDrop && !(part.bad || part.cut || lacks);
  // A launch that is refused may change the session as well.
  assign passes_o = ends && good && (route == RouteLaunch || (route == RouteControl && barrier_kind));
  always_ff @(posedge clk_net_i) begin
    barrier_q <= barrier_busy_i;
    if (!rst_net_ni) begin
      inside_q <= 1'b0;
      write_rest_q <= 1'b0;
      image_rest_q <= '0;
      narrow_rest_q <= '0;
    end else begin
      if (step) inside_q <= !part.last;
      write_rest_q <= ends && route == RouteWrite;
      image_rest_q <= {image_rest_q[1:0], ends && route == RouteImage};
      narrow_rest_q <= {narrow_rest_q[1:0], ends && route inside {RouteControl, RouteRead, RouteLaunch}};
    end
  end
  always_ff @(posedge clk_net_i) begin
    if (begins) begin
      verdict_q <= verdict;
      head_q <= head;
    end
    if (step) left_q <= owes ? left - 17'(KeepW) : left;
  end

  // -- the receive stream
  logic payload_q, done_q, abort_q, bad_q, cut_q, lacks_q;
  drop_e drop;
  always_comb begin
    drop = verdict_q.late;
    if (cut_q) drop = DropNone;  // The FIFO has counted it.
    else if (bad_q) drop = DropCheck;
    else if (verdict_q.early != DropNone) drop = verdict_q.early;
    else if (lacks_q) drop = DropTruncated;
  end
  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) begin
      payload_q <= 1'b0;
      done_q <= 1'b0;
      abort_q <= 1'b0;
      heard_o <= 1'b0;
      event_o <= '0;
    end else begin
      payload_q <= step && owes && part.bytes != 0;
      done_q <= ends && good;
      abort_q <= ends && !good;
      heard_o <= done_q && verdict_q.route inside {RouteWrite, RouteImage};
      event_o.word <= came;
      event_o.bytes <= 7'(came_bytes);
      event_o.frame <= done_q || abort_q;
      event_o.check <= abort_q && drop == DropCheck;
      event_o.foreign <= abort_q && drop == DropForeign;
      event_o.truncated <= abort_q && drop == DropTruncated;
      event_o.version <= abort_q && drop == DropVersion;
      event_o.kind <= abort_q && drop == DropKind;
      event_o.auth <= abort_q && drop == DropAuth;
      event_o.epoch <= abort_q && drop == DropEpoch;
    end
  end
  always_ff @(posedge clk_net_i) begin
    if (step) data_o <= part.data;
    bad_q <= part.bad;
    cut_q <= part.cut;
    lacks_q <= lacks;
  end
  assign rx_beat_o = '{
          word: payload_q,
          first: 1'b0,
          payload: payload_q,
          data: '0,
          done: done_q,
          abort: abort_q,
          route: verdict_q.route,
          head: head_q
      };
  assign hosts_o = verdict_q.hosts;
  assign last_page_o = verdict_q.last_page;
  assign reason_o = verdict_q.reason;
  logic unused;
  assign unused = ^{verdict_q.awaits, present};
  assign busy_o = came || parts != 0 || judged || inside_q || payload_q || done_q;

`ifndef SYNTHESIS
  PartHasRoom_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni) part_valid |-> unused_ready);
  HostsIsTrue_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni) rx_beat_o.payload |-> hosts_o ==
    (rx_beat_o.head.addr >= RolePrivate && rx_beat_o.head.addr < 64'(session_i.memory)));
`endif
endmodule
