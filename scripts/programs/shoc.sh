# SHOC: benchmarks that check their results themselves. Sourced by programs.sh.

shoc() {
  local source commit=0aea03beba2f09fcb5935cc11737372fe4de9ec0 place=$out/build/shoc
  source=$(source_of shoc 2020-04-17 $commit https://github.com/vetter/shoc)
  mkdir -p "$place"
  build shoc-configured sh -c "cd '$place' && '$source/configure' --without-mpi --without-cuda"
  build shoc-common make -C "$place/src/common"
  build shoc-opencl-common make -C "$place/src/opencl/common"
  for name in fft reduction scan sort; do build "shoc-$name" make -C "$place/src/opencl/level1/$name"; done
  for name in fft/FFT reduction/Reduction scan/Scan sort/Sort; do
    measure shoc "${commit:0:7}" "${name#*/}" "[Pp]assed|PASSED|[Ff]ailed|FAILED|^Test" \
      "$place/src/opencl/level1/$name" -s 1 -p 0 -d 0
  done
}
