// rl_auth_vault with any orders and words of the firmware, any key store, and any tags. What is checked:
//   - what becomes a key, of the vault or of a session, is a whole message's tag by a key that there was and that
//     derives, made for this order; the card's own come from the key store alone, and nothing else goes there;
//   - what is shown is such a tag by a key that tags, and nothing else; so no key of one kind is of the other;
//   - a key comes or goes while no message is under way, so a message has one key;
//   - what is forgotten is gone when it is done, and nothing is done that was not ordered or not allowed;
//   - a key that is handed to a session stays until it is taken;
//   - nothing that the firmware sees depends on a key. Two vaults do the same: their key stores' keys differ, and so
//     does what comes of a key that derives. What the firmware sees of them is the same in each cycle.
module rl_auth_vault_formal
  import rl_ascon_pkg::*;
  import rl_auth_pkg::*;
(
  input logic         clk_i,
  input logic         store_valid_i,
  input logic         store_slot_i,
  input logic         store_forget_i,
  input tag_t         store_key_i,
  input tag_t         other_key_i,
  input logic         data_we_i,
  input logic [31:0]  data_i,
  input logic         order_we_i,
  input vault_order_t order_i,
  input logic         session_ready_i
);
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  logic store_ready, busy, done, other_ready, other_busy, other_done;
  tag_t tag, other_tag;
  session_key_t session, other_session;
  logic orders, puts;
  assign orders = order_we_i && !busy && rst_n;
  assign puts = data_we_i && !order_we_i && !busy && rst_n;
  rl_auth_vault u_dut (
    .clk_i,
    .rst_ni(rst_n),
    .store_valid_i(store_valid_i && rst_n),
    .store_ready_o(store_ready),
    .store_slot_i,
    .store_forget_i,
    .store_key_i,
    .data_we_i(puts),
    .data_i,
    .order_we_i(orders),
    .order_i,
    .busy_o(busy),
    .done_o(done),
    .tag_o(tag),
    .session_o(session),
    .session_ready_i
  );
  rl_auth_vault u_other (
    .clk_i,
    .rst_ni(rst_n),
    .store_valid_i(store_valid_i && rst_n),
    .store_ready_o(other_ready),
    .store_slot_i,
    .store_forget_i,
    .store_key_i(other_key_i),
    .data_we_i(puts),
    .data_i,
    .order_we_i(orders),
    .order_i,
    .busy_o(other_busy),
    .done_o(other_done),
    .tag_o(other_tag),
    .session_o(other_session),
    .session_ready_i
  );

  // -- what goes to rl_tag: keys, and a message's last word, after which its tag is due
  logic key_taken, word_taken, message_ends, made;
  assign key_taken = u_dut.key_valid && u_dut.key_ready && rst_n;
  assign word_taken = u_dut.word_valid && u_dut.take && rst_n;
  assign message_ends = word_taken && u_dut.word.last;
  assign made = u_dut.made && rst_n;
  logic [3:0] there_q = '0;      // Slots with a key,
  logic [3:0] derives_q;         // and whether it derives.
  logic under_way_q = 1'b0;      // A message's first word has been taken, and its tag is not made.
  logic due_q = 1'b0;            // Its last word has been taken.
  logic [1:0] slot_q;            // Its key's.
  logic has_q = 1'b0;            // A tag was made for the order at hand,
  logic known_q, by_deriving_q;  // by a key that there was, by one that derives.
  tag_t tag_q;
  logic forgot_q;                // What was ordered to be forgotten is gone.
  logic handed_q;                // What the order is to hand over was taken.
  vault_order_t order_q;
  always_ff @(posedge clk_i) begin
    if (word_taken) begin
      under_way_q <= 1'b1;
      slot_q <= u_dut.slot_q;
    end
    if (message_ends) due_q <= 1'b1;
    if (made) begin
      {under_way_q, due_q} <= '0;
      has_q <= 1'b1;
      known_q <= u_dut.known;
      by_deriving_q <= derives_q[slot_q];
      tag_q <= u_dut.tag;
    end
    if (key_taken) begin
      there_q[u_dut.key_slot] <= !u_dut.u_tag.key_forget_i;
      derives_q[u_dut.key_slot] <= u_dut.key_derives;
      if (u_dut.state_q == 2'd2) begin
        handed_q <= 1'b1;
        forgot_q <= u_dut.u_tag.key_forget_i && u_dut.key_slot == order_q.slot;
      end
    end
    if (session.valid && session_ready_i && rst_n) handed_q <= 1'b1;
    if (orders) begin
      order_q <= order_i;
      {has_q, forgot_q, handed_q} <= '0;
    end
  end
  // As rl_tag is proven: a tag counts only if there was a key. In both vaults rl_tag does the same at the same time,
  // and gives the same tag if its key tags.
  always_comb begin
    if (made) begin
      assume (!u_dut.known || there_q[slot_q]);
      assume (u_dut.known == u_other.known);
      assume (derives_q[slot_q] || u_dut.tag == u_other.tag);
    end
    assume (u_dut.key_ready == u_other.key_ready && u_dut.take == u_other.take);
    assume (u_dut.made == u_other.made);
    // The firmware takes longer for a word than rl_tag: rl_auth_vault asserts it where it is simulated.
    if (puts) assume (u_dut.u_words.wready_o || !u_dut.push);
    if (orders) assume (u_dut.u_words.wready_o);
  end

  logic whole;  // The tag is one that may become a key.
  assign whole = has_q && known_q && by_deriving_q && order_q.op == VaultEnd;
  session_key_t session_q;
  logic waits_q = 1'b0;
  always_ff @(posedge clk_i) begin
    session_q <= session;
    waits_q   <= rst_n && session.valid && !session_ready_i;
  end

  always_comb begin
    if (rst_n) begin
      // -- keys
      if (key_taken) begin
        BetweenMessages_A : assert (!under_way_q && !u_dut.inside_q && u_dut.u_words.held_q == 0);
        if (!u_dut.key_slot[1])
          CardsFromStore_A :
          assert (store_valid_i && store_ready && u_dut.key_slot == {1'b0, store_slot_i} &&
                  u_dut.u_tag.key_i == store_key_i && u_dut.u_tag.key_forget_i == store_forget_i &&
                  u_dut.key_derives);
          else if (!u_dut.u_tag.key_forget_i)
            WholeAndDerived_A :
            assert (whole && u_dut.u_tag.key_i == tag_q && u_dut.key_slot == order_q.target &&
                  ((order_q.to == VaultDerives && u_dut.key_derives) ||
                   (order_q.to == VaultTags && !u_dut.key_derives)));
            else
              OrderedToForget_A :
              assert (order_q.op == VaultForget && u_dut.key_slot == order_q.slot);
      end
      if (store_valid_i && store_ready) StoreIsTaken_A : assert (key_taken);
      if (session.valid && !session.forget)
        SessionsToo_A :
        assert (whole && session.key == tag_q && order_q.to == VaultSession && session.slot == order_q.target);
      if (session.valid && session.forget)
        ForgetsItsOwn_A :
        assert (order_q.op == VaultForgetSession && session.slot == order_q.target);
      if (waits_q) SessionStays_A : assert (session == session_q);
      // -- what the firmware sees
      if (tag != 0)
        OnlyTagsAreShown_A :
        assert (done && has_q && known_q && !by_deriving_q && tag == tag_q && order_q.op == VaultEnd &&
                order_q.to == VaultShow);
      if (done) begin
        if (order_q.op == VaultForget)
          Gone_A : assert (forgot_q && order_q.slot[1] && !there_q[order_q.slot]);
        if (order_q.op == VaultForgetSession || (order_q.op == VaultEnd && order_q.to != VaultShow))
          HandedOver_A : assert (handed_q);
        if (order_q.op == VaultEnd)
          AllowedOnly_A : assert (has_q && known_q && by_deriving_q == (order_q.to != VaultShow));
      end
      SameToFirmware_A : assert (busy == other_busy && done == other_done && tag == other_tag);
      SameToStore_A : assert (store_ready == other_ready);
      SameToSessions_A :
      assert (session.valid == other_session.valid &&
              (!session.valid ||
               (session.slot == other_session.slot && session.forget == other_session.forget)));
      // -- what induction has to know
      for (int unsigned i = 0; i < 4; i++)
      if (there_q[i])
        assert (u_dut.derives_q[i] == derives_q[i] && u_other.derives_q[i] == derives_q[i]);
      assert (u_dut.state_q == u_other.state_q && u_dut.halves_q == u_other.halves_q);
      assert (u_dut.inside_q == u_other.inside_q && u_dut.u_words.held_q == u_other.u_words.held_q);
      assert (u_dut.u_words.held_q <= 4);
      if (u_dut.inside_q || u_dut.state_q == 2'd1) assert (u_dut.slot_q == u_other.slot_q);
      for (int unsigned i = 0; i < 4; i++)
      if (i < 32'(u_dut.u_words.held_q))
        assert (last_at(u_dut.u_words.words_q[i]) == last_at(u_other.u_words.words_q[i]));
      assert (u_dut.u_tag.inside_q == u_other.u_tag.inside_q && u_dut.u_tag.valid_o == u_other.u_tag.valid_o);
      if (busy) begin
        assert (u_dut.order_q == order_q && u_other.order_q == order_q);
        assert (!done && tag == 0 && other_tag == 0 && !other_done);
        assert (!u_dut.inside_q || u_dut.state_q == 2'd3);
      end
      // A message is in the queue, in rl_tag, or both; its last word is where the order to end has put it.
      assert (u_dut.u_tag.inside_q == 2'(due_q) && (!u_dut.u_tag.valid_o || due_q));
      assert (!due_q || (under_way_q && u_dut.state_q == 2'd1 && u_dut.u_words.held_q == 0));
      if (!u_dut.inside_q && u_dut.state_q != 2'd1)
        assert (!under_way_q && u_dut.u_words.held_q == 0);
      if (under_way_q) assert (u_dut.slot_q == slot_q);
      if (u_dut.state_q == 2'd1) begin
        assert (order_q.op == VaultEnd && !has_q && (due_q || u_dut.u_words.held_q != 0));
      end
      for (int unsigned i = 0; i < 4; i++)
      if (i < 32'(u_dut.u_words.held_q))
        assert (last_at(
            u_dut.u_words.words_q[i]
        ) == (u_dut.state_q == 2'd1 && i + 1 == 32'(u_dut.u_words.held_q)));
      if (u_dut.state_q == 2'd2)
        assert (order_q.op == VaultForget ? order_q.slot[1] :
                whole && u_dut.key_q == tag_q && order_q.target[1] && order_q.to inside {VaultTags, VaultDerives});
      if (u_dut.state_q == 2'd3)
        assert (order_q.op == VaultForgetSession ||
                (whole && u_dut.key_q == tag_q && order_q.to == VaultSession));
    end
  end

  // What must happen: a key of claims is derived from the card's, goes to a session, and tags a message that is shown.
  logic derived_q = 1'b0, given_q = 1'b0;
  always_ff @(posedge clk_i) begin
    if (key_taken && u_dut.key_slot == 2'd3 && !u_dut.u_tag.key_forget_i) derived_q <= 1'b1;
    if (session.valid && session_ready_i && !session.forget && rst_n) given_q <= 1'b1;
    Derived_C : cover (derived_q && given_q && rst_n);
    Shown_C : cover (derived_q && done && tag != 0 && rst_n);
    Forgotten_C : cover (derived_q && done && order_q.op == VaultForget && rst_n);
  end

  function automatic logic last_at(logic [72:0] word);
    last_at = word[72];
  endfunction
endmodule
