#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""Runs every command of the documentation and compares what it prints with what the page shows.

    run_docs.py WEFT             run all pages; exit 1 and name page, line, command and first difference
    run_docs.py WEFT --update    rewrite the outputs that differ in the pages
    run_docs.py WEFT --only PAT  only pages whose path contains PAT
    run_docs.py WEFT --list      print the commands and what is done with each; run nothing

What a page may hold:

    ```console
    $ weft collective --topology "Ring(8)" \\       a command; a backslash continues it
        --bandwidth "50 GB/s"
    # all_reduce on Ring(8) (8 NPUs); ..           its output, both streams; ` ..` at the end: any rest of the line
    ..                                             any lines, also none
    $ weft validate machine.yaml  # exit 2         the exit code, where it is not 0
    ```

A command without output lines must succeed, and its output is not compared. A line `?` alone asks `--update` for the
whole output. Blocks of code without the tag `console` may hold commands as well: lines that begin with a program (see
PROGRAMS). They are run, and nothing is compared.

    ```yaml
    # machine.yaml                                 the first line names a file: it is written for the commands that follow
    ```

A block that begins with `weft: 1` and names no file must be a valid configuration.

Each page runs in a folder of its own, in the order of the page, with `configs` and `examples` beside it. Wall-clock
times, memory and the folder's path may differ (MASKS). NOT_RUN names the commands that are not run, with the reason.
"""

import argparse
import concurrent.futures
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGES = ["README.md", "CONTRIBUTING.md", "bench/README.md", "docs/**/*.md"]
TIME_LIMIT = 120

#: First words that make a line of an untagged block a command.
PROGRAMS = re.compile(r"(weft|cmake|ctest|ninja|gtkwave|vcd2fst|packet_bench|test_\w+) |"
                      r"(\./|build/|bench/|scripts/)\w|WEFT_\w+=")

#: Commands that this test does not run: a regular expression for the beginning, and why.
NOT_RUN = [
    (r"(\./)?scripts/", "installs packages, builds, or runs the tests"),
    (r"cmake ", "builds or installs"),
    (r"(mpicc|weft emulate) ", "runs MPI programs; the test emulation_shims does"),
    (r"(cc -I|ping_pong )", "builds and runs examples/network_interface; the test network_interface_examples does"),
    (r"bench/memory/", "takes a minute; the tests cxl_figure, moe_claims and moe_figure run it"),
    (r"weft collective g72.yaml --op all_reduce --size 1GiB", "takes up to 20 s where the machine is busy"),
    (r"ctest ", "runs the tests"),
    (r"WEFT_TRAFFIC_NETWORKS=", "takes minutes; ctest runs it with fewer networks"),
    (r"weft trace convert --from (pytorch|flexflow) ", "needs files of other programs; tests/convert runs it"),
    (r"weft (generate llm (--tp 8 --dp 64 --pp 8|--dp 1024 )|run machine.yaml --trace (ranks|cls|eq)/llm)",
     "thousands of ranks, for a table"),
    (r"weft run machine.yaml --trace traces/host", "needs what the command above makes"),
    (r"weft .*\ballreduce\.goal\b", "needs a GOAL program; tests/goal runs it"),
    (r"weft .*--set plugins=\$PWD/build/", "needs the examples' plugins; tests/plugins builds and runs them"),
    (r"weft sweep .*--slurm --slurm-options", "submits to Slurm; the test sweep_slurm does, with daemons of its own"),
    (r"(WEFT_DATA_DIR=\S+ )?tests/", "the tests of the repository: run by ctest"),
    (r"(./)?bench/", "takes minutes: measures speed"),
    (r"build/release/bin/", "programs of bench and tests: take minutes, or need measurements that are not in the tree"),
    (r"weft generate llm --tp 8 --dp 512 ", "writes 4,096 files"),
]

#: What may differ between two runs of one command. Applied to the page and to the output.
MASKS = [
    (re.compile(r'"(wall_s|peak_rss_MiB)": [\d.]+'), r'"\1": #'),
    (re.compile(r"(packet-hops) in [\d.]+ s"), r"\1 in # s"),
    (re.compile(r"(events); [\d.]+ s, [\d.]+ [KMG]iB"), r"\1; # s, # MiB"),
    (re.compile(r"[\d.]+ [KMGT]iB available on this machine"), "# available on this machine"),
    (re.compile(r"^(\d+(?:\.\d+)? ?[KMGT]?i?B +\d+ .*\S) +\d+\.\d{3}$"), r"\1 #"),  # weft collective: wall (s)
]
#: Lines that appear only when a machine is slow.
PROGRESS = re.compile(r"simulated .* so far")
#: How the folder of the run is shown.
FOLDER = "~/weft"


class Command:
    """A command of a page, with its lines `begin` to `end` of output in the page."""

    def __init__(self, text, line, exit_code, indent=""):
        self.text, self.line, self.exit_code, self.indent = text, line, exit_code, indent
        self.begin = self.end = None  # lines of the shown output; None: not compared
        self.shown = []


class File:
    """A file that the page shows; without a name a configuration that must be valid."""

    def __init__(self, name, text, line):
        self.name, self.text, self.line = name, text, line


def split_exit(text):
    match = re.search(r"\s+# exit (\d+)$", text)
    return (text[:match.start()], int(match[1])) if match else (text, 0)


def console(lines, first, indent):
    """The commands of a console block whose first line is number `first`, from 0."""
    commands, i = [], 0
    while i < len(lines):
        if not lines[i].startswith("$ "):
            raise ValueError(f"{first + i + 1}: a console block must begin with a command, `$ ..`")
        start, words = i, lines[i][2:]
        while words.endswith("\\") and i + 1 < len(lines):
            i += 1
            words = words[:-1].rstrip() + " " + lines[i].strip()
        text, code = split_exit(words)
        command = Command(text, first + start + 1, code, indent)
        i += 1
        begin = i
        while i < len(lines) and not lines[i].startswith("$ "):
            i += 1
        if i > begin:
            command.begin, command.end, command.shown = first + begin, first + i, lines[begin:i]
        commands.append(command)
    return commands


def plain(lines, first):
    """The commands of a block without prompts: lines that begin with a program."""
    commands, i = [], 0
    while i < len(lines):
        start, words = i, lines[i].strip()
        if PROGRAMS.match(words):
            while words.endswith("\\") and i + 1 < len(lines):
                i += 1
                words = words[:-1].rstrip() + " " + lines[i].strip()
            text, code = split_exit(re.sub(r"\s+# (?!exit \d+$).*$", "", words))
            commands.append(Command(text, first + start + 1, code))
        i += 1
    return commands


def parse(lines):
    """The commands and files of a page, in its order."""
    found, i = [], 0
    while i < len(lines):
        fence = re.match(r"( *)```(\w*)", lines[i])
        if fence:
            indent, tag, begin = fence[1], fence[2], i + 1
            i += 1
            while i < len(lines) and not lines[i].startswith(indent + "```"):
                i += 1
            if i == len(lines):
                raise ValueError(f"{begin}: a block without an end")
            block = [line[len(indent):] if line.startswith(indent) else line.lstrip() for line in lines[begin:i]]
            if tag == "console":
                found += console(block, begin, indent)
            elif tag == "yaml" and block and re.fullmatch(r"# [\w.-]+\.yaml", block[0]):
                found.append(File(block[0][2:], "\n".join(block) + "\n", begin + 1))
            elif tag == "yaml" and block and block[0].startswith("weft: 1"):
                found.append(File(None, "\n".join(block) + "\n", begin + 1))
            elif tag in ("", "sh", "bash"):
                found += plain(block, begin)
        elif lines[i].startswith("    ") and (i == 0 or not lines[i - 1].strip()):
            begin = i
            while i < len(lines) and (lines[i].startswith("    ") or not lines[i].strip()):
                i += 1
            found += plain(lines[begin:i], begin)
            continue
        i += 1
    return found


def masked(line):
    for pattern, by in MASKS:
        line = pattern.sub(by, line)
    return line.rstrip()


def same_line(shown, line):
    if shown.endswith(" .."):
        return masked(line).startswith(masked(shown[:-3]))
    return masked(shown) == masked(line)


def segments(shown):
    """The lines of a page between its `..`."""
    parts = [[]]
    for line in shown:
        if line == "..":
            parts.append([])
        else:
            parts[-1].append(line)
    return parts


def fits(part, lines, at):
    return at + len(part) <= len(lines) and all(same_line(s, lines[at + k]) for k, s in enumerate(part))


def difference(shown, lines):
    """What is the first thing in `lines` that the page does not show so; None: nothing."""
    parts = segments(shown)
    if len(parts) == 1:
        for k in range(max(len(shown), len(lines))):
            if k >= len(lines):
                return f"the page shows a line more: {shown[k]}"
            if k >= len(shown):
                return f"the program prints a line more: {lines[k]}"
            if not same_line(shown[k], lines[k]):
                return f"the page shows      {shown[k]}\n    the program prints  {lines[k]}"
        return None
    at = 0
    for index, part in enumerate(parts):
        last = index + 1 == len(parts)
        places = [0] if index == 0 else [len(lines) - len(part)] if last else range(at, len(lines) - len(part) + 1)
        place = next((p for p in places if p >= at and fits(part, lines, p)), None)
        if place is None:
            text = "\n      ".join(part)
            near = difflib.get_close_matches(part[0], lines, 1, 0) if lines else []
            return f"the program does not print\n      {text}\n    but for example\n      {''.join(near)}"
        at = place + len(part)
    return None


def renewed(shown, lines):
    """The shown lines with the present output, shortened where the page shortens them."""
    parts = segments(shown)
    if shown == ["?"] or len(parts) == 1:
        old = shown if len(shown) == len(lines) else []
        return [shorten(old[k] if old else "", line) for k, line in enumerate(lines)]
    result, at = [], 0
    for index, part in enumerate(parts):
        last = index + 1 == len(parts)
        room = len(lines) - len(part)
        if index == 0:
            place = 0
        elif last:
            place = max(at, room)
        else:
            likeness = lambda p: difflib.SequenceMatcher(None, "\n".join(part), "\n".join(lines[p:p + len(part)])).ratio()
            place = max(range(at, max(at, room) + 1), key=likeness)
        result += [shorten(s, line) for s, line in zip(part, lines[place:place + len(part)])]
        if not last:
            result.append("..")
        at = place + len(part)
    return result


def shorten(shown, line):
    """`line`, cut off where the page cuts it off; as the page shows it, where that is right."""
    if not shown.endswith(" .."):
        return line
    if same_line(shown, line):
        return shown
    kept = line[:len(shown) - 3]
    return (kept if line[len(kept):len(kept) + 1] in ("", " ") else kept.rpartition(" ")[0]).rstrip() + " .."


def reason_not_run(text):
    return next(((pattern, why) for pattern, why in NOT_RUN if re.match(pattern, text)), (None, None))


def execute(text, work, weft):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")}
    environment.update(PATH=f"{weft.parent}{os.pathsep}{environment['PATH']}", LC_ALL="C")
    ran = subprocess.run(["bash", "-c", text], cwd=work, env=environment, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIME_LIMIT, check=False)
    text = ran.stdout.decode(errors="replace").replace(str(work), FOLDER)
    lines = re.split(r"[\r\n]", text)
    lines = [line.rstrip() for line in lines if not PROGRESS.match(line)]
    while lines and not lines[-1]:
        lines.pop()
    return ran.returncode, lines


class Page:
    """What became of one page."""

    def __init__(self, path, root):
        self.path, self.name = path, str(path.relative_to(root))
        self.root = root
        self.failures, self.skipped = [], set()
        self.ran = self.compared = 0

    def fail(self, line, what):
        self.failures.append(f"{self.name}:{line}: {what}")

    def run(self, weft, update):
        lines = self.path.read_text().split("\n")
        try:
            found = parse(lines)
        except ValueError as error:
            self.failures.append(f"{self.name}:{error}")
            return self
        changes = []
        with tempfile.TemporaryDirectory(prefix="weft-docs-") as folder:
            work = pathlib.Path(folder).resolve()
            for name in ("configs", "examples"):
                if (self.root / name).exists():
                    (work / name).symlink_to(self.root / name)
            for item in found:
                try:
                    changes += self.one(item, work, weft, update)
                except subprocess.TimeoutExpired:
                    self.fail(item.line, f"$ {item.text}\n    took longer than {TIME_LIMIT} s; commands of the docs are short")
        if changes:
            for begin, end, new in sorted(changes, reverse=True):
                lines[begin:end] = new
            self.path.write_text("\n".join(lines))
        return self

    def one(self, item, work, weft, update):
        if isinstance(item, File):
            name = item.name or "shown.yaml"
            (work / name).write_text(item.text)
            if not item.name:
                code, lines = execute(f"weft validate {name}", work, weft)
                self.ran += 1
                if code != 0:
                    self.fail(item.line, "this configuration is not valid:\n      " + "\n      ".join(lines))
            return []
        pattern, _ = reason_not_run(item.text)
        if pattern:
            self.skipped.add(pattern)
            return []
        code, lines = execute(item.text, work, weft)
        self.ran += 1
        if code != item.exit_code:
            self.fail(item.line, f"$ {item.text}\n    exit code {code}, but the page says {item.exit_code}\n      "
                      + "\n      ".join(lines[-20:]))
            return []
        if item.begin is None:
            return []
        self.compared += 1
        what = difference(item.shown, lines)
        if what and update:
            return [(item.begin, item.end, [item.indent + line for line in renewed(item.shown, lines)])]
        if what:
            self.fail(item.line, f"$ {item.text}\n    {what}\n    (run_docs.py WEFT --update rewrites the page)")
        return []


def pages_of(root, only):
    paths = sorted({path for pattern in PAGES for path in root.glob(pattern)})
    return [path for path in paths if only in str(path.relative_to(root))]


def list_commands(paths, root):
    for path in paths:
        for item in parse(path.read_text().split("\n")):
            if isinstance(item, File):
                print(f"{path.relative_to(root)}:{item.line}: file {item.name or '(validated)'}")
                continue
            _, why = reason_not_run(item.text)
            state = f"not run: {why}" if why else "compared" if item.begin is not None else "run"
            print(f"{path.relative_to(root)}:{item.line}: [{state}] {item.text}")


def without_report_page(weft):
    ran = subprocess.run([weft, "report", "no such folder"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                         timeout=TIME_LIMIT, check=False)
    return "built without the page" in ran.stderr


def main():
    parser = argparse.ArgumentParser(description="Run the commands of the documentation.")
    parser.add_argument("weft", type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help="the tree whose pages are run")
    options = parser.parse_args()
    root, weft = options.root.resolve(), options.weft.resolve()
    paths = pages_of(root, options.only)
    if options.list:
        list_commands(paths, root)
        return 0
    if not os.access(weft, os.X_OK) or weft.name != "weft":
        print(f"{weft} is no program of the name weft", file=sys.stderr)
        return 1
    if without_report_page(weft):
        NOT_RUN.append((r"weft report ", "this program was built without Node.js, so it makes no page"))
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        pages = list(pool.map(lambda path: Page(path, root).run(weft, options.update), paths))
    failures = [failure for page in pages for failure in page.failures]
    used = set().union(*(page.skipped for page in pages)) if pages else set()
    if not options.only:
        failures += [f"NOT_RUN: no page has a command that begins with '{pattern}'; remove the entry"
                     for pattern, _ in NOT_RUN if pattern not in used]
    ran, compared = sum(page.ran for page in pages), sum(page.compared for page in pages)
    if ran == 0 and not used and not options.only:
        failures.append(f"no page of {root} has a command")
    for failure in failures:
        print(failure, file=sys.stderr)
    print(f"{len(pages)} pages: {ran} commands run, {compared} outputs compared, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
