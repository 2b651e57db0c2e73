// What a card with keys has beside rl_auth_rx and rl_auth_tx: the vault, the registers by which the firmware orders
// what that does and tells of sessions, and the counters of frames dropped for their tags. protocol/registers.toml has
// the registers' meaning.
//
// A session's key goes to receiver and sender, a host's key of claims to the receiver alone. It is there when all have
// taken it, and the vault is busy until then.
module rl_auth_card
  import rl_csr_pkg::*;
  import rl_control_pkg::keys_ctl_t;
  import rl_ascon_pkg::*;
  import rl_auth_pkg::*;
(
  input  logic         clk_i,
  input  logic         rst_ni,
  input  keys_ctl_t    ctl_i,
  output logic [31:0]  data_o,      // What is at ctl_i.read_at, in the same cycle.

  input  store_t       store_i,     // The key store.
  output logic         store_ready_o,
  output store_ask_t   store_ask_o,
  input  sign_t        sign_i,      // Signers and versions.
  output sign_ask_t    sign_ask_o,

  output sessions_t    sessions_o,  // To receiver and sender.
  output session_key_t rx_key_o,
  input  logic         rx_ready_i,
  output session_key_t tx_key_o,
  input  logic         tx_ready_i,
  input  auth_event_t  event_i      // From the receiver.
);
  function automatic logic writes(logic [4:0] at);
    return ctl_i.write && ctl_i.at == at;
  endfunction
  logic [31:0] word;
  assign word = ctl_i.word;

  // -- sessions, as the firmware tells of them
  sessions_t sessions_q;
  logic [47:0] owner_q;
  logic tells, slot, valid;
  assign tells = writes(CsrKeySession[4:0]);
  assign slot = word[KeySessionSlotBit];
  assign valid = word[KeySessionValidBit];
  assign sessions_o = sessions_q;
  always_ff @(posedge clk_i) begin
    if (writes(CsrKeyOwnerHi[4:0])) owner_q[47:32] <= word[15:0];
    if (writes(CsrKeyOwnerLo[4:0])) owner_q[31:0] <= word;
    if (writes(CsrKeyBoot[4:0])) sessions_q.boot <= word;
    if (tells) begin
      sessions_q.valid[slot] <= valid;
      sessions_q.owner[slot] <= owner_q;
      sessions_q.epoch[slot] <= word[KeySessionEpochLsb+:KeySessionEpochWidth];
      if (valid) sessions_q.newer <= slot;
    end
    if (writes(CsrKeyHost[4:0])) begin
      sessions_q.vouched[word[KeyHostSlotBit]] <= word[KeyHostValidBit];
      sessions_q.host[word[KeyHostSlotBit]] <= word[KeyHostNumberLsb+:KeyHostNumberWidth];
    end
    if (!rst_ni) begin
      sessions_q.valid <= '0;
      sessions_q.vouched <= '0;
      sessions_q.newer <= 1'b0;
    end
  end

  // -- the vault
  logic busy, done, idle, session_ready;
  tag_t tag;
  session_key_t session;
  assign idle = !busy;
  rl_auth_vault u_vault (
    .clk_i,
    .rst_ni,
    .store_valid_i(store_i.valid),
    .store_ready_o,
    .store_slot_i(store_i.slot),
    .store_forget_i(store_i.forget),
    .store_key_i(store_i.key),
    .data_we_i(idle && (writes(CsrKeyData[4:0]) || writes(CsrKeyFrame[4:0]))),
    .data_i(ctl_i.at == CsrKeyFrame[4:0] ? {<<8{word}} : word),
    .order_we_i(idle && writes(CsrKeyOrder[4:0])),
    .order_i('{
      op: vault_op_e'(word[KeyOrderOpLsb+:KeyOrderOpWidth]),
      slot: word[KeyOrderSlotLsb+:KeyOrderSlotWidth],
      bytes: word[KeyOrderBytesLsb+:KeyOrderBytesWidth],
      to: vault_to_e'(word[KeyOrderToLsb+:KeyOrderToWidth]),
      target: word[KeyOrderTargetLsb+:KeyOrderTargetWidth]
    }),
    .busy_o(busy),
    .done_o(done),
    .tag_o(tag),
    .session_o(session),
    .session_ready_i(session_ready)
  );

  // -- a session's key, to both; a host's, to the receiver
  logic rx_has_q, tx_has_q, rx_alone;
  assign rx_alone = session.slot[1];
  assign session_ready = (rx_has_q || rx_ready_i) && (tx_has_q || tx_ready_i || rx_alone);
  always_comb begin
    rx_key_o = session;
    tx_key_o = session;
    rx_key_o.valid = session.valid && !rx_has_q;
    tx_key_o.valid = session.valid && !tx_has_q && !rx_alone;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni || !session.valid || session_ready) {rx_has_q, tx_has_q} <= '0;
    else {rx_has_q, tx_has_q} <= {rx_has_q || rx_ready_i, tx_has_q || tx_ready_i};
  end

  // -- the card's keys, as far as the firmware may know them
  logic [1:0] there_q;
  logic [1:0][31:0] generation_q;
  logic takes;
  assign takes = store_i.valid && store_ready_o;
  always_ff @(posedge clk_i) begin
    if (takes) begin
      there_q[store_i.slot] <= !store_i.forget;
      generation_q[store_i.slot] <= store_i.generation;
    end
    if (!rst_ni) there_q <= '0;
  end

  // -- and its hosts
  logic [7:0] hosts_at_q;
  logic asks;
  assign asks = writes(CsrKeyStore[4:0]);
  always_ff @(posedge clk_i) begin
    if (writes(CsrKeyHostsAt[4:0])) hosts_at_q <= word[7:0];
  end
  assign store_ask_o = '{
          take: asks && word[KeyStoreTakeBit],
          free: asks && !word[KeyStoreTakeBit],
          at: hosts_at_q
      };

  // -- signers and versions
  sign_at_t sign_at_q;
  always_ff @(posedge clk_i) begin
    if (writes(CsrSignAt[4:0])) sign_at_q <= word[$bits(sign_at_t)-1:0];
  end
  assign sign_ask_o = '{write: writes(CsrSignWord[4:0]), at: sign_at_q, word: word};

  // -- what is read
  logic [2:0] count_word;
  logic [31:0] count;
  logic unused_carry;
  assign {unused_carry, count_word} = ctl_i.read_at[3:0] - CsrKeyCount[3:0];
  rl_auth_counters u_counters (
    .clk_i,
    .rst_ni,
    .event_i,
    .word_i(count_word),
    .data_o(count)
  );
  always_comb begin
    data_o = '0;
    if (ctl_i.read_at inside {[CsrKeyCount[4:0] : CsrKeyCount[4:0] + 5'd7]}) data_o = count;
    for (int unsigned i = 0; i < 4; i++) begin
      if (ctl_i.read_at == CsrKeyTag[4:0] + 5'(i)) data_o = {<<8{tag[32*i+:32]}};
    end
    for (int unsigned i = 0; i < 2; i++) begin
      if (ctl_i.read_at == CsrKeyGeneration[4:0] + 5'(i) && there_q[i]) data_o = generation_q[i];
    end
    if (ctl_i.read_at == CsrKeyOrder[4:0]) begin
      data_o[KeyOrderBusyBit] = busy;
      data_o[KeyOrderDoneBit] = done;
    end
    if (ctl_i.read_at == CsrKeyStore[4:0]) begin
      data_o[KeyStoreThereBit] = 1'b1;
      data_o[KeyStoreNewsBit] = store_i.news;
      data_o[KeyStoreHostsLsb+:KeyStoreHostsWidth] = store_i.hosts;
      data_o[KeyStoreReadBit] = store_i.over;
      data_o[KeyStoreCardBit] = there_q[0];
      data_o[KeyStoreFormerBit] = there_q[1];
    end
    if (ctl_i.read_at == CsrKeyHosts[4:0]) data_o = store_i.word;
    if (ctl_i.read_at == CsrSignWord[4:0]) data_o = sign_i.word;
    if (ctl_i.read_at == CsrSignCount[4:0])
      data_o = 32'({sign_i.keeps, sign_i.fails, sign_i.count});
  end
endmodule
