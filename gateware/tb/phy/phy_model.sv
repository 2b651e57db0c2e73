// The registers of a gigabit PHY, as far as they matter here, after the data sheet of Microchip's KSZ9031RNX
// (DS00002117, chapter 4) and IEEE 802.3, clause 22:
//
//   0   control: bit 12 negotiate, bit 9 begin anew (goes out by itself)
//   1   status: bit 2 link, which stays 0 from when it was lost until it is read; bit 5 negotiation is done
//   2 3 who made it, and what: as the bench says
//   4   offers: bit 8 100 Mb/s full duplex, bit 7 half, bits 6 and 5 10 Mb/s
//   9   offers: bit 9 1000 Mb/s full duplex, bit 8 half
//   d e the other registers: device, address and value in three steps; here those of device 0, 3 and 4
//   1f  bits 6 to 4 1000, 100 and 10 Mb/s, bit 3 full duplex
//
// The link is the best that both ends offer. It answers at its address and at 0, after a preamble of 32 bits and more,
// and changes MDIO after MDC has risen.
module phy_model #(
  parameter logic [4:0] Address = 5'd3
) (
  input  logic        rst_ni,
  input  logic        mdc_i,
  input  logic        mdio_i,
  output logic        mdio_o,
  output logic        drives_o,

  input  logic        mute_i,       // It does not answer.
  input  logic [31:0] id_i,
  input  logic        cable_i,      // There is somebody at the other end,
  input  logic [2:0]  partner_i,    // who offers 1000, 100 and 10 Mb/s,
  input  logic        half_i,       // and only in half duplex;
  input  logic        forced_i,     // or does not negotiate: 100 Mb/s then, in half duplex.

  output logic        link_o,
  output logic [2:0]  speed_o,      // One of them, while there is a link.
  output int unsigned reads_o,      // How often 1f was read,
  output int unsigned writes_o,     // anything written,
  output int unsigned begins_o,     // and the negotiation begun anew.
  output logic [31:0] pulses_o      // Registers 4 and 3 of device 0: how far apart its link pulses are.
);
  logic [15:0] offer_q, offer1000_q, at_q;
  logic [1:0] step_q;
  logic [7:0] lost_q, seen_q;  // How often the link was lost, and how often somebody has read that.
  logic [2:0] both;
  assign both = partner_i &
      (half_i ? {offer1000_q[8], offer_q[7], offer_q[5]} : {offer1000_q[9], offer_q[8], offer_q[6]});
  assign link_o = rst_ni && cable_i && (forced_i || both != '0);
  assign speed_o = !link_o ? '0 : forced_i ? 3'b010 : both[2] ? 3'b100 : both[1] ? 3'b010 : 3'b001;

  int unsigned ones_q;
  logic [5:0] bit_q;
  logic busy_q, read_q, mine_q;
  logic [31:0] in_q;
  logic [15:0] out_q;
  logic [31:0] now;
  assign now = {in_q[30:0], mdio_i};

  function automatic logic [15:0] value(logic [4:0] register);
    case (register)
      5'h00: return 16'h1140;
      5'h01: return 16'h7949 | (link_o ? 16'h0020 : '0) | (link_o && lost_q == seen_q ? 16'h0004 : '0);
      5'h02: return id_i[31:16];
      5'h03: return id_i[15:0];
      5'h04: return offer_q;
      5'h09: return offer1000_q;
      5'h1f: return {9'd0, speed_o, link_o && !half_i && !forced_i, 3'd0};
      default: return 16'hffff;
    endcase
  endfunction

  always_ff @(negedge link_o) lost_q <= lost_q + 1'b1;
  always_ff @(posedge mdc_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {busy_q, mdio_o, drives_o, ones_q, bit_q} <= '0;
      offer_q <= 16'h01e1;
      offer1000_q <= 16'h0300;
      pulses_o <= '0;
      step_q <= '0;
      {reads_o, writes_o, begins_o} <= '0;
    end else begin
      in_q <= now;
      ones_q <= mdio_i && !busy_q ? ones_q + 1 : 0;
      if (!busy_q) begin
        drives_o <= 1'b0;
        // The first bit of the start, after enough of a preamble.
        busy_q <= !mdio_i && ones_q >= 32 && !mute_i;
        bit_q <= 6'd1;
      end else begin
        bit_q <= bit_q + 1'b1;
        if (bit_q == 6'd3) read_q <= now[1:0] == 2'b10;
        if (bit_q == 6'd8) mine_q <= now[4:0] == Address || now[4:0] == '0;
        if (bit_q == 6'd14 && mine_q && read_q) begin
          // The second bit of the turn is this one's.
          {drives_o, mdio_o} <= 2'b10;
          out_q <= value(in_q[4:0]);
          if (in_q[4:0] == 5'h01) seen_q <= lost_q;
          if (in_q[4:0] == 5'h1f) reads_o <= reads_o + 1;
        end
        if (bit_q >= 6'd15 && mine_q && read_q) {mdio_o, out_q} <= {out_q, 1'b1};
        if (bit_q == 6'd31) begin
          busy_q <= 1'b0;
          drives_o <= 1'b0;
          if (mine_q && !read_q) begin
            writes_o <= writes_o + 1;
            case (now[22:18])
              5'h00: if (now[12] && now[9]) begins_o <= begins_o + 1;
              5'h04: offer_q <= now[15:0];
              5'h09: offer1000_q <= now[15:0];
              5'h0d: step_q <= now[15:14];
              5'h0e:
              if (step_q == 2'd0) at_q <= now[15:0];
              else if (at_q == 16'd4) pulses_o[31:16] <= now[15:0];
              else if (at_q == 16'd3) pulses_o[15:0] <= now[15:0];
              default: ;
            endcase
          end
        end
      end
    end
  end
endmodule : phy_model
