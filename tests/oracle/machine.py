# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""The machine: dimensions, links and the ways of messages.

Units: times are integer picoseconds, rates are exact fractions of bytes a picosecond, sizes are bytes.
Sources: docs/configuration_reference.md (keys and units); docs/analytical.md, "The way of a message".
"""

from fractions import Fraction

RING, MESH, FULL, SWITCH = "Ring", "Mesh", "FullyConnected", "Switch"
ANALYTICAL, MESSAGE = "analytical", "message"
CUT_THROUGH, STORE_AND_FORWARD = "cut_through", "store_and_forward"


def ceil_div(numerator, rate):
    """x(b, B): the picoseconds that b bytes take at rate B, rounded up (docs/analytical.md, "Words")."""
    if not numerator:
        return 0
    return -((-numerator * rate.denominator) // rate.numerator)


class Dimension:
    """One dimension: its kind, NPUs, link rate (bytes/ps), latency a hop (ps), fidelity and switching."""

    def __init__(self, kind, size, rate, latency, fidelity=MESSAGE, switching=CUT_THROUGH):
        self.kind = kind
        self.size = size
        self.rate = Fraction(rate)
        self.latency = latency
        self.fidelity = fidelity
        self.switching = switching

    def directed(self):
        """Rings and meshes have links of two directions, and chunks that are reversed."""
        return self.kind in (RING, MESH)


class Hop:
    """One link of a way: its identity, the dimension that it is of."""

    __slots__ = ("link", "dimension", "rate", "latency")

    def __init__(self, link, dimension):
        self.link = link
        self.dimension = dimension
        self.rate = dimension.rate
        self.latency = dimension.latency


class Machine:
    """Dimensions and what the NMUs do: endpoint delay (ps), reduction rate (bytes/ps or None)."""

    def __init__(self, dimensions, endpoint_delay=0, reduction=None):
        self.dimensions = dimensions
        self.endpoint_delay = endpoint_delay
        self.reduction = reduction
        self.strides = []
        npus = 1
        for dimension in dimensions:
            self.strides.append(npus)
            npus *= dimension.size
        self.npus = npus
        self._ways = {}

    def coordinate(self, rank, d):
        """The coordinate of a rank in dimension d; dimension 0 changes fastest."""
        return rank // self.strides[d] % self.dimensions[d].size

    def red(self, size):
        """red(b): reducing a received block costs 3 accesses (docs/analytical.md, "Words")."""
        return 0 if self.reduction is None else ceil_div(3 * size, self.reduction)

    def way(self, source, target, reversed_chunk):
        """The links from one NPU to another: the dimensions in ascending order (docs/analytical.md)."""
        key = (source, target, reversed_chunk)
        hops = self._ways.get(key)
        if hops is None:
            hops = self._ways[key] = self._make_way(source, target, reversed_chunk)
        return hops

    def _make_way(self, source, target, reversed_chunk):
        hops, at = [], source
        for d, dimension in enumerate(self.dimensions):
            a, b = self.coordinate(at, d), self.coordinate(target, d)
            if a == b:
                continue
            stride, n = self.strides[d], dimension.size
            end = at + (b - a) * stride
            if dimension.kind == SWITCH:
                hops += [Hop((d, at, "up"), dimension), Hop((d, end, "down"), dimension)]
            elif dimension.kind == FULL:
                hops.append(Hop((d, at, end), dimension))
            else:
                step = self._direction(dimension, a, b, reversed_chunk)
                here = a
                while here != b:
                    hops.append(Hop((d, at + (here - a) * stride, step), dimension))
                    here = (here + step) % n
            at = end
        return hops

    @staticmethod
    def _direction(dimension, a, b, reversed_chunk):
        """Mesh: straight. Ring: the shorter way; half way round up, down for reversed chunks."""
        if dimension.kind == MESH:
            return 1 if b > a else -1
        up = (b - a) % dimension.size
        if 2 * up == dimension.size:
            return -1 if reversed_chunk else 1
        return 1 if 2 * up < dimension.size else -1
