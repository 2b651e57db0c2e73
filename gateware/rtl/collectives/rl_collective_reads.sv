// Two readers at one port of memory: the first one's bursts go first, what was offered stays, and the words of each
// come to it in the order in which it has asked.
module rl_collective_reads #(
  parameter int unsigned BeatW = 37  // Bits of a beat's number.
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  input  logic [1:0]            s_valid_i,
  output logic [1:0]            s_ready_o,
  input  logic [1:0][BeatW-1:0] s_beat_i,
  input  logic [1:0][7:0]       s_len_i,
  output logic [1:0]            s_come_o,   // The word that has come is this one's.

  output logic                  ar_valid_o,
  input  logic                  ar_ready_i,
  output logic [BeatW-1:0]      ar_beat_o,
  output logic [7:0]            ar_len_o,
  input  logic                  r_valid_i,  // Taken at once.
  input  logic                  r_last_i
);
  logic second_q, offers_q, second, is_second, owner_ready, there, unused;
  logic [6:0] unused_owners;
  assign second = offers_q ? second_q : !s_valid_i[0];
  assign ar_valid_o = s_valid_i[second] && owner_ready;
  assign ar_beat_o = s_beat_i[second];
  assign ar_len_o = s_len_i[second];
  assign s_ready_o = {second, !second} & {2{ar_ready_i && owner_ready}};
  always_ff @(posedge clk_i) begin
    offers_q <= rst_ni && ar_valid_o && !ar_ready_i;
    second_q <= second;
  end
  rl_fifo #(
    .Width(1),
    .Depth(64)
  ) u_owners (
    .clk_i,
    .rst_ni,
    .wvalid_i(ar_valid_o && ar_ready_i),
    .wready_o(owner_ready),
    .wdata_i(second),
    .rvalid_o(there),
    .rready_i(r_valid_i && r_last_i),
    .rdata_o(is_second),
    .count_o(unused_owners)
  );
  assign s_come_o = {is_second, !is_second} & {2{r_valid_i}};
  assign unused = ^{there, unused_owners};
endmodule
