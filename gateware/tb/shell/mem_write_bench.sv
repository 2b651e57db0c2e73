// rl_mem_write and rl_ddr_write with the memory queue between them, and the bus under the names that
// cocotbext-axi looks for.
module mem_write_bench
  import rl_shell_pkg::*;
#(
  parameter int unsigned DataW = 64,
  parameter int unsigned Bulk = 1472
) (
  input  logic         clk_net,
  input  logic         rst_net_n,
  input  logic         clk_ddr,
  input  logic         rst_ddr_n,
  input  rx_beat_t        rx_beat,
  output logic         room,
  output logic [7:0]   stored,
  input  logic         reset_window,
  output logic [31:0]  next,
  input  logic [2:0]   bits_addr,
  output logic [31:0]  bits,
  input  logic         insert,
  input  logic [11:0]  insert_seq,
  input  logic         insert_ack_now,
  output logic         insert_busy,
  output logic [1:0]   insert_result,
  input  logic [15:0]  time_us,
  output logic         ack_waits,
  output logic [15:0]  ack_late,
  input  logic [15:0]  ack_every,
  input  logic [15:0]  ack_delay,
  output logic         ack_due,
  input  logic         acked,
  output logic         write,
  output logic [13:0]  write_bytes,
  output logic         duplicate,
  output logic         beyond,
  output logic [31:0]  write_count,  // Events since the reset.
  output logic [31:0]  duplicate_count,
  output logic [31:0]  beyond_count,
  output logic [31:0]  value_count,
  input  logic         image_valid,
  input  write_desc_t       image_desc,
  output logic         image_done,
  output logic         image_take,
  input  logic [DataW-1:0] image_data,
  input  logic         value_valid,
  output logic         value_ready,
  input  addr_t        value_addr,
  input  logic [63:0]  value_data,
  input  logic         value_more,
  output logic         value_written,
  input  logic         scrub,
  input  beat_t        scrub_first,
  input  beat_t        scrub_last,
  output logic         scrub_done,
  output logic [7:0]   mem_written_gray,
  output logic [7:0]   image_written_gray,
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
  localparam int unsigned Lanes = DataW / 64;
  localparam int unsigned FrameWords = (8 * Bulk + DataW - 1) / DataW;
  localparam int unsigned QueueWords = 65536 / DataW;

  // Words of 64 bits become such of the datapath; the last one of a frame may be part empty.
  rx_beat_t beat;
  logic [Lanes-1:0][63:0] gathered_q, gathered;
  logic [15:0] at_q;  // Words of the payload before this one.
  logic complete;
  assign complete = (at_q + 1'b1) % 16'(Lanes) == 0 || 8 * (at_q + 1'b1) >= rx_beat.head.length;
  always_comb begin
    gathered = gathered_q;
    gathered[at_q%16'(Lanes)] = rx_beat.data;
    beat = rx_beat;
    beat.payload = rx_beat.payload && complete;
    beat.word = beat.payload;
  end
  always_ff @(posedge clk_net) begin
    if (!rst_net_n || rx_beat.done || rx_beat.abort) at_q <= '0;
    else if (rx_beat.payload) at_q <= at_q + 1'b1;
    if (rx_beat.payload) gathered_q <= gathered;
  end

  logic queue_room, queue_word, queue_commit, queue_rollback;
  logic [DataW-1:0] mem_data;
  write_desc_t queue_desc, mem_desc;
  logic mem_valid, mem_done, mem_take, mem_ready;

  logic verdict_valid, verdict, judged, stays, queue_valid;
  rl_mem_write #(
    .Line(DataW > 64)
  ) u_mem_write (
    .clk_net_i(clk_net),
    .rst_net_ni(rst_net_n),
    .rx_beat_i(beat),
    .room_o(room),
    .queue_room_i(queue_room),
    .queue_word_o(queue_word),
    .queue_data_o(),
    .queue_commit_o(queue_commit),
    .queue_desc_o(queue_desc),
    .queue_rollback_o(queue_rollback),
    .verdict_valid_o(verdict_valid),
    .verdict_o(verdict),
    .stored_o(stored),
    .busy_o(),
    .reset_i(reset_window),
    .next_o(next),
    .bits_addr_i(bits_addr),
    .bits_o(bits),
    .insert_i(insert),
    .insert_seq_i(insert_seq),
    .insert_ack_now_i(insert_ack_now),
    .insert_busy_o(insert_busy),
    .insert_result_o(insert_result),
    .time_us_i(time_us),
    .ack_waits_o(ack_waits),
    .ack_late_o(ack_late),
    .ack_every_i(ack_every),
    .ack_delay_i(ack_delay),
    .ack_due_o(ack_due),
    .acked_i(acked),
    .write_o(write),
    .write_bytes_o(write_bytes),
    .duplicate_o(duplicate),
    .beyond_o(beyond)
  );

  rl_frame_queue #(
    .DataW(DataW),
    .Words(QueueWords),
    .FrameWords(FrameWords + 8),
    .DescW($bits(write_desc_t)),
    .Frames(DataW > 64 ? 32 : 16),
    // A wide word is whole some cycles after the look for room.
    .Reserves(DataW > 64)
  ) u_queue (
    .clk_wr_i(clk_net),
    .rst_wr_ni(rst_net_n),
    .room_o(queue_room),
    .word_i(queue_word),
    .data_i(gathered),
    .commit_i(queue_commit),
    .desc_i(queue_desc),
    .rollback_i(queue_rollback),
    .clk_rd_i(clk_ddr),
    .rst_rd_ni(rst_ddr_n),
    .valid_o(queue_valid),
    .desc_o(mem_desc),
    .done_i(mem_done),
    .take_i(mem_take),
    .data_o(mem_data),
    .ready_o(mem_ready)
  );

  // A verdict for each frame of the queue, with wide words.
  rl_fifo_async #(
    .Width(1),
    .Depth(32)
  ) u_verdicts (
    .clk_wr_i(clk_net),
    .rst_wr_ni(rst_net_n),
    .wvalid_i(verdict_valid),
    .wready_o(),
    .wspare_o(),
    .wdata_i(verdict),
    .clk_rd_i(clk_ddr),
    .rst_rd_ni(rst_ddr_n),
    .rvalid_o(judged),
    .rready_i(mem_done),
    .rdata_o(stays)
  );
  assign mem_valid = queue_valid && (DataW == 64 || judged);
  if (DataW == 512) begin : gen_beats
    rl_ddr_write_beats #(
      .Bulk(Bulk)
    ) u_write (
      .clk_ddr_i(clk_ddr),
      .rst_ddr_ni(rst_ddr_n),
      .mem_valid_i(mem_valid),
      .mem_desc_i(mem_desc),
      .mem_skip_i(DataW > 64 && !stays),
      .mem_done_o(mem_done),
      .mem_take_o(mem_take),
      .mem_data_i(mem_data),
      .mem_ready_i(mem_ready),
      .image_valid_i(image_valid),
      .image_desc_i(image_desc),
      .image_done_o(image_done),
      .image_take_o(image_take),
      .image_data_i(image_data),
      .image_ready_i(image_valid),
      .value_valid_i(value_valid),
      .value_ready_o(value_ready),
      .value_addr_i(value_addr),
      .value_data_i(value_data),
      .value_more_i(value_more),
      .value_written_o(value_written),
      .scrub_i(scrub),
      .scrub_first_i(scrub_first),
      .scrub_last_i(scrub_last),
      .scrub_done_o(scrub_done),
      .mem_written_gray_o(mem_written_gray),
      .image_written_gray_o(image_written_gray),
      .failed_o(failed),
      .axi_awvalid_o(axi_awvalid),
      .axi_awready_i(axi_awready),
      .axi_awaddr_o(axi_awaddr),
      .axi_awlen_o(axi_awlen),
      .axi_wvalid_o(axi_wvalid),
      .axi_wready_i(axi_wready),
      .axi_wdata_o(axi_wdata),
      .axi_wstrb_o(axi_wstrb),
      .axi_wlast_o(axi_wlast),
      .axi_bvalid_i(axi_bvalid),
      .axi_bready_o(axi_bready),
      .axi_bresp_i(axi_bresp)
    );
  end else begin : gen_lanes
    assign axi_awlen = '0;
    assign axi_wlast = 1'b1;
    rl_ddr_write #(
      .DataW(DataW),
      .Bulk(Bulk)
    ) u_write (
      .clk_ddr_i(clk_ddr),
      .rst_ddr_ni(rst_ddr_n),
      .mem_valid_i(mem_valid),
      .mem_desc_i(mem_desc),
      .mem_skip_i(DataW > 64 && !stays),
      .mem_done_o(mem_done),
      .mem_take_o(mem_take),
      .mem_data_i(mem_data),
      .mem_ready_i(mem_ready),
      .image_valid_i(image_valid),
      .image_desc_i(image_desc),
      .image_done_o(image_done),
      .image_take_o(image_take),
      .image_data_i(image_data),
      .image_ready_i(image_valid),
      .value_valid_i(value_valid),
      .value_ready_o(value_ready),
      .value_addr_i(value_addr),
      .value_data_i(value_data),
      .value_more_i(value_more),
      .value_written_o(value_written),
      .scrub_i(scrub),
      .scrub_first_i(scrub_first),
      .scrub_last_i(scrub_last),
      .scrub_done_o(scrub_done),
      .mem_written_gray_o(mem_written_gray),
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
  end

  always_ff @(posedge clk_net) begin
    write_count <= write_count + 32'(write);
    duplicate_count <= duplicate_count + 32'(duplicate);
    beyond_count <= beyond_count + 32'(beyond);
    if (!rst_net_n) begin
      write_count <= '0;
      duplicate_count <= '0;
      beyond_count <= '0;
    end
  end
  always_ff @(posedge clk_ddr) begin
    value_count <= value_count + 32'(value_written);
    if (!rst_ddr_n) value_count <= '0;
  end

  assign axi_awid = '0;
  assign axi_awsize = 3'd6;
  assign axi_awburst = 2'b01;

  logic unused;
  assign unused = axi_bid;
endmodule
