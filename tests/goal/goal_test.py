#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""GOAL programs: times with `loggp` against an independent model, the two file forms, conversion, bad input.

    goal_test.py WEFT [--seed N] [--cases N]
"""

import argparse
import csv
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from loggops_reference import ANY, Model, Op  # noqa: E402

WEFT = None
FOLDER = None


def run(*arguments):
    return subprocess.run([WEFT, *map(str, arguments)], capture_output=True, text=True, cwd=FOLDER)


def write(name, text):
    path = FOLDER / name
    if isinstance(text, bytes):
        path.write_bytes(text)
    else:
        path.write_text(text)
    return path


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def machine(ranks, loggp=''):
    return (f'weft: 1\ntopology:\n  notation: Switch({ranks})\n  dimensions: [{{bandwidth: 25 GB/s, latency: 1 us, '
            f'fidelity: message}}]\n{loggp}')


def as_text(programs, shuffled=None):
    lines = [f'num_ranks {len(programs)}', '// drawn']
    for rank, (ops, deps) in enumerate(programs):
        lines.append(f'rank {rank} {{')
        for i, op in enumerate(ops):
            if op.kind == 'calc':
                lines.append(f'  l{i}: calc {op.size} cpu {op.cpu}')
            else:
                word = 'to' if op.kind == 'send' else 'from'
                lines.append(f'  l{i}: {op.kind} {op.size}b {word} {op.peer} tag {op.tag} cpu {op.cpu} nic {op.nic}')
        lines += [f'  l{a} {"irequires" if start else "requires"} l{b} /* .. */' for a, b, start in deps]
        lines.append('}')
    return '\n'.join(lines) + '\n'


def as_binary(programs):
    blocks = []
    for ops, deps in programs:
        nodes, waiting = b'', []
        roots = [i for i in range(len(ops)) if all(d[0] != i for d in deps)]
        for i, op in enumerate(ops):
            lists = []
            for start in (False, True):
                after = [d[0] for d in deps if d[1] == i and d[2] == start]
                lists.append((len(after), len(waiting)))
                waiting += after
            kind = {'send': 1, 'recv': 2, 'calc': 3}[op.kind]
            nodes += struct.pack('<IBIQIBBIIII', sum(1 for d in deps if d[0] == i), kind, op.peer & 0xffffffff,
                                 op.size, op.tag & 0xffffffff, op.cpu, op.nic, *lists[0], *lists[1])
        blocks.append(struct.pack('<II', len(ops), len(roots)) + struct.pack(f'<{len(roots)}I', *roots) + nodes +
                      struct.pack(f'<{len(waiting)}I', *waiting))
    at = 4 + 2 + 16 * len(programs)
    table = b''
    for block in blocks:
        table += struct.pack('<QQ', at, at + len(block))
        at += len(block)
    high = [max([getattr(op, key) for ops, _ in programs for op in ops], default=0) for key in ('cpu', 'nic')]
    return struct.pack('<QIBB', 4223, len(programs), *high) + table + b''.join(blocks)


def draw(rng):
    """Dependencies go back in one global order in which a receive follows its send, so that nothing deadlocks."""
    ranks = rng.randint(1, 6)
    cpus, nics, tags = rng.randint(1, 3), rng.randint(1, 2), rng.randint(1, 3)
    wild = rng.random() < 0.3
    programs = [([], []) for _ in range(ranks)]

    def add(rank, op):
        ops, deps = programs[rank]
        i = len(ops)
        ops.append(op)
        for before in rng.sample(range(i), min(i, rng.choice((0, 1, 1, 2)))):
            deps.append((i, before, rng.random() < 0.25))

    for _ in range(rng.randint(1, 30)):
        rank = rng.randrange(ranks)
        place = dict(cpu=rng.randrange(cpus), nic=rng.randrange(nics))
        if rng.random() < 0.4:
            add(rank, Op('calc', rng.choice((0, 1, 100, rng.randint(0, 5000))), cpu=place['cpu']))
            continue
        other = rng.randrange(ranks)
        size = rng.choice((0, 1, 2, 8, 1000, 4096, rng.randint(0, 300000)))
        tag = rng.randrange(tags)
        add(rank, Op('send', size, other, tag, **place))
        source = ANY if wild and rng.random() < 0.4 else rank
        wanted = ANY if wild and rng.random() < 0.4 else tag
        add(other, Op('recv', 10**6 if wild else size, source, wanted, rng.randrange(cpus), rng.randrange(nics)))
    return programs


def draw_parameters(rng):
    return dict(L=rng.choice((0, 3700, 1000)) * 1000, o=rng.choice((0, 200, 8000)) * 1000,
                g=rng.choice((0, 5, 1500)) * 1000, G=rng.choice(('0', '40', '180', '12.5', '333.333')),
                O=rng.choice(('0', '0', '7', '100.5')), S=rng.choice((0, 1, 4096, 256000, 10**9)),
                resolution=rng.choice((1000, 1000, 1)))


def ranks_of(out):
    with open(FOLDER / out / 'ranks.csv', newline='') as file:
        return [row for row in csv.DictReader(file)]


def random_programs(seed, cases):
    stalls = 0
    for case in range(cases):
        rng = random.Random(f'{seed}/{case}')
        programs, p = draw(rng), draw_parameters(rng)
        goal = write('p.goal', as_binary(programs) if case % 4 == 3 else as_text(programs))
        write('m.yaml', machine(len(programs), (
            f"loggp: {{L: {p['L']} ps, o: {p['o']} ps, g: {p['g']} ps, G: {p['G']} ps/B, O: {p['O']} ps/B, "
            f"S: {p['S']} B, resolution: {p['resolution']} ps}}\n")))
        model = Model(programs, **p)
        ends, finished = model.run()
        done = run('run', 'm.yaml', '--goal', goal, '--out', 'out', '--json')
        where = f'seed {seed}, case {case}'
        if done.returncode == 3 and not finished:
            continue  # wildcards that cannot be met: refused before the run
        check(done.returncode == (0 if finished else 4), f'{where}: exit code {done.returncode}\n{done.stderr}')
        stalls += 0 if finished else 1
        summary = json.loads(done.stdout)
        picoseconds = round(summary['time_ns'] * 1000)
        check(picoseconds == max(ends), f'{where}: {picoseconds} ps, the model has {max(ends)}')
        for rank, row in enumerate(ranks_of('out')):
            calc = model.covered(rank, 'calc')
            for column, wanted in (('compute_ns', calc), ('communicating_ns', model.covered(rank, 'message')),
                                   ('communication_ns', model.covered(rank, 'calc', 'message') - calc)):
                found = round(float(row[column]) * 1000)
                check(found == wanted, f'{where}, rank {rank}, {column}: {found} ps, the model has {wanted}')
    print(f'{cases} random programs equal the model ({stalls} of them stall in both)')


def known_times():
    """By hand, with L 3700, o 200, g 5, G 0.04: send at 0, arrival at 200 + 3700 + 40, receive + 5 + 200."""
    write('m.yaml', machine(2, 'loggp: {}\n'))
    write('p.goal', 'num_ranks 2\nrank 0 {\nl1: send 1001b to 1 tag 7\n}\nrank 1 {\nl1: recv 1001b from 0 tag 7\n'
                    'l2: calc 100\nl2 requires l1\n}\n')
    done = run('run', 'm.yaml', '--goal', 'p.goal', '--json')
    check(done.returncode == 0, done.stderr)
    check(json.loads(done.stdout)['time_ns'] == 200 + 3700 + 40 + 5 + 200 + 100, done.stdout)
    # One operation at a time on a processor, two processors side by side; irequires waits for the start only.
    write('m1.yaml', machine(2, 'loggp: {}\n'))
    for text, time in (('a: calc 100\nb: calc 50', 150), ('a: calc 100\nb: calc 50 cpu 1', 100),
                       ('a: calc 100\nb: calc 50 cpu 1\nb requires a', 150),
                       ('a: calc 100\nb: calc 50 cpu 1\nb irequires a', 100),
                       ('b requires a\nb: calc 50 cpu 1 a: calc 100 // one line', 150)):
        write('p.goal', f'num_ranks 2 rank 0 {{ {text}\n}} rank 1 {{}}')
        done = run('run', 'm1.yaml', '--goal', 'p.goal', '--json')
        check(done.returncode == 0 and json.loads(done.stdout)['time_ns'] == time, f'{text}: {time}\n{done.stderr}')


def warnings_name_the_program():
    """Warnings of a program that a machine runs: of the GOAL file and its ranks, the same in every run."""
    write('m.yaml', machine(4))
    goal = write('p.goal', 'num_ranks 2\nrank 0 {\na: send 8b to 1\n}\nrank 1 {\nb: recv 99b from 0\n}\n')
    found = []
    for out in ('first', 'second'):
        done = run('run', 'm.yaml', '--goal', goal, '--out', out)
        check(done.returncode == 0, done.stderr)
        text = (FOLDER / out / 'summary.json').read_text()
        found.append([line for line in text.splitlines() if '"wall_s"' not in line and '"peak_rss_MiB"' not in line])
        warnings = json.loads(text)['warnings']
        check(len(warnings) == 2 and all(str(goal) in line and '.et' not in line for line in warnings), f'{warnings}')
        check('the receive is larger' in warnings[0] and 'rank 2: the trace has no nodes' in warnings[1], f'{warnings}')
        check(all(line in done.stderr for line in warnings), done.stderr)
    check(found[0] == found[1], 'two runs have the same summary.json')


def conversion(seed, cases):
    """Every program that the model can end converts, the traces agree, and run on a machine; calcs keep their time."""
    for case in range(cases):
        rng = random.Random(f'convert/{seed}/{case}')
        programs = draw(rng)
        parameters = dict(L=3700000, o=200000, g=5000, G='40', O='0', S=0)
        if not Model(programs, **parameters).run()[1]:
            continue
        write('p.goal', as_text(programs))
        write('m.yaml', machine(max(2, len(programs))))
        done = run('trace', 'convert', '--from', 'goal', 'p.goal', '--out', 'et', '--name', f't{case}')
        check(done.returncode == 0, f'case {case}: {done.stderr}')
        info = run('trace', 'info', *[FOLDER / f'et/t{case}.{r}.et' for r in range(len(programs))], '--json')
        check(info.returncode == 0, info.stderr)
        done = run('run', 'm.yaml', '--goal', 'p.goal', '--out', 'out', '--json')
        check(done.returncode == 0, f'case {case}: {done.stderr}')
        summary = json.loads(done.stdout)
        check(summary['nodes'] == sum(len(ops) for ops, _ in programs), f'case {case}: nodes')
        sends = sum(op.kind == 'send' and op.peer != r for r, (ops, _) in enumerate(programs) for op in ops)
        check(summary['messages'] == sends, f"case {case}: {summary['messages']} messages, not {sends}")
        busiest = max(sum(op.size for op in ops if op.kind == 'calc' and op.cpu == cpu)
                      for ops, _ in programs for cpu in range(3))
        check(summary['time_ns'] >= busiest, f"case {case}: {summary['time_ns']} < {busiest}")
    print(f'{cases} programs converted and run on a machine')


BAD = {
    'circle': ('num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\na requires b\nb requires a\n}\n', ('circle', 'a', 'line 3')),
    'no_send': ('num_ranks 2\nrank 0 {\n}\nrank 1 {\nx: recv 8b from 0 tag 5\n}\n',
                ('line 5', 'rank 1', 'label x', '8 B', 'tag 5', 'no send')),
    'no_receive': ('num_ranks 2\nrank 0 {\ny: send 8b to 1 tag 5\n}\nrank 1 {}\n',
                   ('line 3', 'rank 0', 'label y', 'no receive')),
    'wrong_tag': ('num_ranks 2\nrank 0 {\ny: send 8b to 1 tag 5\n}\nrank 1 {\nx: recv 8b from 0 tag 6\n}\n', ('no send',)),
    'wild_no_send': ('num_ranks 2\nrank 0 {\n}\nrank 1 {\nx: recv 8b from -1 tag -1\n}\n', ('line 5', 'any', 'no send')),
    'small': ('num_ranks 2\nrank 0 {\ny: send 9b to 1\n}\nrank 1 {\nx: recv 8b from 0\n}\n', ('8 B', '9 B', 'line 6')),
    'label': ('num_ranks 1\nrank 0 {\na: calc 1\na requires q\n}\n', ('line 4', 'no label q', 'rank 0')),
    'twice': ('num_ranks 1\nrank 0 {\na: calc 1\na: calc 2\n}\n', ('line 4', 'label a')),
    'range': ('num_ranks 2\nrank 0 {\na: send 1b to 2\n}\nrank 1 {}\n', ('line 3', 'rank 2', 'out of range')),
    'rank_range': ('num_ranks 1\nrank 1 {\n}\n', ('line 2', 'out of range')),
    'brace': ('num_ranks 2\nrank 0 {\na: calc 1\nrank 1 {\n}\n', ('line 4', 'rank 0', '}')),
    'end': ('num_ranks 1\nrank 0 {\na: calc 1\n', ('rank 0', 'close')),
    'missing_rank': ('num_ranks 2\nrank 0 {}\n', ('rank 1 has no block',)),
    'second_block': ('num_ranks 1\nrank 0 {}\nrank 0 {}\n', ('line 3', 'second block')),
    'verb': ('num_ranks 1\nrank 0 {\na: jump 1\n}\n', ('line 3', 'jump')),
    'number': ('num_ranks 1\nrank 0 {\na: calc 1.5\n}\n', ('line 3', '1.5')),
    'negative': ('num_ranks 1\nrank 0 {\na: calc -5\n}\n', ('line 3', '-5')),
    'cpu': ('num_ranks 1\nrank 0 {\na: calc 5 cpu 256\n}\n', ('line 3', '256')),
    'comment': ('num_ranks 1\n/* rank 0 {\n}\n', ('line 2', 'comment')),
    'empty': ('', ('num_ranks',)),
    'control': ('num_ranks 1\nrank 0 { a\x01: calc 1 }', ('control',)),
}


def bad_input():
    write('m.yaml', machine(4, 'loggp: {}\n'))
    write('m2.yaml', machine(4))
    for name, (text, words) in BAD.items():
        write('bad.goal', text)
        for command in (('run', 'm.yaml', '--goal', 'bad.goal'), ('run', 'm2.yaml', '--goal', 'bad.goal'),
                        ('validate', 'm.yaml', '--goal', 'bad.goal'),
                        ('trace', 'convert', '--from', 'goal', 'bad.goal', '--out', 'bad')):
            done = run(*command)
            check(done.returncode == 3, f'{name}: exit code {done.returncode}: {done.stderr}')
            for word in ('bad.goal', *words):
                check(word in done.stderr, f'{name}: no `{word}` in: {done.stderr}')
    good = as_binary([([Op('calc', 5), Op('send', 8, 1, 3)], [(1, 0, False)]), ([Op('recv', 8, 0, 3)], [])])
    write('good.goal', good)
    check(run('validate', 'm.yaml', '--goal', 'good.goal').returncode == 0, 'the binary program is good')
    done = run('validate', 'm.yaml', '--goal', 'good.goal', '--groups', 'groups.json')
    check(done.returncode == 2 and '`workload.goal` and `workload.groups`' in done.stderr, done.stderr)
    for cut in range(8, len(good)):
        write('bad.goal', good[:cut])
        done = run('validate', 'm.yaml', '--goal', 'bad.goal') if cut % 7 == 0 or cut > len(good) - 4 else None
        if done:
            check(done.returncode == 3 and 'byte' in done.stderr and 'bad.goal' in done.stderr,
                  f'cut at {cut}: {done.returncode} {done.stderr}')
    # Two rendezvous that wait for each other: each send before the receive of the other.
    write('bad.goal', 'num_ranks 2\n' + ''.join(f'rank {r} {{\na: send 99b to {1 - r}\nb: recv 99b from {1 - r}\n'
                                                'b requires a\n}\n' for r in (0, 1)))
    done = run('run', 'm.yaml', '--goal', 'bad.goal')
    check(done.returncode == 4 and 'rank 0' in done.stderr and 'label b' in done.stderr, done.stderr)
    write('one.yaml', machine(2, 'loggp: {G: 5}\n'))
    done = run('run', 'one.yaml', '--goal', 'good.goal')
    check(done.returncode == 2 and 'loggp.G' in done.stderr, done.stderr)
    write('many.goal', 'num_ranks 9\n' + ''.join(f'rank {r} {{}}\n' for r in range(9)))
    done = run('run', 'm.yaml', '--goal', 'many.goal')
    check(done.returncode == 2 and '9 ranks' in done.stderr, done.stderr)
    print(f'{len(BAD)} kinds of bad input are refused with file, line, rank and label')


def main():
    global WEFT, FOLDER
    parser = argparse.ArgumentParser()
    parser.add_argument('weft')
    parser.add_argument('--seed', default='1')
    parser.add_argument('--cases', type=int, default=300)
    options = parser.parse_args()
    WEFT = str(pathlib.Path(options.weft).resolve())
    with tempfile.TemporaryDirectory() as folder:
        FOLDER = pathlib.Path(folder)
        known_times()
        warnings_name_the_program()
        bad_input()
        random_programs(options.seed, options.cases)
        conversion(options.seed, options.cases // 5)


if __name__ == '__main__':
    main()
