# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""The runs of the results net: every kind of topology x fidelity x workload, each small.

A case is (name, [arguments of weft ...]). `{traces}` is the folder of the generated traces, `{configs}` the
repository's configs/. Every case writes its result files with --out. Keys whose defaults may change (chunks,
switching) are always written out, so that a new default does not move the net.
"""

TRACES = {
    "dense": ["llm", "--tp", "2", "--dp", "2", "--pp", "2", "--layers", "4", "--hidden", "512", "--seq", "256",
              "--batch", "8", "--microbatches", "2"],
    "wide": ["llm", "--tp", "4", "--dp", "4", "--layers", "2", "--hidden", "512", "--seq", "256", "--batch", "8"],
    "zero": ["llm", "--tp", "2", "--dp", "4", "--layers", "3", "--hidden", "512", "--seq", "256", "--batch", "8",
             "--zero", "3", "--sequence-parallel"],
    "pipeline": ["llm", "--pp", "4", "--dp", "2", "--layers", "4", "--hidden", "512", "--seq", "128", "--batch",
                 "16", "--microbatches", "4"],
}

# name, notation, bandwidth list, latency list
MACHINES = [
    ("ring8", "Ring(8)", "50 GB/s", "500 ns"),
    ("mesh4x2", "Mesh(4)_Mesh(2)", "50 GB/s,30 GB/s", "200 ns,300 ns"),
    ("fc4_switch2", "FullyConnected(4)_Switch(2)", "100 GB/s,50 GB/s", "300 ns,1 us"),
    ("torus2x2x2", "Ring(2)_Ring(2)_Ring(2)", "100 GB/s", "300 ns"),
    ("ring4_switch2", "Ring(4)_Switch(2)", "75 GB/s,25 GB/s", "500 ns,700 ns"),
    ("switch2_clos", "Switch(2)_Clos(hosts=2,leaves=2,spines=2)", "200 GB/s,50 GB/s", "250 ns,375 ns"),
]

FIDELITIES = [
    ("analytical", ["--fidelity", "analytical"]),
    ("message_ct", ["--fidelity", "message", "--switching", "cut_through"]),
    ("message_sf", ["--fidelity", "message", "--switching", "store_and_forward"]),
    ("packet", ["--fidelity", "packet"]),
]

DIMENSION = "topology.dimensions[*]."


def collective(machine, *more):
    name, notation, bandwidth, latency = machine
    return ["collective", "--topology", notation, "--bandwidth", bandwidth, "--latency", latency, "--phases",
            *more]


def run(config, trace, *more):
    return ["run", "{configs}/" + config, "--trace", "{traces}/" + trace, "--groups",
            "{traces}/" + trace + ".groups.json", *more]


def machine_run(machine, trace, *more):
    """`weft run` on a machine of MACHINES: the YAML file is written by the net's script."""
    return ["run", "{machines}/" + machine[0] + ".yaml", "--trace", "{traces}/" + trace, "--groups",
            "{traces}/" + trace + ".groups.json", *more]


def dimension(**keys):
    return [word for key, value in keys.items() for word in ("--set", f"{DIMENSION}{key}={value}")]


def cases():
    all_cases = []

    def add(name, arguments):
        all_cases.append((name, arguments))

    # Every machine at every fidelity.
    for machine in MACHINES:
        for fidelity, options in FIDELITIES:
            add(f"ar_{machine[0]}_{fidelity}",
                collective(machine, "--sizes", "64KiB,1MiB", "--chunks", "4", *options))
    # Operations and algorithms.
    operations = [("all_gather", "ring"), ("reduce_scatter", "direct"), ("all_to_all", "direct"),
                  ("broadcast", "double_binary_tree"), ("reduce", "halving_doubling"), ("gather", "direct"),
                  ("scatter", "ring"), ("barrier", "default"), ("all_reduce", "one_ring"),
                  ("all_reduce", "double_binary_tree")]
    for i, (operation, algorithm) in enumerate(operations):
        machine = MACHINES[i % len(MACHINES)]
        for fidelity in ("message_ct", "analytical") if i % 2 else ("message_sf", "packet"):
            add(f"op_{operation}_{algorithm}_{machine[0]}_{fidelity}",
                collective(machine, "--op", operation, "--size", "512KiB", "--algorithm", algorithm, "--chunks",
                           "2", *dict(FIDELITIES)[fidelity]))
    # Schedulers, slots, directions, costs.
    torus = MACHINES[3]
    for order in ("baseline", "round_robin", "themis", "themis_flex"):
        add(f"order_{order}", collective(MACHINES[2], "--size", "4MiB", "--chunks", "8", "--order", order,
                                         "--fidelity", "message", "--switching", "cut_through"))
    for scheduling in ("rg", "smallest_first", "less_remaining_phase_first"):
        add(f"scheduling_{scheduling}",
            collective(MACHINES[4], "--size", "2MiB", "--chunks", "8", "--dimension-scheduling", scheduling,
                       "--active-chunks", "2", "--switching", "store_and_forward"))
    add("queues2", collective(torus, "--size", "1MiB", "--chunks", "4", "--queues", "2", "--switching",
                              "cut_through"))
    add("reduction_fixed", collective(MACHINES[0], "--size", "1MiB", "--chunks", "4", "--reduction", "200 GB/s",
                                      "--endpoint-delay", "20 ns", "--switching", "cut_through"))
    add("reduction_hbm", collective(MACHINES[0], "--size", "1MiB", "--chunks", "4", "--set",
                                    "collectives.reduction=hbm", "--switching", "cut_through"))
    add("injection", collective(MACHINES[2], "--size", "1MiB", "--chunks", "4", "--op", "all_to_all", "--set",
                                "nmu.injection_queue=2", "--set", "nmu.injection_bandwidth=60 GB/s",
                                "--switching", "cut_through"))
    # Data and in-switch collectives.
    for fidelity in ("analytical", "message", "packet"):
        add(f"in_switch_{fidelity}",
            ["collective", "--config", "{configs}/examples/in_switch.yaml", "--size", "256KiB", "--chunks", "4",
             "--switching", "cut_through", "--fidelity", fidelity, "--phases"])
        add(f"data_{fidelity}", collective(MACHINES[2], "--size", "96KiB", "--chunks", "3", "--data", "bf16",
                                           "--fidelity", fidelity, "--switching", "cut_through"))
    # Graphs.
    for config in ("group_4_and_6", "hybrid_cube_mesh"):
        for fidelity in ("analytical", "message", "packet"):
            add(f"graph_{config}_{fidelity}",
                ["collective", "--config", f"{{configs}}/examples/{config}.yaml", "--size", "1MiB", "--set",
                 f"topology.graph.fidelity={fidelity}", "--chunks", "4", "--phases"])
    # Lossless Ethernet, ECN and DCQCN.
    add("roce", ["collective", "--config", "{configs}/examples/roce_clos.yaml", "--size", "1MiB", "--op",
                 "all_to_all", "--chunks", "2"])
    add("pfc", ["collective", "--config", "{configs}/examples/roce_clos.yaml", "--size", "1MiB", "--op",
                "all_to_all", "--chunks", "2", "--set", "packet.flow_control=pfc"])
    # Whole jobs, folded and not.
    for trace, machine in (("dense", MACHINES[2]), ("zero", MACHINES[4]), ("pipeline", MACHINES[3]),
                           ("dense", MACHINES[5])):
        for fidelity in ("analytical", "message", "packet"):
            add(f"job_{trace}_{machine[0]}_{fidelity}",
                machine_run(machine, trace,
                            *dimension(fidelity=fidelity, switching="cut_through"), "--set",
                            "collectives.chunks=2"))
    add("job_mixed_fidelity", machine_run(MACHINES[2], "dense", "--set", "topology.dimensions[0].fidelity=packet",
                                          "--set", "topology.dimensions[1].fidelity=analytical", "--set",
                                          "collectives.chunks=4", *dimension(switching="cut_through")))
    add("job_rules", run("examples/rules.yaml", "wide", *dimension(switching="store_and_forward")))
    add("job_fidelity_rules", run("examples/fidelity_rules.yaml", "wide", *dimension(switching="cut_through")))
    for fold in ([], ["--no-fold"]):
        add("job_wide_analytical" + ("_no_fold" if fold else ""),
            run("examples/rules.yaml", "wide", *dimension(fidelity="analytical"), *fold))
    add("job_data", machine_run(MACHINES[2], "dense", "--set", "run.data=functional", "--set",
                                "collectives.chunks=2", *dimension(switching="cut_through")))
    add("job_hbm_reduction", machine_run(MACHINES[2], "zero", "--set", "collectives.reduction=hbm", "--set",
                                         "hbm.model=banked", "--set", "collectives.chunks=2",
                                         *dimension(switching="cut_through")))
    for scheduling in ("fifo", "priority"):
        add(f"job_{scheduling}", machine_run(MACHINES[2], "zero", "--set", f"collectives.scheduling={scheduling}",
                                             "--set", "collectives.chunks=4", "--set",
                                             "collectives.dispatch_threshold=2",
                                             *dimension(switching="cut_through")))
    add("job_waves", machine_run(MACHINES[2], "dense", "--waves", "*", "--set", "collectives.chunks=2",
                                 *dimension(switching="cut_through")))
    # Synthetic traffic.
    for pattern in ("uniform", "transpose"):
        add(f"traffic_{pattern}", ["traffic", "--topology", "Mesh(4)_Mesh(4)", "--pattern", pattern, "--load",
                                   "0.1,0.4"])
    return all_cases
