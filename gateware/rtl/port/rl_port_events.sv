// What the ports have to count, one after the other: events of frames that have come in, and lengths of those that have
// left. All ports together have one of either a cycle at most, over some time: two ports of 100 Gb/s have less at
// 322 MHz.
module rl_port_events
  import rl_port_pkg::*;
#(
  parameter int unsigned DataW = 64,
  parameter int unsigned Ports = 2,
  localparam int unsigned KeepW = DataW / 8
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  port_event_t [Ports-1:0]     event_i,     // Each for one cycle.
  input  logic [Ports-1:0]            leaves_i,    // A word leaves at the port.
  input  logic [Ports-1:0][KeepW-1:0] keep_i,
  input  logic [Ports-1:0]            last_i,
  input  logic [Ports-1:0]            bad_i,       // With last_i: the frame is not whole, and does not count.

  input  logic                        rx_ready_i,
  output port_event_t                 rx_o,        // Until it is taken.
  output logic                        tx_valid_o,
  input  logic                        tx_ready_i,
  output logic [13:0]                 tx_bytes_o,
  output logic                        busy_o
);
  localparam int unsigned Depth = DataW > 64 ? 16 : 4;  // Short frames come together.
  typedef logic [Ports-1:0] each_t;
  port_event_t [Ports-1:0] rx_waiting;
  logic [Ports-1:0][13:0] tx_waiting;
  each_t rx_waits, rx_taken, rx_room, tx_waits, tx_taken, tx_room, left;
  for (genvar i = 0; i < Ports; i++) begin : gen_port
    logic [$clog2(Depth):0] unused_rx_count, unused_tx_count;
    rl_fifo #(
      .Width($bits(port_event_t)),
      .Depth(Depth)
    ) u_rx (
      .clk_i,
      .rst_ni,
      .wvalid_i(event_i[i].frame),
      .wready_o(rx_room[i]),
      .wdata_i(event_i[i]),
      .rvalid_o(rx_waits[i]),
      .rready_i(rx_taken[i]),
      .rdata_o(rx_waiting[i]),
      .count_o(unused_rx_count)
    );
    logic [13:0] bytes;
    assign left[i] = leaves_i[i] && last_i[i] && !bad_i[i];
    rl_port_count #(
      .DataW(DataW)
    ) u_count (
      .clk_i,
      .rst_ni,
      .valid_i(leaves_i[i]),
      .last_i(last_i[i]),
      .keep_i(keep_i[i]),
      .bytes_o(bytes)
    );
    rl_fifo #(
      .Width(14),
      .Depth(Depth)
    ) u_tx (
      .clk_i,
      .rst_ni,
      .wvalid_i(left[i]),
      .wready_o(tx_room[i]),
      .wdata_i(bytes),
      .rvalid_o(tx_waits[i]),
      .rready_i(tx_taken[i]),
      .rdata_o(tx_waiting[i]),
      .count_o(unused_tx_count)
    );
`ifndef SYNTHESIS
    always_ff @(posedge clk_i) if (rst_ni && event_i[i].frame) EventIsKept_A : assert (rx_room[i]);
    always_ff @(posedge clk_i) if (rst_ni && left[i]) LeavingIsKept_A : assert (tx_room[i]);
`endif
  end
`ifdef SYNTHESIS
  logic unused;
  assign unused = ^{rx_room, tx_room};
`endif

  // They take turns: with short frames each has one in every other cycle.
  each_t rx_after_q, tx_after_q, rx_first, tx_first;
  function automatic each_t first(each_t waits, each_t after);
    automatic each_t able = |(waits & after) ? waits & after : waits;
    return able & (~able + 1'b1);
  endfunction
  assign rx_first = first(rx_waits, rx_after_q);
  assign tx_first = first(tx_waits, tx_after_q);
  assign rx_taken = rx_ready_i ? rx_first : '0;
  assign tx_taken = tx_ready_i ? tx_first : '0;
  always_ff @(posedge clk_i) begin
    if (rx_taken != '0) rx_after_q <= ~(rx_taken | (rx_taken - 1'b1));
    if (tx_taken != '0) tx_after_q <= ~(tx_taken | (tx_taken - 1'b1));
    if (!rst_ni) {rx_after_q, tx_after_q} <= '0;
  end
  assign tx_valid_o = tx_waits != 0;
  assign busy_o = {rx_waits, tx_waits} != 0;
  always_comb begin
    rx_o = '0;
    tx_bytes_o = '0;
    for (int unsigned i = 0; i < Ports; i++) begin
      if (rx_first[i]) rx_o = rx_waiting[i];
      if (tx_first[i]) tx_bytes_o = tx_waiting[i];
    end
  end
endmodule
