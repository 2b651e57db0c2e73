// What the registers say to the blocks, and the blocks to the registers: protocol/registers.toml has
// the meaning. A field is named as the block's port. What acts is there for one cycle.
package rl_control_pkg;
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;

  // A register's number with its halves decoded, for both sides: what is left is a gate for each.
  typedef struct packed {
    logic [15:0] high;
    logic [15:0] low;
  } csr_select_t;
  function automatic csr_select_t csr_select(logic [7:0] word);
    return '{high: 16'd1 << word[7:4], low: 16'd1 << word[3:0]};
  endfunction
  function automatic logic csr_is(csr_select_t select, logic [7:0] word);
    return select.high[word[7:4]] && select.low[word[3:0]];
  endfunction
  // One of eight, by the upper bits of their numbers.
  function automatic logic csr_is8(csr_select_t select, logic [4:0] eight);
    return select.high[eight[4:1]] && (eight[0] ? |select.low[15:8] : |select.low[7:0]);
  endfunction

  // -- rl_control_ring
  typedef struct packed {
    logic        valid;
    logic [7:0]  reason;
    logic [12:0] offset;
  } ring_head_t;

  // -- rl_tx
  typedef struct packed {
    logic        send;
    logic        send_slot;
    logic [10:0] send_bytes;
  } tx_ctl_t;

  // -- rl_mem_write
  typedef struct packed {
    logic        reset;
    logic        acked;
    logic        insert;
    logic        insert_ack_now;
    logic [11:0] insert_seq;
    logic [2:0]  bits_addr;
  } mem_write_ctl_t;
  typedef struct packed {
    logic [31:0] next;
    logic        ack_due;
    logic        insert_busy;
    logic [1:0]  insert_result;
    logic [31:0] bits;          // In the cycle of bits_addr.
    logic [7:0]  stored;        // Writes so far, modulo 2^8,
    logic [7:0]  written;       // and those of them that are in memory.
  } mem_write_status_t;

  // -- rl_image_write
  typedef struct packed {
    logic        start;
    beat_t       base;
    logic [15:0] last;
    logic [13:0] last_length;
    logic [13:0] chunk;
    logic [13:0] empty;
    logic        block_pop;
  } image_write_ctl_t;
  typedef struct packed {
    logic        busy;
    logic [16:0] staged;
    logic        block_valid;
    logic [11:0] block;
  } image_write_status_t;

  // -- rl_digest
  typedef struct packed {logic idle;} digest_status_t;

  // -- rl_config_port
  typedef struct packed {
    logic        start;
    logic        stop;
    beat_t       source;
    logic [21:0] last;
    logic [3:0]  last_words;
  } config_ctl_t;
  typedef struct packed {
    logic [7:0] code;
    logic local_port;
    logic failed;
    logic done;
    logic busy;
  } config_status_t;

  // -- rl_role_port and rl_guard
  typedef struct packed {
    logic hold;
    logic isolate;
  } role_ctl_t;
  typedef struct packed {
    logic       drained;
    logic [3:0] fault;   // In the order of ROLE_FAULT.
  } role_status_t;

  // -- rl_launch and rl_role_port
  typedef struct packed {
    logic        last_we;
    logic        args_we;
    logic        order_we;
    logic        drop;
    logic        stop;
    logic [31:0] last;        // With last_we.
    logic [5:0]  args_kernel; // With args_we.
    logic [5:0]  args_takes;
    logic [5:0]  args_words;
    logic [4:0]  order_at;    // With order_we.
    logic [4:0]  order_slot;
    logic        order_held;
    logic [4:0]  popped;
    logic [4:0]  bound;
    logic        freeze;
    logic        enable;
  } launch_ctl_t;
  typedef struct packed {
    logic [31:0] last;
    logic        frozen;
    logic        running;
    logic [2:0]  end_status;
    logic [4:0]  head;
    logic [4:0]  tail;
    logic        ended;       // One has ended that is not popped.
    logic [63:0] value;
    logic [47:0] cycles;
    logic [31:0] started_us;
    logic [31:0] ended_us;
  } launch_status_t;

  // -- rl_ddr_write: zeros. All hold until it is done.
  typedef struct packed {
    logic  scrub;
    beat_t scrub_first;
    beat_t scrub_last;
  } scrub_ctl_t;

  // -- rl_bridge_card: the register that is written, and the one that is read in this cycle; numbers from BRG_STATUS on
  typedef struct packed {
    logic        write;
    logic [4:0]  at;
    logic [31:0] word;
    logic [4:0]  read_at;
  } bridge_ctl_t;

  // -- rl_auth_card: the same, numbers from KEY_OWNER_HI on
  typedef struct packed {
    logic        write;
    logic [4:0]  at;
    logic [31:0] word;
    logic [4:0]  read_at;
  } keys_ctl_t;

  // -- between the registers' two sides: what is written and also read
  typedef struct packed {
    logic enable;
    logic job;       // Requests that were not taken yet.
    logic fetch;
  } csr_own_t;
endpackage : rl_control_pkg
