// Microchip's KSZ9031RNX, the PHY of the ECPIX-5, by its data sheet (DS00002117) and its errata (DS80000692).
//
// It delays the clock that it gives by 1.2 ns, and wants the one that it gets delayed; the board's top does that. So
// the registers of its pads' skews stay as they are after a reset.
package rl_ksz9031_pkg;
  localparam logic [31:0] Id = 32'h0022_1620;
  localparam logic [31:0] IdMask = 32'hffff_fff0;  // The rest is its revision.
  // It answers at 0 beside the address that the board's resistors give it.
  localparam logic [4:0] Address = 5'd0;
  // Supplies are to be stable for 10 ms when the reset ends, and 100 us later it may be asked.
  localparam int unsigned ResetUs = 11_000;
  localparam int unsigned SettleUs = 300;

  localparam int unsigned Writes = 11;
  // What is written to it, one after the other.
  localparam logic [Writes-1:0][20:0] Setup = {
    // Link pulses come every 16 ms, as the standard wants, in place of 8: without, some partners are not found.
    // Registers 4 and 3 of device 0, each in four steps.
    {
      5'h0d, 16'h0000
    },
    {5'h0e, 16'h0004},
    {5'h0d, 16'h4000},
    {5'h0e, 16'h0006},
    {5'h0d, 16'h0000},
    {5'h0e, 16'h0003},
    {5'h0d, 16'h4000},
    {5'h0e, 16'h1a80},
    // Full duplex only, for the MAC can do no other: 1000, then 100 and 10 Mb/s. It takes no pause frames.
    {
      5'h09, 16'h0200
    },
    {5'h04, 16'h0141},
    // Negotiate, anew.
    {
      5'h00, 16'h1200
    }
  };
endpackage : rl_ksz9031_pkg
