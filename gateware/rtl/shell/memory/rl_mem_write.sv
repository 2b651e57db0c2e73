// Kernel inputs: writes of the owner go into the memory queue as they come, each once and in any
// order, and are acknowledged by the window's state, which the firmware sends.
//
// A frame's words are written before it is known whether its number is new; when it has ended well
// that is looked up, and the frame committed or rolled back three cycles later. While a look-up has to
// wait, because the window is moving on over a closed gap, there is no room for another frame.
//
// With `Line` frames do not wait for one another: one that has ended well is committed, its number stands in line, and
// what comes of it goes to the queue's reader by `verdict_o`, a verdict for each frame that was committed.
module rl_mem_write
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
#(
  parameter bit Line = 1'b0,
  localparam int unsigned LineDepth = 16
) (
  input  logic        clk_net_i,
  input  logic        rst_net_ni,

  input  rx_beat_t       rx_beat_i,
  output logic        room_o,

  // Memory queue: frames of write_desc_t.
  input  logic        queue_room_i,
  output logic        queue_word_o,
  output logic [63:0] queue_data_o,
  output logic        queue_commit_o,
  output write_desc_t      queue_desc_o,
  output logic        queue_rollback_o,
  output logic        verdict_valid_o,  // With Line.
  output logic        verdict_o,        // The frame is to be written; else it was there, or is beyond the window.
  output logic [7:0]  stored_o,         // Frames committed: reads wait for so many to be in memory.
  output logic        busy_o,           // A frame has ended and is not judged, so not counted yet.

  // The window, for the firmware.
  input  logic        reset_i,          // A new claim: 1 is the first number to come.
  output logic [31:0] next_o,
  input  logic [2:0]  bits_addr_i,
  output logic [31:0] bits_o,           // In the same cycle. Bit n % 256 of the whole: number n is there.
  input  logic        insert_i,         // A refused write counts as received. Not while busy.
  input  logic [11:0] insert_seq_i,     // Holds while busy. The number is within 2^11 of next_o.
  input  logic        insert_ack_now_i, // The frame asks for an acknowledgement at once. Holds too.
  output logic        insert_busy_o,
  output logic [1:0]  insert_result_o,  // 0 new, 1 there already, 2 beyond the window. Holds.

  // Acknowledgements.
  input  logic [15:0] time_us_i,        // The clock, modulo 2^16.
  input  logic [15:0] ack_every_i,      // Writes after which one is due at the latest, 1 or more,
  input  logic [15:0] ack_delay_i,      // and microseconds.
  output logic        ack_due_o,
  output logic        ack_waits_o,      // There is something to acknowledge,
  output logic [15:0] ack_late_o,       // which is late by so much; negative while there is time.
  input  logic        acked_i,          // One is being sent, of what the window says from now on.

  // Events.
  output logic        write_o,
  output logic [13:0] write_bytes_o,    // With write_o.
  output logic        duplicate_o,
  output logic        beyond_o
);
  localparam logic [1:0] ArrivalNew = 2'd0;
  localparam logic [1:0] ArrivalDuplicate = 2'd1;
  localparam logic [1:0] ArrivalBeyond = 2'd2;

  // -- words, tentatively
  logic takes, open_q;
  assign takes = rx_beat_i.route == RouteWrite;
  assign queue_word_o = rx_beat_i.word && rx_beat_i.payload && takes;
  assign queue_data_o = rx_beat_i.data;

  // -- the frame that has ended
  typedef struct packed {
    logic [31:0] seq;
    logic [13:0] length;
    logic        ack_now;
  } ended_t;
  logic asked;            // Its number is to be looked up.
  logic judging_q;        // It is being looked up; otherwise it is a number of the firmware's.
  logic ends;
  logic [31:0] seq;       // Of the frame to be looked up.
  logic [13:0] length_q;  // Of the frame that is being looked up.
  logic ack_now_q;
  ended_t ended;
  assign ends = rx_beat_i.done && takes;
  assign ended = '{
          seq: rx_beat_i.head.seq,
          length: rx_beat_i.head.length[13:0],
          ack_now: (rx_beat_i.head.flags & FlagAckNow) != 0
      };

  // -- the window
  logic window_ready, look_up, look_up_theirs, judged, in_order, insert_wait_q;
  logic [1:0] arrival;
  assign look_up = window_ready && asked;
  assign look_up_theirs = window_ready && !asked && insert_wait_q;
  rl_window #(
    .Quick(Line)
  ) u_window (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .reset_i,
    .insert_i(look_up || look_up_theirs),
    .seq_i({seq[31:12], asked ? seq[11:0] : insert_seq_i}),
    .near_i(!asked),
    .ready_o(window_ready),
    .done_o(judged),
    .arrival_o(arrival),
    .in_order_o(in_order),
    .next_o,
    .bits_addr_i,
    .bits_o
  );

  logic looked_up_q, judged_mine, judged_theirs, empty, stores, aborts;
  assign busy_o = ends || asked || looked_up_q || judged_mine;
  assign judged_mine = judged && judging_q;
  assign judged_theirs = judged && !judging_q;
  assign empty = length_q == 0;
  assign stores = judged_mine && arrival == ArrivalNew && !empty;
  assign aborts = rx_beat_i.abort && takes && (open_q || queue_word_o);
  if (Line) begin : gen_line
    // Frames end in each cycle, if they are short; the analyzer looks for room up to three before.
    logic [$clog2(LineDepth):0] waiting;
    logic waits_ready, room_q;
    ended_t first;
    rl_fifo #(
      .Width($bits(ended_t)),
      .Depth(LineDepth)
    ) u_line (
      .clk_i(clk_net_i),
      .rst_ni(rst_net_ni),
      .wvalid_i(ends),
      .wready_o(waits_ready),
      .wdata_i(ended),
      .rvalid_o(asked),
      .rready_i(look_up),
      .rdata_o(first),
      .count_o(waiting)
    );
    assign seq = first.seq;
    // After a commit the queue rests for a cycle: what it said before still holds.
    assign room_o = (queue_room_i || room_q) && waiting < ($clog2(LineDepth) + 1)'(LineDepth - 6);
    always_ff @(posedge clk_net_i) begin
      room_q <= rst_net_ni && queue_room_i;
      if (look_up) begin
        length_q <= first.length;
        ack_now_q <= first.ack_now;
      end
    end
    assign queue_commit_o = ends && ended.length != 0;
    assign queue_rollback_o = aborts;
    assign queue_desc_o = '{addr: rx_beat_i.head.addr[AddrW-1:0], length: ended.length};
    assign verdict_valid_o = judged_mine && !empty;
    assign verdict_o = arrival == ArrivalNew;
`ifndef SYNTHESIS
    LineHasRoom_A :
    assert property (@(posedge clk_net_i) disable iff (!rst_net_ni) ends |-> waits_ready);
`endif
    logic unused;
    assign unused = waits_ready;
  end else begin : gen_one
    // The analyzer looks three cycles after the end of a frame, or later: in that cycle it is committed,
    // unless the window was busy.
    logic asked_q;
    logic [31:0] seq_q;
    addr_t addr_q;
    assign asked = asked_q;
    assign seq = seq_q;
    assign room_o = queue_room_i && !asked_q && !looked_up_q;
    always_ff @(posedge clk_net_i) begin
      asked_q <= rst_net_ni && (ends || (asked_q && !look_up));
      if (ends) begin
        seq_q <= ended.seq;
        addr_q <= rx_beat_i.head.addr[AddrW-1:0];
        length_q <= ended.length;
        ack_now_q <= ended.ack_now;
      end
    end
    assign queue_commit_o = stores;
    // A frame without words has nothing to roll back, and may end while another is looked up.
    assign queue_rollback_o = (judged_mine && arrival != ArrivalNew && !empty) || aborts;
    assign queue_desc_o = '{addr: addr_q, length: length_q};
    assign verdict_valid_o = 1'b0;
    assign verdict_o = 1'b1;
`ifndef SYNTHESIS
    OneFrameAtATime_A :
    assert property (@(posedge clk_net_i) disable iff (!rst_net_ni) ends |-> !asked_q);
    WordsAreAlone_A :
    assert property (@(posedge clk_net_i) disable iff (!rst_net_ni)
      queue_word_o |-> !asked_q && !judged_mine);
`endif
  end

  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) begin
      looked_up_q <= 1'b0;
      open_q <= 1'b0;
      insert_wait_q <= 1'b0;
      insert_busy_o <= 1'b0;
      stored_o <= '0;
      write_o <= 1'b0;
      duplicate_o <= 1'b0;
      beyond_o <= 1'b0;
    end else begin
      looked_up_q <= look_up;
      open_q <= (open_q || queue_word_o) && !rx_beat_i.done && !rx_beat_i.abort;
      insert_wait_q <= insert_i || (insert_wait_q && !look_up_theirs);
      insert_busy_o <= insert_i || (insert_busy_o && !judged_theirs);
      if (stores) stored_o <= stored_o + 1'b1;
      write_o <= judged_mine && arrival == ArrivalNew;
      duplicate_o <= judged_mine && arrival == ArrivalDuplicate;
      beyond_o <= judged_mine && arrival == ArrivalBeyond;
    end
  end
  always_ff @(posedge clk_net_i) begin
    if (window_ready) judging_q <= asked;
    write_bytes_o <= length_q;
    if (judged_theirs) insert_result_o <= arrival;
  end

  // -- acknowledgements
  // Out of order: the sender should learn what is missing. Beyond: where the window is.
  logic [15:0] count_q;   // Which write after the last one this is, from 1 on.
  logic [15:0] due_q;     // When one is due, if there is a write to acknowledge.
  logic unacked_q, counts, at_once;
  assign ack_waits_o = unacked_q;
  assign ack_late_o = time_us_i - due_q;
  assign counts = judged && arrival != ArrivalBeyond;
  assign at_once = arrival == ArrivalBeyond || !in_order || count_q == ack_every_i ||
                   (judging_q ? ack_now_q : insert_ack_now_i);
  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni || reset_i || acked_i) begin
      ack_due_o <= 1'b0;
      unacked_q <= 1'b0;
      count_q <= 16'd1;
    end else begin
      if (counts) begin
        unacked_q <= 1'b1;
        count_q <= count_q + 1'b1;
      end
      if ((judged && at_once) || (unacked_q && !ack_late_o[15])) ack_due_o <= 1'b1;
    end
    if (!unacked_q) due_q <= time_us_i + ack_delay_i;
  end

`ifndef SYNTHESIS
  InsertIsAlone_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni) insert_i |-> !insert_busy_o);
`endif

  logic unused_head;
  assign unused_head = ^{rx_beat_i.first, rx_beat_i.head};
endmodule
