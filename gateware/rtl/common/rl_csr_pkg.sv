// Made from protocol/registers.toml by `cargo run -p protogen`. Change that file, not this one.

// A design uses some of this, never all; the generator lays the lines out.
// verilator lint_off UNUSEDPARAM
// verilog_format: off
package rl_csr_pkg;

  // Parts of the processor's address map: bits 30 to 28 of an address.
  typedef enum logic [2:0] {
    // Code, data and stack, also in bytes and halves. A card with keys has 0x10000 bytes.
    // Instructions come from here alone. All other regions are read and written in whole words.
    RegionRam = 3'd0,
    // The control ring, twice: a frame that wraps reads on linearly. A frame's word k is its bytes
    // 4 k to 4 k + 3 as a big-endian number.
    RegionRing = 3'd1,
    // The transmit buffer. Slots 0 and 1 hold frames of the firmware, slot 2 the template of
    // announcements. Slot 3 holds two templates of what is fetched from DDR, 16 words each, and
    // cannot be read: the owner's reads have the first, the firmware's fetches the second. Words 0
    // and 1 are for the memory, words 2 to 9 the frame's head. The owner's is 0 where a read tells
    // length, number and address. The order of bytes is the ring's.
    RegionTx = 3'd2,
    // The registers below.
    RegionCsr = 3'd3,
    // Chunks of the load that are there: bit n % 32 of word n / 32.
    RegionHave = 3'd4,
    // Chunks that a report of any member has named lately: as HAVE. Memory of the firmware's own.
    RegionReported = 3'd5,
    // Accepted launches, from acceptance until they are done with: their frames as they came, in
    // the order of the ring's bytes.
    RegionLaunch = 3'd6,
    // Counters that the blocks keep, numbered as on the wire.
    RegionCounter = 3'd7
  } region_e;

  localparam int unsigned RegionRamBytes = 32768;
  localparam int unsigned RegionRingBytes = 16384;
  localparam int unsigned RegionTxBytes = 8192;
  localparam int unsigned RegionTxSlots = 4;
  localparam int unsigned RegionTxSlotBytes = 2048;
  localparam int unsigned RegionHaveBytes = 8192;
  localparam int unsigned RegionReportedBytes = 8192;
  localparam int unsigned RegionLaunchBytes = 16384;
  localparam int unsigned RegionLaunchSlots = 32;
  localparam int unsigned RegionLaunchSlotBytes = 512;
  // Word of a slot. Number of the launch.
  localparam int unsigned RegionLaunchSlotSeq = 5;
  // Word of a slot. Kernel.
  localparam int unsigned RegionLaunchSlotKernel = 7;
  // Word of a slot. Most cycles it may take, high word first.
  localparam int unsigned RegionLaunchSlotFuel = 8;
  // Word of a slot. Address of the output region, high word first.
  localparam int unsigned RegionLaunchSlotOutAddr = 10;
  // Word of a slot. Bytes of the output region, high word first.
  localparam int unsigned RegionLaunchSlotOutLength = 12;
  // Word of a slot. The Go it waits for, or 0.
  localparam int unsigned RegionLaunchSlotGo = 14;
  // Word of a slot. Output chunks it may send unasked in the high half, number of arguments in the
  // low half.
  localparam int unsigned RegionLaunchSlotCreditArgs = 15;
  // Word of a slot. Arguments, two words each, high word first.
  localparam int unsigned RegionLaunchSlotArg = 16;
  localparam int unsigned RegionCounterBytes = 2048;
  localparam int unsigned RegionCounterSlots = 256;
  localparam int unsigned RegionCounterSlotBytes = 8;
  // Word of a slot. Low half.
  localparam int unsigned RegionCounterSlotLo = 0;
  // Word of a slot. High half.
  localparam int unsigned RegionCounterSlotHi = 1;

  // Registers: their words in the region.
  typedef logic [7:0] csr_word_t;

  // Time, events and sleep.
  // TIME_LO: read. Microseconds since reset, low half. Latches the high half.
  localparam csr_word_t CsrTimeLo = 8'h00;
  // TIME_HI: read. High half as latched, 16 bits.
  localparam csr_word_t CsrTimeHi = 8'h01;
  // ALARM: write. The event ALARM is there from the microsecond on in which TIME_LO - ALARM, as a
  // signed number, is not negative. While the processor sleeps and waits for that event, this is
  // the card's next deadline.
  localparam csr_word_t CsrAlarm = 8'h02;
  // EVENTS: read. What there is to do. An event marked latched stays until CLEAR; the others last
  // as long as their cause.
  localparam csr_word_t CsrEvents = 8'h03;
  localparam int unsigned EventsControlBit = 0;
  localparam int unsigned EventsAckDueBit = 1;
  localparam int unsigned EventsLaunchEndedBit = 2;
  localparam int unsigned EventsAlarmBit = 3;
  localparam int unsigned EventsBlockWholeBit = 4;
  localparam int unsigned EventsDigestIdleBit = 5;
  localparam int unsigned EventsScrubDoneBit = 6;
  localparam int unsigned EventsFetchDoneBit = 7;
  localparam int unsigned EventsConfigDoneBit = 8;
  localparam int unsigned EventsRoleFaultBit = 9;
  localparam int unsigned EventsTxFreeBit = 10;
  localparam int unsigned EventsKeysBit = 11;
  // SLEEP: write acts. The processor stops until one of these EVENTS is there.
  localparam csr_word_t CsrSleep = 8'h04;
  // CLEAR: write acts. Clears these latched EVENTS.
  localparam csr_word_t CsrClear = 8'h05;
  // ALIVE: write acts. The firmware does its work: to be written in each turn. When neither that
  // nor a sleep that waits for ALARM or SCRUB_DONE comes for long, the processor counts as failed.
  localparam csr_word_t CsrAlive = 8'h06;

  // What the card is: constants of the board and of the simulation that it runs in.
  // MAC_HI: read. Address of the card, bytes 0 and 1, in the low half.
  localparam csr_word_t CsrMacHi = 8'h08;
  // MAC_LO: read. Address of the card, bytes 2 to 5.
  localparam csr_word_t CsrMacLo = 8'h09;
  // CARD: read. What an announcement says of the card.
  localparam csr_word_t CsrCard = 8'h0a;
  localparam int unsigned CardUnitLsb = 16;
  localparam int unsigned CardUnitWidth = 16;
  localparam int unsigned CardKindLsb = 8;
  localparam int unsigned CardKindWidth = 8;
  localparam int unsigned CardPortsLsb = 0;
  localparam int unsigned CardPortsWidth = 8;
  // PRODUCT: read. Who made it.
  localparam csr_word_t CsrProduct = 8'h0b;
  localparam int unsigned ProductVendorLsb = 16;
  localparam int unsigned ProductVendorWidth = 16;
  localparam int unsigned ProductIdLsb = 0;
  localparam int unsigned ProductIdWidth = 16;
  // BOOT: read. Random number drawn at each boot.
  localparam csr_word_t CsrBoot = 8'h0c;
  // SEED: read. Seed of the jitter.
  localparam csr_word_t CsrSeed = 8'h0d;
  // MEMORY: read. DDR that a host may address, in units of 64 KiB.
  localparam csr_word_t CsrMemory = 8'h0e;
  // CLOCK_KHZ: read. Clock of the role while there is none, kHz.
  localparam csr_word_t CsrClockKhz = 8'h0f;
  // PORT_RATE: read. Rate of port 0, Mb/s: see LINK.
  localparam csr_word_t CsrPortRate = 8'h10;
  // STAGE_RATE: read. Rate at which image data can be staged, kB/s; 0: as fast as it comes.
  localparam csr_word_t CsrStageRate = 8'h11;
  // CONFIG_RATE: read. Rate of the configuration port, kB/s; 0: instantly.
  localparam csr_word_t CsrConfigRate = 8'h12;
  // STAGING_MAX: read. Bytes of one staging slot, the longest image.
  localparam csr_word_t CsrStagingMax = 8'h13;
  // LIMITS: read. Two bounds.
  localparam csr_word_t CsrLimits = 8'h14;
  localparam int unsigned LimitsAckEveryLsb = 16;
  localparam int unsigned LimitsAckEveryWidth = 16;
  localparam int unsigned LimitsBulkLsb = 0;
  localparam int unsigned LimitsBulkWidth = 16;
  // ACK_DELAY: read. Microseconds after the first unacknowledged write at which an acknowledgement
  // is due.
  localparam csr_word_t CsrAckDelay = 8'h15;
  // RESEND: read. Microseconds after which an unacknowledged result is sent again.
  localparam csr_word_t CsrResend = 8'h16;
  // ANNOUNCE_INTERVAL: read. Milliseconds between periodic announcements.
  localparam csr_word_t CsrAnnounceInterval = 8'h17;
  // MAC1_HI: read. Address of port 1, bytes 0 and 1, in the low half. 0 if the card has one port.
  localparam csr_word_t CsrMac1Hi = 8'h18;
  // MAC1_LO: read. Address of port 1, bytes 2 to 5.
  localparam csr_word_t CsrMac1Lo = 8'h19;
  // RESTARTS: read. How often the card has been restarted since power came, and why the last time.
  localparam csr_word_t CsrRestarts = 8'h1a;
  localparam int unsigned RestartsUntrainedBit = 9;
  localparam int unsigned RestartsMemoryBit = 8;
  localparam int unsigned RestartsCountLsb = 0;
  localparam int unsigned RestartsCountWidth = 8;
  // IMAGE_BOOT: read. How an image that was configured comes to run.
  localparam csr_word_t CsrImageBoot = 8'h1b;
  localparam int unsigned ImageBootRunsBit = 2;
  localparam int unsigned ImageBootRestartLsb = 0;
  localparam int unsigned ImageBootRestartWidth = 2;
  // LINK: read. The link of port 0. PORT_RATE is its rate, or while there is none, that of the last
  // one.
  localparam csr_word_t CsrLink = 8'h1c;
  localparam int unsigned LinkUpsLsb = 8;
  localparam int unsigned LinkUpsWidth = 8;
  localparam int unsigned LinkUnknownBit = 3;
  localparam int unsigned LinkHalfBit = 2;
  localparam int unsigned LinkWatchedBit = 1;
  localparam int unsigned LinkUpBit = 0;

  // Control frames in, frames of the firmware and announcements out.
  // CTL_HEAD: read. The first unread control frame.
  localparam csr_word_t CsrCtlHead = 8'h20;
  localparam int unsigned CtlHeadValidBit = 31;
  localparam int unsigned CtlHeadReasonLsb = 16;
  localparam int unsigned CtlHeadReasonWidth = 8;
  localparam int unsigned CtlHeadOffsetLsb = 0;
  localparam int unsigned CtlHeadOffsetWidth = 13;
  // CTL_POP: write acts. Done with that frame.
  localparam csr_word_t CsrCtlPop = 8'h21;
  // TX_BUSY: read. What is still to be sent.
  localparam csr_word_t CsrTxBusy = 8'h24;
  localparam int unsigned TxBusyAnswerBit = 2;
  localparam int unsigned TxBusySlotsLsb = 0;
  localparam int unsigned TxBusySlotsWidth = 2;
  // TX_SEND: write acts. Send the frame of a slot.
  localparam csr_word_t CsrTxSend = 8'h25;
  localparam int unsigned TxSendSlotBit = 16;
  localparam int unsigned TxSendBytesLsb = 0;
  localparam int unsigned TxSendBytesWidth = 11;

  // What the fast paths have to know of the claim and the load.
  // SESSION: write. State.
  localparam csr_word_t CsrSession = 8'h40;
  localparam int unsigned SessionListeningBit = 0;
  localparam int unsigned SessionLoadingBit = 1;
  localparam int unsigned SessionReceivingBit = 2;
  localparam int unsigned SessionRoleBit = 3;
  localparam int unsigned SessionConfiguringBit = 4;
  localparam int unsigned SessionSolicitFastBit = 5;
  localparam int unsigned SessionClaimedBit = 6;
  // FILTER: write acts. Which addresses have a half byte of this value at these places. A frame's
  // destination and source are those that all its half bytes are of. Frames that only an address
  // being changed concerns must not be under way.
  localparam csr_word_t CsrFilter = 8'h41;
  localparam int unsigned FilterPlacesLsb = 16;
  localparam int unsigned FilterPlacesWidth = 12;
  localparam int unsigned FilterValueLsb = 8;
  localparam int unsigned FilterValueWidth = 4;
  localparam int unsigned FilterCardBit = 0;
  localparam int unsigned FilterOwnerBit = 1;
  localparam int unsigned FilterCardsBit = 2;
  localparam int unsigned FilterAllBit = 3;
  localparam int unsigned FilterLoadBit = 4;
  localparam int unsigned FilterClaimBit = 5;
  // EPOCH: write. Epoch of the claim, 16 bits.
  localparam csr_word_t CsrEpoch = 8'h43;
  // LOAD_GROUP: write. Group id of the load, 16 bits.
  localparam csr_word_t CsrLoadGroup = 8'h44;
  // HEARD: read. TIME_LO at which a fast path last heard the owner.
  localparam csr_word_t CsrHeard = 8'h45;

  // The window of writes (`rl_mem_write`).
  // WIN_NEXT: write acts, read. Read: first write that is missing. Written: a new claim, the window
  // is empty and starts with 1.
  localparam csr_word_t CsrWinNext = 8'h50;
  // WIN_ACKED: write acts. An acknowledgement is being sent: nothing is unacknowledged.
  localparam csr_word_t CsrWinAcked = 8'h52;
  // WIN_INSERT: write acts, read. Written: this number counts as received; bits 11 to 0 tell it,
  // for it is, or counts as, one within 2^11 of WIN_NEXT. Read: what came of it.
  localparam csr_word_t CsrWinInsert = 8'h53;
  localparam int unsigned WinInsertBusyBit = 31;
  localparam int unsigned WinInsertResultLsb = 0;
  localparam int unsigned WinInsertResultWidth = 2;
  // WIN_INSERT_NOW: write acts. As WIN_INSERT, and its frame asks for an acknowledgement at once.
  localparam csr_word_t CsrWinInsertNow = 8'h54;
  // WIN_WRITTEN: read. How far writes have come, in frames modulo 2^8. After an error of the memory
  // WRITTEN stands still.
  localparam csr_word_t CsrWinWritten = 8'h55;
  localparam int unsigned WinWrittenWrittenLsb = 8;
  localparam int unsigned WinWrittenWrittenWidth = 8;
  localparam int unsigned WinWrittenStoredLsb = 0;
  localparam int unsigned WinWrittenStoredWidth = 8;
  // WIN_BITS: read. What is there: bit n % 256 for write n.
  localparam csr_word_t CsrWinBits = 8'h58;

  // The load's chunks (`rl_image_write`).
  // STG_BASE: write. First beat of the staging slot.
  localparam csr_word_t CsrStgBase = 8'h60;
  // STG_LAST: write. Number of the last chunk, 16 bits.
  localparam csr_word_t CsrStgLast = 8'h61;
  // STG_CHUNK: write. How long chunks are.
  localparam csr_word_t CsrStgChunk = 8'h62;
  localparam int unsigned StgChunkLastLengthLsb = 16;
  localparam int unsigned StgChunkLastLengthWidth = 14;
  localparam int unsigned StgChunkLengthLsb = 0;
  localparam int unsigned StgChunkLengthWidth = 14;
  // STG_EMPTY: write. How much is to be emptied: the number of the last chunk / 4, or that of the
  // last block if it is more.
  localparam csr_word_t CsrStgEmpty = 8'h63;
  // STG_START: write acts, read. Empties HAVE and the counts of blocks.
  localparam csr_word_t CsrStgStart = 8'h64;
  localparam int unsigned StgStartBusyBit = 0;
  // STG_STAGED: read. Chunks that were staged since reset, modulo 2^17.
  localparam csr_word_t CsrStgStaged = 8'h65;
  // STG_BLOCK: read. A block of 64 KiB that is whole and in DDR.
  localparam csr_word_t CsrStgBlock = 8'h66;
  localparam int unsigned StgBlockValidBit = 31;
  localparam int unsigned StgBlockNumberLsb = 0;
  localparam int unsigned StgBlockNumberWidth = 12;
  // STG_BLOCK_POP: write acts. Done with that block.
  localparam csr_word_t CsrStgBlockPop = 8'h67;

  // The digest engine (`rl_digest`).
  // DIG_SOURCE: write. First beat to read.
  localparam csr_word_t CsrDigSource = 8'h68;
  // DIG_TARGET: write. First beat to write.
  localparam csr_word_t CsrDigTarget = 8'h69;
  // DIG_LENGTH: write. Bytes to read, 1 or more, 29 bits.
  localparam csr_word_t CsrDigLength = 8'h6a;
  // DIG_CHUNK: write. Number of the first chunk of 1024 bytes.
  localparam csr_word_t CsrDigChunk = 8'h6b;
  // DIG_GO: write acts, read. Queue this job.
  localparam csr_word_t CsrDigGo = 8'h6c;
  localparam int unsigned DigGoParentsBit = 0;
  localparam int unsigned DigGoRootBit = 1;
  localparam int unsigned DigGoRoomBit = 0;
  localparam int unsigned DigGoIdleBit = 1;

  // The configuration port and the role's region (`rl_config_port`, `rl_guard`).
  // CFG_SOURCE: write. First beat of the configuration data.
  localparam csr_word_t CsrCfgSource = 8'h80;
  // CFG_LAST: write. Where the configuration data ends.
  localparam csr_word_t CsrCfgLast = 8'h81;
  localparam int unsigned CfgLastWordsLsb = 28;
  localparam int unsigned CfgLastWordsWidth = 4;
  localparam int unsigned CfgLastBeatLsb = 0;
  localparam int unsigned CfgLastBeatWidth = 22;
  // CFG_GO: write acts. Writes to the configuration port.
  localparam csr_word_t CsrCfgGo = 8'h82;
  localparam int unsigned CfgGoStartBit = 0;
  localparam int unsigned CfgGoStopBit = 1;
  // CFG_STATUS: read. State of the configuration port.
  localparam csr_word_t CsrCfgStatus = 8'h83;
  localparam int unsigned CfgStatusCodeLsb = 8;
  localparam int unsigned CfgStatusCodeWidth = 8;
  localparam int unsigned CfgStatusLocalBit = 3;
  localparam int unsigned CfgStatusFailedBit = 2;
  localparam int unsigned CfgStatusDoneBit = 1;
  localparam int unsigned CfgStatusBusyBit = 0;
  // ROLE_CTRL: write acts, read. The role's region.
  localparam csr_word_t CsrRoleCtrl = 8'h84;
  localparam int unsigned RoleCtrlDrainedBit = 8;
  localparam int unsigned RoleCtrlResetBit = 1;
  localparam int unsigned RoleCtrlIsolateBit = 0;
  // ROLE_FAULT: read. Rules that the role has broken.
  localparam csr_word_t CsrRoleFault = 8'h85;
  localparam int unsigned RoleFaultControlTimeoutBit = 0;
  localparam int unsigned RoleFaultAddressBit = 1;
  localparam int unsigned RoleFaultProtocolBit = 2;
  localparam int unsigned RoleFaultResponseTimeoutBit = 3;
  // CFG_NAME: write acts. Names the image whose part comes next, by its digest: before START, all
  // words in their order.
  localparam csr_word_t CsrCfgName = 8'h88;

  // The launch queue (`rl_launch`).
  // LCH_LAST: write acts, read. Number of the newest launch that was accepted or used up; both read
  // and written.
  localparam csr_word_t CsrLchLast = 8'h90;
  // LCH_POPPED: write. Done with launches that have ended. Places of the ring are numbered modulo
  // 32.
  localparam csr_word_t CsrLchPopped = 8'h91;
  localparam int unsigned LchPoppedBoundLsb = 8;
  localparam int unsigned LchPoppedBoundWidth = 5;
  localparam int unsigned LchPoppedPlaceLsb = 0;
  localparam int unsigned LchPoppedPlaceWidth = 5;
  // LCH_QUEUE: read. The ring of launches: from the place in LCH_POPPED on those that have ended,
  // from HEAD on those that have not, from TAIL on free slots.
  localparam csr_word_t CsrLchQueue = 8'h92;
  localparam int unsigned LchQueueFrozenBit = 31;
  localparam int unsigned LchQueueRunningBit = 30;
  localparam int unsigned LchQueueEndLsb = 16;
  localparam int unsigned LchQueueEndWidth = 3;
  localparam int unsigned LchQueueHeadLsb = 8;
  localparam int unsigned LchQueueHeadWidth = 5;
  localparam int unsigned LchQueueTailLsb = 0;
  localparam int unsigned LchQueueTailWidth = 5;
  // LCH_ARGS: write acts. Tells what a launch of a kernel must be.
  localparam csr_word_t CsrLchArgs = 8'h94;
  localparam int unsigned LchArgsWordsLsb = 16;
  localparam int unsigned LchArgsWordsWidth = 6;
  localparam int unsigned LchArgsKernelLsb = 8;
  localparam int unsigned LchArgsKernelWidth = 6;
  localparam int unsigned LchArgsArgsLsb = 0;
  localparam int unsigned LchArgsArgsWidth = 6;
  // LCH_FREEZE: write. The ring.
  localparam csr_word_t CsrLchFreeze = 8'h95;
  localparam int unsigned LchFreezeFreezeBit = 0;
  // LCH_ORDER: write acts. Changes a place of the ring while that is frozen or empty.
  localparam csr_word_t CsrLchOrder = 8'h96;
  localparam int unsigned LchOrderHeldBit = 16;
  localparam int unsigned LchOrderPlaceLsb = 8;
  localparam int unsigned LchOrderPlaceWidth = 5;
  localparam int unsigned LchOrderSlotLsb = 0;
  localparam int unsigned LchOrderSlotWidth = 5;
  // LCH_DROP: write acts. The launch at HEAD, none that runs, has ended; only while the ring is
  // frozen.
  localparam csr_word_t CsrLchDrop = 8'h97;
  // LCH_STOP: write acts. End the kernel if one runs; only while the ring is frozen.
  localparam csr_word_t CsrLchStop = 8'h98;
  // LCH_VALUE_LO: read. What its kernel returned, low half.
  localparam csr_word_t CsrLchValueLo = 8'h9d;
  // LCH_VALUE_HI: read. High half.
  localparam csr_word_t CsrLchValueHi = 8'h9e;
  // LCH_CYCLES_LO: read. Cycles of the role's clock that it took, low half.
  localparam csr_word_t CsrLchCyclesLo = 8'h9f;
  // LCH_CYCLES_HI: read. High half.
  localparam csr_word_t CsrLchCyclesHi = 8'ha0;
  // LCH_STARTED_US: read. TIME_LO at which it started.
  localparam csr_word_t CsrLchStartedUs = 8'ha1;
  // LCH_ENDED_US: read. TIME_LO at which it ended.
  localparam csr_word_t CsrLchEndedUs = 8'ha2;
  // LCH_ENABLE: read, write. Permission.
  localparam csr_word_t CsrLchEnable = 8'ha6;
  localparam int unsigned LchEnableEnableBit = 0;

  // Zeroing of DDR (`rl_ddr_write`) and fetches of the firmware (`rl_mem_read`).
  // MEM_SCRUB_FIRST: write. First beat to zero.
  localparam csr_word_t CsrMemScrubFirst = 8'hb0;
  // MEM_SCRUB_LAST: write. Last beat to zero.
  localparam csr_word_t CsrMemScrubLast = 8'hb1;
  // MEM_SCRUB_GO: write acts. Zero them.
  localparam csr_word_t CsrMemScrubGo = 8'hb2;
  // FET_GO: write acts, read. Queue the fetch that its template in slot 3 of TX tells of. The
  // template is not changed until there is room again.
  localparam csr_word_t CsrFetGo = 8'hbe;
  localparam int unsigned FetGoRoomBit = 0;
  localparam int unsigned FetGoIdleBit = 1;
  // FET_FLUSH: write acts. Forget the queued reads of hosts.
  localparam csr_word_t CsrFetFlush = 8'hbf;

  // The bridge (`rl_bridge_card`). A card without one reads zeros here and ignores writes.
  // BRG_STATUS: read. The bridge.
  localparam csr_word_t CsrBrgStatus = 8'hc0;
  localparam int unsigned BrgStatusThereBit = 0;
  localparam int unsigned BrgStatusMovesBit = 1;
  localparam int unsigned BrgStatusFullBit = 2;
  localparam int unsigned BrgStatusSetsBit = 3;
  localparam int unsigned BrgStatusEmptyBit = 4;
  localparam int unsigned BrgStatusNobodyBit = 5;
  localparam int unsigned BrgStatusStreamsBit = 6;
  localparam int unsigned BrgStatusAstrayBit = 7;
  // BRG_WHAT: write. What BRG_SET sets: the payload of SessionWindowSet, word by word, with
  // addresses of memory as others see it, which is as hosts see it; or in the last two words that
  // of SessionRouteSet. To a group, or to the card itself, no window opens.
  localparam csr_word_t CsrBrgWhat = 8'hc1;
  // BRG_SET: write acts. Opens a window or closes it, or sets or ends the route of one of the
  // role's streams. A node that no window and no route names any more is known on, for what it asks
  // is refused with a word, until its place is needed for another; then its connections end.
  localparam csr_word_t CsrBrgSet = 8'hc7;
  localparam int unsigned BrgSetOpenBit = 31;
  localparam int unsigned BrgSetRouteBit = 30;
  localparam int unsigned BrgSetIndexLsb = 0;
  localparam int unsigned BrgSetIndexWidth = 4;
  // BRG_END: write acts. Closes all windows, ends all connections and knows nobody any more. It is
  // done when MOVES has fallen.
  localparam csr_word_t CsrBrgEnd = 8'hc8;
  // BRG_LOST: read. Messages that came for a stream that the role does not have or does not take,
  // or were longer than a role's may be.
  localparam csr_word_t CsrBrgLost = 8'hc9;
  // BRG_COUNT: read. Counters of the bridge, from bridge_rx on in the order of the wire, two words
  // each, low half first. The high half may come a moment after the low one.
  localparam csr_word_t CsrBrgCount = 8'hd0;

  // Programs over links (`rl_collective_csr`). A card without links reads zeros here and ignores
  // writes.
  // LNK_STATUS: read. The links, and of the programs that have ended the first.
  localparam csr_word_t CsrLnkStatus = 8'hca;
  localparam int unsigned LnkStatusThereBit = 0;
  localparam int unsigned LnkStatusEndedBit = 1;
  localparam int unsigned LnkStatusResetsBit = 2;
  localparam int unsigned LnkStatusRefusedBit = 3;
  localparam int unsigned LnkStatusNumberLsb = 4;
  localparam int unsigned LnkStatusNumberWidth = 3;
  localparam int unsigned LnkStatusCauseLsb = 8;
  localparam int unsigned LnkStatusCauseWidth = 4;
  // LNK_WHAT: write acts. One word more of nine that say what LNK_ORDER starts: address of the
  // program, high half first, number of commands, microseconds that it may take, group, high half
  // first, sequence, and address of its report, high half first.
  localparam csr_word_t CsrLnkWhat = 8'hcb;
  // LNK_ORDER: write acts. Orders something.
  localparam csr_word_t CsrLnkOrder = 8'hcc;
  localparam int unsigned LnkOrderStartBit = 0;
  localparam int unsigned LnkOrderPopBit = 1;
  localparam int unsigned LnkOrderResetBit = 2;
  localparam int unsigned LnkOrderCancelBit = 3;
  localparam int unsigned LnkOrderNumberLsb = 4;
  localparam int unsigned LnkOrderNumberWidth = 3;
  localparam int unsigned LnkOrderExpectBit = 7;

  // What a card with keys has beside its vault (`rl_auth_card`). A card without keys reads zeros
  // here and ignores writes.
  // KEY_OWNER_HI: write. Of what KEY_SESSION tells: bits 47 to 32 of the owner's address.
  localparam csr_word_t CsrKeyOwnerHi = 8'he0;
  // KEY_OWNER_LO: write. Bits 31 to 0.
  localparam csr_word_t CsrKeyOwnerLo = 8'he1;
  // KEY_COUNT: read. Counters of frames that were dropped for their tags, from auth_untagged on in
  // the order of the wire, two words each, low half first. They stand where BRG_COUNT would have
  // them if it went on; what is between reads as 0.
  localparam csr_word_t CsrKeyCount = 8'he2;
  // KEY_SESSION: write acts. Tells receiver and sender of a session. Before its key is replaced or
  // forgotten it must not be valid, and it is when the vault has handed the new one over.
  localparam csr_word_t CsrKeySession = 8'hea;
  localparam int unsigned KeySessionValidBit = 17;
  localparam int unsigned KeySessionSlotBit = 16;
  localparam int unsigned KeySessionEpochLsb = 0;
  localparam int unsigned KeySessionEpochWidth = 16;
  // KEY_BOOT: write. The card's boot number, as tags bind it. It is set before there is a session,
  // and stays.
  localparam csr_word_t CsrKeyBoot = 8'heb;
  // KEY_DATA: write acts. Four bytes more of the message for the vault, bits 7 to 0 first. What is
  // written while no message has begun is lost.
  localparam csr_word_t CsrKeyData = 8'hec;
  // KEY_FRAME: write acts. The same, bits 31 to 24 first: the order of RING and TX.
  localparam csr_word_t CsrKeyFrame = 8'hed;
  // KEY_ORDER: write acts, read. Orders something of the vault, unless it is BUSY: then what is
  // written is lost.
  localparam csr_word_t CsrKeyOrder = 8'hee;
  localparam int unsigned KeyOrderOpLsb = 8;
  localparam int unsigned KeyOrderOpWidth = 2;
  localparam int unsigned KeyOrderSlotLsb = 10;
  localparam int unsigned KeyOrderSlotWidth = 2;
  localparam int unsigned KeyOrderBytesLsb = 4;
  localparam int unsigned KeyOrderBytesWidth = 3;
  localparam int unsigned KeyOrderToLsb = 2;
  localparam int unsigned KeyOrderToWidth = 2;
  localparam int unsigned KeyOrderTargetLsb = 0;
  localparam int unsigned KeyOrderTargetWidth = 2;
  localparam int unsigned KeyOrderDoneBit = 1;
  localparam int unsigned KeyOrderBusyBit = 0;
  // KEY_STORE: write acts, read. The key store: the card's own keys, and which hosts may claim it.
  localparam csr_word_t CsrKeyStore = 8'hef;
  localparam int unsigned KeyStoreTakeBit = 0;
  localparam int unsigned KeyStoreHostsLsb = 8;
  localparam int unsigned KeyStoreHostsWidth = 7;
  localparam int unsigned KeyStoreNewsBit = 4;
  localparam int unsigned KeyStoreFormerBit = 3;
  localparam int unsigned KeyStoreCardBit = 2;
  localparam int unsigned KeyStoreReadBit = 1;
  localparam int unsigned KeyStoreThereBit = 0;
  // KEY_GENERATION: read. The generations of the card's keys, in the order of the slots.
  localparam csr_word_t CsrKeyGeneration = 8'hf0;
  // KEY_HOST: write acts. Tells the receiver whose key of claims it has. Before the key is replaced
  // or forgotten it must not be valid.
  localparam csr_word_t CsrKeyHost = 8'hf2;
  localparam int unsigned KeyHostValidBit = 17;
  localparam int unsigned KeyHostSlotBit = 16;
  localparam int unsigned KeyHostNumberLsb = 0;
  localparam int unsigned KeyHostNumberWidth = 16;
  // KEY_HOSTS_AT: write acts. Which word of the key store's hosts KEY_HOSTS has, four for each: who
  // it is, the generation of its key that counts, that of its key that was revoked, and nothing.
  localparam csr_word_t CsrKeyHostsAt = 8'hf3;
  // KEY_TAG: read. The tag that was made last, in the order of RING and TX; zeros if none was.
  localparam csr_word_t CsrKeyTag = 8'hf4;
  // KEY_HOSTS: read. The word at KEY_HOSTS_AT: of a host's four the first one has these fields.
  localparam csr_word_t CsrKeyHosts = 8'hf8;
  localparam int unsigned KeyHostsRevokedBit = 17;
  localparam int unsigned KeyHostsCountsBit = 16;
  localparam int unsigned KeyHostsNumberLsb = 0;
  localparam int unsigned KeyHostsNumberWidth = 16;
  // SIGN_AT: write acts. Which word of the table of signers and versions SIGN_WORD is, 11 bits:
  // rl_sign_store has what they are.
  localparam csr_word_t CsrSignAt = 8'hf9;
  // SIGN_WORD: write acts, read. The word at SIGN_AT. Only those of versions change by being
  // written; the board keeps them.
  localparam csr_word_t CsrSignWord = 8'hfa;
  // SIGN_COUNT: read. How many signers the table has, and what has become of the words of versions
  // that were written.
  localparam csr_word_t CsrSignCount = 8'hfb;
  localparam int unsigned SignCountKeepsBit = 7;
  localparam int unsigned SignCountFailsBit = 6;
  localparam int unsigned SignCountSignersLsb = 0;
  localparam int unsigned SignCountSignersWidth = 6;

endpackage : rl_csr_pkg
// verilog_format: on
// verilator lint_on UNUSEDPARAM
