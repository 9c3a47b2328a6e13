#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
#
# Ranks of `weft emulate` that send wrong frames, under the address and undefined-behaviour sanitizers.
#
#   scripts/fuzz_sessions.sh [FRAMES [SESSIONS]]   1,000,000 frames against the decoder and the job in one process, 1,000
#                                                  sessions of processes against `weft emulate`
#
# WEFT_FUZZ_SEED=N draws others. Ends with a non-zero status if there was a finding.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

frames=${1:-1000000}
sessions=${2:-1000}
if [[ ! $frames =~ ^[1-9][0-9]*$ || ! $sessions =~ ^[1-9][0-9]*$ ]]; then
  say "FRAMES and SESSIONS are whole numbers above 0" >&2
  exit 2
fi
for target in test_emulation_protocol test_emulation_sessions emulation_fuzzed_rank weft; do build asan "$target"; done
bin="$root/build/asan/bin"
export UBSAN_OPTIONS=print_stacktrace=1
say "the decoder"
"$bin/test_emulation_protocol"
say "the job: $frames frames"
WEFT_FUZZ_FRAMES=$frames "$bin/test_emulation_sessions"
say "weft emulate: $sessions sessions"
WEFT_FUZZ_SESSIONS=$sessions WEFT_FUZZ_SLOWNESS=4 python3 "$root/tests/emulation/fuzzed_test.py" "$bin/weft" "$bin/emulation_fuzzed_rank"
