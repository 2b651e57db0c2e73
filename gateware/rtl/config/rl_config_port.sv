// The configuration port's controller, and the multiplexer in front of the port (SAF section IV.A.2).
//
// Two channels share the port: the network, whose words come from the staged image in DDR, and a local
// one (PCIe, a debug cable). The local channel has the port by default. The network gets it at a start,
// as soon as the local channel is not programming, and keeps it until the port has said done or error,
// or until it is stopped; meanwhile the local channel is not granted. So a configuration that has begun
// is never mixed with another.
//
// Memory that does not give what it was asked for is not waited for: the port is let go, and configurations fail at
// once until memory has given it after all, for words that come late must not begin another.
//
// Net domain: the firmware's start, stop and status. Ddr domain: the stream of words is asked for.
// Cfg domain: words go out. Levels cross; what they stand for holds meanwhile.
module rl_config_port
  import rl_shell_pkg::*;
#(
  // A port that takes or says nothing for 2^PatienceW cycles fails, as does memory that owes words for so many.
  parameter int unsigned PatienceW = 20
) (
  input  logic              clk_net_i,
  input  logic              rst_net_ni,
  input  logic              start_i,
  input  logic              stop_i,
  input  beat_t             source_i,       // The first beat. It holds while busy, with the next two.
  input  logic [21:0]       last_i,         // The last beat's number, its lower bits.
  input  logic [3:0]        last_words_i,   // Words of 32 bits in that one, less 1.
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
  input  logic              frame_last_i,   // It is the stream's last.
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
  localparam logic [7:0] CodeMemory = 8'hfd;
  localparam logic [7:0] CodeStopped = 8'hfe;
  localparam logic [7:0] CodeTimeout = 8'hff;

  // -- net domain
  typedef enum logic [2:0] {
    Idle,
    Running,  // Until the cfg domain has finished,
    Draining, // until nothing more comes from DDR,
    Closing,  // and until both domains have let go.
    Owed,     // Something may still come from DDR, and it has been long.
    Refusing, // As that, for a cycle: a start has failed.
    Flushing  // It has come: until the cfg domain has taken it away.
  } state_e;
  state_e state_q;
  logic run_q, stream_q, stopped_q, finished, streamed, ok_q, ok;
  logic [7:0] code_q, code;
  logic [15:0] answer_q, answer;
  logic finished_q, local_q;  // Of the cfg domain.
  logic [PatienceW:0] drain_q;

  assign busy_o = state_q != Idle && state_q != Owed;
  rl_sync #(
    .Width(3)
  ) u_to_net (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .d_i({finished_q, stream_done_i, local_q}),
    .q_o({finished, streamed, local_o})
  );
  always_ff @(posedge clk_net_i) begin
    drain_q <= state_q == Draining ? drain_q + 1'b1 : '0;
    if (!rst_net_ni) begin
      state_q <= Idle;
      run_q <= 1'b0;
      stream_q <= 1'b0;
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
            stream_q <= 1'b1;
            done_o <= 1'b0;
            failed_o <= 1'b0;
          end
        end
        Running: begin
          if (stop_i) stopped_q <= 1'b1;
          if (finished) begin
            state_q <= Draining;
            // They hold while `finished`.
            done_o <= ok;
            failed_o <= !ok;
            error_o <= code;
            role_id_o <= answer;
          end
        end
        Draining: begin
          if (streamed) begin
            state_q <= Closing;
            run_q <= 1'b0;
            stream_q <= 1'b0;
          end else if (drain_q[PatienceW]) begin
            state_q <= Owed;
            run_q <= 1'b0;
            stopped_q <= 1'b1;  // Long before the cfg domain runs again, to take away what comes late.
          end
        end
        Owed: begin
          if (start_i) begin
            state_q <= Refusing;
            done_o <= 1'b0;
            failed_o <= 1'b0;
          end else if (streamed && !finished) begin
            state_q <= Flushing;
            run_q <= 1'b1;
          end
        end
        Refusing: begin
          state_q <= Owed;
          failed_o <= 1'b1;
          error_o <= CodeMemory;
        end
        Flushing: begin
          if (finished) begin
            state_q <= Closing;
            run_q <= 1'b0;
            stream_q <= 1'b0;
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

  rl_held #(
    .Width(25)
  ) u_end (
    .word_i({ok_q, code_q, answer_q}),
    .word_o({ok, code, answer})
  );

  // -- ddr domain: the stream is asked for while it is on, and not any longer once the port has finished.
  logic draining_q;
  always_ff @(posedge clk_net_i) draining_q <= rst_net_ni && (state_q == Draining || stopped_q);
  rl_sync #(
    .Width(2)
  ) u_to_ddr (
    .clk_i(clk_ddr_i),
    .rst_ni(rst_ddr_ni),
    .d_i({stream_q, draining_q}),
    .q_o({stream_o, stream_stop_o})
  );
  rl_held #(
    .Width($bits(stream_t))
  ) u_job (
    .word_i({source_i, last_i}),
    .word_o(stream_job_o)
  );

  // -- cfg domain. A word from DDR goes through a register to the port.
  typedef enum logic [2:0] {
    Local,
    Start,
    Send,
    Answer,   // All words are here or with the port.
    Finished
  } port_e;
  port_e port_q;
  logic run, stopped, shows_q, step, takes, last, network, answered, give_up, late, flushes;
  logic [3:0] at_q;  // Which word of its beat comes next.
  logic [31:0]
      first_q, second_q;  // The word, from one half of the queue's or the other: the other is zero.
  logic [PatienceW:0] patience_q;

  rl_sync #(
    .Width(2)
  ) u_to_cfg (
    .clk_i(clk_cfg_i),
    .rst_ni(rst_cfg_ni),
    .d_i({run_q, stopped_q}),
    .q_o({run, stopped})
  );
  logic [3:0] last_words;
  rl_held #(
    .Width(4)
  ) u_last_words (
    .word_i(last_words_i),
    .word_o(last_words)
  );
  assign network = port_q == Send || port_q == Answer;
  assign local_granted_o = port_q == Local;
  assign local_ready_o = local_granted_o && cfg_ready_i;
  assign cfg_valid_o = local_granted_o ? local_valid_i : shows_q;
  assign cfg_data_o = ({32{local_granted_o}} & local_data_i) | first_q | second_q;
  assign cfg_start_o = local_granted_o ? local_start_i : port_q == Start;
  assign cfg_stop_o = local_granted_o ? local_stop_i : give_up;
  assign step = shows_q && cfg_ready_i;
  assign takes = port_q == Send && frame_valid_i && frame_ready_i && (!shows_q || cfg_ready_i);
  assign last = frame_last_i && at_q == last_words;
  // An answer before the port has the last word is none.
  assign answered = port_q == Answer && cfg_done_i && !shows_q;
  assign late = patience_q[PatienceW];
  assign give_up = network && (stopped || late);
  // What comes after the last word, or after all is over, is taken away. No word comes before `run`.
  assign flushes = port_q == Finished || (port_q == Local && (!run || finished_q));
  assign frame_take_o = (takes && at_q[0]) || (flushes && frame_valid_i && frame_ready_i);
  assign frame_done_o = frame_take_o && at_q[3:1] == '1;
  // Through a register, so that no glitch of its logic crosses.
  always_ff @(posedge clk_cfg_i) local_q <= rst_cfg_ni && local_busy_i && local_granted_o;
  always_ff @(posedge clk_cfg_i) begin
    if (!rst_cfg_ni) begin
      port_q <= Local;
      finished_q <= 1'b0;
      shows_q <= 1'b0;
      at_q <= '0;
    end else begin
      shows_q <= network && !give_up && !cfg_error_i && (takes || (shows_q && !cfg_ready_i));
      // The queue has words of 64 bits: what is left of one is taken away together.
      if (frame_take_o) at_q <= {at_q[3:1] + 1'b1, 1'b0};
      else if (takes) at_q[0] <= 1'b1;
      unique case (port_q)
        Local: begin
          // What was stopped while it waited does not begin, and waits no longer.
          if (run && !stopped && !finished_q && !local_busy_i) port_q <= Start;
          // Once all of it has come and `run` has gone, it is asked for as long as something is left to take away.
          finished_q <= finished_q ? run || frame_valid_i : run && stopped;
        end
        Start: port_q <= Send;
        Send, Answer: begin
          if (takes && last) port_q <= Answer;
          if (answered || cfg_error_i || give_up) begin
            port_q <= Finished;
            finished_q <= 1'b1;
          end
        end
        default: begin
          // Words that came too late must not begin the next configuration.
          if (!run && !frame_valid_i) begin
            port_q <= Local;
            finished_q <= 1'b0;
          end
        end
      endcase
    end
    if (step || !network) patience_q <= '0;
    else patience_q <= patience_q + 1'b1;
    // The registers' resets do the selection, and come before their enables.
    if (!network || (takes && at_q[0])) first_q <= '0;
    else if (takes) first_q <= {<<8{frame_data_i[31:0]}};
    if (!network || (takes && !at_q[0])) second_q <= '0;
    else if (takes) second_q <= {<<8{frame_data_i[63:32]}};
    if (network || port_q == Local) begin
      ok_q <= answered && !cfg_error_i;
      if (cfg_error_i && port_q != Local) code_q <= cfg_code_i;
      else code_q <= stopped ? CodeStopped : late ? CodeTimeout : 8'd0;
      answer_q <= cfg_role_i;
    end
  end

`ifndef SYNTHESIS
  OneChannel_A :
  assert property (@(posedge clk_cfg_i) disable iff (!rst_cfg_ni)
    local_granted_o |-> !network && !shows_q && {first_q, second_q} == '0);
  StableWhileStalled_A :
  assert property (@(posedge clk_cfg_i) disable iff (!rst_cfg_ni)
    network && cfg_valid_o && !cfg_ready_i && !give_up && !cfg_error_i |=> cfg_valid_o && $stable(
      cfg_data_o
  ));
`endif
endmodule : rl_config_port
