// Finds out that the firmware has failed: it has written over its own code, stopped, or not said for long that it is
// alive. A processor that sleeps until a time, or until memory is zeroed, need not say so, nor need one whose frames
// the network does not take; one that waits for something else must not wait for long.
module rl_watchdog
  import rl_csr_pkg::*;
#(
  parameter int unsigned PatienceW = 24  // It fails after 2^PatienceW cycles: 0.1 s at 156.25 MHz.
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        alive_i,
  input  logic        sleep_i,   // The processor sleeps,
  input  logic [10:0] until_i,   // until one of these EVENTS.
  input  logic        blocked_i, // A frame waits for the network.
  input  logic        broken_i,  // A write to code was tried, or the processor has stopped.
  output logic        failed_o   // Until reset.
);
  logic [PatienceW:0] silent_q;
  logic rests;
  assign rests = blocked_i || (sleep_i && (until_i[EventsAlarmBit] || until_i[EventsScrubDoneBit]));
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      silent_q <= '0;
      failed_o <= 1'b0;
    end else begin
      silent_q <= alive_i || rests ? '0 : silent_q + 1'b1;
      if (broken_i || silent_q[PatienceW]) failed_o <= 1'b1;
    end
  end

  logic unused;
  assign unused = ^until_i;
endmodule
