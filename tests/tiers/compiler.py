#!/usr/bin/env python3
"""A compiler of kernels (HEDDLE_JIT) for tests: heddle-jit, between which and the program it stands (jit/wire.h).

It writes the tier of each request to HEDDLE_TEST_ASKED, a line each. What it does with those of the second tier is
HEDDLE_TEST_SECOND: `pass` them on, `mark` them (code stores MARKED where the kernel says PLAIN, so that who runs it is to be
seen), `crash`, or `hang`.
"""
import os
import socket
import struct
import subprocess
import sys
import threading
import time

SOCKET, PIDFD, PLAIN, MARKED = 3, 4, 0x51525354, 0x61626364
ASK = struct.Struct("<QII3?5x")  # struct wire_ask


def receive(end, n):
    data = b""
    while len(data) < n:
        more = end.recv(n - len(data))
        if not more:
            os._exit(0)
        data += more
    return data


def pass_answers(inner, program):
    """All that the compiler says; its end is ours."""
    while data := inner.recv(1 << 16):
        program.sendall(data)
    os._exit(0)


def start_inner():
    ours, theirs = socket.socketpair()
    lives = subprocess.Popen([os.environ["HEDDLE_TEST_JIT"]], pass_fds=[SOCKET, PIDFD], close_fds=True,
                             preexec_fn=lambda: (os.dup2(theirs.fileno(), SOCKET), os.set_inheritable(SOCKET, True)))
    theirs.close()
    return ours, lives


def treat(request):
    how = os.environ.get("HEDDLE_TEST_SECOND", "pass")
    if how == "crash":
        os._exit(1)
    if how == "hang":
        time.sleep(1000)
    return request.replace(PLAIN.to_bytes(4, "little"), MARKED.to_bytes(4, "little")) if how == "mark" else request


def main():
    program = socket.socket(fileno=os.dup(SOCKET))
    inner, _ = start_inner()
    threading.Thread(target=pass_answers, args=(inner, program), daemon=True).start()
    while True:
        ask = receive(program, ASK.size)
        size, tier, *_ = ASK.unpack(ask)
        request = receive(program, size)
        with open(os.environ["HEDDLE_TEST_ASKED"], "a") as asked:
            asked.write(f"{tier}\n")
        inner.sendall(ask + (treat(request) if tier == 2 else request))


sys.exit(main())
