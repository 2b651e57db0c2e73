// Bugs on purpose, off by default: the comparison with the model must find each, or its silence proves
// nothing. They are forced upon the shell from outside, so that it bears no trace of them:
// u_shell, u_shell_rest, u_memory and u_store are those of the module around this one.
module rl_planted #(
  parameter int unsigned DataW = 64,
  parameter bit          Keys = 1'b0
) (
  input logic [7:0] planted_i  // Number of the bug, 0: none.
);
`ifndef SYNTHESIS
  // Writes, reads and launches of the owner are taken whatever their epoch.
  if (DataW == 64) begin : gen_narrow
    always @(planted_i)
      if (planted_i == 8'd1)
        force u_shell.u_rx.gen_narrow.u_analyzer.u_judge.epoch_q = 1'b1;
  end else begin : gen_wide
    always @(planted_i)
      if (planted_i == 8'd1)
        force u_shell.u_rx.gen_wide.u_analyzer.u_line.u_judge.epoch_q = 1'b1;
  end
  if (Keys) begin : gen_keys
    // Any tag of a frame of a session is right.
    always @(planted_i)
      if (planted_i == 8'd12)
        force u_shell.u_rx.gen_narrow.gen_keys.u_auth.right = 1'b1;
    // From now on the key store has the hosts that it had, whatever is written.
    always @(planted_i) if (planted_i == 8'd13) force gen_store.u_store.to_host = 1'b0;
  end
  // A write that begins or ends within a word takes all of it.
  if (DataW < 512) begin : gen_lanes
    always @(planted_i)
      if (planted_i == 8'd4)
        force u_shell.u_memory.gen_lanes.u_ddr_write.turn_strobe_q = '1;
  end
  always @(planted_i) begin
    case (planted_i)
      // A read does not wait for the writes before it.
      8'd2:    force u_shell.u_memory.u_read.beyond = 8'd0;
      // A launch's output may lie anywhere.
      8'd3:    force u_shell.u_execute.u_launch.u_judge.fits = 1'b1;
      // A chunk of an image is taken whatever its length.
      8'd5:    force u_shell.u_load.u_image_write.right = 1'b1;
      // The firmware meets an instruction that there is not,
      8'd6:    force u_shell.u_control.u_cpu.ir_q = 32'hffffffff;
      // runs in a circle: an instruction that jumps to itself,
      8'd7:    force u_shell.u_control.u_cpu.ir_q = 32'h0000006f;
      // or writes over its code.
      8'd8: begin
        force u_shell.u_control.ram_we = 4'hf;
        force u_shell.u_control.ram_waddr = '0;
      end
      // The role has the memory whenever it wants.
      8'd9: begin
        force u_memory.u_hub.u_share.u_read.u_turn.ahead_q = 1;
        force u_memory.u_hub.u_share.u_write.u_turn.ahead_q = 1;
      end
      // A role takes VALID back, whether a kernel runs or not; as long as it is planted.
      8'd10: force u_shell.u_execute.u_guards.gen_port[0].u_guard.asked_q = 3'd1;
      8'd0:  release u_shell.u_execute.u_guards.gen_port[0].u_guard.asked_q;
      // No bug: the clocks of shell and memory never rest. What a card does must not depend on it.
      8'd14: begin
        force u_shell_rest.awake = 1'b1;
        force u_memory.u_rest.awake = 1'b1;
        force u_memory.u_rest.shell_awake = 1'b1;
      end
      // They rest although the role asks.
      8'd15: force u_memory.u_rest.role_asks = '0;
      // What the role has asked is forgotten before the memory's clock has an edge.
      8'd16: force u_memory.u_rest.quiet[1] = 1'b1;
      // The shell rests although the role says that a kernel has ended,
      8'd17: force u_shell_rest.news = 1'b0;
      // or the firmware's alarm has come,
      8'd18: force u_shell_rest.alarm = 1'b0;
      // or before what has come has shown. The memory's clocks rest although the shell asks.
      8'd19: force u_shell_rest.quiet = 1'b1;
      8'd20: force u_memory.u_rest.active[2] = 1'b0;
      // The memory cannot be trained.
      8'd11: force u_memory.u_watch.owes_o = 1'b1;
      default: ;
    endcase
  end
  // Those last until the card restarts itself: what comes then is sound.
  always @(negedge u_shell.rst_net_ni) begin
    release u_shell.u_control.u_cpu.ir_q;
    release u_shell.u_control.ram_we;
    release u_shell.u_control.ram_waddr;
  end
`endif
endmodule : rl_planted
