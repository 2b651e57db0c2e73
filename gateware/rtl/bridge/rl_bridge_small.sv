// Atomic operations and batches: what looks at its payload, eight bytes at a time. The owner fills in the payload's
// words and then starts; memory does nothing else meanwhile.
//
// A batch is walked through twice: first each record is looked at, and each window asked; then they are written. What
// is malformed is said before what is refused, as the twin does. A record's bytes go to memory in single beats, up to
// eight of them each.
module rl_bridge_small
  import rl_bridge_pkg::*;
  import rl_bridge_node_pkg::*;
#(
  parameter int unsigned DataW = 512,
  parameter int unsigned AddrW = 40,
  parameter int unsigned Longest = 4096,  // Bytes of a payload; a power of two.
  localparam int unsigned Bytes = DataW / 8,
  localparam int unsigned FineW = $clog2(Bytes),
  localparam int unsigned WordW = $clog2(Longest / Bytes)
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  input  logic             fill_i,        // A word of the payload.
  input  logic [WordW-1:0] fill_word_i,
  input  logic [DataW-1:0] fill_data_i,

  input  logic             start_i,
  input  logic             batch_i,       // Steady from then on, as are:
  input  logic [15:0]      length_i,      // of a batch, Longest at most,
  input  logic [AddrW-1:0] addr_i,        // and, of an atomic operation, where,
  input  logic             swaps_i,       // and that it is CompareSwap, not FetchAdd.
  output logic             done_o,        // For one cycle; with:
  output bridge_status_e   status_o,
  output logic [15:0]      count_o,       // bytes written,
  output logic [63:0]      value_o,       // or the old value, as memory has it,
  output logic             wrote_o,       // and whether memory was written.

  // -- rl_bridge_windows
  output logic             ask_valid_o,
  output logic [63:0]      ask_addr_o,
  output logic [15:0]      ask_length_o,
  input  logic             ask_done_i,
  input  bridge_status_e   ask_status_i,
  input  logic [AddrW-1:0] ask_local_i,

  // -- memory: one beat
  output logic             read_valid_o,
  input  logic             read_ready_i,
  input  logic             read_done_i,
  input  logic [DataW-1:0] read_data_i,
  input  logic             read_failed_i,
  output logic             write_valid_o,
  input  logic             write_ready_i,
  output logic             write_last_o,  // The last one of this request.
  output logic [AddrW-1:0] addr_o,        // A multiple of eight.
  output logic [63:0]      data_o,
  output logic [7:0]       strb_o
);
  localparam int unsigned LaneW = $clog2(Longest / 8);
  typedef logic [LaneW:0] lane_t;
  function automatic logic [63:0] swapped(logic [63:0] value);
    for (int i = 0; i < 8; i++) swapped[8*i+:8] = value[8*(7-i)+:8];
  endfunction

  // -- the payload
  lane_t at_q, at;
  logic unused;
  assign unused = at[LaneW];
  logic [Bytes/8-1:0][63:0] words;
  logic [63:0] lane;
  for (genvar i = 0; i < int'(Bytes / 8); i++) begin : gen_lane
    rl_ram #(
      .Width(64),
      .Depth(1 << WordW),
      .Block(DataW > 64 || Longest > 512)
    ) u_ram (
      .clk_wr_i(clk_i),
      .we_i(fill_i),
      .waddr_i(fill_word_i),
      .wdata_i(fill_data_i[64*i+:64]),
      .clk_rd_i(clk_i),
      .re_i(1'b1),
      .raddr_i(at[LaneW-1:FineW-3]),
      .rdata_o(words[i])
    );
  end
  // The lane that was asked for a cycle ago.
  if (FineW > 3) begin : gen_choice
    logic [FineW-4:0] choice_q;
    always_ff @(posedge clk_i) choice_q <= at[FineW-4:0];
    assign lane = words[choice_q];
  end else begin : gen_no_choice
    assign lane = words;
  end

  typedef enum logic [3:0] {
    Rests,
    Operand,
    Compare,
    Asks,     // Memory for the old value,
    Waits,    // which comes.
    Changes,
    Stores,
    Turns,    // To the next record.
    Begins,   // Its address is looked up,
    Length,   // then its length.
    Judges,
    Permits,
    Fetches,  // Eight bytes of a record,
    Puts,     // those before the next multiple of eight of memory,
    PutsRest, // and the others.
    Ends
  } state_e;
  state_e state_q;
  logic writes_q, fresh_q;  // The second walk. The window has not been asked.
  logic [63:0] operand_q, compare_q, old_q, new_value, record_q;
  logic [15:0] size_q, left_q;
  bridge_status_e status_q;
  logic [AddrW-1:0] local_q;
  lane_t total;
  logic [16:0] record_lanes;
  assign total = lane_t'(length_i >> 3);

  // -- atomic
  logic [63:0] read_lane;
  if (FineW > 3) begin : gen_read_lane
    assign read_lane = read_data_i[64*addr_i[FineW-1:3]+:64];
  end else begin : gen_read_word
    assign read_lane = read_data_i;
  end
  assign new_value = swaps_i ? (swapped(
      old_q
  ) == compare_q ? operand_q : swapped(
      old_q
  )) : swapped(
      old_q
  ) + operand_q;

  // -- a batch's record: whole, of one byte at least, and not around the end of addresses
  logic [15:0] size;
  logic is_whole, wraps;
  assign size = {lane[7:0], lane[15:8]};
  assign record_lanes = 17'((17'(size_q) + 17'd7) >> 3);
  assign is_whole = 17'(at_q) + record_lanes <= 17'(total);
  assign wraps = (&record_q[63:16]) && record_q[15:0] > ~(size_q - 16'd1);

  // -- its bytes: turned to where they belong
  logic [2:0] off;
  logic [3:0] here, part;
  logic [63:0] lane_q, turned;
  logic [7:0] below, strobes;
  assign off = local_q[2:0];
  assign here = left_q < 16'd8 ? left_q[3:0] : 4'd8;           // Bytes of this lane,
  assign part = here < 4'd8 - {1'b0, off} ? here : 4'd8 - {1'b0, off};  // of which so many go first.
  for (genvar l = 0; l < 8; l++) begin : gen_turn
    assign turned[8*l+:8] = lane_q[8*((3'(l)-off))+:8];
    assign below[l] = 4'(l) < {1'b0, off};
    assign strobes[l] = state_q == PutsRest ? 4'(l) < here - part :
        !below[l] && 4'(l) < part + {1'b0, off};
  end
  logic has_rest;
  assign has_rest = here != part;

  always_comb begin
    at = at_q;
    if (state_q == Rests) at = '0;
    else if (state_q == Operand || state_q == Begins) at = at_q + 1'b1;
  end
  assign ask_valid_o = state_q == Permits && fresh_q;
  assign ask_addr_o = record_q;
  assign ask_length_o = size_q;
  assign read_valid_o = state_q == Asks;
  assign write_valid_o = state_q == Stores || state_q == Puts || state_q == PutsRest;
  logic ends_record, ends_batch;
  assign ends_record = left_q <= 16'd8;
  assign ends_batch = at_q == total;
  assign write_last_o = state_q == Stores || (ends_record && ends_batch && !(state_q == Puts && has_rest));
  assign addr_o = state_q == Stores || state_q == Asks ? addr_i :
      {local_q[AddrW-1:3] + (AddrW - 3)'(state_q == PutsRest), 3'd0};
  assign data_o = state_q == Stores ? swapped(new_value) : turned;
  assign strb_o = state_q == Stores ? '1 : strobes;
  assign done_o = state_q == Ends;
  assign status_o = status_q;
  assign value_o = old_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) state_q <= Rests;
    else begin
      case (state_q)
        Rests:
        if (start_i)
          state_q <= !batch_i ? Operand : length_i == 0 || length_i[2:0] != 0 ? Ends : Begins;
        Operand: state_q <= Compare;
        Compare: state_q <= Asks;
        Asks: if (read_ready_i) state_q <= Waits;
        Waits: if (read_done_i) state_q <= read_failed_i ? Ends : Changes;
        Changes: state_q <= swapped(new_value) == old_q ? Ends : Stores;
        Stores: if (write_ready_i) state_q <= Ends;
        Turns: state_q <= Begins;
        Begins: state_q <= Length;
        Length: state_q <= Judges;
        Judges: begin
          if (size_q == 0 || wraps || !is_whole) state_q <= Ends;
          else if (status_q != BridgeStatusOk) state_q <= is_at_end(record_lanes, at_q, total) ? Ends : Turns;
          else state_q <= Permits;
        end
        Permits:
        if (ask_done_i && !fresh_q) begin
          if (writes_q) state_q <= Fetches;
          else if (is_at_end(record_lanes, at_q, total))
            state_q <= ask_status_i != BridgeStatusOk ? Ends : Turns;
          else state_q <= Turns;
        end
        Fetches: state_q <= Puts;
        Puts:
        if (write_ready_i)
          state_q <= has_rest ? PutsRest : !ends_record ? Fetches : ends_batch ? Ends : Begins;
        PutsRest: if (write_ready_i) state_q <= !ends_record ? Fetches : ends_batch ? Ends : Begins;
        default: state_q <= Rests;
      endcase
    end
  end
  function automatic logic is_at_end(logic [16:0] lanes, lane_t from, lane_t all);
    return 17'(from) + lanes == 17'(all);
  endfunction

  // Of `at`, what comes a cycle later is `lane`: so a state sees what the one before it asked for.
  always_ff @(posedge clk_i) begin
    fresh_q <= state_q != Permits;
    case (state_q)
      Rests: begin
        at_q <= '0;
        writes_q <= 1'b0;
        wrote_o <= 1'b0;
        count_o <= '0;
        status_q <= batch_i && (length_i == 0 || length_i[2:0] != 0) ? BridgeStatusMalformed : BridgeStatusOk;
      end
      Operand: begin
        operand_q <= swapped(lane);
        at_q <= at_q + 1'b1;
      end
      Compare: compare_q <= swapped(lane);
      Waits: begin
        old_q <= read_lane;
        if (read_done_i && read_failed_i) status_q <= BridgeStatusMemoryFailed;
      end
      Stores: wrote_o <= 1'b1;
      Begins: begin
        record_q <= swapped(lane);
        at_q <= at_q + 1'b1;
      end
      Length: begin
        size_q <= size;
        at_q <= at_q + 1'b1;
      end
      Judges: begin
        if (size_q == 0 || wraps || !is_whole) status_q <= BridgeStatusMalformed;
        else if (status_q != BridgeStatusOk) at_q <= at_q + lane_t'(record_lanes);
      end
      Permits:
      if (ask_done_i && !fresh_q) begin
        local_q <= ask_local_i;
        left_q <= size_q;
        if (!writes_q) begin
          if (ask_status_i != BridgeStatusOk) status_q <= ask_status_i;
          at_q <= at_q + lane_t'(record_lanes);
          if (is_at_end(record_lanes, at_q, total) && ask_status_i == BridgeStatusOk) begin
            writes_q <= 1'b1;
            at_q <= '0;
          end
        end else count_o <= count_o + size_q;
      end
      Fetches: begin
        lane_q <= lane;
        at_q <= at_q + 1'b1;
      end
      Puts, PutsRest: begin
        wrote_o <= 1'b1;
        if (write_ready_i && !(state_q == Puts && has_rest)) begin
          left_q <= left_q - 16'(here);
          local_q <= local_q + AddrW'(8);
        end
      end
      default: ;
    endcase
  end
endmodule
