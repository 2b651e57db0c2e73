// Everything that the shell writes to DDR: frames of the memory and the configuration queue, chaining
// values of the digest, and zeros. One at a time, a word a cycle, through one funnel and one packer into
// beats of 512 bits with strobes. A beat has as many lanes as a word fits into it.
//
//   T0  a queue shows a word, and it is taken
//   T1  the word as it comes out of the queue's RAM
//   T2  joined with what the word before left over: the frame's first byte stands where its address says
//   T3  in one of the beat's lanes
//   T4  the beat on the bus
//
// What is taken is never held up: a beat is only begun when its place in T3 will be free in time.
//
// AXI4: each beat is a burst of its own (AWLEN 0, AWSIZE 6, AWBURST INCR, WLAST 1, one ID), so that
// responses come in order. Frames whose beats are all answered are counted.
//
// From the first answer on that is an error no frame counts as written any more, and no beat of zeros follows: what
// waits for a write waits until rl_restart makes an end.
module rl_ddr_write
  import rl_shell_pkg::*;
#(
  parameter int unsigned DataW = 64,       // Bits of a frame's words: 64, 128, 256 or 512.
  parameter int unsigned Bulk = 32'(rl_wire_pkg::BulkStandard), // Most bytes of a frame.
  parameter int unsigned Outstanding = 16  // Beats not answered yet, at most; a power of two.
) (
  input  logic         clk_ddr_i,
  input  logic         rst_ddr_ni,

  // The memory queue's reading side.
  input  logic         mem_valid_i,
  input  write_desc_t       mem_desc_i,
  input  logic         mem_skip_i,           // It is not to be written: only take its words.
  output logic         mem_done_o,
  output logic         mem_take_o,
  input  logic [DataW-1:0] mem_data_i,
  input  logic         mem_ready_i,
  // The configuration queue's.
  input  logic         image_valid_i,
  input  write_desc_t       image_desc_i,         // Its address is a multiple of 64.
  output logic         image_done_o,
  output logic         image_take_o,
  input  logic [DataW-1:0] image_data_i,
  input  logic         image_ready_i,
  // Chaining values: four words each, to an address that is a multiple of 32 and holds with all four. Values one
  // behind the other are one frame.
  input  logic         value_valid_i,
  output logic         value_ready_o,
  input  addr_t        value_addr_i,
  input  logic [63:0]  value_data_i,
  input  logic         value_more_i,         // With a value's last word: one comes that belongs right behind it.
  output logic         value_written_o,      // One more such frame is in memory.
  // Zeros. Nothing else is written meanwhile: nobody owns the card.
  input  logic         scrub_i,              // Holds until scrub_done_o, with the next two.
  input  beat_t        scrub_first_i,
  input  beat_t        scrub_last_i,         // The last beat, not before the first.
  output logic         scrub_done_o,         // Holds until scrub_i falls.

  // Frames in memory, in Gray code, for the network's domain.
  output logic [7:0]   mem_written_gray_o,
  output logic [7:0]   image_written_gray_o,
  output logic         failed_o,             // A write was answered with an error, since reset.
  output logic         waits_o,              // A write was not answered yet.

  output logic         axi_awvalid_o,
  input  logic         axi_awready_i,
  output addr_t        axi_awaddr_o,
  output logic         axi_wvalid_o,
  input  logic         axi_wready_i,
  output logic [511:0] axi_wdata_o,
  output logic [63:0]  axi_wstrb_o,
  input  logic         axi_bvalid_i,
  output logic         axi_bready_o,
  input  logic [1:0]   axi_bresp_i
);
  typedef enum logic [1:0] {
    SourceMem   = 2'd0,
    SourceImage = 2'd1,
    SourceValue = 2'd2,
    SourceScrub = 2'd3
  } source_e;
  localparam int unsigned Bytes = DataW / 8;  // Of a word and of a lane.
  localparam int unsigned ByteW = $clog2(Bytes);
  localparam int unsigned Lanes = 512 / DataW;
  localparam int unsigned LaneW = Lanes > 1 ? $clog2(Lanes) : 1;
  typedef logic [LaneW-1:0] lane_t;
  // Bytes of a frame, counted from the start of its first lane.
  localparam int unsigned SpanW = $clog2(Bulk + Bytes);
  typedef logic [SpanW-1:0] span_t;
  localparam span_t ValueBytes = span_t'(32);
  localparam span_t BeatBytes = span_t'(64);

  // -- T0: which frame, and its words
  typedef enum logic [1:0] {
    Choose = 2'd0,
    Begin  = 2'd1,
    Run    = 2'd2,
    Scrub  = 2'd3        // The beat of zeros repeats.
  } state_e;
  typedef struct packed {
    logic  skip;
    addr_t addr;
    span_t length;
  } frame_t;
  state_e state_q;
  source_e source, next_q, source_q;  // Offered; chosen; whose frame is under way.
  logic
      choose,
      offered,
      offers_mem,
      offers_image,
      offers_value,
      offers_scrub,
      chosen_q,
      begins,
      ends,
      last_lane;
  frame_t mem_frame_q, image_frame_q, value_frame_q, scrub_frame_q, frame;

  // Chaining values. At 64 bits those that are one frame are written as one; as wider words each is a frame of its
  // own, of which the last one counts.
  logic value_offered, value_there, value_more, value_take, joins;
  addr_t value_addr;
  logic [DataW-1:0] value_data;
  if (DataW == 64) begin : gen_values
    assign value_offered = value_valid_i;
    assign value_there = value_valid_i;
    assign value_addr = value_addr_i;
    assign value_data = value_data_i;
    assign value_more = 1'b0;
    assign value_ready_o = value_take;
    assign joins = source_q == SourceValue;
  end else begin : gen_wide_values
    rl_value_pack #(
      .DataW(DataW)
    ) u_pack (
      .clk_i(clk_ddr_i),
      .rst_ni(rst_ddr_ni),
      .valid_i(value_valid_i),
      .ready_o(value_ready_o),
      .addr_i(value_addr_i),
      .data_i(value_data_i),
      .more_i(value_more_i),
      .valid_o(value_offered),
      .take_i(value_take),
      .addr_o(value_addr),
      .data_o(value_data),
      .more_o(value_more)
    );
    assign value_there = value_offered;
    assign joins = 1'b0;
  end

  // While a frame is under way, the next one is chosen from another source: its own still shows this one. So
  // nothing lies between the two.
  assign choose = state_q == Choose || (state_q == Run && !chosen_q && source_q != SourceScrub);
  assign offers_mem = mem_valid_i && !(state_q == Run && source_q == SourceMem);
  assign offers_image = image_valid_i && !(state_q == Run && source_q == SourceImage);
  assign offers_value = value_offered && !(state_q == Run && source_q == SourceValue);
  assign offers_scrub = scrub_i && !scrub_done_o && state_q == Choose;
  assign offered = offers_value || offers_mem || offers_image || offers_scrub;
  always_comb begin
    // The digest cannot keep up with the network: it cannot starve it either. Zeros come only when all is quiet.
    if (offers_value) source = SourceValue;
    else if (offers_mem) source = SourceMem;
    else if (offers_image) source = SourceImage;
    else source = SourceScrub;
  end
  // All but the chosen one are zero, so that they need no multiplexer.
  assign frame = mem_frame_q | image_frame_q | value_frame_q | scrub_frame_q;
  always_ff @(posedge clk_ddr_i) begin
    if (choose) begin
      next_q <= source;
      if (source != SourceMem) mem_frame_q <= '0;
      else
        mem_frame_q <= '{
            skip: mem_skip_i,
            addr: mem_desc_i.addr,
            length: span_t'(mem_desc_i.length)
        };
      if (source != SourceImage) image_frame_q <= '0;
      else
        image_frame_q <= '{
            skip: 1'b0,
            addr: {image_desc_i.addr[AddrW-1:6], 6'd0},
            length: span_t'(image_desc_i.length)
        };
      if (source != SourceValue) value_frame_q <= '0;
      else
        value_frame_q <= '{skip: 1'b0, addr: {value_addr[AddrW-1:5], 5'd0}, length: ValueBytes};
      if (source != SourceScrub) scrub_frame_q <= '0;
      else scrub_frame_q <= '{skip: 1'b0, addr: {scrub_first_i, 6'd0}, length: BeatBytes};
    end
  end

  // How many lanes it takes: its bytes end in the lane `lanes`, or before it.
  span_t span;
  logic [SpanW-ByteW-1:0]
      lanes_q, lane_q;  // Lanes up to this one; one less when they end inside of the last.
  logic span_aligned;
  logic tail_q;                       // The last lane is what the last word leaves over.
  logic first_q;                      // Of its frame.
  logic skip_q;
  lane_t at_q;                        // The lane of the beat.
  logic [Bytes:0] back_q;                 // Where in a lane the frame starts, for the funnel,
  logic [Bytes-1:0]
      from_start_q,
      to_stop_q;  // and the bytes from there on, and those to its end in its last lane.
  beat_t beat_q;  // Its first one.
  // The same for the word that has been taken: the next frame may have begun.
  logic [Bytes:0] word_back_q;
  logic [Bytes-1:0] word_from_start_q, word_to_stop_q;
  beat_t word_beat_q;
  assign span = frame.length + span_t'(frame.addr[ByteW-1:0]);
  assign span_aligned = span[ByteW-1:0] == 0;

  logic has_word, step, take, tail, ends_beat;
  logic room;      // For another beat,
  logic inside_q;  // or this word's has been begun.
  always_comb begin
    unique case (source_q)
      SourceMem: has_word = mem_ready_i;
      SourceImage: has_word = image_ready_i;
      SourceValue: has_word = value_there;
      default: has_word = 1'b1;
    endcase
  end
  assign last_lane = joins ? lane_q[1:0] == 0 && !value_more_i : lane_q == lanes_q;
  assign tail = last_lane && tail_q;
  assign step = state_q == Run && (has_word || tail) && (inside_q || room);
  assign take = step && !tail;
  assign ends = step && last_lane;
  assign begins = state_q == Begin || (ends && chosen_q);
  assign ends_beat = last_lane || at_q == lane_t'(Lanes - 1);
  assign mem_take_o = take && source_q == SourceMem;
  assign image_take_o = take && source_q == SourceImage;
  assign value_take = take && source_q == SourceValue;
  assign mem_done_o = ends && source_q == SourceMem;
  assign image_done_o = ends && source_q == SourceImage;

  always_ff @(posedge clk_ddr_i) begin
    if (!rst_ddr_ni) begin
      state_q <= Choose;
      chosen_q <= 1'b0;
      inside_q <= 1'b0;
    end else begin
      unique case (state_q)
        Choose: if (offered) state_q <= Begin;
        Begin: state_q <= Run;
        Run: begin
          if (ends && source_q == SourceScrub) state_q <= Scrub;
          else if (ends && !chosen_q) state_q <= choose && offered ? Begin : Choose;
        end
        default: if (scrub_done_o) state_q <= Choose;
      endcase
      chosen_q <= state_q == Run && !ends && (chosen_q || (choose && offered));
      if (step) inside_q <= !ends_beat;
    end
  end
  always_ff @(posedge clk_ddr_i) begin
    if (begins) begin
      source_q <= next_q;
      lanes_q <= span[SpanW-1:ByteW];
      // It ends in an earlier byte of its lane than it starts in, but is not shorter for that.
      tail_q <= !span_aligned &&
          (frame.length[ByteW-1:0] == 0 || span[ByteW-1:0] < frame.addr[ByteW-1:0]);
      back_q <= (Bytes + 1)'(1) << frame.addr[ByteW-1:0];
      from_start_q <= '1 << frame.addr[ByteW-1:0];
      to_stop_q <= span_aligned ? '1 : ~('1 << span[ByteW-1:0]);
      beat_q <= frame.addr[AddrW-1:6];
      skip_q <= frame.skip;
    end
    if (begins) begin
      first_q <= 1'b1;
      at_q <= lane_t'(frame.addr[5:0] >> ByteW);
      lane_q <= (SpanW - ByteW)'(span_aligned);
    end else if (step) begin
      first_q <= 1'b0;
      at_q <= Lanes > 1 ? at_q + 1'b1 : '0;
      lane_q <= lane_q + 1'b1;
    end
  end

  // -- T1, T2. Words that are not taken are zero.
  typedef struct packed {
    logic    ends;    // The last lane of its beat,
    logic    last;    // of its frame,
    logic    more;    // which is not to be counted: another belongs to it.
    source_e source;
  } lane_about_t;
  logic word_valid_q, word_first_q;
  lane_t word_at_q;
  lane_about_t word_about_q, turn_about_q;
  logic [DataW-1:0] mem_q, image_q, value_q, word, before_q, turned, turn_q;
  logic [Lanes-1:0] hit_q;            // The lane it goes into,
  logic [Bytes-1:0] turn_strobe_q;    // and which of its bytes.
  beat_t new_beat_q;  // With a frame's first lane; else zero.
  assign word = mem_q | image_q | value_q;
  rl_funnel #(
    .Bytes(Bytes)
  ) u_funnel (
    .low_i(before_q),
    .high_i(word),
    .back_i(word_back_q),
    .data_o(turned)
  );
  always_ff @(posedge clk_ddr_i) begin
    if (!rst_ddr_ni) begin
      word_valid_q <= 1'b0;
      hit_q <= '0;
      word_about_q.ends <= 1'b0;
      turn_about_q.ends <= 1'b0;
    end else begin
      word_valid_q <= step && !skip_q;
      hit_q <= Lanes'(word_valid_q) << word_at_q;
      word_about_q.ends <= step && ends_beat && !skip_q;
      turn_about_q.ends <= word_about_q.ends;
    end
  end
  always_ff @(posedge clk_ddr_i) begin
    if (!mem_take_o) mem_q <= '0;
    else mem_q <= mem_data_i;
    if (!image_take_o) image_q <= '0;
    else image_q <= image_data_i;
    if (!value_take) value_q <= '0;
    else value_q <= value_data;
    word_back_q <= back_q;
    word_from_start_q <= from_start_q;
    word_to_stop_q <= to_stop_q;
    word_beat_q <= beat_q;
    word_first_q <= step && first_q && !skip_q;
    word_at_q <= at_q;
    word_about_q.last <= last_lane;
    word_about_q.more <= source_q == SourceValue && value_more;
    word_about_q.source <= source_q;
    if (word_valid_q) before_q <= word;
    turn_q <= turned;
    turn_about_q.last <= word_about_q.last;
    turn_about_q.more <= word_about_q.more;
    turn_about_q.source <= word_about_q.source;
    turn_strobe_q <= (word_first_q ? word_from_start_q : '1) & (word_about_q.last ? word_to_stop_q : '1);
    if (!word_first_q) new_beat_q <= '0;
    else new_beat_q <= word_beat_q;
  end

  // -- T3: the beat
  logic full_q, move_q, moves_last, bus_busy, repeats, tag_room_q;
  logic [Lanes-1:0][DataW-1:0] pack_q;
  logic [Lanes-1:0][Bytes-1:0] strobe_q;
  source_e pack_source_q;
  logic pack_last_q, pack_more_q;
  logic at_last_q;  // It is the last beat of zeros: known a cycle late, between two beats are more.
  beat_t pack_beat_q, pack_beat;
  logic unused_carry;
  assign moves_last = move_q && pack_last_q && !repeats;
  assign repeats = pack_source_q == SourceScrub && !at_last_q && !failed_o;
  assign bus_busy = axi_awvalid_o || axi_wvalid_o || move_q;
  // Of the beats before it at most one is on its way to the bus or on it: so the one that is begun finds T3 free
  // when it gets there.
  assign room = tag_room_q && $onehot0({bus_busy, word_about_q.ends, turn_about_q.ends, full_q && !move_q});
  // A frame's first beat is added to zero. The lowest bits are there for their carry.
  assign {pack_beat, unused_carry} = {pack_beat_q, 1'b1} + {new_beat_q, move_q};
  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    always_ff @(posedge clk_ddr_i) begin
      if (hit_q[i]) pack_q[i] <= turn_q;
      if (!rst_ddr_ni || (move_q && !repeats && !hit_q[i])) strobe_q[i] <= '0;
      else if (hit_q[i]) strobe_q[i] <= turn_strobe_q;
    end
  end
  always_ff @(posedge clk_ddr_i) begin
    if (!rst_ddr_ni) begin
      full_q <= 1'b0;
      move_q <= 1'b0;
    end else begin
      full_q <= turn_about_q.ends || (full_q && !(move_q && !repeats));
      // Known a cycle ahead, since it enables so much. Only zeros find no room for a tag.
      move_q <= !bus_busy && (turn_about_q.ends || (full_q && (tag_room_q || pack_source_q != SourceScrub)));
    end
  end
  always_ff @(posedge clk_ddr_i) begin
    if (turn_about_q.ends) begin
      pack_source_q <= turn_about_q.source;
      pack_last_q <= turn_about_q.last;
      pack_more_q <= turn_about_q.more;
    end
    at_last_q <= pack_beat_q == scrub_last_i;
    // With a frame's last beat the next frame's first one may come.
    if (!rst_ddr_ni) pack_beat_q <= '0;
    else if (moves_last) pack_beat_q <= new_beat_q;
    else pack_beat_q <= pack_beat;
  end

  // -- T4: the bus
  always_ff @(posedge clk_ddr_i) begin
    if (!rst_ddr_ni) begin
      axi_awvalid_o <= 1'b0;
      axi_wvalid_o <= 1'b0;
    end else begin
      axi_awvalid_o <= move_q || (axi_awvalid_o && !axi_awready_i);
      axi_wvalid_o <= move_q || (axi_wvalid_o && !axi_wready_i);
    end
  end
  always_ff @(posedge clk_ddr_i) begin
    if (move_q) begin
      axi_awaddr_o <= {pack_beat_q, 6'd0};
      axi_wdata_o <= pack_q;
      axi_wstrb_o <= strobe_q;
    end
  end

  // -- answers
  typedef struct packed {
    source_e source;
    logic    last;   // Of its frame.
  } tag_t;
  tag_t tag;
  logic answered, fails, tag_valid, tag_ready;
  logic [$clog2(Outstanding):0] tags;
  logic [7:0] mem_written_q, image_written_q;
  assign axi_bready_o = 1'b1;
  assign waits_o = tag_valid;
  assign fails = failed_o || (axi_bvalid_i && axi_bresp_i[1]);
  assign answered = axi_bvalid_i && tag_valid && tag.last && !fails;
  rl_fifo #(
    .Width($bits(tag_t)),
    .Depth(Outstanding)
  ) u_tags (
    .clk_i(clk_ddr_i),
    .rst_ni(rst_ddr_ni),
    .wvalid_i(move_q),
    .wready_o(tag_ready),
    .wdata_i({pack_source_q, pack_last_q && !pack_more_q && !repeats}),
    .rvalid_o(tag_valid),
    .rready_i(axi_bvalid_i),
    .rdata_o(tag),
    .count_o(tags)
  );
  // For the beats that the count does not show yet, and another one.
  always_ff @(posedge clk_ddr_i) tag_room_q <= rst_ddr_ni && tags < ($bits(tags))'(Outstanding - 4);
  always_ff @(posedge clk_ddr_i) begin
    if (!rst_ddr_ni) begin
      mem_written_q <= '0;
      image_written_q <= '0;
      mem_written_gray_o <= '0;
      image_written_gray_o <= '0;
      value_written_o <= 1'b0;
      scrub_done_o <= 1'b0;
      failed_o <= 1'b0;
    end else begin
      failed_o <= fails;
      if (answered && tag.source == SourceMem) mem_written_q <= mem_written_q + 1'b1;
      if (answered && tag.source == SourceImage) image_written_q <= image_written_q + 1'b1;
      mem_written_gray_o <= mem_written_q ^ (mem_written_q >> 1);
      image_written_gray_o <= image_written_q ^ (image_written_q >> 1);
      value_written_o <= answered && tag.source == SourceValue;
      scrub_done_o <= scrub_i && (scrub_done_o || (answered && tag.source == SourceScrub));
    end
  end

`ifndef SYNTHESIS
  rl_stays #(
    .Width($bits(axi_awaddr_o))
  ) u_aw_stays (
    .clk_i(clk_ddr_i),
    .rst_ni(rst_ddr_ni),
    .valid_i(axi_awvalid_o),
    .ready_i(axi_awready_i),
    .data_i(axi_awaddr_o)
  );
  rl_stays #(
    .Width(576)
  ) u_w_stays (
    .clk_i(clk_ddr_i),
    .rst_ni(rst_ddr_ni),
    .valid_i(axi_wvalid_o),
    .ready_i(axi_wready_i),
    .data_i({axi_wdata_o, axi_wstrb_o})
  );
  BeatIsNotLost_A :
  assert property (@(posedge clk_ddr_i) disable iff (!rst_ddr_ni) hit_q != 0 |-> !full_q || move_q);
  TagIsKept_A :
  assert property (@(posedge clk_ddr_i) disable iff (!rst_ddr_ni) move_q |-> full_q && tag_ready);
  FirstBeatIsAlone_A :
  assert property (@(posedge clk_ddr_i) disable iff (!rst_ddr_ni)
    new_beat_q != 0 |-> moves_last || (pack_beat_q == 0 && !move_q));
  WritesSomething_A :
  assert property (@(posedge clk_ddr_i) disable iff (!rst_ddr_ni) $rose(
      axi_wvalid_o
  ) |-> axi_wstrb_o != 0);
  AnswersWereAsked_A :
  assert property (@(posedge clk_ddr_i) disable iff (!rst_ddr_ni) axi_bvalid_i |-> tag_valid);
  MemIsNotEmpty_A :
  assert property (@(posedge clk_ddr_i) disable iff (!rst_ddr_ni)
    mem_valid_i |-> mem_desc_i.length != 0 && mem_desc_i.length <= 14'(Bulk));
  ImageIsNotEmpty_A :
  assert property (@(posedge clk_ddr_i) disable iff (!rst_ddr_ni)
    image_valid_i |-> image_desc_i.length != 0 && image_desc_i.length <= 14'(Bulk) && image_desc_i.addr[5:0] == 0);
  ValueHolds_A :
  assert property (@(posedge clk_ddr_i) disable iff (!rst_ddr_ni)
    value_valid_i && !value_ready_o |=> value_valid_i && $stable(
      {value_addr_i, value_data_i}
  ));
  ScrubHolds_A :
  assert property (@(posedge clk_ddr_i) disable iff (!rst_ddr_ni)
    scrub_i && !scrub_done_o |=>
    (scrub_i || scrub_done_o) && $stable(
      {scrub_first_i, scrub_last_i}
  ));
`endif

  logic unused;
  assign unused = ^{axi_bresp_i[0], image_desc_i.addr[5:0], value_addr[4:0], mem_desc_i.length,
                    image_desc_i.length, tag_ready, unused_carry};
endmodule
