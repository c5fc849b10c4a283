"""Tools that work: they return, fail, report and log as the protocol says."""
import json
import sys
import time

from offer import tool
from wire import Failure, notify, text

# One white pixel.
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsTj2FAAAAABJRU5ErkJggg=="
# A header and no samples.
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
RESOURCES = {
    "hostile://note": {"uri": "hostile://note", "mimeType": "text/plain", "text": "a note"},
    "hostile://blob": {"uri": "hostile://blob", "mimeType": "application/octet-stream", "blob": "AAEC/f7/"},
    "file:///etc/passwd": {"uri": "file:///etc/passwd", "mimeType": "text/plain", "text": "not the real one"},
}


@tool("Returns its arguments.", message="string")
def echo(_identity, arguments, _meta):
    return text(json.dumps(arguments), structuredContent=arguments)


@tool("Answers after a while.", ms="integer")
def sleep(_identity, arguments, _meta):
    time.sleep(arguments.get("ms", 1000) / 1000)
    return text("slept")


@tool("Returns an image block.")
def image(_identity, _arguments, _meta):
    return {"content": [{"type": "image", "data": PNG, "mimeType": "image/png"}]}


@tool("Returns an audio block.")
def audio(_identity, _arguments, _meta):
    return {"content": [{"type": "audio", "data": WAV, "mimeType": "audio/wav"}]}


@tool("Returns a text resource, a binary resource and a link.")
def resource(_identity, _arguments, _meta):
    return {"content": [{"type": "resource", "resource": RESOURCES["hostile://note"]},
                        {"type": "resource", "resource": RESOURCES["hostile://blob"]},
                        {"type": "resource_link", "uri": "hostile://note", "name": "note"}]}


@tool("Returns isError.", message="string")
def is_error(_identity, arguments, _meta):
    return text(arguments.get("message", "the tool failed"), isError=True)


@tool("Answers with a JSON-RPC error.", code="integer", message="string")
def protocol_error(_identity, arguments, _meta):
    raise Failure(arguments.get("code", -32000), arguments.get("message", "the protocol failed"), {"detail": 1})


@tool("Reports progress every 100 ms, then answers.", ms="integer")
def progress(_identity, arguments, meta):
    steps = arguments.get("ms", 1000) // 100
    for step in range(1, steps + 1):
        time.sleep(0.1)
        if "progressToken" in meta:
            notify("notifications/progress", {"progressToken": meta["progressToken"], "progress": step,
                                              "total": steps, "message": f"step {step}"})
    return text(f"{steps} steps")


@tool("Sends a log message, then answers.", level="string", message="string")
def log(_identity, arguments, _meta):
    notify("notifications/message", {"level": arguments.get("level", "info"), "logger": "hostile",
                                     "data": arguments.get("message", "a log line")})
    return text("logged")


@tool("Writes lines to stderr.", lines="integer", message="string")
def stderr(_identity, arguments, _meta):
    for number in range(arguments.get("lines", 1)):
        print(f"{arguments.get('message', 'stderr line')} {number}", file=sys.stderr)
    sys.stderr.flush()
    return text("written")
