// Image data: chunks go into the configuration queue as they come, each once and in any order, to
// their place in a staging slot. It keeps which are there, and tells the blocks of 64 KiB that are
// whole and in DDR, for the digest.
//
// Where a chunk belongs is known when its first word comes, and its number is worked out while the
// others do, by a division of 22 cycles, or of four (`Quick`); chunks of 64 bytes need none. If the frame ends before
// that is done, there is no room for another.
module rl_image_write
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
#(
  parameter int unsigned Bulk = 32'(BulkStandard), // Most bytes of a chunk: what the queue has room for.
  parameter int unsigned Chunks = 32'(ImageChunksMax),  // Of an image, at most; a power of two.
  parameter int unsigned Blocks = 16,       // That can wait for the firmware; a power of two.
  parameter bit          Quick = 1'b0,      // Words are wide and frames short: see above.
  localparam int unsigned IndexW = $clog2(Chunks),
  localparam int unsigned BlockW = 12,        // Blocks of 64 KiB.
  localparam int unsigned RowsW = IndexW - 2 > BlockW ? IndexW - 2 : BlockW
) (
  input  logic              clk_net_i,
  input  logic              rst_net_ni,

  input  rx_beat_t             rx_beat_i,
  output logic              room_o,
  input  logic              receiving_i,       // The load takes data. Else all of it was there once.

  // Configuration queue: frames of write_desc_t.
  input  logic              queue_room_i,
  output logic              queue_word_o,
  output logic [63:0]       queue_data_o,
  output logic              queue_commit_o,
  output write_desc_t            queue_desc_o,
  output logic              queue_rollback_o,
  input  logic [7:0]        written_gray_i,    // Frames of it that are in memory.

  // The load. Its description holds from a cycle before start_i on, while the load lasts.
  input  logic              start_i,           // Forget the one before.
  input  beat_t             base_i,
  input  logic [IndexW-1:0] last_i,            // The last chunk,
  input  logic [13:0]       last_length_i,     // and how many bytes it has, 1 to chunk_i.
  input  logic [13:0]       chunk_i,           // Bytes of the others, a multiple of 64 up to Bulk.
  input  logic [RowsW-1:0]  empty_i,           // The greater of last_i / 4 and the last block's number.
  output logic              busy_o,            // Still starting: no frames yet.
  output logic [IndexW:0]   staged_o,          // Chunks staged, counted round and round.

  // Which chunks are there: bit n % 32 of word n / 32.
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
  localparam int unsigned RowW = IndexW - 2;
  if (Chunks != 1 << IndexW || IndexW < BlockW || IndexW > PlaceW || Bulk >= 1 << 14) begin : gen_check
    $fatal(
        0, "rl_image_write: Chunks must be a power of two, 2^12 to 2^22, Bulk less than 2^14 (%m)"
    );
  end
  typedef logic [PlaceW-1:0] place_t;
  typedef logic [IndexW-1:0] index_t;
  typedef logic [BlockW-1:0] block_t;

  typedef enum logic [3:0] {
    Idle    = 4'd0,
    Divide  = 4'd1,
    Number  = 4'd2,   // The chunk's number is known.
    Look    = 4'd3,   // The bits around it are there,
    Sift    = 4'd4,   // and its own says whether it is.
    Judged  = 4'd5,   // Until the frame has ended.
    Block   = 4'd6,   // Look up the block that it starts in,
    Recall  = 4'd7,
    Count   = 4'd8,   // and count its beats.
    Empty   = 4'd9    // A new load: nothing is there.
  } state_e;
  typedef enum logic [1:0] {
    New       = 2'd0,
    Duplicate = 2'd1,
    Malformed = 2'd2
  } verdict_e;
  state_e state_q;
  verdict_e verdict_q;

  // -- words, tentatively
  logic mine, fits, opens, open, open_q, ended_q, done, aborts, resolve;
  assign mine = rx_beat_i.route == RouteImage;
  assign fits = rx_beat_i.head.length <= 16'(Bulk);
  assign opens = rx_beat_i.word && rx_beat_i.payload && mine;
  assign open = open_q || opens;
  assign done = rx_beat_i.done && mine;
  assign aborts = rx_beat_i.abort && mine && open;
  assign queue_word_o = opens && fits;
  assign queue_data_o = rx_beat_i.data;

  // -- the frame. The next one cannot be here before this one's block is looked up.
  logic wanted_q, odd_q;
  place_t place_q;
  logic [13:0] length_q;
  beat_t beat_q;
  always_ff @(posedge clk_net_i) begin
    if (opens && !open_q) begin
      place_q <= rx_beat_i.head.addr[6+:PlaceW];
      odd_q <= rx_beat_i.head.addr[63:6+PlaceW] != 0 || rx_beat_i.head.addr[5:0] != 0 || !fits;
      length_q <= rx_beat_i.head.length[13:0];
    end
    beat_q <= base_i + BeatW'(place_q);
  end

  // -- which chunk it is
  logic divides, divided, beat_chunks, right, beyond_q, is_last_q;
  place_t quotient;
  index_t index;
  logic [7:0] rest;
  logic [IndexW:0] ahead_q;  // The last chunk's number less this one's.
  if (Quick) begin : gen_quick
    // The reciprocal of a new load's chunk is there before its first frame.
    logic [1:0] waited_q;
    place_t ratio;
    logic [7:0] rest_4;
    rl_quotient #(
      .Width(PlaceW),
      .DivisorW(8)
    ) u_quotient (
      .clk_i(clk_net_i),
      .start_i,
      .divisor_i(chunk_i[13:6]),
      .ready_o(divides),
      .dividend_i(place_q),
      .quotient_o(ratio),
      .rest_o(rest_4)
    );
    assign quotient = beat_chunks ? place_q : ratio;
    assign rest = beat_chunks ? '0 : rest_4;
    assign divided = beat_chunks || waited_q == '1;
    always_ff @(posedge clk_net_i) waited_q <= state_q == Divide ? waited_q + 1'b1 : '0;
  end else begin : gen_serial
    logic ends;
    rl_divide #(
      .Width(PlaceW),
      .DivisorW(8)
    ) u_divide (
      .clk_i(clk_net_i),
      .load_i(state_q == Idle),
      .dividend_i(place_q),
      .step_i(state_q == Divide && !beat_chunks),
      .divisor_i(chunk_i[13:6]),
      .done_o(ends),
      .quotient_o(quotient),
      .rest_o(rest)
    );
    assign divided = beat_chunks || ends;
    assign divides = 1'b1;
  end
  assign index = quotient[IndexW-1:0];
  assign beat_chunks = chunk_i[13:7] == 0;
  assign right = length_q == (is_last_q ? last_length_i : chunk_i);
  always_ff @(posedge clk_net_i) begin
    ahead_q <= {1'b0, last_i} - {1'b0, index};
    if (state_q == Look) begin
      is_last_q <= ahead_q == 0;
      beyond_q <= ahead_q[IndexW] || (PlaceW'(quotient >> IndexW) != 0) || rest != 0;
    end
  end

  // -- whether it is there
  logic [3:0] bits, bits_q;
  logic [RowsW-1:0] row_q;  // In emptying; else it is a block.
  logic set;
  logic set_q;  // The bits are far apart, and the next frame looks some cycles later.
  assign set = resolve && verdict_q == New;
  rl_bitmap #(
    .Bits(Chunks)
  ) u_have (
    .clk_i(clk_net_i),
    .row_i(state_q == Empty ? row_q[RowW-1:0] : index[IndexW-1:2]),
    .row_o(bits),
    .set_i(set_q),
    .bit_i(index[1:0]),
    .empty_i(state_q == Empty),
    .word_i(bits_addr_i),
    .word_o(bits_o)
  );

  always_ff @(posedge clk_net_i) begin
    set_q <= set;
    bits_q <= bits;
    if (state_q == Idle) verdict_q <= receiving_i ? Malformed : Duplicate;
    else if (state_q == Sift && right && !beyond_q)
      verdict_q <= bits_q[index[1:0]] ? Duplicate : New;
  end

  // -- beats of each block that are there, modulo 1024. The last chunk counts as if the image went on to the
  // end of the block, so that all blocks are whole when they have 1024.
  logic [9:0] counted, counted_q, counted_d, addend_q;
  logic [10:0] span;     // From its first block's start to its own end, without a part of a beat.
  logic [7:0] excess_q;  // What is beyond the end of that block,
  logic crosses_q;       // if it goes as far.
  logic carry_q, full, whole, again, again_q, first_q, waits_ready, counts;
  block_t block;
  assign block = row_q[BlockW-1:0];
  assign span = 11'(place_q[9:0]) + 11'(length_q[13:6]);
  assign again = first_q && crosses_q && (excess_q != 0 || length_q[5:0] != 0);
  assign {full, counted_d} = 11'(counted_q) + 11'(addend_q) + 11'(carry_q);
  // The last chunk is all that there is of a block that it does not start in.
  assign whole = full || (is_last_q && !first_q);
  assign counts = state_q == Count && waits_ready;
  rl_ram #(
    .Width(10),
    .Depth(1 << BlockW)
  ) u_blocks (
    .clk_wr_i(clk_net_i),
    .we_i(counts || state_q == Empty),
    .waddr_i(block),
    .wdata_i(counted_d),
    .clk_rd_i(clk_net_i),
    .re_i(1'b1),
    .raddr_i(block),
    .rdata_o(counted)
  );

  always_ff @(posedge clk_net_i) begin
    if (state_q == Judged) begin
      crosses_q <= span[10];
      excess_q <= span[7:0];
    end
    // Empty blocks have 0.
    if (start_i || state_q == Empty) begin
      counted_q <= '0;
      addend_q <= '0;
      carry_q <= 1'b0;
    end else begin
      if (state_q == Recall) counted_q <= counted;
      if (state_q == Block) begin
        // Up to the end of the block: 1024 less where it starts, as its complement and one.
        carry_q <= first_q && (again || is_last_q);
        if (!first_q) addend_q <= {2'b0, excess_q};
        else if (again || is_last_q) addend_q <= ~place_q[9:0];
        else addend_q <= {2'b0, length_q[13:6]};
      end
    end
    if (state_q == Block) again_q <= again;
    if (start_i) row_q <= '0;
    else if (state_q == Judged) row_q <= RowsW'(place_q[10+:BlockW]);
    else if (counts || (state_q == Empty && !(Quick && row_q == empty_i))) row_q <= row_q + 1'b1;
    if (state_q == Judged) first_q <= 1'b1;
    else if (counts) first_q <= 1'b0;
  end

  // -- whole blocks: told when the frames staged until then are in memory
  typedef struct packed {
    block_t     block;
    logic [7:0] ticket;
  } whole_t;
  whole_t waiting;
  logic [7:0] written, beyond;
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
    .wdata_i({block, staged_o[7:0]}),
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
    if (!rst_net_ni) staged_o <= '0;
    else if (set) staged_o <= staged_o + 1'b1;
    held_q <= waits && !told_ready;
  end

  // -- one frame after the other
  assign resolve = state_q == Judged && (ended_q || (done && open_q));
  assign queue_commit_o = set;
  assign queue_rollback_o = (resolve && verdict_q != New) || aborts;
  assign busy_o = state_q == Empty;
  assign queue_desc_o = '{addr: {beat_q, 6'd0}, length: length_q};

  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) begin
      state_q <= Idle;
      open_q <= 1'b0;
      ended_q <= 1'b0;
      wanted_q <= 1'b0;
      chunk_o <= 1'b0;
      duplicate_o <= 1'b0;
      malformed_o <= 1'b0;
    end else begin
      open_q <= open && !rx_beat_i.done && !rx_beat_i.abort;
      ended_q <= (ended_q || (done && open)) && !resolve;
      wanted_q <= ((opens && !open_q) || (wanted_q && state_q != Idle)) && !aborts;
      unique case (state_q)
        Idle: if (wanted_q && !aborts) state_q <= receiving_i ? Divide : Judged;
        Divide: begin
          if (odd_q) state_q <= Judged;
          else if (divided) state_q <= Number;
        end
        Number: state_q <= Look;
        Look: state_q <= Sift;
        Sift: state_q <= Judged;
        Judged: if (resolve) state_q <= verdict_q == New ? Block : Idle;
        Block: state_q <= Recall;
        Recall: state_q <= Count;
        Count: if (counts) state_q <= again_q ? Block : Idle;
        Empty: if (row_q == empty_i && divides) state_q <= Idle;
        default: state_q <= Idle;
      endcase
      if (aborts && state_q inside {Divide, Number, Look, Sift, Judged}) state_q <= Idle;
      if (start_i) state_q <= Empty;
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
      {base_i, last_i, last_length_i, chunk_i, empty_i}
  ));
  ImageIsSound_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni)
    busy_o |-> chunk_i inside {[64:Bulk]} && chunk_i[5:0] == 0 && last_length_i inside {[1:chunk_i]});
  FrameIsThere_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni)
    state_q == Block && first_q |-> $stable(
      {place_q, length_q}
  ));
  ToldHolds_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni)
    block_valid_o && !block_pop_i && !start_i |=> $stable(
      {block_valid_o, block_o}
  ));
  WritesAreFew_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni) 8'(staged_o[7:0] - written) < 8'd128);
`endif

  logic unused;
  assign unused = ^{span[9:8], rx_beat_i.first, rx_beat_i.head, unused_waits, unused_told, beyond};
endmodule
