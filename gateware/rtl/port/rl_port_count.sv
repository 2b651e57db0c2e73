// Bytes of a frame, counted while its words go by.
module rl_port_count #(
  parameter int unsigned DataW = 64,
  localparam int unsigned KeepW = DataW / 8,
  localparam int unsigned BytesW = $clog2(KeepW) + 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             valid_i,
  input  logic             last_i,
  input  logic [KeepW-1:0] keep_i,   // With last_i: ones from bit 0 on.
  output logic [13:0]      bytes_o   // With last_i, in the same cycle: of the frame. It stops at its greatest.
);
  logic [13:0] before_q;
  logic [BytesW-1:0] bytes;
  logic [14:0] sum;
  always_comb begin
    bytes = '0;
    // Ones from bit 0 on: the highest tells.
    for (int unsigned i = 0; i < KeepW; i++) if (keep_i[i]) bytes = BytesW'(i + 1);
    if (!last_i) bytes = BytesW'(KeepW);
    sum = {1'b0, before_q} + 15'(bytes);
    bytes_o = sum[14] ? '1 : sum[13:0];
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) before_q <= '0;
    else if (valid_i) before_q <= last_i ? '0 : bytes_o;
  end
endmodule
