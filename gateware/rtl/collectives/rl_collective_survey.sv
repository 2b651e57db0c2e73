// Who is at the other end of each link: the neighbours are asked, and when all have been heard, or half of the patience
// is over, a table goes to memory. It has 16 bytes for each of 64 ports: address, port, 1 if the neighbour was heard.
module rl_collective_survey
  import rl_link_pkg::*;
  import rl_link_wire_pkg::turned;
  import rl_transport_pkg::tick_t;
  import rl_collective_pkg::SurveyBytes;
#(
  parameter int unsigned DataW = 64,
  parameter int unsigned Links = 1,
  parameter int unsigned Burst = 16,
  localparam int unsigned Bytes = DataW / 8
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  tick_i,
  input  tick_t                 patience_i,
  input  logic [Links-1:0][7:0] ports_i,            // 0: there is no such link.

  input  logic                  begin_i,            // None is under way.
  input  logic [39:0]           to_i,               // A multiple of the table's length.
  output logic                  busy_o,             // One is: all neighbours are asked.
  output logic                  end_o,              // For one cycle,
  output logic                  failed_o,           // with this: memory has.
  input  logic [Links-1:0]      heard_i,            // As rl_link_life has them.
  input  logic [Links-1:0]      up_i,
  input  mac_addr_t [Links-1:0] macs_i,
  input  logic [Links-1:0][7:0] neighbour_ports_i,

  output logic                  aw_valid_o,
  input  logic                  aw_ready_i,
  output logic [39:0]           aw_addr_o,
  output logic [7:0]            aw_len_o,
  output logic                  w_valid_o,
  input  logic                  w_ready_i,
  output logic [DataW-1:0]      w_data_o,
  output logic                  w_last_o,
  input  logic                  b_valid_i,
  input  logic [1:0]            b_resp_i
);
  localparam int unsigned Beats = SurveyBytes / Bytes;
  localparam int unsigned BeatW = $clog2(Beats);
  localparam int unsigned BurstW = $clog2(Burst);
  localparam int unsigned Lanes = DataW / 64;
  if (Beats % Burst != 0) begin : gen_check
    $fatal(0, "rl_collective_survey: the table must be whole bursts (%m)");
  end
  typedef enum logic [2:0] {
    Rest,
    Ask,
    Address,
    Data,
    Answer
  } state_e;
  state_e state_q;
  logic [Links-1:0] heard_q, answers_q;
  logic [BeatW-1:0] beat_q;
  logic [39:0] to_q;
  tick_t left_q;
  logic [Links-1:0] answers, there;
  for (genvar l = 0; l < Links; l++) begin : gen_there
    assign there[l] = ports_i[l] != '0;
  end
  assign answers = heard_q & up_i;
  assign busy_o = state_q != Rest;
  assign aw_valid_o = state_q == Address;
  assign aw_addr_o = to_q + 40'(32'(beat_q) * Bytes);
  assign aw_len_o = 8'(Burst - 1);
  assign w_valid_o = state_q == Data;
  assign w_last_o = &beat_q[BurstW-1:0];

  // Each row is two words of 64 bits, the second without a meaning.
  always_comb begin
    w_data_o = '0;
    for (int unsigned i = 0; i < Lanes; i++) begin
      automatic int unsigned word = 32'(beat_q) * Lanes + i;
      for (int unsigned l = 0; l < Links; l++)
      if (answers_q[l] && word == 2 * 32'(ports_i[l]))
        w_data_o[64*i+:64] = {8'd1, neighbour_ports_i[l], turned(macs_i[l])};
    end
  end
  always_ff @(posedge clk_i) begin
    end_o <= 1'b0;
    if (!rst_ni) begin
      state_q <= Rest;
    end else begin
      heard_q <= heard_q | heard_i;
      if (tick_i) left_q <= left_q - 1'b1;
      unique case (state_q)
        Rest:
        if (begin_i) begin
          state_q <= Ask;
          heard_q <= '0;
          left_q <= patience_i >> 1;
          to_q <= to_i;
          beat_q <= '0;
          failed_o <= 1'b0;
        end
        Ask:
        if ((answers | ~there) == '1 || left_q == '0) begin
          state_q <= Address;
          answers_q <= answers;
        end
        Address: if (aw_ready_i) state_q <= Data;
        Data:
        if (w_ready_i) begin
          beat_q <= beat_q + 1'b1;
          if (w_last_o) state_q <= Answer;
        end
        default:
        if (b_valid_i) begin
          failed_o <= failed_o || b_resp_i != '0;
          state_q <= beat_q == '0 ? Rest : Address;
          end_o <= beat_q == '0;
        end
      endcase
    end
  end
endmodule
