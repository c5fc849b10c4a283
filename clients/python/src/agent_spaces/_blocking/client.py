"""Entry point: one object per server and token."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import TracebackType

import httpx

from .. import _calls as calls
from .. import _types as types
from .._follow import follow_runs
from .._transport import Transport
from .approvals import Approvals
from .audit import Audit
from .capabilities import Capabilities
from .programs import Programs
from .runs import Runs
from .servers import Servers
from .spaces import Spaces


class AgentSpaces:
    """Client for an Agent Spaces server. Close it, or use it in ``with``.

    ``timeout`` is that of one attempt, ``retries`` the number of further attempts of one request, ``stream_retries`` the attempts to
    resume an event stream without a new event, ``stream_silence`` the silence after which one counts as cut: by default three of the
    server's comments. ``http`` is an httpx client of your own, with proxies or certificates; it is not closed.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout: float = 30.0,
        retries: int = 5,
        stream_retries: int = 12,
        stream_silence: float = 45.0,
        http: httpx.Client | None = None,
    ) -> None:
        self._own = http is None
        self._transport = Transport(http or httpx.Client(), url, token, timeout, retries, stream_retries, stream_silence)
        self.spaces = Spaces(self._transport)
        self.runs = Runs(self._transport)
        self.approvals = Approvals(self._transport)
        self.capabilities = Capabilities(self._transport)
        self.programs = Programs(self._transport)
        self.audit = Audit(self._transport)
        self.servers = Servers(self._transport)

    def me(self, *, timeout: float | None = None) -> types.Me:
        """Return the caller whose token this is, and what it may do."""
        return self._transport.send(calls.get_me(), timeout)

    def events(self, runs: Sequence[str], *, timeout: float | None = None) -> Iterator[types.Event]:
        """Follow up to 64 runs in one stream, until all have ended. Resumes by itself after a cut."""
        return self._transport.follow(follow_runs(runs, self._transport.stream_retries), timeout)

    def close(self) -> None:
        """Close the connections."""
        if self._own:
            self._transport.http.close()

    def __enter__(self) -> AgentSpaces:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
