// What an arrival is, and what it changes if it is of another life: logic without state.
//
// The first segment of a new life of the peer's only says that: numbers begin anew, and then it comes once more
// (`again_i`), as one of the present lives.
module rl_transport_lives
  import rl_transport_pkg::*;
(
  input  transport_config_t config_i,
  input  tick_t             now_i,
  input  peer_t             peer_i,
  input  compared_t         compared_i,
  input  segment_kind_e     kind_i,
  input  epoch_t            src_i,
  input  epoch_t            dst_i,
  input  logic              again_i,
  output peer_t             peer_o,
  output verdict_t          verdict_o,
  output transport_event_t  event_o
);
  logic current, stale, restarts, behind, unsent, data, wrong, takes, answers;
  epoch_t past;
  count_t acked;
  always_comb begin
    current = compared_i.known && compared_i.named && peer_i.established && compared_i.same;
    stale = peer_i.established && compared_i.older;
    restarts = compared_i.known && compared_i.named && !(peer_i.established && compared_i.same) && !stale;
    // It remembers a later life of ours. What a peer knows of us only rises, so what its present life says holds
    // however late it comes.
    behind = compared_i.known && compared_i.later && (!peer_i.established || compared_i.same);
    // Two lives that move past the same word move by different steps.
    past = dst_i + 32'(peer_i.mine[15:0]) + 32'd1;

    // Numbers are less than 2^31 from each other, or else before.
    unsent = compared_i.past ? !compared_i.distant && compared_i.acked < peer_i.flight :
        compared_i.distant || compared_i.acked > peer_i.flight;
    data = kind_i == KindData;
    wrong = unsent || (data && compared_i.ungranted);
    takes = current && !wrong;
    acked = takes && !compared_i.past ? compared_i.acked : '0;
    verdict_o = '{
        restarts: restarts,
        moved: restarts || behind,
        takes: takes,
        acked: acked,
        nacks: takes && !compared_i.past && kind_i == KindNack && compared_i.acked != peer_i.flight,
        raises: takes && compared_i.raises,
        data: takes && data,
        next: takes && data && compared_i.next,
        early: takes && data && compared_i.early,
        just_back: compared_i.just_back
    };

    // Two ends at odds about their lives would answer each other for ever.
    answers = !current && !restarts && (peer_i.answers != 0 || !peer_i.answer.on);
    peer_o = peer_i;
    if (restarts || behind) peer_o = anew(peer_i, config_i);
    if (answers || (current && again_i)) peer_o.hello_due = 1'b1;
    if (answers) begin
      peer_o.answer = after(now_i, config_i.rto);
      if (peer_i.answers != 0) peer_o.answers = peer_i.answers - 1'b1;
    end
    if (current) peer_o.answers = AnswersMax;
    if (restarts) begin
      peer_o.established = 1'b1;
      peer_o.theirs = src_i;
    end
    if (behind) begin
      peer_o.established = 1'b0;
      peer_o.mine = past == 0 ? 32'd1 : past;
    end
    if (compared_i.known && !compared_i.named && (behind || !peer_i.established) && compared_i.newer)
      peer_o.theirs = src_i;

    event_o = '0;
    event_o.restarted = restarts || behind;
    event_o.lost = restarts || behind ? peer_i.flight : '0;
    event_o.broken = current && wrong && !again_i;
    event_o.repeated = takes && data && !compared_i.next && !compared_i.early;
    event_o.missed = takes && data && compared_i.early;
    event_o.stale = !current && !restarts && !behind;
    event_o.heard = current;
  end
endmodule
