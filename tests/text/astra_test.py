#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""ASTRA-sim's own input files: `weft astra` gives the times of `weft collective` (of the golden collectives every
STEP-th), `weft import` reports every key of the public samples, and mistakes are errors."""

import json
import os
import sys
import tempfile

from cases import check, failures, finish, weft, write

DATA = os.environ.get("WEFT_DATA_DIR") or (sys.argv[2] if len(sys.argv) > 2 else "")
STEP = int(sys.argv[3]) if len(sys.argv) > 3 else 6
OPERATIONS = {"AR": ("all_reduce", "ALLREDUCE", "all-reduce"), "AG": ("all_gather", "ALLGATHER", "all-gather"),
              "RS": ("reduce_scatter", "REDUCESCATTER", "reduce-scatter"), "A2A": ("all_to_all", "ALLTOALL", "all-to-all")}


def sys_lines(text):
    return [line for line in text.splitlines() if line.startswith("sys[")]


def golden(folder, case):
    """The files of one case as ASTRA-sim 2.x has them, the traces of a text workload of 1.0."""
    name, word, key = OPERATIONS[case["collective"]]
    notation = "_".join(f"{k}({n})" for k, n in zip(case["topology"], case["npus"]))
    write(folder, "net.yml", f"topology: [ {', '.join(case['topology'])} ]\nnpus_count: {case['npus']}\n"
          f"bandwidth: {case['bandwidth_GiBps']}  # GB/s\nlatency: {case['latency_ns']}  # ns\n")
    system = {"scheduling-policy": "LIFO", "endpoint-delay": case["endpoint_delay_ns"],
              "active-chunks-per-dimension": case["active_chunks_per_dimension"],
              "preferred-dataset-splits": case["chunks"], "collective-optimization": case["all_reduce_order"],
              "local-mem-bw": 50, "boost-mode": 0}
    for other in OPERATIONS.values():
        system[other[2] + "-implementation"] = case["algorithm"] if other[2] == key else ["ring"] * len(case["npus"])
    write(folder, "sys.json", system)
    write(folder, "mem.json", {"memory-type": "NO_MEMORY_EXPANSION"})
    write(folder, "w.txt", f"MICRO 1 x -1 0 NONE 0 0 NONE 0 0 {word} {case['bytes']} 0\n")
    aware = case["contention"] != "none"
    files = ["--system-configuration", "sys.json", "--network-configuration", "net.yml"]
    if aware:
        files.append("--congestion-aware")
    made = weft("trace", "convert", "--from", "text", "w.txt", "--topology", notation, "--out", "traces", "--name",
                case["id"], cwd=folder)
    check(made.returncode == 0, f"{case['id']}: {made.stderr}")
    ran = weft("astra", "--workload-configuration", f"traces/{case['id']}", *files, "--remote-memory-configuration",
               "mem.json", "--comm-group-configuration", "empty", "--out", "o", cwd=folder)
    check(ran.returncode == 0, f"{case['id']}: {ran.stderr}")
    text = weft("astra", "--workload-configuration", "w.txt", *files, "--out", "t", cwd=folder)
    check(sys_lines(text.stdout) == sys_lines(ran.stdout) != [], f"{case['id']}: text {text.stdout} {text.stderr}")
    wanted = weft("collective", "--topology", notation, "--bandwidth",
                  ",".join(f"{b} GiB/s" for b in case["bandwidth_GiBps"]), "--latency",
                  ",".join(f"{x} ns" for x in case["latency_ns"]), "--algorithm", ",".join(case["algorithm"]).replace(
                      "halvingDoubling", "halving_doubling"), "--op", name, "--size", f"{case['bytes']} B", "--chunks",
                  str(case["chunks"]), "--active-chunks", str(case["active_chunks_per_dimension"]), "--order",
                  "baseline" if case["all_reduce_order"] == "baseline" else "local_bw_aware", "--endpoint-delay",
                  f"{case['endpoint_delay_ns']} ns", "--fidelity", "message" if aware else "analytical", "--switching",
                  "store_and_forward", "--json", cwd=folder)
    check(wanted.returncode == 0, f"{case['id']}: {wanted.stderr}")
    if ran.returncode or wanted.returncode:
        return
    time = json.loads(wanted.stdout)["results"][0]["time_ns"]
    with open(os.path.join(folder, "o", "summary.json"), encoding="utf-8") as file:
        got = json.load(file)["time_ns"]
    check(float(got) == float(time), f"{case['id']}: {got} is not {time}")
    lines = sys_lines(ran.stdout)
    npus = 1
    for n in case["npus"]:
        npus *= n
    check(len(lines) == npus, f"{case['id']}: {len(lines)} lines")
    latest = max(int(line.split()[2]) for line in lines)
    check(latest == int(float(time)), f"{case['id']}: {latest} cycles, {time} ns")


def refused(folder, arguments, *words):
    ran = weft(*arguments, cwd=folder)
    check(ran.returncode == 2 and all(w in ran.stderr for w in words), f"{arguments}: {ran.returncode} {ran.stderr}")


def imports(folder):
    """Keys that are not known, and values that cannot be."""
    net = "topology: [ Ring ]\nnpus_count: [ 4 ]\nbandwidth: [ 50.0 ]\nlatency: [ 500.5 ]\n"
    write(folder, "net.yml", net)
    write(folder, "sys.json", {"scheduling-policy": "FIFO", "all-reduce-implementation": ["oneDirect2"], "colour": "red",
                               "inter-dimension-scheduling": "themis", "L": 1, "G": 0.02, "roofline-enabled": 1,
                               "peak-perf": 900, "local-mem-bw": 3350})
    ran = weft("import", "net.yml", "sys.json", "--out", "m/machine.yaml", "--approximate", cwd=folder)
    check(ran.returncode == 0, ran.stderr)
    for words in ("colour", "unknown key", "no counterpart", "cuts to whole ns", "themis"):
        check(words in ran.stdout, f"{words}: {ran.stdout}")
    with open(os.path.join(folder, "m/machine.yaml"), encoding="utf-8") as file:
        yaml = file.read()
    for line in ("notation: Ring(4)", "bandwidth: 50.0 GiB/s, latency: 500.5 ns, fidelity: analytical",
                 "all_reduce: one_direct", "direct_window: 2", "order: themis", "scheduling: fifo",
                 "injection_bandwidth: 50 GB/s", "peak: 900 TFLOPS", "endpoint_delay: 10 ns", "roofline: true"):
        check(line in yaml, f"{line}: {yaml}")
    check(weft("validate", "m/machine.yaml", cwd=folder).returncode in (0, 2), "validate")
    refused(folder, ["import", "net.yml", "sys.json", "--strict"], "--strict: 3 keys")
    refused(folder, ["import"], "no file to import")
    refused(folder, ["import", "nothing.yml"], "nothing.yml")
    refused(folder, ["import", "net.yml", "net.yml"], "the same kind of file")
    for key, value, words in (("topology", "[ Ringg ]", ("Ringg", "FullyConnected")), ("npus_count", "[ 1 ]", ("2 NPUs",)),
                              ("npus_count", "[ 4, 4 ]", ("2 values for 1 dimensions",)), ("bandwidth", "[ 0 ]", ("0",)),
                              ("latency", "[ -1 ]", ("-1",)), ("latency", "[ x ]", ("`x`",))):
        lines = [f"{key}: {value}" if line.startswith(key) else line for line in net.splitlines()]
        write(folder, "bad.yml", "\n".join(lines) + "\n")
        refused(folder, ["import", "bad.yml"], "bad.yml:", f"`{key}`", *words)
    write(folder, "bad.json", {"all-reduce-implementation": ["ringg"]})
    refused(folder, ["import", "bad.json"], "`ringg`", "doubleBinaryTree")
    write(folder, "bad.json", {"all-reduce-implementation": ["ring"], "scheduling-policy": "MAYBE"})
    refused(folder, ["import", "bad.json"], "`MAYBE`", "LIFO")
    write(folder, "two.yml", net.replace("[ Ring ]", "[ Ring, Ring ]").replace("[ 4 ]", "[ 4, 2 ]").replace(
        "[ 50.0 ]", "[ 50, 25 ]").replace("[ 500.5 ]", "[ 5, 5 ]"))
    refused(folder, ["import", "two.yml", "--system-configuration", "bad2.json"], "bad2.json")
    write(folder, "bad2.json", {"all-reduce-implementation": ["ring"]})
    refused(folder, ["import", "two.yml", "bad2.json"], "has 1 words and the network 2 dimensions")
    write(folder, "cut.json", '{"scheduling-policy": "LIFO", ')
    refused(folder, ["import", "cut.json"], "cut.json")
    refused(folder, ["astra", "--network-configuration", "net.yml"], "--workload-configuration is missing")
    for queues in ("0", "-1", "65"):
        refused(folder, ["import", "net.yml", "--num-queues-per-dim", queues], "--num-queues-per-dim", "1 to 64")
    # Any key of a system file tells that it is one. Zeros are no figures of a machine.
    for key, value, words in (("preferred-dataset-splits", 4, "collectives.chunks: 4"), ("peak-perf", 0, "npu.peak: none"),
                              ("local-mem-bw", 0, "no counterpart"), ("roofline-enabled", 1, "npu.roofline: true")):
        write(folder, "one.json", {key: value})
        ran = weft("import", "net.yml", "one.json", "--out", "m/one.yaml", cwd=folder)
        row = [line for line in ran.stdout.splitlines() if line.startswith("one.json:1")]
        check(ran.returncode == 0 and len(row) == 1 and words in row[0], f"{key}: {ran.stdout} {ran.stderr}")
    # Many files name halvingDoubling for every operation. ASTRA-sim has no all-to-all by it.
    for words, value in ((["halvingDoubling"], "default"), (["oneHalvingDoubling"], "default")):
        write(folder, "all.json", {f"{op[2]}-implementation": words for op in OPERATIONS.values()})
        ran = weft("import", "net.yml", "all.json", "--out", "m/hd.yaml", cwd=folder)
        row = [line for line in ran.stdout.splitlines() if "all-to-all-implementation" in line]
        check(ran.returncode == 0 and len(row) == 1 and f"all_to_all: {value}" in row[0] and "no counterpart" in row[0]
              and "ring or direct" in row[0], ran.stderr + ran.stdout)
        check(weft("collective", "m/hd.yaml", "--op", "all_to_all", "--size", "1 KiB", cwd=folder).returncode == 0, words)
        refused(folder, ["import", "net.yml", "all.json", "--strict"], "--strict: 1 keys")
    write(folder, "bad2.json", {"all-to-all-implementation": ["direct", "halvingDoubling"]})
    ran = weft("import", "two.yml", "bad2.json", "--out", "m/hd.yaml", cwd=folder)
    check(ran.returncode == 0 and "all_to_all: [direct, default]" in ran.stdout, ran.stderr + ran.stdout)
    # Memory, groups, logical topology.
    write(folder, "mem.json", {"memory-type": "PER_NPU_MEMORY_EXPANSION", "remote-mem-latency": 100, "remote-mem-bw": 40})
    write(folder, "groups.json", {"9": [0, 2]})
    write(folder, "logical.json", {"logical-dims": ["2", "2"]})
    ran = weft("import", "net.yml", "mem.json", "--comm-group-configuration", "groups.json", "logical.json", "--out",
               "m/all.yaml", "--strict", cwd=folder)
    check(ran.returncode == 0, ran.stderr + ran.stdout)
    with open(os.path.join(folder, "m/all.yaml"), encoding="utf-8") as file:
        yaml = file.read()
    for line in ("latency: 100 ns", "bandwidth: 40 GB/s", "groups.json", "logical: Switch(2)_Switch(2)"):
        check(line in yaml, f"{line}: {yaml}")
    # ns-3 and htsim.
    write(folder, "ns3.txt", "5 1 4\n4\n" + "".join(f"{i} 4 400Gbps 0.0005ms 0\n" for i in range(4)))
    write(folder, "config.txt", "ENABLE_QCN 1\nCC_MODE 3\nTOPOLOGY_FILE elsewhere/ns3.txt\nBUFFER_SIZE 32\nODD_KEY 7\n")
    ran = weft("import", "config.txt", "--out", "m/ns3.yaml", cwd=folder)
    check(ran.returncode == 0 and "HPCC" in ran.stdout and "ODD_KEY" in ran.stdout, ran.stderr + ran.stdout)
    check(weft("describe", "m/ns3.yaml", cwd=folder).returncode == 0, "ns-3 machine")
    write(folder, "ns3bad.txt", "5 1 4\n4\n0 9 400Gbps 0.0005ms 0\n" * 2)
    refused(folder, ["import", "ns3bad.txt"], "ns3bad.txt:")
    write(folder, "ht.topo", "Nodes 16\nTiers 2\nPodsize 16\nTier 0\nDownlink_speed_Gbps 200\nRadix_Up 2\nRadix_Down 4\n"
          "Downlink_Latency_ns 1000\nTier 1\nDownlink_speed_Gbps 400\nRadix_Down 4\nDownlink_Latency_ns 1000\n")
    ran = weft("import", "ht.topo", "--out", "m/ht.yaml", "--strict", cwd=folder)
    check(ran.returncode == 0, ran.stderr + ran.stdout)
    shown = weft("describe", "m/ht.yaml", cwd=folder)
    check(shown.returncode == 0 and "16" in shown.stdout, "htsim machine: " + shown.stderr)


def scales(folder):
    """--apply-scales: copies of the traces; without it a warning."""
    system = {"all-reduce-implementation": ["ring"], "endpoint-delay": 0, "preferred-dataset-splits": 1}
    write(folder, "net.yml", "topology: [Ring]\nnpus_count: [4]\nbandwidth: [10]\nlatency: [0]\n")
    write(folder, "sys.json", system)
    write(folder, "w.txt", "DATA 1 x -1 1000 NONE 0 0 NONE 0 333 ALLREDUCE 4000000 0\n")
    made = weft("trace", "convert", "--from", "text", "w.txt", "--ranks", "4", "--out", "sc", "--name", "w", cwd=folder)
    check(made.returncode == 0, made.stderr)
    write(folder, "net_machine.yaml", "weft: 1\ntopology:\n  notation: Ring(4)\n  dimensions: [{bandwidth: 10 GB/s, "
          "latency: 0 ns}]\n")
    base = ["--system-configuration", "sys.json", "--network-configuration", "net.yml"]

    def ran(workload, *more):
        done = weft("astra", "--workload-configuration", workload, *base, "--out", "o", *more, cwd=folder)
        check(done.returncode == 0, f"{more}: {done.stderr}")
        return done

    for value in ("nan", "inf", "-inf", "-1", "1e10", "two"):
        for option in ("--compute-scale", "--comm-scale", "--injection-scale"):
            refused(folder, ["astra", "--workload-configuration", "sc/w", *base, option, value], option, value)
        for option in ("--compute-scale", "--comm-scale"):
            refused(folder, ["trace", "convert", "--from", "text", "w.txt", "--ranks", "4", "--out", "no", option, value],
                    option, value)
        for key in ("workload.compute_scale", "workload.comm_scale"):
            refused(folder, ["run", "net_machine.yaml", "--text", "w.txt", "--set", f"{key}={value}"], key, value)

    plain = sys_lines(ran("sc/w").stdout)
    factors = ("--compute-scale", "2.5", "--comm-scale", "3")
    told = ran("sc/w", *factors)
    check("--apply-scales" in told.stderr and sys_lines(told.stdout) == plain, told.stderr)
    told = ran("sc/w", "--num-passes", "2")
    check("--num-passes" in told.stderr and sys_lines(told.stdout) == plain, told.stderr)
    scaled = ran("sc/w", *factors, "--apply-scales")
    # As 1.0 scales the text: 832.5 cycles are cut to 832 there, and half a cycle is kept here.
    text = ran("w.txt", *factors)
    check("warning" not in scaled.stderr and sys_lines(scaled.stdout) != plain, scaled.stderr)
    cycles = [[int(line.split()[i]) for line in sys_lines(done.stdout)[:1] for i in (2, 6)] for done in (scaled, text)]
    check(all(abs(a - b) <= 1 for a, b in zip(*cycles)), f"{cycles}")
    copies = sum(name.endswith(".et") for name in os.listdir(os.path.join(folder, "o", "scaled")))
    check(copies == 4, f"{copies} copies")
    none = weft("astra", "--workload-configuration", "sc/none", *base, *factors, "--apply-scales", cwd=folder)
    check(none.returncode == 3 and "sc/none.0.et" in none.stderr, none.stderr)
    write(folder, "w.txt", "DATA 1 x -1 1000 NONE 0 0 NONE 0 333 ALLREDUCE 40000000000 0\n")
    weft("trace", "convert", "--from", "text", "w.txt", "--ranks", "4", "--out", "sc", "--name", "big", cwd=folder)
    huge = weft("astra", "--workload-configuration", "sc/big", *base, "--comm-scale", "1e9", "--out", "h",
                "--apply-scales", cwd=folder)
    check(huge.returncode == 3 and "comm_size times" in huge.stderr and "63 bits" in huge.stderr, huge.stderr)


def spellings(folder):
    """The same files with Windows line ends, a byte order mark, tabs, no blanks; and files that are cut or empty."""
    system = {"scheduling-policy": "LIFO", "endpoint-delay": 10, "preferred-dataset-splits": 4,
              "all-reduce-implementation": ["ring"], "active-chunks-per-dimension": 2}
    net = "topology: [ Ring ]\nnpus_count: [ 4 ]\nbandwidth: [ 50.0 ]\nlatency: [ 500.0 ]  # ns\n"
    old = "scheduling-policy: LIFO\nendpoint-delay: 10\npreferred-dataset-splits: 4\nall-reduce-implementation: ring\n" \
          "active-chunks-per-dimension: 2\n"
    write(folder, "net.yml", net)
    write(folder, "sys.json", system)
    write(folder, "w.txt", "DATA 1 x -1 1000 NONE 0 0 NONE 0 333 ALLREDUCE 4000000 0\n")

    def run(network="net.yml", machine="sys.json"):
        return weft("astra", "--workload-configuration", "w.txt", "--system-configuration", machine,
                    "--network-configuration", network, "--out", "o", cwd=folder)

    wanted = sys_lines(run().stdout)
    check(len(wanted) == 4, wanted)
    indented = json.dumps(system, indent=1)
    for name, text in (("minified", json.dumps(system, separators=(",", ":"))), ("crlf", indented.replace("\n", "\r\n")),
                       ("tabs", json.dumps(system, indent="\t")), ("mark", "\ufeff" + indented), ("old", old),
                       ("old_crlf", old.replace("\n", "\r\n")), ("old_tabs", old.replace(": ", "\t:\t")),
                       ("old_tight", old.replace(": ", ":"))):
        with open(os.path.join(folder, "s.txt"), "w", encoding="utf-8", newline="") as file:
            file.write(text)
        done = run(machine="s.txt")
        check(sys_lines(done.stdout) == wanted, f"{name}: {done.stdout[:200]}{done.stderr}")
    for name, text in (("crlf", net.replace("\n", "\r\n")), ("block", net.replace("[ ", "\n  - ").replace(" ]", ""))):
        with open(os.path.join(folder, "n.yml"), "w", encoding="utf-8", newline="") as file:
            file.write(text)
        done = run(network="n.yml")
        check(sys_lines(done.stdout) == wanted, f"network {name}: {done.stdout[:200]}{done.stderr}")
    for cut in (10, 25, 40, 60, len(indented) - 2):
        write(folder, "cut.json", indented[:cut])
        refused(folder, ["import", "cut.json"], "cut.json", "not valid JSON")
    for empty in ("", "\n \n", "# nothing\n"):
        write(folder, "empty.json", empty)
        refused(folder, ["astra", "--workload-configuration", "w.txt", "--system-configuration", "empty.json",
                         "--network-configuration", "net.yml"], "empty.json", "has no keys")


def sweep_rows(folder):
    """--path, --run-name, --stat-row and --total-stat-rows: a file that runs fill row by row."""
    with open(os.path.join(folder, "rows.txt"), "w", encoding="utf-8") as file:
        file.write("MICRO 1 x -1 0 NONE 0 0 NONE 0 0 ALLREDUCE 1048576 0\n")
    with open(os.path.join(folder, "rows.json"), "w", encoding="utf-8") as file:
        json.dump({"topology-name": "Hierarchical", "topologies-per-dim": ["Ring"], "dimensions-count": 1, "units-count": [4],
                   "links-count": [2], "link-latency": [500], "link-bandwidth": [25], "nic-latency": [30],
                   "router-latency": [0]}, file)
    with open(os.path.join(folder, "rows_sys.txt"), "w", encoding="utf-8") as file:
        file.write("scheduling-policy: LIFO\nendpoint-delay: 0\npreferred-dataset-splits: 1\nall-reduce-implementation: ring\n")
    common = ["astra", "--workload-configuration", "rows.txt", "--system-configuration", "rows_sys.txt",
              "--network-configuration", "rows.json"]
    header = "row,run,ranks,cycles,compute_cycles,exposed_communication_cycles"

    def lines():
        with open(os.path.join(folder, "sweep", "stat_rows.csv"), encoding="utf-8") as file:
            return file.read().splitlines()

    times = {}
    for row, name, scale in ((1, "second", "2"), (0, "a, first", "1"), (1, "again", "4")):
        ran = weft(*common, "--comm-scale", scale, "--path", "sweep/", "--run-name", name, "--stat-row", str(row),
                   "--total-stat-rows", "2", cwd=folder)
        check(ran.returncode == 0, f"row {row}: {ran.stderr}")
        with open(os.path.join(folder, "sweep", name, "summary.json"), encoding="utf-8") as file:
            times[name] = json.load(file)["time_ns"]
    check(times["a, first"] < times["second"] < times["again"], str(times))
    wanted = [header] + [f"{row},{text},4,{int(times[name])},0,{int(times[name])}"
                         for row, text, name in ((0, '"a, first"', "a, first"), (1, "again", "again"))]
    check(lines() == wanted, f"{lines()} {wanted}")
    ran = weft(*common, "--path", "sweep", "--out", "elsewhere", cwd=folder)
    check(ran.returncode == 0 and os.path.exists(os.path.join(folder, "elsewhere", "summary.json")), ran.stderr)
    check(len(lines()) == 2 and lines()[1].startswith("0,run,4,"), f"a shorter sweep: {lines()}")
    refused(folder, [*common, "--path", "sweep", "--stat-row", "2", "--total-stat-rows", "2"], "--stat-row 2", "from 0")
    with open(os.path.join(folder, "sweep", "stat_rows.csv"), "w", encoding="utf-8") as file:
        file.write("something else\n")
    refused(folder, [*common, "--path", "sweep"], "stat_rows.csv:1", "another folder")
    # A control message of 8192 B before each of the six messages of a rank, one after the other.
    def time(*more):
        ran = weft(*common, *more, "--out", "rendezvous", cwd=folder)
        check(ran.returncode == 0, ran.stderr)
        with open(os.path.join(folder, "rendezvous", "summary.json"), encoding="utf-8") as file:
            return round(json.load(file)["time_ns"] * 1000)
    control = 500_000 + 2 * 30_000 + round(8192 / (2 * 25 * 2**30) * 1e12)
    added = time("--rendezvous-protocol", "true") - time("--rendezvous-protocol", "false")
    check(added == 6 * 2 * ((control + 1) // 2), f"rendezvous: {added} ps, wanted {6 * control} ps")


def samples(folder):
    legacy = os.path.join(DATA, "legacy_network")
    names = sorted(os.listdir(legacy))
    check(len(names) == 12, f"{len(names)} samples")
    for name in names:
        path = os.path.join(legacy, name)
        ran = weft("import", path, "--out", f"m/{name}.yaml", "--strict", cwd=folder)
        check(ran.returncode == 0, f"{name}: {ran.stderr}")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        keys = (list(json.loads(text)) if name.endswith(".json") else
                [line.split(":")[0].strip() for line in text.splitlines() if ":" in line])
        rows = [line.split() for line in ran.stdout.splitlines()]
        for key in keys:
            check(sum(len(row) > 1 and row[1] == key for row in rows) == 1, f"{name}: key {key} has not one row")
    # 1.0's command line, on a text workload, and two of its overrides.
    for overrides, npus in (([], 64), (["--units-count", "2,2,2", "--link-bandwidth", "100,50,50"], 8)):
        ran = weft("astra", "--workload-configuration", os.path.join(DATA, "text_workloads", "Resnet50_DataParallel.txt"),
                   "--system-configuration", os.path.join(legacy, "system_sample_torus_sys.txt"),
                   "--network-configuration", os.path.join(legacy, "sample_Torus3D.json"), "--path", "results/",
                   "--run-name", "sample", "--num-passes", "2", "--num-queues-per-dim", "1", "--compute-scale", "1",
                   "--comm-scale", "1", "--injection-scale", "1", "--total-stat-rows", "1", "--stat-row", "0",
                   "--rendezvous-protocol", "false", *overrides, "--out", "astra", cwd=folder)
        check(ran.returncode == 0 and len(sys_lines(ran.stdout)) == npus, f"1.0: {ran.stdout} {ran.stderr}")


with tempfile.TemporaryDirectory() as folder:
    imports(folder)
    scales(folder)
    spellings(folder)
    sweep_rows(folder)
    path = os.path.join(DATA, "golden", "collectives.json")
    if not os.path.exists(path):
        print("no data folder: goldens and samples were not compared")
        sys.exit(1 if failures or os.environ.get("CI") == "true" else 0)
    samples(folder)
    with open(path, encoding="utf-8") as file:
        cases = [case for case in json.load(file)["cases"] if case["reduction"] == "none"]
    for case in cases[::STEP]:
        golden(folder, case)
    print(f"{len(cases[::STEP])} of {len(cases)} golden collectives")
finish()
