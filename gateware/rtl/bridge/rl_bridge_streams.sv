// The role's streams at the bridge. What the role sends on a stream goes to the node to which the stream is routed, or
// else to the stream's port; what it gets comes from both, whole messages in turns.
//
//   role ==> routed? ==> rl_port_stream ==> a stream of the bridge, in turns
//               '====> port
//   role <== turns <== rl_port_stream <== messages from other nodes, each stream's apart
//                '==== port
//
// A message of the role's leaves when all of it is here: of one that a reset cuts off nothing is sent. What comes in
// for a role that is reset meanwhile is thrown away to its end.
module rl_bridge_streams
  import rl_role_pkg::*;
  import rl_bridge_node_pkg::*;
#(
  parameter int unsigned Streams = 2,
  parameter int unsigned MessageMost = 9014  // Bytes of the role's longest message.
) (
  // -- role domain
  input  logic                   clk_role_i,
  input  logic                   rst_role_ni,
  input  logic                   role_rst_ni,  // The role is not in reset,
  input  logic                   listens_i,    // and takes messages.
  input  message_t [Streams-1:0] port_i,       // Between ports and role: from the ports,
  output logic [Streams-1:0]     port_ready_o,
  output message_t [Streams-1:0] role_o,       // to the role,
  input  logic [Streams-1:0]     role_ready_i,
  input  message_t [Streams-1:0] role_i,       // from there,
  output logic [Streams-1:0]     role_ready_o,
  output message_t [Streams-1:0] port_o,       // and to the ports.
  input  logic [Streams-1:0]     port_ready_i,

  // -- net domain
  input  logic                   clk_net_i,
  input  logic                   rst_net_ni,
  input  logic                   clear_i,       // The claim is over.
  input  logic                   route_valid_i, // Sets or ends a stream's route.
  input  logic [3:0]             route_index_i,
  input  route_t                 route_i,

  // -- the bridge's streams
  input  logic                   out_ready_i,
  output message_t               out_o,
  output logic [23:0]            out_user_o,
  input  message_t               in_i,
  input  logic [15:0]            in_stream_i,
  output sinks_t                 in_sinks_o,
  output logic                   holds_o,       // What the role has sent waits here.
  output logic                   busy_o,        // A word moves, or the rest of a message waits to be thrown away.
  output logic                   role_moves_o,  // Role domain: a word moves there,
  output logic                   role_moved_o   // and has so lately: a register, long enough to be seen elsewhere.
);
  localparam int unsigned StreamW = Streams > 1 ? $clog2(Streams) : 1;
  typedef logic [StreamW-1:0] stream_t;
  logic [Streams-1:0] moves, role_moves, ends_q, net_valid, net_ready, net_last;
  logic [Streams-1:0][63:0] net_data;
  logic [Streams-1:0][7:0] net_keep;

  // -- routes, and whether there is a role
  route_t [Streams-1:0] route_q;
  logic [Streams-1:0] routed_net, routed;
  logic listens;
  always_ff @(posedge clk_net_i) begin
    for (int unsigned s = 0; s < Streams; s++) begin
      if (!rst_net_ni || clear_i) route_q[s].valid <= 1'b0;
      else if (route_valid_i && route_index_i == 4'(s)) route_q[s] <= route_i;
    end
  end
  for (genvar s = 0; s < Streams; s++) begin : gen_routed
    assign routed_net[s] = route_q[s].valid;
  end
  rl_sync #(
    .Width(Streams)
  ) u_routed (
    .clk_i(clk_role_i),
    .rst_ni(rst_role_ni),
    .d_i(routed_net),
    .q_o(routed)
  );
  rl_sync u_listens (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .d_i(listens_i && role_rst_ni),
    .q_o(listens)
  );

  for (genvar s = 0; s < Streams; s++) begin : gen_stream
    // -- from the role: where a message's first word goes, the others do
    logic sends_q, bridged_q, bridged, bridge_ready, takes;
    assign bridged = sends_q ? bridged_q : routed[s];
    assign role_ready_o[s] = bridged ? bridge_ready : port_ready_i[s];
    assign takes = role_i[s].valid && role_ready_o[s];
    always_comb begin
      port_o[s] = role_i[s];
      port_o[s].valid = role_i[s].valid && !bridged;
    end
    always_ff @(posedge clk_role_i) begin
      if (!rst_role_ni || !role_rst_ni) sends_q <= 1'b0;
      else if (takes) sends_q <= !role_i[s].last;
      if (takes) bridged_q <= bridged;
    end

    // -- to the role: what is shown stays until its last word is taken
    message_t bridge;
    logic shows_q, from_bridge_q, from_bridge;
    assign from_bridge = shows_q ? from_bridge_q : bridge.valid && !(port_i[s].valid && from_bridge_q);
    assign role_o[s] = from_bridge ? bridge : port_i[s];
    assign port_ready_o[s] = role_ready_i[s] && !from_bridge;
    always_ff @(posedge clk_role_i) begin
      if (!rst_role_ni || !role_rst_ni) shows_q <= 1'b0;
      else if (role_o[s].valid) shows_q <= !(role_ready_i[s] && role_o[s].last);
      if (!rst_role_ni) from_bridge_q <= 1'b0;
      else if (role_o[s].valid) from_bridge_q <= from_bridge;
    end

    // -- across. A message that the end of a claim has cut off ends when the role has been reset: it gets no end.
    logic given, inside_q, gets, gets_ready, unused_refused;
    assign given = in_i.valid && in_stream_i == 16'(s);
    assign gets = given || (ends_q[s] && !listens);
    always_ff @(posedge clk_net_i) begin
      if (!rst_net_ni) begin
        inside_q <= 1'b0;
        ends_q[s] <= 1'b0;
      end else begin
        if (given) inside_q <= !in_i.last;
        if (clear_i && inside_q) begin
          inside_q <= 1'b0;
          ends_q[s] <= 1'b1;
        end else if (gets && gets_ready) ends_q[s] <= 1'b0;
      end
    end
    assign in_sinks_o.open[s] = listens;
    assign in_sinks_o.room[s] = gets_ready && !ends_q[s];
    rl_port_stream #(
      .FrameMax(MessageMost),
      .Words(2048),
      .Plain(1'b1)
    ) u_across (
      .config_i('{open: 1'b1, default: '0}),
      .mac_i('0),
      .clk_net_i,
      .rst_net_ni,
      .valid_i(gets),
      .ready_o(gets_ready),
      .data_i(in_i.data),
      .keep_i(given ? in_i.keep : '0),
      .last_i(!given || in_i.last),
      .valid_o(net_valid[s]),
      .ready_i(net_ready[s]),
      .data_o(net_data[s]),
      .keep_o(net_keep[s]),
      .last_o(net_last[s]),
      .clk_role_i,
      .rst_role_ni,
      .cut_i(!role_rst_ni),
      .role_valid_o(bridge.valid),
      .role_ready_i(role_ready_i[s] && from_bridge),
      .role_data_o(bridge.data),
      .role_keep_o(bridge.keep),
      .role_last_o(bridge.last),
      .role_valid_i(role_i[s].valid && bridged),
      .role_ready_o(bridge_ready),
      .role_data_i(role_i[s].data),
      .role_keep_i(role_i[s].keep),
      .role_last_i(role_i[s].last),
      .refused_o(unused_refused)
    );
    assign moves[s] = gets || ends_q[s] || (net_valid[s] && net_ready[s]);
    assign role_moves[s] = (takes && bridged) || (bridge.valid && (role_ready_i[s] || !role_rst_ni));
`ifndef SYNTHESIS
    always_ff @(posedge clk_net_i) if (rst_net_ni && given) GivenIsTaken_A : assert (gets_ready);
`endif
  end
  assign in_sinks_o.clear = clear_i;
  assign in_sinks_o.open[15:Streams] = '0;
  assign in_sinks_o.room[15:Streams] = '0;
  assign holds_o = net_valid != '0;
  assign busy_o = moves != '0;
  assign role_moves_o = role_moves != '0;
  logic [3:0] lately_q;
  always_ff @(posedge clk_role_i) begin
    if (!rst_role_ni) begin
      lately_q <= '0;
      role_moved_o <= 1'b0;
    end else begin
      lately_q <= role_moves_o ? '1 : lately_q - 4'(lately_q != '0);
      role_moved_o <= role_moves_o || lately_q != '0;
    end
  end

  // -- out: a message of one stream after one of another
  logic inside_q;
  stream_t from_q, from;
  always_comb begin
    from = from_q;
    for (int unsigned i = Streams; i > 0; i--) begin
      stream_t s;
      s = stream_t'((32'(from_q) + i) % Streams);
      if (net_valid[s] && !inside_q) from = s;
    end
    net_ready = '0;
    net_ready[from] = out_ready_i;
    out_o = '{valid: net_valid[from], data: net_data[from], keep: net_keep[from], last: net_last[from]};
    out_user_o = {route_q[from].valid ? route_q[from].node : NodeAny, 12'b0, route_q[from].there};
  end
  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) begin
      inside_q <= 1'b0;
      from_q <= '0;
    end else if (out_o.valid && out_ready_i) begin
      inside_q <= !out_o.last;
      from_q <= from;
    end
  end
endmodule
