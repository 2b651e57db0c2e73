// Where a card's keys are: the firmware has tags made and keys derived here, and never sees a key.
//
// The card's own keys come from its key store. What a key that derives others makes of a message becomes a key itself,
// here or of a session, and is shown to nobody; what a key that tags makes of one is a tag, shown, and never a key.
//
//   slot  0 and 1  the card's, newest and former generation: from the key store alone
//         2 and 3  what the firmware derives: a pair's key and its key of claims
//
// A message begins and ends with an order, and is written in words of four bytes, the first the lowest. While `busy_o`
// neither is given.
module rl_auth_vault
  import rl_ascon_pkg::*;
  import rl_auth_pkg::*;
#(
  parameter int unsigned PerCycle = 1  // Rounds, see rl_tag.
) (
  input  logic         clk_i,
  input  logic         rst_ni,

  // The key store: a key for a slot, or none any more. It waits for the end of what the firmware does.
  input  logic         store_valid_i,
  output logic         store_ready_o,
  input  logic         store_slot_i,
  input  logic         store_forget_i,
  input  tag_t         store_key_i,

  // The firmware.
  input  logic         data_we_i,
  input  logic [31:0]  data_i,
  input  logic         order_we_i,
  input  vault_order_t order_i,
  output logic         busy_o,
  output logic         done_o,         // There was a key; and what was ordered was allowed.
  output tag_t         tag_o,          // The last tag; zeros if there is none.

  output session_key_t session_o,
  input  logic         session_ready_i
);
  localparam int unsigned Slots = 4;

  // -- the message's words: one waits, since what follows says whether it is the last
  typedef struct packed {
    logic        last;
    logic [7:0]  keep;
    logic [63:0] data;
  } word_t;
  logic [31:0] low_q, high_q;
  logic [1:0] halves_q;  // Of the word that waits: none, the low one, both.
  logic push, orders, begins, ends, take, word_valid, unused_room;
  logic inside_q;      // A message has begun whose end was not ordered: its key must stay.
  logic [1:0] slot_q;  // Its key's.
  logic [3:0] count;
  word_t word_in, word;
  logic [2:0] unused_count;
  assign orders = order_we_i && !busy_o;
  assign begins = orders && order_i.op == VaultBegin;
  assign ends = orders && order_i.op == VaultEnd && inside_q;
  assign push = ends || (data_we_i && inside_q && halves_q[1]);
  always_comb begin
    count = 4'd8;
    if (ends && halves_q == 0) count = '0;
    else if (ends) count = 4'(order_i.bytes) + (halves_q[1] ? 4'd4 : 4'd0);
    word_in = '{last: ends, keep: 8'((9'd1 << count) - 9'd1), data: {high_q, low_q}};
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni || ends) halves_q <= '0;
    else if (data_we_i && inside_q) halves_q <= halves_q == 2'd1 ? 2'd2 : 2'd1;
    if (!rst_ni || ends) inside_q <= 1'b0;
    else if (begins) inside_q <= 1'b1;
    if (begins && !inside_q) slot_q <= order_i.slot;
  end
  always_ff @(posedge clk_i) begin
    if (data_we_i && halves_q == 2'd1) high_q <= data_i;
    else if (data_we_i) low_q <= data_i;
  end
  rl_fifo #(
    .Width($bits(word_t)),
    .Depth(4)
  ) u_words (
    .clk_i,
    .rst_ni,
    .wvalid_i(push),
    .wready_o(unused_room),
    .wdata_i(word_in),
    .rvalid_o(word_valid),
    .rready_i(take),
    .rdata_o(word),
    .count_o(unused_count)
  );

  // -- the order under way
  typedef enum logic [1:0] {
    Idle = 2'd0,
    Tag = 2'd1,   // The message's tag is made.
    Key = 2'd2,   // A key is put into its place, or forgotten.
    Session = 2'd3
  } state_e;
  state_e state_q;
  vault_order_t order_q;
  logic [Slots-1:0] derives_q;  // What the keys are for.
  logic made, known, derives, allowed, key_valid, key_ready, takes_store;
  tag_t tag, key_q;
  assign busy_o = state_q != Idle;
  assign derives = derives_q[slot_q];
  // A key comes from one that derives, and goes where the firmware's are.
  always_comb begin
    unique case (order_q.to)
      VaultShow: allowed = !derives;
      VaultSession: allowed = derives;
      default: allowed = derives && order_q.target[1];
    endcase
  end
  assign store_ready_o = state_q == Idle && !orders && key_ready && !inside_q;
  assign takes_store = store_valid_i && store_ready_o;
  assign key_valid = state_q == Key || (store_valid_i && state_q == Idle && !orders && !inside_q);

  logic forgets, key_derives;
  logic [1:0] key_slot;
  assign forgets = order_q.op == VaultForget;
  assign key_slot = state_q != Key ? {1'b0, store_slot_i} : forgets ? order_q.slot : order_q.target;
  assign key_derives = state_q != Key || order_q.to == VaultDerives;
  rl_tag #(
    .PerCycle(PerCycle),
    .Keys(Slots)
  ) u_tag (
    .clk_i,
    .rst_ni,
    .key_valid_i(key_valid),
    .key_ready_o(key_ready),
    .key_slot_i(key_slot),
    .key_forget_i(state_q == Key ? forgets : store_forget_i),
    .key_prf_i(key_derives),
    .key_i(state_q == Key ? key_q : store_key_i),
    .valid_i(word_valid),
    .ready_o(take),
    .data_i(word.data),
    .keep_i(word.keep),
    .last_i(word.last),
    .slot_i(slot_q),
    .valid_o(made),
    .ready_i(1'b1),
    .tag_o(tag),
    .known_o(known)
  );

  always_ff @(posedge clk_i) begin
    if (orders) order_q <= order_i;
    if (made) key_q <= tag;
    if ((state_q == Key && key_ready) || takes_store) derives_q[key_slot] <= key_derives;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
      done_o  <= 1'b0;
      tag_o   <= '0;
    end else begin
      unique case (state_q)
        Idle:
        if (orders) begin
          done_o <= 1'b0;
          tag_o  <= '0;
          unique case (order_i.op)
            VaultBegin: ;
            VaultEnd: if (inside_q) state_q <= Tag;
            // The card's own keys are the key store's.
            VaultForget: if (order_i.slot[1] && !inside_q) state_q <= Key;
            default: state_q <= Session;
          endcase
        end
        Tag:
        if (made) begin
          state_q <= Idle;
          if (known && allowed) begin
            done_o <= order_q.to == VaultShow;
            if (order_q.to == VaultShow) tag_o <= tag;
            else state_q <= order_q.to == VaultSession ? Session : Key;
          end
        end
        Key:
        if (key_ready) begin
          state_q <= Idle;
          done_o  <= 1'b1;
        end
        default:
        if (session_ready_i) begin
          state_q <= Idle;
          done_o  <= 1'b1;
        end
      endcase
    end
  end
  assign session_o = '{
          valid: state_q == Session,
          slot: order_q.target,
          forget: order_q.op == VaultForgetSession,
          key: key_q
      };

`ifndef SYNTHESIS
  OrdersWait_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
    order_we_i || data_we_i |-> !busy_o && !(order_we_i && data_we_i));
  WordsHaveRoom_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) push |-> unused_room);
`endif
  logic unused;
  assign unused = ^{unused_room, order_q.bytes};
endmodule
