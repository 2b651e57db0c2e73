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
  // A beat is turned, and then waits for the next one if its word has bytes of that.
  logic turned_valid_q, turned_last_q, turned_more_q, turned_first_q, shifts_q, first_q;
  fine_t offset_q;
  logic [DataW-1:0] turned, turned_q, before_q, merged;
  logic takes, goes, gives, flushes_q;
  rl_bridge_turn #(
    .DataW(DataW)
  ) u_turn (
    .by_i(fine_t'(-s_offset_i)),
    .data_i(s_data_i),
    .data_o(turned)
  );
  assign s_ready_o = !turned_valid_q || takes;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      turned_valid_q <= 1'b0;
      first_q <= 1'b1;
    end else begin
      if (s_ready_o) turned_valid_q <= s_valid_i;
      if (s_valid_i && s_ready_o) first_q <= s_last_i;
    end
  end
  always_ff @(posedge clk_i) begin
    if (s_valid_i && s_ready_o) begin
      turned_q <= turned;
      turned_last_q <= s_last_i;
      turned_more_q <= s_more_i;
      turned_first_q <= first_q;
      shifts_q <= s_offset_i != 0;
      offset_q <= s_offset_i;
    end
  end

  // Lane l of word k is lane l + offset of beat k, or of the next.
  for (genvar l = 0; l < int'(Bytes); l++) begin : gen_lane
    logic of_next;
    assign of_next = shifts_q && (Bytes - l) <= 32'(offset_q);
    assign merged[8*l+:8] = of_next || !shifts_q ? turned_q[8*l+:8] : before_q[8*l+:8];
  end
  // The first beat of several gives no word before the next has come. The last gives one, and another if that has none.
  assign goes = m_ready_i || !m_valid_o;
  assign gives = flushes_q || !shifts_q || !turned_first_q || (turned_last_q && !turned_more_q);
  assign takes = turned_valid_q && goes &&
      !(shifts_q && turned_last_q && !turned_more_q && !turned_first_q && !flushes_q);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      m_valid_o <= 1'b0;
      flushes_q <= 1'b0;
    end else begin
      if (goes) m_valid_o <= turned_valid_q && gives;
      if (turned_valid_q && goes) flushes_q <= !takes;
    end
  end
  always_ff @(posedge clk_i) begin
    if (turned_valid_q && goes) begin
      before_q <= turned_q;
      m_data_o <= flushes_q || turned_first_q ? turned_q : merged;
      m_last_o <= turned_last_q && takes;
    end
  end
endmodule
