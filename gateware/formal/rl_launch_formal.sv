// A launch that was accepted happens once. Launches are accepted whenever there is room (how
// rl_launch_judge decides is proved apart); the firmware does what it likes, but for popping what
// has not ended and walking twice at a time; a kernel that was started ends when it likes. Then
//   - an accepted launch, any one, is started at most once, and not when it has ended;
//   - a start is of the oldest launch that has not ended, while no kernel runs;
//   - its slot is not given to another before the firmware has popped it.
// What comes out of the slots' memory is anything: numbers match or not as the solver likes.
module rl_launch_formal
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
  import rl_role_pkg::*;
(
  input logic        clk_i,
  input lane_t       lane_i,
  input addr_t       memory_i,
  input logic        role_i,
  input logic [7:0]  stored_i,
  input logic        store_busy_i,
  input logic [7:0]  mem_written_i,
  input logic        reset_i,
  input logic [5:0]  kept_i,
  input logic [6:0]  kernels_i,
  input logic        args_we_i,
  input logic [5:0]  args_kernel_i,
  input logic [5:0]  args_takes_i,
  input logic        enable_i,
  input logic        go_i,
  input logic        cancel_i,
  input logic        cancel_all_i,
  input logic        find_i,
  input logic [31:0] number_i,
  input logic        pop_i,
  input logic        cmd_ready_i,
  input logic        ends_i,   // The kernel that runs ends.
  input end_e        end_status_i,
  input logic        pick_i    // Watch the launch that is accepted now.
);
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  logic note, ended_valid, running, walk_busy;
  logic [3:0] ended_slot;
  logic [4:0] queued;
  logic end_toggle = 1'b0;

  rl_launch u_dut (
    .clk_net_i(clk_i),
    .rst_net_ni(rst_n),
    .clk_role_i(clk_i),
    .rst_role_ni(rst_n),
    .lane_i,
    .memory_i,
    .role_i,
    .room_o(),
    .divert_o(),
    .divert_why_o(),
    .note_o(note),
    .accepted_o(),
    .accepted_seq_o(),
    .ended_ok_o(),
    .ended_failed_o(),
    .stored_i,
    .store_busy_i,
    .mem_written_i,
    .time_us_i('0),
    .reset_i,
    .last_we_i(1'b0),
    .last_i('0),
    .last_o(),
    .kept_i,
    .queued_o(queued),
    .kernels_i,
    .args_we_i,
    .args_kernel_i,
    .args_takes_i,
    .enable_i,
    .running_o(running),
    .go_i,
    .cancel_i,
    .cancel_all_i,
    .find_i,
    .number_i,
    .walk_busy_o(walk_busy),
    .walk_found_o(),
    .ended_valid_o(ended_valid),
    .ended_status_o(),
    .ended_slot_o(ended_slot),
    .ended_ran_o(),
    .ended_pop_i(pop_i),
    .started_us_o(),
    .ended_us_o(),
    .slot_re_i(1'b0),
    .slot_addr_i('0),
    .slot_data_o(),
    .cmd_valid_o(),
    .cmd_ready_i,
    .cmd_o(),
    .stop_o(),
    .end_toggle_i(end_toggle),
    .end_status_i
  );

  // The firmware's side of the bargain.
  always_comb begin
    if (rst_n) begin
      if (pop_i) assume (ended_valid);
      if (go_i || cancel_i || cancel_all_i || find_i) assume (!walk_busy);
      if (reset_i) assume (queued == 0 && !note);
    end
  end

  // The kernel's.
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

  logic [31:0] accepted_q = '0;
  logic watched_q = 1'b0, watched_started_q = 1'b0, watched_ended_q = 1'b0, watched_popped_q = 1'b0;
  logic [3:0] slot_q;
  logic [4:0] ahead_q;  // Launches before it in the queue.
  logic ends_watched, starts;
  assign ends_watched = (u_dut.pop || u_dut.drop) && u_dut.entry.slot == slot_q;
  assign starts = u_dut.start;

  always_ff @(posedge clk_i) begin
    if (!rst_n) begin
      accepted_q <= '0;
      watched_q <= 1'b0;
    end else begin
      if (reset_i) accepted_q <= '0;
      else if (note) accepted_q <= accepted_q + 1'b1;

      OneAtATime_A : assert (!starts || (!running && !started_q));

      if (note && pick_i && !watched_q) begin
        watched_q <= 1'b1;
        watched_started_q <= 1'b0;
        watched_ended_q <= 1'b0;
        watched_popped_q <= 1'b0;
        slot_q <= u_dut.slot;
        ahead_q <= queued - 5'(u_dut.pop || u_dut.drop);
      end
      if (watched_q && !watched_popped_q) begin
        SlotIsItsOwn_A : assert (!note || u_dut.slot != slot_q);
        if (starts && u_dut.entry.slot == slot_q) begin
          StartedOnce_A : assert (!watched_started_q && !watched_ended_q);
          watched_started_q <= 1'b1;
        end
        if (pop_i && ended_slot == slot_q) watched_popped_q <= 1'b1;
      end
      if (watched_q && !watched_ended_q) begin
        InQueue_A : assert (ahead_q < queued);
        if (starts) OldestFirst_A : assert ((ahead_q == 0) == (u_dut.entry.slot == slot_q));
        if (ends_watched) watched_ended_q <= 1'b1;
        // A cancelled one may be ahead of it or behind.
        else if (u_dut.pop || (u_dut.drop && 5'(4'(u_dut.keep_q - u_dut.head_q)) < ahead_q))
          ahead_q <= ahead_q - 1'b1;
      end
      StartedAndEnded_C :
      cover (watched_q && watched_started_q && watched_ended_q && accepted_q == 3);
    end
  end
endmodule
