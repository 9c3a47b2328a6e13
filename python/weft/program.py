# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""Drives the program `weft`."""

import contextlib
import json
import os
import shutil
import subprocess
import tempfile

from .result import Result, read_table

_CODES = {2: "bad usage or configuration", 3: "bad trace", 4: "stall", 5: "an expectation is not met"}


class WeftError(RuntimeError):
    """The program ended with an error. `exit_code` as `weft --help` lists them; `message` is what it said."""

    def __init__(self, command, exit_code, message):
        self.command, self.exit_code, self.message = command, exit_code, message.strip()
        super().__init__(f"weft {command}: {_CODES.get(exit_code, f'exit code {exit_code}')}\n{self.message}")


def _text(value):
    """A value as `--set` takes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value) if isinstance(value, (list, tuple, dict)) else str(value)


@contextlib.contextmanager
def _config_file(config):
    """A path as it is; a dict as a file for as long as it is used. Relative paths in a dict are from the working
    directory."""
    if not isinstance(config, dict):
        yield os.fspath(config)
        return
    handle, path = tempfile.mkstemp(suffix=".yaml", prefix=".weft_", dir=".")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump({"weft": 1, **config}, file)  # JSON is YAML
        yield path
    finally:
        os.remove(path)


class Program:
    """The program, found by: `path`, the environment variable WEFT, PATH."""

    def __init__(self, path=None):
        found = path or os.environ.get("WEFT") or shutil.which("weft")
        if not found or not (os.path.exists(found) or shutil.which(found)):
            raise FileNotFoundError(f"{found or 'weft'}: there is no such program; give Program(path), set WEFT, or add "
                                    "it to PATH")
        self.path = os.fspath(found)

    def call(self, *words):
        """Runs the program with these words, and returns its standard output. Throws WeftError."""
        words = [os.fspath(word) if hasattr(word, "__fspath__") else str(word) for word in words]
        done = subprocess.run([self.path, *words], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise WeftError(words[0] if words else "", done.returncode, done.stderr or done.stdout)
        return done.stdout

    @staticmethod
    def _options(sets, options):
        words = []
        for key, value in (sets or {}).items():
            words += ["--set", f"{key}={_text(value)}"]
        for name, value in options.items():
            flag = "--" + name.replace("_", "-")
            if value is True:
                words.append(flag)
            elif value is not None and value is not False:
                for one in value if isinstance(value, (list, tuple)) else [value]:
                    words += [flag, os.fspath(one) if hasattr(one, "__fspath__") else str(one)]
        return words

    def run(self, config, out="out", sets=None, **options):
        """`weft run`: `config` is a path, or a dict of the configuration's sections. `options` are the command's, with _
        for -: trace="t/llm", groups=.., no_fold=True, waves="*". Returns the Result of the folder `out`."""
        with _config_file(config) as path:
            self.call("run", path, "--out", out, *self._options(sets, options))
        return Result(out)

    def collective(self, config=None, sets=None, **options):
        """`weft collective`: the rows of its results, each a dict (bytes, time_ns, busbw_GBps ..)."""
        words = self._options(sets, options)
        if config is None:
            return json.loads(self.call("collective", "--json", *words))["results"]
        with _config_file(config) as path:
            return json.loads(self.call("collective", path, "--json", *words))["results"]

    def sweep(self, config, vary, out="sweep.csv", sets=None, command="run", options=None, **sweep_options):
        """`weft sweep`: `vary` is a dict of keys (or options, "--size") to values; `options` are the command's. Returns the
        rows of the table, one a point. A point that fails is a row with its exit code and its error."""
        words = ["--command", command, "--out", out]
        for key, values in vary.items():
            words += ["--vary", f"{key}=" + ",".join(_text(v) for v in values) if not isinstance(values, str)
                      else f"{key}={values}"]
        words += self._options(sets, sweep_options)
        if options:
            words += ["--", *self._options(None, options)]
        with _config_file(config) as path:
            try:
                self.call("sweep", path, *words)
            except WeftError as error:
                if error.exit_code != 1 or not os.path.exists(out):
                    raise
        return read_table(out)
