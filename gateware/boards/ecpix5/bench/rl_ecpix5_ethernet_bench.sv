// The Ethernet port with a PHY: its line, and its registers with a short time of everything.
module rl_ecpix5_ethernet_bench (
  input  logic        clk_i,
  input  logic        rst_i,
  input  logic        open_i,
  output logic        rx_valid_o,
  output logic [63:0] rx_data_o,
  output logic [7:0]  rx_keep_o,
  output logic        rx_last_o,
  output logic        rx_bad_o,
  input  logic        tx_valid_i,
  output logic        tx_ready_o,
  input  logic [63:0] tx_data_i,
  input  logic [7:0]  tx_keep_i,
  input  logic        tx_last_i,

  input  logic        clk_line_i,   // Four times the line's clock: its data change in the middle between its edges.
  output logic        line_clk_o,   // At its rising edge bytes are taken and given.
  input  logic        line_rx_i,    // There is a byte.
  input  logic [7:0]  line_rx_byte_i,
  output logic        line_tx_o,
  output logic [7:0]  line_tx_byte_o,

  input  logic        mute_i,       // See phy_model.
  input  logic        cable_i,
  input  logic [2:0]  partner_i,
  output logic        answers_o,
  output logic        up_o,
  output logic [1:0]  speed_o
);
  rl_phy_pkg::phy_link_t link;
  assign {answers_o, up_o, speed_o} = {link.answers, link.up, link.speed};
  logic rx_clk, rx_ctl, tx_ctl;
  logic [3:0] rx_data, tx_data;
  logic unused_tx_clk, unused_link, rst_n, mdc, phy_mdio, phy_drives;
  logic [2:0] unused_speed;
  int unsigned unused_reads, unused_writes, unused_begins;
  logic [31:0] unused_pulses;
  wire mdio;
  pullup (mdio);
  assign mdio = phy_drives ? phy_mdio : 1'bz;
  phy_model u_phy (
    .rst_ni(rst_n),
    .mdc_i(mdc),
    .mdio_i(mdio),
    .mdio_o(phy_mdio),
    .drives_o(phy_drives),
    .mute_i,
    .id_i(32'h0022_1622),
    .cable_i,
    .partner_i,
    .half_i(1'b0),
    .forced_i(1'b0),
    .link_o(unused_link),
    .speed_o(unused_speed),
    .reads_o(unused_reads),
    .writes_o(unused_writes),
    .begins_o(unused_begins),
    .pulses_o(unused_pulses)
  );
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
  rl_ecpix5_ethernet #(
    .ResetUs(2),
    .SettleUs(1),
    .PauseUs(5),
    .MdcKhz(9375)
  ) u_ethernet (
    .clk_i,
    .rst_i,
    .open_i,
    .link_o(link),
    .rx_valid_o,
    .rx_data_o,
    .rx_keep_o,
    .rx_last_o,
    .rx_bad_o,
    .tx_valid_i,
    .tx_ready_o,
    .tx_data_i,
    .tx_keep_i,
    .tx_last_i,
    .eth_clocks_tx(unused_tx_clk),
    .eth_clocks_rx(rx_clk),
    .eth_rst_n(rst_n),
    .eth_mdio(mdio),
    .eth_mdc(mdc),
    .eth_rx_ctl(rx_ctl),
    .eth_rx_data(rx_data),
    .eth_tx_ctl(tx_ctl),
    .eth_tx_data(tx_data)
  );
endmodule : rl_ecpix5_ethernet_bench
