// The whole board with a PHY and its configuration flash. Memory is a model, `litedram_core.sv` beside this, without
// pins.
//
// The device holds one of two images at a time: the golden one, or an application. Who drives this says which, as the
// flash's content does on the board.
module rl_ecpix5_bench #(
  parameter bit Wired = 1'b1,
  parameter bit Keys = 1'b0,
  parameter int unsigned EraseTime = 500,     // Of the flash, cycles.
  parameter int unsigned ProgramTime = 100
) (
  input  logic        clk100_i,
  input  logic        power_i,
  input  logic        reset_i,        // Of what the device holds, as its configuration leaves it.
  input  logic        golden_i,       // The device holds this image,
  input  logic        application_i,  // or this one, or none.
  output logic        leave_o,        // It pulls PROGRAMN.
  output logic        awaits_o,       // It waits for a REFRESH.
  output logic        serves_o,       // The golden image stays.
  output logic        confirmed_o,    // The application has come up.
  input  logic        cable_i,        // Of the network.
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
  localparam int unsigned Images = 2;  // 0 the golden one.
  logic rx_clk, rx_ctl;
  logic [3:0] rx_data;
  logic [Images-1:0] on, tx_ctl, cs_n, sck, mosi, leave, awaits;
  logic [Images-1:0][3:0] tx_data, led_r, led_g, led_b;
  logic miso;
  int unsigned unused_erases, unused_programs, unused_ignored;
  assign on = {application_i, golden_i};
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
    .tx_ctl_i(|(tx_ctl & on)),
    .tx_data_i(application_i ? tx_data[1] : tx_data[0])
  );
  for (genvar n = 0; n < Images; n++) begin : gen_image
    logic
        unused_serial,
        unused_tx_clk,
        rst_n,
        mdc,
        phy_mdio,
        phy_drives,
        unused_link,
        unused_wp,
        unused_hold;
    logic [25:0] unused_ddram;
    wire [15:0] dq;
    wire [1:0] dqs;
    logic [2:0] unused_speed;
    int unsigned unused_reads, unused_writes, unused_begins;
    logic [31:0] unused_pulses;
    wire mdio;
    pullup (mdio);
    assign mdio = phy_drives ? phy_mdio : 1'bz;
    // One PHY in truth, which the other image's clock would not disturb.
    phy_model u_phy (
      .rst_ni(rst_n),
      .mdc_i(mdc),
      .mdio_i(mdio),
      .mdio_o(phy_mdio),
      .drives_o(phy_drives),
      .mute_i(1'b0),
      .id_i(32'h0022_1622),
      .cable_i,
      .partner_i(3'b111),
      .half_i(1'b0),
      .forced_i(1'b0),
      .link_o(unused_link),
      .speed_o(unused_speed),
      .reads_o(unused_reads),
      .writes_o(unused_writes),
      .begins_o(unused_begins),
      .pulses_o(unused_pulses)
    );
    rl_ecpix5 #(
      .Roles(n == 0 ? 16'h0000 : 16'h0002),
      .Golden(n == 0),
      .Keys(Keys),
      .KeptPlacesW(7),
      .KeptRoles(2),
      .Wired(Wired),
      .TrialMs(20),
      .LingerMs(1),
      .EraseMs(1),
      .ProgramMs(1),
      .PlacesW(3),
      .PhyResetUs(2),
      .PhySettleUs(1),
      .PhyPauseUs(5),
      .MdcKhz(9375)
    ) u_board (
      // An image that the device does not hold has no clock.
      .clk100(clk100_i && on[n]),
      .rst_n(!reset_i && on[n]),
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
      .rgb_led_r(led_r[n]),
      .rgb_led_g(led_g[n]),
      .rgb_led_b(led_b[n]),
      .eth_clocks_tx(unused_tx_clk),
      .eth_clocks_rx(rx_clk && on[n]),
      .eth_rst_n(rst_n),
      .eth_mdio(mdio),
      .eth_mdc(mdc),
      .eth_rx_ctl(rx_ctl),
      .eth_rx_data(rx_data),
      .eth_tx_ctl(tx_ctl[n]),
      .eth_tx_data(tx_data[n]),
      .spiflash_cs_n(cs_n[n]),
      .spiflash_mosi(mosi[n]),
      .spiflash_miso(miso),
      .spiflash_wp(unused_wp),
      .spiflash_hold(unused_hold)
    );
    // What has no pin on the board.
    assign sck[n] = u_board.gen_flash.u_flash.sck;
    assign leave[n] = u_board.leave;
    assign awaits[n] = u_board.awaits;
  end
  assign leave_o = |(leave & on);
  assign awaits_o = |(awaits & on);
  assign serves_o = golden_i && gen_image[0].u_board.gen_flash.u_flash.unused_ready;
  assign confirmed_o = application_i && gen_image[1].u_board.gen_flash.u_flash.unused_confirmed;
  assign led_r_o = application_i ? led_r[1] : led_r[0];
  assign led_g_o = application_i ? led_g[1] : led_g[0];
  assign led_b_o = application_i ? led_b[1] : led_b[0];
  flash_chip #(
    .EraseTime(EraseTime),
    .ProgramTime(ProgramTime)
  ) u_chip (
    .clk_i(clk100_i),
    .power_i,
    .cs_ni(application_i ? cs_n[1] : golden_i ? cs_n[0] : 1'b1),
    .sck_i(application_i ? sck[1] : golden_i && sck[0]),
    .mosi_i(application_i ? mosi[1] : golden_i && mosi[0]),
    .miso_o(miso),
    .protect_i('0),
    .other_i(1'b0),
    .mute_i(1'b0),
    .stuck_i(1'b0),
    .fails_i(1'b0),
    .deaf_i(1'b0),
    .weak_i(1'b0),
    .erases_o(unused_erases),
    .programs_o(unused_programs),
    .ignored_o(unused_ignored)
  );
endmodule : rl_ecpix5_bench
