# VkFFT: its samples of convolutions, which print what they have computed. Sourced by programs.sh.

vkfft() {
  local source place=$out/build/vkfft
  source=$(source_of VkFFT 1.3.4 066a17c17068c0f11c9298d848c2976c71fad1c1 https://github.com/DTolm/VkFFT)
  build VkFFT-configured cmake -S "$source" -B "$place" -DVKFFT_BACKEND=3 -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CXX_FLAGS_RELEASE=-O0
  build VkFFT make -C "$place" -j2
  # Sample 50 is no use: PoCL's compiler crashes on it.
  for sample in "51 3D" "52 2D"; do
    measure vkfft 1.3.4 "convolution, ${sample#* }" "^-?[0-9.]+ [-0-9. ]+\$" \
      "$place/VkFFT_TestSuite" -vkfft "${sample% *}"
  done
}
