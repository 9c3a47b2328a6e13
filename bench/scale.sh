#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
#
# Builds and runs the speed gates. Arguments go to bench_scale (--gate NAME, --repeat N).
# The bench's own main first, then the `weft` program where it has the subcommand.
set -eu
cd "$(dirname "$0")/.."
cmake --preset release >/dev/null
cmake --build --preset release --target bench_scale >/dev/null
bin=build/release/bin
status=0
echo "bench_scale:"
$bin/bench_scale "$@" || status=1
if [ -x $bin/weft ] && $bin/weft collective --help >/dev/null 2>&1; then
  echo
  echo "weft collective:"
  $bin/bench_scale --weft $bin/weft "$@" || status=1
fi
exit $status
