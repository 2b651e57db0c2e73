// The next moment at which something of a simulated card is due: the firmware's, an acknowledgement, a tick of links.
module rl_card_alarm (
  input  logic [31:0] time_us_i,
  input  logic        firmware_valid_i,
  input  logic [31:0] firmware_us_i,
  input  logic        ack_waits_i,
  input  logic [15:0] ack_late_i,
  input  logic        links_valid_i,
  input  logic [31:0] links_us_i,
  output logic        valid_o,
  output logic [31:0] us_o
);
  logic firmware_first, links_first;
  logic [31:0] ack_us, us;
  assign ack_us = time_us_i - {{16{ack_late_i[15]}}, ack_late_i};
  assign firmware_first = firmware_valid_i && signed'(firmware_us_i - ack_us) < 0;
  assign us = ack_waits_i && !firmware_first ? ack_us : firmware_us_i;
  assign links_first = links_valid_i && (!(firmware_valid_i || ack_waits_i) || signed'(links_us_i - us) < 0);
  assign valid_o = firmware_valid_i || ack_waits_i || links_valid_i;
  assign us_o = links_first ? links_us_i : us;
endmodule
