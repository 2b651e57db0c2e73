// The registers' writing side: what the processor writes goes to the blocks.
module rl_csr_write
  import rl_csr_pkg::*;
  import rl_control_pkg::*;
  import rl_shell_pkg::*;
  import rl_config_pkg::board_t;
#(
  parameter bit Keys = 1'b0  // The card has keys.
) (
  input  logic          clk_net_i,
  input  logic          rst_net_ni,

  input  logic          write_i,
  input  csr_select_t   select_i,        // The register's number,
  input  logic [4:0]    at_i,            // and the lowest bits of it.
  input  logic [31:0]   wdata_i,

  input  addr_t         memory_i,        // Bytes that a host may address.
  output logic [31:0]   alarm_o,
  output logic [4:0]    clear_o,         // Latched events to clear, from EventsDigestIdleBit on.
  output csr_own_t      own_o,

  // To the blocks: rl_control has the comments.
  output session_t      session_o,
  output filter_t       filter_o,
  output logic          ring_pop_o,
  output tx_ctl_t       tx_o,
  output mem_write_ctl_t    mem_write_o,
  output image_write_ctl_t    image_write_o,
  output logic          job_valid_o,
  input  logic          job_ready_i,
  output digest_job_t   job_o,
  output config_ctl_t   config_o,
  output board_t        board_o,
  output role_ctl_t     role_o,
  output launch_ctl_t   launch_o,
  output scrub_ctl_t    scrub_o,
  input  logic          scrub_done_i,
  output bridge_ctl_t   bridge_o,
  output keys_ctl_t     keys_o,
  output logic          mem_read_valid_o,
  input  logic          mem_read_ready_i,
  output logic          mem_read_flush_o
);
  // Values that hold. Those that change what a block does by themselves are reset.
  logic [6:0] session_q;
  logic [1:0] role_q;
  logic enable_q;
  logic [31:0] alarm_q;
  logic [15:0] epoch_q, load_group_q;
  logic [11:0] insert_seq_q;
  logic insert_ack_now_q;
  logic [31:0] stg_base_q, dig_source_q, dig_target_q, dig_chunk_q, cfg_source_q;
  logic [28:0] dig_length_q;
  logic [15:0] stg_last_q;
  logic [13:0] stg_chunk_q, stg_last_length_q, stg_empty_q;
  logic [1:0] dig_go_q;
  logic [21:0] cfg_last_q;
  logic [3:0] cfg_last_words_q;
  logic [4:0] lch_popped_q, lch_bound_q;
  logic freeze_q;
  logic [31:0] wdata_q;
  logic [31:0] scrub_first_q, scrub_last_q;

  function automatic logic on(csr_word_t word);
    return write_i && csr_is(select_i, word);
  endfunction
  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) begin
      session_q <= '0;
      role_q <= '0;
      enable_q <= 1'b0;
      freeze_q <= 1'b0;
      lch_popped_q <= '0;
      lch_bound_q <= '0;
    end else begin
      if (on(CsrSession)) session_q <= wdata_i[6:0];
      if (on(CsrRoleCtrl)) role_q <= wdata_i[1:0];
      if (on(CsrLchEnable)) enable_q <= wdata_i[0];
      if (on(CsrLchFreeze)) freeze_q <= wdata_i[LchFreezeFreezeBit];
      if (on(CsrLchPopped)) begin
        lch_popped_q <= wdata_i[LchPoppedPlaceLsb+:5];
        lch_bound_q <= wdata_i[LchPoppedBoundLsb+:5];
      end
    end
  end

  always_ff @(posedge clk_net_i) begin
    wdata_q <= wdata_i;
    clear_o <= on(CsrClear) ? wdata_i[EventsDigestIdleBit+:5] : '0;
    if (on(CsrAlarm)) alarm_q <= wdata_i;
    if (on(CsrEpoch)) epoch_q <= wdata_i[15:0];
    if (on(CsrLoadGroup)) load_group_q <= wdata_i[15:0];
    if (on(CsrWinInsert) || on(CsrWinInsertNow)) begin
      insert_seq_q <= wdata_i[11:0];
      insert_ack_now_q <= on(CsrWinInsertNow);
    end
    if (on(CsrStgBase)) stg_base_q <= wdata_i;
    if (on(CsrStgLast)) stg_last_q <= wdata_i[15:0];
    if (on(CsrStgChunk)) begin
      stg_chunk_q <= wdata_i[StgChunkLengthLsb+:14];
      stg_last_length_q <= wdata_i[StgChunkLastLengthLsb+:14];
    end
    if (on(CsrStgEmpty)) stg_empty_q <= wdata_i[13:0];
    if (on(CsrDigSource)) dig_source_q <= wdata_i;
    if (on(CsrDigTarget)) dig_target_q <= wdata_i;
    if (on(CsrDigLength)) dig_length_q <= wdata_i[28:0];
    if (on(CsrDigChunk)) dig_chunk_q <= wdata_i;
    if (on(CsrDigGo)) dig_go_q <= wdata_i[1:0];
    if (on(CsrCfgSource)) cfg_source_q <= wdata_i;
    if (on(CsrCfgLast)) begin
      cfg_last_q <= wdata_i[CfgLastBeatLsb+:22];
      cfg_last_words_q <= wdata_i[CfgLastWordsLsb+:4];
    end
    if (on(CsrMemScrubFirst)) scrub_first_q <= wdata_i;
    if (on(CsrMemScrubLast)) scrub_last_q <= wdata_i;
  end

  // What acts, a cycle after the write, together with the values above.
  typedef struct packed {
    logic filter;
    logic ctl_pop;
    logic tx_send;
    logic win_reset;
    logic win_acked;
    logic win_insert;
    logic stg_start;
    logic stg_block_pop;
    logic dig_go;
    logic cfg_go;
    logic lch_last;
    logic lch_args;
    logic lch_order;
    logic lch_drop;
    logic lch_stop;
    logic scrub_go;
    logic fet_go;
    logic fet_flush;
  } act_t;
  act_t act_q;
  always_ff @(posedge clk_net_i) begin
    act_q <= !rst_net_ni ? '0 : '{
        filter: on(CsrFilter),
        ctl_pop: on(CsrCtlPop),
        tx_send: on(CsrTxSend),
        win_reset: on(CsrWinNext),
        win_acked: on(CsrWinAcked),
        win_insert: on(CsrWinInsert) || on(CsrWinInsertNow),
        stg_start: on(CsrStgStart),
        stg_block_pop: on(CsrStgBlockPop),
        dig_go: on(CsrDigGo),
        cfg_go: on(CsrCfgGo),
        lch_last: on(CsrLchLast),
        lch_args: on(CsrLchArgs),
        lch_order: on(CsrLchOrder),
        lch_drop: on(CsrLchDrop),
        lch_stop: on(CsrLchStop),
        scrub_go: on(CsrMemScrubGo),
        fet_go: on(CsrFetGo),
        fet_flush: on(CsrFetFlush)
    };
  end

  logic name_q;
  logic [2:0] name_at_q;
  always_ff @(posedge clk_net_i) begin
    name_q <= rst_net_ni && write_i && csr_is8(select_i, CsrCfgName[7:3]);
    name_at_q <= at_i[2:0];
  end

  logic bridge_q;
  logic [4:0] bridge_at_q;
  always_ff @(posedge clk_net_i) begin
    bridge_q <= rst_net_ni && write_i && select_i.high[CsrBrgStatus[7:4]];
    bridge_at_q <= at_i;
  end
  assign bridge_o = '{write: bridge_q, at: bridge_at_q, word: wdata_q, read_at: at_i};
  if (Keys) begin : gen_keys
    logic keys_q;
    always_ff @(posedge clk_net_i) begin
      keys_q <= rst_net_ni && write_i && (|select_i.high[CsrKeyOwnerHi[7:4]+:2]);
    end
    assign keys_o = '{write: keys_q, at: bridge_at_q, word: wdata_q, read_at: at_i};
  end else begin : gen_no_keys
    assign keys_o = '0;
  end
  assign board_o = '{
          claimed: session_q[SessionClaimedBit],
          name: name_q,
          name_at: name_at_q,
          name_word: wdata_q
      };

  // Requests that last until they are taken.
  logic job_q, fetch_q, scrub_q;
  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) begin
      {job_q, fetch_q, scrub_q} <= '0;
    end else begin
      job_q <= act_q.dig_go || (job_q && !job_ready_i);
      fetch_q <= act_q.fet_go || (fetch_q && !mem_read_ready_i);
      scrub_q <= act_q.scrub_go || (scrub_q && !scrub_done_i);
    end
  end

  assign alarm_o = alarm_q;
  assign own_o = '{
      enable: enable_q,
      job: job_q,
      fetch: fetch_q
  };
  always_comb begin
    session_o = '{
        listening: session_q[SessionListeningBit],
        epoch: epoch_q,
        loading: session_q[SessionLoadingBit],
        load_group: load_group_q,
        receiving: session_q[SessionReceivingBit],
        role: session_q[SessionRoleBit],
        configuring: session_q[SessionConfiguringBit],
        solicit_fast: session_q[SessionSolicitFastBit],
        memory: memory_i
    };
    filter_o = '{
        we: act_q.filter,
        places: wdata_q[FilterPlacesLsb+:12],
        value: wdata_q[FilterValueLsb+:4],
        belongs: '{
            claim: wdata_q[FilterClaimBit],
            load: wdata_q[FilterLoadBit],
            all: wdata_q[FilterAllBit],
            cards: wdata_q[FilterCardsBit],
            owner: wdata_q[FilterOwnerBit],
            card: wdata_q[FilterCardBit]
        }
    };
    ring_pop_o = act_q.ctl_pop;
    tx_o = '{
        send: act_q.tx_send,
        send_slot: wdata_q[TxSendSlotBit],
        send_bytes: wdata_q[TxSendBytesLsb+:11]
    };
    mem_write_o = '{
        reset: act_q.win_reset,
        acked: act_q.win_acked,
        insert: act_q.win_insert,
        insert_ack_now: insert_ack_now_q,
        insert_seq: insert_seq_q,
        bits_addr: at_i[2:0]
    };
    image_write_o = '{
        start: act_q.stg_start,
        base: BeatW'(stg_base_q),
        last: stg_last_q,
        last_length: stg_last_length_q,
        chunk: stg_chunk_q,
        empty: stg_empty_q,
        block_pop: act_q.stg_block_pop
    };
    job_valid_o = job_q;
    job_o = '{
        parents: dig_go_q[DigGoParentsBit],
        root: dig_go_q[DigGoRootBit],
        source: BeatW'(dig_source_q),
        target: BeatW'(dig_target_q),
        length: dig_length_q,
        chunk: dig_chunk_q
    };
    config_o = '{
        start: act_q.cfg_go && wdata_q[CfgGoStartBit],
        stop: act_q.cfg_go && wdata_q[CfgGoStopBit],
        source: BeatW'(cfg_source_q),
        last: cfg_last_q,
        last_words: cfg_last_words_q
    };
    role_o = '{hold: role_q[RoleCtrlResetBit], isolate: role_q[RoleCtrlIsolateBit]};
    launch_o = '{
        last_we: act_q.lch_last,
        args_we: act_q.lch_args,
        order_we: act_q.lch_order,
        drop: act_q.lch_drop,
        stop: act_q.lch_stop,
        last: wdata_q,
        args_kernel: wdata_q[LchArgsKernelLsb+:6],
        args_takes: wdata_q[LchArgsArgsLsb+:6],
        args_words: wdata_q[LchArgsWordsLsb+:6],
        order_at: wdata_q[LchOrderPlaceLsb+:5],
        order_slot: wdata_q[LchOrderSlotLsb+:5],
        order_held: wdata_q[LchOrderHeldBit],
        popped: lch_popped_q,
        bound: lch_bound_q,
        freeze: freeze_q,
        enable: enable_q
    };
    scrub_o = '{
        scrub: scrub_q,
        scrub_first: BeatW'(scrub_first_q),
        scrub_last: BeatW'(scrub_last_q)
    };
    mem_read_valid_o = fetch_q;
    mem_read_flush_o = act_q.fet_flush;
  end
endmodule
