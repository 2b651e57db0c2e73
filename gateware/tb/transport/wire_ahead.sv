// What holds frames between two ends where no network does: a queue of heads beside one of words, as a neighbour of
// rl_transport has them. Without Heads it is a wire.
module wire_ahead
  import rl_transport_pkg::*;
#(
  parameter int unsigned DataW = 64,
  parameter int unsigned DescW = 32,
  parameter int unsigned PeerW = 2,
  parameter bit          Heads = 1'b0
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             valid_i,
  output logic             ready_o,
  input  logic [PeerW-1:0] peer_i,
  input  segment_t         segment_i,
  input  logic [DescW-1:0] desc_i,
  input  logic [DataW-1:0] data_i,
  input  logic             last_i,
  output logic             head_valid_o,
  input  logic             head_ready_i,
  output logic [PeerW-1:0] head_peer_o,
  output segment_t         head_segment_o,
  output logic [DescW-1:0] head_desc_o,
  output logic             valid_o,
  input  logic             ready_i,
  output logic [DataW-1:0] data_o,
  output logic             last_o
);
  if (Heads) begin : gen_queues
    typedef struct packed {
      logic [DataW-1:0] data;
      logic             last;
    } word_t;
    typedef struct packed {
      logic [PeerW-1:0] peer;
      segment_t         segment;
      logic [DescW-1:0] desc;
    } head_t;
    // Words that are held back while the first of their frames is judged.
    word_t words_q[$];
    head_t heads_q[$];
    logic first_q;
    // What is here before the edge. A head and a word pass in the cycle in which they come, as through a wire.
    logic [4:0] words, heads;
    word_t word;
    head_t head;
    assign ready_o = words < 16 && heads < 16;
    assign {head_peer_o, head_segment_o, head_desc_o} = heads != 0 ? head : {peer_i, segment_i, desc_i};
    assign head_valid_o = heads != 0 || (valid_i && ready_o && first_q);
    assign {data_o, last_o} = words != 0 ? word : {data_i, last_i};
    assign valid_o = words != 0 || (valid_i && ready_o);
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        words_q.delete();
        heads_q.delete();
        first_q <= 1'b1;
      end else begin
        if (valid_i && ready_o) begin
          first_q <= last_i;
          words_q.push_back({data_i, last_i});
          if (first_q) heads_q.push_back({peer_i, segment_i, desc_i});
        end
        if (valid_o && ready_i) void'(words_q.pop_front());
        if (head_valid_o && head_ready_i) void'(heads_q.pop_front());
      end
      words <= 5'(words_q.size());
      heads <= 5'(heads_q.size());
      if (words_q.size() != 0) word <= words_q[0];
      if (heads_q.size() != 0) head <= heads_q[0];
    end
  end else begin : gen_wire
    assign valid_o = valid_i;
    assign ready_o = ready_i;
    assign data_o = data_i;
    assign last_o = last_i;
    assign head_valid_o = 1'b0;
    assign {head_peer_o, head_segment_o, head_desc_o} = {peer_i, segment_i, desc_i};
    logic unused;
    assign unused = ^{clk_i, rst_ni, head_ready_i};
  end
endmodule
