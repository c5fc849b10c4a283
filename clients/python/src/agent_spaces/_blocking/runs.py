"""Runs: get, list, follow, cancel, resume, answer, replay."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from .. import _calls as calls
from .. import _types as types
from .._follow import follow_run
from .._transport import Transport
from .._wire import UNSET
from .items import Items


class Runs:
    """Runs: get, list, follow, cancel, resume, answer, replay."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(self, run: str, *, wait: int | None = None, timeout: float | None = None) -> Run:
        """Return a run. With `wait`, answers when it has ended or after that many whole seconds, at most 60."""
        return Run(self._transport, self._transport.send(calls.get_run(run, wait), timeout))

    def list(
        self,
        *,
        space: str | None = None,
        status: types.RunStatus | None = None,
        created_from: str | datetime | None = None,
        created_until: str | datetime | None = None,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> Items[Run]:
        """List runs, newest first."""

        def make(info: types.RunInfo) -> Run:
            return Run(self._transport, info)

        return Items(self._transport, lambda cursor: calls.list_runs(space, status, created_from, created_until, limit, cursor), make, timeout)

    def events(self, run: str, *, after: int | None = None, follow: bool = True, timeout: float | None = None) -> Iterator[types.Event]:
        """Follow a run; resumes by itself after a cut."""
        return self._transport.follow(follow_run(run, after, follow, self._transport.stream_retries), timeout)

    def event_page(self, run: str, *, after: int | None = None, limit: int | None = None, timeout: float | None = None) -> types.EventPage:
        """Return one page of a run's events, without following it."""
        return self._transport.send(calls.event_page(run, after, limit), timeout)

    def cancel(self, run: str, *, timeout: float | None = None) -> Run:
        """Cancel a run."""
        return Run(self._transport, self._transport.send(calls.cancel_run(run), timeout))

    def resume(self, run: str, *, timeout: float | None = None) -> Run:
        """Continue a run of status ``needs_resume``."""
        return Run(self._transport, self._transport.send(calls.resume_run(run), timeout))

    def answer(self, run: str, call: int, outcome: types.Outcome, *, value: Any = UNSET, timeout: float | None = None) -> Run:
        """Say whether a call in doubt happened."""
        answer = types.CallAnswer(call, outcome, value)
        return Run(self._transport, self._transport.send(calls.answer_call(run, answer), timeout))

    def source(self, run: str, *, timeout: float | None = None) -> types.RunSource:
        """Return the source of a run, as its author wrote it, and its input."""
        return self._transport.send(calls.run_source(run), timeout)

    def replay(self, run: str, source: str | None = None, *, timeout: float | None = None) -> types.Replay:
        """Execute a run again offline, with its recorded answers, and compare every step; with `source`, a changed program."""
        return self._transport.send(calls.replay_run(run, types.NewReplay(source)), timeout)


class Run:
    """One run. ``info`` is the run as the server last sent it."""

    def __init__(self, transport: Transport, info: types.RunInfo) -> None:
        self._transport = transport
        self.id = info.id
        self.info = info

    @property
    def status(self) -> types.RunStatus:
        """Status of the run."""
        return self.info.status

    @property
    def ended(self) -> bool:
        """True if the run will not change any more."""
        return self.info.ended

    def events(self, *, after: int | None = None, follow: bool = True, timeout: float | None = None) -> Iterator[types.Event]:
        """Follow the run from its first event, or after one, to its end. Resumes by itself after a cut: every event once, in order."""
        return self._transport.follow(follow_run(self.id, after, follow, self._transport.stream_retries), timeout)

    def wait(self, *, timeout: float | None = None) -> Run:
        """Wait for the end by following the run."""
        if not self.ended:
            for _ in self.events(timeout=timeout):
                pass
            self.refresh(timeout=timeout)
        return self

    def value(self, *, timeout: float | None = None) -> Any:
        """Wait for the end and return the script's value. Raise RunFailed if the run failed or was cancelled."""
        self.wait(timeout=timeout)
        return calls.value_of(self.info)

    def refresh(self, *, wait: int | None = None, timeout: float | None = None) -> Run:
        """Read the run again. With `wait`, answers when it has ended or after that many whole seconds, at most 60."""
        self.info = self._transport.send(calls.get_run(self.id, wait), timeout)
        return self

    def cancel(self, *, timeout: float | None = None) -> Run:
        """Cancel the run."""
        self.info = self._transport.send(calls.cancel_run(self.id), timeout)
        return self

    def resume(self, *, timeout: float | None = None) -> Run:
        """Continue a run of status ``needs_resume``."""
        self.info = self._transport.send(calls.resume_run(self.id), timeout)
        return self

    def answer(self, call: int, outcome: types.Outcome, *, value: Any = UNSET, timeout: float | None = None) -> Run:
        """Say whether a call in doubt happened."""
        answer = types.CallAnswer(call, outcome, value)
        self.info = self._transport.send(calls.answer_call(self.id, answer), timeout)
        return self

    def source(self, *, timeout: float | None = None) -> types.RunSource:
        """Return the source of the run, as its author wrote it, and its input."""
        return self._transport.send(calls.run_source(self.id), timeout)

    def replay(self, source: str | None = None, *, timeout: float | None = None) -> types.Replay:
        """Execute the run again offline, with its recorded answers, and compare every step; with `source`, a changed program."""
        return self._transport.send(calls.replay_run(self.id, types.NewReplay(source)), timeout)
