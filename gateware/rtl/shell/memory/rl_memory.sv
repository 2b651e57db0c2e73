// The hosts' way to memory, and everyone's: writes and reads of frames, and the shell's port to DDR, which image data,
// chaining values, the digest and the configuration port use as well.
module rl_memory
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
  import rl_role_pkg::*;
  import rl_control_pkg::*;
#(
  parameter int unsigned DataW = 64,         // Bits of frames' words.
  parameter int unsigned Bulk = 32'(BulkStandard),
  parameter int unsigned QueueWords = 1024,  // Of DataW bits.
  parameter int unsigned Ahead = 8  // Words that may be written between a look for room and a frame's first word.
) (
  input  logic              clk_net_i,
  input  logic              rst_net_ni,
  input  logic              clk_ddr_i,
  input  logic              rst_ddr_ni,

  // -- net domain
  input  rx_beat_t          rx_beat_i,         // For reads,
  input  rx_beat_t          bulk_i,            // and for writes, whose words are beside it: rl_rx.
  input  logic [DataW-1:0]  bulk_data_i,
  input  logic              hosts_i,
  input  logic              last_page_i,
  output logic              write_room_o,
  output logic              divert_o,          // With rx_beat_i.done: control takes this read.
  output divert_reason_e    divert_reason_o,
  input  logic [15:0]       time_us_i,
  input  logic [15:0]       ack_every_i,
  input  logic [15:0]       ack_delay_i,
  output logic              ack_waits_o,
  output logic [15:0]       ack_late_o,
  output write_progress_t   progress_o,
  // To rl_tx.
  output read_head_t        head_o,
  input  logic              head_ready_i,
  output read_queue_t       fetched_o,
  output logic [DataW-1:0]  fetched_data_o,
  input  queue_take_t       fetched_take_i,
  input  logic              fetch_done_i,      // A fetch is over: its frame has left, or the firmware has it.
  // Firmware.
  input  mem_write_ctl_t    write_i,
  output mem_write_status_t write_o,
  input  logic              head_we_i,
  input  logic [8:0]        head_addr_i,
  input  logic [31:0]       head_wdata_i,
  input  logic              fetch_valid_i,     // Until it is taken.
  output logic              fetch_ready_o,
  input  logic              read_flush_i,
  output logic              read_idle_o,
  input  scrub_ctl_t        scrub_i,
  output logic              scrub_done_o,
  output logic              moves_o,           // A transfer to or from DDR is under way, or was some cycles ago.
  output logic              failed_o,          // The memory has answered with an error.
  // Events.
  output write_event_t      write_event_o,
  output read_event_t       read_event_o,

  // -- ddr domain
  input  write_queue_t      image_i,           // Image data.
  input  logic [DataW-1:0]  image_data_i,
  output queue_take_t       image_take_o,
  output logic [7:0]        image_written_gray_o,
  input  load_req_t         load_i,
  output load_rsp_t         load_o,
  output logic [DataW-1:0]  stream_data_o,
  output axi_req_t          axi_o,
  input  axi_rsp_t          axi_i
);
  localparam bit Line = DataW > 64;  // Short frames come too fast to be written one after the other.
  localparam int unsigned WriteFrames = Line ? 32 : 16;
  localparam int unsigned FrameWords = (8 * Bulk + DataW - 1) / DataW;
  // What is read has room before it is asked for: three frames, or a frame and 64 beats. A RAM of so many bits
  // is as deep anyway.
  localparam int unsigned ReadRoom = Line ? FrameWords + 64 * 512 / DataW : 3 * FrameWords;
  localparam int unsigned ReadWords = DataW > 128 ? 2 * QueueWords : QueueWords;

  // -- writes
  logic queue_room, queue_word, queue_commit, queue_rollback;
  logic [63:0] unused_data;  // It has a width of its own.
  write_desc_t queue_desc;
  logic [7:0] written_gray;
  logic verdict_valid, verdict;
  rl_mem_write #(
    .Line(Line)
  ) u_write (
    .clk_net_i,
    .rst_net_ni,
    .rx_beat_i(bulk_i),
    .room_o(write_room_o),
    .queue_room_i(queue_room),
    .queue_word_o(queue_word),
    .queue_data_o(unused_data),
    .queue_commit_o(queue_commit),
    .queue_desc_o(queue_desc),
    .queue_rollback_o(queue_rollback),
    .verdict_valid_o(verdict_valid),
    .verdict_o(verdict),
    .stored_o(progress_o.stored),
    .busy_o(progress_o.busy),
    .reset_i(write_i.reset),
    .next_o(write_o.next),
    .bits_addr_i(write_i.bits_addr),
    .bits_o(write_o.bits),
    .insert_i(write_i.insert),
    .insert_seq_i(write_i.insert_seq),
    .insert_ack_now_i(write_i.insert_ack_now),
    .insert_busy_o(write_o.insert_busy),
    .insert_result_o(write_o.insert_result),
    .time_us_i,
    .ack_every_i,
    .ack_delay_i,
    .ack_due_o(write_o.ack_due),
    .ack_waits_o,
    .ack_late_o,
    .acked_i(write_i.acked),
    .write_o(write_event_o.stored),
    .write_bytes_o(write_event_o.bytes),
    .duplicate_o(write_event_o.duplicate),
    .beyond_o(write_event_o.beyond)
  );
  write_queue_t writes;
  queue_take_t writes_take;
  logic [DataW-1:0] writes_data;
  logic writes_valid, writes_skip;
  rl_frame_queue #(
    .DataW(DataW),
    .Words(QueueWords),
    .FrameWords(FrameWords + Ahead),
    .DescW($bits(write_desc_t)),
    .Frames(WriteFrames),
    .Reserves(Line)
  ) u_write_queue (
    .clk_wr_i(clk_net_i),
    .rst_wr_ni(rst_net_ni),
    .room_o(queue_room),
    .word_i(queue_word),
    .data_i(bulk_data_i),
    .commit_i(queue_commit),
    .desc_i(queue_desc),
    .rollback_i(queue_rollback),
    .clk_rd_i(clk_ddr_i),
    .rst_rd_ni(rst_ddr_ni),
    .valid_o(writes_valid),
    .desc_o(writes.desc),
    .done_i(writes_take.done),
    .take_i(writes_take.take),
    .data_o(writes_data),
    .ready_o(writes.ready)
  );
  if (Line) begin : gen_line
    // As many as there are frames in the queue, at most.
    logic verdict_ready, unused_verdict, judged, stays;
    rl_fifo_async #(
      .Width(1),
      .Depth(WriteFrames)
    ) u_verdicts (
      .clk_wr_i(clk_net_i),
      .rst_wr_ni(rst_net_ni),
      .wvalid_i(verdict_valid),
      .wready_o(verdict_ready),
      .wspare_o(unused_verdict),
      .wdata_i(verdict),
      .clk_rd_i(clk_ddr_i),
      .rst_rd_ni(rst_ddr_ni),
      .rvalid_o(judged),
      .rready_i(writes_take.done),
      .rdata_o(stays)
    );
    assign writes.valid = writes_valid && judged;
    assign writes_skip = !stays;
`ifndef SYNTHESIS
    VerdictHasRoom_A :
    assert property (@(posedge clk_net_i) disable iff (!rst_net_ni) verdict_valid |-> verdict_ready);
`endif
    logic unused;
    assign unused = verdict_ready;
  end else begin : gen_one
    assign writes.valid = writes_valid;
    assign writes_skip = 1'b0;
    logic unused;
    assign unused = ^{verdict_valid, verdict};
  end
  rl_count_sync u_written (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .gray_i(written_gray),
    .count_o(progress_o.written)
  );

  assign write_o.stored = progress_o.stored;
  assign write_o.written = progress_o.written;

  // -- into DDR
  logic scrub, scrub_done, write_failed, read_failed, write_waits, read_waits;
  beat_t scrub_first, scrub_last;
  rl_held #(
    .Width(2 * $bits(beat_t))
  ) u_scrub_range (
    .word_i({scrub_i.scrub_first, scrub_i.scrub_last}),
    .word_o({scrub_first, scrub_last})
  );
  rl_sync u_scrub (
    .clk_i(clk_ddr_i),
    .rst_ni(rst_ddr_ni),
    .d_i(scrub_i.scrub),
    .q_o(scrub)
  );
  rl_sync u_scrub_done (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .d_i(scrub_done),
    .q_o(scrub_done_o)
  );
  assign axi_o.awid = '0;
  assign axi_o.arid = '0;
  if (DataW == 512) begin : gen_beats
    rl_ddr_write_beats #(
      .Bulk(Bulk)
    ) u_ddr_write (
      .clk_ddr_i,
      .rst_ddr_ni,
      .mem_valid_i(writes.valid),
      .mem_desc_i(writes.desc),
      .mem_skip_i(writes_skip),
      .mem_done_o(writes_take.done),
      .mem_take_o(writes_take.take),
      .mem_data_i(writes_data),
      .mem_ready_i(writes.ready),
      .image_valid_i(image_i.valid),
      .image_desc_i(image_i.desc),
      .image_done_o(image_take_o.done),
      .image_take_o(image_take_o.take),
      .image_data_i,
      .image_ready_i(image_i.ready),
      .value_valid_i(load_i.value.valid),
      .value_ready_o(load_o.value.ready),
      .value_addr_i(load_i.value.addr),
      .value_data_i(load_i.value.data),
      .value_more_i(load_i.value.more),
      .value_written_o(load_o.value.written),
      .scrub_i(scrub),
      .scrub_first_i(scrub_first),
      .scrub_last_i(scrub_last),
      .scrub_done_o(scrub_done),
      .mem_written_gray_o(written_gray),
      .image_written_gray_o,
      .failed_o(write_failed),
      .waits_o(write_waits),
      .axi_awvalid_o(axi_o.awvalid),
      .axi_awready_i(axi_i.awready),
      .axi_awaddr_o(axi_o.awaddr),
      .axi_awlen_o(axi_o.awlen),
      .axi_wvalid_o(axi_o.wvalid),
      .axi_wready_i(axi_i.wready),
      .axi_wdata_o(axi_o.wdata),
      .axi_wstrb_o(axi_o.wstrb),
      .axi_wlast_o(axi_o.wlast),
      .axi_bvalid_i(axi_i.bvalid),
      .axi_bready_o(axi_o.bready),
      .axi_bresp_i(axi_i.bresp)
    );
  end else begin : gen_lanes
    assign axi_o.awlen = '0;
    assign axi_o.wlast = 1'b1;
    rl_ddr_write #(
      .DataW(DataW),
      .Bulk(Bulk)
    ) u_ddr_write (
      .clk_ddr_i,
      .rst_ddr_ni,
      .mem_valid_i(writes.valid),
      .mem_desc_i(writes.desc),
      .mem_skip_i(writes_skip),
      .mem_done_o(writes_take.done),
      .mem_take_o(writes_take.take),
      .mem_data_i(writes_data),
      .mem_ready_i(writes.ready),
      .image_valid_i(image_i.valid),
      .image_desc_i(image_i.desc),
      .image_done_o(image_take_o.done),
      .image_take_o(image_take_o.take),
      .image_data_i,
      .image_ready_i(image_i.ready),
      .value_valid_i(load_i.value.valid),
      .value_ready_o(load_o.value.ready),
      .value_addr_i(load_i.value.addr),
      .value_data_i(load_i.value.data),
      .value_more_i(load_i.value.more),
      .value_written_o(load_o.value.written),
      .scrub_i(scrub),
      .scrub_first_i(scrub_first),
      .scrub_last_i(scrub_last),
      .scrub_done_o(scrub_done),
      .mem_written_gray_o(written_gray),
      .image_written_gray_o,
      .failed_o(write_failed),
      .waits_o(write_waits),
      .axi_awvalid_o(axi_o.awvalid),
      .axi_awready_i(axi_i.awready),
      .axi_awaddr_o(axi_o.awaddr),
      .axi_wvalid_o(axi_o.wvalid),
      .axi_wready_i(axi_i.wready),
      .axi_wdata_o(axi_o.wdata),
      .axi_wstrb_o(axi_o.wstrb),
      .axi_bvalid_i(axi_i.bvalid),
      .axi_bready_o(axi_o.bready),
      .axi_bresp_i(axi_i.bresp)
    );
  end

  // A level long enough for the other domain to see, whatever the clocks are.
  logic [4:0] still_q;
  always_ff @(posedge clk_ddr_i) begin
    if (!rst_ddr_ni || axi_o.awvalid || axi_o.wvalid || axi_o.arvalid || write_waits || read_waits)
      still_q <= '0;
    else if (!still_q[4]) still_q <= still_q + 1'b1;
  end
  rl_sync #(
    .ResetValue(1'b1)
  ) u_moves (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .d_i(!still_q[4]),
    .q_o(moves_o)
  );
  logic failed_q;
  always_ff @(posedge clk_ddr_i) failed_q <= rst_ddr_ni && (write_failed || read_failed);
  rl_sync u_failed (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .d_i(failed_q),
    .q_o(failed_o)
  );

  // -- reads
  mem_read_command_t command, command_out;
  logic command_valid, command_ready, command_out_valid, command_out_ready, unused_spare;
  logic head_valid, unused_head_ready;
  logic [63:0] head;
  logic [6:0] unused_heads;
  rl_mem_read #(
    .Bulk(Bulk)
  ) u_read (
    .clk_net_i,
    .rst_net_ni,
    .rx_beat_i,
    .hosts_i,
    .last_page_i,
    .divert_o,
    .divert_reason_o,
    .flush_i(read_flush_i),
    .idle_o(read_idle_o),
    .head_we_i,
    .head_addr_i,
    .head_wdata_i,
    .fw_valid_i(fetch_valid_i),
    .fw_ready_o(fetch_ready_o),
    .mem_write_busy_i(progress_o.busy),
    .stored_i(progress_o.stored),
    .written_i(progress_o.written),
    .command_valid_o(command_valid),
    .command_ready_i(command_ready),
    .command_o(command),
    .head_valid_o(head_valid),
    .head_o(head),
    .fetched_i(fetch_done_i),
    .read_o(read_event_o.taken),
    .read_bytes_o(read_event_o.bytes),
    .drop_queue_o(read_event_o.full)
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
    .rvalid_o(head_o.valid),
    .rready_i(head_ready_i),
    .rdata_o(head_o.data),
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

  // -- out of DDR
  logic data_room, data_word, data_commit;
  logic [DataW-1:0] data;
  read_desc_t data_desc;
  if (Line) begin : gen_bursts
    rl_ddr_read_bursts #(
      .DataW(DataW),
      .Bulk(Bulk),
      .Room(ReadRoom)
    ) u_ddr_read (
      .clk_ddr_i,
      .rst_ddr_ni,
      .command_valid_i(command_out_valid),
      .command_ready_o(command_out_ready),
      .command_i(command_out),
      .queue_room_i(data_room),
      .queue_word_o(data_word),
      .queue_data_o(data),
      .queue_commit_o(data_commit),
      .queue_desc_o(data_desc),
      .stream_i(load_i.stream.run),
      .stream_job_i(load_i.stream.job),
      .stream_stop_i(load_i.stream.stop),
      .stream_done_o(load_o.stream.done),
      .stream_room_i(load_i.stream.room),
      .stream_word_o(load_o.stream.word),
      .stream_data_o,
      .stream_commit_o(load_o.stream.commit),
      .stream_last_o(load_o.stream.last),
      .digest_req_valid_i(load_i.digest.valid),
      .digest_req_ready_o(load_o.digest.ready),
      .digest_req_beat_i(load_i.digest.beat),
      .digest_data_valid_o(load_o.digest.valid),
      .digest_data_o(load_o.digest.data),
      .failed_o(read_failed),
      .waits_o(read_waits),
      .axi_arvalid_o(axi_o.arvalid),
      .axi_arready_i(axi_i.arready),
      .axi_araddr_o(axi_o.araddr),
      .axi_arlen_o(axi_o.arlen),
      .axi_rvalid_i(axi_i.rvalid),
      .axi_rready_o(axi_o.rready),
      .axi_rdata_i(axi_i.rdata),
      .axi_rresp_i(axi_i.rresp),
      .axi_rlast_i(axi_i.rlast)
    );
  end else begin : gen_single
    assign axi_o.arlen = '0;
    rl_ddr_read #(
      .DataW(DataW),
      .Bulk(Bulk)
    ) u_ddr_read (
      .clk_ddr_i,
      .rst_ddr_ni,
      .command_valid_i(command_out_valid),
      .command_ready_o(command_out_ready),
      .command_i(command_out),
      .queue_room_i(data_room),
      .queue_word_o(data_word),
      .queue_data_o(data),
      .queue_commit_o(data_commit),
      .queue_desc_o(data_desc),
      .stream_i(load_i.stream.run),
      .stream_job_i(load_i.stream.job),
      .stream_stop_i(load_i.stream.stop),
      .stream_done_o(load_o.stream.done),
      .stream_room_i(load_i.stream.room),
      .stream_word_o(load_o.stream.word),
      .stream_data_o,
      .stream_commit_o(load_o.stream.commit),
      .stream_last_o(load_o.stream.last),
      .digest_req_valid_i(load_i.digest.valid),
      .digest_req_ready_o(load_o.digest.ready),
      .digest_req_beat_i(load_i.digest.beat),
      .digest_data_valid_o(load_o.digest.valid),
      .digest_data_o(load_o.digest.data),
      .failed_o(read_failed),
      .waits_o(read_waits),
      .axi_arvalid_o(axi_o.arvalid),
      .axi_arready_i(axi_i.arready),
      .axi_araddr_o(axi_o.araddr),
      .axi_rvalid_i(axi_i.rvalid),
      .axi_rready_o(axi_o.rready),
      .axi_rdata_i(axi_i.rdata),
      .axi_rresp_i(axi_i.rresp)
    );
    logic unused;
    assign unused = axi_i.rlast;
  end
  rl_frame_queue #(
    .DataW(DataW),
    .Words(ReadWords),
    .FrameWords(ReadRoom + 8 + Ahead),
    .DescW($bits(read_desc_t)),
    .Frames(32),
    .Reserves(1'b1)
  ) u_read_queue (
    .clk_wr_i(clk_ddr_i),
    .rst_wr_ni(rst_ddr_ni),
    .room_o(data_room),
    .word_i(data_word),
    .data_i(data),
    .commit_i(data_commit),
    .desc_i(data_desc),
    .rollback_i(1'b0),
    .clk_rd_i(clk_net_i),
    .rst_rd_ni(rst_net_ni),
    .valid_o(fetched_o.valid),
    .desc_o(fetched_o.desc),
    .done_i(fetched_take_i.done),
    .take_i(fetched_take_i.take),
    .data_o(fetched_data_o),
    .ready_o(fetched_o.ready)
  );

  logic unused;
  assign unused = ^{unused_data, axi_i.bid, axi_i.rid};
endmodule
