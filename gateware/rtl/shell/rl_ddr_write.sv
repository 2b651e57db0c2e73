// Everything that the shell writes to DDR: frames of the memory and the configuration queue, chaining
// values of the digest, and zeros. One at a time, 64 bits a cycle, through one byte rotator and one
// packer into beats of 512 bits with strobes.
//
//   T0  a queue shows a word, and it is taken
//   T1  the word as it comes out of the queue's RAM
//   T2  rotated: the frame's first byte stands where its address says
//   T3  joined with what the word before left over, in one of the beat's eight lanes
//   T4  the beat on the bus
//
// AXI4: each beat is a burst of its own (AWLEN 0, AWSIZE 6, AWBURST INCR, WLAST 1, one ID), so that
// responses come in order. Frames whose beats are all answered are counted.
module rl_ddr_write
  import rl_shell_pkg::*;
#(
  parameter int unsigned Outstanding = 16  // Beats not answered yet, at most; a power of two.
) (
  input  logic         clk_ddr_i,
  input  logic         rst_ddr_ni,

  // The memory queue's reading side.
  input  logic         mem_valid_i,
  input  store_t       mem_desc_i,
  output logic         mem_done_o,
  output logic         mem_take_o,
  input  logic [63:0]  mem_data_i,
  input  logic         mem_ready_i,
  // The configuration queue's.
  input  logic         image_valid_i,
  input  store_t       image_desc_i,         // Its address is a multiple of 64.
  output logic         image_done_o,
  output logic         image_take_o,
  input  logic [63:0]  image_data_i,
  input  logic         image_ready_i,
  // Chaining values: four words each, to an address that is a multiple of 32 and holds with all four.
  input  logic         value_valid_i,
  output logic         value_ready_o,
  input  addr_t        value_addr_i,
  input  logic [63:0]  value_data_i,
  input  logic         value_more_i,         // With a value's last word: another one follows at once.
  output logic         value_written_o,      // One more is in memory.
  // Zeros. Nothing else is written meanwhile: nobody owns the card.
  input  logic         scrub_i,              // Holds until scrub_done_o, with the next two.
  input  beat_t        scrub_first_i,
  input  beat_t        scrub_last_i,         // The last beat, not before the first.
  output logic         scrub_done_o,         // Holds until scrub_i falls.

  // Frames in memory, in Gray code, for the network's domain.
  output logic [7:0]   mem_written_gray_o,
  output logic [7:0]   image_written_gray_o,
  output logic         error_o,              // A write was answered with an error, since reset.

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

  // What a word is, beside its data.
  typedef struct packed {
    source_e    source;
    logic       first;  // Of its frame.
    logic [2:0] lane;   // Of the beat.
    logic [2:0] turn;   // Bytes to rotate by: where in a lane the frame starts,
    logic [2:0] stop;   // and where in its last lane it ends.
    beat_t      beat;   // With first.
  } about_t;

  localparam logic [13:0] ValueBytes = 14'd32;
  localparam logic [13:0] BeatBytes = 14'd64;

  logic stall;  // The beat is full, and has no place to go yet.

  // -- T0: which frame, and its words
  typedef enum logic [1:0] {
    Choose = 2'd0,
    Run    = 2'd1,
    Scrub  = 2'd2        // The beat of zeros repeats.
  } state_e;
  state_e state_q;
  source_e source;
  addr_t addr;
  logic [13:0] length, span;
  about_t about_q;       // Of the next word.
  logic [10:0] lanes_q;  // Lanes to write after the next one.
  logic tail_q;          // The last one is what the last word leaves over.

  logic offered, has_word, step, take, last_lane, tail, ends;
  logic value_valid, mem_valid, image_valid;
  // When a frame ends, one of another source follows at once. What its own source has then is not shown yet.
  assign value_valid = value_valid_i && !(state_q == Run && about_q.source == SourceValue);
  assign mem_valid = mem_valid_i && !(state_q == Run && about_q.source == SourceMem);
  assign image_valid = image_valid_i && !(state_q == Run && about_q.source == SourceImage);
  always_comb begin
    // The digest cannot keep up with the network: it cannot starve it either.
    if (value_valid) source = SourceValue;
    else if (mem_valid) source = SourceMem;
    else if (image_valid) source = SourceImage;
    else source = SourceScrub;
    offered = value_valid || mem_valid || image_valid;
    // Zeros come only when all is quiet, and values together.
    if (state_q == Choose) offered |= scrub_i && !scrub_done_o;
    else if (about_q.source == SourceValue) offered &= !value_more_i;
    unique case (source)
      SourceMem: {addr, length} = mem_desc_i;
      SourceImage: {addr, length} = {image_desc_i.addr[AddrW-1:6], 6'd0, image_desc_i.length};
      SourceValue: {addr, length} = {value_addr_i[AddrW-1:5], 5'd0, ValueBytes};
      default: {addr, length} = {scrub_first_i, 6'd0, BeatBytes};
    endcase
    // From the first lane's first byte to the frame's last.
    span = length - 1'b1 + 14'(addr[2:0]);
  end

  always_comb begin
    unique case (about_q.source)
      SourceMem: has_word = mem_ready_i;
      SourceImage: has_word = image_ready_i;
      SourceValue: has_word = value_valid_i;
      default: has_word = 1'b1;
    endcase
  end
  assign last_lane = lanes_q == 0;
  assign ends = step && last_lane;
  assign tail = last_lane && tail_q;
  assign step = state_q == Run && (has_word || tail) && !stall;
  assign take = step && !tail;
  assign mem_take_o = take && about_q.source == SourceMem;
  assign image_take_o = take && about_q.source == SourceImage;
  assign value_ready_o = take && about_q.source == SourceValue;
  assign mem_done_o = ends && about_q.source == SourceMem;
  assign image_done_o = ends && about_q.source == SourceImage;

  always_ff @(posedge clk_ddr_i) begin
    if (!rst_ddr_ni) begin
      state_q <= Choose;
    end else begin
      unique case (state_q)
        Choose: if (offered) state_q <= Run;
        Run: begin
          if (ends && about_q.source == SourceScrub) state_q <= Scrub;
          else if (ends && !offered) state_q <= Choose;
        end
        Scrub: if (scrub_done_o) state_q <= Choose;
        default: state_q <= Choose;
      endcase
    end
  end
  always_ff @(posedge clk_ddr_i) begin
    if (state_q == Choose || ends) begin
      about_q.source <= source;
      about_q.first <= 1'b1;
      about_q.lane <= addr[5:3];
      about_q.turn <= addr[2:0];
      about_q.stop <= span[2:0];
      about_q.beat <= addr[AddrW-1:6];
      lanes_q <= span[13:3];
      // It ends in an earlier byte of its lane than it starts in, but is not shorter for that.
      tail_q <= span[2:0] < addr[2:0];
    end else if (step) begin
      about_q.first <= 1'b0;
      about_q.lane <= about_q.lane + 1'b1;
      lanes_q <= lanes_q - 1'b1;
    end
  end

  // -- T1, T2. The words that are not taken are zero.
  logic word_valid_q, turn_valid_q, word_last_q, turn_last_q;
  logic [63:0] mem_q, image_q, value_q, turned, turn_q;
  about_t word_about_q, turn_about_q;
  rl_rotate u_rotate (
    .data_i(mem_q | image_q | value_q),
    .bytes_i(word_about_q.turn),
    .data_o(turned)
  );
  always_ff @(posedge clk_ddr_i) begin
    if (!rst_ddr_ni) begin
      word_valid_q <= 1'b0;
      turn_valid_q <= 1'b0;
    end else if (!stall) begin
      word_valid_q <= step;
      turn_valid_q <= word_valid_q;
    end
  end
  always_ff @(posedge clk_ddr_i) begin
    // Taken means not stalled. So written, the reset comes before the enable, as flip-flops have it.
    if (!stall && !mem_take_o) mem_q <= '0;
    else if (mem_take_o) mem_q <= mem_data_i;
    if (!stall && !image_take_o) image_q <= '0;
    else if (image_take_o) image_q <= image_data_i;
    if (!stall && !value_ready_o) value_q <= '0;
    else if (value_ready_o) value_q <= value_data_i;
    if (!stall) begin
      word_about_q <= about_q;
      word_last_q <= last_lane;
      turn_q <= turned;
      turn_about_q <= word_about_q;
      turn_last_q <= word_last_q;
    end
  end

  // -- T3: the lane and the beat
  logic put, put_ends, full_q, move, repeats;
  logic [63:0] carry_q, lane_data;
  logic [7:0] from_start, to_stop, lane_strobe;
  logic [7:0][63:0] pack_q;
  logic [7:0][7:0] strobe_q;
  source_e pack_source_q;
  logic pack_last_q;
  logic at_last_q;  // It is the last beat of zeros: known a cycle late, between two beats are more.
  beat_t pack_beat_q;
  assign put = turn_valid_q && !stall;
  assign put_ends = put && (turn_last_q || turn_about_q.lane == '1);
  assign repeats = pack_source_q == SourceScrub && !at_last_q;
  assign stall = full_q && (!move || repeats);
  assign from_start = 8'hff << turn_about_q.turn;
  assign to_stop = 8'hff >> ~turn_about_q.stop;
  assign lane_strobe = (turn_about_q.first ? from_start : '1) & (turn_last_q ? to_stop : '1);
  for (genvar i = 0; i < 8; i++) begin : gen_byte
    assign lane_data[8*i+:8] = from_start[i] ? turn_q[8*i+:8] : carry_q[8*i+:8];
  end
  for (genvar i = 0; i < 8; i++) begin : gen_lane
    logic hit;
    assign hit = put && turn_about_q.lane == i;
    always_ff @(posedge clk_ddr_i) begin
      if (hit) pack_q[i] <= lane_data;
      if (!rst_ddr_ni || (move && !repeats && !hit)) strobe_q[i] <= '0;
      else if (hit) strobe_q[i] <= lane_strobe;
    end
  end
  always_ff @(posedge clk_ddr_i) begin
    if (!rst_ddr_ni) full_q <= 1'b0;
    else full_q <= put_ends || (full_q && (!move || repeats));
  end
  always_ff @(posedge clk_ddr_i) begin
    if (put) begin
      carry_q <= turn_q;
      pack_source_q <= turn_about_q.source;
      pack_last_q <= turn_last_q;
    end
    at_last_q <= pack_beat_q == scrub_last_i;
    if (put && turn_about_q.first) pack_beat_q <= turn_about_q.beat;
    else if (move) pack_beat_q <= pack_beat_q + 1'b1;
  end

  // -- T4: the bus
  logic tag_room_q;  // For this one, and one that the count does not show yet.
  assign move = full_q && !axi_awvalid_o && !axi_wvalid_o && tag_room_q;
  always_ff @(posedge clk_ddr_i) begin
    if (!rst_ddr_ni) begin
      axi_awvalid_o <= 1'b0;
      axi_wvalid_o <= 1'b0;
    end else begin
      axi_awvalid_o <= move || (axi_awvalid_o && !axi_awready_i);
      axi_wvalid_o <= move || (axi_wvalid_o && !axi_wready_i);
    end
  end
  always_ff @(posedge clk_ddr_i) begin
    if (move) begin
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
  logic answered, tag_valid, tag_ready;
  logic [$clog2(Outstanding):0] tags;
  logic [7:0] mem_written_q, image_written_q;
  assign axi_bready_o = 1'b1;
  assign answered = axi_bvalid_i && tag_valid && tag.last;
  rl_fifo #(
    .Width($bits(tag_t)),
    .Depth(Outstanding)
  ) u_tags (
    .clk_i(clk_ddr_i),
    .rst_ni(rst_ddr_ni),
    .wvalid_i(move),
    .wready_o(tag_ready),
    .wdata_i({pack_source_q, pack_last_q && !repeats}),
    .rvalid_o(tag_valid),
    .rready_i(axi_bvalid_i),
    .rdata_o(tag),
    .count_o(tags)
  );
  always_ff @(posedge clk_ddr_i)
    tag_room_q <= rst_ddr_ni && tags <= ($bits(
        tags
    ))'(Outstanding - 2);
  always_ff @(posedge clk_ddr_i) begin
    if (!rst_ddr_ni) begin
      mem_written_q <= '0;
      image_written_q <= '0;
      mem_written_gray_o <= '0;
      image_written_gray_o <= '0;
      value_written_o <= 1'b0;
      scrub_done_o <= 1'b0;
      error_o <= 1'b0;
    end else begin
      if (answered && tag.source == SourceMem) mem_written_q <= mem_written_q + 1'b1;
      if (answered && tag.source == SourceImage) image_written_q <= image_written_q + 1'b1;
      mem_written_gray_o <= mem_written_q ^ (mem_written_q >> 1);
      image_written_gray_o <= image_written_q ^ (image_written_q >> 1);
      value_written_o <= answered && tag.source == SourceValue;
      scrub_done_o <= scrub_i && (scrub_done_o || (answered && tag.source == SourceScrub));
      if (axi_bvalid_i && axi_bresp_i[1]) error_o <= 1'b1;
    end
  end

`ifndef SYNTHESIS
  AwHolds_A :
  assert property (@(posedge clk_ddr_i) disable iff (!rst_ddr_ni)
    axi_awvalid_o && !axi_awready_i |=> axi_awvalid_o && $stable(
      axi_awaddr_o
  ));
  WHolds_A :
  assert property (@(posedge clk_ddr_i) disable iff (!rst_ddr_ni)
    axi_wvalid_o && !axi_wready_i |=> axi_wvalid_o && $stable(
      {axi_wdata_o, axi_wstrb_o}
  ));
  WritesSomething_A :
  assert property (@(posedge clk_ddr_i) disable iff (!rst_ddr_ni) $rose(
      axi_wvalid_o
  ) |-> axi_wstrb_o != 0);
  AnswersWereAsked_A :
  assert property (@(posedge clk_ddr_i) disable iff (!rst_ddr_ni) axi_bvalid_i |-> tag_valid);
  MemIsNotEmpty_A :
  assert property (@(posedge clk_ddr_i) disable iff (!rst_ddr_ni)
    mem_valid_i |-> mem_desc_i.length != 0);
  ImageIsNotEmpty_A :
  assert property (@(posedge clk_ddr_i) disable iff (!rst_ddr_ni)
    image_valid_i |-> image_desc_i.length != 0 && image_desc_i.addr[5:0] == 0);
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
  assign unused = ^{axi_bresp_i[0], image_desc_i.addr[5:0], value_addr_i[4:0], tag_ready};
endmodule
