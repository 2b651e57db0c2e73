// For simulation: what is offered stays offered, as it is, until it is taken.
//
// A block and no property: of all that a concurrent assertion looks at a simulator makes a copy in each cycle, of a
// FIFO's head that is the whole memory.
module rl_stays #(
  parameter int unsigned Width = 1
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             valid_i,
  input logic             ready_i,
  input logic [Width-1:0] data_i
);
`ifdef SYNTHESIS
  logic unused;
  assign unused = ^{clk_i, rst_ni, valid_i, ready_i, data_i};
`else
  logic waits_q;
  logic [Width-1:0] data_q;
  always_ff @(posedge clk_i) begin
    waits_q <= rst_ni && valid_i && !ready_i;
    if (valid_i && !ready_i) data_q <= data_i;
    if (rst_ni && waits_q) Stays_A : assert (valid_i && data_i == data_q);
  end
`endif
endmodule
