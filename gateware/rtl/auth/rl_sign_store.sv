// The signers whose images a card runs, and the versions that have run. Whoever has them from a file or a flash writes
// them here in words before the card has its keys; the firmware reads them, and writes versions, which go to whoever
// keeps them.
//
//   word  16 n         of signer n: bit 0, whether its signature counts on this card
//         16 n + 1     its public key: 8 words, as all here with the first byte highest
//         16 n + 9     its name: 6 words
//         512 + 16 r   of a role that has run: the number of its signer and 1; 0: the place is free
//                + 1   a version: 2 words
//                + 3   the role's name: 8 words
//                + 11  another version: 2 words
//                + 15  which of the two counts as the newest that has run: 2: the other one
//         2048         how many signers there are; 0: the card asks for no signatures
//
// What was written stays when the shell is restarted.
module rl_sign_store
  import rl_auth_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_power_ni,   // Forgets that there are signers.
  input  sign_write_t write_i,
  output logic        write_ready_o,
  input  sign_ask_t   ask_i,          // The firmware's.
  output sign_t       sign_o,
  output sign_write_t kept_o,         // What the firmware writes, each for a cycle,
  input  logic        keeps_i,        // goes to who keeps it, and is not all there yet,
  input  logic        fails_i,        // or will not be.
  input  sign_look_t  look_i,         // That one reads.
  output sign_looked_t looked_o
);
  localparam int unsigned AtW = $bits(sign_at_t);
  // The firmware goes first, and changes no signer.
  logic asks, writes, to_count, we;
  sign_at_t waddr;
  logic [31:0] wdata;
  assign asks = ask_i.write && ask_i.at >= SignRoles;
  assign write_ready_o = rst_power_ni && !ask_i.write;
  assign writes = write_i.valid && write_ready_o;
  assign to_count = writes && write_i.at[AtW];
  assign we = asks || (writes && !write_i.at[AtW]);
  assign waddr = asks ? ask_i.at : write_i.at[AtW-1:0];
  assign wdata = asks ? ask_i.word : write_i.word;

  // What the firmware has read is held, so that it need not read in each cycle: only what it has not read yet, and what
  // may have changed since. A word is not read while one is written.
  logic [31:0] word, held_q, shown;
  logic fresh_q, looks, looks_q;
  sign_at_t at_q;
  assign looks = look_i.valid && !looks_q && fresh_q && ask_i.at == at_q && !we;
  assign shown = looks_q ? held_q : word;
  assign looked_o = '{valid: looks_q, word: word};
  always_ff @(posedge clk_i) begin
    looks_q <= rst_power_ni && looks;
    fresh_q <= rst_power_ni && !we;
    at_q <= ask_i.at;
    held_q <= shown;
  end
  rl_ram #(
    .Width(32),
    .Depth(1 << AtW)
  ) u_words (
    .clk_wr_i(clk_i),
    .we_i(we),
    .waddr_i(waddr),
    .wdata_i(wdata),
    .clk_rd_i(clk_i),
    .re_i(1'b1),
    .raddr_i(looks ? look_i.at : ask_i.at),
    .rdata_o(word)
  );
  logic [5:0] count_q;
  always_ff @(posedge clk_i) begin
    if (!rst_power_ni) count_q <= '0;
    else if (to_count) count_q <= write_i.word[5:0];
  end
  assign sign_o = '{keeps: keeps_i, fails: fails_i, count: count_q, word: shown};
  assign kept_o = '{valid: asks, at: {1'b0, ask_i.at}, word: ask_i.word};
endmodule
