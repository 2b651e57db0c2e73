// The first run of ones in a mask: its lowest bit, its length, and what is left of the mask without it.
module rl_bridge_runs #(
  parameter int unsigned Width = 64,
  localparam int unsigned AtW = $clog2(Width)
) (
  input  logic [Width-1:0] mask_i,
  output logic [AtW-1:0]   from_o,
  output logic [AtW:0]     count_o,  // 0: there is none.
  output logic             top_o,    // It goes up to the highest bit.
  output logic [Width-1:0] rest_o
);
  logic [Width-1:0] lowest, run;
  logic [Width:0] sum;
  logic [AtW:0] zeros, ends;
  // Adding its lowest bit carries through the run, and leaves a one behind it.
  assign lowest = mask_i & (~mask_i + 1'b1);
  assign sum = {1'b0, mask_i} + {1'b0, lowest};
  assign run = mask_i & ~sum[Width-1:0];
  assign rest_o = mask_i & ~run;
  assign top_o = sum[Width];
  always_comb begin
    zeros = '0;
    ends = top_o ? (AtW + 1)'(Width) : '0;
    for (int unsigned i = 0; i < Width; i++) begin
      if (lowest[i]) zeros = zeros | (AtW + 1)'(i);
      // The bit behind the run is the only one that the sum has and the mask has not.
      if (sum[i] && !mask_i[i]) ends = ends | (AtW + 1)'(i);
    end
  end
  assign from_o = zeros[AtW-1:0];
  assign count_o = ends - zeros;
endmodule
