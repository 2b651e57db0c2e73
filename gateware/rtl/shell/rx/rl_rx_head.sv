// Puts a frame's head into one structure, and its payload into words of their own, of which the first begins with the
// payload's first byte. For words of 128 bits and more: the head is two words, one, or half of one.
//
// A head and a payload come out once for each frame; the payload has one word or more, of which the last tells how the
// frame has ended. It may have no byte.
module rl_rx_head
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
#(
  parameter int unsigned DataW = 128,
  localparam int unsigned KeepW = DataW / 8,
  localparam int unsigned ExtraW = $clog2(KeepW)
) (
  input  logic                      clk_net_i,
  input  logic                      rst_net_ni,

  input  logic                      word_valid_i,
  output logic                      word_ready_o,
  input  logic [DataW+ExtraW+2:0]   word_i,       // As rl_rx_fifo has it.

  input  logic                      head_room_i,
  output logic                      head_valid_o,
  output head_t                     head_o,
  output logic                      version_ok_o,
  output logic [2:0]                runt_o,       // The frame has ended before its byte 12, 14, 32.

  input  logic                      part_room_i,  // For two.
  output logic                      part_valid_o,
  output logic [DataW-1:0]          part_data_o,
  output logic [ExtraW:0]           part_bytes_o, // KeepW, but with the last.
  output logic                      part_last_o,
  output logic                      part_bad_o,   // With the last: the check sequence was wrong,
  output logic                      part_cut_o,   // or the rest did not fit.

  output logic                      taken_o,      // A word has come, of so many bytes.
  output logic [ExtraW:0]           taken_bytes_o
);
  localparam int unsigned HeadBytes = 32;
  localparam int unsigned HeadBits = 8 * HeadBytes;
  // Of the words before the one that completes the head there is one at most.
  localparam int unsigned HeadWords = KeepW < HeadBytes ? HeadBytes / KeepW : 1;
  if (DataW < 128 || DataW > 512 || DataW != 1 << $clog2(
          DataW
      ) || 32'(HeaderEnd) != HeadBytes) begin : gen_check
    $fatal(0, "rl_rx_head: DataW must be 128, 256 or 512 (%m)");
  end

  typedef struct packed {
    logic              cut;
    logic              bad;
    logic              last;
    logic [ExtraW-1:0] extra;
    logic [DataW-1:0]  data;
  } word_t;
  typedef logic [ExtraW:0] bytes_t;

  // -- s1
  logic valid_q, advance;
  word_t word_q;
  bytes_t bytes;
  assign advance = valid_q && head_room_i && part_room_i;
  assign word_ready_o = !valid_q || advance;
  assign bytes = bytes_t'(word_q.extra) + 1'b1;
  assign taken_o = advance;
  assign taken_bytes_o = bytes;
  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) valid_q <= 1'b0;
    else if (word_ready_o) valid_q <= word_valid_i;
  end
  always_ff @(posedge clk_net_i) if (word_ready_o) word_q <= word_i;

  // Which word of its frame it is: 0, 1, or 2 for all beyond.
  logic [1:0] at_q;
  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) at_q <= '0;
    else if (advance) at_q <= word_q.last ? '0 : at_q == 2'd2 ? 2'd2 : at_q + 1'b1;
  end

  // -- the head: its first byte on the left
  logic completes;
  logic [HeadBits-1:0] head_bytes;
  logic [5:0] came;  // Bytes of the frame so far, as far as the head reaches.
  if (HeadWords == 2) begin : gen_two
    logic [DataW-1:0] turned, first_q;
    assign turned = {<<8{word_q.data}};
    always_ff @(posedge clk_net_i) if (advance && at_q == 0) first_q <= turned;
    assign head_bytes = at_q == 0 ? {turned, DataW'(0)} : {first_q, turned};
    assign completes = at_q == 2'd1 || (at_q == 0 && word_q.last);
    assign came = at_q == 0 ? 6'(bytes) : 6'(bytes) + 6'(KeepW);
  end else begin : gen_one
    logic [HeadBits-1:0] first;
    assign first = word_q.data[HeadBits-1:0];
    assign head_bytes = {<<8{first}};
    assign completes = at_q == 0;
    assign came = bytes > bytes_t'(HeadBytes) ? 6'(HeadBytes) : 6'(bytes);
  end
  logic [3:0] version;
  assign {head_o.dst, head_o.src, head_o.ether_type, version, head_o.flags, head_o.kind, head_o.length,
          head_o.epoch, head_o.seq, head_o.addr} = head_bytes;
  assign version_ok_o = version == Version;
  assign runt_o = {3{word_q.last}} & {came < 6'd32, came < 6'd14, came < 6'd12};
  assign head_valid_o = advance && completes;

  // -- the payload
  if (KeepW <= HeadBytes) begin : gen_whole
    logic ours;  // Of the payload.
    assign ours = at_q >= 2'(HeadWords);
    assign part_valid_o = advance && (ours || word_q.last);
    assign part_data_o = word_q.data;
    assign part_bytes_o = ours ? bytes : '0;
    assign part_last_o = word_q.last;
    assign part_bad_o = word_q.bad;
    assign part_cut_o = word_q.cut;
  end else begin : gen_halves
    // A word of the payload is the upper half of one word and the lower half of the next one. What the last word leaves
    // over comes a cycle later, when at most another frame's first word is there, which gives nothing by itself.
    localparam int unsigned HalfW = DataW / 2;
    localparam bytes_t Half = bytes_t'(KeepW / 2);
    logic rest_q, bad_q, cut_q, first, spills;
    bytes_t left_q;
    logic [HalfW-1:0] upper_q;
    assign first = at_q == 0;
    assign spills = word_q.last && (first || bytes > Half);
    always_ff @(posedge clk_net_i) rest_q <= rst_net_ni && advance && spills;
    always_ff @(posedge clk_net_i) begin
      if (advance) begin
        upper_q <= word_q.data[DataW-1:HalfW];
        left_q <= bytes > Half ? bytes - Half : '0;
        bad_q <= word_q.bad;
        cut_q <= word_q.cut;
      end
    end
    assign part_valid_o = rest_q || (advance && !first);
    assign part_data_o = {word_q.data[HalfW-1:0], upper_q};
    assign part_last_o = rest_q || (word_q.last && !spills);
    assign part_bad_o = rest_q ? bad_q : word_q.bad;
    assign part_cut_o = rest_q ? cut_q : word_q.cut;
    always_comb begin
      part_bytes_o = bytes_t'(KeepW);
      if (rest_q) part_bytes_o = left_q;
      else if (part_last_o) part_bytes_o = bytes + Half;
    end
`ifndef SYNTHESIS
    OneAtATime_A :
    assert property (@(posedge clk_net_i) disable iff (!rst_net_ni) rest_q && advance |-> first);
`endif
  end
endmodule
