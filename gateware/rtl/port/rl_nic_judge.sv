// Whether a frame may pass between the wire and the host behind the card, by its head. The words go by and come out two
// cycles later; with the last of them the verdict is certain.
module rl_nic_judge
  import rl_port_pkg::*;
  import rl_nic_pkg::*;
#(
  parameter int unsigned DataW = 64,
  parameter bit FromHost = 1'b0,  // It has come in at the host's port, else at the wire.
  localparam int unsigned KeepW = DataW / 8
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  nic_config_t      config_i,  // Steady.

  input  logic             valid_i,   // From the MAC, which never waits.
  input  logic [DataW-1:0] data_i,
  input  logic [KeepW-1:0] keep_i,    // With last_i: ones from bit 0 on.
  input  logic             last_i,
  input  logic             bad_i,     // With last_i: the check sequence was wrong.

  output logic             valid_o,
  output logic [DataW-1:0] data_o,
  output logic [KeepW-1:0] keep_o,
  output logic             last_o,
  output logic             bad_o,
  output logic             whole_o,   // With last_o: the frame has a head.
  output nic_verdict_e     verdict_o  // With last_o.
);
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

  logic reserved;
  rl_port_reserved #(
    .DataW(DataW)
  ) u_reserved (
    .clk_i,
    .step_i(1'b1),
    .valid_i(s1_valid),
    .first_i(s1_first),
    .last_i(s1_last),
    .data_i(s1_data),
    .keep_i(s1_keep),
    .ether_type_i(head.ether_type),
    .reserved_o(reserved)
  );

  // -- s2: what is so of the frame
  logic reserved_q, to_card_q, to_host_q, to_group_q, from_card_q, from_host_q, from_group_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_o <= 1'b0;
    else valid_o <= s1_valid;
  end
  always_ff @(posedge clk_i) begin
    data_o <= s1_data;
    keep_o <= s1_keep;
    last_o <= s1_last;
    bad_o <= s1_bad_q;
    whole_o <= s1_whole;
    reserved_q <= reserved;
    to_card_q <= head.dst == config_i.card;
    to_host_q <= head.dst == config_i.host;
    to_group_q <= head.dst[GroupBit];
    from_card_q <= head.src == config_i.card;
    from_host_q <= head.src == config_i.host;
    from_group_q <= head.src[GroupBit];
  end

  if (FromHost) begin : gen_from_host
    always_comb begin
      if (!from_host_q) verdict_o = NicForged;
      else if (reserved_q) verdict_o = NicReserved;
      else if (to_card_q || to_host_q) verdict_o = NicAstray;
      else verdict_o = NicPass;
    end
    logic unused;
    assign unused = ^{to_group_q, from_card_q, from_group_q, config_i.open};
  end else begin : gen_from_wire
    // What the host has sent comes back over a loop in the network, and the card itself sends nothing that is a host's.
    always_comb begin
      if (!whole_o || reserved_q || !(to_host_q || to_group_q)) verdict_o = NicOther;
      else if (from_host_q || from_card_q || from_group_q) verdict_o = NicForged;
      else verdict_o = NicPass;
    end
    logic unused;
    assign unused = ^{to_card_q, config_i.open};
  end
endmodule
