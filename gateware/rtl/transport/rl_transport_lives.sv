// To which lives of the two ends a segment belongs, and what that changes: logic without state.
module rl_transport_lives
  import rl_transport_pkg::*;
(
  input  transport_config_t config_i,
  input  peer_t             peer_i,
  input  epoch_t            src_i,
  input  epoch_t            dst_i,
  output peer_t             peer_o,
  output lives_t            lives_o
);
  logic known, named, stale, behind, restarts, current;
  epoch_t past;
  always_comb begin
    known = src_i != 0;
    named = known && dst_i == peer_i.mine;
    current = named && peer_i.established && src_i == peer_i.theirs;
    stale = named && peer_i.established && is_before(src_i, peer_i.theirs);
    restarts = named && !current && !stale;
    // It remembers a later life of ours. What a peer knows of us only rises, so what its present life says holds
    // however late it comes.
    behind = known && dst_i != 0 && is_before(peer_i.mine, dst_i) &&
        (!peer_i.established || src_i == peer_i.theirs);
    // Two lives that move past the same word move by different steps.
    past = dst_i + 32'd1 + 32'(peer_i.mine[15:0]);

    peer_o = peer_i;
    if (restarts || behind) peer_o = anew(peer_i, config_i);
    if (!current) peer_o.hello_due = 1'b1;
    if (restarts) begin
      peer_o.established = 1'b1;
      peer_o.theirs = src_i;
    end
    if (behind) begin
      peer_o.established = 1'b0;
      peer_o.mine = past == 0 ? 32'd1 : past;
    end
    if (known && !named && (behind || !peer_i.established))
      if (peer_i.theirs == 0 || is_before(peer_i.theirs, src_i)) peer_o.theirs = src_i;
    lives_o = '{current: current, restarts: restarts, moved: restarts || behind};
  end
endmodule
