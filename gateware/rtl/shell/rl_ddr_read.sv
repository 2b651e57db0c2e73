// Everything that the shell reads from DDR: bytes for frames, configuration words, beats for the
// digest. AXI4 bursts of one beat each (ARLEN 0, ARSIZE 6, ARBURST INCR, one ID), several under way,
// never more than there is room for: what comes is taken, except that a beat of 512 bits takes a
// cycle for each of its 64-bit lanes.
//
//   U0  one lane of the beat is chosen
//   U1  the lane; configuration words leave here
//   U2  rotated: the frame's first byte stands in the lowest place
//   U3  joined with the lane before into a word of the frame
module rl_ddr_read
  import rl_shell_pkg::*;
#(
  parameter int unsigned Outstanding = 16  // Beats under way, at most; a power of two.
) (
  input  logic           clk_ddr_i,
  input  logic           rst_ddr_ni,

  input  logic           command_valid_i,
  output logic           command_ready_o,
  input  fetch_command_t command_i,
  // Data queue's writing side: what was fetched, in order; bytes beyond the length are zero.
  input  logic           queue_room_i,     // For this frame, two others, and eight words.
  output logic           queue_word_o,
  output logic [63:0]    queue_data_o,
  output logic           queue_commit_o,
  output fetched_t       queue_desc_o,

  // Beats for the configuration port. They go into a queue in frames of eight words.
  input  logic           stream_i,         // Holds until stream_done_o, with the job.
  input  stream_t        stream_job_i,
  input  logic           stream_stop_i,    // Ask for no more.
  output logic           stream_done_o,    // What was asked for is in the queue. Holds until stream_i falls.
  input  logic           stream_room_i,    // For five frames.
  output logic           stream_word_o,
  output logic [63:0]    stream_data_o,
  output logic           stream_commit_o,
  output logic           stream_last_o,    // With it: the last one.

  // The digest asks only for what it has room for.
  input  logic           digest_req_valid_i,
  output logic           digest_req_ready_o,
  input  beat_t          digest_req_beat_i,
  output logic           digest_data_valid_o,
  output beat_data_t     digest_data_o,

  output logic           error_o,          // A read was answered with an error, since reset.

  output logic           axi_arvalid_o,
  input  logic           axi_arready_i,
  output addr_t          axi_araddr_o,
  input  logic           axi_rvalid_i,
  output logic           axi_rready_o,
  input  logic [511:0]   axi_rdata_i,
  input  logic [1:0]     axi_rresp_i
);
  typedef enum logic [1:0] {
    ClientFetch  = 2'd0,
    ClientStream = 2'd1,
    ClientDigest = 2'd2
  } client_e;

  logic ask, tag_ready, tag_valid, loads;
  client_e asks, tag;

  // -- fetches: their beats are asked for in a row
  typedef struct packed {
    logic [5:0] start;   // Its first byte, in its first beat,
    logic [13:0] reach;  // and its last one, counted from that beat's start.
    fetched_t   about;
  } frame_t;
  logic fetching_q, begin_fetch, frames_ready, frame_valid, frame_taken;
  beat_t fetch_beat_q;
  logic [7:0] fetch_left_q;   // Beats after the next one.
  logic [13:0] reach;         // From the first beat's first byte to the last byte.
  frame_t frame;
  logic [1:0] unused_frames;
  assign reach = 14'(command_i.addr[5:0]) + command_i.about.length - 1'b1;
  assign begin_fetch = !fetching_q && command_valid_i && queue_room_i && frames_ready;
  assign command_ready_o = begin_fetch;
  rl_fifo #(
    .Width($bits(frame_t)),
    .Depth(2)
  ) u_frames (
    .clk_i(clk_ddr_i),
    .rst_ni(rst_ddr_ni),
    .wvalid_i(begin_fetch),
    .wready_o(frames_ready),
    .wdata_i({command_i.addr[5:0], reach, command_i.about}),
    .rvalid_o(frame_valid),
    .rready_i(frame_taken),
    .rdata_o(frame),
    .count_o(unused_frames)
  );

  always_ff @(posedge clk_ddr_i) begin
    if (!rst_ddr_ni) fetching_q <= 1'b0;
    else fetching_q <= begin_fetch || (fetching_q && !(ask && fetch_left_q == 0));
  end
  always_ff @(posedge clk_ddr_i) begin
    if (begin_fetch) begin
      fetch_beat_q <= command_i.addr[AddrW-1:6];
      fetch_left_q <= reach[13:6];
    end else if (ask && fetching_q) begin
      fetch_beat_q <= fetch_beat_q + 1'b1;
      fetch_left_q <= fetch_left_q - 1'b1;
    end
  end

  // -- the stream
  localparam logic [2:0] StreamBeats = 3'd4;  // Under way at most: its queue has room for one more.
  logic stream_busy_q, asking_q, begin_stream, stream_ask, asks_stream, stream_arrived;
  logic [2:0] stream_beats_q;  // Under way.
  beat_t stream_beat_q;
  assign begin_stream = stream_i && !stream_busy_q && !stream_done_o;
  assign stream_ask = asking_q && stream_room_i && stream_beats_q != StreamBeats;
  always_ff @(posedge clk_ddr_i) begin
    if (!rst_ddr_ni) begin
      stream_busy_q <= 1'b0;
      asking_q <= 1'b0;
      stream_beats_q <= '0;
      stream_done_o <= 1'b0;
    end else begin
      stream_beats_q <= stream_beats_q + 3'(asks_stream) - 3'(stream_arrived);
      if (begin_stream) asking_q <= 1'b1;
      else if (stream_stop_i || (asks_stream && stream_beat_q[21:0] == stream_job_i.last))
        asking_q <= 1'b0;
      stream_busy_q <= begin_stream || (stream_busy_q && !stream_done_o);
      stream_done_o <= stream_i && (stream_done_o ||
                                    (stream_busy_q && !asking_q && stream_beats_q == 0));
    end
  end
  always_ff @(posedge clk_ddr_i) begin
    if (begin_stream) stream_beat_q <= stream_job_i.first;
    else if (asks_stream) stream_beat_q <= stream_beat_q + 1'b1;
  end

  // -- AR
  beat_t ask_beat;
  logic [1:0] tag_bits;
  assign tag = client_e'(tag_bits);
  logic [$clog2(Outstanding):0] unused_tags;
  always_comb begin
    // A fetch can ask once in eight cycles, the stream waits for its port: the digest gets its turn.
    if (fetching_q) {asks, ask_beat} = {ClientFetch, fetch_beat_q};
    else if (stream_ask) {asks, ask_beat} = {ClientStream, stream_beat_q};
    else {asks, ask_beat} = {ClientDigest, digest_req_beat_i};
    ask = !axi_arvalid_o && tag_ready && (fetching_q || stream_ask || digest_req_valid_i);
  end
  assign asks_stream = ask && asks == ClientStream;
  assign digest_req_ready_o = ask && asks == ClientDigest;
  rl_fifo #(
    .Width($bits(client_e)),
    .Depth(Outstanding)
  ) u_tags (
    .clk_i(clk_ddr_i),
    .rst_ni(rst_ddr_ni),
    .wvalid_i(ask),
    .wready_o(tag_ready),
    .wdata_i(asks),
    .rvalid_o(tag_valid),
    .rready_i(loads),
    .rdata_o(tag_bits),
    .count_o(unused_tags)
  );
  always_ff @(posedge clk_ddr_i) begin
    if (!rst_ddr_ni) axi_arvalid_o <= 1'b0;
    else axi_arvalid_o <= ask || (axi_arvalid_o && !axi_arready_i);
  end
  always_ff @(posedge clk_ddr_i) begin
    if (ask) axi_araddr_o <= {ask_beat, 6'd0};
  end

  // -- R: a beat stays until its lanes are used
  typedef struct packed {
    logic       first; // Lane of its frame.
    logic       tail;  // After its last lane one more word is complete.
    logic [2:0] turn;  // Bytes to rotate by: where in a lane the frame starts.
    logic [2:0] stop;  // Where in its last word it ends.
    fetched_t   desc;
  } lane_about_t;
  logic beat_valid_q, open_q, uses_fetch, uses_stream, uses_digest, uses_up, ends_frame;
  client_e client_q;
  logic [7:0][63:0] beat_q;
  lane_about_t about_q;
  logic [7:0] lane_q;          // One bit for each lane of the beat: its turn.
  logic [2:0] start_lane;
  logic [10:0]
      at_q, last_q;  // Lanes from the start of the frame's first beat: this one, its last one.
  assign loads = axi_rvalid_i && axi_rready_o;
  assign uses_fetch = beat_valid_q && client_q == ClientFetch && open_q;
  assign uses_stream = beat_valid_q && client_q == ClientStream;
  assign uses_digest = beat_valid_q && client_q == ClientDigest;
  assign ends_frame = uses_fetch && at_q == last_q;
  assign uses_up = uses_digest || ends_frame || (lane_q[7] && (uses_fetch || uses_stream));
  assign stream_arrived = uses_stream && lane_q[7];
  assign frame_taken = frame_valid && !open_q;
  // A frame's first beat may come when the frame before has just ended.
  always_comb begin
    start_lane = 3'd0;
    if (tag == ClientFetch) begin
      if (!open_q || ends_frame) start_lane = frame.start[5:3];
      else if (!uses_fetch) start_lane = at_q[2:0];
    end
  end
  always_ff @(posedge clk_ddr_i) begin
    if (!rst_ddr_ni) begin
      beat_valid_q <= 1'b0;
      axi_rready_o <= 1'b0;
      open_q <= 1'b0;
      error_o <= 1'b0;
    end else begin
      beat_valid_q <= loads || (beat_valid_q && !uses_up);
      // Ready with the beat's eighth lane, so that the next beat follows at once.
      axi_rready_o <= !loads && (!beat_valid_q || uses_up ||
                                 (lane_q[6] && (uses_fetch || uses_stream)));
      open_q <= frame_taken || (open_q && !ends_frame);
      if (loads && axi_rresp_i[1]) error_o <= 1'b1;
    end
  end
  always_ff @(posedge clk_ddr_i) begin
    if (loads) begin
      beat_q <= axi_rdata_i;
      client_q <= tag;
      lane_q <= 8'd1 << start_lane;
    end else if (uses_fetch || uses_stream) begin
      lane_q <= lane_q << 1;
    end
    if (frame_taken) begin
      at_q <= 11'(frame.start[5:3]);
      last_q <= frame.reach[13:3];
      about_q.first <= 1'b1;
      about_q.turn <= frame.start[2:0];
      about_q.stop <= frame.reach[2:0] - frame.start[2:0];
      about_q.tail <= frame.reach[2:0] >= frame.start[2:0];
      about_q.desc <= frame.about;
    end else if (uses_fetch) begin
      at_q <= at_q + 1'b1;
      about_q.first <= 1'b0;
    end
  end
  assign digest_data_valid_o = uses_digest;
  assign digest_data_o = beat_q;

  // -- U1, U2
  logic lane_fetch_q, lane_stream_q, lane_last_q, turn_valid_q, turn_last_q;
  logic [63:0] lane_data, lane_data_q, turned, turn_q;
  lane_about_t lane_about_q, turn_about_q;
  always_comb begin
    lane_data = '0;
    for (int i = 0; i < 8; i++) lane_data |= beat_q[i] & {64{lane_q[i]}};
  end
  rl_rotate u_rotate (
    .data_i(lane_data_q),
    .bytes_i(3'd0 - lane_about_q.turn),
    .data_o(turned)
  );
  always_ff @(posedge clk_ddr_i) begin
    if (!rst_ddr_ni) begin
      lane_fetch_q <= 1'b0;
      lane_stream_q <= 1'b0;
      turn_valid_q <= 1'b0;
    end else begin
      lane_fetch_q <= uses_fetch;
      lane_stream_q <= uses_stream;
      turn_valid_q <= lane_fetch_q;
    end
  end
  always_ff @(posedge clk_ddr_i) begin
    lane_data_q <= lane_data;
    lane_about_q <= about_q;
    lane_last_q <= ends_frame;
    turn_q <= turned;
    turn_about_q <= lane_about_q;
    turn_last_q <= lane_last_q;
    stream_commit_o <= stream_arrived;
    stream_last_o <= !asking_q && stream_beats_q == 3'd1;
  end
  assign stream_word_o = lane_stream_q;
  assign stream_data_o = lane_data_q;

  // -- U3. Two frames' lanes are two cycles apart: in the cycle after a frame's last lane, its tail's,
  // what is known of the lane is still what was known of that one.
  logic tail_q, ends;
  logic [63:0] before_q, data;
  logic [7:0] from_before, keep;
  assign ends = tail_q || (turn_valid_q && turn_last_q && !turn_about_q.tail);
  assign from_before = 8'hff >> turn_about_q.turn;
  assign keep = ends ? 8'hff >> ~turn_about_q.stop : 8'hff;
  for (genvar i = 0; i < 8; i++) begin : gen_byte
    assign data[8*i+:8] = (from_before[i] ? before_q[8*i+:8] : turn_q[8*i+:8]) & {8{keep[i]}};
  end
  always_ff @(posedge clk_ddr_i) begin
    if (!rst_ddr_ni) begin
      tail_q <= 1'b0;
      queue_word_o <= 1'b0;
      queue_commit_o <= 1'b0;
    end else begin
      tail_q <= turn_valid_q && turn_last_q && turn_about_q.tail;
      queue_word_o <= tail_q || (turn_valid_q && !turn_about_q.first);
      queue_commit_o <= ends;
    end
  end
  always_ff @(posedge clk_ddr_i) begin
    if (turn_valid_q) before_q <= turn_q;
    queue_data_o <= data;
    queue_desc_o <= turn_about_q.desc;
  end

`ifndef SYNTHESIS
  ArHolds_A :
  assert property (@(posedge clk_ddr_i) disable iff (!rst_ddr_ni)
    axi_arvalid_o && !axi_arready_i |=> axi_arvalid_o && $stable(
      axi_araddr_o
  ));
  DataWasAsked_A :
  assert property (@(posedge clk_ddr_i) disable iff (!rst_ddr_ni) axi_rvalid_i |-> tag_valid);
  BeatIsNotLost_A :
  assert property (@(posedge clk_ddr_i) disable iff (!rst_ddr_ni)
    axi_rready_o |-> !beat_valid_q || uses_up);
  TailIsAlone_A :
  assert property (@(posedge clk_ddr_i) disable iff (!rst_ddr_ni) !(tail_q && turn_valid_q));
  CommandIsSound_A :
  assert property (@(posedge clk_ddr_i) disable iff (!rst_ddr_ni)
    command_valid_i |-> command_i.about.length != 0);
  CommandHolds_A :
  assert property (@(posedge clk_ddr_i) disable iff (!rst_ddr_ni)
    command_valid_i && !command_ready_o |=> command_valid_i && $stable(
      command_i
  ));
  DigestHolds_A :
  assert property (@(posedge clk_ddr_i) disable iff (!rst_ddr_ni)
    digest_req_valid_i && !digest_req_ready_o |=>
    digest_req_valid_i && $stable(
      digest_req_beat_i
  ));
  StreamHolds_A :
  assert property (@(posedge clk_ddr_i) disable iff (!rst_ddr_ni)
    stream_i && !stream_done_o |=> (stream_i || stream_done_o) && $stable(
      stream_job_i
  ));
`endif

  logic unused;
  assign unused = ^{axi_rresp_i[0], tag_valid, unused_tags, unused_frames};
endmodule
