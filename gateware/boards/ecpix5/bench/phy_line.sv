// A PHY that takes and gives bytes.
module phy_line (
  input  logic        clk_line_i,   // Four times the line's clock: its data change in the middle between its edges.
  output logic        line_clk_o,   // At its rising edge bytes are taken and given.
  input  logic        line_rx_i,    // There is a byte.
  input  logic [7:0]  line_rx_byte_i,
  output logic        line_tx_o,
  output logic [7:0]  line_tx_byte_o,

  output logic        rx_clk_o,
  output logic        rx_ctl_o,
  output logic [3:0]  rx_data_o,
  input  logic        tx_ctl_i,
  input  logic [3:0]  tx_data_i
);
  logic [1:0] phase_q;
  logic [3:0] low_q, high_q;
  assign line_clk_o = phase_q == 2'd0;
  initial phase_q = '0;
  always_ff @(posedge clk_line_i) begin
    phase_q <= phase_q + 1'b1;
    // The clock rises with phase 1 and falls with phase 3.
    rx_clk_o <= phase_q == 2'd0 || phase_q == 2'd1;
    if (phase_q == 2'd3) begin
      rx_ctl_o <= line_rx_i;
      {high_q, rx_data_o} <= line_rx_byte_i;
    end
    if (phase_q == 2'd1) rx_data_o <= high_q;
    if (phase_q == 2'd2) low_q <= tx_data_i;
    if (phase_q == 2'd0) begin
      line_tx_o <= tx_ctl_i;
      line_tx_byte_o <= {tx_data_i, low_q};
    end
  end
endmodule : phy_line
