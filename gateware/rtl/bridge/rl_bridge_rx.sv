// Frames from the network to the transport: those that are whole, sound, for this node and from a peer of it
// (rl_bridge_rx_check). The others vanish and are counted by what is wrong with them.
//
// A frame is stored until its end has been judged: its words behind each other as the payload has them, its header as
// it goes by. So there is a head for each frame that has passed, and one or more words; both come in the order of the
// frames. The network never waits: what finds no room is lost, which the transport makes good.
module rl_bridge_rx
  import rl_bridge_pkg::*;
  import rl_bridge_node_pkg::*;
  import rl_bridge_wire_pkg::*;
  import rl_transport_pkg::segment_t;
#(
  parameter int unsigned DataW = 64,         // 64, 128, 256 or 512.
  parameter int unsigned Nodes = 8,          // A power of two, 2 or more.
  parameter int unsigned LengthMax = 1408,   // Most payload bytes that are taken.
  parameter int unsigned Words = 512,        // Of payloads that wait, a power of two; enough for the longest.
  parameter int unsigned Heads = 16,         // Of frames that wait, a power of two.
  localparam int unsigned KeepW = DataW / 8,
  localparam int unsigned NodeW = $clog2(Nodes),
  localparam int unsigned PeerW = NodeW + $clog2(32'(Channels))
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  mac_addr_t                   mac_i,         // This node's, steady. No group's.

  // -- from the network, which never waits
  input  logic                        valid_i,
  input  logic [DataW-1:0]            data_i,        // Byte 0 of the frame is [7:0] of the first word.
  input  logic [KeepW-1:0]            keep_i,        // With last_i: ones from bit 0 on. Else not looked at.
  input  logic                        last_i,
  input  logic                        bad_i,         // With last_i: the check sequence was wrong.

  // -- rl_bridge_peers
  output logic                        find_o,
  output mac_addr_t                   find_mac_o,
  input  logic                        found_i,
  input  logic [NodeW-1:0]            found_node_i,

  // -- to the transport: a head for each frame,
  output logic                        head_valid_o,
  input  logic                        head_ready_i,
  output logic [PeerW-1:0]            head_peer_o,   // Node and channel.
  output segment_t                    head_segment_o,
  output head_t                       head_desc_o,   // Of KindData.
  // and its words
  output logic                        valid_o,
  input  logic                        ready_i,
  output logic [DataW-1:0]            data_o,
  output logic                        last_o,

  // -- what became of each frame, for one cycle
  output logic                        judged_o,
  output verdict_e                    verdict_o,
  input  logic [$clog2(Verdicts)-1:0] count_of_i,
  output logic [31:0]                 count_o        // How many frames became that.
);
  localparam int unsigned Lanes = (HeadBytes + KeepW - 1) / KeepW;
  // Bytes of the word that ends the head which are the head's.
  localparam int unsigned Shared = HeadBytes % KeepW;
  if (Words * KeepW < LengthMax) begin : gen_check
    $fatal(0, "rl_bridge_rx: the longest payload must fit (%m)");
  end

  logic word, first, last, payload, ends, commit, rollback;
  logic [DataW-1:0] data, next, aligned;
  logic [Lanes-1:0] lane;
  faults_t found_faults, faults;
  rl_bridge_rx_check #(
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
    .find_o,
    .find_mac_o,
    .found_i,
    .valid_o(word),
    .first_o(first),
    .data_o(data),
    .next_o(next),
    .last_o(last),
    .lane_o(lane),
    .payload_o(payload),
    .ends_o(ends),
    .faults_o(found_faults)
  );

  if (Shared == 0) begin : gen_whole
    logic unused;
    assign aligned = data;
    assign unused = ^next;
  end else begin : gen_shared
    logic unused;
    assign aligned = {next[8*Shared-1:0], data[DataW-1:8*Shared]};
    assign unused = ^next[DataW-1:8*Shared];
  end

  // -- room: what found none once is lost as a whole
  logic words_full, heads_full, lost_q, lost;
  assign lost = (!first && lost_q) || (payload && words_full) || (|lane && heads_full);
  always_comb begin
    faults = found_faults;
    faults.no_room = lost;
  end
  assign commit = word && last && faults == '0;
  assign rollback = word && last && faults != '0;
  always_ff @(posedge clk_i) if (word) lost_q <= lost;

  rl_bridge_rx_words #(
    .DataW(DataW),
    .Words(Words)
  ) u_words (
    .clk_i,
    .rst_ni,
    .word_i(word && payload),
    .data_i(aligned),
    .last_i(ends),
    .full_o(words_full),
    .commit_i(commit),
    .rollback_i(rollback),
    .valid_o,
    .ready_i,
    .data_o,
    .last_o
  );

  logic [NodeW-1:0] node;
  header_t header;
  rl_bridge_rx_heads #(
    .DataW(DataW),
    .Heads(Heads),
    .NodeW(NodeW)
  ) u_heads (
    .clk_i,
    .rst_ni,
    .lane_i(word ? lane : '0),
    .data_i(data),
    .full_o(heads_full),
    .commit_i(commit),
    .commit_node_i(found_node_i),
    .valid_o(head_valid_o),
    .ready_i(head_ready_i),
    .node_o(node),
    .header_o(header)
  );
  assign head_peer_o = {node, header.channel[PeerW-NodeW-1:0]};
  assign head_segment_o = segment_of(header);
  assign head_desc_o = desc_of(header);

  // -- counts
  logic ended_q;
  faults_t faults_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      ended_q <= 1'b0;
      judged_o <= 1'b0;
    end else begin
      ended_q <= word && last;
      judged_o <= ended_q;
    end
  end
  always_ff @(posedge clk_i) begin
    faults_q <= faults;
    verdict_o <= verdict_of(faults_q);
  end
  rl_bridge_tally #(
    .Kinds(Verdicts)
  ) u_tally (
    .clk_i,
    .rst_ni,
    .happened_i(judged_o),
    .kind_i(verdict_o),
    .count_of_i,
    .count_o
  );

  logic unused;
  assign unused = ^{header.version_flags, header.channel};
endmodule
