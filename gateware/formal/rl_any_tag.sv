// Stands in for rl_tag, which has its own proof: any tags, one for each message and in order, after any time. As there,
// three messages at most have come to their end and still wait for their verdicts to be taken. A key is taken at any
// time.
module rl_tag
  import rl_ascon_pkg::*;
#(
  parameter int unsigned PerCycle = 1,
  parameter int unsigned Keys = 16,
  localparam int unsigned SlotW = $clog2(Keys)
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             key_valid_i,
  output logic             key_ready_o,
  input  logic [SlotW-1:0] key_slot_i,
  input  logic             key_forget_i,
  input  logic             key_prf_i,
  input  tag_t             key_i,
  input  logic             valid_i,
  output logic             ready_o,
  input  logic [63:0]      data_i,
  input  logic [7:0]       keep_i,
  input  logic             last_i,
  input  logic [SlotW-1:0] slot_i,
  output logic             valid_o,
  input  logic             ready_i,
  output tag_t             tag_o,
  output logic             known_o
);
  (* anyseq *) logic any_key_ready;
  (* anyseq *) logic any_ready;
  (* anyseq *) logic any_done;
  (* anyseq *) logic any_known;
  (* anyseq *) tag_t any_tag;
  logic [1:0] inside_q;  // Messages that have ended, and whose verdict has not been taken.
  logic ends, done;
  assign key_ready_o = any_key_ready;
  assign ready_o = any_ready && inside_q != '1;
  assign ends = valid_i && ready_o && last_i;
  assign done = any_done && (!valid_o || ready_i) && inside_q != 2'(valid_o);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      inside_q <= '0;
      valid_o  <= 1'b0;
    end else begin
      inside_q <= inside_q + 2'(ends) - 2'(valid_o && ready_i);
      valid_o  <= done || (valid_o && !ready_i);
    end
    if (done) begin
      tag_o   <= any_tag;
      known_o <= any_known;
    end
  end
endmodule
