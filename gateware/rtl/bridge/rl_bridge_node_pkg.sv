// What the blocks of the bridge say to one another. What frames hold is rl_bridge_pkg's.

// No module uses all of it.
// verilator lint_off UNUSEDPARAM
// verilator lint_off UNUSEDSIGNAL
package rl_bridge_node_pkg;
  import rl_bridge_pkg::*;

  // -- what goes with a frame's words through the transport
  typedef logic [3:0] node_kind_t;  // The low bits of a kind: all that is numbered is below 16.
  typedef struct packed {
    node_kind_t  kind;    // A numbered one, where the segment carries a payload.
    logic        last;    // FlagLast.
    logic [15:0] length;  // Payload bytes; of 0 there is one word, which means nothing.
    logic [15:0] id;
    logic [63:0] addr;
    logic [31:0] count;
    logic [15:0] tag;
  } head_t;
  localparam int unsigned HeadW = $bits(head_t);

  // A kind that a request has, in its short form.
  function automatic node_kind_t short_of(kind_e kind);
    return node_kind_t'(kind);
  endfunction

  // The answer to a request. `count`: the bytes given or applied.
  function automatic head_t answer_to(head_t asked, bridge_status_e status, logic [15:0] count);
    logic reads;
    reads = asked.kind == short_of(KindReadRequest) || asked.kind == short_of(KindAtomicRequest);
    answer_to = '0;
    answer_to.kind = short_of(reads ? KindReadResponse : KindWriteResponse);
    answer_to.length = reads && status == BridgeStatusOk ? count : '0;
    answer_to.id = asked.id;
    answer_to.addr = asked.addr;
    answer_to.count = status == BridgeStatusOk ? 32'(count) : '0;
    answer_to.tag = status;
  endfunction

  // An answer that is owed, or a read that has yet to be done.
  typedef struct packed {
    logic        fetches;  // Memory is to be read, from `value` on.
    logic        waits;    // For a write to be answered, of this number.
    logic        holds;    // `value` is the payload.
    logic        of_read;  // The kind is ReadResponse.
    logic [2:0]  status;
    logic [15:0] id;
    logic [63:0] addr;
    logic [15:0] count;
    logic [63:0] value;
    logic [6:0]  number;
  } owed_t;

  // -- windows
  typedef struct packed {
    logic stream;  // The window is a range of stream numbers, and permits nothing else.
    logic atomic;
    logic write;
    logic read;
  } rights_t;  // As the protocol's bits.
  // What a request wants of a window: a right, for so many bytes; or it is malformed. `longest`: bytes of a payload of
  // ours. A batch's records are judged one by one, and so is what is in its payload.
  typedef struct packed {
    rights_t     right;
    logic [15:0] extent;
    logic        malformed;
  } wanted_t;
  function automatic wanted_t asked_by(head_t head, logic [15:0] longest);
    asked_by = '{right: '0, extent: head.length, malformed: 1'b0};
    case (head.kind)
      short_of(
          KindReadRequest
      ): begin
        asked_by.right.read = 1'b1;
        asked_by.extent = head.count[15:0];
        asked_by.malformed = head.count == 0 || head.count > 32'(longest) || head.length != 0;
      end
      short_of(
          KindWriteRequest
      ): begin
        asked_by.right.write = 1'b1;
        asked_by.malformed = head.length == 0;
      end
      short_of(
          KindAtomicRequest
      ): begin
        asked_by.right.atomic = 1'b1;
        asked_by.extent = 16'd8;
        asked_by.malformed = head.length != 16'(AtomicBytes) || head.addr[2:0] != 0 ||
            (head.tag != BridgeOperationFetchAdd && head.tag != BridgeOperationCompareSwap);
      end
      default: begin
        asked_by.right.write = 1'b1;
        asked_by.malformed = head.length > longest;  // We could not hold it.
      end
    endcase
  endfunction
  typedef logic [7:0] node_t;  // A node's index in the table of peers. The transport's peer is {node, channel}.
  localparam node_t NodeAny = '1;  // Of a window: anybody. No node has this index.
  typedef struct packed {
    logic        valid;
    logic [63:0] base;    // First address in frames, or first stream.
    logic [63:0] length;  // Bytes, or streams; 1 or more. base + length is 2^64 at most.
    logic [63:0] at;      // Where in the memory the window's first byte is.
    node_t       peer;    // Who may use it.
    rights_t     rights;
  } window_t;

  // -- regions: what a role or a host sees of other nodes' memory
  typedef struct packed {
    logic        valid;
    logic [63:0] base;    // First address here,
    logic [63:0] size;    // bytes, 1 or more,
    node_t       node;    // whose they are,
    logic [63:0] remote;  // and where in its windows.
  } region_t;

  // -- AXI4, as far as it does not depend on the width of data
  typedef enum logic [1:0] {
    AxiOkay   = 2'b00,
    AxiSlverr = 2'b10,
    AxiDecerr = 2'b11
  } axi_resp_e;

  // Where what a role sends on a stream goes.
  typedef struct packed {
    logic       valid;
    node_t      node;
    logic [3:0] there;  // The node's stream.
  } route_t;

  // The sinks of streams that take whole messages.
  typedef struct packed {
    logic        clear;  // What is under way to them goes nowhere.
    logic [15:0] open;   // By stream: it takes messages,
    logic [15:0] room;   // and has room for a word now and until it gets one.
  } sinks_t;

  // What a node counts, each for one cycle: the twin of EndpointCounters, as far as it is not the wire's.
  typedef struct packed {
    logic lost;       // A message that was whole was for no sink.
    logic served;     // A request was carried out, or memory failed.
    logic malformed;  // A request was answered so; or an answer came to what was not asked, or a kind that may not.
    logic denied;     // No window permits it, or it is one too many; of streams also a piece that does not belong.
  } bridge_event_t;
endpackage : rl_bridge_node_pkg
// verilator lint_on UNUSEDSIGNAL
// verilator lint_on UNUSEDPARAM
