// Reads of a manager at the memory of other nodes: AXI4 in, read requests out, and what comes back in the order of the
// bursts, whatever their ids. There is room for all that was asked for, so that answers are taken at once.
//
// A burst that is longer than a message goes as several requests. One that continues the burst before it
// (rl_bridge_chain) joins it if it comes before that has been asked for, which never waits for it: both are asked for
// as if they were one. Where a burst ends matters again on the way out.
//
// Bursts that there cannot be, and those of no region, get as many beats as they ask for, with an error. So do what is
// refused or fails, and what is not answered within the bound: of one request, its beats.
module rl_bridge_ask_read
  import rl_bridge_pkg::*;
  import rl_bridge_node_pkg::*;
  import rl_role_pkg::remote_e;
#(
  parameter int unsigned DataW = 512,
  parameter int unsigned AddrW = 48,
  parameter int unsigned IdW = 6,
  parameter int unsigned Longest = 4096,  // Bytes of an answer, a multiple of a beat.
  parameter int unsigned Words = 512,     // Of the store, a power of two: 256 or more, and a longest answer.
  parameter bit          Joins = 1'b0,
  parameter int unsigned Slots = 32,      // Requests under way: half of TRANSACTIONS at most.
  parameter logic [7:0]  Patience = 4     // As rl_bridge_slots says.
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic [9:0]        seed_i,
  input  logic [7:0]        now_i,
  input  logic              moved_i,       // A region changes.

  input  logic              arvalid_i,
  output logic              arready_o,
  input  logic [IdW-1:0]    arid_i,
  input  logic [AddrW-1:0]  araddr_i,
  input  logic [7:0]        arlen_i,
  input  logic [2:0]        arsize_i,
  input  logic [1:0]        arburst_i,
  output logic              rvalid_o,
  input  logic              rready_i,
  output logic [IdW-1:0]    rid_o,
  output logic [DataW-1:0]  rdata_o,
  output remote_e           rresp_o,
  output logic              rlast_o,

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

  // -- requests: a head, whose one word means nothing
  output logic              q_valid_o,
  input  logic              q_ready_i,
  input  logic              q_refused_i,
  output node_t             q_node_o,
  output head_t             q_head_o,

  // -- answers whose id says that they are to reads, as beats; taken at once
  input  logic              x_valid_i,
  output logic              x_ready_o,
  input  node_t             x_node_i,
  input  head_t             x_head_i,
  input  logic [DataW-1:0]  x_data_i,
  input  logic              x_last_i,
  output logic              stray_o,       // One came to nothing that was asked.
  output logic              holds_o        // Something that leads to a node has not left.
);
  localparam int unsigned Bytes = DataW / 8;
  localparam int unsigned FineW = $clog2(Bytes);
  localparam int unsigned WordW = $clog2(Words);
  localparam int unsigned Most = Longest / Bytes;  // Beats of a request.
  localparam int unsigned Page = 4096 / Bytes;  // Beats of a page: no more are joined.
  localparam int unsigned BeatW = $clog2((Page > 256 ? Page : 256) + 1);
  typedef logic [WordW-1:0] word_t;
  typedef logic [BeatW-1:0] beats_t;
  typedef struct packed {
    word_t  base;
    beats_t beats;
  } back_t;
  typedef struct packed {
    logic [IdW-1:0] id;
    logic [7:0]     len;
  } burst_t;

  // -- bursts that come. Whether one joins is said of one that has been taken off the port: the port's outputs follow
  // from no input.
  typedef struct packed {
    logic [IdW-1:0]   id;
    logic [AddrW-1:0] addr;
    logic [7:0]       len;
    logic [2:0]       size;
    logic [1:0]       burst;
  } ask_t;
  ask_t ask;
  logic ask_valid, ask_may, ask_take;
  if (Joins) begin : gen_stage
    logic valid_q;
    ask_t ask_q;
    assign arready_o = !valid_q || ask_may;
    assign ask_valid = valid_q;
    assign ask = ask_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) valid_q <= 1'b0;
      else if (arready_o) valid_q <= arvalid_i;
    end
    always_ff @(posedge clk_i)
      if (arready_o)
        ask_q <= {arid_i, araddr_i, arlen_i, arsize_i, arburst_i};
  end else begin : gen_no_stage
    assign arready_o = ask_may;
    assign ask_valid = arvalid_i;
    assign ask = {arid_i, araddr_i, arlen_i, arsize_i, arburst_i};
  end
  logic bad, follows, bursts_room;
  rl_bridge_chain #(
    .DataW(DataW),
    .AddrW(AddrW),
    .IdW(IdW),
    .Joins(Joins)
  ) u_chain (
    .clk_i,
    .rst_ni,
    .moved_i,
    .take_i(ask_take),
    .id_i(ask.id),
    .addr_i(ask.addr),
    .len_i(ask.len),
    .size_i(ask.size),
    .burst_i(ask.burst),
    .bad_o(bad),
    .follows_o(follows)
  );

  // -- what is asked for, request by request
  typedef enum logic [1:0] {
    Rests,
    Maps,
    Begins,
    Offers
  } state_e;
  state_e state_q;
  logic bad_q, full, begins, joins, late, has_room;
  logic [AddrW-1:0] addr_q;
  logic [2:0] size_q;
  beats_t left_q, left, beats;
  logic [63:0] remote_q;
  node_t node_q;
  logic [15:0] slot_id, bytes;
  logic [FineW-1:0] offset, tail, narrow;
  logic [WordW:0] held_q;
  word_t end_q;
  beats_t ended_beats;
  back_t back, answer_back;
  assign ask_may = bursts_room && (state_q == Rests || follows);
  assign ask_take = ask_valid && ask_may;
  assign joins = ask_take && state_q != Rests;
  assign map_valid_o = state_q == Maps;
  assign map_addr_o = addr_q;
  // A single beat may be narrow: bytes from its address to the end of its lanes.
  assign offset = remote_q[FineW-1:0];
  assign tail = FineW'((32'd1 << size_q) - 1);
  assign beats = 32'(left_q) > Most ? beats_t'(Most) : left_q;
  assign left = left_q - (begins ? beats : '0) + (joins ? beats_t'(ask.len) + 1'b1 : '0);
  assign narrow = tail & ~offset;
  assign bytes = size_q != 3'(FineW) ? 16'(narrow) + 16'd1 : (16'(beats) << FineW) - 16'(offset);
  assign has_room = 32'(held_q) + 32'(beats) <= Words;
  assign begins = state_q == Begins && !full && has_room;
  assign back = '{base: end_q, beats: beats};
  assign asked_node_o = node_q;
  assign q_valid_o = state_q == Offers;
  assign holds_o = q_valid_o || (state_q == Begins && !bad_q);
  assign q_node_o = node_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) state_q <= Rests;
    else begin
      case (state_q)
        Rests: if (ask_take) state_q <= bad ? Begins : Maps;
        Maps: if (map_done_i) state_q <= Begins;
        Begins: if (begins) state_q <= !bad_q ? Offers : left == 0 ? Rests : Begins;
        default: if (q_ready_i || (q_refused_i && late)) state_q <= left == 0 ? Rests : Begins;
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    left_q <= left;
    if (state_q == Rests) begin
      bad_q <= bad;
      addr_q <= ask.addr;
      size_q <= ask.size;
      left_q <= beats_t'(ask.len) + 1'b1;
    end
    if (state_q == Maps && map_done_i) begin
      bad_q <= !map_hit_i;
      node_q <= map_node_i;
      remote_q <= map_remote_i;
    end
    if (begins) begin
      q_head_o <= '0;
      q_head_o.kind <= short_of(KindReadRequest);
      q_head_o.id <= slot_id;
      q_head_o.addr <= remote_q;
      q_head_o.count <= 32'(bytes);
      remote_q <= remote_q + 64'(bytes);
    end
  end

  logic answers, ended, take, answer_ends, verdict_q;
  remote_e fate, fate_q, ended_fate;
  rl_bridge_slots #(
    .Slots(Slots),
    .SideW(BeatW),
    .BackW($bits(back_t)),
    .Patience(Patience)
  ) u_slots (
    .clk_i,
    .rst_ni,
    .seed_i,
    .now_i,
    .begin_i(begins),
    .full_o(full),
    .id_o(slot_id),
    .node_i(node_q),
    .life_i(asked_life_i),
    .addr_i(remote_q),
    .count_i(bytes),
    .ends_i(bad_q),
    .fate_i(bad_q ? rl_role_pkg::RemoteNowhere : rl_role_pkg::RemoteOkay),
    .side_i(beats),
    .back_i(back),
    .late_o(late),
    .answer_i(x_head_i),
    .answer_node_i(x_node_i),
    .answer_life_i,
    .answers_o(answers),
    .fate_o(fate),
    .back_o(answer_back),
    .answer_ends_i(answer_ends),
    .answer_fate_i(fate_q),
    .ended_o(ended),
    .ended_node_o,
    .ended_life_i,
    .ended_fate_o(ended_fate),
    .side_o(ended_beats),
    .take_i(take)
  );

  // -- answers: what they are to, a cycle, and then their words
  beats_t at_q;
  logic [DataW-1:0] store_data;
  word_t read_q;
  assign x_ready_o = verdict_q;
  assign answer_ends = verdict_q && x_valid_i && x_last_i && answers;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) verdict_q <= 1'b0;
    else verdict_q <= verdict_q ? !(x_valid_i && x_last_i) : x_valid_i;
    stray_o <= rst_ni && verdict_q && x_valid_i && x_last_i && !answers;
    fate_q <= fate;
    at_q <= !verdict_q ? '0 : at_q + beats_t'(x_valid_i && at_q != '1);
  end
  logic fetches;
  rl_ram #(
    .Width(DataW),
    .Depth(Words),
    .Block(1'b1)
  ) u_store (
    .clk_wr_i(clk_i),
    .we_i(verdict_q && x_valid_i && answers && at_q < answer_back.beats),
    .waddr_i(answer_back.base + word_t'(at_q)),
    .wdata_i(x_data_i),
    .clk_rd_i(clk_i),
    .re_i(fetches),
    .raddr_i(read_q),
    .rdata_o(store_data)
  );

  // -- out: the oldest request's beats, which are those of the oldest bursts
  burst_t burst;
  logic bursts_valid, ends_burst;
  logic [$clog2(Slots):0] unused_bursts;
  rl_fifo #(
    .Width($bits(burst_t)),
    .Depth(Slots)
  ) u_bursts (
    .clk_i,
    .rst_ni,
    .wvalid_i(ask_take),
    .wready_o(bursts_room),
    .wdata_i({ask.id, ask.len}),
    .rvalid_o(bursts_valid),
    .rready_i(fetches && ends_burst),
    .rdata_o(burst),
    .count_o(unused_bursts)
  );
  logic out_q;
  remote_e out_fate_q;
  beats_t out_left_q;
  logic [7:0] gone_q;  // Beats of the burst.
  assign take = ended && !out_q;
  assign fetches = out_q && (!rvalid_o || rready_i);
  assign ends_burst = gone_q == burst.len;
  assign rdata_o = store_data;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      out_q <= 1'b0;
      rvalid_o <= 1'b0;
      held_q <= '0;
      end_q <= '0;
      read_q <= '0;
      gone_q <= '0;
    end else begin
      if (take) out_q <= 1'b1;
      else if (fetches && out_left_q == beats_t'(1)) out_q <= 1'b0;
      rvalid_o <= fetches || (rvalid_o && !rready_i);
      if (fetches) begin
        read_q <= read_q + 1'b1;
        gone_q <= ends_burst ? '0 : gone_q + 1'b1;
      end
      if (begins) end_q <= end_q + word_t'(beats);
      held_q <= held_q + (begins ? (WordW + 1)'(beats) : '0) - (WordW + 1)'(fetches);
    end
  end
  always_ff @(posedge clk_i) begin
    if (take) begin
      out_left_q <= ended_beats;
      out_fate_q <= ended_fate;
    end else if (fetches) out_left_q <= out_left_q - 1'b1;
    if (fetches) begin
      rid_o <= burst.id;
      rresp_o <= out_fate_q;
      rlast_o <= ends_burst;
    end
  end

  logic unused;
  assign unused = ^unused_bursts;
`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni && fetches) IsOfABurst_A : assert (bursts_valid);
  end
`endif
endmodule
