// What the parts of the digest engine say to one another.

// No module uses all of it.
// verilator lint_off UNUSEDPARAM
package rl_digest_pkg;
  import rl_blake3_pkg::*;

  // What a beat read from DDR is for. Beats come in passes of up to eight, one for each slot of the
  // ring from slot 0 on.
  typedef struct packed {
    logic   copy;        // Its first half is a value already; it is alone in its pass.
    logic   ends_pass;
    logic   ends_value;  // The compression's result is a value to put out, else it chains.
    logic   ends_job;    // And it is the job's last.
    entry_t entry;
  } about_t;

  // What the ring does in a cycle.
  typedef struct packed {
    logic   step;
    logic turn0;
    logic enter;
    logic   put;       // With step or copy: a value goes out,
    logic   ends_job;  // the last of its job.
    logic   copy;      // It is the beat's.
    entry_t entry;
    logic [15:0] keep;  // Bytes of the block's group 0 that count.
  } command_t;

  // Beats asked for and not yet used up: two passes.
  localparam int unsigned Beats = 16;
  // Values that wait to be written, a power of two.
  localparam int unsigned Values = 16;

endpackage : rl_digest_pkg
// verilator lint_on UNUSEDPARAM
