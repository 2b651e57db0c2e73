// The time, and whose time has come: after each tick the peers are looked at, one after the other, each once.
//
// A scan costs one event of the state for each peer and needs no list of timers that would have to be kept in order:
// with 256 peers and Gap 8 it takes 2048 cycles, 10 us at 200 MHz, and an eighth of the state's time while it lasts.
// Gap is more than an event takes: a scan of few peers must not keep them from everything else. Ticks that come
// faster than that are counted, and scans follow each other.
module rl_transport_timer
  import rl_transport_pkg::*;
#(
  parameter int unsigned Peers = 256,
  parameter int unsigned Gap = 8,      // Least cycles from one peer to the next, 8 or more.
  localparam int unsigned PeerW = $clog2(Peers),
  localparam int unsigned GapW = $clog2(Gap)
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             tick_i,        // For one cycle.
  output tick_t            now_o,

  output logic             scan_valid_o,
  input  logic             scan_ready_i,
  output logic [PeerW-1:0] scan_peer_o
);
  if (Gap < 8) begin : gen_check
    $fatal(0, "rl_transport_timer: Gap must be at least 8 (%m)");
  end
  logic again_q, scans_q;  // A scan is due, or under way.
  logic [GapW-1:0] gap_q;
  logic step;
  assign scan_valid_o = scans_q && gap_q == 0;
  assign step = scan_valid_o && scan_ready_i;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      now_o <= '0;
      again_q <= 1'b0;
      scans_q <= 1'b0;
      scan_peer_o <= '0;
      gap_q <= '0;
    end else begin
      if (tick_i) now_o <= now_o + 1'b1;
      again_q <= tick_i || (again_q && scans_q);
      scans_q <= scans_q ? !(step && &scan_peer_o) : again_q;
      if (step) scan_peer_o <= scan_peer_o + 1'b1;
      // Three cycles of it go by before the next one can be taken.
      if (step) gap_q <= GapW'(Gap - 3);
      else if (gap_q != 0) gap_q <= gap_q - 1'b1;
    end
  end
endmodule
