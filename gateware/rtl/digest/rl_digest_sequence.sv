// Tells the ring what to do in each cycle: one cycle ahead, so that its clock enable is a register.
//
// The slots enter in turn 0, each with the next beat of the pass, and go round in turns 1 to 6. In
// the next turn 0 their results leave. The ring waits when a beat is not there that a slot needs,
// or there is no room for a value. When no pass follows, an empty turn brings the last values out.
module rl_digest_sequence
  import rl_blake3_pkg::*;
  import rl_digest_pkg::*;
(
  input  logic     clk_i,
  input  logic     rst_ni,

  input  logic     head_valid_i,
  input  about_t   head_i,
  output logic     pop_o,
  input  logic     room_i,        // For the values of the last three cycles and this one.

  output command_t command_o
);
  logic [2:0] turn_q, slot_q;
  logic pass_q;  // More beats belong to the pass.
  logic runs_q;  // This turn 0 has begun a pass.
  // By slot, the one at the ring's end first: its result is a value; and the job's last.
  logic [Stages-1:0] value_q, ends_job_q;

  logic step, enter, copy, turn0, at_start;

  assign turn0 = turn_q == 0;
  assign at_start = slot_q == 0;
  always_comb begin
    enter = 1'b0;
    copy  = 1'b0;
    step  = 1'b1;
    if (turn0) begin
      // A copied beat leaves its place two cycles after this.
      if (at_start && command_o.copy) begin
        step = 1'b0;
      end else if (at_start) begin
        enter = room_i && head_valid_i && !head_i.copy;
        copy  = room_i && head_valid_i && head_i.copy && !value_q[0];
        step  = room_i && ((head_valid_i && !head_i.copy) || value_q[0]);
      end else begin
        enter = room_i && pass_q && head_valid_i;
        step  = room_i && (!pass_q || head_valid_i);
      end
    end
  end
  assign pop_o = enter || copy;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      turn_q <= '0;
      slot_q <= '0;
      pass_q <= 1'b0;
      runs_q <= 1'b0;
      value_q <= '0;
      command_o.step <= 1'b0;
      command_o.enter <= 1'b0;
      command_o.put <= 1'b0;
      command_o.copy <= 1'b0;
    end else begin
      if (step) begin
        slot_q <= slot_q + 1'b1;
        if (slot_q == '1 && (!turn0 || runs_q))
          turn_q <= turn_q == 3'(Rounds - 1) ? '0 : turn_q + 1'b1;
        if (turn0) begin
          pass_q <= enter && !head_i.ends_pass;
          if (at_start) runs_q <= enter;
        end
        value_q <= {turn0 ? enter && head_i.ends_value : value_q[0], value_q[Stages-1:1]};
      end
      command_o.step  <= step;
      command_o.enter <= enter;
      command_o.put   <= copy || (step && turn0 && value_q[0]);
      command_o.copy  <= copy;
    end
    if (step) ends_job_q <= {turn0 ? head_i.ends_job : ends_job_q[0], ends_job_q[Stages-1:1]};
    command_o.ends_job <= copy ? head_i.ends_job : ends_job_q[0];
    command_o.turn0 <= turn0;
    command_o.entry <= head_i.entry;
    command_o.entry.first <= turn0 && head_i.entry.first;
    command_o.keep <= counting(0, head_i.entry.top);
  end

`ifndef SYNTHESIS
  // Between the blocks of a chunk no turn is empty: its chaining value would be lost.
  always_ff @(posedge clk_i)
    if (rst_ni && turn0 && step && !enter && at_start)
      ChunkGoesOn_A : assert (value_q[0]);
  always_ff @(posedge clk_i) if (rst_ni && enter) CopyIsAlone_A : assert (!head_i.copy);
`endif
endmodule
