#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
#
# Makes the pictures of docs/report.md and docs/guide/waveforms.md: the commands of these pages, in a folder of its own,
# Chromium, and GTKWave under Xvfb.
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

# The view of a waveform as `weft waves` opens it, but smaller, with every group open and one part of the step.
"$weft" run configs/examples/quickstart.yaml --trace trace/llm --groups trace/llm.groups.json \
  --waves 'npu*.state,nmu0.*.{rate,queue}' --out waves
"$weft" waves waves --no-window
sed -E 's/^@c00200/@800200/; s/^@1401200/@1000200/; s/^\[size\].*/[size] 1280 600/; s/^(\[sst_width\]) .*/\1 150/' \
  waves/waves.gtkw > waves/open.gtkw
cat > shot.tcl << 'END'
gtkwave::setZoomRangeTimes 900us 1700us
gtkwave::/File/Grab_To_File gtkwave.png
gtkwave::/File/Quit
END
for need in gtkwave xvfb-run; do
  command -v "$need" > /dev/null || { echo "screenshots: '$need' is missing; run scripts/setup.sh" >&2; exit 1; }
done
timeout 100 xvfb-run -a -s '-screen 0 1300x660x24' gtkwave waves/waves.vcd waves/open.gtkw -S shot.tcl
[ -s gtkwave.png ] || { echo "screenshots: GTKWave has written no picture" >&2; exit 1; }

# picture FILE DOCUMENT: into docs/, if it is small enough for a repository.
picture() {
  local size
  size=$(stat -c %s "$1")
  [ "$size" -le 204800 ] || { echo "screenshots: $1 has $size bytes, more than 200 KiB" >&2; exit 1; }
  cp "$1" "$root/docs/$2"
}
for name in overview links comparison; do picture "$name.png" "report_$name.png"; done
picture gtkwave.png waveforms_gtkwave.png
