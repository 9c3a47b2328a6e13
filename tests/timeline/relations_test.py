#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""Every run of the results net with a timeline: its results are the same to the byte as without one, and the timeline
alone gives the same bytes and busy time of every link, the same times of every rank and the same collectives.

    relations_test.py WEFT [--only GLOB]
"""

import argparse
import concurrent.futures
import fnmatch
import json
import os
import re
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "results_net")]

import cases as net  # noqa: E402
import results_check as check  # noqa: E402
import results_net  # noqa: E402

#: Files that say whether there is a timeline.
ABOUT_IT = {"effective.yaml", "timeline.pftrace"}


def folded(folder):
    summary = folder / "summary.json"
    return summary.exists() and json.loads(summary.read_text())["folded"] is not False


def results(work, name, file):
    """Without what two runs need not share. `events` and `trains` are the work of the simulator: of a watched packet network
    each packet is simulated, although most of them go by train otherwise."""
    data = (work / "out" / name / file).read_bytes().replace(str(work).encode(), b"WORK")
    data = re.sub(rb'^ *"events": \d+,?$', b"", results_net.VOLATILE.sub(b"", data), flags=re.M)
    data = re.sub(rb'\n *"trains": \{[^}]*\},', b"", data)
    # What it has to say of itself.
    return re.sub(rb'\[\n *"timeline\.pftrace is kept .*"\n *\]', b"[]", data)


def check_case(weft, work, name, arguments):
    """Returns (what was compared, links that carried something); raises what is wrong."""
    plain = results_net.run_case(weft, work / "plain", name, arguments)
    seen = results_net.run_case(weft, work / "seen", name, arguments + ["--timeline"])
    for file in plain:
        own, other = (results(work / kind, name, file) for kind in ("plain", "seen"))
        if file not in ABOUT_IT and own != other:
            raise check.Differs(f"{file} differs with --timeline")
    if set(seen) - set(plain) != {"timeline.pftrace"}:
        raise check.Differs(f"files: {sorted(seen)}")
    folder = work / "seen" / "out" / name
    timeline = check.open_timeline(folder)
    if timeline.bytes > 64 << 20:
        raise check.Differs("the timeline is larger than its budget")
    ranks = (folder / "ranks.csv").exists()
    simulated = [n for n in timeline.notes() if "ranks are simulated and shown. The others do the same" in n]
    links = 0
    if not simulated:
        check.check_collectives(timeline, folder)
        if (folder / "links.csv").exists():
            links = check.check_links(timeline, folder)
        if ranks:
            check.check_ranks(timeline, folder)
    (folder / "timeline.pftrace").unlink()
    return len(timeline.flows), links, bool(simulated)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("--only", default="*")
    options = parser.parse_args()
    weft = str(pathlib.Path(options.weft).resolve())
    chosen = {n: a for n, a in net.cases() if fnmatch.fnmatch(n, options.only) and a[0] != "traffic"}
    wrong, compared, arrows, links, few = [], 0, 0, 0, 0
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        work = pathlib.Path(folder)
        results_net.make_inputs(weft, work)
        for kind in ("plain", "seen"):
            (work / kind).mkdir()
            for inputs in ("traces", "machines"):
                (work / kind / inputs).symlink_to(work / inputs)
        running = {n: pool.submit(check_case, weft, work, n, a) for n, a in chosen.items()}
        for name, future in running.items():
            try:
                own_arrows, own_links, own_few = future.result()
                compared += 1
                arrows, links, few = arrows + own_arrows, links + own_links, few + own_few
            except Exception as e:  # pylint: disable=broad-except
                wrong.append(f"{name}: {type(e).__name__}: {e}")
    for line in wrong:
        print(line)
    print(f"{compared} runs: {arrows} arrows, {links} links; {few} of them simulate a part of their ranks")
    if options.only == "*" and (links == 0 or arrows == 0):
        print("nothing was compared")
        return 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
