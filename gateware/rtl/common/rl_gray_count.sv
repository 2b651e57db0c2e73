// A count from another clock domain: it comes in Gray code, one step at a time, and goes out binary.
module rl_gray_count #(
  parameter int unsigned Width = 8
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [Width-1:0] gray_i,   // From the other domain.
  output logic [Width-1:0] count_o   // Three cycles later.
);
  logic [Width-1:0] seen, binary;
  rl_sync #(.Width(Width)) u_sync (.clk_i, .rst_ni, .d_i(gray_i), .q_o(seen));
  for (genvar i = 0; i < Width; i++) begin : gen_binary
    assign binary[i] = ^seen[Width-1:i];
  end
  always_ff @(posedge clk_i) count_o <= rst_ni ? binary : '0;
endmodule : rl_gray_count
