# OpenCL-Benchmark: rates of a device. Their values are no results, their names are. Sourced by programs.sh.

opencl-benchmark() {
  local source binary=$out/build/opencl-benchmark
  source=$(source_of OpenCL-Benchmark 1.8 326d3a0347ac23a0b74109a5ef12433f14f528c0 \
    https://github.com/ProjectPhysX/OpenCL-Benchmark)
  build OpenCL-Benchmark sh -c "g++ '$source'/src/*.cpp -o '$binary' -std=c++17 -pthread -O -Wno-comment -lOpenCL"
  RUNS=1 measure opencl-benchmark 1.8 "all of it" "[A-Z0-9]+ +Compute|Memory Bandwidth|PCIe" "$binary" 0
}
