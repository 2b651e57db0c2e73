// A stream of the role and the switch of the ports: whole frames cross to the role's clock and back.
module rl_port_stream
  import rl_wire_pkg::*;
  import rl_port_pkg::*;
#(
  parameter int unsigned DataW = 64,
  parameter int unsigned FrameMax = 1514,  // Bytes of the longest frame that may leave.
  parameter int unsigned Words = 512,      // Of what waits to leave, a power of two.
  parameter bit          Plain = 1'b0,     // As rl_port_tx says.
  localparam int unsigned KeepW = DataW / 8
) (
  input  stream_config_t   config_i,  // Steady,
  input  mac_addr_t        mac_i,     // and its port's address.

  // -- net domain: whole frames from the switch and to it
  input  logic             clk_net_i,
  input  logic             rst_net_ni,
  input  logic             valid_i,
  output logic             ready_o,
  input  logic [DataW-1:0] data_i,
  input  logic [KeepW-1:0] keep_i,
  input  logic             last_i,
  output logic             valid_o,   // Words of a frame follow each other without a gap.
  input  logic             ready_i,
  output logic [DataW-1:0] data_o,
  output logic [KeepW-1:0] keep_o,
  output logic             last_o,

  // -- role domain
  input  logic             clk_role_i,
  input  logic             rst_role_ni,
  input  logic             cut_i,     // The role is cut off: what comes in for it is thrown away.
  output logic             role_valid_o,
  input  logic             role_ready_i,
  output logic [DataW-1:0] role_data_o,
  output logic [KeepW-1:0] role_keep_o,  // With role_last_o: ones from bit 0 on. Else all ones.
  output logic             role_last_o,
  input  logic             role_valid_i,
  output logic             role_ready_o,
  input  logic [DataW-1:0] role_data_i,
  input  logic [KeepW-1:0] role_keep_i,
  input  logic             role_last_i,
  output logic             refused_o
);
  // -- to the role. A frame that it was cut off from is thrown away to its end.
  logic waits, unused_spare, taken, cut, cut_q, inside_q;
  rl_fifo_async #(
    .Width(DataW + KeepW + 1),
    .Depth(16)
  ) u_to_role (
    .clk_wr_i(clk_net_i),
    .rst_wr_ni(rst_net_ni),
    .wvalid_i(valid_i),
    .wready_o(ready_o),
    .wspare_o(unused_spare),
    .wdata_i({last_i, keep_i, data_i}),
    .clk_rd_i(clk_role_i),
    .rst_rd_ni(rst_role_ni),
    .rvalid_o(waits),
    .rready_i(taken),
    .rdata_o({role_last_o, role_keep_o, role_data_o})
  );
  assign cut = cut_i || (cut_q && inside_q);
  assign taken = waits && (role_ready_i || cut);
  assign role_valid_o = waits && !cut;
  always_ff @(posedge clk_role_i) begin
    if (!rst_role_ni) begin
      inside_q <= 1'b0;
      cut_q <= 1'b0;
    end else begin
      cut_q <= cut;
      if (taken) inside_q <= !role_last_o;
    end
  end

  // -- from the role
  rl_port_tx #(
    .DataW(DataW),
    .FrameMax(FrameMax),
    .Words(Words),
    .Plain(Plain)
  ) u_from_role (
    .clk_role_i,
    .rst_role_ni,
    .mac_i,
    .forwards_i(config_i.forwards),
    .cut_i(cut_i || !config_i.open),
    .valid_i(role_valid_i),
    .ready_o(role_ready_o),
    .data_i(role_data_i),
    .keep_i(role_keep_i),
    .last_i(role_last_i),
    .refused_o,
    .clk_net_i,
    .rst_net_ni,
    .valid_o,
    .ready_i,
    .data_o,
    .keep_o,
    .last_o
  );

  logic unused;
  assign unused = ^config_i.port;
endmodule
