// The receiving side: what waits between MAC and analyzer, and the analyzer, which shows frames to all blocks.
//
// `rx_beat_o` is the receive stream of 64 bits. Writes and image data take `bulk_o` with `bulk_data_o`, which is the
// same at 64 bits; with wider words it is a stream of its own that has nothing else.
module rl_rx
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
#(
  parameter int unsigned DataW = 64,   // Bits of the MAC's words: 64, 128, 256 or 512.
  parameter int unsigned Bulk = 32'(BulkStandard),
  parameter int unsigned Words = 2048, // Of DataW bits.
  parameter bit          Bridge = 1'b0, // As rl_analyzer says; at 64 bits only.
  parameter bit          Keys = 1'b0,   // Frames have tags, see rl_auth_rx; at 64 bits only.
  parameter int unsigned PerCycle = 3,  // With Keys: as of rl_auth_rx, and the next one.
  parameter int unsigned ClaimCycles = 39_000,
  localparam int unsigned KeepW = DataW / 8
) (
  input  logic             clk_net_i,
  input  logic             rst_net_ni,

  input  logic             rx_valid_i,
  input  logic [DataW-1:0] rx_data_i,
  input  logic [KeepW-1:0] rx_keep_i,
  input  logic             rx_last_i,
  input  logic             rx_bad_i,
  output logic             overflow_o,     // A frame found no room, or not enough.

  input  filter_t          filter_i,
  input  session_t         session_i,
  input  logic             barrier_busy_i,
  input  logic             control_busy_i,
  input  room_t            room_i,
  input  rl_nic_pkg::nic_config_t nic_i,  // As rl_analyzer says.
  input  rl_auth_pkg::sessions_t sessions_i,   // With Keys, as of rl_auth_rx.
  input  rl_auth_pkg::session_key_t key_i,
  output logic             key_ready_o,
  output rl_auth_pkg::auth_event_t auth_event_o,
  output rx_beat_t         rx_beat_o,
  output logic             hosts_o,
  output logic             last_page_o,
  output divert_reason_e   reason_o,
  input  logic             divert_i,
  output rx_beat_t         bulk_o,
  output logic [DataW-1:0] bulk_data_o,
  output logic             heard_o,
  output rx_event_t        event_o,
  output logic             busy_o          // Something of a frame is here or on its way to the blocks.
);
  localparam int unsigned WordW = DataW + $clog2(KeepW) + 3;
  logic [WordW-1:0] word;
  logic word_valid, word_ready, fifo_overflow;
  rl_rx_fifo #(
    .DataW(DataW),
    .Words(Words),
    .Quick(Keys)
  ) u_fifo (
    .clk_net_i,
    .rst_net_ni,
    .rx_valid_i,
    .rx_data_i,
    .rx_keep_i,
    .rx_last_i,
    .rx_bad_i,
    .word_valid_o(word_valid),
    .word_ready_i(word_ready),
    .word_o(word),
    .overflow_o(fifo_overflow)
  );
  if (DataW == 64) begin : gen_narrow
    logic shown_valid, shown_ready, ended, taken, waits, crowded;
    rx_word_t shown;
    rl_auth_pkg::tag_verdict_t tag;
    if (Keys) begin : gen_keys
      logic cut;
      rl_auth_rx #(
        .PerCycle(PerCycle),
        .ClaimCycles(ClaimCycles)
      ) u_auth (
        .clk_net_i,
        .rst_net_ni,
        .word_valid_i(word_valid),
        .word_ready_o(word_ready),
        .word_i(word),
        .sessions_i,
        .key_i,
        .key_ready_o,
        .word_valid_o(shown_valid),
        .word_ready_i(shown_ready),
        .word_o(shown),
        .verdict_o(tag),
        .ended_i(ended),
        .taken_i(taken),
        .cut_o(cut),
        .busy_o(waits)
      );
      // All in one cycle count once: a longer frame than there are is no host's.
      assign overflow_o = fifo_overflow || cut || crowded;
    end else begin : gen_no_keys
      assign shown_valid = word_valid;
      assign word_ready = shown_ready;
      assign shown = word;
      assign tag = '{cause: DropNone, known: 1'b1, cut: 1'b0, trailed: 1'b0};
      assign waits = 1'b0;
      assign key_ready_o = 1'b0;
      assign overflow_o = fifo_overflow;
      logic unused_keys;
      assign unused_keys = ^{sessions_i, key_i, ended, taken, crowded};
    end
    rl_analyzer #(
      .Bulk(Bulk),
      .Bridge(Bridge),
      .Keys(Keys)
    ) u_analyzer (
      .clk_net_i,
      .rst_net_ni,
      .word_valid_i(shown_valid),
      .word_ready_o(shown_ready),
      .word_i(shown),
      .tag_i(tag),
      .filter_i,
      .session_i,
      .barrier_busy_i,
      .control_busy_i,
      .room_i,
      .nic_i,
      .rx_beat_o,
      .hosts_o,
      .last_page_o,
      .reason_o,
      .divert_i,
      .heard_o,
      .event_o,
      .auth_event_o,
      .crowded_o(crowded),
      .ended_o(ended),
      .taken_o(taken)
    );
    assign bulk_o = rx_beat_o;
    assign bulk_data_o = rx_beat_o.data;
    assign busy_o = rx_valid_i || word_valid || waits || rx_beat_o.word || rx_beat_o.done;
  end else begin : gen_wide
    logic unused_nic;
    assign unused_nic = ^nic_i;
    if (Bridge || Keys) begin : gen_check
      $fatal(0, "rl_rx: a card with a bridge or with keys has 64 bits (%m)");
    end
    assign overflow_o = fifo_overflow;
    assign key_ready_o = 1'b0;
    assign auth_event_o = '0;
    logic unused_keys;
    assign unused_keys = ^{sessions_i, key_i};
    // Frames on their way through rl_rx_narrow that may become a barrier.
    localparam int unsigned PendingW = 6;
    logic [PendingW-1:0] pending_q;
    logic
        hosts,
        last_page,
        narrow_room,
        passes,
        finished,
        wide_heard,
        narrow_heard,
        wide_busy,
        narrow_busy;
    divert_reason_e reason;
    rl_analyzer_wide #(
      .DataW(DataW),
      .Bulk(Bulk)
    ) u_analyzer (
      .clk_net_i,
      .rst_net_ni,
      .word_valid_i(word_valid),
      .word_ready_o(word_ready),
      .word_i(word),
      .filter_i,
      .session_i,
      .barrier_busy_i,
      .pending_i(pending_q != 0),
      .room_write_i(room_i.write),
      .room_image_i(room_i.image),
      .room_narrow_i(narrow_room),
      .rx_beat_o(bulk_o),
      .data_o(bulk_data_o),
      .hosts_o(hosts),
      .last_page_o(last_page),
      .reason_o(reason),
      .passes_o(passes),
      .heard_o(wide_heard),
      .event_o,
      .busy_o(wide_busy)
    );
    rl_rx_narrow #(
      .DataW(DataW),
      .Words(4096 / KeepW)
    ) u_narrow (
      .clk_net_i,
      .rst_net_ni,
      .wide_i(bulk_o),
      .data_i(bulk_data_o),
      .hosts_i(hosts),
      .last_page_i(last_page),
      .reason_i(reason),
      .room_o(narrow_room),
      .control_busy_i,
      .room_control_i(room_i.control),
      .room_launch_i(room_i.launch),
      .rx_beat_o,
      .hosts_o,
      .last_page_o,
      .reason_o,
      .divert_i,
      .heard_o(narrow_heard),
      .finished_o(finished),
      .busy_o(narrow_busy)
    );
    always_ff @(posedge clk_net_i) begin
      if (!rst_net_ni) pending_q <= '0;
      else pending_q <= pending_q + PendingW'(passes) - PendingW'(finished);
    end
    assign heard_o = wide_heard || narrow_heard;
    assign busy_o = rx_valid_i || word_valid || wide_busy || narrow_busy || pending_q != 0;
    logic unused;
    assign unused = room_i.read;
  end
endmodule
