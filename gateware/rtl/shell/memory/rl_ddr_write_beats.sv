// As rl_ddr_write, for words that are as wide as a beat: one beat a cycle, also where frames are single words.
//
//   B0  a queue shows a word, and it is taken, with what is known of its frame
//   B1  the word, and what is left of the one before: they give a beat; a frame's last word may give two
//   B2  a queue of beats, from which they go to the bus
//
// A frame's beats are one burst, or two where it crosses 4 KiB: a memory need not take an address in each cycle. What
// begins is there as a whole, so that a burst's beats come one behind the other. Errors are as there.
module rl_ddr_write_beats
  import rl_shell_pkg::*;
#(
  parameter int unsigned Bulk = 32'(rl_wire_pkg::BulkStandard), // Most bytes of a frame.
  parameter int unsigned Outstanding = 64,  // Bursts not answered yet, at most; a power of two.
  localparam int unsigned DataW = 512
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
  output logic [7:0]   axi_awlen_o,
  output logic         axi_wvalid_o,
  input  logic         axi_wready_i,
  output logic [511:0] axi_wdata_o,
  output logic [63:0]  axi_wstrb_o,
  output logic         axi_wlast_o,
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
  localparam int unsigned WordW = $clog2(Bulk / 64 + 2);
  typedef logic [WordW-1:0] count_t;
  // What is known of a word's frame.
  typedef struct packed {
    source_e     source;
    logic        skip;    // It is not to be written.
    logic        counts;  // It counts as a frame when it is written.
    addr_t       addr;
    logic [13:0] length;
  } frame_t;

  // -- chaining values
  logic value_valid, value_more, value_take;
  addr_t value_addr;
  logic [DataW-1:0] value_data;
  rl_value_pack #(
    .DataW(DataW)
  ) u_values (
    .clk_i(clk_ddr_i),
    .rst_ni(rst_ddr_ni),
    .valid_i(value_valid_i),
    .ready_o(value_ready_o),
    .addr_i(value_addr_i),
    .data_i(value_data_i),
    .more_i(value_more_i),
    .valid_o(value_valid),
    .take_i(value_take),
    .addr_o(value_addr),
    .data_o(value_data),
    .more_o(value_more)
  );

  // -- B0: whose word. A frame is gone on with to its end; between frames image data takes turns with writes.
  logic inside_q, image_turn_q, offered, take, last, room, tails, zeros_end_q;
  source_e source, source_q;
  count_t left_q, left;
  beat_t zeros_q;       // The next beat of zeros.
  logic zeros_q_valid;  // They have begun.
  frame_t frame;
  logic [DataW-1:0] word;
  always_comb begin
    source = SourceScrub;
    if (inside_q) source = source_q;
    else if (value_valid) source = SourceValue;
    else if (mem_valid_i && !(image_turn_q && image_valid_i)) source = SourceMem;
    else if (image_valid_i) source = SourceImage;
    unique case (source)
      SourceMem: begin
        offered = mem_valid_i && mem_ready_i;
        word = mem_data_i;
        frame = '{source: source, skip: mem_skip_i, counts: 1'b1, addr: mem_desc_i.addr, length: mem_desc_i.length};
      end
      SourceImage: begin
        offered = image_valid_i && image_ready_i;
        word = image_data_i;
        frame = '{source: source, skip: 1'b0, counts: 1'b1, addr: {image_desc_i.addr[AddrW-1:6], 6'd0},
                  length: image_desc_i.length};
      end
      SourceValue: begin
        offered = value_valid;
        word = value_data;
        frame = '{source: source, skip: 1'b0, counts: !value_more, addr: {value_addr[AddrW-1:5], 5'd0}, length: 14'd32};
      end
      default: begin
        offered = scrub_i && zeros_q_valid && !zeros_end_q && !failed_o;
        word = '0;
        frame = '{source: source, skip: 1'b0, counts: zeros_q == scrub_last_i, addr: {zeros_q, 6'd0}, length: 14'd64};
      end
    endcase
  end
  assign left = inside_q ? left_q : count_t'((frame.length - 1'b1) >> 6);
  assign last = left == 0;
  assign take = offered && room && !tails;
  assign mem_take_o = take && source == SourceMem;
  assign image_take_o = take && source == SourceImage;
  assign value_take = take && source == SourceValue;
  assign mem_done_o = mem_take_o && last;
  assign image_done_o = image_take_o && last;
  always_ff @(posedge clk_ddr_i) begin
    if (!rst_ddr_ni) begin
      inside_q <= 1'b0;
      image_turn_q <= 1'b0;
      zeros_q_valid <= 1'b0;
      zeros_end_q <= 1'b0;
    end else begin
      if (take) inside_q <= !last;
      if (take && !inside_q) image_turn_q <= source == SourceMem;
      zeros_q_valid <= scrub_i && !scrub_done_o;
      zeros_end_q <= scrub_i && (zeros_end_q || (take && source == SourceScrub && frame.counts));
    end
  end
  always_ff @(posedge clk_ddr_i) begin
    if (take) begin
      source_q <= source;
      left_q <= left - 1'b1;
    end
    if (!zeros_q_valid) zeros_q <= scrub_first_i;
    else if (take && source == SourceScrub) zeros_q <= zeros_q + 1'b1;
  end

  // -- B1: the word stands where its address says. What goes beyond its beat comes with the next word, or by itself.
  typedef struct packed {
    source_e      source;
    logic         counts;  // With the frame's last burst, if the frame counts.
    logic         first;   // Of its burst, which has so many beats more,
    logic [5:0]   len;
    logic         last;
    beat_t        beat;
    logic [63:0]  strobe;
    beat_data_t   data;
  } beat_out_t;
  logic word_q, first_q, last_q, tail_q, beat_valid, wraps;
  frame_t frame_q;
  beat_t at_q;
  logic [DataW-1:0] data_q, before_q, turned;
  logic [6:0] stop;         // Where the frame ends in this word's beat, beyond 64: in the next one.
  logic [5:0] offset;
  logic [8:0] beats_left_q, beats_left;  // Of the frame, after this one.
  logic [5:0] to_border;
  logic ends_frame;
  beat_out_t beat;
  assign offset = frame_q.addr[5:0];
  assign stop = {1'b0, offset} + {1'b0, frame_q.length[5:0] - 6'd1} + 7'd1;
  assign wraps = stop > 7'd64;
  // The word's rest is a beat of its own: a cycle in which no word is taken.
  assign tails = word_q && last_q && wraps && !tail_q && !frame_q.skip;
  rl_funnel #(
    .Bytes(64)
  ) u_funnel (
    .low_i(tail_q ? data_q : before_q),
    .high_i(data_q),
    .back_i(65'd1 << offset),
    .data_o(turned)
  );
  always_ff @(posedge clk_ddr_i) begin
    if (!rst_ddr_ni) begin
      word_q <= 1'b0;
      tail_q <= 1'b0;
    end else begin
      word_q <= take || tails;
      tail_q <= tails;
    end
  end
  always_ff @(posedge clk_ddr_i) begin
    if (take) begin
      data_q <= word;
      last_q <= last;
      first_q <= !inside_q;
      before_q <= data_q;
      if (!inside_q) begin
        frame_q <= frame;
        at_q <= frame.addr[AddrW-1:6];
      end else begin
        at_q <= at_q + 1'b1;
      end
    end else if (tails) begin
      first_q <= 1'b0;
      at_q <= at_q + 1'b1;
    end
  end
  assign beats_left = first_q ? 9'((15'(offset) + 15'(frame_q.length) - 15'd1) >> 6) : beats_left_q;
  assign to_border = ~at_q[5:0];
  assign ends_frame = beats_left <= 9'(to_border);  // This burst does.
  always_ff @(posedge clk_ddr_i) if (word_q) beats_left_q <= beats_left - 1'b1;
  always_comb begin
    beat.source = frame_q.source;
    beat.counts = ends_frame && frame_q.counts;
    beat.first = first_q || at_q[5:0] == 0;
    beat.len = ends_frame ? beats_left[5:0] : to_border;
    beat.last = beats_left == 0 || to_border == 0;
    beat.beat = at_q;
    beat.data = turned;
    beat.strobe = '1;
    if (first_q) beat.strobe = '1 << offset;
    if (last_q && tail_q) beat.strobe &= ~('1 << stop[5:0]);
    else if (last_q && !wraps && !stop[6]) beat.strobe &= ~('1 << stop[5:0]);
  end
  assign beat_valid = word_q && !frame_q.skip;

  // -- B2: beats on their way to the bus
  localparam int unsigned Depth = 16;
  logic [$clog2(Depth):0] beats;
  logic beats_ready, out_valid, moves, begins, tag_ready;
  beat_out_t out;
  rl_fifo #(
    .Width($bits(beat_out_t)),
    .Depth(Depth)
  ) u_beats (
    .clk_i(clk_ddr_i),
    .rst_ni(rst_ddr_ni),
    .wvalid_i(beat_valid),
    .wready_o(beats_ready),
    .wdata_i(beat),
    .rvalid_o(out_valid),
    .rready_i(moves),
    .rdata_o(out),
    .count_o(beats)
  );
  // For this word's two beats and those of the word before.
  assign room = beats < ($clog2(Depth) + 1)'(Depth - 4);
  assign begins = moves && out.first;
  assign moves = out_valid && !(axi_wvalid_o && !axi_wready_i) &&
      (!out.first || (tag_ready && !(axi_awvalid_o && !axi_awready_i)));
  always_ff @(posedge clk_ddr_i) begin
    if (!rst_ddr_ni) begin
      axi_awvalid_o <= 1'b0;
      axi_wvalid_o <= 1'b0;
    end else begin
      axi_awvalid_o <= begins || (axi_awvalid_o && !axi_awready_i);
      axi_wvalid_o <= moves || (axi_wvalid_o && !axi_wready_i);
    end
  end
  always_ff @(posedge clk_ddr_i) begin
    if (begins) begin
      axi_awaddr_o <= {out.beat, 6'd0};
      axi_awlen_o <= 8'(out.len);
    end
    if (moves) begin
      axi_wdata_o <= out.data;
      axi_wstrb_o <= out.strobe;
      axi_wlast_o <= out.last;
    end
  end

  // -- answers
  typedef struct packed {
    source_e source;
    logic    counts;
  } tag_t;
  tag_t tag;
  logic answered, fails, tag_valid;
  logic [$clog2(Outstanding):0] unused_tags;
  logic [7:0] mem_written_q, image_written_q;
  assign axi_bready_o = 1'b1;
  assign waits_o = tag_valid;
  assign fails = failed_o || (axi_bvalid_i && axi_bresp_i[1]);
  assign answered = axi_bvalid_i && tag_valid && tag.counts && !fails;
  rl_fifo #(
    .Width($bits(tag_t)),
    .Depth(Outstanding)
  ) u_tags (
    .clk_i(clk_ddr_i),
    .rst_ni(rst_ddr_ni),
    .wvalid_i(begins),
    .wready_o(tag_ready),
    .wdata_i({out.source, out.counts}),
    .rvalid_o(tag_valid),
    .rready_i(axi_bvalid_i),
    .rdata_o(tag),
    .count_o(unused_tags)
  );
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
  AwHolds_A :
  assert property (@(posedge clk_ddr_i) disable iff (!rst_ddr_ni)
    axi_awvalid_o && !axi_awready_i |=> axi_awvalid_o && $stable(
      {axi_awaddr_o, axi_awlen_o}
  ));
  // A frame ends with its last byte's beat, and a burst with its page.
  FrameEnds_A :
  assert property (@(posedge clk_ddr_i) disable iff (!rst_ddr_ni)
    beat_valid |-> (beats_left == 0) == (last_q && (tail_q || !wraps)));
  BeatIsNotLost_A :
  assert property (@(posedge clk_ddr_i) disable iff (!rst_ddr_ni) beat_valid |-> beats_ready);
  WritesSomething_A :
  assert property (@(posedge clk_ddr_i) disable iff (!rst_ddr_ni) beat_valid |-> beat.strobe != 0);
  AnswersWereAsked_A :
  assert property (@(posedge clk_ddr_i) disable iff (!rst_ddr_ni) axi_bvalid_i |-> tag_valid);
  MemIsNotEmpty_A :
  assert property (@(posedge clk_ddr_i) disable iff (!rst_ddr_ni)
    mem_valid_i |-> mem_desc_i.length != 0 && mem_desc_i.length <= 14'(Bulk));
`endif

  logic unused;
  assign unused = ^{axi_bresp_i[0], image_desc_i.addr[5:0], value_addr[4:0], beats_ready, unused_tags};
endmodule
