// Stands in for rl_fifo in proofs of blocks around one: words in a row, the oldest in place 0, so that induction can be
// told what lies there. rl_fifo.sby proves that rl_fifo does the same.
module rl_fifo #(
  parameter int unsigned Width = 64,
  parameter int unsigned Depth = 16,
  parameter bit          Block = 1'b0,
  localparam int unsigned CountW = $clog2(Depth) + 1
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              wvalid_i,
  output logic              wready_o,
  input  logic [Width-1:0]  wdata_i,
  output logic              rvalid_o,
  input  logic              rready_i,
  output logic [Width-1:0]  rdata_o,
  output logic [CountW-1:0] count_o
);
  logic [Depth-1:0][Width-1:0] words_q;
  logic [CountW-1:0] held_q, next;
  logic push, pop;
  assign wready_o = held_q != CountW'(Depth);
  assign rvalid_o = held_q != 0;
  assign rdata_o = words_q[0];
  assign count_o = held_q;
  assign push = wvalid_i && wready_o;
  assign pop = rvalid_o && rready_i;
  assign next = held_q - CountW'(pop);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      held_q <= '0;
    end else begin
      held_q <= next + CountW'(push);
      for (int unsigned i = 0; i < Depth; i++) begin
        if (push && next == CountW'(i)) words_q[i] <= wdata_i;
        else if (pop && i + 1 < Depth) words_q[i] <= words_q[i+1];
      end
    end
  end
  // Block only says how it is made.
  logic unused;
  assign unused = Block;
endmodule
