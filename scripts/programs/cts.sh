#!/usr/bin/env bash
# Khronos' conformance tests (OpenCL-CTS) on PoCL alone and through a manager. Prints how many pass each way, and each
# test whose outcome differs; fails if one passes on PoCL alone and fails through Rackloom. The tests are fetched.
#   scripts/programs/cts.sh [SUITE...]    default: buffers events profiling printf api compiler basic; of images:
#   cl_copy_images cl_fill_images cl_get_info cl_read_write_images kernel_image_methods samplerless_reads image_streams;
#   of command buffers: cl_khr_command_buffer
#   WAYS="native shared tcp" for TCP as well. WIMPY=1: shorter tests, where the suite has them. LIMIT: seconds a test
#   (300). JOBS: tests at once (1).
#   RESULTS=1 only prints what was run before. RACKLOOM_PROGRAMS and the rest as in programs.sh.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
out=$root/out/programs
suites=("$@")
[ $# -gt 0 ] || suites=(buffers events profiling printf api compiler basic)
# shellcheck source=scripts/programs/common.sh
source scripts/programs/common.sh
if [ -n "${RESULTS:-}" ]; then
  exec python3 scripts/programs/cts.py table "$out/runs/cts" "${suites[@]}"
fi
cts=$(source_of OpenCL-CTS 2026-07-09 726a6d94da0876cf69bf6198d20d42197b0392de \
  https://github.com/KhronosGroup/OpenCL-CTS)
headers=$(source_of OpenCL-Headers 2026.05.29 6fe718c31a45fe25151362a72ef041c3a1047cbd \
  https://github.com/KhronosGroup/OpenCL-Headers)
spirv=$(source_of SPIRV-Headers 1.4.357.0 29981f65241605e08b0ede4cfeb999fe3b723c6a \
  https://github.com/KhronosGroup/SPIRV-Headers)
# It assembles programs of SPIR-V, though neither way has a device that takes them.
command -v spirv-as >/dev/null || debian spirv-tools
PATH=$out/debian/usr/bin:$PATH
build CTS-configured cmake -S "$cts" -B "$out/build/cts" -DCL_INCLUDE_DIR="$headers" -DCL_LIB_DIR="/usr/lib/$triple" \
  -DSPIRV_INCLUDE_DIR="$spirv" -DOPENCL_LIBRARIES=OpenCL -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_C_FLAGS_RELEASE=-O1 -DCMAKE_CXX_FLAGS_RELEASE=-O1
for suite in "${suites[@]}"; do build "CTS-$suite" make -C "$out/build/cts" -j2 "test_$suite"; done
start_manager
mkdir -p "$out/runs/cts"
for suite in "${suites[@]}"; do
  # Those of images have folders within another.
  cd "$(dirname "$(find "$out/build/cts/test_conformance" -type f -name "test_$suite")")"
  for way in ${WAYS:-native shared}; do
    echo "$suite: $way" >&2
    way "$way" python3 "$root/scripts/programs/cts.py" run "$out/runs/cts/$suite.$way" "./test_$suite"
  done
done
cd "$root"
python3 scripts/programs/cts.py table "$out/runs/cts" "${suites[@]}"
