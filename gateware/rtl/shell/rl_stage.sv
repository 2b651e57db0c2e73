// Staging: puts the chunks of an image in their places in DDR, each once, and knows which are missing.
//
// A chunk's words go into the configuration queue tentatively while its number is found: the next in
// order is known, any other takes a division of 22 cycles. Then the bitmap tells whether it is new. In
// the background each chunk's bytes are taken off what the blocks of 64 KiB that it covers still wait
// for; a block that waits for nothing is shown to the firmware as soon as its bytes are in DDR.
module rl_stage
  import rl_shell_pkg::*;
#(
  parameter int unsigned ChunksMax = 262144, // Chunks of an image, a power of two.
  localparam int unsigned IndexW = $clog2(ChunksMax),
  localparam int unsigned WordW = IndexW - 5,
  localparam int unsigned LengthW = 29,      // 256 MiB.
  localparam int unsigned BlockW = 12        // Blocks of 64 KiB.
) (
  input  logic              clk_net_i,
  input  logic              rst_net_ni,

  input  lane_t             lane_i,
  input  logic              receiving_i,      // Image data is wanted; if not, all of it was there once.
  output logic              room_o,

  input  logic              queue_room_i,
  output logic              queue_word_o,
  output logic [63:0]       queue_data_o,
  output logic              queue_commit_o,
  output store_t            queue_desc_o,
  output logic              queue_rollback_o,
  input  logic [7:0]        written_i,        // Frames of the queue that are in DDR, modulo 256.

  // -- firmware
  input  logic              start_i,          // Begins an image; these four hold from then on.
  input  beat_t             base_i,
  input  logic [LengthW-1:0] length_i,        // Bytes, 1 or more.
  input  logic [15:0]       chunk_i,          // Bytes, a multiple of 64.
  input  logic [IndexW:0]   chunks_i,
  output logic              busy_o,           // Still emptying bitmap and counters.
  output logic [IndexW:0]   missing_o,        // Chunks that are not there.
  input  logic              bitmap_re_i,
  input  logic [WordW-1:0]  bitmap_addr_i,
  output logic [31:0]       bitmap_o,         // A cycle later. Bit n % 32 of word n / 32: chunk n is there.
  output logic              block_valid_o,
  output logic [BlockW-1:0] block_o,
  input  logic              block_pop_i,

  output logic              chunk_o,          // Events: a chunk was taken,
  output logic              duplicate_o,      // was there before,
  output logic              malformed_o       // or is none.
);
  if (ChunksMax != 1 << IndexW || ChunksMax < 64) begin : gen_check
    $fatal(0, "rl_stage: ChunksMax must be a power of two, 64 or more (%m)");
  end

  localparam int unsigned QuotientW = 22;
  localparam logic [16:0] BlockBytes = 17'h10000;

  typedef enum logic [3:0] {
    Empty,    // Bitmap and counters are being emptied.
    Idle,
    Check,    // The head is compared with the image.
    Divide,
    Look,     // The bitmap is read,
    Wait,
    Judge,    // and the chunk is new or not.
    Settle    // The verdict is known; the frame's end or the tally is not.
  } state_e;

  state_e state_q;
  logic [LengthW-1:0] addr_q, left_q, next_addr_q;
  logic [15:0] length_q;
  logic [IndexW-1:0] index_q, next_index_q;
  logic far_q, start_frame, ended_q, bad_q;
  logic is_new_q, is_malformed_q;
  logic [QuotientW-1:0] quotient_q;
  logic [8:0] remainder_q;
  logic [4:0] step_q;
  logic [7:0] divisor;
  logic tally_idle, finish, in_q;

  assign divisor = chunk_i[13:6];
  assign busy_o = state_q == Empty;
  assign room_o = queue_room_i && state_q == Idle;

  // -- the frame
  logic payload, done_empty;
  assign payload = lane_i.word && lane_i.payload && lane_i.route == RouteImage;
  assign start_frame = payload && !in_q;
  // A frame without payload is no chunk.
  assign done_empty = lane_i.done && lane_i.route == RouteImage && !in_q && !payload;
  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) begin
      in_q <= 1'b0;
      ended_q <= 1'b0;
      bad_q <= 1'b0;
    end else begin
      in_q <= (in_q || start_frame) && !lane_i.done && !lane_i.abort;
      if (finish || state_q == Idle) begin
        ended_q <= start_frame && (lane_i.done || lane_i.abort);
        bad_q <= start_frame && lane_i.abort;
      end else if ((lane_i.done || lane_i.abort) && in_q) begin
        ended_q <= 1'b1;
        bad_q <= lane_i.abort;
      end
    end
  end
  assign queue_word_o = payload;
  assign queue_data_o = lane_i.data;

  // -- the bitmap; the firmware reads first.
  logic bitmap_we, look;
  logic [WordW-1:0] bitmap_waddr, empty_q;
  logic [31:0] bitmap_wdata;
  assign look = state_q == Look && !bitmap_re_i;
  rl_ram #(
    .Width(32),
    .Depth(ChunksMax / 32)
  ) u_bitmap (
    .clk_wr_i(clk_net_i),
    .we_i(bitmap_we),
    .waddr_i(bitmap_waddr),
    .wdata_i(bitmap_wdata),
    .clk_rd_i(clk_net_i),
    .re_i(1'b1),
    .raddr_i(look ? index_q[IndexW-1:5] : bitmap_addr_i),
    .rdata_o(bitmap_o)
  );
  logic [31:0] word_q;
  assign bitmap_we = state_q == Empty || queue_commit_o;
  assign bitmap_waddr = state_q == Empty ? empty_q : index_q[IndexW-1:5];
  assign bitmap_wdata = state_q == Empty ? '0 : word_q | (32'd1 << index_q[4:0]);

  // -- the verdict
  logic ok, take, whole_valid;
  logic [WordW-1:0] empty_last;
  logic [15:0] wanted;
  assign wanted = left_q >= LengthW'(chunk_i) ? chunk_i : left_q[15:0];
  assign ok = !far_q && addr_q[5:0] == 0 && addr_q < length_i && length_q == wanted;
  assign take = is_new_q && !bad_q;
  assign finish = state_q == Settle && ended_q && tally_idle;
  assign empty_last = WordW'((chunks_i - 1'b1) >> 5);

  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) begin
      state_q <= Idle;
      missing_o <= '0;
      next_index_q <= '0;
      next_addr_q <= '0;
      empty_q <= '0;
    end else begin
      unique case (state_q)
        Empty: begin
          if (empty_q != empty_last) empty_q <= empty_q + 1'b1;
          else if (tally_idle && !whole_valid) state_q <= Idle;
        end
        Idle: begin
          if (start_frame) state_q <= receiving_i ? Check : Settle;
        end
        Check: begin
          // left_q is there now.
          if (!ok) state_q <= Settle;
          else state_q <= addr_q == next_addr_q ? Look : Divide;
        end
        Divide: begin
          if (step_q == 0) state_q <= remainder_q == 0 ? Look : Settle;
        end
        Look: if (look) state_q <= Wait;
        Wait: state_q <= Judge;
        Judge: state_q <= Settle;
        Settle: if (finish) state_q <= Idle;
        default: state_q <= Idle;
      endcase
      if (finish && take) begin
        missing_o <= missing_o - 1'b1;
        next_index_q <= index_q + 1'b1;
        next_addr_q <= addr_q + LengthW'(chunk_i);
      end
      if (start_i) begin
        state_q <= Empty;
        missing_o <= chunks_i;
        next_index_q <= '0;
        next_addr_q <= '0;
        empty_q <= '0;
      end
    end
  end

  logic [8:0] trial;
  assign trial = {remainder_q[7:0], quotient_q[QuotientW-1]};
  always_ff @(posedge clk_net_i) begin
    if (start_frame && state_q == Idle) begin
      far_q <= lane_i.head.addr[63:LengthW] != 0;
      addr_q <= lane_i.head.addr[LengthW-1:0];
      left_q <= length_i - lane_i.head.addr[LengthW-1:0];
      length_q <= lane_i.head.length;
      is_new_q <= 1'b0;
      is_malformed_q <= 1'b0;
    end
    if (state_q == Check) begin
      is_malformed_q <= !ok;
      index_q <= next_index_q;
      quotient_q <= addr_q[LengthW-2:6];
      remainder_q <= '0;
      step_q <= 5'(QuotientW);
    end
    if (state_q == Divide) begin
      if (step_q == 0) begin
        is_malformed_q <= remainder_q != 0;
        index_q <= quotient_q[IndexW-1:0];
      end else begin
        step_q <= step_q - 1'b1;
        remainder_q <= trial >= {1'b0, divisor} ? trial - {1'b0, divisor} : trial;
        quotient_q <= {quotient_q[QuotientW-2:0], trial >= {1'b0, divisor}};
      end
    end
    if (state_q == Wait) word_q <= bitmap_o;
    if (state_q == Judge) is_new_q <= !word_q[index_q[4:0]];
  end

  assign queue_commit_o = finish && take;
  assign queue_rollback_o = finish && !take;
  assign queue_desc_o = '{
      addr: {base_i, 6'd0} + AddrW'(addr_q),
      length: length_q[13:0]
  };
  always_ff @(posedge clk_net_i) begin
    chunk_o <= rst_net_ni && finish && take;
    malformed_o <= rst_net_ni && ((finish && !bad_q && is_malformed_q) || (done_empty && receiving_i));
    duplicate_o <= rst_net_ni && ((finish && !bad_q && !is_malformed_q && !is_new_q) ||
                                  (done_empty && !receiving_i));
  end

  // -- the tally of blocks
  typedef enum logic [1:0] {
    TallyIdle,
    TallyFill,  // Every block waits for all its bytes.
    TallyRead,
    TallyWrite
  } tally_e;
  tally_e tally_q;
  logic [BlockW-1:0] at_q, last_block, to_q;
  logic [16:0] take_q, rest_q, left, after, fill;
  logic block_we, block_room;
  logic [7:0] committed_q, ticket;
  logic [LengthW-2:0] end_addr;

  assign last_block = BlockW'((length_i - 1'b1) >> 16);
  assign end_addr = addr_q[LengthW-2:0] + (LengthW - 1)'(length_q) - 1'b1;
  assign tally_idle = tally_q == TallyIdle;
  assign after = left - take_q;
  // The last block is what is left of the image.
  assign fill = at_q == last_block && length_i[15:0] != 0 ? {1'b0, length_i[15:0]} : BlockBytes;
  assign block_we = tally_q == TallyFill || tally_q == TallyWrite;
  rl_ram #(
    .Width(17),
    .Depth(1 << BlockW)
  ) u_blocks (
    .clk_wr_i(clk_net_i),
    .we_i(block_we),
    .waddr_i(at_q),
    .wdata_i(tally_q == TallyFill ? fill : after),
    .clk_rd_i(clk_net_i),
    .re_i(1'b1),
    .raddr_i(at_q),
    .rdata_o(left)
  );
  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) begin
      tally_q <= TallyIdle;
      committed_q <= '0;
    end else begin
      if (queue_commit_o) committed_q <= committed_q + 1'b1;
      unique case (tally_q)
        TallyIdle: if (queue_commit_o) tally_q <= TallyRead;
        TallyFill: if (at_q == last_block) tally_q <= TallyIdle;
        TallyRead: tally_q <= TallyWrite;
        TallyWrite: tally_q <= at_q == to_q ? TallyIdle : TallyRead;
        default: tally_q <= TallyIdle;
      endcase
      if (start_i) tally_q <= TallyFill;
    end
    if (start_i) begin
      at_q <= '0;
    end else if (tally_q == TallyFill) begin
      at_q <= at_q + 1'b1;
    end else if (queue_commit_o) begin
      // A chunk is shorter than a block: it lies in one, or ends in the next.
      at_q <= addr_q[LengthW-2:16];
      to_q <= end_addr[LengthW-2:16];
      take_q <= end_addr[LengthW-2:16] == addr_q[LengthW-2:16] ? 17'(length_q) : BlockBytes - 17'(addr_q[15:0]);
      rest_q <= 17'(end_addr[15:0]) + 1'b1;
    end else if (tally_q == TallyWrite) begin
      at_q <= to_q;
      take_q <= rest_q;
    end
  end

  // A block that waits for nothing: with the number of frames that must be in DDR.
  logic [9:0] unused_count;
  logic block_fetched;
  rl_fifo #(
    .Width(BlockW + 8),
    .Depth(512)
  ) u_whole (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .wvalid_i(tally_q == TallyWrite && after == 0),
    .wready_o(block_room),
    .wdata_i({at_q, committed_q}),
    .rvalid_o(whole_valid),
    .rready_i(block_fetched),
    .rdata_o({block_o, ticket}),
    .count_o(unused_count)
  );
  // Far fewer than 128 frames are under way.
  assign block_valid_o = whole_valid && signed'(written_i - ticket) >= 0;
  // A new image forgets the blocks of the one before.
  assign block_fetched = block_pop_i || busy_o;

`ifndef SYNTHESIS
  // The firmware takes a block in much less time than 64 KiB take to come.
  BlocksAreNotLost_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni)
    tally_q == TallyWrite && after == 0 |-> block_room);
  NoFrameWhileBusy_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni) start_frame |-> state_q == Idle);
  BytesAreCountedOnce_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni)
    tally_q == TallyWrite |-> left >= take_q);
`endif

  logic unused;
  assign unused = ^{lane_i.first, unused_count};
endmodule : rl_stage
