// Reads the keys and signers that were put into the flash for this card, and writes them to rl_key_store and
// rl_sign_store word by word, all but the last words, which make them count: those are for who has found that all of it
// is right. See rl_flash_pkg for what lies there.
module rl_flash_keys
  import rl_flash_pkg::*;
  import rl_auth_pkg::*;
  import rl_part_pkg::crc_byte;
#(
  parameter int unsigned Signers = 32,  // So many there is room for,
  parameter int unsigned Hosts = StoreHosts
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic [47:0]  mac_i,      // The card's.

  input  logic         read_i,     // For one cycle: read this copy.
  input  logic         copy_i,     // It holds, and what it is to be:
  input  logic [31:0]  check_i,    // of this check.
  output logic         done_o,     // For one cycle; and in this one
  output logic [7:0]   code_o,     // whether it is.
  output logic [5:0]   signers_o,
  output logic [6:0]   hosts_o,

  output sign_write_t  sign_o,
  input  logic         sign_ready_i,
  output store_write_t key_o,
  input  logic         key_ready_i,

  output flash_req_t   req_o,
  input  flash_rsp_t   rsp_i
);
  localparam int unsigned SignWords = 16 * Signers;
  localparam int unsigned KeyWords = 4 * Hosts + 16;
  localparam int unsigned FirstKey = KeysHeadWords + SignWords;
  localparam int unsigned CheckAt = FirstKey + KeyWords;
  localparam int unsigned AtW = $clog2(CheckAt + 1);
  logic unused;
  assign unused = rsp_i.wready;

  logic busy_q;
  logic [AtW-1:0] at_q;            // The word that comes,
  logic [1:0] byte_q;
  logic [23:0] bytes_q;            // and what there is of it.
  logic [31:0] crc_q, word;
  logic whole, blank_q, ours_q, right_q;
  assign word = {bytes_q, rsp_i.rdata};
  assign whole = rsp_i.rvalid && byte_q == '1;

  // A word waits until it is taken. The next one is some hundred cycles away.
  logic put_q, to_key_q;
  logic [31:0] put_word_q;
  logic [AtW-1:0] put_at_q, host_at;
  logic [3:0] own_at;
  assign host_at = put_at_q - AtW'(FirstKey);
  assign own_at = 4'(host_at - AtW'(4 * Hosts));
  assign sign_o = '{valid: put_q && !to_key_q, at: 12'(put_at_q - AtW'(KeysHeadWords)), word: put_word_q};
  assign key_o = '{
          valid: put_q && to_key_q,
          at: host_at < AtW'(4 * Hosts) ? 9'(host_at) : StoreKeys + 9'(own_at),
          word: put_word_q
      };

  always_comb begin
    req_o = '0;
    if (busy_q) begin
      req_o.valid = 1'b1;
      req_o.op = OpRead;
      req_o.addr = KeysAddr + 24'({copy_i, UnitW'(0)});
      req_o.count = 24'(4 * (CheckAt + 1));
    end
  end
  assign done_o = busy_q && rsp_i.done;
  always_comb begin
    code_o = CodeOk;
    if (rsp_i.code != CodeOk) code_o = rsp_i.code;
    else if (blank_q) code_o = CodeStoreBlank;
    else if (!right_q) code_o = CodeStoreDamaged;
    else if (!ours_q) code_o = CodeStoreForeign;
    // Of a log that is not this one's.
    else if (~crc_q != check_i) code_o = CodeStoreDamaged;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      put_q <= 1'b0;
    end else begin
      busy_q <= read_i || (busy_q && !rsp_i.done);
      if (whole && at_q >= AtW'(KeysHeadWords) && at_q < AtW'(CheckAt)) put_q <= 1'b1;
      else if (to_key_q ? key_ready_i : sign_ready_i) put_q <= 1'b0;
    end
    if (!busy_q) begin
      at_q <= '0;
      byte_q <= '0;
      crc_q <= '1;
      {blank_q, ours_q, right_q} <= 3'b110;
    end else if (rsp_i.rvalid) begin
      byte_q <= byte_q + 1'b1;
      bytes_q <= word[23:0];
      if (rsp_i.rdata != '1) blank_q <= 1'b0;
      if (at_q < AtW'(CheckAt)) crc_q <= crc_byte(crc_q, rsp_i.rdata);
    end
    if (whole) begin
      at_q <= at_q + 1'b1;
      put_at_q <= at_q;
      put_word_q <= word;
      to_key_q <= at_q >= AtW'(FirstKey);
      if (at_q == AtW'(0) && word != KeysMagic) ours_q <= 1'b0;
      if (at_q == AtW'(1) && word != 32'(mac_i[47:32])) ours_q <= 1'b0;
      if (at_q == AtW'(2) && word != mac_i[31:0]) ours_q <= 1'b0;
      if (at_q == AtW'(3)) begin
        if (word[31:16] > 16'(Signers) || word[15:0] > 16'(Hosts)) ours_q <= 1'b0;
        {signers_o, hosts_o} <= {word[21:16], word[6:0]};
      end
      if (at_q == AtW'(CheckAt)) right_q <= word == ~crc_q;
    end
    // One that nobody took in time is missing.
    if (whole && put_q) right_q <= 1'b0;
  end

`ifndef SYNTHESIS
  InTime_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) whole |-> !put_q);
`endif
endmodule : rl_flash_keys
