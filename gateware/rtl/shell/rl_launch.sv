// Launches: accepts them from the lane, each once and in order (rl_launch_judge), keeps up to 16,
// and has rl_kernel run them one at a time. What a launch gave is shown to the firmware until it
// pops it.
//
// Slots: a launch's frame is kept as it came. 32-bit words of a slot, of which there are 128: 5
// seq, 7 kernel, 8-9 fuel, 10-11 out_addr, 12-13 out_length, 14 go, 15 credit << 16 | args, 16..
// arguments.
//
// `order` is the queue: numbers of slots, oldest first. Go, cancel and find walk through it,
// reading each launch's number (or Go) from its slot; a cancel closes the gaps on the way.
// Meanwhile no launch is accepted.
//
// The fast path: when no launch is there, fuel and arguments of a frame go to rl_kernel as they
// come in, before anyone knows whether the launch is accepted. If it is not, the role has some
// numbers in its argument registers that the next launch overwrites.
module rl_launch
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
  import rl_role_pkg::*;
(
  input  logic        clk_net_i,
  input  logic        rst_net_ni,
  input  logic        clk_role_i,
  input  logic        rst_role_ni,

  input  lane_t       lane_i,
  input  addr_t       memory_i,        // Bytes that a host may address.
  input  logic        role_i,          // A role is active, and not being configured.
  output logic        room_o,          // A launch may come in.
  output logic        divert_o,        // With lane_i.done: not accepted, the firmware judges it.
  output why_e        divert_why_o,
  output logic        note_o,          // With lane_i.done: accepted, the firmware says so.

  output logic        accepted_o,      // Events, a cycle after.
  output logic [31:0] accepted_seq_o,
  output logic        ended_ok_o,
  output logic        ended_failed_o,

  // Frames of writes that were stored, and those of them whose bytes are in DDR.
  input  logic [7:0]  stored_i,
  input  logic        store_busy_i,    // One has ended and is not counted yet.
  input  logic [7:0]  mem_written_i,
  input  logic [31:0] time_us_i,

  // -- firmware
  input  logic        reset_i,         // A new claim: numbers start again. The queue is empty.
  input  logic        last_we_i,       // Numbers up to last_i are used up.
  input  logic [31:0] last_i,
  output logic [31:0] last_o,
  input  logic [5:0]  kept_i,          // Results not acknowledged; without those not popped here.
  output logic [4:0]  queued_o,        // Launches accepted and not ended.
  input  logic [6:0]  kernels_i,
  input  logic        args_we_i,
  input  logic [5:0]  args_kernel_i,
  input  logic [5:0]  args_takes_i,
  input  logic        enable_i,        // Kernels may start.
  output logic        running_o,
  // Walks; `number_i` is a launch's or a Go's. Wait for !busy before the next.
  input  logic        go_i,
  input  logic        cancel_i,
  input  logic        cancel_all_i,
  input  logic        find_i,
  input  logic [31:0] number_i,
  output logic        walk_busy_o,
  output logic        walk_found_o,
  // The oldest launch that ended and was not popped.
  output logic        ended_valid_o,
  output logic [15:0] ended_status_o,
  output logic [3:0]  ended_slot_o,
  output logic        ended_ran_o,     // Else cancelled in the queue: no value, cycles, times.
  input  logic        ended_pop_i,
  output logic [31:0] started_us_o,    // Of the launch that ran last. Value and cycles: rl_kernel.
  output logic [31:0] ended_us_o,
  // Slots, read: 32-bit word 128 s + k.
  input  logic        slot_re_i,
  input  logic [10:0] slot_addr_i,
  output logic [31:0] slot_data_o,     // A cycle later.

  // -- rl_kernel
  output logic        cmd_valid_o,     // Role domain.
  input  logic        cmd_ready_i,     // Role domain.
  output kernel_cmd_t cmd_o,           // Role domain.
  output logic        stop_o,          // Net domain: end the kernel that runs. Until it has ended.
  input  logic        end_toggle_i,    // Role domain: changes when a kernel has ended.
  input  end_e        end_status_i     // Role domain, steady from then on.
);
  localparam int unsigned Slots = 32'(LaunchQueue);
  // 64-bit words of a frame, and of a slot, which has room for 64: the last one holds anything.
  localparam logic [5:0] SeqAt = 6'd2, KernelAt = 6'd3, FuelAt = 6'd4, GoAt = 6'd7, ArgsAt = 6'd8;

  if (Slots != 16) begin : gen_check
    $fatal(0, "rl_launch: slots are numbered with 4 bits (%m)");
  end

  typedef logic [3:0] slot_t;
  typedef struct packed {
    logic  held;
    slot_t slot;
  } entry_t;

  typedef enum logic [3:0] {
    Idle,
    Start,
    WalkAddr,
    WalkRead,
    WalkMatch,
    WalkJudge,
    LoadAddr,
    LoadRead,
    LoadPush
  } state_e;

  typedef enum logic [1:0] {
    WalkFind,
    WalkGo,
    WalkCancel,
    WalkCancelAll
  } walk_e;

  state_e state_q;

  // -- accepting
  logic [5:0] index;
  logic open_q, accept, held, slot_free;
  logic walk_busy_q;

  rl_launch_judge u_judge (
    .clk_net_i,
    .rst_net_ni,
    .lane_i,
    .index_o(index),
    .memory_i,
    .open_i(open_q && !walk_busy_q),
    .kernels_i,
    .args_we_i,
    .args_kernel_i,
    .args_takes_i,
    .last_we_i(last_we_i || reset_i),
    .last_i(reset_i ? '0 : last_i),
    .last_o,
    .accept_o(accept),
    .held_o(held),
    .divert_o,
    .divert_why_o
  );
  assign note_o = accept;
  assign accepted_seq_o = last_o;

  // -- slots: the first 16 allocations take them one by one, later ones take what was freed.
  logic [4:0] used_q, made_q;
  slot_t free_read_q, free_write_q, freed, slot;
  rl_lutram #(
    .Width(4),
    .Depth(Slots)
  ) u_free (
    .clk_i(clk_net_i),
    .we_i(ended_pop_i),
    .waddr_i(free_write_q),
    .wdata_i(ended_slot_o),
    .raddr_i(free_read_q),
    .rdata_o(freed)
  );
  assign slot = made_q[4] ? freed : made_q[3:0];
  assign slot_free = !used_q[4];

  always_ff @(posedge clk_net_i) begin
    // Launches that ended and were not popped count as kept.
    open_q <= slot_free && 7'(kept_i) + 7'(used_q) < 7'(ResultsKept) && role_i;
    // All 16 queued: the firmware must hear of the next, to refuse it. Else a slot will soon be
    // free.
    room_o <= !walk_busy_q && (slot_free || queued_o[4]);
    accepted_o <= rst_net_ni && accept;
    if (!rst_net_ni) begin
      used_q <= '0;
      made_q <= '0;
      free_read_q <= '0;
      free_write_q <= '0;
    end else begin
      used_q <= used_q + 5'(accept) - 5'(ended_pop_i);
      if (accept && !made_q[4]) made_q <= made_q + 1'b1;
      if (accept && made_q[4]) free_read_q <= free_read_q + 1'b1;
      if (ended_pop_i) free_write_q <= free_write_q + 1'b1;
    end
  end

  // -- the slots' memory
  logic [63:0] lane_data, ram_data;
  logic read, slot_half_q;
  logic [5:0] at_q;  // Word of the slot that a walk or load looks at.
  entry_t entry;

  assign lane_data = {<<8{lane_i.data}};
  rl_ram #(
    .Width(64),
    .Depth(Slots * 64)
  ) u_slots (
    .clk_wr_i(clk_net_i),
    // Of every frame, whatever it is: a free slot may hold anything.
    .we_i(lane_i.word && slot_free),
    .waddr_i({slot, lane_i.first ? 6'd0 : index}),
    .wdata_i(lane_data),
    .clk_rd_i(clk_net_i),
    .re_i(slot_re_i || read),
    .raddr_i(slot_re_i ? slot_addr_i[10:1] : {entry.slot, at_q}),
    .rdata_o(ram_data)
  );
  always_ff @(posedge clk_net_i) if (slot_re_i) slot_half_q <= slot_addr_i[0];
  assign slot_data_o = slot_half_q ? ram_data[31:0] : ram_data[63:32];

  // -- the queue
  slot_t head_q, walk_q, keep_q;
  logic [4:0] count_q, walk_left_q;
  logic walking, keep, drop, pop;
  entry_t keep_entry;
  walk_e walk_kind_q;
  logic [31:0] number_q;
  logic [63:0] word_q;
  logic walk_read;

  assign walking = state_q inside {WalkAddr, WalkRead, WalkMatch, WalkJudge};
  rl_lutram #(
    .Width($bits(entry_t)),
    .Depth(Slots)
  ) u_order (
    .clk_i(clk_net_i),
    .we_i(accept || keep),
    .waddr_i(accept ? head_q + count_q[3:0] : keep_q),
    .wdata_i(accept ? {held, slot} : keep_entry),
    .raddr_i(walking ? walk_q : head_q),
    .rdata_o(entry)
  );
  assign queued_o = count_q;

  // -- what the kernel says
  logic end_seen, end_q, running_q, outcome_q, primed_q, stop_q;
  rl_sync u_sync_end (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .d_i(end_toggle_i),
    .q_o(end_seen)
  );
  assign running_o = running_q;
  assign stop_o = stop_q;

  // -- walks
  logic match_q;
  logic judge, is_running;
  assign judge = state_q == WalkJudge;
  assign is_running = running_q && walk_q == head_q;
  assign drop = judge && match_q && !is_running &&
                (walk_kind_q == WalkCancel || walk_kind_q == WalkCancelAll);
  assign keep = judge && !drop;
  assign keep_entry = {entry.held && !(walk_kind_q == WalkGo && match_q), entry.slot};
  assign walk_busy_o = walk_busy_q;

  // -- starting
  logic ready, settled_q, start, fast_q, lane_push, load_push, cmd_ready;
  logic [7:0] ticket_q, behind;
  logic [7:0] kernel_q;
  logic load_push_q;
  logic [5:0] load_last_q;  // Last word of the slot that is loaded.
  kernel_cmd_t cmd;
  logic unused_spare;

  assign ready = state_q == Idle && !walk_busy_q && count_q != 0 && !entry.held && primed_q &&
                 enable_i && !running_q && !outcome_q;
  // All writes before it are counted: none was to be judged in this cycle or the two before it.
  logic [1:0] judging_q;
  logic ordered, ordered_q;
  assign ordered = ready && (ordered_q || (judging_q == 0 && !store_busy_i));
  assign behind = mem_written_i - ticket_q;  // Negative: some are under way.
  logic unused;
  assign unused = ^behind[6:0];
  // A cycle later: much has been looked at.
  assign start = state_q == Start && cmd_ready && enable_i;

  assign lane_push = lane_i.word && lane_i.payload && lane_i.route == RouteLaunch && fast_q &&
                     (index == FuelAt || index >= ArgsAt) && index < ArgsAt + 6'(LaunchArgs);
  assign load_push = state_q == LoadPush && !walk_busy_q && load_push_q;

  // A fast frame's words, a slot's words and starts never meet: there is either no launch in the
  // queue, or one that is loaded, or one that is started.
  always_comb begin
    cmd.what = start ? CmdStart : lane_push ? index : at_q;
    cmd.data = lane_push ? lane_data : word_q;
    if (start) cmd.data = {48'd0, kernel_q, 8'd1};
  end
  rl_fifo_async #(
    .Width($bits(kernel_cmd_t)),
    .Depth(16)
  ) u_commands (
    .clk_wr_i(clk_net_i),
    .rst_wr_ni(rst_net_ni),
    .wvalid_i(start || lane_push || load_push),
    .wready_o(cmd_ready),
    .wspare_o(unused_spare),
    .wdata_i(cmd),
    .clk_rd_i(clk_role_i),
    .rst_rd_ni(rst_role_ni),
    .rvalid_o(cmd_valid_o),
    .rready_i(cmd_ready_i),
    .rdata_o(cmd_o)
  );

  // -- outcomes
  typedef struct packed {
    logic  ran;
    end_e  status;
    slot_t slot;
  } ended_t;
  ended_t ended, ended_head;
  // There is room: a slot has one end.
  logic unused_ready;
  logic [4:0] unused_count;
  assign pop = state_q == Idle && running_q && end_seen != end_q;
  assign ended = '{ran: pop, status: pop ? end_status_i : EndCancelled, slot: entry.slot};
  rl_fifo #(
    .Width($bits(ended_t)),
    .Depth(Slots)
  ) u_ended (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .wvalid_i(pop || drop),
    .wready_o(unused_ready),
    .wdata_i(ended),
    .rvalid_o(ended_valid_o),
    .rready_i(ended_pop_i),
    .rdata_o(ended_head),
    .count_o(unused_count)
  );
  assign ended_slot_o = ended_head.slot;
  assign ended_ran_o = ended_head.ran;
  assign ended_status_o = ended_head.status == EndOk ? 16'(ErrorCodeOk) :
                          16'(ErrorCodeKernelTrap) + 16'(ended_head.status) - 16'(EndTrap);

  // -- the sequencer
  assign read = state_q == WalkAddr || state_q == LoadAddr;
  assign walk_read = go_i || cancel_i || cancel_all_i || find_i;

  always_ff @(posedge clk_net_i) begin
    if (state_q == WalkRead || state_q == LoadRead) word_q <= ram_data;
    unique case (walk_kind_q)
      WalkCancelAll: match_q <= 1'b1;
      WalkGo: match_q <= word_q[63:32] == number_q;
      default: match_q <= word_q[31:0] == number_q;
    endcase
    load_push_q <= at_q == FuelAt || at_q >= ArgsAt;
    if (walk_read) begin
      number_q <= number_i;
      walk_kind_q <= find_i ? WalkFind : go_i ? WalkGo : cancel_i ? WalkCancel : WalkCancelAll;
    end
    if (start) started_us_o <= time_us_i;
    if (pop) ended_us_o <= time_us_i;
    // Only writes stored before a launch could start hold it up, not those that keep coming.
    if (!ordered) ticket_q <= stored_i;
    judging_q <= {judging_q[0], store_busy_i};
    ordered_q <= ordered;
    settled_q <= !behind[7];
    ended_ok_o <= rst_net_ni && pop && end_status_i == EndOk;
    ended_failed_o <= rst_net_ni && (drop || (pop && end_status_i != EndOk));

    if (lane_i.word && lane_i.first) begin
      fast_q <= state_q == Idle && count_q == 0 && !accept && !walk_busy_q && enable_i;
    end else if (lane_push && !cmd_ready) begin
      fast_q <= 1'b0;
    end
    if (accept && count_q == 0) kernel_q <= lane_i.head.addr[7:0];

    if (!rst_net_ni) begin
      state_q <= Idle;
      head_q <= '0;
      count_q <= '0;
      primed_q <= 1'b0;
      running_q <= 1'b0;
      outcome_q <= 1'b0;
      stop_q <= 1'b0;
      end_q <= 1'b0;
      walk_busy_q <= 1'b0;
      walk_found_o <= 1'b0;
    end else begin
      count_q <= count_q + 5'(accept) - 5'(pop || drop);
      if (accept && count_q == 0) primed_q <= fast_q;
      if (start) begin
        running_q <= 1'b1;
        primed_q <= 1'b0;
      end
      if (pop) begin
        head_q <= head_q + 1'b1;
        running_q <= 1'b0;
        stop_q <= 1'b0;
        end_q <= end_seen;
        outcome_q <= 1'b1;
      end
      if (ended_pop_i && ended_ran_o) outcome_q <= 1'b0;
      if (walk_read) walk_busy_q <= 1'b1;

      unique case (state_q)
        Idle: begin
          if (pop) begin
            state_q <= Idle;
          end else if (ordered && settled_q) begin
            state_q <= Start;
          end else if (walk_busy_q) begin
            state_q <= count_q == 0 ? Idle : WalkAddr;
            walk_busy_q <= count_q != 0;
            walk_found_o <= 1'b0;
            walk_q <= head_q;
            keep_q <= head_q;
            walk_left_q <= count_q;
            at_q <= walk_kind_q == WalkGo ? GoAt : SeqAt;
          end else if (count_q != 0 && !primed_q && !running_q && enable_i) begin
            state_q <= LoadAddr;
            at_q <= KernelAt;
          end
        end

        Start: state_q <= Idle;

        // A read of the firmware comes first.
        WalkAddr: if (!slot_re_i) state_q <= WalkRead;
        WalkRead: state_q <= WalkMatch;
        WalkMatch: state_q <= WalkJudge;
        WalkJudge: begin
          walk_q <= walk_q + 1'b1;
          if (keep) keep_q <= keep_q + 1'b1;
          walk_left_q <= walk_left_q - 1'b1;
          if (match_q) begin
            walk_found_o <= 1'b1;
            if (is_running && walk_kind_q inside {WalkCancel, WalkCancelAll}) stop_q <= 1'b1;
          end
          // Another launch is in front now: its arguments are not in the role.
          if (drop && walk_q == head_q) primed_q <= 1'b0;
          state_q <= WalkAddr;
          if (walk_left_q == 5'd1) begin
            state_q <= Idle;
            walk_busy_q <= 1'b0;
          end
        end

        LoadAddr: if (!slot_re_i) state_q <= LoadRead;
        LoadRead: state_q <= LoadPush;
        LoadPush: begin
          if (at_q == KernelAt) kernel_q <= word_q[7:0];
          if (at_q == GoAt) load_last_q <= GoAt + word_q[5:0];
          if (walk_busy_q) begin
            // What it does may concern this launch: it is loaded again.
            state_q <= Idle;
          end else if (!load_push || cmd_ready) begin
            at_q <= at_q + 1'b1;
            state_q <= LoadAddr;
            if (at_q == GoAt ? word_q[5:0] == 0 : at_q > GoAt && at_q == load_last_q) begin
              state_q <= Idle;
              primed_q <= 1'b1;
            end
          end
        end
        default: state_q <= Idle;
      endcase
    end
  end

`ifndef SYNTHESIS
  QueueHasRoom_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni)
    accept |-> slot_free && !count_q[4] && !walk_busy_q);
  PopIsOfOne_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni) ended_pop_i |-> ended_valid_o);
  OneWalk_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni) walk_read |-> !walk_busy_q);
  ResetWhenEmpty_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni) reset_i |-> count_q == 0);
  OneCommand_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni) $onehot0(
      {start, lane_push, load_push}
  ));
  UsedCoversQueued_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni) used_q >= count_q);
`endif
endmodule
