#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""The table of errors by machine and class of docs/calibration.md, from a folder of measured tables.

    calibration_tables.py WEFT FOLDER             print the table; exit 1 if a machine misses its gate
    calibration_tables.py WEFT FOLDER --svg DIR   also draw each fit
"""

import argparse
import json
import pathlib
import subprocess
import sys

#: Table, machine, and further arguments; what its gate is: "gate", "no scales" (links are not what limits), "point".
CASES = [
    ("nccl_h100_8gpu_allreduce", "dgx_h100", [], "gate"),
    ("nccl_h200_2node16_allreduce", "dgx_h200_2node", [], "gate"),
    ("nccl_a100_2node16_allreduce", "oci_a100_2node", ["--set", "collectives.library_version=2.20"], "gate"),
    ("rccl_mi300x_8gpu_allreduce", "mi300x", [], "gate"),
    ("rccl_mi350x_8gpu_allreduce", "mi350x", [], "gate"),
    ("neuronabox_table1_2xV100_100GbE", "ethernet_100g_pair",
     ["--operation", "all_reduce", "--set", "collectives.library_version=2.19"], "no scales"),
    ("neuronabox_table1_2xV100_100GbE", "ethernet_100g_pair",
     ["--operation", "all_gather", "--set", "collectives.library_version=2.19"], "no scales"),
    ("nccl_v100_8gpu_point", "dgx_1v", ["--fit", "none"], "point"),
]


def calibrated(weft, folder, case, svg):
    table, machine, more, _ = case
    command = [weft, "calibrate", str(folder / f"{table}.json"), "--machine", machine, "--json", *more]
    if svg:
        command += ["--svg", str(svg / f"{machine}_{len(list(svg.glob('*.svg')))}.svg")]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{ran.stderr}")
    return json.loads(ran.stdout)


def verdict(report, gate):
    test = report["test"]
    if gate == "point":
        return test["max"] <= 15
    good = test["p50"] <= 5 and test["p95"] <= max(10, report["baselines"]["interpolation"]["p95"])
    if gate == "gate":
        parameters = report["parameters"]
        good = good and 0.3 <= parameters["latency_scale"] <= 4 and 0.8 <= parameters["bandwidth_scale"] <= 1.2
    return good


def row(report, case):
    test, baselines, parameters = report["test"], report["baselines"], report["parameters"]
    name = case[1] + (" " + case[2][1] if "--operation" in case[2] else "")

    def of_class(key):
        errors = test["classes"][key]
        return f"{errors['p50']:.1f} / {errors['max']:.1f} ({errors['bias']:+.1f})" if errors["rows"] else "-"

    def baseline(key):
        value = baselines[key]["p95"]
        return "-" if value is None else f"{value:.1f}"

    cells = [f"`{name}`", f"{parameters['launch_us']:.1f}", f"{parameters['latency_scale']:.2f}",
             f"{parameters['bandwidth_scale']:.3g}", f"{test['p50']:.1f}", f"{test['p95']:.1f}", f"{test['max']:.1f}",
             of_class("64KiB"), of_class("16MiB"), of_class("above"), baseline("line"), baseline("interpolation"),
             "passed" if verdict(report, case[3]) else "missed"]
    return "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--svg", type=pathlib.Path)
    arguments = parser.parse_args()
    if not arguments.folder.is_dir():
        sys.exit(f"{arguments.folder}: no such folder; name the one of the measured tables")
    if arguments.svg:
        arguments.svg.mkdir(parents=True, exist_ok=True)
    print("| machine | launch, us | latency | bandwidth | P50 | P95 | max | to 64 KiB: P50 / max (bias) | to 16 MiB "
          "| above | line P95 | interpolation P95 | gate |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    missed = []
    for case in CASES:
        report = calibrated(arguments.weft, arguments.folder, case, arguments.svg)
        print(row(report, case))
        if not verdict(report, case[3]):
            missed.append(case[1])
    if missed:
        sys.exit(f"missed: {', '.join(missed)}")


if __name__ == "__main__":
    main()
