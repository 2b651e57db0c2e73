// Counts frames that a card with keys drops for their tags, 64 bits for each cause in the order of the wire. A frame
// has one cause and takes five cycles at least, so they are counted one by one, by a single adder.
module rl_auth_counters
  import rl_auth_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  auth_event_t event_i,
  input  logic [2:0]  word_i,  // Two for each counter, low half first.
  output logic [31:0] data_o   // In the same cycle.
);
  localparam int unsigned Causes = $bits(auth_event_t);
  localparam int unsigned CauseW = $clog2(Causes);

  // The first of the wire is the event's highest bit.
  logic [CauseW-1:0] cause;
  assign cause = {event_i.wrong || event_i.replay, event_i.unknown || event_i.replay};

  // What the memories hold counts from the first event on.
  logic [Causes-1:0] began_q;
  logic happens;
  logic [63:0] stored, count, shown;
  assign happens = event_i != '0;
  assign count = (began_q[cause] ? stored : '0) + 1'b1;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) began_q <= '0;
    else if (happens) began_q[cause] <= 1'b1;
  end
  rl_lutram #(
    .Width(64),
    .Depth(Causes)
  ) u_count (
    .clk_i,
    .we_i(happens),
    .waddr_i(cause),
    .wdata_i(count),
    .raddr_i(cause),
    .rdata_o(stored)
  );

  // The processor's copy.
  rl_lutram #(
    .Width(64),
    .Depth(Causes)
  ) u_shown (
    .clk_i,
    .we_i(happens),
    .waddr_i(cause),
    .wdata_i(count),
    .raddr_i(word_i[2:1]),
    .rdata_o(shown)
  );
  assign data_o = !began_q[word_i[2:1]] ? '0 : word_i[0] ? shown[63:32] : shown[31:0];

`ifndef SYNTHESIS
  OneCause_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) $onehot0(event_i));
`endif
endmodule
