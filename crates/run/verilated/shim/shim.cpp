// The Verilated card behind plain C functions. What crosses the border is in src/ffi.rs, field by field.
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "RlCard.h"
#include "verilated.h"
#if VM_TRACE
#include "verilated_fst_c.h"
#endif

static_assert(std::endian::native == std::endian::little, "wide ports are copied as bytes");

namespace {
constexpr int kBeat = 64;
constexpr int kStraps = 16;

enum Edge : uint8_t { kNet = 1, kDdr = 2, kRole = 4, kCfg = 8 };

struct AxiIn {
  uint8_t rdata[kBeat];
  uint8_t awready, wready, bvalid, bresp, bid, arready, rvalid, rresp, rlast, rid;
};

struct AxiOut {
  uint8_t wdata[kBeat];
  uint64_t wstrb, awaddr, araddr;
  uint8_t awvalid, awlen, awid, wvalid, wlast, bready, arvalid, arlen, arid, rready;
};

struct Inputs {
  uint64_t time_us, rx_data;
  AxiIn shell, role;
  uint8_t edges, rst_n, rx_valid, rx_keep, rx_last, rx_bad, tx_ready, cfg_hold, planted;
};

struct Outputs {
  uint64_t tx_data;
  AxiOut shell, role;
  uint32_t alarm_us;
  uint8_t tx_valid, tx_keep, tx_last, idle, alarm_valid, firmware_fault, start;
};

// What the model's own assertions said during the present step of this thread.
thread_local std::string failure;

void fail(const char* file, int line, const char* what) {
  if (failure.empty()) failure = std::string(file) + ":" + std::to_string(line) + ": " + what;
}
}  // namespace

void vl_stop(const char* file, int line, const char* scope) { fail(file, line, scope); }
void vl_fatal(const char* file, int line, const char*, const char* what) { fail(file, line, what); }

struct RlSim {
  std::unique_ptr<VerilatedContext> context;
  std::unique_ptr<RlCard> top;
  std::string failed;
#if VM_TRACE
  std::unique_ptr<VerilatedFstC> trace;
#endif

  void eval() {
    top->eval();
    // Half a period of 156.25 MHz, in picoseconds.
    context->timeInc(3200);
#if VM_TRACE
    if (trace) trace->dump(context->time());
#endif
  }

  void clocks(uint8_t edges) {
    top->clk_net_i = (edges & kNet) != 0;
    top->clk_ddr_i = (edges & kDdr) != 0;
    top->clk_role_i = (edges & kRole) != 0;
    top->clk_cfg_i = (edges & kCfg) != 0;
  }
};

#define AXI_IN(port, in)                                    \
  std::memcpy(&top.port##_rdata, (in).rdata, kBeat);        \
  top.port##_awready = (in).awready;                        \
  top.port##_wready = (in).wready;                          \
  top.port##_bvalid = (in).bvalid;                          \
  top.port##_bresp = (in).bresp;                            \
  top.port##_bid = (in).bid;                                \
  top.port##_arready = (in).arready;                        \
  top.port##_rvalid = (in).rvalid;                          \
  top.port##_rresp = (in).rresp;                            \
  top.port##_rlast = (in).rlast;                            \
  top.port##_rid = (in).rid

#define AXI_OUT(port, out)                                  \
  std::memcpy((out).wdata, &top.port##_wdata, kBeat);       \
  (out).wstrb = top.port##_wstrb;                           \
  (out).awaddr = top.port##_awaddr;                         \
  (out).araddr = top.port##_araddr;                         \
  (out).awvalid = top.port##_awvalid;                       \
  (out).awlen = top.port##_awlen;                           \
  (out).awid = top.port##_awid;                             \
  (out).wvalid = top.port##_wvalid;                         \
  (out).wlast = top.port##_wlast;                           \
  (out).bready = top.port##_bready;                         \
  (out).arvalid = top.port##_arvalid;                       \
  (out).arlen = top.port##_arlen;                           \
  (out).arid = top.port##_arid;                             \
  (out).rready = top.port##_rready

extern "C" {

// A card before its reset; `seed` gives the bits with which registers begin that no reset touches.
RlSim* rl_card_new(uint32_t seed, const uint32_t straps[kStraps]) {
  auto sim = std::make_unique<RlSim>();
  sim->context = std::make_unique<VerilatedContext>();
  sim->context->randReset(2);
  // 0 would take the clock's time for a seed.
  sim->context->randSeed(static_cast<int>(seed & 0x7fffffff) | 1);
#if VM_TRACE
  sim->context->traceEverOn(true);
#endif
  sim->top = std::make_unique<RlCard>(sim->context.get(), "card");
  std::memcpy(&sim->top->strap_i, straps, sizeof(uint32_t) * kStraps);
  return sim.release();
}

void rl_card_delete(RlSim* sim) {
  sim->top->final();
#if VM_TRACE
  if (sim->trace) sim->trace->close();
#endif
  delete sim;
}

// One rising edge of the clocks named in `in->edges`. The outputs are those that hold at the edge, together with the
// inputs given. Yields null, or what an assertion of the gateware says: valid until the next call.
const char* rl_card_step(RlSim* sim, const Inputs* in, Outputs* out) {
  RlCard& top = *sim->top;
  failure.clear();
  // What registers hold before their reset breaks any rule.
  sim->context->assertOn(in->rst_n != 0);
  top.rst_ni = in->rst_n;
  top.time_us_i = in->time_us;
  top.rx_valid_i = in->rx_valid;
  top.rx_data_i = in->rx_data;
  top.rx_keep_i = in->rx_keep;
  top.rx_last_i = in->rx_last;
  top.rx_bad_i = in->rx_bad;
  top.tx_ready_i = in->tx_ready;
  top.cfg_hold_i = in->cfg_hold;
  top.planted_i = in->planted;
  AXI_IN(m_shell, in->shell);
  AXI_IN(m_role, in->role);
  sim->clocks(0);
  sim->eval();
  out->tx_valid = top.tx_valid_o;
  out->tx_data = top.tx_data_o;
  out->tx_keep = top.tx_keep_o;
  out->tx_last = top.tx_last_o;
  out->idle = top.idle_o;
  out->alarm_valid = top.alarm_valid_o;
  out->alarm_us = top.alarm_us_o;
  out->firmware_fault = top.firmware_fault_o;
  out->start = top.start_o;
  AXI_OUT(m_shell, out->shell);
  AXI_OUT(m_role, out->role);
  sim->clocks(in->edges);
  sim->eval();
  if (failure.empty()) return nullptr;
  sim->failed = failure;
  return sim->failed.c_str();
}

#if VM_TRACE
// Writes all signals from now on to a file.
void rl_card_trace(RlSim* sim, const char* path) {
  sim->trace = std::make_unique<VerilatedFstC>();
  sim->top->trace(sim->trace.get(), 99);
  sim->trace->open(path);
}
#endif

}  // extern "C"
