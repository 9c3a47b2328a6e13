#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""`weft sweep --slurm` on a slurmctld and a slurmd of this test's own, on this machine.

    slurm_test.py WEFT [--keep]

The daemons run in a temporary folder on free ports; nothing else of the machine's Slurm is used or changed. Without
the packages slurmctld, slurmd and slurm-client, or without root, the test is skipped (exit code 77); with CI=true that
is a failure.
"""

import argparse
import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
LIMIT_S = 300  # of any wait; the test does not measure how long it takes

MACHINE = """weft: 1
topology:
  notation: Ring(4)
  dimensions: [{bandwidth: 50 GB/s, latency: 500 ns}]
"""
#: Packets for hours.
ENDLESS = """weft: 1
topology:
  notation: Switch(8)
  dimensions: [{bandwidth: 50 GB/s, latency: 500 ns, fidelity: packet}]
packet: {packet_size: 256 B, flit_size: 64 B}
collectives: {chunks: 65535, all_to_all: direct}
"""

SLURM_CONF = """ClusterName=weft_test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ctld_port}
SlurmdPort={slurmd_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
AuthInfo=cred_expire=5
CredType=cred/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
KillWait=2
MinJobAge=300
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""
#: Its plugin must be named, and finds nothing to mount.
CGROUP_CONF = """CgroupPlugin=cgroup/v1
CgroupAutomount=no
CgroupMountpoint={folder}/cgroup
"""


def skip(why):
    if os.environ.get("CI") == "true":
        sys.exit(f"{why}; CI=true forbids to skip this test (scripts/setup.sh installs the packages)")
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(what, condition):
    end = time.monotonic() + LIMIT_S
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"waited {LIMIT_S} s in vain for {what}")
        time.sleep(0.05)


class Slurm:
    """The two daemons, in a folder."""

    def __init__(self, folder):
        self.folder = folder
        for name in ["state", "spool", "cgroup"]:
            (folder / name).mkdir()
        host = socket.gethostname().split(".")[0]
        # slurmd refuses more processors than there are.
        cpus = os.cpu_count()
        (folder / "slurm.conf").write_text(SLURM_CONF.format(
            host=host, folder=folder, ctld_port=free_port(), slurmd_port=free_port(), cpus=cpus))
        (folder / "cgroup.conf").write_text(CGROUP_CONF.format(folder=folder))
        self.environment = dict(os.environ, SLURM_CONF=str(folder / "slurm.conf"))
        self.daemons = {}

    def start(self, name):
        log = open(self.folder / f"{name}.out", "ab")
        options = ["-D"] + (["-i"] if name == "slurmctld" else [])
        self.daemons[name] = subprocess.Popen([shutil.which(name) or f"/usr/sbin/{name}"] + options, stdout=log, stderr=log,
                                              stdin=subprocess.DEVNULL, env=self.environment)

    def ask(self, *words):
        return subprocess.run(words, env=self.environment, capture_output=True, text=True, check=False).stdout

    def ready(self):
        for name, daemon in self.daemons.items():
            if daemon.poll() is not None:
                raise AssertionError(f"{name} has ended with {daemon.returncode}:\n" +
                                     (self.folder / f"{name}.out").read_text()[-3000:])
        return "idle" in self.ask("sinfo", "--noheader", "--format=%T")

    def queue(self):
        return self.ask("squeue", "--noheader", "--array", "--format=%i %T").split("\n")[:-1]

    def stop(self):
        self.ask("scancel", "--quiet", "--user=root")
        with contextlib.suppress(AssertionError):
            wait_for("an empty queue", lambda: not self.queue())
        for name in ["slurmd", "slurmctld"]:
            daemon = self.daemons.get(name)
            if daemon is None:
                continue
            daemon.terminate()
            try:
                daemon.wait(60)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


class Test:
    def __init__(self, weft, folder, slurm):
        self.weft, self.folder, self.slurm = weft, folder, slurm
        (folder / "m.yaml").write_text(MACHINE)
        (folder / "endless.yaml").write_text(ENDLESS)

    def sweep(self, out, options, more, machine="m.yaml", code=0):
        words = [self.weft, "sweep", machine, "--command", "collective", "--out", out] + options + ["--"] + more
        ran = subprocess.run(words, cwd=self.folder, env=self.slurm.environment, capture_output=True, text=True, check=False)
        if ran.returncode != code:
            raise AssertionError(f"{' '.join(words)}: exit code {ran.returncode}, not {code}\n{ran.stdout}{ran.stderr}")
        return ran.stdout + ran.stderr

    def journals(self, out):
        return sorted((self.folder / (out + ".sweep")).glob("task-*.journal"))

    def points(self, out):
        """Points in the journals of tasks."""
        return sum(max(0, path.read_bytes().count(b"\n") - 1) for path in self.journals(out))

    def text(self, out):
        return (self.folder / out).read_text()

    def same_values_as_here(self):
        vary = ["--vary", "collectives.chunks=1,2,3,4,5", "--vary", "--algorithm=ring,in_switch",
                "--objective", "min time_ns"]
        self.sweep("here.csv", vary, ["--size", "1 MiB"], code=1)  # half of the points fail
        slurm = vary + ["--slurm", "--slurm-tasks", "3", "--slurm-options", "--time=10:00 --cpus-per-task=1"]
        said = self.sweep("there.csv", slurm, ["--size", "1 MiB"])
        assert "job " in said and "10 points" in said, said
        wait_for("the array job", lambda: not self.slurm.queue())
        assert len(self.journals("there.csv")) == 3, self.journals("there.csv")
        said = self.sweep("there.csv", slurm, ["--size", "1 MiB"], code=1)
        assert "5 of 10 points failed" in said, said
        assert self.text("there.csv") == self.text("here.csv")
        (self.folder / "there.csv").unlink()
        self.sweep("there.csv", vary + ["--collect"], ["--size", "1 MiB"], code=1)
        assert self.text("there.csv") == self.text("here.csv")

    def killed_and_resumed(self):
        """One task of two is ended in its middle; the second submission has only what is missing."""
        more = ["--op", "all_to_all"]
        # Task 0 has the even points: short ones. Task 1 ends with one that takes hours.
        sizes = "--size=1 KiB,2 KiB,3 KiB,64 GiB"
        options = ["--vary", sizes, "--slurm", "--slurm-tasks", "2", "--slurm-options", "--time=60:00"]
        self.sweep("killed.csv", options, more, machine="endless.yaml")
        wait_for("three points", lambda: self.points("killed.csv") == 3)
        wait_for("the end of task 0", lambda: len(self.slurm.queue()) == 1)
        said = self.sweep("killed.csv", options, more, machine="endless.yaml", code=2)
        assert "a task of this sweep is running" in said, said
        job = self.slurm.queue()[0].split()[0]
        # The processes of the task die as in a crash of the node; Slurm runs it again or not.
        self.slurm.ask("scancel", "--signal=KILL", "--full", job)
        self.slurm.ask("scancel", job)
        wait_for("the end of the job", lambda: not self.slurm.queue())
        assert self.points("killed.csv") == 3
        said = self.sweep("killed.csv", ["--vary", sizes, "--collect"], more, machine="endless.yaml", code=1)
        assert "1 of 4 points have not run" in said, said
        said = self.sweep("killed.csv", options, more, machine="endless.yaml")
        assert "1 points" in said, said
        script = (self.folder / "killed.csv.sweep/slurm.sh").read_text()
        assert "#SBATCH --array=1\n" in script, script
        wait_for("the task", lambda: any("RUNNING" in line for line in self.slurm.queue()))
        self.slurm.ask("scancel", *[line.split()[0] for line in self.slurm.queue()])
        wait_for("the end of the job", lambda: not self.slurm.queue())

    def the_node_dies(self):
        """slurmd and the task are killed; the requeued task goes on where it was."""
        vary = ["--vary", "collectives.chunks=range(1, 40, 1)"]
        self.sweep("whole.csv", vary, ["--size", "1 MiB"])
        self.sweep("node.csv", vary + ["--slurm", "--slurm-tasks", "1"], ["--size", "1 MiB"])
        wait_for("some points", lambda: self.points("node.csv") >= 3)
        job = (self.folder / "node.csv.sweep/slurm.job").read_text().strip()
        self.slurm.ask("scontrol", "requeue", f"{job}_0")
        wait_for("the end of the job", lambda: not self.slurm.queue())
        self.sweep("node.csv", vary + ["--collect"], ["--size", "1 MiB"])
        assert self.text("node.csv") == self.text("whole.csv")
        lines = sum(path.read_bytes().count(b"\n") for path in self.journals("node.csv"))
        assert lines == 41, f"{lines} lines: points have run twice"

    def bad_options(self):
        said = self.sweep("bad.csv", ["--vary", "collectives.chunks=1", "--slurm", "--slurm-options",
                                      "--partition=none"], ["--size", "1 KiB"], code=2)
        assert "sbatch" in said and "partition" in said and "--slurm-options" in said, said


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("weft", type=os.path.abspath)
    parser.add_argument("--keep", action="store_true", help="keep the folder")
    arguments = parser.parse_args()
    os.environ["PATH"] += ":/usr/sbin"
    missing = [name for name in ["slurmctld", "slurmd", "sbatch"] if not shutil.which(name)]
    if missing:
        skip(f"{', '.join(missing)} not found")
    if os.geteuid() != 0:
        skip("slurmd needs root")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="weft_slurm_"))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    slurm = Slurm(folder)
    failed = True
    try:
        slurm.start("slurmctld")
        slurm.start("slurmd")
        wait_for("an idle node", slurm.ready)
        test = Test(arguments.weft, folder, slurm)
        for part in [test.same_values_as_here, test.killed_and_resumed, test.the_node_dies, test.bad_options]:
            part()
            print(f"{part.__name__}: passed", flush=True)
        failed = False
    finally:
        slurm.stop()
        if failed:
            for name in ["slurmctld.log", "slurmd.log"]:
                path = folder / name
                print(f"--- {name}\n{path.read_text()[-3000:] if path.exists() else ''}", file=sys.stderr)
        if not arguments.keep:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
