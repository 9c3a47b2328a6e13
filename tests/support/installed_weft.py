#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""For tests that install Weft and build projects against the package, as a user would."""

import argparse
import pathlib
import shutil
import subprocess
import sys

_failures = []


def check(good, what):
    """Counts a failure and goes on: one run shows all."""
    if not good:
        _failures.append(what)
        print(f"FAILED: {what}", flush=True)


def finish():
    """Ends the test with the number of failures."""
    print(f"{len(_failures)} failures")
    sys.exit(1 if _failures else 0)


def command(args, **more):
    """Runs a command that must succeed; its output."""
    done = subprocess.run([str(a) for a in args], capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, args))}\nfailed with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def parser(description):
    """The options that such a test always has; add_argument adds its own."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--build", required=True, help="build folder to install")
    made.add_argument("--source", required=True, help="source folder")
    made.add_argument("--work", required=True, help="folder to work in; it is emptied")
    made.add_argument("--generator", default="Ninja")
    made.add_argument("--cxx", default="c++")
    made.add_argument("--prefix-path", default="")
    return made


class InstalledWeft:
    """Weft, installed in the folder to work in, and how projects are built against it."""

    def __init__(self, args, empty=True):
        self.source_root = pathlib.Path(args.source).resolve()
        self.work = pathlib.Path(args.work).resolve()
        if empty:
            shutil.rmtree(self.work, ignore_errors=True)
        self.prefix = self.work / "prefix"
        self.weft = self.prefix / "bin" / "weft"
        self.options = ["-G", args.generator, f"-DCMAKE_CXX_COMPILER={args.cxx}", "-DCMAKE_BUILD_TYPE=Release",
                        "-DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF",
                        f"-DCMAKE_PREFIX_PATH={self.prefix};{args.prefix_path}"]
        command(["cmake", "--install", args.build, "--prefix", self.prefix])

    def example_source(self, name, to):
        """A copy of the example's source in the folder `to`."""
        shutil.copytree(self.source_root / "examples" / name, to, dirs_exist_ok=True)
        return to

    def build(self, source, folder, *options):
        """Builds the project in `source`; its build folder."""
        command(["cmake", "-S", source, "-B", folder, *self.options, *options])
        command(["cmake", "--build", folder])
        return folder

    def call(self, *args):
        """(exit code, output, errors) of a program, run in the folder to work in."""
        done = subprocess.run([str(a) for a in args], capture_output=True, text=True, cwd=self.work)
        return done.returncode, done.stdout, done.stderr
