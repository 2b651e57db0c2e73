# BabelStream: checks its arrays itself, and ends with 1 if they are wrong. Sourced by programs.sh.

babelstream() {
  local source binary=$out/build/babelstream
  source=$(source_of BabelStream 5.0 f6ae48de899408cf50c24079417dc71a03dbb5a8 https://github.com/UoB-HPC/BabelStream)
  # Its CMake file would fetch headers that the system has.
  build BabelStream g++ -O3 -std=c++17 -DOCL -I"$source/src" -I"$source/src/ocl" "$source/src/main.cpp" \
    "$source/src/ocl/OCLStream.cpp" -lOpenCL -o "$binary"
  measure babelstream 5.0 "4 Mi doubles" "^(Running|Precision|Array size)" "$binary" -s 4194304 -n 30
  measure babelstream 5.0 "4 Mi floats" "^(Running|Precision|Array size)" "$binary" -s 4194304 -n 30 --float
}
