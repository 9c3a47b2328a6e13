# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""The built-in algorithms as rounds of messages.

Source: docs/oracle.md, "Algorithms". A round is a list of (source, target, blocks, reduces): members by index, blocks
by number, whether the receiver reduces. A source sends the messages of a round in the order of the list.
"""

import functools


@functools.lru_cache(maxsize=None)
def rounds(algorithm, op, n, root=0, mirrored=False):
    """The rounds of an operation over n members. `mirrored`: of a chunk that runs the other way."""
    if n == 1:
        return ()
    made = _ALGORITHMS[algorithm](op, n, root, mirrored)
    return tuple(tuple(r) for r in made)


@functools.lru_cache(maxsize=None)
def of_member(algorithm, op, n, root, mirrored, member):
    """The rounds of one member: ([(peer, blocks, reduces, round)], messages received) each, in order."""
    out = []
    for k, messages in enumerate(rounds(algorithm, op, n, root, mirrored)):
        sends = tuple((t, blocks, reduces, k) for s, t, blocks, reduces in messages if s == member)
        out.append((sends, sum(1 for _, t, _, _ in messages if t == member)))
    while out and out[-1] == ((), 0):
        out.pop()
    return tuple(out)


def _ring(op, n, root, mirrored):
    """Neighbour to neighbour. A mirrored ring runs downwards: member i acts as member -i, a member's block with it."""
    made = _ring_up(op, n, -root % n if mirrored else root)
    if not mirrored:
        return made
    sign = 1 if op in ("broadcast", "reduce") else -1  # their blocks are pieces of the whole, not members' blocks
    return [[(-s % n, -t % n, tuple(sign * b % n for b in blocks), red) for s, t, blocks, red in r] for r in made]


def _ring_up(op, n, root):
    everyone = range(n)
    nxt = [(i + 1) % n for i in everyone]
    scatter = [[(i, nxt[i], ((i - 1 - k) % n,), True) for i in everyone] for k in range(n - 1)]
    gather = [[(i, nxt[i], ((i - k) % n,), False) for i in everyone] for k in range(n - 1)]
    if op == "reduce_scatter":
        return scatter
    if op == "all_gather":
        return gather
    if op in ("all_reduce", "barrier"):
        return scatter + gather
    if op == "all_to_all":
        # The item for the member at distance d travels d rounds; shorter distances first.
        return [[(i, nxt[i], ((i - k + d) % n,), False) for i in everyone]
                for d in range(1, n) for k in range(d)]
    at = [(root + d) % n for d in everyone]  # by distance from the root
    if op == "broadcast":
        return _by_round((d + b, at[d], at[d + 1], (b,), False) for b in range(n) for d in range(n - 1))
    if op == "reduce":
        return _by_round((d - 1 + b, at[d], nxt[at[d]], (b,), True) for b in range(n) for d in range(1, n))
    if op == "gather":  # each sends its own block, then what comes from behind
        return _by_round((k, at[d], nxt[at[d]], (at[d - k],), False) for d in range(1, n) for k in range(d))
    assert op == "scatter"  # the farthest first
    return _by_round((n - 1 - far + d, at[d], at[d + 1], (at[far],), False)
                     for far in range(n - 1, 0, -1) for d in range(far))


def _by_round(items):
    made = {}
    for k, *message in items:
        made.setdefault(k, []).append(tuple(message))
    return [made.get(k, []) for k in range(max(made) + 1)]


def _direct(op, n, root, mirrored):
    """One message to every peer, destinations i + 1, i + 2, ... (mirrored: i - 1, i - 2, ..; not with a root)."""
    step = -1 if mirrored else 1
    peers = [(i, (i + step * k) % n) for i in range(n) for k in range(1, n)]
    scatter = [(i, j, (j,), True) for i, j in peers]
    gather = [(i, j, (i,), False) for i, j in peers]
    whole = tuple(range(n))
    others = [(root + k) % n for k in range(1, n)]
    return {
        "all_reduce": [scatter, gather],
        "barrier": [scatter, gather],
        "reduce_scatter": [scatter],
        "all_gather": [gather],
        "all_to_all": [[(i, j, (j,), False) for i, j in peers]],
        "broadcast": [[(root, j, whole, False) for j in others]],
        "reduce": [[(j, root, whole, True) for j in others]],
        "gather": [[(j, root, (j,), False) for j in others]],
        "scatter": [[(root, j, (j,), False) for j in others]],
    }[op]


def _halving_doubling(op, n, root, mirrored):
    if op == "all_to_all":
        return _direct(op, n, root, mirrored)
    if op in ("broadcast", "reduce", "gather", "scatter"):
        return _binomial(op, n, root)
    p = 1
    while 2 * p <= n:
        p *= 2
    whole = tuple(range(n))

    def mine(i, step):
        """Blocks that agree with i in the bits below `step`, of the p members and those they stand for."""
        return tuple(b for b in range(n) if b % p % step == i % step)

    halving, doubling = [], []
    step = 1
    while step < p:
        halving.append([(i, i ^ step, mine(i ^ step, 2 * step), True) for i in range(p)])
        doubling.insert(0, [(i, i ^ step, mine(i, 2 * step), False) for i in range(p)])
        step *= 2
    extra = range(p, n)
    if op == "all_gather":
        into = [[(i, i - p, (i,), False) for i in extra]]
        out = [[(i - p, i, tuple(b for b in whole if b != i), False) for i in extra]]
        return (into + doubling + out) if n > p else doubling
    into = [[(i, i - p, whole, True) for i in extra]] if n > p else []
    if op == "reduce_scatter":
        return into + halving + ([[(i - p, i, (i,), False) for i in extra]] if n > p else [])
    return into + halving + doubling + ([[(i - p, i, whole, False) for i in extra]] if n > p else [])


def _binomial(op, n, root):
    """A binomial tree over the distances v from the root: v's parent is v without its highest bit."""
    steps = (n - 1).bit_length()
    whole = tuple(range(n))
    made = [[] for _ in range(steps)]
    for v in range(1, n):
        k = v.bit_length() - 1
        child, parent = (v + root) % n, (v - (1 << k) + root) % n
        below = tuple((w + root) % n for w in range(v, n, 1 << (k + 1)))
        if op in ("broadcast", "scatter"):
            made[k].append((parent, child, whole if op == "broadcast" else below, False))
        else:
            made[steps - 1 - k].append((child, parent, whole if op == "reduce" else below, op == "reduce"))
    return made


def tree_parents(n):
    """The first tree, in order: member i hangs below the next one with one more trailing one bit."""
    parents = []
    for i in range(1, n + 1):
        low = i & -i
        up = (i - low) | (low << 1)
        if up > n:
            up = i - low
        parents.append(up - 1)
    return parents


def _second_tree(n):
    """Who stands at the places of the first tree in the other one: mirrored (n even) or shifted by one (n odd)."""
    return [(n - 1 - i if n % 2 == 0 else (i + 1) % n) for i in range(n)]


def _double_binary_tree(op, n, root, other):
    """Reduce up a tree, broadcast down; the data goes in n blocks, one after the other."""
    if op in ("all_reduce", "barrier"):
        members, parents = list(range(n)), tree_parents(n)
        if other:
            members = _second_tree(n)
    else:  # the root above a tree of all others
        rest = [(root + k) % n for k in range(1, n)]
        if other:
            rest = [rest[i] for i in _second_tree(n - 1)]
        members = rest + [root]
        parents = [n - 1 if p < 0 else p for p in tree_parents(n - 1)] + [-1]
    depth = [0] * n
    for i in range(n):
        at = i
        while parents[at] >= 0:
            at = parents[at]
            depth[i] += 1
    height = max(depth)
    made = {}
    for block in range(1 if op == "barrier" else n):
        if op in ("all_reduce", "barrier", "reduce"):
            for i in range(n):
                if parents[i] >= 0:
                    made.setdefault(height - depth[i] + block, []).append(
                        (members[i], members[parents[i]], (block,), True))
        if op in ("all_reduce", "barrier", "broadcast"):
            first = 0 if op == "broadcast" else height
            for i in range(n):
                if parents[i] >= 0:
                    made.setdefault(first + depth[i] - 1 + block, []).append(
                        (members[parents[i]], members[i], (block,), False))
    # In a round a member sends up before it sends down, to its children in ascending order.
    return [sorted(made[k], key=lambda m: not m[3]) for k in sorted(made)]


_ALGORITHMS = {"ring": _ring, "direct": _direct, "halving_doubling": _halving_doubling,
               "double_binary_tree": _double_binary_tree}
