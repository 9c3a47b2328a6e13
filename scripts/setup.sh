#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
#
# Installs the Debian packages Weft is built with. Where they are there already it does nothing and needs no root.
#
#   scripts/setup.sh          install what is missing
#   scripts/setup.sh --dev    also the tools a contributor wants (clang-tidy, gdb)
#   scripts/setup.sh --list   print the packages and do nothing
set -euo pipefail

# The one list of packages. Without `required` nothing is built; without `useful` the build is slower, or tests are
# left out and say so.
required=(g++ cmake ninja-build pkg-config libsystemc-dev libyaml-cpp-dev protobuf-compiler libprotobuf-dev
          libgtest-dev libcli11-dev libfmt-dev nlohmann-json3-dev)
useful=(ccache libbenchmark-dev clang-format gtkwave xvfb xauth graphviz python3 clang libclang-rt-dev
        slurmctld slurmd slurm-client verilator valgrind chromium
        libopenmpi-dev openmpi-bin libmpich-dev mpich)
# The page of `weft report` is bundled by Node.js; any that is there will do.
command -v node >/dev/null 2>&1 || useful+=(nodejs)
command -v npm >/dev/null 2>&1 || useful+=(npm)
dev=(clang-tidy gdb)

say() { printf 'setup: %s\n' "$*"; }

want_dev=no
case "${1:-}" in
  "") ;;
  --dev) want_dev=yes ;;
  --list)
    printf '%s\n' "${required[@]}" "${useful[@]}" "${dev[@]}"
    exit 0 ;;
  *)
    printf 'setup: unknown argument "%s"; use --dev, --list or nothing\n' "$1" >&2
    exit 2 ;;
esac
[ "$want_dev" = no ] || useful+=("${dev[@]}")

if ! command -v dpkg-query >/dev/null 2>&1 || ! command -v apt-get >/dev/null 2>&1; then
  say "this is not Debian or one of its relatives: nothing is installed."
  say "Weft needs a C++17 compiler, CMake 3.25, Ninja, pkg-config, SystemC 2.3.4 or 3.0, yaml-cpp, protobuf,"
  say "GoogleTest, CLI11, fmt and nlohmann-json; ccache, Google Benchmark, GTKWave, Xvfb, Graphviz, clang-format, clang,"
  say "Slurm (for a test of weft sweep --slurm) and Verilator (for RTL) and Valgrind (for a test of its cost) are useful,"
  say "Node.js 18 with npm (for the page of weft report), Chromium (for its test), and Open MPI and MPICH (for MPI"
  say "programs under weft emulate), too."
  say "Going on with what CMake finds."
  exit 0
fi

# Prints those of its arguments that are not installed, with one call of dpkg-query for all.
missing_of() {
  local installed package
  installed=$(dpkg-query -W -f='${Package} ${db:Status-Abbrev}\n' "$@" 2>/dev/null | awk '$2 ~ /^.i$/ {print $1}' || true)
  for package in "$@"; do
    grep -qxF -- "$package" <<<"$installed" || printf '%s\n' "$package"
  done
}

mapfile -t missing_required < <(missing_of "${required[@]}")
mapfile -t missing_useful < <(missing_of "${useful[@]}")
missing=("${missing_required[@]}" "${missing_useful[@]}")
if [ "${#missing[@]}" -eq 0 ]; then
  say "all packages are installed"
  exit 0
fi
say "missing packages: ${missing[*]}"

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  # Asks for a password only where somebody can type one.
  if command -v sudo >/dev/null 2>&1 && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
    as_root=(sudo)
  else
    say "they need root to install, and there is no usable sudo. As root, run:"
    say "  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
    if [ "${#missing_required[@]}" -ne 0 ] && [ "${WEFT_SKIP_SETUP:-}" != 1 ]; then
      say "(with libraries of your own, found by CMAKE_PREFIX_PATH, set WEFT_SKIP_SETUP=1 to go on without them)"
      exit 1
    fi
    say "going on without them"
    exit 0
  fi
fi

say "installing them with apt-get"
# An index that cannot be refreshed may still name the packages, so this failure is not the end.
"${as_root[@]}" apt-get update -qq || say "apt-get update failed; trying with the index there is"
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
say "done"
