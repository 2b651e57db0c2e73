// rl_stripe_read with a manager that asks and takes when it likes, and two channels that give what they were asked for,
// when they like. Stripes have two beats. One beat of one piece is watched: its channel gives a one for it, and a zero
// for all others. What is checked:
//   - towards a channel an address stays until it is taken, and tells a stripe of its own for each of the manager's;
//   - what a channel gives is always taken, and there is room for it;
//   - the manager gets the one when it has got all beats before it, and nothing but zeros else, with the id of its
//     burst, and whether it is the last of it;
//   - it gets as many beats as it has asked for;
//   - when nothing is under way, whoever asks is served: no room is ever lost.
module rl_stripe_read_formal (
  input logic            clk_i,
  input logic            arvalid_i,
  input logic [5:0]      arbeat_i,
  input logic [7:0]      arlen_i,
  input logic            arid_i,
  input logic            rready_i,
  input logic [1:0]      arready_i,
  input logic [1:0]      rvalid_i,
  input logic [1:0]      rdata_i,
  input logic            watch_i,  // The piece that goes now, and which beat of it.
  input logic            which_i
);
  localparam int unsigned Buffer = 4, Pieces = 4;
  typedef logic [9:0] number_t;

  logic rst_n = 1'b0, arready, rvalid, rdata, rlast, rid, busy;
  logic [1:0] arvalid, rready;
  logic [1:0][12:0] araddr;
  logic [1:0][7:0] arlen;
  rl_stripe_read #(
    .AddrW(13),
    .DataW(1),
    .IdW(1),
    .Channels(2),
    .Stripe(128),
    .Hash(1'b1),
    .Buffer(Buffer),
    .Pieces(Pieces)
  ) u_dut (
    .clk_i,
    .rst_ni(rst_n),
    .busy_o(busy),
    .s_arvalid_i(arvalid_i && rst_n),
    .s_arready_o(arready),
    .s_araddr_i({1'b1, arbeat_i, 6'd0}),
    .s_arlen_i(arlen_i),
    .s_arid_i(arid_i),
    .s_rvalid_o(rvalid),
    .s_rready_i(rready_i),
    .s_rdata_o(rdata),
    .s_rresp_o(),
    .s_rlast_o(rlast),
    .s_rid_o(rid),
    .m_arvalid_o(arvalid),
    .m_arready_i(arready_i),
    .m_araddr_o(araddr),
    .m_arlen_o(arlen),
    .m_rvalid_i(rvalid_i),
    .m_rready_o(rready),
    .m_rdata_i(rdata_i),
    .m_rresp_i(4'b0000)
  );
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  // -- what is in the block: pieces in order, and beats of each channel
  number_t [Pieces-1:0] size;  // Beats of each piece that have not left.
  logic [Pieces-1:0] from, id, last;
  number_t held, given;
  number_t [1:0] owed = '0, offered, kept, free, sum;  // Owed: by the channel's memory.
  assign held = number_t'(u_dut.u_order.held_q);
  assign given = number_t'(u_dut.given_q);
  for (genvar i = 0; i < Pieces; i++) begin : gen_piece
    logic [10:0] word;
    assign word = u_dut.u_order.words_q[i];
    assign {from[i], id[i], last[i]} = {word[10], word[1:0]};
    assign size[i] = number_t'(i) >= held ? '0 : number_t'(word[9:2]) + 1'b1 - (i == 0 ? given : '0);
  end
  for (genvar n = 0; n < 2; n++) begin : gen_look
    assign offered[n] = arvalid[n] ? number_t'(arlen[n]) + 1'b1 : '0;
    assign kept[n] = number_t'(u_dut.gen_channel[n].u_buffer.held_q);
    assign free[n] = number_t'(u_dut.gen_channel[n].free_q);
    always_comb begin
      sum[n] = '0;
      for (int i = 0; i < Pieces; i++) if (from[i] == 1'(n)) sum[n] += size[i];
    end
  end

  // -- the beat that is watched
  logic watching = 1'b0, w_from, w_id, w_last;
  number_t
      w_at,
      w_which,
      w_all,
      w_own;  // Its piece's place, its place there, and beats before it: all, its channel's.
  number_t ahead, own;  // Beats before its piece, as the queue says.
  logic go, moves;
  assign go = u_dut.go;
  assign moves = rvalid && rready_i;
  always_comb begin
    ahead = '0;
    own = '0;
    for (int i = 0; i < Pieces; i++) begin
      if (number_t'(i) < w_at) begin
        ahead += size[i];
        if (from[i] == w_from) own += size[i];
      end
    end
  end

  number_t asked = '0, left;
  logic past_q = 1'b0;
  logic [1:0] arvalid_q, arready_q;
  logic [1:0][20:0] ar_q;
  logic [12:0] piece_addr;
  assign left = u_dut.u_split.valid_o ? number_t'(u_dut.u_split.left_q) + 1'b1 : '0;
  assign piece_addr = u_dut.u_split.addr_o;

  always_ff @(posedge clk_i) begin
    // Bursts of up to eight beats, none across 4 KiB. A channel gives only what it was asked for.
    assume (arlen_i < 8 && {2'b0, arbeat_i} + arlen_i < 64);
    for (int n = 0; n < 2; n++) begin
      if (rvalid_i[n]) assume (rst_n && owed[n] != 0);
      assume (rdata_i[n] == (watching && w_from == 1'(n) && w_own == kept[n]));
    end
    if (watch_i) assume (go && (!which_i || u_dut.piece.len != 0));

    past_q <= rst_n;
    arvalid_q <= arvalid;
    arready_q <= arready_i;
    for (int n = 0; n < 2; n++) ar_q[n] <= {araddr[n], arlen[n]};
    if (rst_n) begin
      for (int n = 0; n < 2; n++)
      owed[n] <= owed[n] + (arready_i[n] ? offered[n] : '0) - number_t'(rvalid_i[n]);
      asked <= asked + (arvalid_i && arready ? number_t'(arlen_i) + 1'b1 : '0) - number_t'(moves);
      if (!watching) begin
        watching <= watch_i && go;
        w_from <= u_dut.piece.channel;
        w_id <= u_dut.piece.id;
        w_last <= u_dut.piece.last && {7'd0, which_i} == u_dut.piece.len;
        w_which <= number_t'(which_i);
        w_at <= held - number_t'(u_dut.ends);
        w_all <= sum[0] + sum[1] - number_t'(moves) + number_t'(which_i);
        w_own <= sum[u_dut.piece.channel] - number_t'(moves && from[0] == u_dut.piece.channel) + number_t'(which_i);
      end else begin
        if (moves) w_all <= w_all - 1'b1;
        if (moves && from[0] == w_from) w_own <= w_own - 1'b1;
        if (u_dut.ends) w_at <= w_at - 1'b1;
        if (moves && w_all == 0) watching <= 1'b0;
      end
    end

    if (rst_n) begin
      // -- what is promised
      assert (rready == '1);
      for (int n = 0; n < 2; n++) begin
        if (past_q && arvalid_q[n] && !arready_q[n])
          assert (arvalid[n] && {araddr[n], arlen[n]} == ar_q[n]);
        if (rvalid_i[n]) assert (kept[n] < number_t'(Buffer));
      end
      // With the channel the manager's address can be told from the channel's: no two have the same place.
      assert ({piece_addr[11:7], u_dut.u_split.channel_o ^ ^piece_addr[11:7], piece_addr[6:0]} == u_dut.u_split.addr_q);
      if (rvalid) assert (rdata == (watching && w_all == 0));
      if (rvalid && watching && w_all == 0) assert (rid == w_id && rlast == w_last);
      assert (asked == sum[0] + sum[1] + left);
      if (held == 0 && arvalid == 0 && left != 0) assert (go);
      assert (busy == (asked != 0));

      // -- what induction has to know
      assert (held <= number_t'(Pieces) && left <= 8);
      assert (held == 0 ? given == 0 : size[0] != 0 && size[0] + given <= 2);
      for (int i = 0; i < Pieces; i++)
      if (number_t'(i) < held) assert (size[i] != 0 && size[i] <= 2);
      for (int n = 0; n < 2; n++) begin
        assert (offered[n] <= 2 && owed[n] <= number_t'(Buffer) && kept[n] <= number_t'(Buffer));
        assert (free[n] <= number_t'(Buffer));
        assert (sum[n] == offered[n] + owed[n] + kept[n]);
        assert (free[n] + sum[n] == number_t'(Buffer));
      end
      if (watching) begin
        assert (w_at < held && from[w_at[1:0]] == w_from && id[w_at[1:0]] == w_id);
        assert (w_which <= 1 && w_which < size[w_at[1:0]] + (w_at == 0 ? given : '0));
        assert (w_last == (last[w_at[1:0]] && w_which + 1'b1 == size[w_at[1:0]] + (w_at == 0 ? given : '0)));
        assert (w_at != 0 || w_which >= given);
        assert (w_all == ahead + w_which - (w_at == 0 ? given : '0));
        assert (w_own == own + w_which - (w_at == 0 ? given : '0));
      end
      for (int i = 0; i < Buffer; i++) begin
        if (number_t'(i) < kept[0])
          assert (u_dut.gen_channel[0].u_buffer.words_q[i][0] == (watching && !w_from && w_own == number_t'(i)));
        if (number_t'(i) < kept[1])
          assert (u_dut.gen_channel[1].u_buffer.words_q[i][0] == (watching && w_from && w_own == number_t'(i)));
      end
    end else begin
      assert (owed == 0 && asked == 0 && !watching);
    end
    cover (past_q && kept[0] == number_t'(Buffer) && kept[1] == number_t'(Buffer) && watching && w_all == 10'd3);
    cover (past_q && rvalid && watching && w_all == 0 && w_which == 1);
  end
endmodule
