// Launches: accepts them from the receive stream, each once and in order (rl_launch_judge), keeps up to 16 that
// have not ended, and has rl_role_port run them one at a time.
//
// Slots: a launch's frame is kept as it came. 32-bit words of a slot, of which there are 128: 5
// seq, 7 kernel, 8-9 fuel, 10-11 out_addr, 12-13 out_length, 14 go, 15 credit << 16 | args, 16..
// arguments. There are twice as many slots as launches, so that one is always free for the frame that
// comes in, whatever it is.
//
// The order: a ring of as many places as slots; each slot's number is in one of them. From the place
// `popped` on are launches that have ended, from `head` on those that have not, oldest first, and from
// `tail` on free slots. A launch is accepted, ends and is popped when tail, head and popped move on;
// nothing moves in the ring. What is rare is done by the firmware, which knows the order, while the ring
// is frozen: a Go releases held launches; a cancelled one is put in front of the others and dropped.
//
// The fast path: when no launch is there, fuel and arguments of a frame go to rl_role_port as they
// come in, before anyone knows whether the launch is accepted. If it is not, the role has some
// numbers in its argument registers that the next launch overwrites.
module rl_launch
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
  import rl_role_pkg::*;
#(
  parameter int unsigned Queue = 32'(LaunchQueue),  // A power of two.
  localparam int unsigned PlaceW = $clog2(2 * Queue)
) (
  input  logic        clk_net_i,
  input  logic        rst_net_ni,
  input  logic        clk_role_i,
  input  logic        rst_role_ni,

  input  rx_beat_t       rx_beat_i,
  input  addr_t       memory_i,        // Bytes that a host may address.
  input  logic        role_i,          // A role is active, and not being configured.
  output logic        room_o,          // A launch may come in.
  output logic        divert_o,        // With rx_beat_i.done: not accepted, the firmware judges it.
  output divert_reason_e        divert_reason_o,
  output logic        note_o,          // With rx_beat_i.done: accepted, the firmware says so.

  // Frames of writes that were stored, and those of them whose bytes are in DDR.
  input  logic [7:0]  stored_i,
  input  logic        mem_write_busy_i,    // One has ended and is not counted yet.
  input  logic [7:0]  mem_written_i,
  input  logic [31:0] time_us_i,

  // -- firmware
  input  logic        last_we_i,       // Numbers up to last_i are used up.
  input  logic [31:0] last_i,
  output logic [31:0] last_o,
  input  logic        args_we_i,
  input  logic [5:0]  args_kernel_i,
  input  logic [5:0]  args_takes_i,
  input  logic [5:0]  args_words_i,
  input  logic        enable_i,        // Kernels may start.
  output logic        running_o,
  // Places of the ring.
  input  logic [PlaceW-1:0] popped_i,  // The oldest launch that ended and was not popped.
  input  logic [PlaceW-1:0] bound_i,   // No launch is accepted beyond this place, 16 after `popped` at most.
  output logic [PlaceW-1:0] head_o,
  output logic [PlaceW-1:0] tail_o,
  output logic        ended_o,         // There is one that ended and was not popped.
  output logic        still_o,         // Nothing changes here until a kernel ends, a frame comes, or the firmware asks.
  // While it is frozen no launch is accepted, starts or ends.
  input  logic        freeze_i,
  output logic        frozen_o,
  input  logic        order_we_i,      // Frozen, or nothing is queued:
  input  logic [PlaceW-1:0] order_at_i,   // in this place
  input  logic [PlaceW-1:0] order_slot_i, // is this slot,
  input  logic        order_held_i,    // and its launch waits for a Go.
  input  logic        drop_i,          // Frozen: the launch in front, none that runs, has ended.
  input  logic        stop_i,          // Frozen: end the kernel, if one runs.
  output logic [31:0] started_us_o,    // Of the launch that ran last. Status, value and cycles: rl_role_port.
  output logic [31:0] ended_us_o,
  // Slots, read: 32-bit word 128 s + k.
  input  logic        slot_re_i,
  input  logic [PlaceW+6:0] slot_addr_i,
  output logic [31:0] slot_data_o,     // A cycle later.

  // -- rl_role_port
  output logic        cmd_valid_o,     // Role domain.
  input  logic        cmd_ready_i,     // Role domain.
  output role_command_t cmd_o,           // Role domain.
  output logic        stop_o,          // Net domain: end the kernel that runs. Until it has ended.
  input  logic        end_toggle_i     // Role domain: changes when a kernel has ended.
);
  localparam int unsigned Places = 1 << PlaceW;
  // 64-bit words of a frame, and of a slot, which has room for 64: the last one holds anything.
  localparam logic [5:0] KernelAt = 6'd3, FuelAt = 6'd4, GoAt = 6'd7, ArgsAt = 6'd8;

  typedef logic [PlaceW-1:0] place_t;
  typedef struct packed {
    logic   held;
    place_t slot;
  } entry_t;

  typedef enum logic [2:0] {
    Idle,
    Start,
    LoadAddr,
    LoadRead,
    LoadPush
  } state_e;

  state_e state_q;

  // -- accepting
  logic [5:0] index;
  logic open_q, accept, held, full, empty;
  place_t head_q, tail_q;

  rl_launch_judge u_judge (
    .clk_net_i,
    .rst_net_ni,
    .rx_beat_i,
    .index_o(index),
    .memory_i,
    .open_i(open_q),
    .args_we_i,
    .args_kernel_i,
    .args_takes_i,
    .args_words_i,
    .last_we_i,
    .last_i,
    .last_o,
    .accept_o(accept),
    .held_o(held),
    .divert_o,
    .divert_reason_o
  );
  assign note_o = accept;
  assign head_o = head_q;
  assign tail_o = tail_q;
  assign ended_o = head_q != popped_i;
  assign full = tail_q == bound_i;
  assign empty = tail_q == head_q;

  always_ff @(posedge clk_net_i) begin
    open_q <= !full && role_i && !freeze_i;
    // Nothing ended that will make room: the firmware must hear of the next launch, to refuse it.
    room_o <= !freeze_i && (!full || !ended_o);
    frozen_o <= freeze_i && state_q == Idle;
  end

  // -- the ring: one copy tells where the next launch goes, the other which is the oldest
  entry_t order, entry;
  place_t order_at, slot;
  logic order_we;
  assign order_we = accept || order_we_i;
  assign order_at = order_we_i ? order_at_i : tail_q;
  assign order = order_we_i ? {order_held_i, order_slot_i} : {held, slot};
  rl_lutram #(
    .Width(PlaceW),
    .Depth(Places)
  ) u_free (
    .clk_i(clk_net_i),
    .we_i(order_we),
    .waddr_i(order_at),
    .wdata_i(order.slot),
    .raddr_i(tail_q),
    .rdata_o(slot)
  );
  rl_lutram #(
    .Width($bits(entry_t)),
    .Depth(Places)
  ) u_order (
    .clk_i(clk_net_i),
    .we_i(order_we),
    .waddr_i(order_at),
    .wdata_i(order),
    .raddr_i(head_q),
    .rdata_o(entry)
  );

  // -- the slots' memory
  logic [63:0] rx_beat_data, ram_data, word_q;
  logic read, slot_half_q;
  logic [5:0] at_q;  // Word of the slot that is loaded.

  assign rx_beat_data = {<<8{rx_beat_i.data}};
  rl_ram #(
    .Width(64),
    .Depth(Places * 64)
  ) u_slots (
    .clk_wr_i(clk_net_i),
    // Of every frame, whatever it is: a free slot may hold anything.
    .we_i(rx_beat_i.word),
    .waddr_i({slot, rx_beat_i.first ? 6'd0 : index}),
    .wdata_i(rx_beat_data),
    .clk_rd_i(clk_net_i),
    .re_i(slot_re_i || read),
    .raddr_i(slot_re_i ? slot_addr_i[PlaceW+6:1] : {entry.slot, at_q}),
    .rdata_o(ram_data)
  );
  always_ff @(posedge clk_net_i) if (slot_re_i) slot_half_q <= slot_addr_i[0];
  assign slot_data_o = slot_half_q ? ram_data[31:0] : ram_data[63:32];

  // -- what the kernel says
  logic end_seen, end_q, running_q, primed_q, stop_q, pop;
  rl_sync u_sync_end (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .d_i(end_toggle_i),
    .q_o(end_seen)
  );
  assign running_o = running_q;
  assign stop_o = stop_q;
  assign pop = state_q == Idle && !freeze_i && running_q && end_seen != end_q;
  assign still_o = state_q == Idle && !freeze_i && !ended_o && !pop && (running_q || empty);

  // -- starting
  logic ready, settled_q, start, fast_q, rx_push, load_push, cmd_ready;
  logic [7:0] ticket_q, behind;
  logic [7:0] kernel_q;
  logic load_push_q;
  logic [5:0] load_last_q;  // Last word of the slot that is loaded.
  role_command_t cmd;
  logic unused_spare;

  // What the last one gave is in rl_role_port until the firmware has popped it.
  assign ready = state_q == Idle && !freeze_i && !empty && !entry.held && primed_q && enable_i &&
                 !running_q && !ended_o;
  // All writes before it are counted: none was to be judged in this cycle or the two before it.
  logic [1:0] judging_q;
  logic ordered, ordered_q;
  assign ordered = ready && (ordered_q || (judging_q == 0 && !mem_write_busy_i));
  assign behind = mem_written_i - ticket_q;  // Negative: some are under way.
  logic unused;
  assign unused = ^behind[6:0];
  // A cycle later: much has been looked at.
  assign start = state_q == Start && cmd_ready && enable_i;

  assign rx_push = rx_beat_i.word && rx_beat_i.payload && rx_beat_i.route == RouteLaunch && fast_q &&
                     (index == FuelAt || index >= ArgsAt) && index < ArgsAt + 6'(LaunchArgs);
  assign load_push = state_q == LoadPush && !freeze_i && load_push_q;

  // A fast frame's words, a slot's words and starts never meet: there is either no launch in the
  // queue, or one that is loaded, or one that is started.
  always_comb begin
    cmd.what = start ? CmdStart : rx_push ? index : at_q;
    cmd.data = rx_push ? rx_beat_data : word_q;
    if (start) cmd.data = {48'd0, kernel_q, 8'd1};
  end
  rl_fifo_async #(
    .Width($bits(role_command_t)),
    .Depth(16)
  ) u_commands (
    .clk_wr_i(clk_net_i),
    .rst_wr_ni(rst_net_ni),
    .wvalid_i(start || rx_push || load_push),
    .wready_o(cmd_ready),
    .wspare_o(unused_spare),
    .wdata_i(cmd),
    .clk_rd_i(clk_role_i),
    .rst_rd_ni(rst_role_ni),
    .rvalid_o(cmd_valid_o),
    .rready_i(cmd_ready_i),
    .rdata_o(cmd_o)
  );

  // -- the sequencer
  assign read = state_q == LoadAddr;

  always_ff @(posedge clk_net_i) begin
    if (state_q == LoadRead) word_q <= ram_data;
    load_push_q <= at_q == FuelAt || at_q >= ArgsAt;
    if (start) started_us_o <= time_us_i;
    if (pop) ended_us_o <= time_us_i;
    // Only writes stored before a launch could start hold it up, not those that keep coming.
    if (!ordered) ticket_q <= stored_i;
    judging_q <= {judging_q[0], mem_write_busy_i};
    ordered_q <= ordered;
    settled_q <= !behind[7];

    if (rx_beat_i.word && rx_beat_i.first) begin
      fast_q <= state_q == Idle && empty && !accept && !freeze_i && enable_i;
    end else if (rx_push && !cmd_ready) begin
      fast_q <= 1'b0;
    end
    if (accept && empty) kernel_q <= rx_beat_i.head.addr[7:0];

    if (!rst_net_ni) begin
      state_q <= Idle;
      head_q <= '0;
      tail_q <= '0;
      primed_q <= 1'b0;
      running_q <= 1'b0;
      stop_q <= 1'b0;
      end_q <= 1'b0;
    end else begin
      if (accept) tail_q <= tail_q + 1'b1;
      if (pop || drop_i) head_q <= head_q + 1'b1;
      if (accept && empty) primed_q <= fast_q;
      // Another launch is in front now: its arguments are not in the role.
      if (start || drop_i) primed_q <= 1'b0;
      if (start) running_q <= 1'b1;
      if (stop_i && running_q) stop_q <= 1'b1;
      if (pop) begin
        running_q <= 1'b0;
        stop_q <= 1'b0;
        end_q <= end_seen;
      end

      unique case (state_q)
        Idle: begin
          if (pop || freeze_i) begin
            state_q <= Idle;
          end else if (ordered && settled_q) begin
            state_q <= Start;
          end else if (!empty && !primed_q && !running_q && enable_i) begin
            state_q <= LoadAddr;
            at_q <= KernelAt;
          end
        end

        Start: state_q <= Idle;

        // A read of the firmware comes first.
        LoadAddr: if (!slot_re_i) state_q <= LoadRead;
        LoadRead: state_q <= LoadPush;
        LoadPush: begin
          if (at_q == KernelAt) kernel_q <= word_q[7:0];
          if (at_q == GoAt) load_last_q <= GoAt + word_q[5:0];
          if (freeze_i) begin
            // It may be cancelled: else it is loaded again.
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
  place_t queued, used;
  assign queued = tail_q - head_q;
  assign used = tail_q - popped_i;
  QueueHasRoom_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni)
    accept |-> used < PlaceW'(Queue) && tail_q != bound_i && !frozen_o);
  PopIsOfOne_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni)
    queued <= used && used <= PlaceW'(Queue));
  BoundIsAhead_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni)
    place_t'(bound_i - popped_i) >= used && place_t'(bound_i - popped_i) <= PlaceW'(Queue));
  Frozen_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni)
    drop_i |-> frozen_o && queued > PlaceW'(running_q));
  OrderIsFrozen_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni)
    order_we_i |-> !accept && (frozen_o || used == 0));
  OneCommand_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni) $onehot0(
      {start, rx_push, load_push}
  ));
`endif
endmodule
