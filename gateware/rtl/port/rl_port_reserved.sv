// Whether neither a role nor a host behind the card may send a frame: it is of a family of ours, by its EtherType or as
// a packet of IPv6, or MAC control. It stands beside the words that rl_port_head gives.
module rl_port_reserved
  import rl_port_pkg::*;
#(
  parameter int unsigned DataW = 64,
  localparam int unsigned KeepW = DataW / 8
) (
  input  logic             clk_i,
  input  logic             step_i,        // Else all stands still.
  input  logic             valid_i,
  input  logic             first_i,
  input  logic             last_i,
  input  logic [DataW-1:0] data_i,
  input  logic [KeepW-1:0] keep_i,        // With last_i: ones from bit 0 on.
  input  logic [15:0]      ether_type_i,  // If the head is known.
  output logic             reserved_o     // With last_i, in the same cycle, of a frame with a head.
);
  // Packets of the bridge's family are known by three bytes; the one that comes last is the destination's first.
  localparam int unsigned VersionByte = HeadBytes;
  localparam int unsigned NextHeaderByte = rl_bridge_pkg::Ipv6NextHeaderOffset;
  localparam int unsigned DstByte = rl_bridge_pkg::Ipv6DstOffset;
  localparam int unsigned DstWord = DstByte / KeepW;
  localparam int unsigned AtW = $clog2(DstWord + 2);
  typedef logic [AtW-1:0] at_t;
  at_t at_q, at;
  logic like_q, like;
  // Whether this word, if this byte lies in it, has the byte with these of its bits.
  function automatic logic is_like(int unsigned index, logic [7:0] bits, logic [7:0] value);
    return at != at_t'(index / KeepW) ||
        ((data_i[8*(index%KeepW)+:8] & bits) == value && (!last_i || keep_i[index%KeepW]));
  endfunction
  assign at = first_i ? '0 : at_q;
  always_comb begin
    like = first_i || like_q;
    like &= is_like(VersionByte, 8'hf0, {rl_bridge_wire_pkg::PacketStart[31:28], 4'd0});
    like &= is_like(NextHeaderByte, 8'hff, rl_bridge_pkg::NextHeader);
    like &= is_like(DstByte, 8'hfe, {rl_bridge_pkg::Subnet[63:57], 1'b0});
  end
  always_ff @(posedge clk_i) begin
    if (step_i && valid_i) begin
      at_q <= at == at_t'(DstWord + 1) ? at : at + 1'b1;
      like_q <= like;
    end
  end
  assign reserved_o = is_ours(
      ether_type_i
  ) || ether_type_i == EtherTypeMacControl ||
      (ether_type_i == EtherTypeIpv6 && like && 32'(at) + 1 > DstWord);
endmodule
