// The counters of what happens faster than the firmware could count, 64 bits each. They are read by
// their numbers on the wire; those that the firmware counts itself read 0 here. Counters of parts that a
// card may lack are not among them.
//
// Each has a small register that counts round and round, and 64 bits in a RAM. A sweep over all numbers
// adds what the register is ahead of the RAM's low bits, and nothing is ever cleared. It takes two cycles
// a number, low half and high half, 72 in all, and in that time no register may come round: 4 bits for
// what happens once a frame, of which none takes less than 5 cycles; 7 for what can happen each cycle;
// for bytes of the wire 8 a cycle, and a whole frame more if they are counted at its end; and for bytes
// to be read enough for the longest reads, asked for by the shortest frames.
module rl_counters
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
  import rl_port_pkg::*;
#(
  parameter int unsigned DataW = 64,  // Bits of port 0's words.
  parameter int unsigned Ports = 1,
  localparam int unsigned IndexW = $clog2(2 * CommonCounterCount)
) (
  input  logic              clk_net_i,
  input  logic              rst_net_ni,

  input  rx_event_t         rx_i,
  input  logic              rx_overflow_i,     // The receive FIFO had no room for a frame.
  input  logic              answered_i,        // A solicitation was taken, to be announced to.
  input  logic              tx_word_i,         // A word was sent,
  input  logic              tx_frame_i,        // and a frame, of so many bytes.
  input  logic [13:0]       tx_bytes_i,
  // The ports beside port 0, of which each tells of a frame when it has ended. Tied off for a card with one port.
  output logic              port_rx_ready_o,
  input  port_event_t       port_rx_i,         // Until it is taken.
  input  logic              port_tx_valid_i,
  output logic              port_tx_ready_o,
  input  logic [13:0]       port_tx_bytes_i,
  input  logic              write_i,           // A write was stored.
  input  logic [13:0]       write_bytes_i,
  input  logic              write_duplicate_i, // A write was there already,
  input  logic              write_beyond_i,    // or is beyond the window.
  input  logic              chunk_i,           // Image data was stored,
  input  logic              chunk_duplicate_i, // was there already,
  input  logic              chunk_malformed_i, // or is no chunk of this image.
  input  logic              read_i,            // A read was taken.
  input  logic [13:0]       read_bytes_i,
  input  logic              read_full_i,      // A read found its queue full.

  // A counter's number, and 1 for its high half. When the low half comes round the high one follows
  // a cycle later: who needs both reads high, low, high.
  input  logic [IndexW-1:0] index_i,
  input  logic              asked_i,           // A cycle later, with the same number.
  output logic [31:0]       data_o             // Again a cycle later, else 0. It lags by a sweep.
);
  localparam int unsigned Sweep = 2 * CommonCounterCount;
  // With more ports, or wider words, words and bytes of the wire are counted many at a time.
  localparam bit Sums = Ports > 1 || DataW > 64;
  // A frame may then end in each cycle.
  localparam int unsigned FrameW = DataW > 64 ? 7 : 4, WordW = Sums ? 12 : 7;
  localparam int unsigned RxW = Sums ? 15 : 10, WireW = Sums ? 16 : 14;
  localparam int unsigned ReadW = 17;
  localparam int unsigned FrameMax = int'(HeaderEnd) + int'(BulkJumbo);
  // Bytes that can come in during a sweep, at port 0 and at the others, which tell of a frame at its end.
  localparam int unsigned Came = DataW / 8 * Sweep + (Ports - 1) * (8 * Sweep + FrameMax);
  if (Sweep >= (DataW > 64 ? 1 : 5) << FrameW || Sweep + 2 * Sweep / 5 >= 1 << WordW || Came >= 1 << RxW ||
      Came + FrameMax >= 1 << WireW || (Sums && (Came + FrameMax) / 8 >= 1 << WordW) ||
      Sweep * int'(BulkJumbo) / 8 >= 1 << ReadW)
  begin : gen_check
    $fatal(0, "rl_counters: the sweep takes too long (%m)");
  end
  typedef logic [FrameW-1:0] frame_t;
  typedef logic [WordW-1:0] word_t;
  typedef logic [RxW-1:0] rx_sum_t;
  typedef logic [WireW-1:0] wire_sum_t;
  typedef logic [ReadW-1:0] sum_t;

  // -- what there is to count, by number
  typedef logic [IndexW-2:0] number_t;
  function automatic number_t at(logic [7:0] counter);
    return number_t'(32'(counter));
  endfunction
  // A port's frame waits while one of port 0 is counted.
  logic port_rx, port_tx;
  assign port_rx_ready_o = !rx_i.frame;
  assign port_tx_ready_o = !tx_frame_i;
  assign port_rx = Ports > 1 && port_rx_i.frame && port_rx_ready_o;
  assign port_tx = Ports > 1 && port_tx_valid_i && port_tx_ready_o;
  logic [CommonCounterCount-1:0] once;
  always_comb begin
    once = '0;
    once[at(CounterRxFrames)] = rx_i.frame || port_rx;
    once[at(CounterTxFrames)] = tx_frame_i || port_tx;
    once[at(CounterDropForeign)] = rx_i.foreign || (port_rx && port_rx_i.foreign);
    once[at(CounterDropTruncated)] = rx_i.truncated || (port_rx && port_rx_i.truncated);
    once[at(CounterDropVersion)] = rx_i.version;
    once[at(CounterDropKind)] = rx_i.kind;
    once[at(CounterDropAuth)] = rx_i.auth;
    once[at(CounterDropEpoch)] = rx_i.epoch;
    once[at(CounterDropMalformed)] = chunk_malformed_i;
    once[at(CounterDropWindow)] = write_beyond_i;
    once[at(CounterImageChunks)] = chunk_i;
    once[at(CounterWrites)] = write_i;
    once[at(CounterReads)] = read_i;
    once[at(CounterDropCheck)] = rx_i.check || (port_rx && port_rx_i.check);
    once[at(CounterAnnounces)] = answered_i;
  end

  // Words of 64 bits, whatever the datapath is.
  function automatic logic [11:0] words(logic [13:0] bytes);
    return 12'((32'(bytes) + 7) / 8);
  endfunction

  word_t rx_words, tx_words;
  if (DataW == 64) begin : gen_words
    assign rx_words = word_t'(rx_i.word);
    assign tx_words = word_t'(tx_word_i);
  end else begin : gen_sums
    assign rx_words = rx_i.word ? word_t'(words(14'(rx_i.bytes))) : '0;
    assign tx_words = tx_frame_i ? word_t'(words(tx_bytes_i)) : '0;
    logic unused;
    assign unused = tx_word_i;
  end

  // Frames are counted by shifting: a shift register of which the feedback goes through all 16 states
  // takes one LUT, and only what the sweep looks at is made a number.
  function automatic frame_t after(frame_t state);
    if (FrameW != 4) return state + 1'b1;
    return frame_t'({state[2:0], state[3] ^ state[2] ^ (state[2:0] == '0)});
  endfunction
  function automatic frame_t number_of(frame_t state);
    frame_t reached, number;
    if (FrameW != 4) return state;
    reached = '0;
    number = '0;
    for (int unsigned i = 0; i < 1 << FrameW; i++) begin
      if (state == reached) number = frame_t'(i);
      reached = after(reached);
    end
    return number;
  endfunction

  frame_t [CommonCounterCount-1:0] frames_q;
  word_t rx_words_q, tx_words_q, duplicates_q, queue_q;
  rx_sum_t rx_bytes_q;
  wire_sum_t tx_bytes_q, write_bytes_q;
  sum_t read_bytes_q;
  always_ff @(posedge clk_net_i) begin
    for (int unsigned i = 0; i < CommonCounterCount; i++)
    if (once[i]) frames_q[i] <= after(frames_q[i]);
    rx_words_q <= rx_words_q + rx_words + (port_rx ? word_t'(words(port_rx_i.bytes)) : '0);
    tx_words_q <= tx_words_q + tx_words + (port_tx ? word_t'(words(port_tx_bytes_i)) : '0);
    duplicates_q <= duplicates_q + word_t'({write_duplicate_i && chunk_duplicate_i,
                                            write_duplicate_i ^ chunk_duplicate_i});
    queue_q <= queue_q + word_t'({rx_overflow_i && read_full_i, rx_overflow_i ^ read_full_i}) +
        word_t'(port_rx && port_rx_i.full);
    rx_bytes_q <= rx_bytes_q + (rx_i.word ? rx_sum_t'(rx_i.bytes) : '0) +
        (port_rx ? rx_sum_t'(port_rx_i.bytes) : '0);
    if (tx_frame_i || port_tx)
      tx_bytes_q <= tx_bytes_q + (port_tx ? wire_sum_t'(port_tx_bytes_i) : wire_sum_t'(tx_bytes_i));
    if (write_i) write_bytes_q <= write_bytes_q + wire_sum_t'(write_bytes_i);
    if (read_i) read_bytes_q <= read_bytes_q + sum_t'(read_bytes_i);
    if (!rst_net_ni) begin
      frames_q <= '0;
      rx_words_q <= '0;
      tx_words_q <= '0;
      duplicates_q <= '0;
      queue_q <= '0;
      rx_bytes_q <= '0;
      tx_bytes_q <= '0;
      write_bytes_q <= '0;
      read_bytes_q <= '0;
    end
  end

  // -- the sweep: address, register, difference, sum, write
  typedef struct packed {
    number_t number;
    logic    high;
  } addr_t;
  addr_t addr_q, addr_word_q, addr_diff_q, addr_sum_q, addr_write_q;
  logic [CommonCounterCount-1:0] turn_q;  // The number's bit.
  logic fresh_q, fresh_word_q;  // The first sweep: what is in the RAM does not count.
  logic [2:0] warm_q;  // Until 4 its first step has not come to the end.
  sum_t ahead, ahead_q, diff_q;
  logic [31:0] word, word_diff_q, word_sum_q;
  logic [32:0] sum_q;
  logic unused_carry_q;

  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) begin
      addr_q <= '0;
      turn_q <= CommonCounterCount'(1);
      fresh_q <= 1'b1;
      warm_q <= '0;
    end else begin
      addr_q <= addr_q + 1'b1;
      if (addr_q.high) turn_q <= {turn_q[CommonCounterCount-2:0], turn_q[CommonCounterCount-1]};
      if (addr_q.high && turn_q[CommonCounterCount-1]) begin
        addr_q <= '0;
        fresh_q <= 1'b0;
      end
      if (!warm_q[2]) warm_q <= warm_q + 1'b1;
    end
  end

  // Each register has flip-flops which their reset holds at 0 when it is not its turn: to or them takes
  // half of the gates of a multiplexer.
  frame_t [CommonCounterCount-1:0] frames_seen_q;
  word_t rx_words_seen_q, tx_words_seen_q, duplicates_seen_q, queue_seen_q;
  rx_sum_t rx_bytes_seen_q;
  wire_sum_t tx_bytes_seen_q, write_bytes_seen_q;
  sum_t read_bytes_seen_q;
  always_ff @(posedge clk_net_i) begin
    for (int unsigned i = 0; i < CommonCounterCount; i++)
    frames_seen_q[i] <= turn_q[i] ? frames_q[i] : '0;
    rx_words_seen_q <= turn_q[at(CounterRxWords)] ? rx_words_q : '0;
    tx_words_seen_q <= turn_q[at(CounterTxWords)] ? tx_words_q : '0;
    duplicates_seen_q <= turn_q[at(CounterDropDuplicate)] ? duplicates_q : '0;
    queue_seen_q <= turn_q[at(CounterDropQueue)] ? queue_q : '0;
    rx_bytes_seen_q <= turn_q[at(CounterRxBytes)] ? rx_bytes_q : '0;
    tx_bytes_seen_q <= turn_q[at(CounterTxBytes)] ? tx_bytes_q : '0;
    write_bytes_seen_q <= turn_q[at(CounterWriteBytes)] ? write_bytes_q : '0;
    read_bytes_seen_q <= turn_q[at(CounterReadBytes)] ? read_bytes_q : '0;
  end
  frame_t frame;
  always_comb begin
    frame = '0;
    for (int unsigned i = 0; i < CommonCounterCount; i++) frame |= frames_seen_q[i];
    ahead = sum_t'(number_of(frame)) | sum_t'(rx_words_seen_q) | sum_t'(tx_words_seen_q) |
        sum_t'(duplicates_seen_q) | sum_t'(queue_seen_q) | sum_t'(rx_bytes_seen_q) |
        sum_t'(tx_bytes_seen_q) | sum_t'(write_bytes_seen_q) | read_bytes_seen_q;
  end

  // As many bits of the difference as the register has; none for the high half. What is not counted here
  // has a register of frames that stays 0.
  logic words_word_q, rx_word_q, wire_word_q, reads_word_q;
  logic words_diff_q, rx_diff_q, wire_diff_q, reads_diff_q;
  always_ff @(posedge clk_net_i) begin
    words_word_q <= turn_q[at(CounterRxWords)] || turn_q[at(CounterTxWords)] || turn_q[at(CounterDropDuplicate)] ||
        turn_q[at(CounterDropQueue)];
    rx_word_q <= turn_q[at(CounterRxBytes)];
    wire_word_q <= turn_q[at(CounterTxBytes)] || turn_q[at(CounterWriteBytes)];
    reads_word_q <= turn_q[at(CounterReadBytes)];
    reads_diff_q <= reads_word_q;
    wire_diff_q <= reads_word_q || wire_word_q;
    rx_diff_q <= reads_word_q || wire_word_q || rx_word_q;
    words_diff_q <= reads_word_q || wire_word_q || rx_word_q || words_word_q;

    addr_word_q <= addr_q;
    fresh_word_q <= fresh_q;

    addr_diff_q <= addr_word_q;
    ahead_q <= ahead;
    word_diff_q <= fresh_word_q ? '0 : word;

    addr_sum_q <= addr_diff_q;
    word_sum_q <= word_diff_q;
    diff_q <= ahead_q - word_diff_q[ReadW-1:0];
    if (!reads_diff_q) diff_q[ReadW-1:WireW] <= '0;
    if (!wire_diff_q) diff_q[WireW-1:RxW] <= '0;
    if (!rx_diff_q) diff_q[RxW-1:WordW] <= '0;
    if (!words_diff_q) diff_q[WordW-1:FrameW] <= '0;
    if (addr_diff_q.high) diff_q <= '0;

    // The high half comes right behind the low half, whose carry it takes.
    addr_write_q <= addr_sum_q;
    {sum_q, unused_carry_q} <= {1'b0, word_sum_q, 1'b1} +
                               {16'd0, diff_q, addr_sum_q.high && sum_q[32]};
  end

  rl_ram #(
    .Width(32),
    .Depth(1 << IndexW)
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
  logic [31:0] kept, passed_q, kept_asked_q, passed_asked_q;
  logic pass_q;
  rl_ram #(
    .Width(32),
    .Depth(1 << IndexW)
  ) u_read (
    .clk_wr_i(clk_net_i),
    .we_i(warm_q[2]),
    .waddr_i(addr_write_q),
    .wdata_i(sum_q[31:0]),
    .clk_rd_i(clk_net_i),
    .re_i(1'b1),
    .raddr_i(index_i),
    .rdata_o(kept)
  );
  always_ff @(posedge clk_net_i) begin
    pass_q <= addr_write_q == index_i;
    passed_q <= sum_q[31:0];
    kept_asked_q <= asked_i && !pass_q ? kept : '0;
    passed_asked_q <= asked_i && pass_q ? passed_q : '0;
  end
  assign data_o = kept_asked_q | passed_asked_q;
endmodule
