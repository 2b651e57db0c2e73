// Words of elements: the result of a word is `op` of its left elements and of its right ones, one by one. It takes a
// word a cycle.
//
// Each byte of a lane of 64 bits is the first one of a place, which is as long as its number in the lane allows: 8, 1,
// 2, 1, 4, 1, 2 and 1 bytes. An element is computed by the place that begins where it does. So a lane has one adder and
// one multiplier for numbers of 64 bits, one more for those of 32, two for 16 and four for 8, for all types together.
module rl_collective_reduce
  import rl_collective_pkg::*;
#(
  parameter int unsigned DataW = 64,       // A multiple of 64.
  localparam int unsigned Latency = 6,     // Steps of rl_collective_element.
  localparam int unsigned Lanes = DataW / 64
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  op_e               op_i,          // Steady while words are under way, as is:
  input  datatype_e         datatype_i,

  input  logic              valid_i,
  output logic              ready_o,
  input  logic [DataW-1:0]  left_i,
  input  logic [DataW-1:0]  right_i,
  input  logic              last_i,
  output logic              valid_o,
  input  logic              ready_i,
  output logic [DataW-1:0]  result_o,
  output logic              last_o
);
  logic [Latency-1:0] valid_q, last_q;
  logic step;  // All words move at once.
  assign step = ready_i || !valid_o;
  assign ready_o = step;
  assign valid_o = valid_q[Latency-1];
  assign last_o = last_q[Latency-1];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= '0;
    else if (step) valid_q <= {valid_q[Latency-2:0], valid_i};
    if (step) last_q <= {last_q[Latency-2:0], last_i};
  end

  logic [1:0] size;
  assign size = size_of(datatype_i);
  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    logic [7:0][63:0] results;  // Of the place that begins at this byte.
    for (genvar b = 0; b < 8; b++) begin : gen_place
      localparam int unsigned Bits = b == 0 ? 64 : b % 4 == 0 ? 32 : b % 2 == 0 ? 16 : 8;
      logic [Bits-1:0] result;
      rl_collective_element #(
        .Bits(Bits)
      ) u_element (
        .clk_i,
        .step_i(step),
        .op_i,
        .datatype_i,
        .left_i(left_i[64*l+8*b+:Bits]),
        .right_i(right_i[64*l+8*b+:Bits]),
        .result_o(result)
      );
      assign results[b] = 64'(result);
    end
    for (genvar b = 0; b < 8; b++) begin : gen_byte
      always_comb begin
        case (size)
          2'd0: result_o[64*l+8*b+:8] = results[b][7:0];
          2'd1: result_o[64*l+8*b+:8] = results[b/2*2][b%2*8+:8];
          2'd2: result_o[64*l+8*b+:8] = results[b/4*4][b%4*8+:8];
          default: result_o[64*l+8*b+:8] = results[0][b*8+:8];
        endcase
      end
    end
  end
endmodule
