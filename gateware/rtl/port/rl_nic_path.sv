// Frames of one direction between the wire and the host behind the card: what may pass waits whole for the other side.
// What comes in cannot wait: a frame that is damaged, may not pass or finds no room goes nowhere.
module rl_nic_path
  import rl_port_pkg::*;
  import rl_nic_pkg::*;
#(
  parameter int unsigned DataW = 64,
  parameter bit FromHost = 1'b0,           // From the host to the wire, else the other way.
  parameter int unsigned FrameMax = 1518,  // Bytes of the longest frame that passes.
  parameter int unsigned Words = 2048,     // That wait, a power of two.
  localparam int unsigned KeepW = DataW / 8,
  localparam int unsigned FillW = $clog2(Words) + 2
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  nic_config_t      config_i,  // Steady.

  input  logic             valid_i,   // From the MAC, which never waits.
  input  logic [DataW-1:0] data_i,
  input  logic [KeepW-1:0] keep_i,    // With last_i: ones from bit 0 on.
  input  logic             last_i,
  input  logic             bad_i,     // With last_i: the check sequence was wrong.

  output logic             valid_o,   // Words of a frame follow each other without a gap.
  input  logic             ready_i,
  output logic [DataW-1:0] data_o,
  output logic [KeepW-1:0] keep_o,
  output logic             last_o,

  // What there is to count, each for one cycle.
  output port_event_t      event_o,   // A frame has come in; from the wire: one that is or pretends to be the host's.
  output nic_drop_t        drop_o,
  output logic             left_o,    // A frame has left,
  output logic [13:0]      bytes_o,   // of so many bytes.
  output logic [FillW-1:0] fill_o     // Words of whole frames that wait.
);
  if (Words * KeepW < FrameMax) begin : gen_check
    $fatal(0, "rl_nic_path: a longest frame must fit (%m)");
  end
  typedef logic [FillW-1:0] fill_t;

  logic valid, last, bad, whole;
  logic [DataW-1:0] data;
  logic [KeepW-1:0] keep;
  nic_verdict_e verdict;
  rl_nic_judge #(
    .DataW(DataW),
    .FromHost(FromHost)
  ) u_judge (
    .clk_i,
    .rst_ni,
    .config_i,
    .valid_i(valid_i && config_i.open),
    .data_i,
    .keep_i,
    .last_i,
    .bad_i,
    .valid_o(valid),
    .data_o(data),
    .keep_o(keep),
    .last_o(last),
    .bad_o(bad),
    .whole_o(whole),
    .verdict_o(verdict)
  );

  // With the last word: bytes of the frame. Before it, of what has come so far.
  logic [13:0] bytes;
  logic too_long, sound, room, taken;
  rl_port_count #(
    .DataW(DataW)
  ) u_came (
    .clk_i,
    .rst_ni,
    .valid_i(valid),
    .last_i(last),
    .keep_i(keep),
    .bytes_o(bytes)
  );
  assign too_long = bytes > 14'(FrameMax);
  assign sound = whole && !bad && verdict == NicPass;
  assign taken = valid && last && sound && !too_long && room;

  logic moves, unused_bad;
  assign moves = valid_o && ready_i;
  rl_port_queue #(
    .DataW(DataW),
    .Words(Words)
  ) u_queue (
    .clk_i,
    .rst_ni,
    .valid_i(valid),
    .data_i(data),
    .keep_i(keep),
    .last_i(last),
    .take_i(sound && !too_long),
    .early_i(1'b0),
    .long_i(too_long),
    .room_o(room),
    .valid_o,
    .ready_i,
    .data_o,
    .keep_o,
    .last_o,
    .bad_o(unused_bad)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) fill_o <= '0;
    else
      fill_o <= fill_o + (taken ? fill_t'((32'(bytes) + KeepW - 1) / KeepW) : '0) - fill_t'(moves);
  end

  // -- what there is to count
  logic ends;
  assign ends = valid && last && (FromHost || (!bad && verdict != NicOther));
  always_ff @(posedge clk_i) begin
    event_o <= '0;
    drop_o <= '0;
    if (rst_ni && ends) begin
      event_o.frame <= 1'b1;
      if (bad) event_o.check <= 1'b1;
      else if (!whole) event_o.truncated <= 1'b1;
      else if (verdict != NicPass) event_o.foreign <= 1'b1;
      else if (!room || too_long) event_o.full <= 1'b1;
      if (!bad && whole) begin
        drop_o.forged <= verdict == NicForged;
        drop_o.reserved <= verdict == NicReserved;
        drop_o.astray <= verdict == NicAstray;
        drop_o.overflow <= verdict == NicPass && (!room || too_long);
      end
    end
    event_o.bytes <= bytes;
  end
  assign left_o = moves && last_o;
  rl_port_count #(
    .DataW(DataW)
  ) u_left (
    .clk_i,
    .rst_ni,
    .valid_i(moves),
    .last_i(last_o),
    .keep_i(keep_o),
    .bytes_o
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      WholeOnly_A : assert (!(valid_o && last_o && unused_bad));
      FillIsThere_A : assert (!moves || fill_o != '0);
    end
  end
`endif
endmodule
