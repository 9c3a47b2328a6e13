#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""`weft trace convert --from pytorch | flexflow`: known answers, real traces, bad input."""

import argparse
import gzip
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'python'))
import weft  # noqa: E402

WEFT = FOLDER = None


def run(*arguments):
    return subprocess.run([WEFT, *map(str, arguments)], capture_output=True, text=True, cwd=FOLDER)


def write(name, content):
    (FOLDER / name).write_text(content if isinstance(content, str) else json.dumps(content))
    return name


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def convert(fmt, *arguments, code=0):
    done = run('trace', 'convert', '--from', fmt, *arguments)
    check(done.returncode == code, f'{arguments}: exit code {done.returncode}\n{done.stdout}{done.stderr}')
    return done


def counts(done):
    """What the converter counts, by its words."""
    found = {}
    for line in done.stdout.splitlines():
        match = re.match(r'^ *([\d,]+)  (.+)$', line)
        if match:
            found[match[2]] = int(match[1].replace(',', ''))
    return found


def machine(ranks, latency='0 ns', bandwidth='1000 GB/s'):
    return write('m.yaml', f'weft: 1\ntopology:\n  notation: Switch({ranks})\n  dimensions: [{{bandwidth: {bandwidth}, '
                           f'latency: {latency}, fidelity: analytical}}]\n')


def time_of(prefix, ranks, groups=None, **kind):
    machine(ranks, **kind)
    done = run('run', 'm.yaml', '--trace', prefix, *(('--groups', groups) if groups else ()), '--json', '--out', 'out')
    check(done.returncode == 0, done.stderr)
    return json.loads(done.stdout)


# PyTorch

def host_node(number, name, parent, tid=1, rf=None, values=(), **attributes):
    attrs = dict(rf_id=number if rf is None else rf, tid=tid, **attributes)
    return dict(id=number, name=name, ctrl_deps=parent, inputs=dict(values=list(values), shapes=[], types=[]),
                outputs=dict(values=[], shapes=[], types=[]),
                attrs=[dict(name=k, type='', value=v) for k, v in attrs.items()])


def tensor(elements, each=4):
    return [1, 2, 0, elements, each, 'cuda:0']


def host_trace(nodes, schema='1.1.1-chakra.0.0.4', groups=None):
    groups = groups or [dict(pg_name='0', backend_id=77, ranks=[], group_size=2)]
    first = [host_node(1, '[pytorch|profiler|execution_trace|process]', 1, tid=0, rf=0),
             host_node(2, '[pytorch|profiler|execution_trace|thread]', 1, rf=0),
             host_node(3, '## process_group:init ##', 2, rf=0, values=[json.dumps(groups)])]
    return dict(schema=schema, pid=1, time='', start_ts=0, nodes=first + nodes)


def event(name, cat, ts, dur, tid=1, **args):
    names = {'rf': 'Record function id'}
    return dict(ph='X', name=name, cat=cat, ts=ts, dur=dur, tid=tid, pid=1,
                args={names.get(k, k): v for k, v in args.items()})


def known_kineto(sync=True):
    """Streams 7 and 20, one all-reduce, one wait. Times in us:

        host    mm [0, 10) launches K1 (stream 7, 100); allreduce [10, 30) launches the all-reduce (stream 20)
                wait [30, 40); add [40, 50) launches K2 (stream 7, 50)
        order   the all-reduce waits for K1 (an event), K2 for the all-reduce (an event)

    K1 begins after mm, the all-reduce after K1, the wait after the all-reduce, K2 after add. So with an all-reduce of
    time A: 10 + 100 + A + 10 + 10 + 50.
    """
    nodes = [host_node(10, 'aten::mm', 2),
             host_node(11, 'c10d::allreduce_', 2),
             host_node(12, 'record_param_comms', 11,
                       values=[[tensor(1000)], 5, 77, 0, 'allreduce', [], [], 2]),
             host_node(13, 'nccl:all_reduce', 12),
             host_node(14, 'record_param_comms', 2, values=[5, 0, 0, 'wait', [], [], 1]),
             host_node(15, 'aten::add', 2)]
    events = [event('aten::mm', 'cpu_op', 1000, 10, rf=10),
              event('c10d::allreduce_', 'cpu_op', 1010, 20, rf=11),
              event('record_param_comms', 'cpu_op', 1012, 16, rf=12),
              event('nccl:all_reduce', 'cpu_op', 1013, 14, rf=13),
              event('record_param_comms', 'cpu_op', 1030, 10, rf=14),
              event('aten::add', 'cpu_op', 1040, 10, rf=15),
              event('cudaLaunchKernel', 'cuda_runtime', 1005, 2, correlation=100),
              event('cudaEventRecord', 'cuda_runtime', 1014, 1, correlation=101),
              event('cudaStreamWaitEvent', 'cuda_runtime', 1015, 1, correlation=102),
              event('cudaLaunchKernelExC', 'cuda_runtime', 1016, 2, correlation=103),
              event('cudaEventRecord', 'cuda_runtime', 1031, 1, correlation=104),
              event('cudaStreamWaitEvent', 'cuda_runtime', 1032, 1, correlation=105),
              event('cudaLaunchKernel', 'cuda_runtime', 1042, 2, correlation=106),
              event('gemm', 'kernel', 1012, 100, tid=7, correlation=100, stream=7),
              event('ncclDevKernel_AllReduce_Sum_f32_RING_LL', 'kernel', 1112, 40, tid=20, correlation=103, stream=20),
              event('add', 'kernel', 1152, 50, tid=7, correlation=106, stream=7)]
    if sync:
        events += [event('Stream Wait Event', 'cuda_sync', 1015, 0, correlation=102, stream=20, wait_on_stream=7,
                         wait_on_cuda_event_record_corr_id=101),
                   event('Stream Wait Event', 'cuda_sync', 1032, 0, correlation=105, stream=7, wait_on_stream=20,
                         wait_on_cuda_event_record_corr_id=104)]
    random.Random(3).shuffle(events)
    return host_trace(nodes), dict(traceEvents=events)


def pytorch_known():
    host, kineto = known_kineto()
    write('h.json', host), write('k.json', kineto)
    done = convert('pytorch', 'h.json', '--kineto', 'k.json', '--replicate', 2, '--out', 'pt', '--name', 'x')
    found = counts(done)
    check(found['kernels and copies of the GPU'] == 3, found)
    check(found['collectives, sends and receives that are written'] == 1, found)
    check(found['bytes of collectives, sends and receives, over all ranks'] == 8000, found)
    summary = time_of('pt/x', 2)
    operation = summary['collectives']
    one = operation[0] if isinstance(operation, list) else next(iter(operation.values()))
    check(one['count'] == 1, summary)
    # Two ranks, 4,000 B at 1000 GB/s and no latency: each sends 2,000 B twice.
    collective = 2 * 2
    expected = (10 + 100 + 10 + 10 + 50) * 1000 + collective
    check(summary['time_ns'] == expected, f"{summary['time_ns']} ns, not {expected}")
    # Without synchronisation events streams are not ordered, but for the wait; it says so.
    host, kineto = known_kineto(sync=False)
    write('k.json', kineto)
    done = convert('pytorch', 'h.json', '--kineto', 'k.json', '--replicate', 2, '--out', 'pt', '--name', 'y')
    check('cuda_sync' in done.stderr and counts(done)['waits that wait for their collective'] == 1, done.stderr)
    # The all-reduce is then done before K1 ends, which K2 follows on its stream.
    less = time_of('pt/y', 2)['time_ns']
    check(less == (10 + 100 + 50) * 1000, less)
    # Clocks that differ: the times of a rank count from its own first event.
    for shift, name in ((0, 'k0.json'), (987654321.5, 'k1.json')):
        host, kineto = known_kineto()
        for e in kineto['traceEvents']:
            e['ts'] += shift
        write(name, kineto)
    convert('pytorch', 'h.json', 'h.json', '--kineto', 'k0.json', '--kineto', 'k1.json', '--out', 'pt', '--name', 'z')
    check(time_of('pt/z', 2)['time_ns'] == expected, 'clocks that differ change the time')


def pytorch_groups():
    """8 ranks, tensor parallelism of 2 and data parallelism of 4, as rank 3 has recorded it; a send to the next."""
    groups = [dict(pg_name='0', ranks=[], group_size=8), dict(pg_name='tp', ranks=[2, 3], group_size=2),
              dict(pg_name='dp', ranks=[1, 3, 5, 7], group_size=4)]
    call = dict(dtype='BFloat16')
    nodes = [host_node(10, 'record_param_comms', 2, collective_name='allreduce', in_msg_nelems=512, pg_name='tp', **call),
             host_node(11, 'record_param_comms', 2, collective_name='_reduce_scatter_base', in_msg_nelems=4096,
                       pg_name='dp', **call),
             host_node(12, 'record_param_comms', 2, collective_name='_allgather_base', in_msg_nelems=1024, pg_name='dp',
                       **call),
             host_node(13, 'record_param_comms', 2, values=[[tensor(10)], 1, 'dp', 2, 'broadcast', [], [], 4])]
    write('h.json', host_trace(nodes, groups=groups))
    done = convert('pytorch', 'h.json', '--replicate', 8, '--rank', 3, '--out', 'gr', '--name', 'g')
    check(counts(done)['groups that were moved to the other ranks'] == 2, done.stdout)
    written = json.loads((FOLDER / 'gr/g.groups.json').read_text())
    check(sorted(map(sorted, written.values())) ==
          [[0, 1], [0, 2, 4, 6], [1, 3, 5, 7], [2, 3], [4, 5], [6, 7]], written)
    summary = time_of('gr/g', 8, 'gr/g.groups.json')
    check(sum(o['count'] for o in (summary['collectives'] if isinstance(summary['collectives'], list)
                                   else summary['collectives'].values())) == 4 + 3 * 2, summary['collectives'])
    for wrong in ([0, 1, 3], [3, 4], [3, 2]):
        groups[1]['ranks'] = wrong
        write('h.json', host_trace(nodes, groups=groups))
        done = convert('pytorch', 'h.json', '--replicate', 8, '--rank', 3, '--out', 'gr', '--name', 'w', code=2)
        check('regular grid' in done.stderr and 'tp' in done.stderr, done.stderr)


def pytorch_iterations():
    nodes, events = [], []
    for step in range(3):
        parent, op = 10 + 10 * step, 11 + 10 * step
        nodes += [host_node(parent, f'ProfilerStep#{step + 5}', 2), host_node(op, 'aten::mm', parent)]
        events += [event(f'ProfilerStep#{step + 5}', 'user_annotation', 1000 * step, 900, rf=parent),
                   event('aten::mm', 'cpu_op', 1000 * step + 10, 100 * (step + 1), rf=op)]
    write('h.json', host_trace(nodes)), write('k.json', dict(traceEvents=events))
    for step in range(3):
        convert('pytorch', 'h.json', '--kineto', 'k.json', '--iteration', step, '--out', 'it', '--name', 'i')
        machine(2)
        convert('pytorch', 'h.json', '--kineto', 'k.json', '--iteration', step, '--replicate', 2, '--out', 'it')
        check(time_of('it/h', 2)['time_ns'] == 100000 * (step + 1), f'iteration {step}')
    done = convert('pytorch', 'h.json', '--kineto', 'k.json', '--iteration', 3, '--out', 'it', '--name', 'j', code=2)
    check('3 ProfilerSteps' in done.stderr, done.stderr)


def pytorch_waits_of_groups():
    """Two groups number their collectives each by itself: a wait is for the collective of its own group."""
    groups = [dict(pg_name='tp', ranks=[0, 1], group_size=2), dict(pg_name='dp', ranks=[0, 2], group_size=2)]

    def call(number, name, group, elements=None):
        tensors = [[tensor(elements)]] if elements else []
        return host_node(number, 'record_param_comms', 2, values=[*tensors, 7, group, 0, name, [], [], 2])

    # The waits are in the order of the calls, and the numbers are equal.
    nodes = [call(10, 'allreduce', 'tp', 1000), call(11, 'allreduce', 'dp', 500), call(12, 'wait', 'tp'),
             host_node(13, 'aten::mm', 2), call(14, 'wait', 'dp')]
    write('h.json', host_trace(nodes, groups=groups))
    done = convert('pytorch', 'h.json', '--replicate', 4, '--keep-all', '--out', 'wg', '--name', 'w')
    check(counts(done)['waits that wait for their collective'] == 2, done.stdout)
    by_id = {node.id: node for node in weft.Trace(FOLDER / 'wg/w.0.et')}
    check(10 in by_id[12].data_deps, by_id[12].data_deps)
    check(11 in by_id[14].data_deps, by_id[14].data_deps)


def pytorch_odd_events():
    """Kernels that are there twice, events without a duration, collectives that no kernel runs."""
    host, kineto = known_kineto()
    events = kineto['traceEvents']
    write('h.json', host), write('k.json', kineto)
    plain = counts(convert('pytorch', 'h.json', '--kineto', 'k.json', '--replicate', 2, '--out', 'od', '--name', 'a'))
    time = time_of('od/a', 2)['time_ns']
    write('k.json', dict(traceEvents=events + [e for e in events if e['cat'] == 'kernel']))
    found = counts(convert('pytorch', 'h.json', '--kineto', 'k.json', '--replicate', 2, '--out', 'od', '--name', 'b'))
    check(found.pop('duplicate kernels, of which the first counts') == 3, found)
    check(found == plain and time_of('od/b', 2)['time_ns'] == time, f'{found} {plain}')
    write('k.json', dict(traceEvents=[{k: v for k, v in e.items() if k != 'dur' or e['name'] != 'add'}
                                      for e in events]))
    found = counts(convert('pytorch', 'h.json', '--kineto', 'k.json', '--replicate', 2, '--out', 'od', '--name', 'c'))
    check(found['events without a duration, taken as 0'] == 1, found)
    check(time_of('od/c', 2)['time_ns'] == time - 50000, 'without the duration of the last kernel')
    # Without any kernel of a collective, as with Gloo, the host's call is the collective.
    write('k.json', dict(traceEvents=[e for e in events if not e['name'].startswith('nccl')]))
    found = counts(convert('pytorch', 'h.json', '--kineto', 'k.json', '--replicate', 2, '--out', 'od', '--name', 'd'))
    check(found['collectives without a kernel, written where the host calls them'] == 1, found)
    check(found['bytes of collectives, sends and receives, over all ranks'] == 8000, found)
    ran = time_of('od/d', 2)['collectives']
    check(sum(o['count'] for o in (ran if isinstance(ran, list) else ran.values())) == 1, ran)
    # With kernels of others it is left out, and counted.
    host['nodes'].append(host_node(16, 'record_param_comms', 2, values=[[tensor(9)], 6, 77, 0, 'allreduce', [], [], 2]))
    write('h.json', host), write('k.json', kineto)
    found = counts(convert('pytorch', 'h.json', '--kineto', 'k.json', '--replicate', 2, '--out', 'od', '--name', 'e'))
    check(found['collectives of the host trace that no kernel was found for, left out'] == 1, found)
    # A collective that does not say which one it is.
    write('h.json', host_trace([host_node(10, 'record_param_comms', 2)]))
    found = counts(convert('pytorch', 'h.json', '--replicate', 2, '--out', 'od', '--name', 'f'))
    check(found['collectives without a name in their inputs, written as host nodes'] == 1, found)
    write('h.json', dict(schema='1.0.1', nodes=[]))
    done = convert('pytorch', 'h.json', '--out', 'od', '--name', 'g', code=3)
    check('is empty' in done.stderr, done.stderr)


def pytorch_bad():
    host, kineto = known_kineto()
    text = json.dumps(host)
    write('h.json', host), write('k.json', kineto)
    bad = {
        'cut': (text[:len(text) // 2], 3, 'cut'),
        'array': ('[]', 3, 'object'),
        'no_schema': ('{"nodes": []}', 3, 'schema'),
        'no_nodes': ('{"schema": "1.0.1"}', 3, 'nodes'),
        'circle': (json.dumps(host_trace([host_node(10, 'a', 11), host_node(11, 'b', 10)])), 3, 'own parent'),
        'deep': ('[' * 100000, 3, 'deep'),
    }
    for name, (content, code, words) in bad.items():
        write('b.json', content)
        done = convert('pytorch', 'b.json', '--out', 'bad', code=code)
        check(words in done.stderr and 'b.json' in done.stderr, f'{name}: {done.stderr}')
    done = convert('pytorch', 'h.json', '--kineto', write('kb.json', json.dumps(kineto)[:300]), '--out', 'bad', code=3)
    check('kb.json' in done.stderr, done.stderr)
    done = convert('pytorch', 'h.json', '--kineto', 'h.json', '--out', 'bad', code=3)
    check('traceEvents' in done.stderr, done.stderr)
    convert('pytorch', 'h.json', '--kineto', 'k.json', '--kineto', 'k.json', '--out', 'bad', code=2)
    convert('pytorch', 'h.json', 'h.json', '--replicate', 2, '--out', 'bad', code=2)
    convert('pytorch', 'h.json', '--time-unit', 'ms', '--out', 'bad', code=2)
    host['schema'] = '9.9.9'
    host['nodes'] += [host_node(10, 'again', 2), host_node(99, 'lost', 4711)]
    write('h.json', host)
    done = convert('pytorch', 'h.json', '--replicate', 2, '--out', 'odd')
    found = counts(done)
    check('9.9.9' in done.stderr, done.stderr)
    check(found['duplicate nodes, of which the first counts'] == 1, found)
    check(found['dangling parents, whose nodes have none now'] == 1, found)


def pytorch_real(data):
    trace = data / 'traces/pytorch_real/host_trace_1.0.2-chakra.0.0.4.json'
    done = convert('pytorch', trace, '--replicate', 2, '--keep-all', '--out', 'real', '--name', 'r')
    found = counts(done)
    nodes = json.loads(trace.read_text())['nodes']
    real = [n for n in nodes if n['name'] == 'record_param_comms' and 'wait' not in n['inputs']['values']]
    waits = [n for n in nodes if n['name'] == 'record_param_comms' and 'wait' in n['inputs']['values']]
    check(found['collectives, sends and receives that are written'] == len(real) > 5, found)
    check(found['waits that wait for their collective'] == len(waits), found)
    check(found['wrappers of collectives (c10d::, nccl:), written as host nodes'] == 2 * len(real), found)
    summary = time_of('real/r', 2)
    check(summary['nodes'] == 2 * len(nodes), summary['nodes'])
    done = convert('pytorch', trace, '--out', 'real', '--name', 's')
    check('--replicate 2' in done.stderr, done.stderr)


# FlexFlow

def comp(name, device, time, kind='Forward'):
    return f'  {name} [color=red,label="{{device_id={device}|L|{kind}|COMP_NODE|simulated_run_time={time}}}",shape=record];'


def comm(name, source, destination, size):
    return (f'  {name} [label="{{device_id=9|Comm from A to B|Comm|COMM_SEND_RECV_NODE|src_device_id={source}|'
            f'dst_device_id={destination}|comm_size={size}|run_time=1}}",shape=record];')


def graph(*lines):
    return 'digraph taskgraph {' + '\n'.join(lines) + '\n}\n'


def longest(path):
    """Longest path in ms, messages aside, by another reader than Weft's."""
    cost, edges, sizes = {}, [], 0
    text = path.read_text()
    for name, label in re.findall(r'(node\w+) \[[^\]]*label="\{([^"]*)\}"', text):
        time = re.search(r'simulated_run_time=([\d.e+-]+)', label)
        cost[name] = float(time[1]) if time else 0.0
        size = re.search(r'comm_size=(\d+)', label)
        sizes += int(size[1]) if size else 0
    after = {}
    for a, b in re.findall(r'(node\w+) -> (node\w+)', text):
        after.setdefault(a, set()).add(b)
    done = {}

    def below(node):
        stack = [node]
        while stack:
            top = stack[-1]
            todo = [n for n in after.get(top, ()) if n not in done]
            if todo:
                stack += todo
            else:
                done[top] = cost[top] + max((done[n] for n in after.get(top, ())), default=0.0)
                stack.pop()
        return done[node]
    return max(below(n) for n in cost), sizes, sum(label != '' for label in cost)


def packed():
    """A file that gzip has packed: what to do."""
    with gzip.open(FOLDER / 'packed.json.gz', 'wt', encoding='utf-8') as file:
        file.write('{}')
    done = convert('pytorch', 'packed.json.gz', '--out', 'bad', code=3)
    check('packed by gzip' in done.stderr and 'gunzip packed.json.gz' in done.stderr, done.stderr)


def flexflow():
    write('f.graph', graph(comp('node0', 0, 1.5), comm('node1', 0, 1, 1000000), comp('node2', 1, 2), comp('node3', 1, 0.25),
                           '  node0 -> node1;', '  node1 -> node2;', '  node0 -> node3;', '  node0 -> node3;'))
    done = convert('flexflow', 'f.graph', '--out', 'ff')
    found = counts(done)
    check(found['edges between devices without a message, written as messages of no bytes'] == 1, found)
    check(found['edges that stand there more than once, written once'] == 1, found)
    check(found['bytes of messages'] == 1000000, found)
    # Both messages are there 1 us after node0 (the empty one goes behind the other), then node2 and node3 run.
    time = time_of('ff/f', 2)['time_ns']
    check(time == 1500000 + 1000 + 2000000 + 250000, f'{time} ns is not the known makespan')
    convert('flexflow', 'f.graph', '--time-unit', 'us', '--out', 'ff', '--name', 'u')
    time = time_of('ff/u', 2)['time_ns']
    check(time == 1500 + 1000 + 2000 + 250, f'{time} ns is not the known makespan in us')
    # Other forms of the same graph: subgraphs that group, ports of boxes, a mark of UTF-8, edges before nodes.
    other = ['  node0:f0 -> node1:f1:n [color=blue];', '  node1 -> node2', '  node0 -> node3, node0 -> node3;',
             'subgraph cluster_a { label="device 0"; ' + comp('node0', 0, 1.5), '  { ' + comm('node1', 0, 1, 1000000) + ' } };',
             'subgraph {' + comp('node2', 1, 2), '}', comp('node3', 1, 0.25)]
    write('o.graph', '\ufeff/* made by hand */ strict ' + graph(*other))
    done = convert('flexflow', 'o.graph', '--out', 'ff', '--name', 'o')
    check(counts(done) == found, f'{counts(done)}, not {found}')
    time = time_of('ff/o', 2)['time_ns']
    check(time == 1500000 + 1000 + 2000000 + 250000, f'{time} ns is not the known makespan of the other form')
    bad = {
        'subgraph_to': (graph(comp('node0', 0, 1), 'node0 -> {node1 node2};'), ('subgraph', 'line 2')),
        'subgraph_from': (graph('subgraph a {' + comp('node0', 0, 1) + '} -> node0;'), ('subgraph', 'each pair')),
        'subgraph_named': (graph(comp('node0', 0, 1), 'node0 -> subgraph a {node1};'), ('subgraph', 'each pair')),
        'subgraph_open': (graph('subgraph a {', comp('node0', 0, 1)), ('cut',)),
        'edge': (graph(comp('node0', 0, 1), '  node0 -> node7;'), ('node7', 'line 2', 'no node')),
        'circle': (graph(comp('node0', 0, 1), comp('node1', 0, 1), 'node0 -> node1;', 'node1 -> node0;'), ('circle', 'node0')),
        'twice': (graph(comp('node0', 0, 1), comp('node0', 0, 1)), ('node0', 'line 2')),
        'cut': (graph(comp('node0', 0, 1))[:-40], ('no end',)),
        'brace': (graph(comp('node0', 0, 1))[:-3], ('cut',)),
        'time': (graph(comp('node0', 0, -1)), ('simulated_run_time', 'node0')),
        'nan': (graph(comp('node0', 0, 'nan')), ('simulated_run_time',)),
        'no_size': (graph('node0 [label="{X|Comm|COMM_SEND_RECV_NODE|src_device_id=0|dst_device_id=1}"];'), ('comm_size',)),
        'type': (graph('node0 [label="{device_id=0|X|Forward|OTHER}"];'), ('OTHER',)),
        'label': (graph('node0 [label="hello"];'), ('node0',)),
        'other': ('graph g { a -- b; }', ('digraph',)),
        'empty': ('', ('digraph',)),
        'none': ('digraph g {}', ('no nodes',)),
    }
    for name, (content, words) in bad.items():
        write('b.graph', content)
        done = convert('flexflow', 'b.graph', '--out', 'bad', code=3)
        for word in ('b.graph', *words):
            check(word in done.stderr, f'{name}: no `{word}` in {done.stderr}')
    convert('flexflow', 'f.graph', '--time-unit', 'days', '--out', 'bad', code=2)


def flexflow_real(data):
    for ranks in (1, 4):
        path = data / f'flexflow/alexnet.{ranks}.graph'
        done = convert('flexflow', path, '--out', 'alex', '--name', f'a{ranks}')
        path_ms, sizes, _ = longest(path)
        check(counts(done)['bytes of messages'] == sizes, f'{sizes} B: {done.stdout}')
        info = run('trace', 'info', *[f'alex/a{ranks}.{r}.et' for r in range(ranks)], '--json')
        check(info.returncode == 0, info.stderr)
        if ranks == 1:
            machine(2)
            continue
        summary = time_of(f'alex/a{ranks}', ranks, latency='1 us', bandwidth='25 GB/s')
        check(summary['time_ns'] >= path_ms * 1e6 - len(str(path)), f"{summary['time_ns']} ns < {path_ms} ms")
        check(summary['messages'] > 0, summary['messages'])


def main():
    global WEFT, FOLDER
    parser = argparse.ArgumentParser()
    parser.add_argument('weft')
    parser.add_argument('--data', default='../shared/data')
    options = parser.parse_args()
    WEFT = str(pathlib.Path(options.weft).resolve())
    data = pathlib.Path(options.data).resolve()
    with tempfile.TemporaryDirectory() as folder:
        FOLDER = pathlib.Path(folder)
        for test in (flexflow, packed, pytorch_known, pytorch_groups, pytorch_iterations, pytorch_waits_of_groups,
                     pytorch_odd_events, pytorch_bad):
            test()
            print(f'{test.__name__}: passed')
        if data.is_dir():
            pytorch_real(data)
            flexflow_real(data)
            print('traces of the data folder: passed')
        elif os.environ.get('CI') == 'true':
            raise SystemExit(f'{data} is missing')


if __name__ == '__main__':
    main()
