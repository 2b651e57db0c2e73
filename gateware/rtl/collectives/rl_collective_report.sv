// Reports of programs that have ended: each goes to memory, where its launch says, before anybody learns of the end.
module rl_collective_report
  import rl_collective_pkg::*;
#(
  parameter int unsigned DataW = 64,
  localparam int unsigned Bytes = DataW / 8
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  input  logic             valid_i,
  output logic             ready_o,      // It is in memory.
  input  report_t          report_i,
  input  logic [39:0]      to_i,         // A multiple of 64.

  output logic             aw_valid_o,
  input  logic             aw_ready_i,
  output logic [39:0]      aw_addr_o,
  output logic [7:0]       aw_len_o,
  output logic             w_valid_o,
  input  logic             w_ready_i,
  output logic [DataW-1:0] w_data_o,
  output logic             w_last_o,
  input  logic             b_valid_i
);
  localparam int unsigned Beats = 64 / Bytes;
  typedef enum logic [1:0] {
    Address,
    Data,
    Answer
  } state_e;
  state_e state_q;
  logic [2:0] beat_q;
  assign aw_valid_o = valid_i && state_q == Address;
  assign aw_addr_o = to_i;
  assign aw_len_o = 8'(Beats - 1);
  assign w_valid_o = state_q == Data;
  assign w_last_o = beat_q == 3'(Beats - 1);
  assign ready_o = state_q == Answer && b_valid_i;

  // As crates/core/collective/src/report.rs has it, without the bytes moved and in all.
  logic [63:0][7:0] bytes;
  always_comb begin
    bytes = '0;
    bytes[1] = 8'(report_i.cause);
    bytes[2] = report_i.port;
    {bytes[6], bytes[7]} = 16'(report_i.command);
    for (int unsigned i = 0; i < 8; i++) begin
      bytes[8+i] = report_i.takes[8*(7-i)+:8];
      bytes[16+i] = report_i.puts[8*(7-i)+:8];
    end
    w_data_o = '0;
    for (int unsigned i = 0; i < Beats; i++) if (beat_q == 3'(i)) w_data_o = bytes[Bytes*i+:Bytes];
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Address;
      beat_q <= '0;
    end else begin
      unique case (state_q)
        Address: if (aw_valid_o && aw_ready_i) state_q <= Data;
        Data:
        if (w_ready_i) begin
          beat_q <= w_last_o ? '0 : beat_q + 1'b1;
          if (w_last_o) state_q <= Answer;
        end
        default: if (b_valid_i) state_q <= Address;
      endcase
    end
  end
  logic unused;
  assign unused = ^report_i.slot;
endmodule
