// Segments of the transport to the network, each as a frame: the head, which follows from segment, descriptor and the
// addresses of both nodes, and behind it the words of the payload.
//
// Where a head does not end with a word (512 bits), all words of the payload move by half a word. No cycle is lost:
// a frame takes as many as it has words. Words follow each other without a gap as long as the segment's do.
module rl_bridge_tx
  import rl_bridge_pkg::*;
  import rl_bridge_node_pkg::*;
  import rl_bridge_wire_pkg::*;
  import rl_transport_pkg::segment_t;
#(
  parameter int unsigned DataW = 64,  // 64, 128, 256 or 512.
  parameter int unsigned Nodes = 8,   // A power of two, 2 or more.
  localparam int unsigned KeepW = DataW / 8,
  localparam int unsigned NodeW = $clog2(Nodes),
  localparam int unsigned PeerW = NodeW + $clog2(32'(Channels))
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  mac_addr_t        mac_i,      // This node's, steady. No group's.

  // -- segments: all but the words is steady during one
  input  logic             valid_i,
  output logic             ready_o,
  input  logic [PeerW-1:0] peer_i,     // Node and channel.
  input  segment_t         segment_i,
  input  head_t            desc_i,     // Of KindData; as many words as its length says, and one for none.
  input  logic [DataW-1:0] data_i,
  input  logic             last_i,

  // -- rl_bridge_peers, in the same cycle
  output logic [NodeW-1:0] node_o,
  input  logic             known_i,
  input  mac_addr_t        peer_mac_i,

  // -- frames
  output logic             valid_o,
  input  logic             ready_i,
  output logic [DataW-1:0] data_o,     // Byte 0 of the frame is [7:0] of the first word.
  output logic [KeepW-1:0] keep_o,     // Ones from bit 0 on; all but in the last word.
  output logic             last_o,

  // -- what became of each segment
  input  logic [$clog2(Departures)-1:0] count_of_i,
  output logic [31:0]      count_o
);
  if (DataW < 64 || DataW > 512 || DataW != 1 << $clog2(DataW)) begin : gen_check
    $fatal(0, "rl_bridge_tx: DataW must be 64, 128, 256 or 512 (%m)");
  end
  localparam int unsigned ByteW = $clog2(KeepW);
  localparam int unsigned HeadWords = HeadBytes / KeepW;  // Those that are the head's alone.
  localparam int unsigned Shared = HeadBytes % KeepW;  // Its bytes in one more.
  localparam int unsigned AtW = $clog2(HeadWords + 1);
  typedef logic [AtW-1:0] at_t;
  typedef logic [ByteW:0] size_t;
  typedef logic [KeepW-1:0] keep_t;

  function automatic keep_t keep_of(size_t size);
    return ~(keep_t'('1) << size);
  endfunction

  // -- the head: the address of the peer is looked at once, since the owner may change it
  frame_head_t early, late;
  mac_addr_t peer_mac_q;
  assign node_o = peer_i[PeerW-1-:NodeW];
  assign early = head_of(peer_mac_i, mac_i, peer_i[0], segment_i, desc_i);
  assign late = head_of(peer_mac_q, mac_i, peer_i[0], segment_i, desc_i);
  function automatic logic [7:0] byte_of(frame_head_t head, int unsigned at);
    return head[8*(HeadBytes-1-at)+:8];
  endfunction
  at_t at_q;  // Words of the head that are out.
  logic [DataW-1:0] head_word;
  always_comb begin
    head_word = '0;
    for (int unsigned w = 0; w < HeadWords; w++) begin
      if (at_q == at_t'(w)) begin
        for (int unsigned b = 0; b < KeepW; b++)
        head_word[8*b+:8] = byte_of(w == 0 ? early : late, w * KeepW + b);
      end
    end
  end

  // -- which word comes next
  logic moves, begins, in_head, drops_q, drops, tail_q, tails, takes, out, ends, empty;
  logic [15:0] length;
  size_t
      used,
      sum,
      tail_size_q;  // Bytes of the last word of the payload; and with those that share it; and left over.
  assign length = length_of(segment_i, desc_i);
  assign empty = length == '0;
  assign used = empty ? '0 : length[ByteW-1:0] == '0 ? size_t'(KeepW) : {1'b0, length[ByteW-1:0]};
  assign sum = used + size_t'(Shared);
  assign moves = ready_i || !valid_o;
  assign in_head = at_q != at_t'(HeadWords);
  assign begins = valid_i && at_q == '0 && !tail_q && !drops_q;
  assign drops = drops_q || (begins && !known_i);
  // It is taken: a word of payload, or the one that means nothing, with the head's last one.
  assign takes = valid_i && !tail_q && (!in_head || (Shared == 0 && empty && at_q == at_t'(HeadWords - 1)));
  assign tails = Shared != 0 && takes && last_i && sum > size_t'(KeepW);
  assign ends = tail_q || (takes && last_i && !tails);
  assign out = tail_q || (valid_i && !drops);
  assign ready_o = drops ? valid_i : takes && moves;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      at_q <= '0;
      drops_q <= 1'b0;
      tail_q <= 1'b0;
      valid_o <= 1'b0;
    end else begin
      if (drops && valid_i) drops_q <= !last_i;
      if (moves) begin
        valid_o <= out;
        tail_q <= tails;
        if (out && (ends || tails)) at_q <= '0;
        else if (out && in_head) at_q <= at_q + 1'b1;
      end
    end
  end

  // -- the word
  logic [DataW-1:0] body;
  if (Shared == 0) begin : gen_whole
    logic unused;
    assign body = data_i;
    assign unused = ^tail_size_q;
  end else begin : gen_shared
    // The part of the payload's word that is still to go, or of the head.
    logic [8*Shared-1:0] held_q, head_rest, below;
    logic second_q;  // The head's rest is below.
    for (genvar b = 0; b < Shared; b++) begin : gen_byte
      assign head_rest[8*b+:8] = byte_of(late, HeadWords * KeepW + b);
    end
    assign below = second_q ? head_rest : held_q;
    assign body = {data_i[DataW-8*Shared-1:0], below};
    always_ff @(posedge clk_i) begin
      if (moves && out) begin
        second_q <= in_head && at_q == at_t'(HeadWords - 1);
        if (takes) held_q <= data_i[DataW-1-:8*Shared];
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (begins) peer_mac_q <= peer_mac_i;
    if (moves) begin
      data_o <= in_head && !tail_q ? head_word : body;
      keep_o <= tail_q ? keep_of(tail_size_q) : ends && !in_head ? keep_of(sum) : '1;
      last_o <= ends;
      tail_size_q <= sum - size_t'(KeepW);
    end
  end

  // -- counts
  logic happened_q;
  departure_e departure_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) happened_q <= 1'b0;
    else happened_q <= (begins && drops) || (moves && out && ends);
  end
  always_ff @(posedge clk_i) departure_q <= drops ? NoPeer : Sent;
  rl_bridge_tally #(
    .Kinds(Departures)
  ) u_tally (
    .clk_i,
    .rst_ni,
    .happened_i(happened_q),
    .kind_i(departure_q),
    .count_of_i,
    .count_o
  );

`ifndef SYNTHESIS
  logic [16:0] left_q;  // Bytes of payload that are still to come.
  always_ff @(posedge clk_i) begin
    left_q <= begins ? 17'(length) : takes && moves ? left_q - 17'(KeepW) : left_q;
    if (rst_ni && takes && moves && !drops)
      LengthIsTrue_A : assert (last_i == (left_q <= 17'(KeepW)));
  end
  rl_stays #(
    .Width(DataW + KeepW + 1)
  ) u_stays (
    .clk_i,
    .rst_ni,
    .valid_i(valid_o),
    .ready_i,
    .data_i({data_o, keep_o, last_o})
  );
`endif
endmodule
