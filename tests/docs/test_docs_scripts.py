#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""Tests of run_docs.py, check_docs.py and scripts/architecture.py: each mistake in a page or tree must be found."""

import contextlib
import io
import pathlib
import shutil
import sys
import tempfile
import unittest
from unittest import mock

import check_docs
import run_docs

sys.path.insert(0, str(check_docs.ROOT / "scripts"))
import architecture  # noqa: E402

#: Stands for the program: prints its arguments, one a line; `fail` ends with exit code 3.
PROGRAM = """#!/bin/sh
for word in "$@"; do echo "$word"; done
[ "$1" != fail ] || exit 3
"""


class Scripts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name) / "tree"
        (self.root / "docs").mkdir(parents=True)
        self.weft = pathlib.Path(folder.name) / "weft"
        self.weft.write_text(PROGRAM)
        self.weft.chmod(0o755)
        self.not_run = []

    def call(self, main, arguments):
        err = io.StringIO()
        with mock.patch.object(sys, "argv", ["script", *map(str, arguments)]), \
                mock.patch.object(run_docs, "NOT_RUN", self.not_run), \
                contextlib.redirect_stderr(err), contextlib.redirect_stdout(io.StringIO()):
            return main(), err.getvalue()

    def page(self, text, name="docs/page.md"):
        (self.root / name).write_text(text)

    def run_page(self, text, *options):
        self.page(text)
        return self.call(run_docs.main, [self.weft, "--root", self.root, *options])

    def check_page(self, text):
        self.page(text)
        return self.call(check_docs.main, ["--root", self.root])

    # -- run_docs.py

    def test_the_shown_output_passes(self):
        self.assertEqual(self.run_page("```console\n$ weft a \\\n    b\na\nb\n$ weft c\nc\n```\n"), (0, ""))

    def test_other_output_fails_and_names_page_line_and_command(self):
        for shown in ("a\nc\n", "a\n", "a\nb\nb\n", "b\na\n"):
            status, err = self.run_page("text\n\n```console\n$ weft a b\n" + shown + "```\n")
            self.assertEqual(status, 1, shown)
            self.assertIn("docs/page.md:4: $ weft a b", err)

    def test_exit_codes(self):
        self.assertEqual(self.run_page("```console\n$ weft fail  # exit 3\nfail\n```\n")[0], 0)
        for text in ("$ weft fail\nfail", "$ weft a  # exit 3\na", "$ weft fail  # exit 2"):
            status, err = self.run_page("```console\n" + text + "\n```\n")
            self.assertEqual(status, 1, text)
            self.assertIn("exit code", err)

    def test_two_dots_match_any_lines_and_any_rest_of_a_line(self):
        command = "$ weft one two three four 'five and six'\n"
        for shown in ("..\n", "one\n..\n", "..\nfive ..\n", "one\n..\nthree\n..\nfive and six\n",
                      "..\none\ntwo\nthree\nfour\nfive and six\n"):
            self.assertEqual(self.run_page("```console\n" + command + shown + "```\n"), (0, ""), shown)
        for shown in ("..\nfour\n", "two\n..\n", "one\n..\nthree\n..\ntwo\n..\n", "..\nsix ..\n",
                      "one\n..\none\n..\n", "..\nfive and six\n..\nfive and six\n"):
            self.assertEqual(self.run_page("```console\n" + command + shown + "```\n")[0], 1, shown)

    def test_times_and_memory_may_differ_and_other_numbers_may_not(self):
        self.assertEqual(self.run_page("```console\n$ weft '  \"wall_s\": 0.5,'\n  \"wall_s\": 7.25,\n```\n")[0], 0)
        row = "1 MiB   1048576  36.350  28.847  50.481  0.5323  144  234     0.000"
        self.assertEqual(self.run_page(f"```console\n$ weft '{row}'\n{row[:-5]}9.125\n```\n")[0], 0)
        self.assertEqual(self.run_page(f"```console\n$ weft '{row}'\n{row.replace('144', '145')}\n```\n")[0], 1)

    def test_progress_lines_are_not_compared(self):
        line = "simulated 7 us, 3 of 9 cycles (33 %), 2 s so far, ETA 4 s"
        self.assertEqual(self.run_page(f"```console\n$ weft a '{line}' b\na\nb\n```\n"), (0, ""))

    def test_update_rewrites_the_page_and_keeps_what_is_left_out(self):
        before = "```console\n$ weft one two three four five\nONE\n..\nfour\nFIVE\n$ weft a\n?\n```\n"
        self.assertEqual(self.run_page(before, "--update")[0], 0)
        after = (self.root / "docs/page.md").read_text()
        self.assertEqual(after, "```console\n$ weft one two three four five\none\n..\nfour\nfive\n$ weft a\na\n```\n")
        self.assertEqual(self.run_page(after), (0, ""))

    def test_update_keeps_a_cut_line_cut(self):
        self.assertEqual(self.run_page("```console\n$ weft 'size 2 of 9 in all'\nsize 1 of ..\n```\n", "--update")[0], 0)
        self.assertIn("\nsize 2 of ..\n", (self.root / "docs/page.md").read_text())

    def test_update_keeps_a_cut_line_that_is_right(self):
        page = "```console\n$ weft 'size (2), of 9' new\nsize (2) ..\nold\n```\n"
        self.assertEqual(self.run_page(page, "--update")[0], 0)
        self.assertIn("\nsize (2) ..\nnew\n", (self.root / "docs/page.md").read_text())

    def test_a_page_shares_one_folder_and_gets_its_files(self):
        (self.root / "configs").mkdir()
        (self.root / "configs" / "a.yaml").write_text("known\n")
        page = ("```yaml\n# machine.yaml\nweft: 1\n```\n\n```console\n$ cat machine.yaml\n# machine.yaml\nweft: 1\n"
                "$ weft b > b\n$ cat b configs/a.yaml\nb\nknown\n```\n")
        self.assertEqual(self.run_page(page), (0, ""))
        self.page("```console\n$ cat b  # exit 1\n```\n", "docs/other.md")
        self.assertEqual(self.run_page(page), (0, ""))

    def test_commands_of_untagged_blocks_run(self):
        self.assertEqual(self.run_page("text\n\n    weft a     # a comment\n\n```\nweft b\n```\n")[0], 0)
        for text in ("text\n\n    weft fail\n", "```\nweft fail\n```\n", "```\nweft a \\\n  && weft fail\n```\n"):
            self.assertEqual(self.run_page(text)[0], 1, text)

    def test_a_configuration_that_is_not_valid_fails(self):
        self.weft.write_text("#!/bin/sh\ngrep -q good $2\n")
        self.assertEqual(self.run_page("```yaml\nweft: 1\ngood: 1\n```\n\n    weft a configs/good\n")[0], 1)
        self.weft.write_text("#!/bin/sh\n[ $1 != validate ] || grep -q good $2\n")
        self.assertEqual(self.run_page("```yaml\nweft: 1\ngood: 1\n```\n\n    weft a\n")[0], 0)
        self.assertEqual(self.run_page("```yaml\nweft: 1\nbad: 1\n```\n\n    weft a\n")[0], 1)

    def test_what_is_not_run_is_on_a_list_without_spare_entries(self):
        self.not_run = [("cmake ", "builds")]
        self.assertEqual(self.run_page("    cmake --preset nothing\n\n    weft a\n"), (0, ""))
        status, err = self.run_page("    weft a\n")
        self.assertEqual(status, 1)
        self.assertIn("remove the entry", err)

    def test_a_tree_without_commands_fails(self):
        self.assertEqual(self.run_page("nothing\n")[0], 1)
        self.assertEqual(self.run_page("```console\nno prompt\n```\n")[0], 1)

    # -- check_docs.py

    def test_width(self):
        self.assertEqual(self.check_page("x" * 120 + "\n"), (0, ""))
        long = "word " * 30
        for text in (long, f"- {long}", f"```\n{long}\n```", f"    {long}", f"```console\n$ {long}\n```",
                     f"```console\n$ a \\\n    {long}\n```"):
            status, err = self.check_page(text + "\n")
            self.assertEqual(status, 1, text)
            self.assertIn("at most 120", err)
        for text in (f"| {long} |", f"```console\n$ a\n{long}\n```", f"<!-- {long} -->"):
            self.assertEqual(self.check_page(text + "\n"), (0, ""), text)

    def test_links(self):
        self.page("# A heading, with `code`\n", "docs/other.md")
        for target in ("other.md", "other.md#a-heading-with-code", "#here", "https://example.org/x"):
            self.assertEqual(self.check_page(f"# Here\n\n[a]({target})\n"), (0, ""), target)
        for target in ("missing.md", "other.md#another", "#there"):
            status, err = self.check_page(f"# Here\n\n[a]({target})\n")
            self.assertEqual(status, 1, target)
            self.assertIn("docs/page.md:3", err)

    def test_wrapping_changes_only_long_paragraphs(self):
        words = " ".join(["[a link](other.md)", "`some code`", "word"] * 12)
        text = f"# H\n\nshort\nlines\n\n{words}\n\n- {words}\n- b\n\n| {words} |\n\n> {words}\n"
        wrapped = check_docs.wrap(text)
        self.assertLessEqual(max(len(line) for line in wrapped.split("\n") if "|" not in line), 120)
        self.assertEqual(wrapped.replace("\n> ", " ").split(), text.replace("\n> ", " ").split())
        for whole in ("[a link](other.md)", "`some code`"):
            self.assertEqual(wrapped.count(whole), text.count(whole))
        self.assertIn("short\nlines\n", wrapped)
        self.assertEqual(check_docs.wrap(wrapped), wrapped)

    # -- scripts/architecture.py

    def copy_of_the_tree(self):
        for name in [*architecture.ROOMS, "tests/system", "docs/guide"]:
            shutil.copytree(check_docs.ROOT / name, self.root / name, dirs_exist_ok=True)
        for name in ["CMakeLists.txt", architecture.PICTURE, architecture.PAGE]:
            shutil.copy(check_docs.ROOT / name, self.root / name)
        self.before = architecture.check(self.root)

    def check_architecture(self, name, old, new):
        """The mistakes that a change of a file adds to those of the copied tree."""
        path = self.root / name
        kept = path.read_text()
        self.assertIn(old, kept)
        path.write_text(kept.replace(old, new))
        wrong = architecture.check(self.root)
        path.write_text(kept)
        return "; ".join(line for line in wrong if line not in self.before)

    def test_the_picture_fits_the_tree(self):
        self.assertEqual(architecture.check(check_docs.ROOT), [])

    def test_what_the_picture_does_not_show_is_found(self):
        self.copy_of_the_tree()
        for name, old, new, found in (
                ("sc_models/nmu.h", "class Nmu :", "class Other :", "names Nmu: sc_models/nmu.h"),
                ("workload/seam.h", "class MessagePort {", "class MessagePort;", "names MessagePort"),
                ("vcd/waves.h", '#include "vcd/', '#include "configs/config.h"\n#include "vcd/', "does not allow vcd"),
                ("CMakeLists.txt", "add_subdirectory(vcd)", "add_subdirectory(wave)", "lacks the room wave"),
                (architecture.PICTURE, "CollectiveEngine", "Engine", "is not what"),
                (architecture.PAGE, "`sc_models/settled_call.h`", "`sc_models/settled.h`", "no sc_models/settled.h"),
                (architecture.PAGE, "`Nmu::deliver`", "`Nmu::hand`", "names Nmu::hand"),
                (architecture.PAGE, "| 9 |", "| 8 |", "not 1 to 10")):
            self.assertIn(found, self.check_architecture(name, old, new), name)


if __name__ == "__main__":
    unittest.main()
