// Collectives of a card: the sequencer, which runs programs from memory, and its links, one to four of them.
//
//   programs ==> rl_collective_sequencer ==> rl_collective_distributor ==> rl_collective_link (each) ==> cables
//                   |   rl_collective_fetch: commands                      rl_collective_failures (each)
//                   '-> rl_collective_local: copies, reductions; rl_collective_survey: who is there
//
// Each link has a port of memory of its own, the last one is the sequencer's: who joins them is not said here.
module rl_collective_card
  import rl_link_pkg::*;
  import rl_link_wire_pkg::*;
  import rl_transport_pkg::epoch_t;
  import rl_transport_pkg::tick_t;
  import rl_transport_pkg::transport_event_t;
  import rl_collective_pkg::*;
#(
  parameter int unsigned Links = 1,        // 1 to 4.
  parameter int unsigned DataW = 64,       // 64, 128, 256 or 512.
  parameter int unsigned Longest = 1408,   // As rl_collective_link says.
  parameter int unsigned Words = 4096,
  parameter int unsigned RxWords = 512,
  parameter int unsigned PutWords = 512,
  parameter int unsigned Burst = 16,
  localparam int unsigned KeepW = DataW / 8,
  localparam int unsigned FineW = $clog2(KeepW),
  localparam int unsigned BeatW = 40 - FineW
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  mac_addr_t [Links-1:0]         macs_i,           // As rl_link says, of each port.
  input  mac_addr_t                     card_mac_i,
  input  logic [Links-1:0][7:0]         ports_i,          // 1 to 63, or 0: there is none. Steady.
  input  epoch_t                        epoch_i,
  input  tick_t                         rto_i,
  input  tick_t                         patience_i,
  input  logic                          tick_i,
  input  logic [Links-1:0][39:0]        early_i,          // As rl_collective_take says.
  input  logic [39:0]                   from_i,           // What programs may touch, as rl_collective_fetch says.
  input  logic [39:0]                   to_i,

  // -- programs
  input  logic                          start_valid_i,
  output logic                          start_ready_o,
  input  program_t                      start_i,
  output slot_t                         start_slot_o,
  output logic                          start_invalid_o,  // With ready: it is none, and does not begin.
  output logic [Links-1:0]              renewed_o,        // The neighbour has begun a new life: for one cycle.
  input  logic [Slots-1:0]              go_i,
  input  logic [Slots-1:0]              expire_i,
  output logic                          ended_valid_o,
  input  logic                          ended_ready_i,
  output report_t                       ended_o,
  output logic [Links-1:0]              strays_o,         // As rl_collective_link says.
  output logic [Links-1:0]              rests_o,

  // -- memory: AXI4 with one id each, of the links and then the sequencer
  output logic [Links:0]                aw_valid_o,
  input  logic [Links:0]                aw_ready_i,
  output logic [Links:0][39:0]          aw_addr_o,
  output logic [Links:0][7:0]           aw_len_o,
  output logic [Links:0]                w_valid_o,
  input  logic [Links:0]                w_ready_i,
  output logic [Links:0][DataW-1:0]     w_data_o,
  output logic [Links:0][KeepW-1:0]     w_strb_o,
  output logic [Links:0]                w_last_o,
  input  logic [Links:0]                b_valid_i,        // Taken at once, as what is read.
  input  logic [Links:0][1:0]           b_resp_i,
  output logic [Links:0]                ar_valid_o,
  input  logic [Links:0]                ar_ready_i,
  output logic [Links:0][39:0]          ar_addr_o,
  output logic [Links:0][7:0]           ar_len_o,
  input  logic [Links:0]                r_valid_i,
  input  logic [Links:0][DataW-1:0]     r_data_i,
  input  logic [Links:0][1:0]           r_resp_i,
  input  logic [Links:0]                r_last_i,

  // -- neighbours and cables
  output logic [Links-1:0]              up_o,
  output logic [Links-1:0]              neighbour_valid_o,
  output mac_addr_t [Links-1:0]         neighbour_macs_o,
  output logic [Links-1:0][7:0]         neighbour_ports_o,
  output logic [Links-1:0]              out_valid_o,
  input  logic [Links-1:0]              out_ready_i,
  output logic [Links-1:0][DataW-1:0]   out_data_o,
  output logic [Links-1:0][KeepW-1:0]   out_keep_o,
  output logic [Links-1:0]              out_last_o,
  input  logic [Links-1:0]              in_valid_i,
  input  logic [Links-1:0][DataW-1:0]   in_data_i,
  input  logic [Links-1:0][KeepW-1:0]   in_keep_i,
  input  logic [Links-1:0]              in_last_i,
  input  logic [Links-1:0]              in_bad_i,
  input  logic [$clog2(Verdicts)-1:0]   count_of_i,
  output logic [Links-1:0][31:0]        counts_o,
  output transport_event_t [Links-1:0]  events_o
);
  if (Links < 1 || Links > 4) begin : gen_check
    $fatal(0, "rl_collective_card: Links must be 1 to 4 (%m)");
  end
  localparam int unsigned StoredW = $clog2(Stored);

  // -- programs that are none: too long, not aligned, or where no host may write
  logic [40:0] program_end;
  logic seq_ready, begins, slot_begins;
  assign program_end = 41'(start_i.program_at) + 41'({start_i.commands, 5'd0});
  assign start_invalid_o = start_i.commands > count_t'(CommandsMax) || start_i.program_at < from_i ||
      program_end > 41'(to_i) || start_i.program_at[$clog2(FetchBytes)-1:0] != '0;
  assign start_ready_o = seq_ready;
  assign begins = start_valid_i && !start_invalid_o;

  logic [Slots-1:0] runs, fetches, waits, cancel;
  count_t [Slots-1:0] at, here;
  logic read, put, take, leaves, copy, copy_busy, copy_end, copy_failed;
  logic survey_busy, survey_end, survey_failed;
  slot_t read_slot, say_slot;
  logic [StoredW-1:0] read_at;
  logic [1:0] link;
  command_t command;
  move_t move;
  operation_t say_operation;
  logic [Links-1:0] put_room, take_room, put_end_valid, take_end_valid, over, looks, say;
  logic [Links-1:0] put_valid, put_ready, take_valid, take_ready;
  move_t [Links-1:0] puts, takes;
  end_t [Links-1:0] put_end, take_end;
  cause_e [Links-1:0] over_cause;
  logic [Links-1:0][Slots-1:0] told;
  rl_collective_sequencer #(
    .Links(Links)
  ) u_sequencer (
    .clk_i,
    .rst_ni,
    .tick_i,
    .ports_i,
    .start_valid_i(begins),
    .start_ready_o(seq_ready),
    .start_i,
    .start_slot_o,
    .begin_o(slot_begins),
    .go_i,
    .expire_i,
    .ended_valid_o,
    .ended_ready_i,
    .ended_o,
    .runs_o(runs),
    .fetches_i(fetches),
    .at_o(at),
    .here_i(here),
    .read_o(read),
    .read_slot_o(read_slot),
    .read_at_o(read_at),
    .command_i(command),
    .put_o(put),
    .take_o(take),
    .link_o(link),
    .move_o(move),
    .put_room_i(put_room),
    .take_room_i(take_room),
    .waits_i(waits),
    .leaves_i(leaves),
    .put_end_valid_i(put_end_valid),
    .put_end_i(put_end),
    .take_end_valid_i(take_end_valid),
    .take_end_i(take_end),
    .over_i(over),
    .over_cause_i(over_cause),
    .renewed_o,
    .up_i(up_o),
    .looks_i(looks != '0),
    .told_i(told),
    .cancel_o(cancel),
    .say_o(say),
    .say_slot_o(say_slot),
    .say_operation_o(say_operation),
    .copy_o(copy),
    .copy_busy_i(copy_busy || survey_busy),
    .copy_end_i(copy_end || survey_end),
    .copy_failed_i(survey_end ? survey_failed : copy_failed)
  );
  rl_collective_distributor #(
    .Links(Links)
  ) u_distributor (
    .clk_i,
    .rst_ni,
    .put_i(put),
    .take_i(take),
    .link_i(link),
    .move_i(move),
    .put_room_o(put_room),
    .take_room_o(take_room),
    .waits_o(waits),
    .leaves_o(leaves),
    .put_valid_o(put_valid),
    .put_ready_i(put_ready),
    .puts_o(puts),
    .take_valid_o(take_valid),
    .take_ready_i(take_ready),
    .takes_o(takes)
  );

  // -- the sequencer's memory: commands, and copies
  logic [1:0] read_valid, read_ready, read_comes;
  logic [1:0][BeatW-1:0] read_beats;
  logic [1:0][7:0] read_lens;
  logic [BeatW-1:0] ar_beat;
  rl_collective_fetch #(
    .DataW(DataW),
    .Links(Links)
  ) u_fetch (
    .clk_i,
    .rst_ni,
    .ports_i,
    .from_i,
    .to_i,
    .begin_i(slot_begins),
    .slot_i(start_slot_o),
    .program_i(start_i.program_at),
    .commands_i(start_i.commands),
    .runs_i(runs),
    .fetches_o(fetches),
    .at_i(at),
    .here_o(here),
    .read_i(read),
    .read_slot_i(read_slot),
    .read_at_i(read_at),
    .command_o(command),
    .ar_valid_o(read_valid[0]),
    .ar_ready_i(read_ready[0]),
    .ar_beat_o(read_beats[0]),
    .ar_len_o(read_lens[0]),
    .r_valid_i(read_comes[0]),
    .r_data_i(r_data_i[Links]),
    .r_failed_i(r_resp_i[Links] != '0)
  );
  // One command at a time: while a survey is under way, it has the port.
  logic local_aw_valid, local_w_valid, local_w_last, survey_aw_valid, survey_w_valid, survey_w_last;
  logic [39:0] local_aw_addr, survey_aw_addr;
  logic [7:0] local_aw_len, survey_aw_len;
  logic [DataW-1:0] local_w_data, survey_w_data;
  logic [KeepW-1:0] local_w_strb;
  rl_collective_local #(
    .DataW(DataW),
    .Burst(Burst)
  ) u_local (
    .clk_i,
    .rst_ni,
    .begin_i(copy && command.code != Survey),
    .command_i(command),
    .busy_o(copy_busy),
    .end_o(copy_end),
    .failed_o(copy_failed),
    .ar_valid_o(read_valid[1]),
    .ar_ready_i(read_ready[1]),
    .ar_beat_o(read_beats[1]),
    .ar_len_o(read_lens[1]),
    .r_valid_i(read_comes[1]),
    .r_data_i(r_data_i[Links]),
    .r_failed_i(r_resp_i[Links] != '0),
    .r_last_i(r_last_i[Links]),
    .aw_valid_o(local_aw_valid),
    .aw_ready_i(aw_ready_i[Links]),
    .aw_addr_o(local_aw_addr),
    .aw_len_o(local_aw_len),
    .w_valid_o(local_w_valid),
    .w_ready_i(w_ready_i[Links]),
    .w_data_o(local_w_data),
    .w_strb_o(local_w_strb),
    .w_last_o(local_w_last),
    .b_valid_i(b_valid_i[Links] && !survey_busy),
    .b_resp_i(b_resp_i[Links])
  );
  logic [Links-1:0] hears;
  for (genvar l = 0; l < Links; l++) begin : gen_heard
    assign hears[l] = events_o[l].heard;
  end
  rl_collective_survey #(
    .DataW(DataW),
    .Links(Links),
    .Burst(Burst)
  ) u_survey (
    .clk_i,
    .rst_ni,
    .tick_i,
    .patience_i,
    .ports_i,
    .begin_i(copy && command.code == Survey),
    .to_i(command.to),
    .busy_o(survey_busy),
    .end_o(survey_end),
    .failed_o(survey_failed),
    .heard_i(hears),
    .up_i(up_o & neighbour_valid_o),
    .macs_i(neighbour_macs_o),
    .neighbour_ports_i(neighbour_ports_o),
    .aw_valid_o(survey_aw_valid),
    .aw_ready_i(aw_ready_i[Links]),
    .aw_addr_o(survey_aw_addr),
    .aw_len_o(survey_aw_len),
    .w_valid_o(survey_w_valid),
    .w_ready_i(w_ready_i[Links]),
    .w_data_o(survey_w_data),
    .w_last_o(survey_w_last),
    .b_valid_i(b_valid_i[Links] && survey_busy),
    .b_resp_i(b_resp_i[Links])
  );
  assign aw_valid_o[Links] = survey_busy ? survey_aw_valid : local_aw_valid;
  assign aw_addr_o[Links] = survey_busy ? survey_aw_addr : local_aw_addr;
  assign aw_len_o[Links] = survey_busy ? survey_aw_len : local_aw_len;
  assign w_valid_o[Links] = survey_busy ? survey_w_valid : local_w_valid;
  assign w_data_o[Links] = survey_busy ? survey_w_data : local_w_data;
  assign w_strb_o[Links] = survey_busy ? '1 : local_w_strb;
  assign w_last_o[Links] = survey_busy ? survey_w_last : local_w_last;
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
    .ar_valid_o(ar_valid_o[Links]),
    .ar_ready_i(ar_ready_i[Links]),
    .ar_beat_o(ar_beat),
    .ar_len_o(ar_len_o[Links]),
    .r_valid_i(r_valid_i[Links]),
    .r_last_i(r_last_i[Links])
  );
  assign ar_addr_o[Links] = {ar_beat, FineW'(0)};

  for (genvar l = 0; l < Links; l++) begin : gen_link
    logic heard_valid, heard_ready, said_valid, said_ready;
    message_t heard, said;
    slot_t said_slot;
    operation_t said_operation;
    logic said_room, unused;
    logic [4:0] unused_said;
    logic [Slots-1:0] unused_puts, unused_takes;
    rl_collective_failures u_failures (
      .clk_i,
      .rst_ni,
      .begin_i(slot_begins),
      .slot_i(start_slot_o),
      .operation_i(start_i.operation),
      .looks_o(looks[l]),
      .clear_i(cancel),
      .told_o(told[l]),
      .said_valid_i(heard_valid),
      .said_ready_o(heard_ready),
      .said_i(heard),
      .forget_i(over[l])
    );
    // Word of programs that failed here. What finds no room is left out: the neighbour's ends by its time.
    rl_fifo #(
      .Width($bits(slot_t) + $bits(operation_t)),
      .Depth(16)
    ) u_say (
      .clk_i,
      .rst_ni,
      .wvalid_i(say[l]),
      .wready_o(said_room),
      .wdata_i({say_slot, say_operation}),
      .rvalid_o(said_valid),
      .rready_i(said_ready),
      .rdata_o({said_slot, said_operation}),
      .count_o(unused_said)
    );
    always_comb begin
      said = '0;
      said.kind = 4'(KindLinkFailed);
      said.slot = 16'(said_slot);
      said.key = '{group: said_operation.group, number: said_operation.number, tag: '0};
    end
    rl_collective_link #(
      .DataW(DataW),
      .Longest(Longest),
      .Words(Words),
      .RxWords(RxWords),
      .PutWords(PutWords),
      .Burst(Burst)
    ) u_link (
      .clk_i,
      .rst_ni,
      .mac_i(macs_i[l]),
      .card_mac_i,
      .port_i(ports_i[l]),
      .epoch_i,
      .rto_i,
      .patience_i,
      .tick_i,
      .early_i(early_i[l]),
      .put_valid_i(put_valid[l]),
      .put_ready_o(put_ready[l]),
      .put_i(puts[l]),
      .take_valid_i(take_valid[l]),
      .take_ready_o(take_ready[l]),
      .take_i(takes[l]),
      .cancel_i(cancel),
      .puts_open_o(unused_puts),
      .takes_open_o(unused_takes),
      .put_end_valid_o(put_end_valid[l]),
      .put_end_o(put_end[l]),
      .take_end_valid_o(take_end_valid[l]),
      .take_end_o(take_end[l]),
      .over_o(over[l]),
      .over_cause_o(over_cause[l]),
      .failed_valid_o(heard_valid),
      .failed_ready_i(heard_ready),
      .failed_o(heard),
      .say_valid_i(said_valid),
      .say_ready_o(said_ready),
      .say_i(said),
      .asks_i(survey_busy && ports_i[l] != '0),
      .stray_o(strays_o[l]),
      .rests_o(rests_o[l]),
      .aw_valid_o(aw_valid_o[l]),
      .aw_ready_i(aw_ready_i[l]),
      .aw_addr_o(aw_addr_o[l]),
      .aw_len_o(aw_len_o[l]),
      .w_valid_o(w_valid_o[l]),
      .w_ready_i(w_ready_i[l]),
      .w_data_o(w_data_o[l]),
      .w_strb_o(w_strb_o[l]),
      .w_last_o(w_last_o[l]),
      .b_valid_i(b_valid_i[l]),
      .b_resp_i(b_resp_i[l]),
      .ar_valid_o(ar_valid_o[l]),
      .ar_ready_i(ar_ready_i[l]),
      .ar_addr_o(ar_addr_o[l]),
      .ar_len_o(ar_len_o[l]),
      .r_valid_i(r_valid_i[l]),
      .r_data_i(r_data_i[l]),
      .r_resp_i(r_resp_i[l]),
      .r_last_i(r_last_i[l]),
      .up_o(up_o[l]),
      .neighbour_valid_o(neighbour_valid_o[l]),
      .neighbour_mac_o(neighbour_macs_o[l]),
      .neighbour_port_o(neighbour_ports_o[l]),
      .out_valid_o(out_valid_o[l]),
      .out_ready_i(out_ready_i[l]),
      .out_data_o(out_data_o[l]),
      .out_keep_o(out_keep_o[l]),
      .out_last_o(out_last_o[l]),
      .in_valid_i(in_valid_i[l]),
      .in_data_i(in_data_i[l]),
      .in_keep_i(in_keep_i[l]),
      .in_last_i(in_last_i[l]),
      .in_bad_i(in_bad_i[l]),
      .count_of_i,
      .count_o(counts_o[l]),
      .event_o(events_o[l])
    );
    assign unused = ^{said_room, unused_said, unused_puts, unused_takes};
  end
endmodule
