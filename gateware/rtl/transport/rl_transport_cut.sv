// A register between two steps of a judgement, or a wire.
module rl_transport_cut #(
  parameter int unsigned Width = 1,
  parameter bit          Cut = 1'b1
) (
  input  logic             clk_i,
  input  logic [Width-1:0] d_i,
  output logic [Width-1:0] q_o
);
  if (Cut) begin : gen_register
    always_ff @(posedge clk_i) q_o <= d_i;
  end else begin : gen_wire
    logic unused;
    assign unused = clk_i;
    assign q_o = d_i;
  end
endmodule
