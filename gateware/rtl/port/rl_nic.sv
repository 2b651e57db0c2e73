// A host's network interface through the card: frames between the wire, which is port 0, and the port where the host
// is. The model's twin is crates/core/card/src/nic.rs.
//
//   wire (port 0) --.--> the card
//        ^          '--> judge --> queue --.
//        |                                 '--> host's port
//        '-- rl_egress <-- queue <-- judge <--'
//
// The host has one address, that of its port: only what is for it or for a group is handed to it, and it sends under no
// other. Families of ours are the card's at the wire and pass in neither direction, so whoever is behind the card can
// neither pose as a card nor command one. It knows neither firmware nor claim: frames pass whatever the card does.
//
// Nothing waits for a host that does not take its frames, or for a wire that does not: what finds its queue full is
// dropped and counted. Before the host's is full, the host is ordered to pause.
module rl_nic
  import rl_port_pkg::*;
  import rl_nic_pkg::*;
#(
  parameter int unsigned DataW = 64,
  parameter int unsigned FrameMax = 1518,  // Bytes of the longest frame that passes.
  parameter int unsigned Words = 2048,     // That wait, in each direction; a power of two.
  parameter int unsigned SilenceUs = 3355, // As rl_nic_pause says.
  parameter int unsigned RenewUs = 500,
  localparam int unsigned KeepW = DataW / 8
) (
  input  logic             clk_i,
  input  logic             rst_ni,        // Not the shell's: frames pass while that begins again.
  input  nic_config_t      config_i,      // Steady.
  input  logic [15:0]      time_us_i,

  // -- port 0: what its MAC receives, and a source of the rl_egress in front of it
  input  logic             wire_valid_i,
  input  logic [DataW-1:0] wire_data_i,
  input  logic [KeepW-1:0] wire_keep_i,   // With wire_last_i: ones from bit 0 on.
  input  logic             wire_last_i,
  input  logic             wire_bad_i,    // With wire_last_i: the check sequence was wrong.
  output logic             wire_valid_o,  // Words of a frame follow each other without a gap.
  input  logic             wire_ready_i,
  output logic [DataW-1:0] wire_data_o,
  output logic [KeepW-1:0] wire_keep_o,
  output logic             wire_last_o,

  // -- the MAC of the host's port
  input  logic             host_valid_i,
  input  logic [DataW-1:0] host_data_i,
  input  logic [KeepW-1:0] host_keep_i,
  input  logic             host_last_i,
  input  logic             host_bad_i,
  output logic             host_valid_o,  // Words of a frame follow each other without a gap.
  input  logic             host_ready_i,
  output logic [DataW-1:0] host_data_o,
  output logic [KeepW-1:0] host_keep_o,
  output logic             host_last_o,

  // -- what there is to count
  output port_event_t      wire_event_o,  // A frame from the wire was the host's, or pretended to be: not the card's.
  output port_event_t      host_event_o,  // A frame has come in from the host.
  output logic [1:0]       left_o,        // A frame has left to the wire [0] and to the host [1], for one cycle,
  output logic [1:0][13:0] left_bytes_o,  // of so many bytes.
  output nic_counts_t      counts_o,
  output logic             busy_o         // A frame is on its way, or the host is silent.
);
  localparam int unsigned FillW = $clog2(Words) + 2;
  localparam int unsigned FrameWords = (FrameMax + KeepW - 1) / KeepW;
  localparam int unsigned ShareW = $clog2(FrameWords + 1);
  if (FrameWords >= 3 * Words / 16) begin : gen_check
    $fatal(0, "rl_nic: a frame must not be enough for the host to be silenced (%m)");
  end

  nic_drop_t wire_drop, host_drop;
  logic [FillW-1:0] to_host_fill, to_wire_fill;

  // -- from the host to the wire
  rl_nic_path #(
    .DataW(DataW),
    .FromHost(1'b1),
    .FrameMax(FrameMax),
    .Words(Words)
  ) u_to_wire (
    .clk_i,
    .rst_ni,
    .config_i,
    .valid_i(host_valid_i),
    .data_i(host_data_i),
    .keep_i(host_keep_i),
    .last_i(host_last_i),
    .bad_i(host_bad_i),
    .valid_o(wire_valid_o),
    .ready_i(wire_ready_i),
    .data_o(wire_data_o),
    .keep_o(wire_keep_o),
    .last_o(wire_last_o),
    .event_o(host_event_o),
    .drop_o(host_drop),
    .left_o(left_o[0]),
    .bytes_o(left_bytes_o[0]),
    .fill_o(to_wire_fill)
  );

  // -- from the wire to the host, and orders to the host in between: each waits for one frame at most, as orders are
  // rare and short, so they have credit
  logic [1:0] valid, ready, last;
  logic [1:0][DataW-1:0] data;
  logic [1:0][KeepW-1:0] keep;
  logic silence, silent, unused_bad;
  rl_nic_path #(
    .DataW(DataW),
    .FromHost(1'b0),
    .FrameMax(FrameMax),
    .Words(Words)
  ) u_to_host (
    .clk_i,
    .rst_ni,
    .config_i,
    .valid_i(wire_valid_i),
    .data_i(wire_data_i),
    .keep_i(wire_keep_i),
    .last_i(wire_last_i),
    .bad_i(wire_bad_i),
    .valid_o(valid[0]),
    .ready_i(ready[0]),
    .data_o(data[0]),
    .keep_o(keep[0]),
    .last_o(last[0]),
    .event_o(wire_event_o),
    .drop_o(wire_drop),
    .left_o(left_o[1]),
    .bytes_o(left_bytes_o[1]),
    .fill_o(to_host_fill)
  );
  rl_nic_pause #(
    .DataW(DataW),
    .Words(Words),
    .SilenceUs(SilenceUs),
    .RenewUs(RenewUs)
  ) u_pause (
    .clk_i,
    .rst_ni,
    .card_i(config_i.card),
    .time_us_i,
    .fill_i(to_wire_fill),
    .silence_o(silence),
    .busy_o(silent),
    .valid_o(valid[1]),
    .ready_i(ready[1]),
    .data_o(data[1]),
    .keep_o(keep[1]),
    .last_o(last[1])
  );
  rl_egress #(
    .DataW(DataW),
    .Sources(2),
    .ShareW(ShareW),
    .FrameWords(FrameWords)
  ) u_egress (
    .clk_i,
    .rst_ni,
    .share_i({2{ShareW'(FrameWords)}}),
    .valid_i(valid),
    .ready_o(ready),
    .data_i(data),
    .keep_i(keep),
    .last_i(last),
    .bad_i('0),
    .valid_o(host_valid_o),
    .ready_i(host_ready_i),
    .data_o(host_data_o),
    .keep_o(host_keep_o),
    .last_o(host_last_o),
    .bad_o(unused_bad)
  );

  rl_nic_counts u_counts (
    .clk_i,
    .rst_ni,
    .wire_drop_i(wire_drop),
    .host_drop_i(host_drop),
    .left_i(left_o),
    .left_bytes_i(left_bytes_o),
    .paused_i(silence),
    .counts_o
  );

  // From the last word in until the frame shows at its queue some cycles pass.
  logic [3:0] rest_q;
  assign busy_o = rest_q != '0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) rest_q <= '0;
    else if (wire_valid_i || host_valid_i || host_valid_o || silent || {to_host_fill, to_wire_fill} != '0)
      rest_q <= '1;
    else if (busy_o) rest_q <= rest_q - 1'b1;
  end
endmodule
