"""Small MCP servers over stdio that behave: `python3 -B small.py filesystem`, `memory` or `counter`. Standard library only.

Every start is a line of the file that `--log` names.
"""
import json
import os
import sys

README = "# Project README\n\nContents of the README file..."
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsTj2FAAAAABJRU5ErkJggg=="
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="


def schema(*names, **more):
    return {"type": "object", "properties": {name: {"type": "string"} for name in names}, "required": list(names), **more}


def text(words, **more):
    return {"content": [{"type": "text", "text": words}], **more}


# All kinds of content, with what is said beside it.
EVERYTHING = {
    "content": [
        {"type": "text", "text": "a pixel", "annotations": {"audience": ["user"], "priority": 0.5}},
        {"type": "image", "data": PNG, "mimeType": "image/png", "_meta": {"of": "a block"}},
        {"type": "audio", "data": WAV, "mimeType": "audio/wav"},
        {"type": "resource_link", "uri": "small://note", "name": "note"},
        {"type": "resource", "resource": {"uri": "small://note", "mimeType": "text/plain", "text": "a note"}},
        {"type": "resource", "resource": {"uri": "small://blob", "mimeType": "application/x", "blob": "AAEC/f7/"}},
    ],
    "structuredContent": {"pixels": 1},
    "_meta": {"of": "the result"},
}

SERVERS = {
    "filesystem": {
        "read_file": ("Read a file from the filesystem", schema("path"), lambda _: text(README)),
        "write_file": ("Write a file", schema("path", "text"), lambda _: text("written")),
        "remove_file": ("Remove a file", schema("path"), lambda _: text("removed")),
    },
    "memory": {
        "store_value": ("Store a key-value pair", schema("key", "value"), lambda given: text(f"stored {given['key']}")),
        "everything": ("Return all kinds of content", schema(), lambda _: EVERYTHING),
        "fail": ("Fail with an image", schema(), lambda _: {"content": EVERYTHING["content"][:2], "isError": True}),
        "tell": ("Tell the value of a variable", schema("name"), lambda given: text(
            f"it is {os.environ.get(given['name'])}", _meta={"said": os.environ.get(given["name"])})),
    },
    "counter": {"count": ("Count to twenty", schema(), lambda _: text("twenty"))},
}

# One with all that a tool can be listed with.
LISTED = {
    "store_value": {
        "title": "Store", "annotations": {"readOnlyHint": False, "idempotentHint": True},
        "inputSchema": {"type": "object", "properties": {"key": {"type": "string", "minLength": 1, "examples": ["a"]},
                                                         "value": {"type": "string"}},
                        "required": ["key", "value"], "additionalProperties": True},
    },
    "everything": {"outputSchema": {"type": "object", "properties": {"pixels": {"type": "integer"}},
                                    "required": ["pixels"]}},
}


def listed(name, tool):
    return {"name": name, "description": tool[0], "inputSchema": tool[1], **LISTED.get(name, {})}


def answer(method, params, tools):
    if method == "initialize":
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "small", "version": "1.0.0"}}
    if method == "tools/list":
        return {"tools": [listed(name, tool) for name, tool in tools.items()]}
    if method == "tools/call" and params["name"] in tools:
        return tools[params["name"]][2](params.get("arguments") or {})
    return {} if method == "ping" else None


def main():
    name, *rest = sys.argv[1:]
    if rest[:1] == ["--log"]:
        with open(rest[1], "a", encoding="utf-8") as file:
            file.write(name + "\n")
    if name not in SERVERS:
        sys.exit(f"there is no {name}")
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            params = message.get("params") or {}
            if params.get("name") == "count":
                # All at once, and the answer right behind.
                for step in range(1, 21):
                    progress = {"progressToken": params["_meta"]["progressToken"], "progress": step, "total": 20}
                    print(json.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress}))
            result = answer(message["method"], params, SERVERS[name])
            given = {"result": result} if result is not None else {"error": {"code": -32601, "message": "no such method"}}
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **given}), flush=True)


main()
