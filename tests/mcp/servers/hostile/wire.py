"""Messages out, answers to our own requests in."""
import itertools
import json
import queue
import sys
import threading

from flags import flags

writing = threading.Lock()
answers: "dict[str, queue.Queue]" = {}
numbers = itertools.count()

# What a tool returns that has written all it has to say, or says nothing.
NOTHING = object()


class Failure(Exception):
    """Ends a request with a JSON-RPC error."""

    def __init__(self, code, message, data=None):
        super().__init__(message)
        self.error = {"code": code, "message": message, **({"data": data} if data is not None else {})}


def write(raw):
    with writing:
        sys.stdout.buffer.write(raw)
        sys.stdout.buffer.flush()


def send(message):
    write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def notify(method, params):
    send({"method": method, "params": params})


def record(event):
    if flags.log:
        with open(flags.log, "a", encoding="utf-8") as file:
            file.write(json.dumps(event) + "\n")


def text(value, **more):
    return {"content": [{"type": "text", "text": value}], **more}


def ask(method, params):
    """What the client answers to a request of ours: its result or its error."""
    identity = f"ask-{next(numbers)}"
    waiting = answers[identity] = queue.Queue()
    send({"id": identity, "method": method, "params": params})
    given = waiting.get()
    return text(json.dumps(given), structuredContent=given)


def take_answer(message):
    waiting = answers.get(message.get("id"))
    if waiting:
        waiting.put({key: message[key] for key in ("result", "error") if key in message})
