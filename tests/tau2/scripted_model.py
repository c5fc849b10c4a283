"""A provider of models that answers with the gold actions of a task: chat completions over HTTP, streamed.

Its models are scripts:

- ``direct``: one call for each action, one after the other
- ``all``: the declarations of the functions, then one program that makes the calls and returns every result
- ``last``: the same, with a program that returns the last result only

A script knows all arguments beforehand. Its tokens are four bytes of JSON each, for requests and for answers.
"""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SCRIPTS = ("direct", "all", "last")
MORE = re.compile(r'\n\[… .*call run_code with \{"resume": "([^"]+)"\}.*\]\s*$')


def tokens(size):
    return -(-size // 4)


def camel(name):
    first, *others = name.split("_")
    return first + "".join(other.capitalize() for other in others)


def program(task, script):
    """Return a program that makes the calls in their order, and goes on after one that fails."""
    server = task.domain.name
    lines = [
        f"import {{ {server} }} from '@capabilities/mcp-{server}';",
        "",
        "const results: unknown[] = [];",
        "const attempt = async (call: () => Promise<unknown>) => {",
        "  results.push(await call().catch((error) => String(error)));",
        "};",
    ]
    for name, arguments in task.actions:
        lines.append(f"await attempt(() => {server}.{camel(name)}({json.dumps(arguments, ensure_ascii=False)}));")
    lines.append("export default results;" if script == "all" else "export default results.at(-1);")
    return "\n".join(lines)


def whole(results):
    """Join the pages of a program's result."""
    return "".join(MORE.sub("", text) for text in results)


class Exchange:
    """What came and went for one question."""

    def __init__(self, task):
        self.task = task
        self.bodies, self.answers, self.results, self.faults = [], [], [], []

    @property
    def request_bytes(self):
        return sum(len(body) for body in self.bodies)

    @property
    def answer_bytes(self):
        return sum(len(answer) for answer in self.answers)

    @property
    def input_tokens(self):
        return sum(tokens(len(body)) for body in self.bodies)

    @property
    def new_tokens(self):
        """Tokens that no earlier request had: a request repeats the one before it, which providers cache."""
        return max((tokens(len(body)) for body in self.bodies), default=0)

    @property
    def output_tokens(self):
        return sum(tokens(len(answer)) for answer in self.answers)

    def answer(self, body):
        """Return what the model says next: a call of a tool, or ``None`` for the final text."""
        request = json.loads(body)
        script, actions = request["model"], self.task.actions
        self.results = [text_of(message) for message in request["messages"] if message["role"] == "tool"]
        done = len(self.results)
        if not actions:
            return None
        if script == "direct":
            return None if done == len(actions) else self._call(request, *actions[done])
        if done == 0:
            names = dict.fromkeys(f"{self.task.domain.name}.{camel(name)}" for name, _ in actions)
            return "describe_capabilities", {"names": list(names)}
        if done == 1:
            return "run_code", {"code": program(self.task, script)}
        more = MORE.search(self.results[-1])
        return ("run_code", {"resume": more.group(1)}) if more else None

    def _call(self, request, name, arguments):
        """Find the tool of an action among those of the request."""
        given = [tool["function"]["name"] for tool in request["tools"]]
        found = [tool for tool in given if re.split(r"[^A-Za-z0-9]+", tool)[-1] == camel(name) or tool.endswith(name)]
        if len(found) != 1:
            self.faults.append(f"{name} is not one of the tools {given}")
        return (found or [name])[0], arguments


def text_of(message):
    content = message["content"]
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)


class ScriptedModel:
    """The server, for one question at a time."""

    def __init__(self):
        self.exchange = None
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                model.reply(self)

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def begin(self, task):
        self.exchange = Exchange(task)
        return self.exchange

    def close(self):
        self._server.shutdown()

    def reply(self, handler):
        exchange = self.exchange
        body = handler.rfile.read(int(handler.headers["content-length"]))
        exchange.bodies.append(body)
        call = exchange.answer(body)
        if call is None:
            delta, finish = {"role": "assistant", "content": "It is done."}, "stop"
            said = delta["content"].encode()
        else:
            name, arguments = call
            function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
            said = json.dumps(function, ensure_ascii=False).encode()
            entry = {"index": 0, "id": f"call_{len(exchange.bodies)}", "type": "function", "function": function}
            delta, finish = {"role": "assistant", "tool_calls": [entry]}, "tool_calls"
        exchange.answers.append(said)
        used = {"prompt_tokens": tokens(len(body)), "completion_tokens": tokens(len(said))}
        used["total_tokens"] = sum(used.values())
        chunks = [
            {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
            {"choices": [], "usage": used},
        ]
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.send_header("connection", "close")
        handler.end_headers()
        for chunk in chunks:
            chunk = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "script", **chunk}
            handler.wfile.write(f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n".encode())
        handler.wfile.write(b"data: [DONE]\n\n")
