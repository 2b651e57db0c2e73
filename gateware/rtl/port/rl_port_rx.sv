// From a port's MAC to a stream of the role: whole frames that are for this port and of no family of ours. The MAC
// cannot wait: what finds no room is dropped and counted. A frame shows to the role when its check sequence was right.
module rl_port_rx
  import rl_wire_pkg::*;
  import rl_port_pkg::*;
#(
  parameter int unsigned DataW = 64,
  parameter int unsigned FrameMax = 1514,  // Bytes of the longest frame that is taken.
  parameter int unsigned Words = 1024,     // Of the queue, a power of two.
  parameter int unsigned Frames = 32,      // In the queue, a power of two.
  localparam int unsigned KeepW = DataW / 8
) (
  // -- net domain
  input  logic             clk_net_i,
  input  logic             rst_net_ni,
  input  mac_addr_t        mac_i,      // The port's address, steady.
  input  logic             open_i,     // A role is there that takes messages.
  input  logic             rx_valid_i,
  input  logic [DataW-1:0] rx_data_i,
  input  logic [KeepW-1:0] rx_keep_i,
  input  logic             rx_last_i,
  input  logic             rx_bad_i,   // With rx_last_i: the check sequence was wrong.
  output port_event_t      event_o,

  // -- role domain
  input  logic             clk_role_i,
  input  logic             rst_role_ni,
  input  logic             cut_i,      // The role is cut off: what comes in for it is thrown away.
  output logic             valid_o,
  input  logic             ready_i,
  output logic [DataW-1:0] data_o,
  output logic [KeepW-1:0] keep_o,     // With last_o: ones from bit 0 on. Else all ones.
  output logic             last_o
);
  localparam int unsigned FrameWords = (FrameMax + KeepW - 1) / KeepW;
  localparam int unsigned CountW = $clog2(FrameWords + 1);
  // Words that may be written between a look for room and a frame's first word.
  localparam int unsigned Ahead = 2;
  // A queued frame's words, less 1, and the valid bytes of the last one.
  typedef struct packed {
    logic [CountW-1:0] left;
    logic [KeepW-1:0]  keep;
  } desc_t;

  // -- s1: head and word; s2: what the head says
  logic s1_valid, s1_first, s1_last, s1_known;
  logic [DataW-1:0] s1_data;
  logic [KeepW-1:0] s1_keep;
  ethernet_head_t s1_head;
  logic s1_bad_q;
  rl_port_head #(
    .DataW(DataW)
  ) u_head (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .step_i(1'b1),
    .valid_i(rx_valid_i),
    .data_i(rx_data_i),
    .keep_i(rx_keep_i),
    .last_i(rx_last_i),
    .valid_o(s1_valid),
    .first_o(s1_first),
    .last_o(s1_last),
    .data_o(s1_data),
    .keep_o(s1_keep),
    .known_o(s1_known),
    .head_o(s1_head)
  );

  logic s2_valid_q, s2_first_q, s2_last_q, s2_bad_q, s2_known_q, s2_wanted_q;
  logic [DataW-1:0] s2_data_q;
  logic [KeepW-1:0] s2_keep_q;
  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) s2_valid_q <= 1'b0;
    else s2_valid_q <= s1_valid;
  end
  always_ff @(posedge clk_net_i) begin
    s1_bad_q <= rx_bad_i;
    s2_first_q <= s1_first;
    s2_last_q <= s1_last;
    s2_bad_q <= s1_bad_q;
    s2_data_q <= s1_data;
    s2_keep_q <= s1_keep;
    s2_known_q <= s1_known;
    // Its own frames come back over a loop in the network.
    s2_wanted_q <= open_i && (s1_head.dst == mac_i || s1_head.dst[GroupBit]) && s1_head.src != mac_i &&
        !s1_head.src[GroupBit] && !is_ours(s1_head.ether_type);
  end

  // -- into the queue
  logic room, room_q, fits_q, fits, ends, good;
  logic [CountW-1:0] count_q, count;
  logic [13:0] bytes;
  assign count = s2_first_q ? '0 : count_q;
  // Whether all words up to this one went in: there was room for a longest frame, and it is no longer than that. The
  // queue rests after a commit; a frame that follows at once takes what it said a cycle ago.
  assign fits = s2_first_q ? room || room_q : fits_q && count_q != CountW'(FrameWords);
  assign ends = s2_valid_q && s2_last_q;
  assign good = !s2_bad_q && s2_known_q && s2_wanted_q && fits && bytes <= 14'(FrameMax);
  rl_port_count #(
    .DataW(DataW)
  ) u_count (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .valid_i(s2_valid_q),
    .last_i(s2_last_q),
    .keep_i(s2_keep_q),
    .bytes_o(bytes)
  );
  always_ff @(posedge clk_net_i) begin
    room_q <= room;
    if (s2_valid_q) begin
      count_q <= count + 1'b1;
      fits_q <= fits;
    end
  end

  logic queue_valid, queue_done, queue_take, queue_ready;
  desc_t queue_desc;
  rl_frame_queue #(
    .DataW(DataW),
    .Words(Words),
    .FrameWords(FrameWords + Ahead),
    .DescW($bits(desc_t)),
    .Frames(Frames)
  ) u_queue (
    .clk_wr_i(clk_net_i),
    .rst_wr_ni(rst_net_ni),
    .room_o(room),
    .word_i(s2_valid_q && fits),
    .data_i(s2_data_q),
    .commit_i(ends && good),
    .desc_i({count, s2_keep_q}),
    .rollback_i(ends && !good),
    .clk_rd_i(clk_role_i),
    .rst_rd_ni(rst_role_ni),
    .valid_o(queue_valid),
    .desc_o(queue_desc),
    .done_i(queue_done),
    .take_i(queue_take),
    .data_o,
    .ready_o(queue_ready)
  );

  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) begin
      event_o <= '0;
    end else begin
      event_o.frame <= ends;
      event_o.check <= ends && s2_bad_q;
      event_o.truncated <= ends && !s2_bad_q && !s2_known_q;
      event_o.foreign <= ends && !s2_bad_q && s2_known_q && !s2_wanted_q;
      event_o.full <= ends && !s2_bad_q && s2_known_q && s2_wanted_q && !good;
    end
    event_o.bytes <= bytes;
  end

  // -- to the role. A frame that it was cut off from is thrown away to its end.
  logic cut_q, inside_q, cut, taken;
  logic [CountW-1:0] left_q, left;
  assign cut = cut_i || (cut_q && inside_q);
  assign left = inside_q ? left_q : queue_desc.left;
  assign valid_o = queue_ready && !cut;
  assign last_o = left == 0;
  assign keep_o = last_o ? queue_desc.keep : '1;
  assign taken = queue_ready && (ready_i || cut);
  assign queue_take = taken;
  assign queue_done = taken && last_o;
  always_ff @(posedge clk_role_i) begin
    if (!rst_role_ni) begin
      inside_q <= 1'b0;
      cut_q <= 1'b0;
    end else begin
      cut_q <= cut;
      if (taken) inside_q <= !last_o;
    end
  end
  always_ff @(posedge clk_role_i) if (taken) left_q <= left - 1'b1;

  logic unused;
  assign unused = queue_valid;
endmodule
