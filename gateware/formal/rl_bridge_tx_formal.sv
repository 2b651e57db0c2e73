// rl_bridge_tx with segments of any kind and of up to three words, offered at any pace, to known and unknown peers, and
// frames that are taken at any pace. What is checked of what comes out, in the first cycles:
//   - a frame has as many words as its header's length says, and the last one as many bytes;
//   - it begins with an address that a peer has, and what is offered stays;
//   - as many frames leave as segments to known peers came, and no word waits while another could leave.
module rl_bridge_tx_formal
  import rl_bridge_pkg::*;
  import rl_bridge_node_pkg::*;
  import rl_transport_pkg::segment_t;
#(
  parameter int unsigned DataW = 512
) (
  input logic             clk_i,
  input logic             valid_i,
  input segment_t         segment_i,
  input head_t            desc_i,
  input logic [DataW-1:0] data_i,
  input logic             known_i,
  input mac_addr_t        peer_mac_i,
  input logic             ready_i
);
  localparam int unsigned KeepW = DataW / 8;
  localparam mac_addr_t Mac = 48'h02524c000007;

  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  // -- a source: a segment is steady until its last word was taken, and a word until it was
  logic offers, ready, last, waits_q = 1'b0, inside_q = 1'b0;
  logic [1:0] in_q = '0;
  logic [15:0] length;
  segment_t segment_q;
  head_t desc_q;
  logic [DataW-1:0] data_q;
  assign length = rl_bridge_wire_pkg::length_of(segment_i, desc_i);
  assign offers = rst_n && valid_i;
  assign last = length <= 16'(KeepW) * (16'(in_q) + 16'd1);
  always_comb begin
    assume (length <= 16'(3 * KeepW));
    if (waits_q || inside_q) assume (segment_i == segment_q && desc_i == desc_q);
    if (waits_q) assume (valid_i && data_i == data_q);
    assume (!known_i || !peer_mac_i[40]);
  end
  always_ff @(posedge clk_i) begin
    segment_q <= segment_i;
    desc_q <= desc_i;
    data_q <= data_i;
    waits_q <= offers && !ready;
    if (offers && ready) begin
      inside_q <= !last;
      in_q <= last ? '0 : in_q + 1'b1;
    end
  end

  logic valid, out_last;
  logic [DataW-1:0] data;
  logic [KeepW-1:0] keep;
  logic unused_node;
  logic [31:0] unused_count;
  rl_bridge_tx #(
    .DataW(DataW),
    .Nodes(2)
  ) u_dut (
    .clk_i,
    .rst_ni(rst_n),
    .mac_i(Mac),
    .valid_i(offers),
    .ready_o(ready),
    .peer_i(2'b00),
    .segment_i,
    .desc_i,
    .data_i,
    .last_i(last),
    .node_o(unused_node),
    .known_i,
    .peer_mac_i,
    .valid_o(valid),
    .ready_i,
    .data_o(data),
    .keep_o(keep),
    .last_o(out_last),
    .count_of_i(1'b0),
    .count_o(unused_count)
  );

  // -- frames: what their first word says, and how far they have come
  logic [3:0] at_q = '0;
  logic [15:0] said_q, said, end_at, bytes;
  assign said = at_q == '0 ? {data[8*HeaderLengthOffset+:8], data[8*(HeaderLengthOffset+1)+:8]} : said_q;
  assign end_at = HeaderEnd + said;
  assign bytes = end_at - 16'(KeepW) * 16'(at_q);
  logic valid_q = 1'b0, ready_q, last_q;
  logic [DataW-1:0] before_q;
  always_ff @(posedge clk_i) begin
    valid_q <= rst_n && valid;
    {ready_q, last_q, before_q} <= {ready_i, out_last, data};
    if (rst_n && valid && ready_i) begin
      at_q <= out_last ? '0 : at_q + 1'b1;
      said_q <= said;
    end
  end
  always_comb begin
    if (rst_n && valid) begin
      EndsInItsPlace_A : assert (out_last == (bytes <= 16'(KeepW)) && bytes != '0 && !bytes[15]);
      if (out_last)
        HasItsBytes_A :
        assert (keep == ~({KeepW{1'b1}} << bytes));
        else Filled_A : assert (keep == '1);
      if (at_q == '0) ForAPeer_A : assert (!data[0] && {data[103:96], data[111:104]} == EtherType);
    end
    if (rst_n && valid_q && !ready_q)
      Stays_A : assert (valid && data == before_q && out_last == last_q);
  end

  // -- all that came for a peer leaves: segments that were taken, and of these what was dropped or is under way
  logic [3:0] begun_q = '0, ended_q = '0;
  logic starts_q = 1'b1;  // The next word is a segment's first.
  logic first_known_q, goes;
  assign goes = starts_q ? known_i : first_known_q;
  always_ff @(posedge clk_i) begin
    if (u_dut.begins && (u_dut.u_tx.moves || !known_i)) begin
      starts_q <= 1'b0;
      first_known_q <= known_i;
    end
    if (offers && ready) begin
      starts_q <= last;
      if (last && goes) begun_q <= begun_q + 1'b1;
    end
    if (rst_n && valid && ready_i && out_last) ended_q <= ended_q + 1'b1;
  end
  always_comb begin
    if (rst_n) begin
      // Under way: one that is offered, and one whose half is still to follow.
      NoneIsLost_A : assert (begun_q - ended_q == 4'd0 || valid);
      NoneIsMade_A : assert (begun_q - ended_q <= 4'd2);
    end
    TwoFrames_C : cover (rst_n && ended_q == 4'd2 && begun_q == 4'd3);
  end
endmodule
