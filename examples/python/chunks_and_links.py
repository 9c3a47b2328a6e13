# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
#
# A notebook as a script: the cells begin with `# %%`, as editors know them.
#
#     PYTHONPATH=python WEFT=build/release/bin/weft python3 examples/python/chunks_and_links.py

# %% A machine: two nodes of eight NPUs
import weft

program = weft.Program()
machine = {
    "topology": {
        "notation": "Switch(8)_Switch(2)",
        "dimensions": [{"bandwidth": "400 GB/s", "latency": "300 ns"}, {"bandwidth": "50 GB/s", "latency": "1 us"}],
    },
}

# %% How many chunks does an all-reduce want, by its size?
sizes = ["1 MiB", "16 MiB", "256 MiB"]
rows = program.sweep(machine, {"collectives.chunks": [1, 2, 4, 8, 16], "--size": sizes}, command="collective",
                     out="chunks.csv", restart=True)
print("bus bandwidth (GB/s) by chunks")
print(f"{'size':>8}", *(f"{chunks:>8}" for chunks in (1, 2, 4, 8, 16)))
for size in sizes:
    of_size = {row["collectives.chunks"]: row["results[0].busbw_GBps"] for row in rows if row["--size"] == size}
    print(f"{size:>8}", *(f"{of_size[chunks]:8.1f}" for chunks in (1, 2, 4, 8, 16)))

# %% What does a faster link between the nodes give?
print("\nlink between nodes -> time of 256 MiB")
for bandwidth in (25, 50, 100, 200, 400):
    row, = program.collective(machine, {"topology.dimensions[1].bandwidth": f"{bandwidth} GB/s"}, size="256 MiB")
    print(f"{bandwidth:>5} GB/s   {row['time_ns'] / 1000:9.1f} us")
