# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""A whole job on the simulator: traces of all ranks, groups, collectives by group, messages by tag.

Times are picoseconds. Source: docs/oracle.md, "Nodes".
"""

import re

import collective
import network
import nodes
import simulate
from chakra import COMM_TYPES

NAMES = {number: name for name, number in COMM_TYPES.items()}


def _natural(name):
    """A key that sorts names with runs of digits as numbers."""
    return [(0, int(part), part) if part.isdigit() else (1, 0, part) for part in re.findall(r"[0-9]+|[^0-9]+", name)]


class Job:
    """Runs traces (lists of chakra.Node, rank 0 first) on a machine and keeps what weft writes into its results."""

    def __init__(self, machine, settings, traces, groups):
        self.simulator = simulate.Simulator(machine, settings)
        self.simulator.on_end = self._collective_over
        self.settings = settings
        self.machine = machine
        self.groups = groups
        self.ranks = [nodes.Nodes(self, rank, trace) for rank, trace in enumerate(traces)]
        self.joined = {}    # (rank, group) -> collectives started of that group
        self.instances = {} # (group, number) -> Collective
        self.node_of = {}   # (collective, rank) -> node id
        self.arrived = {}   # (source, target, tag) -> messages whose receives have not taken them
        self.receives = {}  # the same -> receives that wait

    def run(self):
        for rank in self.ranks:
            self.simulator.at(0, rank.begin, order=(network.NODE,))
        self.simulator.run()
        unfinished = [(r.rank, n) for r in self.ranks for n in r.nodes if n not in r.ended]
        if unfinished:
            raise RuntimeError(f"the oracle does not finish: (rank, node) {unfinished[:5]}")
        return self

    def time(self):
        return max((t for r in self.ranks for t in r.ended.values()), default=0)

    # -- collectives: the n-th of a group at one rank is the n-th at the others ------------------------------------

    def start_collective(self, rank, node):
        group = node.attributes.get("pg_name", "")
        number = self.joined.get((rank, group), 0)
        self.joined[(rank, group)] = number + 1
        instance = self.instances.get((group, number))
        if instance is None:
            members = self.groups[group] if group else list(range(self.machine.npus))
            instance = collective.Collective(self.machine, self.settings, NAMES[node.attributes["comm_type"]],
                                             node.attributes["comm_size"], members, node.attributes.get("root"))
            instance.priority = node.attributes.get("comm_priority", 0)
            instance.name, instance.group = node.name, group
            instance.number = (_natural(group), number)
            self.instances[(group, number)] = instance
        self.node_of[(instance, rank)] = node.id
        self.simulator.start_collective(instance, rank)

    def _collective_over(self, instance, rank):
        self.ranks[rank].finish(self.node_of[(instance, rank)])

    # -- point-to-point: the k-th send with a tag belongs to the k-th receive --------------------------------------

    def start_send(self, rank, node):
        simulator = self.simulator
        if simulator.machine.endpoint_delay:
            simulator.at(simulator.now + simulator.machine.endpoint_delay, self._send, rank, node,
                         order=(network.NODE,))
        else:
            self._send(rank, node)

    def _send(self, rank, node):
        target, tag = node.attributes["comm_dst"], node.attributes.get("comm_tag", 0)
        message = self.simulator.send(rank, target, node.attributes["comm_size"], False, self._message,
                                       (rank, target, tag, node.id))
        message.left = lambda end: self.simulator.at(end, self.ranks[rank].finish, node.id,
                                                      order=(network.NODE,))

    def _message(self, message, tail):
        self.simulator.at(tail, self._tail, message, order=(network.ARRIVAL,) + message.port)

    def _tail(self, message):
        delay = self.machine.endpoint_delay
        if delay:
            self.simulator.at(self.simulator.now + delay, self._came, message, order=(network.NODE,))
        else:
            self._came(message)

    def _came(self, message):
        key = message.tag[:3]
        waiting = self.receives.get(key)
        if waiting:
            rank, ident = waiting.pop(0)
            del self.simulator.ranks[rank].waits_for[ident]
            self.simulator.waits.changed = True
            self.ranks[rank].finish(ident)
        else:
            self.arrived[key] = self.arrived.get(key, 0) + 1

    def start_receive(self, rank, node):
        key = (node.attributes["comm_src"], rank, node.attributes.get("comm_tag", 0))
        if self.arrived.get(key):
            self.arrived[key] -= 1
            self.ranks[rank].finish(node.id)
            return
        self.receives.setdefault(key, []).append((rank, node.id))
        self.simulator.ranks[rank].waits_for[node.id] = key[0]
        self.simulator.waits.changed = True
