// Whether a frame that has come over a cable is one of the link family: the rules of docs/src/reference/link.md. The
// words go by and come out two cycles later, the last one with what is wrong with the frame.
//
// Each byte of the head that has a rule is compared when it goes by. The cable has one other end, so whom the frame is
// for is not asked.
module rl_link_check
  import rl_link_pkg::*;
  import rl_link_wire_pkg::*;
#(
  parameter int unsigned DataW = 64,
  parameter int unsigned LengthMax = 1408,  // Most payload bytes that are taken.
  localparam int unsigned KeepW = DataW / 8,
  localparam int unsigned Lanes = HeadBytes / KeepW
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  mac_addr_t        mac_i,      // This port's, steady. No group's.

  input  logic             valid_i,
  input  logic [DataW-1:0] data_i,
  input  logic [KeepW-1:0] keep_i,
  input  logic             last_i,
  input  logic             bad_i,

  output logic             valid_o,
  output logic             first_o,
  output logic [DataW-1:0] data_o,
  output logic             last_o,
  output logic [Lanes-1:0] lane_o,     // Which word of the head it is, if one.
  output logic             payload_o,  // It is a word of payload, or stands for one that means nothing where there is
  output logic             ends_o,     // none; and the last one.
  output faults_t          faults_o    // With last_o, but for no_room.
);
  localparam int unsigned SrcLane = 11 / KeepW;
  localparam int unsigned TypeLane = 12 / KeepW;
  localparam int unsigned KindLane = HeaderKindOffset / KeepW;
  localparam int unsigned LengthLane = HeaderLengthOffset / KeepW;
  localparam int unsigned LifeLane = HeaderSrcEpochOffset / KeepW;

  logic now_valid, now_first, now_last, now_bad, no_ethernet, no_header, empty, is_short;
  logic [DataW-1:0] now_data, unused_next;
  logic [Lanes-1:0] now_lane;
  logic [15:0] length, length_q;
  rl_wire_walk #(
    .DataW(DataW),
    .HeadBytes(HeadBytes),
    .NeedBytes(HeadBytes),
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
    .now_no_need_o(no_header),
    .now_length_i(length),
    .now_empty_i(empty),
    .valid_o,
    .first_o,
    .data_o,
    .next_o(unused_next),
    .last_o,
    .lane_o,
    .payload_o,
    .ends_o,
    .end_i(17'(length_q) + 17'(HeadBytes - 1)),
    .short_o(is_short)
  );

  function automatic logic [7:0] byte_of(logic [DataW-1:0] beat, int unsigned at);
    return beat[8*(at%KeepW)+:8];
  endfunction
  function automatic logic [15:0] pair_of(logic [DataW-1:0] beat, int unsigned at);
    return {byte_of(beat, at), byte_of(beat, at + 1)};
  endfunction
  // What the head's bytes have to be, if anything, and what is wrong if one is not. The source is our own as long as
  // all of its bytes are.
  faults_t passing;
  logic [7:0] kind, flags;
  logic own_q, own;
  assign kind = byte_of(now_data, HeaderKindOffset);
  assign flags = byte_of(now_data, HeaderVersionFlagsOffset);
  always_comb begin
    own = now_first || own_q;
    for (int unsigned i = 0; i < 6; i++)
    if (now_lane[(6+i)/KeepW]) own &= byte_of(now_data, 6 + i) == mac_i[8*(5-i)+:8];
    passing = '0;
    if (now_lane[6/KeepW]) passing.looped |= now_data[8*(6%KeepW)];
    if (now_lane[SrcLane]) passing.looped |= own;
    if (now_lane[TypeLane]) passing.foreign = pair_of(now_data, 12) != EtherTypeLink;
    if (now_lane[HeaderVersionFlagsOffset/KeepW]) begin
      passing.version = flags[7:4] != Version;
      passing.auth = (flags[3:0] & FlagAuth) != '0;
    end
    if (now_lane[KindLane]) passing.kind = kind == '0 || kind > KindLinkFailed;
    if (now_lane[LifeLane]) passing.malformed = now_data[8*(HeaderSrcEpochOffset%KeepW)+:32] == '0;
    if (now_last) begin
      passing.damaged = now_bad;
      passing.no_ethernet = no_ethernet;
      passing.no_header = no_header;
    end
  end

  // -- what is wrong so far, and what the header says
  logic bare, bare_q, unack_q;
  faults_t faults_q;
  assign length = pair_of(now_data, HeaderLengthOffset);
  assign bare = now_lane[KindLane] ? is_bare(kind) : bare_q;
  // The bitmap of an acknowledgement goes nowhere: nobody sends one to an end that has not said SELECTIVE.
  assign empty = bare || length == '0;
  always_ff @(posedge clk_i) begin
    if (now_valid) begin
      own_q <= own;
      faults_q <= (now_first ? '0 : faults_q) | passing;
      bare_q <= bare;
      if (now_lane[KindLane]) unack_q <= kind == KindLinkUnack;
      if (now_lane[LengthLane]) length_q <= length;
    end
  end
  always_comb begin
    faults_o = faults_q;
    faults_o.truncated = is_short;
    faults_o.malformed |= bare_q && length_q != '0 && (unack_q || length_q != 16'(SackBytes));
    faults_o.too_long = length_q > 16'(LengthMax);
  end
  logic unused;
  assign unused = ^unused_next;
endmodule
