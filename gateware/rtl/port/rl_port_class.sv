// What becomes of a frame, by its head: where it came in, for whom it is and what it carries, against the card's table
// of rules. The words go by and come out three cycles later, with what the rules say as soon as that is certain.
module rl_port_class
  import rl_wire_pkg::*;
  import rl_port_pkg::*;
#(
  parameter int unsigned DataW = 64,
  parameter int unsigned Port = 0,   // Its own number.
  parameter int unsigned Rules = 4,
  localparam int unsigned KeepW = DataW / 8
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  port_config_t           config_i,   // Steady.
  input  port_rule_t [Rules-1:0] rules_i,    // Steady.
  input  services_t              listens_i,  // The services that take frames now.

  input  logic                   valid_i,    // From the MAC, which never waits.
  input  logic [DataW-1:0]       data_i,
  input  logic [KeepW-1:0]       keep_i,     // With last_i: ones from bit 0 on.
  input  logic                   last_i,
  input  logic                   bad_i,      // With last_i: the check sequence was wrong.

  output logic                   valid_o,
  output logic                   first_o,
  output logic [DataW-1:0]       data_o,
  output logic [KeepW-1:0]       keep_o,
  output logic                   last_o,
  output logic                   bad_o,
  output logic                   whole_o,    // With last_o: the frame has a head.
  output logic                   certain_o,  // The verdict is, until the frame ends; with last_o at the latest.
  output verdict_t               verdict_o
);
  typedef logic [Rules-1:0] rules_t;
  // The word in which the subnet ends.
  localparam int unsigned SubnetWord = (SubnetByte + SubnetBytes - 1) / KeepW;
  localparam int unsigned AtW = $clog2(SubnetWord + 2);
  typedef logic [AtW-1:0] at_t;

  // -- s1: head and word
  logic s1_valid, s1_first, s1_last, s1_whole, s1_bad_q;
  logic [DataW-1:0] s1_data;
  logic [KeepW-1:0] s1_keep;
  ethernet_head_t head;
  rl_port_head #(
    .DataW(DataW)
  ) u_head (
    .clk_i,
    .rst_ni,
    .step_i(1'b1),
    .valid_i,
    .data_i,
    .keep_i,
    .last_i,
    .valid_o(s1_valid),
    .first_o(s1_first),
    .last_o(s1_last),
    .data_o(s1_data),
    .keep_o(s1_keep),
    .known_o(s1_whole),
    .head_o(head)
  );
  always_ff @(posedge clk_i) s1_bad_q <= bad_i;

  // The subnet is compared while its bytes go by.
  at_t at_q, at;
  logic same_q, same, past;
  assign at = s1_first ? '0 : at_q;
  assign past = 32'(at) + 1 > SubnetWord;
  always_comb begin
    same = s1_first || same_q;
    for (int unsigned i = 0; i < SubnetBytes; i++) begin
      if (at == at_t'((SubnetByte + i) / KeepW)) begin
        same &= s1_data[8*((SubnetByte+i)%KeepW)+:8] == config_i.subnet[8*(SubnetBytes-1-i)+:8];
        same &= !s1_last || s1_keep[(SubnetByte+i)%KeepW];
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (s1_valid) begin
      at_q <= at == at_t'(SubnetWord + 1) ? at : at + 1'b1;
      same_q <= same;
    end
  end

  // -- s2: what is so of the frame
  typedef struct packed {
    logic first, last, bad, whole, certain;
    logic own, group, ours, subnet, forged;
  } facts_t;
  logic s2_valid_q;
  logic [DataW-1:0] s2_data_q;
  logic [KeepW-1:0] s2_keep_q;
  facts_t s2_q;
  rules_t typed_q;
  logic ipv6;
  assign ipv6 = config_i.routed && head.ether_type == EtherTypeIpv6;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) s2_valid_q <= 1'b0;
    else s2_valid_q <= s1_valid;
  end
  always_ff @(posedge clk_i) begin
    s2_data_q <= s1_data;
    s2_keep_q <= s1_keep;
    s2_q.first <= s1_first;
    s2_q.last <= s1_last;
    s2_q.bad <= s1_bad_q;
    s2_q.whole <= s1_whole;
    s2_q.certain <= s1_last || (s1_whole && (!ipv6 || past));
    s2_q.own <= head.dst == config_i.mac;
    s2_q.group <= head.dst[GroupBit];
    s2_q.ours <= is_ours(head.ether_type);
    s2_q.subnet <= ipv6 && same && past;
    // Its own frames come back over a loop in the network.
    s2_q.forged <= head.src == config_i.mac || head.src[GroupBit];
    for (int unsigned i = 0; i < Rules; i++)
    typed_q[i] <= !rules_i[i].typed || head.ether_type == rules_i[i].ether_type;
  end

  // -- s3: the first rule that holds
  verdict_t verdict;
  services_t hears;
  rules_t holds;
  for (genvar i = 0; i < Rules; i++) begin : gen_rule
    logic whom, what;
    assign whom = s2_q.own ? rules_i[i].own : s2_q.group ? rules_i[i].group : rules_i[i].other;
    assign what = s2_q.ours ? rules_i[i].ours : s2_q.subnet ? rules_i[i].subnet : rules_i[i].rest;
    assign holds[i] = rules_i[i].from[Port] && whom && what && typed_q[i];
  end
  always_comb begin
    verdict = '0;
    verdict.closed = 1'b1;
    hears = '0;
    for (int unsigned i = 0; i < Rules; i++) if (rules_i[i].from[Port]) verdict.closed = 1'b0;
    // The last assignment is the first rule's.
    for (int unsigned n = 0; n < Rules; n++) begin
      if (holds[Rules-1-n]) begin
        hears = rules_i[Rules-1-n].consume & listens_i;
        verdict.pass = rules_i[Rules-1-n].hook && hears != '0 ? '0 : rules_i[Rules-1-n].pass;
        verdict.pass[Port] = 1'b0;
        verdict.consume = hears;
        verdict.early = rules_i[Rules-1-n].early;
        verdict.level = rules_i[Rules-1-n].level;
      end
    end
    if (s2_q.forged || !s2_q.whole) {verdict.pass, verdict.consume} = '0;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_o <= 1'b0;
    else valid_o <= s2_valid_q;
  end
  logic held_q;  // What was certain stays, also if a service begins or ceases to listen.
  always_ff @(posedge clk_i) begin
    data_o <= s2_data_q;
    keep_o <= s2_keep_q;
    {first_o, last_o, bad_o, whole_o} <= {s2_q.first, s2_q.last, s2_q.bad, s2_q.whole};
    if (s2_valid_q) begin
      certain_o <= s2_q.certain;
      held_q <= s2_q.certain && !s2_q.last;
      if (!held_q) verdict_o <= verdict;
    end
    if (!rst_ni) held_q <= 1'b0;
  end
endmodule
