# shellcheck shell=bash
# For scripts of many steps: `phase NAME COMMAND...` runs a step and notes its time; at the end, or when one fails, a
# table says where the time and the processor time went, and then, what a failed step left in `phase_failures`. To be
# sourced, by a script that stops at errors (`set -e`).

[ -z "${phases_sourced:-}" ] || return 0 # By a script that is itself part of another.
phases_sourced=yes
phase_names=() phase_seconds=() phase_cpu=() phase_now='' phase_start=0 phase_cpu_start=0
phase_failures=''
trap phase_table EXIT

# Seconds of processor time that this script's commands have taken so far, into `cpu_seconds`.
count_cpu() {
  local lines
  # In no subshell, which would have commands of its own.
  times >"$phase_times"
  mapfile -t lines <"$phase_times"
  cpu_seconds=$(awk -F '[ms ]+' '{ print int($1 * 60 + $2 + $3 * 60 + $4) }' <<<"${lines[1]}")
}
phase_times=$(mktemp) cpu_seconds=0

phase() {
  phase_now=$1 phase_start=$SECONDS
  count_cpu
  phase_cpu_start=$cpu_seconds
  shift
  printf '\n== %s\n' "$phase_now"
  "$@"
  phase_end
}

phase_end() {
  count_cpu
  phase_names+=("$phase_now") phase_seconds+=($((SECONDS - phase_start))) phase_cpu+=($((cpu_seconds - phase_cpu_start)))
  phase_now=''
}

phase_table() {
  local status=$? failed='' total=0 cpu=0 i
  if [ -n "$phase_now" ]; then
    failed=$phase_now
    phase_end
  fi
  rm -f "$phase_times"
  jobs -p | xargs -r kill 2>/dev/null || true # What a phase ran beside itself, if it was stopped.
  for i in "${!phase_names[@]}"; do
    total=$((total + phase_seconds[i])) cpu=$((cpu + phase_cpu[i]))
  done
  printf '\n%-52s %8s %6s %8s\n' phase seconds share 'CPU s'
  for i in "${!phase_names[@]}"; do
    printf '%-52.52s %8d %4d %% %8d\n' "${phase_names[i]}" "${phase_seconds[i]}" \
      $((phase_seconds[i] * 100 / (total > 0 ? total : 1))) "${phase_cpu[i]}"
  done
  printf '%-52s %8d %4d %% %8d\n' total "$total" 100 "$cpu"
  if [ -n "$failed" ]; then
    [ -z "$phase_failures" ] || printf '\n%s\n\n' "$phase_failures"
    echo "FAILED: $failed (status $status)"
  elif [ $status != 0 ]; then
    echo "FAILED between two phases (status $status)"
  else
    echo "passed"
  fi
}
