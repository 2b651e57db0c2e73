// Orders to the host behind the card to be silent while the wire does not keep up with it (IEEE 802.3 annex 31B). The
// model's twin is crates/core/card/src/backlog.rs.
//
// A host that keeps them loses no frame here: what is free above `High` takes all that comes until it is silent. That
// is a frame that it sends already, and one of the card's for which the order waits, of 1542 bytes on the cable each;
// what lies on the cable both ways; and the time that the standard gives a station, 60 quanta of 64 bytes at 10 Gb/s
// and 394 at 100. At 10 Gb/s and with 100 m of cable that is 8.2 KB, of the 13.3 KB that are free in 2048 words of 64
// bits. At 100 Gb/s and with 50 m it is 34.6 KB, at worst in frames of 65 bytes: those fill 776 of the 832 words that
// are free in 1024 of 512 bits.
module rl_nic_pause
  import rl_wire_pkg::mac_addr_t;
  import rl_port_pkg::*;
#(
  parameter int unsigned DataW = 64,
  parameter int unsigned Words = 2048,          // Of the queue.
  parameter int unsigned High = 3 * Words / 16, // Words that wait from which on the host is to be silent,
  parameter int unsigned Low = Words / 16,      // and below which it may go on.
  // How long the longest silence is, in microseconds: 65535 quanta of 512 bits at 10 Gb/s. It is ordered again so long
  // before it is over.
  parameter int unsigned SilenceUs = 3355,
  parameter int unsigned RenewUs = 500,
  localparam int unsigned KeepW = DataW / 8,
  localparam int unsigned FillW = $clog2(Words) + 2
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  mac_addr_t        card_i,     // Steady.
  input  logic [15:0]      time_us_i,
  input  logic [FillW-1:0] fill_i,     // Words that wait.
  output logic             silence_o,  // The host is ordered to be silent. For one cycle.
  output logic             busy_o,     // It is silent, as far as the card knows.

  output logic             valid_o,
  input  logic             ready_i,
  output logic [DataW-1:0] data_o,
  output logic [KeepW-1:0] keep_o,
  output logic             last_o
);
  if (RenewUs >= SilenceUs || SilenceUs >= 1 << 15 || Low >= High) begin : gen_check
    $fatal(
        0,
        "rl_nic_pause: an order must be given again before it is over, and low is below high (%m)"
    );
  end
  // Opcode and length of the shortest frame, without check sequence.
  localparam logic [47:0] NextStation = 48'h0180_c200_0001;
  localparam logic [15:0] OpcodePause = 16'h0001;
  localparam int unsigned Bytes = 60;
  localparam int unsigned FrameWords = (Bytes + KeepW - 1) / KeepW;
  localparam int unsigned AtW = FrameWords > 1 ? $clog2(FrameWords) : 1;
  typedef logic [AtW-1:0] at_t;

  logic silent_q;  // It was ordered to be silent last,
  logic over_q;    // and that is nearly over.
  logic [15:0] since_q, quanta_q;
  at_t at_q;
  logic order, silence, moves;
  assign silence = fill_i >= FillW'(High) && (!silent_q || over_q);
  assign order = !valid_o && (silence || (silent_q && fill_i < FillW'(Low)));
  assign moves = valid_o && ready_i;
  assign silence_o = order && silence;
  assign busy_o = silent_q || valid_o;
  always_ff @(posedge clk_i) begin
    over_q <= silent_q && !order && (over_q || time_us_i - since_q >= 16'(SilenceUs - RenewUs));
    if (order) begin
      silent_q <= silence;
      since_q <= time_us_i;
      quanta_q <= {16{silence}};
    end
    valid_o <= order || (valid_o && !(moves && last_o));
    if (moves) at_q <= last_o ? '0 : at_q + 1'b1;
    if (!rst_ni) begin
      {silent_q, over_q, valid_o} <= '0;
      at_q <= '0;
    end
  end

  // -- the frame, whose first byte on the wire is the most significant
  localparam int unsigned FrameW = FrameWords * DataW;
  logic [FrameW-1:0] frame, words;
  assign frame = {
    NextStation, card_i, EtherTypeMacControl, OpcodePause, quanta_q, {FrameW - 144{1'b0}}
  };
  for (genvar i = 0; i < FrameW / 8; i++) begin : gen_byte
    assign words[8*i+:8] = frame[FrameW-8*i-1-:8];
  end
  assign data_o = words[DataW*32'(at_q)+:DataW];
  assign last_o = at_q == at_t'(FrameWords - 1);
  assign keep_o = last_o ? KeepW'((64'd1 << (Bytes - (FrameWords - 1) * KeepW)) - 1) : '1;
endmodule
