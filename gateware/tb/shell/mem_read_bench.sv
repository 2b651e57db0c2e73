// rl_mem_read, rl_ddr_read and rl_tx with the queues between them, and the bus under the names that
// cocotbext-axi looks for.
module mem_read_bench
  import rl_shell_pkg::*;
#(
  parameter int unsigned DataW = 64,
  parameter int unsigned Bulk = 1472,
  parameter int unsigned Reads = 512
) (
  input  logic         clk_net,
  input  logic         rst_net_n,
  input  logic         clk_ddr,
  input  logic         rst_ddr_n,
  input  logic         clk_cfg,
  input  logic         rst_cfg_n,
  input  rx_beat_t        rx_beat,
  output logic         divert,
  output logic [7:0]   divert_reason,
  input  addr_t        memory,
  input  logic         flush,
  output logic         idle,
  input  logic         fw_valid,
  output logic         fw_ready,
  input  logic         mem_write_busy,
  input  logic [7:0]   stored,
  input  logic [7:0]   written_gray,
  output logic         read,
  output logic [13:0]  read_bytes,
  output logic         drop_queue,
  output logic [31:0]  frame_count,  // Events since the reset, and the bytes that go with them.
  output logic [31:0]  frame_bytes,
  output logic [31:0]  read_count,
  output logic [31:0]  read_bytes_sum,
  output logic [31:0]  drop_count,
  output logic [31:0]  kept_count,

  input  logic         halt,
  input  logic         cpu_write,
  input  logic [10:0]  cpu_addr,
  input  logic [31:0]  cpu_wdata,
  output logic [31:0]  cpu_rdata,
  input  logic         send,
  input  logic         send_slot,
  input  logic [11:0]  send_bytes,
  output logic [1:0]   slot_busy,
  input  logic         announce_valid,
  output logic         announce_ready,
  input  announcement_t announce,
  output logic         cpu_fetch_done,
  output logic         tx_valid,
  output logic [DataW-1:0] tx_data,
  output logic [DataW/8-1:0] tx_keep,
  output logic         tx_last,
  input  logic         tx_ready,
  output logic         tx_frame,
  output logic [13:0]  tx_frame_bytes,

  input  logic         stream,
  input  stream_t      stream_job,
  input  logic         stream_stop,
  output logic         stream_done,
  output logic         words_valid,
  input  logic         words_ready,
  output logic [63:0]  words_data,
  output logic         words_last,
  input  logic         digest_req_valid,
  output logic         digest_req_ready,
  input  beat_t        digest_req_beat,
  output logic         digest_data_valid,
  output logic [511:0] digest_data,
  output logic         failed,

  output logic [0:0]   axi_arid,
  output addr_t        axi_araddr,
  output logic [7:0]   axi_arlen,
  output logic [2:0]   axi_arsize,
  output logic [1:0]   axi_arburst,
  output logic         axi_arvalid,
  input  logic         axi_arready,
  input  logic [0:0]   axi_rid,
  input  logic [511:0] axi_rdata,
  input  logic [1:0]   axi_rresp,
  input  logic         axi_rlast,
  input  logic         axi_rvalid,
  output logic         axi_rready
);
  localparam int unsigned FrameWords = (8 * Bulk + DataW - 1) / DataW;
  localparam int unsigned QueueWords = (DataW > 128 ? 2 : 1) * 65536 * (Bulk > 4096 ? 2 : 1) / DataW;
  localparam int unsigned Room = DataW > 64 ? FrameWords + 32768 / DataW : 3 * FrameWords;

  divert_reason_e reason;
  logic head_valid, head_ready, head_out_valid, head_out_ready, fetched;
  logic [63:0] head, head_out;
  logic command_valid, command_ready, command_out_valid, command_out_ready;
  mem_read_command_t command, command_out;
  assign divert_reason = reason;

  // As the analyzer says where the address lies.
  logic hosts, last_page;
  assign hosts = rx_beat.head.addr >= rl_wire_pkg::RolePrivate && rx_beat.head.addr < 64'(memory);
  assign last_page = rx_beat.head.addr[39:16] == memory[39:16] - 1'b1;

  // Room for the heads of all frames that may be under way.
  always_ff @(posedge clk_net) if (rst_net_n) HeadsHaveRoom_A : assert (!head_valid || head_ready);

  logic [7:0] written;
  rl_count_sync u_written (
    .clk_i(clk_net),
    .rst_ni(rst_net_n),
    .gray_i(written_gray),
    .count_o(written)
  );
  rl_mem_read #(
    .Bulk(Bulk),
    .Reads(Reads)
  ) u_mem_read (
    .clk_net_i(clk_net),
    .rst_net_ni(rst_net_n),
    .rx_beat_i(rx_beat),
    .hosts_i(hosts),
    .last_page_i(last_page),
    .divert_o(divert),
    .divert_reason_o(reason),
    .flush_i(flush),
    .idle_o(idle),
    .fw_valid_i(fw_valid),
    .fw_ready_o(fw_ready),
    .head_we_i(cpu_write && cpu_addr[10:9] == 2'd3),
    .head_addr_i(cpu_addr[8:0]),
    .head_wdata_i(cpu_wdata),
    .mem_write_busy_i(mem_write_busy),
    .stored_i(stored),
    .written_i(written),
    .command_valid_o(command_valid),
    .command_ready_i(command_ready),
    .command_o(command),
    .head_valid_o(head_valid),
    .head_o(head),
    .fetched_i(fetched),
    .read_o(read),
    .read_bytes_o(read_bytes),
    .drop_queue_o(drop_queue)
  );

  logic [6:0] unused_count;
  rl_fifo #(
    .Width(64),
    .Depth(64),
    .Block(1'b1)
  ) u_heads (
    .clk_i(clk_net),
    .rst_ni(rst_net_n),
    .wvalid_i(head_valid),
    .wready_o(head_ready),
    .wdata_i(head),
    .rvalid_o(head_out_valid),
    .rready_i(head_out_ready),
    .rdata_o(head_out),
    .count_o(unused_count)
  );

  rl_fifo_async #(
    .Width($bits(mem_read_command_t)),
    .Depth(4)
  ) u_commands (
    .clk_wr_i(clk_net),
    .rst_wr_ni(rst_net_n),
    .wvalid_i(command_valid),
    .wready_o(command_ready),
    .wspare_o(),
    .wdata_i(command),
    .clk_rd_i(clk_ddr),
    .rst_rd_ni(rst_ddr_n),
    .rvalid_o(command_out_valid),
    .rready_i(command_out_ready),
    .rdata_o(command_out)
  );

  logic queue_room, queue_word, queue_commit, data_valid, data_done, data_take, data_ready;
  logic [DataW-1:0] queue_data, data, stream_data, wide_word;
  read_desc_t queue_desc, data_desc;
  logic stream_room, stream_word, stream_commit, stream_last, words_done;
  logic [2:0] words_at;

  if (DataW > 64) begin : gen_bursts
    rl_ddr_read_bursts #(
      .DataW(DataW),
      .Bulk(Bulk),
      .Room(Room)
    ) u_read (
      .clk_ddr_i(clk_ddr),
      .rst_ddr_ni(rst_ddr_n),
      .command_valid_i(command_out_valid),
      .command_ready_o(command_out_ready),
      .command_i(command_out),
      .queue_room_i(queue_room),
      .queue_word_o(queue_word),
      .queue_data_o(queue_data),
      .queue_commit_o(queue_commit),
      .queue_desc_o(queue_desc),
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
      .failed_o(failed),
      .axi_arvalid_o(axi_arvalid),
      .axi_arready_i(axi_arready),
      .axi_araddr_o(axi_araddr),
      .axi_arlen_o(axi_arlen),
      .axi_rvalid_i(axi_rvalid),
      .axi_rready_o(axi_rready),
      .axi_rdata_i(axi_rdata),
      .axi_rresp_i(axi_rresp),
      .axi_rlast_i(axi_rlast)
    );
  end else begin : gen_single
    assign axi_arlen = '0;
    rl_ddr_read #(
      .DataW(DataW),
      .Bulk(Bulk)
    ) u_read (
      .clk_ddr_i(clk_ddr),
      .rst_ddr_ni(rst_ddr_n),
      .command_valid_i(command_out_valid),
      .command_ready_o(command_out_ready),
      .command_i(command_out),
      .queue_room_i(queue_room),
      .queue_word_o(queue_word),
      .queue_data_o(queue_data),
      .queue_commit_o(queue_commit),
      .queue_desc_o(queue_desc),
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
      .failed_o(failed),
      .axi_arvalid_o(axi_arvalid),
      .axi_arready_i(axi_arready),
      .axi_araddr_o(axi_araddr),
      .axi_rvalid_i(axi_rvalid),
      .axi_rready_o(axi_rready),
      .axi_rdata_i(axi_rdata),
      .axi_rresp_i(axi_rresp)
    );
  end

  rl_frame_queue #(
    .DataW(DataW),
    .Words(QueueWords),
    .FrameWords(Room + 16),
    .DescW($bits(read_desc_t)),
    .Frames(32),
    .Reserves(1'b1)
  ) u_data (
    .clk_wr_i(clk_ddr),
    .rst_wr_ni(rst_ddr_n),
    .room_o(queue_room),
    .word_i(queue_word),
    .data_i(queue_data),
    .commit_i(queue_commit),
    .desc_i(queue_desc),
    .rollback_i(1'b0),
    .clk_rd_i(clk_net),
    .rst_rd_ni(rst_net_n),
    .valid_o(data_valid),
    .desc_o(data_desc),
    .done_i(data_done),
    .take_i(data_take),
    .data_o(data),
    .ready_o(data_ready)
  );

  rl_frame_queue #(
    .DataW(DataW),
    .Words(256 * 64 / DataW),
    .FrameWords(48 * 64 / DataW),
    .DescW(1),
    .Frames(32),
    .Reserves(1'b1)
  ) u_stream (
    .clk_wr_i(clk_ddr),
    .rst_wr_ni(rst_ddr_n),
    .room_o(stream_room),
    .word_i(stream_word),
    .data_i(stream_data),
    .commit_i(stream_commit),
    .desc_i(stream_last),
    .rollback_i(1'b0),
    .clk_rd_i(clk_cfg),
    .rst_rd_ni(rst_cfg_n),
    .valid_o(),
    .desc_o(words_last),
    .done_i(words_done),
    .take_i(wide_take),
    .data_o(wide_word),
    .ready_o(words_valid)
  );
  logic wide_take;
  rl_queue_narrow #(
    .DataW(DataW)
  ) u_words (
    .clk_i(clk_cfg),
    .rst_ni(rst_cfg_n),
    .data_i(wide_word),
    .take_o(wide_take),
    .data_o(words_data),
    .take_i(words_valid && words_ready),
    .done_i(words_done)
  );
  assign words_done = words_valid && words_ready && words_at == '1;
  always_ff @(posedge clk_cfg) begin
    if (!rst_cfg_n || words_done) words_at <= '0;
    else if (words_valid && words_ready) words_at <= words_at + 1'b1;
  end

  rl_transmit #(
    .DataW(DataW),
    .Bulk(Bulk)
  ) u_tx (
    .clk_net_i(clk_net),
    .rst_net_ni(rst_net_n),
    .halt_i(halt),
    .cpu_write_i(cpu_write),
    .cpu_addr_i(cpu_addr),
    .cpu_wdata_i(cpu_wdata),
    .cpu_rdata_o(cpu_rdata),
    .send_i(send),
    .send_slot_i(send_slot),
    .send_bytes_i(send_bytes),
    .slot_busy_o(slot_busy),
    .announce_valid_i(announce_valid),
    .announce_ready_o(announce_ready),
    .announce_i(announce),
    .head_valid_i(head_out_valid),
    .head_ready_o(head_out_ready),
    .head_i(head_out),
    .data_valid_i(data_valid),
    .data_desc_i(data_desc),
    .data_done_o(data_done),
    .data_take_o(data_take),
    .data_i(data),
    .data_ready_i(data_ready),
    .fetched_o(fetched),
    .cpu_fetch_done_o(cpu_fetch_done),
    .tx_valid_o(tx_valid),
    .tx_data_o(tx_data),
    .tx_keep_o(tx_keep),
    .tx_last_o(tx_last),
    .tx_ready_i(tx_ready),
    .sessions_i('0),
    .key_i('0),
    .key_ready_o(),
    .busy_o(),
    .frame_o(tx_frame),
    .frame_bytes_o(tx_frame_bytes)
  );

  always_ff @(posedge clk_net) begin
    frame_count <= frame_count + 32'(tx_frame);
    if (tx_frame) frame_bytes <= frame_bytes + 32'(tx_frame_bytes);
    read_count <= read_count + 32'(read);
    if (read) read_bytes_sum <= read_bytes_sum + 32'(read_bytes);
    drop_count <= drop_count + 32'(drop_queue);
    kept_count <= kept_count + 32'(cpu_fetch_done);
    if (!rst_net_n) begin
      frame_count <= '0;
      frame_bytes <= '0;
      read_count <= '0;
      read_bytes_sum <= '0;
      drop_count <= '0;
      kept_count <= '0;
    end
  end

  assign axi_arid = '0;
  assign axi_arsize = 3'd6;
  assign axi_arburst = 2'b01;

  logic unused;
  assign unused = ^{axi_rid, axi_rlast};
endmodule
