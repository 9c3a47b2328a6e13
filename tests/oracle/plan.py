# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""From a collective to chunks, phases and the bytes of every block.

Sources: docs/oracle.md, "Chunks, phases and blocks"; docs/configuration_reference.md, `collectives`. Sizes are bytes.
"""

import machine as m

TOKEN = 8  # bytes of a block of a barrier


def split(size, n):
    """n blocks that differ by one byte at most, the larger ones first."""
    return [size // n + (1 if i < size % n else 0) for i in range(n)]


def chunk_sizes(size, chunks, op):
    """Chunks of size // C bytes, the last with the remainder; never more chunks than bytes."""
    if op == "barrier":
        return [0]
    count = min(chunks, size)
    if not count:
        return []
    return [size // count] * (count - 1) + [size - size // count * (count - 1)]


def phases(op, dims, order, chunk, trees=()):
    """[(operation, dimension)] of a chunk; `trees`: the dimensions in which an all-reduce runs double_binary_tree."""
    if op == "all_reduce" and order == "baseline":
        return [(op, d) for d in dims]
    turning = list(dims)
    if order == "round_robin" and op in ("all_reduce", "reduce_scatter", "all_gather"):
        turn = chunk % len(turning)
        turning = turning[turn:] + turning[:turn]
    inner = []
    if op == "all_reduce":
        inner = [d for d in turning if d in trees]
        turning = [d for d in turning if d not in trees]
    if op == "all_reduce":
        if not inner:
            inner = [turning.pop()]
        return ([("reduce_scatter", d) for d in turning] + [(op, d) for d in inner]
                + [("all_gather", d) for d in turning[::-1]])
    if op in ("all_gather", "gather", "broadcast"):
        return [(op, d) for d in turning[::-1]]
    return [(op, d) for d in turning]


def default_algorithm(dimension, op):
    """docs/configuration_reference.md, "Algorithms", `default`."""
    if dimension.kind in (m.RING, m.MESH):
        return "ring"
    if dimension.kind == m.FULL or op == "all_to_all":
        return "direct"
    return "halving_doubling"


class Blocks:
    """The bytes of the blocks of every phase of a chunk at one rank.

    `index[p]`, `count[p]`: the rank's index in the line of phase p, and the members of that line.
    """

    def __init__(self, op, size, sequence, index, count):
        self.sizes = []
        held = size  # bytes that the rank has when a phase begins
        nested = []  # reduce-scatters whose blocks an all-gather puts together again
        factor = 1
        for p, (what, _) in enumerate(sequence):
            n, i = count[p], index[p]
            if op == "barrier":
                self.sizes.append([TOKEN] * n)
            elif what in ("reduce_scatter", "scatter"):
                blocks = split(held, n)
                nested.append((held, blocks))
                self.sizes.append(blocks)
                held = blocks[i]
            elif what == "all_to_all":
                blocks = split(held, n)
                self.sizes.append([factor * b for b in blocks])
                factor *= n
                held = blocks[i]
            elif what in ("all_gather", "gather"):
                if op == "all_reduce":
                    held, blocks = nested.pop()
                    self.sizes.append(blocks)
                else:
                    self.sizes.append([held] * n)
                    held *= n
            else:
                self.sizes.append(split(held, n))

    def bytes(self, phase, blocks):
        sizes = self.sizes[phase]
        return sum(sizes[b] for b in blocks)
