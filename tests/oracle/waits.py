# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""Who may start a chunk beyond the slots: docs/collective_waits.md, word for word.

"Stuck", "jammed", "place", "circle" and rules 1 to 4 are that page's. A place is a tuple (line, rank); a line is a
`collective.Line`. The simulator tells when something has changed; the rule looks at settled instants only.
"""

import network

WAITING = "waiting"


class Waits:
    """The rule, and the starts that it has decided."""

    def __init__(self, simulator):
        self.simulator = simulator
        self.changed = False
        self.open = {}      # lines that some member has begun and some has not, in the order in which they opened
        self.decided = {}   # (line, rank) that start at t + L

    def begun(self, line):
        """A member has begun a line."""
        self.changed = True
        if line.open():
            self.open[line] = None
        else:
            self.open.pop(line, None)

    def settle(self):
        """Looks for circles when an instant is over."""
        if not self.changed:
            return
        self.changed = False
        # What is decided counts as begun, and can close a further circle at the same instant.
        while self._decide():
            pass

    def _stuck(self):
        stuck = dict.fromkeys(self.open)
        while True:
            state = _State(self, stuck)
            free = [line for line in stuck if not any(state.cannot_begin(line, q) for q in line.missing())]
            if not free:
                return state
            for line in free:
                del stuck[line]

    def _decide(self):
        """Decides the places of the circles that exist. False: there are none."""
        simulator = self.simulator
        state = self._stuck()
        before = len(self.decided)
        for circle in _circles(state):
            lines = [node for node in circle if not isinstance(node, tuple)]
            lines += [node[0] for node in circle if isinstance(node, tuple)]
            latency = max(line.collective.latency(line) for line in lines)
            for node in circle:
                if isinstance(node, tuple) and node not in self.decided:
                    self.decided[node] = None
                    line, rank = node
                    line.begun.add(rank)
                    self.open[line] = None
                    simulator.at(simulator.now + latency, self._start, line, rank,
                                 order=(network.DECIDED, rank, line.collective.number, line.chunk, line.phase))
        for line in [x for x in self.open if not x.open()]:
            del self.open[line]
        return len(self.decided) > before

    def _start(self, line, rank):
        """t + L: the chunk starts beyond the slots, unless it has got one by itself."""
        self.decided.pop((line, rank))
        chunk = self.simulator.ranks[rank].chunks.get((line.collective, line.chunk))
        if chunk is not None and chunk.state == WAITING and chunk.line is line:
            self.simulator.begin(chunk, beyond=True)


class _State:
    """What the rule asks of the settled state, for one assumption about which lines are stuck."""

    def __init__(self, waits, stuck):
        self.simulator = waits.simulator
        self.stuck = stuck
        self.active = self.simulator.settings.active
        self.holding = {}   # rank -> stuck lines that hold a slot there
        for line in stuck:
            for rank in line.begun:
                if rank not in line.ended:
                    self.holding.setdefault(rank, []).append(line)

    def holders(self, rank, queue):
        return [line for line in self.holding.get(rank, ()) if line.queue == queue]

    def jammed(self, rank, queue):
        return len(self.holders(rank, queue)) >= self.active

    def chunk(self, line, rank):
        return self.simulator.ranks[rank].chunks.get((line.collective, line.chunk))

    def cannot_begin(self, line, q):
        """Whether one of the rules 1 to 4 holds for a missing member."""
        if self.jammed(q, line.queue):
            return True
        chunk = self.chunk(line, q)
        if chunk is None:
            return any(self.holding.get(p) for p in self.waited_for(q))
        if chunk.line is line:
            return False
        earlier = chunk.line
        if q in earlier.begun:
            return earlier in self.stuck
        return self.jammed(q, earlier.queue)

    def waited_for(self, q):
        """q, the ranks whose messages q waits for, those that these wait for, and so on."""
        found, todo = {q: None}, [q]
        while todo:
            for source in self.simulator.ranks[todo.pop()].waits_for.values():
                if source not in found:
                    found[source] = None
                    todo.append(source)
        return list(found)

    def arrows(self, node):
        if isinstance(node, tuple):
            line, rank = node
            return self.holders(rank, line.queue) if self.jammed(rank, line.queue) else []
        if node not in self.stuck:
            return []
        out = []
        for q in node.missing():
            out += self._arrows_at(node, q)
        return out

    def _arrows_at(self, line, q):
        chunk = self.chunk(line, q)
        if chunk is not None and chunk.line is line:
            return [(line, q)]
        out = self.holders(q, line.queue) if self.jammed(q, line.queue) else []
        if chunk is not None:
            earlier = chunk.line
            if q in earlier.begun:
                return out + ([earlier] if earlier in self.stuck else [])
            return out + ([(earlier, q)] if self.jammed(q, earlier.queue) else [])
        for p in self.waited_for(q):
            out += self.holding.get(p, [])
            out += self._places_of_started(p)
        return out

    def _places_of_started(self, p):
        """Rule 4: places at p of collectives that p has started and none of whose stuck chunks holds a slot there."""
        out = []
        by_collective = {}
        for chunk in self.simulator.ranks[p].chunks.values():
            by_collective.setdefault(chunk.collective, []).append(chunk)
        held = {line.collective for line in self.holding.get(p, ())}
        for collective, chunks in by_collective.items():
            if collective in held:
                continue
            places = [(c.line, p) for c in sorted(chunks, key=lambda c: c.chunk)
                      if c.state == WAITING and p not in c.line.begun and self.jammed(p, c.line.queue)]
            opened = [place for place in places if place[0].open()]
            out += opened or places[:1]
        return out


def _circles(state):
    """Strongly connected components with at least one arrow (Tarjan, without recursion)."""
    index, low, on_stack, stack, found = {}, {}, set(), [], []
    for root in list(state.stuck):
        if root in index:
            continue
        work = [(root, None)]
        while work:
            node, arrows = work.pop()
            if arrows is None:
                index[node] = low[node] = len(index)
                stack.append(node)
                on_stack.add(node)
                arrows = iter(state.arrows(node))
            pushed = False
            for target in arrows:
                if target not in index:
                    work.append((node, arrows))
                    work.append((target, None))
                    pushed = True
                    break
                if target in on_stack:
                    low[node] = min(low[node], index[target])
            if pushed:
                continue
            if low[node] == index[node]:
                component = []
                while True:
                    top = stack.pop()
                    on_stack.discard(top)
                    component.append(top)
                    if top == node:
                        break
                if len(component) > 1:
                    found.append(component)
            if work:
                parent = work[-1][0]
                low[parent] = min(low[parent], low[node])
    return found
