#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
#
# Builds the fuzz targets of the readers with clang and runs them, each on its corpus in tests/fuzz/corpus: address and
# undefined-behaviour sanitizers, leaks, 10 s an input, 2 GiB. Ends with a line a target and a non-zero exit if there
# were findings, which are left in build/fuzz/findings.
#
#   scripts/fuzz.sh [--seconds N] [--jobs N] [--seed N] [TARGET...]   60 s each and two at once by default; all targets
#   scripts/fuzz.sh --list                                            the targets
#
# The same seed on the same code and corpora tries the same inputs (as many as the time allows). Without it every run
# tries others. The 10 s are time on the wall: on a busy machine an input can take longer than it does. Such an input
# is read again, and counts as a finding only if it takes 10 s of processor time; if not, the run goes on for the time
# that is left.
#
# New inputs go to build/fuzz/corpus. A finding is kept by putting its input into tests/fuzz/corpus/TARGET; the tests
# corpus_TARGET then read it with every compiler.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

seconds=60
at_once=2
seed=
mapfile -t all < <(sed -n 's/^set(WEFT_FUZZ_TARGETS \(.*\))$/\1/p' "$root/tests/fuzz/targets.cmake" | tr ' ' '\n')
targets=()
while [ $# -gt 0 ]; do
  case $1 in
    --seconds | --jobs | --seed)
      if [[ ! ${2:-} =~ ^[1-9][0-9]*$ ]]; then
        say "$1 needs a whole number above 0" >&2
        exit 2
      fi
      case $1 in
        --seconds) seconds=$2 ;;
        --jobs) at_once=$2 ;;
        --seed) seed=$2 ;;
      esac
      shift 2 ;;
    --list)
      printf '%s\n' "${all[@]}"
      exit 0 ;;
    *)
      if ! printf '%s\n' "${all[@]}" | grep -qxF -- "$1"; then
        say "unknown target or option '$1'; the targets are: ${all[*]}" >&2
        exit 2
      fi
      targets+=("$1")
      shift ;;
  esac
done
[ "${#targets[@]}" -ne 0 ] || targets=("${all[@]}")

# Is there a clang that can link its fuzzer?
probe=$(mktemp -d)
trap 'rm -rf "$probe"' EXIT
printf '#include <cstddef>\n#include <cstdint>\nextern "C" int LLVMFuzzerTestOneInput(const uint8_t*, size_t) { return 0; }\n' >"$probe/probe.cpp"
if ! clang++ -fsanitize=fuzzer,address,undefined "$probe/probe.cpp" -o "$probe/probe" >"$probe/log" 2>&1; then
  sed 's/^/  /' "$probe/log" >&2
  if [ "${CI:-}" = true ]; then
    say "clang or its fuzzer is not there, and CI=true forbids to skip the fuzz targets; install clang and libclang-rt-dev" \
      "(scripts/setup.sh does)" >&2
    exit 1
  fi
  say "clang or its fuzzer is not there: fuzzing is skipped (packages clang and libclang-rt-dev)"
  exit 0
fi

build fuzz weft_fuzzers -DWEFT_UNITY=ON

findings="$root/build/fuzz/findings"
logs="$root/build/fuzz/logs"
mkdir -p "$findings" "$logs"

# options_of TARGET: the options of its fuzzer, in $options.
options_of() {
  options=(-timeout=10 -rss_limit_mb=2048 -close_fd_mask=1)
  [ "$1" != options ] || options=(-timeout=10 -rss_limit_mb=2048 -close_fd_mask=3)  # the command line tells every error
}

# fuzzer TARGET [ARGUMENT...]: runs its fuzzer.
fuzzer() {
  local target=$1
  shift
  ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=0 UBSAN_OPTIONS=print_stacktrace=1 \
    "$root/build/fuzz/bin/fuzz_$target" "$@"
}

# fuzz TARGET SECONDS: one run; its exit code.
fuzz() {
  local target=$1 options
  options_of "$target"
  local seeds="$root/tests/fuzz/corpus/$target" grown="$root/build/fuzz/corpus/$target"
  local dictionary="$root/tests/fuzz/dictionaries/$target.dict"
  mkdir -p "$grown"
  [ -z "$seed" ] || options+=("-seed=$seed")
  [ ! -f "$dictionary" ] || options+=("-dict=$dictionary")
  fuzzer "$target" -max_total_time="$2" -max_len=16384 -print_final_stats=1 \
    -artifact_prefix="$findings/$target-" "${options[@]}" "$grown" "$seeds" >"$logs/$target.log" 2>&1
}

# slow_by_the_machine TARGET: did its run end by a time-out of an input that takes less than 10 s of processor time? Such
# inputs are no findings.
slow_by_the_machine() {
  local target=$1 input options status=0 TIMEFORMAT='%U %S' user=0 system=0
  input=$(sed -n 's/.*Test unit written to \(.*\)$/\1/p' "$logs/$target.log" | tail -n 1)
  case $input in
    */"$target"-timeout-*) ;;
    *) return 1 ;;
  esac
  options_of "$target"
  { time fuzzer "$target" "${options[@]}" -timeout=600 "$input" >"$logs/$target.again.log" 2>&1 || status=$?; } \
    2>"$logs/$target.time"
  read -r user system <"$logs/$target.time" || true
  [ "$status" -eq 0 ] && awk -v t="$user" -v s="$system" 'BEGIN { exit !(t + s < 10) }' || return 1
  rm -f "$input"
}

# executions TARGET: of its last run.
executions() {
  sed -n 's/^stat::number_of_executed_units: *//p' "$logs/$1.log" | tail -n 1
}

# fuzz_all_the_time TARGET: runs until the time is over or there is a finding; the exit code of the last run. Leaves the
# executions of all runs and the number of runs that the machine ended.
fuzz_all_the_time() {
  local target=$1 begin=$SECONDS left=$seconds status runs=0 ended=0
  while true; do
    status=0
    fuzz "$target" "$left" || status=$?
    runs=$((runs + $(executions "$target") + 0))
    [ "$status" -ne 0 ] && slow_by_the_machine "$target" || break
    ended=$((ended + 1)) status=0
    left=$((seconds - (SECONDS - begin)))
    [ "$left" -gt 0 ] || break
  done
  printf '%s %s\n' "$runs" "$ended" >"$logs/$target.runs"
  return "$status"
}

# Some at once: as many as there may be, the next when one has ended.
declare -A status=()
declare -A pid_of=()
waiting=("${targets[@]}")
running=()
while [ "${#waiting[@]}" -ne 0 ] || [ "${#running[@]}" -ne 0 ]; do
  while [ "${#waiting[@]}" -ne 0 ] && [ "${#running[@]}" -lt "$at_once" ]; do
    target=${waiting[0]}
    waiting=("${waiting[@]:1}")
    say "fuzzing $target for $seconds s"
    fuzz_all_the_time "$target" &
    pid_of[$target]=$!
    running+=("$target")
  done
  target=${running[0]}
  running=("${running[@]:1}")
  status[$target]=0
  wait "${pid_of[$target]}" || status[$target]=$?
done

failed=0
for target in "${targets[@]}"; do
  log="$logs/$target.log"
  runs='?' ended=0
  read -r runs ended <"$logs/$target.runs" || true
  coverage=$(grep -oE 'cov: [0-9]+ ft: [0-9]+' "$log" | tail -n 1 || true)
  if [ "${status[$target]}" -eq 0 ]; then
    busy=
    [ "${ended:-0}" -eq 0 ] || busy=" (the machine was busy: $ended inputs took 10 s, but not of processor time)"
    say "$target: ${runs:-?} executions, ${coverage:-no coverage}, no finding$busy"
  else
    failed=1
    say "$target: FINDING after ${runs:-?} executions; $log ends:" >&2
    grep -vE '^(#[0-9]|stat::)' "$log" | tail -n 40 >&2 || true
  fi
done
[ "$failed" -eq 0 ] || say "the inputs are in $findings" >&2
exit "$failed"
