# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
#
# Shared by run.sh and test.sh, which source it.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
jobs=${WEFT_JOBS:-$(nproc 2>/dev/null || echo 2)}

say() { printf '%s: %s\n' "$(basename "$0" .sh)" "$*"; }

# build PRESET TARGET [cmake options...]: configures and builds into build/PRESET; prints the whole log if it fails.
build() {
  local preset=$1 target=$2
  shift 2
  mkdir -p "$root/build/$preset"
  local log="$root/build/$preset/configure.log"
  "$root/scripts/report_packages.sh" # the page of `weft report`
  say "configuring build/$preset"
  if ! (cd "$root" && cmake --preset "$preset" "$@") >"$log" 2>&1; then
    cat "$log" >&2
    say "configuring failed; see above" >&2
    return 1
  fi
  say "building build/$preset with $jobs jobs (the first time takes some minutes)"
  cmake --build "$root/build/$preset" --target "$target" -j "$jobs"
}
