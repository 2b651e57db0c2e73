// The configuration port's controller, and the multiplexer in front of the port (SAF section IV.A.2).
//
// Two channels share the port: the network, whose words come from the staged image in DDR, and a local
// one (PCIe, a debug cable). The local channel has the port by default. The network gets it at a start,
// as soon as the local channel is not programming, and keeps it until the port has said done or error,
// or until it is stopped; meanwhile the local channel is not granted. So a configuration that has begun
// is never mixed with another.
//
// Net domain: the firmware's start, stop and status. Ddr domain: the stream of words is asked for.
// Cfg domain: words go out. Levels cross; what they stand for holds meanwhile.
module rl_config_port
  import rl_shell_pkg::*;
#(
  parameter int unsigned PatienceW = 20, // A port that takes or says nothing for 2^PatienceW cycles fails.
  localparam int unsigned WordsW = 27
) (
  input  logic              clk_net_i,
  input  logic              rst_net_ni,
  input  logic              start_i,
  input  logic              stop_i,
  input  beat_t             source_i,       // Holds while busy, with words_i.
  input  logic [WordsW-1:0] words_i,        // Of 32 bits, 1 or more.
  output logic              busy_o,
  output logic              done_o,         // How the last one ended: one of these two.
  output logic              failed_o,
  output logic              local_o,        // The local channel is programming.
  output logic [7:0]        error_o,
  output logic [15:0]       role_id_o,

  input  logic              clk_ddr_i,
  input  logic              rst_ddr_ni,
  output logic              stream_o,
  output stream_t           stream_job_o,
  output logic              stream_stop_o,
  input  logic              stream_done_i,

  input  logic              clk_cfg_i,
  input  logic              rst_cfg_ni,
  // Reading side of the queue of words: a frame for each beat.
  input  logic              frame_valid_i,
  output logic              frame_done_o,
  output logic              frame_take_o,
  input  logic [63:0]       frame_data_i,
  input  logic              frame_ready_i,
  // The local channel.
  input  logic              local_busy_i,   // It is programming, or wants to.
  output logic              local_granted_o,
  input  logic              local_start_i,
  input  logic              local_stop_i,
  input  logic              local_valid_i,
  output logic              local_ready_o,
  input  logic [31:0]       local_data_i,
  // The port.
  output logic              cfg_start_o,
  output logic              cfg_stop_o,
  output logic              cfg_valid_o,
  input  logic              cfg_ready_i,
  output logic [31:0]       cfg_data_o,
  input  logic              cfg_done_i,     // After the last word, one of these, for one cycle or longer.
  input  logic              cfg_error_i,
  input  logic [7:0]        cfg_code_i,
  input  logic [15:0]       cfg_role_i
);
  localparam logic [7:0] CodeStopped = 8'hfe;
  localparam logic [7:0] CodeTimeout = 8'hff;

  // -- net domain
  typedef enum logic [1:0] {
    Idle,
    Running,  // Until the cfg domain has finished,
    Draining, // until nothing more comes from DDR,
    Closing   // and until both domains have let go.
  } state_e;
  state_e state_q;
  logic run_q, stopped_q, finished, streamed, ok_q;
  logic [7:0] code_q;
  logic [15:0] answer_q;
  logic finished_q;  // Of the cfg domain.

  assign busy_o = state_q != Idle;
  rl_sync #(
    .Width(3)
  ) u_to_net (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .d_i({finished_q, stream_done_i, local_busy_i && local_granted_o}),
    .q_o({finished, streamed, local_o})
  );
  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) begin
      state_q <= Idle;
      run_q <= 1'b0;
      stopped_q <= 1'b0;
      done_o <= 1'b0;
      failed_o <= 1'b0;
      error_o <= '0;
      role_id_o <= '0;
    end else begin
      unique case (state_q)
        Idle: begin
          if (start_i) begin
            state_q <= Running;
            run_q <= 1'b1;
            done_o <= 1'b0;
            failed_o <= 1'b0;
          end
        end
        Running: begin
          if (stop_i) stopped_q <= 1'b1;
          if (finished) begin
            state_q <= Draining;
            // They hold while `finished`.
            done_o <= ok_q;
            failed_o <= !ok_q;
            error_o <= code_q;
            role_id_o <= answer_q;
          end
        end
        Draining: begin
          if (streamed) begin
            state_q <= Closing;
            run_q <= 1'b0;
          end
        end
        default: begin
          // Well before the next run, so that the cfg domain cannot see it with that one.
          stopped_q <= 1'b0;
          if (!finished && !streamed) state_q <= Idle;
        end
      endcase
    end
  end

  // -- ddr domain: the stream is asked for while run, and not any longer once the port has finished.
  logic draining_q;
  always_ff @(posedge clk_net_i) draining_q <= rst_net_ni && state_q == Draining;
  rl_sync #(
    .Width(2)
  ) u_to_ddr (
    .clk_i(clk_ddr_i),
    .rst_ni(rst_ddr_ni),
    .d_i({run_q, draining_q}),
    .q_o({stream_o, stream_stop_o})
  );
  logic [21:0] last_beat_q;
  always_ff @(posedge clk_net_i) last_beat_q <= source_i[21:0] + 22'((words_i - 1'b1) >> 4);
  assign stream_job_o = '{first: source_i, last: last_beat_q};

  // -- cfg domain
  typedef enum logic [2:0] {
    Local,
    Start,
    Send,
    Answer,
    Finished
  } port_e;
  port_e port_q;
  logic run, stopped, half_q, step, last, network, give_up;
  logic [WordsW-1:0] left_q;
  logic [2:0] at_q;
  logic [PatienceW-1:0] patience_q;

  rl_sync #(
    .Width(2)
  ) u_to_cfg (
    .clk_i(clk_cfg_i),
    .rst_ni(rst_cfg_ni),
    .d_i({run_q, stopped_q}),
    .q_o({run, stopped})
  );
  assign network = port_q == Send;
  assign local_granted_o = port_q == Local;
  assign local_ready_o = port_q == Local && cfg_ready_i;
  assign cfg_valid_o = port_q == Local ? local_valid_i : network && frame_valid_i && frame_ready_i;
  assign cfg_data_o = port_q == Local ? local_data_i :
      half_q ? {frame_data_i[39:32], frame_data_i[47:40], frame_data_i[55:48], frame_data_i[63:56]} :
               {frame_data_i[7:0], frame_data_i[15:8], frame_data_i[23:16], frame_data_i[31:24]};
  assign cfg_start_o = port_q == Local ? local_start_i : port_q == Start;
  assign cfg_stop_o = port_q == Local ? local_stop_i : give_up;
  assign step = network && cfg_valid_o && cfg_ready_i;
  assign last = left_q == 1;
  assign give_up = (port_q == Send || port_q == Answer) && (stopped || (&patience_q));
  // What comes after the last word, or after all is over, is taken away.
  assign frame_take_o = frame_valid_i && frame_ready_i && ((step && half_q) || port_q == Finished);
  assign frame_done_o = frame_take_o && at_q == '1;
  always_ff @(posedge clk_cfg_i) begin
    if (!rst_cfg_ni) begin
      port_q <= Local;
      finished_q <= 1'b0;
      half_q <= 1'b0;
      at_q <= '0;
      patience_q <= '0;
    end else begin
      patience_q <= step || port_q == Local || port_q == Start ? '0 : patience_q + PatienceW'(!(&patience_q));
      if (frame_take_o) at_q <= frame_done_o ? '0 : at_q + 1'b1;
      if (step) half_q <= !half_q && !last;
      unique case (port_q)
        Local: begin
          // What was stopped while it waited does not begin.
          if (run && !local_busy_i) port_q <= stopped ? Finished : Start;
          finished_q <= run && !local_busy_i && stopped;
        end
        Start: port_q <= Send;
        Send: begin
          if (step && last) port_q <= Answer;
          if (cfg_error_i || give_up) begin
            port_q <= Finished;
            finished_q <= 1'b1;
          end
        end
        Answer: begin
          if (cfg_done_i || cfg_error_i || give_up) begin
            port_q <= Finished;
            finished_q <= 1'b1;
          end
        end
        default: begin
          half_q <= 1'b0;
          // Words that came too late must not begin the next configuration.
          if (!run && !frame_valid_i) begin
            port_q <= Local;
            finished_q <= 1'b0;
          end
        end
      endcase
    end
    if (port_q == Start) left_q <= words_i;
    else if (step) left_q <= left_q - 1'b1;
    if (port_q inside {Local, Send, Answer}) begin
      ok_q <= port_q == Answer && cfg_done_i && !cfg_error_i;
      if (cfg_error_i && port_q != Local) code_q <= cfg_code_i;
      else code_q <= stopped ? CodeStopped : (&patience_q) ? CodeTimeout : 8'd0;
      answer_q <= cfg_role_i;
    end
  end

`ifndef SYNTHESIS
  OneChannel_A :
  assert property (@(posedge clk_cfg_i) disable iff (!rst_cfg_ni) local_granted_o |-> !network);
  StableWhileStalled_A :
  assert property (@(posedge clk_cfg_i) disable iff (!rst_cfg_ni)
    network && cfg_valid_o && !cfg_ready_i && !give_up && !cfg_error_i |=> cfg_valid_o && $stable(
      cfg_data_o
  ));
`endif
endmodule : rl_config_port
