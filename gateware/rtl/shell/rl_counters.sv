// The counters of what happens faster than the firmware could count, 64 bits each. They are read by
// their numbers on the wire; those that the firmware counts itself read 0 here.
//
// Each has a slot: a small register that counts round and round, and 64 bits in a RAM. A sweep over
// the slots adds what the register is ahead of the RAM's low bits, and nothing is ever cleared. It
// takes two cycles a slot, low half and high half, 48 in all, and in that time no register may come
// round: 4 bits for what happens once a frame, of which none takes less than 5 cycles; 6 and more for
// what can happen each cycle; and for bytes enough for the longest reads, asked for by the shortest
// frames.
module rl_counters
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
#(
  localparam int unsigned IndexW = $clog2(2 * CounterCount)
) (
  input  logic              clk_net_i,
  input  logic              rst_net_ni,

  input  rx_event_t         rx_i,
  input  logic              rx_overflow_i,     // The receive FIFO had no room for a frame.
  input  logic              tx_word_i,         // A word was sent,
  input  logic              tx_frame_i,        // and a frame, of so many bytes.
  input  logic [13:0]       tx_bytes_i,
  input  logic              write_i,           // A write was stored.
  input  logic [13:0]       write_bytes_i,
  input  logic              store_duplicate_i, // A write was there already,
  input  logic              store_window_i,    // or is beyond the window.
  input  logic              chunk_i,           // Image data was stored,
  input  logic              stage_duplicate_i, // was there already,
  input  logic              stage_malformed_i, // or is no chunk of this image.
  input  logic              read_i,            // A read was taken.
  input  logic [13:0]       read_bytes_i,
  input  logic              fetch_full_i,      // A read found its queue full.

  // A counter's number, and 1 for its high half. When the low half comes round the high one follows
  // a cycle later: who needs both reads high, low, high.
  input  logic [IndexW-1:0] index_i,
  output logic [31:0]       data_o             // One cycle later. It lags by a sweep.
);
  // -- slots: 16 count frames, 4 words, 4 sums of bytes
  localparam int unsigned Frames = 16, Words = 4, Sums = 4;
  localparam int unsigned Slots = Frames + Words + Sums;
  localparam int unsigned FrameW = 4, WordW = 6, SumW = 16;
  if (2 * Slots >= 5 << FrameW || 2 * Slots >= 1 << WordW || 2 * Slots * 32'(BulkJumbo) / 8 >= 1 << SumW)
  begin : gen_check
    $fatal(0, "rl_counters: the sweep takes too long (%m)");
  end

  // Which slot a counter has; the last for frames is that of all others, and stays 0.
  typedef logic [4:0] slot_t;
  function automatic slot_t slot_of(input logic [IndexW-2:0] number);
    unique case (counter_e'(8'(number)))
      CounterRxFrames: return 5'd0;
      CounterTxFrames: return 5'd1;
      CounterDropForeign: return 5'd2;
      CounterDropTruncated: return 5'd3;
      CounterDropVersion: return 5'd4;
      CounterDropKind: return 5'd5;
      CounterDropAuth: return 5'd6;
      CounterDropEpoch: return 5'd7;
      CounterDropCheck: return 5'd8;
      CounterDropMalformed: return 5'd9;
      CounterDropWindow: return 5'd10;
      CounterImageChunks: return 5'd11;
      CounterWrites: return 5'd12;
      CounterReads: return 5'd13;
      CounterRxWords: return 5'd16;
      CounterTxWords: return 5'd17;
      CounterDropDuplicate: return 5'd18;
      CounterDropQueue: return 5'd19;
      CounterRxBytes: return 5'd20;
      CounterTxBytes: return 5'd21;
      CounterWriteBytes: return 5'd22;
      CounterReadBytes: return 5'd23;
      default: return 5'd15;
    endcase
  endfunction

  typedef logic [FrameW-1:0] frame_t;
  typedef logic [WordW-1:0] word_t;
  typedef logic [SumW-1:0] sum_t;
  frame_t frames_q[Frames];
  word_t words_q[Words];
  sum_t sums_q[Sums];
  logic [Frames-1:0] once;
  assign once = {
    2'b00,
    read_i,
    write_i,
    chunk_i,
    store_window_i,
    stage_malformed_i,
    rx_i.check,
    rx_i.epoch,
    rx_i.auth,
    rx_i.kind,
    rx_i.version,
    rx_i.truncated,
    rx_i.foreign,
    tx_frame_i,
    rx_i.frame
  };

  always_ff @(posedge clk_net_i) begin
    for (int unsigned i = 0; i < Frames; i++) if (once[i]) frames_q[i] <= frames_q[i] + 1'b1;
    if (rx_i.word) words_q[0] <= words_q[0] + 1'b1;
    if (tx_word_i) words_q[1] <= words_q[1] + 1'b1;
    words_q[2] <= words_q[2] + word_t'(store_duplicate_i) + word_t'(stage_duplicate_i);
    words_q[3] <= words_q[3] + word_t'(rx_overflow_i) + word_t'(fetch_full_i);
    if (rx_i.word) sums_q[0] <= sums_q[0] + sum_t'(rx_i.bytes);
    if (tx_frame_i) sums_q[1] <= sums_q[1] + sum_t'(tx_bytes_i);
    if (write_i) sums_q[2] <= sums_q[2] + sum_t'(write_bytes_i);
    if (read_i) sums_q[3] <= sums_q[3] + sum_t'(read_bytes_i);
    if (!rst_net_ni) begin
      frames_q <= '{default: '0};
      words_q <= '{default: '0};
      sums_q <= '{default: '0};
    end
  end

  // -- the sweep: address, word, difference, sum, write
  typedef struct packed {
    slot_t slot;
    logic  high;
  } addr_t;
  addr_t addr_q, addr_word_q, addr_diff_q, addr_sum_q, addr_write_q;
  logic fresh_q, fresh_word_q;  // The first sweep: what is in the RAM does not count.
  logic [2:0] warm_q;          // Until 4 its first step has not come to the end.
  frame_t frame_seen_q;
  word_t word_seen_q;
  sum_t sum_seen_q, ahead_q, diff_q;
  logic [31:0] word, word_diff_q, word_sum_q;
  logic [32:0] sum_q;
  logic unused_carry_q;

  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) begin
      addr_q <= '0;
      fresh_q <= 1'b1;
      warm_q <= '0;
    end else begin
      addr_q <= addr_q + 1'b1;
      if (addr_q == 6'(2 * Slots - 1)) begin
        addr_q <= '0;
        fresh_q <= 1'b0;
      end
      if (!warm_q[2]) warm_q <= warm_q + 1'b1;
    end
  end

  always_ff @(posedge clk_net_i) begin
    addr_word_q <= addr_q;
    fresh_word_q <= fresh_q;
    frame_seen_q <= frames_q[addr_q.slot[3:0]];
    word_seen_q <= words_q[addr_q.slot[1:0]];
    sum_seen_q <= sums_q[addr_q.slot[1:0]];
    if (addr_q.slot[4]) frame_seen_q <= '0;
    if (!addr_q.slot[4] || addr_q.slot[2]) word_seen_q <= '0;
    if (!addr_q.slot[4] || !addr_q.slot[2]) sum_seen_q <= '0;

    addr_diff_q <= addr_word_q;
    ahead_q <= sum_t'(frame_seen_q) | sum_t'(word_seen_q) | sum_seen_q;
    word_diff_q <= word;
    if (fresh_word_q) word_diff_q <= '0;

    // As many bits as the slot's register has; none for the high half.
    addr_sum_q <= addr_diff_q;
    word_sum_q <= word_diff_q;
    diff_q <= ahead_q - word_diff_q[SumW-1:0];
    if (!(addr_diff_q.slot[4] && addr_diff_q.slot[2])) diff_q[SumW-1:WordW] <= '0;
    if (!addr_diff_q.slot[4]) diff_q[SumW-1:FrameW] <= '0;
    if (addr_diff_q.high) diff_q <= '0;

    // The high half comes right behind the low half, whose carry it takes.
    addr_write_q <= addr_sum_q;
    {sum_q, unused_carry_q} <= {1'b0, word_sum_q, 1'b1} +
                               {17'd0, diff_q, addr_sum_q.high && sum_q[32]};
  end

  rl_ram #(
    .Width(32),
    .Depth(64)
  ) u_sweep (
    .clk_wr_i(clk_net_i),
    .we_i(warm_q[2]),
    .waddr_i(addr_write_q),
    .wdata_i(sum_q[31:0]),
    .clk_rd_i(clk_net_i),
    .re_i(1'b1),
    .raddr_i(addr_q),
    .rdata_o(word)
  );

  // -- the processor's copy; a word that is just being written goes around it
  addr_t read_addr;
  logic [31:0] kept, passed_q;
  logic pass_q;
  assign read_addr = '{slot: slot_of(index_i[IndexW-1:1]), high: index_i[0]};
  rl_ram #(
    .Width(32),
    .Depth(64)
  ) u_read (
    .clk_wr_i(clk_net_i),
    .we_i(warm_q[2]),
    .waddr_i(addr_write_q),
    .wdata_i(sum_q[31:0]),
    .clk_rd_i(clk_net_i),
    .re_i(1'b1),
    .raddr_i(read_addr),
    .rdata_o(kept)
  );
  always_ff @(posedge clk_net_i) begin
    pass_q <= addr_write_q == read_addr;
    passed_q <= sum_q[31:0];
  end
  assign data_o = pass_q ? passed_q : kept;
endmodule
