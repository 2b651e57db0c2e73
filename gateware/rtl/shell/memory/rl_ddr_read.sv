// Everything that the shell reads from DDR: bytes for frames, configuration words, beats for the
// digest. AXI4 bursts of one beat each (ARLEN 0, ARSIZE 6, ARBURST INCR, one ID), several under way,
// never more than there is room for: what comes is taken at once.
//
// Beats of frames wait in a buffer until the frame's last is there; a beat of configuration words is a
// frame of its own. Then the frame's lanes, of a word's width each, are read one by one:
//
//   U0  a lane's place in the buffer
//   U1  the lane as it comes out of the buffer's RAM
//   U2  it and the lane before, which give a word of the frame, its first byte in the lowest place
//
// A beat that is answered with an error takes at least until U2 to be a word: from then on no word and no frame leaves
// this block, until rl_restart makes an end.
module rl_ddr_read
  import rl_shell_pkg::*;
#(
  parameter int unsigned DataW = 64,       // Bits of a frame's words: 64, 128, 256 or 512.
  parameter int unsigned Bulk = 32'(rl_wire_pkg::BulkStandard), // Most bytes of a fetch.
  parameter int unsigned Outstanding = 16  // Beats under way, at most; a power of two.
) (
  input  logic           clk_ddr_i,
  input  logic           rst_ddr_ni,

  input  logic           command_valid_i,
  output logic           command_ready_o,
  input  mem_read_command_t command_i,
  // Data queue's writing side: what was fetched, in order; bytes beyond the length are zero.
  input  logic           queue_room_i,     // For this frame, two others, and eight words.
  output logic           queue_word_o,
  output logic [DataW-1:0] queue_data_o,
  output logic           queue_commit_o,
  output read_desc_t       queue_desc_o,

  // Beats for the configuration port. They go into a queue in frames of a beat's words.
  input  logic           stream_i,         // Holds until stream_done_o, with the job.
  input  stream_t        stream_job_i,
  input  logic           stream_stop_i,    // Ask for no more.
  output logic           stream_done_o,    // What was asked for is in the queue. Holds until stream_i falls.
  input  logic           stream_room_i,    // For five frames.
  output logic           stream_word_o,
  output logic [DataW-1:0] stream_data_o,
  output logic           stream_commit_o,
  output logic           stream_last_o,    // With it: the last one.

  // The digest asks only for what it has room for.
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
  input  logic           axi_rvalid_i,
  output logic           axi_rready_o,
  input  logic [511:0]   axi_rdata_i,
  input  logic [1:0]     axi_rresp_i
);
  // Each frame under way has a slot of the buffer. One slot stays free, so that three are under way at
  // most: as many as the data queue has room for.
  localparam int unsigned SlotW = 2;
  localparam int unsigned PlaceW = $clog2((Bulk + 63) / 64 + 1);  // A beat's place in its slot.
  localparam int unsigned Bytes = DataW / 8;  // Of a word and of a lane.
  localparam int unsigned ByteW = $clog2(Bytes);
  localparam int unsigned PickW = 6 - ByteW;  // A lane's place in its beat.
  localparam int unsigned WordsW = $clog2(Bulk / Bytes + 1);
  typedef logic [SlotW-1:0] slot_t;
  typedef logic [PlaceW-1:0] place_t;

  // What is known of a frame, beside its beats.
  typedef struct packed {
    logic       stream;
    logic [5:0] start;   // Its first byte, in its first beat.
    read_desc_t   desc;
  } about_t;

  // -- whose turn it is. Three cycles for each beat that is asked for:
  //   choose   who asks
  //   adds_q   the address is summed up
  //   asked_q  AR is valid for the first time, and it is seen whether its frame needs another beat
  logic choose, adds_q, asked_q, tag_ready, slot_ready, more_q;
  logic can_stream, can_fetch, begin_fetch, ask_stream, ask_digest;
  logic fetch_q, stream_q;  // Who asks; else the digest.
  logic turn_q;  // The frame that was begun last is the stream's.
  assign choose = !axi_arvalid_o && !adds_q && tag_ready;
  assign can_fetch = command_valid_i && queue_room_i && slot_ready;
  // A fetch's beats are asked for in a row. Of other frames only three are under way: the digest gets its turn.
  assign ask_stream = choose && !more_q && can_stream && !(can_fetch && turn_q);
  assign begin_fetch = choose && !more_q && can_fetch && !(can_stream && !turn_q);
  assign ask_digest = choose && !more_q && !can_fetch && !can_stream && digest_req_valid_i;
  assign command_ready_o = begin_fetch;
  assign digest_req_ready_o = ask_digest;
  always_ff @(posedge clk_ddr_i) begin
    if (!rst_ddr_ni) begin
      adds_q <= 1'b0;
      asked_q <= 1'b0;
      axi_arvalid_o <= 1'b0;
    end else begin
      adds_q <= choose && (more_q || begin_fetch || ask_stream || ask_digest);
      asked_q <= adds_q;
      axi_arvalid_o <= adds_q || (axi_arvalid_o && !axi_arready_i);
    end
  end
  always_ff @(posedge clk_ddr_i) begin
    if (choose) begin
      fetch_q <= more_q || begin_fetch;
      stream_q <= ask_stream;
    end
    if (begin_fetch) turn_q <= 1'b0;
    else if (ask_stream) turn_q <= 1'b1;
  end

  // -- the address: the last one counts up, or a new one takes its place. All sources but one are zero, so
  // that they need no multiplexer.
  logic first_q;  // The stream has not asked yet.
  logic inc_q, unused_carry;
  beat_t beat_q, fetch_beat_q, first_beat_q, next_beat_q, digest_beat_q, sum;
  beat_t stream_beat_q;  // That the stream asked for last.
  // The lowest bits are there for their carry.
  assign {sum, unused_carry} = {beat_q | fetch_beat_q | next_beat_q | digest_beat_q, 1'b1} +
                               {first_beat_q, inc_q};
  assign axi_araddr_o = {beat_q, 6'd0};
  always_ff @(posedge clk_ddr_i) begin
    inc_q <= !(begin_fetch || ask_digest || (ask_stream && first_q));
    if (!begin_fetch) fetch_beat_q <= '0;
    else fetch_beat_q <= command_i.addr[AddrW-1:6];
    if (!(ask_stream && first_q)) first_beat_q <= '0;
    else first_beat_q <= stream_job_i.first;
    if (!(ask_stream && !first_q)) next_beat_q <= '0;
    else next_beat_q <= stream_beat_q;
    if (!ask_digest) digest_beat_q <= '0;
    else digest_beat_q <= digest_req_beat_i;
    // Chosen is only while AR is not valid.
    if (choose && !more_q) beat_q <= '0;
    else if (adds_q) beat_q <= sum;
    if (asked_q && stream_q) stream_beat_q <= beat_q;
  end

  // -- what is known of a frame goes into its slot when it has begun
  logic begun_q, aligned_q, at_end, last;
  about_t begun_about_q, about;
  slot_t
      begun_slot_q, whole_slot_q, slot_q;  // Of the next frame to begin, to be whole, to be read.
  place_t end_q, place;  // The beat in which a fetch's bytes have ended, or before which.
  logic [PlaceW+5:0] bytes_end;
  assign slot_ready = slot_t'(begun_slot_q + 1'b1) != slot_q;
  assign bytes_end = {fetch_beat_q[PlaceW-1:0], begun_about_q.start} + (PlaceW + 6)'(begun_about_q.desc.length);
  // Nothing is chosen when AR becomes valid: the sum is the next beat.
  assign place = aligned_q ? sum[PlaceW-1:0] : beat_q[PlaceW-1:0];
  assign at_end = place == end_q;
  assign last = !fetch_q || at_end;
  always_ff @(posedge clk_ddr_i) begin
    if (!rst_ddr_ni) begin
      begun_q <= 1'b0;
      begun_slot_q <= '0;
      more_q <= 1'b0;
    end else begin
      begun_q <= begin_fetch || ask_stream;
      if (begun_q) begun_slot_q <= begun_slot_q + 1'b1;
      if (asked_q) more_q <= !last;
    end
  end
  always_ff @(posedge clk_ddr_i) begin
    if (!begin_fetch)
      begun_about_q <= '{stream: 1'b1, start: '0, desc: '{length: 14'd64, default: '0}};
    else begun_about_q <= '{stream: 1'b0, start: command_i.addr[5:0], desc: command_i.about};
    if (begun_q) begin
      end_q <= bytes_end[PlaceW+5:6];
      aligned_q <= bytes_end[5:0] == 0;
    end
  end
  rl_lutram #(
    .Width($bits(about_t)),
    .Depth(1 << SlotW)
  ) u_about (
    .clk_i(clk_ddr_i),
    .we_i(begun_q),
    .waddr_i(begun_slot_q),
    .wdata_i(begun_about_q),
    .raddr_i(slot_q),
    .rdata_o(about)
  );

  // -- the stream
  logic stream_busy_q, asking_q, begin_stream;
  slot_t stream_beats_q;  // Under way.
  assign begin_stream = stream_i && !stream_busy_q && !stream_done_o;
  assign can_stream = asking_q && stream_room_i && slot_ready;
  always_ff @(posedge clk_ddr_i) begin
    if (!rst_ddr_ni) begin
      stream_busy_q <= 1'b0;
      asking_q <= 1'b0;
      stream_beats_q <= '0;
      stream_done_o <= 1'b0;
    end else begin
      if (ask_stream != stream_commit_o)
        stream_beats_q <= ask_stream ? stream_beats_q + 1'b1 : stream_beats_q - 1'b1;
      if (begin_stream) asking_q <= 1'b1;
      else if (stream_stop_i || (asked_q && stream_q && beat_q[21:0] == stream_job_i.last))
        asking_q <= 1'b0;
      stream_busy_q <= begin_stream || (stream_busy_q && !stream_done_o);
      stream_done_o <= stream_i && (stream_done_o ||
                                    (stream_busy_q && !asking_q && stream_beats_q == 0));
    end
  end
  always_ff @(posedge clk_ddr_i) begin
    if (begin_stream) first_q <= 1'b1;
    else if (ask_stream) first_q <= 1'b0;
  end

  // -- what comes is for the digest, or goes into the buffer
  typedef struct packed {
    logic stored;
    logic last;    // Of its frame.
  } tag_t;
  tag_t tag;
  logic tag_valid, stores_q, completes_q, fails;
  place_t place_q;  // Of the beat in its slot.
  logic [511:0] data_q;
  logic [$clog2(Outstanding):0] unused_tags;
  rl_fifo #(
    .Width($bits(tag_t)),
    .Depth(Outstanding)
  ) u_tags (
    .clk_i(clk_ddr_i),
    .rst_ni(rst_ddr_ni),
    .wvalid_i(asked_q),
    .wready_o(tag_ready),
    .wdata_i({fetch_q || stream_q, last}),
    .rvalid_o(tag_valid),
    .rready_i(axi_rvalid_i),
    .rdata_o(tag),
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
      place_q <= '0;
      whole_slot_q <= '0;
    end else begin
      stores_q <= axi_rvalid_i && tag.stored;
      digest_data_valid_o <= axi_rvalid_i && !tag.stored && !fails;
      failed_o <= fails;
      if (stores_q && completes_q) place_q <= '0;
      else if (stores_q) place_q <= place_q + 1'b1;
      if (stores_q && completes_q) whole_slot_q <= whole_slot_q + 1'b1;
    end
  end
  always_ff @(posedge clk_ddr_i) begin
    data_q <= axi_rdata_i;
    completes_q <= tag.last;
  end

  // -- U0. A frame of n words takes n + 1 lanes, of which the last one may lie behind its end: then no byte
  // of it is kept. There is a cycle between two frames.
  logic open_q, ends, hit, hit_q;
  logic inside_q;  // Not its first lane.
  about_t about_q;
  logic [PlaceW+PickW-1:0] lane_at_q;   // In the slot.
  logic [WordsW-1:0] word_at_q;   // Lanes before this one.
  logic [DataW-1:0] lane;
  logic [ByteW-1:0] behind;       // Where the frame ends in its last word; 0: with it.
  assign behind = about_q.desc.length[ByteW-1:0];
  assign hit = word_at_q == about_q.desc.length[ByteW+:WordsW];
  assign ends = open_q && (behind == 0 ? hit : hit_q);
  always_ff @(posedge clk_ddr_i) begin
    if (!rst_ddr_ni) begin
      open_q <= 1'b0;
      slot_q <= '0;
    end else begin
      open_q <= open_q ? !ends : slot_q != whole_slot_q;
      if (ends) slot_q <= slot_q + 1'b1;
    end
  end
  always_ff @(posedge clk_ddr_i) begin
    inside_q <= open_q && !ends;
    hit_q <= open_q && hit;
    if (!open_q) word_at_q <= '0;
    else word_at_q <= word_at_q + 1'b1;
    if (!open_q) lane_at_q <= (PlaceW + PickW)'(7'(about.start) >> ByteW);
    else lane_at_q <= lane_at_q + 1'b1;
    if (!open_q) about_q <= about;
  end
  rl_ram_lanes #(
    .LaneW(DataW),
    .Depth(1 << (SlotW + PlaceW))
  ) u_buffer (
    .clk_i(clk_ddr_i),
    .we_i(stores_q),
    .waddr_i({whole_slot_q, place_q}),
    .wdata_i(data_q),
    .raddr_i({slot_q, lane_at_q}),
    .rdata_o(lane)
  );

  // -- U1, U2
  logic word_1_q, word_2_q, ends_1_q, ends_2_q, stream_2_q;
  logic [Bytes-1:0] drop_1_q, drop_2_q;  // Bytes behind the frame's end.
  logic [Bytes:0] back_q;
  logic [DataW-1:0] lane_q, before_q, word;
  rl_funnel #(
    .Bytes(Bytes)
  ) u_funnel (
    .low_i(before_q),
    .high_i(lane_q),
    .back_i(back_q),
    .data_o(word)
  );
  always_ff @(posedge clk_ddr_i) begin
    if (!rst_ddr_ni) begin
      word_1_q <= 1'b0;
      word_2_q <= 1'b0;
      ends_1_q <= 1'b0;
      ends_2_q <= 1'b0;
      queue_word_o <= 1'b0;
      queue_commit_o <= 1'b0;
      stream_word_o <= 1'b0;
      stream_commit_o <= 1'b0;
    end else begin
      word_1_q <= open_q && inside_q;
      word_2_q <= word_1_q;
      ends_1_q <= ends;
      ends_2_q <= ends_1_q;
      queue_word_o <= word_2_q && !stream_2_q && !failed_o;
      queue_commit_o <= ends_2_q && !stream_2_q && !failed_o;
      stream_word_o <= word_2_q && stream_2_q && !failed_o;
      stream_commit_o <= ends_2_q && stream_2_q && !failed_o;
    end
  end
  always_ff @(posedge clk_ddr_i) begin
    // What is known of a frame lasts until the cycle after its end.
    stream_2_q <= about_q.stream;
    stream_last_o <= !asking_q && stream_beats_q == slot_t'(1);
    back_q <= {1'b1, Bytes'(0)} >> about_q.start[ByteW-1:0];
    for (int i = 0; i < Bytes; i++) drop_1_q[i] <= ends && behind != 0 && ByteW'(i) >= behind;
    drop_2_q <= drop_1_q;
    if (ends) queue_desc_o <= about_q.desc;
    lane_q <= lane;
    before_q <= lane_q;
    for (int i = 0; i < Bytes; i++) begin
      if (drop_2_q[i]) queue_data_o[8*i+:8] <= '0;
      else queue_data_o[8*i+:8] <= word[8*i+:8];
    end
  end
  assign stream_data_o = queue_data_o;

`ifndef SYNTHESIS
  ArHolds_A :
  assert property (@(posedge clk_ddr_i) disable iff (!rst_ddr_ni)
    axi_arvalid_o && !axi_arready_i |=> axi_arvalid_o && $stable(
      axi_araddr_o
  ));
  DataWasAsked_A :
  assert property (@(posedge clk_ddr_i) disable iff (!rst_ddr_ni) axi_rvalid_i |-> tag_valid);
  // Of the sources of an address one has it.
  OneAsks_A :
  assert property (@(posedge clk_ddr_i) disable iff (!rst_ddr_ni) $onehot0(
      {choose && more_q, begin_fetch, ask_stream, ask_digest}
  ));
  BufferHasSlot_A :
  assert property (@(posedge clk_ddr_i) disable iff (!rst_ddr_ni)
    stores_q |-> slot_t'(whole_slot_q + 1'b1) != slot_q);
  CommandIsSound_A :
  assert property (@(posedge clk_ddr_i) disable iff (!rst_ddr_ni)
    command_valid_i |-> command_i.about.length != 0 && command_i.about.length <= 14'(Bulk));
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
  assign unused = ^{axi_rresp_i[0], tag_valid, unused_tags, unused_carry};
endmodule
