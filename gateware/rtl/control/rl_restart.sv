// Restarts the shell when its firmware has failed: with another processor's program there would be no card any more.
// It does so too when the memory has answered with an error: of what was written or computed since, nothing is certain.
//
// First nothing new comes in and the role is cut off. When what was under way to and from memory has ended and no frame
// is half sent, or when that does not end in time, all of the shell is reset, and the firmware starts anew from its
// code, which nothing can write. The memory's contents stay.
module rl_restart #(
  parameter int unsigned RestW = 9,       // Nothing happens for 2^RestW cycles: it has ended.
  parameter int unsigned PatienceW = 16,  // So many cycles are waited for that at most, 2^PatienceW.
  parameter int unsigned ResetCycles = 32 // Of the network's clock: enough for some of each other's.
) (
  input  logic       clk_net_i,
  input  logic       rst_por_ni,  // When power comes.
  input  logic       failed_i,    // The firmware has failed,
  input  logic       memory_failed_i,  // or the memory. They fall with the reset.
  input  logic       drained_i,   // The role is cut off, and nothing of it is under way.
  input  logic       rx_valid_i,  // A word comes in at port 0,
  input  logic       rx_last_i,   // the last of its frame.
  input  logic       moves_i,     // A transfer of memory is under way, or a frame on its way out.
  output logic       halt_o,      // Let nothing more in, and cut the role off.
  output logic       rst_shell_no,
  output logic [7:0] restarts_o,  // After 255 comes 1: each life differs from the one before, and from the first.
  output logic       for_memory_o // The last one was because of the memory.
);
  typedef enum logic [1:0] {
    Runs,
    Ends,
    Resets
  } state_e;
  state_e state_q;
  logic [PatienceW:0] waited_q;
  logic [RestW:0] still_q;
  // The shell must not take a frame's rest for a frame: it hears from the next one on.
  logic mid_q, mid, closed_q;
  assign mid = rx_valid_i ? !rx_last_i : mid_q;
  assign halt_o = state_q != Runs || closed_q;

  always_ff @(posedge clk_net_i) begin
    if (!rst_por_ni) begin
      state_q <= Runs;
      rst_shell_no <= 1'b0;
      restarts_o <= '0;
      for_memory_o <= 1'b0;
      waited_q <= '0;
      still_q <= '0;
      mid_q <= 1'b0;
      closed_q <= 1'b0;
    end else begin
      mid_q <= mid;
      closed_q <= state_q != Runs || (closed_q && mid);
      waited_q <= waited_q + 1'b1;
      still_q <= moves_i || !drained_i ? '0 : still_q + (RestW + 1)'(!still_q[RestW]);
      unique case (state_q)
        Runs: begin
          rst_shell_no <= 1'b1;
          waited_q <= '0;
          still_q <= '0;
          if ((failed_i || memory_failed_i) && rst_shell_no) begin
            state_q <= Ends;
            for_memory_o <= memory_failed_i;
          end
        end
        Ends: begin
          if (still_q[RestW] || waited_q[PatienceW]) begin
            state_q <= Resets;
            rst_shell_no <= 1'b0;
            waited_q <= '0;
            restarts_o <= restarts_o == '1 ? 8'd1 : restarts_o + 1'b1;
          end
        end
        default: if (waited_q == (PatienceW + 1)'(ResetCycles)) state_q <= Runs;
      endcase
    end
  end
endmodule
