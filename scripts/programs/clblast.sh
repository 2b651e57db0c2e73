# CLBlast: the tests of three routines beside OpenBLAS, and the client that measures one. scripts/opencl-programs.sh has
# all tests. Sourced by programs.sh.

clblast() {
  local source place=$out/build/clblast
  source=$(source_of CLBlast 1.7.0 ca2fc3cb09d4917cc72d4ca661d30296865a4afc https://github.com/CNugteren/CLBlast)
  debian libopenblas0-pthread libopenblas-pthread-dev libgfortran5
  build CLBlast-configured cmake -S "$source" -B "$place" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O1 \
    -DTESTS=ON -DSAMPLES=OFF -DTUNERS=OFF -DCLIENTS=ON \
    -DCBLAS_INCLUDE_DIRS="$out/debian/usr/include/$triple/openblas-pthread" \
    -DCBLAS_LIBRARIES="$system/openblas-pthread/libopenblas.so" -DCMAKE_EXE_LINKER_FLAGS="-Wl,-rpath-link,$system"
  build CLBlast make -C "$place" -j2 clblast_test_xaxpy clblast_test_xgemv clblast_test_xtrsv clblast_client_xgemm
  local libraries=$place:$libraries
  for routine in xaxpy xgemv xtrsv; do
    measure clblast 1.7.0 "test $routine" "test\(s\) (pass|fail|skip)|^ *[:.X/\\o-]+\$" \
      "$place/clblast_test_$routine" -cblas 1 -clblas 0
  done
  measure clblast 1.7.0 "client xgemm 1024" "^ *1024;" sh -c '"$@" | sed "s/; *[0-9.]*; *[0-9.]*\$//"' - \
    "$place/clblast_client_xgemm" -n 1024 -m 1024 -k 1024 -runs 20 -clblas 0 -cblas 0 -q
}
