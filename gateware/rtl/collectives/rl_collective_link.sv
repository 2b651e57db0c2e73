// What a card does with one of its links: messages to the neighbour and from it, for programs that say where they are
// in memory. The model is crates/core/collective, but for the programs themselves: who runs these says what begins, and
// learns how each ended.
//
//   puts  ==> rl_collective_put  ==> heads, words ==> \         memory: reads of both,
//   takes ==> rl_collective_take ==> Ready, Done  ==>  rl_link  writes of the latter
//                  <== Data               Ready, Done <== /
//
// A context has one put and one take under way on a link, each with a key of its own. When the link dies, or the
// neighbour begins a new life, all of them end (`over_o`), and what came early is forgotten.
module rl_collective_link
  import rl_link_pkg::*;
  import rl_link_wire_pkg::*;
  import rl_transport_pkg::*;
  import rl_collective_pkg::*;
#(
  parameter int unsigned DataW = 64,       // 64, 128, 256 or 512: of the link's words and of memory's.
  parameter int unsigned Longest = 1408,   // As rl_link says,
  parameter int unsigned Words = 4096,
  parameter int unsigned RxWords = 512,
  parameter int unsigned PutWords = 512,   // and rl_collective_put.
  parameter int unsigned Burst = 16,
  localparam int unsigned KeepW = DataW / 8,
  localparam int unsigned FineW = $clog2(KeepW)
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  mac_addr_t                   mac_i,               // As rl_link says.
  input  mac_addr_t                   card_mac_i,
  input  logic [7:0]                  port_i,
  input  epoch_t                      epoch_i,
  input  tick_t                       rto_i,
  input  tick_t                       patience_i,
  input  logic                        tick_i,
  input  logic [39:0]                 early_i,             // As rl_collective_take says.

  // -- programs
  input  logic                        put_valid_i,
  output logic                        put_ready_o,
  input  move_t                       put_i,
  input  logic                        take_valid_i,
  output logic                        take_ready_o,
  input  move_t                       take_i,
  input  logic [Slots-1:0]            cancel_i,            // These contexts' puts and takes are no more.
  output logic [Slots-1:0]            puts_open_o,
  output logic [Slots-1:0]            takes_open_o,
  output logic                        put_end_valid_o,     // For one cycle each.
  output end_t                        put_end_o,
  output logic                        take_end_valid_o,
  output end_t                        take_end_o,
  output logic                        over_o,              // All that is open has ended, by this cause.
  output cause_e                      over_cause_o,
  output logic                        failed_valid_o,      // A program of the neighbour's has failed,
  input  logic                        failed_ready_i,
  output message_t                    failed_o,            // of this operation.
  input  logic                        say_valid_i,         // A word that one of ours has.
  output logic                        say_ready_o,
  input  message_t                    say_i,
  output logic                        stray_o,             // What came went nowhere. For one cycle.
  output logic                        rests_o,             // Nothing is under way to memory.

  // -- memory: AXI4 with one id
  output logic                        aw_valid_o,
  input  logic                        aw_ready_i,
  output logic [39:0]                 aw_addr_o,
  output logic [7:0]                  aw_len_o,
  output logic                        w_valid_o,
  input  logic                        w_ready_i,
  output logic [DataW-1:0]            w_data_o,
  output logic [KeepW-1:0]            w_strb_o,
  output logic                        w_last_o,
  input  logic                        b_valid_i,           // Taken at once, as what is read.
  input  logic [1:0]                  b_resp_i,
  output logic                        ar_valid_o,
  input  logic                        ar_ready_i,
  output logic [39:0]                 ar_addr_o,
  output logic [7:0]                  ar_len_o,
  input  logic                        r_valid_i,
  input  logic [DataW-1:0]            r_data_i,
  input  logic [1:0]                  r_resp_i,
  input  logic                        r_last_i,

  // -- the neighbour, and the cable: as rl_link says
  input  logic                        asks_i,              // Somebody asks who is there.
  output logic                        up_o,
  output logic                        neighbour_valid_o,
  output mac_addr_t                   neighbour_mac_o,
  output logic [7:0]                  neighbour_port_o,
  output logic                        out_valid_o,
  input  logic                        out_ready_i,
  output logic [DataW-1:0]            out_data_o,
  output logic [KeepW-1:0]            out_keep_o,
  output logic                        out_last_o,
  input  logic                        in_valid_i,
  input  logic [DataW-1:0]            in_data_i,
  input  logic [KeepW-1:0]            in_keep_i,
  input  logic                        in_last_i,
  input  logic                        in_bad_i,
  input  logic [$clog2(Verdicts)-1:0] count_of_i,
  output logic [31:0]                 count_o,
  output transport_event_t            event_o
);
  localparam int unsigned BeatW = 40 - FineW;

  logic word_valid, word_ready, head_valid, head_ready, data_valid, data_ready, data_last;
  logic come_valid, come_ready, come_last, dead, restarted, ends;
  message_t word, take_word, head, come;
  logic [DataW-1:0] data, come_data;
  rl_link #(
    .DataW(DataW),
    .Longest(Longest),
    .Words(Words),
    .RxWords(RxWords)
  ) u_link (
    .clk_i,
    .rst_ni,
    .mac_i,
    .card_mac_i,
    .port_i,
    .epoch_i,
    .rto_i,
    .patience_i,
    .tick_i,
    .word_valid_i(word_valid),
    .word_ready_o(word_ready),
    .word_i(word),
    .head_valid_i(head_valid),
    .head_ready_o(head_ready),
    .head_i(head),
    .data_valid_i(data_valid),
    .data_ready_o(data_ready),
    .data_i(data),
    .data_last_i(data_last),
    .come_valid_o(come_valid),
    .come_ready_i(come_ready),
    .come_o(come),
    .come_data_o(come_data),
    .come_last_o(come_last),
    .awaited_i(asks_i || puts_open_o != '0 || takes_open_o != '0),
    .up_o,
    .neighbour_valid_o,
    .neighbour_mac_o,
    .neighbour_port_o,
    .dead_o(dead),
    .restarted_o(restarted),
    .out_valid_o,
    .out_ready_i,
    .out_data_o,
    .out_keep_o,
    .out_last_o,
    .in_valid_i,
    .in_data_i,
    .in_keep_i,
    .in_last_i,
    .in_bad_i,
    .count_of_i,
    .count_o,
    .event_o
  );
  assign ends = dead || restarted;
  assign over_o = ends;
  assign over_cause_o = dead ? LinkDead : Restarted;
  // Nothing begins in the cycle in which all ends.
  logic put_ready, take_ready;
  assign put_ready_o = put_ready && !ends;
  assign take_ready_o = take_ready && !ends;

  // -- what has come: Data to takes, words of takes to puts, and what a program's failure is to whoever runs ours.
  // Bytes behind a word mean nothing.
  logic is_data, is_said, said_valid, said_ready, take_come_ready, stray_data;
  assign is_data = come.kind == 4'(KindLinkData);
  assign is_said = come.kind == 4'(KindLinkReady) || come.kind == 4'(KindLinkDone);
  assign said_valid = come_valid && is_said && come_last;
  assign come_ready = is_data ? take_come_ready : !come_last || (is_said ? said_ready : failed_ready_i);
  assign failed_valid_o = come_valid && !is_data && !is_said && come_last;
  assign failed_o = come;
  assign stray_o = stray_data;

  // -- words: what is offered stays
  logic take_word_valid, says, says_q, offers_q;
  assign says = offers_q ? says_q : say_valid_i;
  assign word_valid = says ? say_valid_i : take_word_valid;
  assign word = says ? say_i : take_word;
  assign say_ready_o = says && word_ready;
  always_ff @(posedge clk_i) begin
    offers_q <= rst_ni && word_valid && !word_ready;
    says_q <= says;
  end

  // Reads: puts first.
  logic [1:0] read_valid, read_ready, read_comes;
  logic [1:0][BeatW-1:0] read_beats;
  logic [1:0][7:0] read_lens;
  logic [BeatW-1:0] ar_beat;
  rl_collective_reads #(
    .BeatW(BeatW)
  ) u_reads (
    .clk_i,
    .rst_ni,
    .s_valid_i(read_valid),
    .s_ready_o(read_ready),
    .s_beat_i(read_beats),
    .s_len_i(read_lens),
    .s_come_o(read_comes),
    .ar_valid_o,
    .ar_ready_i,
    .ar_beat_o(ar_beat),
    .ar_len_o,
    .r_valid_i,
    .r_last_i
  );
  assign ar_addr_o = {ar_beat, FineW'(0)};
  rl_collective_put #(
    .DataW(DataW),
    .Longest(Longest),
    .Words(PutWords),
    .Burst(Burst)
  ) u_put (
    .clk_i,
    .rst_ni,
    .start_valid_i(put_valid_i && !ends),
    .start_ready_o(put_ready),
    .start_i(put_i),
    .end_valid_o(put_end_valid_o),
    .end_o(put_end_o),
    .open_o(puts_open_o),
    .cancel_i(ends ? '1 : cancel_i),
    .forget_i(ends),
    .said_valid_i(said_valid),
    .said_ready_o(said_ready),
    .said_i(come),
    .ar_valid_o(read_valid[0]),
    .ar_ready_i(read_ready[0]),
    .ar_beat_o(read_beats[0]),
    .ar_len_o(read_lens[0]),
    .r_valid_i(read_comes[0]),
    .r_data_i,
    .r_failed_i(r_resp_i != '0),
    .r_last_i,
    .head_valid_o(head_valid),
    .head_ready_i(head_ready),
    .head_o(head),
    .data_valid_o(data_valid),
    .data_ready_i(data_ready),
    .data_o(data),
    .data_last_o(data_last)
  );

  rl_collective_take #(
    .DataW(DataW),
    .Burst(Burst)
  ) u_take (
    .clk_i,
    .rst_ni,
    .early_i,
    .start_valid_i(take_valid_i && !ends),
    .start_ready_o(take_ready),
    .start_i(take_i),
    .end_valid_o(take_end_valid_o),
    .end_o(take_end_o),
    .open_o(takes_open_o),
    .cancel_i(ends ? '1 : cancel_i),
    .forget_i(ends),
    .stray_o(stray_data),
    .rests_o,
    .come_valid_i(come_valid && is_data),
    .come_ready_o(take_come_ready),
    .come_i(come),
    .data_i(come_data),
    .last_i(come_last),
    .word_valid_o(take_word_valid),
    .word_ready_i(!says && word_ready),
    .word_o(take_word),
    .aw_valid_o,
    .aw_ready_i,
    .aw_addr_o,
    .aw_len_o,
    .w_valid_o,
    .w_ready_i,
    .w_data_o,
    .w_strb_o,
    .w_last_o,
    .b_valid_i,
    .b_resp_i,
    .ar_valid_o(read_valid[1]),
    .ar_ready_i(read_ready[1]),
    .ar_beat_o(read_beats[1]),
    .ar_len_o(read_lens[1]),
    .r_valid_i(read_comes[1]),
    .r_data_i,
    .r_failed_i(r_resp_i != '0),
    .r_last_i
  );
endmodule
