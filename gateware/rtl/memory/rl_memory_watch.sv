// Stands at a memory's door and lives through a restart of the shell. It finds out that the memory does not answer: a
// request that is not taken, or an answer that does not come, while nothing else moves that way for 2^PatienceW cycles.
//
// A restart of the shell forgets what it has asked for; the memory does not. So the door is closed until all of that
// has come: answers are taken and thrown away, a burst that was not whole gets the rest of its beats without strobes,
// and nothing new is asked. When a beat has come without its address, that never ends; then only power opens the door.
//
// Other signals go by beside it.
module rl_memory_watch #(
  parameter int unsigned PatienceW = 18,
  parameter int unsigned OwedW = 8        // Bursts that are not answered, each way: less than 2^OwedW.
) (
  input  logic       clk_i,
  input  logic       rst_por_ni,  // When power comes.
  input  logic       rst_ni,      // The shell's reset.

  input  logic       s_awvalid_i,
  output logic       s_awready_o,
  input  logic [7:0] s_awlen_i,
  input  logic       s_wvalid_i,
  output logic       s_wready_o,
  input  logic       s_wlast_i,
  output logic       s_bvalid_o,
  input  logic       s_bready_i,
  input  logic       s_arvalid_i,
  output logic       s_arready_o,
  output logic       s_rvalid_o,
  input  logic       s_rready_i,

  output logic       m_awvalid_o,
  input  logic       m_awready_i,
  output logic       m_wvalid_o,
  input  logic       m_wready_i,
  output logic       m_wlast_o,
  output logic       fills_o,     // The beat is one without strobes.
  input  logic       m_bvalid_i,
  output logic       m_bready_o,
  output logic       m_arvalid_o,
  input  logic       m_arready_i,
  input  logic       m_rvalid_i,
  input  logic       m_rlast_i,
  output logic       m_rready_o,

  output logic       late_o,      // The memory does not answer: until the shell's reset.
  output logic       owes_o       // It still owes what was asked before the last reset: the door is closed.
);
  localparam int unsigned BeatsW = OwedW + 5;
  logic [OwedW-1:0] writes_q, reads_q;
  logic signed [BeatsW-1:0] beats_q;  // Of the addresses taken, less those taken. Either may come first.
  logic closed, clean, aw_take, w_take, b_take, ar_take, r_end;
  assign closed = owes_o || !rst_ni;
  assign clean = writes_q == '0 && reads_q == '0 && beats_q == '0;

  assign m_awvalid_o = s_awvalid_i && !closed;
  assign s_awready_o = m_awready_i && !closed;
  assign fills_o = closed && beats_q > 0;
  assign m_wvalid_o = fills_o || (s_wvalid_i && !closed);
  assign s_wready_o = m_wready_i && !closed;
  assign m_wlast_o = closed ? beats_q == 1 : s_wlast_i;
  assign s_bvalid_o = m_bvalid_i && !closed;
  assign m_bready_o = s_bready_i || closed;
  assign m_arvalid_o = s_arvalid_i && !closed;
  assign s_arready_o = m_arready_i && !closed;
  assign s_rvalid_o = m_rvalid_i && !closed;
  assign m_rready_o = s_rready_i || closed;

  assign aw_take = m_awvalid_o && m_awready_i;
  assign w_take = m_wvalid_o && m_wready_i;
  assign b_take = m_bvalid_i && m_bready_o;
  assign ar_take = m_arvalid_o && m_arready_i;
  assign r_end = m_rvalid_i && m_rready_o && m_rlast_i;

  // An answer that nobody takes is one, too.
  logic write_waits, read_waits;
  logic [PatienceW:0] write_silent_q, read_silent_q;
  assign write_waits = (m_awvalid_o || m_wvalid_o || writes_q != '0) && !(aw_take || w_take || m_bvalid_i);
  assign read_waits = (m_arvalid_o || reads_q != '0) && !(ar_take || m_rvalid_i);

  always_ff @(posedge clk_i) begin
    if (!rst_por_ni) begin
      writes_q <= '0;
      reads_q <= '0;
      beats_q <= '0;
      owes_o <= 1'b0;
    end else begin
      writes_q <= writes_q + OwedW'(aw_take) - OwedW'(b_take);
      reads_q <= reads_q + OwedW'(ar_take) - OwedW'(r_end);
      beats_q <= beats_q + (aw_take ? BeatsW'(s_awlen_i) + 1'b1 : '0) - BeatsW'(w_take);
      owes_o <= !clean && closed;
    end
    if (!rst_por_ni || closed) begin
      write_silent_q <= '0;
      read_silent_q <= '0;
      late_o <= 1'b0;
    end else begin
      write_silent_q <= write_waits ? write_silent_q + 1'b1 : '0;
      read_silent_q <= read_waits ? read_silent_q + 1'b1 : '0;
      if (write_silent_q[PatienceW] || read_silent_q[PatienceW]) late_o <= 1'b1;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_por_ni) begin
      CountsEach_A : assert (!(&writes_q && aw_take) && !(&reads_q && ar_take));
      AnswersWhatWasAsked_A : assert (!(writes_q == '0 && b_take) && !(reads_q == '0 && r_end));
    end
  end
`endif
endmodule : rl_memory_watch
