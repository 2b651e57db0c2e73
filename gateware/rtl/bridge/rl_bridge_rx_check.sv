// Whether a frame that has come is one for this node: the rules of docs/src/reference/bridge.md, and that a peer sent
// it. The words go by and come out two cycles later, the last one of a frame with what is wrong with it, the others as
// soon as the next one has come. So the word after one that comes out is beside it, but for the last.
//
// Each byte of the head that has a rule is compared when it goes by. What concerns two places waits for both.
module rl_bridge_rx_check
  import rl_bridge_pkg::*;
  import rl_bridge_wire_pkg::*;
#(
  parameter int unsigned DataW = 64,
  parameter int unsigned LengthMax = 1408,  // Most payload bytes that are taken.
  localparam int unsigned KeepW = DataW / 8,
  localparam int unsigned Lanes = (HeadBytes + KeepW - 1) / KeepW,
  localparam int unsigned LeftW = 17 - $clog2(KeepW)
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  mac_addr_t        mac_i,      // This node's, steady. No group's.

  input  logic             valid_i,
  input  logic [DataW-1:0] data_i,
  input  logic [KeepW-1:0] keep_i,
  input  logic             last_i,
  input  logic             bad_i,

  // -- rl_bridge_peers
  output logic             find_o,
  output mac_addr_t        find_mac_o,
  input  logic             found_i,

  output logic             valid_o,
  output logic             first_o,
  output logic [DataW-1:0] data_o,
  output logic [DataW-1:0] next_o,     // The word after it, unless it is the last.
  output logic             last_o,
  output logic [Lanes-1:0] lane_o,     // Which word of the head it is, if one.
  output logic             payload_o,  // It begins a word of payload, or one that means nothing where there is none;
  output logic             ends_o,     // the last one.
  output faults_t          faults_o    // With last_o, but for no_room.
);
  if (DataW < 64 || DataW > 512 || DataW != 1 << $clog2(DataW)) begin : gen_check
    $fatal(0, "rl_bridge_rx_check: DataW must be 64, 128, 256 or 512 (%m)");
  end
  if (LengthMax > 65535 - HeaderBytes) begin : gen_check_length
    $fatal(0, "rl_bridge_rx_check: LengthMax is more than a packet has (%m)");
  end
  localparam int unsigned ByteW = $clog2(KeepW);
  localparam int unsigned AtW = 17 - ByteW;  // More words than the longest packet has.
  typedef logic [AtW-1:0] at_t;
  typedef logic [Lanes-1:0] lanes_t;
  // The word that has a byte, and the byte's place in it.
  localparam int unsigned TypeLane = 12 / KeepW;
  localparam int unsigned SrcLane = 11 / KeepW;
  localparam int unsigned PacketLane = Ipv6PayloadLengthOffset / KeepW;
  localparam int unsigned KindLane = HeaderKindOffset / KeepW;
  localparam int unsigned LengthLane = HeaderLengthOffset / KeepW;
  localparam int unsigned LifeLane = HeaderSrcEpochOffset / KeepW;
  localparam int unsigned ChannelLane = HeaderChannelOffset / KeepW;

  // -- s1: the word
  logic s1_valid_q, s1_first_q, s1_last_q, s1_bad_q, inside_q;
  logic [DataW-1:0] s1_data_q;
  logic [KeepW-1:0] s1_keep_q;
  lanes_t s1_lane_q;
  at_t s1_at_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      s1_valid_q <= 1'b0;
      inside_q <= 1'b0;
    end else begin
      s1_valid_q <= valid_i;
      if (valid_i) inside_q <= !last_i;
    end
  end
  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      s1_first_q <= !inside_q;
      s1_last_q <= last_i;
      s1_bad_q <= last_i && bad_i;
      s1_data_q <= data_i;
      s1_keep_q <= keep_i;
      s1_lane_q <= inside_q ? s1_lane_q << 1 : lanes_t'(1);
      // A frame that never ends must not seem short.
      s1_at_q <= !inside_q ? '0 : s1_at_q == '1 ? s1_at_q : s1_at_q + 1'b1;
    end
  end

  function automatic logic [7:0] byte_of(logic [DataW-1:0] word, int unsigned at);
    return word[8*(at%KeepW)+:8];
  endfunction
  function automatic logic [15:0] pair_of(logic [DataW-1:0] word, int unsigned at);
    return {byte_of(word, at), byte_of(word, at + 1)};
  endfunction

  // A frame whose last word this is does not have this byte of a head.
  function automatic logic ends_before(lanes_t lane, logic [KeepW-1:0] keep, int unsigned at);
    return (lane & lanes_t'((1 << (at / KeepW)) - 1)) != '0 || (lane[at/KeepW] && !keep[at%KeepW]);
  endfunction

  // The Ethernet source, as far as it has come.
  mac_addr_t src_q, src;
  always_comb begin
    for (int unsigned i = 0; i < 6; i++)
    src[8*(5-i)+:8] = s1_lane_q[(6+i)/KeepW] ? byte_of(s1_data_q, 6 + i) : src_q[8*(5-i)+:8];
  end
  always_ff @(posedge clk_i) if (s1_valid_q) src_q <= src;
  assign find_o = s1_valid_q && s1_lane_q[SrcLane];
  assign find_mac_o = src;

  // What the head's bytes have to be, if anything, and what is wrong if one is not.
  logic [63:0] src_eui, own_eui;
  assign src_eui = eui64_of(src);
  assign own_eui = eui64_of(mac_i);
  faults_t passing;  // What is wrong with this word.
  logic [7:0] kind, flags;
  assign kind = byte_of(s1_data_q, HeaderKindOffset);
  assign flags = byte_of(s1_data_q, HeaderVersionFlagsOffset);
  always_comb begin
    passing = '0;
    for (int unsigned i = 0; i < 6; i++)
    if (s1_lane_q[i/KeepW]) passing.misdirected |= byte_of(s1_data_q, i) != mac_i[8*(5-i)+:8];
    if (s1_lane_q[6/KeepW]) passing.spoofed |= s1_data_q[8*(6%KeepW)];
    if (s1_lane_q[TypeLane]) passing.other_type = pair_of(s1_data_q, 12) != EtherType;
    if (s1_lane_q[EthernetBytes/KeepW])
      passing.foreign |= s1_data_q[8*(EthernetBytes%KeepW)+4+:4] != PacketStart[31:28];
    if (s1_lane_q[Ipv6NextHeaderOffset/KeepW])
      passing.foreign |= byte_of(s1_data_q, Ipv6NextHeaderOffset) != NextHeader;
    // All addresses of nodes lie within fc00::/7. What does not is a host's.
    if (s1_lane_q[Ipv6DstOffset/KeepW])
      passing.foreign |= s1_data_q[8*(Ipv6DstOffset%KeepW)+1+:7] != Subnet[63:57];
    if (s1_lane_q[Ipv6HopLimitOffset/KeepW])
      passing.hop_limit |= byte_of(s1_data_q, Ipv6HopLimitOffset) != HopLimit;
    for (int unsigned i = 0; i < 8; i++) begin
      if (s1_lane_q[(Ipv6SrcOffset+i)/KeepW])
        passing.subnet |= byte_of(s1_data_q, Ipv6SrcOffset + i) != Subnet[8*(7-i)+:8];
      if (s1_lane_q[(Ipv6DstOffset+i)/KeepW])
        passing.subnet |= byte_of(s1_data_q, Ipv6DstOffset + i) != Subnet[8*(7-i)+:8];
      if (s1_lane_q[(Ipv6SrcOffset+8+i)/KeepW])
        passing.spoofed |= byte_of(s1_data_q, Ipv6SrcOffset + 8 + i) != src_eui[8*(7-i)+:8];
      if (s1_lane_q[(Ipv6DstOffset+8+i)/KeepW])
        passing.misdirected |= byte_of(s1_data_q, Ipv6DstOffset + 8 + i) != own_eui[8*(7-i)+:8];
    end
    if (s1_lane_q[HeaderVersionFlagsOffset/KeepW]) begin
      passing.version = flags[7:4] != Version;
      passing.auth = (flags[3:0] & FlagAuth) != '0;
    end
    if (s1_lane_q[KindLane]) passing.kind = kind == '0 || kind > KindWriteBatch;
    if (s1_lane_q[LifeLane])
      passing.malformed |= s1_data_q[8*(HeaderSrcEpochOffset%KeepW)+:32] == '0;
    if (s1_lane_q[ChannelLane])
      passing.malformed |= pair_of(s1_data_q, HeaderChannelOffset) >= Channels;
    // Ends before these have come.
    if (s1_last_q) begin
      passing.damaged = s1_bad_q;
      passing.no_ethernet = ends_before(s1_lane_q, s1_keep_q, EthernetBytes - 1);
      passing.no_packet = ends_before(s1_lane_q, s1_keep_q, PacketBytes - 1);
    end
  end

  // -- s2: the word, which waits for the next one, and what is wrong so far
  logic s2_valid_q, s2_first_q, s2_last_q, s2_body_q;
  logic [DataW-1:0] s2_data_q;
  logic [KeepW-1:0] s2_keep_q;
  lanes_t s2_lane_q;
  at_t s2_at_q;
  faults_t faults_q;
  assign valid_o = s2_valid_q && (s2_last_q || s1_valid_q);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) s2_valid_q <= 1'b0;
    else s2_valid_q <= s1_valid_q || (s2_valid_q && !valid_o);
  end
  always_ff @(posedge clk_i) begin
    if (s1_valid_q) begin
      s2_first_q <= s1_first_q;
      s2_last_q <= s1_last_q;
      // A word of payload begins in this one.
      s2_body_q <= s1_lane_q == '0 || (HeadBytes % KeepW != 0 && s1_lane_q[Lanes-1]);
      s2_data_q <= s1_data_q;
      s2_keep_q <= s1_keep_q;
      s2_lane_q <= s1_lane_q;
      s2_at_q <= s1_at_q;
      faults_q <= (s1_first_q ? '0 : faults_q) | passing;
    end
  end

  // The last byte of the packet, by IPv6 and by the header; and how many words of payload are still to begin.
  logic [16:0] packet_q, header_q;
  logic bare_q, bare, unack_q, empty, empty_q;
  logic [15:0] length;
  logic [LeftW-1:0] left_q;
  assign bare = s1_lane_q[KindLane] ? is_bare(kind) : bare_q;
  assign length = pair_of(s1_data_q, HeaderLengthOffset);
  assign empty = bare || length == '0;
  always_ff @(posedge clk_i) begin
    if (s1_valid_q) begin
      if (s1_lane_q[PacketLane])
        packet_q <= 17'(pair_of(s1_data_q, Ipv6PayloadLengthOffset)) + 17'(PacketBytes - 1);
      bare_q <= bare;
      if (s1_lane_q[KindLane]) unack_q <= kind == KindUnack;
      if (s1_lane_q[LengthLane]) begin
        header_q <= 17'(length) + 17'(HeadBytes - 1);
        empty_q <= empty;
      end
    end
    if (s1_valid_q && s1_lane_q[LengthLane])
      left_q <= empty ? LeftW'(1) : LeftW'((17'(length) + 17'(KeepW - 1)) >> ByteW);
    else if (valid_o && payload_o) left_q <= left_q - 1'b1;
  end
  // Without payload the word that means nothing is the one that ends with the head, where there is none that is shared.
  assign payload_o = left_q != '0 &&
      (s2_body_q || (HeadBytes % KeepW == 0 && s2_lane_q[Lanes-1] && empty_q));
  assign ends_o = left_q == LeftW'(1);

  at_t end_at;
  logic sack, none;
  assign end_at = packet_q[16:ByteW];
  assign none = header_q == 17'(HeadBytes - 1);
  assign sack = header_q == 17'(HeadBytes + SackBytes - 1);
  always_comb begin
    faults_o = faults_q;
    faults_o.truncated = s2_at_q < end_at || (s2_at_q == end_at && !s2_keep_q[packet_q[ByteW-1:0]]);
    faults_o.short_packet = packet_q < 17'(HeadBytes - 1);
    faults_o.length = packet_q != header_q;
    faults_o.unknown = !found_i;
    faults_o.malformed |= bare_q && !none && (unack_q || !sack);
    faults_o.too_long = header_q > 17'(HeadBytes - 1 + LengthMax);
  end
  assign first_o = s2_first_q;
  assign data_o = s2_data_q;
  assign next_o = s1_data_q;
  assign last_o = s2_last_q;
  assign lane_o = s2_lane_q;
endmodule
