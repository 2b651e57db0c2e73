// The registers' reading side: what the blocks say, and what is constant. A cycle after `read_i`,
// `rdata_o` is what the register was then; after any other cycle it is 0, so that it can be or-ed.
module rl_csr_read
  import rl_csr_pkg::*;
  import rl_control_pkg::*;
#(
  parameter bit Keys = 1'b0  // The card has keys.
) (
  input  logic              clk_net_i,

  input  logic              read_i,
  input  csr_select_t       select_i,   // The register's number,
  input  logic              word3_i,    // and this bit of it.
  output logic [31:0]       rdata_o,

  input  logic [47:0]       time_us_i,
  input  logic [31:0]       strap_i,
  input  logic [11:0]       events_i,
  input  csr_own_t          own_i,

  // From the blocks: rl_control has the comments.
  input  logic              heard_i,
  input  ring_head_t        ring_i,
  input  logic [1:0]        slot_busy_i,
  input  logic              answer_busy_i,
  input  mem_write_status_t     mem_write_i,
  input  image_write_status_t     image_write_i,
  input  digest_status_t    digest_i,
  input  config_status_t    config_i,
  input  role_status_t      role_i,
  input  launch_status_t    launch_i,
  input  logic              mem_read_idle_i,
  input  logic [31:0]       bridge_i,          // What its register at bridge_ctl_t.read_at is.
  input  logic [31:0]       keys_i             // With Keys, likewise.
);
  logic unused;
  assign unused = ^{mem_write_i.ack_due, launch_i.ended};  // Events.

  // What can be read. Each has flip-flops of its own, which their reset holds at 0 while another is
  // read: to or them takes half of the gates of a multiplexer.
  typedef enum {
    Card,
    TimeLo,
    TimeHi,
    Events,
    CtlHead,
    TxBusy,
    Heard,
    WinNext,
    WinInsert,
    WinWritten,
    WinBits,
    StgStart,
    StgStaged,
    StgBlock,
    DigGo,
    CfgStatus,
    RoleCtrl,
    RoleFault,
    LchLast,
    LchQueue,
    LchValueLo,
    LchValueHi,
    LchCyclesLo,
    LchCyclesHi,
    LchStartedUs,
    LchEndedUs,
    LchEnable,
    FetGo,
    Bridge,
    KeyRegisters,
    Count
  } readable_e;
  function automatic logic at(csr_word_t word);
    return read_i && csr_is(select_i, word);
  endfunction
  // One of eight, by the upper bits of their numbers.
  function automatic logic at8(logic [4:0] eight);
    return read_i && select_i.high[eight[4:1]] && word3_i == eight[0];
  endfunction
  logic [Count-1:0] asked;
  always_comb begin
    asked[Card] = at8(CsrMacHi[7:3]) || at8(CsrMacHi[7:3] + 5'd1) || at8(CsrMac1Hi[7:3]);
    asked[TimeLo] = at(CsrTimeLo);
    asked[TimeHi] = at(CsrTimeHi);
    asked[Events] = at(CsrEvents);
    asked[CtlHead] = at(CsrCtlHead);
    asked[TxBusy] = at(CsrTxBusy);
    asked[Heard] = at(CsrHeard);
    asked[WinNext] = at(CsrWinNext);
    asked[WinInsert] = at(CsrWinInsert);
    asked[WinWritten] = at(CsrWinWritten);
    asked[WinBits] = at8(CsrWinBits[7:3]);
    asked[StgStart] = at(CsrStgStart);
    asked[StgStaged] = at(CsrStgStaged);
    asked[StgBlock] = at(CsrStgBlock);
    asked[DigGo] = at(CsrDigGo);
    asked[CfgStatus] = at(CsrCfgStatus);
    asked[RoleCtrl] = at(CsrRoleCtrl);
    asked[RoleFault] = at(CsrRoleFault);
    asked[LchLast] = at(CsrLchLast);
    asked[LchQueue] = at(CsrLchQueue);
    asked[LchValueLo] = at(CsrLchValueLo);
    asked[LchValueHi] = at(CsrLchValueHi);
    asked[LchCyclesLo] = at(CsrLchCyclesLo);
    asked[LchCyclesHi] = at(CsrLchCyclesHi);
    asked[LchStartedUs] = at(CsrLchStartedUs);
    asked[LchEndedUs] = at(CsrLchEndedUs);
    asked[LchEnable] = at(CsrLchEnable);
    asked[FetGo] = at(CsrFetGo);
    asked[Bridge] = read_i && (select_i.high[CsrBrgStatus[7:4]] || select_i.high[CsrBrgCount[7:4]]);
    asked[KeyRegisters] = Keys && read_i && (|select_i.high[CsrKeyOwnerHi[7:4]+:2]);
  end

  // The high half of the time that was read last.
  logic [15:0] time_hi_q;
  logic [31:0] heard_q;
  always_ff @(posedge clk_net_i) begin
    if (asked[TimeLo]) time_hi_q <= time_us_i[47:32];
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
    value[CtlHead][CtlHeadReasonLsb+:CtlHeadReasonWidth] = ring_i.reason;
    value[CtlHead][CtlHeadOffsetLsb+:CtlHeadOffsetWidth] = ring_i.offset;
    value[TxBusy] = 32'({answer_busy_i, slot_busy_i});
    value[Heard] = heard_q;
    value[WinNext] = mem_write_i.next;
    value[WinInsert][WinInsertBusyBit] = mem_write_i.insert_busy;
    value[WinInsert][WinInsertResultLsb+:WinInsertResultWidth] = mem_write_i.insert_result;
    value[WinWritten][WinWrittenStoredLsb+:WinWrittenStoredWidth] = mem_write_i.stored;
    value[WinWritten][WinWrittenWrittenLsb+:WinWrittenWrittenWidth] = mem_write_i.written;
    value[WinBits] = mem_write_i.bits;
    value[StgStart][StgStartBusyBit] = image_write_i.busy;
    value[StgStaged] = 32'(image_write_i.staged);
    value[StgBlock][StgBlockValidBit] = image_write_i.block_valid;
    value[StgBlock][StgBlockNumberLsb+:StgBlockNumberWidth] = image_write_i.block;
    value[DigGo][DigGoRoomBit] = !own_i.job;
    value[DigGo][DigGoIdleBit] = digest_i.idle && !own_i.job;
    value[CfgStatus][CfgStatusCodeLsb+:CfgStatusCodeWidth] = config_i.code;
    value[CfgStatus][CfgStatusLocalBit] = config_i.local_port;
    value[CfgStatus][CfgStatusFailedBit] = config_i.failed;
    value[CfgStatus][CfgStatusDoneBit] = config_i.done;
    value[CfgStatus][CfgStatusBusyBit] = config_i.busy;
    value[RoleCtrl][RoleCtrlDrainedBit] = role_i.drained;
    value[RoleFault] = 32'(role_i.fault);
    value[LchLast] = launch_i.last;
    value[LchQueue][LchQueueFrozenBit] = launch_i.frozen;
    value[LchQueue][LchQueueRunningBit] = launch_i.running;
    value[LchQueue][LchQueueEndLsb+:LchQueueEndWidth] = launch_i.end_status;
    value[LchQueue][LchQueueHeadLsb+:LchQueueHeadWidth] = launch_i.head;
    value[LchQueue][LchQueueTailLsb+:LchQueueTailWidth] = launch_i.tail;
    value[LchValueLo] = launch_i.value[31:0];
    value[LchValueHi] = launch_i.value[63:32];
    value[LchCyclesLo] = launch_i.cycles[31:0];
    value[LchCyclesHi] = 32'(launch_i.cycles[47:32]);
    value[LchStartedUs] = launch_i.started_us;
    value[LchEndedUs] = launch_i.ended_us;
    value[LchEnable][LchEnableEnableBit] = own_i.enable;
    value[FetGo][FetGoRoomBit] = !own_i.fetch;
    value[FetGo][FetGoIdleBit] = mem_read_idle_i && !own_i.fetch;
    value[Bridge] = bridge_i;
    value[KeyRegisters] = Keys ? keys_i : '0;
  end

  always_ff @(posedge clk_net_i) begin
    for (int unsigned i = 0; i < Count; i++) shown_q[i] <= asked[i] ? value[i] : '0;
  end
  always_comb begin
    rdata_o = '0;
    for (int unsigned i = 0; i < Count; i++) rdata_o |= shown_q[i];
  end
endmodule
