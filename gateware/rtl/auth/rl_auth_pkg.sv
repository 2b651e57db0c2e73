// What the blocks of a card with keys say to one another: sessions, and under which key a frame is taken.

// No module uses all of it.
// verilator lint_off UNUSEDPARAM
package rl_auth_pkg;
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
  import rl_ascon_pkg::*;

  // Sessions whose keys the card holds: the present claim's, and that of the claim before.
  localparam int unsigned Sessions = 2;
  // Hosts whose key of claims the receiver holds, in the slots behind the sessions'.
  localparam int unsigned Pairs = 2;
  localparam logic [7:0] HostFirst = 8'h06;  // The first byte of the address of a host with a key.

  // What the firmware says of them. A session is valid when its key has been taken, and a host likewise.
  typedef struct packed {
    logic [Pairs-1:0]          vouched;
    logic [Pairs-1:0][15:0]    host;   // By its number.
    logic [Sessions-1:0]       valid;
    mac_addr_t [Sessions-1:0]  owner;
    logic [Sessions-1:0][15:0] epoch;
    logic                      newer;  // Which one is the newer.
    logic [31:0]               boot;   // The card's boot number, steady.
  } sessions_t;

  // A session's key, or with the slot's upper bit a host's key of claims, which the receiver alone has. It replaces the
  // one that is there; or there is none any more.
  typedef struct packed {
    logic       valid;
    logic [1:0] slot;
    logic       forget;
    tag_t       key;
  } session_key_t;

  // What a key store says: a key for one of the card's two slots, or that there is none any more. It holds until it is
  // taken.
  typedef struct packed {
    logic        news;        // It has something to hand over.
    logic [6:0]  hosts;       // So many hosts are named.
    logic [31:0] word;        // Of those the word that was asked for, a cycle later.
    logic        over;        // All keys that it was asked for have been taken.
    logic        valid;
    logic        slot;
    logic        forget;
    logic [31:0] generation;
    tag_t        key;
  } store_t;

  // What the firmware asks of it.
  typedef struct packed {
    logic       take;  // To hand over what it holds,
    logic       free;  // until this; for a cycle each.
    logic [7:0] at;    // Which word of its hosts.
  } store_ask_t;

  // Hosts that it has room for, those whose key was revoked among them: the firmware looks through all of them for each
  // claim.
  localparam int unsigned StoreHosts = 64;
  // How it is written: rl_key_store has what the words are.
  localparam logic [8:0] StoreKeys = 9'd256;
  localparam logic [8:0] StoreEnd = 9'd272;
  typedef struct packed {
    logic        valid;
    logic [8:0]  at;
    logic [31:0] word;
  } store_write_t;

  // The table of signers and versions: rl_sign_store has what its words are.
  typedef logic [10:0] sign_at_t;
  localparam sign_at_t SignRoles = 11'd512;
  localparam logic [11:0] SignCount = 12'd2048;
  typedef struct packed {
    logic        keeps;  // The board has not yet kept all that the firmware has written,
    logic        fails;  // or will not: nothing is to count on it.
    logic [5:0]  count;  // So many signers.
    logic [31:0] word;   // The one that was asked for, a cycle later.
  } sign_t;
  typedef struct packed {
    logic        write;
    sign_at_t    at;
    logic [31:0] word;
  } sign_ask_t;
  typedef struct packed {
    logic        valid;
    logic [11:0] at;
    logic [31:0] word;
  } sign_write_t;

  // Whoever keeps the words reads them, when the firmware does not. It asks until it has the word.
  typedef struct packed {
    logic     valid;
    sign_at_t at;
  } sign_look_t;
  typedef struct packed {
    logic        valid;
    logic [31:0] word;
  } sign_looked_t;

  // What is known of a frame that is shown to the analyzer. But for the first two it is steady from the frame's first
  // word until the analyzer has ended it.
  typedef struct packed {
    drop_e cause;    // Why it is to be dropped if all else is right with it,
    logic  known;    // once this is known: no payload may go on before.
    logic  cut;      // Its trailer is cut short.
    logic  trailed;  // Whole, and behind its payload a trailer and nothing else: it may end with its payload.
  } tag_verdict_t;

  // What a card with keys counts of frames that it drops, each for one cycle.
  typedef struct packed {
    logic untagged;
    logic unknown;
    logic wrong;
    logic replay;
  } auth_event_t;

  // What the firmware orders of rl_auth_vault.
  typedef enum logic [1:0] {
    VaultBegin         = 2'd0,  // A message comes, for the key in this slot.
    VaultEnd           = 2'd1,  // It ends: make its tag.
    VaultForget        = 2'd2,  // There is no key any more in this slot,
    VaultForgetSession = 2'd3   // or in the receiver's slot `target`.
  } vault_op_e;
  typedef enum logic [1:0] {
    VaultShow    = 2'd0,  // The tag is shown;
    VaultTags    = 2'd1,  // what comes out is a key of slot `target` that tags,
    VaultDerives = 2'd2,  // or that derives others,
    VaultSession = 2'd3   // or the key in the receiver's slot `target`: a session's, or a host's of claims.
  } vault_to_e;
  typedef struct packed {
    vault_op_e  op;
    logic [1:0] slot;
    logic [2:0] bytes;   // Of VaultEnd: so many of the last four that were written are the message's.
    vault_to_e  to;
    logic [1:0] target;
  } vault_order_t;

  // Under which key a card takes a kind of frame.
  typedef enum logic [2:0] {
    RuleSession = 3'd0,  // The session's.
    RuleOpen    = 3'd1,  // None: anybody may ask it, or something else shows what it is worth.
    RuleRenews  = 3'd2,  // None, but it renews the lease only under the session's.
    RuleClaim   = 3'd3,  // The key of claims: the firmware's. Without a tag the firmware refuses it,
    RuleRelease = 3'd4,  // or it is dropped.
    RuleCards   = 3'd5   // It is another card's, and this one has no key to check it.
  } rule_e;

  // verilator lint_off UNUSEDSIGNAL
  // Frames that have another EtherType or kind are none that a card takes: these bits tell all others.
  function automatic logic is_kind(logic [7:0] ether_type, logic [3:0] kind, logic [15:0] of,
                                   logic [7:0] number);
    return ether_type == of[7:0] && kind == number[3:0];
  endfunction

  // verilator lint_on UNUSEDSIGNAL

  function automatic rule_e rule_of(logic [7:0] ether_type, logic [3:0] kind);
    rule_of = RuleSession;
    if (is_kind(
            ether_type, kind, EtherTypeDiscovery, KindDiscoverySolicit
        ) || is_kind(
            ether_type, kind, EtherTypeSession, KindSessionCountersGet
        ) || is_kind(
            ether_type, kind, EtherTypeSession, KindSessionManifestGet
        ) || is_kind(
            ether_type, kind, EtherTypeImage, KindImageData
        ))
      rule_of = RuleOpen;
    if (is_kind(ether_type, kind, EtherTypeSession, KindSessionPing)) rule_of = RuleRenews;
    if (is_kind(ether_type, kind, EtherTypeSession, KindSessionClaim)) rule_of = RuleClaim;
    if (is_kind(ether_type, kind, EtherTypeSession, KindSessionRelease)) rule_of = RuleRelease;
    if (is_kind(ether_type, kind, EtherTypeImageConfirm, KindImageConfirmMissing))
      rule_of = RuleCards;
  endfunction

  // Whether a kind has an epoch where others have the number of a group or of a load.
  function automatic logic has_epoch(logic [7:0] ether_type, logic [3:0] kind);
    has_epoch = 1'b1;
    for (int unsigned i = 0; i < KindCount; i++) begin
      if (is_kind(
              ether_type, kind, KindRules[i].ether_type, KindRules[i].kind
          ) && KindRules[i].claim inside {ClaimRuleGroup, ClaimRuleLoad, ClaimRuleMember})
        has_epoch = 1'b0;
    end
  endfunction

  // Whether what a card sends has a tag by its session's key. Answers to claims have the firmware's.
  function automatic logic is_sealed(logic [7:0] ether_type, logic [3:0] kind);
    return !(is_kind(ether_type, kind, EtherTypeSession, KindSessionGrant) ||
             is_kind(ether_type, kind, EtherTypeSession, KindSessionRefuse) ||
             is_kind(ether_type, kind, EtherTypeSession, KindSessionReleased) ||
             is_kind(ether_type, kind, EtherTypeSession, KindSessionCounters) ||
             is_kind(ether_type, kind, EtherTypeSession, KindSessionManifest));
  endfunction
endpackage : rl_auth_pkg
// verilator lint_on UNUSEDPARAM
