"""Fake server: the routes of the OpenAPI document over a state in memory, with faults that a test asks for.

It refuses what the document does not list: routes, query parameters, headers of conditions, members of bodies.
"""

import base64
import json
import random
import re
import socket
import struct
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

CLIENTS = Path(__file__).resolve().parents[2]
DOCUMENT = json.loads((CLIENTS / "openapi.json").read_text())
TOKEN = "tok_3f9a-secret"
NOW = "2025-01-15T10:30:00.000Z"
VERBS = ("get", "head", "post", "put", "patch", "delete")


def operations():
    """Return (key, operation, pattern) of each operation; keys are such as ``GET /v1/runs/{}``."""
    found = []
    for path, methods in DOCUMENT["paths"].items():
        pattern = re.escape(path).replace(r"\{", "{").replace(r"\}", "}").replace(r"\*", "*")
        pattern = re.sub(r"\{\*?(\w+)\}", lambda one: "(.+)" if one[1] == "path" else "([^/]+)", pattern)
        for verb in VERBS:
            if verb in methods:
                key = f"{verb.upper()} " + re.sub(r"\{\*?\w+\}", "{}", path)
                found.append((key, methods[verb], re.compile(pattern)))
    # `search` is a route of its own, before `{name}`.
    return sorted(found, key=lambda one: one[0].count("{"))


ROUTES = operations()


def problem(status, code, detail, **more):
    body = {"type": f"urn:agent-spaces:problem:{code}", "title": code, "status": status, "code": code, "detail": detail, **more}
    return status, {"Content-Type": "application/problem+json"}, json.dumps(body).encode()


def answer(status, body, **headers):
    return status, {"Content-Type": "application/json", **headers}, json.dumps(body).encode()


def ended(run):
    return run["status"] in ("finished", "failed", "cancelled")


class Cut(Exception):
    """The connection is to be cut."""


class Fake:
    def __init__(self):
        self.lock = threading.Condition()
        self.requests = []
        self.faults = []
        self.spaces, self.files, self.runs, self.approvals, self.keys = {}, {}, {}, {}, {}
        self.programs = []
        self.audit = [{"seq": 1, "time": NOW, "entry": {"type": "runStarted"}}]
        self.exported = 2  # entries of one export
        self.servers = {}
        self.page_size = 3
        self.connections = 0
        self.open = 0
        self.drop = False  # cuts the next stream that waits
        self.style()
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # One packet per write: chunks arrive as they are sent.
            disable_nagle_algorithm = True

            def log_message(self, *_):
                pass

            def handle_one_request(self):
                try:
                    super().handle_one_request()
                except (Cut, ConnectionError):
                    self.close_connection = True
                    try:
                        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                        self.connection.close()
                    except OSError:
                        pass

            def _serve(self):
                fake.serve(self)

            do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = _serve

            def finish(self):
                try:
                    super().finish()
                except (OSError, ValueError):
                    pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            # Threads of streams that nobody reads any more are not waited for.
            block_on_close = False

            def handle_error(self, *_):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def style(self, cuts=0, seed=1, newline="\n", comments=True, chunk=64, reach=700, overlap=0):
        self.overlap = overlap
        self.cuts, self.random, self.newline, self.comments, self.chunk, self.reach = cuts, random.Random(seed), newline, comments, chunk, reach

    def fault(self, key, times=1, **what):
        self.faults.append({"key": key, "times": times, **what})

    def add_run(self, id=None, space="spc_1", events=(), status="finished", **more):
        id = id or f"run_{len(self.runs) + 1}"
        run = {"id": id, "spaceId": space, "name": id, "status": status, "createdAt": NOW, "updatedAt": NOW, "unknownMember": 1, **more}
        self.runs[id] = (run, [{**event, "timestamp": NOW, "runId": id, "seq": seq} for seq, event in enumerate(events)])
        return id

    def serve(self, handler):
        url = urlsplit(handler.path)
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        key, operation, found = f"{handler.command} {url.path}", None, None
        for one, operation_, pattern in ROUTES:
            found = pattern.fullmatch(url.path)
            if found and one.startswith(handler.command + " "):
                key, operation = one, operation_
                break
        query = parse_qs(url.query, keep_blank_values=True)
        with self.lock:
            self.requests.append((key, dict(handler.headers), body))
            fault = next((one for one in self.faults if one["key"] == key and one["times"] > 0), {})
            if fault:
                fault["times"] -= 1
        if fault.get("hang"):
            threading.Event().wait(fault["hang"])
            raise Cut
        if fault.get("cut") == "before":
            raise Cut
        if "status" in fault:
            status, headers, text = problem(fault["status"], fault.get("code", "run.busy"), "busy")
            self.reply(handler, status, {**headers, **fault.get("headers", {})}, fault.get("text", text))
            return
        parts = [unquote(part) for part in found.groups()] if operation else []
        stream = handler.headers.get("Accept") == "text/event-stream"
        with self.lock:
            reply = self.check(operation, handler, query, body)
            if reply is None and stream:
                runs = query["run"] if key == "GET /v1/events" else parts
                reply = None if all(run in self.runs for run in runs) else problem(404, "not_found", "not found")
            elif reply is None:
                reply = self.route(key, [*parts, None, None], {name: values[0] for name, values in query.items()}, handler.headers, body)
        if reply is None:
            self.stream(handler, runs, query.get("follow") == ["false"])
        elif fault.get("cut") == "after":
            raise Cut
        else:
            self.reply(handler, *reply)

    def reply(self, handler, status, headers, body=b""):
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        if status != 204:
            handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(body)

    def check(self, operation, handler, query, body):
        if handler.headers.get("Authorization") != f"Bearer {TOKEN}":
            return problem(401, "auth.token", f"wrong token: {handler.headers.get('Authorization')}")
        if operation is None:
            return problem(404, "not_found", "no such route")
        known = {f"{one['in']} {one['name'].lower()}" for one in operation.get("parameters", [])}
        for name in query:
            if f"query {name.lower()}" not in known:
                return problem(400, "request.invalid", f"unknown query parameter {name}")
        for name in ("if-match", "if-none-match", "idempotency-key", "last-event-id"):
            if handler.headers.get(name) is not None and f"header {name}" not in known:
                return problem(400, "request.invalid", f"unknown header {name}")
        schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
        if schema:
            kind = DOCUMENT["components"]["schemas"][schema["$ref"].split("/")[-1]]
            sent = json.loads(body)
            errors = [{"pointer": f"/{name}", "detail": "unknown member"} for name in sent if name not in kind["properties"]]
            errors += [{"pointer": f"/{name}", "detail": "missing"} for name in kind.get("required", []) if name not in sent]
            if errors:
                return problem(400, "request.invalid", "wrong body", errors=errors)
        return None

    def page(self, items, query):
        start = int(base64.b64decode(query["cursor"])) if "cursor" in query else 0
        end = start + int(query.get("limit", self.page_size))
        more = {"next": base64.b64encode(str(end).encode()).decode()} if end < len(items) else {}
        return answer(200, {"items": items[start:end], **more})

    def once(self, headers, make):
        key = headers["Idempotency-Key"]
        if key not in self.keys:
            self.keys[key] = make()
        return self.keys[key]

    def route(self, key, parts, query, headers, body):
        missing = problem(404, "not_found", "not found")
        first, second = parts[:2]
        sent = json.loads(body) if body and headers.get("Content-Type") == "application/json" else {}
        space = self.spaces.get(first)
        run, events = self.runs.get(first, (None, []))

        def filtered(items):
            return [one for one in items if query.get("status") in (None, one["status"])]

        if key == "POST /v1/spaces":
            return self.once(headers, lambda: self.create_space(sent))
        if key == "GET /v1/spaces":
            return self.page(list(self.spaces.values()), query)
        if key.endswith(" /v1/spaces/{}"):
            if not space:
                return missing
            if key.startswith("DELETE"):
                del self.spaces[first]
                return 204, {}
            if key.startswith("PATCH"):
                if headers.get("If-Match") != space["etag"]:
                    return problem(412, "precondition", "changed meanwhile")
                space.update(expiresAt=NOW) if sent.pop("ttlSeconds", None) else None
                space.update(sent, etag=f'"{int(space["etag"].strip(chr(34))) + 1}"')
            return answer(200, space, ETag=space["etag"])
        if key == "PATCH /v1/spaces/{}/webhook":
            if not space or "webhook" not in space:
                return missing
            if headers.get("If-Match") != space["etag"]:
                return problem(412, "precondition", "changed meanwhile")
            kept = {name: value for name, value in space["webhook"].items() if name != "secret"}
            space.update(webhook={**kept, **sent}, etag=f'"{int(space["etag"].strip(chr(34))) + 1}"')
            return answer(200, space, ETag=space["etag"])
        if key == "GET /v1/spaces/{}/files":
            return self.page([self.file(path) for path in self.files if path.startswith(query.get("prefix", ""))], query)
        if key.endswith("/files/{}"):
            return self.file_route(key.split()[0], second, headers, body)
        if key == "POST /v1/spaces/{}/runs":
            if "syntax error" in sent.get("source", ""):
                return problem(422, "script.syntax", "unexpected token")
            return self.once(headers, lambda: self.execute(first, sent, "wait" in query)) if space else missing
        if key == "GET /v1/runs":
            return self.page(filtered([one for one, _ in self.runs.values()]), query)
        if key.endswith("/runs/{}"):
            return answer(200, run) if run else missing
        if key == "POST /v1/runs/{}/cancel":
            run["status"] = "cancelled"
            return answer(202, run)
        if key == "POST /v1/runs/{}/resume":
            if run["status"] != "needs_resume":
                return problem(409, "conflict", "the run does not wait to be resumed")
            run["status"] = "running"
            return answer(202, run)
        if key == "POST /v1/runs/{}/answers":
            run["status"], run["answer"] = "running", sent
            return answer(200, run)
        if key == "GET /v1/runs/{}/events":
            after = int(query.get("after", -1))
            items = [one for one in events if one["seq"] > after][: int(query.get("limit", 20))]
            last = items[-1]["seq"] if items else after
            return answer(200, {"items": items, **({"next": last} if last >= 0 else {}), "ended": ended(run) and last == len(events) - 1})
        if key == "GET /v1/approvals":
            return self.page(ordered(filtered(self.approvals.values()), query), query)
        if key == "GET /v1/approvals/{}":
            return answer(200, self.approvals[first]) if first in self.approvals else missing
        if key == "POST /v1/approvals/{}/decision":
            return self.decide(self.approvals[first], sent)
        if key == "GET /v1/capabilities":
            return self.page([capability(False)], query)
        if key == "GET /v1/capabilities/search":
            return answer(200, {"items": capability(False)["functions"]})
        if key == "GET /v1/capabilities/{}":
            return answer(200, capability(True)) if first == "crm" else missing
        if "/v1/programs" in key:
            return self.program_route(key, first, second, sent, query, headers) or missing
        if key == "GET /v1/audit":
            return self.page(ordered(self.audit, query), query)
        if key == "GET /v1/audit/export":
            return self.export(query)
        if key == "GET /v1/audit/verification":
            return answer(200, {"ok": True, "verdict": "unchanged", "entries": len(self.audit), "files": 1})
        if key == "GET /v1/servers":
            return self.page(list(self.servers.values()), query)
        if key == "POST /v1/servers/{}/accept":
            return self.accept(first, sent) if first in self.servers else missing
        return problem(500, "host.internal", f"the fake has no {key}")

    def export(self, query):
        entries = ordered(self.audit, query)
        start = int(query.get("cursor", 0))
        lines = entries[start : start + self.exported]
        if start + self.exported < len(entries):
            lines = [*lines, {"next": str(start + self.exported)}]
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        return 200, {"Content-Type": "application/x-ndjson"}, text.encode()

    def accept(self, name, sent):
        server = self.servers[name]
        if sent.get("offer") not in (None, server.get("offer")):
            return problem(409, "server.changed", "its tools changed")
        self.servers[name] = {member: value for member, value in server.items() if member not in ("offer", "changes")} | {"status": "connected"}
        return answer(200, self.servers[name])

    def create_space(self, sent):
        webhook, _ = sent.pop("webhook", None), sent.pop("ttlSeconds", None)
        if webhook:
            sent["webhook"] = {"events": ["run.ended", "approval.needed"], "enabled": True, **webhook, "secret": "whsec_1"}
        given = {"source": "api", "hasFiles": True, "modules": [], "createdAt": NOW, "updatedAt": NOW, "etag": '"1"'}
        space = {"capabilities": [], "limits": {}, **sent, "id": f"spc_{len(self.spaces) + 1}", **given}
        self.spaces[space["id"]] = space
        return answer(201, space, ETag='"1"', Location=f"/v1/spaces/{space['id']}")

    def file(self, path):
        return {"path": path, "size": len(self.files[path][0]), "modifiedAt": NOW}

    def file_route(self, method, path, headers, body):
        content, version = self.files.get(path, (None, 0))
        match = headers.get("If-Match")
        if (match and match != f'"{version}"') or (headers.get("If-None-Match") == "*" and version):
            return problem(412, "precondition", "changed meanwhile")
        if method == "PUT":
            self.files[path] = (body, version + 1)
            return 200 if version else 201, {"ETag": f'"{version + 1}"'}
        if not version:
            return problem(404, "not_found", "not found")
        if method == "DELETE":
            del self.files[path]
            return 204, {}
        return 200, {"Content-Type": "application/octet-stream", "ETag": f'"{version}"'}, content

    def publish(self, sent):
        versions = [one for one in self.programs if one["name"] == sent["name"]]
        if versions and versions[-1]["source"] == sent["source"]:
            return answer(200, program_version(versions[-1], True))
        self.programs.append({**sent, "version": len(versions) + 1})
        return answer(201, program_version(self.programs[-1], True))

    def program_route(self, key, name, version, sent, query, headers):
        if key == "POST /v1/programs":
            return self.once(headers, lambda: self.publish(sent))
        if key == "GET /v1/programs":
            return self.page([program(one) for one in {one["name"]: one for one in self.programs}.values()], query)
        found = [one for one in self.programs if one["name"] == name]
        if key == "DELETE /v1/programs/{}":
            self.programs = [one for one in self.programs if one["name"] != name]
            return (204, {}) if found else None
        if key.endswith("/versions"):
            return self.page([program_version(one, False) for one in reversed(found)], query)
        if version is None:
            return answer(200, program(found[-1])) if found else None
        found = [one for one in found if one["version"] == int(version)]
        return answer(200, program_version(found[-1], True)) if found else None

    def execute(self, space, sent, wait):
        """Run a script: what it does is decided by words in it."""
        started = {"type": "runStarted", "script": "program.ts", "interfaces": []}
        finished = {"type": "runFinished", "ok": True, "usage": {}}
        source = sent.get("source", "")
        if "createTicket" in source:
            approval = f"apr_{len(self.approvals) + 1}"
            call = {"functionId": "capabilities:crm/crm@1.0.0#create-ticket", "capability": "crm", "function": "createTicket", "params": {}}
            asked = {"type": "approvalRequired", "source": "capability", "message": "Create a ticket?", "approvalId": approval, "callId": 1, **call}
            id = self.add_run(space=space, status="awaiting_approval", events=[started, asked])
            self.approvals[approval] = {
                **{"id": approval, "runId": id, "spaceId": space, "status": "pending", "callId": 1, "message": "Create a ticket?", "createdAt": NOW, "expiresAt": NOW},
                **{"module": "@company/internal-sdk", "places": ["program.ts:1"], **call},
            }
        elif "throw" in source:
            error = {"code": "script.error", "message": "no such customer", "name": "Error"}
            id = self.add_run(space=space, status="failed", error=error, events=[started, {**finished, "ok": False, "error": error}])
        else:
            value = {"program": sent["program"]} if "program" in sent else {"input": sent.get("input")}
            if "'hello '" in source:
                value = f"hello {sent['input']['name']}"
            printed = {"type": "console", "level": "log", "text": "hello"}
            id = self.add_run(space=space, value=value, events=[started, printed, finished])
        run = self.runs[id][0]
        # Without `wait` the answer comes before the run has ended.
        return answer(201, run) if wait else answer(202, {name: one for name, one in {**run, "status": "queued"}.items() if name not in ("value", "error")})

    def decide(self, approval, sent):
        if approval["status"] != "pending":
            return problem(409, "approval.decided", "already decided")
        yes = sent["decision"] == "approve"
        decision = {"decision": sent["decision"], "by": sent.get("by", "the operator"), "caller": "the operator", "decidedAt": NOW}
        approval.update(status="approved" if yes else "denied", decision=decision)
        run, events = self.runs[approval["runId"]]
        for event in ({"type": "approvalDecided", "approvalId": approval["id"], "callId": 1}, {"type": "runFinished", "ok": True, "usage": {}}):
            events.append({**event, "timestamp": NOW, "runId": run["id"], "seq": len(events)})
        run.update(status="finished", value={"ticket": yes})
        self.lock.notify_all()
        return answer(200, approval)

    def stream(self, handler, runs, finite):
        last = handler.headers.get("Last-Event-ID")
        positions = [-1] * len(runs) if last is None else [max(-1, int(one or -1) - self.overlap) for one in last.split(",")]
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        with self.lock:
            self.connections += 1
            self.open += 1
        try:
            while self.stream_some(handler, runs, positions, finite):
                pass
        finally:
            with self.lock:
                self.open -= 1
        handler.wfile.write(b"0\r\n\r\n")

    def stream_some(self, handler, runs, positions, finite):
        entries = [self.runs[run] for run in runs]
        n = self.newline
        with self.lock:
            parts = [f": keep-alive{n}{n}"] if self.comments else []
            # Runs take turns, as their events would in a real stream.
            while any(position + 1 < len(events) for position, (_, events) in zip(positions, entries)):
                for index, (_, events) in enumerate(entries):
                    if positions[index] + 1 < len(events):
                        positions[index] += 1
                        id = ",".join(str(one) if one >= 0 else "" for one in positions)
                        data = json.dumps(events[positions[index]], ensure_ascii=False)
                        parts.append(f"id: {id}{n}data: {data}{n}{n}")
            for run, _ in entries:
                if ended(run):
                    parts.append(f"event: end{n}data: {json.dumps({'runId': run['id'], 'status': run['status']})}{n}{n}")
            over = finite or all(ended(run) for run, _ in entries)
            data = "".join(parts).encode()
            cut = self.cuts > 0
            if cut:
                self.cuts -= 1
                data = data[: self.random.randrange(min(len(data), self.reach))]
        while data:
            size = 1 + self.random.randrange(self.chunk)
            part, data = data[:size], data[size:]
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        if cut and self.random.random() < 0.5:
            # The client has read what was sent before it sees the reset.
            threading.Event().wait(0.005)
            raise Cut
        if cut or over:
            return False
        with self.lock:
            self.lock.wait(0.1)
            drop, self.drop = self.drop, False
        if drop:
            raise Cut
        if not self.peer_lives(handler.connection):
            raise Cut
        return True

    @staticmethod
    def peer_lives(connection):
        try:
            return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False


def ordered(items, query):
    return list(reversed(items)) if query.get("order") == "newest" else list(items)


def capability(whole):
    module = "@company/internal-sdk"
    function = {"name": "crm.createTicket", "id": "x#y", "module": module, "signature": "()", "description": "d"}
    listed = {"name": "crm", "module": module, "entry": module, "functions": [function]}
    return {**listed, "declarations": f"declare module '{module}' {{}}", "wit": "package x:y;"} if whole else listed


def program(one):
    more = {"description": one["description"]} if "description" in one else {}
    return {"name": one["name"], "version": one["version"], "createdAt": NOW, "updatedAt": NOW, **more}


def program_version(one, whole):
    version = {"name": one["name"], "version": one["version"], "hash": "af13", "createdAt": NOW}
    return {**version, "source": one["source"]} if whole else version
