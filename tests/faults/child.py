"""Runs a Python program in a child process under limits, and says how it ended.

Every test of a fault runs the faulty call in a child, so that an abort, a hang or a kill is a result that a test
compares, and never the end of the test run.
"""

import ctypes
import os
import resource
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

# A run in the background ignores Ctrl-C, and so would every child that a test interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

_PRCTL = getattr(ctypes.CDLL(None), "prctl", None) if sys.platform == "linux" else None


@dataclass(frozen=True)
class Limits:
    """What the child may have; `None` for no limit.

    Attributes:
        address_space: Bytes of address space *beyond* what the child has when `limit()` is called.
        threads: More threads that the child may start once it called `limit()`. The system does not hold root to this
            number, so a child of root becomes the user `nobody` first.
        file_bytes: Bytes of the largest file that the child may write; beyond them a write fails with `OSError`.
        open_files: The highest number of open files.
    """

    address_space: int | None = None
    threads: int | None = None
    file_bytes: int | None = None
    open_files: int | None = None


@dataclass(frozen=True)
class Outcome:
    """How a child ended.

    Attributes:
        status: Its exit status; the negative number of the signal that ended it; `None` for a child that did not end
            within its time and was killed.
        out: What it wrote to standard output.
        err: What it wrote to standard error.
    """

    status: int | None
    out: str
    err: str

    @property
    def told(self) -> str:
        """The ending in words, for the message of a failed test."""
        how = "it did not end" if self.status is None else f"status {self.status}"
        if self.status is not None and self.status < 0:
            how = f"ended by {signal.Signals(-self.status).name}"
        return f"{how}\n--- out\n{self.out[-4000:]}\n--- err\n{self.err[-4000:]}"


# A program calls `limit()` once it has imported and prepared what the limits should not concern.
PRELUDE = """
import os, resource, sys

def limit(address_space={address_space}, threads={threads}, file_bytes={file_bytes}, open_files={open_files}):
    sys.dont_write_bytecode = True  # Python 3.11 leaves a compiled module that is cut off at the limit
    if file_bytes is not None:
        import signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
    if open_files is not None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (open_files, open_files))
    if threads is not None:
        if os.getuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        most = len(os.listdir("/proc/self/task")) + threads
        resource.setrlimit(resource.RLIMIT_NPROC, (most, most))
    if address_space is not None:
        pages = int(open("/proc/self/statm").read().split()[0])
        most = pages * resource.getpagesize() + address_space
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
"""


def _before_start() -> None:
    """Let the child leave no core file, and end when this process is killed."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if _PRCTL is not None:
        _PRCTL(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def run(
    program: str,
    *args: object,
    limits: Limits | None = None,
    cwd: Path | None = None,
    timeout: float = 120.0,
    environment: dict[str, str] | None = None,
) -> Outcome:
    """Runs `program` (Python source) with `args` in `sys.argv[1:]`, in a session of its own.

    Args:
        program: Source. It calls `limit()` where `limits` begin to hold.
        args: Arguments, as `str` of each.
        limits: What `limit()` sets.
        cwd: The folder to run in.
        timeout: Seconds after which the child and all its children are killed: the outcome's status is then `None`.
        environment: Variables beside those of this process.
    """
    limits = limits or Limits()
    prelude = PRELUDE.format(**vars(limits))
    with subprocess.Popen(
        [sys.executable, "-c", prelude + program, *map(str, args)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd,
        env={**os.environ, **(environment or {})},
        text=True,
        errors="replace",
        start_new_session=True,
        preexec_fn=_before_start,
    ) as child:
        try:
            out, err = child.communicate(timeout=timeout)
            status: int | None = child.returncode
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            out, err = child.communicate()
            status = None
    return Outcome(status, out, err)
