// What the neighbour at a link has said of its programs that failed: which of our own are of the same operation. One
// that begins later learns it, too: of each context of the neighbour the newest that concerned nobody is kept.
//
// All places are looked through one after the other, for a program that begins and for a word that comes.
module rl_collective_failures
  import rl_link_wire_pkg::*;
  import rl_collective_pkg::*;
(
  input  logic             clk_i,
  input  logic             rst_ni,

  // -- our programs
  input  logic             begin_i,       // Not while looks_o.
  input  slot_t            slot_i,
  input  operation_t       operation_i,
  output logic             looks_o,       // Of the one that has begun not all is known.
  input  logic [Slots-1:0] clear_i,       // These are no more.
  output logic [Slots-1:0] told_o,        // The neighbour's of the same operation has failed.

  // -- the neighbour's
  input  logic             said_valid_i,
  output logic             said_ready_o,
  input  message_t         said_i,
  input  logic             forget_i       // It has a new life.
);
  typedef enum logic [1:0] {
    Idle,
    Looks,
    Hears
  } state_e;
  state_e state_q;
  logic pending_q, concerns_q, same, known, concerned, ends, keeps;
  slot_t at_q, slot_q;
  logic [Slots-1:0] named_q, there_q;
  operation_t ours, theirs, said;
  assign said = '{group: said_i.key.group, number: said_i.key.number};
  rl_lutram #(
    .Width($bits(operation_t)),
    .Depth(Slots)
  ) u_ours (
    .clk_i,
    .we_i(begin_i),
    .waddr_i(slot_i),
    .wdata_i(operation_i),
    .raddr_i(state_q == Looks ? slot_q : at_q),
    .rdata_o(ours)
  );
  rl_lutram #(
    .Width($bits(operation_t)),
    .Depth(Slots)
  ) u_theirs (
    .clk_i,
    .we_i(keeps),
    .waddr_i(slot_t'(said_i.slot)),
    .wdata_i(said),
    .raddr_i(at_q),
    .rdata_o(theirs)
  );
  assign ends = at_q == '1;
  assign same = ours == (state_q == Looks ? theirs : said);
  assign known = said_i.slot < 16'(Slots);  // A context that there may be.
  assign concerned = state_q == Hears && known && named_q[at_q] && same;
  assign looks_o = pending_q || state_q == Looks;
  assign said_ready_o = state_q == Hears && ends;
  assign keeps = said_ready_o && !concerns_q && !concerned && known && !forget_i;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
      pending_q <= 1'b0;
      at_q <= '0;
      named_q <= '0;
      there_q <= '0;
      told_o <= '0;
    end else begin
      case (state_q)
        // A program that begins does not wait for more than one word.
        Idle: state_q <= pending_q ? Looks : said_valid_i ? Hears : Idle;
        default: if (ends) state_q <= Idle;
      endcase
      if (state_q != Idle) at_q <= at_q + 1'b1;
      pending_q <= begin_i || (pending_q && state_q != Idle);
      named_q <= (named_q & ~clear_i) | (Slots'(begin_i) << slot_i);
      if (concerned) told_o[at_q] <= 1'b1;
      if (state_q == Looks && there_q[at_q] && same) told_o[slot_q] <= 1'b1;
      if (keeps) there_q[slot_t'(said_i.slot)] <= 1'b1;
      for (int unsigned c = 0; c < Slots; c++) if (clear_i[c]) told_o[c] <= 1'b0;
      if (forget_i) begin
        told_o <= '0;
        there_q <= '0;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (begin_i) slot_q <= slot_i;
    concerns_q <= state_q == Hears && (concerns_q || concerned);
  end
  logic unused;
  assign unused = ^{said_i.kind, said_i.key.tag, said_i.offset, said_i.total, said_i.length};
endmodule
