// A guard for each of a role's memory ports (rl_guard). What the role does wrong at one of them is a fault of the
// role: rl_role_port then cuts off all of them, and resets the role when nothing is under way at any.
module rl_guards
  import rl_shell_pkg::*;
  import rl_role_pkg::*;
#(
  parameter int unsigned Memories = 1  // Memory ports, 1 to 4.
) (
  input  logic                    clk_role_i,
  input  logic                    rst_role_ni,
  input  logic [AxiAddrW-1:0]     memory_i,   // Bytes of the role's memory, a multiple of 64 KiB. Steady.
  input  logic                    isolate_i,
  output logic                    drained_o,  // Cut off, and nothing is under way.
  output guard_fault_t            fault_o,    // Until isolate_i has cut it off.

  input  axi_req_t [Memories-1:0] role_i,
  output axi_rsp_t [Memories-1:0] role_o,
  output axi_req_t [Memories-1:0] ddr_o,
  input  axi_rsp_t [Memories-1:0] ddr_i
);
  if (Memories < 1 || Memories > MemoriesMax) begin : gen_check
    $fatal(0, "rl_guards: a role has 1 to 4 memory ports (%m)");
  end

  logic [Memories-1:0] drained;
  guard_fault_t [Memories-1:0] fault;
  for (genvar n = 0; n < Memories; n++) begin : gen_port
    rl_guard u_guard (
      .clk_role_i,
      .rst_role_ni,
      .memory_i,
      .isolate_i,
      .drained_o(drained[n]),
      .fault_o(fault[n]),
      .role_i(role_i[n]),
      .role_o(role_o[n]),
      .ddr_o(ddr_o[n]),
      .ddr_i(ddr_i[n])
    );
  end
  assign drained_o = &drained;
  always_comb begin
    fault_o = '0;
    for (int unsigned n = 0; n < Memories; n++) fault_o |= fault[n];
  end
endmodule
