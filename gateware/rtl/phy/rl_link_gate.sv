// Between a MAC, which is in reset while there is no link, and the shell: what passes is whole frames.
//
// A frame in the middle of which the link goes ends for the shell as a bad one. Frames out are dropped while there is
// no link, from their beginning, and so is the rest of one that was under way: the shell never waits for a link. In the
// other direction a frame that has begun before the shell was there is not let in.
module rl_link_gate (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        link_i,      // There is one.
  input  logic        open_i,      // The shell is there.

  input  logic        rx_valid_i,
  input  logic [63:0] rx_data_i,
  input  logic [7:0]  rx_keep_i,
  input  logic        rx_last_i,
  input  logic        rx_bad_i,
  output logic        rx_valid_o,
  output logic [63:0] rx_data_o,
  output logic [7:0]  rx_keep_o,
  output logic        rx_last_o,
  output logic        rx_bad_o,

  input  logic        tx_valid_i,  // From the shell,
  output logic        tx_ready_o,
  input  logic        tx_last_i,
  output logic        tx_valid_o,  // and to the MAC.
  input  logic        tx_ready_i
);
  // -- in
  logic inside_q;   // A frame is coming in.
  logic open_q;     // It is let in.
  logic passing_q;  // The shell has a part of one.
  logic pass, cut;
  assign pass = rx_valid_i && link_i && open_i && open_q;
  assign cut = passing_q && !link_i && open_i;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {inside_q, open_q, passing_q, rx_valid_o} <= '0;
    end else begin
      if (!link_i) inside_q <= 1'b0;
      else if (rx_valid_i) inside_q <= !rx_last_i;
      if (!open_i || !link_i) open_q <= 1'b0;
      else if (rx_valid_i ? rx_last_i : !inside_q) open_q <= 1'b1;
      if (!open_i || cut) passing_q <= 1'b0;
      else if (pass) passing_q <= !rx_last_i;
      rx_valid_o <= pass || cut;
    end
    rx_data_o <= rx_data_i;
    rx_keep_o <= cut ? 8'h01 : rx_keep_i;
    rx_last_o <= cut || rx_last_i;
    rx_bad_o <= cut || rx_bad_i;
  end

  // -- out
  logic begun_q;  // The shell is in the middle of a frame,
  logic drop_q;   // the rest of which is dropped.
  logic drop, begun;
  assign drop = drop_q || !link_i;
  assign tx_valid_o = tx_valid_i && !drop;
  assign tx_ready_o = drop || tx_ready_i;
  assign begun = tx_valid_i && tx_ready_o ? !tx_last_i : begun_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || !open_i) begin
      {begun_q, drop_q} <= '0;
    end else begin
      begun_q <= begun;
      drop_q <= begun && drop;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (rst_ni) assert (!(pass && cut));
`endif
endmodule : rl_link_gate
