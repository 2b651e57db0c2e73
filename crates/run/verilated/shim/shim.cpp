// The Verilated card behind plain C functions. What crosses the border is in src/ffi.rs, field by field.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "RlCard.h"
#include "RlCardBridge.h"
#include "RlCardKeys.h"
#include "RlCardWide.h"
#include "verilated.h"
#if VM_TRACE
#include "verilated_fst_c.h"
#endif

static_assert(std::endian::native == std::endian::little, "wide ports are copied as bytes");

namespace {
constexpr int kBeat = 64;
constexpr int kStraps = 18;
constexpr int kPorts = 3;
constexpr int kLinks = 3;
constexpr int kMacs = kPorts + kLinks;  // Those of links are the last.
constexpr int kLinkWords = 10;
constexpr int kWord = 16;  // Most bytes of a word of a port.
constexpr int kPortBits = 51;   // Of a port of rl_card_sim.
constexpr int kNicCounts = 9;   // Fields of nic_counts_t,
constexpr int kNicBytes = 6;    // of so many bytes each.

enum Edge : uint8_t { kNet = 1, kDdr = 2, kRole = 4, kCfg = 8, kAll = 15 };
constexpr uint64_t kHalf = 3200;  // Half a period of 156.25 MHz, in picoseconds.

struct AxiIn {
  uint8_t rdata[kBeat];
  uint16_t bid, rid;
  uint8_t awready, wready, bvalid, bresp, arready, rvalid, rresp, rlast;
};

struct AxiOut {
  uint8_t wdata[kBeat];
  uint64_t wstrb, awaddr, araddr;
  uint16_t awid, arid;
  uint8_t awvalid, awlen, wvalid, wlast, bready, arvalid, arlen, rready;
};

struct MacIn {
  uint8_t rx_data[kWord];
  uint16_t rx_keep;
  uint8_t rx_valid, rx_last, rx_bad, tx_ready;
};

struct MacOut {
  uint8_t tx_data[kWord];
  uint16_t tx_keep;
  uint8_t tx_valid, tx_last;
};

struct Inputs {
  uint64_t time_us;
  MacIn macs[kMacs];
  AxiIn memory;
  uint32_t key_word;
  uint16_t key_at;
  uint8_t rst_n, cfg_hold, planted, event_ready, key_write;
  uint8_t shares[2];
  uint8_t edges;  // Last: what is before it is compared with that of the step before.
};
constexpr size_t kCompared = offsetof(Inputs, edges);
static_assert(kCompared == sizeof(uint64_t) + sizeof(Inputs::macs) + sizeof(AxiIn) + 13,
              "bytes between fields are any");

struct Outputs {
  MacOut macs[kMacs];
  AxiOut memory;
  uint64_t event_word;
  uint32_t alarm_us;
  uint32_t kept_word;
  uint16_t kept_at;
  uint8_t idle, alarm_valid, restarts, start, foreign, shell_write, event_valid, key_ready, key_news, kept_valid;
};

// What the model's own assertions said during the present step of this thread.
thread_local std::string failure;

void fail(const char* file, int line, const char* what) {
  if (failure.empty()) failure = std::string(file) + ":" + std::to_string(line) + ": " + what;
}
}  // namespace

void vl_stop(const char* file, int line, const char* scope) { fail(file, line, scope); }
void vl_fatal(const char* file, int line, const char*, const char* what) { fail(file, line, what); }

// A card of any width.
struct RlSim {
  std::unique_ptr<VerilatedContext> context = std::make_unique<VerilatedContext>();
  std::string failed;
#if VM_TRACE
  std::unique_ptr<VerilatedFstC> trace;
#endif

  virtual ~RlSim() = default;
  virtual void step(const Inputs& in, Outputs& out) = 0;
  virtual void nic(uint64_t counts[kNicCounts]) const = 0;
#if VM_TRACE
  virtual void begin_trace(const char* path) = 0;
#endif
};

namespace {
template <class Card>
void drive(Card& top, const AxiIn& in) {
  std::memcpy(&top.m_memory_rdata, in.rdata, kBeat);
  top.m_memory_awready = in.awready;
  top.m_memory_wready = in.wready;
  top.m_memory_bvalid = in.bvalid;
  top.m_memory_bresp = in.bresp;
  top.m_memory_bid = in.bid;
  top.m_memory_arready = in.arready;
  top.m_memory_rvalid = in.rvalid;
  top.m_memory_rresp = in.rresp;
  top.m_memory_rlast = in.rlast;
  top.m_memory_rid = in.rid;
}

template <class Card>
void watch(const Card& top, AxiOut& out) {
  std::memcpy(out.wdata, &top.m_memory_wdata, kBeat);
  out.wstrb = top.m_memory_wstrb;
  out.awaddr = top.m_memory_awaddr;
  out.araddr = top.m_memory_araddr;
  out.awvalid = top.m_memory_awvalid;
  out.awlen = top.m_memory_awlen;
  out.awid = top.m_memory_awid;
  out.wvalid = top.m_memory_wvalid;
  out.wlast = top.m_memory_wlast;
  out.bready = top.m_memory_bready;
  out.arvalid = top.m_memory_arvalid;
  out.arlen = top.m_memory_arlen;
  out.arid = top.m_memory_arid;
  out.rready = top.m_memory_rready;
}

// `bytes`: of a word of port 0. Ports, and with them links, of which there are kMacs in all or none, lie one behind the
// other in the model's vectors, each as wide as that one.
template <class Card, int bytes, int count>
struct Sim final : RlSim {
  std::unique_ptr<Card> top;
  Inputs taken{.rst_n = kAll};  // At the last step; as no step has it, before the first.
  uint8_t high = kAll;          // The clocks that have not fallen.

  Sim(uint32_t seed, uint32_t late, const uint32_t straps[kStraps], const uint64_t ports[kPorts - 1],
      const uint32_t links[kLinkWords]) {
    const std::string said = "+rl_late=" + std::to_string(late);
    const char* args[] = {"card", said.c_str()};
    context->commandArgs(late != 0 ? 2 : 1, args);
    context->randReset(2);
    // 0 would take the clock's time for a seed.
    context->randSeed(static_cast<int>(seed & 0x7fffffff) | 1);
#if VM_TRACE
    context->traceEverOn(true);
#endif
    top = std::make_unique<Card>(context.get(), "card");
    std::memcpy(&top->strap_i, straps, sizeof(uint32_t) * kStraps);
    std::memcpy(&top->link_i, links, sizeof(uint32_t) * kLinkWords);
    for (int i = 0; i < kPorts - 1; i++) {
      for (int bit = 0; bit < kPortBits; bit++) {
        const int at = i * kPortBits + bit;
        uint32_t& word = top->port_i[at / 32];
        word = (word & ~(1u << at % 32)) | static_cast<uint32_t>(ports[i] >> bit & 1) << at % 32;
      }
    }
  }

  ~Sim() override {
    top->final();
#if VM_TRACE
    if (trace) trace->close();
#endif
  }

  void eval() {
    top->eval();
    context->timeInc(kHalf);
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

  void drive_macs(const MacIn (&macs)[kMacs]) {
    uint64_t keep = 0;
    uint32_t valid = 0, last = 0, bad = 0, ready = 0;
    for (int i = 0; i < count; i++) {
      std::memcpy(reinterpret_cast<char*>(&top->rx_data_i) + bytes * i, macs[i].rx_data, bytes);
      valid |= static_cast<uint32_t>(macs[i].rx_valid) << i;
      keep |= static_cast<uint64_t>(macs[i].rx_keep) << bytes * i;
      last |= static_cast<uint32_t>(macs[i].rx_last) << i;
      bad |= static_cast<uint32_t>(macs[i].rx_bad) << i;
      ready |= static_cast<uint32_t>(macs[i].tx_ready) << i;
    }
    top->rx_valid_i = valid;
    top->rx_keep_i = keep;
    top->rx_last_i = last;
    top->rx_bad_i = bad;
    top->tx_ready_i = ready;
  }

  void watch_macs(MacOut (&macs)[kMacs]) const {
    for (int i = 0; i < count; i++) {
      std::memcpy(macs[i].tx_data, reinterpret_cast<const char*>(&top->tx_data_o) + bytes * i, bytes);
      macs[i].tx_valid = top->tx_valid_o >> i & 1;
      macs[i].tx_keep = static_cast<uint64_t>(top->tx_keep_o) >> bytes * i & ((1u << bytes) - 1);
      macs[i].tx_last = top->tx_last_o >> i & 1;
    }
  }

  // All but the edges.
  void take(const Inputs& in) {
    // What registers hold before their reset breaks any rule.
    context->assertOn(in.rst_n != 0);
    top->rst_ni = in.rst_n;
    top->time_us_i = in.time_us;
    drive_macs(in.macs);
    top->cfg_hold_i = in.cfg_hold;
    top->planted_i = in.planted;
    top->event_ready_i = in.event_ready;
    top->key_write_i = in.key_write;
    top->key_at_i = in.key_at;
    top->key_word_i = in.key_word;
    top->share_i = in.shares[0] | in.shares[1] << 4;
    drive(*top, in.memory);
    std::memcpy(&taken, &in, sizeof taken);
  }

  // Before the edge, what is new is taken and clocks fall. Where nothing is new and what is to rise is low already, the
  // others fall with the edge: at a fall only the latches of gated clocks open, and those hold what they have when
  // their own clock rises.
  void step(const Inputs& in, Outputs& out) override {
    // Arguments are looked up in the thread's context, and this may be another thread than made the card.
    Verilated::threadContextp(context.get());
    const bool changes = std::memcmp(&in, &taken, kCompared) != 0;
    if (changes) take(in);
    if (changes || (in.edges & high) != 0) {
      top->drive_i = changes;
      clocks(0);
      eval();
      top->drive_i = 0;
    } else {
      context->timeInc(kHalf);
    }
    watch_macs(out.macs);
    out.idle = top->idle_o;
    out.alarm_valid = top->alarm_valid_o;
    out.alarm_us = top->alarm_us_o;
    out.restarts = top->restarts_o;
    out.start = top->start_o;
    out.foreign = top->foreign_o;
    out.shell_write = top->shell_write_o;
    out.event_valid = top->event_valid_o;
    out.event_word = top->event_word_o;
    out.key_ready = top->key_ready_o;
    out.key_news = top->key_news_o;
    out.kept_valid = top->kept_valid_o;
    out.kept_at = top->kept_at_o;
    out.kept_word = top->kept_word_o;
    watch(*top, out.memory);
    clocks(in.edges);
    eval();
    high = in.edges;
  }

  void nic(uint64_t counts[kNicCounts]) const override {
    // A struct's first field has the most significant bits.
    for (int i = 0; i < kNicCounts; i++) {
      counts[i] = 0;
      std::memcpy(&counts[i], reinterpret_cast<const char*>(&top->nic_o) + kNicBytes * (kNicCounts - 1 - i), kNicBytes);
    }
  }

#if VM_TRACE
  void begin_trace(const char* path) override {
    trace = std::make_unique<VerilatedFstC>();
    top->trace(trace.get(), 99);
    trace->open(path);
  }
#endif
};
}  // namespace

extern "C" {

// A card before its reset, its port 0 `width` bits wide, with a bridge and links or without, and with keys or without;
// null if there is none such. `seed` gives the bits with which registers begin that no reset touches. With `late`, bits
// that cross clock domains may take a cycle longer, as that number says; 0: none does. `ports` are those beside port 0,
// and `links` the links, both as rl_card_sim has them.
RlSim* rl_card_new(uint32_t width, bool bridge, bool keys, uint32_t seed, uint32_t late, const uint32_t straps[kStraps],
                   const uint64_t ports[kPorts - 1], const uint32_t links[kLinkWords]) {
  if (keys) {
    if (width != 64 || bridge) return nullptr;
    return new Sim<RlCardKeys, 8, kPorts>(seed, late, straps, ports, links);
  }
  if (width == 64 && bridge) return new Sim<RlCardBridge, 8, kMacs>(seed, late, straps, ports, links);
  if (bridge) return nullptr;
  if (width == 64) return new Sim<RlCard, 8, kPorts>(seed, late, straps, ports, links);
  if (width == 128) return new Sim<RlCardWide, 16, kPorts>(seed, late, straps, ports, links);
  return nullptr;
}

void rl_card_delete(RlSim* sim) { delete sim; }

// What became of the frames of the host behind the card, as nic_counts_t has it.
void rl_card_nic(const RlSim* sim, uint64_t counts[kNicCounts]) { sim->nic(counts); }

// One rising edge of the clocks named in `in->edges`. The outputs are those that hold at the edge, together with the
// inputs given. Yields null, or what an assertion of the gateware says: valid until the next call.
const char* rl_card_step(RlSim* sim, const Inputs* in, Outputs* out) {
  failure.clear();
  sim->step(*in, *out);
  if (failure.empty()) return nullptr;
  sim->failed = failure;
  return sim->failed.c_str();
}

#if VM_TRACE
// Writes all signals from now on to a file.
void rl_card_trace(RlSim* sim, const char* path) { sim->begin_trace(path); }
#endif

}  // extern "C"
