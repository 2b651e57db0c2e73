// rl_link_tx with segments of any kind and of up to three words, offered at any pace, and frames that are taken at any
// pace. What is checked of what comes out, in the first cycles:
//   - a frame has as many words as its header's length says, and the last one as many bytes;
//   - it is for the other end of the cable, and what is offered stays;
//   - as many frames leave as segments came: none is lost, and none is made.
module rl_link_tx_formal
  import rl_link_pkg::*;
  import rl_link_wire_pkg::*;
  import rl_transport_pkg::segment_t;
#(
  parameter int unsigned DataW = 512
) (
  input logic             clk_i,
  input logic             valid_i,
  input segment_t         segment_i,
  input message_t         message_i,
  input logic [DataW-1:0] data_i,
  input logic             ready_i
);
  localparam int unsigned KeepW = DataW / 8;
  localparam mac_addr_t Mac = 48'h02524c000107;

  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  // -- a source: a segment is steady until its last word was taken, and a word until it was
  logic offers, ready, last, waits_q = 1'b0, inside_q = 1'b0;
  logic [1:0] in_q = '0;
  logic [15:0] length;
  segment_t segment_q;
  message_t message_q;
  logic [DataW-1:0] data_q;
  assign length = length_of(segment_i, message_i);
  assign offers = rst_n && valid_i;
  assign last = length <= 16'(KeepW) * (16'(in_q) + 16'd1);
  always_comb begin
    assume (length <= 16'(3 * KeepW));
    if (waits_q || inside_q) assume (segment_i == segment_q && message_i == message_q);
    if (waits_q) assume (valid_i && data_i == data_q);
  end
  always_ff @(posedge clk_i) begin
    segment_q <= segment_i;
    message_q <= message_i;
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
  rl_link_tx #(
    .DataW(DataW)
  ) u_dut (
    .clk_i,
    .rst_ni(rst_n),
    .mac_i(Mac),
    .valid_i(offers),
    .ready_o(ready),
    .segment_i,
    .message_i,
    .data_i,
    .last_i(last),
    .valid_o(valid),
    .ready_i,
    .data_o(data),
    .keep_o(keep),
    .last_o(out_last)
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
      if (at_q == '0)
        ForTheOtherEnd_A :
        assert (data[7:0] == LinkAddr[47:40] && {data[103:96], data[111:104]} == EtherTypeLink);
    end
    if (rst_n && valid_q && !ready_q)
      Stays_A : assert (valid && data == before_q && out_last == last_q);
  end

  // -- all that came leaves: segments that were taken, and of these what is under way
  logic [3:0] begun_q = '0, ended_q = '0;
  always_ff @(posedge clk_i) begin
    if (offers && ready && last) begun_q <= begun_q + 1'b1;
    if (rst_n && valid && ready_i && out_last) ended_q <= ended_q + 1'b1;
  end
  always_comb begin
    if (rst_n) begin
      NoneIsLost_A : assert (begun_q == ended_q || valid);
      NoneIsMade_A :
      assert (begun_q - ended_q <= 4'd1 && !(begun_q == ended_q && valid && out_last));
    end
    TwoFrames_C : cover (rst_n && ended_q == 4'd2 && begun_q == 4'd3);
  end
endmodule
