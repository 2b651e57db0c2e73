// Writes to a node's memory: payloads in bursts, beat by beat as they come, and single beats of eight bytes for
// rl_bridge_small. Of each node it counts the writes that have begun and those that memory has answered, in order, and
// knows which of them failed.
module rl_bridge_store
  import rl_bridge_node_pkg::*;
#(
  parameter int unsigned Nodes = 8,
  parameter int unsigned DataW = 512,
  parameter int unsigned AddrW = 40,
  parameter int unsigned Burst = 16,        // As rl_bridge_burst says.
  parameter int unsigned Writes = 64,       // Bursts that are not answered, a power of two.
  localparam int unsigned Bytes = DataW / 8,
  localparam int unsigned FineW = $clog2(Bytes),
  localparam int unsigned NodeW = $clog2(Nodes)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic [NodeW-1:0]  node_i,         // Whose write it is. Steady from its begin until its last address is taken.
  output logic [6:0]        number_o,       // Of the node's next write, or the one whose last address is not taken.

  // -- a payload: its range, and then its beats
  input  logic              begin_i,        // When no addresses are on their way.
  input  logic [AddrW-1:0]  addr_i,         // Of its first byte. Steady, as is the length in bytes.
  input  logic [15:0]       length_i,
  input  logic              valid_i,
  output logic              ready_o,
  input  logic [DataW-1:0]  data_i,
  input  logic [Bytes-1:0]  strb_i,
  input  logic              last_i,
  output logic              addresses_o,    // Some of its addresses are on their way,
  output logic              rests_o,        // or memory has answered all, of all nodes.

  // -- eight bytes
  input  logic              small_i,        // Only these, now.
  input  logic              small_valid_i,
  output logic              small_ready_o,
  input  logic              small_last_i,   // It ends a write of the node's.
  input  logic [AddrW-1:0]  small_addr_i,
  input  logic [63:0]       small_data_i,
  input  logic [7:0]        small_strb_i,

  // -- what became of a write of this node's
  input  logic [NodeW-1:0]  asked_node_i,
  input  logic [6:0]        asked_number_i,
  output logic              written_o,      // Memory has answered it,
  output logic              failed_o,       // and it failed.

  output logic              awvalid_o,
  input  logic              awready_i,
  output logic [AddrW-1:0]  awaddr_o,
  output logic [7:0]        awlen_o,
  output logic              wvalid_o,
  input  logic              wready_i,
  output logic [DataW-1:0]  wdata_o,
  output logic [Bytes-1:0]  wstrb_o,
  output logic              wlast_o,
  input  logic              bvalid_i,
  output logic              bready_o,
  input  logic [1:0]        bresp_i
);
  typedef logic [NodeW-1:0] index_t;

  // -- writes that memory has not answered: numbers of a node's, and which of those that have ended failed
  typedef struct packed {
    index_t     node;
    logic [5:0] number;
    logic       last;
  } burst_t;
  logic [Nodes-1:0][6:0] begun_q, ended_q;
  logic [6:0] ahead;
  logic bursts_room, bursts_valid, burst_fails, failed_q;
  logic [$clog2(Writes):0] bursts;
  burst_t ended;
  logic aw_take, aw_last;
  logic [6:0] number;
  assign number = begun_q[node_i];
  assign number_o = number;
  rl_fifo #(
    .Width($bits(burst_t)),
    .Depth(Writes)
  ) u_bursts (
    .clk_i,
    .rst_ni,
    .wvalid_i(aw_take),
    .wready_o(bursts_room),
    .wdata_i({node_i, number[5:0], aw_last}),
    .rvalid_o(bursts_valid),
    .rready_i(bvalid_i),
    .rdata_o(ended),
    .count_o(bursts)
  );
  assign bready_o = 1'b1;
  assign burst_fails = failed_q || bresp_i != AxiOkay;
  rl_lutram #(
    .Width(1),
    .Depth(Nodes * 64)
  ) u_failed (
    .clk_i,
    .we_i(bvalid_i && bursts_valid && ended.last),
    .waddr_i({ended.node, ended.number}),
    .wdata_i(burst_fails),
    .raddr_i({asked_node_i, asked_number_i[5:0]}),
    .rdata_o(failed_o)
  );
  assign ahead = ended_q[asked_node_i] - asked_number_i - 1'b1;
  assign written_o = !ahead[6];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      begun_q <= '0;
      ended_q <= '0;
      failed_q <= 1'b0;
    end else begin
      if (aw_take && aw_last) begun_q[node_i] <= begun_q[node_i] + 1'b1;
      if (bvalid_i && bursts_valid) begin
        failed_q <= burst_fails && !ended.last;
        if (ended.last) ended_q[ended.node] <= ended_q[ended.node] + 1'b1;
      end
    end
  end

  // -- writes: addresses first
  logic aw_room;
  logic [3:0] opened_q;  // Bursts whose address is taken, and not the last beat.
  logic unused_range, range_valid, range_last;
  logic [AddrW-FineW-1:0] range_beat;
  logic [7:0] range_len;
  logic [15:0] beats;
  assign beats = 16'((17'(length_i) + 17'(addr_i[FineW-1:0]) + 17'(Bytes - 1)) >> FineW);
  rl_bridge_burst #(
    .AddrW(AddrW),
    .DataW(DataW),
    .Burst(Burst)
  ) u_range (
    .clk_i,
    .rst_ni,
    .valid_i(begin_i),
    .ready_o(unused_range),
    .beat_i(addr_i[AddrW-1:FineW]),
    .beats_i(beats),
    .valid_o(range_valid),
    .ready_i(awready_i && aw_room),
    .beat_o(range_beat),
    .len_o(range_len),
    .last_o(range_last)
  );
  logic aw_sent_q, w_sent_q, small_aw, small_w;
  assign small_aw = small_valid_i && !aw_sent_q;
  assign small_w = small_valid_i && !w_sent_q;
  assign aw_room = bursts_room && !(&opened_q);
  assign awvalid_o = (small_i ? small_aw : range_valid) && aw_room;
  assign awaddr_o = {small_i ? small_addr_i[AddrW-1:FineW] : range_beat, FineW'(0)};
  assign awlen_o = small_i ? '0 : range_len;
  assign aw_take = awvalid_o && awready_i;
  assign aw_last = small_i ? small_last_i : range_last;
  // Data follows its address.
  localparam int unsigned BurstW = $clog2(Burst);
  logic [BurstW-1:0] beat_q;
  logic w_take, w_ends;
  logic [Bytes/8-1:0][7:0] small_lanes;
  for (genvar i = 0; i < int'(Bytes / 8); i++) begin : gen_lane
    if (FineW > 3) begin : gen_choice
      assign small_lanes[i] = small_addr_i[FineW-1:3] == (FineW - 3)'(i) ? small_strb_i : '0;
    end else begin : gen_all
      assign small_lanes[i] = small_strb_i;
    end
  end
  assign wvalid_o = small_i ? small_w : valid_i && opened_q != 0;
  assign wdata_o = small_i ? {Bytes / 8{small_data_i}} : data_i;
  assign wstrb_o = small_i ? small_lanes : strb_i;
  assign wlast_o = small_i || last_i || (&beat_q);
  assign ready_o = wready_i && opened_q != 0 && !small_i;
  assign w_take = wvalid_o && wready_i;
  assign w_ends = w_take && wlast_o && !small_i;
  assign small_ready_o = (aw_sent_q || aw_take) && (w_sent_q || w_take);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      opened_q <= '0;
      aw_sent_q <= 1'b0;
      w_sent_q <= 1'b0;
    end else begin
      opened_q <= opened_q + 4'(aw_take && !small_i) - 4'(w_ends);
      aw_sent_q <= small_i && (aw_sent_q || aw_take) && !small_ready_o;
      w_sent_q <= small_i && (w_sent_q || w_take) && !small_ready_o;
    end
  end
  always_ff @(posedge clk_i) begin
    if (begin_i) beat_q <= addr_i[FineW+:BurstW];
    else if (w_take) beat_q <= beat_q + 1'b1;
  end
  assign addresses_o = range_valid;
  assign rests_o = bursts == '0 && !range_valid;

  logic unused;
  assign unused = ^{unused_range, ahead[5:0], small_addr_i[2:0]};
`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni && bvalid_i) AnswersWhatWasAsked_A : assert (bursts_valid);
  end
`endif
endmodule
