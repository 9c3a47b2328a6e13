#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
#
# Installs the npm packages of the page of `weft report` (report/package-lock.json) in build/report_packages. Where they are
# there already it does nothing and needs no network.
#
# Without Node.js, npm or network it says so and leaves the page out. So that nobody misses it in silence, the test of
# the page is then reported as skipped.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder=build/report_packages
say() { printf 'report_packages: %s\n' "$*"; }
leave_out() {
  say "$*; weft is built without the page of \`weft report\`"
  exit 0
}

wanted=$(sha256sum report/package-lock.json | cut -d' ' -f1)
[ "$(cat "$folder/installed" 2>/dev/null || true)" != "$wanted" ] || exit 0

command -v node >/dev/null 2>&1 || leave_out "Node.js is missing (scripts/setup.sh installs it)"
[ "$(node -p 'process.versions.node.split(".")[0]' 2>/dev/null || echo 0)" -ge 18 ] ||
  leave_out "Node.js is older than 18"
command -v npm >/dev/null 2>&1 || leave_out "npm is missing (scripts/setup.sh installs it)"
say "installing the packages of report/package-lock.json in $folder"
mkdir -p "$folder"
rm -f "$folder/installed"
cp report/package.json report/package-lock.json report/.npmrc "$folder/"
# Scripts of packages are not run: none is needed.
if ! npm ci --prefix "$folder" --ignore-scripts >"$folder/npm.log" 2>&1; then
  tail -n 5 "$folder/npm.log" >&2
  leave_out "npm ci failed, see $folder/npm.log"
fi
printf '%s\n' "$wanted" >"$folder/installed"
