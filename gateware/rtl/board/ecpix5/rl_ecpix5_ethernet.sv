// The ECPIX-5's port, of 10, 100 or 1000 Mb/s: its PHY and what watches that, LiteEth's MAC, and the shell's streams.
//
// The PHY's clock, of 2.5, 25 or 125 MHz, is crossed in the MAC. 64 bits at the card's clock are several times as fast
// as the line, so what comes in is always taken, and what goes out never runs dry inside of a frame.
//
// While there is no link the MAC is in reset: the PHY's clock may stop then, or become another one. Where the PHY
// cannot be asked, it counts as a link of 1000 Mb/s.
module rl_ecpix5_ethernet
  import rl_phy_pkg::*;
#(
  parameter int unsigned ClockKhz = 75000,
  parameter int unsigned ResetUs = rl_ksz9031_pkg::ResetUs,
  parameter int unsigned SettleUs = rl_ksz9031_pkg::SettleUs,
  parameter int unsigned PauseUs = 10_000,  // Between looks at the link.
  parameter int unsigned MdcKhz = 1250      // The PHY does 8300.
) (
  input  logic        clk_i,
  input  logic        rst_i,           // Until the clock runs.
  input  logic        open_i,          // The shell is there.
  output phy_link_t   link_o,

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

  output logic        eth_clocks_tx,
  input  logic        eth_clocks_rx,
  output logic        eth_rst_n,
  inout  wire         eth_mdio,
  output logic        eth_mdc,
  input  logic        eth_rx_ctl,
  input  logic [3:0]  eth_rx_data,
  output logic        eth_tx_ctl,
  output logic [3:0]  eth_tx_data
);
  // -- the PHY
  logic mdio_out, mdio_in, mdio_drives;
  rl_phy_link #(
    .ResetCycles(ResetUs * ClockKhz / 1000),
    .SettleCycles(SettleUs * ClockKhz / 1000),
    .PauseCycles(PauseUs * ClockKhz / 1000),
    .HalfCycles(ClockKhz / MdcKhz / 2),
    .Phy(rl_ksz9031_pkg::Address),
    .Id(rl_ksz9031_pkg::Id),
    .IdMask(rl_ksz9031_pkg::IdMask),
    .Writes(rl_ksz9031_pkg::Writes),
    .Setup(rl_ksz9031_pkg::Setup)
  ) u_link (
    .clk_i,
    .rst_ni(!rst_i),
    .link_o,
    .phy_rst_no(eth_rst_n),
    .mdc_o(eth_mdc),
    .mdio_o(mdio_out),
    .drives_o(mdio_drives),
    .mdio_i(mdio_in)
  );
  TRELLIS_IO #(
    .DIR("BIDIR")
  ) u_mdio (
    .B(eth_mdio),
    .I(mdio_out),
    .T(!mdio_drives),
    .O(mdio_in)
  );

  // -- the line
  logic up_q, rst_mac_q, gigabit_q, gigabit, rst_phy;
  logic [7:0] wait_q;  // For some edges of the PHY's clock.
  logic phy_rx_valid, phy_rx_last, phy_tx_valid, phy_tx_ready, phy_tx_last;
  logic [7:0] phy_rx_data, phy_tx_data;
  logic [3:0] rx_rise, rx_fall, tx_rise, tx_fall;
  logic rx_control, tx_control;
  always_ff @(posedge clk_i) begin
    up_q <= eth_rst_n && (link_o.up || !link_o.known);
    if (rst_i || !up_q) wait_q <= '1;
    else if (wait_q != '0) wait_q <= wait_q - 1'b1;
    rst_mac_q <= rst_i || !up_q || wait_q != '0;
    gigabit_q <= !link_o.known || link_o.speed == Speed1000;
  end
  // It has come before the MAC's reset ends.
  rl_sync u_gigabit (
    .clk_i(eth_clocks_rx),
    .rst_ni(1'b1),
    .d_i(gigabit_q),
    .q_o(gigabit)
  );
  rl_ecpix5_rgmii u_pins (
    .clk_i(eth_clocks_rx),
    .rx_rise_o(rx_rise),
    .rx_fall_o(rx_fall),
    .rx_control_o(rx_control),
    .tx_rise_i(tx_rise),
    .tx_fall_i(tx_fall),
    .tx_control_i(tx_control),
    .eth_clocks_tx,
    .eth_rx_ctl,
    .eth_rx_data,
    .eth_tx_ctl,
    .eth_tx_data
  );
  rl_rgmii_rx u_rx (
    .clk_i(eth_clocks_rx),
    .rst_ni(!rst_phy),
    .gigabit_i(gigabit),
    .rise_i(rx_rise),
    .fall_i(rx_fall),
    .control_i(rx_control),
    .valid_o(phy_rx_valid),
    .data_o(phy_rx_data),
    .last_o(phy_rx_last)
  );
  rl_rgmii_tx u_tx (
    .clk_i(eth_clocks_rx),
    .rst_ni(!rst_phy),
    .gigabit_i(gigabit),
    .valid_i(phy_tx_valid),
    .ready_o(phy_tx_ready),
    .data_i(phy_tx_data),
    .last_i(phy_tx_last),
    .rise_o(tx_rise),
    .fall_o(tx_fall),
    .control_o(tx_control)
  );

  // -- the MAC
  logic valid, last, mac_tx_valid, mac_tx_ready;
  logic [63:0] data;
  logic [7:0] last_be, error, tx_last_be;
  ethernet_core u_core (
    .clk(clk_i),
    .rst(rst_mac_q),
    .phy_clk(eth_clocks_rx),
    .phy_rst(rst_phy),
    .phy_rx_valid,
    .phy_rx_data,
    .phy_rx_last,
    .phy_tx_valid,
    .phy_tx_ready,
    .phy_tx_data,
    .phy_tx_last,
    .rx_valid(valid),
    .rx_ready(1'b1),
    .rx_data(data),
    .rx_last(last),
    .rx_last_be(last_be),
    .rx_error(error),
    .tx_valid(mac_tx_valid),
    .tx_ready(mac_tx_ready),
    .tx_data(tx_data_i),
    .tx_last(tx_last_i),
    .tx_last_be,
    .tx_error('0)
  );

  // The core marks a frame's last byte; the shell all that are there. A frame without a last byte is a bad one.
  logic [7:0] keep;
  for (genvar i = 0; i < 8; i++) begin : gen_byte
    assign keep[i] = i == 0 || |last_be[7:i];
    if (i < 7) begin : gen_inner
      assign tx_last_be[i] = tx_last_i && tx_keep_i[i] && !tx_keep_i[i+1];
    end else begin : gen_outer
      assign tx_last_be[i] = tx_last_i && tx_keep_i[i];
    end
  end

  rl_link_gate u_gate (
    .clk_i,
    .rst_ni(!rst_i),
    .link_i(!rst_mac_q),
    .open_i,
    .rx_valid_i(valid),
    .rx_data_i(data),
    .rx_keep_i(keep),
    .rx_last_i(last),
    .rx_bad_i(|error || (last && last_be == '0)),
    .rx_valid_o,
    .rx_data_o,
    .rx_keep_o,
    .rx_last_o,
    .rx_bad_o,
    .tx_valid_i,
    .tx_ready_o,
    .tx_last_i,
    .tx_valid_o(mac_tx_valid),
    .tx_ready_i(mac_tx_ready)
  );
endmodule : rl_ecpix5_ethernet
