"""others.py HEDDLE PROGRAM ARGS FILE LINE EXPRESSION: the client of PyPI's debugpy sets a breakpoint with a condition, and one on data; and steps
back. It prints what it has seen."""
import json
import queue
import subprocess
import sys

from debugpy.common import messaging

heddle, program, args, file, line, expression = sys.argv[1:]
adapter = subprocess.Popen([heddle, "debug", "--dap"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
events = queue.Queue()


class Handlers:
    def event(self, event):
        events.put((event.event, event.body))


def until(name):
    """The body of the next event of that name."""
    while True:
        event, body = events.get(timeout=60)
        if event == name:
            return body


channel = messaging.JsonMessageChannel(messaging.JsonIOStream.from_process(adapter), Handlers())
channel.start()
channel.request("initialize", {"adapterID": "heddle"})
channel.request("launch", {"program": program, "args": json.loads(args)})
until("initialized")
channel.request("setBreakpoints", {"source": {"path": file}, "breakpoints": [{"line": int(line), "condition": "blockIdx.x == 0 && threadIdx.x < 8"}]})
channel.request("configurationDone")
thread = until("stopped")("threadId", int)
frame = channel.request("stackTrace", {"threadId": thread})("stackFrames", list)[0]
assert frame["line"] == int(line), frame
assert int(channel.request("evaluate", {"expression": "threadIdx.x", "frameId": frame["id"]})("result", str)) < 8
data = channel.request("dataBreakpointInfo", {"name": expression, "frameId": frame["id"]})("dataId", str)
channel.request("setDataBreakpoints", {"breakpoints": [{"dataId": data}]})
channel.request("continue", {"threadId": thread})
stop = until("stopped")
assert stop("reason", str) == "data breakpoint", stop
channel.request("stepBack", {"threadId": stop("threadId", int)})
stop = until("stopped")
print(frame["name"], channel.request("stackTrace", {"threadId": stop("threadId", int)})("stackFrames", list)[0]["line"])
channel.request("disconnect")
adapter.wait(30)
print("done")
