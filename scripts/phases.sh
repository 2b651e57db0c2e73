# shellcheck shell=bash
# For scripts of many steps: `phase NAME COMMAND...` runs a step and notes its time; at the end, or when one fails, a
# table says where the time went. To be sourced, by a script that stops at errors (`set -e`).

[ -z "${phases_sourced:-}" ] || return 0 # By a script that is itself part of another.
phases_sourced=yes
phase_names=() phase_seconds=() phase_now='' phase_start=0
trap phase_table EXIT

phase() {
  phase_now=$1 phase_start=$SECONDS
  shift
  printf '\n== %s\n' "$phase_now"
  "$@"
  phase_end
}

phase_end() {
  phase_names+=("$phase_now") phase_seconds+=($((SECONDS - phase_start)))
  phase_now=''
}

phase_table() {
  local status=$? failed='' total=0 i
  if [ -n "$phase_now" ]; then
    failed=$phase_now
    phase_end
  fi
  for i in "${phase_seconds[@]}"; do total=$((total + i)); done
  printf '\n%-52s %8s %6s\n' phase seconds share
  for i in "${!phase_names[@]}"; do
    printf '%-52.52s %8d %4d %%\n' "${phase_names[i]}" "${phase_seconds[i]}" \
      $((phase_seconds[i] * 100 / (total > 0 ? total : 1)))
  done
  printf '%-52s %8d %4d %%\n' total "$total" 100
  if [ -n "$failed" ]; then
    echo "FAILED: $failed (status $status)"
  elif [ $status != 0 ]; then
    echo "FAILED between two phases (status $status)"
  else
    echo "passed"
  fi
}
