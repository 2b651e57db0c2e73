# Two of Rodinia: lud checks what it decomposed, gaussian prints the solution. Sourced by programs.sh.

rodinia() {
  local source commit=9c10d3ea16ddba2ba057cc3951a9efc4c2cc18a4 place=$out/build/rodinia
  source=$(source_of rodinia 2016 $commit https://github.com/yuhc/gpu-rodinia)
  build rodinia-copied cp -a "$source/." "$place"
  for program in lud/ocl gaussian; do build "rodinia-${program%/*}" make -C "$place/opencl/$program"; done
  cd "$place/opencl/lud"
  measure rodinia "${commit:0:7}" "lud 1024" "^>>>Verify|dismatch" ./ocl/lud.out -s 1024 -v
  cd "$place/opencl/gaussian"
  measure rodinia "${commit:0:7}" "gaussian 512" "^([-+0-9.e]+ +)+\$" ./gaussian.out -s 512 -v
}
