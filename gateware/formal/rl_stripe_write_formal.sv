// rl_stripe_write with a manager that asks, sends and takes answers when it likes, and two channels that take what they
// like and answer what they have been given, address and data. Stripes have two beats. One piece is watched: one beat
// of it is a one, all other data zeros, and its answer is an error, all others are none. What is checked:
//   - towards a channel an address stays until it is taken, and so does data; for each address there is data, its last
//     beat marked, and for data an address;
//   - the watched beat goes to its channel when all before it have gone there, and nothing but zeros else;
//   - what a channel answers is always taken, and there is room for it;
//   - the manager has an answer for each burst; the watched piece's burst has the error, with its id, and no other;
//   - when nothing is under way, whoever asks is served.
module rl_stripe_write_formal (
  input logic       clk_i,
  input logic       awvalid_i,
  input logic [5:0] awbeat_i,
  input logic [7:0] awlen_i,
  input logic       awid_i,
  input logic       wvalid_i,
  input logic       wdata_i,
  input logic       bready_i,
  input logic [1:0] awready_i,
  input logic [1:0] wready_i,
  input logic [1:0] bvalid_i,
  input logic [1:0] berror_i,
  input logic       watch_i,  // The piece that goes now, and which beat of it.
  input logic       which_i
);
  localparam int unsigned Buffer = 2, Pieces = 4, Routes = 4;
  typedef logic [9:0] number_t;

  logic rst_n = 1'b0, awready, wready, bvalid, bid, busy;
  logic [1:0] bresp, awvalid, wvalid, wstrb, wlast, bready;
  logic [1:0][12:0] awaddr;
  logic [1:0][7:0] awlen, wdata;
  rl_stripe_write #(
    .AddrW(13),
    .DataW(8),
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
    .s_awvalid_i(awvalid_i && rst_n),
    .s_awready_o(awready),
    .s_awaddr_i({1'b1, awbeat_i, 6'd0}),
    .s_awlen_i(awlen_i),
    .s_awid_i(awid_i),
    .s_wvalid_i(wvalid_i && rst_n),
    .s_wready_o(wready),
    .s_wdata_i({7'd0, wdata_i}),
    .s_wstrb_i(1'b1),
    .s_bvalid_o(bvalid),
    .s_bready_i(bready_i),
    .s_bresp_o(bresp),
    .s_bid_o(bid),
    .m_awvalid_o(awvalid),
    .m_awready_i(awready_i),
    .m_awaddr_o(awaddr),
    .m_awlen_o(awlen),
    .m_wvalid_o(wvalid),
    .m_wready_i(wready_i),
    .m_wdata_o(wdata),
    .m_wstrb_o(wstrb),
    .m_wlast_o(wlast),
    .m_bvalid_i(bvalid_i),
    .m_bready_o(bready),
    .m_bresp_i({berror_i[1], 1'b0, berror_i[0], 1'b0})
  );
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  // -- what is in the block: pieces whose data comes, pieces that are not answered, data and answers of each channel
  number_t [Routes-1:0] size;  // Beats of each piece that have not come.
  logic [Routes-1:0] to;
  logic [Pieces-1:0] from, id, last;
  number_t routes, sent, pieces, bursts;
  number_t [1:0] to_come, data, lasts, ways, answers, owed;
  assign routes = number_t'(u_dut.u_routes.held_q);
  assign sent = number_t'(u_dut.sent_q);
  assign pieces = number_t'(u_dut.u_owed.held_q);
  for (genvar i = 0; i < Routes; i++) begin : gen_route
    logic [8:0] word;
    assign word = u_dut.u_routes.words_q[i];
    assign to[i] = word[8];
    assign size[i] = number_t'(i) >= routes ? '0 : number_t'(word[7:0]) + 1'b1 - (i == 0 ? sent : '0);
  end
  for (genvar i = 0; i < Pieces; i++) begin : gen_piece
    assign {from[i], id[i], last[i]} = u_dut.u_owed.words_q[i];
  end
  for (genvar n = 0; n < 2; n++) begin : gen_look
    assign data[n] = number_t'(u_dut.gen_channel[n].u_data.held_q);
    assign answers[n] = number_t'(u_dut.gen_channel[n].u_answers.held_q);
    always_comb begin
      to_come[n] = '0;
      ways[n] = '0;
      lasts[n] = '0;
      owed[n] = '0;
      for (int i = 0; i < Routes; i++) begin
        if (to[i] == 1'(n)) to_come[n] += size[i];
        if (number_t'(i) < routes && to[i] == 1'(n)) ways[n] += 1'b1;
      end
      for (int i = 0; i < Buffer; i++)
      if (number_t'(i) < data[n] && u_dut.gen_channel[n].u_data.words_q[i][9]) lasts[n] += 1'b1;
      for (int i = 0; i < Pieces; i++)
      if (number_t'(i) < pieces && from[i] == 1'(n)) owed[n] += 1'b1;
    end
  end
  always_comb begin
    bursts = number_t'(u_dut.u_split.valid_o) + number_t'(bvalid);
    for (int i = 0; i < Pieces; i++) if (number_t'(i) < pieces && last[i]) bursts += 1'b1;
  end

  // -- the channels: addresses and bursts of data that they have and have not answered
  number_t [1:0] addrs = '0, wholes = '0;
  number_t asked = '0;  // Bursts of the manager that have no answer.

  // -- the watched beat
  logic watching = 1'b0, w_in, w_to, w_last, go, moves, goes_out;
  number_t
      w_at,
      w_which,
      w_all,
      w_own;  // Its piece's place, its place there, and beats before it: all, its channel's.
  number_t ahead, own;
  assign go = u_dut.go;
  assign moves = wvalid_i && rst_n && wready;
  assign goes_out = wvalid[w_to] && wready_i[w_to];
  always_comb begin
    ahead = '0;
    own = '0;
    for (int i = 0; i < Routes; i++) begin
      if (number_t'(i) < w_at) begin
        ahead += size[i];
        if (to[i] == w_to) own += size[i];
      end
    end
  end

  // -- the watched piece's answer
  typedef enum logic [1:0] {
    None,
    Owed,   // It is not answered yet, or its answer waits for those of pieces before,
    Burst,  // or for the rest of its burst,
    Told    // or to be taken.
  } watch_e;
  watch_e a_state = None;
  logic a_from, a_id, a_given;
  number_t
      a_at,
      a_left,
      a_own;  // Its place; answers of its channel before it that are to come; pieces of it before.
  always_comb begin
    a_own = '0;
    for (int i = 0; i < Pieces; i++) if (number_t'(i) < a_at && from[i] == a_from) a_own += 1'b1;
  end

  logic past_q = 1'b0, bvalid_q, bready_q;
  logic [1:0] awvalid_q, awready_q, wvalid_q, wready_q;
  logic [1:0][20:0] aw_q;
  logic [1:0][9:0] w_q;
  always_ff @(posedge clk_i) begin
    // Bursts of up to eight beats, none across 4 KiB. A channel answers what it has.
    assume (awlen_i < 8 && {2'b0, awbeat_i} + awlen_i < 64);
    assume (wdata_i == (watching && !w_in && w_all == 0));
    for (int n = 0; n < 2; n++) begin
      if (bvalid_i[n]) assume (rst_n && addrs[n] != 0 && wholes[n] != 0);
      assume (berror_i[n] == (a_state == Owed && !a_given && a_from == 1'(n) && a_left == 0));
    end
    if (watch_i) assume (go && (!which_i || u_dut.piece.len != 0));

    past_q <= rst_n;
    {awvalid_q, awready_q, wvalid_q, wready_q} <= {awvalid, awready_i, wvalid, wready_i};
    for (int n = 0; n < 2; n++) begin
      aw_q[n] <= {awaddr[n], awlen[n]};
      w_q[n] <= {wlast[n], wstrb[n], wdata[n]};
    end
    if (rst_n) begin
      for (int n = 0; n < 2; n++) begin
        addrs[n] <= addrs[n] + number_t'(awvalid[n] && awready_i[n]) - number_t'(bvalid_i[n]);
        wholes[n] <= wholes[n] + number_t'(wvalid[n] && wready_i[n] && wlast[n]) - number_t'(bvalid_i[n]);
      end
      asked <= asked + number_t'(awvalid_i && awready) - number_t'(bvalid && bready_i);
      if (!watching) begin
        watching <= watch_i && go;
        w_in <= 1'b0;
        w_to <= u_dut.piece.channel;
        w_which <= number_t'(which_i);
        w_last <= {7'd0, which_i} == u_dut.piece.len;
        w_at <= routes - number_t'(u_dut.route_ends);
        w_all <= to_come[0] + to_come[1] - number_t'(moves) + number_t'(which_i);
        w_own <= data[u_dut.piece.channel] + to_come[u_dut.piece.channel] + number_t'(which_i) -
                 number_t'(wvalid[u_dut.piece.channel] && wready_i[u_dut.piece.channel]);
      end else begin
        if (moves && !w_in) w_all <= w_all - 1'b1;
        if (moves && w_all == 0) w_in <= 1'b1;
        if (u_dut.route_ends && !w_in) w_at <= w_at - 1'b1;
        if (goes_out) w_own <= w_own - 1'b1;
        if (goes_out && w_own == 0) watching <= 1'b0;
      end
      unique case (a_state)
        None: begin
          if (watch_i && go) a_state <= Owed;
          a_given <= 1'b0;
          a_from <= u_dut.piece.channel;
          a_id <= u_dut.begun.id;
          a_at <= pieces - number_t'(u_dut.owed_ends);
          a_left <= number_t'(awvalid[u_dut.piece.channel]) + addrs[u_dut.piece.channel] -
                    number_t'(bvalid_i[u_dut.piece.channel]);
        end
        Owed: begin
          if (bvalid_i[a_from] && !a_given) begin
            if (a_left == 0) a_given <= 1'b1;
            else a_left <= a_left - 1'b1;
          end
          if (u_dut.owed_ends) a_at <= a_at - 1'b1;
          if (u_dut.owed_ends && a_at == 0) a_state <= last[0] ? Told : Burst;
        end
        Burst: if (u_dut.owed_ends && last[0]) a_state <= Told;
        default: if (bvalid && bready_i) a_state <= None;
      endcase
    end

    if (rst_n) begin
      // -- what is promised
      assert (bready == '1);
      for (int n = 0; n < 2; n++) begin
        if (past_q && awvalid_q[n] && !awready_q[n])
          assert (awvalid[n] && {awaddr[n], awlen[n]} == aw_q[n]);
        if (past_q && wvalid_q[n] && !wready_q[n])
          assert (wvalid[n] && {wlast[n], wstrb[n], wdata[n]} == w_q[n]);
        if (wvalid[n]) assert (wdata[n][0] == (watching && w_to == 1'(n) && w_own == 0));
        if (wvalid[n] && watching && w_to == 1'(n) && w_own == 0) assert (wlast[n] == w_last);
        if (bvalid_i[n]) assert (answers[n] < number_t'(Pieces));
        // Addresses and data that a channel has or will have, and answers.
        assert (number_t'(awvalid[n]) + addrs[n] == wholes[n] + lasts[n] + ways[n]);
        assert (owed[n] == number_t'(awvalid[n]) + addrs[n] + answers[n]);
      end
      if (bvalid) assert (bresp == (a_state == Told ? 2'd2 : 2'd0));
      if (a_state == Told) assert (bvalid && bid == a_id);
      assert (asked == bursts);
      if (pieces == 0 && u_dut.u_split.valid_o) assert (go);
      assert (busy == (asked != 0));

      // -- what induction has to know
      assert (routes <= number_t'(Routes) && pieces <= number_t'(Pieces) && asked <= 6);
      assert (routes == 0 ? sent == 0 : size[0] != 0 && size[0] + sent <= 2);
      for (int i = 0; i < Routes; i++)
      if (number_t'(i) < routes) assert (size[i] != 0 && size[i] <= 2);
      for (int n = 0; n < 2; n++) begin
        assert (data[n] <= number_t'(Buffer) && answers[n] <= number_t'(Pieces));
        assert (addrs[n] <= number_t'(Pieces) && wholes[n] <= number_t'(Pieces));
      end
      // Some piece is the last of its burst, or the rest of it is still to be cut.
      if (pieces != 0) assert (last[pieces-1] || u_dut.u_split.valid_o);
      if (a_state == Burst) assert (pieces != 0 || u_dut.u_split.valid_o);
      if (watching) begin
        if (!w_in) begin
          assert (w_at < routes && to[w_at[1:0]] == w_to && w_which <= 1);
          assert (w_which < size[w_at[1:0]] + (w_at == 0 ? sent : '0));
          assert (w_last == (w_which + 1'b1 == size[w_at[1:0]] + (w_at == 0 ? sent : '0)));
          assert (w_at != 0 || w_which >= sent);
          assert (w_all == ahead + w_which - (w_at == 0 ? sent : '0));
          assert (w_own == data[w_to] + own + w_which - (w_at == 0 ? sent : '0));
        end else begin
          assert (w_own < data[w_to]);
        end
      end
      for (int i = 0; i < Buffer; i++) begin
        if (number_t'(i) < data[0]) begin
          assert (u_dut.gen_channel[0].u_data.words_q[i][0] == (watching && !w_to && w_own == number_t'(i)));
          if (watching && !w_to && w_own == number_t'(i))
            assert (u_dut.gen_channel[0].u_data.words_q[i][9] == w_last);
        end
        if (number_t'(i) < data[1]) begin
          assert (u_dut.gen_channel[1].u_data.words_q[i][0] == (watching && w_to && w_own == number_t'(i)));
          if (watching && w_to && w_own == number_t'(i))
            assert (u_dut.gen_channel[1].u_data.words_q[i][9] == w_last);
        end
      end
      if (a_state == Owed) begin
        assert (a_at < pieces && from[a_at[1:0]] == a_from && id[a_at[1:0]] == a_id);
        if (a_given)
          assert (a_own < answers[a_from]);
          else
            assert (a_own == a_left + answers[a_from] && a_left < number_t'(awvalid[a_from]) + addrs[a_from]);
      end
      // The pieces of a burst have one id: of the one that is cut, and of those that wait for their burst's end.
      if (a_state == Burst) assert ((pieces != 0 ? id[0] : u_dut.u_split.id_o) == a_id);
      for (int i = 0; i < Pieces; i++) begin
        if (number_t'(i) < pieces && !last[i])
          assert (id[i] == (number_t'(i + 1) < pieces ? id[(i+1)%Pieces] : u_dut.u_split.id_o));
        if (number_t'(i) < answers[0])
          assert (u_dut.gen_channel[0].u_answers.words_q[i] ==
                  (a_state == Owed && a_given && !a_from && a_own == number_t'(i) ? 2'd2 : 2'd0));
        if (number_t'(i) < answers[1])
          assert (u_dut.gen_channel[1].u_answers.words_q[i] ==
                  (a_state == Owed && a_given && a_from && a_own == number_t'(i) ? 2'd2 : 2'd0));
      end
      assert (u_dut.resp_q == (a_state == Burst ? 2'd2 : 2'd0));
    end else begin
      assert (addrs == 0 && wholes == 0 && asked == 0 && !watching && a_state == None);
    end
    cover (past_q && watching && !w_in && w_all == 3);
    cover (past_q && a_state == Told && !watching);
    cover (past_q && a_state == Burst && answers[1] == 2);
  end
endmodule
