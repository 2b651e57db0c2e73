// The shell of a card: everything of it that does not change (SAF section IV). The blocks put together;
// docs/src/internals/shell.md has the picture.
//
// Resets are synchronous, one for each clock, all asserted together.
module rl_shell
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
  import rl_role_pkg::*;
  import rl_control_pkg::*;
  import rl_config_pkg::*;
  import rl_port_pkg::*;
#(
  parameter int unsigned DataW = 64,               // Bits of the MAC's words: 64, 128, 256 or 512.
  parameter int unsigned PatienceW = 24,           // Of the watchdog over the firmware, see rl_watchdog.
  parameter int unsigned Ports = 1,                // All of them; those beside port 0 are rl_port_layer's.
  parameter int unsigned Memories = 1,             // Memory ports of the role, 1 to 4.
  parameter bit          Bridge = 1'b0,            // The card has a bridge, at 64 bits: its frames are not foreign.
  parameter bit          Keys = 1'b0,              // Frames have tags; at 64 bits, and not with a bridge.
  parameter bit          Links = 1'b0,             // The card runs programs over links, and has no keys.
  parameter int unsigned Bulk = 32'(BulkStandard), // Most payload bytes of a frame.
  parameter int unsigned RxWords = 131072 / DataW, // Receive FIFO: 16 KiB are 13 us of 10 Gb/s.
  parameter int unsigned QueueWords = 65536 / DataW, // Memory and configuration queue, each.
  parameter int unsigned ChunksMax = 32'(ImageChunksMax), // Chunks of an image.
  parameter int unsigned ConfigPatienceW = 20      // Of rl_config_port.
) (
  input  logic              clk_net_i,
  input  logic              rst_net_ni,
  input  logic              clk_ddr_i,
  input  logic              rst_ddr_ni,
  input  logic              clk_role_i,
  input  logic              rst_role_ni,
  input  logic              clk_cfg_i,
  input  logic              rst_cfg_ni,

  input  identity_t         identity_i,      // What the card is, steady.
  output logic [4:0]        strap_index_o,   // Which of the registers STRAP,
  input  logic [31:0]       strap_i,         // in the same cycle: see rl_straps.
  input  logic [47:0]       time_us_i,       // Since reset, net domain.

  // -- for simulation: the clock of the net domain rests. No device takes notice of it.
  input  logic              rest_i,
  output logic [6:0]        role_says_o,     // What is on its way from the role's domain to the net domain.

  // -- rl_restart, net domain
  input  logic              halt_i,          // Let nothing more in or out, and cut the role off.
  output logic              drained_o,       // The role is cut off, and nothing of it is under way.
  output logic              moves_o,         // A transfer of the shell's memory or a frame on its way out is there.

  // -- the MAC's streams, net domain; byte 0 of a frame is data[7:0]
  input  logic              rx_valid_i,
  input  logic [DataW-1:0]  rx_data_i,
  input  logic [DataW/8-1:0] rx_keep_i,
  input  logic              rx_last_i,
  input  logic              rx_bad_i,        // With rx_last_i: the check sequence was wrong.
  output logic              tx_valid_o,
  input  logic              tx_ready_i,
  output logic [DataW-1:0]  tx_data_o,
  output logic [DataW/8-1:0] tx_keep_o,
  output logic              tx_last_o,

  // -- what rl_port_layer has to count, net domain; tied off for a card with one port
  output logic              port_rx_ready_o,
  input  port_event_t       port_rx_i,
  input  logic              port_tx_valid_i,
  output logic              port_tx_ready_o,
  input  logic [13:0]       port_tx_bytes_i,

  // -- the bridge's registers, net domain; tied off for a card without one
  output bridge_ctl_t       bridge_o,
  input  logic [31:0]       bridge_i,
  // -- programs over links, whose registers are beside the bridge's: one has ended. Likewise
  input  logic              program_ended_i,
  // -- the host behind the card, whose frames are not foreign; likewise
  input  rl_nic_pkg::nic_config_t nic_i,

  // -- the key store, net domain; tied off for a card without keys
  input  rl_auth_pkg::store_t store_i,
  output logic              store_ready_o,
  output rl_auth_pkg::store_ask_t store_ask_o,
  input  rl_auth_pkg::sign_t sign_i,        // Signers and versions.
  output rl_auth_pkg::sign_ask_t sign_ask_o,

  // -- DDR: the shell's port in the ddr domain, the role's in the role domain
  output axi_req_t          shell_axi_o,
  input  axi_rsp_t          shell_axi_i,
  output axi_req_t [Memories-1:0] role_axi_o,
  input  axi_rsp_t [Memories-1:0] role_axi_i,

  // -- the role, role domain
  output axil_req_t         axil_o,
  input  axil_rsp_t         axil_i,
  input  axi_req_t [Memories-1:0] axi_i,
  output axi_rsp_t [Memories-1:0] axi_o,
  input  logic              interrupt_i,
  output logic              role_rst_no,

  // -- the configuration port and its local channel, cfg domain
  output config_req_t       config_o,
  input  config_rsp_t       config_i,
  input  local_req_t        local_i,
  output local_rsp_t        local_o,
  output board_t            board_o,         // Net domain.

  output shell_view_t       view_o           // For whoever looks from outside.
);
  // What its bridge says has no tags.
  if (Keys && Bridge) begin : gen_check
    $fatal(0, "rl_shell: a card with keys has no bridge (%m)");
  end
  if (Keys && Links) begin : gen_check_links
    $fatal(0, "rl_shell: a card with keys has no links (%m)");
  end
  // Who looks for room does so some cycles before a frame's first word, while others are written.
  localparam int unsigned Ahead = 8;

  // What counts sweeps over its counters all the time, and has the clock as it is.
  logic clk_net;
  rl_clock_gate u_clock (
    .clk_i(clk_net_i),
    .enable_i(!rest_i),
    .clk_o(clk_net)
  );

  // -- receive
  rx_beat_t rx_beat, bulk;
  logic [DataW-1:0] bulk_data, fetched_data, image_data, stream_data;
  rx_event_t rx_event;
  room_t room;
  divert_reason_e reason, read_reason, launch_reason;
  session_t session;
  filter_t filter;
  logic overflow, heard, hosts, last_page, read_divert, launch_divert, launch_note, rx_busy;
  logic barrier_busy, control_busy;
  rl_auth_pkg::sessions_t sessions;
  rl_auth_pkg::session_key_t rx_key, tx_key;
  rl_auth_pkg::auth_event_t auth_event;
  logic rx_key_ready, tx_key_ready;
  assign room.read = 1'b1;  // A read that finds no room is dropped and counted.
  rl_rx #(
    .DataW(DataW),
    .Bridge(Bridge),
    .Keys(Keys),
    .Bulk(Bulk),
    .Words(RxWords)
  ) u_rx (
    .clk_net_i(clk_net),
    .rst_net_ni,
    .rx_valid_i(rx_valid_i && !halt_i),
    .rx_data_i,
    .rx_keep_i,
    .rx_last_i,
    .rx_bad_i,
    .overflow_o(overflow),
    .filter_i(filter),
    .session_i(session),
    .barrier_busy_i(barrier_busy),
    .control_busy_i(control_busy),
    .room_i(room),
    .nic_i,
    .sessions_i(sessions),
    .key_i(rx_key),
    .key_ready_o(rx_key_ready),
    .auth_event_o(auth_event),
    .rx_beat_o(rx_beat),
    .hosts_o(hosts),
    .last_page_o(last_page),
    .reason_o(reason),
    .divert_i(read_divert || launch_divert),
    .bulk_o(bulk),
    .bulk_data_o(bulk_data),
    .heard_o(heard),
    .event_o(rx_event),
    .busy_o(rx_busy)
  );

  // -- discovery
  announcement_t answer;
  logic answer_valid, answer_ready, answered, taken;
  rl_discovery u_discovery (
    .clk_net_i(clk_net),
    .rst_net_ni,
    .rx_beat_i(rx_beat),
    .solicit_fast_i(session.solicit_fast),
    .control_busy_i(control_busy),
    .taken_o(taken),
    .announce_valid_o(answer_valid),
    .announce_ready_i(answer_ready),
    .announce_o(answer),
    .answered_o(answered)
  );

  // -- control
  logic [11:0] mem_addr;
  logic [31:0] mem_wdata, ring_data, tx_data, have_data, reported_data, slot_data, counter_data;
  logic tx_we, reported_we, slot_re, ring_asked, counter_asked, ring_pop;
  ring_head_t ring_head;
  divert_reason_e ring_reason;
  tx_ctl_t tx_ctl;
  logic [1:0] slot_busy;
  mem_write_ctl_t mem_write_ctl;
  mem_write_status_t mem_write_status;
  image_write_ctl_t image_write_ctl;
  image_write_status_t image_write_status;
  digest_job_t job;
  digest_status_t digest_status;
  config_ctl_t config_ctl;
  config_status_t config_status;
  role_ctl_t role_ctl;
  role_status_t role_status;
  launch_ctl_t launch_ctl;
  launch_status_t launch_status, launch_told;
  always_comb begin
    launch_told = launch_status;
    launch_told.ended = launch_status.ended || program_ended_i;
  end
  scrub_ctl_t scrub_ctl;
  logic job_valid, job_ready, scrub_done, cpu_fetched;
  logic fetch_valid, fetch_ready, read_idle, read_flush;
  rl_control_pkg::keys_ctl_t keys_ctl;
  logic [31:0] keys_word;
  rl_control #(
    .PatienceW(PatienceW),
    .Keys(Keys),
    .Links(Links)
  ) u_control (
    .clk_net_i(clk_net),
    .rst_net_ni,
    .time_us_i,
    .memory_i(identity_i.memory),
    .strap_index_o,
    .strap_i,
    .sleeping_o(view_o.sleeping),
    .alarm_valid_o(view_o.alarm_valid),
    .alarm_us_o(view_o.alarm_us),
    .tx_blocked_i(tx_valid_o && !tx_ready_i),
    .fault_o(view_o.fault),
    .mem_addr_o(mem_addr),
    .mem_wdata_o(mem_wdata),
    .ring_asked_o(ring_asked),
    .ring_data_i(ring_data),
    .tx_we_o(tx_we),
    .tx_data_i(tx_data),
    .have_data_i(have_data),
    .reported_we_o(reported_we),
    .reported_data_i(reported_data),
    .slot_re_o(slot_re),
    .slot_data_i(slot_data),
    .counter_asked_o(counter_asked),
    .counter_data_i(counter_data),
    .session_o(session),
    .filter_o(filter),
    .heard_i(heard),
    .ring_i(ring_head),
    .ring_pop_o(ring_pop),
    .tx_o(tx_ctl),
    .slot_busy_i(slot_busy),
    .answer_busy_i(answer_valid),
    .cpu_fetched_i(cpu_fetched),
    .mem_write_o(mem_write_ctl),
    .mem_write_i(mem_write_status),
    .image_write_o(image_write_ctl),
    .image_write_i(image_write_status),
    .job_valid_o(job_valid),
    .job_ready_i(job_ready),
    .job_o(job),
    .digest_i(digest_status),
    .config_o(config_ctl),
    .config_i(config_status),
    .board_o,
    .role_o(role_ctl),
    .role_i(role_status),
    .launch_o(launch_ctl),
    .launch_i(launch_told),
    .scrub_o(scrub_ctl),
    .scrub_done_i(scrub_done),
    .bridge_o,
    .bridge_i,
    .keys_o(keys_ctl),
    .keys_i(keys_word),
    .keys_news_i(store_i.news),
    .mem_read_valid_o(fetch_valid),
    .mem_read_ready_i(fetch_ready),
    .mem_read_idle_i(read_idle),
    .mem_read_flush_o(read_flush)
  );
  assign ring_head.reason = 8'(ring_reason);
  if (Keys) begin : gen_keys
    rl_auth_card u_keys (
      .clk_i(clk_net),
      .rst_ni(rst_net_ni),
      .ctl_i(keys_ctl),
      .data_o(keys_word),
      .store_i,
      .store_ready_o,
      .store_ask_o,
      .sign_i,
      .sign_ask_o,
      .sessions_o(sessions),
      .rx_key_o(rx_key),
      .rx_ready_i(rx_key_ready),
      .tx_key_o(tx_key),
      .tx_ready_i(tx_key_ready),
      .event_i(auth_event)
    );
  end else begin : gen_no_keys
    assign sessions = '0;
    assign {rx_key, tx_key} = '0;
    assign keys_word = '0;
    assign store_ready_o = 1'b0;
    assign store_ask_o = '0;
    assign sign_ask_o = '0;
    logic unused_keys;
    assign unused_keys = ^{keys_ctl, store_i, sign_i, rx_key_ready, tx_key_ready, auth_event};
  end
  rl_control_ring u_ring (
    .clk_net_i(clk_net),
    .rst_net_ni,
    .rx_beat_i(rx_beat),
    .reason_i(reason),
    .divert_i(read_divert || launch_divert),
    .divert_reason_i(launch_divert ? launch_reason : read_reason),
    .note_i(launch_note),
    .taken_i(taken),
    .room_o(room.control),
    .head_valid_o(ring_head.valid),
    .head_offset_o(ring_head.offset),
    .head_reason_o(ring_reason),
    .pop_i(ring_pop),
    .addr_i(mem_addr[10:0]),
    .asked_i(ring_asked),
    .data_o(ring_data),
    .barrier_busy_o(barrier_busy),
    .control_busy_o(control_busy)
  );

  // -- memory
  write_progress_t progress;
  read_head_t head;
  read_queue_t fetched;
  queue_take_t fetched_take, image_take;
  write_queue_t image;
  load_req_t load_req;
  load_rsp_t load_rsp;
  write_event_t write_event;
  read_event_t read_event;
  logic head_ready, fetch_done, memory_moves, shell_failed, role_failed;
  logic [7:0] image_written_gray;
  rl_memory #(
    .DataW(DataW),
    .Bulk(Bulk),
    .QueueWords(QueueWords),
    .Ahead(Ahead)
  ) u_memory (
    .clk_net_i(clk_net),
    .rst_net_ni,
    .clk_ddr_i,
    .rst_ddr_ni,
    .rx_beat_i(rx_beat),
    .bulk_i(bulk),
    .bulk_data_i(bulk_data),
    .hosts_i(hosts),
    .last_page_i(last_page),
    .write_room_o(room.write),
    .divert_o(read_divert),
    .divert_reason_o(read_reason),
    .time_us_i(time_us_i[15:0]),
    .ack_every_i(identity_i.ack_every),
    .ack_delay_i(identity_i.ack_delay),
    .ack_waits_o(view_o.ack_waits),
    .ack_late_o(view_o.ack_late),
    .progress_o(progress),
    .head_o(head),
    .head_ready_i(head_ready),
    .fetched_o(fetched),
    .fetched_data_o(fetched_data),
    .fetched_take_i(fetched_take),
    .fetch_done_i(fetch_done),
    .write_i(mem_write_ctl),
    .write_o(mem_write_status),
    .head_we_i(tx_we && mem_addr[10:9] == 2'd3),
    .head_addr_i(mem_addr[8:0]),
    .head_wdata_i(mem_wdata),
    .fetch_valid_i(fetch_valid),
    .fetch_ready_o(fetch_ready),
    .read_flush_i(read_flush),
    .read_idle_o(read_idle),
    .scrub_i(scrub_ctl),
    .scrub_done_o(scrub_done),
    .write_event_o(write_event),
    .read_event_o(read_event),
    .image_i(image),
    .image_data_i(image_data),
    .image_take_o(image_take),
    .image_written_gray_o(image_written_gray),
    .load_i(load_req),
    .load_o(load_rsp),
    .stream_data_o(stream_data),
    .moves_o(memory_moves),
    .failed_o(shell_failed),
    .axi_o(shell_axi_o),
    .axi_i(shell_axi_i)
  );

  // -- loading
  chunk_event_t chunk_event;
  logic load_busy, execute_busy, execute_still, tx_frame, moves, active;
  logic tags_busy;  // A frame waits for its tag.
  rl_load #(
    .DataW(DataW),
    .Bulk(Bulk),
    .QueueWords(QueueWords),
    .Ahead(Ahead),
    .ChunksMax(ChunksMax),
    .ConfigPatienceW(ConfigPatienceW)
  ) u_load (
    .clk_net_i(clk_net),
    .rst_net_ni,
    .clk_ddr_i,
    .rst_ddr_ni,
    .clk_cfg_i,
    .rst_cfg_ni,
    .bulk_i(bulk),
    .bulk_data_i(bulk_data),
    .receiving_i(session.receiving),
    .room_o(room.image),
    .chunk_event_o(chunk_event),
    .busy_o(load_busy),
    .image_i(image_write_ctl),
    .image_o(image_write_status),
    .job_valid_i(job_valid),
    .job_ready_o(job_ready),
    .job_i(job),
    .digest_o(digest_status),
    .config_i(config_ctl),
    .config_o(config_status),
    .bits_addr_i(mem_addr[$clog2(ChunksMax)-6:0]),
    .have_o(have_data),
    .reported_we_i(reported_we),
    .reported_i(mem_wdata),
    .reported_o(reported_data),
    .queue_o(image),
    .queue_data_o(image_data),
    .queue_take_i(image_take),
    .written_gray_i(image_written_gray),
    .memory_o(load_req),
    .memory_i(load_rsp),
    .stream_data_i(stream_data),
    .port_o(config_o),
    .port_i(config_i),
    .local_i,
    .local_o
  );

  // -- launches and the role
  rl_execute #(
    .Memories(Memories)
  ) u_execute (
    .clk_net_i(clk_net),
    .rst_net_ni,
    .clk_role_i,
    .rst_role_ni,
    .rx_beat_i(rx_beat),
    .memory_i(session.memory),
    .active_i(session.role && !session.configuring),
    .progress_i(progress),
    .time_us_i(time_us_i[31:0]),
    .room_o(room.launch),
    .divert_o(launch_divert),
    .divert_reason_o(launch_reason),
    .note_o(launch_note),
    .busy_o(execute_busy),
    .still_o(execute_still),
    .launch_i(launch_ctl),
    .launch_o(launch_status),
    .role_i('{hold: role_ctl.hold || halt_i, isolate: role_ctl.isolate || halt_i}),
    .role_o(role_status),
    .slot_re_i(slot_re),
    .slot_addr_i(mem_addr[11:0]),
    .slot_data_o(slot_data),
    .axil_o,
    .axil_i,
    .axi_i,
    .axi_o,
    .interrupt_i,
    .role_rst_no,
    .ddr_o(role_axi_o),
    .ddr_i(role_axi_i),
    .ddr_failed_o(role_failed),
    .says_o(role_says_o)
  );

  assign drained_o = role_status.drained;
  assign moves_o = memory_moves || tx_valid_o || tags_busy;
  assign view_o.memory_failed = shell_failed || role_failed;

  // -- transmit
  logic [13:0] tx_bytes;
  rl_transmit #(
    .DataW(DataW),
    .Bulk(Bulk),
    .Keys(Keys)
  ) u_tx (
    .clk_net_i(clk_net),
    .rst_net_ni,
    .halt_i,
    .cpu_write_i(tx_we),
    .cpu_addr_i(mem_addr[10:0]),
    .cpu_wdata_i(mem_wdata),
    .cpu_rdata_o(tx_data),
    .send_i(tx_ctl.send),
    .send_slot_i(tx_ctl.send_slot),
    .send_bytes_i(12'(tx_ctl.send_bytes)),
    .slot_busy_o(slot_busy),
    .announce_valid_i(answer_valid),
    .announce_ready_o(answer_ready),
    .announce_i(answer),
    .head_valid_i(head.valid),
    .head_ready_o(head_ready),
    .head_i(head.data),
    .data_valid_i(fetched.valid),
    .data_desc_i(fetched.desc),
    .data_done_o(fetched_take.done),
    .data_take_o(fetched_take.take),
    .data_i(fetched_data),
    .data_ready_i(fetched.ready),
    .fetched_o(fetch_done),
    .cpu_fetch_done_o(cpu_fetched),
    .tx_valid_o,
    .tx_data_o,
    .tx_keep_o,
    .tx_last_o,
    .tx_ready_i,
    .sessions_i(sessions),
    .key_i(tx_key),
    .key_ready_o(tx_key_ready),
    .busy_o(tags_busy),
    .frame_o(tx_frame),
    .frame_bytes_o(tx_bytes)
  );

  // -- counters
  rl_counters #(
    .DataW(DataW),
    .Ports(Ports)
  ) u_counters (
    .clk_net_i,
    .rst_net_ni,
    .port_rx_ready_o,
    .port_rx_i,
    .port_tx_valid_i,
    .port_tx_ready_o,
    .port_tx_bytes_i,
    .rx_i(rx_event),
    .rx_overflow_i(overflow),
    .answered_i(answered),
    .tx_word_i(tx_valid_o && tx_ready_i),
    .tx_frame_i(tx_frame),
    .tx_bytes_i(tx_bytes),
    .write_i(write_event.stored),
    .write_bytes_i(write_event.bytes),
    .write_duplicate_i(write_event.duplicate),
    .write_beyond_i(write_event.beyond),
    .chunk_i(chunk_event.stored),
    .chunk_duplicate_i(chunk_event.duplicate),
    .chunk_malformed_i(chunk_event.malformed),
    .read_i(read_event.taken),
    .read_bytes_i(read_event.bytes),
    .read_full_i(read_event.full),
    .index_i(mem_addr[6:0]),
    .asked_i(counter_asked),
    .data_o(counter_data)
  );

  assign view_o.memory_rests = read_idle && progress.stored == progress.written && !progress.busy &&
      !session.receiving && !load_busy && !scrub_ctl.scrub;

  // A frame that has come in keeps the receive stream, its unit or the processor busy until it has had its effect.
  assign moves = rx_busy || control_busy || answer_valid || slot_busy != 0 || tx_valid_o || tags_busy || !read_idle ||
      progress.stored != progress.written || load_busy || scrub_ctl.scrub || mem_write_status.ack_due ||
      !view_o.sleeping;
  assign active = moves || execute_busy;
  // A processor that sleeps without an alarm has its watchdog run.
  assign view_o.rests = !moves && execute_still && view_o.memory_rests && view_o.alarm_valid && !view_o.ack_waits;
  rl_quiet u_quiet (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .active_i(active),
    .quiet_o(view_o.quiet)
  );
endmodule : rl_shell
