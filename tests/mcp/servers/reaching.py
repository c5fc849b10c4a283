"""A server that tries to reach what is not its own: `python3 -B reaching.py`. Standard library only.

Each tool answers `done`, what it found, or the name of the error that it got.
"""
import ctypes
import errno
import json
import os
import signal
import socket
import sys

PTRACE_TRACEME = 0


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path):
    with open(path, "w", encoding="utf-8") as file:
        file.write("written")
    return "done"


def connect(port):
    with socket.create_connection(("127.0.0.1", int(port)), timeout=10):
        return "done"


def unix_socket():
    socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).close()
    return "done"


def trace():
    """A child asks to be traced, and ends."""
    child = os.fork()
    if child == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        os._exit(0 if libc.ptrace(PTRACE_TRACEME, 0, None, None) == 0 else ctypes.get_errno())
    _, status = os.waitpid(child, 0)
    if os.WIFSTOPPED(status):
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return "done"
    if os.waitstatus_to_exitcode(status):
        raise OSError(os.waitstatus_to_exitcode(status), "ptrace")
    return "done"


def wake(pid):
    """A signal that changes nothing."""
    os.kill(int(pid) if pid else os.getppid(), signal.SIGCONT)
    return "done"


def environment(pid):
    return read(f"/proc/{pid or os.getppid()}/environ") and "done"


def variable(name):
    return os.environ.get(name, "")


TOOLS = {
    "read": (read, ["path"]), "write": (write, ["path"]), "connect": (connect, ["port"]),
    "unix_socket": (unix_socket, []), "trace": (trace, []), "wake": (wake, ["pid"]),
    "environment": (environment, ["pid"]), "variable": (variable, ["name"]),
}


def schema(names):
    return {"type": "object", "properties": {name: {"type": "string"} for name in names}, "required": names}


def call(name, arguments):
    work, names = TOOLS[name]
    try:
        said = work(*[arguments[argument] for argument in names])
    except OSError as error:
        said = errno.errorcode.get(error.errno, str(error))
    return {"content": [{"type": "text", "text": said}]}


def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "reaching", "version": "1.0.0"}}
    if method == "tools/list":
        return {"tools": [{"name": name, "description": f"Try to {name}", "inputSchema": schema(names)}
                          for name, (_, names) in TOOLS.items()]}
    if method == "tools/call":
        return call(params["name"], params.get("arguments") or {})
    return {} if method == "ping" else None


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        result = answer(message["method"], message.get("params") or {})
        given = {"result": result} if result is not None else {"error": {"code": -32601, "message": "no such method"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **given}), flush=True)
