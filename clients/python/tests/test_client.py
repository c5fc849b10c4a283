"""Methods, errors, retries and timeouts."""

import time
import traceback
import unittest
from datetime import datetime, timezone

from bridge import Both, both
from fake import TOKEN, Fake

from agent_spaces import ApiError, ConnectionFailed, Limits, RunFailed


@both
class Client(Both, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.fake = Fake()
        cls.addClassCleanup(cls.fake.stop)
        cls.client = cls.connect(cls.fake.url + "/", TOKEN, retries=2)
        cls.space = cls.client.spaces.create("my-space", capabilities=["@company/internal-sdk", "mcp:slack"])

    def setUp(self):
        self.fake.faults.clear()
        self.fake.requests.clear()

    def refused(self, status, code, method, *args, **more):
        with self.assertRaises(ApiError) as caught:
            method(*args, **more)
        self.assertEqual((caught.exception.status, caught.exception.code), (status, code))
        return caught.exception

    def test_run_returns_its_value_or_raises(self):
        self.assertEqual(self.space.run("export default (input) => input", input={"a": 1}), {"input": {"a": 1}})
        self.assertEqual(self.space.run(program="report@2"), {"program": "report@2"})
        self.assertEqual(self.space.run("1", input=None, limits=Limits(time_ms=5000), name="n"), {"input": None})
        with self.assertRaises(RunFailed) as caught:
            self.space.run("throw new Error()")
        self.assertEqual((caught.exception.code, caught.exception.run.status), ("script.error", "failed"))
        self.refused(422, "script.syntax", self.space.run, "syntax error")
        with self.assertRaises(ValueError):
            self.space.run("1", program="both")

    def test_run_with_on_event_is_followed(self):
        found = []
        self.space.run("1", on_event=lambda event: found.append(event.type))
        self.assertEqual(found, ["runStarted", "console", "runFinished"])

    def test_start_follow_decide_value(self):
        run = self.space.start("crm.createTicket({})")
        self.assertFalse(run.ended)
        for event in run.events():
            if event.type == "approvalRequired":
                self.client.approvals.approve(event.payload["approvalId"], by="ada", for_="once")
        self.assertEqual(run.value(), {"ticket": True})
        approval = self.client.approvals.list(status="approved", run=run.id, space=self.space.id).all()[-1]
        approval = self.client.approvals.get(approval.id)
        self.assertEqual((approval.decision.by, approval.decision.decision), ("ada", "approve"))
        self.refused(409, "approval.decided", self.client.approvals.deny, approval.id, reason="late")

    def test_cancel_resume_answer(self):
        parked = self.client.runs.get(self.fake.add_run(status="needs_resume"))
        self.assertEqual(parked.resume().status, "running")
        doubt = self.client.runs.get(self.fake.add_run(status="in_doubt"), wait=1)
        self.assertEqual(doubt.answer(3, "happened", value=None).status, "running")
        self.assertEqual(self.fake.runs[doubt.id][0]["answer"], {"call": 3, "outcome": "happened", "value": None})
        cancelled = self.client.runs.cancel(self.fake.add_run(status="running"))
        with self.assertRaises(RunFailed) as caught:
            cancelled.value()
        self.assertEqual(caught.exception.code, "run.cancelled")
        self.refused(409, "conflict", self.client.runs.resume, cancelled.id)

    def test_lists_ask_for_pages_as_they_are_read(self):
        for _ in range(4):
            self.fake.add_run()
        self.assertEqual([run.id for run in self.client.runs.list()], list(self.fake.runs))
        self.fake.requests.clear()
        self.assertEqual(len(self.client.runs.list(limit=2, status="finished").all(1)), 1)
        self.assertEqual(len(self.fake.requests), 1)
        self.assertEqual([len(page) for page in self.client.runs.list(limit=2).pages()][0], 2)
        late = datetime(2999, 1, 1, tzinfo=timezone.utc)
        self.assertEqual(self.client.runs.list(space="x", created_from="2020-01-01T00:00:00Z", created_until=late, status="queued").all(), [])

    def test_files_with_etags(self):
        files, path = self.space.files, "data/ü #1?.txt"
        written = files.write(path, "grüße", if_none_match="*")
        self.assertTrue(written.created)
        self.refused(412, "precondition", files.write, path, "x", if_none_match="*")
        read = files.read(path)
        self.assertEqual((read.text, read.etag), ("grüße", written.etag))
        second = files.write(path, b"\x00\xff", if_match=read.etag)
        self.assertEqual((second.created, files.read(path).content), (False, b"\x00\xff"))
        state = files.stat(path)
        self.assertEqual((state.size, state.etag), (2, second.etag))
        self.assertEqual([file.path for file in files.list(prefix="data/")], [path])
        self.refused(412, "precondition", files.delete, path, if_match='"9"')
        files.delete(path)
        self.refused(404, "http.404", files.stat, path)
        for wrong in ("../runs", "a/../b", "./a", "a//b", "/a", ""):
            with self.assertRaises(ValueError):
                files.read(wrong)

    def test_update_with_the_etag_that_was_read(self):
        space = self.client.spaces.create("one", webhook={"url": "https://example.com"}, ttl_seconds=60)
        self.assertEqual(space.info.webhook.secret, "whsec_1")
        other = self.client.spaces.get(space.id)
        self.assertEqual(space.update(name="renamed").name, "renamed")
        self.refused(412, "precondition", other.update, ttl_seconds=5)
        other.refresh()
        other.update(ttl_seconds=5)
        listed = [one for one in self.client.spaces.list() if one.id == space.id][0]
        self.assertEqual(listed.update(limits={"result_bytes": 1024}).info.limits.result_bytes, 1024)
        space.delete()
        self.refused(404, "not_found", self.client.spaces.delete, space.id)

    def test_update_of_a_webhook_with_the_etag_of_its_space(self):
        space = self.client.spaces.create("hooked", webhook={"url": "https://example.com/hook"})
        other = self.client.spaces.get(space.id)
        moved = space.update_webhook(url="https://example.org/hook", events=["run.ended"])
        self.assertEqual((moved.id, moved.info.webhook.enabled), (space.id, True))
        webhook = space.update_webhook(enabled=False).info.webhook
        self.assertEqual((webhook.url, webhook.events, webhook.enabled), ("https://example.org/hook", ["run.ended"], False))
        self.assertIsNone(webhook.secret)
        self.refused(412, "precondition", other.update_webhook, enabled=True)
        self.assertEqual(space.update(name="renamed").name, "renamed")
        self.refused(404, "not_found", self.space.update_webhook, enabled=False)
        space.delete()

    def test_capabilities_programs_audit(self):
        self.assertEqual(self.client.capabilities.list(space=self.space.id).all()[0].functions[0].name, "crm.createTicket")
        self.assertIsNotNone(self.client.capabilities.get("crm").declarations)
        self.assertEqual(self.client.capabilities.search("ticket", limit=3)[0].name, "crm.createTicket")
        self.client.programs.publish("report", "1", idempotency_key="one")
        self.assertEqual(self.client.programs.publish("report", "2", description="d").version, 2)
        self.assertEqual(self.client.programs.publish("report", "2").version, 2)
        self.assertEqual(self.client.programs.publish("report", "1", idempotency_key="one").version, 1)
        self.assertEqual(self.client.programs.get("report").version, 2)
        self.assertEqual(self.client.programs.version("report", 1).source, "1")
        self.assertEqual(len(self.client.programs.versions("report").all()), 2)
        self.assertEqual(len(self.client.programs.list().all()), 1)
        self.client.programs.delete("report")
        self.assertEqual(self.client.audit.list().all()[0].entry, {"type": "runStarted"})

    def test_approvals_in_both_orders(self):
        for _ in range(2):
            self.space.start("crm.createTicket({})")
        ids = lambda **more: [one.id for one in self.client.approvals.list(limit=1, **more)]  # noqa: E731
        oldest = list(self.fake.approvals)
        self.assertEqual((ids(), ids(order="oldest"), ids(order="newest")), (oldest, oldest, oldest[::-1]))

    def test_the_audit_log_is_searched_exported_and_verified(self):
        kept = self.fake.audit
        self.addCleanup(lambda: setattr(self.fake, "audit", kept))
        self.fake.audit = [{"seq": seq, "time": "2025-01-15T10:30:00.000Z", "entry": {"type": "console", "text": "grüße"}} for seq in range(1, 6)]
        found = list(self.client.audit.export())
        self.assertEqual([(one.seq, one.entry["text"]) for one in found], [(seq, "grüße") for seq in range(1, 6)])
        self.assertEqual(len(self.fake.requests), 3)
        time_ = datetime(2020, 1, 1, tzinfo=timezone.utc)
        some = {"type": ["runStarted", "console"], "caller": "", "run": "run_1", "from_": time_, "until": "2999-01-01T00:00:00Z", "q": "x", "order": "newest"}
        self.assertEqual([one.seq for one in self.client.audit.export(**some)], [5, 4, 3, 2, 1])
        self.assertEqual([one.seq for one in self.client.audit.list(**some, limit=2)], [5, 4, 3, 2, 1])
        self.assertEqual(next(iter(self.client.audit.export(type="console"))).seq, 1)
        verified = self.client.audit.verify()
        self.assertEqual((verified.ok, verified.verdict, verified.entries, verified.lost), (True, "unchanged", 5, None))
        key = "GET /v1/audit/export"
        self.fake.fault(key, cut="before")
        self.fake.fault(key, status=429, headers={"Retry-After": "0"})
        self.assertEqual(len(list(self.client.audit.export())), 5, "opening it is repeated")
        for text in (b'{"seq":1,"ti', b'{"next":null}\n', b"7\n"):
            self.fake.fault(key, status=200, headers={"Content-Type": "application/x-ndjson"}, text=text)
            with self.assertRaises(ConnectionFailed):
                list(self.client.audit.export())
        self.fake.fault(key, status=404, code="not_found")
        self.refused(404, "not_found", lambda: list(self.client.audit.export()))

    def test_servers_are_listed_and_accepted_as_reviewed(self):
        change = {"kind": "added", "name": "post", "text": "t", "breaking": False}
        server = {"name": "slack", "spaces": ["spc_1"], "transport": "http", "status": "changed", "offer": "5f1c", "changes": [change]}
        self.fake.servers["slack"] = server
        listed = self.client.servers.list(limit=5).all()[0]
        self.assertEqual((listed.name, listed.status, listed.changes[0].breaking, listed.tools), ("slack", "changed", False, None))
        self.refused(409, "server.changed", self.client.servers.accept, "slack", offer="other")
        self.assertEqual(self.client.servers.accept("slack", offer=listed.offer).status, "connected")
        self.client.servers.accept("slack")
        self.assertEqual([body for _, _, body in self.fake.requests[-2:]], [b'{"offer": "5f1c"}', b"{}"])
        self.refused(404, "not_found", self.client.servers.accept, "other")
        self.fake.requests.clear()
        self.fake.fault("POST /v1/servers/{}/accept", cut="after")
        with self.assertRaises(ConnectionFailed):
            self.client.servers.accept("slack")
        self.assertEqual(len(self.fake.requests), 1)

    def test_an_error_has_the_problem_document_and_never_the_token(self):
        self.fake.fault("GET /v1/runs/{}", status=400, text=b'{"code":"request.invalid","errors":[{"pointer":"/a","detail":"d"}]}')
        error = self.refused(400, "request.invalid", self.client.runs.get, "run_1")
        self.assertEqual((error.errors[0].pointer, error.detail), ("/a", None))
        self.fake.fault("GET /v1/runs/{}", status=400, text=b'{"code":"request.invalid","errors":[{"parameter":"wait","detail":"d"},{"detail":7}]}')
        error = self.refused(400, "request.invalid", self.client.runs.get, "run_1")
        self.assertEqual([(one.parameter, one.pointer, one.detail) for one in error.errors], [("wait", None, "d"), (None, None, "7")])
        self.assertIn("\n  wait: d\n  7", str(error))
        wrong = self.connect(self.fake.url, "wrong-token")
        error = self.refused(401, "auth.token", wrong.runs.get, "run_1")
        self.assertIn("[redacted]", error.detail)
        nobody = self.connect("http://127.0.0.1:1", "wrong-token", retries=0)
        with self.assertRaises(ConnectionFailed) as caught:
            nobody.runs.get("run_1")
        for one in (error, caught.exception):
            self.assertNotIn("wrong-token", "".join(traceback.format_exception(one)) + repr(one.__dict__))
            self.assertIsNone(one.__context__)
        for url, token in ((self.fake.url, "a\nsecret"), ("http://user:secret@localhost", None)):
            with self.assertRaises(ValueError) as refused:
                self.connect(url, token)
            self.assertNotIn("secret", str(refused.exception))
        self.fake.fault("GET /v1/runs/{}", status=400, headers={"Content-Type": "text/html"}, text=b"<h1>proxy</h1>")
        self.refused(400, "http.400", self.client.runs.get, "run_1")
        self.fake.fault("GET /v1/runs/{}", status=302, headers={"Location": "http://127.0.0.1:1/"})
        self.refused(302, "run.busy", self.client.runs.get, "run_1")

    def test_429_and_503_are_repeated_after_retry_after(self):
        run, key = self.fake.add_run(), "GET /v1/runs/{}"
        self.fake.fault(key, status=429, headers={"Retry-After": "1"})
        self.fake.fault(key, status=503)
        start = time.monotonic()
        self.client.runs.get(run)
        self.assertGreaterEqual(time.monotonic() - start, 0.99)
        self.assertEqual(len(self.fake.requests), 3)
        self.fake.fault(key, 3, status=503, code="host.draining", headers={"Retry-After": "0"})
        self.refused(503, "host.draining", self.client.runs.get, run)
        self.assertEqual(len(self.fake.requests), 6)
        self.fake.fault(key, status=429, headers={"Retry-After": "3600"})
        self.assertEqual(self.refused(429, "run.busy", self.client.runs.get, run).retry_after, 3600)
        self.assertEqual(len(self.fake.requests), 7)

    def test_a_start_whose_answer_is_lost_is_one_run(self):
        before = len(self.fake.runs)
        self.fake.fault("POST /v1/spaces/{}/runs", cut="after")
        self.fake.fault("POST /v1/spaces/{}/runs", cut="before")
        self.space.start("1")
        self.assertEqual(len(self.fake.runs), before + 1)
        keys = [headers["Idempotency-Key"] for _, headers, _ in self.fake.requests]
        self.assertEqual((len(keys), len(set(keys))), (3, 1))
        self.space.start("1", idempotency_key=f"mine-{before}")
        self.space.start("1", idempotency_key=f"mine-{before}")
        self.assertEqual(len(self.fake.runs), before + 2)

    def test_what_is_not_idempotent_is_not_repeated_after_a_cut(self):
        run, key = self.fake.add_run(status="running"), "POST /v1/runs/{}/cancel"
        self.fake.fault(key, cut="after")
        with self.assertRaises(ConnectionFailed):
            self.client.runs.cancel(run)
        self.assertEqual(len(self.fake.requests), 1)
        self.fake.fault(key, status=503, headers={"Retry-After": "0"})
        self.refused(503, "run.busy", self.client.runs.cancel, run)
        self.fake.fault(key, status=429, headers={"Retry-After": "0"})
        self.client.runs.cancel(run)
        self.space.files.write("a", "b")
        self.fake.fault("DELETE /v1/spaces/{}/files/{}", cut="after")
        self.space.files.delete("a")
        self.fake.requests.clear()
        self.fake.fault("PUT /v1/spaces/{}/files/{}", cut="after")
        with self.assertRaises(ConnectionFailed):
            self.space.files.write("b", "c", if_none_match="*")
        self.assertEqual(len(self.fake.requests), 1)
        self.space.files.delete("b")

    def test_timeouts(self):
        hurried = self.connect(self.fake.url, TOKEN, timeout=0.1, retries=1)
        self.fake.fault("GET /v1/runs/{}", 2, hang=0.5)
        with self.assertRaisesRegex(ConnectionFailed, "no answer"):
            hurried.runs.get("run_1")
        self.assertEqual(len(self.fake.requests), 2)


if __name__ == "__main__":
    unittest.main()
