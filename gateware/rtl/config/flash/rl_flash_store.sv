// A board's store of keys, signers and versions, in the flash that the device boots from: at the start it writes
// rl_key_store and rl_sign_store, and then it keeps the versions that the firmware raises.
//
// Keys and signers are put there by a programmer and by nobody else, twice. Each log of versions names the check of
// those that it is with, so keys from before the last visit of the programmer do not count. What is not whole, not this
// card's, or not there leaves the card without a key: its firmware waits for one and says nothing, and `code_o` tells
// why. A version is kept when it has been read back.
module rl_flash_store
  import rl_flash_pkg::*;
  import rl_auth_pkg::*;
#(
  parameter logic [23:0] ChipId = 24'h010219,
  parameter int unsigned PlacesW = 12,         // As rl_flash_versions',
  parameter int unsigned Roles = 96,
  parameter int unsigned Signers = 32,         // and rl_flash_keys'.
  parameter int unsigned Hosts = StoreHosts
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic [47:0]  mac_i,         // The card's.
  output logic         open_o,        // Keys and signers have been handed over.
  output logic         works_o,       // Not all that is to be kept is in the flash.
  output logic         fails_o,       // Nothing will be kept.
  output logic [7:0]   code_o,        // What has gone wrong, or 0. Of one damaged copy it tells, too.

  output store_write_t key_o,
  input  logic         key_ready_i,
  output sign_write_t  sign_o,
  input  logic         sign_ready_i,
  input  sign_write_t  kept_i,
  output sign_look_t   look_o,
  input  sign_looked_t looked_i,

  output flash_req_t   req_o,
  input  flash_rsp_t   rsp_i
);
  typedef enum logic [2:0] {
    Reset,
    Id,
    Log,
    Keys,     // One copy, or the other.
    Signs,    // The signers count,
    Hand,     // and the card has its keys.
    Serve,
    Dead      // It has none.
  } step_e;
  step_e step_q;
  logic copy_q, begun_q;
  logic [7:0] code_q, log_code, keys_code;
  logic [23:0] id_q;
  logic log_done, log_works, log_fails, keys_done;
  logic [31:0] check;
  logic [5:0] signers;
  logic [6:0] hosts;
  sign_write_t log_write, keys_sign;
  store_write_t keys_key;
  flash_req_t log_req, keys_req;

  rl_flash_versions #(
    .PlacesW(PlacesW),
    .Roles(Roles)
  ) u_versions (
    .clk_i,
    .rst_ni,
    .load_i(step_q == Log && !begun_q),
    .done_o(log_done),
    .code_o(log_code),
    .keys_o(check),
    .keep_i(step_q == Serve),
    .kept_i,
    .works_o(log_works),
    .failed_o(log_fails),
    .write_o(log_write),
    .write_ready_i(sign_ready_i),
    .look_o,
    .looked_i,
    .req_o(log_req),
    .rsp_i
  );
  rl_flash_keys #(
    .Signers(Signers),
    .Hosts(Hosts)
  ) u_keys (
    .clk_i,
    .rst_ni,
    .mac_i,
    .read_i(step_q == Keys && !begun_q),
    .copy_i(copy_q),
    .check_i(check),
    .done_o(keys_done),
    .code_o(keys_code),
    .signers_o(signers),
    .hosts_o(hosts),
    .sign_o(keys_sign),
    .sign_ready_i,
    .key_o(keys_key),
    .key_ready_i,
    .req_o(keys_req),
    .rsp_i
  );

  // While keys are read the log waits: it has been found, and nothing is to be kept before the firmware has begun.
  always_comb begin
    req_o = step_q == Keys ? keys_req : log_req;
    if (step_q == Id) begin
      req_o = '0;
      req_o.valid = 1'b1;
      req_o.op = OpId;
      req_o.count = 24'd3;
    end
  end
  always_comb begin
    sign_o = keys_sign.valid ? keys_sign : log_write;
    if (step_q == Signs) sign_o = '{valid: 1'b1, at: SignCount, word: 32'(signers)};
    key_o = keys_key;
    if (step_q == Hand) key_o = '{valid: 1'b1, at: StoreEnd, word: 32'(hosts)};
  end
  assign open_o = step_q == Serve;
  assign works_o = step_q != Dead && (step_q != Serve || log_works);
  assign fails_o = step_q == Dead || (step_q == Serve && log_fails);
  assign code_o = fails_o && step_q == Serve ? log_code : code_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      step_q <= Reset;
      begun_q <= 1'b0;
      copy_q <= 1'b0;
      code_q <= CodeOk;
    end else begin
      // Each step that asks somebody does so with its first cycle.
      begun_q <= !(log_done || keys_done || step_q inside {Reset, Id});
      unique case (step_q)
        Reset: step_q <= Id;
        Id: begin
          if (rsp_i.done) begin
            step_q <= rsp_i.code == CodeOk && id_q == ChipId ? Log : Dead;
            code_q <= rsp_i.code != CodeOk ? rsp_i.code : id_q != ChipId ? CodeChip : CodeOk;
          end
        end
        Log: begin
          if (log_done) begin
            step_q <= log_code inside {CodeOk, CodeStoreBlank} ? Keys : Dead;
            code_q <= log_code;
          end
        end
        Keys: begin
          if (keys_done) begin
            copy_q <= 1'b1;
            if (keys_code == CodeOk && log_code == CodeOk) step_q <= Signs;
            else if (copy_q) step_q <= Dead;
            // What was never provisioned is blank everywhere. Of two copies it tells the first one's fault.
            if ((keys_code == CodeStoreBlank) != (log_code == CodeStoreBlank)) code_q <= CodeStoreDamaged;
            else if (code_q == CodeOk) code_q <= keys_code;
          end
        end
        Signs: if (sign_ready_i) step_q <= Hand;
        Hand: if (key_ready_i) step_q <= Serve;
        default: ;
      endcase
    end
    if (step_q == Id && rsp_i.rvalid) id_q <= {id_q[15:0], rsp_i.rdata};
  end

`ifndef SYNTHESIS
  // Keys go out only with a log that is whole and is theirs.
  Whole_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
    step_q inside {Signs, Hand} |-> log_code == CodeOk && !log_fails);
`endif
endmodule : rl_flash_store
