"""An MCP server over stdio that misbehaves on request: `python3 -B hostile [flags]`.

The handshake is right for 2025-11-25. What goes wrong is chosen by the tool that is called, or by a flag for what
goes wrong before any call. Standard library only, no clock and no chance in any answer.

  flags.py    what goes wrong before any call
  wire.py     messages out, answers to our own requests in
  offer.py    the tools that are offered, and how one is
  honest.py   tools that work
  broken.py   tools that break the protocol or the process
  curious.py  tools that ask, look around, give away and change
  methods.py  all requests but calls of tools
"""
import json
import os
import signal
import sys
import threading
import time

import broken  # noqa: F401 - tools register themselves
import curious  # noqa: F401
import honest  # noqa: F401
from flags import flags
from methods import METHODS
from offer import call, tools
from wire import NOTHING, Failure, notify, record, send, take_answer, write


def answer(message):
    identity, method, params = message["id"], message["method"], message.get("params") or {}
    try:
        if method == "tools/call":
            result = call(identity, params)
        elif method in METHODS:
            result = METHODS[method](params)
        else:
            raise Failure(-32601, "Method not found")
    except Failure as failure:
        send({"id": identity, "error": failure.error})
        return
    if result is not NOTHING:
        send({"id": identity, "result": result})


def flood_forever():
    while True:
        write(b"noise without end\n" * 64)
        notify("notifications/message", {"level": "info", "data": "without end"})


def on_sigterm(*_):
    record({"signal": "SIGTERM"})
    if not flags.ignore_sigterm:
        os._exit(0)


def prepare():
    signal.signal(signal.SIGTERM, on_sigterm)
    if flags.exit_at_start:
        print("hostile: refusing to start", file=sys.stderr, flush=True)
        sys.exit(3)
    if flags.schema_version > 1:
        tools["echo"]["inputSchema"]["properties"][f"version_{flags.schema_version}"] = {"type": "string"}
    if flags.description:
        tools["echo"]["description"] = flags.description
    if flags.extra_tool:
        tools[flags.extra_tool] = {"name": flags.extra_tool, "inputSchema": {"type": "object"}}
    time.sleep(flags.slow_start / 1000)
    if flags.noise:
        write(b"Hostile server 1.0\nlistening on stdio...\n")
    if flags.flood_forever:
        threading.Thread(target=flood_forever, daemon=True).start()


def main():
    prepare()
    for line in sys.stdin.buffer:
        message = json.loads(line)
        record(message)
        if "method" not in message:
            take_answer(message)
        elif message["method"] == "tools/call":
            # A thread for each call, so that one that waits does not stop the others.
            threading.Thread(target=answer, args=(message,), daemon=True).start()
        elif "id" in message:
            answer(message)
    record({"end": "stdin"})
    while flags.ignore_eof:
        time.sleep(1)
    os._exit(0)


main()
