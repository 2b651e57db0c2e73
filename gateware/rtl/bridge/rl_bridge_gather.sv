// Beats of memory to the bytes of a frame: the byte at lane `offset` of the first beat is the first. There may be one
// beat more than words go out. Bytes behind the last mean nothing.
module rl_bridge_gather #(
  parameter int unsigned DataW = 512,
  localparam int unsigned Bytes = DataW / 8,
  localparam int unsigned FineW = $clog2(Bytes)
) (
  input  logic              clk_i,
  input  logic              rst_ni,

  input  logic              s_valid_i,
  output logic              s_ready_o,
  input  logic [FineW-1:0]  s_offset_i,  // Steady in a frame, as is:
  input  logic              s_more_i,    // There is one beat more.
  input  logic [DataW-1:0]  s_data_i,
  input  logic              s_last_i,

  output logic              m_valid_o,
  input  logic              m_ready_i,
  output logic [DataW-1:0]  m_data_o,
  output logic              m_last_o
);
  typedef logic [FineW-1:0] fine_t;
  // A beat waits for the next one if its word has bytes of that.
  logic beat_valid_q, beat_last_q, beat_more_q, beat_first_q, shifts_q, first_q;
  fine_t by_q;
  logic [DataW-1:0] beat_q, before_q, word;
  logic takes, goes, gives, flushes_q;
  assign s_ready_o = !beat_valid_q || takes;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      beat_valid_q <= 1'b0;
      first_q <= 1'b1;
    end else begin
      if (s_ready_o) beat_valid_q <= s_valid_i;
      if (s_valid_i && s_ready_o) first_q <= s_last_i;
    end
  end
  always_ff @(posedge clk_i) begin
    if (s_valid_i && s_ready_o) begin
      beat_q <= s_data_i;
      beat_last_q <= s_last_i;
      beat_more_q <= s_more_i;
      beat_first_q <= first_q;
      shifts_q <= s_offset_i != 0;
      by_q <= -s_offset_i;
    end
  end

  // Lane l of word k is lane l + offset of beat k, or of the next.
  rl_bridge_funnel #(
    .DataW(DataW)
  ) u_funnel (
    .by_i(by_q),
    .before_i(before_q),
    .data_i(beat_q),
    .data_o(word)
  );
  // The first beat gives no word before it is the one before. The last gives one, and another if that has none.
  assign goes = m_ready_i || !m_valid_o;
  assign gives = flushes_q || !shifts_q || !beat_first_q;
  assign takes = beat_valid_q && goes && !(shifts_q && beat_last_q && !beat_more_q && !flushes_q);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      m_valid_o <= 1'b0;
      flushes_q <= 1'b0;
    end else begin
      if (goes) m_valid_o <= beat_valid_q && gives;
      if (beat_valid_q && goes) flushes_q <= !takes;
    end
  end
  always_ff @(posedge clk_i) begin
    if (beat_valid_q && goes) begin
      before_q <= beat_q;
      m_data_o <= word;
      m_last_o <= beat_last_q && takes;
    end
  end
endmodule
