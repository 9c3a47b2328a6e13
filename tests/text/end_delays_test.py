#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""`nic_latency`, `router_latency` and `endpoint_delay` of a dimension: closed forms at every fidelity, far messages,
point-to-point messages, folding, bounds and critical paths; what cannot be is refused; ASTRA-sim's files have them."""

import json
import os
import re
import sys
import tempfile

from cases import check, finish, weft, write


def machine(notation, dimensions, more=""):
    lines = "".join("    - {" + ", ".join(f"{k}: {v}" for k, v in d.items()) + "}\n" for d in dimensions)
    return f"weft: 1\ntopology:\n  notation: {notation}\n  dimensions:\n{lines}{more}"


def collective_ps(folder, text, operation, size, *more):
    write(folder, "m.yaml", text)
    ran = weft("collective", "--config", "m.yaml", "--op", operation, "--size", size, "--json", *more, cwd=folder)
    check(ran.returncode == 0, f"{text}: {ran.stderr}")
    return round(float(json.loads(ran.stdout)["results"][0]["time_ns"]) * 1000) if ran.returncode == 0 else -1


def equal(got, wanted, what):
    check(got == wanted, f"{what}: {got} ps, wanted {wanted} ps")


def rings(folder):
    """A ring: one phase whose every round pays the link, the interfaces of both ends and the endpoint."""
    for fidelity in ("analytical", "message"):
        for n, nic, endpoint in ((4, 0, None), (4, 70, None), (4, 70, 25), (5, 33, 0), (2, 9, 4)):
            d = {"bandwidth": "10 GB/s", "latency": "100 ns", "fidelity": fidelity, "nic_latency": f"{nic} ns"}
            if endpoint is not None:
                d["endpoint_delay"] = f"{endpoint} ns"
            text = machine(f"Ring({n})", [d], "nmu: {endpoint_delay: 10 ns}\ncollectives: {chunks: 1, all_reduce: ring}\n")
            e = 10 if endpoint is None else endpoint
            size = n * 12000
            wanted = (e + 2 * (n - 1) * (1200 + 100 + e + 2 * nic)) * 1000
            for fold in ([], ["--no-fold"]):
                equal(collective_ps(folder, text, "all_reduce", f"{size} B", *fold), wanted,
                      f"{fidelity} ring of {n}, interfaces {nic}, endpoint {endpoint} {fold}")


def far(folder):
    """A message of many hops pays the interfaces once, not at each hop."""
    for fidelity in ("analytical", "message", "packet"):
        for kind in ("Ring(8)", "Mesh(6)"):
            def time(nic, fidelity=fidelity, kind=kind):
                d = {"bandwidth": "16 GB/s", "latency": "100 ns", "fidelity": fidelity, "nic_latency": f"{nic} ns"}
                text = machine(kind, [d], "collectives: {chunks: 1, all_to_all: direct}\n")
                return collective_ps(folder, text, "all_to_all", "64 KiB")
            equal(time(64) - time(0), 128000, f"{fidelity} all-to-all on {kind}")


def two_dimensions(folder):
    """Every phase pays what its own dimension says."""
    for fidelity in ("analytical", "message"):
        local = {"bandwidth": "8 GB/s", "latency": "50 ns", "fidelity": fidelity, "nic_latency": "3 ns",
                 "endpoint_delay": "10 ns"}
        outer = {"bandwidth": "4 GB/s", "latency": "300 ns", "fidelity": fidelity, "nic_latency": "40 ns",
                 "router_latency": "26 ns"}
        text = machine("Ring(4)_Switch(2)", [local, outer],
                       "nmu: {endpoint_delay: 7 ns}\ncollectives: {chunks: 1, order: local_bw_aware, all_reduce: ring, "
                       "all_gather: ring, reduce_scatter: ring}\n")
        # 64000 B: reduce-scatter and all-gather of quarters, an all-reduce of a quarter in halves.
        ring = 10 + 3 * (2000 + 50 + 10 + 6)
        switch = 7 + 2 * (2000 + 600 + 26 + 7 + 80)
        if fidelity == "message":
            text = text.replace("fidelity: message", "fidelity: message, switching: cut_through")
        equal(collective_ps(folder, text, "all_reduce", "64000 B"), (2 * ring + switch) * 1000, f"{fidelity}, two dimensions")
        equal(collective_ps(folder, text, "all_reduce", "64000 B", "--no-fold"), (2 * ring + switch) * 1000,
              f"{fidelity}, two dimensions, each rank")


def routers(folder):
    """A router is the switch's share of its two hops, at every fidelity; effective.yaml has the sum."""
    for fidelity in ("analytical", "message", "packet"):
        base = {"bandwidth": "16 GB/s", "latency": "100 ns", "fidelity": fidelity}
        more = "collectives: {chunks: 2, all_reduce: direct}\n"
        wanted = collective_ps(folder, machine("Switch(4)", [dict(base, latency="113 ns")], more), "all_reduce", "1 MiB")
        text = machine("Switch(4)", [dict(base, router_latency="26 ns")], more)
        equal(collective_ps(folder, text, "all_reduce", "1 MiB"), wanted, f"{fidelity} router")
    write(folder, "w.txt", "MICRO 1 x -1 0 NONE 0 0 NONE 0 0 ALLREDUCE 1048576 0\n")
    first = weft("run", "m.yaml", "--text", "w.txt", "--out", "a", "--json", cwd=folder)
    again = weft("run", "a/effective.yaml", "--out", "b", "--json", cwd=folder)
    check(first.returncode == again.returncode == 0, first.stderr + again.stderr)
    equal(json.loads(again.stdout)["time_ns"], json.loads(first.stdout)["time_ns"], "effective.yaml")


def packets(folder):
    """Packets: every round of a ring is later by two interfaces, whole cycles here."""
    def time(nic, endpoint):
        d = {"bandwidth": "16 GB/s", "latency": "100 ns", "fidelity": "packet", "nic_latency": f"{nic} ns",
             "endpoint_delay": f"{endpoint} ns"}
        return collective_ps(folder, machine("Ring(4)", [d], "collectives: {chunks: 1, all_reduce: ring}\n"), "all_reduce",
                             "64 KiB")
    equal(time(50, 0) - time(0, 0), 6 * 100 * 1000, "packets, interfaces")
    equal(time(0, 20) - time(0, 0), 7 * 20 * 1000, "packets, endpoint")


def points(folder):
    """Messages from rank to rank: the endpoint of the first dimension, that and the interfaces of the last one."""
    for fidelity in ("analytical", "message"):
        inner = {"bandwidth": "1 GB/s", "latency": "100 ns", "fidelity": fidelity, "nic_latency": "3 ns",
                 "endpoint_delay": "11 ns", "switching": "cut_through"}
        outer = {"bandwidth": "1 GB/s", "latency": "200 ns", "fidelity": fidelity, "nic_latency": "40 ns",
                 "endpoint_delay": "23 ns", "switching": "cut_through"}
        write(folder, "m.yaml", machine("FullyConnected(2)_FullyConnected(2)", [inner, outer]))
        for receiver, wanted in ((1, 11 + 1100 + 6 + 11), (2, 23 + 1200 + 80 + 23), (3, 11 + 1300 + 80 + 23)):
            program = "num_ranks 4\n\n"
            for rank in range(4):
                line = ("l1: send 1000b to %d tag 1" % receiver if rank == 0 else
                        "l1: recv 1000b from 0 tag 1" if rank == receiver else "l1: calc 1")
                program += "rank %d {\n%s\n}\n\n" % (rank, line)
            write(folder, "p.goal", program)
            ran = weft("run", "m.yaml", "--goal", "p.goal", "--out", "o", "--json", cwd=folder)
            check(ran.returncode == 0, ran.stderr)
            got = round(float(json.loads(ran.stdout)["time_ns"]) * 1000) if ran.returncode == 0 else -1
            equal(got, wanted * 1000, f"{fidelity} message to {receiver}")


def folding(folder):
    """A pipeline with all kinds of parallelism: the same with folding, and the path's parts make the whole."""
    made = weft("generate", "llm", "--tp", "2", "--dp", "2", "--pp", "2", "--layers", "4", "--hidden", "256", "--seq", "64",
                "--batch", "8", "--microbatches", "2", "--out", "t", "--name", "llm", cwd=folder)
    check(made.returncode == 0, made.stderr)
    for fidelity in ("analytical", "message"):
        d = {"bandwidth": "20 GB/s", "latency": "100 ns", "fidelity": fidelity}
        write(folder, "m.yaml", machine("Ring(2)_Switch(2)_FullyConnected(2)",
                                        [dict(d, nic_latency="5 ns"), dict(d, router_latency="30 ns", endpoint_delay="17 ns"),
                                         dict(d, nic_latency="41 ns", endpoint_delay="3 ns")],
                                        "nmu: {endpoint_delay: 9 ns}\n"))
        times = []
        for more in ([], ["--no-fold"], ["--critical-path"]):
            ran = weft("run", "m.yaml", "--trace", "t/llm", "--groups", "t/llm.groups.json", "--out", "o", "--json", *more,
                       cwd=folder)
            check(ran.returncode == 0, ran.stderr)
            summary = json.loads(ran.stdout)
            check(summary["invariants"] == "ok", f"{fidelity} {more}: {summary['invariants']}")
            check(summary["lower_bound_ns"] <= summary["time_ns"] <= summary["upper_bound_ns"], f"{fidelity} {more}: bounds")
            times.append(summary["time_ns"])
        check(times[0] == times[1] == times[2], f"{fidelity}: {times}")


def refusals(folder):
    d = {"bandwidth": "10 GB/s", "latency": "100 ns"}
    for notation, dimension, more, words in (
            ("Ring(4)", dict(d, router_latency="4 ns"), "", ("router_latency", "Ring(4)", "`latency`")),
            ("Switch(4)", dict(d, router_latency="5 ps"), "", ("router_latency", "odd number", "4 ps or 6 ps")),
            ("Switch(4)", dict(d, latency="1 s", router_latency="2 ns"), "", ("router_latency", "longest latency")),
            ("Switch(4)", dict(d, nic_latency="-1 ns"), "", ("nic_latency",)),
            ("Ring(4)", dict(d, nic_latency="4 ns"), "  logical: Ring(2)_Ring(2)\n", ("nic_latency", "topology.logical")),
            ("Ring(4)", dict(d, endpoint_delay="4 ns"), "  logical: Ring(2)_Ring(2)\n", ("endpoint_delay", "topology.logical")),
            ("Clos(hosts=2,leaves=2,spines=2)", dict(d, nic_latency="4 ns"), "", ("nic_latency", "is a graph")),
            ("Clos(hosts=2,leaves=2,spines=2)", dict(d, router_latency="4 ns"), "", ("router_latency", "levels"))):
        write(folder, "bad.yaml", machine(notation, [dimension], more))
        ran = weft("validate", "bad.yaml", cwd=folder)
        check(ran.returncode == 2 and "bad.yaml:" in ran.stderr and all(w in ran.stderr for w in words),
              f"{notation} {dimension}: {ran.returncode} {ran.stderr}")
    write(folder, "bad.yaml", machine("Switch(4)", [dict(d, nic_latency="4 ns")], "collectives: {all_reduce: in_switch}\n"))
    ran = weft("collective", "--config", "bad.yaml", "--size", "1 MiB", cwd=folder)
    check(ran.returncode == 2 and "in_switch" in ran.stderr and "nic_latency" in ran.stderr, ran.stderr)


def imported(folder):
    """ASTRA-sim's analytical JSON: a message takes hops x link + 2 nic (+ router on a Switch) + size / rate."""
    system = {"scheduling-policy": "LIFO", "endpoint-delay": 0, "preferred-dataset-splits": 1,
              "all-reduce-implementation": ["ring"], "all-to-all-implementation": ["direct"]}
    write(folder, "sys.json", json.dumps(system))
    for kind, n, links, fixed in (("Switch", 4, 1, 2 * 500 + 2 * 30 + 24), ("FullyConnected", 4, 3, 500 + 2 * 30),
                                  ("Ring", 4, 2, 500 + 2 * 30)):
        network = {"topology-name": "Hierarchical", "topologies-per-dim": [kind], "dimensions-count": 1, "units-count": [n],
                   "links-count": [links], "link-latency": [500], "link-bandwidth": [25], "nic-latency": [30],
                   "router-latency": [24]}
        write(folder, "net.json", json.dumps(network))
        write(folder, "w.txt", "MICRO 1 x -1 0 NONE 0 0 NONE 0 0 ALLREDUCE 107374182400 0\n")
        ran = weft("astra", "--workload-configuration", "w.txt", "--system-configuration", "sys.json",
                   "--network-configuration", "net.json", "--out", "o", cwd=folder)
        check(ran.returncode == 0, ran.stderr)
        with open(os.path.join(folder, "o", "machine.yaml"), encoding="utf-8") as file:
            yaml = file.read()
        check("nic_latency: 30 ns" in yaml and ("router_latency: 24 ns" in yaml) == (kind == "Switch"), yaml)
        report = open(os.path.join(folder, "o", "import.txt"), encoding="utf-8").read()
        check(re.search(r"nic-latency .* exact ", report) is not None, report)
        with open(os.path.join(folder, "o", "summary.json"), encoding="utf-8") as file:
            got = round(float(json.load(file)["time_ns"]) * 1000)
        rate = {"Switch": 1, "FullyConnected": 1, "Ring": 2}[kind]  # links that a message uses
        equal(got, 6 * (fixed * 1000 + 10**12 // rate), f"weft astra on {kind}")
    # The first public code: 10 cycles at the local dimension, whatever endpoint-delay is.
    write(folder, "old.txt", "scheduling-policy: LIFO\nendpoint-delay: 35\ncollective-implementation: hierarchicalRing\n")
    write(folder, "net2.json", json.dumps(dict(network, **{"topologies-per-dim": ["Ring", "Ring"], "dimensions-count": 2,
                                               "units-count": [2, 4], "links-count": [2, 2], "link-latency": [90, 500],
                                               "link-bandwidth": [25, 25], "nic-latency": [0, 0], "router-latency": [0, 0]})))
    ran = weft("import", "net2.json", "old.txt", "--out", "old.yaml", cwd=folder)
    yaml = open(os.path.join(folder, "old.yaml"), encoding="utf-8").read()
    check(ran.returncode == 0 and yaml.count("endpoint_delay: 10 ns") == 1 and "endpoint_delay: 35 ns" in yaml,
          ran.stderr + yaml)


def logical(folder):
    """With a logical topology interfaces are a part of the links, and the report says so."""
    system = {"scheduling-policy": "LIFO", "endpoint-delay": 0, "preferred-dataset-splits": 1,
              "collective-optimization": "baseline"}
    write(folder, "w.txt", "MICRO 1 x -1 0 NONE 0 0 NONE 0 0 ALLREDUCE 107374182400 0\n")
    # Rounds of an all-reduce by rings: 6 with a quarter each, or 2 in each of two dimensions with a half each. 1 s each quarter.
    for kind, links, dims, fixed, rounds, share, how in (
            ("Switch", 1, ["4"], 2 * 500 + 2 * 30 + 24, 6, 1, "exact"),
            ("Switch", 1, ["2", "2"], 2 * 500 + 2 * 30 + 24, 4, 2, "exact"),
            ("FullyConnected", 3, ["4"], 500 + 2 * 30, 6, 1, "exact"),
            ("FullyConnected", 3, ["2", "2"], 500 + 2 * 30, 4, 2, "exact"),
            ("Ring", 2, ["4"], 500 + 2 * 30, 6, 0.5, "approximate")):
        network = {"topology-name": "Hierarchical", "topologies-per-dim": [kind], "dimensions-count": 1, "units-count": [4],
                   "links-count": [links], "link-latency": [500], "link-bandwidth": [25], "nic-latency": [30],
                   "router-latency": [24]}
        write(folder, "net.json", json.dumps(network))
        write(folder, "logical.json", json.dumps({"logical-dims": dims}))
        words = ["ring"] * len(dims)
        write(folder, "sys.json", json.dumps(dict(system, **{"all-reduce-implementation": words})))
        options = ["--workload-configuration", "w.txt", "--system-configuration", "sys.json", "--network-configuration",
                   "net.json", "--logical-topology-configuration", "logical.json", "--out", "o"]

        def time(*more, options=options, folder=folder, kind=kind, dims=dims):
            ran = weft("astra", *options, *more, cwd=folder)
            check(ran.returncode == 0 and "without counterpart" not in ran.stderr, f"{kind} {dims}: {ran.stderr}")
            with open(os.path.join(folder, "o", "summary.json"), encoding="utf-8") as file:
                return round(float(json.load(file)["time_ns"]) * 1000)
        equal(time(), rounds * (fixed * 1000 + round(share * 10**12)), f"{kind} with logical {dims}")
        with open(os.path.join(folder, "o", "import.txt"), encoding="utf-8") as file:
            report = file.read()
        check(re.search(rf"nic-latency .* topology.dimensions\[\].latency +{how} ", report) is not None, report)
        # The control message of 8192 B before each message, between neighbours.
        control = fixed * 1000 + round(8192 / (26843545600 * {"Switch": 1, "FullyConnected": 1, "Ring": 2}[kind]) * 1e12)
        added = time("--rendezvous-protocol", "true") - time()
        equal(added, rounds * 2 * ((control + 1) // 2), f"{kind}, rendezvous with logical {dims}")
    write(folder, "old.txt", "scheduling-policy: LIFO\nendpoint-delay: 35\ncollective-implementation: hierarchicalRing\n")
    write(folder, "net2.json", json.dumps(dict(network, **{"topologies-per-dim": ["Ring", "Ring"], "dimensions-count": 2,
                                               "units-count": [2, 4], "links-count": [2, 2], "link-latency": [90, 500],
                                               "link-bandwidth": [25, 25], "nic-latency": [0, 7], "router-latency": [0, 0]})))
    write(folder, "logical.json", json.dumps({"logical-dims": ["4", "2"]}))
    ran = weft("import", "net2.json", "old.txt", "logical.json", "--out", "old.yaml", cwd=folder)
    with open(os.path.join(folder, "old.yaml"), encoding="utf-8") as file:
        yaml = file.read()
    check(ran.returncode == 0 and "latency: 514 ns" in yaml and "latency: 90 ns" in yaml and "nic_latency" not in yaml
          and yaml.count("endpoint_delay") == 1 and "note: nmu.endpoint_delay" in ran.stdout
          and "topology.dimensions[0].endpoint_delay" not in ran.stdout, ran.stderr + ran.stdout + yaml)


with tempfile.TemporaryDirectory() as place:
    for test in (rings, far, two_dimensions, routers, packets, points, folding, refusals, imported, logical):
        test(place)
finish()
