// What the analyzer must know of a frame's kind: a table made from the kinds' rules in rl_wire_pkg. It is
// gates: so few entries differ that they are less than a block RAM, and quicker.
module rl_kind_class
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
(
  input  logic        clk_net_i,

  input  logic        valid_i,      // These come in this cycle.
  input  logic [15:0] ether_type_i,
  input  logic [7:0]  kind_i,

  output kind_class_t class_o       // Two cycles later.
);
  // These bits tell the EtherTypes from each other, and kinds are numbered in four bits.
  localparam int unsigned KindW = 4;
  localparam int unsigned IndexW = 5 + KindW;
  typedef logic [IndexW-1:0] index_t;
  // verilator lint_off UNUSEDSIGNAL
  function automatic index_t index(logic [15:0] ether_type, logic [KindW-1:0] kind);
    return {ether_type[6:4], ether_type[1:0], kind};
  endfunction
  // verilator lint_on UNUSEDSIGNAL
  // These bits are the same for all.
  localparam logic [8:0] Common = EtherTypes[0][15:7];

  typedef struct packed {
    logic [1:0] rest; // The EtherType's bits that are not looked at yet.
    kind_class_t class_;
  } entry_t;
  typedef entry_t table_t[2**IndexW];

  // True when the table has a place of its own for each kind, each hardware path has the claim rule that
  // rl_rx_judge applies to it, and launches alone wait for the control ring, as rl_analyzer has it.
  function automatic logic fits();
    for (int unsigned i = 0; i < EtherTypeCount; i++) begin
      if (EtherTypes[i][15:7] != Common) return 1'b0;
      for (int unsigned j = 0; j < i; j++) begin
        if (index(EtherTypes[i], '0) == index(EtherTypes[j], '0)) return 1'b0;
      end
    end
    for (int unsigned i = 0; i < KindCount; i++) begin
      if (KindRules[i].kind[7:KindW] != 0) return 1'b0;
      if (KindRules[i].taken_by == TakenByImage && KindRules[i].claim != ClaimRuleLoad) return 1'b0;
      if (KindRules[i].taken_by inside {TakenByWrite, TakenByRead, TakenByLaunch} &&
          KindRules[i].claim != ClaimRuleEpoch)
        return 1'b0;
      if ((KindRules[i].order == OrderAfterControl) != (KindRules[i].taken_by == TakenByLaunch))
        return 1'b0;
    end
    return 1'b1;
  endfunction
  if (!fits()) begin : gen_check
    $fatal(0, "rl_kind_class: the kinds of rl_wire_pkg need another table or another judge (%m)");
  end

  function automatic table_t make_table();
    table_t made;
    entry_t entry;
    index_t at;
    for (int unsigned i = 0; i < 2 ** IndexW; i++) made[i] = '0;
    for (int unsigned i = 0; i < EtherTypeCount; i++) begin
      entry = '0;
      entry.rest = EtherTypes[i][3:2];
      entry.class_.ether = 1'b1;
      for (int unsigned kind = 0; kind < 2 ** KindW; kind++) begin
        made[index(EtherTypes[i], KindW'(kind))] = entry;
      end
    end
    for (int unsigned i = 0; i < KindCount; i++) begin
      at = index(KindRules[i].ether_type, KindRules[i].kind[KindW-1:0]);
      entry = made[at];
      entry.class_.known = 1'b1;
      if (KindRules[i].to != ReceiverHost) begin
        entry.class_.unicast = KindRules[i].reach == ReachUnicast;
        entry.class_.group = KindRules[i].reach == ReachGroup;
        entry.class_.any = KindRules[i].reach == ReachAny;
      end
      entry.class_.after_barrier = KindRules[i].order inside {OrderAfterBarrier, OrderAfterControl};
      entry.class_.write = KindRules[i].taken_by == TakenByWrite;
      entry.class_.read = KindRules[i].taken_by == TakenByRead;
      entry.class_.data = KindRules[i].taken_by == TakenByImage;
      entry.class_.launch = KindRules[i].taken_by == TakenByLaunch;
      made[at] = entry;
    end
    return made;
  endfunction

  (* rom_style = "logic" *) entry_t mem[2**IndexW];
  initial mem = make_table();

  entry_t entry_q;
  logic common_q, low_q;
  logic [1:0] rest_q;
  always_ff @(posedge clk_net_i) begin
    if (valid_i) begin
      entry_q <= mem[index(ether_type_i, kind_i[KindW-1:0])];
      common_q <= ether_type_i[15:7] == Common;
      rest_q <= ether_type_i[3:2];
      low_q <= kind_i[7:KindW] == 0;
    end
  end
  always_ff @(posedge clk_net_i) begin
    class_o <= entry_q.class_;
    class_o.known <= entry_q.class_.known && low_q;
    if (!common_q || rest_q != entry_q.rest) class_o <= '0;
  end
endmodule
