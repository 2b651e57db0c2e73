// What the shell says to whatever reconfigures the card, and hears from it: rl_config_port has the order of things.

// No module uses all of it.
// verilator lint_off UNUSEDPARAM
package rl_config_pkg;
  // To the region, or to the device's own port. Words go over with valid and ready.
  typedef struct packed {
    logic        start;
    logic        stop;
    logic        valid;
    logic [31:0] data;
  } config_req_t;
  typedef struct packed {
    logic        ready;
    logic        done;   // After the last word, this
    logic        error;  // or this, for one cycle or longer;
    logic [7:0]  code;   // with an error, what is wrong,
    logic [15:0] role;   // and when done, the role that is there now.
  } config_rsp_t;

  // What the firmware says to the board, net domain: whether a host holds the card, and the digest of the image whose
  // words come next, a word at a time.
  typedef struct packed {
    logic        claimed;
    logic        name;
    logic [2:0]  name_at;
    logic [31:0] name_word;
  } board_t;

  // A programmer beside the card, which the shell lets through while no load uses the port.
  typedef struct packed {
    logic        busy;   // It is programming, or wants to.
    logic        start;
    logic        stop;
    logic        valid;
    logic [31:0] data;
  } local_req_t;
  typedef struct packed {
    logic granted;
    logic ready;
  } local_rsp_t;
endpackage : rl_config_pkg
// verilator lint_on UNUSEDPARAM
