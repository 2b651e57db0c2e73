// Writes of a manager to the memory of other nodes: AXI4 in, write requests out. A burst is answered when all of its
// pieces are, in the order of bursts, whatever their ids: with the first error if one was refused, has failed or was
// not answered within the bound. What other pieces have written stays. A piece may be of several bursts; then its fate
// is that of each.
module rl_bridge_ask_write
  import rl_bridge_pkg::*;
  import rl_bridge_node_pkg::*;
  import rl_role_pkg::remote_e;
#(
  parameter int unsigned DataW = 512,
  parameter int unsigned AddrW = 48,
  parameter int unsigned IdW = 6,
  parameter int unsigned Longest = 4096,
  parameter int unsigned Words = 256,     // As rl_bridge_pieces says.
  parameter bit          Joins = 1'b0,
  parameter int unsigned Slots = 32,      // Requests under way: half of TRANSACTIONS at most.
  parameter logic [7:0]  Patience = 4,    // As rl_bridge_slots says.
  localparam int unsigned Bytes = DataW / 8
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic [9:0]        seed_i,
  input  logic [7:0]        now_i,
  input  logic              moved_i,       // A region changes.

  input  logic              awvalid_i,
  output logic              awready_o,
  input  logic [IdW-1:0]    awid_i,
  input  logic [AddrW-1:0]  awaddr_i,
  input  logic [7:0]        awlen_i,
  input  logic [2:0]        awsize_i,
  input  logic [1:0]        awburst_i,
  input  logic              wvalid_i,
  output logic              wready_o,
  input  logic [DataW-1:0]  wdata_i,
  input  logic [Bytes-1:0]  wstrb_i,
  input  logic              wlast_i,
  output logic              bvalid_o,
  input  logic              bready_i,
  output logic [IdW-1:0]    bid_o,
  output remote_e           bresp_o,

  // -- rl_bridge_map
  output logic              map_valid_o,
  output logic [AddrW-1:0]  map_addr_o,
  input  logic              map_done_i,
  input  logic              map_hit_i,
  input  node_t             map_node_i,
  input  logic [63:0]       map_remote_i,

  // -- lives of nodes
  output node_t             asked_node_o,
  input  logic [3:0]        asked_life_i,
  input  logic [3:0]        answer_life_i,
  output node_t             ended_node_o,
  input  logic [3:0]        ended_life_i,

  // -- requests: a head, and beats
  output logic              q_valid_o,
  input  logic              q_ready_i,
  input  logic              q_refused_i,
  output node_t             q_node_o,
  output head_t             q_head_o,
  output logic              w_valid_o,
  input  logic              w_ready_i,
  output logic [DataW-1:0]  w_data_o,
  output logic              w_last_o,

  // -- answers whose id says that they are to writes; taken at once
  input  logic              x_valid_i,
  output logic              x_ready_o,
  input  node_t             x_node_i,
  input  head_t             x_head_i,
  input  logic              x_last_i,
  output logic              stray_o,       // One came to nothing that was asked.
  output logic              holds_o        // Something that leads to a node has not left.
);
  localparam int unsigned EndsW = Joins ? 4 : 1;
  localparam int unsigned BeatW = $clog2(Longest / Bytes + 1);
  typedef logic [EndsW-1:0] ends_t;
  typedef logic [BeatW-1:0] beats_t;
  typedef struct packed {
    logic [IdW-1:0] id;
    ends_t          ends;
    logic           last;
  } side_t;
  logic piece_valid, piece_take, piece_last, piece_bad, word_valid, word_take;
  logic [15:0] length;
  beats_t beats;
  ends_t piece_ends;
  logic [IdW-1:0] id;
  logic [63:0] addr;
  node_t node;
  // -- a request at a time
  typedef enum logic [1:0] {
    Rests,
    Offers,
    Sends,
    Skips  // It found no room until it was too late.
  } state_e;
  state_e state_q;
  logic begins, full, late, ends, goes_nowhere, grows;
  logic [15:0] slot_id;
  beats_t left_q;
  rl_bridge_pieces #(
    .DataW(DataW),
    .AddrW(AddrW),
    .IdW(IdW),
    .Longest(Longest),
    .Words(Words),
    .Joins(Joins),
    .EndsW(EndsW)
  ) u_pieces (
    .clk_i,
    .rst_ni,
    .moved_i,
    .busy_i(state_q != Rests || full),
    .awvalid_i,
    .awready_o,
    .awid_i,
    .awaddr_i,
    .awlen_i,
    .awsize_i,
    .awburst_i,
    .wvalid_i,
    .wready_o,
    .wdata_i,
    .wstrb_i,
    .wlast_i,
    .map_valid_o,
    .map_addr_o,
    .map_done_i,
    .map_hit_i,
    .map_node_i,
    .map_remote_i,
    .piece_valid_o(piece_valid),
    .piece_take_i(piece_take),
    .piece_node_o(node),
    .piece_addr_o(addr),
    .piece_length_o(length),
    .piece_beats_o(beats),
    .piece_id_o(id),
    .piece_ends_o(piece_ends),
    .piece_last_o(piece_last),
    .piece_bad_o(piece_bad),
    .holds_o(grows),
    .word_valid_o(word_valid),
    .word_take_i(word_take),
    .word_o(w_data_o)
  );
  assign goes_nowhere = piece_bad || length == 0;
  assign begins = state_q == Rests && piece_valid && !full;
  assign piece_take = begins;
  assign asked_node_o = node;
  assign q_valid_o = state_q == Offers;
  assign holds_o = grows || state_q != Rests;
  assign w_valid_o = state_q == Sends && word_valid;
  assign w_last_o = left_q == beats_t'(1);
  assign word_take = (state_q == Sends && w_ready_i) || state_q == Skips;
  assign ends = word_valid && word_take && w_last_o;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) state_q <= Rests;
    else begin
      case (state_q)
        Rests: if (begins && !goes_nowhere) state_q <= Offers;
        Offers: begin
          if (q_ready_i) state_q <= Sends;
          else if (q_refused_i && late) state_q <= Skips;
        end
        default: if (ends) state_q <= Rests;
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    if (begins) begin
      q_node_o <= node;
      q_head_o <= '0;
      q_head_o.kind <= short_of(KindWriteRequest);
      q_head_o.length <= length;
      q_head_o.id <= slot_id;
      q_head_o.addr <= addr;
      left_q <= beats;
    end else if (word_valid && word_take) left_q <= left_q - 1'b1;
  end

  // -- answers
  logic answers, ended, take, verdict_q, answer_ends, unused_back;
  remote_e fate, fate_q, ended_fate;
  side_t side;
  assign x_ready_o = verdict_q;
  assign answer_ends = verdict_q && x_valid_i && x_last_i && answers;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) verdict_q <= 1'b0;
    else verdict_q <= verdict_q ? !(x_valid_i && x_last_i) : x_valid_i;
    stray_o <= rst_ni && verdict_q && x_valid_i && x_last_i && !answers;
    fate_q <= fate;
  end
  rl_bridge_slots #(
    .Slots(Slots),
    .Writes(1'b1),
    .SideW($bits(side_t)),
    .BackW(1),
    .Patience(Patience)
  ) u_slots (
    .clk_i,
    .rst_ni,
    .seed_i,
    .now_i,
    .begin_i(begins),
    .full_o(full),
    .id_o(slot_id),
    .node_i(node),
    .life_i(asked_life_i),
    .addr_i(addr),
    .count_i(length),
    .ends_i(goes_nowhere),
    .fate_i(piece_bad ? rl_role_pkg::RemoteNowhere : rl_role_pkg::RemoteOkay),
    .side_i({id, piece_ends, piece_last}),
    .back_i(1'b0),
    .late_o(late),
    .answer_i(x_head_i),
    .answer_node_i(x_node_i),
    .answer_life_i,
    .answers_o(answers),
    .fate_o(fate),
    .back_o(unused_back),
    .answer_ends_i(answer_ends),
    .answer_fate_i(fate_q),
    .ended_o(ended),
    .ended_node_o,
    .ended_life_i,
    .ended_fate_o(ended_fate),
    .side_o(side),
    .take_i(take)
  );

  // -- out: the answers to the bursts that end in the oldest piece. The first may have failed in a piece before.
  logic says;
  remote_e
      all_q, carried_q, worst;  // Of the piece that says, and of a burst that goes on behind it.
  ends_t left_b_q;
  assign bvalid_o = left_b_q != '0;
  assign says = bvalid_o && bready_i;
  assign take = ended && (!bvalid_o || (says && left_b_q == ends_t'(1)));
  assign worst = carried_q != rl_role_pkg::RemoteOkay ? carried_q : ended_fate;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      left_b_q <= '0;
      carried_q <= rl_role_pkg::RemoteOkay;
    end else begin
      if (take) begin
        left_b_q <= side.ends;
        carried_q <= side.last ? rl_role_pkg::RemoteOkay : side.ends == '0 ? worst : ended_fate;
      end else if (says) left_b_q <= left_b_q - 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (take) begin
      bid_o <= side.id;
      all_q <= ended_fate;
    end
    if (take || says) bresp_o <= take ? worst : all_q;
  end
  logic unused;
  assign unused = unused_back;
endmodule
