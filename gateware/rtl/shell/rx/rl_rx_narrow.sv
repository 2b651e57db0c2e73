// From the wide receive stream to the one of 64 bits that control ring, launches, reads and discovery take: whole
// frames, one word a cycle, as rl_analyzer shows them. What waits here holds up neither writes nor image data.
module rl_rx_narrow
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
#(
  parameter int unsigned DataW = 128,
  parameter int unsigned Words = 256, // Of DataW bits, a power of two.
  localparam int unsigned KeepW = DataW / 8
) (
  input  logic             clk_net_i,
  input  logic             rst_net_ni,

  input  rx_beat_t         wide_i,
  input  logic [DataW-1:0] data_i,
  input  logic             hosts_i,
  input  logic             last_page_i,
  input  divert_reason_e   reason_i,
  output logic             room_o,

  input  logic             control_busy_i,
  input  logic             room_control_i,
  input  logic             room_launch_i,
  output rx_beat_t         rx_beat_o,
  output logic             hosts_o,
  output logic             last_page_o,
  output divert_reason_e   reason_o,
  input  logic             divert_i,   // With rx_beat_o.done.
  output logic             heard_o,    // A block of its own took a frame of the owner.
  output logic             finished_o, // One that may have become a barrier ended three cycles ago.
  output logic             busy_o
);
  // Of a longer frame the rest is not kept: the control ring keeps no more.
  localparam int unsigned FrameBytes = 1536;
  localparam int unsigned FrameWords = FrameBytes / KeepW;
  localparam int unsigned Lanes = DataW / 64;
  localparam int unsigned LaneW = $clog2(Lanes);
  localparam int unsigned CountW = $clog2(FrameWords + 1);
  typedef struct packed {
    route_e         route;
    divert_reason_e reason;
    logic           hosts;
    logic           last_page;
    head_t          head;
  } desc_t;
  typedef logic [CountW-1:0] count_t;

  // -- in
  logic mine, word, commit;
  count_t count_q;
  assign mine = wide_i.route inside {RouteControl, RouteRead, RouteLaunch};
  assign word = wide_i.payload && mine && count_q != count_t'(FrameWords);
  assign commit = wide_i.done && mine;
  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni || wide_i.done || wide_i.abort) count_q <= '0;
    else if (word) count_q <= count_q + 1'b1;
  end
  logic valid, ready, take, done;
  desc_t desc;
  logic [DataW-1:0] data;
  rl_frame_queue #(
    .DataW(DataW),
    .Words(Words),
    .FrameWords(FrameWords + 4),
    .DescW($bits(desc_t)),
    .Frames(16)
  ) u_queue (
    .clk_wr_i(clk_net_i),
    .rst_wr_ni(rst_net_ni),
    .room_o,
    .word_i(word),
    .data_i,
    .commit_i(commit),
    .desc_i({wide_i.route, reason_i, hosts_i, last_page_i, wide_i.head}),
    .rollback_i(wide_i.abort && mine && (word || count_q != 0)),
    .clk_rd_i(clk_net_i),
    .rst_rd_ni(rst_net_ni),
    .valid_o(valid),
    .desc_o(desc),
    .done_i(done),
    .take_i(take),
    .data_o(data),
    .ready_o(ready)
  );

  // -- out: the head's four words, the payload's, and a cycle later the end
  typedef enum logic [1:0] {
    Idle = 2'd0,
    Head = 2'd1,
    Payload = 2'd2,
    End = 2'd3
  } state_e;
  state_e state_q;
  logic [1:0] at_q;       // Word of the head.
  logic [13:0] left_q;    // Words of the payload after this one, below 0: there is none.
  logic [LaneW-1:0] lane_q;
  count_t kept_q;         // Words of the queue that are taken.
  logic kept, last_lane, begins, has_room;
  logic [255:0] head_bytes;
  logic [3:0][63:0] head_words;
  logic [2:0] rest_q;     // What a unit says of a frame comes three cycles later.
  assign head_bytes = {desc.head.dst, desc.head.src, desc.head.ether_type, Version, desc.head.flags, desc.head.kind,
                       desc.head.length, desc.head.epoch, desc.head.seq, desc.head.addr};
  assign head_words = {<<8{head_bytes}};
  assign has_room = room_control_i && (desc.route != RouteLaunch || (room_launch_i && !control_busy_i));
  assign begins = state_q == Idle && valid && rest_q == 0 && has_room;
  assign kept = kept_q != count_t'(FrameWords);
  assign last_lane = lane_q == '1 || left_q == 0;
  assign take = state_q == Payload && kept && last_lane;
  assign done = state_q == End;
  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) begin
      state_q <= Idle;
      rest_q <= '0;
    end else begin
      rest_q <= {rest_q[1:0], done};
      unique case (state_q)
        Idle: if (begins) state_q <= Head;
        Head: if (at_q == '1) state_q <= left_q[13] ? End : Payload;
        Payload: if (left_q == 0) state_q <= End;
        default: state_q <= Idle;
      endcase
    end
  end
  always_ff @(posedge clk_net_i) begin
    if (state_q == Idle) begin
      at_q <= '0;
      lane_q <= '0;
      kept_q <= '0;
      left_q <= 14'((17'(desc.head.length) + 17'd7) >> 3) - 1'b1;
    end else if (state_q == Head) begin
      at_q <= at_q + 1'b1;
    end else begin
      lane_q <= lane_q + 1'b1;
      left_q <= left_q - 1'b1;
      if (take) kept_q <= kept_q + 1'b1;
    end
  end

  logic tells_q, finished_1_q, finished_2_q;
  always_ff @(posedge clk_net_i) begin
    rx_beat_o.word <= rst_net_ni && state_q inside {Head, Payload};
    rx_beat_o.first <= rst_net_ni && state_q == Head && at_q == 0;
    rx_beat_o.payload <= rst_net_ni && state_q == Payload;
    rx_beat_o.done <= rst_net_ni && done;
    rx_beat_o.abort <= 1'b0;
    if (state_q == Head) rx_beat_o.data <= head_words[at_q];
    else rx_beat_o.data <= kept ? data[64*lane_q+:64] : '0;
    if (begins) begin
      rx_beat_o.route <= desc.route;
      rx_beat_o.head <= desc.head;
      hosts_o <= desc.hosts;
      last_page_o <= desc.last_page;
      reason_o <= desc.reason;
    end
    heard_o <= rst_net_ni && rx_beat_o.done && rx_beat_o.route inside {RouteRead, RouteLaunch} && !divert_i;
    tells_q <= rst_net_ni && rx_beat_o.done && (rx_beat_o.route == RouteLaunch || (rx_beat_o.route == RouteControl &&
        is_barrier(rx_beat_o.head.ether_type[7:0], rx_beat_o.head.kind[3:0])));
    finished_1_q <= rst_net_ni && tells_q;
    finished_2_q <= rst_net_ni && finished_1_q;
  end
  assign finished_o = finished_2_q;
  assign busy_o = valid || state_q != Idle || rx_beat_o.done;

`ifndef SYNTHESIS
  WordIsThere_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni) state_q == Payload && kept |-> ready);
  rl_rx_beat_checker u_checker (
    .clk_net_i,
    .rst_net_ni,
    .rx_beat_i(rx_beat_o),
    .reason_i(reason_o)
  );
`endif
  logic unused;
  assign unused = ^{ready, wide_i.word, wide_i.first, wide_i.data};
endmodule
