// What shell and role say to one another: docs/src/reference/role.md is the contract. A role's ports are
//
//     input  role_in_t                 role_i    what the card says to it,
//     output role_out_t                role_o    and it to the card
//     output axi_req_t [Memories-1:0]  axi_o     its memory ports, one to four
//     input  axi_rsp_t [Memories-1:0]  axi_i
//     input  message_t [Streams-1:0]   message_i, and ready_o, message_o, ready_i: its streams, if it has any
//     output remote_req_t remote_o, input remote_rsp_t remote_i: the memory of other nodes, if it uses that

// No module uses all of it.
// verilator lint_off UNUSEDPARAM
package rl_role_pkg;
  // -- AXI4-Lite, from the shell: 64-bit data, all strobes always set.
  localparam int unsigned RegW = 10;
  typedef logic [RegW-1:0] reg_addr_t;
  localparam reg_addr_t RegControl = 10'h000;  // Write: bit 0 start, [15:8] kernel.
  localparam reg_addr_t RegStatus = 10'h008;  // Read: busy, done, trap, remote. Write 2: done is cleared.
  localparam reg_addr_t RegValue = 10'h010;  // Read: what the kernel returned.
  localparam reg_addr_t RegArgs = 10'h100;  // Write: argument k is at 8 k from here on.
  localparam int unsigned StatusBusy = 0;
  localparam int unsigned StatusDone = 1;
  localparam int unsigned StatusTrap = 2;
  localparam int unsigned StatusRemote = 3;  // With trap: because of another node's memory.

  typedef struct packed {
    reg_addr_t   awaddr;
    logic        awvalid;
    logic [63:0] wdata;
    logic [7:0]  wstrb;
    logic        wvalid;
    logic        bready;
    reg_addr_t   araddr;
    logic        arvalid;
    logic        rready;
  } axil_req_t;

  typedef struct packed {
    logic        awready;
    logic        wready;
    logic [1:0]  bresp;
    logic        bvalid;
    logic        arready;
    logic [63:0] rdata;
    logic [1:0]  rresp;
    logic        rvalid;
  } axil_rsp_t;

  // -- AXI4, from the role, at each of its memory ports. Bursts are INCR of whole 64-byte beats, so AxSIZE and AxBURST
  // are not there; address bits [5:0] are not looked at. Bursts of a port with the same id are answered in order, and
  // others in any.
  localparam int unsigned MemoriesMax = 4;  // Memory ports of a role.
  localparam int unsigned BurstMax = 16;  // Beats.
  localparam int unsigned AxiAddrW = 40;
  localparam int unsigned AxiIdW = 6;
  localparam logic [1:0] RespOkay = 2'b00;

  typedef struct packed {
    logic [AxiIdW-1:0]   awid;
    logic [AxiAddrW-1:0] awaddr;
    logic [7:0]          awlen;   // Beats, less 1.
    logic                awvalid;
    logic [511:0]        wdata;
    logic [63:0]         wstrb;
    logic                wlast;
    logic                wvalid;
    logic                bready;
    logic [AxiIdW-1:0]   arid;
    logic [AxiAddrW-1:0] araddr;
    logic [7:0]          arlen;
    logic                arvalid;
    logic                rready;
  } axi_req_t;

  typedef struct packed {
    logic              awready;
    logic              wready;
    logic [AxiIdW-1:0] bid;
    logic [1:0]        bresp;
    logic              bvalid;
    logic              arready;
    logic [AxiIdW-1:0] rid;
    logic [511:0]      rdata;
    logic [1:0]        rresp;
    logic              rlast;
    logic              rvalid;
  } axi_rsp_t;

  // -- AXI4 of 64 bits to the memory of other nodes: an address is {stream, address}, and the stream's route says of
  // which node. Bursts are INCR; those of several beats are of whole ones. There are no ids: reads, and writes, are
  // answered in their order each.
  localparam int unsigned RemoteAddrW = 44;
  // What became of a beat or of a burst: an AXI4 response, and above it that nothing was done though it led somewhere.
  typedef enum logic [2:0] {
    RemoteOkay    = 3'b000,
    RemoteGone    = 3'b010,  // SLVERR. The node is gone, or silent: it was done once, or not at all.
    RemoteNowhere = 3'b011,  // DECERR. The stream has no route, or there cannot be such a burst.
    RemoteRefused = 3'b110   // SLVERR. The node has not permitted it.
  } remote_e;

  typedef struct packed {
    logic [3:0]             stream;
    logic [RemoteAddrW-1:0] addr;
  } remote_addr_t;

  typedef struct packed {
    remote_addr_t awaddr;
    logic [7:0]   awlen;   // Beats, less 1.
    logic [2:0]   awsize;
    logic         awvalid;
    logic [63:0]  wdata;
    logic [7:0]   wstrb;
    logic         wlast;
    logic         wvalid;
    logic         bready;
    remote_addr_t araddr;
    logic [7:0]   arlen;
    logic [2:0]   arsize;
    logic         arvalid;
    logic         rready;
  } remote_req_t;

  typedef struct packed {
    logic        awready;
    logic        wready;
    remote_e     bresp;
    logic        bvalid;
    logic        arready;
    logic [63:0] rdata;
    remote_e     rresp;
    logic        rlast;
    logic        rvalid;
  } remote_rsp_t;

  // -- messages, each a whole Ethernet frame without its check sequence, in and out on the role's streams. They come
  // whether a kernel runs or not. Words are taken with a ready of its own.
  typedef struct packed {
    logic        valid;
    logic [63:0] data;  // Byte 0 of the frame is [7:0] of the first word.
    logic [7:0]  keep;  // With last: ones from bit 0 on. Else all ones.
    logic        last;
  } message_t;

  // -- events: words for the card's owner, whether a kernel runs or not. A word stays until it is taken.
  typedef struct packed {
    logic        valid;
    logic [63:0] word;
  } role_event_t;

  // -- all that does not depend on how many memory ports and streams a role has
  typedef struct packed {
    axil_req_t axil;
    logic      event_ready;
  } role_in_t;

  typedef struct packed {
    axil_rsp_t   axil;
    logic        irq;        // A kernel has ended, until that is taken back.
    logic        listens;    // It takes messages.
    logic        busy;       // It has something to do though no kernel runs: its clock must go on.
    role_event_t raises;
  } role_out_t;
endpackage : rl_role_pkg
// verilator lint_on UNUSEDPARAM
