// Puts and takes to the links that they name: a place of each for each link, so that one which has to wait holds up no
// other link's.
module rl_collective_distributor
  import rl_collective_pkg::*;
#(
  parameter int unsigned Links = 1  // 1 to 4.
) (
  input  logic              clk_i,
  input  logic              rst_ni,

  // -- one at a time, where there is room
  input  logic              put_i,
  input  logic              take_i,
  input  logic [1:0]        link_i,
  input  move_t             move_i,
  output logic [Links-1:0]  put_room_o,
  output logic [Links-1:0]  take_room_o,
  output logic [Slots-1:0]  waits_o,       // Contexts of which something is here.
  output logic              leaves_o,      // Something has left: for one cycle.

  output logic [Links-1:0]  put_valid_o,
  input  logic [Links-1:0]  put_ready_i,
  output move_t [Links-1:0] puts_o,
  output logic [Links-1:0]  take_valid_o,
  input  logic [Links-1:0]  take_ready_i,
  output move_t [Links-1:0] takes_o
);
  assign put_room_o = ~put_valid_o;
  assign take_room_o = ~take_valid_o;
  assign leaves_o = (put_valid_o & put_ready_i) != '0 || (take_valid_o & take_ready_i) != '0;
  always_comb begin
    waits_o = '0;
    for (int unsigned l = 0; l < Links; l++) begin
      if (put_valid_o[l]) waits_o[puts_o[l].slot] = 1'b1;
      if (take_valid_o[l]) waits_o[takes_o[l].slot] = 1'b1;
    end
  end
  for (genvar l = 0; l < Links; l++) begin : gen_link
    logic puts, takes;
    assign puts = put_i && link_i == 2'(l);
    assign takes = take_i && link_i == 2'(l);
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        put_valid_o[l] <= 1'b0;
        take_valid_o[l] <= 1'b0;
      end else begin
        put_valid_o[l] <= puts || (put_valid_o[l] && !put_ready_i[l]);
        take_valid_o[l] <= takes || (take_valid_o[l] && !take_ready_i[l]);
      end
    end
    always_ff @(posedge clk_i) begin
      if (puts) puts_o[l] <= move_i;
      if (takes) takes_o[l] <= move_i;
    end
`ifndef SYNTHESIS
    always_ff @(posedge clk_i) begin
      if (rst_ni) HasRoom_A : assert (!(puts && put_valid_o[l]) && !(takes && take_valid_o[l]));
    end
`endif
  end
endmodule
