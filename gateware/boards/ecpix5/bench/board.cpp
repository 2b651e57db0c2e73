// Runs the Verilated board for a program at the other end of a pipe. On its input, a line each:
//   send HEX    puts these bytes on the line, after those before, with a gap
//   run US      goes on for so many microseconds
// On its output, a line for each frame that the board has sent, `frame HEX`, and `done R G B` with the
// lamps after each run.
#include <cstdint>
#include <cstdio>
#include <deque>
#include <iostream>
#include <string>

#include "Vrl_ecpix5_bench.h"
#include "verilated.h"

namespace {

constexpr uint64_t kLineHalf = 1000;    // ps; four times 125 MHz.
constexpr uint64_t kSystemHalf = 6667;  // 75 MHz.
constexpr int kGap = 12;

struct Board {
  Vrl_ecpix5_bench top;
  uint64_t now = 0, next_line = kLineHalf, next_system = kSystemHalf;
  std::deque<int> to_send;  // Bytes; -1 is a pause of a byte's time.
  std::string heard;

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

  void run(uint64_t ps) {
    for (uint64_t end = now + ps; now < end;) {
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
};

}  // namespace

int main(int argc, char** argv) {
  Verilated::commandArgs(argc, argv);
  Board board;
  board.top.rst_ni = 0;
  board.run(1'000'000);
  board.top.rst_ni = 1;
  for (std::string word, value; std::cin >> word >> value;) {
    if (word == "send") {
      for (size_t i = 0; i + 1 < value.size(); i += 2) board.to_send.push_back(std::stoi(value.substr(i, 2), nullptr, 16));
      board.to_send.insert(board.to_send.end(), kGap, -1);
    } else if (word == "run") {
      board.run(std::stoull(value) * 1'000'000);
      printf("done %x %x %x\n", board.top.led_r_o, board.top.led_g_o, board.top.led_b_o);
      fflush(stdout);
    } else {
      return 2;
    }
  }
  board.top.final();
}
