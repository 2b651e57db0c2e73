// A counter of another clock domain, which comes in Gray code, as a number.
module rl_count_sync #(
  parameter int unsigned Width = 8
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [Width-1:0] gray_i,
  output logic [Width-1:0] count_o // Three cycles later, or four.
);
  if (Width < 2) begin : gen_check
    $fatal(0, "rl_count_sync: Width must be at least 2 (%m)");
  end

  logic [Width-1:0] gray;
  rl_gray_sync #(
    .Width(Width)
  ) u_sync (
    .clk_i,
    .rst_ni,
    .gray_i,
    .gray_o(gray)
  );
  // A register, since what follows is a comparison.
  for (genvar i = 0; i < Width; i++) begin : gen_binary
    always_ff @(posedge clk_i) count_o[i] <= rst_ni && (^gray[Width-1:i]);
  end
endmodule
