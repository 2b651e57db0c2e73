// The ports of LiteEth's MAC, for tools that look at our sources only. The module itself is generated, and the
// board's build reads that in place of this.

// It has no contents.
// verilator lint_off UNUSEDSIGNAL
// verilator lint_off UNDRIVEN
(* blackbox *)
module ethernet_core (
  input wire clk,
  input wire rst,
  input wire phy_clk,
  output logic phy_rst,
  input wire phy_rx_valid,
  input wire [7:0] phy_rx_data,
  input wire phy_rx_last,
  output logic phy_tx_valid,
  input wire phy_tx_ready,
  output logic [7:0] phy_tx_data,
  output logic phy_tx_last,
  output logic [63:0] rx_data,
  output logic [7:0] rx_error,
  output logic rx_last,
  output logic [7:0] rx_last_be,
  input wire rx_ready,
  output logic rx_valid,
  input wire [63:0] tx_data,
  input wire [7:0] tx_error,
  input wire tx_last,
  input wire [7:0] tx_last_be,
  output logic tx_ready,
  input wire tx_valid
);
endmodule : ethernet_core
// verilator lint_on UNDRIVEN
// verilator lint_on UNUSEDSIGNAL
