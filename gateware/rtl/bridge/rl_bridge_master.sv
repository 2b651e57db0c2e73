// Serves requests of other nodes: the twin of the crate's `serve`. What a window does not permit touches no memory, and
// a write is judged before its first beat goes there.
//
// A request at a time is judged, and a write's bytes go to memory as they come; nothing of it waits for the link, and
// for memory as long as memory lets it. Answers are owed from then on (rl_bridge_answers), up to 64 to a node; one
// request more is its fault. Of a node, what is asked later sees what was written before, and not what is written
// after: a read waits for the answers to writes, and a write for reads that have not gone out. The latter are those of
// a node that does not take its answers, or soon will: so after a bound the write is refused as Busy.
//
// An atomic operation or a batch has the memory's port to itself, until its writes are on their way; what others that
// share the memory do, it does not see.
module rl_bridge_master
  import rl_bridge_pkg::*;
  import rl_bridge_node_pkg::*;
#(
  parameter int unsigned Nodes = 8,
  parameter int unsigned DataW = 512,
  parameter int unsigned AddrW = 40,
  parameter int unsigned Longest = 4096,    // Bytes of a payload of ours, a power of two.
  parameter int unsigned Most = Longest,    // Bytes that are given for a read, or taken of a batch: Longest or less.
  parameter int unsigned Burst = 16,        // As rl_bridge_burst says.
  parameter int unsigned ReadWords = 256,   // As rl_bridge_fetch's Words.
  parameter int unsigned Writes = 64,       // Bursts that are not answered, a power of two.
  parameter int unsigned Ways = 4,          // As rl_bridge_windows says.
  parameter int unsigned PatienceW = 14,    // A write waits less than 2^PatienceW cycles for reads before it.
  localparam int unsigned Bytes = DataW / 8,
  localparam int unsigned FineW = $clog2(Bytes)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              set_valid_i,    // As rl_bridge_windows says.
  input  logic [3:0]        set_index_i,
  input  window_t           set_window_i,

  // -- requests: payloads of writes as beats, others as they came
  input  logic              x_valid_i,
  output logic              x_ready_o,
  input  node_t             x_node_i,       // Steady in a frame, as is the head.
  input  head_t             x_head_i,
  input  logic [DataW-1:0]  x_data_i,
  input  logic [Bytes-1:0]  x_strb_i,
  input  logic              x_last_i,

  // -- answers, as rl_bridge_fetch says
  output logic              a_valid_o,
  input  logic              a_ready_i,
  input  logic              a_refused_i,
  output node_t             a_node_o,
  output head_t             a_head_o,
  output logic [FineW-1:0]  a_offset_o,
  output logic              w_valid_o,
  input  logic              w_ready_i,
  output logic [DataW-1:0]  w_data_o,
  output logic              w_last_o,

  // -- memory, AXI4 with one id
  output logic              awvalid_o,
  input  logic              awready_i,
  output logic [AddrW-1:0]  awaddr_o,
  output logic [7:0]        awlen_o,
  output logic              wvalid_o,
  input  logic              wready_i,
  output logic [DataW-1:0]  wdata_o,
  output logic [Bytes-1:0]  wstrb_o,
  output logic              wlast_o,
  input  logic              bvalid_i,
  output logic              bready_o,
  input  logic [1:0]        bresp_i,
  output logic              arvalid_o,
  input  logic              arready_i,
  output logic [AddrW-1:0]  araddr_o,
  output logic [7:0]        arlen_o,
  input  logic              rvalid_i,
  output logic              rready_o,
  input  logic [DataW-1:0]  rdata_i,
  input  logic [1:0]        rresp_i,
  input  logic              rlast_i,

  input  logic              forget_i,       // A life has ended, of this node or of our connection to it.
  input  node_t             forget_node_i,
  output logic              fault_o,        // This node has asked for more at once than it may.
  output node_t             fault_node_o,
  output bridge_event_t     event_o
);
  localparam int unsigned NodeW = $clog2(Nodes);
  localparam int unsigned PlaceW = $clog2(32'(Transactions)) + 1;
  localparam int unsigned WordW = $clog2(Longest / Bytes);
  typedef logic [NodeW-1:0] index_t;
  typedef logic [PlaceW-1:0] place_t;

  typedef enum logic [2:0] {
    Idle,
    Judged,   // The window is asked.
    Decides,
    Stores,  // The payload goes to memory,
    Fills,    // or to rl_bridge_small,
    Small,    // which works.
    Drains    // Or nowhere.
  } state_e;
  state_e state_q;
  head_t head_q;
  node_t node_q;
  index_t index;
  logic malformed_q, void_q, answers_q;
  logic is_read, is_write, is_atomic, is_batch;
  bridge_status_e verdict, status_q;  // When it is decided, and from then on.
  logic [AddrW-1:0] local_q;
  logic [PatienceW-1:0] patience_q;
  assign index = index_t'(node_q);
  assign is_read = head_q.kind == short_of(KindReadRequest);
  assign is_write = head_q.kind == short_of(KindWriteRequest);
  assign is_atomic = head_q.kind == short_of(KindAtomicRequest);
  assign is_batch = head_q.kind == short_of(KindWriteBatch);

  // -- judgement
  logic malformed, asks, asked_soon, asked_done;
  rights_t right;
  logic [15:0] extent;
  bridge_status_e asked_status;
  logic [AddrW-1:0] asked_local;
  logic small_ask;
  logic [63:0] small_ask_addr;
  logic [15:0] small_ask_length;
  assign {right, extent, malformed} = asked_by(x_head_i, 16'(Most));
  assign asks = state_q == Idle && x_valid_i && x_head_i.kind != short_of(KindWriteBatch);
  // What is asked stays from then on.
  rights_t right_q;
  logic [15:0] extent_q;
  logic in_small;
  assign in_small = state_q == Small;
  rl_bridge_windows #(
    .AddrW(AddrW),
    .FineW(FineW),
    .Ways(Ways)
  ) u_windows (
    .clk_i,
    .rst_ni,
    .set_valid_i,
    .set_index_i,
    .set_window_i,
    .ask_valid_i(asks || small_ask),
    .ask_node_i(node_q),
    .ask_addr_i(in_small ? small_ask_addr : head_q.addr),
    .ask_length_i(in_small ? small_ask_length : extent_q),
    .ask_right_i(right_q),
    .soon_o(asked_soon),
    .done_o(asked_done),
    .status_o(asked_status),
    .addr_o(asked_local)
  );

  // -- what is owed
  logic
      full,
      reads_owed,
      passed_over,
      push,
      turn_valid,
      turn_take,
      turn_wait,
      done_next,
      done,
      done_fetches,
      back;
  owed_t push_entry, turn_entry;
  index_t turn_node, done_node;
  place_t turn_place, done_place;
  logic forgets;
  assign forgets = forget_i && forget_node_i < node_t'(Nodes);
  rl_bridge_answers #(
    .Nodes(Nodes),
    .EntryW($bits(owed_t)),
    .Depth(32'(Transactions))
  ) u_answers (
    .clk_i,
    .rst_ni,
    .push_i(push),
    .push_node_i(index),
    .push_entry_i(push_entry),
    .push_reads_i(push_entry.fetches),
    .node_i(index),
    .full_o(full),
    .reads_o(reads_owed),
    .passed_over_o(passed_over),
    .turn_valid_o(turn_valid),
    .turn_take_i(turn_take),
    .turn_wait_i(turn_wait),
    .turn_node_o(turn_node),
    .turn_place_o(turn_place),
    .turn_entry_o(turn_entry),
    .done_node_i(done_node),
    .done_place_i(done_place),
    .done_next_o(done_next),
    .done_i(done),
    .done_reads_i(done_fetches),
    .back_i(back),
    .forget_i(forgets),
    .forget_node_i(index_t'(forget_node_i))
  );

  logic written, write_failed;  // The write that the answer whose turn it is waits for.
  logic [6:0] number;
  // -- reads and answers
  logic fetch_idle, fetch_arvalid, small_read, small_reads_q, fetch_hold;
  logic [AddrW-1:0] fetch_araddr, small_addr;
  logic [7:0] fetch_arlen;
  rl_bridge_fetch #(
    .Nodes(Nodes),
    .PlaceW(PlaceW),
    .DataW(DataW),
    .AddrW(AddrW),
    .Burst(Burst),
    .Words(ReadWords)
  ) u_fetch (
    .clk_i,
    .rst_ni,
    .turn_valid_i(turn_valid),
    .turn_take_o(turn_take),
    .turn_wait_o(turn_wait),
    .turn_node_i(turn_node),
    .turn_place_i(turn_place),
    .turn_entry_i(turn_entry),
    .done_node_o(done_node),
    .done_place_o(done_place),
    .done_next_i(done_next),
    .done_o(done),
    .done_fetches_o(done_fetches),
    .back_o(back),
    .written_i(written),
    .write_failed_i(write_failed),
    .hold_i(fetch_hold),
    .idle_o(fetch_idle),
    .arvalid_o(fetch_arvalid),
    .arready_i(arready_i && !in_small),
    .araddr_o(fetch_araddr),
    .arlen_o(fetch_arlen),
    .rvalid_i(rvalid_i && !small_reads_q),
    .rdata_i,
    .rresp_i,
    .rlast_i,
    .a_valid_o,
    .a_ready_i,
    .a_refused_i,
    .a_node_o,
    .a_head_o,
    .a_offset_o,
    .w_valid_o,
    .w_ready_i,
    .w_data_o,
    .w_last_o
  );
  assign rready_o = 1'b1;
  assign arvalid_o = in_small ? small_read : fetch_arvalid;
  assign araddr_o = in_small ? {small_addr[AddrW-1:FineW], FineW'(0)} : fetch_araddr;
  assign arlen_o = in_small ? '0 : fetch_arlen;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) small_reads_q <= 1'b0;
    else if (in_small && small_read && arready_i) small_reads_q <= 1'b1;
    else if (rvalid_i) small_reads_q <= 1'b0;
  end

  // -- writes
  logic begins_write, small_write, small_last, small_done, small_wrote, small_w_ready;
  logic addresses_go, memory_rests, store_ready;
  logic [63:0] small_data;
  logic [7:0] small_strb;
  rl_bridge_store #(
    .Nodes(Nodes),
    .DataW(DataW),
    .AddrW(AddrW),
    .Burst(Burst),
    .Writes(Writes)
  ) u_store (
    .clk_i,
    .rst_ni,
    .node_i(index),
    .number_o(number),
    .begin_i(begins_write),
    .addr_i(asked_local),
    .length_i(head_q.length),
    .valid_i(state_q == Stores && x_valid_i),
    .ready_o(store_ready),
    .data_i(x_data_i),
    .strb_i(x_strb_i),
    .last_i(x_last_i),
    .addresses_o(addresses_go),
    .rests_o(memory_rests),
    .small_i(in_small),
    .small_valid_i(small_write),
    .small_ready_o(small_w_ready),
    .small_last_i(small_last),
    .small_addr_i(small_addr),
    .small_data_i(small_data),
    .small_strb_i(small_strb),
    .asked_node_i(turn_node),
    .asked_number_i(turn_entry.number),
    .written_o(written),
    .failed_o(write_failed),
    .awvalid_o,
    .awready_i,
    .awaddr_o,
    .awlen_o,
    .wvalid_o,
    .wready_i,
    .wdata_o,
    .wstrb_o,
    .wlast_o,
    .bvalid_i,
    .bready_o,
    .bresp_i
  );

  // -- what looks at its payload
  bridge_status_e small_status;
  logic [15:0] small_count;
  logic [63:0] small_value;
  logic [WordW-1:0] word_q;
  logic small_start;
  rl_bridge_small #(
    .DataW(DataW),
    .AddrW(AddrW),
    .Longest(Longest)
  ) u_small (
    .clk_i,
    .rst_ni,
    .fill_i(state_q == Fills && x_valid_i),
    .fill_word_i(word_q),
    .fill_data_i(x_data_i),
    .start_i(small_start),
    .batch_i(is_batch),
    .length_i(head_q.length),
    .addr_i(local_q),
    .swaps_i(head_q.tag == BridgeOperationCompareSwap),
    .done_o(small_done),
    .status_o(small_status),
    .count_o(small_count),
    .value_o(small_value),
    .wrote_o(small_wrote),
    .ask_valid_o(small_ask),
    .ask_addr_o(small_ask_addr),
    .ask_length_o(small_ask_length),
    .ask_done_i(asked_done),
    .ask_status_i(asked_status),
    .ask_local_i(asked_local),
    .read_valid_o(small_read),
    .read_ready_i(arready_i),
    .read_done_i(rvalid_i && small_reads_q),
    .read_data_i(rdata_i),
    .read_failed_i(rresp_i != AxiOkay),
    .write_valid_o(small_write),
    .write_ready_i(small_w_ready),
    .write_last_o(small_last),
    .addr_o(small_addr),
    .data_o(small_data),
    .strb_o(small_strb)
  );

  // -- one request at a time. A batch is judged record by record.
  logic ends, must_wait, gives_up;
  assign verdict = is_batch ? BridgeStatusOk : asked_status;
  assign must_wait = reads_owed || addresses_go || ((is_atomic || is_batch) && !(fetch_idle && memory_rests));
  assign gives_up = reads_owed && (passed_over || &patience_q);
  // The port is given up by reads as soon as one waits that wants it alone.
  assign fetch_hold = state_q == Small || (state_q == Decides && (is_atomic || is_batch) && !reads_owed);
  assign begins_write = state_q == Decides && !malformed_q && verdict == BridgeStatusOk && is_write &&
      !must_wait && !full;
  always_comb begin
    case (state_q)
      Stores: x_ready_o = store_ready;
      Fills, Drains: x_ready_o = 1'b1;
      default: x_ready_o = 1'b0;
    endcase
  end
  logic x_ends;
  assign x_ends = x_valid_i && x_ready_o && x_last_i;
  assign ends = (x_ends && (state_q == Stores || state_q == Drains)) || (small_done && in_small);
  logic [1:0] small_wait_q;
  assign small_start = in_small && small_wait_q == 2'd1;
  logic is_forgotten;
  assign is_forgotten = forgets && index_t'(forget_node_i) == index;

  // A read is owed at once, all else when it is done.
  logic reads_now;
  logic [6:0] number_q;
  assign reads_now = state_q == Decides && verdict == BridgeStatusOk && !malformed_q && is_read && !full;
  always_comb begin
    push_entry = '0;
    push_entry.id = head_q.id;
    push_entry.addr = head_q.addr;
    push_entry.of_read = is_read || is_atomic;
    push_entry.number = number;
    if (reads_now) begin
      push_entry.fetches = 1'b1;
      push_entry.count = head_q.count[15:0];
      push_entry.value = 64'(asked_local);
    end else if (in_small) begin
      push_entry.status = 3'(small_status);
      push_entry.count = small_status != BridgeStatusOk ? '0 : is_atomic ? 16'd8 : small_count;
      push_entry.holds = is_atomic && small_status == BridgeStatusOk;
      push_entry.value = small_value;
      push_entry.waits = small_wrote;
      push_entry.number = number - 7'd1;
    end else if (state_q == Stores) begin
      push_entry.count = head_q.length;
      push_entry.waits = 1'b1;
      // Its last address may be on its way.
      push_entry.number = number_q;
    end else push_entry.status = 3'(malformed_q ? BridgeStatusMalformed : status_q);
  end
  assign push = (reads_now || (ends && answers_q)) && !void_q && !is_forgotten;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) state_q <= Idle;
    else begin
      case (state_q)
        Idle: if (x_valid_i) state_q <= Judged;
        Judged: if (malformed_q || is_batch || asked_soon) state_q <= Decides;
        Decides: begin
          if (full || malformed_q || verdict != BridgeStatusOk || is_read) state_q <= Drains;
          else if (!must_wait) state_q <= is_write ? Stores : Fills;
          else if (gives_up) state_q <= Drains;
        end
        Stores: if (ends) state_q <= Idle;
        Fills: if (x_ends) state_q <= Small;
        Small: if (small_done) state_q <= Idle;
        default: if (ends) state_q <= Idle;
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    small_wait_q <= in_small ? small_wait_q + 2'(small_wait_q != 2'd2) : '0;
    if (state_q == Idle) begin
      head_q <= x_head_i;
      node_q <= x_node_i;
      malformed_q <= malformed;
      right_q <= right;
      extent_q <= extent;
      void_q <= 1'b0;
      patience_q <= '0;
      answers_q <= 1'b1;
      word_q <= '0;
    end else begin
      if (is_forgotten) void_q <= 1'b1;
      if (state_q == Decides) begin
        status_q <= verdict;
        local_q <= asked_local;
        patience_q <= patience_q + 1'b1;
        if (full || reads_now) answers_q <= 1'b0;
        else if (must_wait && gives_up && !malformed_q && verdict == BridgeStatusOk)
          status_q <= BridgeStatusBusy;
        number_q <= number;
      end
      if (state_q == Fills && x_valid_i) word_q <= word_q + 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    logic refused;
    bridge_status_e status;
    status = bridge_status_e'(16'(push_entry.status));
    refused = status == BridgeStatusNoWindow || status == BridgeStatusDenied || status == BridgeStatusBusy;
    fault_o <= rst_ni && state_q == Decides && full && !void_q && !is_forgotten;
    fault_node_o <= node_q;
    event_o.lost <= 1'b0;
    event_o.served <= rst_ni && push && !refused && status != BridgeStatusMalformed;
    event_o.malformed <= rst_ni && push && status == BridgeStatusMalformed;
    event_o.denied <= rst_ni && ((push && refused) || (state_q == Decides && full && !void_q && !is_forgotten));
  end

  logic unused;
  assign unused = ^{x_head_i.last, head_q.last, head_q.count[31:16], small_addr[2:0]};
endmodule
