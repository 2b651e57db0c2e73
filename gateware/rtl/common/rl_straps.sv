// What a card is, as its board says it: the registers STRAP for the firmware, one at a time, and what the
// shell's hardware needs of them all the time. With constants this is a small ROM.
module rl_straps
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
(
  input  logic [20:0][31:0] strap_i,  // The registers in their order, steady.
  input  logic [4:0]        index_i,
  output logic [31:0]       data_o,
  output identity_t         identity_o
);
  assign data_o = strap_i[index_i];
  assign identity_o = '{
      memory: {strap_i[6][AddrW-17:0], 16'd0},
      ack_every: strap_i[12][31:16],
      ack_delay: strap_i[13][15:0]
  };

  logic unused;
  assign unused = ^strap_i;
endmodule : rl_straps
