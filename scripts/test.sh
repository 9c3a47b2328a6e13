#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
#
# Sets up, builds with warnings as errors, runs the release suite (all tests but the unit tests), then the unit tests
# under the address and undefined-behaviour sanitizers, then, if asked to, the fuzz targets of the readers. Ends with the
# results and a non-zero exit if anything failed.
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

# suite PRESET [ctest options...]: runs ctest and keeps its closing line in $closing.
suite() {
  local preset=$1 status=0
  shift
  local log="$root/build/$preset/ctest.log"
  ctest --test-dir "$root/build/$preset" --output-on-failure --no-tests=error -j "$jobs" "$@" 2>&1 | tee "$log" || status=1
  closing=$(grep -E 'tests passed,' "$log" | tail -n 1 || true)
  [ -n "$closing" ] || closing="ctest gave no result, see $log"
  return "$status"
}

failed=0
# Both trees are built from nothing here, so sources are compiled together.
build release all -DWEFT_WERROR=ON -DWEFT_BUILD_TESTS=ON -DWEFT_UNIT_TESTS=OFF -DWEFT_UNITY=ON
say "running the release suite"
suite release || failed=1
release_closing=$closing

build asan weft_unit_tests -DWEFT_WERROR=ON -DWEFT_BUILD_TESTS=ON -DWEFT_BUILD_BENCH=OFF -DWEFT_UNITY=ON
say "running the unit tests under the sanitizers"
suite asan -L '^unit$' || failed=1
asan_closing=$closing

fuzz_seconds=${WEFT_FUZZ_SECONDS:-0}
fuzz_begins_by=45 fuzz_ends_by=70  # minutes after the start of this script
fuzz_closing="left out (WEFT_FUZZ_SECONDS=30 for 30 s a target)"
if [ "$fuzz_seconds" -gt 0 ] && [ "$SECONDS" -gt $((fuzz_begins_by * 60)) ]; then
  fuzz_closing="left out: setting up, building and the suites took $((SECONDS / 60)) min on this machine (limit $fuzz_begins_by)"
elif [ "$fuzz_seconds" -gt 0 ]; then
  say "fuzzing the readers"
  status=0 began=$(date +%s)
  timeout $((fuzz_ends_by * 60 - SECONDS)) \
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
