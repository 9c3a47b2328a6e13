#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
#
#   functions_test.sh LIBRARY LIST     the library exports the functions of the list, and nothing else
set -euo pipefail
diff <(grep -v '^#' "$2" | sort) <(nm -D --defined-only "$1" | awk '{print $3}' | sort)
