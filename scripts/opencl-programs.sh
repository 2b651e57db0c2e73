#!/usr/bin/env bash
# Other people's OpenCL programs, unchanged: each on PoCL alone, then through Rackloom's library and a manager on PoCL.
# Prints what passes, is skipped and fails either way; fails if a test that passes on PoCL fails through Rackloom.
# Needs `make setup`, `cargo build -p rackloom-opencl -p rackloom-manager`, and for CLBlast cmake and git. What it
# downloads (Debian, PyPI, GitHub for CLBlast) is pinned and kept in out/opencl-programs, as are all outputs.
#   scripts/opencl-programs.sh [PROGRAM...]
#     clinfo        what the device tells
#     pyopencl      its test suite                                some minutes
#     examples      pyopencl's examples that need no screen
#     clpeak        all of it
#     clblast       tests of 34 routines                          five minutes to build, ten to run
#     quick         pyopencl's tests of the wrapper and of copies, through Rackloom only; in `make test`
#   Without a program: all but quick. LIMIT is the longest that one test program may take, in seconds (1800).
#   WAYS=native or WAYS=rackloom does one of the two, and keeps what there is of the other.
#   RESULTS=1 only prints the table of what was run before.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
out=$root/out/opencl-programs
built=${CARGO_TARGET_DIR:-$root/target}/debug
python=${RACKLOOM_PYTHON:-$root/.venv/bin/python3}
limit=${LIMIT:-1800}
read -ra ways <<<"${WAYS:-native rackloom}"
pyopencl=pyopencl-$("$python" -c 'import importlib.metadata as m; print(m.version("pyopencl"))')
clblast=(1.7.0 ca2fc3cb09d4917cc72d4ca661d30296865a4afc)
blas_tests="xaxpy xdot xgemv xgemm xtrsm xgemmbatched xomatcopy xamax xnrm2 xger xtrsv xim2col xaxpybatched xconvgemm
  xscal xswap xcopy xasum xsymv xsyrk xtrmm xsymm xhad xcol2im xgemmstridedbatched xdotu xdotc xsyr2k xhemm xherk
  xher2k retrieve_parameters preprocessor diagnostics"
mkdir -p "$out"

# On PoCL alone, or through Rackloom. Each has caches of its own.
way() {
  local way=$1
  shift
  local environment=(XDG_CACHE_HOME="$out/$way/cache" POCL_CACHE_DIR="$out/pocl" PYOPENCL_CTX=0:0 PYOPENCL_TEST=0:0
    OMP_NUM_THREADS=1)
  [ -z "$libraries" ] || environment+=(LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}")
  if [ "$way" = rackloom ]; then
    environment+=(OCL_ICD_VENDORS="$built/deps/librackloom_opencl.so" RACKLOOM_MANAGERS="$endpoint")
  else
    environment+=(OCL_ICD_VENDORS=/etc/OpenCL/vendors)
  fi
  env "${environment[@]}" "$@"
}

# Runs a test program; what it says is read by opencl-programs.py afterwards. The last line is how it ended.
try() {
  local way=$1 group=$2 name=$3
  shift 3
  mkdir -p "$out/$way/$group" "$out/$way/cache"
  echo "  $way: $name" >&2
  local status=0
  way "$way" timeout "$limit" "$@" >"$out/$way/$group/$name" 2>&1 </dev/null || status=$?
  printf '\nended with %s\n' $status >>"$out/$way/$group/$name"
}

# Either way, one after the other.
each() {
  for way in "${ways[@]}"; do try "$way" "$@"; done
}

. scripts/debian.sh

pyopencl_source() {
  [ -d "$out/$pyopencl" ] && return
  "$python" -m pip download -q --disable-pip-version-check --no-deps --no-binary pyopencl -d "$out" "${pyopencl/-/==}"
  tar -xf "$out/$pyopencl.tar.gz" -C "$out"
}

clblast_built() {
  local source=$out/CLBlast build=$out/clblast-build place
  place=/usr/lib/$(gcc -print-multiarch)
  debian libopenblas0-pthread libopenblas-pthread-dev libgfortran5
  if [ ! -d "$source" ]; then
    git -c advice.detachedHead=false clone -q --depth 1 --branch "${clblast[0]}" \
      "${CLBLAST_GIT:-https://github.com/CNugteren/CLBlast}" "$source"
  fi
  [ "$(git -C "$source" rev-parse HEAD)" = "${clblast[1]}" ] || { echo "error: not CLBlast ${clblast[0]}" >&2; exit 1; }
  cmake -S "$source" -B "$build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O1 -DTESTS=ON -DSAMPLES=OFF \
    -DTUNERS=OFF -DCLIENTS=OFF -DCBLAS_INCLUDE_DIRS="$out/debian/usr/include/${place##*/}/openblas-pthread" \
    -DCBLAS_LIBRARIES="$out/debian$place/openblas-pthread/libopenblas.so" \
    -DCMAKE_EXE_LINKER_FLAGS="-Wl,-rpath-link,$out/debian$place" >"$out/clblast-cmake"
  # shellcheck disable=SC2046,SC2086  # Words.
  make -s -C "$build" -j2 $(printf 'clblast_test_%s ' $blas_tests) >"$out/clblast-make" 2>&1
  libraries=$build:$out/debian$place/openblas-pthread:$out/debian$place
}

run() {
  case $1 in
    clinfo) each clinfo clinfo clinfo --raw ;;
    clpeak)
      command -v clpeak >/dev/null || debian clpeak
      each clpeak clpeak "$(command -v clpeak || echo "$out/debian/usr/bin/clpeak")"
      ;;
    pyopencl | quick)
      pyopencl_source
      cd "$out/$pyopencl/test"
      local tests=(wrapper enqueue_copy arrays_in_structs clrandom clmath array algorithm) run=(each)
      [ "$1" = pyopencl ] || { tests=(wrapper enqueue_copy arrays_in_structs) run=(try rackloom); }
      for test in "${tests[@]}"; do
        "${run[@]}" "$1" "test_$test" "$python" -m pytest -p no:cacheprovider -v --color=no "test_$test.py"
      done
      cd "$root"
      ;;
    examples)
      pyopencl_source
      cd "$out/$pyopencl/examples"
      for example in *.py; do each examples "${example%.py}" "$python" "$example"; done
      cd "$root"
      ;;
    clblast)
      clblast_built
      for test in $blas_tests; do each clblast "$test" "$out/clblast-build/clblast_test_$test" -cblas 1 -clblas 0; done
      ;;
    *) echo "error: no such program: $1" >&2; exit 2 ;;
  esac
}

programs=("$@")
[ $# -gt 0 ] || programs=(clinfo pyopencl examples clpeak clblast)
libraries=
if [ -z "${RESULTS:-}" ]; then
  for way in "${ways[@]}"; do
    for program in "${programs[@]}"; do rm -rf "${out:?}/$way/$program"; done
  done
  folder=$(mktemp -d)
  touch "$folder/says"
  POCL_CACHE_DIR=$out/pocl "$built/rackloom-manager" --listen "unix:$folder/manager.sock" \
    >"$folder/says" 2>"$out/manager-errors" &
  manager=$!
  trap 'kill $manager; wait $manager || true; rm -rf "$folder"' EXIT
  until grep -q '^board' "$folder/says"; do
    kill -0 $manager || { cat "$out/manager-errors" >&2; exit 1; }
    sleep 0.1
  done
  endpoint=unix:$folder/manager.sock
  for program in "${programs[@]}"; do run "$program"; done
fi
"$python" scripts/opencl-programs.py "$out" "${programs[@]}"
