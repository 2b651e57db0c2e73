// The pins of the ECPIX-5's RGMII: double data rate, and the delay of the clock that goes out.
//
// As LiteX' own target for the board, and LiteEth's PHY, have it: the PHY delays the clock that it gives, we that which
// it gets, by 2 ns. What goes out goes with the clock that comes in.
module rl_ecpix5_rgmii (
  input  logic       clk_i,      // The PHY's.

  output logic [3:0] rx_rise_o,  // At a rising edge, and at the falling one after it.
  output logic [3:0] rx_fall_o,
  output logic       rx_control_o,
  input  logic [3:0] tx_rise_i,
  input  logic [3:0] tx_fall_i,
  input  logic       tx_control_i,

  output logic       eth_clocks_tx,
  input  logic       eth_rx_ctl,
  input  logic [3:0] eth_rx_data,
  output logic       eth_tx_ctl,
  output logic [3:0] eth_tx_data
);
  localparam string Mode = "SCLK_ALIGNED";
  localparam int unsigned ClockDelay = 80;  // Of 25 ps.

  logic [4:0] in, in_delayed, rise, fall, out, out_delayed;
  assign in = {eth_rx_ctl, eth_rx_data};
  assign {rx_control_o, rx_rise_o} = rise;
  assign rx_fall_o = fall[3:0];
  assign {eth_tx_ctl, eth_tx_data} = out_delayed;
  for (genvar i = 0; i < 5; i++) begin : gen_pin
    DELAYG #(
      .DEL_MODE(Mode),
      .DEL_VALUE(0)
    ) u_in_delay (
      .A(in[i]),
      .Z(in_delayed[i])
    );
    IDDRX1F u_in (
      .SCLK(clk_i),
      .D(in_delayed[i]),
      .Q0(rise[i]),
      .Q1(fall[i])
    );
    ODDRX1F u_out (
      .SCLK(clk_i),
      .D0(i == 4 ? tx_control_i : tx_rise_i[i%4]),
      .D1(i == 4 ? tx_control_i : tx_fall_i[i%4]),
      .Q(out[i])
    );
    DELAYG #(
      .DEL_MODE(Mode),
      .DEL_VALUE(0)
    ) u_out_delay (
      .A(out[i]),
      .Z(out_delayed[i])
    );
  end
  logic clock;
  ODDRX1F u_clock (
    .SCLK(clk_i),
    .D0(1'b1),
    .D1(1'b0),
    .Q(clock)
  );
  DELAYG #(
    .DEL_MODE(Mode),
    .DEL_VALUE(ClockDelay)
  ) u_clock_delay (
    .A(clock),
    .Z(eth_clocks_tx)
  );
  logic unused;
  assign unused = fall[4];
endmodule : rl_ecpix5_rgmii
