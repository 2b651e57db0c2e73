// Frames that have come and were judged, to the transport: their words behind each other as the payload has them, their
// headers as they go by. So there is a head for each frame that has passed, and one or more words; both come in the
// order of the frames.
//
// A frame is stored until its end has been judged, so no word of a damaged one is ever seen. The wire never waits: what
// finds no room is lost as a whole, which the transport makes good.
module rl_wire_rx #(
  parameter int unsigned DataW = 64,
  parameter int unsigned LengthMax = 1408,  // Most payload bytes that are taken.
  parameter int unsigned Words = 512,       // Of payloads that wait, a power of two; enough for the longest.
  parameter int unsigned Heads = 16,        // Of frames that wait, a power of two.
  parameter int unsigned Start = 14,        // As rl_wire_heads says.
  parameter int unsigned End = 64,
  parameter int unsigned SideW = 1,
  parameter int unsigned Verdicts = 16,     // A power of two.
  localparam int unsigned KeepW = DataW / 8,
  localparam int unsigned Lanes = (End + KeepW - 1) / KeepW,
  localparam int unsigned VerdictW = $clog2(Verdicts)
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,

  // -- words, as rl_wire_walk gives them
  input  logic                     valid_i,
  input  logic                     first_i,
  input  logic [DataW-1:0]         data_i,
  input  logic [DataW-1:0]         next_i,
  input  logic                     last_i,
  input  logic [Lanes-1:0]         lane_i,
  input  logic                     payload_i,
  input  logic                     ends_i,
  input  logic                     sound_i,        // With last_i: the frame passes, if it has room,
  input  logic [SideW-1:0]         side_i,         // and this stands beside its header.
  output logic                     no_room_o,      // With last_i.
  input  logic [VerdictW-1:0]      verdict_i,      // What becomes of it: in the cycle after last_i.

  // -- to the transport: a head for each frame,
  output logic                     head_valid_o,
  input  logic                     head_ready_i,
  output logic [SideW-1:0]         head_side_o,
  output logic [8*(End-Start)-1:0] head_o,
  // and its words
  output logic                     valid_o,
  input  logic                     ready_i,
  output logic [DataW-1:0]         data_o,
  output logic                     last_o,

  // -- what became of each frame, for one cycle
  output logic                     judged_o,
  output logic [VerdictW-1:0]      verdict_o,
  input  logic [VerdictW-1:0]      count_of_i,
  output logic [31:0]              count_o         // How many frames became that.
);
  localparam int unsigned Shared = End % KeepW;  // Bytes of the word that ends the head which are the head's.
  if (Words * KeepW < LengthMax) begin : gen_check
    $fatal(0, "rl_wire_rx: the longest payload must fit (%m)");
  end

  logic [DataW-1:0] aligned;
  if (Shared == 0) begin : gen_whole
    logic unused;
    assign aligned = data_i;
    assign unused = ^next_i;
  end else begin : gen_shared
    logic unused;
    assign aligned = {next_i[8*Shared-1:0], data_i[DataW-1:8*Shared]};
    assign unused = ^next_i[DataW-1:8*Shared];
  end

  // -- room: what found none once is lost as a whole
  logic words_full, heads_full, lost_q, commit, rollback;
  assign no_room_o = (!first_i && lost_q) || (payload_i && words_full) || (|lane_i && heads_full);
  assign commit = valid_i && last_i && sound_i && !no_room_o;
  assign rollback = valid_i && last_i && !commit;
  always_ff @(posedge clk_i) if (valid_i) lost_q <= no_room_o;

  rl_wire_words #(
    .DataW(DataW),
    .Words(Words)
  ) u_words (
    .clk_i,
    .rst_ni,
    .word_i(valid_i && payload_i),
    .data_i(aligned),
    .last_i(ends_i),
    .full_o(words_full),
    .commit_i(commit),
    .rollback_i(rollback),
    .valid_o,
    .ready_i,
    .data_o,
    .last_o
  );
  rl_wire_heads #(
    .DataW(DataW),
    .Heads(Heads),
    .Start(Start),
    .End(End),
    .SideW(SideW)
  ) u_heads (
    .clk_i,
    .rst_ni,
    .lane_i(valid_i ? lane_i : '0),
    .data_i,
    .full_o(heads_full),
    .commit_i(commit),
    .commit_side_i(side_i),
    .valid_o(head_valid_o),
    .ready_i(head_ready_i),
    .side_o(head_side_o),
    .header_o(head_o)
  );

  // -- counts
  logic ended_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      ended_q <= 1'b0;
      judged_o <= 1'b0;
    end else begin
      ended_q <= valid_i && last_i;
      judged_o <= ended_q;
    end
  end
  always_ff @(posedge clk_i) verdict_o <= verdict_i;
  rl_wire_tally #(
    .Kinds(Verdicts)
  ) u_tally (
    .clk_i,
    .rst_ni,
    .happened_i(judged_o),
    .kind_i(verdict_o),
    .count_of_i,
    .count_o
  );
endmodule
