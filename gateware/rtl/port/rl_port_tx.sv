// From a stream of the role to a port: whole frames under the port's own address, unless the stream sends on those of
// others; of no family of ours, so that a hostile role forges neither hosts nor cards; and no MAC control, by which it
// would silence its neighbour. What breaks that is taken and goes nowhere; `refused_o` says so.
module rl_port_tx
  import rl_wire_pkg::*;
  import rl_port_pkg::*;
#(
  parameter int unsigned DataW = 64,
  parameter int unsigned FrameMax = 1514,  // Bytes of the longest frame that may leave.
  parameter int unsigned Words = 1024,     // Of the queue, a power of two.
  parameter int unsigned Frames = 32,      // In the queue, a power of two.
  parameter bit          Plain = 1'b0,     // They are no frames but messages: nothing in them is looked at.
  localparam int unsigned KeepW = DataW / 8
) (
  // -- role domain
  input  logic             clk_role_i,
  input  logic             rst_role_ni,
  input  mac_addr_t        mac_i,      // The port's address, steady.
  input  logic             forwards_i, // It sends on frames of others: their addresses are not looked at. Steady.
  input  logic             cut_i,      // The role is cut off: a frame of it that has not ended never will.
  input  logic             valid_i,
  output logic             ready_o,    // It may wait for valid_i, and waits only between two frames.
  input  logic [DataW-1:0] data_i,
  input  logic [KeepW-1:0] keep_i,     // With last_i: ones from bit 0 on. Else not looked at.
  input  logic             last_i,
  output logic             refused_o,  // A frame was refused. For one cycle.

  // -- net domain: to rl_egress
  input  logic             clk_net_i,
  input  logic             rst_net_ni,
  output logic             valid_o,    // Words of a frame follow each other without a gap.
  input  logic             ready_i,
  output logic [DataW-1:0] data_o,
  output logic [KeepW-1:0] keep_o,
  output logic             last_o
);
  localparam int unsigned FrameWords = (FrameMax + KeepW - 1) / KeepW;
  localparam int unsigned CountW = $clog2(FrameWords + 1);
  // Words that may be written between a look for room and a frame's first word.
  localparam int unsigned Ahead = 2;
  typedef struct packed {
    logic [CountW-1:0] left;
    logic [KeepW-1:0]  keep;
  } desc_t;

  logic s2_valid_q, s2_first_q, s2_last_q, s2_allowed_q, open_q;
  logic [DataW-1:0] s2_data_q;
  logic [KeepW-1:0] s2_keep_q;

  // -- from the role: its own queue's room is all that it can take from anybody. A frame without room waits in s2, and
  // all behind it.
  logic room, room_q, step;
  assign step = !(s2_valid_q && s2_first_q && !(room || room_q));
  assign ready_o = step;
  logic s1_valid, s1_first, s1_last, s1_known;
  logic [DataW-1:0] s1_data;
  logic [KeepW-1:0] s1_keep;
  ethernet_head_t s1_head;
  rl_port_head #(
    .DataW(DataW)
  ) u_head (
    .clk_i(clk_role_i),
    .rst_ni(rst_role_ni && !cut_i),
    .step_i(step),
    .valid_i,
    .data_i,
    .keep_i,
    .last_i,
    .valid_o(s1_valid),
    .first_o(s1_first),
    .last_o(s1_last),
    .data_o(s1_data),
    .keep_o(s1_keep),
    .known_o(s1_known),
    .head_o(s1_head)
  );

  logic reserved;
  rl_port_reserved #(
    .DataW(DataW)
  ) u_reserved (
    .clk_i(clk_role_i),
    .step_i(step),
    .valid_i(s1_valid),
    .first_i(s1_first),
    .last_i(s1_last),
    .data_i(s1_data),
    .keep_i(s1_keep),
    .ether_type_i(s1_head.ether_type),
    .reserved_o(reserved)
  );

  always_ff @(posedge clk_role_i) begin
    if (!rst_role_ni || cut_i) s2_valid_q <= 1'b0;
    else if (step) s2_valid_q <= s1_valid;
  end
  always_ff @(posedge clk_role_i) begin
    if (step) begin
      s2_first_q <= s1_first;
      s2_last_q <= s1_last;
      s2_data_q <= s1_data;
      s2_keep_q <= s1_keep;
      s2_allowed_q <= Plain || (s1_known && (forwards_i || s1_head.src == mac_i) && !reserved);
    end
  end

  logic word, fits_q, fits, ends, good, broken;
  logic [CountW-1:0] count_q, count;
  logic [13:0] bytes;
  assign count = s2_first_q ? '0 : count_q;
  assign fits = s2_first_q || (fits_q && count_q != CountW'(FrameWords));
  assign word = s2_valid_q && step && !cut_i;
  assign ends = word && s2_last_q;
  assign good = s2_allowed_q && fits && bytes <= 14'(FrameMax);
  assign broken = cut_i && open_q;
  rl_port_count #(
    .DataW(DataW)
  ) u_count (
    .clk_i(clk_role_i),
    .rst_ni(rst_role_ni && !cut_i),
    .valid_i(word),
    .last_i(s2_last_q),
    .keep_i(s2_keep_q),
    .bytes_o(bytes)
  );
  always_ff @(posedge clk_role_i) begin
    if (!rst_role_ni) begin
      open_q <= 1'b0;
      refused_o <= 1'b0;
    end else begin
      // Words of a frame are in the queue, and neither committed nor rolled back.
      if (word) open_q <= !s2_last_q;
      if (broken) open_q <= 1'b0;
      refused_o <= ends && !good;
    end
    room_q <= room;
    if (word) begin
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
    .clk_wr_i(clk_role_i),
    .rst_wr_ni(rst_role_ni),
    .room_o(room),
    .word_i(word && fits),
    .data_i(s2_data_q),
    .commit_i(ends && good),
    .desc_i({count, s2_keep_q}),
    .rollback_i((ends && !good) || broken),
    .clk_rd_i(clk_net_i),
    .rst_rd_ni(rst_net_ni),
    .valid_o(queue_valid),
    .desc_o(queue_desc),
    .done_i(queue_done),
    .take_i(queue_take),
    .data_o,
    .ready_o(queue_ready)
  );

  // -- to the port
  logic out_q;
  logic [CountW-1:0] left_q, left;
  assign left = out_q ? left_q : queue_desc.left;
  assign valid_o = queue_ready;
  assign last_o = left == 0;
  assign keep_o = last_o ? queue_desc.keep : '1;
  assign queue_take = valid_o && ready_i;
  assign queue_done = queue_take && last_o;
  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) out_q <= 1'b0;
    else if (queue_take) out_q <= !last_o;
  end
  always_ff @(posedge clk_net_i) if (queue_take) left_q <= left - 1'b1;

  logic unused;
  assign unused = queue_valid ^ (^s1_head.dst);
endmodule
