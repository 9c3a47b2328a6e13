#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
#
# Formats every C++ source as .clang-format says.
#
#   scripts/format.sh           change the files
#   scripts/format.sh --check   change nothing; fail and name the files that differ (exit 77: no clang-format)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! command -v clang-format >/dev/null 2>&1; then
  echo "clang-format is not installed; run scripts/setup.sh" >&2
  exit 77
fi
mapfile -d '' files < <(find bench configs cosim emulation examples insight network_interface parts sc_main sc_models tests tlm_interconnect vcd workload \
  -type f \( -name '*.h' -o -name '*.cpp' \) -print0)
if [ "${1:-}" != --check ]; then
  clang-format -i "${files[@]}"
  exit 0
fi
differing=$(clang-format --dry-run "${files[@]}" 2>&1 | sed -n 's/^\([^:]*\):[0-9]*:[0-9]*: warning: code should be.*/\1/p' | sort -u)
if [ -n "$differing" ]; then
  printf 'not formatted (run scripts/format.sh):\n%s\n' "$differing" >&2
  exit 1
fi
echo "${#files[@]} files are formatted"
