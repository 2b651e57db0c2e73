// Stands in for rl_lutram in proofs that watch one word: it keeps one place, any; out of the others anything may come.
module rl_lutram #(
  parameter int unsigned Width = 32,
  parameter int unsigned Depth = 16,
  localparam int unsigned AddrW = $clog2(Depth)
) (
  input  logic             clk_i,
  input  logic             we_i,
  input  logic [AddrW-1:0] waddr_i,
  input  logic [Width-1:0] wdata_i,
  input  logic [AddrW-1:0] raddr_i,
  output logic [Width-1:0] rdata_o
);
  (* anyseq *) logic [AddrW-1:0] any_place;
  (* anyseq *) logic [Width-1:0] any;
  logic [AddrW-1:0] place_q;  // From the first edge on.
  logic [Width-1:0] kept_q;
  logic chosen_q = 1'b0;

  always_ff @(posedge clk_i) begin
    chosen_q <= 1'b1;
    if (!chosen_q) place_q <= any_place;
    if (we_i && waddr_i == place_q) kept_q <= wdata_i;
  end
  assign rdata_o = raddr_i == place_q ? kept_q : any;
endmodule
