// Ascon's permutation as NIST SP 800-232 has it, and the constants of Ascon-MAC and Ascon-PRF.
//
// Byte 0 of a message is bits 7:0 of its first word, as everywhere in the datapath.
package rl_ascon_pkg;

  typedef logic [4:0][63:0] state_t;  // Word 0 of the standard is [0].
  typedef logic [3:0][63:0] block_t;  // What is absorbed before each permutation.
  typedef logic [127:0] tag_t;  // Byte 0 is bits 7:0; so are keys.

  // Of a permutation.
  localparam int unsigned Rounds = 12;

  // First words of the two functions' initial states. They say what a key is for, so a key that tags
  // and one that derives other keys give unrelated results even if they are the same.
  localparam logic [63:0] IvMac = 64'h0010_2000_80cc_0005;
  localparam logic [63:0] IvPrf = 64'h0010_2000_00cc_0006;

  // What the last word of the state is changed by before the last permutation.
  localparam logic [63:0] Ends = 64'h8000_0000_0000_0000;

  function automatic logic [63:0] rotr(logic [63:0] word, int unsigned by);
    return (word >> by) | (word << (64 - by));
  endfunction

  // Round number r of a permutation of 12.
  function automatic state_t round(state_t state, logic [3:0] r);
    automatic state_t x = state;
    automatic state_t t;
    // The constant.
    x[2][7:0] = x[2][7:0] ^ {~r, r};
    // The S-box, 64 at a time.
    x[0] = x[0] ^ x[4];
    x[4] = x[4] ^ x[3];
    x[2] = x[2] ^ x[1];
    for (int unsigned i = 0; i < 5; i++) t[i] = x[i] ^ (~x[(i+1)%5] & x[(i+2)%5]);
    t[1] = t[1] ^ t[0];
    t[0] = t[0] ^ t[4];
    t[3] = t[3] ^ t[2];
    t[2] = ~t[2];
    // The linear layer.
    x[0] = t[0] ^ rotr(t[0], 19) ^ rotr(t[0], 28);
    x[1] = t[1] ^ rotr(t[1], 61) ^ rotr(t[1], 39);
    x[2] = t[2] ^ rotr(t[2], 1) ^ rotr(t[2], 6);
    x[3] = t[3] ^ rotr(t[3], 10) ^ rotr(t[3], 17);
    x[4] = t[4] ^ rotr(t[4], 7) ^ rotr(t[4], 41);
    return x;
  endfunction
endpackage
