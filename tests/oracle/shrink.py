# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""Makes a failing case smaller: leaves operations, dependencies and settings out as long as it still differs."""

import collective
import machine as m
import chakra


def _key(rank, node):
    """What belongs together: the nodes of a collective, a send and its receive; a compute node is alone."""
    if node.kind == chakra.COLL:
        return ("collective", node.attributes.get("pg_name", ""))
    if node.kind in (chakra.SEND, chakra.RECV):
        return ("message", node.attributes["comm_tag"])
    return ("node", rank, node.id)


def _without(case, key):
    """The case's traces without some nodes; what depended on them depends on what they depended on."""
    traces = []
    for rank, nodes in enumerate(case.traces):
        gone = {n.id: n.deps for n in nodes if _key(rank, n) == key}
        kept = []
        for node in nodes:
            if node.id in gone:
                continue
            deps = list(node.deps)
            while any(d in gone for d in deps):
                deps = [x for d in deps for x in (gone[d] if d in gone else [d])]
            kept.append(chakra.Node(node.id, node.kind, node.name, list(dict.fromkeys(deps)), node.duration_us,
                                   **node.attributes))
        traces.append(kept)
    return traces


def _simpler(case, key):
    """Attributes that may make the nodes of a collective simpler."""
    node = next(n for r, nodes in enumerate(case.traces) for n in nodes if _key(r, n) == key)
    if node.kind != chakra.COLL:
        return []
    size = 24 * len(case.traces) * case.settings.chunks
    out = [{"comm_size": size}] if node.attributes.get("comm_size") != size else []
    if node.attributes["comm_type"] != chakra.COMM_TYPES["barrier"]:
        out.append({"comm_type": chakra.COMM_TYPES["barrier"], "root": None})
    return out


def _with(case, key, attributes):
    """The case's traces with other attributes of some nodes (None: without it)."""
    traces = []
    for rank, nodes in enumerate(case.traces):
        kept = []
        for node in nodes:
            if _key(rank, node) == key:
                new = {k: v for k, v in {**node.attributes, **attributes}.items() if v is not None}
                node = chakra.Node(node.id, node.kind, node.name, node.deps, node.duration_us, **new)
            kept.append(node)
        traces.append(kept)
    return traces


def shrink(case, fails):
    """`fails(case)` says whether it still differs. Changes the case in place."""
    def attempt(name, value, owner=case):
        old = getattr(owner, name)
        if old == value:
            return False
        setattr(owner, name, value)
        if fails(case):
            return True
        setattr(owner, name, old)
        return False

    again = True
    while again:
        again = False
        for key in dict.fromkeys(_key(r, n) for r, nodes in enumerate(case.traces) for n in nodes):
            again = attempt("traces", _without(case, key)) or again
        for nodes in case.traces:
            for node in nodes:
                for dep in list(node.deps):
                    again = attempt("deps", [d for d in node.deps if d != dep], node) or again
        plain = collective.Settings()
        for name in ("chunks", "active", "queues", "order", "scheduling", "dimension_scheduling"):
            again = attempt(name, getattr(plain, name), case.settings) or again
        for chunks in range(1, case.settings.chunks):
            if attempt("chunks", chunks, case.settings):
                again = True
                break
        for key in dict.fromkeys(_key(r, n) for r, nodes in enumerate(case.traces) for n in nodes):
            for attributes in _simpler(case, key):
                again = attempt("traces", _with(case, key, attributes)) or again
        for op in list(case.settings.algorithm):
            rest = {k: v for k, v in case.settings.algorithm.items() if k != op}
            again = attempt("algorithm", rest, case.settings) or again
        again = attempt("endpoint_delay", 0) or attempt("reduction", None) or again
        for dimension in case.dimensions:
            again = attempt("switching", m.CUT_THROUGH, dimension) or attempt("fidelity", m.MESSAGE, dimension) or again
    return case
