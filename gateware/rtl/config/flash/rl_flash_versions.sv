// The log of versions: each word that the firmware writes to the table of roles is one entry more, and at the start the
// log's entries, in their order, are that table again.
//
// Two units take turns. A log begins with an entry that names its generation and the keys that it is with, goes on
// with the whole table, is sealed, and then grows. Of two that are sealed the newer one counts. When it is full, takes
// a word not, or is found to be less than whole, the other unit is erased and gets the next one; when that is sealed,
// the old one's beginning is struck out. So what counts is never where something is erased.
//
// Each entry is there twice. At a log's end there may be one of which neither is right: power has failed before it was
// whole, and nobody has been told that it was kept. Anywhere else that is damage, and the log is of no use.
module rl_flash_versions
  import rl_flash_pkg::*;
  import rl_auth_pkg::*;
#(
  parameter int unsigned PlacesW = 12,  // Log2 of a log's entries.
  parameter int unsigned Roles = 96,    // Of the table, from the first one on.
  parameter int unsigned QueueWords = 16  // The firmware waits after at most 12.
) (
  input  logic         clk_i,
  input  logic         rst_ni,

  input  logic         load_i,    // For one cycle: find the log, and write the table as it has it.
  output logic         done_o,    // For one cycle; and in this one
  output logic [7:0]   code_o,    // whether there is one: CodeStoreBlank, CodeStoreDamaged, or of rl_flash_cmd.
  output logic [31:0]  keys_o,    // The check of the keys that it is with.

  // From then on, as soon as it is to keep more.
  input  logic         keep_i,
  input  sign_write_t  kept_i,    // The firmware's words.
  output logic         works_o,   // Not all of them are in the flash.
  output logic         failed_o,  // They will not be. It stays; code_o tells why.

  // rl_sign_store
  output sign_write_t  write_o,
  input  logic         write_ready_i,
  output sign_look_t   look_o,
  input  sign_looked_t looked_i,

  output flash_req_t   req_o,
  input  flash_rsp_t   rsp_i
);
  localparam int unsigned PairBytes = 2 * EntryBytes;
  localparam int unsigned PagePairs = 256 / PairBytes;
  localparam int unsigned Places = 1 << PlacesW;
  localparam int unsigned Base = 1 + 16 * Roles;  // Entries before the seal.
  localparam logic [11:0] RolesAt = {1'b0, SignRoles};
  localparam logic [11:0] RolesLast = RolesAt + 12'(16 * Roles - 1);
  localparam int unsigned Sectors = PairBytes * Places > (1 << SectorW) ? PairBytes * Places >> SectorW : 1;
  if (PairBytes * Places > (1 << UnitW) || Base + QueueWords > Places) begin : gen_check
    $fatal(0, "rl_flash_versions: a log does not fit (%m)");
  end
  typedef logic [PlacesW:0] place_t;

  typedef enum logic [3:0] {
    Idle,
    Head,    // The first entry of one unit, then of the other.
    Choose,
    Clear,   // The table.
    Scan,    // Page by page.
    Judge,
    Answer,
    Ready,
    Erase,   // The next log's unit,
    Gather,  // and a page of the table
    Fill,    // is written there.
    Append,  // One entry.
    Strike,  // The old log's beginning.
    Failed
  } state_e;
  state_e state_q;
  logic unit_q;                 // The one at hand; from Answer on the one that counts, or is to.
  logic [1:0] head_q;           // Of each unit: its beginning is whole, and nobody has found it not to count.
  logic [1:0][19:0] generation_q;
  logic [1:0][31:0] keys_q;
  logic anything_q;             // Not all that was read is erased.
  logic both_q;                 // Both units have a beginning.
  place_t place_q;              // Of the entry or the page at hand.
  logic check_q;                // What was written is read.
  logic renews_q;               // The log at hand is not sealed yet.
  logic lost_q;                 // The firmware has written more than there was room for.
  logic dirty_q;                // The one that counts is not as it should be.
  logic
      sealed_q,
      ended_q,
      gap_q,
      blank_q;  // What the scan has seen; and that its last entry is erased.
  place_t used_q;               // So many entries of it count.
  logic [1:0] sector_q;
  logic [10:0] clear_q;
  logic [7:0] code_q;

  // -- the firmware's words
  logic queued, takes, room, full, renew;
  logic [42:0] word_out;
  logic [$clog2(QueueWords):0] unused_count;
  rl_fifo #(
    .Width(43),
    .Depth(QueueWords)
  ) u_queue (
    .clk_i,
    .rst_ni,
    .wvalid_i(kept_i.valid),
    .wready_o(room),
    .wdata_i({kept_i.at[10:0], kept_i.word}),
    .rvalid_o(queued),
    .rready_i(takes),
    .rdata_o(word_out),
    .count_o(unused_count)
  );
  assign full = place_q == place_t'(Places);
  assign takes = state_q == Ready && keep_i && queued && !dirty_q && !lost_q && !full;
  assign renew = state_q == Ready && keep_i && (dirty_q || (queued && full));
  assign works_o = !(state_q inside {Idle, Ready, Failed}) ||
      (state_q == Ready && (dirty_q || lost_q || queued || kept_i.valid));
  assign failed_o = state_q == Failed;
  assign code_o = code_q;

  // -- entries
  // Which word of the table the entry of a place has. Of a role first whether there is one, then which version counts:
  // the firmware writes these last, so what is gathered while it writes is the old version or the new one.
  function automatic logic [11:0] at_of(input place_t place);
    place_t word;
    logic [3:0] of_role;
    word = place - 1'b1;
    of_role = word[3:0] == 4'd0 ? 4'd0 : word[3:0] == 4'd1 ? 4'd15 : word[3:0] - 4'd1;
    return place == '0 ? EntryBegin : RolesAt + 12'({word[PlacesW:4], of_role});
  endfunction
  logic [PagePairs-1:0][31:0] page_q;  // Words of what is written.
  logic [11:0] append_q;               // Which word it is that is appended.
  logic [2:0] pair;
  place_t pair_place;
  entry_t entry, found;
  logic writes, same, pair_ends, right, both, blank;
  logic [7:0] content;
  assign writes = state_q inside {Fill, Append};
  assign pair_place = place_q + place_t'(pair);
  assign entry = '{
          generation: generation_q[unit_q],
          at: state_q == Append ? append_q : at_of(pair_place),
          word: page_q[pair],
          magic: EntryMagic,
          place: 16'(pair_place)
      };
  rl_flash_entries u_entries (
    .clk_i,
    .idle_i(!req_o.valid || rsp_i.done),
    .moves_i(rsp_i.rvalid || rsp_i.wready),
    .writes_i(writes),
    .entry_i(entry),
    .first_i(state_q == Head),
    .byte_i(rsp_i.rdata),
    .pair_o(pair),
    .byte_o(content),
    .same_o(same),
    .ends_o(pair_ends),
    .right_o(right),
    .both_o(both),
    .blank_o(blank),
    .found_o(found)
  );
  // It is where such an entry may be.
  logic is_begin, is_seal, is_word, is_good;
  assign is_begin = found.at == EntryBegin && pair_place == '0;
  assign is_seal = found.at == EntrySeal && pair_place == place_t'(Base);
  assign is_word = found.at >= RolesAt && found.at <= RolesLast &&
      pair_place != '0 && pair_place != place_t'(Base);
  assign is_good = right && (is_begin || is_seal || is_word);
  logic unused;
  assign unused = ^{kept_i.at[11], found.magic, found.place};

  // -- what goes to the flash
  place_t page_pairs;
  assign page_pairs = place_t'(Base) - place_q < place_t'(PagePairs) ? place_t'(Base) - place_q : place_t'(PagePairs);
  always_comb begin
    req_o = '0;
    if (state_q inside {Head, Scan, Erase, Fill, Append, Strike}) begin
      req_o.valid = 1'b1;
      req_o.op = state_q == Erase ? OpErase :
          state_q == Strike || (writes && !check_q) ? OpProgram : OpRead;
      req_o.addr = VersionsAddr + 24'({unit_q, UnitW'(0)}) + 24'({place_q, 5'd0});
      if (state_q == Erase)
        req_o.addr = VersionsAddr + 24'({unit_q, UnitW'({sector_q, SectorW'(0)})});
      if (state_q == Strike) req_o.addr = VersionsAddr + 24'({!unit_q, UnitW'(0)});
      req_o.count = state_q == Scan ? 24'd256 : state_q == Fill ? 24'({page_pairs, 5'd0}) : 24'(PairBytes);
      req_o.wvalid = 1'b1;
      req_o.wdata = state_q == Strike ? 8'h00 : content;
    end
  end

  // -- the table
  logic put_q;
  logic [10:0] put_at_q;
  logic [31:0] put_word_q;
  place_t gathered_q;
  assign write_o = state_q == Clear ? '{valid: 1'b1, at: 12'(clear_q), word: '0} :
      '{valid: put_q, at: 12'(put_at_q), word: put_word_q};
  assign look_o = '{
          valid: state_q == Gather && place_q + gathered_q != '0 && gathered_q != page_pairs && !looked_i.valid,
          at: 11'(at_of(place_q + gathered_q))
      };

  logic done, fails, written, scanned, newer;
  assign done = rsp_i.done;
  assign fails = done && (rsp_i.code != CodeOk || (check_q && !same));
  assign written = done && check_q && !fails;
  assign scanned = gap_q || (ended_q && blank_q) || place_q >= place_t'(Places - PagePairs);
  assign newer = head_q[1] && !(head_q[0] && generation_q[0] > generation_q[1]);
  assign done_o = state_q == Answer;
  assign keys_o = keys_q[unit_q];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
      code_q <= CodeOk;
      put_q <= 1'b0;
      lost_q <= 1'b0;
    end else begin
      put_q <= put_q && !write_ready_i;
      unique case (state_q)
        Idle: if (load_i) state_q <= Head;
        Head: if (done && unit_q) state_q <= Choose;
        Choose: state_q <= head_q == '0 ? Judge : Clear;
        Clear: if (write_ready_i && clear_q == RolesLast[10:0]) state_q <= Scan;
        Scan: begin
          if (pair_ends && is_good && is_word && !ended_q) put_q <= 1'b1;
          if (done && scanned) state_q <= Judge;
        end
        Judge: begin
          if (!sealed_q && head_q != '0) begin
            state_q <= Choose;
          end else begin
            state_q <= Answer;
            code_q <= sealed_q && !gap_q ? CodeOk : anything_q ? CodeStoreDamaged : CodeStoreBlank;
          end
        end
        Answer: state_q <= code_q == CodeOk ? Ready : Failed;
        Ready: begin
          if (lost_q) begin
            state_q <= Failed;
            code_q <= CodeStoreFull;
          end else if (renew) begin
            state_q <= Erase;
          end else if (takes) begin
            state_q <= Append;
          end
        end
        Erase: if (done && sector_q == 2'(Sectors - 1)) state_q <= Gather;
        Gather: if (gathered_q == page_pairs) state_q <= Fill;
        Fill: if (written) state_q <= place_q + page_pairs == place_t'(Base) ? Append : Gather;
        Append: if (written) state_q <= renews_q ? Strike : Ready;
        // What is left of the old log does no harm.
        Strike: if (done) state_q <= Ready;
        default: ;
      endcase
      if (state_q inside {Head, Scan} && done && rsp_i.code != CodeOk) begin
        state_q <= Answer;
        code_q <= rsp_i.code;
      end
      // A log that takes no more has a next one. If that takes nothing either, versions are kept no more.
      if (state_q inside {Erase, Fill, Append} && fails) begin
        state_q <= renews_q ? Failed : Ready;
        if (renews_q) code_q <= rsp_i.code != CodeOk ? rsp_i.code : CodeDiffers;
      end
      if (kept_i.valid && !room) lost_q <= 1'b1;
    end

    // -- finding the log
    unique case (state_q)
      Idle: begin
        unit_q <= 1'b0;
        place_q <= '0;
        {anything_q, both_q, dirty_q, renews_q, sealed_q, gap_q} <= '0;
      end
      Head: begin
        if (pair_ends) begin
          head_q[unit_q] <= is_good;
          generation_q[unit_q] <= found.generation;
          keys_q[unit_q] <= found.word;
          if (!blank) anything_q <= 1'b1;
        end
        if (done) unit_q <= 1'b1;
      end
      Choose: begin
        unit_q <= newer;
        head_q[newer] <= 1'b0;
        if (head_q == '1) both_q <= 1'b1;
        place_q <= '0;
        {sealed_q, ended_q, gap_q} <= '0;
        dirty_q <= both_q || head_q == '1;
        used_q <= '0;
      end
      Scan: begin
        if (pair_ends) begin
          blank_q <= blank;
          if (!is_good) ended_q <= 1'b1;
          if (ended_q && !blank) gap_q <= 1'b1;
          if (!ended_q && !blank && !(is_good && both)) dirty_q <= 1'b1;
          if (!ended_q && is_good) used_q <= pair_place + 1'b1;
          if (!ended_q && is_good && is_seal) sealed_q <= 1'b1;
        end
        if (done && !scanned) place_q <= place_q + place_t'(PagePairs);
      end
      Judge: place_q <= used_q;
      // -- keeping it
      Ready: begin
        {append_q, page_q[0]} <= {1'b0, word_out};
        if (renew) begin
          unit_q <= !unit_q;
          generation_q[!unit_q] <= generation_q[unit_q] + 1'b1;
          keys_q[!unit_q] <= keys_q[unit_q];
          place_q <= '0;
          renews_q <= 1'b1;
        end
      end
      Gather: begin
        if (place_q == '0 && gathered_q == '0) page_q[0] <= keys_q[unit_q];
        else if (looked_i.valid) page_q[gathered_q[2:0]] <= looked_i.word;
      end
      Fill: begin
        if (written) place_q <= place_q + page_pairs;
        if (written) {append_q, page_q[0]} <= {EntrySeal, 32'd0};
      end
      Append: begin
        if (written) place_q <= place_q + 1'b1;
        dirty_q <= dirty_q || fails;
      end
      Strike: if (done) {renews_q, dirty_q} <= '0;
      default: ;
    endcase
    if (state_q != Erase) sector_q <= '0;
    else if (done) sector_q <= sector_q + 1'b1;
    if (state_q != Clear) clear_q <= 11'(SignRoles);
    else if (write_ready_i) clear_q <= clear_q + 1'b1;
    if (state_q != Gather) gathered_q <= '0;
    else if (gathered_q != page_pairs && (looked_i.valid || place_q + gathered_q == '0))
      gathered_q <= gathered_q + 1'b1;
    if (!(state_q inside {Fill, Append})) check_q <= 1'b0;
    else if (done) check_q <= !check_q && !fails;
    if (state_q == Scan && pair_ends) {put_at_q, put_word_q} <= {found.at[10:0], found.word};
  end

`ifndef SYNTHESIS
  // What counts is not erased, nor written over.
  OldStays_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) state_q == Erase |-> renews_q);
  ErasedBefore_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) state_q == Append |-> place_q > place_t'(Base) || renews_q);
`endif
endmodule : rl_flash_versions
