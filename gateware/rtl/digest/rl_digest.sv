// BLAKE3 over memory, a level of the tree at a time (see digest_job_t): 64 bytes in 7 cycles.
//
// Jobs run in the order given, the next one's beats already on their way while one ends. Each
// level's values pair up to those of the next and an odd one is carried over: BLAKE3's tree.
// `root` belongs to the job that has one value to give: one chunk, or one pair.
module rl_digest
  import rl_shell_pkg::*;
(
  input  logic         clk_net_i,
  input  logic         rst_net_ni,
  input  logic         job_valid_i,
  output logic         job_ready_o,
  input  digest_job_t  job_i,        // `chunk` is a multiple of 8; of parents, `length` one of 32.
  output logic         idle_o,       // All jobs are done and their values in DDR.
  output logic [255:0] value_o,      // The last value; byte 0 is [7:0]. Stands still when idle.

  input  logic         clk_ddr_i,
  input  logic         rst_ddr_ni,

  output logic         req_valid_o,  // Never more requests than answers can be stored.
  input  logic         req_ready_i,
  output beat_t        req_beat_o,
  input  logic         data_valid_i, // Answers in the order of the requests.
  input  beat_data_t   data_i,

  output logic         put_valid_o,  // Values, each as four words.
  input  logic         put_ready_i,
  output addr_t        put_addr_o,   // Of the value, throughout its words.
  output logic [63:0]  put_data_o,
  output logic         put_more_o,   // With a value's last word: the next one comes at once and belongs behind it.
  input  logic         put_written_i // One more run of such values is in memory.
);
  import rl_blake3_pkg::*;
  import rl_digest_pkg::*;

  // -- jobs: accepted in net, counted when done in ddr
  logic job_valid, job_ready, job_done, unused_spare;
  digest_job_t job;
  rl_fifo_async #(
    .Width($bits(digest_job_t)),
    .Depth(4)
  ) u_jobs (
    .clk_wr_i (clk_net_i),
    .rst_wr_ni(rst_net_ni),
    .wvalid_i (job_valid_i),
    .wready_o (job_ready_o),
    .wspare_o(unused_spare),
    .wdata_i  (job_i),
    .clk_rd_i (clk_ddr_i),
    .rst_rd_ni(rst_ddr_ni),
    .rvalid_o (job_valid),
    .rready_i (job_ready),
    .rdata_o  (job)
  );

  // 4 in the queue and up to 7 started are less than 16.
  logic [3:0] given_q, done_q, done_d, done_gray_q, done_gray;
  assign done_d = done_q + 4'(job_done);
  always_ff @(posedge clk_ddr_i) begin
    if (!rst_ddr_ni) begin
      done_q <= '0;
      done_gray_q <= '0;
    end else begin
      done_q <= done_d;
      done_gray_q <= done_d ^ (done_d >> 1);
    end
  end
  rl_gray_sync #(
    .Width(4)
  ) u_done (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .gray_i(done_gray_q),
    .gray_o(done_gray)
  );
  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) given_q <= '0;
    else if (job_valid_i && job_ready_o) given_q <= given_q + 1'b1;
  end
  assign idle_o = (given_q ^ (given_q >> 1)) == done_gray;

  // -- from memory through the ring and back
  logic target_valid, target_ready, ask, beats_room, head_valid, pop, values_room;
  logic [3:0] take;
  beat_t target;
  about_t about, head;
  command_t command;
  block_t   block;
  value_t   value;
  logic put_q, ends_job_q, copy_q;

  rl_digest_feed u_feed (
    .clk_i(clk_ddr_i),
    .rst_ni(rst_ddr_ni),
    .job_valid_i(job_valid),
    .job_ready_o(job_ready),
    .job_i(job),
    .job_done_i(job_done),
    .target_valid_o(target_valid),
    .target_ready_i(target_ready),
    .target_o(target),
    .req_valid_o,
    .req_ready_i,
    .req_beat_o,
    .room_i(beats_room),
    .ask_o(ask),
    .about_o(about)
  );

  rl_digest_beats u_beats (
    .clk_i(clk_ddr_i),
    .rst_ni(rst_ddr_ni),
    .room_o(beats_room),
    .ask_i(ask),
    .about_i(about),
    .data_valid_i,
    .data_i,
    .head_valid_o(head_valid),
    .head_o(head),
    .pop_i(pop),
    .take_i((take & {4{command.step}}) | {4{copy_q}}),
    .block_o(block)
  );

  rl_digest_sequence u_sequence (
    .clk_i(clk_ddr_i),
    .rst_ni(rst_ddr_ni),
    .head_valid_i(head_valid),
    .head_i(head),
    .pop_o(pop),
    .room_i(values_room),
    .command_o(command)
  );

  rl_blake3 u_blake3 (
    .clk_i  (clk_ddr_i),
    .rst_ni (rst_ddr_ni),
    .step_i (command.step),
    .turn0_i(command.turn0),
    .enter_i(command.enter),
    .entry_i(command.entry),
    .keep_i(command.keep),
    .take_o (take),
    .block_i(block),
    .value_o(value)
  );

  // A beat is copied only when the ring is empty: then all groups of words show the same beat.
  always_ff @(posedge clk_ddr_i) begin
    if (!rst_ddr_ni) begin
      put_q <= 1'b0;
      copy_q <= 1'b0;
    end else begin
      put_q <= command.put;
      copy_q <= command.copy;
    end
    ends_job_q <= command.ends_job;
  end

  rl_digest_put u_put (
    .clk_i(clk_ddr_i),
    .rst_ni(rst_ddr_ni),
    .target_valid_i(target_valid),
    .target_ready_o(target_ready),
    .target_i(target),
    .room_o(values_room),
    .valid_i(put_q),
    .value_i(copy_q ? block[7:0] : value),
    .ends_job_i(ends_job_q),
    .put_valid_o,
    .put_ready_i,
    .put_addr_o,
    .put_data_o,
    .put_more_o,
    .put_written_i,
    .job_done_o(job_done),
    .value_o
  );
endmodule
