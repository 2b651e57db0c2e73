// A card's ports beside port 0, each for one stream of the role or closed. It knows no firmware and no claim: frames
// pass while the card boots, is loaded or belongs to nobody, and all they need is a role that listens.
module rl_port_layer
  import rl_port_pkg::*;
  import rl_role_pkg::*;
#(
  parameter int unsigned Others = 2,      // Ports beside port 0, 1 or more.
  parameter int unsigned FrameMax = 1514  // Bytes of the longest frame.
) (
  // -- net domain
  input  logic                      clk_net_i,
  input  logic                      rst_net_ni,
  input  port_config_t [Others-1:0] config_i,   // Steady.
  input  logic [Others-1:0]         rx_valid_i,
  input  logic [Others-1:0][63:0]   rx_data_i,
  input  logic [Others-1:0][7:0]    rx_keep_i,
  input  logic [Others-1:0]         rx_last_i,
  input  logic [Others-1:0]         rx_bad_i,
  output logic [Others-1:0]         tx_valid_o,
  input  logic [Others-1:0]         tx_ready_i,
  output logic [Others-1:0][63:0]   tx_data_o,
  output logic [Others-1:0][7:0]    tx_keep_o,
  output logic [Others-1:0]         tx_last_o,
  // To rl_counters: what frames that came in have become, and frames that have left.
  input  logic                      rx_event_ready_i,
  output port_event_t               rx_event_o,  // Until it is taken.
  output logic                      tx_event_valid_o,
  input  logic                      tx_event_ready_i,
  output logic [13:0]               tx_event_bytes_o,
  output logic                      busy_o,     // A frame is on its way in or out.

  // -- role domain
  input  logic                      clk_role_i,
  input  logic                      rst_role_ni,
  input  logic                      role_rst_ni,    // The role's reset: then it neither hears nor says anything.
  input  logic                      role_listens_i, // The role takes messages.
  output message_t [Others-1:0]     message_o,      // Streams 0 to Others - 1 of the role.
  input  logic [Others-1:0]         message_ready_i,
  input  message_t [Others-1:0]     message_i,
  output logic [Others-1:0]         message_ready_o
);
  localparam int unsigned EventW = $bits(port_event_t);
  typedef logic [Others-1:0] others_t;

  logic listens;
  rl_sync u_listens (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .d_i(role_listens_i && role_rst_ni),
    .q_o(listens)
  );

  port_event_t [Others-1:0] rx_event, rx_waiting;
  others_t rx_waits, rx_taken, tx_waits, tx_taken, refused;
  logic [Others-1:0][13:0] tx_waiting;
  for (genvar i = 0; i < Others; i++) begin : gen_port
    port_event_t event_rx;
    logic unused_rx_room, unused_tx_room;
    logic [2:0] unused_rx_count, unused_tx_count;
    rl_port_rx #(
      .FrameMax(FrameMax)
    ) u_rx (
      .clk_net_i,
      .rst_net_ni,
      .mac_i(config_i[i].mac),
      .open_i(config_i[i].stream && listens),
      .rx_valid_i(rx_valid_i[i]),
      .rx_data_i(rx_data_i[i]),
      .rx_keep_i(rx_keep_i[i]),
      .rx_last_i(rx_last_i[i]),
      .rx_bad_i(rx_bad_i[i]),
      .event_o(event_rx),
      .clk_role_i,
      .rst_role_ni,
      .cut_i(!role_rst_ni),
      .valid_o(message_o[i].valid),
      .ready_i(message_ready_i[i]),
      .data_o(message_o[i].data),
      .keep_o(message_o[i].keep),
      .last_o(message_o[i].last)
    );
    // What comes in on a port that is closed is not looked at.
    always_comb begin
      rx_event[i] = event_rx;
      if (!config_i[i].stream) begin
        rx_event[i].foreign = 1'b1;
        {rx_event[i].truncated, rx_event[i].check} = '0;
      end
    end
    rl_port_tx #(
      .FrameMax(FrameMax)
    ) u_tx (
      .clk_role_i,
      .rst_role_ni,
      .mac_i(config_i[i].mac),
      .cut_i(!role_rst_ni || !config_i[i].stream),
      .valid_i(message_i[i].valid),
      .ready_o(message_ready_o[i]),
      .data_i(message_i[i].data),
      .keep_i(message_i[i].keep),
      .last_i(message_i[i].last),
      .refused_o(refused[i]),
      .clk_net_i,
      .rst_net_ni,
      .valid_o(tx_valid_o[i]),
      .ready_i(tx_ready_i[i]),
      .data_o(tx_data_o[i]),
      .keep_o(tx_keep_o[i]),
      .last_o(tx_last_o[i])
    );

    // -- what there is to count waits for its turn, some frames at most
    rl_fifo #(
      .Width(EventW),
      .Depth(4)
    ) u_rx_events (
      .clk_i(clk_net_i),
      .rst_ni(rst_net_ni),
      .wvalid_i(event_rx.frame),
      .wready_o(unused_rx_room),
      .wdata_i(rx_event[i]),
      .rvalid_o(rx_waits[i]),
      .rready_i(rx_taken[i]),
      .rdata_o(rx_waiting[i]),
      .count_o(unused_rx_count)
    );
    logic leaves;
    logic [13:0] bytes;
    assign leaves = tx_valid_o[i] && tx_ready_i[i];
    rl_port_count u_tx_count (
      .clk_i(clk_net_i),
      .rst_ni(rst_net_ni),
      .valid_i(leaves),
      .last_i(tx_last_o[i]),
      .keep_i(tx_keep_o[i]),
      .bytes_o(bytes)
    );
    rl_fifo #(
      .Width(14),
      .Depth(4)
    ) u_tx_events (
      .clk_i(clk_net_i),
      .rst_ni(rst_net_ni),
      .wvalid_i(leaves && tx_last_o[i]),
      .wready_o(unused_tx_room),
      .wdata_i(bytes),
      .rvalid_o(tx_waits[i]),
      .rready_i(tx_taken[i]),
      .rdata_o(tx_waiting[i]),
      .count_o(unused_tx_count)
    );
`ifndef SYNTHESIS
    always_ff @(posedge clk_net_i)
      if (rst_net_ni && event_rx.frame)
        EventIsKept_A : assert (unused_rx_room);
    always_ff @(posedge clk_net_i)
      if (rst_net_ni && leaves && tx_last_o[i])
        LeavingIsKept_A : assert (unused_tx_room);
`endif
  end

  // The first port that has something: none has a frame each cycle.
  others_t rx_first, tx_first;
  assign rx_first = rx_waits & (~rx_waits + 1'b1);
  assign tx_first = tx_waits & (~tx_waits + 1'b1);
  assign rx_taken = rx_event_ready_i ? rx_first : '0;
  assign tx_taken = tx_event_ready_i ? tx_first : '0;
  assign tx_event_valid_o = tx_waits != 0;
  always_comb begin
    rx_event_o = '0;
    tx_event_bytes_o = '0;
    for (int unsigned i = 0; i < Others; i++) begin
      if (rx_first[i]) rx_event_o = rx_waiting[i];
      if (tx_first[i]) tx_event_bytes_o = tx_waiting[i];
    end
  end

  // Frames inside: from the first word at the MAC until the role has it, and from the role to the MAC. What the other
  // domain sees late lasts some cycles.
  logic [5:0] rest_q;
  others_t offered_q, offers_q, offered, offers;
  for (genvar i = 0; i < Others; i++) begin : gen_offer
    always_ff @(posedge clk_role_i) begin
      offered_q[i] <= message_o[i].valid;
      offers_q[i] <= message_i[i].valid;
    end
  end
  rl_sync #(
    .Width(2 * Others)
  ) u_offers (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .d_i({offered_q, offers_q}),
    .q_o({offered, offers})
  );
  assign busy_o = rest_q != 0;
  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) rest_q <= '0;
    else if ({rx_valid_i, tx_valid_o, rx_waits, tx_waits, offered, offers} != 0) rest_q <= '1;
    else if (busy_o) rest_q <= rest_q - 1'b1;
  end

  logic unused;
  assign unused = ^refused;
endmodule
