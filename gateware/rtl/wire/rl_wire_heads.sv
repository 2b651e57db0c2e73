// The headers of frames, which are stored as they go by: a commit keeps the one that has, and without it the next
// frame's takes its place. Beside each is what the commit says of it.
module rl_wire_heads #(
  parameter int unsigned DataW = 64,
  parameter int unsigned Heads = 16,  // A power of two.
  parameter int unsigned Start = 14,  // Where in a frame the header begins,
  parameter int unsigned End = 64,    // and what follows it.
  parameter int unsigned SideW = 1,
  localparam int unsigned KeepW = DataW / 8,
  localparam int unsigned Lanes = (End + KeepW - 1) / KeepW,
  localparam int unsigned Bytes = End - Start
) (
  input  logic               clk_i,
  input  logic               rst_ni,

  input  logic [Lanes-1:0]   lane_i,         // A word of the head: this one of them.
  input  logic [DataW-1:0]   data_i,
  output logic               full_o,         // It is not stored.
  input  logic               commit_i,       // With or after the last word;
  input  logic [SideW-1:0]   commit_side_i,  // with it.

  output logic               valid_o,
  input  logic               ready_i,
  output logic [SideW-1:0]   side_o,
  output logic [8*Bytes-1:0] header_o        // Its first byte is the most significant.
);
  if (Heads < 2 || Heads != 1 << $clog2(Heads)) begin : gen_check
    $fatal(0, "rl_wire_heads: Heads must be a power of two (%m)");
  end
  localparam int unsigned PtrW = $clog2(Heads) + 1;

  logic [PtrW-1:0] wptr_q, rptr_q;
  assign full_o = wptr_q == {~rptr_q[PtrW-1], rptr_q[PtrW-2:0]};
  assign valid_o = wptr_q != rptr_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      wptr_q <= '0;
      rptr_q <= '0;
    end else begin
      if (commit_i) wptr_q <= wptr_q + 1'b1;
      if (valid_o && ready_i) rptr_q <= rptr_q + 1'b1;
    end
  end

  logic unused;
  assign unused = ^{lane_i, data_i};  // The bytes before the header.

  // A word has the header's bytes from First to Last, if any.
  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    localparam int unsigned First = i * KeepW < Start ? Start : i * KeepW;
    localparam int unsigned Last = (i + 1) * KeepW > End ? End : (i + 1) * KeepW;
    if (Last > First) begin : gen_store
      logic [8*(Last-First)-1:0] shown;
      rl_lutram #(
        .Width(8 * (Last - First)),
        .Depth(Heads)
      ) u_ram (
        .clk_i,
        .we_i(lane_i[i] && !full_o),
        .waddr_i(wptr_q[PtrW-2:0]),
        .wdata_i(data_i[8*(First%KeepW)+:8*(Last-First)]),
        .raddr_i(rptr_q[PtrW-2:0]),
        .rdata_o(shown)
      );
      for (genvar b = First; b < Last; b++) begin : gen_byte
        assign header_o[8*(End-1-b)+:8] = shown[8*(b-First)+:8];
      end
    end
  end
  rl_lutram #(
    .Width(SideW),
    .Depth(Heads)
  ) u_sides (
    .clk_i,
    .we_i(commit_i),
    .waddr_i(wptr_q[PtrW-2:0]),
    .wdata_i(commit_side_i),
    .raddr_i(rptr_q[PtrW-2:0]),
    .rdata_o(side_o)
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (rst_ni && commit_i) HasRoom_A : assert (!full_o);
`endif
endmodule
