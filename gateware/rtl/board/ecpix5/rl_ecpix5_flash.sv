// The ECPIX-5's configuration flash: the backend of the configuration port that writes images there, on the board's
// pins. The flash's clock has no pin of its own: after configuration the device gives it to the design.
//
// PROGRAMN is not among the pins that are known of the board, so no image can leave by itself: after a load, and at
// power-up, the card waits for the command REFRESH, which a JTAG cable gives. A board that has the wire sets `Wired`.
//
// With `Keys`, the card's keys, signers and versions are in the same flash.
module rl_ecpix5_flash
  import rl_config_pkg::*;
#(
  parameter bit Golden = 1'b0,
  parameter bit Keys = 1'b0,
  parameter bit Wired = 1'b0,
  parameter logic [15:0] Roles = 16'hfffe,
  parameter int unsigned ClockKhz = 75000,
  parameter int unsigned TrialMs = 14000,
  parameter int unsigned LingerMs = 100,
  // Longer than the chip takes for a sector (0.65 s), and for a page (0.75 ms).
  parameter int unsigned EraseMs = 2000,
  parameter int unsigned ProgramMs = 3,
  parameter int unsigned PlacesW = 9,
  parameter int unsigned KeptPlacesW = 12,  // With Keys, as rl_flash_store's.
  parameter int unsigned KeptRoles = 96
) (
  input  logic        clk_i,
  input  logic        rst_ni,      // That of the clock alone: an image without memory has to be left, too.
  input  config_req_t config_i,
  output config_rsp_t config_o,
  input  board_t      board_i,
  output logic        runs_o,
  output logic        leave_o,     // Pull PROGRAMN, where it is wired.
  output logic        awaits_o,    // The card waits for a REFRESH.
  output logic        fault_o,     // Something is wrong with the flash.

  // With Keys, what the shell takes them from; else zero.
  input  logic        rst_shell_ni,
  input  logic [47:0] mac_i,
  output rl_auth_pkg::store_t store_o,
  input  logic        store_ready_i,
  input  rl_auth_pkg::store_ask_t store_ask_i,
  output rl_auth_pkg::sign_t sign_o,
  input  rl_auth_pkg::sign_ask_t sign_ask_i,

  output logic        spiflash_cs_n,
  output logic        spiflash_mosi,
  input  logic        spiflash_miso,
  output logic        spiflash_wp,
  output logic        spiflash_hold
);
  logic sck, unused_confirmed, unused_ready;
  logic [7:0] code;
  rl_flash_pkg::flash_req_t keys_req;
  rl_flash_pkg::flash_rsp_t keys_rsp;
  logic keys_works, keys_fault;
  rl_flash #(
    .EraseCycles(EraseMs * ClockKhz),
    .ProgramCycles(ProgramMs * ClockKhz),
    .PlacesW(PlacesW),
    .Roles(Roles),
    .Wired(Wired),
    .TrialCycles(TrialMs * ClockKhz),
    .LingerCycles(LingerMs * ClockKhz)
  ) u_flash (
    .clk_i,
    .rst_ni,
    .config_i,
    .config_o,
    .board_i,
    .runs_o,
    .golden_i(Golden),
    .stay_i(1'b0),
    .leave_o,
    .awaits_o,
    .confirmed_o(unused_confirmed),
    .ready_o(unused_ready),
    .code_o(code),
    .store_i(keys_req),
    .store_o(keys_rsp),
    .store_works_i(keys_works),
    .cs_no(spiflash_cs_n),
    .sck_o(sck),
    .mosi_o(spiflash_mosi),
    .miso_i(spiflash_miso)
  );
  if (Keys) begin : gen_keys
    rl_ecpix5_keys #(
      .PlacesW(KeptPlacesW),
      .Roles(KeptRoles)
    ) u_keys (
      .clk_i,
      .rst_ni,
      .rst_shell_ni,
      .mac_i,
      .works_o(keys_works),
      .fault_o(keys_fault),
      .store_o,
      .store_ready_i,
      .store_ask_i,
      .sign_o,
      .sign_ask_i,
      .req_o(keys_req),
      .rsp_i(keys_rsp)
    );
  end else begin : gen_no_keys
    assign {keys_req, keys_works, keys_fault, store_o, sign_o} = '0;
    logic unused;
    assign unused = ^{keys_rsp, rst_shell_ni, mac_i, store_ready_i, store_ask_i, sign_ask_i};
  end
  assign fault_o = code != '0 || keys_fault;
  USRMCLK u_clock (
    .USRMCLKI(sck),
    .USRMCLKTS(1'b0)
  );
  // Neither write protection nor hold.
  assign {spiflash_wp, spiflash_hold} = '1;
endmodule : rl_ecpix5_flash
