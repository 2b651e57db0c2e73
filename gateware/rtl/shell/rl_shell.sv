// The shell of a card: everything of it that does not change (SAF section IV). The blocks put together;
// docs/src/internals/shell.md has the picture.
//
// Resets are synchronous, one for each clock, all asserted together.
module rl_shell
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
  import rl_role_pkg::*;
  import rl_control_pkg::*;
#(
  parameter int unsigned Bulk = 32'(BulkStandard), // Most payload bytes of a frame.
  parameter int unsigned RxWords = 2048,           // Receive FIFO: 16 KiB are 13 us of 10 Gb/s.
  parameter int unsigned QueueWords = 1024,        // Memory and configuration queue, each.
  parameter int unsigned ChunksMax = 262144        // Chunks of an image.
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
  output logic [3:0]        strap_index_o,   // Which of the registers STRAP,
  input  logic [31:0]       strap_i,         // in the same cycle: see rl_straps.
  input  logic [47:0]       time_us_i,       // Since reset, net domain.

  // -- the MAC's streams, net domain; byte 0 of a frame is data[7:0]
  input  logic              rx_valid_i,
  input  logic [63:0]       rx_data_i,
  input  logic [7:0]        rx_keep_i,
  input  logic              rx_last_i,
  input  logic              rx_bad_i,        // With rx_last_i: the check sequence was wrong.
  output logic              tx_valid_o,
  input  logic              tx_ready_i,
  output logic [63:0]       tx_data_o,
  output logic [7:0]        tx_keep_o,
  output logic              tx_last_o,

  // -- DDR: the shell's port in the ddr domain, the role's in the role domain
  output axi_req_t          shell_axi_o,
  input  axi_rsp_t          shell_axi_i,
  output axi_req_t          role_axi_o,
  input  axi_rsp_t          role_axi_i,

  // -- the role, role domain
  output axil_req_t         axil_o,
  input  axil_rsp_t         axil_i,
  input  axi_req_t          axi_i,
  output axi_rsp_t          axi_o,
  input  logic              interrupt_i,
  output logic              role_rst_no,

  // -- the configuration port and its local channel, cfg domain
  output logic              cfg_start_o,
  output logic              cfg_stop_o,
  output logic              cfg_valid_o,
  input  logic              cfg_ready_i,
  output logic [31:0]       cfg_data_o,
  input  logic              cfg_done_i,
  input  logic              cfg_error_i,
  input  logic [7:0]        cfg_code_i,
  input  logic [15:0]       cfg_role_i,
  input  logic              local_busy_i,
  output logic              local_granted_o,
  input  logic              local_start_i,
  input  logic              local_stop_i,
  input  logic              local_valid_i,
  output logic              local_ready_o,
  input  logic [31:0]       local_data_i,

  // -- for whoever looks from outside
  output logic              sleeping_o,      // The processor waits for an event,
  output logic              alarm_valid_o,   // and for this time at the latest, bits 31 to 0.
  output logic [31:0]       alarm_us_o,
  output logic              ack_waits_o,     // An acknowledgement waits for its time,
  output logic [15:0]       ack_late_o,      // so many microseconds ago, or negative: to come.
  output logic              fault_o,         // The processor has stopped.
  output logic              ddr_error_o,     // The memory has answered with an error. Ddr domain.
  output logic              quiet_o          // Net domain: no frame, fetch, launch or load is under way.
);
  localparam int unsigned FrameWords = (Bulk + 7) / 8;
  // Who looks for room does so some cycles before a frame's first word, while others are written.
  localparam int unsigned Ahead = 8;

  // -- receive
  rx_beat_t rx_beat;
  room_t room;
  divert_reason_e reason, mem_read_reason, launch_reason;
  rx_word_t word;
  rx_event_t rx_event;
  session_t session;
  filter_t filter;
  logic word_valid, word_ready, overflow, heard, taken;
  logic hosts, last_page, mem_read_divert, launch_divert, launch_note, barrier_busy, control_busy;
  assign room.read = 1'b1;  // A read that finds no room is dropped and counted.

  rl_rx_fifo #(
    .Words(RxWords)
  ) u_rx_fifo (
    .clk_net_i,
    .rst_net_ni,
    .rx_valid_i,
    .rx_data_i,
    .rx_keep_i,
    .rx_last_i,
    .rx_bad_i,
    .word_valid_o(word_valid),
    .word_ready_i(word_ready),
    .word_o(word),
    .overflow_o(overflow)
  );
  rl_analyzer #(
    .Bulk(Bulk)
  ) u_analyzer (
    .clk_net_i,
    .rst_net_ni,
    .word_valid_i(word_valid),
    .word_ready_o(word_ready),
    .word_i(word),
    .filter_i(filter),
    .session_i(session),
    .barrier_busy_i(barrier_busy),
    .control_busy_i(control_busy),
    .room_i(room),
    .rx_beat_o(rx_beat),
    .hosts_o(hosts),
    .last_page_o(last_page),
    .reason_o(reason),
    .divert_i(mem_read_divert || launch_divert),
    .heard_o(heard),
    .event_o(rx_event)
  );

  // -- control
  logic [12:0] mem_addr;
  logic [31:0] mem_wdata, ring_data, tx_data, have_data, reported_data, slot_data, counter_data;
  logic tx_we, reported_we, slot_re, ring_asked, counter_asked;
  ring_head_t ring_head;
  logic ring_pop;
  divert_reason_e ring_reason;
  tx_ctl_t tx_ctl;
  logic [1:0] slot_busy;
  logic cpu_fetched, answer_valid, answer_ready, answered;
  mem_write_ctl_t mem_write_ctl;
  mem_write_status_t mem_write_status;
  image_write_ctl_t image_write_ctl;
  image_write_status_t image_write_status;
  logic job_valid, job_ready;
  digest_job_t job;
  digest_status_t digest_status;
  config_ctl_t config_ctl;
  config_status_t config_status;
  role_ctl_t role_ctl;
  role_status_t role_status;
  launch_ctl_t launch_ctl;
  launch_status_t launch_status;
  scrub_ctl_t scrub_ctl;
  logic scrub_done, mem_read_valid, mem_read_ready, mem_read_idle, mem_read_flush;
  assign ring_head.reason = 8'(ring_reason);

  rl_control u_control (
    .clk_net_i,
    .rst_net_ni,
    .time_us_i,
    .memory_i(identity_i.memory),
    .strap_index_o,
    .strap_i,
    .sleeping_o,
    .alarm_valid_o,
    .alarm_us_o,
    .fault_o,
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
    .role_o(role_ctl),
    .role_i(role_status),
    .launch_o(launch_ctl),
    .launch_i(launch_status),
    .scrub_o(scrub_ctl),
    .scrub_done_i(scrub_done),
    .mem_read_valid_o(mem_read_valid),
    .mem_read_ready_i(mem_read_ready),
    .mem_read_idle_i(mem_read_idle),
    .mem_read_flush_o(mem_read_flush)
  );
  rl_control_ring u_ring (
    .clk_net_i,
    .rst_net_ni,
    .rx_beat_i(rx_beat),
    .reason_i(reason),
    .divert_i(mem_read_divert || launch_divert),
    .divert_reason_i(launch_divert ? launch_reason : mem_read_reason),
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
  rl_ram #(
    .Width(32),
    .Depth(ChunksMax / 32)
  ) u_reported (
    .clk_wr_i(clk_net_i),
    .we_i(reported_we),
    .waddr_i(mem_addr[$clog2(ChunksMax)-6:0]),
    .wdata_i(mem_wdata),
    .clk_rd_i(clk_net_i),
    .re_i(1'b1),
    .raddr_i(mem_addr[$clog2(ChunksMax)-6:0]),
    .rdata_o(reported_data)
  );

  // -- discovery
  announcement_t answer;
  rl_discovery u_discovery (
    .clk_net_i,
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

  // -- writes
  logic mem_room, mem_word, mem_commit, mem_rollback, mem_valid, mem_done, mem_take, mem_ready;
  logic [63:0] mem_data, mem_out;
  write_desc_t mem_desc, mem_out_desc;
  logic [7:0] stored, mem_written_gray, mem_written, image_written_gray;
  logic write, write_duplicate, write_beyond, mem_write_busy;
  logic [13:0] write_bytes;
  rl_mem_write u_mem_write (
    .clk_net_i,
    .rst_net_ni,
    .rx_beat_i(rx_beat),
    .room_o(room.write),
    .queue_room_i(mem_room),
    .queue_word_o(mem_word),
    .queue_data_o(mem_data),
    .queue_commit_o(mem_commit),
    .queue_desc_o(mem_desc),
    .queue_rollback_o(mem_rollback),
    .stored_o(stored),
    .busy_o(mem_write_busy),
    .reset_i(mem_write_ctl.reset),
    .next_o(mem_write_status.next),
    .bits_addr_i(mem_write_ctl.bits_addr),
    .bits_o(mem_write_status.bits),
    .insert_i(mem_write_ctl.insert),
    .insert_seq_i(mem_write_ctl.insert_seq),
    .insert_ack_now_i(mem_write_ctl.insert_ack_now),
    .insert_busy_o(mem_write_status.insert_busy),
    .insert_result_o(mem_write_status.insert_result),
    .time_us_i(time_us_i[15:0]),
    .ack_every_i(identity_i.ack_every),
    .ack_delay_i(identity_i.ack_delay),
    .ack_due_o(mem_write_status.ack_due),
    .ack_waits_o,
    .ack_late_o,
    .acked_i(mem_write_ctl.acked),
    .write_o(write),
    .write_bytes_o(write_bytes),
    .duplicate_o(write_duplicate),
    .beyond_o(write_beyond)
  );
  rl_frame_queue #(
    .Words(QueueWords),
    .FrameWords(FrameWords + Ahead),
    .DescW($bits(write_desc_t)),
    .Frames(16)
  ) u_mem_queue (
    .clk_wr_i(clk_net_i),
    .rst_wr_ni(rst_net_ni),
    .room_o(mem_room),
    .word_i(mem_word),
    .data_i(mem_data),
    .commit_i(mem_commit),
    .desc_i(mem_desc),
    .rollback_i(mem_rollback),
    .clk_rd_i(clk_ddr_i),
    .rst_rd_ni(rst_ddr_ni),
    .valid_o(mem_valid),
    .desc_o(mem_out_desc),
    .done_i(mem_done),
    .take_i(mem_take),
    .data_o(mem_out),
    .ready_o(mem_ready)
  );

  // -- image data
  logic image_room, image_word, image_commit, image_rollback;
  logic image_valid, image_done, image_take, image_ready;
  logic [63:0] image_data, image_out;
  write_desc_t image_desc, image_out_desc;
  logic chunk, chunk_duplicate, chunk_malformed;
  localparam int unsigned ChunkW = $clog2(ChunksMax);
  rl_image_write #(
    .Bulk(Bulk),
    .Chunks(ChunksMax),
    .Blocks(512)  // The digest may lag behind; no chunk is dropped for that.
  ) u_image_write (
    .clk_net_i,
    .rst_net_ni,
    .rx_beat_i(rx_beat),
    .receiving_i(session.receiving),
    .room_o(room.image),
    .queue_room_i(image_room),
    .queue_word_o(image_word),
    .queue_data_o(image_data),
    .queue_commit_o(image_commit),
    .queue_desc_o(image_desc),
    .queue_rollback_o(image_rollback),
    .written_gray_i(image_written_gray),
    .start_i(image_write_ctl.start),
    .base_i(image_write_ctl.base),
    .last_i(image_write_ctl.last[ChunkW-1:0]),
    .last_length_i(image_write_ctl.last_length),
    .chunk_i(image_write_ctl.chunk),
    .empty_i(image_write_ctl.empty[(ChunkW>16?ChunkW-4 : 12)-1:0]),
    .busy_o(image_write_status.busy),
    .staged_o(image_write_status.staged[ChunkW:0]),
    .bits_addr_i(mem_addr[ChunkW-6:0]),
    .bits_o(have_data),
    .block_valid_o(image_write_status.block_valid),
    .block_o(image_write_status.block),
    .block_pop_i(image_write_ctl.block_pop),
    .chunk_o(chunk),
    .duplicate_o(chunk_duplicate),
    .malformed_o(chunk_malformed)
  );
  if (ChunkW < 18) begin : gen_staged
    assign image_write_status.staged[18:ChunkW+1] = '0;
  end
  rl_frame_queue #(
    .Words(QueueWords),
    .FrameWords(FrameWords + Ahead),
    .DescW($bits(write_desc_t)),
    .Frames(16)
  ) u_image_queue (
    .clk_wr_i(clk_net_i),
    .rst_wr_ni(rst_net_ni),
    .room_o(image_room),
    .word_i(image_word),
    .data_i(image_data),
    .commit_i(image_commit),
    .desc_i(image_desc),
    .rollback_i(image_rollback),
    .clk_rd_i(clk_ddr_i),
    .rst_rd_ni(rst_ddr_ni),
    .valid_o(image_valid),
    .desc_o(image_out_desc),
    .done_i(image_done),
    .take_i(image_take),
    .data_o(image_out),
    .ready_o(image_ready)
  );
  rl_count_sync u_mem_written (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .gray_i(mem_written_gray),
    .count_o(mem_written)
  );
  // -- into DDR
  logic
      put_valid,
      put_ready,
      put_more,
      put_written,
      scrub_ddr,
      scrub_done_ddr,
      write_error,
      read_error;
  addr_t put_addr;
  logic [63:0] put_data;
  rl_sync u_scrub (
    .clk_i(clk_ddr_i),
    .rst_ni(rst_ddr_ni),
    .d_i(scrub_ctl.scrub),
    .q_o(scrub_ddr)
  );
  rl_sync u_scrub_done (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .d_i(scrub_done_ddr),
    .q_o(scrub_done)
  );
  assign ddr_error_o = write_error || read_error;
  assign shell_axi_o.awid = '0;
  assign shell_axi_o.awlen = '0;
  assign shell_axi_o.wlast = 1'b1;
  assign shell_axi_o.arid = '0;
  assign shell_axi_o.arlen = '0;
  rl_ddr_write #(
    .Bulk(Bulk)
  ) u_ddr_write (
    .clk_ddr_i,
    .rst_ddr_ni,
    .mem_valid_i(mem_valid),
    .mem_desc_i(mem_out_desc),
    .mem_done_o(mem_done),
    .mem_take_o(mem_take),
    .mem_data_i(mem_out),
    .mem_ready_i(mem_ready),
    .image_valid_i(image_valid),
    .image_desc_i(image_out_desc),
    .image_done_o(image_done),
    .image_take_o(image_take),
    .image_data_i(image_out),
    .image_ready_i(image_ready),
    .value_valid_i(put_valid),
    .value_ready_o(put_ready),
    .value_addr_i(put_addr),
    .value_data_i(put_data),
    .value_more_i(put_more),
    .value_written_o(put_written),
    .scrub_i(scrub_ddr),
    .scrub_first_i(scrub_ctl.scrub_first),
    .scrub_last_i(scrub_ctl.scrub_last),
    .scrub_done_o(scrub_done_ddr),
    .mem_written_gray_o(mem_written_gray),
    .image_written_gray_o(image_written_gray),
    .error_o(write_error),
    .axi_awvalid_o(shell_axi_o.awvalid),
    .axi_awready_i(shell_axi_i.awready),
    .axi_awaddr_o(shell_axi_o.awaddr),
    .axi_wvalid_o(shell_axi_o.wvalid),
    .axi_wready_i(shell_axi_i.wready),
    .axi_wdata_o(shell_axi_o.wdata),
    .axi_wstrb_o(shell_axi_o.wstrb),
    .axi_bvalid_i(shell_axi_i.bvalid),
    .axi_bready_o(shell_axi_o.bready),
    .axi_bresp_i(shell_axi_i.bresp)
  );

  // -- out of DDR
  logic unused_spare, command_valid, command_ready, command_out_valid, command_out_ready;
  mem_read_command_t command, command_out;
  logic head_valid, unused_head_ready, head_out_valid, head_out_ready, fetched;
  logic [63:0] head, head_out;
  logic read, read_dropped;
  logic [13:0] read_bytes;
  logic [6:0] unused_heads;
  rl_mem_read #(
    .Bulk(Bulk)
  ) u_mem_read (
    .clk_net_i,
    .rst_net_ni,
    .rx_beat_i(rx_beat),
    .hosts_i(hosts),
    .last_page_i(last_page),
    .divert_o(mem_read_divert),
    .divert_reason_o(mem_read_reason),
    .flush_i(mem_read_flush),
    .idle_o(mem_read_idle),
    .head_we_i(tx_we && mem_addr[10:9] == 2'd3),
    .head_addr_i(mem_addr[8:0]),
    .head_wdata_i(mem_wdata),
    .fw_valid_i(mem_read_valid),
    .fw_ready_o(mem_read_ready),
    .mem_write_busy_i(mem_write_busy),
    .stored_i(stored),
    .written_i(mem_written),
    .command_valid_o(command_valid),
    .command_ready_i(command_ready),
    .command_o(command),
    .head_valid_o(head_valid),
    .head_o(head),
    .fetched_i(fetched),
    .read_o(read),
    .read_bytes_o(read_bytes),
    .drop_queue_o(read_dropped)
  );
  rl_fifo #(
    .Width(64),
    .Depth(64),
    .Block(1'b1)
  ) u_heads (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .wvalid_i(head_valid),
    .wready_o(unused_head_ready),
    .wdata_i(head),
    .rvalid_o(head_out_valid),
    .rready_i(head_out_ready),
    .rdata_o(head_out),
    .count_o(unused_heads)
  );
  rl_fifo_async #(
    .Width($bits(mem_read_command_t)),
    .Depth(4)
  ) u_commands (
    .clk_wr_i(clk_net_i),
    .rst_wr_ni(rst_net_ni),
    .wvalid_i(command_valid),
    .wready_o(command_ready),
    .wspare_o(unused_spare),
    .wdata_i(command),
    .clk_rd_i(clk_ddr_i),
    .rst_rd_ni(rst_ddr_ni),
    .rvalid_o(command_out_valid),
    .rready_i(command_out_ready),
    .rdata_o(command_out)
  );

  logic data_room, data_word, data_commit, data_valid, data_done, data_take, data_ready;
  logic [63:0] data_in, data_out;
  read_desc_t data_desc, data_out_desc;
  logic stream, stream_stop, stream_done, stream_room, stream_word, stream_commit, stream_last;
  stream_t stream_job;
  logic [63:0] stream_data;
  logic digest_req_valid, digest_req_ready, digest_data_valid;
  beat_t digest_req_beat;
  beat_data_t digest_data;
  rl_ddr_read #(
    .Bulk(Bulk)
  ) u_ddr_read (
    .clk_ddr_i,
    .rst_ddr_ni,
    .command_valid_i(command_out_valid),
    .command_ready_o(command_out_ready),
    .command_i(command_out),
    .queue_room_i(data_room),
    .queue_word_o(data_word),
    .queue_data_o(data_in),
    .queue_commit_o(data_commit),
    .queue_desc_o(data_desc),
    .stream_i(stream),
    .stream_job_i(stream_job),
    .stream_stop_i(stream_stop),
    .stream_done_o(stream_done),
    .stream_room_i(stream_room),
    .stream_word_o(stream_word),
    .stream_data_o(stream_data),
    .stream_commit_o(stream_commit),
    .stream_last_o(stream_last),
    .digest_req_valid_i(digest_req_valid),
    .digest_req_ready_o(digest_req_ready),
    .digest_req_beat_i(digest_req_beat),
    .digest_data_valid_o(digest_data_valid),
    .digest_data_o(digest_data),
    .error_o(read_error),
    .axi_arvalid_o(shell_axi_o.arvalid),
    .axi_arready_i(shell_axi_i.arready),
    .axi_araddr_o(shell_axi_o.araddr),
    .axi_rvalid_i(shell_axi_i.rvalid),
    .axi_rready_o(shell_axi_o.rready),
    .axi_rdata_i(shell_axi_i.rdata),
    .axi_rresp_i(shell_axi_i.rresp)
  );
  rl_frame_queue #(
    .Words(QueueWords),
    .FrameWords(3 * FrameWords + 8 + Ahead),
    .DescW($bits(read_desc_t)),
    .Frames(32),
    .Reserves(1'b1)
  ) u_data_queue (
    .clk_wr_i(clk_ddr_i),
    .rst_wr_ni(rst_ddr_ni),
    .room_o(data_room),
    .word_i(data_word),
    .data_i(data_in),
    .commit_i(data_commit),
    .desc_i(data_desc),
    .rollback_i(1'b0),
    .clk_rd_i(clk_net_i),
    .rst_rd_ni(rst_net_ni),
    .valid_o(data_valid),
    .desc_o(data_out_desc),
    .done_i(data_done),
    .take_i(data_take),
    .data_o(data_out),
    .ready_o(data_ready)
  );

  // -- digest
  logic [255:0] unused_digest_value;  // The firmware reads it in DDR.
  rl_digest u_digest (
    .clk_net_i,
    .rst_net_ni,
    .job_valid_i(job_valid),
    .job_ready_o(job_ready),
    .job_i(job),
    .idle_o(digest_status.idle),
    .value_o(unused_digest_value),
    .clk_ddr_i,
    .rst_ddr_ni,
    .req_valid_o(digest_req_valid),
    .req_ready_i(digest_req_ready),
    .req_beat_o(digest_req_beat),
    .data_valid_i(digest_data_valid),
    .data_i(digest_data),
    .put_valid_o(put_valid),
    .put_ready_i(put_ready),
    .put_addr_o(put_addr),
    .put_data_o(put_data),
    .put_more_o(put_more),
    .put_written_i(put_written)
  );

  // -- configuration
  logic words_valid, words_done, words_take, words_ready, words_last;
  logic [63:0] words_data;
  logic [7:0] unused_config_error;
  logic [15:0] unused_config_role;
  rl_frame_queue #(
    .Words(256),
    .FrameWords(48),
    .DescW(1),
    .Frames(32),
    .Reserves(1'b1)
  ) u_words_queue (
    .clk_wr_i(clk_ddr_i),
    .rst_wr_ni(rst_ddr_ni),
    .room_o(stream_room),
    .word_i(stream_word),
    .data_i(stream_data),
    .commit_i(stream_commit),
    .desc_i(stream_last),
    .rollback_i(1'b0),
    .clk_rd_i(clk_cfg_i),
    .rst_rd_ni(rst_cfg_ni),
    .valid_o(words_valid),
    .desc_o(words_last),
    .done_i(words_done),
    .take_i(words_take),
    .data_o(words_data),
    .ready_o(words_ready)
  );
  rl_config_port u_config_port (
    .clk_net_i,
    .rst_net_ni,
    .start_i(config_ctl.start),
    .stop_i(config_ctl.stop),
    .source_i(config_ctl.source),
    .last_i(config_ctl.last),
    .last_words_i(config_ctl.last_words),
    .busy_o(config_status.busy),
    .done_o(config_status.done),
    .failed_o(config_status.failed),
    .local_o(config_status.local_port),
    .error_o(unused_config_error),
    .role_id_o(unused_config_role),
    .clk_ddr_i,
    .rst_ddr_ni,
    .stream_o(stream),
    .stream_job_o(stream_job),
    .stream_stop_o(stream_stop),
    .stream_done_i(stream_done),
    .clk_cfg_i,
    .rst_cfg_ni,
    .frame_valid_i(words_valid),
    .frame_last_i(words_last),
    .frame_done_o(words_done),
    .frame_take_o(words_take),
    .frame_data_i(words_data),
    .frame_ready_i(words_ready),
    .local_busy_i,
    .local_granted_o,
    .local_start_i,
    .local_stop_i,
    .local_valid_i,
    .local_ready_o,
    .local_data_i,
    .cfg_start_o,
    .cfg_stop_o,
    .cfg_valid_o,
    .cfg_ready_i,
    .cfg_data_o,
    .cfg_done_i,
    .cfg_error_i,
    .cfg_code_i,
    .cfg_role_i
  );

  // -- launches and the role
  logic cmd_valid, cmd_ready, stop, end_toggle;
  role_command_t cmd;
  end_e end_status;
  rl_launch u_launch (
    .clk_net_i,
    .rst_net_ni,
    .clk_role_i,
    .rst_role_ni,
    .rx_beat_i(rx_beat),
    .memory_i(session.memory),
    .role_i(session.role && !session.configuring),
    .room_o(room.launch),
    .divert_o(launch_divert),
    .divert_reason_o(launch_reason),
    .note_o(launch_note),
    .stored_i(stored),
    .mem_write_busy_i(mem_write_busy),
    .mem_written_i(mem_written),
    .time_us_i(time_us_i[31:0]),
    .last_we_i(launch_ctl.last_we),
    .last_i(launch_ctl.last),
    .last_o(launch_status.last),
    .args_we_i(launch_ctl.args_we),
    .args_kernel_i(launch_ctl.args_kernel),
    .args_takes_i(launch_ctl.args_takes),
    .args_words_i(launch_ctl.args_words),
    .enable_i(launch_ctl.enable),
    .running_o(launch_status.running),
    .popped_i(launch_ctl.popped),
    .bound_i(launch_ctl.bound),
    .head_o(launch_status.head),
    .tail_o(launch_status.tail),
    .ended_o(launch_status.ended),
    .freeze_i(launch_ctl.freeze),
    .frozen_o(launch_status.frozen),
    .order_we_i(launch_ctl.order_we),
    .order_at_i(launch_ctl.order_at),
    .order_slot_i(launch_ctl.order_slot),
    .order_held_i(launch_ctl.order_held),
    .drop_i(launch_ctl.drop),
    .stop_i(launch_ctl.stop),
    .started_us_o(launch_status.started_us),
    .ended_us_o(launch_status.ended_us),
    .slot_re_i(slot_re),
    .slot_addr_i(mem_addr[11:0]),
    .slot_data_o(slot_data),
    .cmd_valid_o(cmd_valid),
    .cmd_ready_i(cmd_ready),
    .cmd_o(cmd),
    .stop_o(stop),
    .end_toggle_i(end_toggle)
  );
  assign launch_status.end_status = end_status;
  logic isolated, fault_axil, guard_isolate, guard_drained;
  guard_fault_t fault_guard, guard_fault;
  rl_role_port u_role_port (
    .clk_role_i,
    .rst_role_ni,
    .cmd_valid_i(cmd_valid),
    .cmd_ready_o(cmd_ready),
    .cmd_i(cmd),
    .stop_i(stop),
    .end_toggle_o(end_toggle),
    .end_status_o(end_status),
    .value_o(launch_status.value),
    .cycles_o(launch_status.cycles),
    .isolate_i(role_ctl.isolate),
    .hold_i(role_ctl.hold),
    .isolated_o(isolated),
    .fault_axil_o(fault_axil),
    .fault_guard_o(fault_guard),
    .axil_o,
    .axil_i,
    .interrupt_i,
    .role_rst_no,
    .guard_isolate_o(guard_isolate),
    .guard_drained_i(guard_drained),
    .guard_fault_i(guard_fault)
  );
  rl_sync #(
    .Width(5)
  ) u_role_status (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .d_i({isolated, fault_guard, fault_axil}),
    .q_o(role_status)
  );
  rl_guard u_guard (
    .clk_role_i,
    .rst_role_ni,
    .memory_i(session.memory),
    .isolate_i(guard_isolate),
    .drained_o(guard_drained),
    .fault_o(guard_fault),
    .role_i(axi_i),
    .role_o(axi_o),
    .ddr_o(role_axi_o),
    .ddr_i(role_axi_i)
  );

  // -- transmit
  logic tx_frame;
  logic [13:0] tx_bytes;
  rl_tx u_tx (
    .clk_net_i,
    .rst_net_ni,
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
    .head_valid_i(head_out_valid),
    .head_ready_o(head_out_ready),
    .head_i(head_out),
    .data_valid_i(data_valid),
    .data_desc_i(data_out_desc),
    .data_done_o(data_done),
    .data_take_o(data_take),
    .data_i(data_out),
    .data_ready_i(data_ready),
    .fetched_o(fetched),
    .cpu_fetch_done_o(cpu_fetched),
    .tx_valid_o,
    .tx_data_o,
    .tx_keep_o,
    .tx_last_o,
    .tx_ready_i,
    .frame_o(tx_frame),
    .frame_bytes_o(tx_bytes)
  );

  // -- counters
  rl_counters u_counters (
    .clk_net_i,
    .rst_net_ni,
    .rx_i(rx_event),
    .rx_overflow_i(overflow),
    .answered_i(answered),
    .tx_word_i(tx_valid_o && tx_ready_i),
    .tx_frame_i(tx_frame),
    .tx_bytes_i(tx_bytes),
    .write_i(write),
    .write_bytes_i(write_bytes),
    .write_duplicate_i(write_duplicate),
    .write_beyond_i(write_beyond),
    .chunk_i(chunk),
    .chunk_duplicate_i(chunk_duplicate),
    .chunk_malformed_i(chunk_malformed),
    .read_i(read),
    .read_bytes_i(read_bytes),
    .read_full_i(read_dropped),
    .index_i(mem_addr[6:0]),
    .asked_i(counter_asked),
    .data_o(counter_data)
  );

  // A frame that has come in keeps the receive stream, its unit or the processor busy until it has had its effect.
  logic [6:0] quiet_q;
  logic active;
  assign active = word_valid || rx_beat.word || rx_beat.done || rx_valid_i || control_busy || answer_valid ||
      slot_busy != 0 || tx_valid_o || !mem_read_idle || stored != mem_written ||
      launch_status.running || launch_ctl.freeze || launch_status.ended ||
      image_write_status.busy || image_write_status.block_valid || !digest_status.idle || config_status.busy ||
      scrub_ctl.scrub || mem_write_status.ack_due || !sleeping_o;
  // Some cycles more: what crosses between domains, and the counters' sweep.
  assign quiet_o = &quiet_q;
  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni || active) quiet_q <= '0;
    else if (!quiet_o) quiet_q <= quiet_q + 1'b1;
  end

  logic unused;
  assign unused = ^{shell_axi_i.bid, shell_axi_i.rid, shell_axi_i.rlast};
endmodule : rl_shell
