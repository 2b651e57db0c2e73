// Launches and the role: what waits to run, the role's registers, and what keeps the role from harm to others.
module rl_execute
  import rl_shell_pkg::*;
  import rl_role_pkg::*;
  import rl_control_pkg::*;
#(
  parameter int unsigned Memories = 1  // Memory ports of the role.
) (
  input  logic            clk_net_i,
  input  logic            rst_net_ni,
  input  logic            clk_role_i,
  input  logic            rst_role_ni,

  // -- net domain
  input  rx_beat_t        rx_beat_i,
  input  addr_t           memory_i,        // Bytes of DDR that a host may address.
  input  logic            active_i,        // A role is there, and not being configured.
  input  write_progress_t progress_i,
  input  logic [31:0]     time_us_i,
  output logic            room_o,
  output logic            divert_o,        // With rx_beat_i.done: control takes this launch,
  output divert_reason_e  divert_reason_o,
  output logic            note_o,          // or is to say that it was accepted.
  output logic            busy_o,          // A launch is under way.
  output logic            still_o,         // None is, or the role's domain has to say when one ends.
  // Firmware.
  input  launch_ctl_t     launch_i,
  output launch_status_t  launch_o,
  input  role_ctl_t       role_i,
  output role_status_t    role_o,
  input  logic            slot_re_i,
  input  logic [11:0]     slot_addr_i,
  output logic [31:0]     slot_data_o,

  // -- role domain
  output axil_req_t       axil_o,
  input  axil_rsp_t       axil_i,
  input  axi_req_t [Memories-1:0] axi_i,
  output axi_rsp_t [Memories-1:0] axi_o,
  input  logic            interrupt_i,
  output logic            role_rst_no,
  output axi_req_t [Memories-1:0] ddr_o,
  input  axi_rsp_t [Memories-1:0] ddr_i,
  output logic            ddr_failed_o,    // The memory has answered the role with an error. Net domain.
  output logic [6:0]      says_o           // What is on its way to the net domain. Role domain.
);
  logic cmd_valid, cmd_ready, stop, end_toggle;
  role_command_t cmd;
  end_e end_status;
  logic [63:0] value;
  cycles_t cycles;
  rl_launch u_launch (
    .clk_net_i,
    .rst_net_ni,
    .clk_role_i,
    .rst_role_ni,
    .rx_beat_i,
    .memory_i,
    .role_i(active_i),
    .room_o,
    .divert_o,
    .divert_reason_o,
    .note_o,
    .stored_i(progress_i.stored),
    .mem_write_busy_i(progress_i.busy),
    .mem_written_i(progress_i.written),
    .time_us_i,
    .last_we_i(launch_i.last_we),
    .last_i(launch_i.last),
    .last_o(launch_o.last),
    .args_we_i(launch_i.args_we),
    .args_kernel_i(launch_i.args_kernel),
    .args_takes_i(launch_i.args_takes),
    .args_words_i(launch_i.args_words),
    .enable_i(launch_i.enable),
    .running_o(launch_o.running),
    .popped_i(launch_i.popped),
    .bound_i(launch_i.bound),
    .head_o(launch_o.head),
    .tail_o(launch_o.tail),
    .ended_o(launch_o.ended),
    .still_o,
    .freeze_i(launch_i.freeze),
    .frozen_o(launch_o.frozen),
    .order_we_i(launch_i.order_we),
    .order_at_i(launch_i.order_at),
    .order_slot_i(launch_i.order_slot),
    .order_held_i(launch_i.order_held),
    .drop_i(launch_i.drop),
    .stop_i(launch_i.stop),
    .started_us_o(launch_o.started_us),
    .ended_us_o(launch_o.ended_us),
    .slot_re_i,
    .slot_addr_i,
    .slot_data_o,
    .cmd_valid_o(cmd_valid),
    .cmd_ready_i(cmd_ready),
    .cmd_o(cmd),
    .stop_o(stop),
    .end_toggle_i(end_toggle)
  );
  // What the role was given, or has left behind, may be wrong.
  logic ddr_failed_q, ddr_fails;
  always_comb begin
    ddr_fails = 1'b0;
    for (int unsigned n = 0; n < Memories; n++)
    ddr_fails |= (ddr_i[n].bvalid && ddr_i[n].bresp[1]) || (ddr_i[n].rvalid && ddr_i[n].rresp[1]);
  end
  always_ff @(posedge clk_role_i) ddr_failed_q <= rst_role_ni && (ddr_failed_q || ddr_fails);
  rl_sync u_ddr_failed (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .d_i(ddr_failed_q),
    .q_o(ddr_failed_o)
  );

  // Until the next command: the firmware reads them when the end has shown.
  rl_held #(
    .Width($bits(end_e) + 64 + CyclesW)
  ) u_end (
    .word_i({end_status, value, cycles}),
    .word_o({launch_o.end_status, launch_o.value, launch_o.cycles})
  );
  assign busy_o = launch_o.running || launch_i.freeze || launch_o.ended;

  logic isolated, isolated_q, fault_axil, guard_isolate, guard_drained;
  guard_fault_t fault_guard, guard_fault;
  rl_role_port u_role_port (
    .clk_role_i,
    .rst_role_ni,
    .cmd_valid_i(cmd_valid),
    .cmd_ready_o(cmd_ready),
    .cmd_i(cmd),
    .stop_i(stop),
    .end_toggle_o(end_toggle),
    .end_status_o(end_status),
    .value_o(value),
    .cycles_o(cycles),
    .isolate_i(role_i.isolate),
    .hold_i(role_i.hold),
    .isolated_o(isolated),
    .fault_axil_o(fault_axil),
    .fault_guard_o(fault_guard),
    .axil_o,
    .axil_i,
    .interrupt_i,
    .role_rst_no,
    .guard_isolate_o(guard_isolate),
    .guard_drained_i(guard_drained),
    .guard_fault_i(guard_fault)
  );
  // Through a register: a glitch of its logic would show a role as cut off that is not.
  always_ff @(posedge clk_role_i) isolated_q <= rst_role_ni && isolated;
  rl_sync #(
    .Width(5)
  ) u_role_status (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .d_i({isolated_q, fault_guard, fault_axil}),
    .q_o(role_o)
  );
  assign says_o = {end_toggle, ddr_failed_q, isolated_q, fault_guard, fault_axil};
  rl_guards #(
    .Memories(Memories)
  ) u_guards (
    .clk_role_i,
    .rst_role_ni,
    .memory_i,
    .isolate_i(guard_isolate),
    .drained_o(guard_drained),
    .fault_o(guard_fault),
    .role_i(axi_i),
    .role_o(axi_o),
    .ddr_o,
    .ddr_i
  );
endmodule
