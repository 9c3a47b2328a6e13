#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
#
# Builds the release preset's test_relations and tries relations on random cases (docs/testing.md).
#
#   scripts/relations.sh --seed N --minutes M [--relation NAME]... [--jobs J]
#   scripts/relations.sh --seed N --cases C   C cases of each relation that are compared
#   scripts/relations.sh --relation NAME --seed N --case I   one case again
#   scripts/relations.sh --list               the relations
#
# A failing case is made smaller, printed as commands and a YAML file, and written with its traces to
# build/relations_found (--found DIR). The exit status is 1 if a case failed.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

build release test_relations -DWEFT_BUILD_TESTS=ON >&2
exec "$root/build/release/bin/test_relations" --found "$root/build/relations_found" "$@"
