// Does reads when their turn comes, and sends answers.
//
// What is read is stored until its answer goes out, and only asked for when there is room for all of it: memory never
// waits for the link. An answer begins when all of its bytes are here, so that the link never waits for memory, and
// since only then it is known whether they could be read.
module rl_bridge_fetch
  import rl_bridge_pkg::*;
  import rl_bridge_node_pkg::*;
#(
  parameter int unsigned Nodes = 8,
  parameter int unsigned PlaceW = 7,
  parameter int unsigned DataW = 512,
  parameter int unsigned AddrW = 40,
  parameter int unsigned Burst = 16,
  parameter int unsigned Words = 256,    // Of the store, a power of two: two of the longest reads or more.
  parameter int unsigned UnderWay = 16,  // Answers between their turn and the link, a power of two.
  localparam int unsigned NodeW = $clog2(Nodes),
  localparam int unsigned FineW = $clog2(DataW / 8),
  localparam type index_t = logic [NodeW-1:0],
  localparam type place_t = logic [PlaceW-1:0]
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  // -- rl_bridge_answers
  input  logic             turn_valid_i,
  output logic             turn_take_o,
  output logic             turn_wait_o,
  input  index_t           turn_node_i,
  input  place_t           turn_place_i,
  input  owed_t            turn_entry_i,
  output index_t           done_node_o,
  output place_t           done_place_o,
  input  logic             done_next_i,
  output logic             done_o,
  output logic             done_fetches_o,
  output logic             back_o,
  // -- whether the write that `turn_entry_i` waits for is answered, and how
  input  logic             written_i,
  input  logic             write_failed_i,

  input  logic             hold_i,       // No read begins.
  output logic             idle_o,       // Memory owes nothing.

  output logic             arvalid_o,
  input  logic             arready_i,
  output logic [AddrW-1:0] araddr_o,
  output logic [7:0]       arlen_o,
  input  logic             rvalid_i,     // Taken at once.
  input  logic [DataW-1:0] rdata_i,
  input  logic [1:0]       rresp_i,
  input  logic             rlast_i,

  // -- answers: a head, then its words
  output logic             a_valid_o,
  input  logic             a_ready_i,
  input  logic             a_refused_i,  // There is no room: it may be withdrawn.
  output node_t            a_node_o,
  output head_t            a_head_o,
  output logic [FineW-1:0] a_offset_o,   // Where in the first word the bytes begin.
  output logic             w_valid_o,
  input  logic             w_ready_i,
  output logic [DataW-1:0] w_data_o,
  output logic             w_last_o
);
  localparam int unsigned CountW = $clog2(Words) + 1;
  localparam int unsigned Bursts = 64;
  typedef struct packed {
    index_t node;
    place_t place;
    owed_t  owed;
  } answer_t;
  function automatic logic [15:0] beats_of(logic [15:0] count, logic [FineW-1:0] offset);
    return 16'((17'(count) + 17'(offset) + 17'(DataW / 8 - 1)) >> FineW);
  endfunction

  // -- turns
  logic order_ready, range_ready, has_room, may;
  logic [15:0] turn_beats;
  logic [CountW-1:0] held_q;  // Words that are stored, or asked for.
  answer_t turned;
  assign turn_beats = beats_of(turn_entry_i.count, turn_entry_i.value[FineW-1:0]);
  assign has_room = 17'(held_q) + 17'(turn_beats) <= 17'(Words);
  assign may = turn_entry_i.fetches ? range_ready && has_room && !hold_i : !turn_entry_i.waits || written_i;
  assign turn_take_o = turn_valid_i && may && order_ready;
  assign turn_wait_o = turn_valid_i && !turn_take_o;
  always_comb begin
    turned = '{node: turn_node_i, place: turn_place_i, owed: turn_entry_i};
    if (turn_entry_i.waits && write_failed_i) begin
      turned.owed.status = 3'(BridgeStatusMemoryFailed);
      turned.owed.holds = 1'b0;
    end
  end

  // -- to memory
  logic burst_last, burst_room, ends_range, unused_whole;
  logic [AddrW-FineW-1:0] burst_beat;
  logic burst_valid;
  rl_bridge_burst #(
    .AddrW(AddrW),
    .DataW(DataW),
    .Burst(Burst)
  ) u_burst (
    .clk_i,
    .rst_ni,
    .valid_i(turn_take_o && turn_entry_i.fetches),
    .ready_o(range_ready),
    .beat_i(turn_entry_i.value[AddrW-1:FineW]),
    .beats_i(turn_beats),
    .valid_o(burst_valid),
    .ready_i(arready_i && burst_room),
    .beat_o(burst_beat),
    .len_o(arlen_o),
    .last_o(burst_last)
  );
  assign arvalid_o = burst_valid && burst_room;
  assign araddr_o = {burst_beat, FineW'(0)};
  // Which bursts are the last of a read, and which reads are whole: with an error, or none.
  logic [$clog2(Bursts):0] bursts;
  logic [$clog2(UnderWay):0] unused_wholes;
  rl_fifo #(
    .Width(1),
    .Depth(Bursts)
  ) u_bursts (
    .clk_i,
    .rst_ni,
    .wvalid_i(arvalid_o && arready_i),
    .wready_o(burst_room),
    .wdata_i(burst_last),
    .rvalid_o(unused_whole),
    .rready_i(rvalid_i && rlast_i),
    .rdata_o(ends_range),
    .count_o(bursts)
  );
  assign idle_o = bursts == '0 && !burst_valid;
  logic fails, failed_q, whole_valid, whole_failed, whole_take, unused_ready;
  assign fails = failed_q || rresp_i != AxiOkay;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) failed_q <= 1'b0;
    else if (rvalid_i) failed_q <= fails && !(rlast_i && ends_range);
  end
  rl_fifo #(
    .Width(1),
    .Depth(UnderWay)
  ) u_wholes (
    .clk_i,
    .rst_ni,
    .wvalid_i(rvalid_i && rlast_i && ends_range),
    .wready_o(unused_ready),
    .wdata_i(fails),
    .rvalid_o(whole_valid),
    .rready_i(whole_take),
    .rdata_o(whole_failed),
    .count_o(unused_wholes)
  );
  logic store_valid, store_take, unused_room;
  logic [DataW-1:0] store_data;
  logic [CountW-1:0] unused_held;
  rl_fifo #(
    .Width(DataW),
    .Depth(Words),
    .Block(1'b1)
  ) u_store (
    .clk_i,
    .rst_ni,
    .wvalid_i(rvalid_i),
    .wready_o(unused_room),
    .wdata_i(rdata_i),
    .rvalid_o(store_valid),
    .rready_i(store_take),
    .rdata_o(store_data),
    .count_o(unused_held)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) held_q <= '0;
    else
      held_q <= held_q + (turn_take_o && turn_entry_i.fetches ? CountW'(turn_beats) : '0) -
          CountW'(store_take && store_valid);
  end

  // -- answers, in the order of their turns
  logic order_valid, order_take;
  answer_t now;
  logic [$clog2(UnderWay):0] unused_count;
  rl_fifo #(
    .Width($bits(answer_t)),
    .Depth(UnderWay)
  ) u_order (
    .clk_i,
    .rst_ni,
    .wvalid_i(turn_take_o),
    .wready_o(order_ready),
    .wdata_i(turned),
    .rvalid_o(order_valid),
    .rready_i(order_take),
    .rdata_o(now),
    .count_o(unused_count)
  );
  typedef enum logic [1:0] {
    Looks,
    Sends,  // The store's words.
    Says,   // One word.
    Skips   // The store's words: they go nowhere.
  } state_e;
  state_e state_q;
  logic offers_q, is_here, fails_now;
  logic [15:0] left_q;
  assign is_here = order_valid && (!now.owed.fetches || whole_valid);
  assign fails_now = now.owed.fetches && whole_failed;
  assign done_node_o = now.node;
  assign done_place_o = now.place;
  assign done_fetches_o = now.owed.fetches;
  assign a_valid_o = state_q == Looks && is_here && (done_next_i || offers_q);
  assign done_o = a_valid_o && a_ready_i;
  assign back_o = a_valid_o && a_refused_i && !a_ready_i;
  assign a_node_o = node_t'(now.node);
  assign a_offset_o = now.owed.fetches && !fails_now ? now.owed.addr[FineW-1:0] : '0;
  always_comb begin
    logic is_ok;
    is_ok = now.owed.status == 3'(BridgeStatusOk) && !fails_now;
    a_head_o = '0;
    a_head_o.kind = short_of(now.owed.of_read ? KindReadResponse : KindWriteResponse);
    a_head_o.length = is_ok && now.owed.of_read ? now.owed.count : '0;
    a_head_o.id = now.owed.id;
    a_head_o.addr = now.owed.addr;
    a_head_o.count = is_ok ? 32'(now.owed.count) : '0;
    a_head_o.tag = fails_now ? BridgeStatusMemoryFailed : 16'(now.owed.status);
  end

  assign w_valid_o = state_q == Says || (state_q == Sends && store_valid);
  // What is behind a value means nothing.
  always_comb begin
    w_data_o = store_data;
    if (state_q == Says) w_data_o[63:0] = now.owed.value;
  end
  assign w_last_o = state_q == Says || left_q == 16'd1;
  assign store_take = (state_q == Sends && w_ready_i) || state_q == Skips;
  logic ends, gives_up;
  assign gives_up = state_q == Looks && is_here && !a_valid_o;
  always_comb begin
    case (state_q)
      Sends: ends = store_valid && w_ready_i && left_q == 16'd1;
      Says: ends = w_ready_i && !now.owed.fetches;
      Skips: ends = store_valid && left_q == 16'd1;
      default: ends = gives_up && !now.owed.fetches;
    endcase
  end
  assign order_take = ends;
  assign whole_take = ends && now.owed.fetches;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Looks;
      offers_q <= 1'b0;
    end else begin
      offers_q <= a_valid_o && !a_ready_i && !a_refused_i;
      if (done_o) state_q <= now.owed.fetches && !fails_now ? Sends : Says;
      else if (gives_up && now.owed.fetches) state_q <= Skips;
      else if (state_q == Says && w_ready_i && now.owed.fetches) state_q <= Skips;
      else if (ends) state_q <= Looks;
    end
  end
  always_ff @(posedge clk_i) begin
    if (state_q == Looks) left_q <= beats_of(now.owed.count, now.owed.value[FineW-1:0]);
    else if (store_valid && store_take) left_q <= left_q - 1'b1;
  end

  logic unused;
  assign unused = ^{unused_whole, unused_wholes, unused_ready, unused_room, unused_held, unused_count,
                    now.owed.waits, now.owed.number};
`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni && rvalid_i) HasRoom_A : assert (unused_room && unused_whole);
  end
`endif
endmodule
