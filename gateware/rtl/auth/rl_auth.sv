// The tags of frames, and whether they have the right ones.
//
// Each frame gives one verdict, in order. With PerCycle 3 a word in each cycle is checked at the
// wire's rate, with 1 a third of that; the verdict is there 12 / PerCycle + 2 cycles after the counter
// of a frame that came at that rate, or twice 12 / PerCycle where the padding takes a block of its own,
// and not before the tag that it is for.
module rl_auth
  import rl_ascon_pkg::*;
#(
  parameter int unsigned PerCycle = 1,
  parameter int unsigned Keys = 16,
  localparam int unsigned SlotW = $clog2(Keys)
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  input  logic             key_valid_i,  // See rl_tag.
  output logic             key_ready_o,
  input  logic [SlotW-1:0] key_slot_i,
  input  logic             key_forget_i,
  input  tag_t             key_i,

  input  logic             valid_i,      // See rl_tag_frame.
  output logic             ready_o,
  input  logic [63:0]      data_i,
  input  logic [7:0]       keep_i,
  input  logic             last_i,
  input  logic [SlotW-1:0] slot_i,       // Counts with a frame's fourth word.
  input  logic [31:0]      boot_i,       // With the last word, as the next one.
  input  logic             to_host_i,
  input  logic             counter_valid_i, // The frame's, at any time: it is taken behind the last word.
  output logic             counter_ready_o,
  input  logic [63:0]      counter_i,
  input  logic             tag_valid_i,  // Once for each frame, for one cycle after its last word or with it:
  input  tag_t             tag_i,        // the tag that it came with; any, if one is to be made.

  output logic             valid_o,
  input  logic             ready_i,
  output logic             ok_o,         // It is the frame's, by a key that there is.
  output tag_t             tag_o,        // The frame's, if there is a key.
  output logic             known_o       // There is.
);
  // There is always room for a frame's tag: when its last word is taken, one more may wait as a
  // block, one be permuted, and one have its verdict.
  localparam int unsigned Depth = 4;

  logic frame_valid, frame_last, tag_ready, made, take;
  logic [SlotW-1:0] frame_slot;
  logic [63:0] frame_data;
  rl_tag_frame #(
    .SlotW(SlotW)
  ) u_frame (
    .clk_i,
    .rst_ni,
    .valid_i,
    .ready_o,
    .data_i,
    .keep_i,
    .last_i,
    .slot_i,
    .boot_i,
    .to_host_i,
    .counter_valid_i,
    .counter_ready_o,
    .counter_i,
    .valid_o(frame_valid),
    .ready_i(tag_ready),
    .data_o(frame_data),
    .last_o(frame_last),
    .slot_o(frame_slot)
  );

  rl_tag #(
    .PerCycle(PerCycle),
    .Keys(Keys)
  ) u_tag (
    .clk_i,
    .rst_ni,
    .key_valid_i,
    .key_ready_o,
    .key_slot_i,
    .key_forget_i,
    .key_prf_i(1'b0),
    .key_i,
    .valid_i(frame_valid),
    .ready_o(tag_ready),
    .data_i(frame_data),
    .keep_i('1),
    .last_i(frame_last),
    .slot_i(frame_slot),
    .valid_o(made),
    .ready_i(take),
    .tag_o,
    .known_o
  );

  tag_t wanted;
  logic wanted_valid, unused_room;
  logic [$clog2(Depth):0] unused_count;
  rl_fifo #(
    .Width($bits(tag_t)),
    .Depth(Depth)
  ) u_wanted (
    .clk_i,
    .rst_ni,
    .wvalid_i(tag_valid_i),
    .wready_o(unused_room),
    .wdata_i(tag_i),
    .rvalid_o(wanted_valid),
    .rready_i(take),
    .rdata_o(wanted),
    .count_o(unused_count)
  );

  assign valid_o = made && wanted_valid;
  assign take = valid_o && ready_i;
  // All bits at once: nothing tells how many of them were right.
  assign ok_o = known_o && tag_o == wanted;
endmodule
