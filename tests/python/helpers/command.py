"""Runs the `toksmith` command in a process of its own, without the time that an interpreter takes to start.

A server that has imported the command line forks once for each command. What differs from `python -m toksmith` is the
start alone: the modules of the command line are there already. `tests/python/cli/test_command_server.py` holds that
both give the same. Where the system cannot fork, every command is a new interpreter.
"""

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

TOKSMITH = [sys.executable, "-m", "toksmith"]

# Read when a command runs, and not when the interpreter or a package starts: one server does for all values.
READ_LATE = {"TMPDIR", "COLUMNS", "TOKSMITH_CACHE_DIR", "TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"}

SERVER = r"""
import atexit, gc, json, os, socket, sys

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # no thread of NumPy's may be there when this process forks
import numpy, regex
import toksmith.cli.app

for name in toksmith.cli.app.COMMANDS:
    toksmith.cli.app.load(name)
toksmith.cli.app.run(["encode", "--help"])  # imports what click imports late
sys.stdout.flush()
gc.freeze()  # so that a collection in a child copies none of this

server = socket.socket(fileno=int(sys.argv[1]))
while True:
    request, files, _, _ = socket.recv_fds(server, 1 << 20, 3)
    if not request:
        sys.exit(0)
    child = os.fork()
    if child == 0:
        break
    for file in files:
        os.close(file)
    server.send(b"%d" % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
for number, file in enumerate(files):
    os.dup2(file, number)
    os.close(file)
server.close()
arguments, folder, variables = json.loads(request)
os.chdir(folder)
for name, value in variables.items():
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value
sys.argv = ["toksmith", *arguments]
try:
    toksmith.cli.main()
except SystemExit as end:
    # To take all modules apart takes longer than most commands. It is left out where nothing is left to be written.
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(end.code or 0)
"""


class Server:
    """The process that forks. Packets go through its socket: a command with its pipes, then the exit status."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-c", SERVER, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env=environment,
                start_new_session=True,
            )
        atexit.register(self.close)

    def close(self) -> None:
        """End it, with a command that still runs."""
        self.socket.close()
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def run(self, request: bytes, stdin: bytes, timeout: float, stdout: int | None) -> tuple[int, bytes, bytes]:
        """Run one command; return its exit status and all that it writes to standard output and standard error.

        What it writes to a `stdout` that is given is not read.
        """
        (get_in, put_in), (get_out, put_out), (get_err, put_err) = os.pipe(), os.pipe(), os.pipe()
        socket.send_fds(self.socket, [request], [get_in, put_out if stdout is None else stdout, put_err])
        for file in (get_in, put_out, put_err):
            os.close(file)
        written: dict[int, bytes] = {}
        threads = [threading.Thread(target=_feed, args=(put_in, stdin), daemon=True)]
        threads += [threading.Thread(target=_drain, args=(file, written), daemon=True) for file in (get_out, get_err)]
        for thread in threads:
            thread.start()
        self.socket.settimeout(timeout)
        try:
            status = int(self.socket.recv(64))
        except (OSError, ValueError):
            self.close()  # it hangs, or it is gone: the next command gets another
            raise
        for thread in threads:
            thread.join(timeout)
        return status, written[get_out], written[get_err]


def _feed(file: int, data: bytes) -> None:
    try:
        with os.fdopen(file, "wb") as pipe:
            pipe.write(data)
    except BrokenPipeError:
        pass  # the command read no more


def _drain(file: int, written: dict[int, bytes]) -> None:
    with os.fdopen(file, "rb") as pipe:
        written[file] = pipe.read()


_servers: dict[tuple[int, frozenset[tuple[str, str]]], Server] = {}


def run_command(
    *arguments: object,
    stdin: bytes = b"",
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float = 120,
    stdout: int | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run `toksmith` with these arguments; standard input, output and error are pipes.

    `stdout` is an open file to take the place of standard output; it stays open.
    """
    command = [*TOKSMITH, *map(str, arguments)]
    environment = {**(os.environ if env is None else env)}
    environment.pop("PYTEST_CURRENT_TEST", None)
    if not hasattr(os, "fork") or not hasattr(socket, "SOCK_SEQPACKET") or sys.platform == "darwin":
        return subprocess.run(
            command,
            input=stdin,
            stdout=subprocess.PIPE if stdout is None else stdout,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=environment,
            timeout=timeout,
            check=False,
        )
    late = {name: environment.pop(name, None) for name in READ_LATE}
    late["OPENBLAS_NUM_THREADS"] = environment.get("OPENBLAS_NUM_THREADS")
    # A forked test process must not share its parent's server.
    key = os.getpid(), frozenset(environment.items())
    if key not in _servers or _servers[key].process.poll() is not None:
        _servers[key] = Server(environment)
    request = json.dumps([list(map(str, arguments)), str(Path.cwd() if cwd is None else cwd), late]).encode()
    return subprocess.CompletedProcess(command, *_servers[key].run(request, stdin, timeout, stdout))
