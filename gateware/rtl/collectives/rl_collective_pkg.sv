// What moves between two cards for a program, and how that ends. The model is crates/core/collective.

// No module uses all of it, and functions look at parts of what they get.
// verilator lint_off UNUSEDPARAM
// verilator lint_off UNUSEDSIGNAL
package rl_collective_pkg;
  import rl_link_wire_pkg::key_t;

  localparam int unsigned Slots = 32'(rl_link_pkg::Contexts);  // Contexts of a card, and of its neighbour.
  typedef logic [$clog2(Slots)-1:0] slot_t;

  // The early area: a place of Eager bytes for each context of the neighbour.
  localparam int unsigned EagerW = $clog2(
      32'(rl_link_pkg::Eager)
  );  // Bits of an address in a place.
  typedef logic [EagerW:0] few_t;  // So many bytes at most.
  function automatic logic [39:0] place_of(logic [39:0] early, slot_t slot);
    return {early[39:EagerW+$clog2(Slots)], slot, EagerW'(0)};
  endfunction

  // A message that a program has begun to send or to take.
  typedef struct packed {
    slot_t       slot;    // The context.
    key_t        key;
    logic [39:0] addr;    // In the card's memory.
    logic [31:0] length;  // Bytes; none is a signal.
  } move_t;

  // A write that memory has to answer: of a frame, or of a piece of what came early.
  typedef struct packed {
    logic        early;   // It was to a place, and no take's.
    logic        failed;  // It could not be read.
    slot_t       slot;
    logic [1:0]  life;
    logic [15:0] size;
    logic [6:0]  number;
  } owed_t;

  // How it has ended, or a program has. The causes' numbers are those of a report.
  typedef enum logic [3:0] {
    Done = 4'd0,
    Timeout = 4'd1,
    LinkDead = 4'd2,
    Restarted = 4'd3,
    PeerFailed = 4'd4,
    BadCommand = 4'd5,
    BadAddress = 4'd6,
    MemoryFailed = 4'd7,
    Mismatch = 4'd8,
    Protocol = 4'd9
  } cause_e;
  typedef struct packed {
    slot_t  slot;
    cause_e cause;
  } end_t;

  // A program that is to run, and which operation it is of.
  localparam int unsigned CommandsMax = 4096;
  localparam int unsigned CommandBytes = 32;
  localparam int unsigned FetchBytes = 128;  // What is read of it at once; a program is aligned to that.
  localparam int unsigned FetchCommands = FetchBytes / CommandBytes;
  localparam int unsigned Stored = 4 * FetchCommands;  // Commands of a context that are here.
  typedef logic [12:0] count_t;  // Of commands.
  typedef struct packed {
    logic [63:0] group;
    logic [31:0] number;
  } operation_t;
  typedef logic [3:0] links_t;
  typedef struct packed {
    links_t      anew;     // Links whose neighbours have begun a new life since it relies on them.
    logic        held;     // It waits for its Go, within its time.
    logic [39:0] program_at;
    count_t      commands;
    logic [31:0] ticks;    // Within so many it ends, or fails; less than 2^31.
    operation_t  operation;
  } program_t;

  // A survey's table: for each port 16 bytes. It begins at a multiple of its length.
  localparam int unsigned SurveyBytes = 1024;

  // A command as the sequencer finds it: looked at when it was fetched.
  localparam logic [31:0] MessageMax = 32'd268435456;
  typedef enum logic [2:0] {
    Nonsense,
    Unread,  // Memory has failed.
    Put,
    Take,
    Wait,
    Copy,
    Reduce,
    Survey
  } code_e;
  typedef struct packed {
    code_e       code;
    logic [7:0]  port;      // Of a reduction, its operation; of a wait, 1 if it is for takes alone.
    logic        linked;    // It has a link,
    logic [1:0]  link;      // this one.
    logic [15:0] tag;       // Of a reduction, what its elements are.
    logic [28:0] length;    // Bytes.
    logic        from_bad;  // The program may not touch it.
    logic        to_bad;
    logic [39:0] from;
    logic [39:0] to;
  } command_t;

  // What elements are, and how two of them become one: as commands name them.
  typedef enum logic [3:0] {
    I8 = 4'd1,
    I16 = 4'd2,
    I32 = 4'd3,
    I64 = 4'd4,
    F32 = 4'd5,
    F64 = 4'd6,
    F16 = 4'd7,
    Bf16 = 4'd8
  } datatype_e;
  typedef enum logic [2:0] {
    Sum = 3'd1,
    Min = 3'd2,
    Max = 3'd3,
    Prod = 3'd4,
    And = 3'd5,
    Or = 3'd6,
    Xor = 3'd7
  } op_e;
  function automatic logic is_float(datatype_e datatype);
    return datatype >= F32;
  endfunction
  // Bytes of an element, as a power of two.
  function automatic logic [1:0] size_of(datatype_e datatype);
    case (datatype)
      I8: return 2'd0;
      I16, F16, Bf16: return 2'd1;
      I32, F32: return 2'd2;
      default: return 2'd3;
    endcase
  endfunction

  // How a program has ended, and what it waited for.
  typedef struct packed {
    slot_t       slot;
    cause_e      cause;
    logic [7:0]  port;     // That the cause is about; 0: none.
    count_t      command;  // That it had come to.
    logic [63:0] takes;    // Ports whose cards owed it a message,
    logic [63:0] puts;     // and those whose cards had not taken its own.
  } report_t;
endpackage : rl_collective_pkg
// verilator lint_on UNUSEDPARAM
// verilator lint_on UNUSEDSIGNAL
