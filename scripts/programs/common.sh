# What the programs of programs.sh have in common: where their sources come from, and how they are run. Sourced.

# A source that cannot be had ends the script.
shopt -s inherit_errexit
built=${CARGO_TARGET_DIR:-$root/target}/release
triple=$(gcc -print-multiarch)
system=$out/debian/usr/lib/$triple
libraries=$system:$system/openblas-pthread
mkdir -p "$out"

# The folder of a program's source, at a commit that its version names: `source_of NAME VERSION COMMIT ADDRESS`.
source_of() {
  local name=$1 version=$2 commit=$3 address=$4
  local folder=$out/source/$name-$version
  if [ ! -d "$folder" ]; then
    mkdir -p "$out/source"
    rm -rf "$folder.part"
    if [ -n "${RACKLOOM_PROGRAMS:-}" ]; then
      cp -a "$RACKLOOM_PROGRAMS/$name-$version" "$folder.part"
    else
      git init -q "$folder.part"
      git -C "$folder.part" fetch -q --depth 1 "$address" "$commit"
      git -C "$folder.part" -c advice.detachedHead=false checkout -q FETCH_HEAD
    fi
    mv "$folder.part" "$folder"
  fi
  echo "$folder"
}

. "$root/scripts/debian.sh"

# The version of a Debian package that `debian` has unpacked.
debian_version() {
  dpkg-deb -f "$out/debian/$1"_*.deb Version
}

# Does a build once, and shows what it said only if it fails: `build NAME COMMAND...`.
build() {
  local name=$1
  shift
  [ -f "$out/build/$name.done" ] && return
  mkdir -p "$out/build"
  echo "building $name" >&2
  "$@" >"$out/build/$name.log" 2>&1 || { tail -20 "$out/build/$name.log" >&2; exit 1; }
  touch "$out/build/$name.done"
}

# A manager on PoCL, for a tenant with a token: without one, programs over TCP are strangers to each other, and each
# compiles its kernels anew. `start_manager OPTION...`
start_manager() {
  folder=$(mktemp -d)
  touch "$folder/says"
  token=$(head -c 32 /dev/urandom | sha256sum | cut -c1-64)
  echo "$token name=programs" >"$folder/tokens"
  chmod 600 "$folder/tokens"
  "$built/rackloom" manager --listen "unix:$folder/manager.sock" --listen tcp:127.0.0.1:0 --tokens "$folder/tokens" \
    "$@" >"$folder/says" 2>"$out/manager-errors" &
  manager=$!
  trap stop_manager EXIT
  until grep -q '^board' "$folder/says"; do
    kill -0 $manager || { cat "$out/manager-errors" >&2; exit 1; }
    sleep 0.1
  done
  shared=unix:$folder/manager.sock
  tcp=$(sed -n 's/^listening on \(tcp:.*\)/\1/p' "$folder/says")
}

stop_manager() {
  kill $manager
  wait $manager || true
  rm -rf "$folder"
}

# A command on PoCL alone (native), or through the manager (shared, tcp). Each has caches of its own.
way() {
  local way=$1
  shift
  local environment=(XDG_CACHE_HOME="$out/cache/$way" POCL_CACHE_DIR="${POCL_CACHE:-$out/cache/pocl}"
    LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" OMP_NUM_THREADS=1)
  mkdir -p "$out/cache/$way" "${POCL_CACHE:-$out/cache/pocl}"
  if [ "$way" = native ]; then
    environment+=(OCL_ICD_VENDORS=/etc/OpenCL/vendors)
  else
    environment+=(OCL_ICD_VENDORS="$built/librackloom_opencl.so" RACKLOOM_MANAGERS="${!way}" RACKLOOM_TOKEN=$token)
  fi
  env "${environment[@]}" "$@"
}

# Runs a command every way, in turn, in the folder of now. LINES is a regular expression: what it matches in the output
# has to be there, and the same in all runs. `measure PROGRAM VERSION WHAT LINES COMMAND...`
measure() {
  local program=$1 version=$2 what=$3 lines=$4
  shift 4
  local to="$out/runs/$program/${what//\//_}"
  mkdir -p "$to"
  printf '%s\n' "$version" >"$to/version"
  printf '%s\n' "$lines" >"$to/lines"
  local round way status start
  for ((round = 0; round <= ${RUNS:-3}; round++)); do
    for way in native shared tcp; do
      echo "  $program $what: $way $round" >&2
      status=0 start=$(date +%s%N)
      way $way timeout "${LIMIT:-600}" "$@" >"$to/$way.$round" 2>&1 </dev/null || status=$?
      printf '\nended with %s after %s ns\n' $status $(($(date +%s%N) - start)) >>"$to/$way.$round"
    done
  done
}
