// rl_cpu with a RAM, words of IO that keep the processor waiting, and a trace of all that it does.
module rl_cpu_bench (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       load_i,  // RAM is loaded from ram.hex.
  input  logic [7:0] wait_i,  // IO is not ready in so many of 256 cycles.
  output logic       fault_o
);
  typedef enum logic [1:0] {
    TraceReg,
    TraceRam,
    TraceWrite,
    TraceRead
  } trace_e;
  typedef struct packed {
    trace_e      what;
    logic [4:0]  rd;    // Register, or bytes written.
    logic [31:0] addr;
    logic [31:0] data;
  } trace_t;

  logic [31:0] ram[8192];
  logic [31:0] io[64];
  trace_t trace[1 << 17];
  int unsigned traced = 0;
  int unsigned cycles = 0;

  logic ram_re;
  logic [12:0] ram_raddr, ram_waddr;
  logic [31:0] ram_rdata, ram_wdata, io_addr, io_wdata, io_rdata;
  logic [3:0] ram_we;
  logic io_valid, io_write, io_ready;
  rl_cpu u_cpu (
    .clk_i,
    .rst_ni,
    .ram_re_o(ram_re),
    .ram_raddr_o(ram_raddr),
    .ram_rdata_i(ram_rdata),
    .ram_we_o(ram_we),
    .ram_waddr_o(ram_waddr),
    .ram_wdata_o(ram_wdata),
    .io_valid_o(io_valid),
    .io_write_o(io_write),
    .io_addr_o(io_addr),
    .io_wdata_o(io_wdata),
    .io_ready_i(io_ready),
    .io_rdata_i(io_rdata),
    .fault_o
  );

  logic [31:0] strobes;
  assign strobes = {{8{ram_we[3]}}, {8{ram_we[2]}}, {8{ram_we[1]}}, {8{ram_we[0]}}};

  always @(posedge load_i) $readmemh("ram.hex", ram);

  always_ff @(posedge clk_i) begin
    if (ram_re) ram_rdata <= ram[ram_raddr];
    for (int lane = 0; lane < 4; lane++) begin
      if (ram_we[lane]) ram[ram_waddr][8*lane+:8] <= ram_wdata[8*lane+:8];
    end
    if (io_valid && io_ready && io_write) io[io_addr[7:2]] <= io_wdata;
    io_rdata <= io_valid && io_ready && !io_write ? io[io_addr[7:2]] : 0;
    io_ready <= 8'($urandom) >= wait_i;

    if (!rst_ni) begin
      traced <= 0;
      cycles <= 0;
    end else begin
      if (!fault_o) cycles <= cycles + 1;
      // The processor does at most one thing a cycle.
      traced <= traced + 1;
      if (u_cpu.rf_we && u_cpu.rd_q != 0)
        trace[traced] <= '{TraceReg, u_cpu.rd_q, 0, u_cpu.rf_wdata};
      else if (ram_we != 0)
        trace[traced] <= '{TraceRam, 5'(ram_we), {17'd0, ram_waddr, 2'b00}, ram_wdata & strobes};
      else if (io_valid && io_ready && io_write)
        trace[traced] <= '{TraceWrite, 0, io_addr, io_wdata};
      else if (io_valid && io_ready) trace[traced] <= '{TraceRead, 0, io_addr, io[io_addr[7:2]]};
      else traced <= traced;
    end
  end

  OneThingAtATime_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) $onehot0(
      {u_cpu.rf_we, ram_we != 0, io_valid && io_ready}
  ));
endmodule
