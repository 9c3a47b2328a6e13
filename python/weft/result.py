# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""The result files of a run."""

import csv
import json
import os


def _value(text):
    """Numbers become int or float, everything else stays a text."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


def read_table(path):
    """A CSV file as a list of rows, each a dict; numbers are int or float."""
    with open(path, newline="", encoding="utf-8") as file:
        return [{name: _value(value) for name, value in row.items()} for row in csv.DictReader(file)]


def frame_of(path):
    """A CSV file as a pandas frame. ImportError says how to get one."""
    try:
        import pandas
    except ImportError:
        raise ImportError("pandas is not installed; install it (Debian: python3-pandas), or use rows(), "
                          "which needs nothing") from None
    return pandas.read_csv(path)


class Result:
    """The folder of a run. Times are nanoseconds, bandwidths 10^9 B/s, as docs/guide/results.md describes."""

    def __init__(self, folder):
        self.folder = os.fspath(folder)
        path = os.path.join(self.folder, "summary.json")
        if not os.path.exists(path):
            raise FileNotFoundError(f"{self.folder}: has no summary.json; give the folder of `weft run --out`")
        with open(path, encoding="utf-8") as file:
            #: summary.json
            self.summary = json.load(file)

    @property
    def time_ns(self):
        return self.summary["time_ns"]

    @property
    def finished(self):
        """False after a stall or a signal: the results are those up to it."""
        return bool(self.summary.get("finished", True))

    def path(self, name):
        return os.path.join(self.folder, name)

    def tables(self):
        """The names of the tables that the run wrote: ranks, collectives, links .."""
        return sorted(name[:-4] for name in os.listdir(self.folder) if name.endswith(".csv"))

    def _table(self, name):
        if name not in self.tables():
            raise KeyError(f"{self.folder}: has no table '{name}'; there are {', '.join(self.tables())}")
        return self.path(name + ".csv")

    def rows(self, name):
        """A table as a list of dicts."""
        return read_table(self._table(name))

    def frame(self, name):
        """A table as a pandas frame."""
        return frame_of(self._table(name))

    def column(self, table, name):
        """One column as a list."""
        rows = self.rows(table)
        if rows and name not in rows[0]:
            raise KeyError(f"{table}.csv has no column '{name}'; it has {', '.join(rows[0])}")
        return [row[name] for row in rows]

    def __repr__(self):
        return f"Result({self.folder!r}, {self.time_ns} ns{'' if self.finished else ', not finished'})"
