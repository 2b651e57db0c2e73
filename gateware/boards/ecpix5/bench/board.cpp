// Runs the Verilated board for a program at the other end of a pipe. On its input, a line each:
//   boot IMAGE         the device holds this image from now on, and starts it: golden, application or none
//   power 0|1          power goes or comes; without, nothing of the device stays
//   burn ADDRESS HEX   these bytes are in the flash, past all of its rules
//   flash ADDRESS LEN  says what is in the flash
//   send HEX           puts these bytes on the line, after those before, with a gap
//   cable 0|1          the network's cable is pulled, or put in: it is in to begin with
//   run US             goes on for so many microseconds, or until the device leaves its image
// On its output, a line for each frame that the board has sent, `frame HEX`; `bytes HEX` of the flash; and after each run
// `done R G B LEAVE AWAITS SERVES CONFIRMED` with the lamps.
#include <cstdint>
#include <cstdio>
#include <deque>
#include <iostream>
#include <string>

#include "Vrl_ecpix5_bench.h"
#include "Vrl_ecpix5_bench___024root.h"
#include "verilated.h"

namespace {

constexpr uint64_t kLineHalf = 1000;    // ps; four times 125 MHz.
constexpr uint64_t kSystemHalf = 6667;  // 75 MHz.
constexpr uint64_t kReset = 1'000'000;
constexpr int kGap = 12;

struct Board {
  Vrl_ecpix5_bench top;
  uint64_t now = 0, next_line = kLineHalf, next_system = kSystemHalf;
  std::deque<int> to_send;  // Bytes; -1 is a pause of a byte's time.
  std::string heard;

  auto& flash() { return top.rootp->rl_ecpix5_bench__DOT__u_chip__DOT__mem; }

  void line_edge() {
    bool before = top.line_clk_o;
    top.clk_line_i = !top.clk_line_i;
    top.eval();
    if (before || !top.line_clk_o) return;
    int byte = -1;
    if (!to_send.empty()) {
      byte = to_send.front();
      to_send.pop_front();
    }
    top.line_rx_i = byte >= 0;
    top.line_rx_byte_i = byte >= 0 ? byte : 0;
    if (top.line_tx_o) {
      char hex[3];
      snprintf(hex, sizeof hex, "%02x", static_cast<unsigned>(top.line_tx_byte_o));
      heard += hex;
    } else if (!heard.empty()) {
      printf("frame %s\n", heard.c_str());
      heard.clear();
    }
  }

  void run(uint64_t ps, bool until_it_leaves = false) {
    for (uint64_t end = now + ps; now < end && !(until_it_leaves && top.leave_o);) {
      if (next_line <= next_system) {
        now = next_line;
        next_line += kLineHalf;
        line_edge();
      } else {
        now = next_system;
        next_system += kSystemHalf;
        top.clk100_i = !top.clk100_i;
        top.eval();
      }
    }
  }

  // Whatever was on the line is lost with the image that had it.
  void hold(bool golden, bool application) {
    top.golden_i = top.application_i = 0;
    to_send.clear();
    run(kReset);
    heard.clear();
    top.golden_i = golden;
    top.application_i = application;
  }

  void boot(const std::string& image) {
    hold(image == "golden", image == "application");
    top.reset_i = 1;
    run(kReset);
    top.reset_i = 0;
  }
};

}  // namespace

int main(int argc, char** argv) {
  Verilated::commandArgs(argc, argv);
  Board board;
  board.top.cable_i = 1;
  board.run(kReset);
  for (std::string word, value, more; std::cin >> word >> value;) {
    if (word == "send") {
      for (size_t i = 0; i + 1 < value.size(); i += 2) board.to_send.push_back(std::stoi(value.substr(i, 2), nullptr, 16));
      board.to_send.insert(board.to_send.end(), kGap, -1);
    } else if (word == "run") {
      board.run(std::stoull(value) * 1'000'000, true);
      auto& top = board.top;
      printf("done %x %x %x %x %x %x %x\n", top.led_r_o, top.led_g_o, top.led_b_o, top.leave_o, top.awaits_o, top.serves_o,
             top.confirmed_o);
    } else if (word == "cable") {
      board.top.cable_i = value == "1";
    } else if (word == "boot") {
      board.boot(value);
    } else if (word == "power") {
      board.top.power_i = value == "1";
      if (value != "1") board.hold(false, false);
      board.run(kReset);
    } else if (word == "burn" && std::cin >> more) {
      size_t at = std::stoul(value);
      for (size_t i = 0; i + 1 < more.size(); i += 2) board.flash()[at++] = std::stoi(more.substr(i, 2), nullptr, 16);
    } else if (word == "flash" && std::cin >> more) {
      printf("bytes ");
      for (size_t at = std::stoul(value), end = at + std::stoul(more); at < end; at++) printf("%02x", board.flash()[at]);
      printf("\n");
    } else {
      return 2;
    }
    fflush(stdout);
  }
  board.top.final();
}
