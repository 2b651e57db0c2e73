// What became of frames between the wire and the host behind the card, since the card was switched on.
module rl_nic_counts
  import rl_nic_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  // Each for one cycle.
  input  nic_drop_t   wire_drop_i,  // Of frames from the wire,
  input  nic_drop_t   host_drop_i,  // and from the host.
  input  logic [1:0]  left_i,       // A frame has left to the wire [0] and to the host [1],
  input  logic [1:0][13:0] left_bytes_i,  // of so many bytes.
  input  logic        paused_i,
  output nic_counts_t counts_o
);
  // One each from both sides may come at once.
  function automatic nic_count_t both(logic a, logic b);
    return nic_count_t'({a && b, a ^ b});
  endfunction
  always_ff @(posedge clk_i) begin
    if (left_i[0]) counts_o.to_wire_bytes <= counts_o.to_wire_bytes + nic_count_t'(left_bytes_i[0]);
    if (left_i[1]) counts_o.to_host_bytes <= counts_o.to_host_bytes + nic_count_t'(left_bytes_i[1]);
    counts_o.to_wire_frames <= counts_o.to_wire_frames + nic_count_t'(left_i[0]);
    counts_o.to_host_frames <= counts_o.to_host_frames + nic_count_t'(left_i[1]);
    counts_o.forged <= counts_o.forged + both(wire_drop_i.forged, host_drop_i.forged);
    counts_o.reserved <= counts_o.reserved + nic_count_t'(host_drop_i.reserved);
    counts_o.astray <= counts_o.astray + nic_count_t'(host_drop_i.astray);
    counts_o.overflow <= counts_o.overflow + both(wire_drop_i.overflow, host_drop_i.overflow);
    counts_o.paused <= counts_o.paused + nic_count_t'(paused_i);
    if (!rst_ni) counts_o <= '0;
  end

  logic unused;  // At the wire what is reserved is the card's, and nothing is astray.
  assign unused = ^{wire_drop_i.reserved, wire_drop_i.astray};
endmodule
