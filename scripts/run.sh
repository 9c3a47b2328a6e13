#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
#
# Sets up, builds the release preset and runs Weft.
#
#   scripts/run.sh            the quickstart: generates a small training step and runs it
#   scripts/run.sh ARGS...    weft ARGS..., for example: scripts/run.sh run my.yaml --out out
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# What sets up and builds goes to stderr, so that the standard output is that of weft alone.
{
  "$root/scripts/setup.sh"
  build release weft -DWEFT_UNITY=ON
} >&2
weft="$root/build/release/bin/weft"

if [ "$#" -gt 0 ]; then
  exec "$weft" "$@"
fi

quickstart="$root/build/quickstart"
config="$root/configs/examples/quickstart.yaml"

show() {
  printf '\n$ weft'
  printf ' %s' "$@"
  printf '\n'
  "$weft" "$@"
}

cd "$root"
show generate llm --tp 2 --dp 2 --pp 2 --layers 4 --hidden 1024 --seq 512 --batch 8 --microbatches 4 \
  --out "$quickstart/trace"
show run "$config" --set "workload.trace=$quickstart/trace/llm" \
  --set "workload.groups=$quickstart/trace/llm.groups.json" --out "$quickstart/results"

printf '\n'
say "the trace is in    $quickstart/trace"
say "the results are in $quickstart/results (summary.json, ranks.csv, collectives.csv, links.csv, effective.yaml)"
say "the machine is     $config"
say "weft itself is     $weft (try: $weft --help)"
