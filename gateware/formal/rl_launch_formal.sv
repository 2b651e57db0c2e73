// A launch that was accepted happens once. Launches are accepted whenever there is room (how
// rl_launch_judge decides is proved apart); a kernel that was started ends when it likes; the firmware
// freezes the ring when it likes, and then releases a launch, drops the oldest or the one after it, or
// stops the kernel. Then
//   - an accepted launch, any one, is started at most once, and not when it has ended;
//   - a start is of the oldest launch that has not ended, while no kernel runs;
//   - its slot is not given to another before the firmware has popped it.
// What comes out of the slots' memory is anything.
module rl_launch_formal
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
  import rl_role_pkg::*;
#(
  parameter int unsigned Queue = 2,
  localparam int unsigned PlaceW = $clog2(2 * Queue)
) (
  input logic        clk_i,
  input rx_beat_t       rx_beat_i,
  input addr_t       memory_i,
  input logic        role_i,
  input logic [7:0]  stored_i,
  input logic        mem_write_busy_i,
  input logic [7:0]  mem_written_i,
  input logic        enable_i,
  input logic [PlaceW-1:0] most_i,
  input logic        pop_i,
  input logic        freeze_i,  // The firmware has something to do,
  input logic [2:0]  deed_i,    // this,
  input logic [PlaceW-1:0] place_i, // here.
  input logic        held_i,
  input logic        cmd_ready_i,
  input logic        ends_i,    // The kernel that runs ends.
  input logic        pick_i     // Watch the launch that is accepted now.
);
  typedef logic [PlaceW-1:0] place_t;
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  logic note, ended, running, frozen;
  logic freeze, order_we, drop, stop;
  place_t head, tail, order_at, order_slot, queued;
  logic end_toggle = 1'b0;
  place_t popped_q = '0;
  // Launches that may be there; fewer while results are kept.
  place_t most_q;
  always_ff @(posedge clk_i) if (!rst_n) most_q <= most_i;
  always_comb assume (most_i != 0 && most_i <= PlaceW'(Queue));

  rl_launch #(
    .Queue(Queue)
  ) u_dut (
    .clk_net_i(clk_i),
    .rst_net_ni(rst_n),
    .clk_role_i(clk_i),
    .rst_role_ni(rst_n),
    .rx_beat_i,
    .memory_i,
    .role_i,
    .room_o(),
    .divert_o(),
    .divert_reason_o(),
    .note_o(note),
    .stored_i,
    .mem_write_busy_i,
    .mem_written_i,
    .time_us_i('0),
    .last_we_i(1'b0),
    .last_i('0),
    .last_o(),
    .args_we_i(1'b0),
    .args_kernel_i('0),
    .args_takes_i('0),
    .args_words_i('0),
    .enable_i,
    .running_o(running),
    .popped_i(popped_q),
    .bound_i(popped_q + most_q),
    .head_o(head),
    .tail_o(tail),
    .ended_o(ended),
    .still_o(),
    .freeze_i(freeze),
    .frozen_o(frozen),
    .order_we_i(order_we),
    .order_at_i(order_at),
    .order_slot_i(order_slot),
    .order_held_i(held_i),
    .drop_i(drop),
    .stop_i(stop),
    .started_us_o(),
    .ended_us_o(),
    .slot_re_i(1'b0),
    .slot_addr_i('0),
    .slot_data_o(),
    .cmd_valid_o(),
    .cmd_ready_i,
    .cmd_o(),
    .stop_o(),
    .end_toggle_i(end_toggle)
  );
  assign queued = tail - head;

  // -- the firmware
  typedef enum logic [2:0] {
    Away,
    Freezing,
    Release,
    Drop,     // The oldest.
    Swap,     // The oldest goes behind the one after it,
    Swap2,    // and that in front.
    Stop
  } deed_e;
  deed_e deed_q = Away;
  place_t ring[2*Queue];  // What it knows: the slot in each place.
  place_t moved_q;
  logic second_q = 1'b0;  // What is dropped was not the oldest.
  initial for (int i = 0; i < 2 * Queue; i++) ring[i] = place_t'(i);
  assign freeze = deed_q != Away;
  assign order_we = deed_q inside {Release, Swap, Swap2};
  assign drop = deed_q == Drop;
  assign stop = deed_q == Stop;
  always_comb begin
    order_at = head;
    order_slot = moved_q;
    if (deed_q == Release) begin
      order_at = place_i;
      order_slot = ring[place_i];
      assume (place_t'(place_i - head) < queued);
    end
    if (deed_q == Swap) begin
      order_at = head + 1'b1;
      order_slot = ring[head];
    end
  end
  always_ff @(posedge clk_i) begin
    if (order_we) ring[order_at] <= order_slot;
    if (deed_q == Swap) moved_q <= ring[place_t'(head+1'b1)];
    if (!rst_n) begin
      deed_q <= Away;
    end else begin
      unique case (deed_q)
        Away: if (freeze_i) deed_q <= Freezing;
        Freezing: begin
          second_q <= 1'b0;
          if (frozen) begin
            deed_q <= Away;
            if (deed_i == 3'd1 && queued != 0) deed_q <= Release;
            if (deed_i == 3'd2 && queued != 0 && !running) deed_q <= Drop;
            if (deed_i == 3'd3 && queued > 1) deed_q <= Swap;
            if (deed_i == 3'd4) deed_q <= Stop;
          end
        end
        Swap: deed_q <= Swap2;
        Swap2: begin
          second_q <= 1'b1;
          deed_q <= Drop;
        end
        default: deed_q <= Away;
      endcase
    end
    if (pop_i) popped_q <= popped_q + 1'b1;
  end
  always_comb if (pop_i) assume (rst_n && ended);

  // -- the kernel
  logic started_q = 1'b0;  // One start, no end yet.
  always_ff @(posedge clk_i) begin
    if (!rst_n) begin
      end_toggle <= 1'b0;
      started_q <= 1'b0;
    end else begin
      if (u_dut.start) started_q <= 1'b1;
      if (started_q && ends_i) begin
        end_toggle <= !end_toggle;
        started_q <= 1'b0;
      end
    end
  end

  logic [2:0] accepted_q = '0;
  logic watched_q = 1'b0, watched_started_q = 1'b0, watched_ended_q = 1'b0, watched_popped_q = 1'b0;
  place_t slot_q;
  place_t ahead_q;  // Launches before it in the queue.
  place_t spot_q;   // Where it ended.
  logic ends_watched, starts;
  assign ends_watched = (u_dut.pop || drop) && u_dut.entry.slot == slot_q;
  assign starts = u_dut.start;

  always_ff @(posedge clk_i) begin
    if (!rst_n) begin
      accepted_q <= '0;
      watched_q <= 1'b0;
    end else begin
      if (note && accepted_q != '1) accepted_q <= accepted_q + 1'b1;

      OneAtATime_A : assert (!starts || (!running && !started_q));

      if (note && pick_i && !watched_q) begin
        watched_q <= 1'b1;
        watched_started_q <= 1'b0;
        watched_ended_q <= 1'b0;
        watched_popped_q <= 1'b0;
        slot_q <= u_dut.slot;
        ahead_q <= queued - PlaceW'(u_dut.pop || drop);
      end
      if (watched_q && !watched_popped_q) begin
        SlotIsItsOwn_A : assert (!note || u_dut.slot != slot_q);
        if (starts && u_dut.entry.slot == slot_q) begin
          StartedOnce_A : assert (!watched_started_q && !watched_ended_q);
          watched_started_q <= 1'b1;
        end
        if (pop_i && ring[popped_q] == slot_q) begin
          PoppedWhenEnded_A : assert (watched_ended_q);
          watched_popped_q <= 1'b1;
        end
      end
      if (watched_q && !watched_ended_q) begin
        InQueue_A : assert (ahead_q < queued);
        if (starts) OldestFirst_A : assert ((ahead_q == 0) == (u_dut.entry.slot == slot_q));
        if (ends_watched) watched_ended_q <= 1'b1;
        // The second may be behind it.
        else if (u_dut.pop || (drop && !(second_q && ahead_q == 0))) ahead_q <= ahead_q - 1'b1;
      end
      if (drop && second_q && ahead_q == 1 && watched_q && !watched_ended_q) begin
        SecondIsDropped_A : assert (ends_watched);
      end
      if (ends_watched && watched_q && !watched_ended_q) spot_q <= head;
      StartedAndEnded_C :
      cover (watched_q && watched_started_q && watched_ended_q && accepted_q == 3);
      DroppedBehindTheOneThatRuns_C : cover (drop && running);
    end
  end

  // -- What induction has to know.
  // The ring as it is meant: between the two writes of a swap, the slot that is on its way is in the oldest's place.
  place_t meant[2*Queue];
  logic swapped;  // The two oldest have changed places.
  place_t used, place;
  assign used = tail - popped_q;
  assign swapped = deed_q == Swap2 || (deed_q == Drop && second_q);
  assign place = head + (swapped && ahead_q < 2 ? place_t'(1) - ahead_q : ahead_q);
  for (genvar i = 0; i < 2 * Queue; i++) begin : gen_ring
    assign meant[i] = deed_q == Swap2 && head == place_t'(i) ? moved_q : ring[i];
    always_comb begin
      assert (u_dut.u_free.mem[i] == ring[i] && u_dut.u_order.mem[i][PlaceW-1:0] == ring[i]);
      for (int j = 0; j < i; j++) assert (meant[i] != meant[j]);
      if (!rst_n) assert (ring[i] == place_t'(i));
    end
  end

  logic end_meta, end_seen;
  assign end_meta = u_dut.u_sync_end.meta_q;
  assign end_seen = u_dut.u_sync_end.sync_q;
  always_comb begin
    if (rst_n) begin
      // Places follow one another, and there is never more than what is allowed.
      assert (most_q != 0 && most_q <= PlaceW'(Queue));
      assert (queued <= used && used <= most_q);
      if (u_dut.open_q) assert (used < most_q || u_dut.u_judge.accepted_q);
      // Who freezes the ring sees that it stands still before he does anything.
      if (frozen) assert (!u_dut.open_q && u_dut.state_q == 0);
      if (!(deed_q inside {Away, Freezing})) assert (frozen);
      if (deed_q == Release) assert (queued != 0);
      if (deed_q inside {Swap, Swap2}) assert (queued > 1 && !second_q);
      if (deed_q == Drop) assert (queued > place_t'(running) && (!second_q || queued > 1));
      // A kernel runs from its start until its end has been seen.
      if (running) assert (queued != 0);
      if (!running || started_q) assert (end_toggle == u_dut.end_q);
      if (running && !started_q) assert (end_toggle != u_dut.end_q);
      if (started_q) assert (running);
      if (end_meta != u_dut.end_q) assert (end_toggle == end_meta);
      if (end_seen != u_dut.end_q) assert (end_meta == end_seen);
      if (u_dut.state_q == 1) assert (queued != 0 && !running);  // Start.
      // The watched launch is where it should be, and once only.
      if (watched_q && !watched_ended_q) begin
        assert (!watched_popped_q && ahead_q < queued && meant[place] == slot_q);
        if (watched_started_q) assert (running && ahead_q == 0);
      end
      if (watched_q && watched_ended_q && !watched_popped_q)
        assert (ring[spot_q] == slot_q && place_t'(spot_q - popped_q) < place_t'(head - popped_q));
    end else begin
      assert (deed_q == Away && popped_q == 0 && !end_toggle && !started_q && !watched_q);
      assert (!u_dut.u_judge.accepted_q);
    end
  end
endmodule
