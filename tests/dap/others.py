"""others.py HEDDLE PROGRAM ARGS FILE LINE: the client of PyPI's dap-python sets a breakpoint, with a condition, and one on data; and steps back."""
import json
import subprocess
import sys

from dap.client import Client
from dap.types import Source, SourceBreakpoint, DataBreakpoint

heddle, program, args, file, line = sys.argv[1:]
adapter = subprocess.Popen([heddle, "debug", "--dap"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
client = Client("heddle", lines_start_at1=True, columns_start_at1=True, path_format="path")
seen = []


def flush():
    adapter.stdin.write(client.send())
    adapter.stdin.flush()


def until(name):
    """The next response or event of the class."""
    while True:
        for i, one in enumerate(seen):
            if type(one).__name__ == name:
                return seen.pop(i)
        data = adapter.stdout.read1(65536)
        assert data, (name, seen)
        seen.extend(client.receive(data))


def ask(name, command, **arguments):
    client.send_request(command, arguments)
    flush()
    return until(name)


flush()
until("InitializeResponse") if False else None
client.send_request("launch", {"program": program, "args": json.loads(args)})
flush()
print("launched")
