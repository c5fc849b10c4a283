"""Both clients against a real server: AGENT_SPACES_BINARY=/path/to/agent-spaces python3 -m unittest tests/test_server.py"""

import unittest

from bridge import Both, both
from server import BINARY, TOKEN, Server

from agent_spaces import ApiError, NewWebhook, RunFailed

LINES = 700
TICKET = "crm.createTicket({ customerId: 'c-42', subject: 'Refund', priority: 'high' })"
LONG = f"""
import {{ crm }} from '@company/internal-sdk';
const print = (word) => {{ for (let n = 0; n < {LINES}; n += 1) console.log(word + ' ' + n); }};
export default async () => {{
  print('before');
  const ticket = await {TICKET};
  print('between');
  await new Promise((resolve) => setTimeout(resolve, 1500));
  print('after');
  return ticket;
}};
"""


@both
@unittest.skipUnless(BINARY, "AGENT_SPACES_BINARY does not name a server")
class RealServer(Both, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.addClassCleanup(cls.server.stop)
        cls.client = cls.connect(cls.server.url, TOKEN)
        cls.space = cls.client.spaces.create(
            "my-space",
            capabilities=[
                "@company/internal-sdk",
                "mcp:slack",
                "mcp:github",
            ],
        )

    def refused(self, status, code, method, *args, **more):
        with self.assertRaises(ApiError) as caught:
            method(*args, **more)
        self.assertEqual((caught.exception.status, caught.exception.code), (status, code))
        return caught.exception

    def test_a_run_returns_its_value_or_raises(self):
        source = "import input from '@agent-spaces/input'; export default () => 'hello ' + input.name;"
        self.assertEqual(self.space.run(source, input={"name": "Ada"}), "hello Ada")
        source = "import { slack } from '@capabilities/mcp-slack'; export default async () => (await slack.listChannels()).map(({ name }) => name);"
        self.assertEqual(self.space.run(source), ["random", "general"])
        with self.assertRaises(RunFailed) as caught:
            self.space.run("throw new Error('no such customer')")
        self.assertEqual(caught.exception.error.message, "no such customer")
        self.assertEqual(self.refused(422, "script.syntax", self.space.run, "let = ;").error.location.line, 1)
        self.refused(403, "space.denied", self.client.spaces.create, "more", capabilities=["mcp:other"])

    def test_a_stream_cut_a_hundred_times_over_two_crashes(self):
        self.server.proxy.cuts = 80
        run = self.space.start(LONG)
        events = []
        for event in run.events():
            events.append(event)
            if event.type == "approvalRequired":
                self.assertEqual(self.server.proxy.cuts, 0)
                self.server.crash()
                self.assertEqual(self.client.approvals.approve(event.payload["approvalId"], by="ada").status, "approved")
            if event.type == "console" and event.payload["text"] == f"between {LINES - 1}":
                # Without cuts, the client is here before the timer of the script fires: the crash meets a run that waits.
                self.assertFalse(run.refresh().ended)
                self.server.proxy.cuts = 20
                self.server.crash()
        self.assertEqual(self.server.proxy.cuts, 0)
        self.assertEqual([event.seq for event in events], list(range(len(events))))
        expected = [f"{word} {number}" for word in ("before", "between", "after") for number in range(LINES)]
        self.assertEqual([event.payload["text"] for event in events if event.type == "console"], expected)
        self.assertEqual(events[-1].type, "runFinished")
        self.assertEqual(run.value(), {"id": "tkt_1", "customerId": "c-42", "subject": "Refund", "priority": "high"})

    def test_several_runs_in_one_cut_stream(self):
        source = "import input from '@agent-spaces/input'; export default () => { for (let n = 0; n < 100; n += 1) console.log(input + n); };"
        runs = {self.space.start(source, input=word).id: word for word in "abc"}
        self.server.proxy.cuts = 20
        texts = {run: [] for run in runs}
        for event in self.client.events(list(runs)):
            if event.type == "console":
                texts[event.run_id].append(event.payload["text"])
        self.assertEqual(self.server.proxy.cuts, 0)
        self.assertEqual(texts, {run: [f"{word}{number}" for number in range(100)] for run, word in runs.items()})

    def test_a_denied_approval_and_a_cancelled_run(self):
        source = f"import {{ crm }} from '@company/internal-sdk'; export default () => {TICKET};"
        denied = self.space.start(source)
        for event in denied.events():
            if event.type == "approvalRequired":
                approval = self.client.approvals.deny(event.payload["approvalId"], reason="too many")
                self.assertEqual(approval.decision.reason, "too many")
        with self.assertRaises(RunFailed):
            denied.value()
        cancelled = self.space.start(source)
        for event in cancelled.events():
            if event.type == "approvalRequired":
                cancelled.cancel()
        with self.assertRaises(RunFailed) as caught:
            cancelled.value()
        self.assertEqual(caught.exception.code, "run.cancelled")

    def test_files_and_lists(self):
        files, path = self.space.files, "data/ü #1?.txt"
        self.assertTrue(files.write(path, "grüße", if_none_match="*").created)
        file = files.read(path)
        self.assertEqual(file.text, "grüße")
        files.write(path, b"\x00\xff\n", if_match=file.etag)
        self.refused(412, "precondition", files.write, path, "x", if_match=file.etag)
        self.assertEqual(files.stat(path).size, 3)
        for number in range(5):
            files.write(f"many/{number}", str(number))
        self.assertEqual([one.path for one in files.list(prefix="many/", limit=2)], [f"many/{number}" for number in range(5)])
        files.delete(path)
        self.refused(404, "not_found", files.read, path)
        for _ in range(3):
            self.space.start("1")
        listed = [run.id for run in self.client.runs.list(space=self.space.id, limit=2)]
        self.assertGreaterEqual(len(set(listed)), 3)
        self.assertEqual(len(set(listed)), len(listed))

    def test_programs_capabilities_and_updates(self):
        source = "export default () => 1"
        version = self.client.programs.publish("report", source, description="One").version
        self.assertEqual(self.client.programs.publish("report", source).version, version)
        self.assertEqual(self.space.run(program=f"report@{version}"), 1)
        self.assertEqual(self.client.programs.version("report", version).source, source)
        self.client.programs.delete("report")
        self.client.audit.list().all(5)
        self.assertEqual(self.client.capabilities.search("ticket", space=self.space.id)[0].name, "crm.createTicket")
        self.assertIn("createTicket", self.client.capabilities.get("crm", space=self.space.id).declarations)
        space = self.client.spaces.create("gone", ttl_seconds=60, webhook=NewWebhook("https://example.com/hook", ["run.ended"]))
        self.assertTrue(space.info.webhook.secret.startswith("whsec_"))
        webhook = space.update_webhook(url="https://example.org/hook", events=["approval.needed"], enabled=False).info.webhook
        self.assertEqual((webhook.url, webhook.events), ("https://example.org/hook", ["approval.needed"]))
        self.assertEqual((webhook.enabled, webhook.secret), (False, None))
        self.refused(400, "request.invalid", space.update_webhook, url="https://127.0.0.1/")
        other = self.client.spaces.get(space.id)
        self.assertEqual(space.update(name="renamed", limits={"time_ms": 5000}).info.limits.time_ms, 5000)
        self.refused(412, "precondition", other.update, name="late")
        space.delete()
        self.refused(404, "not_found", self.client.spaces.get, space.id)


if __name__ == "__main__":
    unittest.main()
