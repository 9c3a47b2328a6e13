#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""Installs Weft, builds examples/network_interface against the package, and compares what they print with closed forms."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from installed_weft import InstalledWeft, check, command, finish, parser  # noqa: E402

HOP_PS = 300_000
PS_PER_BYTE = 20  # 50 GB/s


def ping_pong(package, program, machine):
    """Over one and two hops of the ring, small and large."""
    for other, hops in ((1, 1), (2, 2), (3, 1)):
        for size in (1, 4096, 1 << 20):
            code, out, err = package.call(program, machine, 0, other, size)
            expected = 2 * (hops * HOP_PS + size * PS_PER_BYTE)
            check(code == 0 and out == f"{expected} ps a round trip\n", f"ping_pong 0 {other} {size}: {code} {out}{err}")
    code, _, err = package.call(program, machine, 0, 9, 1)
    check(code == 1 and "9; the machine has ranks 0 to 3" in err, f"ping_pong with a rank that is not there: {code} {err}")
    code, _, err = package.call(program, "nowhere.yaml", 0, 1, 1)
    check(code == 2 and "nowhere.yaml" in err, f"ping_pong without a machine: {code} {err}")


def ring_all_reduce(package, program, machine):
    """ASTRA-sim's class over weft_net.h: computing in ns, then 6 steps of a quarter."""
    for modes in ((), ("sent",), ("bytes",), ("sent", "bytes")):
        code, out, err = package.call(program, machine, 64_000, 1500, *modes)
        nanoseconds = 1500 + 6 * (HOP_PS + 16_000 * PS_PER_BYTE) / 1000
        check(code == 0 and out == f"4 ranks, 50.0 GB/s: finished at {nanoseconds:.3f} ns\n",
              f"ring_all_reduce {modes}: {code} {out}{err}")


def trace_job(package, program, machine):
    """Traces driven through the C interface take the time of `weft run`, to the picosecond."""
    for parallel in (("--tp", 4, "--batch", 1), ("--tp", 2, "--dp", 2, "--batch", 4), ("--pp", 4, "--layers", 4, "--batch", 8),
                     ("--tp", 2, "--pp", 2, "--layers", 4, "--batch", 4)):
        name = "trace" + "_".join(str(p).strip("-") for p in parallel)
        layers = () if "--layers" in parallel else ("--layers", 2)
        command([package.weft, "generate", "llm", *parallel, *layers, "--hidden", 256, "--out", package.work / name])
        trace, groups = package.work / name / "llm", package.work / name / "llm.groups.json"
        command([package.weft, "run", machine, "--trace", trace, "--groups", groups, "--out", package.work / f"{name}_out"])
        time = json.loads((package.work / f"{name}_out" / "summary.json").read_text())["time_ns"]
        code, out, err = package.call(program, machine, trace, groups)
        check(code == 0 and out == f"finished at {round(time * 1000)} ps\n", f"trace_job {parallel}: {code} {out}{err}, not {time} ns")


def plain_c(package, source):
    """Without CMake: a C compiler and the installed header and library."""
    program = package.work / "plain"
    command(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{package.prefix}/include", source / "ping_pong.c",
             f"-L{package.prefix}/lib", f"-Wl,-rpath,{package.prefix}/lib", "-lweft_net", "-o", program])
    code, out, err = package.call(program, source / "machine.yaml", 0, 2, 4096)
    check(code == 0 and out == "1363840 ps a round trip\n", f"plain C: {code} {out}{err}")


def main():
    args = parser(__doc__).parse_args()
    package = InstalledWeft(args)
    source = package.example_source("network_interface", package.work / "source" / "network_interface")
    folder = package.build(source, package.work / "build" / "network_interface")
    ping_pong(package, folder / "ping_pong", source / "machine.yaml")
    ring_all_reduce(package, folder / "ring_all_reduce", source / "machine.yaml")
    trace_job(package, folder / "trace_job", source / "machine.yaml")
    plain_c(package, source)
    finish()


if __name__ == "__main__":
    main()
