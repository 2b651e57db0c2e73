// rl_flash_store beside a loader, with the chip that both use and the stores that it fills. What the bench plays is the
// firmware, the configuration port and the device.
module rl_flash_store_tb
  import rl_config_pkg::*;
  import rl_auth_pkg::*;
#(
  parameter int unsigned EraseTime = 500,
  parameter int unsigned ProgramTime = 100,
  parameter int unsigned ChipSectorW = 16,
  parameter int unsigned PlacesW = 6,
  parameter int unsigned Roles = 2,
  parameter int unsigned Signers = 2,
  parameter int unsigned Hosts = 2
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [47:0] mac_i,
  output logic        open_o,
  output logic        works_o,
  output logic        fails_o,
  output logic [7:0]  store_code_o,

  // The firmware's.
  input  store_ask_t  store_ask_i,
  output store_t      store_o,
  input  sign_ask_t   sign_ask_i,
  output sign_t       sign_o,

  // The loader's.
  input  logic        start_i,
  input  logic        stop_i,
  input  logic        valid_i,
  input  logic [31:0] config_data_i,
  output logic        config_ready_o,
  input  logic        name_i,
  input  logic [2:0]  name_at_i,
  input  logic [31:0] name_word_i,
  output logic        runs_o,
  output logic        done_o,
  output logic        error_o,
  output logic [7:0]  error_code_o,
  input  logic        golden_i,
  input  logic        healthy_i,
  output logic        leave_o,
  output logic        confirmed_o,
  output logic        ready_o,

  input  logic        power_i,
  input  logic [2:0]  protect_i,
  input  logic        other_i,
  input  logic        mute_i,
  input  logic        stuck_i,
  input  logic        fails_i,
  input  logic        deaf_i,
  input  logic        weak_i,
  output int unsigned erases_o,
  output int unsigned programs_o,
  output int unsigned ignored_o
);
  logic cs_n, sck, mosi, miso, awaits, key_ready, sign_ready, keeps, fails;
  logic [7:0] code;
  config_rsp_t rsp;
  assign {config_ready_o, done_o, error_o, error_code_o} = {
    rsp.ready, rsp.done, rsp.error, rsp.code
  };
  logic unused;
  assign unused = ^{rsp.role, awaits, code};
  rl_flash_pkg::flash_req_t req;
  rl_flash_pkg::flash_rsp_t answer;
  store_write_t key_write;
  sign_write_t sign_write, kept;
  sign_look_t look;
  sign_looked_t looked;
  assign {works_o, fails_o} = {keeps, fails};
  rl_flash #(
    .EraseCycles(4 * EraseTime),
    .ProgramCycles(4 * ProgramTime),
    .PlacesW(3),
    .Roles(16'h0006),
    .TrialCycles(20000),
    .LingerCycles(500)
  ) u_flash (
    .clk_i,
    .rst_ni,
    .config_i('{start: start_i, stop: stop_i, valid: valid_i, data: config_data_i}),
    .config_o(rsp),
    .board_i('{claimed: healthy_i, name: name_i, name_at: name_at_i, name_word: name_word_i}),
    .runs_o,
    .golden_i,
    .stay_i(1'b0),
    .leave_o,
    .awaits_o(awaits),
    .confirmed_o,
    .ready_o,
    .code_o(code),
    .store_i(req),
    .store_o(answer),
    .store_works_i(keeps),
    .cs_no(cs_n),
    .sck_o(sck),
    .mosi_o(mosi),
    .miso_i(miso)
  );
  rl_flash_store #(
    .PlacesW(PlacesW),
    .Roles(Roles),
    .Signers(Signers),
    .Hosts(Hosts)
  ) u_store (
    .clk_i,
    .rst_ni,
    .mac_i,
    .open_o,
    .works_o(keeps),
    .fails_o(fails),
    .code_o(store_code_o),
    .key_o(key_write),
    .key_ready_i(key_ready),
    .sign_o(sign_write),
    .sign_ready_i(sign_ready),
    .kept_i(kept),
    .look_o(look),
    .looked_i(looked),
    .req_o(req),
    .rsp_i(answer)
  );
  rl_sign_store u_signers (
    .clk_i,
    .rst_power_ni(rst_ni),
    .write_i(sign_write),
    .write_ready_o(sign_ready),
    .ask_i(sign_ask_i),
    .sign_o,
    .kept_o(kept),
    .keeps_i(keeps),
    .fails_i(fails),
    .look_i(look),
    .looked_o(looked)
  );
  rl_key_store u_keys (
    .clk_i,
    .rst_power_ni(rst_ni),
    .rst_ni,
    .write_i(key_write),
    .write_ready_o(key_ready),
    .ask_i(store_ask_i),
    .store_o,
    .ready_i(1'b1)
  );
  flash_chip #(
    .EraseTime(EraseTime),
    .ProgramTime(ProgramTime),
    .SectorW(ChipSectorW)
  ) u_chip (
    .clk_i,
    .power_i,
    .cs_ni(cs_n),
    .sck_i(sck),
    .mosi_i(mosi),
    .miso_o(miso),
    .protect_i,
    .other_i,
    .mute_i,
    .stuck_i,
    .fails_i,
    .deaf_i,
    .weak_i,
    .erases_o,
    .programs_o,
    .ignored_o
  );
endmodule : rl_flash_store_tb
