// The ports of LiteEth's PHY and MAC, for tools that look at our sources only. The module itself is generated, and
// the board's build reads that in place of this.

// It has no contents.
// verilator lint_off UNUSEDSIGNAL
// verilator lint_off UNDRIVEN
(* blackbox *)
module ethernet_core (
  input wire clk,
  input wire eth_clocks_rx,
  output logic eth_clocks_tx,
  output logic eth_mdc,
  input wire eth_mdio,
  output logic eth_rst_n,
  input wire eth_rx_ctl,
  input wire [3:0] eth_rx_data,
  output logic eth_tx_ctl,
  output logic [3:0] eth_tx_data,
  input wire rst,
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
