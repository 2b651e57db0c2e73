// The registers' reading side: what the blocks say, and what is constant. Two cycles after `read_i`,
// `rdata_o` is what the register was a cycle before; after any other cycle it is 0, so that it can be
// or-ed.
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
  // What can be read. Each has flip-flops of its own, which their reset holds at 0 while another is
  // read: to or them takes half of the gates of a multiplexer.
  typedef enum {
    Card,
    TimeLo,
    TimeHi,
    Events,
    CtlHead,
    TxBusy,
    Session,
    Heard,
    Answered,
    WinNext,
    WinStatus,
    WinInsert,
    WinBits,
    StgStart,
    StgMissing,
    StgBlock,
    DigGo,
    DigValue,
    CfgStatus,
    RoleCtrl,
    RoleFault,
    LchLast,
    LchQueued,
    LchCancel,
    LchEnded,
    LchValueLo,
    LchValueHi,
    LchCyclesLo,
    LchCyclesHi,
    LchStartedUs,
    LchEndedUs,
    LchRunning,
    LchEnable,
    MemScrubGo,
    FetGo,
    Count
  } readable_e;
  function automatic logic at(csr_word_t word);
    return read_i && word_i == word;
  endfunction
  // One of eight, the first of which has a number that is a multiple of 8.
  function automatic logic at8(csr_word_t first);
    return read_i && {word_i[7:3], 3'd0} == first;
  endfunction
  logic [Count-1:0] asked_q;
  always_ff @(posedge clk_net_i) begin
    asked_q[Card] <= at8(CsrMacHi) || at8(CsrMacHi + 8'd8);
    asked_q[TimeLo] <= at(CsrTimeLo);
    asked_q[TimeHi] <= at(CsrTimeHi);
    asked_q[Events] <= at(CsrEvents);
    asked_q[CtlHead] <= at(CsrCtlHead);
    asked_q[TxBusy] <= at(CsrTxBusy);
    asked_q[Session] <= at(CsrSession);
    asked_q[Heard] <= at(CsrHeard);
    asked_q[Answered] <= at(CsrAnswered);
    asked_q[WinNext] <= at(CsrWinNext);
    asked_q[WinStatus] <= at(CsrWinStatus);
    asked_q[WinInsert] <= at(CsrWinInsert);
    asked_q[WinBits] <= at8(CsrWinBits);
    asked_q[StgStart] <= at(CsrStgStart);
    asked_q[StgMissing] <= at(CsrStgMissing);
    asked_q[StgBlock] <= at(CsrStgBlock);
    asked_q[DigGo] <= at(CsrDigGo);
    asked_q[DigValue] <= at8(CsrDigValue);
    asked_q[CfgStatus] <= at(CsrCfgStatus);
    asked_q[RoleCtrl] <= at(CsrRoleCtrl);
    asked_q[RoleFault] <= at(CsrRoleFault);
    asked_q[LchLast] <= at(CsrLchLast);
    asked_q[LchQueued] <= at(CsrLchQueued);
    asked_q[LchCancel] <= at(CsrLchCancel);
    asked_q[LchEnded] <= at(CsrLchEnded);
    asked_q[LchValueLo] <= at(CsrLchValueLo);
    asked_q[LchValueHi] <= at(CsrLchValueHi);
    asked_q[LchCyclesLo] <= at(CsrLchCyclesLo);
    asked_q[LchCyclesHi] <= at(CsrLchCyclesHi);
    asked_q[LchStartedUs] <= at(CsrLchStartedUs);
    asked_q[LchEndedUs] <= at(CsrLchEndedUs);
    asked_q[LchRunning] <= at(CsrLchRunning);
    asked_q[LchEnable] <= at(CsrLchEnable);
    asked_q[MemScrubGo] <= at(CsrMemScrubGo);
    asked_q[FetGo] <= at(CsrFetGo);
  end

  // The high half of the time that was read last.
  logic [15:0] time_hi_q;
  logic [31:0] heard_q;
  always_ff @(posedge clk_net_i) begin
    if (asked_q[TimeLo]) time_hi_q <= time_us_i[47:32];
    if (heard_i) heard_q <= time_us_i[31:0];
  end

  logic [Count-1:0][31:0] value, shown_q;
  always_comb begin
    value = '0;
    value[Card] = strap_i;
    value[TimeLo] = time_us_i[31:0];
    value[TimeHi] = 32'(time_hi_q);
    value[Events] = 32'(events_i);
    value[CtlHead][CtlHeadValidBit] = ring_i.valid;
    value[CtlHead][CtlHeadWhyLsb+:CtlHeadWhyWidth] = ring_i.why;
    value[CtlHead][CtlHeadOffsetLsb+:CtlHeadOffsetWidth] = ring_i.offset;
    value[TxBusy] = 32'({answer_busy_i, slot_busy_i});
    value[Session] = 32'(own_i.session);
    value[Heard] = heard_q;
    value[Answered] = 32'(answered_i);
    value[WinNext] = store_i.next;
    value[WinStatus][WinStatusContiguousBit] = store_i.contiguous;
    value[WinStatus][WinStatusAckDueBit] = store_i.ack_due;
    value[WinInsert][WinInsertBusyBit] = store_i.insert_busy;
    value[WinInsert][WinInsertResultLsb+:WinInsertResultWidth] = store_i.insert_result;
    value[WinBits] = store_i.bits;
    value[StgStart][StgStartBusyBit] = stage_i.busy;
    value[StgMissing] = 32'(stage_i.missing);
    value[StgBlock][StgBlockValidBit] = stage_i.block_valid;
    value[StgBlock][StgBlockNumberLsb+:StgBlockNumberWidth] = stage_i.block;
    value[DigGo][DigGoRoomBit] = !own_i.job;
    value[DigGo][DigGoIdleBit] = digest_i.idle && !own_i.job;
    value[DigValue] = digest_i.value;
    value[CfgStatus][CfgStatusRoleIdLsb+:CfgStatusRoleIdWidth] = config_i.role_id;
    value[CfgStatus][CfgStatusErrorLsb+:CfgStatusErrorWidth] = config_i.error;
    value[CfgStatus][CfgStatusLocalBit] = config_i.local_port;
    value[CfgStatus][CfgStatusFailedBit] = config_i.failed;
    value[CfgStatus][CfgStatusDoneBit] = config_i.done;
    value[CfgStatus][CfgStatusBusyBit] = config_i.busy;
    value[RoleCtrl][RoleCtrlIsolateBit] = own_i.role.isolate;
    value[RoleCtrl][RoleCtrlResetBit] = own_i.role.hold;
    value[RoleCtrl][RoleCtrlDrainedBit] = role_i.drained;
    value[RoleFault] = 32'(role_i.fault);
    value[LchLast] = launch_i.last;
    value[LchQueued] = 32'(launch_i.queued);
    value[LchCancel][LchCancelBusyBit] = launch_i.walk_busy;
    value[LchCancel][LchCancelFoundBit] = launch_i.walk_found;
    value[LchEnded][LchEndedValidBit] = launch_i.ended_valid;
    value[LchEnded][LchEndedRanBit] = launch_i.ended_ran;
    value[LchEnded][LchEndedSlotLsb+:LchEndedSlotWidth] = launch_i.ended_slot;
    value[LchEnded][LchEndedStatusLsb+:LchEndedStatusWidth] = launch_i.ended_status;
    value[LchValueLo] = launch_i.value[31:0];
    value[LchValueHi] = launch_i.value[63:32];
    value[LchCyclesLo] = launch_i.cycles[31:0];
    value[LchCyclesHi] = 32'(launch_i.cycles[47:32]);
    value[LchStartedUs] = launch_i.started_us;
    value[LchEndedUs] = launch_i.ended_us;
    value[LchRunning][LchRunningRunningBit] = launch_i.running;
    value[LchEnable][LchEnableEnableBit] = own_i.enable;
    value[MemScrubGo][MemScrubGoBusyBit] = own_i.scrub || scrub_done_i;
    value[FetGo][FetGoRoomBit] = !own_i.fetch;
    value[FetGo][FetGoIdleBit] = fetch_idle_i && !own_i.fetch;
  end

  always_ff @(posedge clk_net_i) begin
    for (int unsigned i = 0; i < Count; i++) shown_q[i] <= asked_q[i] ? value[i] : '0;
  end
  always_comb begin
    rdata_o = '0;
    for (int unsigned i = 0; i < Count; i++) rdata_o |= shown_q[i];
  end
endmodule
