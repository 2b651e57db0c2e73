// The top of the ECPIX-5 (ECP5-85F, gigabit Ethernet, 512 MiB of DDR3): the shell between LiteEth's MAC
// and LiteDRAM's controller, and roles that are built in.
//
// All clocks of the shell are one, the controller's. It has to be a multiple of what the memory's
// pins run at anyway, the device has no fast clock to give to anything else, and at this rate 64 bits
// carry several times what the port does.
//
// The device cannot be configured in part while it runs. With `Flash`, a load writes its image to the configuration
// flash, and the card is another one after a restart: a golden image, which only loads, and an application with the one
// role that it has (docs/src/internals/flash.md). Without, roles are there from the start, and what a load sends to the
// configuration port enables one of them (`rl_region`).
module rl_ecpix5
  import rl_shell_pkg::*;
  import rl_role_pkg::*;
  import rl_config_pkg::*;
  import rl_wire_pkg::*;
  import rl_phy_pkg::*;
  import rl_csr_pkg::*;
#(
  parameter logic [47:0] Mac = 48'h02524cec0501,   // Of the card. Locally administered: "RL".
  parameter logic [15:0] Unit = 16'd1,             // Its number in the rack.
  parameter int unsigned ClockKhz = 75000,         // What dram.yml makes of the oscillator's 100 MHz.
  parameter logic [15:0] Roles = 16'h0002,         // As `rl_region`'s: vadd.
  parameter bit Flash = 1'b1,
  parameter bit Golden = 1'b0,                     // With Flash, the golden image. It has no role.
  parameter bit Keys = 1'b0,                       // With Flash: keys, signers and versions are there (rl_ecpix5_keys).
  parameter bit Wired = 1'b0,                      // PROGRAMN is wired, see rl_ecpix5_flash,
  parameter int unsigned TrialMs = 14000,          // and these.
  parameter int unsigned LingerMs = 100,
  parameter int unsigned TrainingMs = 10_000,      // After which memory counts as not to be used.
  parameter int unsigned EraseMs = 2000,
  parameter int unsigned ProgramMs = 3,
  parameter int unsigned PlacesW = 9,
  parameter int unsigned KeptPlacesW = 12,         // With Keys, as rl_flash_store's.
  parameter int unsigned KeptRoles = 96,
  parameter int unsigned PhyResetUs = rl_ksz9031_pkg::ResetUs,  // See rl_ecpix5_ethernet.
  parameter int unsigned PhySettleUs = rl_ksz9031_pkg::SettleUs,
  parameter int unsigned PhyPauseUs = 10_000,
  parameter int unsigned MdcKhz = 1250
) (
  input  logic        clk100,
  input  logic        rst_n,

  input  logic        serial_rx,
  output logic        serial_tx,

  output logic [14:0] ddram_a,
  output logic [2:0]  ddram_ba,
  output logic        ddram_ras_n,
  output logic        ddram_cas_n,
  output logic        ddram_we_n,
  output logic [1:0]  ddram_dm,
  inout  wire  [15:0] ddram_dq,
  inout  wire  [1:0]  ddram_dqs_p,
  output logic        ddram_clk_p,
  output logic        ddram_cke,
  output logic        ddram_odt,

  output logic        eth_clocks_tx,
  input  logic        eth_clocks_rx,
  output logic        eth_rst_n,
  inout  wire         eth_mdio,
  output logic        eth_mdc,
  input  logic        eth_rx_ctl,
  input  logic [3:0]  eth_rx_data,
  output logic        eth_tx_ctl,
  output logic [3:0]  eth_tx_data,

  output logic        spiflash_cs_n,
  output logic        spiflash_mosi,
  input  logic        spiflash_miso,
  output logic        spiflash_wp,
  output logic        spiflash_hold,

  // Four lamps of three colours, lit by 0.
  output logic [3:0]  rgb_led_r,
  output logic [3:0]  rgb_led_g,
  output logic [3:0]  rgb_led_b
);
  localparam int unsigned Cycles = ClockKhz / 1000;  // Of a microsecond.
  if (Cycles * 1000 != ClockKhz) begin : gen_check
    $fatal(0, "rl_ecpix5: microseconds are counted in whole cycles (%m)");
  end
  if (Flash && (Golden ? Roles != '0 : !$onehot(Roles))) begin : gen_check_roles
    $fatal(
        0, "rl_ecpix5: with a flash, an application has one role and the golden image none (%m)"
    );
  end
  if (Keys && !Flash) begin : gen_check_keys
    $fatal(0, "rl_ecpix5: keys are in the flash (%m)");
  end
  localparam logic [15:0] Role = 16'($clog2(32'(Roles)));  // With a flash, the one that is there.

  // What the card says of itself, and its limits.
  localparam logic [15:0] Vendor = 16'h524c;
  localparam logic [15:0] Product = 16'd2;
  localparam logic [7:0] PortCount = 8'd1;
  // The hosts' memory, two staging areas that take turns, and a sixteenth of one for the digest's tree:
  // 256 + 2 * 112 + 7 MiB of 512. An image as large as the paper's bitstream fits.
  localparam logic [31:0] MemoryUnits = 32'd256 << 4;  // Of 64 KiB.
  localparam logic [31:0] StagingBytes = 32'd112 << 20;
  localparam logic [31:0] Unpaced = 32'd0;  // DDR and region take what the port brings.
  // The slowest that the flash may be, kB/s: 1.47 MB in 21 s.
  localparam logic [31:0] FlashRate = 32'd70;
  localparam logic [1:0] Restart = !Flash ? 2'd0 : Wired ? 2'(RestartItself) : 2'(RestartRefresh);
  localparam logic [15:0] Loadable = 16'hfffe;  // Roles that an image for the flash may have.
  localparam logic [15:0] AckEvery = 16'd16;
  localparam logic [31:0] AckDelayUs = 32'd200;
  localparam logic [31:0] ResendUs = 32'd20_000;
  localparam logic [31:0] AnnounceMs = 32'd10_000;

  // -- clock and resets
  logic booted;  // The device runs the image that was named last.
  logic clk, rst, trained, failed, alive;
  logic rst_card_n, rst_shell_n, rst_restart_n, halt, drained, moves;
  logic [7:0] restarts;
  logic for_memory, memory_late, memory_owes;
  shell_view_t view;
  // Where memory cannot be trained the card comes up nevertheless, to say so. A training takes no longer than a second
  // or two.
  localparam int unsigned TrainingCycles = TrainingMs * ClockKhz;
  logic [$clog2(TrainingCycles+1)-1:0] training_q;
  logic untrained_q;
  assign alive = !rst && (trained || untrained_q);
  always_ff @(posedge clk) begin
    if (rst) begin
      training_q <= '0;
      untrained_q <= 1'b0;
    end else if (!rst_card_n) begin
      if (training_q != $bits(training_q)'(TrainingCycles)) training_q <= training_q + 1'b1;
      // Once the card is up, nothing changes.
      untrained_q <= failed || training_q == $bits(training_q)'(TrainingCycles);
    end
  end
  assign rst_shell_n = rst_card_n && rst_restart_n;
  rl_reset u_reset (
    .clk_i(clk),
    .rst_ni(alive),
    .rst_no(rst_card_n)
  );

  // -- time
  logic [$clog2(Cycles)-1:0] cycle_q;
  logic [47:0] time_us;
  always_ff @(posedge clk) begin
    if (!rst_card_n) begin
      cycle_q <= '0;
      time_us <= '0;
    end else if (cycle_q == $bits(cycle_q)'(Cycles - 1)) begin
      cycle_q <= '0;
      time_us <= time_us + 1'b1;
    end else begin
      cycle_q <= cycle_q + 1'b1;
    end
  end

  // -- its link
  phy_link_t link;
  logic was_up_q;
  logic [7:0] ups_q;
  logic [31:0] link_q, port_mbps_q;
  always_ff @(posedge clk) begin
    if (rst) begin
      {was_up_q, ups_q} <= '0;
    end else begin
      was_up_q <= link.up;
      if (link.up && !was_up_q) ups_q <= ups_q + 1'b1;
    end
    link_q <= '0;
    link_q[LinkUpsLsb+:LinkUpsWidth] <= ups_q;
    link_q[LinkUnknownBit] <= !link.known;
    link_q[LinkHalfBit] <= link.half;
    link_q[LinkWatchedBit] <= 1'b1;
    link_q[LinkUpBit] <= was_up_q;
    unique case (link.speed)
      Speed10: port_mbps_q <= 32'd10;
      Speed100: port_mbps_q <= 32'd100;
      default: port_mbps_q <= 32'd1000;
    endcase
  end

  // -- what the card is
  logic [63:0] random;
  logic [20:0][31:0] strap;
  rl_ecpix5_random u_random (
    .clk_i(clk),
    .hold_i(alive),
    .value_o(random)
  );
  assign strap[0] = {16'd0, Mac[47:32]};
  assign strap[1] = Mac[31:0];
  assign strap[2] = {Unit, CardKindBoard, PortCount};
  assign strap[3] = {Vendor, Product};
  // A card that was restarted is another one to its hosts.
  assign strap[4] = random[63:32] + 32'(restarts);
  assign strap[5] = random[31:0];
  assign strap[6] = MemoryUnits;
  assign strap[7] = ClockKhz;
  assign strap[8] = port_mbps_q;
  assign strap[9] = Unpaced;
  assign strap[10] = Flash ? FlashRate : Unpaced;
  assign strap[11] = StagingBytes;
  assign strap[12] = {AckEvery, BulkStandard};
  assign strap[13] = AckDelayUs;
  assign strap[14] = ResendUs;
  assign strap[15] = AnnounceMs;
  assign strap[16] = '0;  // There is no port 1.
  assign strap[17] = '0;
  assign strap[18] = 32'({untrained_q || memory_owes, for_memory, restarts});
  assign strap[19] = 32'({booted, Restart});
  assign strap[20] = link_q;
  identity_t identity;
  logic [4:0] strap_index;
  logic [31:0] strap_word;
  rl_straps u_straps (
    .strap_i(strap),
    .index_i(strap_index),
    .data_o(strap_word),
    .identity_o(identity)
  );

  // -- memory
  axi_req_t m_shell, m_role;
  axi_rsp_t m_shell_rsp, m_role_rsp;
  rl_ecpix5_memory u_memory (
    .clk100_i(clk100),
    .rst_ni(rst_n),
    .clk_o(clk),
    .rst_o(rst),
    .ready_o(trained),
    .failed_o(failed),
    .rst_card_ni(rst_card_n),
    .rst_shell_ni(rst_shell_n),
    .late_o(memory_late),
    .owes_o(memory_owes),
    .shell_i(m_shell),
    .shell_o(m_shell_rsp),
    .role_i(m_role),
    .role_o(m_role_rsp),
    .serial_rx_i(serial_rx),
    .serial_tx_o(serial_tx),
    .ddram_a,
    .ddram_ba,
    .ddram_ras_n,
    .ddram_cas_n,
    .ddram_we_n,
    .ddram_dm,
    .ddram_dq,
    .ddram_dqs_p,
    .ddram_clk_p,
    .ddram_cke,
    .ddram_odt
  );

  // -- network
  logic rx_valid, rx_last, rx_bad, tx_valid, tx_ready, tx_last;
  logic [63:0] rx_data, tx_data;
  logic [7:0] rx_keep, tx_keep;
  rl_ecpix5_ethernet #(
    .ClockKhz(ClockKhz),
    .ResetUs(PhyResetUs),
    .SettleUs(PhySettleUs),
    .PauseUs(PhyPauseUs),
    .MdcKhz(MdcKhz)
  ) u_ethernet (
    .clk_i(clk),
    .rst_i(rst),
    .open_i(rst_card_n),
    .link_o(link),
    .rx_valid_o(rx_valid),
    .rx_data_o(rx_data),
    .rx_keep_o(rx_keep),
    .rx_last_o(rx_last),
    .rx_bad_o(rx_bad),
    .tx_valid_i(tx_valid),
    .tx_ready_o(tx_ready),
    .tx_data_i(tx_data),
    .tx_keep_i(tx_keep),
    .tx_last_i(tx_last),
    .eth_clocks_tx,
    .eth_clocks_rx,
    .eth_rst_n,
    .eth_mdio,
    .eth_mdc,
    .eth_rx_ctl,
    .eth_rx_data,
    .eth_tx_ctl,
    .eth_tx_data
  );

  // -- a firmware that has failed is started again
  rl_restart u_restart (
    .clk_net_i(clk),
    .rst_por_ni(rst_card_n),
    .failed_i(view.fault),
    .memory_failed_i(view.memory_failed || memory_late),
    .drained_i(drained),
    .rx_valid_i(rx_valid),
    .rx_last_i(rx_last),
    .moves_i(moves),
    .halt_o(halt),
    .rst_shell_no(rst_restart_n),
    .restarts_o(restarts),
    .for_memory_o(for_memory)
  );

  // -- shell and roles
  axi_req_t role_axi;
  axi_rsp_t role_axi_rsp;
  axil_req_t axil;
  axil_rsp_t axil_rsp;
  logic interrupt, role_rst_n;
  config_req_t config_req;
  config_rsp_t config_rsp;
  local_rsp_t unused_local;  // There is no programmer beside the shell.
  logic [6:0] unused_says;   // Clocks of a board do not rest.
  logic unused_port_rx, unused_port_tx;  // Nor is there a port beside port 0,
  rl_control_pkg::bridge_ctl_t unused_bridge;  // or a bridge.
  rl_auth_pkg::store_t store;
  rl_auth_pkg::store_ask_t store_ask;
  rl_auth_pkg::sign_t sign;
  rl_auth_pkg::sign_ask_t sign_ask;
  logic store_ready;
  board_t board;
  rl_shell #(
    .Keys(Keys),
    // A word may wait for the erase of a unit of the flash.
    .ConfigPatienceW(Flash ? 30 : 20)
  ) u_shell (
    .clk_net_i(clk),
    .rst_net_ni(rst_shell_n),
    .clk_ddr_i(clk),
    .rst_ddr_ni(rst_shell_n),
    .clk_role_i(clk),
    .rst_role_ni(rst_shell_n),
    .clk_cfg_i(clk),
    .rst_cfg_ni(rst_shell_n),
    .identity_i(identity),
    .strap_index_o(strap_index),
    .strap_i(strap_word),
    .time_us_i(time_us),
    .rest_i(1'b0),
    .role_says_o(unused_says),
    .rx_valid_i(rx_valid),
    .rx_data_i(rx_data),
    .rx_keep_i(rx_keep),
    .rx_last_i(rx_last),
    .rx_bad_i(rx_bad),
    .tx_valid_o(tx_valid),
    .tx_ready_i(tx_ready),
    .tx_data_o(tx_data),
    .tx_keep_o(tx_keep),
    .tx_last_o(tx_last),
    .bridge_o(unused_bridge),
    .bridge_i('0),
    .program_ended_i(1'b0),
    .nic_i('0),
    .store_i(store),
    .store_ready_o(store_ready),
    .store_ask_o(store_ask),
    .sign_i(sign),
    .sign_ask_o(sign_ask),
    .shell_axi_o(m_shell),
    .shell_axi_i(m_shell_rsp),
    .role_axi_o(m_role),
    .role_axi_i(m_role_rsp),
    .axil_o(axil),
    .axil_i(axil_rsp),
    .axi_i(role_axi),
    .axi_o(role_axi_rsp),
    .interrupt_i(interrupt),
    .role_rst_no(role_rst_n),
    .port_rx_ready_o(unused_port_rx),
    .port_rx_i('0),
    .port_tx_valid_i(1'b0),
    .port_tx_ready_o(unused_port_tx),
    .port_tx_bytes_i('0),
    .config_o(config_req),
    .config_i(config_rsp),
    .local_i('0),
    .local_o(unused_local),
    .board_o(board),
    .view_o(view),
    .halt_i(halt),
    .drained_o(drained),
    .moves_o(moves)
  );
  // No port, no stream.
  logic unused_message_ready, unused_role;
  message_t unused_message;
  remote_req_t unused_remote;
  role_out_t role_out;
  assign axil_rsp = role_out.axil;
  assign interrupt = role_out.irq;
  // Events have nobody here who hears them, and the clock never stops.
  assign unused_role = ^{role_out.listens, role_out.busy, role_out.raises};
  config_rsp_t region_rsp;
  rl_region #(
    .Roles(Roles),
    .Only(Flash ? Role : '0)
  ) u_region (
    .clk_cfg_i(clk),
    .rst_cfg_ni(rst_shell_n),
    .config_i(config_req),
    .config_o(region_rsp),
    .clk_role_i(clk),
    .role_rst_ni(role_rst_n),
    .role_i('{axil: axil, event_ready: 1'b1}),
    .role_o(role_out),
    .axi_o(role_axi),
    .axi_i(role_axi_rsp),
    .message_i('0),
    .message_ready_o(unused_message_ready),
    .message_o(unused_message),
    .message_ready_i('0),
    .remote_o(unused_remote),
    .remote_i('0)
  );

  logic flash_fault, awaits, leave;
  if (Flash) begin : gen_flash
    logic rst_flash_n, unused;
    assign unused = ^region_rsp;
    rl_reset u_reset (
      .clk_i(clk),
      .rst_ni(!rst),
      .rst_no(rst_flash_n)
    );
    rl_ecpix5_flash #(
      .Golden(Golden),
      .Keys(Keys),
      .Wired(Wired),
      .Roles(Loadable),
      .ClockKhz(ClockKhz),
      .TrialMs(TrialMs),
      .LingerMs(LingerMs),
      .EraseMs(EraseMs),
      .ProgramMs(ProgramMs),
      .PlacesW(PlacesW),
      .KeptPlacesW(KeptPlacesW),
      .KeptRoles(KeptRoles)
    ) u_flash (
      .clk_i(clk),
      .rst_ni(rst_flash_n),
      .config_i(config_req),
      .config_o(config_rsp),
      .board_i(board),
      .runs_o(booted),
      .leave_o(leave),
      .awaits_o(awaits),
      .fault_o(flash_fault),
      .rst_shell_ni(rst_shell_n),
      .mac_i(Mac),
      .store_o(store),
      .store_ready_i(store_ready),
      .store_ask_i(store_ask),
      .sign_o(sign),
      .sign_ask_i(sign_ask),
      .spiflash_cs_n,
      .spiflash_mosi,
      .spiflash_miso,
      .spiflash_wp,
      .spiflash_hold
    );
  end else begin : gen_region
    assign config_rsp = region_rsp;
    assign {booted, leave, awaits, flash_fault, store, sign} = '0;
    assign {spiflash_cs_n, spiflash_mosi, spiflash_wp, spiflash_hold} = '1;
    logic unused;
    assign unused = ^{spiflash_miso, board, store_ready, store_ask, sign_ask};
  end

  // -- lamps: 0 memory, 1 the link and its frames, 2 the role and its flash, 3 the firmware
  logic [22:0] rx_lit_q, tx_lit_q;  // A frame is seen for 0.1 s.
  logic broken_q;
  always_ff @(posedge clk) begin
    if (rx_valid && rx_last) rx_lit_q <= '1;
    else if (rx_lit_q != 0) rx_lit_q <= rx_lit_q - 1'b1;
    if (tx_valid && tx_last) tx_lit_q <= '1;
    else if (tx_lit_q != 0) tx_lit_q <= tx_lit_q - 1'b1;
    broken_q <= rst_card_n && (broken_q || view.fault || view.memory_failed);
  end
  // Red: no link that can be used, or a PHY that does not answer; a flash, or what keys there are in it.
  assign rgb_led_r = ~{broken_q, flash_fault, !link.up, untrained_q};
  logic has_role, waits_role;
  assign has_role = Flash ? role_rst_n : config_rsp.role != 0;
  assign waits_role = Flash ? awaits : has_role && !role_rst_n;
  assign rgb_led_g = ~{rst_card_n && !broken_q && time_us[19], has_role, tx_lit_q != 0, trained && !untrained_q};
  assign rgb_led_b = ~{1'b0, waits_role, rx_lit_q != 0, !trained && !untrained_q};

  logic unused;
  // Of a board where PROGRAMN is wired, `leave` pulls it.
  assign unused = ^{link.answers, leave, view};
endmodule : rl_ecpix5
