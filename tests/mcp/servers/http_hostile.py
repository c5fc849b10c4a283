#!/usr/bin/env python3
"""An MCP server over HTTP on loopback that misbehaves by path: http://127.0.0.1:PORT/<behaviour>.

Prints one line, {"port": PORT, "other": PORT}. The second port is another origin that only takes notes: GET /seen on
the first port tells every request that either of them got. The handshake is right for 2025-11-25; what goes wrong goes
wrong in tools/call unless the table below says otherwise. Standard library only; ends when stdin closes.

  json, sse      right answers, as one JSON body or as an event stream
  unauthorized   401 with WWW-Authenticate that points to metadata on the other origin, for every request
  forbidden      403 insufficient_scope, for every request
  broken         500 with an HTML body, for every request
  discover_empty 200 and {} for server/discover, right answers for the rest
  not_json       200 with an HTML body
  hang           headers, and never a body
  hang_stream    an event stream that only sends comments
  cut            half a JSON body, then the connection closes
  cut_stream     half an event, then the connection closes
  huge           50 MB of JSON
  huge_stream    50 MB in one event
  redirect       307 to the other origin, for every request
  expire         404 for the session at the second call; a new session works
  expire_400     the same with 400, as some servers do
  wrong_id       an answer for another id
  legacy         GET gives an event stream whose endpoint is on the other origin; POST is 405
"""
import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOOL = {"name": "echo", "description": "Returns its arguments.", "inputSchema": {
    "type": "object", "properties": {"message": {"type": "string"}}}}
HTML = b"<html><body>Internal Server Error</body></html>"
seen = []
calls: "dict[str, int]" = {}
ports = {}


def result_of(message):
    method, params = message.get("method"), message.get("params") or {}
    if method == "initialize":
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "http-hostile", "version": "1"}}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        arguments = params.get("arguments") or {}
        return {"content": [{"type": "text", "text": json.dumps(arguments)}], "structuredContent": arguments}
    return {} if method == "ping" else None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def note(self, origin, body=None):
        seen.append({"origin": origin, "method": self.command, "path": self.path,
                     "headers": {name.lower(): value for name, value in self.headers.items()}, "body": body})

    def take(self):
        return self.rfile.read(int(self.headers.get("content-length") or 0))

    def reply(self, status, body=b"", kind="application/json", **headers):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def start(self, kind, length=None):
        """Headers of a body that will not come as promised; the connection closes after it."""
        self.close_connection = True
        self.send_response(200)
        self.send_header("content-type", kind)
        if length is not None:
            self.send_header("content-length", str(length))
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.flush()

    def other(self, path):
        return f"http://127.0.0.1:{ports['other']}{path}"


class Other(Handler):
    """The other origin: whatever comes is noted and refused."""

    def any(self):
        self.note("other", self.take().decode(errors="replace"))
        self.reply(404)

    do_GET = do_POST = do_DELETE = any


class Main(Handler):
    def do_GET(self):
        if self.path == "/seen":
            return self.reply(200, json.dumps(seen).encode())
        self.note("main")
        if self.path == "/redirect":
            return self.reply(307, location=self.other("/redirect"))
        if self.path == "/legacy":
            self.start("text/event-stream")
            self.wfile.write(f"event: endpoint\ndata: {self.other('/message')}\n\n".encode())
            return self.idle(b": still here\n\n")
        return self.reply(405, allow="POST, DELETE")

    def do_DELETE(self):
        self.note("main")
        self.reply(200)

    def idle(self, beat):
        """Keeps the stream open until the client leaves."""
        try:
            while True:
                self.wfile.write(beat)
                self.wfile.flush()
                time.sleep(0.2)
        except OSError:
            pass

    def do_POST(self):
        body = self.take()
        self.note("main", body.decode(errors="replace"))
        way = self.path.lstrip("/")
        if way == "unauthorized":
            where = self.other("/.well-known/oauth-protected-resource")
            return self.reply(401, www_authenticate=f'Bearer resource_metadata="{where}", scope="everything"')
        if way == "forbidden":
            return self.reply(403, www_authenticate='Bearer error="insufficient_scope", scope="more"')
        if way == "broken":
            return self.reply(500, HTML, "text/html")
        if way == "redirect":
            return self.reply(307, location=self.other("/redirect"))
        if way == "legacy":
            return self.reply(405, allow="GET")
        message = json.loads(body)
        if "id" not in message:
            return self.reply(202)
        if message["method"] == "server/discover":
            return self.discover(message, way)
        if message["method"] == "initialize":
            return self.answer(message, way, mcp_session_id=f"session-{len(seen)}")
        if message["method"] == "tools/call":
            return self.call(message, way)
        return self.answer(message, way)

    def discover(self, message, way):
        if way == "discover_empty":
            return self.reply(200, json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {}}).encode())
        error = {"code": -32000, "message": "Bad Request: Server not initialized"}
        return self.reply(400, json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode())

    def answer(self, message, way, **headers):
        found = result_of(message)
        rest = {"result": found} if found is not None else {"error": {"code": -32601, "message": "Method not found"}}
        line = json.dumps({"jsonrpc": "2.0", "id": message["id"], **rest}).encode()
        if way == "sse":
            return self.reply(200, b"event: message\ndata: " + line + b"\n\n", "text/event-stream", **headers)
        return self.reply(200, line, **headers)

    def call(self, message, way):
        identity = json.dumps(message["id"]).encode()
        head = b'{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"' % identity
        if way == "not_json":
            return self.reply(200, HTML, "text/html")
        if way == "hang":
            self.start("application/json", 100)
            return self.wait_for_end()
        if way == "hang_stream":
            self.start("text/event-stream")
            return self.idle(b": still here\n\n")
        if way == "cut":
            self.start("application/json", 1000)
            return self.wfile.write(head)
        if way == "cut_stream":
            self.start("text/event-stream")
            return self.wfile.write(b"data: " + head)
        if way in ("huge", "huge_stream"):
            return self.huge(head, way == "huge_stream")
        if way == "wrong_id":
            return self.answer({**message, "id": 1_000_000}, way)
        if way in ("expire", "expire_400"):
            session = self.headers.get("mcp-session-id", "")
            calls[session] = calls.get(session, 0) + 1
            if calls[session] > 1:
                return self.reply(404 if way == "expire" else 400)
        return self.answer(message, way)

    def huge(self, head, stream):
        self.start("text/event-stream" if stream else "application/json")
        try:
            self.wfile.write((b"data: " if stream else b"") + head)
            for _ in range(50):
                self.wfile.write(b"x" * (1 << 20))
            self.wfile.write(b'"}]}}' + (b"\n\n" if stream else b""))
        except OSError:
            pass  # the client had enough

    def wait_for_end(self):
        try:
            self.connection.recv(1)
        except OSError:
            pass


class Quiet(ThreadingHTTPServer):
    """Clients leave whenever they like; that is no news."""

    daemon_threads = True

    def handle_error(self, *_):
        pass


def main():
    servers = {name: Quiet(("127.0.0.1", 0), handler) for name, handler in
               (("port", Main), ("other", Other))}
    ports.update({name: server.server_address[1] for name, server in servers.items()})
    for server in servers.values():
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps(ports), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
