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
  parameter bit          Heads = 1'b0,  // Heads are offered before their words, or beside them.
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
  input  logic                        quick_i,   // All words of a frame are there when it begins.
  input  logic [PeerW-1:0]            peers_i,   // Peers that get frames: those that are made of these bits.
  input  logic                        consumes_i,

  output logic                        s_head_valid_o,
  input  logic                        s_head_ready_i,
  output logic [PeerW-1:0]            s_head_peer_o,
  output logic [DescW-1:0]            s_head_desc_o,
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

  // -- source: frames whose heads were given, the one whose head is offered, and of the first of them its words
  typedef struct packed {
    logic [PeerW-1:0] peer;
    logic [31:0]      frame;
    logic [7:0]       last;
  } frame_t;
  frame_t [7:0] frames_q;
  logic [2:0] given_q, gone_q;  // Places of the head that is offered, and of the words.
  logic offered_q, waited_q, head_taken, taken;
  logic [Peers-1:0][31:0] numbers_q;  // Of the next frame for each peer.
  logic [7:0] at_q;
  frame_t offered, now;
  assign offered = frames_q[given_q];
  assign now = frames_q[gone_q];
  assign s_head_valid_o = offered_q;
  assign s_head_peer_o = offered.peer;
  assign s_head_desc_o = DescW'({offered.frame[23:0], offered.last});
  assign s_peer_o = now.peer;
  assign s_desc_o = DescW'({now.frame[23:0], now.last});
  assign s_data_o = DataW'(word_of(FromHere, 8'(now.peer), now.frame, at_q));
  assign s_last_o = at_q == now.last;
  assign taken = s_valid_o && s_ready_i;
  assign head_taken = Heads ? offered_q && s_head_ready_i : taken && at_q == 0;

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
    logic is_offered;
    logic [2:0] given, gone;
    if (!rst_ni) begin
      random_q = seed_i | 1;
      pushed_o <= '0;
      lost_o <= '0;
      expected_o <= '0;
      skipped_o <= '0;
      delivered_o <= '0;
      wrong_o <= 1'b0;
      owed_q <= '0;
      numbers_q <= '0;
      frames_q <= '0;
      s_valid_o <= 1'b0;
      {offered_q, given_q, gone_q} <= '0;
      at_q <= '0;
      got_q <= '0;
      d_ready_o <= 1'b0;
      consume_valid_o <= 1'b0;
    end else if (!live_i) begin
      // What the end held is gone, and what it was just given.
      pushed_o <= numbers_q;
      lost_o <= numbers_q;
      s_valid_o <= 1'b0;
      {offered_q, given_q, gone_q} <= '0;
      at_q <= '0;
      got_q <= '0;
      d_ready_o <= 1'b0;
      owed_q <= '0;
      consume_valid_o <= 1'b0;
    end else begin
      given = given_q + 3'(head_taken);
      gone = gone_q + 3'(taken && s_last_o);
      is_offered = offered_q && !head_taken;
      if (head_taken) numbers_q[offered.peer] <= numbers_q[offered.peer] + 1'b1;
      if (taken) begin
        at_q <= s_last_o ? '0 : at_q + 1'b1;
        if (s_last_o) pushed_o[now.peer] <= pushed_o[now.peer] + 1'b1;
      end
      // A frame that finds no room may make way for another, from its second cycle on.
      if (is_offered && waited_q && !s_room_i) is_offered = 1'b0;
      waited_q <= is_offered;
      if (!is_offered && 3'(given - gone) < 4 && (Heads || given == gone)) begin
        is_offered = 8'(draw() >> 8) >= idle_i && feeds_i;
        owner = PeerW'(draw() >> 8) & peers_i;
        frames_q[given] <= '{
            peer: owner,
            frame: numbers_q[owner] + 32'(head_taken && offered.peer == owner),
            last:
            full_i
            ?
            8'(FrameWords - 1)
            : 8'(
            draw() >> 8
            ) <
            long_i
            ?
            8'((draw() >> 8) % FrameWords)
            : '0
        };
        if (given == gone) s_valid_o <= is_offered;
      end
      // Words come at once with the head of their frame, or else now and then.
      if (given != gone || (is_offered && offered_q && !head_taken))
        s_valid_o <= (s_valid_o && !taken) || 8'(draw() >> 8) >= idle_i || quick_i;
      else if (!is_offered) s_valid_o <= 1'b0;
      offered_q <= is_offered;
      given_q <= given;
      gone_q <= gone;
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
