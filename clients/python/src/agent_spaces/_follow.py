"""Event streams that resume after a cut: every event once, in order. Shared by both clients."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from . import _calls as calls
from ._errors import AgentSpacesError, ApiError, ConnectionFailed
from ._retry import delay_before, may_repeat
from ._sse import Parser
from ._types import Event
from ._wire import load

#: Life of a connection in seconds after which its cut is no failure: proxies cut idle streams, and a run may wait for days.
HEALTHY = 10.0
#: Maximum number of runs of one stream, as the server has it.
MAX_RUNS = 64


class Follower:
    """State of one event stream over its connections."""

    def __init__(self, call: calls.Call[None], runs: Sequence[str], retries: int, follow: bool = True, after: int | None = None) -> None:
        self._call = call
        self._open = set(runs)
        self._retries = retries
        self._follow = follow
        self._seen = {} if after is None else {runs[0]: after}
        self._last_id = None if after is None else str(after)
        self._failures = 0
        self._opened = 0.0
        self._parser = Parser()
        #: True when all events are there.
        self.done = False

    def connect(self) -> calls.Call[None]:
        """Return the request of the next connection."""
        self._parser = Parser()
        self._opened = time.monotonic()
        return replace(self._call, headers={"Accept": "text/event-stream", "Accept-Encoding": "identity", "Last-Event-ID": self._last_id})

    def feed(self, chunk: bytes) -> Iterator[Event]:
        """Return the new events of a chunk."""
        for message in self._parser.push(chunk):
            if message.event == "end":
                # After a cut, the server says again which runs had ended: the name decides, not what is still open.
                self._open.discard(_parse(message.data).get("runId", ""))
                if not self._open:
                    self.done = True
                    return
            elif message.event == "message":
                event = load(Event, _parse(message.data))
                self._last_id = message.id if message.id is not None else self._last_id
                if event.seq <= self._seen.get(event.run_id, -1):
                    continue
                self._seen[event.run_id] = event.seq
                self._failures = 0
                yield event

    def closed(self, failure: AgentSpacesError | None) -> float:
        """Return the wait before the next connection, or raise if there is none. Sets `done` at the end of a finite stream."""
        if failure is None and not self._follow:
            self.done = True
            return 0.0
        retry_after = None
        if isinstance(failure, ApiError):
            if not may_repeat(failure.status, True):
                raise failure
            retry_after = failure.retry_after
        if time.monotonic() - self._opened >= HEALTHY:
            self._failures = 0
        wait = delay_before(self._failures, retry_after)
        self._failures += 1
        if self._failures > self._retries or wait is None:
            raise failure or ConnectionFailed("event stream was cut")
        return wait


def follow_run(run: str, after: int | None, follow: bool, retries: int) -> Follower:
    """Follow one run."""
    return Follower(calls.stream_run(run, follow), [run], retries, follow, after)


def follow_runs(runs: Sequence[str], retries: int) -> Follower:
    """Follow several runs until all have ended."""
    ids = list(dict.fromkeys(runs))
    if not 1 <= len(ids) <= MAX_RUNS:
        raise ValueError(f"one stream follows 1 to {MAX_RUNS} runs, not {len(ids)}")
    return Follower(calls.stream_runs(ids), ids, retries)


def _parse(data: str) -> dict[str, Any]:
    try:
        found = json.loads(data)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ConnectionFailed("event is no JSON object")
    return found
