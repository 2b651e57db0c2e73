// A word's worth of bytes out of two words that follow each other: lane l gets byte l - by of `data_i`, and where there
// is none, of the end of `before_i`.
//
// Both words are shifted together, the far steps first, so that no lane has to choose between two words that were
// turned.
module rl_bridge_funnel #(
  parameter int unsigned DataW = 512,
  localparam int unsigned Bytes = DataW / 8,
  localparam int unsigned FineW = $clog2(Bytes)
) (
  input  logic [FineW-1:0] by_i,
  input  logic [DataW-1:0] before_i,
  input  logic [DataW-1:0] data_i,
  output logic [DataW-1:0] data_o
);
  // Two bits a step: four to one is what a LUT of six inputs does.
  localparam int unsigned Steps = (FineW + 1) / 2;
  logic [Steps:0][2*Bytes-1:0][7:0] step;
  logic [2*Steps-1:0] by;
  assign by = (2 * Steps)'(by_i);
  assign step[Steps] = {data_i, before_i};
  for (genvar s = 0; s < int'(Steps); s++) begin : gen_step
    localparam int unsigned Far = 1 << (2 * s);
    for (genvar l = 0; l < int'(2 * Bytes); l++) begin : gen_lane
      // Lanes that the steps after this one do not look at are not made.
      if (l + Far > Bytes) begin : gen_made
        logic [3:0][7:0] from;
        for (genvar f = 0; f < 4; f++) begin : gen_from
          // Less than there is only if `by` cannot be so much.
          if (l >= f * Far) begin : gen_there
            assign from[f] = step[s+1][l-f*Far];
          end else begin : gen_none
            assign from[f] = '0;
          end
        end
        rl_choice #(
          .Width(8)
        ) u_choice (
          .which_i(by[2*s+:2]),
          .from_i(from),
          .data_o(step[s][l])
        );
      end else begin : gen_none
        assign step[s][l] = '0;
      end
    end
  end
  assign data_o = step[0][2*Bytes-1:Bytes];
endmodule
