// The way of an image: its data into memory, the digest of what has come, and the configuration port.
module rl_load
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
  import rl_control_pkg::*;
  import rl_config_pkg::*;
#(
  parameter int unsigned DataW = 64,         // Bits of frames' words.
  parameter int unsigned Bulk = 32'(BulkStandard),
  parameter int unsigned QueueWords = 1024,  // Of DataW bits.
  parameter int unsigned Ahead = 8,          // As in rl_memory.
  parameter int unsigned ChunksMax = 32'(ImageChunksMax),
  parameter int unsigned ConfigPatienceW = 20,  // Of rl_config_port.
  localparam int unsigned ChunkW = $clog2(ChunksMax)
) (
  input  logic                clk_net_i,
  input  logic                rst_net_ni,
  input  logic                clk_ddr_i,
  input  logic                rst_ddr_ni,
  input  logic                clk_cfg_i,
  input  logic                rst_cfg_ni,

  // -- net domain
  input  rx_beat_t            bulk_i,          // Words are beside it: rl_rx.
  input  logic [DataW-1:0]    bulk_data_i,
  input  logic                receiving_i,
  output logic                room_o,
  output chunk_event_t        chunk_event_o,
  output logic                busy_o,          // Something of a load is under way.
  // Firmware.
  input  image_write_ctl_t    image_i,
  output image_write_status_t image_o,
  input  logic                job_valid_i,
  output logic                job_ready_o,
  input  digest_job_t         job_i,
  output digest_status_t      digest_o,
  input  config_ctl_t         config_i,
  output config_status_t      config_o,
  // Two RAMs of a bit for each chunk, in words of 32: which are there, and which were reported missing.
  input  logic [ChunkW-6:0]   bits_addr_i,
  output logic [31:0]         have_o,
  input  logic                reported_we_i,
  input  logic [31:0]         reported_i,
  output logic [31:0]         reported_o,

  // -- ddr domain: rl_memory
  output write_queue_t        queue_o,
  output logic [DataW-1:0]    queue_data_o,
  input  queue_take_t         queue_take_i,
  input  logic [7:0]          written_gray_i,
  output load_req_t           memory_o,
  input  load_rsp_t           memory_i,
  input  logic [DataW-1:0]    stream_data_i,

  // -- cfg domain
  output config_req_t         port_o,
  input  config_rsp_t         port_i,
  input  local_req_t          local_i,
  output local_rsp_t          local_o
);
  // -- image data
  logic queue_room, queue_word, queue_commit, queue_rollback;
  logic [63:0] unused_data;  // It has a width of its own.
  write_desc_t queue_desc;
  rl_image_write #(
    .Bulk(Bulk),
    .Chunks(ChunksMax),
    .Blocks(512),  // The digest may lag behind; no chunk is dropped for that.
    .Quick(DataW > 64)
  ) u_image_write (
    .clk_net_i,
    .rst_net_ni,
    .rx_beat_i(bulk_i),
    .receiving_i,
    .room_o,
    .queue_room_i(queue_room),
    .queue_word_o(queue_word),
    .queue_data_o(unused_data),
    .queue_commit_o(queue_commit),
    .queue_desc_o(queue_desc),
    .queue_rollback_o(queue_rollback),
    .written_gray_i,
    .start_i(image_i.start),
    .base_i(image_i.base),
    .last_i(image_i.last[ChunkW-1:0]),
    .last_length_i(image_i.last_length),
    .chunk_i(image_i.chunk),
    .empty_i(image_i.empty[(ChunkW > 14 ? ChunkW - 2 : 12)-1:0]),
    .busy_o(image_o.busy),
    .staged_o(image_o.staged[ChunkW:0]),
    .bits_addr_i,
    .bits_o(have_o),
    .block_valid_o(image_o.block_valid),
    .block_o(image_o.block),
    .block_pop_i(image_i.block_pop),
    .chunk_o(chunk_event_o.stored),
    .duplicate_o(chunk_event_o.duplicate),
    .malformed_o(chunk_event_o.malformed)
  );
  if (ChunkW < 16) begin : gen_staged
    assign image_o.staged[16:ChunkW+1] = '0;
  end
  rl_frame_queue #(
    .DataW(DataW),
    .Words(QueueWords),
    .FrameWords((8 * Bulk + DataW - 1) / DataW + Ahead),
    .DescW($bits(write_desc_t)),
    .Frames(16)
  ) u_image_queue (
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
    .valid_o(queue_o.valid),
    .desc_o(queue_o.desc),
    .done_i(queue_take_i.done),
    .take_i(queue_take_i.take),
    .data_o(queue_data_o),
    .ready_o(queue_o.ready)
  );
  rl_ram #(
    .Width(32),
    .Depth(ChunksMax / 32)
  ) u_reported (
    .clk_wr_i(clk_net_i),
    .we_i(reported_we_i),
    .waddr_i(bits_addr_i),
    .wdata_i(reported_i),
    .clk_rd_i(clk_net_i),
    .re_i(1'b1),
    .raddr_i(bits_addr_i),
    .rdata_o(reported_o)
  );

  // -- digest
  logic [255:0] unused_value;  // The firmware reads it in DDR.
  // Its clocks rest while it has no job and has had none for some time.
  logic clk_digest_net, clk_digest_ddr, digest_awake;
  logic [7:0] digest_rest_q;
  assign digest_awake = !rst_net_ni || job_valid_i || !digest_o.idle;
  always_ff @(posedge clk_net_i) begin
    if (digest_awake) digest_rest_q <= '1;
    else if (digest_rest_q != 0) digest_rest_q <= digest_rest_q - 1'b1;
  end
  rl_clock_gate u_digest_net (
    .clk_i(clk_net_i),
    .enable_i(digest_awake || digest_rest_q != 0),
    .clk_o(clk_digest_net)
  );
  rl_clock_gate u_digest_ddr (
    .clk_i(clk_ddr_i),
    .enable_i(!rst_ddr_ni || digest_awake || digest_rest_q != 0),
    .clk_o(clk_digest_ddr)
  );
  rl_digest u_digest (
    .clk_net_i(clk_digest_net),
    .rst_net_ni,
    .job_valid_i,
    .job_ready_o,
    .job_i,
    .idle_o(digest_o.idle),
    .value_o(unused_value),
    .clk_ddr_i(clk_digest_ddr),
    .rst_ddr_ni,
    .req_valid_o(memory_o.digest.valid),
    .req_ready_i(memory_i.digest.ready),
    .req_beat_o(memory_o.digest.beat),
    .data_valid_i(memory_i.digest.valid),
    .data_i(memory_i.digest.data),
    .put_valid_o(memory_o.value.valid),
    .put_ready_i(memory_i.value.ready),
    .put_addr_o(memory_o.value.addr),
    .put_data_o(memory_o.value.data),
    .put_more_o(memory_o.value.more),
    .put_written_i(memory_i.value.written)
  );

  // -- configuration
  logic words_valid, words_done, words_take, words_ready, words_last, word_take;
  logic [63:0] word;
  logic [DataW-1:0] words_data;
  logic [15:0] unused_role;
  rl_frame_queue #(
    .DataW(DataW),
    .Words(256 * 64 / DataW),
    .FrameWords(48 * 64 / DataW),
    .DescW(1),
    .Frames(32),
    .Reserves(1'b1)
  ) u_words_queue (
    .clk_wr_i(clk_ddr_i),
    .rst_wr_ni(rst_ddr_ni),
    .room_o(memory_o.stream.room),
    .word_i(memory_i.stream.word),
    .data_i(stream_data_i),
    .commit_i(memory_i.stream.commit),
    .desc_i(memory_i.stream.last),
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
  rl_queue_narrow #(
    .DataW(DataW)
  ) u_words (
    .clk_i(clk_cfg_i),
    .rst_ni(rst_cfg_ni),
    .data_i(words_data),
    .take_o(words_take),
    .data_o(word),
    .take_i(word_take),
    .done_i(words_done)
  );
  rl_config_port #(
    .PatienceW(ConfigPatienceW)
  ) u_config_port (
    .clk_net_i,
    .rst_net_ni,
    .start_i(config_i.start),
    .stop_i(config_i.stop),
    .source_i(config_i.source),
    .last_i(config_i.last),
    .last_words_i(config_i.last_words),
    .busy_o(config_o.busy),
    .done_o(config_o.done),
    .failed_o(config_o.failed),
    .local_o(config_o.local_port),
    .error_o(config_o.code),
    .role_id_o(unused_role),
    .clk_ddr_i,
    .rst_ddr_ni,
    .stream_o(memory_o.stream.run),
    .stream_job_o(memory_o.stream.job),
    .stream_stop_o(memory_o.stream.stop),
    .stream_done_i(memory_i.stream.done),
    .clk_cfg_i,
    .rst_cfg_ni,
    .frame_valid_i(words_valid),
    .frame_last_i(words_last),
    .frame_done_o(words_done),
    .frame_take_o(word_take),
    .frame_data_i(word),
    .frame_ready_i(words_ready),
    .local_busy_i(local_i.busy),
    .local_granted_o(local_o.granted),
    .local_start_i(local_i.start),
    .local_stop_i(local_i.stop),
    .local_valid_i(local_i.valid),
    .local_ready_o(local_o.ready),
    .local_data_i(local_i.data),
    .cfg_start_o(port_o.start),
    .cfg_stop_o(port_o.stop),
    .cfg_valid_o(port_o.valid),
    .cfg_ready_i(port_i.ready),
    .cfg_data_o(port_o.data),
    .cfg_done_i(port_i.done),
    .cfg_error_i(port_i.error),
    .cfg_code_i(port_i.code),
    .cfg_role_i(port_i.role)
  );
  logic unused;
  assign unused = ^unused_data;
  assign busy_o = image_o.busy || image_o.block_valid || !digest_o.idle || config_o.busy;
endmodule
