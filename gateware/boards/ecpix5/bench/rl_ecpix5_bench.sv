// The whole board with a PHY. Memory is a model, `litedram_core.sv` beside this, without pins.
module rl_ecpix5_bench (
  input  logic        clk100_i,
  input  logic        rst_ni,
  output logic [3:0]  led_r_o,
  output logic [3:0]  led_g_o,
  output logic [3:0]  led_b_o,

  input  logic        clk_line_i,   // Four times the line's clock: its data change in the middle between its edges.
  output logic        line_clk_o,   // At its rising edge bytes are taken and given.
  input  logic        line_rx_i,    // There is a byte.
  input  logic [7:0]  line_rx_byte_i,
  output logic        line_tx_o,
  output logic [7:0]  line_tx_byte_o
);
  logic rx_clk, rx_ctl, tx_ctl;
  logic [3:0] rx_data, tx_data;
  logic unused_tx_clk, unused_rst_n, unused_mdc;
  wire mdio;
  phy_line u_line (
    .clk_line_i,
    .line_clk_o,
    .line_rx_i,
    .line_rx_byte_i,
    .line_tx_o,
    .line_tx_byte_o,
    .rx_clk_o(rx_clk),
    .rx_ctl_o(rx_ctl),
    .rx_data_o(rx_data),
    .tx_ctl_i(tx_ctl),
    .tx_data_i(tx_data)
  );
  logic unused_serial;
  logic [25:0] unused_ddram;
  wire [15:0] dq;
  wire [1:0] dqs;
  rl_ecpix5 u_board (
    .clk100(clk100_i),
    .rst_n(rst_ni),
    .serial_rx(1'b1),
    .serial_tx(unused_serial),
    .ddram_a(unused_ddram[14:0]),
    .ddram_ba(unused_ddram[17:15]),
    .ddram_ras_n(unused_ddram[18]),
    .ddram_cas_n(unused_ddram[19]),
    .ddram_we_n(unused_ddram[20]),
    .ddram_dm(unused_ddram[22:21]),
    .ddram_dq(dq),
    .ddram_dqs_p(dqs),
    .ddram_clk_p(unused_ddram[23]),
    .ddram_cke(unused_ddram[24]),
    .ddram_odt(unused_ddram[25]),
    .rgb_led_r(led_r_o),
    .rgb_led_g(led_g_o),
    .rgb_led_b(led_b_o),
    .eth_clocks_tx(unused_tx_clk),
    .eth_clocks_rx(rx_clk),
    .eth_rst_n(unused_rst_n),
    .eth_mdio(mdio),
    .eth_mdc(unused_mdc),
    .eth_rx_ctl(rx_ctl),
    .eth_rx_data(rx_data),
    .eth_tx_ctl(tx_ctl),
    .eth_tx_data(tx_data)
  );
endmodule : rl_ecpix5_bench
