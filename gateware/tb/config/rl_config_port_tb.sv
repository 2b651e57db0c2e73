// rl_config_port behind the queue from which the shell feeds it. The bench plays rl_ddr_read at the
// queue's writing side, the local channel, and what is configured.
module rl_config_port_tb
  import rl_shell_pkg::*;
#(
  parameter int unsigned PatienceW = 9
) (
  input  logic        clk_net_i,
  input  logic        rst_net_ni,
  input  logic        start_i,
  input  logic        stop_i,
  input  logic [33:0] source_i,
  input  logic [21:0] last_i,
  input  logic [3:0]  last_words_i,
  output logic        busy_o,
  output logic        done_o,
  output logic        failed_o,
  output logic        local_o,
  output logic [7:0]  error_o,
  output logic [15:0] role_id_o,

  input  logic        clk_ddr_i,
  input  logic        rst_ddr_ni,
  output logic        stream_o,
  output logic [33:0] stream_first_o,
  output logic [21:0] stream_last_o,
  output logic        stream_stop_o,
  input  logic        stream_done_i,
  output logic        room_o,
  input  logic        word_i,
  input  logic [63:0] data_i,
  input  logic        commit_i,
  input  logic        last_beat_i,     // With commit_i.

  input  logic        clk_cfg_i,
  input  logic        rst_cfg_ni,
  output logic        frame_valid_o,   // A beat is in the queue.
  input  logic        local_busy_i,
  output logic        local_granted_o,
  input  logic        local_start_i,
  input  logic        local_stop_i,
  input  logic        local_valid_i,
  output logic        local_ready_o,
  input  logic [31:0] local_data_i,
  output logic        cfg_start_o,
  output logic        cfg_stop_o,
  output logic        cfg_valid_o,
  input  logic        cfg_ready_i,
  output logic [31:0] cfg_data_o,
  input  logic        cfg_done_i,
  input  logic        cfg_error_i,
  input  logic [7:0]  cfg_code_i,
  input  logic [15:0] cfg_role_i
);
  logic done, take, ready, last_beat;
  logic [63:0] data;
  stream_t job;
  assign stream_first_o = job.first;
  assign stream_last_o = job.last;

  // As in rl_shell.
  rl_frame_queue #(
    .Words(256),
    .FrameWords(48),
    .DescW(1),
    .Frames(32),
    .Reserves(1'b1)
  ) u_queue (
    .clk_wr_i(clk_ddr_i),
    .rst_wr_ni(rst_ddr_ni),
    .room_o,
    .word_i,
    .data_i,
    .commit_i,
    .desc_i(last_beat_i),
    .rollback_i(1'b0),
    .clk_rd_i(clk_cfg_i),
    .rst_rd_ni(rst_cfg_ni),
    .valid_o(frame_valid_o),
    .desc_o(last_beat),
    .done_i(done),
    .take_i(take),
    .data_o(data),
    .ready_o(ready)
  );

  rl_config_port #(
    .PatienceW(PatienceW)
  ) u_port (
    .clk_net_i,
    .rst_net_ni,
    .start_i,
    .stop_i,
    .source_i,
    .last_i,
    .last_words_i,
    .busy_o,
    .done_o,
    .failed_o,
    .local_o,
    .error_o,
    .role_id_o,
    .clk_ddr_i,
    .rst_ddr_ni,
    .stream_o,
    .stream_job_o(job),
    .stream_stop_o,
    .stream_done_i,
    .clk_cfg_i,
    .rst_cfg_ni,
    .frame_valid_i(frame_valid_o),
    .frame_last_i(last_beat),
    .frame_done_o(done),
    .frame_take_o(take),
    .frame_data_i(data),
    .frame_ready_i(ready),
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
endmodule
