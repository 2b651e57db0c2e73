// Frames that leave a card's bridge: none begins while it is stopped, and one that has begun ends. It reports the
// length of each that has left, for the card's counters.
module rl_bridge_exit #(
  parameter int unsigned DataW = 64,
  localparam int unsigned KeepW = DataW / 8
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             stop_i,
  input  logic             valid_i,
  output logic             ready_o,
  input  logic             last_i,         // The words' bytes do not come through here.
  input  logic [KeepW-1:0] keep_i,
  output logic             valid_o,
  input  logic             ready_i,
  output logic             sent_o,         // A frame has left, for one cycle;
  output logic             event_valid_o,  // and of so many bytes.
  input  logic             event_ready_i,
  output logic [13:0]      event_bytes_o
);
  logic inside_q, may, moves, room;
  logic [13:0] bytes;
  logic [2:0] unused_count;
  assign may = inside_q || !stop_i;
  assign valid_o = valid_i && may;
  assign ready_o = ready_i && may;
  assign moves = valid_o && ready_i;
  assign sent_o = moves && last_i;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) inside_q <= 1'b0;
    else if (moves) inside_q <= !last_i;
  end
  rl_port_count #(
    .DataW(DataW)
  ) u_count (
    .clk_i,
    .rst_ni,
    .valid_i(moves),
    .last_i,
    .keep_i,
    .bytes_o(bytes)
  );
  rl_fifo #(
    .Width(14),
    .Depth(4)
  ) u_sent (
    .clk_i,
    .rst_ni,
    .wvalid_i(sent_o),
    .wready_o(room),
    .wdata_i(bytes),
    .rvalid_o(event_valid_o),
    .rready_i(event_ready_i),
    .rdata_o(event_bytes_o),
    .count_o(unused_count)
  );
`ifdef SYNTHESIS
  logic unused;
  assign unused = ^{unused_count, room};
`else
  logic unused;
  assign unused = ^unused_count;
  always_ff @(posedge clk_i) if (rst_ni && sent_o) SentIsKept_A : assert (room);
`endif
endmodule
