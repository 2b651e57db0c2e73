// A card's ports with what takes their frames: streams of the role, services of the card, and the other ports, as a
// table of rules says. It knows no firmware and no claim: frames pass while the card boots, is loaded or belongs to
// nobody, and all that a stream needs is a role that listens.
module rl_port_layer
  import rl_port_pkg::*;
#(
  parameter int unsigned DataW = 64,
  parameter int unsigned Ports = 2,
  parameter int unsigned Streams = 2,      // Services 0 to Streams - 1 of the rules; 1 or more.
  parameter int unsigned Locals = 0,       // Services behind them: of the card, in the network's clock domain.
  parameter int unsigned Levels = 1,       // Classes of passing frames.
  parameter int unsigned Rules = 2,
  parameter int unsigned FrameMax = 1514,  // Bytes of the longest frame.
  parameter int unsigned Words = 512,      // Of a queue, a power of two.
  parameter int unsigned ShareW = 12,
  localparam int unsigned Services = Streams + Locals,
  parameter logic [Ports-1:0][Levels*Ports+Services-1:0] There = '1,  // The queues, as in rl_port_switch.
  localparam int unsigned KeepW = DataW / 8,
  localparam int unsigned Sides = Locals > 0 ? Locals : 1  // Without any, the sides of one are tied off.
) (
  // -- net domain
  input  logic                               clk_net_i,
  input  logic                               rst_net_ni,
  // The card's configuration, steady.
  input  port_config_t [Ports-1:0]           config_i,
  input  stream_config_t [Streams-1:0]       stream_i,
  input  port_rule_t [Rules-1:0]             rules_i,
  input  logic [Ports-1:0][Levels:0][ShareW-1:0] share_i,   // As rl_port_switch says.
  // MACs.
  input  logic [Ports-1:0]                   rx_valid_i,
  input  logic [Ports-1:0][DataW-1:0]        rx_data_i,
  input  logic [Ports-1:0][KeepW-1:0]        rx_keep_i,
  input  logic [Ports-1:0]                   rx_last_i,
  input  logic [Ports-1:0]                   rx_bad_i,
  output logic [Ports-1:0]                   tx_valid_o,
  input  logic [Ports-1:0]                   tx_ready_i,
  output logic [Ports-1:0][DataW-1:0]        tx_data_o,
  output logic [Ports-1:0][KeepW-1:0]        tx_keep_o,
  output logic [Ports-1:0]                   tx_last_o,
  output logic [Ports-1:0]                   tx_bad_o,      // With tx_last_o: make the check sequence wrong.
  // Services of the card.
  input  logic [Sides-1:0]                   local_listens_i,
  output logic [Sides-1:0]                   local_valid_o,
  input  logic [Sides-1:0]                   local_ready_i,
  output logic [Sides-1:0][DataW-1:0]        local_data_o,
  output logic [Sides-1:0][KeepW-1:0]        local_keep_o,
  output logic [Sides-1:0]                   local_last_o,
  input  logic [Sides-1:0]                   local_valid_i, // Words of a frame follow each other without a gap.
  output logic [Sides-1:0]                   local_ready_o,
  input  port_t [Sides-1:0]                  local_port_i,  // Where the frame leaves.
  input  logic [Sides-1:0][DataW-1:0]        local_data_i,
  input  logic [Sides-1:0][KeepW-1:0]        local_keep_i,
  input  logic [Sides-1:0]                   local_last_i,
  // To rl_counters: what frames that came in have become, and frames that have left.
  input  logic                               rx_event_ready_i,
  output port_event_t                        rx_event_o,  // Until it is taken.
  output logic                               tx_event_valid_o,
  input  logic                               tx_event_ready_i,
  output logic [13:0]                        tx_event_bytes_o,
  output logic [Ports-1:0][Levels-1:0][31:0] dropped_o,   // Passing frames without room, by where they came in.
  output logic [Ports-1:0][31:0]             spoilt_o,    // Frames that left early and were not whole.
  output logic                               busy_o,      // A frame is on its way in or out.

  // -- role domain
  input  logic                               clk_role_i,
  input  logic                               rst_role_ni,
  input  logic                               role_rst_ni,     // The role's reset: it neither hears nor speaks.
  input  logic                               role_listens_i,  // The role takes messages.
  output logic [Streams-1:0][31:0]           refused_o,       // Messages of the role that may not leave.
  output logic [Streams-1:0]                 role_valid_o,
  input  logic [Streams-1:0]                 role_ready_i,
  output logic [Streams-1:0][DataW-1:0]      role_data_o,
  output logic [Streams-1:0][KeepW-1:0]      role_keep_o,     // With role_last_o: ones from bit 0 on. Else all ones.
  output logic [Streams-1:0]                 role_last_o,
  input  logic [Streams-1:0]                 role_valid_i,
  output logic [Streams-1:0]                 role_ready_o,
  input  logic [Streams-1:0][DataW-1:0]      role_data_i,
  input  logic [Streams-1:0][KeepW-1:0]      role_keep_i,
  input  logic [Streams-1:0]                 role_last_i
);
  logic listens;
  rl_sync u_listens (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .d_i(role_listens_i && role_rst_ni),
    .q_o(listens)
  );

  logic [Services-1:0] s_listens, in_valid, in_ready, in_last, out_valid, out_ready, out_last;
  logic [Services-1:0][DataW-1:0] in_data, out_data;
  logic [Services-1:0][KeepW-1:0] in_keep, out_keep;
  port_t [Services-1:0] out_port;
  port_event_t [Ports-1:0] events;
  logic [Ports-1:0][Levels-1:0] dropped;
  rl_port_switch #(
    .DataW(DataW),
    .Ports(Ports),
    .Services(Services),
    .Levels(Levels),
    .Rules(Rules),
    .FrameMax(FrameMax),
    .Words(Words),
    .ShareW(ShareW),
    .There(There)
  ) u_switch (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .config_i,
    .rules_i,
    .share_i,
    .rx_valid_i,
    .rx_data_i,
    .rx_keep_i,
    .rx_last_i,
    .rx_bad_i,
    .tx_valid_o,
    .tx_ready_i,
    .tx_data_o,
    .tx_keep_o,
    .tx_last_o,
    .tx_bad_o,
    .listens_i(s_listens),
    .valid_o(in_valid),
    .ready_i(in_ready),
    .data_o(in_data),
    .keep_o(in_keep),
    .last_o(in_last),
    .valid_i(out_valid),
    .ready_o(out_ready),
    .port_i(out_port),
    .data_i(out_data),
    .keep_i(out_keep),
    .last_i(out_last),
    .event_o(events),
    .dropped_o(dropped)
  );

  // -- services
  logic [Streams-1:0] refused;
  for (genvar s = 0; s < Streams; s++) begin : gen_stream
    assign s_listens[s] = listens;
    assign out_port[s] = stream_i[s].port;
    rl_port_stream #(
      .DataW(DataW),
      .FrameMax(FrameMax),
      .Words(Words)
    ) u_stream (
      .config_i(stream_i[s]),
      .mac_i(config_i[stream_i[s].port].mac),
      .clk_net_i,
      .rst_net_ni,
      .valid_i(in_valid[s]),
      .ready_o(in_ready[s]),
      .data_i(in_data[s]),
      .keep_i(in_keep[s]),
      .last_i(in_last[s]),
      .valid_o(out_valid[s]),
      .ready_i(out_ready[s]),
      .data_o(out_data[s]),
      .keep_o(out_keep[s]),
      .last_o(out_last[s]),
      .clk_role_i,
      .rst_role_ni,
      .cut_i(!role_rst_ni),
      .role_valid_o(role_valid_o[s]),
      .role_ready_i(role_ready_i[s]),
      .role_data_o(role_data_o[s]),
      .role_keep_o(role_keep_o[s]),
      .role_last_o(role_last_o[s]),
      .role_valid_i(role_valid_i[s]),
      .role_ready_o(role_ready_o[s]),
      .role_data_i(role_data_i[s]),
      .role_keep_i(role_keep_i[s]),
      .role_last_i(role_last_i[s]),
      .refused_o(refused[s])
    );
  end
  for (genvar i = 0; i < Sides; i++) begin : gen_side
    if (i < Locals) begin : gen_local
      localparam int unsigned S = Streams + i;
      assign s_listens[S] = local_listens_i[i];
      assign local_valid_o[i] = in_valid[S];
      assign in_ready[S] = local_ready_i[i];
      assign local_data_o[i] = in_data[S];
      assign local_keep_o[i] = in_keep[S];
      assign local_last_o[i] = in_last[S];
      assign out_valid[S] = local_valid_i[i];
      assign local_ready_o[i] = out_ready[S];
      assign out_port[S] = local_port_i[i];
      assign out_data[S] = local_data_i[i];
      assign out_keep[S] = local_keep_i[i];
      assign out_last[S] = local_last_i[i];
    end else begin : gen_none
      assign {local_valid_o[i], local_data_o[i], local_keep_o[i], local_last_o[i], local_ready_o[i]} = '0;
      logic unused;
      assign unused = ^{local_listens_i[i], local_ready_i[i], local_valid_i[i], local_port_i[i], local_data_i[i],
                        local_keep_i[i], local_last_i[i]};
    end
  end

  // -- what there is to count
  logic counting;
  rl_port_events #(
    .DataW(DataW),
    .Ports(Ports)
  ) u_events (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .event_i(events),
    .leaves_i(tx_valid_o & tx_ready_i),
    .keep_i(tx_keep_o),
    .last_i(tx_last_o),
    .bad_i(tx_bad_o),
    .rx_ready_i(rx_event_ready_i),
    .rx_o(rx_event_o),
    .tx_valid_o(tx_event_valid_o),
    .tx_ready_i(tx_event_ready_i),
    .tx_bytes_o(tx_event_bytes_o),
    .busy_o(counting)
  );
  for (genvar p = 0; p < Ports; p++) begin : gen_count
    always_ff @(posedge clk_net_i) begin
      for (int unsigned l = 0; l < Levels; l++)
      dropped_o[p][l] <= dropped_o[p][l] + 32'(dropped[p][l]);
      spoilt_o[p] <= spoilt_o[p] + 32'(tx_valid_o[p] && tx_ready_i[p] && tx_bad_o[p]);
      if (!rst_net_ni) begin
        dropped_o[p] <= '0;
        spoilt_o[p] <= '0;
      end
    end
  end

  for (genvar s = 0; s < Streams; s++) begin : gen_refused
    always_ff @(posedge clk_role_i) begin
      if (!rst_role_ni) refused_o[s] <= '0;
      else refused_o[s] <= refused_o[s] + 32'(refused[s]);
    end
  end

  // Frames inside: from the first word at the MAC until the role has it, and from the role to the MAC. What the other
  // domain sees late lasts some cycles.
  logic [5:0] rest_q;
  logic [Streams-1:0] offered_q, offers_q, offered, offers;
  always_ff @(posedge clk_role_i) begin
    offered_q <= role_valid_o;
    offers_q <= role_valid_i;
  end
  rl_sync #(
    .Width(2 * Streams)
  ) u_offers (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .d_i({offered_q, offers_q}),
    .q_o({offered, offers})
  );
  assign busy_o = rest_q != 0;
  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) rest_q <= '0;
    else if ({rx_valid_i, tx_valid_o, in_valid, counting, offered, offers} != 0) rest_q <= '1;
    else if (busy_o) rest_q <= rest_q - 1'b1;
  end
endmodule
