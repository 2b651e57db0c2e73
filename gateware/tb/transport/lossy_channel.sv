// The network between two ends, one way: whole frames that are lost, repeated and overtake one another. What is
// damaged is lost, as a MAC sees to it.
module lossy_channel
  import rl_transport_pkg::*;
  import transport_words_pkg::*;
#(
  parameter int unsigned DataW = 64,
  parameter int unsigned DescW = 32,
  parameter int unsigned PeerW = 2,
  parameter int unsigned FrameWords = 8,
  parameter int unsigned From = 0,    // Which end sends.
  parameter int unsigned Places = 32  // Frames on their way. When all are taken, any one is lost.
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             from_live_i,  // The end that sends is not in reset: what it has begun is nothing.
  input  logic             to_live_i,    // And the end that gets: what it has half is lost.
  input  logic [31:0]      seed_i,
  input  logic [7:0]       loss_i,    // Of 256 frames.
  input  logic [7:0]       repeat_i,
  input  logic [7:0]       pause_i,   // Of 256 cycles in which it takes nothing.
  input  logic [(1<<PeerW)-1:0] mute_i,  // What is to or from these peers is lost.
  input  logic [15:0]      delay_i,   // Most cycles on its way: with more than a few, frames overtake one another.

  input  logic             valid_i,
  output logic             ready_o,
  input  logic [PeerW-1:0] peer_i,
  input  segment_t         segment_i,
  input  logic [DescW-1:0] desc_i,
  input  logic [DataW-1:0] data_i,
  input  logic             last_i,

  output logic             head_valid_o,  // Heads of frames come early, and beside their words as well.
  input  logic             head_ready_i,
  output logic [PeerW-1:0] head_peer_o,
  output segment_t         head_segment_o,
  output logic [DescW-1:0] head_desc_o,
  output logic             valid_o,
  input  logic             ready_i,
  output logic [PeerW-1:0] peer_o,
  output segment_t         segment_o,
  output logic [DescW-1:0] desc_o,
  output logic [DataW-1:0] data_o,
  output logic             last_o,
  output logic [31:0]      lost_o,    // Frames.
  output logic             wrong_o    // A word came that is not of the frame with which it came.
);
  localparam int unsigned PlaceW = $clog2(Places);
  typedef struct packed {
    logic             there;
    logic             goes;   // It is among those that arrive next.
    logic [15:0]      left;   // Cycles until it may arrive.
    logic [PeerW-1:0] peer;
    segment_t         segment;
    logic [DescW-1:0] desc;
    logic [7:0]       last;   // The number of the last word.
  } frame_t;
  frame_t frames[Places];
  logic [DataW-1:0] words[Places][FrameWords];

  logic [31:0] random_q;
  function automatic logic [31:0] draw();
    random_q = random_q ^ (random_q << 13);
    random_q = random_q ^ (random_q >> 17);
    random_q = random_q ^ (random_q << 5);
    return random_q;
  endfunction

  // -- in, and on its way
  logic [7:0] at_q;
  logic [DataW-1:0] coming[FrameWords];
  // -- out: places of the frames that arrive next
  logic [PlaceW-1:0] order[4];
  logic [2:0] chosen_q, heads_q, words_q;
  logic [7:0] sent_q;
  frame_t head, now;
  assign head = frames[order[heads_q[1:0]]];
  assign now = frames[order[words_q[1:0]]];
  assign head_valid_o = heads_q != chosen_q;
  assign head_peer_o = head.peer;
  assign head_segment_o = head.segment;
  assign head_desc_o = head.desc;
  assign valid_o = words_q != chosen_q;
  assign peer_o = now.peer;
  assign segment_o = now.segment;
  assign desc_o = now.desc;
  assign data_o = words[order[words_q[1:0]]][sent_q[$clog2(FrameWords)-1:0]];
  assign last_o = sent_q == now.last;

  always_ff @(posedge clk_i) begin
    int unsigned copies, start, place;
    logic is_chosen;
    if (!rst_ni) begin
      random_q = seed_i | 1;
      ready_o <= 1'b0;
      at_q <= '0;
      {chosen_q, heads_q, words_q, sent_q} <= '0;
      lost_o <= '0;
      wrong_o <= 1'b0;
      for (int i = 0; i < Places; i++) {frames[i].goes, frames[i].there} = '0;
    end else begin
      ready_o <= 8'(draw() >> 8) >= pause_i;
      for (int i = 0; i < Places; i++)
      if (frames[i].there && frames[i].left != 0) frames[i].left -= 1'b1;
      if (!from_live_i) at_q <= '0;
      else if (valid_i && ready_o) begin
        // Whoever gets it, and even if nobody does: a frame of somebody else's would be a leak.
        if (segment_i.kind == KindData && data_i != DataW'(word_of(
                From, 8'(peer_i), 32'(desc_i[31:8]), at_q
            )))
          wrong_o <= 1'b1;
        coming[at_q[$clog2(FrameWords)-1:0]] = data_i;
        at_q <= last_i ? '0 : at_q + 1'b1;
        if (last_i) begin
          copies = mute_i[peer_i] || 8'(draw() >> 8) < loss_i ? 0 : 8'(draw() >> 8) < repeat_i ? 2 : 1;
          if (copies == 0) lost_o <= lost_o + 1'b1;
          start = (draw() >> 8) % Places;
          for (int k = 0; k < 2; k++) begin
            // A free place, or else any that can still be given up.
            place = Places;
            for (int i = 0; i < Places; i++)
            if (!frames[PlaceW'(start+i)].goes && (place == Places || !frames[PlaceW'(start+i)].there))
              place = 32'(PlaceW'(start + i));
            if (copies != 0 && place != Places) begin
              copies -= 1;
              if (frames[place[PlaceW-1:0]].there) lost_o <= lost_o + 1'b1;
              frames[place[PlaceW-1:0]] = '{
                  there: 1'b1,
                  goes: 1'b0,
                  left: 16'((draw() >> 8) % (32'(delay_i) + 1)),
                  peer: peer_i,
                  segment: segment_i,
                  desc: desc_i,
                  last: at_q
              };
              words[place[PlaceW-1:0]] = coming;
            end
          end
        end
      end
      if (!to_live_i) begin
        for (int i = 0; i < Places; i++) if (frames[i].goes) {frames[i].goes, frames[i].there} = '0;
        {chosen_q, heads_q, words_q, sent_q} <= '0;
      end else begin
        if (head_valid_o && head_ready_i) heads_q <= heads_q + 1'b1;
        if (valid_o && ready_i) begin
          sent_q <= last_o ? '0 : sent_q + 1'b1;
          if (last_o) begin
            words_q <= words_q + 1'b1;
            {frames[order[words_q[1:0]]].goes, frames[order[words_q[1:0]]].there} = '0;
          end
        end
        // Any that may arrive.
        start = (draw() >> 8) % Places;
        is_chosen = chosen_q == {~words_q[2], words_q[1:0]};
        for (int i = 0; i < Places; i++) begin
          place = 32'(PlaceW'(start + i));
          if (!is_chosen && frames[place[PlaceW-1:0]].there && !frames[place[PlaceW-1:0]].goes &&
              frames[place[PlaceW-1:0]].left == 0) begin
            is_chosen = 1'b1;
            frames[place[PlaceW-1:0]].goes = 1'b1;
            order[chosen_q[1:0]] <= place[PlaceW-1:0];
            chosen_q <= chosen_q + 1'b1;
          end
        end
      end
    end
  end
endmodule
