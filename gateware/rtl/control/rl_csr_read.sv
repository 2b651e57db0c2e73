// The registers' reading side: what the blocks say, and what is constant. A cycle after `read_i`,
// `rdata_o` is what the register is then; after any other cycle it is 0, so that it can be or-ed.
module rl_csr_read
  import rl_csr_pkg::*;
  import rl_control_pkg::*;
(
  input  logic              clk_net_i,

  input  logic              read_i,
  input  csr_word_t         word_i,     // Holds for the next cycle too.
  output logic [31:0]       rdata_o,

  input  logic [47:0]       time_us_i,
  input  logic [31:0]       strap_i,
  input  logic [10:0]       events_i,
  input  csr_own_t          own_i,

  // From the blocks: rl_control has the comments.
  input  logic              heard_i,
  input  ring_head_t        ring_i,
  input  logic [1:0]        slot_busy_i,
  input  logic              answer_busy_i,
  input  logic [15:0]       answered_i,
  input  store_status_t     store_i,
  input  stage_status_t     stage_i,
  input  digest_status_t    digest_i,
  input  config_status_t    config_i,
  input  role_status_t      role_i,
  input  launch_status_t    launch_i,
  input  logic              scrub_done_i,
  input  logic              fetch_idle_i
);
  // Which register is read, a bit for each. Gates with them are smaller than the multiplexers that
  // synthesis makes of a number.
  typedef struct packed {
    logic time_lo;
    logic time_hi;
    logic events;
    logic ctl_head;
    logic tx_busy;
    logic session;
    logic heard;
    logic answered;
    logic win_next;
    logic win_insert;
    logic win_bits;
    logic stg_start;
    logic stg_staged;
    logic stg_block;
    logic dig_go;
    logic dig_value;
    logic cfg_status;
    logic role_ctrl;
    logic role_fault;
    logic lch_last;
    logic lch_queued;
    logic lch_cancel;
    logic lch_ended;
    logic lch_value_lo;
    logic lch_value_hi;
    logic lch_cycles_lo;
    logic lch_cycles_hi;
    logic lch_started;
    logic lch_ended_us;
    logic lch_running;
    logic lch_enable;
    logic scrub_go;
    logic fet_go;
  } asked_t;
  function automatic logic at(csr_word_t word);
    return read_i && word_i == word;
  endfunction
  // One of eight, the first of which has a number that is a multiple of 8.
  function automatic logic at8(csr_word_t first);
    return read_i && {word_i[7:3], 3'd0} == first;
  endfunction
  asked_t asked_q;
  always_ff @(posedge clk_net_i) begin
    asked_q <= '{
        time_lo: at(CsrTimeLo),
        time_hi: at(CsrTimeHi),
        events: at(CsrEvents),
        ctl_head: at(CsrCtlHead),
        tx_busy: at(CsrTxBusy),
        session: at(CsrSession),
        heard: at(CsrHeard),
        answered: at(CsrAnswered),
        win_next: at(CsrWinNext),
        win_insert: at(CsrWinInsert),
        win_bits: at8(CsrWinBits),
        stg_start: at(CsrStgStart),
        stg_staged: at(CsrStgStaged),
        stg_block: at(CsrStgBlock),
        dig_go: at(CsrDigGo),
        dig_value: at8(CsrDigValue),
        cfg_status: at(CsrCfgStatus),
        role_ctrl: at(CsrRoleCtrl),
        role_fault: at(CsrRoleFault),
        lch_last: at(CsrLchLast),
        lch_queued: at(CsrLchQueued),
        lch_cancel: at(CsrLchCancel),
        lch_ended: at(CsrLchEnded),
        lch_value_lo: at(CsrLchValueLo),
        lch_value_hi: at(CsrLchValueHi),
        lch_cycles_lo: at(CsrLchCyclesLo),
        lch_cycles_hi: at(CsrLchCyclesHi),
        lch_started: at(CsrLchStartedUs),
        lch_ended_us: at(CsrLchEndedUs),
        lch_running: at(CsrLchRunning),
        lch_enable: at(CsrLchEnable),
        scrub_go: at(CsrMemScrubGo),
        fet_go: at(CsrFetGo)
    };
  end

  // The high half of the time that was read last.
  logic [15:0] time_hi_q;
  logic [31:0] heard_q;
  always_ff @(posedge clk_net_i) begin
    if (asked_q.time_lo) time_hi_q <= time_us_i[47:32];
    if (heard_i) heard_q <= time_us_i[31:0];
  end

  // Block RAM shows it: too late in its cycle for all that follows. The firmware does not look so soon.
  logic block_valid_q;
  logic [11:0] block_q;
  always_ff @(posedge clk_net_i) begin
    block_valid_q <= stage_i.block_valid;
    block_q <= stage_i.block;
  end

  // A word of the card's constants is there by then.
  logic [31:0] card_q;
  always_ff @(posedge clk_net_i) begin
    card_q <= at8(CsrMacHi) || at8(CsrMacHi + 8'd8) ? strap_i : '0;
  end

  logic [31:0] wide, bits;
  always_comb begin
    wide = card_q;
    wide |= {32{asked_q.time_lo}} & time_us_i[31:0];
    wide |= {32{asked_q.time_hi}} & 32'(time_hi_q);
    wide |= {32{asked_q.heard}} & heard_q;
    wide |= {32{asked_q.answered}} & 32'(answered_i);
    wide |= {32{asked_q.win_next}} & store_i.next;
    wide |= {32{asked_q.win_bits}} & store_i.bits;
    wide |= {32{asked_q.stg_staged}} & 32'(stage_i.staged);
    wide |= {32{asked_q.dig_value}} & digest_i.value;
    wide |= {32{asked_q.lch_last}} & launch_i.last;
    wide |= {32{asked_q.lch_value_lo}} & launch_i.value[31:0];
    wide |= {32{asked_q.lch_value_hi}} & launch_i.value[63:32];
    wide |= {32{asked_q.lch_cycles_lo}} & launch_i.cycles[31:0];
    wide |= {32{asked_q.lch_cycles_hi}} & 32'(launch_i.cycles[47:32]);
    wide |= {32{asked_q.lch_started}} & launch_i.started_us;
    wide |= {32{asked_q.lch_ended_us}} & launch_i.ended_us;
  end

  always_comb begin
    bits = '0;
    if (asked_q.events) bits[10:0] = events_i;
    if (asked_q.ctl_head) begin
      bits[CtlHeadValidBit] = ring_i.valid;
      bits[CtlHeadWhyLsb+:CtlHeadWhyWidth] = ring_i.why;
      bits[CtlHeadOffsetLsb+:CtlHeadOffsetWidth] = ring_i.offset;
    end
    if (asked_q.tx_busy) bits[2:0] |= {answer_busy_i, slot_busy_i};
    if (asked_q.session) bits[5:0] |= own_i.session;
    if (asked_q.win_insert) begin
      bits[WinInsertBusyBit] |= store_i.insert_busy;
      bits[WinInsertResultLsb+:WinInsertResultWidth] |= store_i.insert_result;
    end
    bits[StgStartBusyBit] |= asked_q.stg_start && stage_i.busy;
    if (asked_q.stg_block) begin
      bits[StgBlockValidBit] |= block_valid_q;
      bits[StgBlockNumberLsb+:StgBlockNumberWidth] |= block_q;
    end
    bits[DigGoRoomBit] |= asked_q.dig_go && !own_i.job;
    bits[DigGoIdleBit] |= asked_q.dig_go && digest_i.idle && !own_i.job;
    if (asked_q.cfg_status) begin
      bits[CfgStatusRoleIdLsb+:CfgStatusRoleIdWidth] |= config_i.role_id;
      bits[CfgStatusErrorLsb+:CfgStatusErrorWidth] |= config_i.error;
      bits[CfgStatusLocalBit] |= config_i.local_port;
      bits[CfgStatusFailedBit] |= config_i.failed;
      bits[CfgStatusDoneBit] |= config_i.done;
      bits[CfgStatusBusyBit] |= config_i.busy;
    end
    if (asked_q.role_ctrl) begin
      bits[RoleCtrlIsolateBit] |= own_i.role.isolate;
      bits[RoleCtrlResetBit] |= own_i.role.hold;
      bits[RoleCtrlDrainedBit] |= role_i.drained;
    end
    if (asked_q.role_fault) bits[3:0] |= role_i.fault;
    if (asked_q.lch_queued) bits[4:0] |= launch_i.queued;
    bits[LchCancelBusyBit] |= asked_q.lch_cancel && launch_i.walk_busy;
    bits[LchCancelFoundBit] |= asked_q.lch_cancel && launch_i.walk_found;
    if (asked_q.lch_ended) begin
      bits[LchEndedValidBit] |= launch_i.ended_valid;
      bits[LchEndedRanBit] |= launch_i.ended_ran;
      bits[LchEndedSlotLsb+:LchEndedSlotWidth] |= launch_i.ended_slot;
      bits[LchEndedStatusLsb+:LchEndedStatusWidth] |= launch_i.ended_status;
    end
    bits[LchRunningRunningBit] |= asked_q.lch_running && launch_i.running;
    bits[LchEnableEnableBit] |= asked_q.lch_enable && own_i.enable;
    bits[MemScrubGoBusyBit] |= asked_q.scrub_go && (own_i.scrub || scrub_done_i);
    bits[FetGoRoomBit] |= asked_q.fet_go && !own_i.fetch;
    bits[FetGoIdleBit] |= asked_q.fet_go && fetch_idle_i && !own_i.fetch;
  end
  assign rdata_o = wide | bits;

  // An event tells it.
  logic unused;
  assign unused = store_i.ack_due;
endmodule
