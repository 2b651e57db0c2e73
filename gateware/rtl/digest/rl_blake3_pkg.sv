// BLAKE3 (github.com/BLAKE3-team/BLAKE3-specs): its constants, and its compression cut into stages.

// No module uses all of it.
// verilator lint_off UNUSEDPARAM
package rl_blake3_pkg;

  // 16 words: a message block of 64 bytes, or the state of a compression. Byte 0 is [0][7:0].
  typedef logic [15:0][31:0] block_t;
  // 8 words: a chaining value.
  typedef logic [7:0][31:0] value_t;
  // The four words of a message that a stage adds, one for each G.
  typedef logic [3:0][31:0] quad_t;

  localparam value_t Iv = {
    32'h5be0cd19,
    32'h1f83d9ab,
    32'h9b05688c,
    32'h510e527f,
    32'ha54ff53a,
    32'h3c6ef372,
    32'hbb67ae85,
    32'h6a09e667
  };

  // Bits of the last word of a compression's first state.
  localparam int unsigned FlagChunkStart = 0;
  localparam int unsigned FlagChunkEnd = 1;
  localparam int unsigned FlagParent = 2;
  localparam int unsigned FlagRoot = 3;

  localparam int unsigned Rounds = 7;
  // A round is this many stages: quarters of G, first for the four columns, then for the diagonals.
  localparam int unsigned Stages = 8;

  // What a compression starts with, besides its message and a chaining value from before.
  typedef struct packed {
    logic        first;    // Its chaining value is the initial one.
    logic [3:0]  flags;
    logic [5:0]  top;      // Number of the message's last byte; those beyond are zero.
    logic [31:0] counter;  // Of the chunk.
  } entry_t;

  // Word j of the next round's message is word source(j) of this round's.
  function automatic int unsigned source(int unsigned j);
    unique case (j)
      0: return 2;
      1: return 6;
      2: return 3;
      3: return 10;
      4: return 7;
      5: return 0;
      6: return 4;
      7: return 13;
      8: return 1;
      9: return 11;
      10: return 12;
      11: return 5;
      12: return 9;
      13: return 14;
      14: return 15;
      default: return 8;
    endcase
  endfunction

  // The words of a message are used in four groups. The first half of G takes the even words, for
  // the columns the lower eight.
  function automatic int unsigned group(int unsigned j);
    return 2 * (j / 8) + j % 2;
  endfunction

  function automatic quad_t members(block_t words, int unsigned g);
    quad_t quad;
    for (int unsigned i = 0; i < 4; i++) quad[i] = words[8*(g/2)+2*i+g%2];
    return quad;
  endfunction

  // Steps after a compression entered the ring in which a group must be read from its block, so
  // that it stands in a register when it is used: group 0 in stage 0, the others one stage ahead of
  // where the standard adds them (see `stage`).
  function automatic int unsigned offset(int unsigned g);
    return g == 0 ? 0 : 2 * g - 1;
  endfunction

  // Steps from a word's use in one round to the use of the same word in the next.
  function automatic int unsigned distance(int unsigned j);
    return Stages + offset(group(j)) - offset(group(source(j)));
  endfunction

  // The bytes of a group's words that count, when `top` is the number of the last one. Byte n of
  // the group's word i is bit 4 i + n.
  function automatic logic [15:0] counting(int unsigned g, logic [5:0] top);
    automatic logic [63:0] all = '1 >> ~top;
    automatic logic [15:0] some;
    for (int unsigned i = 0; i < 4; i++) some[4*i+:4] = all[4*(8*(g/2)+2*i+g%2)+:4];
    return some;
  endfunction

  function automatic logic [31:0] rotr(logic [31:0] word, int unsigned by);
    return (word >> by) | (word << (32 - by));
  endfunction

  // One stage. Even ones do a = a + b + m, d = (d ^ a) >>> r; odd ones c = c + d, b = (b ^ c) >>> r
  // (rotated). As a rests in odd stages, they add the next m to it ahead of time: sums of three
  // remain in stage 0 alone, where a compression enters and no stage is before it.
  function automatic block_t stage(block_t state, int unsigned s, quad_t words);
    automatic block_t v = state;
    for (int unsigned i = 0; i < 4; i++) begin
      automatic int unsigned a = i;
      automatic int unsigned b = 4 + (i + s / 4) % 4;
      automatic int unsigned c = 8 + (i + 2 * (s / 4)) % 4;
      automatic int unsigned d = 12 + (i + 3 * (s / 4)) % 4;
      automatic bit second = s % 4 >= 2;
      if (s == 0) v[a] = v[a] + words[i] + v[b];
      else if (s % 2 == 0) v[a] = v[a] + v[b];
      else if (s != Stages - 1) v[a] = v[a] + words[i];
      if (s % 2 == 0) begin
        v[d] = rotr(v[d] ^ v[a], second ? 8 : 16);
      end else begin
        v[c] = v[c] + v[d];
        v[b] = rotr(v[b] ^ v[c], second ? 7 : 12);
      end
    end
    return v;
  endfunction

endpackage : rl_blake3_pkg
// verilator lint_on UNUSEDPARAM
