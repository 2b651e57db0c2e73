#!/usr/bin/env bash
# From source to a bitstream: scripts/bitstream.sh BOARD [options of the board's build.py]
set -euo pipefail
cd "$(dirname "$0")/.."

board=${1:-}
if [ ! -f "gateware/boards/$board/build.py" ] || [ -z "$board" ]; then
  echo "error: no board '$board'" >&2
  echo "  help: make bitstream BOARD=..., one of: $(cd gateware/boards && ls -d */ | tr -d / | paste -sd ' ')" >&2
  exit 1
fi
shift
scripts/setup.sh

# Compiles the program that trains the memory. No other target needs it.
if ! command -v riscv64-unknown-elf-gcc >/dev/null; then
  if ! command -v apt-get >/dev/null; then
    echo "error: riscv64-unknown-elf-gcc missing, and this is no Debian; install it with your package manager" >&2
    exit 1
  fi
  echo "setup: installing gcc-riscv64-unknown-elf" >&2
  sudo=; [ "$(id -u)" = 0 ] || sudo=sudo
  $sudo apt-get update -qq
  DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends gcc-riscv64-unknown-elf >/dev/null
fi
exec ".venv/bin/python" "gateware/boards/$board/build.py" "$@"
