// What watches a link, and a KSZ9031 with a short time of everything.
module rl_phy_link_tb
  import rl_phy_pkg::*;
#(
  parameter int unsigned ResetCycles = 300,
  parameter int unsigned SettleCycles = 70,
  parameter int unsigned PauseCycles = 400
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  output logic        answers_o,
  output logic        known_o,
  output logic        up_o,
  output logic        half_o,
  output logic [1:0]  speed_o,
  output logic        phy_rst_no,
  output logic        mdc_o,
  input  logic        mute_i,
  input  logic [31:0] id_i,
  input  logic        cable_i,
  input  logic [2:0]  partner_i,
  input  logic        half_i,
  input  logic        forced_i,
  output logic        link_o,
  output logic [2:0]  phy_speed_o,
  output int unsigned reads_o,
  output int unsigned writes_o,
  output int unsigned begins_o,
  output logic [31:0] pulses_o
);
  phy_link_t link;
  logic mdio, drives, phy_mdio, phy_drives;
  assign {answers_o, known_o, up_o, half_o} = {link.answers, link.known, link.up, link.half};
  assign speed_o = link.speed;
  rl_phy_link #(
    .ResetCycles(ResetCycles),
    .SettleCycles(SettleCycles),
    .PauseCycles(PauseCycles),
    .HalfCycles(4),
    .Id(32'h0022_1620),
    .IdMask(32'hffff_fff0),
    .Writes(rl_ksz9031_pkg::Writes),
    .Setup(rl_ksz9031_pkg::Setup)
  ) u_link (
    .clk_i,
    .rst_ni,
    .link_o(link),
    .phy_rst_no,
    .mdc_o,
    .mdio_o(mdio),
    .drives_o(drives),
    .mdio_i(drives ? mdio : phy_drives ? phy_mdio : 1'b1)
  );
  phy_model u_phy (
    .rst_ni(phy_rst_no),
    .mdc_i(mdc_o),
    .mdio_i(drives ? mdio : phy_drives ? phy_mdio : 1'b1),
    .mdio_o(phy_mdio),
    .drives_o(phy_drives),
    .mute_i,
    .id_i,
    .cable_i,
    .partner_i,
    .half_i,
    .forced_i,
    .link_o,
    .speed_o(phy_speed_o),
    .reads_o,
    .writes_o,
    .begins_o,
    .pulses_o
  );
endmodule : rl_phy_link_tb
