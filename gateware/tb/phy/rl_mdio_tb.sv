// The master of the management bus, and a PHY. MDIO has a pull-up.
module rl_mdio_tb #(
  parameter int unsigned HalfCycles = 5
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        valid_i,
  output logic        ready_o,
  input  logic        write_i,
  input  logic [4:0]  phy_i,
  input  logic [4:0]  register_i,
  input  logic [15:0] value_i,
  output logic        done_o,
  output logic        missing_o,
  output logic [15:0] value_o,
  output logic        mdc_o,
  output logic        line_o,
  output logic        fight_o,     // Both drive.
  input  logic        mute_i,
  output int unsigned writes_o
);
  logic mdio, drives, phy_mdio, phy_drives, unused_link;
  logic [2:0] unused_speed;
  int unsigned unused_reads, unused_begins;
  logic [31:0] unused_pulses;
  assign line_o = drives ? mdio : phy_drives ? phy_mdio : 1'b1;
  assign fight_o = drives && phy_drives;
  rl_mdio #(
    .HalfCycles(HalfCycles)
  ) u_mdio (
    .clk_i,
    .rst_ni,
    .valid_i,
    .ready_o,
    .write_i,
    .phy_i,
    .register_i,
    .value_i,
    .done_o,
    .missing_o,
    .value_o,
    .mdc_o,
    .mdio_o(mdio),
    .drives_o(drives),
    .mdio_i(line_o)
  );
  phy_model u_phy (
    .rst_ni,
    .mdc_i(mdc_o),
    .mdio_i(line_o),
    .mdio_o(phy_mdio),
    .drives_o(phy_drives),
    .mute_i,
    .id_i(32'h0022_1622),
    .cable_i(1'b0),
    .partner_i('0),
    .half_i(1'b0),
    .forced_i(1'b0),
    .link_o(unused_link),
    .speed_o(unused_speed),
    .reads_o(unused_reads),
    .writes_o,
    .begins_o(unused_begins),
    .pulses_o(unused_pulses)
  );
endmodule : rl_mdio_tb
