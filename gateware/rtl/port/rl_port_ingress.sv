// A port's way in: frames from its MAC are classified and go into queues, one for each place and class to which they
// can go. No queue has another writer or reader: one that is full costs the frames that would have gone there.
module rl_port_ingress
  import rl_port_pkg::*;
#(
  parameter int unsigned DataW = 64,
  parameter int unsigned Port = 0,
  parameter int unsigned Rules = 4,
  parameter int unsigned FrameMax = 1514,  // Bytes of the longest frame that is taken.
  parameter int unsigned Ports = 2,
  parameter int unsigned Services = 1,
  parameter int unsigned Levels = 1,       // Classes at ports: 1 to 4.
  parameter int unsigned Words = 512,      // Of a queue.
  localparam int unsigned Queues = Levels * Ports + Services,
  // The queues that are there: of port p and class l the one at l * Ports + p, then those of the services.
  parameter logic [Queues-1:0] There = '1,
  localparam int unsigned KeepW = DataW / 8
) (
  input  logic                         clk_i,
  input  logic                         rst_ni,
  input  port_config_t                 config_i,   // Steady.
  input  port_rule_t [Rules-1:0]       rules_i,    // Steady.
  input  services_t                    listens_i,

  input  logic                         rx_valid_i,
  input  logic [DataW-1:0]             rx_data_i,
  input  logic [KeepW-1:0]             rx_keep_i,
  input  logic                         rx_last_i,
  input  logic                         rx_bad_i,
  output port_event_t                  event_o,
  output logic [Levels-1:0]            dropped_o,  // A frame of this class found no room at a port. For one cycle.

  output logic [Queues-1:0]            valid_o,
  input  logic [Queues-1:0]            ready_i,
  output logic [Queues-1:0][DataW-1:0] data_o,
  output logic [Queues-1:0][KeepW-1:0] keep_o,
  output logic [Queues-1:0]            last_o,
  output logic [Queues-1:0]            bad_o
);
  localparam int unsigned FrameWords = (FrameMax + KeepW - 1) / KeepW;
  localparam int unsigned CountW = $clog2(FrameWords + 1);
  typedef logic [Queues-1:0] queues_t;

  logic valid, first, last, bad, whole, certain;
  logic [DataW-1:0] data;
  logic [KeepW-1:0] keep;
  verdict_t verdict;
  rl_port_class #(
    .DataW(DataW),
    .Port(Port),
    .Rules(Rules)
  ) u_class (
    .clk_i,
    .rst_ni,
    .config_i,
    .rules_i,
    .listens_i,
    .valid_i(rx_valid_i),
    .data_i(rx_data_i),
    .keep_i(rx_keep_i),
    .last_i(rx_last_i),
    .bad_i(rx_bad_i),
    .valid_o(valid),
    .first_o(first),
    .data_o(data),
    .keep_o(keep),
    .last_o(last),
    .bad_o(bad),
    .whole_o(whole),
    .certain_o(certain),
    .verdict_o(verdict)
  );

  logic [CountW-1:0] words_q, words;
  logic [13:0] bytes;
  logic too_long, ends, sound;
  rl_port_count #(
    .DataW(DataW)
  ) u_count (
    .clk_i,
    .rst_ni,
    .valid_i(valid),
    .last_i(last),
    .keep_i(keep),
    .bytes_o(bytes)
  );
  assign words = first ? '0 : words_q;
  assign too_long = words == CountW'(FrameWords) || (last && bytes > 14'(FrameMax));
  assign ends = valid && last;
  assign sound = !bad && whole && !too_long;
  always_ff @(posedge clk_i) if (valid) words_q <= words + CountW'(words != CountW'(FrameWords));

  // -- a queue for each place and class
  queues_t target, room, missed;
  always_comb begin
    target = '0;
    for (int unsigned l = 0; l < Levels; l++) begin
      for (int unsigned p = 0; p < Ports; p++)
      target[l*Ports+p] = verdict.pass[p] && (32'(verdict.level) == l || (l == Levels - 1 && 32'(verdict.level) > l));
    end
    for (int unsigned s = 0; s < Services; s++) target[Levels*Ports+s] = verdict.consume[s];
    target &= There;
  end
  for (genvar q = 0; q < Queues; q++) begin : gen_queue
    if (There[q]) begin : gen_there
      rl_port_queue #(
        .DataW(DataW),
        .Words(Words)
      ) u_queue (
        .clk_i,
        .rst_ni,
        .valid_i(valid),
        .data_i(data),
        .keep_i(keep),
        .last_i(last),
        .take_i(sound && target[q]),
        // What is consumed is whole.
        .early_i(q < Levels * Ports && certain && verdict.early && target[q]),
        .long_i(too_long),
        .room_o(room[q]),
        .valid_o(valid_o[q]),
        .ready_i(ready_i[q]),
        .data_o(data_o[q]),
        .keep_o(keep_o[q]),
        .last_o(last_o[q]),
        .bad_o(bad_o[q])
      );
    end else begin : gen_none
      assign room[q] = 1'b0;
      assign valid_o[q] = 1'b0;
      assign data_o[q] = '0;
      assign keep_o[q] = '0;
      assign last_o[q] = 1'b0;
      assign bad_o[q] = 1'b0;
      logic unused;
      assign unused = ready_i[q];
    end
  end

  // -- what there is to count
  assign missed = target & ~room;
  always_ff @(posedge clk_i) begin
    dropped_o <= '0;
    event_o <= '0;
    if (rst_ni && ends) begin
      event_o.frame <= 1'b1;
      // What comes in on a port that is closed is not looked at.
      if (verdict.closed) event_o.foreign <= 1'b1;
      else if (bad) event_o.check <= 1'b1;
      else if (!whole) event_o.truncated <= 1'b1;
      else if (target == '0) event_o.foreign <= 1'b1;
      else if (too_long || missed != '0) event_o.full <= 1'b1;
      for (int unsigned l = 0; l < Levels; l++)
      dropped_o[l] <= sound && missed[l*Ports+:Ports] != '0;
    end
    event_o.bytes <= bytes;
  end
endmodule
