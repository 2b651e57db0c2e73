// Source, sink and owner of one end, for all its peers. Frames to a peer are numbered, and every word tells which
// frame it is of, so that the sink of the other end knows what must come: the next one, whole; after a life has
// ended, a later one, but no more are left out than were reported lost.
module transport_user
  import rl_transport_pkg::*;
  import transport_words_pkg::*;
#(
  parameter int unsigned DataW = 64,
  parameter int unsigned DescW = 32,
  parameter int unsigned PeerW = 2,
  parameter int unsigned FrameWords = 8,
  parameter int unsigned FromHere = 0  // Which of the ends.
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,    // Of the bench.
  input  logic                        live_i,    // The end is not in reset.
  input  logic [31:0]                 seed_i,
  input  logic                        feeds_i,   // Frames are offered.
  input  logic [7:0]                  idle_i,    // Of 256 cycles without an offer, between frames and in them,
  input  logic [7:0]                  pause_i,   // and in which the sink takes nothing,
  input  logic [7:0]                  keep_i,    // or the owner consumes nothing.
  input  logic [7:0]                  long_i,    // Of 256 frames that are of any length: the others have one word,
  input  logic                        full_i,    // or all are of the longest.
  input  logic                        consumes_i,

  output logic                        s_valid_o,
  input  logic                        s_ready_i,
  output logic [PeerW-1:0]            s_peer_o,
  output logic [DescW-1:0]            s_desc_o,
  output logic [DataW-1:0]            s_data_o,
  output logic                        s_last_o,
  input  logic                        s_room_i,

  input  logic                        d_valid_i,
  output logic                        d_ready_o,
  input  logic [PeerW-1:0]            d_peer_i,
  input  logic [DescW-1:0]            d_desc_i,
  input  logic [DataW-1:0]            d_data_i,
  input  logic                        d_last_i,

  output logic                        consume_valid_o,
  input  logic                        consume_ready_i,
  output logic [PeerW-1:0]            consume_peer_o,
  output count_t                      consume_count_o,
  input  transport_event_t            event_i,
  input  logic [PeerW-1:0]            event_peer_i,

  output logic [(1<<PeerW)-1:0][31:0] pushed_o,    // Frames given for each peer,
  output logic [(1<<PeerW)-1:0][31:0] lost_o,      // and those of them that may have been lost with a life.
  output logic [(1<<PeerW)-1:0][31:0] expected_o,  // The frame that comes next from each peer,
  output logic [(1<<PeerW)-1:0][31:0] skipped_o,   // and how many were left out.
  output logic [31:0]                 delivered_o,
  output logic                        wrong_o      // A word came that must not.
);
  localparam int unsigned Peers = 1 << PeerW;
  logic [31:0] random_q;
  function automatic logic [31:0] draw();
    random_q = random_q ^ (random_q << 13);
    random_q = random_q ^ (random_q >> 17);
    random_q = random_q ^ (random_q << 5);
    return random_q;
  endfunction

  // -- source
  logic inside_q, goes_on, taken;  // A word of the frame was taken, and not its last.
  logic [7:0] at_q, last_q;
  assign s_desc_o = DescW'({pushed_o[s_peer_o][23:0], last_q});
  assign s_data_o = DataW'(word_of(FromHere, 8'(s_peer_o), pushed_o[s_peer_o], at_q));
  assign s_last_o = at_q == last_q;
  assign taken = s_valid_o && s_ready_i;
  assign goes_on = taken ? !s_last_o : inside_q;

  // -- sink
  logic [7:0] got_q;
  logic [23:0] frame;
  logic [31:0] ahead;
  assign frame = d_desc_i[31:8];
  assign ahead = 32'(24'(frame - expected_o[d_peer_i][23:0]));

  // -- owner
  logic [Peers-1:0][31:0] owed_q;

  always_ff @(posedge clk_i) begin
    logic [PeerW-1:0] owner;
    if (!rst_ni) begin
      random_q = seed_i | 1;
      pushed_o <= '0;
      lost_o <= '0;
      expected_o <= '0;
      skipped_o <= '0;
      delivered_o <= '0;
      wrong_o <= 1'b0;
      owed_q <= '0;
      s_valid_o <= 1'b0;
      inside_q <= 1'b0;
      at_q <= '0;
      got_q <= '0;
      d_ready_o <= 1'b0;
      consume_valid_o <= 1'b0;
    end else if (!live_i) begin
      // What the end held is gone, and what it was just given.
      if (inside_q) pushed_o[s_peer_o] <= pushed_o[s_peer_o] + 1'b1;
      for (int i = 0; i < Peers; i++)
      lost_o[i] <= pushed_o[i] + 32'(inside_q && s_peer_o == PeerW'(i));
      s_valid_o <= 1'b0;
      inside_q <= 1'b0;
      at_q <= '0;
      got_q <= '0;
      d_ready_o <= 1'b0;
      owed_q <= '0;
      consume_valid_o <= 1'b0;
    end else begin
      // A frame that finds no room may make way for another.
      if (!s_valid_o || taken || (!s_room_i && !inside_q)) begin
        s_valid_o <= 8'(draw() >> 8) >= idle_i && (goes_on || feeds_i);
        if (!goes_on) begin
          s_peer_o <= PeerW'(draw() >> 8);
          last_q <= full_i ? 8'(FrameWords - 1) : 8'(draw() >> 8) < long_i ? 8'((draw() >> 8) % FrameWords) : '0;
        end
      end
      if (taken) begin
        inside_q <= goes_on;
        at_q <= goes_on ? at_q + 1'b1 : '0;
        if (!goes_on) pushed_o[s_peer_o] <= pushed_o[s_peer_o] + 1'b1;
      end
      if (event_i.restarted) lost_o[event_peer_i] <= lost_o[event_peer_i] + 32'(event_i.lost);

      d_ready_o <= 8'(draw() >> 8) >= pause_i;
      if (d_valid_i && d_ready_o) begin
        got_q <= d_last_i ? '0 : got_q + 1'b1;
        if (d_data_i != DataW'(word_of(1 - FromHere, 8'(d_peer_i), 32'(frame), got_q)))
          wrong_o <= 1'b1;
        if (d_last_i != (got_q == d_desc_i[7:0])) wrong_o <= 1'b1;
        if (d_last_i) begin
          // Numbers of frames are taken modulo 2^24: one that comes again is far ahead.
          if (ahead >= 1 << 20) wrong_o <= 1'b1;
          skipped_o[d_peer_i] <= skipped_o[d_peer_i] + ahead;
          expected_o[d_peer_i] <= expected_o[d_peer_i] + ahead + 1'b1;
          delivered_o <= delivered_o + 1'b1;
        end
      end

      // The owner owes nothing for lives that have ended.
      if (consume_valid_o && consume_ready_i) consume_valid_o <= 1'b0;
      if (consumes_i && d_valid_i && d_ready_o && d_last_i)
        owed_q[d_peer_i] <= owed_q[d_peer_i] + 1'b1;
      else if (!consume_valid_o && 8'(draw() >> 8) >= keep_i) begin
        owner = PeerW'(draw() >> 8);
        consume_peer_o <= owner;
        consume_count_o <= count_t'(owed_q[owner]);
        consume_valid_o <= owed_q[owner] != 0;
        owed_q[owner] <= '0;
      end
      if (event_i.restarted) owed_q[event_peer_i] <= '0;
    end
  end
endmodule
