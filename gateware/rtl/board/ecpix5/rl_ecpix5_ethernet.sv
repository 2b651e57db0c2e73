// The ECPIX-5's gigabit port behind LiteEth's PHY and MAC, with the shell's streams. The PHY's clock is
// crossed in the MAC. 64 bits at the card's clock are several times as fast as the line, so what comes
// in is always taken, and what goes out never runs dry inside of a frame.
module rl_ecpix5_ethernet (
  input  logic        clk_i,
  input  logic        rst_i,           // Until the clock runs.
  input  logic        open_i,          // The shell is there.

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
  logic valid, last;
  logic [63:0] data;
  logic [7:0] last_be, error, tx_last_be;

  ethernet_core u_core (
    .clk(clk_i),
    .rst(rst_i),
    .eth_clocks_tx,
    .eth_clocks_rx,
    .eth_rst_n,
    .eth_mdio,
    .eth_mdc,
    .eth_rx_ctl,
    .eth_rx_data,
    .eth_tx_ctl,
    .eth_tx_data,
    .rx_valid(valid),
    .rx_ready(1'b1),
    .rx_data(data),
    .rx_last(last),
    .rx_last_be(last_be),
    .rx_error(error),
    .tx_valid(tx_valid_i),
    .tx_ready(tx_ready_o),
    .tx_data(tx_data_i),
    .tx_last(tx_last_i),
    .tx_last_be,
    .tx_error('0)
  );

  // The core marks a frame's last byte; the shell all that are there.
  logic [7:0] keep;
  for (genvar i = 0; i < 8; i++) begin : gen_byte
    assign keep[i] = |last_be[7:i];
    if (i < 7) begin : gen_inner
      assign tx_last_be[i] = tx_last_i && tx_keep_i[i] && !tx_keep_i[i+1];
    end else begin : gen_outer
      assign tx_last_be[i] = tx_last_i && tx_keep_i[i];
    end
  end

  // The shell begins with a frame's first word: the rest of one that was under way would look whole.
  logic inside_q, open_q;
  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      inside_q <= 1'b0;
      open_q <= 1'b0;
      rx_valid_o <= 1'b0;
    end else begin
      if (valid) inside_q <= !last;
      if (!open_i) open_q <= 1'b0;
      else if (valid ? last : !inside_q) open_q <= 1'b1;
      rx_valid_o <= valid && open_q && open_i;
    end
    rx_data_o <= data;
    rx_keep_o <= keep;
    rx_last_o <= last;
    rx_bad_o <= |error;
  end
endmodule : rl_ecpix5_ethernet
