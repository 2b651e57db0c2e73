// Words of frames that come, on their way past those who judge them: first where in its frame a word is, and a cycle
// later whether it is one of the payload. A family says what the head's bytes have to be, and how long the payload is.
//
// Where a head does not end with a word (Shared bytes of the next are its), a word of payload is made of two: then each
// but the last waits for the one after it.
module rl_wire_walk #(
  parameter int unsigned DataW = 64,
  parameter int unsigned HeadBytes = 64,   // All of a frame before its payload.
  parameter int unsigned NeedBytes = 64,   // A frame that has fewer is not looked at further.
  parameter int unsigned LengthLane = 2,   // The word of the head that ends what says the length.
  localparam int unsigned KeepW = DataW / 8,
  localparam int unsigned Lanes = (HeadBytes + KeepW - 1) / KeepW
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  input  logic             valid_i,
  input  logic [DataW-1:0] data_i,
  input  logic [KeepW-1:0] keep_i,             // With last_i: ones from bit 0 on. Else not looked at.
  input  logic             last_i,
  input  logic             bad_i,              // With last_i: the check sequence was wrong.

  // -- the word, to be judged
  output logic             now_valid_o,
  output logic             now_first_o,
  output logic             now_last_o,
  output logic             now_bad_o,
  output logic [DataW-1:0] now_data_o,
  output logic [Lanes-1:0] now_lane_o,         // Which word of the head it is, if one.
  output logic             now_no_ethernet_o,  // With last: the frame ends within its Ethernet header,
  output logic             now_no_need_o,      // or before NeedBytes.
  input  logic [15:0]      now_length_i,       // With LengthLane: bytes of payload,
  input  logic             now_empty_i,        // and whether there are none for whoever takes them.

  // -- the word, judged
  output logic             valid_o,
  output logic             first_o,
  output logic [DataW-1:0] data_o,
  output logic [DataW-1:0] next_o,             // The word after it, where a head shares one, unless it is the last.
  output logic             last_o,
  output logic [Lanes-1:0] lane_o,
  output logic             payload_o,          // It begins a word of payload, or one that means nothing where there is
  output logic             ends_o,             // none; and the last one.
  input  logic [16:0]      end_i,              // With last_o: which byte should be the frame's last.
  output logic             short_o             // It is not there.
);
  if (DataW < 64 || DataW > 512 || DataW != 1 << $clog2(DataW)) begin : gen_check
    $fatal(0, "rl_wire_walk: DataW must be 64, 128, 256 or 512 (%m)");
  end
  localparam int unsigned ByteW = $clog2(KeepW);
  localparam int unsigned AtW = 17 - ByteW;  // More words than the longest frame has.
  localparam int unsigned EthernetBytes = 14;
  localparam bit Shared = HeadBytes % KeepW != 0;
  typedef logic [AtW-1:0] at_t;
  typedef logic [Lanes-1:0] lanes_t;

  // A frame whose last word this is does not have so many bytes, which are no more than a head.
  function automatic logic ends_before(lanes_t lane, logic [KeepW-1:0] keep, int unsigned bytes);
    return (lane & lanes_t'((1 << ((bytes - 1) / KeepW)) - 1)) != '0 ||
        (lane[(bytes-1)/KeepW] && !keep[(bytes-1)%KeepW]);
  endfunction

  logic inside_q, now_body;
  logic [KeepW-1:0] now_keep_q, keep_q;
  at_t now_at_q, at_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      now_valid_o <= 1'b0;
      inside_q <= 1'b0;
    end else begin
      now_valid_o <= valid_i;
      if (valid_i) inside_q <= !last_i;
    end
  end
  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      now_first_o <= !inside_q;
      now_last_o <= last_i;
      now_bad_o <= last_i && bad_i;
      now_data_o <= data_i;
      now_keep_q <= keep_i;
      now_lane_o <= inside_q ? lanes_t'({now_lane_o, 1'b0}) : lanes_t'(1);
      // A frame that never ends must not seem short.
      now_at_q <= !inside_q ? '0 : now_at_q == '1 ? now_at_q : now_at_q + 1'b1;
    end
  end
  assign now_no_ethernet_o = ends_before(now_lane_o, now_keep_q, EthernetBytes);
  assign now_no_need_o = ends_before(now_lane_o, now_keep_q, NeedBytes);
  // A word of payload begins in this one.
  assign now_body = now_lane_o == '0 || (Shared && now_lane_o[Lanes-1]);

  logic there_q, body_q, empty_q;
  logic [16-ByteW:0] left_q;  // Words of payload that are still to begin.
  assign valid_o = there_q && (!Shared || last_o || now_valid_o);
  assign next_o = now_data_o;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) there_q <= 1'b0;
    else there_q <= now_valid_o || (there_q && !valid_o);
  end
  always_ff @(posedge clk_i) begin
    if (now_valid_o) begin
      first_o <= now_first_o;
      last_o <= now_last_o;
      data_o <= now_data_o;
      lane_o <= now_lane_o;
      keep_q <= now_keep_q;
      at_q <= now_at_q;
      body_q <= now_body;
      if (now_lane_o[LengthLane]) empty_q <= now_empty_i;
    end
    if (now_valid_o && now_lane_o[LengthLane])
      left_q <= now_empty_i ? (17 - ByteW)'(1) : (17 - ByteW)'((17'(now_length_i) + 17'(KeepW - 1)) >> ByteW);
    else if (valid_o && payload_o) left_q <= left_q - 1'b1;
  end
  // Without payload the word that means nothing is the one that ends with the head, where there is none that is shared.
  assign payload_o = left_q != '0 && (body_q || (!Shared && lane_o[Lanes-1] && empty_q));
  assign ends_o = left_q == (17 - ByteW)'(1);

  at_t end_at;
  assign end_at = end_i[16:ByteW];
  assign short_o = at_q < end_at || (at_q == end_at && !keep_q[end_i[ByteW-1:0]]);
endmodule
