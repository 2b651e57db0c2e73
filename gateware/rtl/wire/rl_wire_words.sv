// Words of payloads until their frame has ended: then all of them are there for the reader, or none has ever been.
module rl_wire_words #(
  parameter int unsigned DataW = 64,
  parameter int unsigned Words = 512,  // A power of two.
  localparam int unsigned PtrW = $clog2(Words) + 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  input  logic             word_i,      // Write data_i, unless full_o.
  input  logic [DataW-1:0] data_i,
  input  logic             last_i,      // Of a payload.
  output logic             full_o,
  input  logic             commit_i,    // With or after the last word.
  input  logic             rollback_i,  // Nothing was written since the last commit, nor is it now.

  output logic             valid_o,
  input  logic             ready_i,
  output logic [DataW-1:0] data_o,
  output logic             last_o
);
  if (Words < 2 || Words != 1 << $clog2(Words)) begin : gen_check
    $fatal(0, "rl_wire_words: Words must be a power of two (%m)");
  end

  logic [PtrW-1:0] wptr_q, base_q, rptr_q, wptr_next;
  logic writes, fetches;
  assign full_o = wptr_q == {~rptr_q[PtrW-1], rptr_q[PtrW-2:0]};
  assign writes = word_i && !full_o;
  assign wptr_next = wptr_q + PtrW'(writes);
  assign fetches = rptr_q != base_q && (!valid_o || ready_i);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      wptr_q <= '0;
      base_q <= '0;
      rptr_q <= '0;
      valid_o <= 1'b0;
    end else begin
      wptr_q <= rollback_i ? base_q : wptr_next;
      if (commit_i) base_q <= wptr_next;
      if (fetches) rptr_q <= rptr_q + 1'b1;
      valid_o <= fetches || (valid_o && !ready_i);
    end
  end
  rl_ram #(
    .Width(DataW + 1),
    .Depth(Words),
    .Block(1'b1)
  ) u_ram (
    .clk_wr_i(clk_i),
    .we_i(writes),
    .waddr_i(wptr_q[PtrW-2:0]),
    .wdata_i({last_i, data_i}),
    .clk_rd_i(clk_i),
    .re_i(fetches),
    .raddr_i(rptr_q[PtrW-2:0]),
    .rdata_o({last_o, data_o})
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) OneOrTheOther_A : assert (!commit_i || !rollback_i);
    if (rst_ni && commit_i) WholeIsCommitted_A : assert (!word_i || !full_o);
  end
`endif
endmodule
