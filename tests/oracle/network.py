# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""How messages travel: links with queues, at `message` and at `analytical` fidelity.

Sources: docs/analytical.md, "The time of a message"; docs/oracle.md, "Links at message fidelity" and "One instant". All
times are integer picoseconds; what a busy link still owes is an exact fraction.
"""

import math
from fractions import Fraction

import machine as m


#: Events of an instant: first the timers of collectives, then what arrives, by port, then starts that were decided
#: (joins), then nodes of traces and point-to-point sends (docs/oracle.md, "One instant").
TIMER, ARRIVAL, DECIDED, NODE = 0, 1, 2, 3


class Message:
    """A message on its way. `done(message, time)` is called when its last byte has come; `order`: (sender, number)."""

    __slots__ = ("order", "size", "parts", "part", "head", "tail", "done", "tag", "port", "left")

    def __init__(self, order, size, parts, done, tag):
        self.order = order
        self.size = size
        self.parts = parts
        self.part = 0
        self.head = self.tail = 0
        self.left = None  # called with the time at which the message has left its first link
        self.done = done
        self.tag = tag
        self.port = ()


class Link:
    """When a link is free: exactly (a fraction of ps) and rounded up."""

    __slots__ = ("exact", "free")

    def __init__(self):
        self.exact = Fraction(0)
        self.free = 0


def parts_of(way):
    """A way in parts: runs of hops in analytical dimensions, and single hops of others."""
    parts = []
    for hop in way:
        analytical = hop.dimension.fidelity == m.ANALYTICAL
        if analytical and parts and parts[-1][0]:
            parts[-1][1].append(hop)
        else:
            parts.append((analytical, [hop]))
    return parts


class Network:
    """Requests for links are collected and served in the order in which they are made."""

    def __init__(self, events):
        self.events = events  # .now, .at(time, function, *arguments)
        self.first = {}       # links at which own messages queue
        self.last = {}        # analytical: links at which messages end
        self.requests = []

    def send(self, message):
        """The NMU hands a message to its first link, now."""
        message.head = message.tail = self.events.now
        self._enter(message)

    def _enter(self, message):
        self.requests.append(message)

    def serve(self):
        """Serves what was requested in this instant; returns whether there was anything."""
        if not self.requests:
            return False
        requests, self.requests = self.requests, []
        for message in requests:
            analytical, hops = message.parts[message.part]
            if analytical:
                self._depart(message, hops)
            else:
                self._pass(message, hops[0])
        return True

    def _pass(self, message, hop):
        """One transfer over one link: first come first served; the remainder of a ps is carried while it is busy."""
        now = self.events.now
        link = self.first.setdefault(hop.link, Link())
        begin = link.exact if now < link.free else now
        start = math.floor(begin)
        exact = begin + message.size / hop.rate
        end = math.ceil(exact)
        if end < message.tail:  # a slower link before this one
            end, exact = message.tail, Fraction(message.tail)
        link.exact, link.free = exact, end
        self._leaves(message, end)
        d, source, to = hop.link
        message.port = (d, to if to in (1, -1) and hop.dimension.directed() else source) + message.order
        self._next_part(message, start + hop.latency, end + hop.latency, hop.dimension)

    @staticmethod
    def _leaves(message, end):
        if message.part == 0 and message.left:
            message.left(end)

    def _depart(self, message, hops):
        """Analytical, steps 1 and 2: the first link, then the way as if alone."""
        now, first = self.events.now, hops[0]
        link = self.first.setdefault(first.link, Link())
        start = max(now, link.free)
        end = max(start + m.ceil_div(message.size, first.rate), message.tail)
        link.free, link.exact = end, Fraction(end)
        self._leaves(message, end)
        latency = sum(hop.latency for hop in hops)
        slowest = min(hop.rate for hop in hops)
        tail_in = message.tail
        message.head = start + latency
        message.tail = max(message.head + m.ceil_div(message.size, slowest), tail_in + latency)
        message.port = (hops[-1].link[0],) + message.order
        self.events.at(message.head, self._arrive, message, hops[-1], order=(ARRIVAL,) + message.port)

    def _arrive(self, message, last):
        """Analytical, step 3: the last link, in the order of heads."""
        link = self.last.setdefault(last.link, Link())
        begin = max(message.head, link.free)
        end = max(begin + m.ceil_div(message.size, last.rate), message.tail)
        link.free = end
        self._next_part(message, begin, end, last.dimension)

    def _next_part(self, message, head, tail, dimension):
        message.part += 1
        message.head, message.tail = head, tail
        if message.part == len(message.parts):
            message.done(message, tail)
        else:
            time = head if dimension.switching == m.CUT_THROUGH else tail
            if time == self.events.now:
                self._enter(message)
                return
            self.events.at(time, self._enter, message, order=(ARRIVAL,) + message.port)
