# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""Runs Weft, reads its results, writes and edits Chakra execution traces. Pure Python; needs no other package.

    import weft
    program = weft.Program()                            # finds `weft`
    result = program.run("machine.yaml", trace="traces/llm", groups="traces/llm.groups.json", out="out")
    print(result.time_ns, result.rows("ranks")[0])
    links = result.frame("links")                       # a pandas frame, where pandas is installed

The page docs/guide/python.md has more.
"""

from .chakra import Attribute, Node, NodeType, Trace, edit_traces, read_groups, write_groups, write_trace
from .program import Program, WeftError
from .result import Result, read_table

__all__ = ["Attribute", "Node", "NodeType", "Program", "Result", "Trace", "WeftError", "edit_traces", "read_groups",
           "read_table", "write_groups", "write_trace"]
__version__ = "0.1.0"
