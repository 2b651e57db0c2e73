// Segments from each of several ends to each other: some time later, in the order in which they were sent, and some
// never. A peer is {end, channel}: at who sends it is to whom, and at who gets it from whom.
module bridge_cable
  import rl_transport_pkg::*;
#(
  parameter int unsigned Ends = 3,
  parameter int unsigned DataW = 64,
  parameter int unsigned DescW = 32,
  parameter int unsigned PeerW = 3,
  parameter int unsigned Depth = 4096,
  localparam int unsigned SegmentW = $bits(segment_t)
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  logic [15:0]                   delay_i,   // Cycles.
  input  logic [7:0]                    loss_i,    // Of 256 segments.
  input  logic [Ends-1:0]               cut_i,     // From and to this end nothing arrives.
  input  logic [31:0]                   seed_i,
  input  logic [Ends-1:0]               tx_valid_i,
  output logic [Ends-1:0]               tx_ready_o,
  input  logic [Ends-1:0][PeerW-1:0]    tx_peer_i,
  input  logic [Ends-1:0][SegmentW-1:0] tx_segment_i,
  input  logic [Ends-1:0][DescW-1:0]    tx_desc_i,
  input  logic [Ends-1:0][DataW-1:0]    tx_data_i,
  input  logic [Ends-1:0]               tx_last_i,
  output logic [Ends-1:0]               rx_head_valid_o,
  input  logic [Ends-1:0]               rx_head_ready_i,
  output logic [Ends-1:0][PeerW-1:0]    rx_head_peer_o,
  output logic [Ends-1:0][SegmentW-1:0] rx_head_segment_o,
  output logic [Ends-1:0][DescW-1:0]    rx_head_desc_o,
  output logic [Ends-1:0]               rx_valid_o,
  input  logic [Ends-1:0]               rx_ready_i,
  output logic [Ends-1:0][DataW-1:0]    rx_data_o,
  output logic [Ends-1:0]               rx_last_o,
  output logic [31:0]                   lost_o
);
  typedef struct packed {
    logic [15:0]         at;
    logic [PeerW-1:0]    peer;
    logic [SegmentW-1:0] segment;
    logic [DescW-1:0]    desc;
    logic [DataW-1:0]    data;
    logic                last;
  } word_t;
  logic [15:0] now_q;
  logic [31:0] random_q;
  logic [Ends-1:0] inside_q, loses_q, loses;
  logic [Ends-1:0][Ends-1:0] valid, ready, take;
  word_t [Ends-1:0][Ends-1:0] shown;
  always_ff @(posedge clk_i) begin
    now_q <= rst_ni ? now_q + 1'b1 : '0;
    random_q <= rst_ni ? {random_q[30:0], random_q[31] ^ random_q[21] ^ random_q[1] ^ random_q[0]} : seed_i | 1;
    lost_o <= rst_ni ? lost_o : '0;
    for (int e = 0; e < Ends; e++) begin
      if (!rst_ni) inside_q[e] <= 1'b0;
      else if (tx_valid_i[e] && tx_ready_o[e]) begin
        inside_q[e] <= !tx_last_i[e];
        loses_q[e] <= loses[e];
        if (loses[e] && !inside_q[e]) lost_o <= lost_o + 1;
      end
    end
  end
  for (genvar f = 0; f < Ends; f++) begin : gen_from
    logic [PeerW-2:0] whom;
    assign whom = tx_peer_i[f][PeerW-1:1];
    assign loses[f] = inside_q[f] ? loses_q[f] :
        random_q[8*f+:8] < loss_i || 32'(whom) >= Ends || cut_i[f] || cut_i[whom];
    assign tx_ready_o[f] = 32'(whom) >= Ends || ready[f][whom];
    for (genvar t = 0; t < Ends; t++) begin : gen_to
      word_t queue[$];
      word_t said;
      assign said = '{
              now_q,
              {(PeerW - 1)'(f), tx_peer_i[f][0]},
              tx_segment_i[f],
              tx_desc_i[f],
              tx_data_i[f],
              tx_last_i[f]
          };
      always_ff @(posedge clk_i) begin
        if (!rst_ni) queue.delete();
        else begin
          if (take[f][t]) void'(queue.pop_front());
          if (tx_valid_i[f] && tx_ready_o[f] && whom == (PeerW - 1)'(t) && !loses[f])
            queue.push_back(said);
        end
        ready[f][t] <= queue.size() < Depth;
        // What shows is a register.
        valid[f][t] <= rst_ni && queue.size() > 0 && now_q - queue[0].at >= delay_i;
        if (queue.size() > 0) shown[f][t] <= queue[0];
      end
    end
  end
  // Whoever has begun goes on.
  for (genvar t = 0; t < Ends; t++) begin : gen_end
    logic busy_q, head_q;
    int unsigned from_q, from;
    always_comb begin
      from = from_q;
      if (!busy_q) for (int f = 0; f < Ends; f++) if (valid[f][t]) from = f;
    end
    assign rx_valid_o[t] = valid[from][t];
    assign rx_head_valid_o[t] = valid[from][t] && !head_q;
    assign {rx_head_peer_o[t], rx_head_segment_o[t], rx_head_desc_o[t], rx_data_o[t], rx_last_o[t]} = {
      shown[from][t].peer, shown[from][t].segment, shown[from][t].desc, shown[from][t].data, shown[from][t].last
    };
    for (genvar f = 0; f < Ends; f++) begin : gen_take
      assign take[f][t] = rx_valid_o[t] && rx_ready_i[t] && from == f;
    end
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        busy_q <= 1'b0;
        head_q <= 1'b0;
      end else begin
        from_q <= from;
        if (rx_valid_o[t]) busy_q <= 1'b1;
        if (rx_head_valid_o[t] && rx_head_ready_i[t]) head_q <= 1'b1;
        if (rx_valid_o[t] && rx_ready_i[t] && rx_last_o[t]) begin
          busy_q <= 1'b0;
          head_q <= 1'b0;
        end
      end
    end
  end
endmodule
