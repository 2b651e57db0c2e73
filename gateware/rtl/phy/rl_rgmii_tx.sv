// Frames to a PHY with RGMII, of any speed: see rl_rgmii_rx.
//
// At 1000 Mb/s the MAC keeps the gap between frames. At 100 and 10 Mb/s it counts cycles of half a byte, so that this
// block keeps it.
module rl_rgmii_tx (
  input  logic       clk_i,       // The PHY's.
  input  logic       rst_ni,
  input  logic       gigabit_i,   // Changes in reset only.

  input  logic       valid_i,     // Without a pause from a frame's first byte to its last.
  output logic       ready_o,
  input  logic [7:0] data_i,
  input  logic       last_i,

  // For the pins, at the rising edge, and at the falling one after it.
  output logic [3:0] rise_o,
  output logic [3:0] fall_o,
  output logic       control_o    // At both.
);
  localparam logic [4:0] Gap = 5'd24;  // Half bytes.
  logic ready_q, second_q, last_q, take;
  logic [3:0] high_q;
  logic [4:0] gap_q;
  assign take = valid_i && ready_q;
  assign ready_o = ready_q;
  always_ff @(posedge clk_i) begin
    control_o <= take || second_q;
    rise_o <= take ? data_i[3:0] : second_q ? high_q : '0;
    fall_o <= take ? (gigabit_i ? data_i[7:4] : data_i[3:0]) : second_q ? high_q : '0;
    high_q <= data_i[7:4];
    last_q <= last_i;
    second_q <= take && !gigabit_i;
    if (second_q && last_q) gap_q <= Gap;
    else if (gap_q != '0) gap_q <= gap_q - 1'b1;
    // Ready for the next byte while the second half of this one is put out.
    ready_q <= gigabit_i || (!take && !(second_q && last_q) && gap_q <= 5'd1);
    if (!rst_ni) begin
      {ready_q, second_q, control_o, gap_q} <= '0;
    end
  end

`ifndef SYNTHESIS
  assert property (@(posedge clk_i) disable iff (!rst_ni) second_q && !last_q |=> valid_i);
`endif
endmodule : rl_rgmii_tx
