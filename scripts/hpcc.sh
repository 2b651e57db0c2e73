#!/usr/bin/env bash
# HPC Challenge (Debian's package hpcc, unchanged) on four ranks whose collectives cards do: HPL, PTRANS, random access,
# FFT and others, each of which checks its own results. Fails if one does not pass, or if cards did nothing.
# Needs `make mpi`'s libraries and what `make setup` installs. What is fetched is kept in out/hpcc.
#   scripts/hpcc.sh
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
out=$root/out/hpcc
libraries=${RACKLOOM_LIBRARIES:-$root/target/release}
rackloom=${RACKLOOM:-$root/target/release/rackloom}
mkdir -p "$out"
# shellcheck source=scripts/debian.sh
source scripts/debian.sh
debian hpcc libblas3
cd "$out"
# Of 1000 by 1000 on a grid of 2 by 2.
cp debian/usr/share/doc/hpcc/examples/_hpccinf.txt hpccinf.txt
rm -f hpccoutf.txt
export RACKLOOM_RUN=$out/run RACKLOOM_MPI_REPORT=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export LD_LIBRARY_PATH=$(compgen -G "$out/debian/usr/lib/*/blas"):$libraries
"$rackloom" up --quiet --cards 4 --links full --memory 1G >up.log 2>&1 &
rack=$!
trap 'kill $rack' EXIT
until grep -q 'are up' up.log; do kill -0 $rack; sleep 0.1; done
mpirun --oversubscribe -n 4 -x LD_PRELOAD="$libraries/librackloom_mpi.so" debian/usr/bin/hpcc 2>report
grep -E '^(Success|HPL_Tflops|PTRANS_residual|MPIRandomAccess_Errors|MPIFFT_maxErr)=' hpccoutf.txt
grep 'rank 0' report
grep -q '^Success=1$' hpccoutf.txt
grep -q '1 tests completed and passed residual checks' hpccoutf.txt
# Four ranks, each with some hundreds.
[ "$(grep -cE 'cards did [0-9]{3,} collectives' report)" = 4 ]
