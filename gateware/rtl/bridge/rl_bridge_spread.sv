// Bytes of a frame to the lanes where they belong: the first is put at lane `offset`, the others follow, so that a word
// that goes out is a beat of memory. There may be one word more than comes in.
//
// What comes in waits at most a cycle for what goes out.
module rl_bridge_spread
  import rl_bridge_node_pkg::*;
#(
  parameter int unsigned DataW = 512,
  parameter int unsigned SideW = 8,   // Bits that go along, steady in a frame.
  localparam int unsigned Bytes = DataW / 8,
  localparam int unsigned FineW = $clog2(Bytes)
) (
  input  logic              clk_i,
  input  logic              rst_ni,

  input  logic              s_valid_i,
  output logic              s_ready_o,
  input  logic [SideW-1:0]  s_side_i,    // Steady in a frame, as are offset and length.
  input  logic [FineW-1:0]  s_offset_i,
  input  logic [15:0]       s_length_i,
  input  logic [DataW-1:0]  s_data_i,
  input  logic              s_last_i,

  output logic              m_valid_o,
  input  logic              m_ready_i,
  output logic [SideW-1:0]  m_side_o,
  output logic [DataW-1:0]  m_data_o,
  output logic [Bytes-1:0]  m_strb_o,    // Bytes of the frame.
  output logic              m_last_o
);
  typedef logic [FineW-1:0] fine_t;
  logic first_q, flushes_q, moves, more, ends;
  logic [DataW-1:0] before_q, beat;
  logic [Bytes-1:0] from_offset, below_end;
  fine_t end_at;
  logic [FineW:0] rest;

  // What is left of the last word goes out with bytes of that word behind it, which are not the frame's.
  rl_bridge_funnel #(
    .DataW(DataW)
  ) u_funnel (
    .by_i(s_offset_i),
    .before_i(before_q),
    .data_i(s_data_i),
    .data_o(beat)
  );
  assign rest = {1'b0, s_offset_i} + {1'b0, fine_t'(s_length_i - 1'b1)};
  assign more = rest[FineW] && s_length_i != 0;  // A word more than come in,
  assign end_at = rest[FineW-1:0];               // and the last lane.
  assign ends = flushes_q || (s_last_i && !more);
  assign from_offset = {Bytes{1'b1}} << s_offset_i;
  assign below_end = ~({{Bytes - 1{1'b1}}, 1'b0} << end_at);

  assign moves = s_valid_i && (m_ready_i || !m_valid_o);
  // The word in which bytes are left over stays until these have gone.
  assign s_ready_o = moves && (flushes_q || !(s_last_i && more));
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      m_valid_o <= 1'b0;
      first_q <= 1'b1;
      flushes_q <= 1'b0;
    end else begin
      if (m_ready_i || !m_valid_o) m_valid_o <= s_valid_i;
      if (moves) begin
        first_q <= ends;
        flushes_q <= !flushes_q && s_last_i && more;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (moves) begin
      before_q <= s_data_i;
      m_side_o <= s_side_i;
      m_data_o <= beat;
      m_strb_o <= s_length_i == 0 ? '0 : (first_q ? from_offset : '1) & (ends ? below_end : '1);
      m_last_o <= ends;
    end
  end
endmodule
