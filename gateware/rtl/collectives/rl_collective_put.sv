// Messages to the card at the other end of a link: read from memory by bursts, and cut into frames. Each context has
// one under way, or two if neither has bytes: signals. Those that may go take turns by frames, and of two signals the
// first goes first.
//
// A message of up to Eager bytes goes at once, a longer one when the neighbour has said that it takes it, which may
// have been before. It has ended when the neighbour has said that all of it has come.
//
// What is read is stored until it goes, and only asked for when there is room for a frame of the longest: memory never
// waits for the link. A frame begins when all of its bytes are here, so that the link never waits for memory.
module rl_collective_put
  import rl_link_pkg::*;
  import rl_link_wire_pkg::*;
  import rl_collective_pkg::*;
#(
  parameter int unsigned DataW = 64,
  parameter int unsigned Longest = 1408,  // Most payload bytes of a frame.
  parameter int unsigned Words = 512,     // Of the store, a power of two: two frames of the longest or more.
  parameter int unsigned Burst = 16,      // As rl_bridge_burst says.
  localparam int unsigned FineW = $clog2(DataW / 8),
  localparam int unsigned BeatW = 40 - FineW
) (
  input  logic              clk_i,
  input  logic              rst_ni,

  // -- messages that begin, of contexts that have none under way here, or one signal if this is another; and how they
  // end
  input  logic              start_valid_i,
  output logic              start_ready_o,
  input  move_t             start_i,
  output logic              end_valid_o,     // For one cycle.
  output end_t              end_o,
  output logic [Slots-1:0]  open_o,          // They have messages that have not ended.
  input  logic [Slots-1:0]  cancel_i,        // These are no more. What was cut of them still goes.
  input  logic              forget_i,        // Nor is anything that the neighbour has said.

  // -- what the neighbour says: Ready or Done
  input  logic              said_valid_i,
  output logic              said_ready_o,
  input  message_t          said_i,

  // -- memory
  output logic              ar_valid_o,
  input  logic              ar_ready_i,
  output logic [BeatW-1:0]  ar_beat_o,
  output logic [7:0]        ar_len_o,        // Beats, less 1.
  input  logic              r_valid_i,       // Taken at once.
  input  logic [DataW-1:0]  r_data_i,
  input  logic              r_failed_i,
  input  logic              r_last_i,

  // -- frames: heads, and words in their order
  output logic              head_valid_o,
  input  logic              head_ready_i,
  output message_t          head_o,
  output logic              data_valid_o,
  input  logic              data_ready_i,
  output logic [DataW-1:0]  data_o,
  output logic              data_last_o
);
  localparam int unsigned FrameWords = Longest / (DataW / 8) + 1;  // One more where it begins within a word.
  localparam int unsigned CountW = $clog2(Words) + 1;
  typedef logic [FineW-1:0] fine_t;
  if (Words < 2 * FrameWords) begin : gen_check
    $fatal(0, "rl_collective_put: the store must have two frames of the longest (%m)");
  end

  // -- what each context sends, and what has been said of it. Of two signals the second is where the first is not.
  typedef logic [1:0][Slots-1:0] twice_t;
  logic [Slots-1:0] go_q, new_q;  // It may go; its newest message is the second bank's.
  twice_t open, cut_q, ended, cuts;  // All of it is cut into frames.
  logic finds, found_done, early_done, early_found, starts, is_long, readies, dones;
  logic start_bank, found_bank;
  logic [1:0] found;
  slot_t found_slot, early_slot;
  logic [Slots-1:0] early_named;
  move_t record;
  logic [31:0] sent, length;
  assign is_long = start_i.length > Eager;
  // One thing at a time: what was said first.
  assign finds = said_valid_i;
  assign said_ready_o = found_done;
  assign starts = start_valid_i && start_ready_o;
  assign start_ready_o = !said_valid_i && (!is_long || early_done);
  assign readies = found_done && said_i.kind == 4'(KindLinkReady);
  assign dones = found_done && said_i.kind == 4'(KindLinkDone) && found != '0;
  assign start_bank = open[0][start_i.slot];
  // Of two of one name the first has come.
  assign found_bank = &found ? !new_q[found_slot] : found[1];
  assign open_o = open[0] | open[1];
  function automatic twice_t one_of(logic bank, slot_t slot);
    one_of = '0;
    one_of[bank][slot] = 1'b1;
  endfunction
  rl_collective_match #(
    .Width($bits(key_t)),
    .Places(Slots),
    .Banks(2)
  ) u_puts (
    .clk_i,
    .rst_ni,
    .set_i({starts && start_bank, starts && !start_bank}),
    .place_i(start_i.slot),
    .set_name_i(start_i.key),
    .clear_i(ended | {2{cancel_i}}),
    .named_o(open),
    .find_i(finds),
    .name_i(said_i.key),
    .done_o(found_done),
    .found_o(found),
    .found_place_o(found_slot)
  );
  // What the neighbour takes before we have begun it, by its contexts: each awaits one message at a time.
  rl_collective_match #(
    .Width($bits(key_t)),
    .Places(Slots)
  ) u_early (
    .clk_i,
    .rst_ni,
    .set_i(readies && found == '0 && said_i.slot < Contexts && !forget_i),
    .place_i(slot_t'(said_i.slot)),
    .set_name_i(said_i.key),
    .clear_i(forget_i ? '1 : starts && is_long && early_found ? Slots'(1) << early_slot : '0),
    .named_o(early_named),
    .find_i(start_valid_i && !said_valid_i && is_long),
    .name_i(start_i.key),
    .done_o(early_done),
    .found_o(early_found),
    .found_place_o(early_slot)
  );
  rl_lutram #(
    .Width(32),
    .Depth(Slots)
  ) u_lengths (
    .clk_i,
    .we_i(starts),
    .waddr_i(start_i.slot),
    .wdata_i(start_i.length),
    .raddr_i(found_slot),
    .rdata_o(length)
  );

  // -- whose frame is cut next
  typedef enum logic [1:0] {
    Pick,
    Cut,
    Rest  // What was cut shows in what is open.
  } state_e;
  state_e state_q;
  slot_t turn_q, chosen;
  logic [Slots-1:0] uncut;
  logic bank_q, bank;  // Of what is cut, or would be.
  logic any, cut_now, has_room, range_ready, frames_ready, ends_message;
  logic [CountW-1:0] held_q;  // Words that are stored, or asked for.
  logic [31:0] left;
  logic [15:0] size, beats;
  always_comb begin
    any = 1'b0;
    chosen = turn_q;
    uncut = (open[0] & ~cut_q[0]) | (open[1] & ~cut_q[1]);
    for (int unsigned i = 0; i < Slots; i++) begin
      automatic slot_t at = turn_q + slot_t'(i);
      if (!any && go_q[at] && uncut[at]) {any, chosen} = {1'b1, at};
    end
    bank = new_q[chosen] ^ (open[!new_q[chosen]][chosen] && !cut_q[!new_q[chosen]][chosen]);
  end
  rl_lutram #(
    .Width($bits(move_t)),
    .Depth(2 * Slots)
  ) u_records (
    .clk_i,
    .we_i(starts),
    .waddr_i({start_bank, start_i.slot}),
    .wdata_i(start_i),
    .raddr_i({bank_q, turn_q}),
    .rdata_o(record)
  );
  rl_lutram #(
    .Width(32),
    .Depth(Slots)
  ) u_sent (
    .clk_i,
    .we_i(starts || cut_now),
    .waddr_i(starts ? start_i.slot : turn_q),
    .wdata_i(starts ? '0 : sent + 32'(size)),
    .raddr_i(turn_q),
    .rdata_o(sent)
  );
  assign left = record.length - sent;
  assign ends_message = left <= 32'(Longest);
  assign size = ends_message ? left[15:0] : 16'(Longest);
  assign beats = 16'((17'(size) + 17'(fine_t'(record.addr + 40'(sent))) + 17'(DataW / 8 - 1)) >> FineW);
  assign has_room = held_q <= CountW'(Words - FrameWords);
  // A start writes where a frame's end would be written.
  assign cut_now = state_q == Cut && has_room && range_ready && frames_ready && !starts && open[bank_q][turn_q];
  assign cuts = cut_now && ends_message ? one_of(bank_q, turn_q) : '0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Pick;
      turn_q <= '0;
      go_q <= '0;
      cut_q <= '0;
      new_q <= '0;
      bank_q <= 1'b0;
    end else begin
      case (state_q)
        Pick:
        if (any) begin
          state_q <= Cut;
          turn_q <= chosen;
          bank_q <= bank;
        end
        Cut: if (cut_now || !open[bank_q][turn_q]) state_q <= Rest;
        default: begin
          state_q <= Pick;
          turn_q <= turn_q + 1'b1;
        end
      endcase
      for (int unsigned i = 0; i < Slots; i++) begin
        automatic logic begins = starts && start_i.slot == slot_t'(i);
        if (begins) {go_q[i], new_q[i]} <= {!is_long || early_found, start_bank};
        else if (readies && found != '0 && found_slot == slot_t'(i)) go_q[i] <= 1'b1;
        for (int unsigned b = 0; b < 2; b++)
        cut_q[b][i] <= !(begins && start_bank == 1'(b)) && (cut_q[b][i] || cuts[b][i]);
      end
    end
  end

  // -- to memory
  logic burst_valid, burst_room, burst_last, r_there, r_ends, fails, failed_q;
  logic frame_valid, frame_take, whole_valid, whole_failed, whole_ready;
  logic [6:0] unused_bursts;
  rl_bridge_burst #(
    .AddrW(40),
    .DataW(DataW),
    .Burst(Burst)
  ) u_burst (
    .clk_i,
    .rst_ni,
    .valid_i(cut_now && size != '0),
    .ready_o(range_ready),
    .beat_i(BeatW'((record.addr + 40'(sent)) >> FineW)),
    .beats_i(beats),
    .valid_o(burst_valid),
    .ready_i(ar_ready_i && burst_room),
    .beat_o(ar_beat_o),
    .len_o(ar_len_o),
    .last_o(burst_last)
  );
  assign ar_valid_o = burst_valid && burst_room;
  rl_fifo #(
    .Width(1),
    .Depth(64)
  ) u_bursts (
    .clk_i,
    .rst_ni,
    .wvalid_i(ar_valid_o && ar_ready_i),
    .wready_o(burst_room),
    .wdata_i(burst_last),
    .rvalid_o(r_there),
    .rready_i(r_valid_i && r_last_i),
    .rdata_o(r_ends),
    .count_o(unused_bursts)
  );
  assign fails = failed_q || r_failed_i;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) failed_q <= 1'b0;
    else if (r_valid_i) failed_q <= fails && !(r_last_i && r_ends);
  end
  logic [3:0] unused_wholes;
  rl_fifo #(
    .Width(1),
    .Depth(8)
  ) u_wholes (
    .clk_i,
    .rst_ni,
    .wvalid_i(r_valid_i && r_last_i && r_ends),
    .wready_o(whole_ready),
    .wdata_i(fails),
    .rvalid_o(whole_valid),
    .rready_i(frame_take && head_o.length != '0),
    .rdata_o(whole_failed),
    .count_o(unused_wholes)
  );

  // -- frames that were cut: their heads go when all of it is here
  typedef struct packed {
    message_t message;
    slot_t    slot;
    fine_t    fine;
  } frame_t;
  typedef struct packed {
    logic        skips;  // It could not be read, and goes nowhere.
    logic        empty;  // Its one word means nothing.
    logic        more;   // There is one beat more than words go.
    fine_t       fine;
    logic [15:0] beats;
  } body_t;
  frame_t frame;
  body_t body, body_in;
  logic body_valid, body_ready, body_take, is_here, frame_failed;
  logic [2:0] unused_frames, unused_bodies;
  rl_fifo #(
    .Width($bits(frame_t)),
    .Depth(4)
  ) u_frames (
    .clk_i,
    .rst_ni,
    .wvalid_i(cut_now),
    .wready_o(frames_ready),
    .wdata_i({
        4'(KindLinkData), 16'(turn_q), record.key, sent, record.length, size, turn_q, fine_t'(record.addr + 40'(sent))
      }),
    .rvalid_o(frame_valid),
    .rready_i(frame_take),
    .rdata_o(frame),
    .count_o(unused_frames)
  );
  assign head_o = frame.message;
  assign is_here = frame_valid && body_ready && (head_o.length == '0 || whole_valid);
  assign frame_failed = head_o.length != '0 && whole_failed;
  assign head_valid_o = is_here && !frame_failed;
  assign frame_take = is_here && (frame_failed ? !dones : head_ready_i);
  always_comb begin
    body_in.skips = frame_failed;
    body_in.empty = head_o.length == '0;
    body_in.fine = frame.fine;
    body_in.beats = body_in.empty ? 16'd1 :
        16'((17'(head_o.length) + 17'(frame.fine) + 17'(DataW / 8 - 1)) >> FineW);
    body_in.more = !body_in.empty && body_in.beats != 16'((17'(head_o.length) + 17'(DataW / 8 - 1)) >> FineW);
  end
  rl_fifo #(
    .Width($bits(body_t)),
    .Depth(4)
  ) u_bodies (
    .clk_i,
    .rst_ni,
    .wvalid_i(frame_take),
    .wready_o(body_ready),
    .wdata_i(body_in),
    .rvalid_o(body_valid),
    .rready_i(body_take),
    .rdata_o(body),
    .count_o(unused_bodies)
  );

  // -- and their words
  logic store_valid, store_ready, store_take, word_valid, gather_ready, passes, ends_body;
  logic [DataW-1:0] store_data;
  logic [15:0] at_q;
  logic [CountW-1:0] unused_stored;
  rl_fifo #(
    .Width(DataW),
    .Depth(Words),
    .Block(1'b1)
  ) u_store (
    .clk_i,
    .rst_ni,
    .wvalid_i(r_valid_i),
    .wready_o(store_ready),
    .wdata_i(r_data_i),
    .rvalid_o(store_valid),
    .rready_i(store_take),
    .rdata_o(store_data),
    .count_o(unused_stored)
  );
  assign word_valid = body_valid && !body.skips && (body.empty || store_valid);
  assign passes = body_valid && (body.skips ? store_valid : word_valid && gather_ready);
  assign store_take = passes && !body.empty;
  assign ends_body = at_q == body.beats - 1'b1;
  assign body_take = passes && ends_body;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      at_q <= '0;
      held_q <= '0;
    end else begin
      if (passes) at_q <= ends_body ? '0 : at_q + 1'b1;
      held_q <= held_q + (cut_now && size != '0 ? CountW'(beats) : '0) - CountW'(store_take);
    end
  end
  rl_bridge_gather #(
    .DataW(DataW)
  ) u_gather (
    .clk_i,
    .rst_ni,
    .s_valid_i(word_valid),
    .s_ready_o(gather_ready),
    .s_offset_i(body.empty ? '0 : body.fine),
    .s_more_i(body.more),
    .s_data_i(store_data),
    .s_last_i(ends_body),
    .m_valid_o(data_valid_o),
    .m_ready_i(data_ready_i),
    .m_data_o(data_o),
    .m_last_o(data_last_o)
  );

  // -- ends
  logic done_now, fail_now;
  assign done_now = dones;
  // What could not be read ends its message, unless that has ended.
  assign fail_now = frame_take && frame_failed;
  // Such a message has bytes, and is the only one of its context.
  assign ended = (done_now ? one_of(found_bank, found_slot) : '0) |
      (fail_now && open[0][frame.slot] ? one_of(1'b0, frame.slot) : '0);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) end_valid_o <= 1'b0;
    else end_valid_o <= done_now || (fail_now && open[0][frame.slot]);
  end
  always_ff @(posedge clk_i) begin
    end_o.slot <= done_now ? found_slot : frame.slot;
    if (!done_now) end_o.cause <= MemoryFailed;
    else end_o.cause <= cut_q[found_bank][found_slot] && length == said_i.total ? Done : Protocol;
  end

  logic unused;
  assign unused = ^{early_named, r_there, whole_ready, store_ready, unused_bursts, unused_wholes,
                    unused_frames, unused_bodies, unused_stored, said_i.offset, said_i.length, record.slot};
`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (starts) begin
        TwoAtMost_A : assert (!open[1][start_i.slot] || !open[0][start_i.slot]);
        OrOneOfBytes_A : assert (!open_o[start_i.slot] || start_i.length == '0);
      end
      if (r_valid_i) HasRoom_A : assert (store_ready && r_there);
      if (r_valid_i && r_last_i && r_ends) WholeHasRoom_A : assert (whole_ready);
    end
  end
`endif
endmodule
