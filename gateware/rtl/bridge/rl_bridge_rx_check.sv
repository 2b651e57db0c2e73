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
  localparam int unsigned Lanes = (HeadBytes + KeepW - 1) / KeepW
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
  if (LengthMax > 65535 - HeaderBytes) begin : gen_check_length
    $fatal(0, "rl_bridge_rx_check: LengthMax is more than a packet has (%m)");
  end
  // The word that has a byte, and the byte's place in it.
  localparam int unsigned TypeLane = 12 / KeepW;
  localparam int unsigned SrcLane = 11 / KeepW;
  localparam int unsigned PacketLane = Ipv6PayloadLengthOffset / KeepW;
  localparam int unsigned KindLane = HeaderKindOffset / KeepW;
  localparam int unsigned LengthLane = HeaderLengthOffset / KeepW;
  localparam int unsigned LifeLane = HeaderSrcEpochOffset / KeepW;
  localparam int unsigned ChannelLane = HeaderChannelOffset / KeepW;

  logic now_valid, now_first, now_last, now_bad, no_ethernet, no_packet, empty, is_short;
  logic [DataW-1:0] now_data;
  logic [Lanes-1:0] now_lane;
  logic [15:0] length;
  logic [16:0] packet_q, header_q;  // The last byte of the packet, by IPv6 and by the header.
  rl_wire_walk #(
    .DataW(DataW),
    .HeadBytes(HeadBytes),
    .NeedBytes(PacketBytes),
    .LengthLane(LengthLane)
  ) u_walk (
    .clk_i,
    .rst_ni,
    .valid_i,
    .data_i,
    .keep_i,
    .last_i,
    .bad_i,
    .now_valid_o(now_valid),
    .now_first_o(now_first),
    .now_last_o(now_last),
    .now_bad_o(now_bad),
    .now_data_o(now_data),
    .now_lane_o(now_lane),
    .now_no_ethernet_o(no_ethernet),
    .now_no_need_o(no_packet),
    .now_length_i(length),
    .now_empty_i(empty),
    .valid_o,
    .first_o,
    .data_o,
    .next_o,
    .last_o,
    .lane_o,
    .payload_o,
    .ends_o,
    .end_i(packet_q),
    .short_o(is_short)
  );

  function automatic logic [7:0] byte_of(logic [DataW-1:0] beat, int unsigned at);
    return beat[8*(at%KeepW)+:8];
  endfunction
  function automatic logic [15:0] pair_of(logic [DataW-1:0] beat, int unsigned at);
    return {byte_of(beat, at), byte_of(beat, at + 1)};
  endfunction

  // The Ethernet source, as far as it has come.
  mac_addr_t src_q, src;
  always_comb begin
    for (int unsigned i = 0; i < 6; i++)
    src[8*(5-i)+:8] = now_lane[(6+i)/KeepW] ? byte_of(now_data, 6 + i) : src_q[8*(5-i)+:8];
  end
  always_ff @(posedge clk_i) if (now_valid) src_q <= src;
  assign find_o = now_valid && now_lane[SrcLane];
  assign find_mac_o = src;

  // What the head's bytes have to be, if anything, and what is wrong if one is not.
  logic [63:0] src_eui, own_eui;
  assign src_eui = eui64_of(src);
  assign own_eui = eui64_of(mac_i);
  faults_t passing;  // What is wrong with this word.
  logic [7:0] kind, flags;
  assign kind = byte_of(now_data, HeaderKindOffset);
  assign flags = byte_of(now_data, HeaderVersionFlagsOffset);
  always_comb begin
    passing = '0;
    for (int unsigned i = 0; i < 6; i++)
    if (now_lane[i/KeepW]) passing.misdirected |= byte_of(now_data, i) != mac_i[8*(5-i)+:8];
    if (now_lane[6/KeepW]) passing.spoofed |= now_data[8*(6%KeepW)];
    if (now_lane[TypeLane]) passing.other_type = pair_of(now_data, 12) != EtherType;
    if (now_lane[EthernetBytes/KeepW])
      passing.foreign |= now_data[8*(EthernetBytes%KeepW)+4+:4] != PacketStart[31:28];
    if (now_lane[Ipv6NextHeaderOffset/KeepW])
      passing.foreign |= byte_of(now_data, Ipv6NextHeaderOffset) != NextHeader;
    // All addresses of nodes lie within fc00::/7. What does not is a host's.
    if (now_lane[Ipv6DstOffset/KeepW])
      passing.foreign |= now_data[8*(Ipv6DstOffset%KeepW)+1+:7] != Subnet[63:57];
    if (now_lane[Ipv6HopLimitOffset/KeepW])
      passing.hop_limit |= byte_of(now_data, Ipv6HopLimitOffset) != HopLimit;
    for (int unsigned i = 0; i < 8; i++) begin
      if (now_lane[(Ipv6SrcOffset+i)/KeepW])
        passing.subnet |= byte_of(now_data, Ipv6SrcOffset + i) != Subnet[8*(7-i)+:8];
      if (now_lane[(Ipv6DstOffset+i)/KeepW])
        passing.subnet |= byte_of(now_data, Ipv6DstOffset + i) != Subnet[8*(7-i)+:8];
      if (now_lane[(Ipv6SrcOffset+8+i)/KeepW])
        passing.spoofed |= byte_of(now_data, Ipv6SrcOffset + 8 + i) != src_eui[8*(7-i)+:8];
      if (now_lane[(Ipv6DstOffset+8+i)/KeepW])
        passing.misdirected |= byte_of(now_data, Ipv6DstOffset + 8 + i) != own_eui[8*(7-i)+:8];
    end
    if (now_lane[HeaderVersionFlagsOffset/KeepW]) begin
      passing.version = flags[7:4] != Version;
      passing.auth = (flags[3:0] & FlagAuth) != '0;
    end
    if (now_lane[KindLane]) passing.kind = kind == '0 || kind > KindWriteBatch;
    if (now_lane[LifeLane]) passing.malformed |= now_data[8*(HeaderSrcEpochOffset%KeepW)+:32] == '0;
    if (now_lane[ChannelLane])
      passing.malformed |= pair_of(now_data, HeaderChannelOffset) >= Channels;
    // Ends before these have come.
    if (now_last) begin
      passing.damaged = now_bad;
      passing.no_ethernet = no_ethernet;
      passing.no_packet = no_packet;
    end
  end

  // -- what is wrong so far, and what the headers say
  faults_t faults_q;
  logic bare_q, bare, unack_q, sack, none;
  assign bare = now_lane[KindLane] ? is_bare(kind) : bare_q;
  assign length = pair_of(now_data, HeaderLengthOffset);
  assign empty = bare || length == '0;
  always_ff @(posedge clk_i) begin
    if (now_valid) begin
      faults_q <= (now_first ? '0 : faults_q) | passing;
      if (now_lane[PacketLane])
        packet_q <= 17'(pair_of(now_data, Ipv6PayloadLengthOffset)) + 17'(PacketBytes - 1);
      bare_q <= bare;
      if (now_lane[KindLane]) unack_q <= kind == KindUnack;
      if (now_lane[LengthLane]) header_q <= 17'(length) + 17'(HeadBytes - 1);
    end
  end
  assign none = header_q == 17'(HeadBytes - 1);
  assign sack = header_q == 17'(HeadBytes + SackBytes - 1);
  always_comb begin
    faults_o = faults_q;
    faults_o.truncated = is_short;
    faults_o.short_packet = packet_q < 17'(HeadBytes - 1);
    faults_o.length = packet_q != header_q;
    faults_o.unknown = !found_i;
    faults_o.malformed |= bare_q && !none && (unack_q || !sack);
    faults_o.too_long = header_q > 17'(HeadBytes - 1 + LengthMax);
  end
endmodule
