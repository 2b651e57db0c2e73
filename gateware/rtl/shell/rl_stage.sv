// Image data: chunks go into the configuration queue as they come, each once and in any order, to
// their place in a staging slot. It keeps which are there, and tells the blocks of 64 KiB that are
// whole and in DDR, for the digest.
//
// Where a chunk belongs is known when its first word comes, and its number is worked out while the
// others do, by a division of 22 cycles; chunks of 64 bytes need none. If the frame ends before that is
// done, there is no room for another.
module rl_stage
  import rl_shell_pkg::*;
#(
  parameter int unsigned Chunks = 1 << 18,  // Of an image, at most; a power of two.
  parameter int unsigned Blocks = 16,       // That can wait for the firmware; a power of two.
  localparam int unsigned IndexW = $clog2(Chunks)
) (
  input  logic              clk_net_i,
  input  logic              rst_net_ni,

  input  lane_t             lane_i,
  output logic              room_o,
  input  logic              receiving_i,       // The load takes data. Else all of it was there once.

  // Configuration queue: frames of store_t.
  input  logic              queue_room_i,
  output logic              queue_word_o,
  output logic [63:0]       queue_data_o,
  output logic              queue_commit_o,
  output store_t            queue_desc_o,
  output logic              queue_rollback_o,
  input  logic [7:0]        written_gray_i,    // Frames of it that are in memory.

  // The load. Its description holds from a cycle before start_i on, while the load lasts.
  input  logic              start_i,           // Forget the one before.
  input  beat_t             base_i,
  input  logic [28:0]       length_i,          // Bytes, 1 to 2^28.
  input  logic [13:0]       chunk_i,           // Bytes, a multiple of 64, so that there are at most Chunks.
  output logic              busy_o,            // Still starting: no frames yet.
  output logic [IndexW:0]   missing_o,         // Chunks.

  // Which chunks are there: bit n % 32 of word n / 32.
  input  logic              bits_read_i,
  input  logic [IndexW-6:0] bits_addr_i,
  output logic [31:0]       bits_o,            // A cycle later.

  // Blocks that are whole, in the order in which they became so.
  output logic              block_valid_o,
  output logic [11:0]       block_o,
  input  logic              block_pop_i,

  // Events.
  output logic              chunk_o,
  output logic              duplicate_o,
  output logic              malformed_o
);
  // Positions in the image are counted in beats of 64 bytes, and blocks are of 1024 beats.
  localparam int unsigned PlaceW = 22;
  localparam int unsigned BlockW = 12;
  localparam int unsigned WordW = IndexW - 5;
  localparam int unsigned EmptyW = WordW > BlockW ? WordW : BlockW;
  if (Chunks != 1 << IndexW || IndexW < BlockW || IndexW > PlaceW) begin : gen_check
    $fatal(0, "rl_stage: Chunks must be a power of two, 2^12 to 2^22 (%m)");
  end
  typedef logic [PlaceW-1:0] place_t;
  typedef logic [IndexW-1:0] index_t;
  typedef logic [BlockW-1:0] block_t;

  typedef enum logic [3:0] {
    Idle    = 4'd0,
    Divide  = 4'd1,
    Number  = 4'd2,   // The chunk's number is known. The firmware reads first.
    Look    = 4'd3,   // The bits around it are there,
    Sift    = 4'd4,   // and its own says whether it is.
    Judged  = 4'd5,   // Until the frame has ended.
    Block   = 4'd6,   // Look up the block that it starts in,
    Recall  = 4'd7,
    Count   = 4'd8,   // and count its beats.
    Measure = 4'd9,   // A new load: which is the last chunk, how long is it?
    Empty   = 4'd10   // Nothing is there.
  } state_e;
  typedef enum logic [1:0] {
    New       = 2'd0,
    Duplicate = 2'd1,
    Malformed = 2'd2
  } verdict_e;
  state_e state_q;
  verdict_e verdict_q;

  // -- the load
  logic [28:0] extent_q;          // Its last byte.
  index_t last_q;                 // Its last chunk,
  logic [13:0] last_length_q;     // and how long that is,
  logic [7:0] last_beats_q;       // also in beats.
  logic is_last_q;                // The chunk at work is.
  logic at_last_block;            // In emptying.
  logic words_empty_q, blocks_empty_q;
  logic [EmptyW-1:0] empty_q;  // Words and blocks emptied.
  assign busy_o = state_q inside {Measure, Empty};
  assign at_last_block = empty_q[BlockW-1:0] == extent_q[16+:BlockW];
  always_ff @(posedge clk_net_i) begin
    extent_q <= length_i - 1'b1;
    empty_q <= state_q == Empty ? empty_q + 1'b1 : '0;
    words_empty_q <= state_q == Empty && (words_empty_q || empty_q[WordW-1:0] == last_q[5+:WordW]);
    blocks_empty_q <= state_q == Empty && (blocks_empty_q || at_last_block);
  end

  // -- words, tentatively; what is too long for a chunk may be too long for the queue
  logic mine, fits, opens, open, open_q, ended_q, done, aborts, resolve;
  assign mine = lane_i.route == RouteImage;
  assign fits = receiving_i && lane_i.head.length <= 16'(chunk_i);
  assign opens = lane_i.word && lane_i.payload && mine;
  assign open = open_q || opens;
  assign done = lane_i.done && mine;
  assign aborts = lane_i.abort && mine && open;
  assign queue_word_o = opens && fits;
  assign queue_data_o = lane_i.data;

  // -- the frame: as it came, and at work
  logic wanted_q, came_odd_q, odd_q;
  place_t came_place_q, place_q;
  logic [13:0] came_length_q, length_q;
  index_t index_q;
  beat_t beat_q;
  always_ff @(posedge clk_net_i) begin
    if (opens && !open_q) begin
      came_place_q <= lane_i.head.addr[6+:PlaceW];
      came_odd_q <= lane_i.head.addr[63:6+PlaceW] != 0 || lane_i.head.addr[5:0] != 0 || !fits ||
                    lane_i.head.addr[6+:PlaceW] > extent_q[6+:PlaceW];
      came_length_q <= lane_i.head.length[13:0];
    end
    if (state_q == Idle) begin
      place_q <= came_place_q;
      odd_q <= came_odd_q;
      length_q <= came_length_q;
    end
    beat_q <= base_i + BeatW'(place_q);
  end

  // -- which chunk it is
  logic divided, beat_chunks, is_last, right;
  place_t quotient;
  logic [7:0] rest;
  rl_divide #(
    .Width(PlaceW),
    .DivisorW(8)
  ) u_divide (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .start_i(start_i || (state_q == Idle && wanted_q)),
    .dividend_i(start_i ? extent_q[6+:PlaceW] : came_place_q),
    .divisor_i(chunk_i[13:6]),
    .done_o(divided),
    .quotient_o(quotient),
    .rest_o(rest)
  );
  assign beat_chunks = chunk_i[13:7] == 0;
  assign is_last = index_q == last_q;
  assign right = length_q == (is_last_q ? last_length_q : chunk_i);
  always_ff @(posedge clk_net_i) begin
    if (state_q == Divide) index_q <= index_t'(beat_chunks ? place_q : quotient);
    if (state_q == Measure) begin
      last_q <= index_t'(quotient);
      last_length_q <= {rest, extent_q[5:0]} + 1'b1;
      last_beats_q <= rest + 1'b1;
    end
    if (state_q == Number) is_last_q <= is_last;
  end

  // -- whether it is there
  logic [31:0] bits_q, mark;
  logic set;
  assign set = resolve && verdict_q == New;
  assign mark = 32'd1 << index_q[4:0];
  rl_ram #(
    .Width(32),
    .Depth(Chunks / 32)
  ) u_have (
    .clk_wr_i(clk_net_i),
    .we_i(set || state_q == Empty),
    .waddr_i(state_q == Empty ? empty_q[WordW-1:0] : index_q[5+:WordW]),
    .wdata_i(state_q == Empty ? '0 : bits_q | mark),
    .clk_rd_i(clk_net_i),
    .re_i(1'b1),
    .raddr_i(bits_read_i ? bits_addr_i : index_q[5+:WordW]),
    .rdata_o(bits_o)
  );

  always_ff @(posedge clk_net_i) begin
    if (state_q == Look) bits_q <= bits_o;
    if (state_q == Idle) verdict_q <= receiving_i ? Malformed : Duplicate;
    else if (state_q == Sift) verdict_q <= bits_q[index_q[4:0]] ? Duplicate : New;
  end

  // -- beats of each block that are there; those that the last one lacks count as there
  logic [10:0] beats, beats_q, counted, counted_q, counted_d, span_q;
  logic [7:0] chunk_beats;
  block_t block_q;
  logic whole, again, first_q, waits_ready, counts;
  assign chunk_beats = is_last_q ? last_beats_q : chunk_i[13:6];
  // Beats from the start of its first block to its own end.
  assign again = first_q && span_q[10] && span_q[9:0] != 0;
  // To the end of its first block: 1024 less where it starts, as its complement and one.
  always_comb begin
    beats = {3'd0, chunk_beats};
    if (!first_q) beats = {1'b0, span_q[9:0]};
    else if (again) beats = {1'b0, ~place_q[9:0]};
  end
  assign counted_d = counted_q + beats_q;
  assign whole = counted_d[10];
  assign counts = state_q == Count && waits_ready;
  rl_ram #(
    .Width(11),
    .Depth(1 << BlockW)
  ) u_blocks (
    .clk_wr_i(clk_net_i),
    .we_i(counts || state_q == Empty),
    .waddr_i(state_q == Empty ? empty_q[BlockW-1:0] : block_q),
    .wdata_i(state_q != Empty ? counted_d : at_last_block ? {1'b0, ~extent_q[15:6]} : '0),
    .clk_rd_i(clk_net_i),
    .re_i(state_q == Block),
    .raddr_i(block_q),
    .rdata_o(counted)
  );

  always_ff @(posedge clk_net_i) begin
    span_q <= 11'(place_q[9:0]) + 11'(chunk_beats);
    counted_q <= counted;
    beats_q <= beats + 11'(again);
    if (state_q == Judged) begin
      block_q <= place_q[10+:BlockW];
      first_q <= 1'b1;
    end else if (counts) begin
      block_q <= block_q + 1'b1;
      first_q <= 1'b0;
    end
  end

  // -- whole blocks: told when the frames staged until then are in memory
  typedef struct packed {
    block_t     block;
    logic [7:0] ticket;
  } whole_t;
  whole_t waiting;
  logic [7:0] staged_q, written, beyond;
  logic waits, tell, told_ready, held_q;
  logic [3:0] unused_waits;
  logic [$clog2(Blocks):0] unused_told;
  rl_count_sync u_written (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .gray_i(written_gray_i),
    .count_o(written)
  );
  // Far fewer than 128 frames are between the two counts: while none can be told, none is staged.
  assign beyond = written - waiting.ticket;
  assign tell = waits && !beyond[7] && told_ready;
  rl_fifo #(
    .Width($bits(whole_t)),
    .Depth(8)
  ) u_waiting (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni && !start_i),
    .wvalid_i(counts && whole),
    .wready_o(waits_ready),
    .wdata_i({block_q, staged_q}),
    .rvalid_o(waits),
    .rready_i(tell),
    .rdata_o(waiting),
    .count_o(unused_waits)
  );
  rl_fifo #(
    .Width(BlockW),
    .Depth(Blocks)
  ) u_told (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni && !start_i),
    .wvalid_i(tell),
    .wready_o(told_ready),
    .wdata_i(waiting.block),
    .rvalid_o(block_valid_o),
    .rready_i(block_pop_i),
    .rdata_o(block_o),
    .count_o(unused_told)
  );
  assign room_o = queue_room_i && !ended_q && !held_q;
  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) staged_q <= '0;
    else if (set) staged_q <= staged_q + 1'b1;
    held_q <= waits && !told_ready;
  end

  // -- one frame after the other
  logic begins;
  assign begins = state_q == Empty && words_empty_q && blocks_empty_q;
  assign resolve = state_q == Judged && (ended_q || (done && open_q));
  assign queue_commit_o = set;
  assign queue_rollback_o = (resolve && verdict_q != New) || aborts;
  assign queue_desc_o = '{addr: {beat_q, 6'd0}, length: length_q};

  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) begin
      state_q <= Idle;
      open_q <= 1'b0;
      ended_q <= 1'b0;
      wanted_q <= 1'b0;
      missing_o <= '0;
      chunk_o <= 1'b0;
      duplicate_o <= 1'b0;
      malformed_o <= 1'b0;
    end else begin
      open_q <= open && !lane_i.done && !lane_i.abort;
      ended_q <= (ended_q || (done && open)) && !resolve;
      wanted_q <= ((opens && !open_q) || (wanted_q && state_q != Idle)) && !aborts;
      unique case (state_q)
        Idle: if (wanted_q && !aborts) state_q <= receiving_i ? Divide : Judged;
        Divide: begin
          if (odd_q) state_q <= Judged;
          else if (beat_chunks) state_q <= Number;
          else if (divided) state_q <= rest != 0 ? Judged : Number;
        end
        Number: if (!bits_read_i) state_q <= Look;
        Look: state_q <= right ? Sift : Judged;
        Sift: state_q <= Judged;
        Judged: if (resolve) state_q <= verdict_q == New ? Block : Idle;
        Block: state_q <= Recall;
        Recall: state_q <= Count;
        Count: if (counts) state_q <= again ? Block : Idle;
        Measure: if (divided) state_q <= Empty;
        Empty: if (begins) state_q <= Idle;
        default: state_q <= Idle;
      endcase
      if (aborts && state_q inside {Divide, Number, Look, Sift, Judged}) state_q <= Idle;
      if (start_i) state_q <= Measure;
      if (state_q == Measure) missing_o <= (IndexW + 1)'(quotient);
      else if (set || begins) missing_o <= missing_o + {{IndexW{set}}, 1'b1};
      chunk_o <= set;
      duplicate_o <= (resolve && verdict_q == Duplicate) || (done && !open && !receiving_i);
      malformed_o <= (resolve && verdict_q == Malformed) || (done && !open && receiving_i);
    end
  end

`ifndef SYNTHESIS
  WordsAreAlone_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni) queue_word_o |-> !ended_q);
  DescriptionHolds_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni) busy_o && !start_i |=> $stable(
      {base_i, length_i, chunk_i}
  ));
  ImageIsSound_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni)
    busy_o |-> length_i inside {[1:1<<28]} && chunk_i != 0 && chunk_i[5:0] == 0);
  ChunksFit_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni)
    state_q == Measure && divided && !start_i |-> quotient < PlaceW'(Chunks));
  ToldHolds_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni)
    block_valid_o && !block_pop_i && !start_i |=> $stable(
      {block_valid_o, block_o}
  ));
  WritesAreFew_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni) staged_q - written < 8'd128);
`endif

  logic unused;
  assign unused = ^{lane_i.first, lane_i.head, extent_q[28], unused_waits, unused_told, beyond};
endmodule
