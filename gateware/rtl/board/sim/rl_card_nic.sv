// The host behind a simulated card, if its configuration has one: rl_nic at one of the ports beside port 0, with what
// the card's counters hear of it. What comes in at the other ports goes by, and what leaves there does.
//
// Its clock rests while no frame is there, so that a card without a host costs nothing.
module rl_card_nic
  import rl_wire_pkg::mac_addr_t;
  import rl_port_pkg::*;
  import rl_nic_pkg::*;
#(
  parameter int unsigned Ports = 3,  // Port 0 among them.
  localparam int unsigned DataW = 64,
  localparam int unsigned KeepW = DataW / 8
) (
  input  logic                         clk_net_i,
  input  logic                         rst_power_ni,
  input  mac_addr_t                    card_i,        // Steady, as are these.
  input  mac_addr_t [Ports-1:1]        mac_i,         // The ports' addresses,
  input  logic [Ports-1:1]             hosts_i,       // and at which of them the host is: one at most.
  input  logic [15:0]                  time_us_i,

  // -- port 0, as rl_nic has it
  input  logic                         wire_valid_i,
  input  logic [DataW-1:0]             wire_data_i,
  input  logic [KeepW-1:0]             wire_keep_i,
  input  logic                         wire_last_i,
  input  logic                         wire_bad_i,
  output logic                         wire_valid_o,
  input  logic                         wire_ready_i,
  output logic [DataW-1:0]             wire_data_o,
  output logic [KeepW-1:0]             wire_keep_o,
  output logic                         wire_last_o,

  // -- the MACs of the ports
  input  logic [Ports-1:1]             rx_valid_i,
  input  logic [Ports-1:1][DataW-1:0]  rx_data_i,
  input  logic [Ports-1:1][KeepW-1:0]  rx_keep_i,
  input  logic [Ports-1:1]             rx_last_i,
  input  logic [Ports-1:1]             rx_bad_i,
  output logic [Ports-1:1]             tx_valid_o,
  input  logic [Ports-1:1]             tx_ready_i,
  output logic [Ports-1:1][DataW-1:0]  tx_data_o,
  output logic [Ports-1:1][KeepW-1:0]  tx_keep_o,
  output logic [Ports-1:1]             tx_last_o,

  // -- and those of whoever has the other ports
  output logic [Ports-1:1]             other_rx_valid_o,
  input  logic [Ports-1:1]             other_tx_valid_i,
  output logic [Ports-1:1]             other_tx_ready_o,
  input  logic [Ports-1:1][DataW-1:0]  other_tx_data_i,
  input  logic [Ports-1:1][KeepW-1:0]  other_tx_keep_i,
  input  logic [Ports-1:1]             other_tx_last_i,

  // -- what there is to count, until it is taken
  input  logic                         rx_event_ready_i,
  output port_event_t                  rx_event_o,
  output logic                         tx_event_valid_o,
  input  logic                         tx_event_ready_i,
  output logic [13:0]                  tx_event_bytes_o,
  output nic_config_t                  config_o,      // Who is config_o. Steady.
  output nic_counts_t                  counts_o,
  output logic                         busy_o
);
  // -- the host's port
  logic rx_valid, rx_last, rx_bad, tx_valid, tx_ready, tx_last;
  logic [DataW-1:0] rx_data, tx_data;
  logic [KeepW-1:0] rx_keep, tx_keep;
  always_comb begin
    config_o = '{open: hosts_i != '0, card: card_i, host: '0};
    {rx_valid, rx_data, rx_keep, rx_last, rx_bad, tx_ready} = '0;
    for (int unsigned p = 1; p < Ports; p++) begin
      if (hosts_i[p]) begin
        config_o.host = mac_i[p];
        {rx_valid, rx_data, rx_keep} = {rx_valid_i[p], rx_data_i[p], rx_keep_i[p]};
        {rx_last, rx_bad, tx_ready} = {rx_last_i[p], rx_bad_i[p], tx_ready_i[p]};
      end
    end
  end
  assign other_rx_valid_o = rx_valid_i & ~hosts_i;
  assign other_tx_ready_o = tx_ready_i & ~hosts_i;
  for (genvar p = 1; p < Ports; p++) begin : gen_port
    assign tx_valid_o[p] = hosts_i[p] ? tx_valid : other_tx_valid_i[p];
    assign tx_data_o[p] = hosts_i[p] ? tx_data : other_tx_data_i[p];
    assign tx_keep_o[p] = hosts_i[p] ? tx_keep : other_tx_keep_i[p];
    assign tx_last_o[p] = hosts_i[p] ? tx_last : other_tx_last_i[p];
  end

  // -- the clock
  logic clk, awake, nic_busy, counting;
  assign busy_o = config_o.open && (nic_busy || counting);
  assign awake = !rst_power_ni || (config_o.open && (wire_valid_i || rx_valid || nic_busy || counting));
  rl_clock_gate u_clock (
    .clk_i(clk_net_i),
    .enable_i(awake),
    .clk_o(clk)
  );

  port_event_t unused_wire_event, host_event;
  logic [1:0] left;  // To the wire and to the host.
  logic [1:0][13:0] left_bytes;
  rl_nic #(
    .DataW(DataW)
  ) u_nic (
    .clk_i(clk),
    .rst_ni(rst_power_ni),
    .config_i(config_o),
    .time_us_i,
    .wire_valid_i,
    .wire_data_i,
    .wire_keep_i,
    .wire_last_i,
    .wire_bad_i,
    .wire_valid_o,
    .wire_ready_i,
    .wire_data_o,
    .wire_keep_o,
    .wire_last_o,
    .host_valid_i(rx_valid),
    .host_data_i(rx_data),
    .host_keep_i(rx_keep),
    .host_last_i(rx_last),
    .host_bad_i(rx_bad),
    .host_valid_o(tx_valid),
    .host_ready_i(tx_ready),
    .host_data_o(tx_data),
    .host_keep_o(tx_keep),
    .host_last_o(tx_last),
    .wire_event_o(unused_wire_event),
    .host_event_o(host_event),
    .left_o(left),
    .left_bytes_o(left_bytes),
    .counts_o,
    .busy_o(nic_busy)
  );

  // -- what there is to count: a frame takes 8 cycles at least, and the counters have more than a third of all
  localparam int unsigned Depth = 4;
  logic rx_waits, rx_room;
  logic [1:0] tx_waits, tx_room, tx_taken;
  logic [1:0][13:0] tx_waiting;
  logic [2:0][$clog2(Depth):0] unused_count;
  port_event_t rx_waiting;
  rl_fifo #(
    .Width($bits(port_event_t)),
    .Depth(Depth)
  ) u_rx (
    .clk_i(clk),
    .rst_ni(rst_power_ni),
    .wvalid_i(host_event.frame),
    .wready_o(rx_room),
    .wdata_i(host_event),
    .rvalid_o(rx_waits),
    .rready_i(rx_event_ready_i),
    .rdata_o(rx_waiting),
    .count_o(unused_count[2])
  );
  for (genvar i = 0; i < 2; i++) begin : gen_left
    rl_fifo #(
      .Width(14),
      .Depth(Depth)
    ) u_tx (
      .clk_i(clk),
      .rst_ni(rst_power_ni),
      .wvalid_i(left[i]),
      .wready_o(tx_room[i]),
      .wdata_i(left_bytes[i]),
      .rvalid_o(tx_waits[i]),
      .rready_i(tx_taken[i]),
      .rdata_o(tx_waiting[i]),
      .count_o(unused_count[i])
    );
  end
  assign rx_event_o = rx_waits ? rx_waiting : '0;
  assign tx_event_valid_o = tx_waits != '0;
  assign tx_event_bytes_o = tx_waiting[!tx_waits[0]];
  assign tx_taken = {tx_event_ready_i && !tx_waits[0], tx_event_ready_i};
  assign counting = rx_waits || tx_waits != '0;

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (rst_power_ni) begin
      OneHost_A : assert ($onehot0(hosts_i));
      EventIsKept_A : assert ((!host_event.frame || rx_room) && (left & ~tx_room) == '0);
    end
  end
`endif
endmodule
