// The receive side as it is wired in the shell, for benches: receive FIFO, analyzer, control ring,
// discovery and counters. The units beyond are the bench's; reads and launches with an odd number are
// diverted, the other launches noted. With Registers also what else a card with keys has for them: sessions and keys
// come by rl_auth_card, and frames leave through rl_transmit.
module receive_bench
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
#(
  parameter int unsigned DataW = 64,
  parameter int unsigned FifoWords = 2048,
  parameter int unsigned RingWords = 1024,
  parameter int unsigned RingFrames = 32,
  parameter bit          Keys = 1'b0,
  parameter bit          Registers = 1'b0,
  parameter int unsigned PerCycle = 3,
  parameter int unsigned ClaimCycles = 1  // No claim is one of too many.
) (
  input  logic        clk_net_i,
  input  logic        rst_net_ni,

  input  logic        rx_valid_i,
  input  logic [DataW-1:0] rx_data_i,
  input  logic [DataW/8-1:0] rx_keep_i,
  input  logic        rx_last_i,
  input  logic        rx_bad_i,
  output logic        overflow_o,

  input  logic        filter_we_i,
  input  logic [11:0] filter_places_i,
  input  logic [3:0]  filter_value_i,
  input  logic [5:0]  filter_belongs_i,
  input  logic        listening_i,
  input  logic [15:0] epoch_i,
  input  logic        loading_i,
  input  logic [15:0] load_group_i,
  input  logic        solicit_fast_i,
  input  logic [39:0] memory_i,
  input  logic        room_write_i,
  input  logic        room_image_i,
  input  logic        room_read_i,
  input  logic        room_launch_i,

  // With Keys.
  input  logic [1:0]  sessions_valid_i,
  input  logic [95:0] sessions_owner_i,
  input  logic [31:0] sessions_epoch_i,
  input  logic        sessions_newer_i,
  input  logic [31:0] boot_i,
  input  logic        key_valid_i,
  input  logic [1:0]  vouched_i,
  input  logic [31:0] hosts_i,
  input  logic [1:0]  key_slot_i,
  input  logic        key_forget_i,
  input  logic [127:0] key_i,
  output logic        key_ready_o,
  output logic        untagged_o,
  output logic        unknown_o,
  output logic        wrong_o,
  output logic        replay_o,
  output logic        busy_o,

  // With Registers.
  input  logic [42:0] ctl_i,
  output logic [31:0] keys_data_o,
  input  logic [41:0] store_write_i,
  output logic        store_write_ready_o,
  input  logic        tx_write_i,
  input  logic [10:0] tx_addr_i,
  input  logic [31:0] tx_wdata_i,
  input  logic        send_i,
  input  logic        send_slot_i,
  input  logic [11:0] send_bytes_i,
  output logic [1:0]  slot_busy_o,
  output logic        tx_valid_o,
  input  logic        tx_ready_i,
  output logic [63:0] tx_data_o,
  output logic [7:0]  tx_keep_o,
  output logic        tx_last_o,
  output logic        tx_busy_o,

  output logic        word_o,
  output logic        first_o,
  output logic        payload_o,
  output logic [63:0] data_o,
  output logic        done_o,
  output logic        abort_o,
  output logic [2:0]  route_o,
  output logic [7:0]  reason_o,
  output logic [47:0] dst_o,
  output logic [47:0] src_o,
  output logic [15:0] ether_type_o,
  output logic [3:0]  flags_o,
  output logic [7:0]  kind_o,
  output logic [15:0] length_o,
  output logic [15:0] epoch_o,
  output logic [31:0] seq_o,
  output logic [63:0] addr_o,
  output logic        heard_o,

  // The stream of writes and image data: another one only if words have more than 64 bits.
  output logic        bulk_payload_o,
  output logic [DataW-1:0] bulk_data_o,
  output logic        bulk_done_o,
  output logic        bulk_abort_o,
  output logic [2:0]  bulk_route_o,
  output logic [15:0] bulk_length_o,
  output logic [31:0] bulk_seq_o,
  output logic [63:0] bulk_addr_o,

  output logic        head_valid_o,
  output logic [$clog2(RingWords)+2:0] head_offset_o,
  output logic [7:0]  head_reason_o,
  input  logic        pop_i,
  input  logic [$clog2(RingWords):0] ring_addr_i,
  output logic [31:0] ring_data_o,
  output logic        barrier_busy_o,
  output logic        control_busy_o,

  output logic        announce_valid_o,
  input  logic        announce_ready_i,
  output logic [47:0] announce_dst_o,
  output logic [31:0] announce_seq_o,
  input  logic [6:0]  counter_i,
  output logic [31:0] count_o
);
  session_t session;
  room_t room;
  rx_beat_t rx_beat, bulk;
  divert_reason_e reason, head_reason;
  rx_event_t rx_event;
  announcement_t announcement;
  logic divert, note, taken, answered, room_control;

  assign session = '{
    listening: listening_i,
    epoch: epoch_i,
    loading: loading_i,
    load_group: load_group_i,
    receiving: loading_i,
    role: 1'b0,
    configuring: 1'b0,
    solicit_fast: solicit_fast_i,
    memory: memory_i
  };
  assign room = '{
    control: room_control,
    write: room_write_i,
    image: room_image_i,
    read: room_read_i,
    launch: room_launch_i
  };
  assign divert = rx_beat.done && rx_beat.route inside {RouteRead, RouteLaunch} && rx_beat.head.seq[0];
  assign note = rx_beat.done && rx_beat.route == RouteLaunch && !divert;

  rl_auth_pkg::auth_event_t auth_event;
  rl_auth_pkg::sessions_t sessions;
  rl_auth_pkg::session_key_t rx_key;
  if (Registers) begin : gen_registers
    rl_auth_pkg::session_key_t tx_key;
    rl_auth_pkg::store_t store;
    rl_auth_pkg::store_ask_t store_ask;
    rl_auth_pkg::sign_ask_t unused_sign_ask;
    logic store_ready, tx_key_ready;
    rl_key_store u_store (
      .clk_i(clk_net_i),
      .rst_power_ni(rst_net_ni),
      .rst_ni(rst_net_ni),
      .write_i(store_write_i),
      .write_ready_o(store_write_ready_o),
      .ask_i(store_ask),
      .store_o(store),
      .ready_i(store_ready)
    );
    rl_auth_card u_keys (
      .clk_i(clk_net_i),
      .rst_ni(rst_net_ni),
      .ctl_i,
      .data_o(keys_data_o),
      .store_i(store),
      .store_ready_o(store_ready),
      .store_ask_o(store_ask),
      .sign_i('0),
      .sign_ask_o(unused_sign_ask),
      .sessions_o(sessions),
      .rx_key_o(rx_key),
      .rx_ready_i(key_ready_o),
      .tx_key_o(tx_key),
      .tx_ready_i(tx_key_ready),
      .event_i(auth_event)
    );
    rl_transmit #(
      .Keys(1'b1)
    ) u_tx (
      .clk_net_i,
      .rst_net_ni,
      .cpu_write_i(tx_write_i),
      .cpu_addr_i(tx_addr_i),
      .cpu_wdata_i(tx_wdata_i),
      .cpu_rdata_o(),
      .halt_i(1'b0),
      .send_i,
      .send_slot_i,
      .send_bytes_i,
      .slot_busy_o,
      .announce_valid_i(1'b0),
      .announce_ready_o(),
      .announce_i('0),
      .head_valid_i(1'b0),
      .head_ready_o(),
      .head_i('0),
      .data_valid_i(1'b0),
      .data_desc_i('0),
      .data_done_o(),
      .data_take_o(),
      .data_i('0),
      .data_ready_i(1'b0),
      .fetched_o(),
      .cpu_fetch_done_o(),
      .tx_valid_o,
      .tx_data_o,
      .tx_keep_o,
      .tx_last_o,
      .tx_ready_i,
      .sessions_i(sessions),
      .key_i(tx_key),
      .key_ready_o(tx_key_ready),
      .busy_o(tx_busy_o),
      .frame_o(),
      .frame_bytes_o()
    );
  end else begin : gen_ports
    assign sessions = '{
            valid: sessions_valid_i,
            owner: sessions_owner_i,
            epoch: sessions_epoch_i,
            vouched: vouched_i,
            host: hosts_i,
            newer: sessions_newer_i,
            boot: boot_i
        };
    assign rx_key = '{valid: key_valid_i, slot: key_slot_i, forget: key_forget_i, key: key_i};
  end
  assign {untagged_o, unknown_o, wrong_o, replay_o} = auth_event;
  rl_rx #(
    .DataW(DataW),
    .Keys(Keys),
    .PerCycle(PerCycle),
    .ClaimCycles(ClaimCycles),
    .Words(FifoWords)
  ) u_rx (
    .clk_net_i,
    .rst_net_ni,
    .rx_valid_i,
    .rx_data_i,
    .rx_keep_i,
    .rx_last_i,
    .rx_bad_i,
    .overflow_o,
    .filter_i('{
      we: filter_we_i,
      places: filter_places_i,
      value: filter_value_i,
      belongs: filter_belongs_i
    }),
    .session_i(session),
    .barrier_busy_i(barrier_busy_o),
    .control_busy_i(control_busy_o),
    .room_i(room),
    .nic_i('0),
    .sessions_i(sessions),
    .key_i(rx_key),
    .key_ready_o,
    .auth_event_o(auth_event),
    .rx_beat_o(rx_beat),
    .hosts_o(),
    .last_page_o(),
    .reason_o(reason),
    .divert_i(divert),
    .bulk_o(bulk),
    .bulk_data_o,
    .heard_o,
    .event_o(rx_event),
    .busy_o
  );
  rl_control_ring #(
    .Words(RingWords),
    .Frames(RingFrames)
  ) u_control_ring (
    .clk_net_i,
    .rst_net_ni,
    .rx_beat_i(rx_beat),
    .reason_i(reason),
    .divert_i(divert),
    .divert_reason_i(DivertTurn),
    .note_i(note),
    .taken_i(taken),
    .room_o(room_control),
    .head_valid_o,
    .head_offset_o,
    .head_reason_o(head_reason),
    .pop_i,
    .addr_i(ring_addr_i),
    .asked_i(1'b1),
    .data_o(ring_data_o),
    .barrier_busy_o,
    .control_busy_o
  );
  rl_discovery u_discovery (
    .clk_net_i,
    .rst_net_ni,
    .rx_beat_i(rx_beat),
    .solicit_fast_i,
    .control_busy_i(control_busy_o),
    .taken_o(taken),
    .announce_valid_o,
    .announce_ready_i,
    .announce_o(announcement),
    .answered_o(answered)
  );
  rl_counters #(
    .DataW(DataW)
  ) u_counters (
    .clk_net_i,
    .rst_net_ni,
    .rx_i(rx_event),
    .rx_overflow_i(overflow_o),
    .answered_i(answered),
    .tx_word_i(1'b0),
    .tx_frame_i(1'b0),
    .tx_bytes_i('0),
    .write_i(1'b0),
    .write_bytes_i('0),
    .write_duplicate_i(1'b0),
    .write_beyond_i(1'b0),
    .chunk_i(1'b0),
    .chunk_duplicate_i(1'b0),
    .chunk_malformed_i(1'b0),
    .read_i(1'b0),
    .read_bytes_i('0),
    .read_full_i(1'b0),
    .index_i(counter_i),
    .asked_i(1'b1),
    .data_o(count_o)
  );

  assign word_o = rx_beat.word;
  assign first_o = rx_beat.first;
  assign payload_o = rx_beat.payload;
  assign data_o = rx_beat.data;
  assign done_o = rx_beat.done;
  assign abort_o = rx_beat.abort;
  assign route_o = rx_beat.route;
  assign reason_o = reason;
  assign dst_o = rx_beat.head.dst;
  assign src_o = rx_beat.head.src;
  assign ether_type_o = rx_beat.head.ether_type;
  assign flags_o = rx_beat.head.flags;
  assign kind_o = rx_beat.head.kind;
  assign length_o = rx_beat.head.length;
  assign epoch_o = rx_beat.head.epoch;
  assign seq_o = rx_beat.head.seq;
  assign addr_o = rx_beat.head.addr;
  assign bulk_payload_o = bulk.payload;
  assign bulk_done_o = bulk.done;
  assign bulk_abort_o = bulk.abort;
  assign bulk_route_o = bulk.route;
  assign bulk_length_o = bulk.head.length;
  assign bulk_seq_o = bulk.head.seq;
  assign bulk_addr_o = bulk.head.addr;
  assign head_reason_o = head_reason;
  assign announce_dst_o = announcement.dst;
  assign announce_seq_o = announcement.seq;
endmodule
