# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
#
# A notebook as a script: what one slow NPU costs a training step, by how slow it is.
#
#     PYTHONPATH=python WEFT=build/release/bin/weft python3 examples/python/straggler.py

# %% Traces of a small transformer, tensor parallel 4 and data parallel 2
import os
import tempfile

import weft

program = weft.Program()
os.chdir(tempfile.mkdtemp(prefix="weft_straggler_"))
program.call("generate", "llm", "--tp", 4, "--dp", 2, "--layers", 4, "--hidden", 1024, "--seq", 512, "--batch", 4,
             "--out", ".", "--name", "step")
machine = {
    "topology": {
        "notation": "FullyConnected(4)_Switch(2)",
        "dimensions": [{"bandwidth": "100 GB/s", "latency": "300 ns"}, {"bandwidth": "50 GB/s", "latency": "1 us"}],
    },
    "npu": {"peak": "200 TFLOPS", "memory_bandwidth": "2 TB/s"},
}
base = program.run(machine, trace="step", groups="step.groups.json", out="base")
print(f"{'rank 3':>8} {'step':>10} {'slower by':>10}   compute / exposed communication of ranks 2 and 3")


# %% Rank 3 computes more slowly: its nodes have more operations and bytes
def show(name, result):
    of_rank = {row["rank"]: row for row in result.rows("ranks")}
    parts = [f"{of_rank[r]['compute_ns'] / 1e6:.2f} / {of_rank[r]['communication_ns'] / 1e6:.2f} ms" for r in (2, 3)]
    print(f"{name:>8} {result.time_ns / 1e6:7.3f} ms {100 * (result.time_ns / base.time_ns - 1):8.1f} %   {', '.join(parts)}")


show("as is", base)
for factor in (1.1, 1.5, 2):
    def slower(rank, node, factor=factor):
        if rank == 3 and node.type == weft.NodeType.COMP:
            for key in ("num_ops", "tensor_size"):
                if key in node:
                    node[key] = int(node[key] * factor)

    weft.edit_traces("step", f"slow{factor}/step", slower)
    show(f"x {factor}", program.run(machine, trace=f"slow{factor}/step", groups="step.groups.json", out=f"out{factor}"))
