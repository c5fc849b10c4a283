"""Drift: the OpenAPI document, the dataclasses and the methods agree, and so do both clients."""

import copy
import json
import subprocess
import sys
import unittest
from pathlib import Path

import httpx
from bridge import Both, both
from fake import DOCUMENT, ROUTES

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"
sys.path.insert(0, str(SCRIPTS))

import check_types  # noqa: E402

# Operations that the client leaves out, with the reason.
LEFT_OUT = {
    "GET /v1/changes": "for pages that show lists",
}

# The method of the client for each operation.
METHODS = {
    "POST /v1/spaces": lambda client, space: client.spaces.create("x"),
    "GET /v1/spaces": lambda client, space: client.spaces.list().all(),
    "GET /v1/spaces/{}": lambda client, space: client.spaces.get("x"),
    "PATCH /v1/spaces/{}": lambda client, space: space.update(name="y"),
    "PATCH /v1/spaces/{}/webhook": lambda client, space: space.update_webhook(enabled=False),
    "DELETE /v1/spaces/{}": lambda client, space: space.delete(),
    "GET /v1/spaces/{}/files": lambda client, space: space.files.list().all(),
    "GET /v1/spaces/{}/files/{}": lambda client, space: space.files.read("a/b"),
    "HEAD /v1/spaces/{}/files/{}": lambda client, space: space.files.stat("a/b"),
    "PUT /v1/spaces/{}/files/{}": lambda client, space: space.files.write("a/b", ""),
    "DELETE /v1/spaces/{}/files/{}": lambda client, space: space.files.delete("a/b"),
    "POST /v1/spaces/{}/runs": lambda client, space: space.start("1"),
    "POST /v1/spaces/{}/check": lambda client, space: space.check("1"),
    "POST /v1/spaces/{}/explain": lambda client, space: space.explain("bank.pay"),
    "GET /v1/runs": lambda client, space: client.runs.list().all(),
    "GET /v1/runs/{}": lambda client, space: client.runs.get("x"),
    "POST /v1/runs/{}/cancel": lambda client, space: client.runs.cancel("x"),
    "POST /v1/runs/{}/resume": lambda client, space: client.runs.resume("x"),
    "POST /v1/runs/{}/answers": lambda client, space: client.runs.answer("x", 1, "happened"),
    "GET /v1/runs/{}/source": lambda client, space: client.runs.source("x"),
    "POST /v1/runs/{}/replay": lambda client, space: client.runs.replay("x"),
    "GET /v1/runs/{}/events": lambda client, space: list(client.runs.events("x")),
    "GET /v1/events": lambda client, space: list(client.events(["x"])),
    "GET /v1/approvals": lambda client, space: client.approvals.list().all(),
    "GET /v1/approvals/{}": lambda client, space: client.approvals.get("x"),
    "POST /v1/approvals/{}/decision": lambda client, space: client.approvals.approve("x"),
    "GET /v1/capabilities": lambda client, space: client.capabilities.list().all(),
    "GET /v1/capabilities/search": lambda client, space: client.capabilities.search("x"),
    "GET /v1/capabilities/{}": lambda client, space: client.capabilities.get("x"),
    "POST /v1/programs": lambda client, space: client.programs.publish("x", "1"),
    "GET /v1/programs": lambda client, space: client.programs.list().all(),
    "GET /v1/programs/{}": lambda client, space: client.programs.get("x"),
    "DELETE /v1/programs/{}": lambda client, space: client.programs.delete("x"),
    "GET /v1/programs/{}/versions": lambda client, space: client.programs.versions("x").all(),
    "GET /v1/programs/{}/versions/{}": lambda client, space: client.programs.version("x", 1),
    "GET /v1/audit": lambda client, space: client.audit.list().all(),
    "GET /v1/audit/export": lambda client, space: list(client.audit.export()),
    "GET /v1/audit/verification": lambda client, space: client.audit.verify(),
    "GET /v1/servers": lambda client, space: client.servers.list().all(),
    "POST /v1/servers/{}/accept": lambda client, space: client.servers.accept("x"),
    "GET /v1/me": lambda client, space: client.me(),
}


def example(schema):
    """Return a value with the required members of a schema."""
    if "$ref" in schema:
        return example(DOCUMENT["components"]["schemas"][schema["$ref"].split("/")[-1]])
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("type") == "object":
        return {name: example(schema["properties"][name]) for name in schema.get("required", [])}
    return {"string": "x", "integer": 1, "number": 1, "boolean": True, "array": []}.get(schema.get("type"))


@both
class Surface(Both, unittest.TestCase):
    def test_every_operation_has_a_method_or_a_reason(self):
        self.assertEqual(sorted(key for key, _, _ in ROUTES), sorted([*METHODS, *LEFT_OUT]))
        sent = []

        def respond(request):
            path = request.url.raw_path.decode().split("?")[0]
            sent.append(f"{request.method} {path}")
            if request.headers["Accept"] == "text/event-stream":
                return httpx.Response(200, text='event: end\ndata: {"runId":"x"}\n\n')
            if request.headers["Accept"] == "application/x-ndjson":
                return httpx.Response(200, text="")
            operation = next(one for key, one, pattern in ROUTES if key.startswith(request.method + " ") and pattern.fullmatch(path))
            content = next(one for status, one in operation["responses"].items() if status.startswith("2")).get("content", {})
            body = example(content["application/json"]["schema"]) if "application/json" in content else None
            return httpx.Response(200, content=json.dumps(body), headers={"ETag": '"1"'})

        transport = httpx.MockTransport(respond)
        http = httpx.AsyncClient(transport=transport) if self.asynchronous else httpx.Client(transport=transport)
        client = self.connect("http://localhost", http=http)
        space = client.spaces.get("x")
        for key, call in METHODS.items():
            with self.subTest(key):
                sent.clear()
                call(client, space)
                concrete = key.replace("/files/{}", "/files/a/b").replace("versions/{}", "versions/1").replace("{}", "x")
                self.assertEqual(sent, [concrete])


class Types(unittest.TestCase):
    def test_dataclasses_agree_with_the_document(self):
        self.assertEqual(check_types.differences(DOCUMENT), [])

    def test_differences_are_found(self):
        changed = copy.deepcopy(DOCUMENT)
        schemas = changed["components"]["schemas"]
        schemas["Run"]["properties"]["colour"] = {"type": "string"}
        del schemas["Space"]["properties"]["base"]
        schemas["File"]["properties"]["size"] = {"type": "string"}
        schemas["Webhook"]["required"].remove("url")
        schemas["Other"] = {"type": "object"}
        found = " ".join(check_types.differences(changed))
        for part in ("Run.colour", "Space.base", "File.size", "Webhook.url", "Other:"):
            self.assertIn(part, found)

    def test_the_asynchronous_client_is_written_from_the_blocking_one(self):
        self.assertEqual(subprocess.run([sys.executable, SCRIPTS / "async_client.py", "--check"]).returncode, 0)

    def test_the_license_is_that_of_the_repository(self):
        self.assertEqual((SCRIPTS.parent / "LICENSE").read_bytes(), (SCRIPTS.parents[2] / "LICENSE").read_bytes())


if __name__ == "__main__":
    unittest.main()
