// A host behind the card: its frames between port 0, which is the wire, and the port where the host is. The model's
// twin is crates/core/card/src/nic.rs.

// No module uses all of it.
// verilator lint_off UNUSEDPARAM
package rl_nic_pkg;
  import rl_wire_pkg::mac_addr_t;

  // Who is who.
  typedef struct packed {
    logic      open;  // There is a host.
    mac_addr_t card;  // The card's address,
    mac_addr_t host;  // and the host's, which is that of its port.
  } nic_config_t;

  // What the head of a frame says of it.
  typedef enum logic [2:0] {
    NicOther,     // At the wire: it is the card's, to take or to drop.
    NicPass,      // It may go to the other side.
    NicForged,    // Its source cannot be.
    NicReserved,  // From the host: of a family of ours, or what stations say to the next one on their cable.
    NicAstray     // From the host: for the card or the host itself.
  } nic_verdict_e;

  // Why a frame was dropped, for one cycle.
  typedef struct packed {
    logic forged;
    logic reserved;
    logic astray;
    logic overflow;  // It is too long, or too many wait already.
  } nic_drop_t;

  // What became of frames since the card was switched on.
  typedef logic [47:0] nic_count_t;
  typedef struct packed {
    nic_count_t to_host_frames;
    nic_count_t to_host_bytes;
    nic_count_t to_wire_frames;
    nic_count_t to_wire_bytes;
    nic_count_t forged;
    nic_count_t reserved;
    nic_count_t astray;
    nic_count_t overflow;
    nic_count_t paused;          // Times that the host was ordered to be silent.
  } nic_counts_t;
endpackage : rl_nic_pkg
// verilator lint_on UNUSEDPARAM
