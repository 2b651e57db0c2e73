// The part of an image that gateware takes: a head of 22 words of 32 bits, data, and the CRC-32 of all before it. What
// the words are, rl_region_receiver tells. The backends of the configuration port judge the head alike.

// No module uses all of it.
// verilator lint_off UNUSEDPARAM
package rl_part_pkg;
  localparam logic [63:0] Magic = 64'h524c5254_4c000001;  // "RLRTL\0\0\1"
  localparam logic [4:0] HeadWords = 5'd22;
  localparam logic [28:0] WordsMin = 29'd24;
  localparam logic [28:0] WordsBesideData = 29'd23;
  // Words of the head that say something to gateware.
  localparam logic [28:0] RoleAt = 29'd2;
  localparam logic [28:0] LengthAt = 29'd5;

  localparam logic [7:0] CodeMagic = 8'd1;
  localparam logic [7:0] CodeRole = 8'd2;
  localparam logic [7:0] CodeLength = 8'd3;
  localparam logic [7:0] CodeCheck = 8'd4;

  // The part's words of 32 bits, by the word that tells those of 64.
  function automatic logic [28:0] words_of(input logic [27:0] word);
    return {word, 1'b0};
  endfunction

  // What is wrong with a word of the head, for a card that has these roles; 0 if nothing is.
  function automatic logic [7:0] head_code(input logic [28:0] index, input logic [31:0] word,
                                           input logic [15:0] roles);
    unique case (index)
      29'd0: return word == Magic[63:32] ? 8'd0 : CodeMagic;
      29'd1: return word == Magic[31:0] ? 8'd0 : CodeMagic;
      RoleAt: return word[31:4] == '0 && roles[word[3:0]] && word[3:0] != '0 ? 8'd0 : CodeRole;
      LengthAt: return word[31:28] == '0 && words_of(word[27:0]) >= WordsMin ? 8'd0 : CodeLength;
      default: return 8'd0;
    endcase
  endfunction

  // CRC-32 (IEEE 802.3) with one byte more. It begins with all ones, and is inverted in the end.
  function automatic logic [31:0] crc_byte(input logic [31:0] crc, input logic [7:0] data);
    logic [31:0] c;
    c = crc ^ {24'd0, data};
    for (int unsigned k = 0; k < 8; k++) c = c[0] ? (c >> 1) ^ 32'hedb88320 : c >> 1;
    return c;
  endfunction

  // With a word more, the first byte of the stream in its upper bits.
  function automatic logic [31:0] crc_word(input logic [31:0] crc, input logic [31:0] word);
    logic [31:0] c;
    c = crc;
    for (int unsigned i = 0; i < 4; i++) c = crc_byte(c, word[31-8*i-:8]);
    return c;
  endfunction
endpackage : rl_part_pkg
// verilator lint_on UNUSEDPARAM
