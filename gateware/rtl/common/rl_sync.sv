// Two flip-flops into another clock domain. For bits that stand alone, and for Gray-coded vectors,
// of which one bit changes at a time.
module rl_sync #(
  parameter int unsigned Width = 1,
  parameter logic [Width-1:0] ResetValue = '0
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [Width-1:0] d_i,    // From any domain.
  output logic [Width-1:0] q_o     // Two cycles later.
);
  if (Width < 1) begin : gen_check
    $fatal(0, "rl_sync: Width must be at least 1 (%m)");
  end

  logic [Width-1:0] meta_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      meta_q <= ResetValue;
      q_o <= ResetValue;
    end else begin
      meta_q <= d_i;
      q_o <= meta_q;
    end
  end
endmodule
