// As rl_ddr_read, for wide words: a fetch is asked for in bursts of up to 4 KiB, and a word leaves each cycle. As many
// bytes are under way as the queue has room for; what was asked for is taken at once.
//
// What comes goes on before its frame is whole: at 512 bits a beat is a word's lane, with narrower words beats wait in
// a ring until their lanes were read.
//
//   L  a lane comes, and it is known what is its place in its frame
//   M  the lane, and the one before: they give a word of the frame, its first byte in the lowest place
//
// A frame of n words has n lanes or one more. If it has n, its last word leaves when the next frame's first lane comes,
// which gives no word, or in the next cycle. A beat that is answered with an error takes at least until M to be a word:
// from then on no word and no frame leaves this block, until rl_restart makes an end.
module rl_ddr_read_bursts
  import rl_shell_pkg::*;
#(
  parameter int unsigned DataW = 512,      // Bits of a frame's words: 128, 256 or 512.
  parameter int unsigned Bulk = 32'(rl_wire_pkg::BulkStandard), // Most bytes of a fetch.
  parameter int unsigned Room = 128,       // Words for which queue_room_i stands; two longest fetches are good.
  parameter int unsigned Burst = 64,       // Beats of a burst, at most: a power of two up to 64.
  parameter int unsigned Outstanding = 64  // Bursts under way, at most; a power of two.
) (
  input  logic           clk_ddr_i,
  input  logic           rst_ddr_ni,

  // As of rl_ddr_read.
  input  logic           command_valid_i,
  output logic           command_ready_o,
  input  mem_read_command_t command_i,
  input  logic           queue_room_i,     // For Room words.
  output logic           queue_word_o,
  output logic [DataW-1:0] queue_data_o,
  output logic           queue_commit_o,
  output read_desc_t     queue_desc_o,

  input  logic           stream_i,
  input  stream_t        stream_job_i,
  input  logic           stream_stop_i,
  output logic           stream_done_o,
  input  logic           stream_room_i,    // For five frames.
  output logic           stream_word_o,
  output logic [DataW-1:0] stream_data_o,
  output logic           stream_commit_o,
  output logic           stream_last_o,

  input  logic           digest_req_valid_i,
  output logic           digest_req_ready_o,
  input  beat_t          digest_req_beat_i,
  output logic           digest_data_valid_o,
  output beat_data_t     digest_data_o,

  output logic           failed_o,         // A read was answered with an error, since reset.
  output logic           waits_o,          // A read was not answered yet.

  output logic           axi_arvalid_o,
  input  logic           axi_arready_i,
  output addr_t          axi_araddr_o,
  output logic [7:0]     axi_arlen_o,
  input  logic           axi_rvalid_i,
  output logic           axi_rready_o,
  input  logic [511:0]   axi_rdata_i,
  input  logic [1:0]     axi_rresp_i,
  input  logic           axi_rlast_i
);
  localparam int unsigned Bytes = DataW / 8;  // Of a word and of a lane.
  localparam int unsigned ByteW = $clog2(Bytes);
  localparam int unsigned Lanes = 64 / Bytes;  // Of a beat.
  localparam int unsigned PickW = Lanes > 1 ? $clog2(Lanes) : 1;
  localparam int unsigned FrameWords = (Bulk + Bytes - 1) / Bytes;
  localparam int unsigned CountW = $clog2(FrameWords + 2);  // Counts a frame's lanes.
  localparam int unsigned RoomW = $clog2(Room + 1);
  localparam int unsigned BurstW = $clog2(Burst);
  localparam int unsigned Frames = 16;  // Begun and not ended.
  // Beats that wait, with words of less than 512 bits: those of Room words, and of each frame two in part.
  localparam int unsigned Ring = 1 << $clog2(Room * Bytes / 64 + 2 * Frames);
  if (DataW == 64 || Room < FrameWords || Burst > 64 || Burst != 1 << BurstW) begin : gen_check
    $fatal(
        0, "rl_ddr_read_bursts: a longest fetch must fit into Room; bursts have up to 64 beats (%m)"
    );
  end

  // What is known of a frame.
  typedef struct packed {
    logic              stream;
    logic [PickW-1:0]  pick;    // Its first lane in its first beat.
    logic [ByteW-1:0]  start;   // Its first byte, in its first lane.
    logic [ByteW-1:0]  behind;  // Where it ends in its last word; 0: with it.
    logic [CountW-1:0] after;   // Lanes after the first.
    logic              tail;    // As many lanes as words.
    read_desc_t        desc;
  } about_t;

  // -- whose turn it is. All who ask take turns.
  //   Choose  who asks
  //   Count   a fetch: its beats, words and lanes; it goes into the queue of frames
  //   Size    the next burst
  //   Ask     AR is valid
  typedef enum logic [1:0] {
    Choose = 2'd0,
    Count  = 2'd1,
    Size   = 2'd2,
    Ask    = 2'd3
  } state_e;
  typedef struct packed {
    logic digest;
    logic stream;
    logic fetch;
  } who_t;
  state_e state_q;
  who_t wants, later, grant, who_q;
  logic choose, can_stream, tag_ready, frames_ready, fits_q, sized, asks, more;
  assign choose = state_q == Choose && frames_ready;
  assign wants = '{
          digest: digest_req_valid_i,
          stream: can_stream,
          fetch: command_valid_i && queue_room_i && fits_q
      };
  assign later = wants & ~(who_q | (who_q - 1'b1));
  assign grant = !choose ? '0 : later != 0 ? later & (~later + 1'b1) : wants & (~wants + 1'b1);
  assign command_ready_o = grant.fetch;
  assign digest_req_ready_o = grant.digest;
  assign sized = state_q == Size && tag_ready;
  assign asks = axi_arvalid_o && axi_arready_i;
  assign axi_arvalid_o = state_q == Ask;
  always_ff @(posedge clk_ddr_i) begin
    if (!rst_ddr_ni) begin
      state_q <= Choose;
      who_q <= '0;
    end else begin
      unique case (state_q)
        Choose: if (grant != 0) state_q <= grant.fetch ? Count : Size;
        Count: state_q <= Size;
        Size: if (sized) state_q <= Ask;
        Ask: if (asks) state_q <= more ? Size : Choose;
        default: state_q <= Choose;
      endcase
      if (grant != 0) who_q <= grant;
    end
  end

  // -- the burst: up to where the fetch ends, or the address's next multiple of the longest burst
  logic [13:0] length_q;
  logic [5:0] start_q;
  read_desc_t desc_q;
  beat_t beat_q, stream_beat_q;
  logic first_q;  // The stream has not asked yet.
  localparam int unsigned LeftW = 9;  // A length has 14 bits.
  logic [LeftW-1:0] left_q;  // Beats after the next one.
  logic [14:0] last_byte;    // Of the fetch, from its first beat's start.
  logic [BurstW-1:0] to_border, len, len_q;
  assign last_byte = {9'd0, start_q} + {1'b0, length_q} - 15'd1;
  assign to_border = ~beat_q[BurstW-1:0];
  assign len = left_q > LeftW'(to_border) ? to_border : left_q[BurstW-1:0];
  assign more = left_q != LeftW'(len_q);
  assign axi_araddr_o = {beat_q, 6'd0};
  assign axi_arlen_o = 8'(len_q);
  always_ff @(posedge clk_ddr_i) begin
    if (grant.fetch) begin
      length_q <= command_i.about.length;
      start_q <= command_i.addr[5:0];
      desc_q <= command_i.about;
    end
    if (state_q == Choose) begin
      left_q <= '0;
      if (grant.fetch) beat_q <= command_i.addr[AddrW-1:6];
      else if (grant.stream) beat_q <= first_q ? stream_job_i.first : stream_beat_q + 1'b1;
      else beat_q <= digest_req_beat_i;
    end else if (state_q == Count) begin
      left_q <= LeftW'(last_byte >> 6);
    end else if (asks) begin
      left_q <= left_q - LeftW'(len_q) - 1'b1;
      beat_q <= {beat_q[BeatW-1:BurstW] + 1'b1, BurstW'(0)};
    end
    if (state_q == Size) len_q <= len;
    if (asks && who_q.stream) stream_beat_q <= beat_q;
  end

  // -- room in the queue. What was pushed counts there two cycles later.
  logic pushed_q;
  logic [RoomW-1:0] promised_q, words;
  assign words = RoomW'((14'(length_q) + 14'(Bytes - 1)) >> ByteW);
  always_ff @(posedge clk_ddr_i) begin
    if (!rst_ddr_ni) begin
      promised_q <= '0;
      pushed_q <= 1'b0;
      fits_q <= 1'b0;
    end else begin
      promised_q <= promised_q + (state_q == Count ? words : '0) - RoomW'(pushed_q);
      pushed_q <= queue_word_o;
      fits_q <= promised_q <= RoomW'(Room - FrameWords);
    end
  end

  // -- frames, in the order in which they were asked for
  about_t begun, about;
  logic frame_valid, frame_ends, frame_push;
  logic [$clog2(Frames):0] unused_frames;
  logic [ByteW-1:0] end_in_lane;
  logic [14:0] lanes_after;
  assign end_in_lane = ByteW'(length_q - 1'b1);
  // The last word's lane has its bytes and those before it.
  assign lanes_after = (15'(start_q[ByteW-1:0]) + 15'(length_q) - 15'd1) >> ByteW;
  assign frame_push = state_q == Count || grant.stream;
  always_comb begin
    begun = '{
        stream: 1'b0,
        pick: PickW'(7'(start_q) >> ByteW),
        start: start_q[ByteW-1:0],
        behind: length_q[ByteW-1:0],
        after: CountW'(lanes_after),
        tail: {1'b0, end_in_lane} + {1'b0, start_q[ByteW-1:0]} < (ByteW + 1)'(Bytes),
        desc: desc_q
    };
    if (grant.stream)
      begun = '{
          stream: 1'b1,
          pick: '0,
          start: '0,
          behind: '0,
          after: CountW'(Lanes - 1),
          tail: 1'b1,
          desc: '{length: 14'd64, default: '0}
      };
  end
  rl_fifo #(
    .Width($bits(about_t)),
    .Depth(Frames)
  ) u_frames (
    .clk_i(clk_ddr_i),
    .rst_ni(rst_ddr_ni),
    .wvalid_i(frame_push),
    .wready_o(frames_ready),
    .wdata_i(begun),
    .rvalid_o(frame_valid),
    .rready_i(frame_ends),
    .rdata_o(about),
    .count_o(unused_frames)
  );

  // -- the stream. Three frames of it are under way, at most.
  logic stream_busy_q, asking_q, begin_stream, stream_ends;
  logic [1:0] stream_beats_q;
  assign begin_stream = stream_i && !stream_busy_q && !stream_done_o;
  assign can_stream = asking_q && stream_room_i && stream_beats_q != '1;
  always_ff @(posedge clk_ddr_i) begin
    if (!rst_ddr_ni) begin
      stream_busy_q <= 1'b0;
      asking_q <= 1'b0;
      stream_beats_q <= '0;
      stream_done_o <= 1'b0;
    end else begin
      stream_beats_q <= stream_beats_q + 2'(grant.stream) - 2'(stream_ends);
      if (begin_stream) asking_q <= 1'b1;
      else if (stream_stop_i || (state_q == Size && who_q.stream && beat_q[21:0] == stream_job_i.last))
        asking_q <= 1'b0;
      stream_busy_q <= begin_stream || (stream_busy_q && !stream_done_o);
      stream_done_o <= stream_i && (stream_done_o ||
                                    (stream_busy_q && !asking_q && stream_beats_q == 0));
    end
  end
  always_ff @(posedge clk_ddr_i) begin
    if (begin_stream) first_q <= 1'b1;
    else if (grant.stream) first_q <= 1'b0;
  end

  // -- what comes is for the digest, or a frame's
  logic stored, tag_valid, stores_q, fails;
  beat_data_t data_q;
  logic [$clog2(Outstanding):0] unused_tags;
  rl_fifo #(
    .Width(1),
    .Depth(Outstanding)
  ) u_tags (
    .clk_i(clk_ddr_i),
    .rst_ni(rst_ddr_ni),
    .wvalid_i(sized),
    .wready_o(tag_ready),
    .wdata_i(!who_q.digest),
    .rvalid_o(tag_valid),
    .rready_i(axi_rvalid_i && axi_rlast_i),
    .rdata_o(stored),
    .count_o(unused_tags)
  );
  assign axi_rready_o = 1'b1;
  assign waits_o = tag_valid;
  assign fails = failed_o || (axi_rvalid_i && axi_rresp_i[1]);
  assign digest_data_o = data_q;
  always_ff @(posedge clk_ddr_i) begin
    if (!rst_ddr_ni) begin
      stores_q <= 1'b0;
      digest_data_valid_o <= 1'b0;
      failed_o <= 1'b0;
    end else begin
      stores_q <= axi_rvalid_i && stored;
      digest_data_valid_o <= axi_rvalid_i && !stored && !fails;
      failed_o <= fails;
    end
  end
  always_ff @(posedge clk_ddr_i) data_q <= axi_rdata_i;

  // -- L. A lane's place in its frame.
  typedef struct packed {
    logic   first;
    logic   last;
    about_t about;
  } place_t;
  logic steps, inside_q;
  logic [CountW-1:0] after_q, after;
  place_t place, lane_place;
  logic lane_valid;
  logic [DataW-1:0] lane;
  assign after = inside_q ? after_q : about.after;
  assign place = '{first: !inside_q, last: after == 0, about: about};
  assign frame_ends = steps && place.last;
  always_ff @(posedge clk_ddr_i) begin
    if (!rst_ddr_ni) inside_q <= 1'b0;
    else if (steps) inside_q <= !place.last;
  end
  always_ff @(posedge clk_ddr_i) if (steps) after_q <= after - 1'b1;

  if (Lanes == 1) begin : gen_beats
    assign steps = stores_q;
    assign lane_valid = steps;
    assign lane_place = place;
    assign lane = data_q;
    logic unused;
    assign unused = ^about.pick;
  end else begin : gen_ring
    localparam int unsigned RingW = $clog2(Ring);
    logic [RingW:0] wptr_q, rptr_q;
    logic [PickW-1:0] pick_q, pick;
    logic frees, lane_valid_q;
    place_t read_q;
    assign steps = wptr_q != rptr_q;
    assign pick = inside_q ? pick_q : about.pick;
    // The rest of a frame's last beat is nobody's.
    assign frees = steps && (place.last || pick == '1);
    always_ff @(posedge clk_ddr_i) begin
      if (!rst_ddr_ni) begin
        wptr_q <= '0;
        rptr_q <= '0;
        lane_valid_q <= 1'b0;
      end else begin
        if (stores_q) wptr_q <= wptr_q + 1'b1;
        if (frees) rptr_q <= rptr_q + 1'b1;
        lane_valid_q <= steps;
      end
    end
    always_ff @(posedge clk_ddr_i) begin
      if (steps) pick_q <= pick + 1'b1;
      read_q <= place;
    end
    rl_ram_lanes #(
      .LaneW(DataW),
      .Depth(Ring)
    ) u_ring (
      .clk_i(clk_ddr_i),
      .we_i(stores_q),
      .waddr_i(wptr_q[RingW-1:0]),
      .wdata_i(data_q),
      .raddr_i({rptr_q[RingW-1:0], pick}),
      .rdata_o(lane)
    );
    assign lane_valid = lane_valid_q;
    assign lane_place = read_q;
`ifndef SYNTHESIS
    always_ff @(posedge clk_ddr_i)
      if (rst_ddr_ni && stores_q)
        RingHasRoom_A : assert ((RingW + 1)'(wptr_q - rptr_q) < (RingW + 1)'(Ring));
`endif
  end

  // -- M. `frame_q` and what goes with it are of the lane before.
  logic valid_q, tail_q, emits, ends;
  place_t place_q;
  about_t frame_q;
  logic [DataW-1:0] lane_q, before_q, word;
  logic [Bytes:0] back_q;
  logic [Bytes-1:0] keep_q;  // The last word's bytes.
  rl_funnel #(
    .Bytes(Bytes)
  ) u_funnel (
    .low_i(before_q),
    .high_i(lane_q),
    .back_i(back_q),
    .data_o(word)
  );
  assign emits = tail_q || (valid_q && !place_q.first);
  assign ends = tail_q || (emits && place_q.last && !frame_q.tail);
  assign stream_ends = ends && frame_q.stream && !failed_o;
  always_ff @(posedge clk_ddr_i) begin
    if (!rst_ddr_ni) begin
      valid_q <= 1'b0;
      tail_q <= 1'b0;
      queue_word_o <= 1'b0;
      queue_commit_o <= 1'b0;
      stream_word_o <= 1'b0;
      stream_commit_o <= 1'b0;
    end else begin
      valid_q <= lane_valid;
      tail_q <= valid_q && place_q.last && place_q.about.tail;
      queue_word_o <= emits && !frame_q.stream && !failed_o;
      queue_commit_o <= ends && !frame_q.stream && !failed_o;
      stream_word_o <= emits && frame_q.stream && !failed_o;
      stream_commit_o <= stream_ends;
    end
  end
  always_ff @(posedge clk_ddr_i) begin
    place_q <= lane_place;
    lane_q <= lane;
    if (valid_q) begin
      before_q <= lane_q;
      frame_q <= place_q.about;
      back_q <= {1'b1, Bytes'(0)} >> place_q.about.start;
      for (int i = 0; i < Bytes; i++)
      keep_q[i] <= place_q.about.behind == 0 || ByteW'(i) < place_q.about.behind;
    end
    queue_desc_o <= frame_q.desc;
    stream_last_o <= !asking_q && stream_beats_q == 2'd1;
    for (int i = 0; i < Bytes; i++) queue_data_o[8*i+:8] <= ends && !keep_q[i] ? '0 : word[8*i+:8];
  end
  assign stream_data_o = queue_data_o;

`ifndef SYNTHESIS
  ArHolds_A :
  assert property (@(posedge clk_ddr_i) disable iff (!rst_ddr_ni)
    axi_arvalid_o && !axi_arready_i |=> axi_arvalid_o && $stable(
      {axi_araddr_o, axi_arlen_o}
  ));
  always_ff @(posedge clk_ddr_i) begin
    if (rst_ddr_ni) begin
      if (axi_rvalid_i) DataWasAsked_A : assert (tag_valid);
      if (axi_arvalid_o)
        BurstStaysInItsPage_A : assert (13'(beat_q[5:0]) + 13'(axi_arlen_o) < 13'd64);
      if (steps) LaneHasItsFrame_A : assert (frame_valid);
      if (frame_push) FrameHasRoom_A : assert (frames_ready);
      if (tail_q && valid_q) TailIsBeforeTheNext_A : assert (place_q.first);
      PromisesAreKept_A : assert (promised_q <= RoomW'(Room));
      if (command_valid_i)
        CommandIsSound_A :
        assert (command_i.about.length != 0 && command_i.about.length <= 14'(Bulk));
    end
  end
  CommandHolds_A :
  assert property (@(posedge clk_ddr_i) disable iff (!rst_ddr_ni)
    command_valid_i && !command_ready_o |=> command_valid_i && $stable(
      command_i
  ));
`endif

  logic unused;
  assign unused = ^{axi_rresp_i[0], tag_valid, frame_valid, unused_frames, unused_tags, lanes_after, frame_q.pick,
                    frame_q.start, frame_q.behind, frame_q.after};
endmodule
