// The configuration port's backend for devices that boot from an SPI flash: a load is written to a slot of the flash,
// read back, recorded, and booted. See docs/src/internals/flash.md.
//
// The port's `done` means that the image is in the flash and will be booted. Its role is not there yet, so `role` is 0.
module rl_flash
  import rl_flash_pkg::*;
  import rl_config_pkg::*;
#(
  parameter int unsigned Half = 2,
  parameter int unsigned EraseCycles = 1 << 28,
  parameter int unsigned ProgramCycles = 1 << 18,
  parameter logic [7:0] ErrorBits = 8'h60,
  parameter logic [23:0] ChipId = 24'h010219,
  parameter int unsigned PlacesW = 9,
  parameter logic [15:0] Roles = 16'hfffe,
  parameter bit Wired = 1'b1,
  parameter int unsigned TrialCycles = 1 << 30,
  parameter int unsigned LingerCycles = 1 << 23
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  config_req_t config_i,
  output config_rsp_t config_o,
  input  board_t      board_i,    // Of this clock. An application that a host holds has come up.
  output logic        runs_o,     // The device has booted the image that was named last.

  input  logic        golden_i,
  input  logic        stay_i,
  output logic        leave_o,
  output logic        awaits_o,
  output logic        confirmed_o,
  output logic        ready_o,
  output logic [7:0]  code_o,

  // The store of keys and versions, which shares the chip. Zero where there is none.
  input  flash_req_t  store_i,
  output flash_rsp_t  store_o,
  input  logic        store_works_i,  // What it keeps is not whole in the flash yet: the image is not left.

  output logic        cs_no,
  output logic        sck_o,
  output logic        mosi_o,
  input  logic        miso_i
);
  // One of them asks at a time, and the others' requests are zero.
  flash_req_t slot_req, records_req, name_req, verify_req, pointer_req, boot_req, req, turn_req;
  flash_rsp_t rsp, turn_rsp;
  logic turn;
  assign req = slot_req | records_req | name_req | verify_req | pointer_req | boot_req;
  rl_flash_turn u_turn (
    .clk_i,
    .rst_ni,
    .loader_i(req),
    .loader_o(rsp),
    .store_i,
    .store_o,
    .turn_o(turn),
    .req_o(turn_req),
    .rsp_i(turn_rsp)
  );
  rl_flash_cmd #(
    .Half(Half),
    .EraseCycles(EraseCycles),
    .ProgramCycles(ProgramCycles),
    .ErrorBits(ErrorBits)
  ) u_cmd (
    .clk_i,
    .rst_ni,
    .store_i(turn),
    .req_i(turn_req),
    .rsp_o(turn_rsp),
    .cs_no,
    .sck_o,
    .mosi_o,
    .miso_i
  );

  logic slot_open, slot_close, slot_busy, slot_cancel, answer, slot;
  logic [7:0] answer_code;
  logic [23:0] length;
  logic [31:0] check;
  logic [15:0] role;
  rl_flash_slot #(
    .Roles(Roles)
  ) u_slot (
    .clk_i,
    .rst_ni,
    .start_i(config_i.start),
    .stop_i(config_i.stop),
    .valid_i(config_i.valid),
    .ready_o(config_o.ready),
    .data_i(config_i.data),
    .done_o(config_o.done),
    .error_o(config_o.error),
    .code_o(config_o.code),
    .open_o(slot_open),
    .close_o(slot_close),
    .answer_i(answer),
    .code_i(answer_code),
    .slot_i(slot),
    .busy_o(slot_busy),
    .cancel_o(slot_cancel),
    .length_o(length),
    .check_o(check),
    .role_o(role),
    .req_o(slot_req),
    .rsp_i(rsp)
  );
  assign config_o.role = '0;

  logic scan, append, records_done;
  logic [7:0] records_code;
  state_t next, state;
  rl_flash_records #(
    .PlacesW(PlacesW)
  ) u_records (
    .clk_i,
    .rst_ni,
    .scan_i(scan),
    .append_i(append),
    .state_i(next),
    .done_o(records_done),
    .code_o(records_code),
    .state_o(state),
    .req_o(records_req),
    .rsp_i(rsp)
  );

  logic name_read, name_write, name_done;
  logic [23:0] name_addr;
  logic [7:0] name_code;
  rl_flash_name u_name (
    .clk_i,
    .rst_ni,
    .we_i(board_i.name),
    .at_i(board_i.name_at),
    .word_i(board_i.name_word),
    .runs_o,
    .read_i(name_read),
    .write_i(name_write),
    .addr_i(name_addr),
    .done_o(name_done),
    .code_o(name_code),
    .req_o(name_req),
    .rsp_i(rsp)
  );

  logic verify, verify_done;
  logic [23:0] verify_addr, verify_length;
  logic [31:0] verify_check;
  logic [7:0] verify_code;
  rl_flash_verify u_verify (
    .clk_i,
    .rst_ni,
    .start_i(verify),
    .addr_i(verify_addr),
    .length_i(verify_length),
    .check_i(verify_check),
    .done_o(verify_done),
    .code_o(verify_code),
    .req_o(verify_req),
    .rsp_i(rsp)
  );

  logic pointer_read, pointer_write, pointer_slot, pointer_done, pointer_valid, pointer_at;
  logic [7:0] pointer_code;
  rl_flash_pointer u_pointer (
    .clk_i,
    .rst_ni,
    .read_i(pointer_read),
    .write_i(pointer_write),
    .slot_i(pointer_slot),
    .done_o(pointer_done),
    .code_o(pointer_code),
    .valid_o(pointer_valid),
    .slot_o(pointer_at),
    .req_o(pointer_req),
    .rsp_i(rsp)
  );

  rl_flash_boot #(
    .Wired(Wired),
    .ChipId(ChipId),
    .TrialCycles(TrialCycles),
    .LingerCycles(LingerCycles)
  ) u_boot (
    .clk_i,
    .rst_ni,
    .golden_i,
    .stay_i,
    .healthy_i(board_i.claimed),
    .leave_o,
    .awaits_o,
    .confirmed_o,
    .ready_o,
    .code_o,
    .open_i(slot_open),
    .close_i(slot_close),
    .cancel_i(slot_cancel),
    .loading_i(slot_busy || store_works_i),
    .answer_o(answer),
    .answer_code_o(answer_code),
    .slot_o(slot),
    .length_i(length),
    .check_i(check),
    .role_i(role),
    .scan_o(scan),
    .append_o(append),
    .append_state_o(next),
    .records_done_i(records_done),
    .records_code_i(records_code),
    .state_i(state),
    .name_read_o(name_read),
    .name_write_o(name_write),
    .name_addr_o(name_addr),
    .name_done_i(name_done),
    .name_code_i(name_code),
    .verify_o(verify),
    .verify_addr_o(verify_addr),
    .verify_length_o(verify_length),
    .verify_check_o(verify_check),
    .verify_done_i(verify_done),
    .verify_code_i(verify_code),
    .pointer_read_o(pointer_read),
    .pointer_write_o(pointer_write),
    .pointer_slot_o(pointer_slot),
    .pointer_done_i(pointer_done),
    .pointer_code_i(pointer_code),
    .pointer_valid_i(pointer_valid),
    .pointer_at_i(pointer_at),
    .req_o(boot_req),
    .rsp_i(rsp)
  );

`ifndef SYNTHESIS
  OneAsks_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) $onehot0(
      {
        slot_req.valid,
        records_req.valid,
        name_req.valid,
        verify_req.valid,
        pointer_req.valid,
        boot_req.valid
      }
  ));
`endif
endmodule : rl_flash
