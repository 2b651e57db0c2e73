#!/usr/bin/env bash
# OpenCL programs that do not know Rackloom, through its library and a manager on PoCL, over shared memory and over TCP:
# random programs do what they do on PoCL itself, workloads compute right, pyopencl's tests pass. Needs what
# `cargo test --workspace` has built, and the Python environment of `make setup`.
#   scripts/opencl.sh [SEEDS]     which random programs: 1-12 unless told otherwise
set -euo pipefail
cd "$(dirname "$0")/.."
seeds=${1:-1-12}
built=${CARGO_TARGET_DIR:-$PWD/target}/debug
folder=$(mktemp -d)
"$built/rackloom-manager" --listen "unix:$folder/manager.sock" --listen tcp:127.0.0.1:0 >"$folder/says" 2>"$folder/errors" &
manager=$!
touch "$folder/says"
trap 'kill $manager; wait $manager || true; rm -rf "$folder"' EXIT
until grep -q '^board' "$folder/says"; do
  kill -0 $manager || { cat "$folder/errors" >&2; exit 1; }
  sleep 0.1
done
make -s -C workloads -j2
remote=(OCL_ICD_VENDORS="$built/deps/librackloom_opencl.so")
for endpoint in $(sed -n 's/^listening on //p' "$folder/says"); do
  echo "OpenCL programs over ${endpoint%%:*}"
  export RACKLOOM_MANAGERS=$endpoint
  env "${remote[@]}" clinfo -l | grep -q Rackloom
  for program in "sobel --size 321x200" "matmul --size 128" "alexnet --scale 8"; do
    # shellcheck disable=SC2086  # Words.
    env "${remote[@]}" out/workloads/bin/$program >"$folder/output" || { cat "$folder/output" >&2; exit 1; }
  done
  workloads/compare.py --seeds "$seeds" --steps 200 "${remote[@]}" 2>/dev/null
done
scripts/opencl-programs.sh quick
