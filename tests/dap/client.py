"""A client of the Debug Adapter Protocol that checks each message against the protocol's schema."""
import json
import lzma
import os
import queue
import socket
import subprocess
import threading

here = os.path.dirname(os.path.abspath(__file__))
heddle = os.path.join(os.environ["HEDDLE_BUILD"], "heddle")

with lzma.open(os.path.join(here, "debugAdapterProtocol.json.xz"), "rt") as f:
    SCHEMA = json.load(f)
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def is_type(value, name):
    if name in ("integer", "number"):
        return not isinstance(value, bool) and isinstance(value, int if name == "integer" else (int, float))
    return isinstance(value, TYPES[name])


def faults(value, schema, at=""):
    """What is wrong with a value by a schema, as far as the protocol's uses JSON's schemas."""
    if "$ref" in schema:
        yield from faults(value, SCHEMA["definitions"][schema["$ref"].rsplit("/", 1)[1]], at)
    for one in schema.get("allOf", []):
        yield from faults(value, one, at)
    for key in "oneOf", "anyOf":
        if key in schema and all(list(faults(value, one, at)) for one in schema[key]):
            yield f"{at}: {value!r} is none of {key}"
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(is_type(value, t) for t in types):
        yield f"{at}: {value!r} is not {types}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at}: {value!r} is not one of {schema['enum']}"
    if isinstance(value, dict):
        for name in schema.get("required", []):
            if name not in value:
                yield f"{at}: {name} is missing"
        for name, of in schema.get("properties", {}).items():
            if name in value:
                yield from faults(value[name], of, f"{at}.{name}")
        more = schema.get("additionalProperties")
        for name in value.keys() - schema.get("properties", {}).keys() if isinstance(more, dict) else ():
            yield from faults(value[name], more, f"{at}.{name}")
    if isinstance(value, list) and "items" in schema:
        for i, one in enumerate(value):
            yield from faults(one, schema["items"], f"{at}[{i}]")


def known(schema):
    """The names of properties that a definition has."""
    names = set(schema.get("properties", {}))
    if "$ref" in schema:
        names |= known(SCHEMA["definitions"][schema["$ref"].rsplit("/", 1)[1]])
    for one in schema.get("allOf", []):
        names |= known(one)
    return names


def definition(message):
    name = message["event"] + "Event" if message["type"] == "event" else message["command"] + "Response"
    name = name[0].upper() + name[1:]
    if message["type"] == "response" and not message["success"]:
        name = "ErrorResponse"
    return SCHEMA["definitions"].get(name)


def check(message):
    """Raises where a message is not as the protocol has it."""
    of = definition(message)
    assert of or message["type"] == "response" and "/" in message["command"], f"the protocol has no {message}"
    wrong = list(faults(message, of or SCHEMA["definitions"]["Response"]))
    body = next((one["properties"]["body"] for one in (of or {}).get("allOf", []) if "body" in one.get("properties", {})), None)
    if body and isinstance(message.get("body"), dict):
        names = known(body)
        wrong += [f"body.{name} is none of the protocol's" for name in message["body"] if names and name not in names]
    assert not wrong, (message, wrong)


class Gone(Exception):
    pass


class Client:
    """One session: `heddle debug --dap`, or at a port."""

    def __init__(self, *options, port=None, cwd=None, env=None):
        self.seq, self.events, self.output = 0, [], ""
        self.process = self.socket = None
        if port:
            self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
            self.out = self.input = self.socket.makefile("rwb")
        else:
            self.process = subprocess.Popen([heddle, "debug", "--dap", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.PIPE, cwd=cwd, env=env)
            self.out, self.input = self.process.stdin, self.process.stdout
        self.messages = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        try:
            while True:
                length = None
                while (line := self.input.readline().strip()):
                    key, value = line.split(b":")
                    length = int(value) if key == b"Content-Length" else length
                if length is None:
                    break
                self.messages.put(json.loads(self.input.read(length)))
        except (OSError, ValueError):
            pass
        self.messages.put(None)

    def next(self, timeout=60):
        message = self.messages.get(timeout=timeout)
        if message is None:
            raise Gone()
        check(message)
        if message["type"] == "event" and message["event"] == "output":
            self.output += message["body"]["output"]
        return message

    def send(self, command, **arguments):
        self.seq += 1
        request = {"seq": self.seq, "type": "request", "command": command, "arguments": arguments}
        wrong = list(faults(request, SCHEMA["definitions"].get(command[0].upper() + command[1:] + "Request", {})))
        assert not wrong, wrong
        self.write(json.dumps(request).encode())
        return self.seq

    def write(self, text):
        self.out.write(b"Content-Length: %d\r\n\r\n" % len(text) + text)
        self.out.flush()

    def response(self, seq):
        while True:
            message = self.next()
            if message["type"] == "response" and message["request_seq"] == seq:
                return message
            self.events.append(message)

    def ask(self, command, **arguments):
        """The body of a response that succeeds."""
        r = self.response(self.send(command, **arguments))
        assert r["success"], r
        return r.get("body", {})

    def fails(self, command, **arguments):
        """What is said of a request that fails."""
        r = self.response(self.send(command, **arguments))
        assert not r["success"], r
        return r["message"]

    def wait(self, *names):
        """The next event of one of these names."""
        while True:
            for i, e in enumerate(self.events):
                if e["type"] == "event" and e["event"] in names:
                    return self.events.pop(i)
            self.events.append(self.next())

    def begin(self, breakpoints=(), **launch):
        """To where it runs. breakpoints: (path, [line or dict])."""
        self.ask("initialize", adapterID="heddle", linesStartAt1=True, columnsStartAt1=True, pathFormat="path")
        self.ask("launch", **launch)
        self.wait("initialized")
        set_ = [self.breakpoints(path, *lines) for path, lines in breakpoints]
        self.ask("configurationDone")
        return set_

    def breakpoints(self, path, *lines):
        return self.ask("setBreakpoints", source={"path": path},
                        breakpoints=[l if isinstance(l, dict) else {"line": l} for l in lines])["breakpoints"]

    def stop(self):
        """The next stop's body."""
        e = self.wait("stopped", "terminated")
        assert e["event"] == "stopped", (e, self.output)
        return e["body"]

    def go(self, command, thread, **more):
        self.ask(command, threadId=thread, **more)
        return self.stop()

    def frames(self, thread):
        return self.ask("stackTrace", threadId=thread)["stackFrames"]

    def line(self, thread):
        return self.frames(thread)[0]["line"]

    def variables(self, reference, **more):
        return {v["name"]: v for v in self.ask("variables", variablesReference=reference, **more)["variables"]}

    def scopes(self, thread, frame=0):
        id = self.frames(thread)[frame]["id"]
        return {s["name"]: s["variablesReference"] for s in self.ask("scopes", frameId=id)["scopes"]}

    def value(self, expression, thread, **more):
        return self.ask("evaluate", expression=expression, frameId=self.frames(thread)[0]["id"], context="watch", **more)["result"]

    def end(self):
        """Its exit status, once it has ended by itself."""
        self.wait("terminated")
        code = next(e["body"]["exitCode"] for e in self.events if e["event"] == "exited")
        self.ask("disconnect")
        self.close()
        return code

    def close(self):
        for f in self.out, self.input:
            try:
                f.close()
            except OSError:
                pass
        if self.socket:
            self.socket.close()
        if self.process:
            self.process.wait(30)
            self.process.stderr.close()
