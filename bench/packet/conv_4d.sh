#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
#
# Packet fidelity in the large: a 64 MiB all-reduce on the 512 NPUs of CONV-4D with 4 KiB packets, beside the same at
# message and analytical fidelity. The argument is another size.
set -eu
cd "$(dirname "$0")/../.."
cmake --preset release >/dev/null
cmake --build --preset release --target weft >/dev/null
for fidelity in analytical message packet; do
  echo "$fidelity:"
  build/release/bin/weft collective --config configs/papers/table2_conv_4d_packet.yaml --fidelity $fidelity \
    --size "${1:-64 MiB}"
done
