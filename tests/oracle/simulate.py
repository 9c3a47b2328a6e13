# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""The event simulator: ranks, their nodes and slots, chunks, rounds and messages.

Times are integer picoseconds. Sources: docs/oracle.md, "Slots and queues" and "One instant"; docs/analytical.md, "Who
sends when" and "Full exchanges on a Ring"; docs/collective_waits.md.
"""

import heapq
import itertools

import machine as m
import network
import waits

WAITING, RUNNING, DONE = "waiting", "running", "done"


class Chunk:
    """A chunk at a rank: the phase that it is in, and how far it is."""

    __slots__ = ("collective", "chunk", "rank", "parts", "at", "state", "arrival", "round", "arrived", "last")

    def __init__(self, collective, chunk, rank, parts):
        self.collective = collective
        self.chunk = chunk
        self.rank = rank
        self.parts = parts
        self.at = 0
        self.state = None
        self.arrival = 0
        self.round = -1
        self.arrived = {}    # (position, round) -> messages received
        self.last = {}       # the same -> (bytes, reduces) of the one received last

    @property
    def part(self):
        return self.parts[self.at]

    @property
    def line(self):
        return self.parts[self.at].line


class Queue:
    """Chunks of one rank that run, and those that wait for a slot."""

    __slots__ = ("key", "running", "waiting")

    def __init__(self, key):
        self.key = key
        self.running = set()
        self.waiting = []


class Rank:
    """What a rank has: queues of chunks, chunks of unfinished collectives, receives that wait."""

    def __init__(self, number):
        self.number = number
        self.queues = {}
        self.chunks = {}       # (collective, chunk) -> Chunk
        self.sequence = itertools.count()
        self.sent = 0
        self.waits_for = {}    # receives that have started and whose message has not come: node id -> source

    def queue(self, key):
        if key not in self.queues:
            self.queues[key] = Queue(key)
        return self.queues[key]


class Simulator:
    """Events, instants, and the chunks of all ranks. `on_end(collective, rank)` is called when a rank is through."""

    def __init__(self, machine, settings):
        self.machine = machine
        self.settings = settings
        self.now = 0
        self.heap = []
        self.count = itertools.count()
        self.network = network.Network(self)
        self.ranks = [Rank(r) for r in range(machine.npus)]
        self.waits = waits.Waits(self)
        self.dirty = set()     # queues to serve
        self.parts_cache = {}
        self.beyond = 0
        self.on_end = lambda collective, rank: None

    # -- events ----------------------------------------------------------------------------------------------------

    def at(self, time, function, *arguments, order=(network.TIMER,)):
        heapq.heappush(self.heap, (time, order, next(self.count), function, arguments))

    def run(self):
        """docs/oracle.md, "One instant"."""
        while self.heap:
            self.now = self.heap[0][0]
            while self.dirty or self.heap and self.heap[0][0] == self.now:
                while self.heap and self.heap[0][0] == self.now:
                    if self.heap[0][1][0] >= network.NODE and (self.dirty or self.network.requests):
                        self.serve_queues()
                        self.network.serve()
                        continue
                    _, _, _, function, arguments = heapq.heappop(self.heap)
                    function(*arguments)
                while self.dirty:
                    self.serve_queues()
                self.network.serve()
            self.waits.settle()

    # -- collectives -----------------------------------------------------------------------------------------------

    def start_collective(self, collective, rank):
        """A rank starts a collective now."""
        r = self.ranks[rank]
        collective.started[rank] = (self.now, next(r.sequence))
        chunks = [Chunk(collective, c, rank, collective.parts_of(c, rank)) for c in range(len(collective.sizes))]
        for chunk in chunks:
            r.chunks[(collective, chunk.chunk)] = chunk
            for message in collective.early.pop((chunk.chunk, rank), ()):
                self._receive(message)
        waiting = [c for c in chunks if c.parts]
        for chunk in chunks:
            if not chunk.parts:
                chunk.state = DONE
        if not waiting:
            self._maybe_over(collective, rank)
        for chunk in waiting:
            self._enqueue(chunk)

    def _enqueue(self, chunk):
        r = self.ranks[chunk.rank]
        chunk.state = WAITING
        chunk.arrival = self.now
        queue = r.queue(chunk.line.queue)
        queue.waiting.append(chunk)
        self.dirty.add((chunk.rank, queue.key))
        self.waits.changed = True

    def serve_queues(self):
        """The lowest queue first, again and again: a phase that ends at once brings its chunk into another queue."""
        while self.dirty:
            rank, key = min(self.dirty)
            self.dirty.discard((rank, key))
            queue = self.ranks[rank].queues[key]
            while queue.waiting and len(queue.running) < self.settings.active:
                chunk = self._choose(rank, queue)
                queue.waiting.remove(chunk)
                self.begin(chunk)

    def _choose(self, rank, queue):
        """docs/oracle.md, "Slots and queues"."""
        scheduling = self.settings.scheduling
        started = {c.collective for c in queue.waiting}
        order = {c: c.started[rank][1] for c in started}
        if scheduling == "priority":
            chosen = max(started, key=lambda c: (c.priority, -order[c]))
        elif scheduling == "fifo":
            chosen = min(started, key=order.get)
        else:
            chosen = max(started, key=order.get)
        mine = [c for c in queue.waiting if c.collective is chosen]
        if self.settings.dimension_scheduling == "less_remaining_phase_first":
            return min(mine, key=lambda c: (len(c.parts) - c.at, c.arrival, c.chunk))
        return min(mine, key=lambda c: (c.arrival, c.chunk))

    def begin(self, chunk, beyond=False):
        """A chunk gets a slot, or starts beyond the slots."""
        r = self.ranks[chunk.rank]
        queue = r.queue(chunk.line.queue)
        if beyond:
            queue.waiting.remove(chunk)
            self.beyond += len(queue.running) >= self.settings.active
        queue.running.add(chunk)
        chunk.state = RUNNING
        chunk.round = -1
        chunk.line.begun.add(chunk.rank)
        self.waits.begun(chunk.line)
        if self.machine.endpoint_delay:
            self.at(self.now + self.machine.endpoint_delay, self._next_round, chunk)
        else:
            self._next_round(chunk)

    def _next_round(self, chunk):
        """Enters the next round, or ends the phase."""
        part = chunk.part
        chunk.round += 1
        if chunk.round == len(part.rounds):
            self._end_phase(chunk)
            return
        sends, expected = part.rounds[chunk.round]
        if chunk.collective.full_exchange(part, chunk.round):
            part.line.entered[(chunk.round, chunk.rank)] = self.now
        self._send_all(chunk, part, sends)
        if self._received(chunk) < expected:
            return
        if expected:
            self._round_over(chunk)
        else:
            self._next_round(chunk)

    def _round_over(self, chunk):
        """All messages of the round have come. A full exchange may last longer (docs/analytical.md)."""
        part, k = chunk.part, chunk.round
        dimension = chunk.collective.full_exchange(part, k)
        if dimension is not None:
            entries = [part.line.entered[(k, r)] for r in part.line.members]
            if max(entries) < min(entries) + max(dimension.latency, 1):
                sizes = chunk.collective.blocks[(chunk.chunk, chunk.rank)].sizes[part.position]
                carried = chunk.collective.exchange_bytes(part, k, sizes)
                size, reduces = chunk.last[(part.position, k)]
                over = (min(entries) + m.ceil_div(carried, dimension.rate) + dimension.latency
                        + self.machine.endpoint_delay + (self.machine.red(size) if reduces else 0))
                if over > self.now:
                    self.at(over, self._next_round, chunk)
                    return
        self._next_round(chunk)

    def _received(self, chunk):
        return chunk.arrived.get((chunk.part.position, chunk.round), 0)

    def _send_all(self, chunk, part, sends):
        blocks = chunk.collective.blocks[(chunk.chunk, chunk.rank)]
        members = part.line.members
        for peer, carried, reduces, k in sends:
            size = blocks.bytes(part.position, carried)
            self.send(chunk.rank, members[peer], size, part.mirrored, self._collective_message,
                       (chunk.collective, chunk.chunk, part.position, k, members[peer], reduces))

    def send(self, source, target, size, mirrored, done, tag):
        key = (source, target, mirrored)
        parts = self.parts_cache.get(key)
        if parts is None:
            parts = self.parts_cache[key] = network.parts_of(self.machine.way(source, target, mirrored))
        r = self.ranks[source]
        r.sent += 1
        message = network.Message((source, r.sent), size, parts, done, tag)
        self.network.send(message)
        return message

    def _collective_message(self, message, tail):
        """It counts e, and the time of the reduction, after its last byte (docs/analytical.md, step 4)."""
        delay = self.machine.endpoint_delay
        if message.tag[5]:
            delay += self.machine.red(message.size)
        self.at(tail + delay, self._receive, message, order=(network.ARRIVAL,) + message.port)

    def _receive(self, message):
        collective, number, position, k, rank, _ = message.tag
        chunk = self.ranks[rank].chunks.get((collective, number))
        if chunk is None:  # the rank has not started the collective
            collective.early.setdefault((number, rank), []).append(message)
            return
        chunk.arrived[(position, k)] = chunk.arrived.get((position, k), 0) + 1
        chunk.last[(position, k)] = (message.size, message.tag[5])
        if chunk.state == RUNNING and chunk.part.position == position and chunk.round == k:
            if self._received(chunk) == chunk.part.rounds[k][1]:
                self._round_over(chunk)

    def _end_phase(self, chunk):
        line = chunk.line
        line.ended.add(chunk.rank)
        self.waits.changed |= line.open()
        queue = self.ranks[chunk.rank].queue(line.queue)
        queue.running.discard(chunk)
        self.dirty.add((chunk.rank, queue.key))
        chunk.at += 1
        if chunk.at < len(chunk.parts):
            self._enqueue(chunk)
            return
        chunk.state = DONE
        self._maybe_over(chunk.collective, chunk.rank)

    def _maybe_over(self, collective, rank):
        chunks = self.ranks[rank].chunks
        if all(chunks[(collective, c)].state == DONE for c in range(len(collective.sizes))):
            collective.ended[rank] = self.now
            for c in range(len(collective.sizes)):
                del chunks[(collective, c)]
            self.on_end(collective, rank)
