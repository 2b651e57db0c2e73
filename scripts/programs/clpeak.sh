# clpeak: bandwidths and rates of a device. Their values are no results, their names are. Sourced by programs.sh.

clpeak() {
  debian clpeak
  measure clpeak "$(debian_version clpeak)" "bandwidths, latencies" "^ +[a-zA-Z0-9() -]+ : " \
    "$out/debian/usr/bin/clpeak" --global-bandwidth --transfer-bandwidth --kernel-latency
}
