// The shell's processor with its memory, its registers, and the way from it to the blocks' memories.
//
// Blocks' memories are addressed by `mem_addr_o`, in words of 32 bits from the region's start, and
// answer a cycle after; each takes as many bits as it needs. Everything is in the network's domain.
module rl_control
  import rl_csr_pkg::*;
  import rl_control_pkg::*;
  import rl_shell_pkg::*;
  import rl_config_pkg::board_t;
#(
  parameter int unsigned PatienceW = 24,  // Of the watchdog.
  parameter bit          Keys = 1'b0,     // The card has keys,
  parameter bit          Links = 1'b0     // or links, and not both.
) (
  input  logic              clk_net_i,
  input  logic              rst_net_ni,

  input  logic [47:0]       time_us_i,        // Since reset.
  input  addr_t             memory_i,         // Bytes of DDR that a host may address.
  output logic [4:0]        strap_index_o,    // Which of the registers of Card, in their order,
  input  logic [31:0]       strap_i,          // in the same cycle.

  output logic              sleeping_o,       // The processor waits for an event,
  output logic              alarm_valid_o,    // and for this time, at the latest:
  output logic [31:0]       alarm_us_o,       // bits 31 to 0 of it.
  input  logic              tx_blocked_i,     // A frame waits for the network.
  output logic              fault_o,          // The firmware has failed. Only a reset helps.

  // -- memories of the blocks
  output logic [11:0]       mem_addr_o,
  output logic [31:0]       mem_wdata_o,
  output logic              ring_asked_o,     // rl_control_ring: in the cycle after that of the address,
  input  logic [31:0]       ring_data_i,      // answers a cycle later, and is else 0.
  output logic              tx_we_o,          // rl_tx
  input  logic [31:0]       tx_data_i,
  input  logic [31:0]       have_data_i,      // rl_image_write: the bitmap
  output logic              reported_we_o,    // A RAM of the firmware's own, 8192 words.
  input  logic [31:0]       reported_data_i,
  output logic              slot_re_o,        // rl_launch: slots
  input  logic [31:0]       slot_data_i,
  output logic              counter_asked_o,  // rl_counters: the same.
  input  logic [31:0]       counter_data_i,

  // -- blocks
  output session_t          session_o,
  output filter_t           filter_o,
  input  logic              heard_i,          // A fast path has heard the owner.
  input  ring_head_t        ring_i,           // rl_control_ring
  output logic              ring_pop_o,
  output tx_ctl_t           tx_o,             // rl_tx
  input  logic [1:0]        slot_busy_i,
  input  logic              answer_busy_i,    // An answer to a solicitation is still to be sent.
  input  logic              cpu_fetched_i,    // A fetch to the processor is in its slot.
  output mem_write_ctl_t        mem_write_o,          // rl_mem_write
  input  mem_write_status_t     mem_write_i,
  output image_write_ctl_t        image_write_o,          // rl_image_write
  input  image_write_status_t     image_write_i,
  output logic              job_valid_o,      // rl_digest; until it is taken.
  input  logic              job_ready_i,
  output digest_job_t       job_o,
  input  digest_status_t    digest_i,
  output config_ctl_t       config_o,         // rl_config_port
  input  config_status_t    config_i,
  output board_t            board_o,          // The board around the shell.
  output role_ctl_t         role_o,           // rl_role_port and rl_guard
  input  role_status_t      role_i,
  output launch_ctl_t       launch_o,         // rl_launch
  input  launch_status_t    launch_i,
  output scrub_ctl_t        scrub_o,          // rl_ddr_write; `scrub` falls after scrub_done_i,
  input  logic              scrub_done_i,     // and that after it.
  output bridge_ctl_t       bridge_o,         // rl_bridge_card, if there is one:
  input  logic [31:0]       bridge_i,         // what is read, in the same cycle.
  output keys_ctl_t         keys_o,           // rl_auth_card, with Keys: the same.
  input  logic [31:0]       keys_i,
  input  logic              keys_news_i,      // The key store has something to hand over.
  output logic              mem_read_valid_o,    // rl_mem_read; until it is taken.
  input  logic              mem_read_ready_i,
  input  logic              mem_read_idle_i,     // All are done.
  output logic              mem_read_flush_o
);
  // -- processor and memory
  localparam int unsigned RamWords = Keys ? rl_firmware_keys_pkg::RamWords :
      Links ? rl_firmware_links_pkg::RamWords : rl_firmware_pkg::RamWords;
  localparam int unsigned CodeWords = Keys ? rl_firmware_keys_pkg::CodeWords :
      Links ? rl_firmware_links_pkg::CodeWords : rl_firmware_pkg::CodeWords;
  localparam int unsigned RamAddrW = $clog2(RamWords);
  logic ram_re;
  logic [3:0] ram_we;
  logic [RamAddrW-1:0] ram_raddr, ram_waddr;
  logic [31:0] ram_rdata, ram_wdata;
  logic io_load, io_valid, io_write, io_ready;
  // verilator lint_off UNUSEDSIGNAL
  logic [31:0] io_addr;  // Regions are mirrored inside their part of the address map.
  // verilator lint_on UNUSEDSIGNAL
  logic [31:0] io_wdata, io_rdata;
  logic stopped, code;
  rl_cpu #(
    .RamWords(RamWords)
  ) u_cpu (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .ram_re_o(ram_re),
    .ram_raddr_o(ram_raddr),
    .ram_rdata_i(ram_rdata),
    .ram_we_o(ram_we),
    .ram_waddr_o(ram_waddr),
    .ram_wdata_o(ram_wdata),
    .io_load_o(io_load),
    .io_valid_o(io_valid),
    .io_write_o(io_write),
    .io_addr_o(io_addr),
    .io_wdata_o(io_wdata),
    .io_ready_i(io_ready),
    .io_rdata_i(io_rdata),
    .fault_o(stopped)
  );
  // Nothing writes code: what starts after a reset is the same firmware.
  assign code = ram_waddr < RamAddrW'(CodeWords);
  rl_firmware_ram #(
    .Keys(Keys),
    .Links(Links)
  ) u_ram (
    .clk_i(clk_net_i),
    .re_i(ram_re),
    .raddr_i(ram_raddr),
    .rdata_o(ram_rdata),
    .we_i(code ? '0 : ram_we),
    .waddr_i(ram_waddr),
    .wdata_i(ram_wdata)
  );

  // -- an access: in its first cycle memories are asked, in the second they and the registers answer, and
  // in the cycle after that the processor has what it reads. Writes are in the second; that of a
  // register takes a third. A sleep stays in the second until it is over.
  //
  // An access that goes astray has no second cycle. What a load asks for in the first cycle does not wait
  // for that to be known: to read does no harm.
  typedef enum logic [1:0] {
    StFirst,
    StSecond,
    StThird
  } state_e;
  state_e state_q;
  region_e region;
  csr_word_t word;
  csr_select_t select_q;  // There from the second cycle on, as these three.
  logic csr_q, csr_read_q, csr_write_q;
  logic first, second, sleep_access, sleep, wake;
  assign region = region_e'(io_addr[30:28]);
  assign word = io_addr[9:2];
  assign first = io_load && state_q == StFirst;
  assign second = state_q == StSecond;
  assign sleep_access = io_write && csr_q && csr_is(select_q, CsrSleep);
  assign sleep = second && sleep_access;
  // What a register does is felt before the processor can look: its write is not done at once.
  assign io_ready = state_q == StThird || (second && !(io_write && csr_q));
  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) begin
      state_q <= StFirst;
      csr_write_q <= 1'b0;
      csr_read_q <= 1'b0;
    end else begin
      csr_write_q <= io_valid && state_q == StFirst && io_write && region == RegionCsr;
      csr_read_q <= first && region == RegionCsr;
      unique case (state_q)
        StFirst: if (io_valid) state_q <= StSecond;
        StSecond: if (io_ready) state_q <= StFirst;
        else if (!sleep_access || wake) state_q <= StThird;
        default: state_q <= StFirst;
      endcase
    end
  end
  always_ff @(posedge clk_net_i) begin
    csr_q <= region == RegionCsr;
    select_q <= csr_select(word);
  end
  assign sleeping_o = sleep;
  rl_watchdog #(
    .PatienceW(PatienceW)
  ) u_watchdog (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .alive_i(csr_write_q && csr_is(select_q, CsrAlive)),
    .sleep_i(sleep),
    .until_i(io_wdata[10:0]),
    .blocked_i(tx_blocked_i),
    .broken_i(stopped || (code && ram_we != '0)),
    .failed_o(fault_o)
  );

  assign mem_addr_o = io_addr[13:2];
  assign mem_wdata_o = io_wdata;
  assign tx_we_o = second && io_write && region == RegionTx;
  assign reported_we_o = second && io_write && region == RegionReported;
  assign slot_re_o = first && region == RegionLaunch;

  // Each has a register, which is 0 when it is not asked: that is smaller than a multiplexer, and
  // block RAM answers late in its cycle.
  logic [5:0] asked_q;
  logic [31:0] csr_rdata, tx_q, have_q, reported_q, slot_q;
  always_ff @(posedge clk_net_i) begin
    asked_q <= {6{first}} & {
      region == RegionRing,
      region == RegionTx,
      region == RegionHave,
      region == RegionReported,
      region == RegionLaunch,
      region == RegionCounter
    };
    tx_q <= asked_q[4] ? tx_data_i : '0;
    have_q <= asked_q[3] ? have_data_i : '0;
    reported_q <= asked_q[2] ? reported_data_i : '0;
    slot_q <= asked_q[1] ? slot_data_i : '0;
  end
  assign counter_asked_o = asked_q[0];
  assign ring_asked_o = asked_q[5];
  assign io_rdata = ring_data_i | tx_q | have_q | reported_q | slot_q | counter_data_i | csr_rdata;

  // -- registers
  assign strap_index_o = 5'(word - CsrMacHi);
  logic [31:0] alarm;
  logic [11:0] events;
  logic [4:0] clear;
  csr_own_t own;
  rl_csr_write #(
    .Keys(Keys)
  ) u_write (
    .clk_net_i,
    .rst_net_ni,
    .write_i(csr_write_q),
    .select_i(select_q),
    .at_i(word[4:0]),
    .wdata_i(io_wdata),
    .memory_i,
    .alarm_o(alarm),
    .clear_o(clear),
    .own_o(own),
    .session_o,
    .filter_o,
    .ring_pop_o,
    .tx_o,
    .mem_write_o,
    .image_write_o,
    .job_valid_o,
    .job_ready_i,
    .job_o,
    .config_o,
    .board_o,
    .role_o,
    .launch_o,
    .scrub_o,
    .scrub_done_i,
    .bridge_o,
    .keys_o,
    .mem_read_valid_o,
    .mem_read_ready_i,
    .mem_read_flush_o
  );
  rl_csr_read #(
    .Keys(Keys)
  ) u_read (
    .clk_net_i,
    .read_i(csr_read_q),
    .select_i(select_q),
    .word3_i(word[3]),
    .rdata_o(csr_rdata),
    .time_us_i,
    .strap_i,
    .events_i(events),
    .own_i(own),
    .heard_i,
    .ring_i,
    .slot_busy_i,
    .answer_busy_i,
    .mem_write_i,
    .image_write_i,
    .digest_i,
    .config_i,
    .role_i,
    .launch_i,
    .mem_read_idle_i,
    .bridge_i,
    .keys_i
  );
  assign alarm_us_o = alarm;

  rl_events u_events (
    .clk_net_i,
    .rst_net_ni,
    .time_us_i(time_us_i[31:0]),
    .alarm_i(alarm),
    .clear_i(clear),
    .events_o(events),
    .sleep_i(sleep),
    .mask_i(io_wdata[11:0]),
    .wake_o(wake),
    .alarm_set_o(alarm_valid_o),
    .control_i(ring_i.valid),
    .ack_due_i(mem_write_i.ack_due),
    .launch_ended_i(launch_i.ended),
    .block_whole_i(image_write_i.block_valid),
    .digest_idle_i(digest_i.idle && !own.job),
    .scrub_done_i,
    .fetched_i(cpu_fetched_i),
    .config_done_i(config_i.done || config_i.failed),
    .role_fault_i(role_i.fault != '0),
    .tx_free_i(slot_busy_i != '1),
    .keys_news_i(Keys && keys_news_i)
  );
endmodule
