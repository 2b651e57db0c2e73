// rl_image_write and rl_ddr_write with the configuration queue between them, and the bus under the names that
// cocotbext-axi looks for.
module image_write_bench
  import rl_shell_pkg::*;
#(
  parameter int unsigned Bulk = 1472,
  parameter int unsigned Chunks = 1 << 16,
  parameter int unsigned Blocks = 16,
  parameter bit          Quick = 1'b0,
  localparam int unsigned IndexW = $clog2(Chunks),
  localparam int unsigned RowsW = IndexW > 14 ? IndexW - 2 : 12
) (
  input  logic              clk_net,
  input  logic              rst_net_n,
  input  logic              clk_ddr,
  input  logic              rst_ddr_n,
  input  rx_beat_t             rx_beat,
  output logic              room,
  input  logic              receiving,
  input  logic              start,
  input  beat_t             base,
  input  logic [IndexW-1:0] last,
  input  logic [13:0]       last_length,
  input  logic [RowsW-1:0]  empty,
  input  logic [13:0]       chunk,
  output logic              busy,
  output logic [IndexW:0]   staged,
  input  logic [IndexW-6:0] bits_addr,
  output logic [31:0]       bits,
  output logic              block_valid,
  output logic [11:0]       block,
  input  logic              block_pop,
  output logic              chunk_event,
  output logic              duplicate,
  output logic              malformed,
  output logic [31:0]       chunk_count,  // Events since the reset.
  output logic [31:0]       duplicate_count,
  output logic [31:0]       malformed_count,
  output logic         failed,
  output logic [0:0]   axi_awid,
  output addr_t        axi_awaddr,
  output logic [7:0]   axi_awlen,
  output logic [2:0]   axi_awsize,
  output logic [1:0]   axi_awburst,
  output logic         axi_awvalid,
  input  logic         axi_awready,
  output logic [511:0] axi_wdata,
  output logic [63:0]  axi_wstrb,
  output logic         axi_wlast,
  output logic         axi_wvalid,
  input  logic         axi_wready,
  input  logic [0:0]   axi_bid,
  input  logic [1:0]   axi_bresp,
  input  logic         axi_bvalid,
  output logic         axi_bready
);
  localparam int unsigned FrameWords = (Bulk + 7) / 8;
  localparam int unsigned QueueWords = FrameWords > 256 ? 8192 : 1024;

  logic queue_room, queue_word, queue_commit, queue_rollback;
  logic [63:0] queue_data, image_data;
  write_desc_t queue_desc, image_desc;
  logic image_valid, image_done, image_take, image_ready;
  logic [7:0] image_written_gray;

  rl_image_write #(
    .Bulk(Bulk),
    .Chunks(Chunks),
    .Blocks(Blocks),
    .Quick(Quick)
  ) u_image_write (
    .clk_net_i(clk_net),
    .rst_net_ni(rst_net_n),
    .rx_beat_i(rx_beat),
    .room_o(room),
    .receiving_i(receiving),
    .queue_room_i(queue_room),
    .queue_word_o(queue_word),
    .queue_data_o(queue_data),
    .queue_commit_o(queue_commit),
    .queue_desc_o(queue_desc),
    .queue_rollback_o(queue_rollback),
    .written_gray_i(image_written_gray),
    .start_i(start),
    .base_i(base),
    .last_i(last),
    .last_length_i(last_length),
    .empty_i(empty),
    .chunk_i(chunk),
    .busy_o(busy),
    .staged_o(staged),
    .bits_addr_i(bits_addr),
    .bits_o(bits),
    .block_valid_o(block_valid),
    .block_o(block),
    .block_pop_i(block_pop),
    .chunk_o(chunk_event),
    .duplicate_o(duplicate),
    .malformed_o(malformed)
  );

  rl_frame_queue #(
    .Words(QueueWords),
    .FrameWords(FrameWords),
    .DescW($bits(write_desc_t)),
    .Frames(16)
  ) u_queue (
    .clk_wr_i(clk_net),
    .rst_wr_ni(rst_net_n),
    .room_o(queue_room),
    .word_i(queue_word),
    .data_i(queue_data),
    .commit_i(queue_commit),
    .desc_i(queue_desc),
    .rollback_i(queue_rollback),
    .clk_rd_i(clk_ddr),
    .rst_rd_ni(rst_ddr_n),
    .valid_o(image_valid),
    .desc_o(image_desc),
    .done_i(image_done),
    .take_i(image_take),
    .data_o(image_data),
    .ready_o(image_ready)
  );

  rl_ddr_write #(
    .Bulk(Bulk)
  ) u_write (
    .clk_ddr_i(clk_ddr),
    .rst_ddr_ni(rst_ddr_n),
    .mem_valid_i(1'b0),
    .mem_desc_i('0),
    .mem_done_o(),
    .mem_take_o(),
    .mem_data_i('0),
    .mem_ready_i(1'b0),
    .image_valid_i(image_valid),
    .image_desc_i(image_desc),
    .image_done_o(image_done),
    .image_take_o(image_take),
    .image_data_i(image_data),
    .image_ready_i(image_ready),
    .value_valid_i(1'b0),
    .value_ready_o(),
    .value_addr_i('0),
    .value_data_i('0),
    .value_more_i(1'b0),
    .value_written_o(),
    .scrub_i(1'b0),
    .scrub_first_i('0),
    .scrub_last_i('0),
    .scrub_done_o(),
    .mem_written_gray_o(),
    .image_written_gray_o(image_written_gray),
    .failed_o(failed),
    .axi_awvalid_o(axi_awvalid),
    .axi_awready_i(axi_awready),
    .axi_awaddr_o(axi_awaddr),
    .axi_wvalid_o(axi_wvalid),
    .axi_wready_i(axi_wready),
    .axi_wdata_o(axi_wdata),
    .axi_wstrb_o(axi_wstrb),
    .axi_bvalid_i(axi_bvalid),
    .axi_bready_o(axi_bready),
    .axi_bresp_i(axi_bresp)
  );

  always_ff @(posedge clk_net) begin
    chunk_count <= chunk_count + 32'(chunk_event);
    duplicate_count <= duplicate_count + 32'(duplicate);
    malformed_count <= malformed_count + 32'(malformed);
    if (!rst_net_n) begin
      chunk_count <= '0;
      duplicate_count <= '0;
      malformed_count <= '0;
    end
  end

  assign axi_awid = '0;
  assign axi_awlen = '0;
  assign axi_awsize = 3'd6;
  assign axi_awburst = 2'b01;
  assign axi_wlast = 1'b1;

  logic unused;
  assign unused = axi_bid;
endmodule
