# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""Runs a PyTorch script as a rank of `weft emulate`, unchanged:

    weft emulate machine.yaml --real 0,8 --shim torch -- python3 -m weft.run script.py ARGUMENTS..

The backend `weft` stands in the place of nccl and gloo. One thread computes (WEFT_TORCH_THREADS: more), so that the
process's CPU time is its compute time."""

import os
import runpy
import sys


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    try:
        import torch
    except ImportError:
        sys.exit("weft.run: there is no PyTorch for this Python; install it (Debian: python3-torch)")
    if "WEFT_SOCKET" not in os.environ:
        sys.exit("weft.run: not under `weft emulate`: weft emulate machine.yaml --real 0 --shim torch -- python3 -m weft.run ..")
    torch.set_num_threads(int(os.environ.get("WEFT_TORCH_THREADS", "1")))
    from . import torch_backend
    torch_backend.install()
    sys.argv = sys.argv[1:]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
