// Events of a role, out of its clock domain: words for whoever owns the card. What has been taken is reported, whatever
// becomes of the role; while nobody takes them a role waits with the next.
module rl_role_events
  import rl_role_pkg::*;
#(
  parameter int unsigned Depth = 16  // Events that wait.
) (
  input  logic        clk_role_i,
  input  logic        rst_role_ni,
  input  logic        role_rst_ni,  // The role's reset: what it says then is nothing.
  input  role_event_t raises_i,
  output logic        ready_o,

  input  logic        clk_net_i,
  input  logic        rst_net_ni,
  output logic        valid_o,
  input  logic        ready_i,
  output logic [63:0] word_o
);
  logic unused_spare;
  rl_fifo_async #(
    .Width(64),
    .Depth(Depth)
  ) u_words (
    .clk_wr_i(clk_role_i),
    .rst_wr_ni(rst_role_ni),
    .wvalid_i(raises_i.valid && role_rst_ni),
    .wready_o(ready_o),
    .wspare_o(unused_spare),
    .wdata_i(raises_i.word),
    .clk_rd_i(clk_net_i),
    .rst_rd_ni(rst_net_ni),
    .rvalid_o(valid_o),
    .rready_i(ready_i),
    .rdata_o(word_o)
  );
endmodule
