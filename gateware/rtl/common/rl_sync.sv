// Two flip-flops into another clock domain, for bits that stand alone. A bit arrives in the second or,
// if it changes just before an edge, in the third cycle; bits of one vector arrive each at its own time.
// What is a number crosses with rl_gray_sync.
//
// The attributes keep both flip-flops, and side by side: ASYNC_REG and keep are Vivado's, preserve and the
// identification are Quartus', and Yosys knows keep.
module rl_sync #(
  parameter int unsigned Width = 1,
  parameter logic [Width-1:0] ResetValue = '0
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [Width-1:0] d_i,    // From any domain.
  output logic [Width-1:0] q_o     // Two cycles later, or three.
);
  if (Width < 1) begin : gen_check
    $fatal(0, "rl_sync: Width must be at least 1 (%m)");
  end

  logic [Width-1:0] arrived;
  (* ASYNC_REG = "TRUE", keep = "true", preserve, altera_attribute = "-name SYNCHRONIZER_IDENTIFICATION FORCED" *)
  logic [Width-1:0] meta_q, sync_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      meta_q <= ResetValue;
      sync_q <= ResetValue;
    end else begin
      meta_q <= arrived;
      sync_q <= meta_q;
    end
  end
  assign q_o = sync_q;

`ifdef SYNTHESIS
  assign arrived = d_i;
`else
  // Each bit is what it was at the last edge, or what it is.
  rl_late #(
    .Width(Width)
  ) u_late (
    .clk_i,
    .d_i,
    .arrived_o(arrived)
  );
`endif
endmodule
