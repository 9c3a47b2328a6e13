#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
#
# Makes the pictures of docs/report.md: the commands of that page, in a folder of its own, and Chromium.
#
#   scripts/screenshots.sh     after a build of the release preset
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD

weft=$root/build/release/bin/weft
packages=$root/build/report_packages
chromium=${WEFT_CHROMIUM:-$(command -v chromium || command -v chromium-browser || true)}
for need in "$weft" "$packages/installed" "$chromium"; do
  [ -n "$need" ] && [ -e "$need" ] || { echo "screenshots: '$need' is missing; run scripts/setup.sh and scripts/run.sh" >&2; exit 1; }
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
ln -s "$root/configs" configs

"$weft" generate llm --tp 2 --dp 2 --pp 2 --layers 4 --hidden 1024 --seq 512 --batch 8 --microbatches 4 --out trace
step() { "$weft" run configs/examples/quickstart.yaml --trace trace/llm --groups trace/llm.groups.json "$@"; }
step --out eight
step --set collectives.chunks=2 --out two
"$weft" report eight -o report.html
"$weft" report eight two -o comparison.html

shot() { node "$root/report/screenshots.mjs" "$packages" "$chromium" "$@"; }
shot report.html overview.png 'header.top' '#overview' '#ranks .chart'
shot report.html links.png '#links > h2' '#links .panels' --dark
shot comparison.html comparison.png '#compare > h2' 'table[aria-label="All runs side by side"]'
for name in overview links comparison; do
  size=$(stat -c %s "$name.png")
  [ "$size" -le 204800 ] || { echo "screenshots: $name.png has $size bytes, more than 200 KiB" >&2; exit 1; }
  cp "$name.png" "$root/docs/report_$name.png"
done
