// The configuration flash: where what lies in it, what its blocks say to one another, and what can go wrong.
//
// This is the layout's only place: gateware/flash/layout.py reads the numbers from here. Everything begins at a
// multiple of 256 KiB, the largest sector of the chips that boards have, so that erasing one thing never touches
// another.
//
//   000000  golden image         never written by a card: the chip's block protection covers the first 4 MiB,
//   200000  its second copy      and rl_flash_cmd has no way to address them
//   400000  pointer              a page that sends the device on to slot A or slot B
//   440000  slot A
//   6c0000  slot B
//   940000  records              two sectors by turns; the newest whole record is the state of the flash
//   9c0000  keys and signers     never written by a card; read by rl_flash_store alone, as all up to ac0000
//   a00000  their second copy
//   a40000  versions             two units by turns: a log of the versions that have run, by rl_flash_store
//   ffff00  jump record          sends the device to the golden image's second copy when the first is damaged

// No module uses all of it.
// verilator lint_off UNUSEDPARAM
package rl_flash_pkg;
  localparam logic [23:0] GoldenAddr = 24'h000000;
  localparam logic [23:0] SecondGoldenAddr = 24'h200000;
  localparam logic [23:0] PointerAddr = 24'h400000;
  localparam logic [23:0] SlotAAddr = 24'h440000;
  localparam logic [23:0] SlotBAddr = 24'h6c0000;
  localparam logic [23:0] RecordsAddr = 24'h940000;
  localparam logic [23:0] WritableEnd = 24'h9c0000;  // Of what the loader reads and writes, from the pointer on.
  localparam logic [23:0] KeysAddr = 24'h9c0000;
  localparam logic [23:0] VersionsAddr = 24'ha40000;
  localparam logic [23:0] StoreLimit = 24'hac0000;
  localparam logic [23:0] JumpAddr = 24'hffff00;
  localparam logic [23:0] SlotBytes = 24'h280000;
  localparam logic [23:0] ImageBytes = 24'h27ff00;  // Of it, at most; the page behind an image has its digest.
  localparam int unsigned UnitW = 18;  // What is erased together: 256 KiB,
  localparam int unsigned SectorW = 16;  // in steps of 64 KiB. A chip with larger sectors erases one several times.

  // -- rl_flash_cmd
  typedef enum logic [1:0] {
    OpId,
    OpRead,
    OpErase,   // The sector that the address is in.
    OpProgram  // Within a page of 256 bytes.
  } op_e;
  // It holds from `valid` to `done`. Bytes to be programmed go over with wvalid and wready; those that were read have
  // to be taken at once.
  typedef struct packed {
    logic        valid;
    op_e         op;
    logic [23:0] addr;
    logic [23:0] count;   // Bytes, at least 1. Erasing has none.
    logic        wvalid;
    logic [7:0]  wdata;
  } flash_req_t;
  typedef struct packed {
    logic       wready;
    logic       rvalid;
    logic [7:0] rdata;
    logic       done;    // For one cycle; and in this one
    logic [7:0] code;    // what went wrong, or 0.
  } flash_rsp_t;

  // -- what went wrong, beside what rl_part_pkg has.
  localparam logic [7:0] CodeOk = 8'd0;
  localparam logic [7:0] CodeLarge = 8'd16;  // The image is larger than a slot takes.
  localparam logic [7:0] CodeChip = 8'd17;  // Another chip than expected, or none.
  localparam logic [7:0] CodeBusy = 8'd18;  // The chip has not become ready.
  localparam logic [7:0] CodeProtected = 8'd19;  // It does not let itself be written.
  localparam logic [7:0] CodeEraseTimeout = 8'd20;
  localparam logic [7:0] CodeEraseFailed = 8'd21;
  localparam logic [7:0] CodeProgramTimeout = 8'd22;
  localparam logic [7:0] CodeProgramFailed = 8'd23;
  localparam logic [7:0] CodeDiffers = 8'd24;  // What is read is not what was written.
  localparam logic [7:0] CodeBounds = 8'd25;  // An address where nothing may be written.
  localparam logic [7:0] CodeRecords = 8'd26;  // No place in the records takes one.
  localparam logic [7:0] CodeTrial = 8'd27;         // The running image is not confirmed: the other one has to stay.
  // Of the store of keys, signers and versions. Each of the first three leaves the card without a key.
  localparam logic [7:0] CodeStoreBlank = 8'd28;  // Nobody has put anything there yet.
  localparam logic [7:0] CodeStoreDamaged = 8'd29;  // Something is there, and not whole or not all of it.
  localparam logic [7:0] CodeStoreForeign = 8'd30;  // It is another card's, or of another form.
  localparam logic [7:0] CodeStoreFull = 8'd31;  // More was to be kept at once than there is room for.

  // -- records: 32 bytes each, first byte in the upper bits
  localparam logic [31:0] RecordMagic = 32'h524c_4601;  // "RLF", and the format's number.
  localparam int unsigned RecordBytes = 32;
  // What a slot is: nothing, an image that may be tried so many times more, one that has come up, one that has not.
  localparam logic [7:0] StateEmpty = 8'h00;
  localparam logic [7:0] StateTries = 8'h03;  // And fewer, down to 1.
  localparam logic [7:0] StateSpent = 8'h40;
  localparam logic [7:0] StateConfirmed = 8'h80;
  typedef struct packed {
    logic [7:0]  state;
    logic [23:0] length;  // Bytes, a multiple of 4.
    logic [31:0] check;   // CRC-32 of these.
  } slot_t;
  // Each record tells all, so the newest alone counts. States are never changed in place: chips with error correction
  // lose it where bytes are programmed twice.
  typedef struct packed {
    logic [31:0] magic;
    logic [31:0] sequence_no;
    slot_t [1:0] slot;       // 1 is B.
    logic        newest;     // The slot that was written last.
    logic [14:0] spare;
    logic [15:0] role;       // Of the image that was written last.
  } state_t;  // The eighth word of a record is the CRC-32 of these seven.

  // -- keys and signers: words, the first byte in the upper bits. A head, the table of signers as rl_sign_store has it,
  // hosts and the card's keys as rl_key_store has them, and the CRC-32 of all before it.
  localparam logic [31:0] KeysMagic = 32'h524c_4b01;  // "RLK", and the format's number.
  localparam int unsigned KeysHeadWords = 4;  // Magic; the card's address, two; how many signers and hosts.

  // -- versions: entries in pairs of the same bytes, so that a changed bit takes none away
  localparam logic [15:0] EntryMagic = 16'h5256;  // "RV"
  localparam int unsigned EntryBytes = 16;
  // A word of rl_sign_store's roles; or one of these.
  localparam logic [11:0] EntryBegin = 12'h800;  // The log begins. Its word is the CRC-32 of the keys that it is with.
  localparam logic [11:0] EntrySeal = 12'h801;  // All that was known before is in it, and it counts.
  // The fourth word of an entry is the CRC-32 of these three.
  typedef struct packed {
    logic [19:0] generation;  // Of the log: the newest that is sealed counts.
    logic [11:0] at;
    logic [31:0] word;
    logic [15:0] magic;
    logic [15:0] place;       // Where it stands in the log, so that what is missing is seen.
  } entry_t;

  // Whether a slot of this state may be booted.
  function automatic logic bootable(input logic [7:0] state);
    return state == StateConfirmed || (state != StateEmpty && state <= StateTries);
  endfunction

  // The page behind an image of this length, from the slot's beginning.
  function automatic logic [23:0] name_offset(input logic [23:0] length);
    return {length[23:8] + 16'(|length[7:0]), 8'd0};
  endfunction

  function automatic logic [23:0] slot_addr(input logic slot);
    return slot ? SlotBAddr : SlotAAddr;
  endfunction
endpackage : rl_flash_pkg
// verilator lint_on UNUSEDPARAM
