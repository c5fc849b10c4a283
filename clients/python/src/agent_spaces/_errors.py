"""Errors of the client. None contains the token or a request's headers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._types import Fault, RunError, RunInfo


class AgentSpacesError(Exception):
    """Base class of all errors of this client."""


class ApiError(AgentSpacesError):
    """The server refused a request: its problem document (RFC 9457)."""

    def __init__(
        self, status: int, problem: dict[str, Any], errors: list[Fault], error: RunError | None, retry_after: float | None
    ) -> None:
        #: HTTP status.
        self.status = status
        #: Code such as ``not_found``; ``http.STATUS`` if the answer was no problem document, as those of proxies.
        self.code: str = problem.get("code") or f"http.{status}"
        self.title: str = problem.get("title") or f"HTTP status {status}"
        #: What happened, and what to do.
        self.detail: str | None = problem.get("detail")
        #: Faults in single parts of the request.
        self.errors = errors
        #: Error of a script that was refused, with its location.
        self.error = error
        #: Seconds after which the server wants to be asked again.
        self.retry_after = retry_after
        places = [fault.pointer or fault.parameter or fault.header for fault in errors]
        faults = "".join(f"\n  {place + ': ' if place else ''}{fault.detail}" for place, fault in zip(places, errors))
        super().__init__(f"{self.code}: {self.detail or self.title}{faults}")


class ConnectionFailed(AgentSpacesError):
    """No answer: connection refused or cut, timeout, or an event stream that does not progress."""


class RunFailed(AgentSpacesError):
    """The run failed or was cancelled."""

    def __init__(self, run: RunInfo) -> None:
        #: Code of the run's error; ``run.cancelled`` for a cancelled run without one.
        self.code = run.error.code if run.error else f"run.{run.status}"
        self.error = run.error
        self.run = run
        super().__init__(f"{self.code}: {run.error.message if run.error else f'run {run.id} is {run.status}'}")
