// Counts by number, of 32 bits, which wrap: one of them goes on in a cycle. They begin at zero, Kinds cycles after a
// reset; what happens before is not counted.
module rl_wire_tally #(
  parameter int unsigned Kinds = 16,  // A power of two, 2 or more.
  localparam int unsigned KindW = $clog2(Kinds)
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             happened_i,
  input  logic [KindW-1:0] kind_i,
  input  logic [KindW-1:0] count_of_i,
  output logic [31:0]      count_o      // Of count_of_i, in the same cycle.
);
  if (Kinds < 2 || Kinds != 1 << $clog2(Kinds)) begin : gen_check
    $fatal(0, "rl_wire_tally: Kinds must be a power of two, 2 or more (%m)");
  end

  logic [KindW:0] clears_q;  // So many are cleared.
  logic clears, write;
  logic [KindW-1:0] at;
  logic [31:0] was, next;
  assign clears = !clears_q[KindW];
  assign write = rst_ni && (clears || happened_i);
  assign at = clears ? clears_q[KindW-1:0] : kind_i;
  assign next = clears ? '0 : was + 32'd1;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) clears_q <= '0;
    else if (clears) clears_q <= clears_q + 1'b1;
  end
  rl_lutram #(
    .Width(32),
    .Depth(Kinds)
  ) u_counts (
    .clk_i,
    .we_i(write),
    .waddr_i(at),
    .wdata_i(next),
    .raddr_i(kind_i),
    .rdata_o(was)
  );
  // The same again, since a memory is read at one place.
  rl_lutram #(
    .Width(32),
    .Depth(Kinds)
  ) u_shown (
    .clk_i,
    .we_i(write),
    .waddr_i(at),
    .wdata_i(next),
    .raddr_i(count_of_i),
    .rdata_o(count_o)
  );
endmodule
