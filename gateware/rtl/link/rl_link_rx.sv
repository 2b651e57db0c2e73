// Frames from the cable to the transport: those that are whole, sound and of the link family (rl_link_check). The
// others vanish and are counted by what is wrong with them.
module rl_link_rx
  import rl_link_pkg::*;
  import rl_link_wire_pkg::*;
  import rl_transport_pkg::segment_t;
#(
  parameter int unsigned DataW = 64,         // 64, 128, 256 or 512.
  parameter int unsigned LengthMax = 1408,   // Most payload bytes that are taken.
  parameter int unsigned Words = 512,        // Of payloads that wait, a power of two; enough for the longest.
  parameter int unsigned Heads = 16,         // Of frames that wait, a power of two.
  localparam int unsigned KeepW = DataW / 8
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  mac_addr_t                   mac_i,           // This port's, steady. No group's.

  // -- from the cable, which never waits
  input  logic                        valid_i,
  input  logic [DataW-1:0]            data_i,          // Byte 0 of the frame is [7:0] of the first word.
  input  logic [KeepW-1:0]            keep_i,          // With last_i: ones from bit 0 on. Else not looked at.
  input  logic                        last_i,
  input  logic                        bad_i,           // With last_i: the check sequence was wrong.

  // -- to the transport: a head for each frame,
  output logic                        head_valid_o,
  input  logic                        head_ready_i,
  output segment_t                    head_segment_o,
  output message_t                    head_message_o,  // Of KindData.
  // and its words
  output logic                        valid_o,
  input  logic                        ready_i,
  output logic [DataW-1:0]            data_o,
  output logic                        last_o,

  // -- what became of each frame, for one cycle
  output logic                        judged_o,
  output verdict_e                    verdict_o,
  input  logic [$clog2(Verdicts)-1:0] count_of_i,
  output logic [31:0]                 count_o          // How many frames became that.
);
  localparam int unsigned Lanes = HeadBytes / KeepW;
  logic word, first, last, payload, ends, no_room, unused_side;
  logic [DataW-1:0] data;
  logic [Lanes-1:0] lane;
  faults_t found, faults_q;
  rl_link_check #(
    .DataW(DataW),
    .LengthMax(LengthMax)
  ) u_check (
    .clk_i,
    .rst_ni,
    .mac_i,
    .valid_i,
    .data_i,
    .keep_i,
    .last_i,
    .bad_i,
    .valid_o(word),
    .first_o(first),
    .data_o(data),
    .last_o(last),
    .lane_o(lane),
    .payload_o(payload),
    .ends_o(ends),
    .faults_o(found)
  );

  header_t header;
  logic [$clog2(Verdicts)-1:0] verdict;
  verdict_e judged;
  rl_wire_rx #(
    .DataW(DataW),
    .LengthMax(LengthMax),
    .Words(Words),
    .Heads(Heads),
    .Start(HeaderVersionFlagsOffset),
    .End(HeadBytes),
    .Verdicts(Verdicts)
  ) u_rx (
    .clk_i,
    .rst_ni,
    .valid_i(word),
    .first_i(first),
    .data_i(data),
    .next_i(data),
    .last_i(last),
    .lane_i(lane),
    .payload_i(payload),
    .ends_i(ends),
    .sound_i(found == '0),
    .side_i(1'b0),
    .no_room_o(no_room),
    .verdict_i(judged),
    .head_valid_o,
    .head_ready_i,
    .head_side_o(unused_side),
    .head_o(header),
    .valid_o,
    .ready_i,
    .data_o,
    .last_o,
    .judged_o,
    .verdict_o(verdict),
    .count_of_i,
    .count_o
  );
  always_ff @(posedge clk_i) begin
    faults_q <= found;
    faults_q.no_room <= no_room;
  end
  assign judged = verdict_of(faults_q);
  assign verdict_o = verdict_e'(verdict);
  assign head_segment_o = segment_of(header);
  assign head_message_o = message_of(header);

  logic unused;
  assign unused = ^{header.version_flags, header.reserved, unused_side};
endmodule
