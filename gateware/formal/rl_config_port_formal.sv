// rl_config_port on one clock, with a port and a local channel that do anything at all, and a memory that gives what it
// likes, if anything. What is checked:
//   - the local channel and the network never have the port together, and what goes out to a port that is not ready
//     stays;
//   - a configuration that was stopped ends: in each state that it passes it stays for some cycles at most, while
//     memory owes something for 2^PatienceW, and where words are taken away one goes with each cycle;
//   - when a configuration can begin, nothing is in the queue that was left of another.
module rl_config_port_formal
  import rl_shell_pkg::*;
(
  input logic        clk_i,
  input logic        start_i,
  input logic        stop_i,
  input logic [3:0]  last_words_i,
  input logic        stream_done_i,
  input logic        commit_i,      // Memory puts a beat into the queue.
  input logic        frame_last_i,
  input logic        local_busy_i,
  input logic        local_start_i,
  input logic        local_stop_i,
  input logic        local_valid_i,
  input logic [31:0] local_data_i,
  input logic [63:0] frame_data_i,
  input logic        cfg_ready_i,
  input logic        cfg_done_i,
  input logic        cfg_error_i,
  input logic [7:0]  cfg_code_i
);
  localparam int unsigned PatienceW = 4;
  localparam int unsigned Beats = 2;  // In the queue, at most.

  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  logic
      busy, done, failed, stream, stream_stop, frame_done, frame_take, granted, cfg_valid, cfg_stop;
  logic [31:0] cfg_data;
  logic [1:0] beats_q = '0;  // In the queue.
  rl_config_port #(
    .PatienceW(PatienceW)
  ) u_dut (
    .clk_net_i(clk_i),
    .rst_net_ni(rst_n),
    .start_i,
    .stop_i,
    .source_i('0),
    .last_i('0),
    .last_words_i,
    .busy_o(busy),
    .done_o(done),
    .failed_o(failed),
    .local_o(),
    .error_o(),
    .role_id_o(),
    .clk_ddr_i(clk_i),
    .rst_ddr_ni(rst_n),
    .stream_o(stream),
    .stream_job_o(),
    .stream_stop_o(stream_stop),
    .stream_done_i,
    .clk_cfg_i(clk_i),
    .rst_cfg_ni(rst_n),
    .frame_valid_i(beats_q != 0),
    .frame_last_i,
    .frame_done_o(frame_done),
    .frame_take_o(frame_take),
    .frame_data_i,
    .frame_ready_i(beats_q != 0),
    .local_busy_i,
    .local_granted_o(granted),
    .local_start_i,
    .local_stop_i,
    .local_valid_i,
    .local_ready_o(),
    .local_data_i,
    .cfg_start_o(),
    .cfg_stop_o(cfg_stop),
    .cfg_valid_o(cfg_valid),
    .cfg_ready_i,
    .cfg_data_o(cfg_data),
    .cfg_done_i,
    .cfg_error_i,
    .cfg_code_i,
    .cfg_role_i('0)
  );

  // -- memory: beats while it is asked, and not after it has said that it is done; that it says until it is heard
  logic asked_q = 1'b0, done_q = 1'b0;
  always_comb begin
    assume (!commit_i || (asked_q && !done_q && !stream_done_i && beats_q != 2'(Beats)));
    assume (!stream_done_i || stream);
    assume (!(done_q && stream) || stream_done_i);
  end
  always_ff @(posedge clk_i) begin
    asked_q <= rst_n && stream;
    done_q <= rst_n && stream_done_i;
    if (!rst_n) beats_q <= '0;
    else beats_q <= beats_q + 2'(commit_i) - 2'(frame_done);
  end

  // As there.
  localparam logic [2:0] Idle = 3'd0, Running = 3'd1, Draining = 3'd2, Closing = 3'd3, Owed = 3'd4, Refusing = 3'd5,
      Flushing = 3'd6;
  // Cycles in a row.
  logic [3:0] stopped_q = '0, closing_q = '0;
  always_ff @(posedge clk_i) begin
    stopped_q <= !rst_n || u_dut.state_q != Running || !u_dut.stopped_q ? '0 : stopped_q + 1'b1;
    closing_q <= !rst_n || u_dut.state_q != Closing || beats_q != 0 ? '0 : closing_q + 1'b1;
  end

  logic past_q = 1'b0, valid_q, ready_q, granted_q, gives_up_q, error_q, local_busy_q;
  logic [31:0] data_q;
  always_ff @(posedge clk_i) begin
    past_q <= rst_n;
    {valid_q, ready_q, granted_q, data_q} <= {cfg_valid, cfg_ready_i, granted, cfg_data};
    gives_up_q <= cfg_stop;
    local_busy_q <= local_busy_i;
    error_q <= cfg_error_i;
    if (past_q) begin
      if (!granted_q && valid_q && !ready_q && !gives_up_q && !error_q)
        StaysOffered_A : assert (cfg_valid && cfg_data == data_q);
      if (granted)
        LocalIsAlone_A : assert (!u_dut.shows_q && u_dut.first_q == 0 && u_dut.second_q == 0);
      // The network begins only when the local channel does not program.
      if (granted_q && !granted && u_dut.port_q == 3'd1) Undisturbed_A : assert (!local_busy_q);
      OneEnd_A : assert (!(done && failed));
      // The first word of a configuration is not one that was left of the last.
      if (u_dut.state_q == Idle) NothingIsLeft_A : assert (beats_q == 0);
      // A stop: heard, told, then what memory owes, then what is left of that.
      if (u_dut.state_q == Running && u_dut.stopped_q) Stops_A : assert (stopped_q <= 4'd8);
      if (u_dut.state_q == Draining)
        Waits_A : assert (u_dut.drain_q <= (PatienceW + 1)'(1 << PatienceW));
      if (u_dut.state_q == Closing && beats_q != 0) TakesAway_A : assert (frame_take && !commit_i);
      if (u_dut.state_q == Closing && beats_q == 0) Closes_A : assert (closing_q <= 4'd8);
    end
  end

  // -- What induction has to know.
  logic run_mid, finished_mid, stream_mid, streamed_mid;  // Half way across.
  assign run_mid = u_dut.u_to_cfg.meta_q[1];
  assign finished_mid = u_dut.u_to_net.meta_q[2];
  assign stream_mid = u_dut.u_to_ddr.meta_q[1];
  assign streamed_mid = u_dut.u_to_net.meta_q[1];
  always_comb begin
    assert (rst_n || !past_q);
    if (rst_n) begin
      assert (u_dut.state_q <= Flushing && u_dut.port_q <= 3'd4 && beats_q <= 2'(Beats));
      if (beats_q == 0) assert (u_dut.at_q == 0);
      // What is on in each state.
      assert (u_dut.run_q == (u_dut.state_q inside {Running, Draining, Flushing}));
      assert (u_dut.stream_q == !(u_dut.state_q inside {Idle, Closing}));
      if (u_dut.state_q inside {Owed, Refusing, Flushing}) assert (u_dut.stopped_q);
      // Levels that cross go on, and off again, one after the other: run, finished, done.
      if (u_dut.run_q) begin
        assert (!u_dut.run || run_mid);
        assert (!u_dut.finished || finished_mid);
        assert (!finished_mid || u_dut.finished_q);
        assert (!u_dut.finished_q || u_dut.run);
      end else begin
        assert (!run_mid || u_dut.run);
        assert (!u_dut.finished_q || finished_mid);
        assert (!finished_mid || u_dut.finished);
        assert (u_dut.finished_q || !u_dut.run);
      end
      if (u_dut.state_q == Draining) assert (u_dut.finished);
      if (u_dut.state_q == Idle) assert (!u_dut.finished && !u_dut.streamed);
      if (u_dut.stream_q) begin
        assert (!stream || stream_mid);
        assert (!u_dut.streamed || streamed_mid);
        assert (!streamed_mid || done_q);
      end else begin
        assert (!stream_mid || stream);
        assert (!stream || (streamed_mid && done_q));
        assert (!done_q || streamed_mid);
        assert (!streamed_mid || u_dut.streamed);
        assert (!asked_q || done_q);
      end
      if (u_dut.state_q == Flushing) assert (u_dut.streamed);
      if (done_q) assert (asked_q);
      if (stream && u_dut.stream_q && done_q) assert (asked_q);
      // The port is the network's only while a configuration runs.
      if (u_dut.port_q inside {3'd1, 3'd2, 3'd3})
        assert (u_dut.state_q == Running && u_dut.run && !u_dut.finished_q);
      if (u_dut.port_q == 3'd4) assert (u_dut.finished_q);
    end
  end

  always_ff @(posedge clk_i) begin
    Owed_C : cover (past_q && !busy && failed && stream);
    Done_C : cover (past_q && !busy && done);
  end
endmodule
