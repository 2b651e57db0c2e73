// rl_flash with its chip. What the bench plays is the configuration port and the device, which boots from the chip.
module rl_flash_tb
  import rl_config_pkg::*;
#(
  parameter int unsigned EraseTime = 2000,
  parameter int unsigned ProgramTime = 200,
  parameter int unsigned ChipSectorW = 16,
  parameter int unsigned PlacesW = 3,
  parameter bit Wired = 1'b1,
  parameter int unsigned TrialCycles = 4000
) (
  input  logic        clk_i,
  input  logic        rst_ni,
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
  input  logic        stay_i,
  input  logic        healthy_i,
  output logic        leave_o,
  output logic        awaits_o,
  output logic        confirmed_o,
  output logic        ready_o,
  output logic [7:0]  code_o,

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
  logic cs_n, sck, mosi, miso;
  config_rsp_t rsp;
  rl_flash_pkg::flash_rsp_t unused_store;  // There is none.
  assign {config_ready_o, done_o, error_o, error_code_o} = {
    rsp.ready, rsp.done, rsp.error, rsp.code
  };
  logic unused;
  assign unused = ^rsp.role;
  rl_flash #(
    .EraseCycles(4 * EraseTime),
    .ProgramCycles(4 * ProgramTime),
    .PlacesW(PlacesW),
    .Roles(16'h0006),
    .Wired(Wired),
    .TrialCycles(TrialCycles),
    .LingerCycles(500)
  ) u_flash (
    .clk_i,
    .rst_ni,
    .config_i('{start: start_i, stop: stop_i, valid: valid_i, data: config_data_i}),
    .config_o(rsp),
    .board_i('{claimed: healthy_i, name: name_i, name_at: name_at_i, name_word: name_word_i}),
    .runs_o,
    .golden_i,
    .stay_i,
    .leave_o,
    .awaits_o,
    .confirmed_o,
    .ready_o,
    .code_o,
    .store_i('0),
    .store_o(unused_store),
    .store_works_i(1'b0),
    .cs_no(cs_n),
    .sck_o(sck),
    .mosi_o(mosi),
    .miso_i(miso)
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
endmodule : rl_flash_tb
