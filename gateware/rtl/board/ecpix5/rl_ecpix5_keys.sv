// Keys, signers and versions of an ECPIX-5 that has them: what the shell takes them from, and the store in the flash
// that fills it at the start and keeps what the firmware raises.
module rl_ecpix5_keys
  import rl_auth_pkg::*;
  import rl_flash_pkg::*;
#(
  parameter int unsigned PlacesW = 12,  // As rl_flash_store's.
  parameter int unsigned Roles = 96
) (
  input  logic        clk_i,
  input  logic        rst_ni,        // That of the clock alone.
  input  logic        rst_shell_ni,
  input  logic [47:0] mac_i,
  output logic        works_o,
  output logic        fault_o,       // Something is wrong with what lies in the flash, or could not be kept.

  output store_t      store_o,
  input  logic        store_ready_i,
  input  store_ask_t  store_ask_i,
  output sign_t       sign_o,
  input  sign_ask_t   sign_ask_i,

  output flash_req_t  req_o,
  input  flash_rsp_t  rsp_i
);
  store_write_t key_write;
  sign_write_t sign_write, kept;
  sign_look_t look;
  sign_looked_t looked;
  logic key_ready, sign_ready, works, fails, unused_open;
  logic [7:0] code;
  rl_flash_store #(
    .PlacesW(PlacesW),
    .Roles(Roles)
  ) u_store (
    .clk_i,
    .rst_ni,
    .mac_i,
    .open_o(unused_open),
    .works_o(works),
    .fails_o(fails),
    .code_o(code),
    .key_o(key_write),
    .key_ready_i(key_ready),
    .sign_o(sign_write),
    .sign_ready_i(sign_ready),
    .kept_i(kept),
    .look_o(look),
    .looked_i(looked),
    .req_o,
    .rsp_i
  );
  rl_sign_store u_signers (
    .clk_i,
    .rst_power_ni(rst_ni),
    .write_i(sign_write),
    .write_ready_o(sign_ready),
    .ask_i(sign_ask_i),
    .sign_o,
    .kept_o(kept),
    .keeps_i(works),
    .fails_i(fails),
    .look_i(look),
    .looked_o(looked)
  );
  rl_key_store u_keys (
    .clk_i,
    .rst_power_ni(rst_ni),
    .rst_ni(rst_shell_ni),
    .write_i(key_write),
    .write_ready_o(key_ready),
    .ask_i(store_ask_i),
    .store_o,
    .ready_i(store_ready_i)
  );
  assign works_o = works;
  assign fault_o = code != CodeOk;
endmodule : rl_ecpix5_keys
