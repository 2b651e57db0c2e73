// Two ends of a link with a memory each, and the cable between them; or the bench itself is the neighbour of end 0.
module rl_collective_link_tb
  import rl_collective_pkg::*;
#(
  parameter int unsigned DataW = 64,
  parameter int unsigned MemoryWords = 65536,
  parameter int unsigned EarlyAt = 0,
  localparam int unsigned KeepW = DataW / 8,
  localparam int unsigned MoveW = $bits(move_t)
) (
  input  logic                           clk_i,
  input  logic [1:0]                     rst_ni,
  input  logic                           power_ni,
  input  logic                           twin_i,        // The bench is the neighbour of end 0.
  input  logic [31:0]                    seed_i,
  input  logic [15:0]                    tick_cycles_i,
  input  logic [1:0][31:0]               epoch_i,
  input  logic [15:0]                    rto_i,
  input  logic [15:0]                    patience_i,
  input  logic [15:0]                    latency_i,
  input  logic [7:0]                     pause_i,
  input  logic [1:0]                     fails_i,
  input  logic [15:0]                    delay_i,
  input  logic [15:0]                    errors_i,
  input  logic [1:0]                     cut_i,         // By the end from which the words come.
  input  logic [7:0]                     stall_i,       // Of 256 cycles in which the cable takes nothing.
  input  logic [1:0]                     put_valid_i,
  output logic [1:0]                     put_ready_o,
  input  logic [1:0]                     take_valid_i,
  output logic [1:0]                     take_ready_o,
  input  logic [1:0][MoveW-1:0]          move_i,
  input  logic [1:0][7:0]                cancel_i,
  output logic [1:0][7:0]                puts_open_o,
  output logic [1:0][7:0]                takes_open_o,
  output logic [1:0][7:0][4:0]           put_end_o,
  output logic [1:0][7:0][4:0]           take_end_o,
  output logic [1:0][31:0]               put_at_o,
  output logic [1:0][31:0]               first_at_o,
  output logic [1:0][31:0]               last_at_o,
  output logic [1:0][31:0]               asked_at_o,
  output logic [1:0][31:0]               took_at_o,
  output logic [1:0][31:0]               come_at_o,
  output logic [1:0][31:0]               overs_o,
  output logic [1:0][3:0]                over_cause_o,
  output logic [1:0][31:0]               over_at_o,
  output logic [1:0][31:0]               strays_o,
  output logic [1:0][31:0]               failed_o,
  output logic [1:0][31:0]               resent_o,
  output logic [1:0][31:0]               words_o,
  output logic [1:0]                     rests_o,
  output logic [1:0]                     up_o,
  output logic [1:0]                     neighbour_valid_o,
  output logic [1:0][47:0]               neighbour_mac_o,
  output logic [1:0][7:0]                neighbour_port_o,
  input  logic [1:0]                     poke_i,
  input  logic [$clog2(MemoryWords)-1:0] at_i,
  input  logic [DataW-1:0]               poke_data_i,
  output logic [1:0][DataW-1:0]          peek_data_o,
  output logic [1:0]                     wrong_o,
  input  logic [3:0]                     count_of_i,
  output logic [1:0][31:0]               count_o,
  output logic                           out_valid_o,   // Of end 0.
  output logic [DataW-1:0]               out_data_o,
  output logic [KeepW-1:0]               out_keep_o,
  output logic                           out_last_o,
  input  logic                           in_valid_i,
  input  logic [DataW-1:0]               in_data_i,
  input  logic [KeepW-1:0]               in_keep_i,
  input  logic                           in_last_i,
  input  logic                           in_bad_i
);
  logic [15:0] tick_q;
  logic [31:0] random_q;
  logic tick;
  assign tick = tick_q == '0;
  always_ff @(posedge clk_i) begin
    tick_q <= !power_ni || tick ? tick_cycles_i - 1'b1 : tick_q - 1'b1;
    random_q = random_q ^ (random_q << 13);
    random_q = random_q ^ (random_q >> 17);
    random_q = random_q ^ (random_q << 5);
    if (!power_ni) random_q = seed_i | 1;
  end

  logic [1:0] out_valid, out_ready, out_last, in_valid, in_last, in_bad;
  logic [1:0][DataW-1:0] out_data, in_data;
  logic [1:0][KeepW-1:0] out_keep, in_keep;
  for (genvar e = 0; e < 2; e++) begin : gen_end
    logic c_valid, c_last, c_bad, b_valid;
    logic [DataW-1:0] c_data;
    logic [KeepW-1:0] c_keep;
    assign out_ready[e] = random_q[8*e+:8] >= stall_i;
    link_cable #(
      .DataW(DataW)
    ) u_cable (
      .clk_i,
      .rst_ni(power_ni),
      .seed_i(seed_i + e),
      .delay_i,
      .errors_i,
      .cut_i(cut_i[1-e] || !rst_ni[1-e]),
      .valid_i(out_valid[1-e] && out_ready[1-e]),
      .data_i(out_data[1-e]),
      .keep_i(out_keep[1-e]),
      .last_i(out_last[1-e]),
      .valid_o(c_valid),
      .data_o(c_data),
      .keep_o(c_keep),
      .last_o(c_last),
      .bad_o(c_bad)
    );
    assign b_valid = e == 0 && twin_i;
    assign in_valid[e] = b_valid ? in_valid_i : c_valid && !twin_i;
    assign in_data[e] = b_valid ? in_data_i : c_data;
    assign in_keep[e] = b_valid ? in_keep_i : c_keep;
    assign in_last[e] = b_valid ? in_last_i : c_last;
    assign in_bad[e] = b_valid ? in_bad_i : c_bad;
    link_end #(
      .DataW(DataW),
      .MemoryWords(MemoryWords),
      .EarlyAt(EarlyAt)
    ) u_end (
      .clk_i,
      .rst_ni(rst_ni[e]),
      .power_ni,
      .mac_i(e == 0 ? 48'h02524c000107 : 48'h02524c000209),
      .epoch_i(epoch_i[e]),
      .rto_i,
      .patience_i,
      .tick_i(tick),
      .seed_i(seed_i + 7 + e),
      .latency_i,
      .pause_i,
      .fails_i(fails_i[e]),
      .put_valid_i(put_valid_i[e]),
      .put_ready_o(put_ready_o[e]),
      .take_valid_i(take_valid_i[e]),
      .take_ready_o(take_ready_o[e]),
      .move_i(move_i[e]),
      .cancel_i(cancel_i[e]),
      .puts_open_o(puts_open_o[e]),
      .takes_open_o(takes_open_o[e]),
      .put_end_o(put_end_o[e]),
      .take_end_o(take_end_o[e]),
      .put_at_o(put_at_o[e]),
      .first_at_o(first_at_o[e]),
      .last_at_o(last_at_o[e]),
      .asked_at_o(asked_at_o[e]),
      .took_at_o(took_at_o[e]),
      .come_at_o(come_at_o[e]),
      .overs_o(overs_o[e]),
      .over_cause_o(over_cause_o[e]),
      .over_at_o(over_at_o[e]),
      .strays_o(strays_o[e]),
      .failed_o(failed_o[e]),
      .resent_o(resent_o[e]),
      .words_o(words_o[e]),
      .rests_o(rests_o[e]),
      .up_o(up_o[e]),
      .neighbour_valid_o(neighbour_valid_o[e]),
      .neighbour_mac_o(neighbour_mac_o[e]),
      .neighbour_port_o(neighbour_port_o[e]),
      .poke_i(poke_i[e]),
      .at_i,
      .poke_data_i,
      .peek_data_o(peek_data_o[e]),
      .wrong_o(wrong_o[e]),
      .out_valid_o(out_valid[e]),
      .out_ready_i(out_ready[e]),
      .out_data_o(out_data[e]),
      .out_keep_o(out_keep[e]),
      .out_last_o(out_last[e]),
      .in_valid_i(in_valid[e]),
      .in_data_i(in_data[e]),
      .in_keep_i(in_keep[e]),
      .in_last_i(in_last[e]),
      .in_bad_i(in_bad[e]),
      .count_of_i,
      .count_o(count_o[e])
    );
  end
  assign out_valid_o = out_valid[0] && out_ready[0];
  assign out_data_o = out_data[0];
  assign out_keep_o = out_keep[0];
  assign out_last_o = out_last[0];
endmodule
