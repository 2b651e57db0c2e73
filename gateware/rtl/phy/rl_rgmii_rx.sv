// Frames from a PHY with RGMII, of any speed: bytes, as a MAC wants them.
//
// At 1000 Mb/s a byte comes with each cycle of the PHY's clock, its low half at the rising edge, and all of a frame is
// passed on, its preamble too. At 100 and 10 Mb/s that clock is slower, and half a byte comes with each cycle. The line
// may have lost any number of half bytes of the preamble, so bytes are counted from the delimiter behind it, 5 and D,
// which is the first that is passed on.
//
// A byte is kept until it is known whether another one follows.
module rl_rgmii_rx (
  input  logic       clk_i,       // The PHY's.
  input  logic       rst_ni,
  input  logic       gigabit_i,   // Changes in reset only.

  // What the pins had at the rising edge, and at the falling one after it.
  input  logic [3:0] rise_i,
  input  logic [3:0] fall_i,
  input  logic       control_i,   // At the rising edge: a frame is there.

  output logic       valid_o,
  output logic [7:0] data_o,
  output logic       last_o
);
  localparam logic [3:0] Preamble = 4'h5;
  localparam logic [3:0] Delimiter = 4'hd;

  logic [3:0] rise_q, fall_q, before_q;
  logic there_q;
  logic ready_q;   // The line was still since the reset: what comes is a frame from its beginning.
  logic inside_q;  // At 100 and 10 Mb/s: the delimiter was there,
  logic half_q;    // and half of a byte, in before_q.
  logic starts, whole;
  assign starts = rise_q == Delimiter && before_q == Preamble;
  assign whole = there_q && ready_q && (gigabit_i || (inside_q ? half_q : starts));
  always_ff @(posedge clk_i) begin
    rise_q <= rise_i;
    fall_q <= fall_i;
    there_q <= rst_ni && control_i;
    before_q <= there_q ? rise_q : '0;
    if (!rst_ni) begin
      {ready_q, inside_q, half_q} <= '0;
    end else begin
      ready_q <= ready_q || !there_q;
      inside_q <= there_q && (inside_q || starts);
      half_q <= there_q && inside_q && !half_q;
    end
  end

  logic held_q;
  logic [7:0] byte_q;
  always_ff @(posedge clk_i) begin
    valid_o <= 1'b0;
    last_o <= !there_q;
    data_o <= byte_q;
    if (!rst_ni) begin
      held_q <= 1'b0;
    end else begin
      if (whole) byte_q <= gigabit_i ? {fall_q, rise_q} : {rise_q, before_q};
      held_q <= whole || (held_q && there_q);
      valid_o <= held_q && (whole || !there_q);
    end
  end
endmodule : rl_rgmii_rx
