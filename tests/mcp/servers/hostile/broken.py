"""Tools that break the protocol or the process."""
import json
import os

from offer import tool
from wire import NOTHING, send, text, write

MEGABYTE = 1 << 20


@tool("Never answers.")
def hang(_identity, _arguments, _meta):
    return NOTHING


@tool("Exits in the middle of the call, after half an answer when asked.", partial="boolean")
def die(identity, arguments, _meta):
    if arguments.get("partial"):
        write(b'{"jsonrpc":"2.0","id":%s,"result":{"content":[' % json.dumps(identity).encode())
    os._exit(3)


@tool("Writes noise to stdout, then answers. With one_line there is no line end in it.", megabytes="integer",
      one_line="boolean")
def flood(_identity, arguments, _meta):
    megabytes = arguments.get("megabytes", 1)
    if arguments.get("one_line"):
        # In one piece: another answer in the middle of it would be lost with it.
        write(b"x" * (megabytes * MEGABYTE) + b"\n")
    else:
        for _ in range(megabytes):
            write((b"noise " * 170 + b"123\n") * 1024)
    return text("flooded")


@tool("Writes broken lines, then answers.")
def garbage(_identity, _arguments, _meta):
    for line in (b"{", b"nonsense", b"", b"null", b"7", b"[]", b'"text"', b"\xff\xfe\x00", b'{"jsonrpc":"1.0"}',
                 b'{"jsonrpc":"2.0","id":[],"result":{}}', b'{"jsonrpc":"2.0","method":7}'):
        write(line + b"\n")
    return text("after the garbage")


@tool("Writes broken JSON with the right id and nothing after it.")
def garbage_only(identity, _arguments, _meta):
    write(b'{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":\n' % json.dumps(identity).encode())
    return NOTHING


@tool("Answers with something that is no tool result.", shape="string")
def bad_result(_identity, arguments, _meta):
    shapes = {"number": 7, "null": None, "list": [], "empty": {}, "content": {"content": "text"},
              "block": {"content": [{"type": "hologram", "data": 1}]}}
    return shapes[arguments.get("shape", "number")]


@tool("Answers with a very long text.", megabytes="integer")
def huge(_identity, arguments, _meta):
    return text("x" * (arguments.get("megabytes", 1) * MEGABYTE))


@tool("Answers twice, with different values.")
def twice(identity, _arguments, _meta):
    send({"id": identity, "result": text("first")})
    return text("second")


@tool("Answers other ids and never the right one.")
def wrong_id(identity, _arguments, _meta):
    for other in (1_000_000, None, f"x{identity}"):
        send({"id": other, "result": text(f"for {other!r}")})
    return NOTHING


@tool("Answers with nested lists.", depth="integer")
def deep(identity, arguments, _meta):
    depth = arguments.get("depth", 10_000)
    nested = b"[" * depth + b"]" * depth
    write(b'{"jsonrpc":"2.0","id":%s,"result":{"content":[],"structuredContent":{"deep":%s}}}\n'
          % (json.dumps(identity).encode(), nested))
    return NOTHING
