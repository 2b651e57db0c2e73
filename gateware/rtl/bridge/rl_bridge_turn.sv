// Turns the bytes of a word: lane l gets byte l - by, around the end.
module rl_bridge_turn #(
  parameter int unsigned DataW = 512,
  localparam int unsigned Bytes = DataW / 8,
  localparam int unsigned FineW = $clog2(Bytes)
) (
  input  logic [FineW-1:0] by_i,
  input  logic [DataW-1:0] data_i,
  output logic [DataW-1:0] data_o
);
  // Two bits a step: four to one is what a LUT of six inputs does.
  localparam int unsigned Steps = (FineW + 1) / 2;
  logic [Steps:0][DataW-1:0] step;
  logic [2*Steps-1:0] by;
  assign by = (2 * Steps)'(by_i);
  assign step[0] = data_i;
  for (genvar s = 0; s < int'(Steps); s++) begin : gen_step
    for (genvar l = 0; l < int'(Bytes); l++) begin : gen_lane
      localparam int unsigned Far = 1 << (2 * s);
      logic [3:0][7:0] from;
      for (genvar f = 0; f < 4; f++) begin : gen_from
        assign from[f] = step[s][8*((l+4*Bytes-f*Far)%Bytes)+:8];
      end
      assign step[s+1][8*l+:8] = from[by[2*s+:2]];
    end
  end
  assign data_o = step[Steps];
endmodule
