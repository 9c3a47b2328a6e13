#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
#
# Sets up, builds with warnings as errors, runs the release suite (all tests but the unit tests), then the unit tests
# under the address and undefined-behaviour sanitizers, then, if asked to, the fuzz targets of the readers. Ends with the
# results and a non-zero exit if anything failed. On a slow machine the sanitizers end after 80 minutes: the results say
# which part of them is left out, and what had failed until then is a failure.
#
#   WEFT_JOBS=N       parallel jobs (default: all processors)
#   WEFT_FUZZ_SECONDS=N  of each fuzz target; default: 0, which leaves fuzzing out (the targets' corpora are tests of the
#                     suite). It is left out, too, when the suites took more than 45 minutes, and ends after 70.
#   WEFT_DATA_DIR=DIR goldens and traces (default: ../shared/data). Without them the tests that need them are
#                     skipped; with CI=true that is an error.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

"$root/scripts/setup.sh"

data=${WEFT_DATA_DIR:-$root/../shared/data}
if [ -d "$data" ]; then
  WEFT_DATA_DIR=$(cd "$data" && pwd)
  export WEFT_DATA_DIR
  say "golden data: $WEFT_DATA_DIR"
elif [ "${CI:-}" = true ]; then
  say "the golden data folder '$data' does not exist, and CI=true forbids to skip the tests that need it;" \
    "put it beside the checkout or set WEFT_DATA_DIR" >&2
  exit 1
else
  say "the golden data folder '$data' does not exist: the tests that need it are skipped (set WEFT_DATA_DIR)"
fi

# seconds_to MINUTES: until so many minutes after the start of this script; at least 1.
seconds_to() {
  local left=$(($1 * 60 - SECONDS))
  echo $((left > 1 ? left : 1))
}

# suite PRESET END [ctest options...]: runs ctest, until END minutes after the start of this script at the latest (0: to
# its end), and keeps its closing line in $closing.
suite() {
  local preset=$1 end=$2 status=0 limit=()
  shift 2
  [ "$end" -eq 0 ] || limit=(timeout "$(seconds_to "$end")")
  local log="$root/build/$preset/ctest.log"
  "${limit[@]}" ctest --test-dir "$root/build/$preset" --output-on-failure --no-tests=error -j "$jobs" "$@" 2>&1 |
    tee "$log" || status=${PIPESTATUS[0]}
  closing=$(grep -E 'tests passed,' "$log" | tail -n 1 || true)
  if [ "$end" -ne 0 ] && [ "$status" -eq 124 ]; then
    # Ended before its time: tests that had failed are failures.
    status=0
    closing="$(grep -cE ' Passed +[0-9.]+ sec' "$log" || true) tests passed, then ended after $end min: this machine is slow"
    if grep -qE '\*\*\*(Failed|Timeout|Exception|Not Run)' "$log"; then
      status=1 closing="$closing; tests failed before that, see $log"
    fi
  fi
  [ -n "$closing" ] || closing="ctest gave no result, see $log"
  return "$status"
}

failed=0
# Both trees are built from nothing here, so sources are compiled together.
build release all -DWEFT_WERROR=ON -DWEFT_BUILD_TESTS=ON -DWEFT_UNIT_TESTS=OFF -DWEFT_UNITY=ON
say "running the release suite"
suite release 0 || failed=1
release_closing=$closing

sanitizers_end_by=80  # minutes after the start of this script
status=0
timeout "$(seconds_to "$sanitizers_end_by")" bash -euo pipefail -c \
  'source "$1/scripts/common.sh"; shift; build "$@"' "$0" "$root" \
  asan weft_unit_tests -DWEFT_WERROR=ON -DWEFT_BUILD_TESTS=ON -DWEFT_BUILD_BENCH=OFF -DWEFT_UNITY=ON || status=$?
case $status in
  0)
    say "running the unit tests under the sanitizers"
    suite asan "$sanitizers_end_by" -L '^unit$' || failed=1
    asan_closing=$closing
    ;;
  124) asan_closing="left out: they were not built after $sanitizers_end_by min; this machine is slow" ;;
  *) exit "$status" ;;
esac

fuzz_seconds=${WEFT_FUZZ_SECONDS:-0}
fuzz_begins_by=45 fuzz_ends_by=70  # minutes after the start of this script
fuzz_closing="left out (WEFT_FUZZ_SECONDS=30 for 30 s a target)"
if [ "$fuzz_seconds" -gt 0 ] && [ "$SECONDS" -gt $((fuzz_begins_by * 60)) ]; then
  fuzz_closing="left out: setting up, building and the suites took $((SECONDS / 60)) min on this machine (limit $fuzz_begins_by)"
elif [ "$fuzz_seconds" -gt 0 ]; then
  say "fuzzing the readers"
  status=0 began=$(date +%s)
  timeout "$(seconds_to "$fuzz_ends_by")" \
    "$root/scripts/fuzz.sh" --seconds "$fuzz_seconds" --jobs "$jobs" --seed 1 || status=$?
  case $status in
    0) fuzz_closing="no finding in $fuzz_seconds s a target, or skipped" ;;
    124)
      fuzz_closing="not finished $fuzz_ends_by min after the start of this script, and ended: this machine is slow"
      # The targets that had ended: what they found is there, but nobody told it.
      found=$(find "$root/build/fuzz/findings" -type f ! -name '*-timeout-*' -newermt "@$began" 2>/dev/null || true)
      [ -z "$found" ] || { failed=1 && fuzz_closing="ended before its time, with findings: $found"; }
      ;;
    *) failed=1 && fuzz_closing="findings, or it could not run; see above" ;;
  esac
fi

printf '\n'
say "fuzzing:                 $fuzz_closing"
say "sanitizers (unit tests): $asan_closing"
say "release suite:           $release_closing"
printf '%s\n' "$release_closing"
exit "$failed"
