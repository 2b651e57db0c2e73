// A Gray-coded number into another clock domain: one that goes a step at a time, so that one bit changes
// at each edge of its own clock. What comes out is a number that it was.
//
// That holds only while its bits do not overtake one another: from the registers that drive gray_i to meta_q
// their delays may differ by less than a period of the writer's clock (set_bus_skew, or set_max_delay of one
// period; gateware/cdc/constraints.py writes it).
module rl_gray_sync #(
  parameter int unsigned Width = 2
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [Width-1:0] gray_i, // From registers of any domain.
  output logic [Width-1:0] gray_o  // Two cycles later, or three.
);
  if (Width < 2) begin : gen_check
    $fatal(0, "rl_gray_sync: Width must be at least 2 (%m)");
  end

  logic [Width-1:0] arrived;
  (* ASYNC_REG = "TRUE", keep = "true", preserve, altera_attribute = "-name SYNCHRONIZER_IDENTIFICATION FORCED" *)
  logic [Width-1:0] meta_q, sync_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      meta_q <= '0;
      sync_q <= '0;
    end else begin
      meta_q <= arrived;
      sync_q <= meta_q;
    end
  end
  assign gray_o = sync_q;

`ifdef SYNTHESIS
  assign arrived = gray_i;
`else
  // The number as it was at the last edge, or as it is: between two edges a fast writer goes some steps, of which
  // the first ones have arrived.
  rl_late #(
    .Width(Width),
    .Together(1'b1)
  ) u_late (
    .clk_i,
    .d_i(gray_i),
    .arrived_o(arrived)
  );
`endif
endmodule
