"""Event streams: every event once and in order, whatever happens to the connection."""

import threading
import time
import unittest

from bridge import Both, both
from fake import TOKEN, Fake

from agent_spaces import ApiError, ConnectionFailed
from agent_spaces._sse import Parser


def lines(count):
    return [{"type": "console", "level": "log", "text": f"№{number} 🚆 é\r\n"} for number in range(count)]


@both
class Events(Both, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.fake = Fake()
        cls.addClassCleanup(cls.fake.stop)
        cls.client = cls.connect(cls.fake.url, TOKEN)

    def setUp(self):
        self.fake.style()

    def assert_whole(self, events, sent):
        self.assertEqual([event.seq for event in events], list(range(len(sent))))
        self.assertEqual([event.payload["text"] for event in events], [one["text"] for one in sent])

    def cut_a_hundred_times(self, newline):
        sent = lines(400)
        run = self.fake.add_run(events=sent)
        before = self.fake.connections
        self.fake.style(cuts=100, seed=len(newline), newline=newline, chunk=40, reach=900)
        self.assert_whole(list(self.client.runs.events(run)), sent)
        self.assertEqual((self.fake.cuts, self.fake.connections - before), (0, 101))
        # The server was told where to resume: it did not send everything again.
        self.assertGreater(int(self.fake.requests[-1][1]["Last-Event-ID"]), 100)

    def test_a_hundred_cuts_lf(self):
        self.cut_a_hundred_times("\n")

    def test_a_hundred_cuts_crlf(self):
        self.cut_a_hundred_times("\r\n")

    def test_events_that_a_server_sends_again_are_returned_once(self):
        sent = lines(60)
        run = self.fake.add_run(events=sent)
        self.fake.style(cuts=10, seed=5, chunk=40, reach=1500, overlap=3)
        self.assert_whole(list(self.client.runs.events(run)), sent)

    def test_a_silent_stream_counts_as_cut(self):
        run = self.fake.add_run(events=lines(1), status="running")
        before = self.fake.connections
        self.fake.style(comments=False)
        hurried = self.connect(self.fake.url, TOKEN, stream_silence=0.1, stream_retries=1)
        events = hurried.runs.events(run)
        self.assertEqual(next(events).seq, 0)
        with self.assertRaisesRegex(ConnectionFailed, "no answer in time"):
            next(events)
        self.assertEqual(self.fake.connections - before, 2)

    def test_several_runs_in_one_stream(self):
        sent = lines(150)
        runs = {self.fake.add_run(id=f"run_{name}", events=sent[:count]): count for name, count in (("a", 150), ("b", 110), ("c", 70))}
        self.fake.style(cuts=30, seed=7, chunk=40, reach=1500)
        events = list(self.client.events(list(runs)))
        for run, count in runs.items():
            self.assert_whole([event for event in events if event.run_id == run], sent[:count])
        self.assertEqual(self.fake.cuts, 0)
        with self.assertRaises(ValueError):
            self.client.events([f"run_{number}" for number in range(65)])

    def test_a_run_that_ended_before_a_cut_does_not_end_the_others(self):
        short = self.fake.add_run(id="run_short", events=lines(1))
        long = self.fake.add_run(id="run_long", events=lines(1), status="running")
        before = self.fake.connections
        texts = []
        for event in self.client.events([short, long]):
            texts.append((event.run_id, event.seq))
            if len(texts) == 2:
                # The connection is cut after `end` of the short run, which then comes again.
                self.fake.drop = True
                threading.Timer(0.6, self.finish, [long]).start()
        self.assertEqual(texts, [(short, 0), (long, 0), (long, 1)])
        self.assertEqual(self.fake.connections - before, 2)

    def finish(self, run):
        with self.fake.lock:
            info, events = self.fake.runs[run]
            events.append({"type": "console", "level": "log", "text": "late", "timestamp": "", "runId": run, "seq": 1})
            info["status"] = "finished"
            self.fake.lock.notify_all()

    def test_an_event_of_three_megabytes(self):
        sent = [{"type": "console", "level": "log", "text": "🚆 é" * 400_000}]
        run = self.fake.add_run(events=sent)
        self.fake.style(chunk=70_001)
        self.assert_whole(list(self.client.runs.events(run)), sent)

    def test_after_and_without_following(self):
        run = self.fake.add_run(events=lines(5), status="running")
        self.assertEqual([event.seq for event in self.client.runs.events(run, after=2, follow=False)], [3, 4])
        self.assertEqual(self.fake.requests[-1][1]["Last-Event-ID"], "2")
        page = self.client.runs.event_page(run, after=0, limit=2)
        self.assertEqual(([event.seq for event in page.items], page.ended), ([1, 2], False))

    def test_gives_up_without_progress(self):
        run = self.fake.add_run(events=lines(5))
        before = self.fake.connections
        self.fake.style(cuts=1000, comments=False, reach=1)
        impatient = self.connect(self.fake.url, TOKEN, stream_retries=3)
        with self.assertRaises(ConnectionFailed):
            list(impatient.runs.events(run))
        self.assertEqual(self.fake.connections - before, 4)

    def test_unknown_run_and_busy_server(self):
        with self.assertRaises(ApiError) as caught:
            list(self.client.runs.events("run_none"))
        self.assertEqual(caught.exception.status, 404)
        run = self.fake.add_run(events=lines(1))
        self.fake.fault("GET /v1/runs/{}/events", 2, status=503, headers={"Retry-After": "0"})
        self.assertEqual(len(list(self.client.runs.events(run))), 1)

    def test_leaving_the_loop_closes_the_connection(self):
        run = self.fake.add_run(events=lines(3), status="running")
        events = self.client.runs.events(run)
        self.assertEqual(next(events).seq, 0)
        events.close()
        deadline = time.monotonic() + 5
        while self.fake.open and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertEqual(self.fake.open, 0)


class Parsing(unittest.TestCase):
    def test_cases_of_the_standard_at_every_split(self):
        cases = [
            ("data: a\n\n", [("message", "a", None)]),
            ("\ufeffdata:a\r\rdata: b\r\n\r\n", [("message", "a", None), ("message", "b", None)]),
            ("data: a\r\ndata: b\r\n\r\n", [("message", "a\nb", None)]),
            ("data\n\ndata: x\ndata:  y\nid: 7\n\n", [("message", "", None), ("message", "x\n y", "7")]),
            (": comment\nevent: end\ndata: {}\n\nevent: none\n\ndata: z\n\n", [("end", "{}", None), ("message", "z", None)]),
            ("id: 3\ndata: é🚆\u2028\n\nid: a\0b\ndata: 2\n\nretry: 5\nunknown: 1\ndata: cut", [("message", "é🚆\u2028", "3"), ("message", "2", "3")]),
        ]
        for text, expected in cases:
            data = text.encode()
            for split in range(len(data) + 1):
                with self.subTest(text=text, split=split):
                    parser = Parser()
                    found = [*parser.push(data[:split]), *parser.push(data[split:])]
                    self.assertEqual([(one.event, one.data, one.id) for one in found], expected)


if __name__ == "__main__":
    unittest.main()
