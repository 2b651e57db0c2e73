// Sends frames in words of 128 bits and more. What was fetched from DDR for the network goes at full width
// (rl_tx_bulk); the firmware's frames and announcements, which are few, come from rl_tx and are gathered whole; both
// take turns. All of a frame is there before it starts, so that it never pauses.
module rl_tx_wide
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
#(
  parameter int unsigned DataW = 128,
  parameter int unsigned Bulk = 32'(BulkStandard),
  localparam int unsigned KeepW = DataW / 8
) (
  input  logic          clk_net_i,
  input  logic          rst_net_ni,

  // As of rl_tx.
  input  logic          cpu_write_i,
  input  logic [10:0]   cpu_addr_i,
  input  logic [31:0]   cpu_wdata_i,
  output logic [31:0]   cpu_rdata_o,
  input  logic          halt_i,
  input  logic          send_i,
  input  logic          send_slot_i,
  input  logic [11:0]   send_bytes_i,
  output logic [1:0]    slot_busy_o,
  input  logic          announce_valid_i,
  output logic          announce_ready_o,
  input  announcement_t announce_i,
  input  logic          head_valid_i,
  output logic          head_ready_o,
  input  logic [63:0]   head_i,
  input  logic          data_valid_i,
  input  read_desc_t    data_desc_i,
  output logic          data_done_o,
  output logic          data_take_o,
  input  logic [DataW-1:0] data_i,
  input  logic          data_ready_i,
  output logic          fetched_o,
  output logic          cpu_fetch_done_o,

  output logic          tx_valid_o,
  output logic [DataW-1:0] tx_data_o,
  output logic [KeepW-1:0] tx_keep_o,
  output logic          tx_last_o,
  input  logic          tx_ready_i,

  output logic          frame_o,       // A frame has left,
  output logic [13:0]   frame_bytes_o  // of so many bytes.
);
  // -- the firmware's frames and announcements; bytes that the firmware has fetched go into its buffer there
  logic
      core_valid,
      core_ready,
      core_last,
      core_done,
      core_take,
      core_frame,
      unused_ready,
      unused_frame;
  logic [63:0] core_data, fetched;
  logic [7:0] core_keep;
  logic [13:0] unused_bytes;
  logic narrow_take, bulk_done, bulk_take, core_fetched, bulk_fetched_q;
  rl_queue_narrow #(
    .DataW(DataW)
  ) u_fetched (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .data_i,
    .take_o(narrow_take),
    .data_o(fetched),
    .take_i(core_take),
    .done_i(core_done)
  );
  rl_tx u_core (
    .clk_net_i,
    .rst_net_ni,
    .cpu_write_i,
    .cpu_addr_i,
    .cpu_wdata_i,
    .cpu_rdata_o,
    .halt_i,
    .send_i,
    .send_slot_i,
    .send_bytes_i,
    .slot_busy_o,
    .announce_valid_i,
    .announce_ready_o,
    .announce_i,
    .head_valid_i(1'b0),
    .head_ready_o(unused_ready),
    .head_i('0),
    .data_valid_i(data_valid_i && data_desc_i.to_cpu),
    .data_desc_i,
    .data_done_o(core_done),
    .data_take_o(core_take),
    .data_i(fetched),
    .data_ready_i,
    .fetched_o(core_fetched),
    .cpu_fetch_done_o,
    .tx_valid_o(core_valid),
    .tx_data_o(core_data),
    .tx_keep_o(core_keep),
    .tx_last_o(core_last),
    .tx_ready_i(core_ready),
    .frame_o(unused_frame),
    .frame_bytes_o(unused_bytes)
  );
  assign core_frame = core_valid && core_ready;

  // -- gathered in wide words, whole frames
  localparam int unsigned Lanes = DataW / 64;
  localparam int unsigned LaneW = $clog2(Lanes);
  localparam int unsigned SlotBytes = 2048;  // The longest frame of the firmware.
  localparam int unsigned FrameWords = SlotBytes / KeepW;
  localparam int unsigned CountW = $clog2(FrameWords + 1);
  typedef struct packed {
    logic [CountW-1:0] left;  // Words after the first,
    logic [KeepW-1:0]  keep;  // and the last one's bytes.
  } desc_t;
  logic room, inside_q, push;
  logic [LaneW-1:0] lane_q;
  logic [CountW-1:0] count_q;
  logic [DataW-1:0] gathered_q, gathered;
  logic [KeepW-1:0] keep_q, keep;
  logic slot_valid, slot_done, slot_take, slot_ready;
  desc_t slot_desc;
  logic [DataW-1:0] slot_data;
  assign core_ready = inside_q || room;
  assign push = core_frame && (core_last || lane_q == '1);
  always_comb begin
    gathered = lane_q == 0 ? '0 : gathered_q;
    keep = lane_q == 0 ? '0 : keep_q;
    gathered[64*lane_q+:64] = core_data;
    keep[8*lane_q+:8] = core_keep;
  end
  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) begin
      inside_q <= 1'b0;
      lane_q <= '0;
      count_q <= '0;
    end else if (core_frame) begin
      inside_q <= !core_last;
      lane_q <= core_last ? '0 : lane_q + 1'b1;
      if (core_last) count_q <= '0;
      else if (push) count_q <= count_q + 1'b1;
    end
  end
  always_ff @(posedge clk_net_i) begin
    if (core_frame) begin
      gathered_q <= gathered;
      keep_q <= keep;
    end
  end
  rl_frame_queue #(
    .DataW(DataW),
    .Words(2 * FrameWords),
    .FrameWords(FrameWords),
    .DescW($bits(desc_t)),
    .Frames(4)
  ) u_slots (
    .clk_wr_i(clk_net_i),
    .rst_wr_ni(rst_net_ni),
    .room_o(room),
    .word_i(push),
    .data_i(gathered),
    .commit_i(push && core_last),
    .desc_i({count_q, keep}),
    .rollback_i(1'b0),
    .clk_rd_i(clk_net_i),
    .rst_rd_ni(rst_net_ni),
    .valid_o(slot_valid),
    .desc_o(slot_desc),
    .done_i(slot_done),
    .take_i(slot_take),
    .data_o(slot_data),
    .ready_o(slot_ready)
  );
  logic sends_q, slot_offered, slot_last;
  logic [CountW-1:0] left_q, left;
  assign left = sends_q ? left_q : slot_desc.left;
  assign slot_last = left == 0;
  assign slot_offered = slot_valid && slot_ready && (sends_q || !halt_i);
  assign slot_done = slot_take && slot_last;
  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) sends_q <= 1'b0;
    else if (slot_take) sends_q <= !slot_last;
  end
  always_ff @(posedge clk_net_i) if (slot_take) left_q <= left - 1'b1;

  // -- what was fetched for the network
  logic bulk_valid, bulk_ready, bulk_last;
  logic [DataW-1:0] bulk_data;
  logic [KeepW-1:0] bulk_keep;
  rl_tx_bulk #(
    .DataW(DataW)
  ) u_bulk (
    .clk_net_i,
    .rst_net_ni,
    .halt_i,
    .head_valid_i,
    .head_ready_o,
    .head_i,
    .data_valid_i(data_valid_i && !data_desc_i.to_cpu),
    .data_length_i(data_desc_i.length),
    .data_done_o(bulk_done),
    .data_take_o(bulk_take),
    .data_i,
    .data_ready_i,
    .valid_o(bulk_valid),
    .ready_i(bulk_ready),
    .data_o(bulk_data),
    .keep_o(bulk_keep),
    .last_o(bulk_last)
  );
  assign data_take_o = narrow_take || bulk_take;
  assign data_done_o = core_done || bulk_done;
  assign fetched_o = core_fetched || bulk_fetched_q;
  always_ff @(posedge clk_net_i) bulk_fetched_q <= rst_net_ni && bulk_done;

  // -- turns
  localparam int unsigned Longest = Bulk + 32'(HeaderEnd) > SlotBytes ? Bulk + 32'(HeaderEnd) : SlotBytes;
  localparam int unsigned LongestWords = (Longest + KeepW - 1) / KeepW;
  localparam int unsigned ShareW = $clog2(LongestWords + 1);
  logic unused_bad;
  rl_egress #(
    .DataW(DataW),
    .Sources(2),
    .ShareW(ShareW),
    .FrameWords(LongestWords)
  ) u_egress (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .share_i({2{ShareW'(LongestWords)}}),
    .valid_i({bulk_valid, slot_offered}),
    .ready_o({bulk_ready, slot_take}),
    .data_i({bulk_data, slot_data}),
    .keep_i({bulk_keep, slot_last ? slot_desc.keep : KeepW'('1)}),
    .last_i({bulk_last, slot_last}),
    .bad_i('0),
    .valid_o(tx_valid_o),
    .ready_i(tx_ready_i),
    .data_o(tx_data_o),
    .keep_o(tx_keep_o),
    .last_o(tx_last_o),
    .bad_o(unused_bad)
  );
  logic leaves;
  assign leaves = tx_valid_o && tx_ready_i;
  assign frame_o = leaves && tx_last_o;
  rl_port_count #(
    .DataW(DataW)
  ) u_count (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .valid_i(leaves),
    .last_i(tx_last_o),
    .keep_i(tx_keep_o),
    .bytes_o(frame_bytes_o)
  );

  logic unused;
  assign unused = ^{unused_ready, unused_frame, unused_bytes};
endmodule
