// Ports and services of a card, joined by the card's rules: frames that pass from port to port, frames for services,
// and what services send. All in the network's clock domain, without firmware, claim or role: a service that is not
// there does not listen, and takes nothing from anybody else.
//
// At a port where frames leave, each class of passing frames from each other port and each service has a queue of its
// own and its share of the words (rl_egress).
module rl_port_switch
  import rl_port_pkg::*;
#(
  parameter int unsigned DataW = 64,
  parameter int unsigned Ports = 2,
  parameter int unsigned Services = 1,
  parameter int unsigned Levels = 1,       // Classes of passing frames: 1 to 4.
  parameter int unsigned Rules = 4,
  parameter int unsigned FrameMax = 1514,  // Bytes of the longest frame.
  parameter int unsigned Words = 512,      // Of a queue.
  parameter int unsigned ShareW = 12,
  localparam int unsigned Queues = Levels * Ports + Services,
  // For each port where frames come in, the queues that are there, as in rl_port_ingress. None passes back.
  parameter logic [Ports-1:0][Queues-1:0] There = '1,
  localparam int unsigned KeepW = DataW / 8
) (
  input  logic                                    clk_i,
  input  logic                                    rst_ni,
  // -- the card's configuration, steady
  input  port_config_t [Ports-1:0]                config_i,
  input  port_rule_t [Rules-1:0]                  rules_i,
  // The share of each source at a port: of a class from any one port, and last of a service. At least the words of a
  // longest frame.
  input  logic [Ports-1:0][Levels:0][ShareW-1:0]  share_i,

  // -- MACs
  input  logic [Ports-1:0]                        rx_valid_i,
  input  logic [Ports-1:0][DataW-1:0]             rx_data_i,
  input  logic [Ports-1:0][KeepW-1:0]             rx_keep_i,
  input  logic [Ports-1:0]                        rx_last_i,
  input  logic [Ports-1:0]                        rx_bad_i,
  output logic [Ports-1:0]                        tx_valid_o,  // Words of a frame follow each other without a gap.
  input  logic [Ports-1:0]                        tx_ready_i,
  output logic [Ports-1:0][DataW-1:0]             tx_data_o,
  output logic [Ports-1:0][KeepW-1:0]             tx_keep_o,
  output logic [Ports-1:0]                        tx_last_o,
  output logic [Ports-1:0]                        tx_bad_o,    // With tx_last_o: make the check sequence wrong.

  // -- services
  input  logic [Services-1:0]                     listens_i,
  output logic [Services-1:0]                     valid_o,     // Whole frames, without a gap in them.
  input  logic [Services-1:0]                     ready_i,
  output logic [Services-1:0][DataW-1:0]          data_o,
  output logic [Services-1:0][KeepW-1:0]          keep_o,
  output logic [Services-1:0]                     last_o,
  input  logic [Services-1:0]                     valid_i,     // Words of a frame follow each other without a gap.
  output logic [Services-1:0]                     ready_o,
  input  port_t [Services-1:0]                    port_i,      // Where it leaves. Steady during a frame.
  input  logic [Services-1:0][DataW-1:0]          data_i,
  input  logic [Services-1:0][KeepW-1:0]          keep_i,
  input  logic [Services-1:0]                     last_i,

  // -- what there is to count
  output port_event_t [Ports-1:0]                 event_o,
  output logic [Ports-1:0][Levels-1:0]            dropped_o    // As rl_port_ingress says.
);
  if (Ports > PortsMax || Services > ServicesMax || Levels > 1 << LevelW) begin : gen_check
    $fatal(0, "rl_port_switch: more ports, services or classes than rules can name (%m)");
  end
  localparam int unsigned FrameWords = (FrameMax + KeepW - 1) / KeepW;
  localparam int unsigned Sources = Levels * Ports + Services;  // At a port.
  // A queue that holds less than a longest frame would take none of them.
  if (Words < FrameWords) begin : gen_check_words
    $fatal(0, "rl_port_switch: a longest frame must fit a queue (%m)");
  end

  // What came in at a port does not leave there.
  function automatic logic [Queues-1:0] back(int unsigned port);
    back = '0;
    for (int unsigned l = 0; l < Levels; l++) back[l*Ports+port] = 1'b1;
  endfunction

  // Queues by the port where frames come in.
  logic [Ports-1:0][Queues-1:0] q_valid, q_ready, q_last, q_bad;
  logic [Ports-1:0][Queues-1:0][DataW-1:0] q_data;
  logic [Ports-1:0][Queues-1:0][KeepW-1:0] q_keep;
  for (genvar p = 0; p < Ports; p++) begin : gen_in
    rl_port_ingress #(
      .DataW(DataW),
      .Port(p),
      .Rules(Rules),
      .FrameMax(FrameMax),
      .Ports(Ports),
      .Services(Services),
      .Levels(Levels),
      .Words(Words),
      .There(There[p] & ~back(p))
    ) u_ingress (
      .clk_i,
      .rst_ni,
      .config_i(config_i[p]),
      .rules_i,
      .listens_i(services_t'(listens_i)),
      .rx_valid_i(rx_valid_i[p]),
      .rx_data_i(rx_data_i[p]),
      .rx_keep_i(rx_keep_i[p]),
      .rx_last_i(rx_last_i[p]),
      .rx_bad_i(rx_bad_i[p]),
      .event_o(event_o[p]),
      .dropped_o(dropped_o[p]),
      .valid_o(q_valid[p]),
      .ready_i(q_ready[p]),
      .data_o(q_data[p]),
      .keep_o(q_keep[p]),
      .last_o(q_last[p]),
      .bad_o(q_bad[p])
    );
  end

  // -- to the ports: classes from each port, then services
  logic [Ports-1:0][Services-1:0] s_ready;
  always_comb begin
    ready_o = '0;
    for (int unsigned p = 0; p < Ports; p++) ready_o |= s_ready[p];
  end
  for (genvar p = 0; p < Ports; p++) begin : gen_out
    logic [Sources-1:0] valid, ready, last, bad;
    logic [Sources-1:0][DataW-1:0] data;
    logic [Sources-1:0][KeepW-1:0] keep;
    logic [Sources-1:0][ShareW-1:0] share;
    for (genvar l = 0; l < Levels; l++) begin : gen_class
      for (genvar from = 0; from < Ports; from ++) begin : gen_from
        localparam int unsigned S = l * Ports + from;
        assign valid[S] = q_valid[from][l*Ports+p];
        assign q_ready[from][l*Ports+p] = ready[S];
        assign data[S] = q_data[from][l*Ports+p];
        assign keep[S] = q_keep[from][l*Ports+p];
        assign last[S] = q_last[from][l*Ports+p];
        assign bad[S] = q_bad[from][l*Ports+p];
        assign share[S] = share_i[p][l];
      end
    end
    for (genvar s = 0; s < Services; s++) begin : gen_service
      localparam int unsigned S = Levels * Ports + s;
      assign valid[S] = valid_i[s] && 32'(port_i[s]) == p;
      assign s_ready[p][s] = ready[S];
      assign data[S] = data_i[s];
      assign keep[S] = keep_i[s];
      assign last[S] = last_i[s];
      assign bad[S] = 1'b0;
      assign share[S] = share_i[p][Levels];
    end
    rl_egress #(
      .DataW(DataW),
      .Sources(Sources),
      .ShareW(ShareW),
      .FrameWords(FrameWords)
    ) u_egress (
      .clk_i,
      .rst_ni,
      .share_i(share),
      .valid_i(valid),
      .ready_o(ready),
      .data_i(data),
      .keep_i(keep),
      .last_i(last),
      .bad_i(bad),
      .valid_o(tx_valid_o[p]),
      .ready_i(tx_ready_i[p]),
      .data_o(tx_data_o[p]),
      .keep_o(tx_keep_o[p]),
      .last_o(tx_last_o[p]),
      .bad_o(tx_bad_o[p])
    );
  end

  // -- to the services: each port has the same share
  for (genvar s = 0; s < Services; s++) begin : gen_to
    logic [Ports-1:0] valid, ready, last;
    logic [Ports-1:0][DataW-1:0] data;
    logic [Ports-1:0][KeepW-1:0] keep;
    logic unused_bad;
    for (genvar from = 0; from < Ports; from ++) begin : gen_from
      localparam int unsigned Q = Levels * Ports + s;
      assign valid[from] = q_valid[from][Q];
      assign q_ready[from][Q] = ready[from];
      assign data[from] = q_data[from][Q];
      assign keep[from] = q_keep[from][Q];
      assign last[from] = q_last[from][Q];
    end
    rl_egress #(
      .DataW(DataW),
      .Sources(Ports),
      .ShareW(ShareW),
      .FrameWords(FrameWords)
    ) u_turns (
      .clk_i,
      .rst_ni,
      .share_i({Ports{ShareW'(FrameWords)}}),
      .valid_i(valid),
      .ready_o(ready),
      .data_i(data),
      .keep_i(keep),
      .last_i(last),
      .bad_i('0),
      .valid_o(valid_o[s]),
      .ready_i(ready_i[s]),
      .data_o(data_o[s]),
      .keep_o(keep_o[s]),
      .last_o(last_o[s]),
      .bad_o(unused_bad)
    );
  end
endmodule
