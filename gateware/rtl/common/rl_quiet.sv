// Whether nothing has happened for some time, so that what crosses between domains, or comes round, has arrived.
module rl_quiet #(
  parameter int unsigned CountW = 7  // For 2^CountW - 1 cycles.
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic active_i,
  output logic quiet_o
);
  logic [CountW-1:0] count_q;
  assign quiet_o = &count_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || active_i) count_q <= '0;
    else if (!quiet_o) count_q <= count_q + 1'b1;
  end
endmodule
