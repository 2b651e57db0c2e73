// Messages from the card at the other end of a link: each frame's bytes go to memory where a take of this card's own
// program says, or, if none has been begun, to the early area, if the message is short enough. There each context of
// the neighbour has a place of Eager bytes, and one message at a time, or two without bytes (signals); a take that
// finds its message there has it copied.
//
// A message has come when memory has answered for all of its bytes. Then the neighbour learns of it.
//
// One thing at a time: a frame, a piece of a copy, or a take that begins. A frame that no take and no place wants is
// dropped and counted.
module rl_collective_take
  import rl_link_pkg::*;
  import rl_link_wire_pkg::*;
  import rl_collective_pkg::*;
#(
  parameter int unsigned DataW = 64,
  parameter int unsigned Burst = 16,      // As rl_bridge_burst says.
  localparam int unsigned Bytes = DataW / 8,
  localparam int unsigned FineW = $clog2(Bytes),
  localparam int unsigned BeatW = 40 - FineW
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic [39:0]       early_i,         // Where the early area is: Slots x Eager bytes, aligned to that. Steady.

  // -- takes that begin, of contexts that have none under way here; and how they end
  input  logic              start_valid_i,
  output logic              start_ready_o,
  input  move_t             start_i,
  output logic              end_valid_o,     // For one cycle.
  output end_t              end_o,
  output logic [Slots-1:0]  open_o,          // Takes that have not ended.
  input  logic [Slots-1:0]  cancel_i,        // These are no more. What is under way to memory still goes there.
  input  logic              forget_i,        // Nor is anything that came early.
  output logic              stray_o,         // A frame went nowhere: for one cycle.
  output logic              rests_o,         // Nothing is under way to memory.

  // -- what has come of Data, all of it beside each word
  input  logic              come_valid_i,
  output logic              come_ready_o,
  input  message_t          come_i,
  input  logic [DataW-1:0]  data_i,
  input  logic              last_i,

  // -- words for the neighbour
  output logic              word_valid_o,
  input  logic              word_ready_i,
  output message_t          word_o,

  // -- memory: writes, and reads of what came early
  output logic              aw_valid_o,
  input  logic              aw_ready_i,
  output logic [39:0]       aw_addr_o,
  output logic [7:0]        aw_len_o,
  output logic              w_valid_o,
  input  logic              w_ready_i,
  output logic [DataW-1:0]  w_data_o,
  output logic [Bytes-1:0]  w_strb_o,
  output logic              w_last_o,
  input  logic              b_valid_i,       // Taken at once.
  input  logic [1:0]        b_resp_i,
  output logic              ar_valid_o,
  input  logic              ar_ready_i,
  output logic [BeatW-1:0]  ar_beat_o,
  output logic [7:0]        ar_len_o,
  input  logic              r_valid_i,       // Taken at once.
  input  logic [DataW-1:0]  r_data_i,
  input  logic              r_failed_i,
  input  logic              r_last_i
);

  // -- takes, by contexts of this card; and what came early, by contexts of the neighbour
  typedef enum logic [2:0] {
    Idle,    // Or which take wants the frame that has come?
    Judges,
    Writes,
    Drops,
    Begins,  // A take: has its message come early?
    Copies   // A piece of it.
  } state_e;
  state_e state_q;
  logic piece_takes, spread_valid, judged_take, judged_place, judged_bad;
  logic finds, found_done, found, early_done, early_found, starts, start_fails;
  slot_t found_slot, found_place, slot_q, from;
  logic [Slots-1:0] ended;
  // Of each place: its first bank has a message or a signal, its second a signal.
  logic [1:0] early_banks, early_set;
  logic [1:0][Slots-1:0] early_named, early_clear;
  logic [Slots-1:0] new_q;  // The newest is the second bank's.
  logic is_signal, to_bank, early_bank;
  key_t early_key;
  rl_collective_match #(
    .Width($bits(key_t)),
    .Places(Slots)
  ) u_takes (
    .clk_i,
    .rst_ni,
    .set_i(starts && !start_fails),
    .place_i(start_i.slot),
    .set_name_i(start_i.key),
    .clear_i(ended | cancel_i),
    .named_o(open_o),
    .find_i(finds),
    .name_i(come_i.key),
    .done_o(found_done),
    .found_o(found),
    .found_place_o(found_slot)
  );
  rl_collective_match #(
    .Width($bits(key_t)),
    .Places(Slots),
    .Banks(2)
  ) u_early (
    .clk_i,
    .rst_ni,
    .set_i(early_set),
    .place_i(from),
    .set_name_i(come_i.key),
    .clear_i(early_clear),
    .named_o(early_named),
    .find_i(state_q == Begins),
    .name_i(start_i.key),
    .done_o(early_done),
    .found_o(early_banks),
    .found_place_o(found_place)
  );
  assign early_found = early_banks != '0;
  assign early_bank = !early_banks[0];
  // A signal goes where none is, or else where the older one is, which is no more: two are under way at most. Before
  // other messages all of their context have come, or are no more either.
  assign is_signal = come_i.total == '0;
  assign to_bank = is_signal && early_named[0][from] && (!early_named[1][from] || !new_q[from]);
  assign early_set = judged_place && !forget_i ? 2'b01 << to_bank : '0;
  // A take that waits has its turn after each frame.
  logic turn_q, begins_take;
  assign begins_take = state_q == Idle && !piece_takes && start_valid_i && (turn_q || !come_valid_i);
  assign finds = state_q == Idle && !piece_takes && !begins_take && come_valid_i;
  assign from = slot_t'(come_i.slot);

  move_t record;
  logic [31:0] come, come_next;
  logic come_write;
  few_t early_total, early_come;
  rl_lutram #(
    .Width($bits(move_t)),
    .Depth(Slots)
  ) u_records (
    .clk_i,
    .we_i(starts),
    .waddr_i(start_i.slot),
    .wdata_i(start_i),
    .raddr_i(slot_q),
    .rdata_o(record)
  );
  rl_lutram #(
    .Width(32),
    .Depth(Slots)
  ) u_come (
    .clk_i,
    .we_i(come_write),
    .waddr_i(starts ? start_i.slot : slot_q),
    .wdata_i(come_next),
    .raddr_i(slot_q),
    .rdata_o(come)
  );
  // A place's message: its key, bytes in all, and those that have come.
  rl_lutram #(
    .Width($bits(key_t) + 2 * (EagerW + 1)),
    .Depth(2 * Slots)
  ) u_places (
    .clk_i,
    .we_i(judged_place),
    .waddr_i({to_bank, from}),
    .wdata_i({come_i.key, few_t'(come_i.total), few_t'(come_i.offset) + few_t'(come_i.length)}),
    .raddr_i(state_q == Begins ? {early_bank, found_place} : {1'b0, from}),
    .rdata_o({early_key, early_total, early_come})
  );

  // -- what becomes of a frame
  logic is_taken_q, copy_busy, fits_take, begins_place, fits_place, place_busy, mismatch;
  slot_t copy_place;
  assign fits_take = come_i.total == record.length && come_i.offset == come &&
      32'(come_i.length) <= record.length - come;
  assign mismatch = come_i.total != record.length;
  assign begins_place = come_i.offset == '0;
  // Whole messages only, from their beginning on, one at a time: no more than a place has.
  assign fits_place = come_i.slot < Contexts && come_i.total <= Eager &&
      (begins_place ||
       (early_named[0][from] && early_key == come_i.key && 32'(early_total) == come_i.total &&
        32'(early_come) == come_i.offset)) && 33'(come_i.offset) + 33'(come_i.length) <= 33'(come_i.total);
  // What is being copied stays as it is.
  assign place_busy = copy_busy && copy_place == from;

  // A write begins when the one before is on its way, and there is a place to note it.
  logic addresses, writes_room, owed_room, begins_write, write_ready;
  assign writes_room = !addresses && !spread_valid && owed_room;
  assign judged_take = state_q == Judges && is_taken_q && open_o[slot_q] && fits_take && writes_room;
  assign judged_place = state_q == Judges && !is_taken_q && fits_place && !place_busy && writes_room;
  assign judged_bad = state_q == Judges && (is_taken_q ? !open_o[slot_q] || !fits_take : !fits_place);

  logic [Slots-1:0][1:0] life_q;  // Of each context's takes: what is owed to one that has ended is nobody's.
  slot_t copy_slot;
  logic [1:0] copy_life;
  logic copy_failed, piece_here, piece_last;
  logic [39:0] piece_to;
  logic [15:0] piece_size;
  assign piece_takes = state_q == Idle && piece_here && writes_room;

  // -- writes: what has come, or a piece
  logic s_valid, s_last, store_valid, spread_ready, spread_last, unused_side;
  logic [DataW-1:0] s_data, store_data, spread_data;
  logic [Bytes-1:0] spread_strb;
  logic [39:0] to, to_q;
  logic [15:0] size, size_q;
  always_comb begin
    to = to_q;
    size = size_q;
    if (judged_take) {to, size} = {record.addr + 40'(come), come_i.length};
    else if (judged_place)
      {to, size} = {place_of(early_i, from) + 40'(come_i.offset), come_i.length};
    else if (piece_takes) {to, size} = {piece_to, piece_size};
  end
  assign begins_write = (judged_take || judged_place || piece_takes) && size != '0;
  assign s_valid = state_q == Writes ? come_valid_i && size_q != '0 : state_q == Copies && store_valid;
  assign s_data = state_q == Writes ? data_i : store_data;
  assign s_last = state_q == Writes ? last_i : piece_last;
  rl_bridge_spread #(
    .DataW(DataW),
    .SideW(1)
  ) u_spread (
    .clk_i,
    .rst_ni,
    .s_valid_i(s_valid),
    .s_ready_o(spread_ready),
    .s_side_i(1'b0),
    .s_offset_i(FineW'(to_q)),
    .s_length_i(size_q),
    .s_data_i(s_data),
    .s_last_i(s_last),
    .m_valid_o(spread_valid),
    .m_ready_i(write_ready),
    .m_side_o(unused_side),
    .m_data_o(spread_data),
    .m_strb_o(spread_strb),
    .m_last_o(spread_last)
  );
  logic store_rests, unused_small, unused_b, written, write_failed;
  logic [6:0] number;
  owed_t owed, owes;
  logic owed_empty, owed_valid, owed_take, owes_now;
  rl_bridge_store #(
    .Nodes(2),
    .DataW(DataW),
    .AddrW(40),
    .Burst(Burst)
  ) u_store (
    .clk_i,
    .rst_ni,
    .node_i(1'b0),
    .number_o(number),
    .begin_i(begins_write),
    .addr_i(begins_write ? to : to_q),
    .length_i(begins_write ? size : size_q),
    .valid_i(spread_valid),
    .ready_o(write_ready),
    .data_i(spread_data),
    .strb_i(spread_strb),
    .last_i(spread_last),
    .addresses_o(addresses),
    .rests_o(store_rests),
    .small_i(1'b0),
    .small_valid_i(1'b0),
    .small_ready_o(unused_small),
    .small_last_i(1'b0),
    .small_addr_i('0),
    .small_data_i('0),
    .small_strb_i('0),
    .asked_node_i(1'b0),
    .asked_number_i(owed.number),
    .written_o(written),
    .failed_o(write_failed),
    .awvalid_o(aw_valid_o),
    .awready_i(aw_ready_i),
    .awaddr_o(aw_addr_o),
    .awlen_o(aw_len_o),
    .wvalid_o(w_valid_o),
    .wready_i(w_ready_i),
    .wdata_o(w_data_o),
    .wstrb_o(w_strb_o),
    .wlast_o(w_last_o),
    .bvalid_i(b_valid_i),
    .bready_o(unused_b),
    .bresp_i(b_resp_i)
  );

  // -- what memory owes: in the order of writes, each the only node's next one, as the store counts them. A frame or
  // message without bytes has none, and owes itself.
  logic [4:0] owed_count;
  assign owes_now = judged_take || judged_place || piece_takes ||
      (starts && !start_fails && start_i.length == '0 && early_found);
  assign owed_empty = owed.size == '0;
  always_comb begin
    owes = '{
        early: judged_place,
        failed: 1'b0,
        slot: slot_q,
        life: life_q[slot_q],
        size: size,
        number: number
    };
    if (piece_takes) {owes.failed, owes.slot, owes.life} = {copy_failed, copy_slot, copy_life};
    if (starts)
      owes = '{
          early: 1'b0,
          failed: 1'b0,
          slot: start_i.slot,
          life: life_q[start_i.slot] + 1'b1,
          size: '0,
          number: number
      };
  end
  rl_fifo #(
    .Width($bits(owed_t)),
    .Depth(16)
  ) u_owed (
    .clk_i,
    .rst_ni,
    .wvalid_i(owes_now),
    .wready_o(owed_room),
    .wdata_i(owes),
    .rvalid_o(owed_valid),
    .rready_i(owed_take),
    .rdata_o(owed),
    .count_o(owed_count)
  );

  // -- ends: a take whose bytes memory has all answered for
  logic [31:0] done_bytes, done_next;
  logic
      counts, completes, spoils, is_current, is_bad, says_ready, says_done, word_room, judge_fails;
  move_t done_record;
  assign is_current = !owed.early && open_o[owed.slot] && life_q[owed.slot] == owed.life;
  assign done_next = done_bytes + 32'(owed.size);
  assign is_bad = owed.failed || (write_failed && !owed_empty);
  assign completes = is_current && !is_bad && done_next == done_record.length;
  assign spoils = is_current && is_bad;
  assign owed_take = owed_valid && (owed_empty || written) && !starts && !judge_fails;
  assign says_done = owed_take && completes;
  assign counts = owed_take && is_current;
  rl_lutram #(
    .Width(32),
    .Depth(Slots)
  ) u_done (
    .clk_i,
    .we_i(starts || counts),
    .waddr_i(starts ? start_i.slot : owed.slot),
    .wdata_i(starts ? '0 : done_next),
    .raddr_i(owed.slot),
    .rdata_o(done_bytes)
  );
  rl_lutram #(
    .Width($bits(move_t)),
    .Depth(Slots)
  ) u_done_records (
    .clk_i,
    .we_i(starts),
    .waddr_i(start_i.slot),
    .wdata_i(start_i),
    .raddr_i(owed.slot),
    .rdata_o(done_record)
  );
  assign judge_fails = judged_bad && is_taken_q && open_o[slot_q];
  // A take of another length than what came early has ended before it began.
  assign start_fails = starts && early_found && 32'(early_total) != start_i.length;
  assign ended = (owed_take && (completes || spoils) ? Slots'(1) << owed.slot : '0) |
      (judge_fails ? Slots'(1) << slot_q : '0);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) end_valid_o <= 1'b0;
    else end_valid_o <= judge_fails || start_fails || (owed_take && (completes || spoils));
  end
  always_ff @(posedge clk_i) begin
    end_o <= '{slot: owed.slot, cause: completes ? Done : MemoryFailed};
    if (judge_fails) end_o <= '{slot: slot_q, cause: mismatch ? Mismatch : Protocol};
    if (start_fails) end_o <= '{slot: start_i.slot, cause: Mismatch};
  end

  // -- words
  // A take begins with less than half of the places for words in use, and each one that is open says one more. So no
  // end ever waits for the link, which could be a circle over two cards.
  logic [4:0] words;
  message_t word;
  assign says_ready = starts && start_i.length > Eager && !early_found;
  always_comb begin
    word = '0;
    word.kind = says_ready ? 4'(KindLinkReady) : 4'(KindLinkDone);
    word.slot = says_ready ? 16'(start_i.slot) : 16'(owed.slot);
    word.key = says_ready ? start_i.key : done_record.key;
    word.total = says_ready ? start_i.length : done_record.length;
  end
  rl_fifo #(
    .Width(MessageW),
    .Depth(16)
  ) u_words (
    .clk_i,
    .rst_ni,
    .wvalid_i(says_ready || says_done),
    .wready_o(word_room),
    .wdata_i(word),
    .rvalid_o(word_valid_o),
    .rready_i(word_ready_i),
    .rdata_o(word_o),
    .count_o(words)
  );

  // -- a take begins: alone, or with what came early
  logic copies;
  assign starts = state_q == Begins && start_valid_i && early_done && words < 5'd8 && owed_room &&
      !(early_found && copy_busy);
  assign start_ready_o = starts;
  assign copies = starts && early_found && !start_fails && early_come != '0;
  assign come_write = starts || judged_take;
  assign come_next = starts ? (early_found ? 32'(early_come) : '0) : come + 32'(come_i.length);
  always_comb begin
    early_clear = forget_i ? '1 : '0;
    if (starts && early_found) early_clear[early_bank][found_place] = 1'b1;
    if (judged_place && !forget_i) early_clear[to_bank][from] = 1'b0;
    if (judged_place && !is_signal) early_clear[1][from] = 1'b1;
  end

  rl_collective_copy #(
    .DataW(DataW),
    .Burst(Burst)
  ) u_copy (
    .clk_i,
    .rst_ni,
    .early_i,
    .begin_i(copies),
    .place_i(found_place),
    .slot_i(start_i.slot),
    .life_i(life_q[start_i.slot] + 1'b1),
    .to_i(start_i.addr),
    .bytes_i(early_come),
    .waits_i(owed_count),
    .answered_i(owed_take),
    .busy_o(copy_busy),
    .place_o(copy_place),
    .slot_o(copy_slot),
    .life_o(copy_life),
    .failed_o(copy_failed),
    .piece_valid_o(piece_here),
    .piece_take_i(piece_takes),
    .piece_to_o(piece_to),
    .piece_size_o(piece_size),
    .word_valid_o(store_valid),
    .word_ready_i(state_q == Copies && spread_ready),
    .word_data_o(store_data),
    .word_last_o(piece_last),
    .ar_valid_o,
    .ar_ready_i,
    .ar_beat_o,
    .ar_len_o,
    .r_valid_i,
    .r_data_i,
    .r_failed_i
  );

  assign rests_o = store_rests && !spread_valid && !copy_busy && state_q == Idle;
  assign come_ready_o = state_q == Drops || (state_q == Writes && (size_q == '0 || spread_ready));
  assign stray_o = state_q == Judges && judged_bad && !is_taken_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
      turn_q <= 1'b0;
      life_q <= '0;
      new_q <= '0;
    end else begin
      case (state_q)
        Idle:
        // What comes is never in the way for long, but could always be there.
        if (piece_takes) state_q <= Copies;
        else if (begins_take) state_q <= Begins;
        else if (found_done) state_q <= Judges;
        Judges:
        if (judged_bad) state_q <= Drops;
        else if (judged_take || judged_place) state_q <= Writes;
        Writes, Drops: if (come_valid_i && come_ready_o && last_i) state_q <= Idle;
        Begins: if (early_done) state_q <= Idle;
        default: if (s_valid && spread_ready && s_last) state_q <= Idle;
      endcase
      if (state_q == Begins) turn_q <= 1'b0;
      else if (come_valid_i && come_ready_o && last_i) turn_q <= 1'b1;
      if (judged_place) new_q[from] <= to_bank;
      if (starts) life_q[start_i.slot] <= life_q[start_i.slot] + 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (found_done) begin
      slot_q <= found_slot;
      is_taken_q <= found;
    end
    if (judged_take || judged_place || piece_takes) {to_q, size_q} <= {to, size};
  end
  logic unused;
  assign unused = ^{come_i.kind, unused_side, unused_small, unused_b, r_last_i,
                    record.slot, record.key, done_record.slot, done_record.addr};
`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (starts) OneEach_A : assert (!open_o[start_i.slot]);
      if (says_ready || says_done) WordHasRoom_A : assert (word_room);
    end
  end
`endif
endmodule
