# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""LogGOPS by the rules of docs/goal.md, written from them and not from Weft's code.

There is no event queue: of all things that could happen next, the one with the earliest possible time happens, and
of several the one that became ready (or was sent) first. Times are whole picoseconds.
"""

from fractions import Fraction

ANY = -1


class Op:
    def __init__(self, kind, size, peer=0, tag=0, cpu=0, nic=0):
        self.kind, self.size, self.peer, self.tag, self.cpu, self.nic = kind, size, peer, tag, cpu, nic


class Model:
    """programs: per rank (ops, [(after, before, start_only)])."""

    def __init__(self, programs, L, o, g, G, O, S, resolution=1000):
        self.programs = programs
        self.L, self.o, self.g, self.S = L, o, g, S
        self.G, self.O, self.resolution = Fraction(G), Fraction(O), resolution
        self.pending = []
        self.order = 0
        self.free = {}
        self.ends = {}
        self.busy = [dict(calc=[], message=[]) for _ in programs]
        self.met = [[[] for _ in ops] for ops, _ in programs]
        self.needed = [[sum(1 for d in deps if d[0] == i) for i in range(len(ops))] for ops, deps in programs]
        self.posted = [[] for _ in programs]
        self.unexpected = [[] for _ in programs]

    def per_byte(self, cost, size):
        exact = int(cost * max(size - 1, 0))
        return exact - exact % self.resolution

    def add(self, at, what, rank, resources, order=None, **more):
        if order is None:
            order = self.order
            self.order += 1
        self.pending.append(dict(at=at, what=what, rank=rank, resources=resources, order=order, **more))

    def ready(self, rank, i, at):
        op = self.programs[rank][0][i]
        resources = {'calc': [('cpu', rank, op.cpu)], 'send': [('cpu', rank, op.cpu), ('out', rank, op.nic)],
                     'recv': []}[op.kind]
        self.add(at, op.kind, rank, resources, i=i)

    def tell(self, rank, i, start_only, at):
        for after, before, start in self.programs[rank][1]:
            if before != i or start != start_only:
                continue
            self.met[rank][after].append(at)
            if len(self.met[rank][after]) == self.needed[rank][after]:
                self.ready(rank, after, max(self.met[rank][after]))

    def end(self, rank, i, at):
        self.ends[rank, i] = at
        self.tell(rank, i, False, at)

    def occupy(self, resource, until):
        self.free[resource] = max(self.free.get(resource, 0), until)

    def fits(self, receive, source, send):
        return receive.peer in (ANY, source) and receive.tag in (ANY, send.tag)

    def run(self):
        for rank, (ops, _) in enumerate(self.programs):
            for i in range(len(ops)):
                if self.needed[rank][i] == 0:
                    self.ready(rank, i, 0)
        while self.pending:
            def possible(p):
                return max([p['at']] + [self.free.get(r, 0) for r in p['resources']])
            p = min(self.pending, key=lambda p: (possible(p), p['order']))
            self.pending.remove(p)
            getattr(self, p['what'])(p, possible(p))
        total = sum(len(ops) for ops, _ in self.programs)
        return [max([self.ends[r, i] for i in range(len(ops)) if (r, i) in self.ends], default=0)
                for r, (ops, _) in enumerate(self.programs)], len(self.ends) == total

    def covered(self, rank, *kinds):
        """Time in which at least one of these is under way."""
        points = sorted({t for kind in kinds for interval in self.busy[rank][kind] for t in interval})
        return sum(b - a for a, b in zip(points, points[1:])
                   if any(x <= a and b <= y for kind in kinds for x, y in self.busy[rank][kind]))

    def calc(self, p, t):
        rank, i = p['rank'], p['i']
        op = self.programs[rank][0][i]
        self.occupy(('cpu', rank, op.cpu), t + op.size * 1000)
        self.busy[rank]['calc'].append((t, t + op.size * 1000))
        self.tell(rank, i, True, t)
        self.end(rank, i, t + op.size * 1000)

    def send(self, p, t):
        rank, i = p['rank'], p['i']
        op = self.programs[rank][0][i]
        on_cpu = t + self.o + self.per_byte(self.O, op.size)
        wire = self.per_byte(self.G, op.size)
        self.occupy(('cpu', rank, op.cpu), on_cpu)
        self.occupy(('out', rank, op.nic), t + self.g + wire)
        self.busy[rank]['message'].append((t, on_cpu))
        self.tell(rank, i, True, t)
        self.add(on_cpu + self.L + wire, 'arrive', op.peer, [], source=rank, i=i)
        if op.size <= self.S:
            self.end(rank, i, on_cpu)

    def recv(self, p, t):
        rank, i = p['rank'], p['i']
        op = self.programs[rank][0][i]
        self.tell(rank, i, True, t)
        for k, (source, send) in enumerate(self.unexpected[rank]):
            if self.fits(op, source, self.programs[source][0][send]):
                del self.unexpected[rank][k]
                return self.matched(p, t, rank, i, source, send)
        self.posted[rank].append(i)

    def arrive(self, p, t):
        rank, source, send = p['rank'], p['source'], p['i']
        for k, i in enumerate(self.posted[rank]):
            if self.fits(self.programs[rank][0][i], source, self.programs[source][0][send]):
                del self.posted[rank][k]
                return self.matched(p, t, rank, i, source, send)
        self.unexpected[rank].append((source, send))

    def matched(self, p, t, rank, i, source, send):
        op = self.programs[rank][0][i]
        self.add(t, 'take', rank, [('cpu', rank, op.cpu), ('in', rank, op.nic)], order=p['order'], i=i, source=source,
                 send_op=send)

    def take(self, p, t):
        rank, i, source, send = p['rank'], p['i'], p['source'], p['send_op']
        op, message = self.programs[rank][0][i], self.programs[source][0][send]
        end = t + self.g + self.o + self.per_byte(self.O, message.size)
        self.occupy(('in', rank, op.nic), t + self.g)
        self.occupy(('cpu', rank, op.cpu), end)
        self.busy[rank]['message'].append((t, end))
        if message.size > self.S:
            self.occupy(('cpu', source, message.cpu), end)
            self.occupy(('out', source, message.nic), t + self.g)
            self.end(source, send, end)
        self.end(rank, i, end)
