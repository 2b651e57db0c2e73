// What the blocks of the shell say to one another.

// No module uses all of it.
// verilator lint_off UNUSEDPARAM
package rl_shell_pkg;
  import rl_wire_pkg::*;

  // Bytes of the card's whole DDR are numbered with so many bits: 1 TiB.
  localparam int unsigned AddrW = 40;
  typedef logic [AddrW-1:0] addr_t;
  // A DDR beat of 64 bytes and its number.
  localparam int unsigned BeatW = AddrW - 6;
  typedef logic [BeatW-1:0] beat_t;
  typedef logic [511:0] beat_data_t;

  // A word of a frame between the MAC and the analyzer. Byte 0 of the frame is data[7:0].
  typedef struct packed {
    logic        cut;   // With last: the rest of the frame did not fit. It is counted already.
    logic        bad;   // With last: the check sequence was wrong.
    logic        last;
    logic [2:0]  extra; // With last: valid bytes, less 1. Else 7.
    logic [63:0] data;
  } rx_word_t;

  // A frame's head, as numbers.
  typedef struct packed {
    mac_addr_t   dst;
    mac_addr_t   src;
    logic [15:0] ether_type;
    logic [3:0]  flags;
    logic [7:0]  kind;
    logic [15:0] length;
    logic [15:0] epoch;
    logic [31:0] seq;
    logic [63:0] addr;
  } head_t;

  // Where a frame goes. Control is everything that no block of its own takes, and what such a
  // block would have to refuse: the firmware judges it.
  typedef enum logic [2:0] {
    RouteDrop    = 3'd0,
    RouteControl = 3'd1,
    RouteWrite   = 3'd2,
    RouteRead    = 3'd3,
    RouteImage   = 3'd4,
    RouteLaunch  = 3'd5
  } route_e;

  // The receive stream: what the analyzer shows to all blocks, one word a cycle, without back-pressure.
  // Words of a frame come in order, possibly with gaps. From the word `first` to the frame's end
  // no other frame comes between. `head` and `route` hold from the first payload word (or, without
  // payload, from the end) until the end.
  typedef struct packed {
    logic        word;     // data is a word of the frame: of its header, or of its payload.
    logic        first;    // It is word 0.
    logic        payload;  // It is of the payload: words 4 and on, as far as `length` reaches.
    logic [63:0] data;     // Memory order: the frame's byte 8 i is data[7:0] of word i.
    logic        done;     // The frame has ended well: with its last word (padding is not shown) or later.
    logic        abort;    // The frame has ended badly: forget it.
    route_e      route;
    head_t       head;
  } rx_beat_t;

  // Which units can take a longest frame. The analyzer looks three cycles after the end of the frame
  // before, or later, and shows the next frame's payload only when its unit has room.
  typedef struct packed {
    logic control;
    logic write;
    logic image;
    logic read;
    logic launch;
  } room_t;

  // What the analyzer knows of a frame by its EtherType and kind.
  typedef struct packed {
    logic ether;         // The EtherType is Rackloom's.
    logic known;         // And it has this kind.
    logic unicast;       // The kind may come to the card's own address,
    logic group;         // to the address of a group,
    logic any;           // to any address the card listens to; if none of these, only hosts take it.
    logic after_barrier; // It waits for every barrier before it.
    logic write;         // The kinds that blocks of their own take:
    logic read;
    logic data;
    logic launch;
  } kind_class_t;

  // Whether a kind may change the session. What has a route has an EtherType and a kind that exist, and these differ
  // in their low bits.
  function automatic logic is_barrier(logic [7:0] ether_type, logic [3:0] kind);
    is_barrier = 1'b0;
    for (int unsigned i = 0; i < KindCount; i++) begin
      if (KindRules[i].order == OrderBarrier && KindRules[i].ether_type[7:0] == ether_type &&
          KindRules[i].kind[3:0] == kind)
        is_barrier = 1'b1;
    end
  endfunction

  // Why the analyzer keeps a frame out.
  typedef enum logic [3:0] {
    DropNone      = 4'd0,
    DropForeign   = 4'd1,
    DropTruncated = 4'd2,
    DropVersion   = 4'd3,
    DropKind      = 4'd4,
    DropAuth      = 4'd5,
    DropEpoch     = 4'd6,
    DropCheck     = 4'd7,
    DropUntagged  = 4'd8,  // From here on: of a card with keys.
    DropUnknown   = 4'd9,
    DropWrong     = 4'd10,
    DropReplay    = 4'd11,
    DropIgnored   = 4'd12, // It is not counted.
    DropCrowded   = 4'd13  // It is one of too many, and counts like those that find no room.
  } drop_e;

  // What the receive side counts, each for one cycle.
  typedef struct packed {
    logic       word;   // A word came, with so many bytes.
    logic [6:0] bytes;
    logic       frame;  // A frame has ended. If it was dropped, one of these tells why:
    logic       check;
    logic       foreign;
    logic       truncated;
    logic       version;
    logic       kind;
    logic       auth;
    logic       epoch;
  } rx_event_t;

  // What becomes of writes, of image data and of reads, each for one cycle.
  typedef struct packed {
    logic        stored;
    logic [13:0] bytes;     // With stored.
    logic        duplicate; // It was there already,
    logic        beyond;    // or is beyond the window.
  } write_event_t;
  typedef struct packed {
    logic stored;
    logic duplicate; // It was there already,
    logic malformed; // or is no chunk of this image.
  } chunk_event_t;
  typedef struct packed {
    logic        taken;
    logic [13:0] bytes;     // With taken.
    logic        full;      // It found its queue full.
  } read_event_t;

  // An answer to a solicitation, to be made of the template in the transmit buffer.
  typedef struct packed {
    mac_addr_t   dst;
    logic [31:0] seq;
  } announcement_t;

  // Why a frame that a block could have taken went to control.
  typedef enum logic [7:0] {
    DivertKind      = 8'd0, // It is a control frame.
    DivertEpoch     = 8'd1, // Not the owner's, or not of the present epoch.
    DivertMalformed = 8'd2, // The payload is not what its kind requires.
    DivertLength    = 8'd3, // Read or write of 0 or too many bytes.
    DivertAddress   = 8'd4, // Not inside the memory a host may address.
    DivertTurn      = 8'd5, // A launch that is not the next.
    DivertKernel    = 8'd6, // No role, no such kernel, wrong number of arguments.
    DivertBusy      = 8'd7, // Launch queue or result table full, or configuring.
    DivertAccepted  = 8'd8  // Nothing is wrong: a launch that was accepted, for the firmware to say so.
  } divert_reason_e;

  // What becomes of a frame, as its head and the firmware say: rl_rx_judge has the meaning.
  typedef struct packed {
    drop_e          early;
    drop_e          late;
    route_e         route;
    divert_reason_e reason;
    logic           hosts;     // Its address lies in memory that a host may address,
    logic           last_page; // in the last page of it.
    logic           awaits;    // It waits for every barrier before it.
  } verdict_t;

  // What a card is for its hardware; more of it the firmware reads.
  typedef struct packed {
    addr_t       memory;     // Bytes of DDR that a host may address.
    logic [15:0] ack_every;  // Writes after which an acknowledgement is due, 1 or more,
    logic [15:0] ack_delay;  // and microseconds.
  } identity_t;

  // What the firmware tells the fast paths about the present claim and load. All of it changes only
  // while no frame that depends on it is under way: the analyzer waits (see rl_analyzer).
  typedef struct packed {
    logic        listening;    // The filter has been told everything: frames may go.
    logic [15:0] epoch;
    logic        loading;      // Member of a load.
    logic [15:0] load_group;
    logic        receiving;    // The load takes image data.
    logic        role;         // A role is active.
    logic        configuring;
    logic        solicit_fast; // No delayed answer waits: answer a solicitation without window at once.
    addr_t       memory;       // Bytes of DDR that a host may address.
  } session_t;

  // What a half byte of an address can belong to.
  typedef struct packed {
    logic claim; // The claim's group,
    logic load;  // the load's group; half bytes 0 to 7: any group,
    logic all;   // all stations,
    logic cards; // all cards,
    logic owner; // the owner of the claim,
    logic card;  // this card.
  } belongs_t;
  // The firmware tells: half bytes of this value at these places of an address belong to this.
  typedef struct packed {
    logic        we;
    logic [11:0] places;   // Bit n: half byte n of an address, the upper half of byte 0 first.
    logic [3:0]  value;
    belongs_t    belongs;
  } filter_t;

  // Work for the digest engine: one pass over memory. Leaves: `length` bytes from `source` on, the chunks
  // of 1024 bytes numbered from `chunk` on, each giving a chaining value of 32 bytes at `target`.
  // Parents: `length` bytes of chaining values, each pair giving one; an odd last one is copied.
  typedef struct packed {
    logic        parents;
    logic        root;     // The only output is the root of the tree.
    beat_t       source;
    beat_t       target;
    logic [28:0] length;   // Bytes, 1 or more.
    logic [31:0] chunk;
  } digest_job_t;

  // A write command to DDR: a frame's worth, after it as many words as length needs.
  typedef struct packed {
    addr_t       addr;
    logic [13:0] length;   // 1 to Bulk; 0: nothing to write.
  } write_desc_t;

  // What becomes of bytes that were fetched.
  typedef struct packed {
    logic        to_cpu; // They go into the transmit buffer, for the firmware,
    logic        slot;   // into this slot of it. Otherwise they are a frame's payload.
    logic [13:0] length;
  } read_desc_t;

  // A read of DDR, 1 byte or more.
  typedef struct packed {
    addr_t    addr;
    read_desc_t about;
  } mem_read_command_t;

  // A run of beats for the configuration port: up to the last one, of which the lower bits tell. An image
  // has at most 2^28 bytes.
  typedef struct packed {
    beat_t       first;
    logic [21:0] last;
  } stream_t;

  // -- between the groups of the shell.
  // How far writes have come, in the network's domain: reads and launches wait for those before them.
  typedef struct packed {
    logic [7:0] stored;  // Frames that went into the memory queue,
    logic [7:0] written; // and those of them whose bytes are in DDR.
    logic       busy;    // One more has ended and is not counted yet.
  } write_progress_t;

  // A queue of frames from its reader's side; rl_frame_queue has the meaning. Its words, which have the network's
  // width, are beside it.
  typedef struct packed {
    logic        valid;
    write_desc_t desc;
    logic        ready;
  } write_queue_t;
  typedef struct packed {
    logic       valid;
    read_desc_t desc;
    logic       ready;
  } read_queue_t;
  typedef struct packed {
    logic done;
    logic take;
  } queue_take_t;

  // Heads of the frames of fetched bytes, four words each.
  typedef struct packed {
    logic        valid;
    logic [63:0] data;
  } read_head_t;

  // Chaining values on their way to DDR; rl_ddr_write has the meaning.
  typedef struct packed {
    logic        valid;
    addr_t       addr;
    logic [63:0] data;
    logic        more;
  } value_req_t;
  typedef struct packed {
    logic ready;
    logic written;
  } value_rsp_t;

  // Beats for the digest, and beats for the configuration port; rl_ddr_read has the meaning.
  typedef struct packed {
    logic  valid;
    beat_t beat;
  } digest_req_t;
  typedef struct packed {
    logic       ready;
    logic       valid;
    beat_data_t data;
  } digest_rsp_t;
  typedef struct packed {
    logic    run;
    stream_t job;
    logic    stop;
    logic    room;
  } stream_req_t;
  typedef struct packed {
    logic done;
    logic word;    // One of the network's width, beside it.
    logic commit;
    logic last;
  } stream_rsp_t;

  // All three: what loading asks of memory, and what it gets.
  typedef struct packed {
    value_req_t  value;
    digest_req_t digest;
    stream_req_t stream;
  } load_req_t;
  typedef struct packed {
    value_rsp_t  value;
    digest_rsp_t digest;
    stream_rsp_t stream;
  } load_rsp_t;

  // What whoever is around a shell sees of it, net domain.
  typedef struct packed {
    logic        sleeping;       // The processor waits for an event,
    logic        alarm_valid;    // and for this time at the latest, bits 31 to 0.
    logic [31:0] alarm_us;
    logic        ack_waits;      // An acknowledgement waits for its time,
    logic [15:0] ack_late;       // so many microseconds ago, or negative: to come.
    logic        fault;          // The firmware has failed,
    logic        memory_failed;  // or the memory has answered with an error: rl_restart.
    logic        quiet;          // No frame, fetch, launch or load is under way.
    logic        memory_rests;   // Nothing of the shell needs the memory.
    logic        rests;          // Nor does anything of the net domain change by itself, but for the counters' sweep.
  } shell_view_t;

  // -- between rl_launch and rl_role_port.
  // Cycles are counted in so many bits: 16 days at 200 MHz. No bound is longer.
  localparam int unsigned CyclesW = 48;
  typedef logic [CyclesW-1:0] cycles_t;

  // What a command's data is: the word of the launch's frame with this number, or a start.
  localparam logic [5:0] CmdStart = 6'd3;  // What goes to RegControl.
  localparam logic [5:0] CmdFuel = 6'd4;  // The launch's bound. Comes before arguments.
  localparam logic [5:0] CmdArgs = 6'd8;  // The first argument; others follow.
  typedef struct packed {
    logic [5:0]  what;
    logic [63:0] data;
  } role_command_t;

  // How a kernel ended: on the wire 0, or 0x20 + the code - 1.
  typedef enum logic [2:0] {
    EndOk        = 3'd0,
    EndTrap      = 3'd1,
    EndFuel      = 3'd2,
    EndCancelled = 3'd3,
    EndRemote    = 3'd4
  } end_e;

  // What a role did wrong.
  typedef struct packed {
    logic response;  // It kept a response or write data waiting too long.
    logic protocol;  // It broke a rule of AXI4.
    logic address;   // A burst outside its memory, too long or across 4 KiB.
  } guard_fault_t;
endpackage : rl_shell_pkg
// verilator lint_on UNUSEDPARAM
